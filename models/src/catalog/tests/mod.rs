mod embedded;
mod file;
mod overlays;
mod pools;

use std::path::PathBuf;

use crate::karpenter::nodeclass::NodeClass;
use crate::karpenter::nodepool::NodePool;
use crate::kube::meta::Labels;
use crate::world::World;

/// A folder beside the repository; a loud line where it is absent.
pub fn shared(path: &str) -> Option<PathBuf> {
    let full = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")).join(path);
    if !full.exists() {
        println!("SKIPPED: {} is not there", full.display());
        return None;
    }
    Some(full)
}

pub fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

/// A world with pool and class `default`.
pub fn world() -> World {
    let mut pool = NodePool::default();
    pool.meta.name = "default".to_owned();
    pool.template.node_class.name = "default".to_owned();
    let mut class = NodeClass { ami_family: "AL2023".to_owned(), ..NodeClass::default() };
    class.meta.name = "default".to_owned();
    World { node_pools: vec![pool], node_classes: vec![class], ..World::default() }
}

pub fn only(name: &str, amount: i64) -> crate::resources::Resources {
    [(name, amount)].into_iter().collect()
}
