//! `millwright catalog show`.

use millwright_models::catalog::aws;
use millwright_models::catalog::{Catalog, CatalogError, InstanceType};
use millwright_models::karpenter::nodeclass::NodeClass;
use millwright_models::resources::Resources;

use crate::args::{ShortOutput, ShowArgs};
use crate::failure::{Failure, Outcome};
use crate::output::{catalog_json, catalog_table};
use crate::{load, stdio};

/// A type with what the default node class leaves of it.
pub struct Shown<'a> {
    pub kind: &'a InstanceType,
    pub capacity: Resources,
    pub allocatable: Resources,
    pub volume_attachments: Option<u32>,
}

pub fn show(args: &ShowArgs) -> Result<Outcome, Failure> {
    let catalog = load::catalog(args.region.as_deref(), args.catalog.as_deref())?;
    let chosen: Vec<&InstanceType> = catalog
        .types
        .iter()
        .filter(|t| args.types.is_empty() || args.types.iter().any(|p| matches(p.as_bytes(), t.name.as_bytes())))
        .collect();
    if chosen.is_empty() && !args.types.is_empty() {
        let patterns = args.types.join(", ");
        return Err(Failure::input(format!("--type {patterns}: no such type in {}", catalog.region)));
    }
    let shown =
        chosen.into_iter().map(sized).collect::<Result<Vec<_>, _>>().map_err(|e| Failure::input(e.to_string()))?;
    match args.output {
        ShortOutput::Json => stdio::print(|out| catalog_json::write(&catalog, &shown, out))?,
        ShortOutput::Table => {
            let text = catalog_table::render(&catalog, &shown);
            stdio::print(|out| out.write_all(text.as_bytes()))?;
        }
    }
    Ok(Outcome::Done)
}

/// Sizes as given, else those under a node class that sets nothing but
/// AL2023.
fn sized(kind: &InstanceType) -> Result<Shown<'_>, CatalogError> {
    let class = NodeClass { ami_family: "AL2023".to_owned(), ..NodeClass::default() };
    match (&kind.allocatable, &kind.hardware) {
        (None, Some(hardware)) => {
            let amounts = aws::amounts(hardware, &kind.architecture, &class, aws::Settings::default(), &kind.capacity)?;
            let volumes = aws::pod_volumes(hardware, &class, aws::Family::of(&class)?);
            Ok(Shown {
                kind,
                capacity: amounts.capacity,
                allocatable: amounts.allocatable,
                volume_attachments: kind.volume_attachments.or(Some(volumes)),
            })
        }
        (allocatable, _) => Ok(Shown {
            kind,
            capacity: kind.capacity.clone(),
            allocatable: allocatable.clone().unwrap_or_default(),
            volume_attachments: kind.volume_attachments,
        }),
    }
}

/// Whether `name` matches `pattern`, where `*` is any text and `?` any
/// character. Without either the pattern is a prefix, so that `m7i` is a
/// family.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    if !pattern.iter().any(|b| matches!(b, b'*' | b'?')) {
        let rest = name.strip_prefix(pattern);
        return rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'.' || pattern.ends_with(b"."));
    }
    glob(pattern, name)
}

fn glob(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|i| glob(rest, &name[i..])),
        ([b'?', rest @ ..], [_, tail @ ..]) => glob(rest, tail),
        ([p, rest @ ..], [n, tail @ ..]) => p == n && glob(rest, tail),
        _ => false,
    }
}

/// The region that a catalogue is of, with where its prices come from.
pub fn provenance(catalog: &Catalog) -> String {
    format!("{}, {}", catalog.region, catalog.source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_types_and_families() {
        let hit = |pattern: &str, name: &str| matches(pattern.as_bytes(), name.as_bytes());
        assert!(hit("m7i.large", "m7i.large") && hit("m7i", "m7i.large") && hit("m7i.", "m7i.large"));
        assert!(!hit("m7i", "m7i-flex.large") && !hit("m7i.l", "m7i.large"));
        assert!(hit("m7i*", "m7i-flex.large") && hit("*.2xlarge", "c7g.2xlarge") && !hit("*.2xlarge", "c7g.12xlarge"));
        assert!(hit("?7g.*", "c7g.large") && !hit("?7g.*", "hpc7g.large"));
    }
}
