//! Input that is well-formed and can hardly be meant.

use std::collections::BTreeMap;

use super::volumes::Storage;
use crate::catalog::{Catalog, price_of};
use crate::karpenter::labels;
use crate::kube::pod::Pod;
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
    out.extend(unpriced(world, catalog));
    out.extend(crumbs(world));
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

/// Nodes whose price nothing tells. They look free.
fn unpriced(world: &World, catalog: &Catalog) -> Option<String> {
    let unknown: Vec<&str> = world
        .nodes
        .iter()
        .filter(|n| price_of(catalog, &n.meta.labels).is_none())
        .map(|n| n.meta.name.as_str())
        .collect();
    let first = unknown.first()?;
    let (nodes, whose) = match unknown.len() {
        1 => ("1 node".to_owned(), "its type and capacity type are"),
        n => (format!("{n} nodes"), "their types and capacity types are"),
    };
    Some(format!(
        "the price of {nodes} is not known and counts as 0, for {whose} not in the catalogue: {first} for example"
    ))
}

/// Memory below this, in bytes, is a unit forgotten.
const CRUMB: i64 = 1 << 20;

/// Containers whose memory is a few bytes.
fn crumbs(world: &World) -> Option<String> {
    let amount = |pod: &Pod| pod.requests.get("memory");
    let few: Vec<&Pod> = world.pods.iter().filter(|p| !p.is_terminal() && (1..CRUMB).contains(&amount(p))).collect();
    let first = few.first()?;
    let bytes = amount(first);
    let asks = if few.len() == 1 { "1 pod asks".to_owned() } else { format!("{} pods ask", few.len()) };
    Some(format!("{asks} for less than 1 MiB of memory, {} for {bytes} bytes: is {bytes}Mi meant?", first.full_name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{InstanceType, Offering};
    use crate::reader::{Document, ReadOptions, read};

    fn told(text: &str) -> Vec<String> {
        let document = Document { file: "f".to_owned(), text: text.to_owned() };
        let world = read(&[document], &ReadOptions { default_pools: false }).unwrap();
        let kind = InstanceType {
            name: "t".to_owned(),
            offerings: vec![Offering {
                zone: "z".to_owned(),
                capacity_type: "on-demand".to_owned(),
                price: 1,
                ..Offering::default()
            }],
            ..InstanceType::default()
        };
        strange(&world, &Catalog::new("r".to_owned(), String::new(), vec![kind]))
    }

    const NODE: &str = "{apiVersion: v1, kind: Node, metadata: {name: n, labels: {topology.kubernetes.io/region: \
                        REGION, node.kubernetes.io/instance-type: t}}}\n---\n";
    const POD: &str =
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n, containers: [{name: c}]}}\n---\n";

    #[test]
    fn a_whole_cluster_is_not_strange() {
        assert_eq!(told(&(NODE.replace("REGION", "r") + POD)), Vec::<String>::new());
    }

    #[test]
    fn a_node_without_a_price_is_told() {
        let told = told(&(NODE.replace("REGION", "r").replace("-type: t", "-type: u") + POD));
        assert!(told.len() == 1 && told[0].contains("the price of 1 node is not known"), "{told:?}");
    }

    #[test]
    fn memory_without_a_unit_is_told() {
        let few = POD.replace("{name: c}", "{name: c, resources: {requests: {memory: 512}}}");
        let told = told(&(NODE.replace("REGION", "r") + &few));
        assert!(told.len() == 1 && told[0].contains("default/p for 512 bytes: is 512Mi meant?"), "{told:?}");
    }

    #[test]
    fn missing_pods_missing_nodes_and_another_region_are_told() {
        assert!(told(&NODE.replace("REGION", "r"))[0].contains("all count as empty"));
        assert!(told(POD)[0].contains("default/p on n"));
        assert!(told(&(NODE.replace("REGION", "s") + POD))[0].contains("node n is in region s, the catalogue is of r"));
    }
}
