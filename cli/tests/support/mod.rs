//! Running the binary on small inputs.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A directory of its own for one test, removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a run left behind.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }

    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("ended by itself"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millwright"));
    command.args(args).stdin(Stdio::null());
    command
}

pub fn run(args: &[&str]) -> Run {
    Run::of(command(args).output().expect("the binary runs"))
}

/// Runs with `input` on standard input.
pub fn pipe(args: &[&str], input: &str) -> Run {
    let mut child =
        command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let text = input.to_owned();
    let writer = std::thread::spawn(move || {
        // It may refuse its arguments and never read.
        let _ = stdin.write_all(text.as_bytes());
    });
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer ends");
    Run::of(output)
}

/// A Deployment in the namespace `default`.
pub fn deployment(name: &str, replicas: u32, cpu: &str, memory: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  replicas: {replicas}\n  \
         selector:\n    matchLabels:\n      app: {name}\n  template:\n    metadata:\n      labels:\n        app: {name}\n    \
         spec:\n      containers:\n        - name: main\n          image: none\n          resources:\n            \
         requests:\n              cpu: {cpu}\n              memory: {memory}\n"
    )
}

/// The files beside the repository that tests may read, if they are there.
pub fn shared(path: &str) -> Option<PathBuf> {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(path);
    if full.exists() {
        return Some(full);
    }
    println!("SKIPPED: {} is not there", full.display());
    None
}
