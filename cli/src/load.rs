//! From files to the world and the catalogue.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use millwright_core::against::Proposal;
use millwright_models::catalog::{self, Catalog};
use millwright_models::lower;
use millwright_models::reader::{self, Document, ReadOptions};
use millwright_models::world::World;
use serde_json::Value;

use crate::args::WorldArgs;
use crate::failure::Failure;
use crate::fields::Inspection;
use crate::input;

/// Region of the embedded catalogue where none is named.
const REGION: &str = "us-east-1";

/// Days after which prices are called old.
const OLD: i32 = 90;

/// Reads and validates every object that the paths name. Files that cannot be
/// read and objects that are wrong are reported together; what can hardly be
/// meant, seen from `catalog`, is among the world's warnings.
pub fn world(args: &WorldArgs, catalog: &Catalog) -> Result<World, Failure> {
    let (sources, mut complaints) = input::read_all(&args.filename);
    // Beside manifests directories hold values of charts and the like.
    let (sources, other): (Vec<_>, Vec<_>) = sources.into_iter().partition(|s| !s.found || s.has_object());
    if complaints.is_empty() && sources.iter().all(|s| s.is_blank()) {
        complaints.push("there is no Kubernetes object in the input".to_owned());
    }
    let documents: Vec<Document> = sources.into_iter().map(|s| Document { file: s.name, text: s.text }).collect();
    let mut inspection = Inspection::default();
    let read = reader::read_watched(&documents, &ReadOptions::default(), &mut |object| inspection.look(object));
    let slips = inspection.sentences();
    if args.strict {
        complaints.extend(slips.iter().cloned());
    }
    let mut world = match read {
        Ok(world) if complaints.is_empty() => world,
        Ok(_) => return Err(Failure::Input(complaints)),
        Err(errors) => {
            complaints.extend(errors.0.iter().map(ToString::to_string));
            return Err(Failure::Input(complaints));
        }
    };
    let read = std::mem::replace(&mut world.warnings, slips);
    world.warnings.extend(read);
    world.warnings.extend(other.iter().map(|s| format!("{}: left out, no Kubernetes object", s.name)));
    let strange = lower::strange(&world, catalog);
    world.warnings.extend(strange);
    world.warnings.extend(old_prices(catalog, args.now.unwrap_or_else(Timestamp::now)));
    Ok(world)
}

/// What to say of prices that were true long ago.
fn old_prices(catalog: &Catalog, now: Timestamp) -> Option<String> {
    let of = catalog.prices_of?;
    let days = of.until(now.to_zoned(TimeZone::UTC).date()).ok()?.get_days();
    (days > OLD).then(|| {
        format!(
            "the prices are of {of}, {days} days ago: EC2 may ask others now (--catalog FILE takes current ones, in the \
             format that `millwright catalog show -o json` prints)"
        )
    })
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
