use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::FormatError;

/// What is known of an optimum.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Known {
    pub lower: f64,
    pub upper: f64,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    #[serde(flatten)]
    known: Known,
}

/// The table of bounds that lies beside a file of instances; empty if there
/// is none.
pub fn beside(path: &Path) -> Result<BTreeMap<String, Known>, FormatError> {
    let Some(table) = table_of(path).filter(|t| t.exists()) else {
        return Ok(BTreeMap::new());
    };
    let broken = |source| FormatError::Bounds { path: table.clone(), source };
    let mut reader = csv::Reader::from_path(&table).map_err(broken)?;
    reader.deserialize::<Row>().map(|row| row.map(|r| (r.name, r.known)).map_err(broken)).collect()
}

fn table_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let set = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".jsonl")?;
    Some(path.with_file_name(format!("{set}-bounds.csv")))
}
