//! Where the programs of a control plane are.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder with etcd, kube-apiserver, kube-scheduler,
/// kube-controller-manager and kubectl.
#[derive(Clone, Debug)]
pub struct Programs(PathBuf);

/// What is missing, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Missing(String);

impl Programs {
    /// Those of `KUBEBUILDER_ASSETS`, else those that `deploy/rig/build.sh`
    /// has built. Never builds: that takes a quarter of an hour.
    pub fn locate() -> Result<Self, Missing> {
        let script = scripts().join("build.sh");
        let told = Command::new(&script).arg("--look").output();
        let told = told.map_err(|e| Missing(format!("{}: {e}", script.display())))?;
        if told.status.success() {
            let folder = String::from_utf8_lossy(&told.stdout).trim().to_owned();
            Ok(Self(PathBuf::from(folder)))
        } else {
            Err(Missing(String::from_utf8_lossy(&told.stderr).trim().to_owned()))
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.0
    }
}

/// The scripts of the rig.
pub(super) fn scripts() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/rig"))
}
