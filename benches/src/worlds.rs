//! The worlds of the anytime table: generated families, and traces of pods
//! that somebody really ran.

use std::path::{Path, PathBuf};
use std::process::Command;

use millwright_models::catalog::{self, Catalog};
use millwright_models::reader::{self, Document, ReadOptions};
use millwright_models::world::World;

use crate::instances;

/// A world and its catalogue, and the files where they stand.
pub struct Case {
    pub name: String,
    pub world: World,
    pub catalog: Catalog,
    /// Objects and catalogue, for programs that read them; a trace has only
    /// the embedded catalogue.
    pub files: Option<(PathBuf, PathBuf)>,
}

/// Where a world comes from.
pub enum Source {
    /// Family, number of pods and further arguments, for
    /// `accept/gen_instance.py`.
    Generated(&'static str, &'static str, &'static [&'static str]),
    /// Format and file in `data/traces`, and further arguments of
    /// `millwright import-trace`.
    Trace(&'static str, &'static str, &'static [&'static str]),
}

const SPOT: &[&str] = &["--spot"];

/// All worlds: name, source.
pub const WORLDS: [(&str, Source); 16] = [
    ("free-1000-s1", Source::Generated("free", "1000", &[])),
    ("constrained-1000-s1", Source::Generated("constrained", "1000", &[])),
    ("five-1000", Source::Generated("five", "1000", &[])),
    ("free-1000-s1-spot", Source::Generated("free", "1000", SPOT)),
    ("constrained-1000-s1-spot", Source::Generated("constrained", "1000", SPOT)),
    ("free-10000-s1", Source::Generated("free", "10000", &[])),
    ("constrained-10000-s1", Source::Generated("constrained", "10000", &[])),
    ("five-5000", Source::Generated("five", "5000", &[])),
    ("free-10000-s1-spot", Source::Generated("free", "10000", SPOT)),
    ("constrained-10000-s1-spot", Source::Generated("constrained", "10000", SPOT)),
    ("free-50000-s1", Source::Generated("free", "50000", &[])),
    ("constrained-50000-s1", Source::Generated("constrained", "50000", &[])),
    ("five-20000", Source::Generated("five", "20000", &[])),
    ("trace-openb", Source::Trace("openb", "openb-pods.csv.gz", &["--limit", "2000"])),
    ("trace-dlrm", Source::Trace("dlrm", "dlrm-pods.csv.gz", &["--at", "1000000", "--limit", "5000"])),
    ("trace-azure", Source::Trace("azure", "azure-v1-vms.csv.gz", &["--limit", "5000"])),
];

impl Source {
    /// Whether it has a thousand pods or fewer.
    pub fn is_small(&self) -> bool {
        matches!(self, Source::Generated(_, pods, _) if pods.len() <= 4 && pods.starts_with('1'))
    }

    /// Whether its catalogue sells spot capacity below the price of others.
    pub fn sells_spot(&self) -> bool {
        matches!(self, Source::Generated(_, _, more) if more.contains(&"--spot")) || matches!(self, Source::Trace(..))
    }

    /// Reads the world, made first where need be.
    pub fn read(&self, name: &str) -> Result<Case, String> {
        let told = |e: &dyn std::fmt::Display| format!("{name}: {e}");
        let (text, catalog, files) = match self {
            Source::Generated(family, pods, more) => {
                let arguments = [&["--family", family, "--pods", pods], *more].concat();
                let files = instances::generated(name, &arguments)?;
                let objects = std::fs::read_to_string(&files.0).map_err(|e| told(&e))?;
                let catalog = std::fs::read_to_string(&files.1).map_err(|e| told(&e))?;
                (objects, Catalog::parse(name, &catalog).map_err(|e| told(&e))?, Some(files))
            }
            Source::Trace(format, file, more) => {
                let catalog = catalog::embedded("us-east-1").map_err(|e| told(&e))?;
                (imported(format, file, more)?, catalog, None)
            }
        };
        let document = Document { file: name.to_owned(), text };
        let world = reader::read(&[document], &ReadOptions::default()).map_err(|e| told(&e))?;
        Ok(Case { name: name.to_owned(), world, catalog, files })
    }
}

/// A published trace as objects, by the program `millwright` of this build.
fn imported(format: &str, file: &str, more: &[&str]) -> Result<String, String> {
    let shared = instances::shared().ok_or("../shared is absent")?;
    let program = std::env::current_exe().ok().and_then(|bench| {
        let built = bench.ancestors().nth(2)?.join("millwright");
        built.exists().then_some(built)
    });
    let program = program.ok_or("the program millwright is not built: cargo build --release -p millwright")?;
    let path = shared.join("data/traces").join(file);
    run(Command::new(program).args(["import-trace", "--format", format]).args(more).arg(path))
}

/// What a program prints, or its complaint.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let program = Path::new(command.get_program()).display().to_string();
    let out = command.output().map_err(|e| format!("{program}: {e}"))?;
    if !out.status.success() {
        return Err(format!("{program}: {}", String::from_utf8_lossy(&out.stderr).trim()));
    }
    String::from_utf8(out.stdout).map_err(|e| format!("{program}: {e}"))
}
