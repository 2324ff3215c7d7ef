//! Where instances come from: the published sets and the generator beside
//! the project. What is absent is told, never guessed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of shared data beside the repository, if it is there.
pub fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    path.is_dir().then_some(path)
}

/// Objects and catalogue of a generated instance, made where they are not
/// cached yet. `arguments` are those of `accept/gen_instance.py`, such as
/// `["--family", "free", "--pods", "1000"]`.
pub fn generated(name: &str, arguments: &[&str]) -> Result<(PathBuf, PathBuf), String> {
    let shared = shared().ok_or("../shared is absent")?;
    let folder = std::env::temp_dir().join("millwright-instances").join(name);
    let files = (folder.join("objects.yaml"), folder.join("catalog.json"));
    if files.0.exists() && files.1.exists() {
        return Ok(files);
    }
    let script = shared.join("accept/gen_instance.py");
    // Into a folder beside it first: what is broken off is not found again.
    let making = folder.with_extension(format!("making-{}", std::process::id()));
    std::fs::create_dir_all(&making).map_err(|e| format!("{}: {e}", making.display()))?;
    let run = Command::new("python3").arg(&script).arg(&making).args(arguments).output();
    let run = run.map_err(|e| format!("python3 {}: {e}", script.display()))?;
    if !run.status.success() {
        return Err(format!("{}: {}", script.display(), String::from_utf8_lossy(&run.stderr).trim()));
    }
    match std::fs::rename(&making, &folder) {
        Ok(()) => Ok(files),
        // Another process was faster.
        Err(_) if files.0.exists() => Ok(files),
        Err(e) => Err(format!("{}: {e}", folder.display())),
    }
}
