//! Published packing instances: what they look like in files, and what they
//! are as [`Instance`]s.
//!
//! Files hold one JSON object a line, gzipped or not. Three shapes are known:
//!
//! | set | line |
//! | --- | --- |
//! | one bin type (falkenauer) | `{"name", "capacity", "items": [size], "lower", "upper"}` |
//! | variable sizes (vsbpp-1d) | `{"name", "bins": [[capacity, cost]], "items": [size]}` |
//! | vectors (vsvbp) | `{"name", "bins": [{"cost", "cap": [..]}], "items": [[..]]}` |
//!
//! Beside `SET.jsonl.gz` a table `SET-bounds.csv` with the columns `name`,
//! `lower` and `upper` may tell what is known of the optima.

mod bounds;
mod line;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use millwright_solver::instance::Instance;

/// Micro-dollars that one unit of a published cost becomes.
pub const UNIT: i64 = 1_000_000;

/// Why a file is no set of instances.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// A line is none of the known shapes.
    #[error("{}: line {line}: {reason}", path.display())]
    Line { path: PathBuf, line: usize, reason: String },
    /// The table of bounds is broken.
    #[error("{}: {source}", path.display())]
    Bounds { path: PathBuf, source: csv::Error },
}

/// One published instance and what is known of its optimum, in the source's
/// own unit of cost.
#[derive(Clone, Debug)]
pub struct Problem {
    pub name: String,
    pub instance: Instance,
    pub lower: Option<f64>,
    pub upper: Option<f64>,
}

/// All instances of a file, in its order.
pub fn read(path: &Path) -> Result<Vec<Problem>, FormatError> {
    let io = |source| FormatError::Io { path: path.to_owned(), source };
    let known = bounds::beside(path)?;
    let mut problems = Vec::new();
    for (i, text) in BufReader::new(open(path).map_err(io)?).lines().enumerate() {
        let text = text.map_err(io)?;
        if text.trim().is_empty() {
            continue;
        }
        let mut problem =
            line::parse(&text).map_err(|reason| FormatError::Line { path: path.to_owned(), line: i + 1, reason })?;
        if let Some(b) = known.get(&problem.name) {
            problem.lower = Some(b.lower);
            problem.upper = Some(b.upper);
        }
        problems.push(problem);
    }
    Ok(problems)
}

/// The file, unpacked where its name says it is packed.
pub fn open(path: &Path) -> std::io::Result<Box<dyn Read>> {
    let file = File::open(path)?;
    Ok(if path.extension().is_some_and(|e| e == "gz") { Box::new(GzDecoder::new(file)) } else { Box::new(file) })
}
