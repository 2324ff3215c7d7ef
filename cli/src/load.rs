//! From files to the world and the catalogue.

use std::path::{Path, PathBuf};

use millwright_core::against::Proposal;
use millwright_models::catalog::{self, Catalog};
use millwright_models::lower;
use millwright_models::reader::{self, Document, ReadOptions};
use millwright_models::world::World;
use serde_json::Value;

use crate::failure::Failure;
use crate::input;

/// Region of the embedded catalogue where none is named.
const REGION: &str = "us-east-1";

/// Reads and validates every object that `paths` name. Files that cannot be
/// read and objects that are wrong are reported together; what can hardly be
/// meant, seen from `catalog`, is among the world's warnings.
pub fn world(paths: &[PathBuf], catalog: &Catalog) -> Result<World, Failure> {
    let (sources, mut complaints) = input::read_all(paths);
    // Beside manifests directories hold values of charts and the like.
    let (sources, other): (Vec<_>, Vec<_>) = sources.into_iter().partition(|s| !s.found || s.has_object());
    if complaints.is_empty() && sources.iter().all(|s| s.is_blank()) {
        complaints.push("there is no Kubernetes object in the input".to_owned());
    }
    let documents: Vec<Document> = sources.into_iter().map(|s| Document { file: s.name, text: s.text }).collect();
    match reader::read(&documents, &ReadOptions::default()) {
        Ok(mut world) if complaints.is_empty() => {
            world.warnings.extend(other.iter().map(|s| format!("{}: left out, no Kubernetes object", s.name)));
            let strange = lower::strange(&world, catalog);
            world.warnings.extend(strange);
            Ok(world)
        }
        Ok(_) => Err(Failure::Input(complaints)),
        Err(errors) => {
            complaints.extend(errors.0.iter().map(ToString::to_string));
            Err(Failure::Input(complaints))
        }
    }
}

/// The moves that `path` proposes: YAML documents, JSON, or a log with one
/// line of JSON per entry, of which only those about commands count.
pub fn proposal(path: &Path) -> Result<Proposal, Failure> {
    let source = input::read_one(path)?;
    let fault = |why: String| Failure::input(format!("{}: {why}", source.name));
    let logged: Vec<Value> = source.text.lines().filter_map(|l| serde_json::from_str(l.trim()).ok()).collect();
    let about = |v: &Value| {
        let message = v.get("message").and_then(Value::as_str).unwrap_or_default();
        v.get("disrupted-nodes").is_some() || message.starts_with("disrupting") && message.contains("terminating ")
    };
    let lines: Vec<Value> = logged.into_iter().filter(about).collect();
    let documents = match lines.is_empty() {
        false => lines,
        true => serde_saphyr::from_multiple(&source.text).map_err(|e| fault(e.to_string()))?,
    };
    Proposal::read(&documents).map_err(|e| fault(e.to_string()))
}

/// The catalogue in `file`, else the embedded one of `region`.
pub fn catalog(region: Option<&str>, file: Option<&Path>) -> Result<Catalog, Failure> {
    let read = match file {
        Some(path) => {
            let source = input::read_one(path)?;
            Catalog::parse(&source.name, &source.text)
        }
        None => catalog::embedded(region.unwrap_or(REGION)),
    };
    read.map_err(|e| Failure::input(e.to_string()))
}
