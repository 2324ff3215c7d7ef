//! Small random clusters.

mod catalogue;
mod pools;
mod workloads;

use serde_json::{Value, json};

pub use catalogue::catalog;

use crate::dice::Dice;
use millwright_models::catalog::Catalog;

/// What a run begins with.
#[derive(Clone, Debug)]
pub struct Opening {
    pub catalog: Catalog,
    /// Everything but pods, nodes and claims; in an order that can be created.
    pub objects: Vec<Value>,
}

/// The cluster of a seed; a small one has few workloads, types and zones.
pub fn opening(seed: u64, is_small: bool) -> Opening {
    let mut dice = Dice::new(seed, "world");
    let zones = usize::try_from(dice.between(1, if is_small { 2 } else { 3 })).unwrap_or(1);
    let catalog = catalog(&mut dice, zones, is_small);
    let mut objects = vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})];
    objects.push(pools::node_class(&zone_names(zones)));
    objects.extend(pools::node_pools(&mut dice));
    objects.extend(workloads::daemon_sets(&mut dice, is_small));
    objects.extend(workloads::workloads(&mut dice, &zone_names(zones), is_small));
    Opening { catalog, objects }
}

fn zone_names(count: usize) -> Vec<String> {
    ["sim-1a", "sim-1b", "sim-1c"].into_iter().take(count).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use millwright_models::reader::{Document, ReadOptions, read};

    use super::*;
    use crate::json;

    #[test]
    fn every_opening_is_valid_and_its_own() {
        let mut texts = Vec::new();
        for seed in 0..100_u64 {
            let is_small = seed.is_multiple_of(2);
            let opening = opening(seed, is_small);
            assert!(!opening.catalog.types.is_empty());
            let text = json!({"apiVersion": "v1", "kind": "List", "items": opening.objects}).to_string();
            let document = Document { file: format!("seed {seed}"), text: text.clone() };
            let world = read(&[document], &ReadOptions { default_pools: false }).unwrap();
            assert!((1..=3).contains(&world.node_pools.len()) && world.node_classes.len() == 1);
            let sets =
                opening.objects.iter().filter(|o| matches!(json::text(o, &["kind"]), "ReplicaSet" | "StatefulSet"));
            assert!(if is_small { 1..=3 } else { 2..=8 }.contains(&sets.count()));
            texts.push(text);
        }
        let count = texts.len();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), count);
    }
}
