//! Reading worlds and catalogues for the tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use millwright_models::catalog::{Catalog, PoolTypes, file, pool_types};
use millwright_models::greedy::{GreedyOptions, GreedyPlan, solve};
use millwright_models::reader::{Document, ReadOptions, read};
use millwright_models::world::World;

/// The directory beside the repository with the shared data, if it is there.
pub fn shared() -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared"));
    path.is_dir().then(|| path.to_owned())
}

pub fn world(text: &str) -> World {
    let document = Document { file: "objects".to_owned(), text: text.to_owned() };
    read(&[document], &ReadOptions { default_pools: false }).unwrap_or_else(|e| panic!("{e}"))
}

pub fn catalog(text: &str) -> Catalog {
    file::parse("catalog", text, &|_| None).unwrap_or_else(|e| panic!("{e}"))
}

/// The plan for a world, every pool of which counts as ready, and the types
/// of each pool.
pub fn plan(world: &World, catalog: &Catalog, options: &GreedyOptions) -> (GreedyPlan, BTreeMap<String, PoolTypes>) {
    let types = |p| pool_types(world, catalog, p, &options.gates).unwrap_or_else(|e| panic!("{e}"));
    let pools: Vec<_> = world.node_pools.iter().map(|p| (p, types(p))).collect();
    let plan = solve(world, &pools, options, &|| false);
    (plan, pools.into_iter().map(|(p, types)| (p.name().to_owned(), types)).collect())
}
