//! A control plane that lives as long as its value.

mod ports;
mod programs;

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use kube::config::{Config, KubeConfigOptions, Kubeconfig, KubeconfigError};

pub use programs::{Missing, Programs};

/// How long the script may take to end all processes before it is killed.
const PATIENCE: Duration = Duration::from_secs(15);

/// etcd, API server, scheduler and controller manager on free ports, with all
/// state in a temporary folder. Dropping it ends them; should the process die
/// first, the script behind it notices and ends them too.
#[derive(Debug)]
pub struct Plane {
    script: Child,
    /// Its end tells the script to stop.
    stdin: Option<ChildStdin>,
    folder: PathBuf,
}

/// Why there is no control plane.
#[derive(Debug, thiserror::Error)]
pub enum PlaneError {
    /// A folder, a port or a process could not be had.
    #[error("the control plane cannot be started: {0}")]
    Io(#[from] std::io::Error),
    /// The script ended; what it said.
    #[error("the control plane did not start: {0}")]
    Ended(String),
    /// The script wrote something else than a kubeconfig.
    #[error("the control plane's kubeconfig: {0}")]
    Kubeconfig(#[from] KubeconfigError),
    /// No client could be made.
    #[error("the control plane's client: {0}")]
    Client(#[from] kube::Error),
}

impl Plane {
    /// Starts a plane and waits until pods can be scheduled on it.
    pub fn start(programs: &Programs) -> Result<Self, PlaneError> {
        let folder = ports::fresh_folder()?;
        let errors = folder.join("stderr");
        let mut command = Command::new(programs::scripts().join("run.sh"));
        command.arg(programs.folder()).arg(&folder);
        command.args(ports::free(5)?.iter().map(ToString::to_string));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(std::fs::File::create(&errors)?);
        // Signals of a terminal go to the tests, which then end the plane.
        let mut script = command.process_group(0).spawn()?;
        let (stdin, stdout) = (script.stdin.take(), script.stdout.take());
        let mut plane = Self { script, stdin, folder };
        let mut line = String::new();
        if let Some(stdout) = stdout {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        if line.trim() == "ready" {
            return Ok(plane);
        }
        plane.stop();
        Err(PlaneError::Ended(std::fs::read_to_string(&errors).unwrap_or_default()))
    }

    /// The kubeconfig of its administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.join("admin.kubeconfig")
    }

    /// Where each component writes its log.
    pub fn logs(&self) -> PathBuf {
        self.folder.join("logs")
    }

    /// A client with all rights; needs a tokio runtime around it.
    pub async fn client(&self) -> Result<kube::Client, PlaneError> {
        Ok(kube::Client::try_from(self.config().await?)?)
    }

    /// How to reach it, with all rights.
    pub async fn config(&self) -> Result<Config, PlaneError> {
        let file = Kubeconfig::read_from(self.kubeconfig())?;
        let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
        config.default_namespace = "default".to_owned();
        Ok(config)
    }

    /// Whether all components still run.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.script.try_wait(), Ok(None))
    }

    fn stop(&mut self) {
        drop(self.stdin.take());
        let asked = Instant::now();
        while asked.elapsed() < PATIENCE {
            if !self.is_alive() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // The script hangs: its whole group has to go.
        let group = format!("-{}", self.script.id());
        let killed = Command::new("kill").args(["-KILL", "--", &group]).status();
        if killed.is_err() || self.script.wait().is_err() {
            eprintln!("rig: processes of group {} may be left", self.script.id());
        }
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        self.stop();
        remove(&self.folder);
    }
}

fn remove(folder: &Path) {
    if std::env::var_os("RIG_KEEP").is_some() {
        eprintln!("rig: kept {}", folder.display());
    } else if let Err(error) = std::fs::remove_dir_all(folder) {
        eprintln!("rig: {} is left: {error}", folder.display());
    }
}
