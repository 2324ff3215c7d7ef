//! Input that is well-formed and can hardly be meant.

use std::collections::BTreeMap;

use super::volumes::Storage;
use crate::catalog::Catalog;
use crate::karpenter::labels;
use crate::world::World;

/// Sentences about parts of the input that seem to be missing, and about a
/// catalogue that is another region's. For whoever reads files, once: a live
/// cluster, or a part of one, is no such input.
pub fn strange(world: &World, catalog: &Catalog) -> Vec<String> {
    let mut out = Storage::new(world).gaps(world);
    let bound = || world.pods.iter().filter(|p| p.node_name.is_some() && !p.is_terminal());
    let lost: Vec<_> = bound().filter(|p| p.node_name.as_deref().is_some_and(|n| world.node(n).is_none())).collect();
    if let Some(pod) = lost.first() {
        let node = pod.node_name.as_deref().unwrap_or_default();
        out.push(format!(
            "{} pods run on nodes that are not in the input and are left out: {} on {node} for example",
            lost.len(),
            pod.full_name()
        ));
    }
    if !world.nodes.is_empty() && bound().next().is_none() {
        out.push(format!(
            "no pod of the input runs on any of its {} nodes, so all count as empty: are pods of all namespaces in it?",
            world.nodes.len()
        ));
    }
    let mut regions: BTreeMap<&str, &str> = BTreeMap::new();
    for node in &world.nodes {
        if let Some(region) = node.meta.labels.get(labels::REGION) {
            regions.entry(region).or_insert(&node.meta.name);
        }
    }
    regions.remove(catalog.region.as_str());
    if let Some((region, node)) = regions.first_key_value().filter(|_| !catalog.region.is_empty()) {
        out.push(format!(
            "node {node} is in region {region}, the catalogue is of {}: prices and zones are those of another region",
            catalog.region
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{Document, ReadOptions, read};

    fn told(text: &str) -> Vec<String> {
        let document = Document { file: "f".to_owned(), text: text.to_owned() };
        let world = read(&[document], &ReadOptions { default_pools: false }).unwrap();
        strange(&world, &Catalog::new("r".to_owned(), String::new(), Vec::new()))
    }

    const NODE: &str =
        "{apiVersion: v1, kind: Node, metadata: {name: n, labels: {topology.kubernetes.io/region: REGION}}}\n---\n";
    const POD: &str =
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n, containers: [{name: c}]}}\n---\n";

    #[test]
    fn a_whole_cluster_is_not_strange() {
        assert_eq!(told(&(NODE.replace("REGION", "r") + POD)), Vec::<String>::new());
    }

    #[test]
    fn missing_pods_missing_nodes_and_another_region_are_told() {
        assert!(told(&NODE.replace("REGION", "r"))[0].contains("all count as empty"));
        assert!(told(POD)[0].contains("default/p on n"));
        assert!(told(&(NODE.replace("REGION", "s") + POD))[0].contains("node n is in region s, the catalogue is of r"));
    }
}
