//! Plans of another provisioner, as `benches/peers` prints them.

use std::collections::{BTreeMap, BTreeSet};

use millwright_core::provision::Decision;
use millwright_models::karpenter::written;
use millwright_models::lift::PlannedNode;
use millwright_models::resources::Resources;
use millwright_models::world::World;
use serde::Deserialize;
use serde_json::{Value, json};

/// What another provisioner would buy.
#[derive(Clone, Debug, Deserialize)]
pub struct Foreign {
    pub cost_per_hour: f64,
    pub nodes: Vec<ForeignNode>,
    /// Names of pods by the node that exists.
    #[serde(default)]
    pub existing: BTreeMap<String, Vec<String>>,
}

/// A node of its plan.
#[derive(Clone, Debug, Deserialize)]
pub struct ForeignNode {
    pub pool: String,
    pub instance_type: String,
    pub zone: String,
    pub capacity_type: String,
    /// Labels that the pool and the pods' requirements give it.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// As `namespace/name`.
    pub pods: Vec<String>,
}

impl Foreign {
    /// The same pods with these places; fails with the first name that the
    /// world does not know.
    pub fn decision(&self, world: &World, ours: Decision) -> Result<Decision, String> {
        let index: BTreeMap<String, usize> =
            world.pods.iter().enumerate().map(|(i, pod)| (pod.full_name(), i)).collect();
        let find = |names: &[String]| {
            let mut pods: Vec<usize> = names
                .iter()
                .map(|name| index.get(name).copied().ok_or_else(|| format!("pod {name}")))
                .collect::<Result<_, _>>()?;
            pods.sort_unstable();
            Ok::<_, String>(pods)
        };
        let mut open: BTreeSet<usize> = ours.nodes.iter().flat_map(|n| n.pods.iter().copied()).collect();
        open.extend(ours.existing.iter().flat_map(|(_, pods)| pods.iter().copied()));
        open.extend(ours.unscheduled.iter().map(|(pod, _)| *pod));
        let mut nodes = Vec::new();
        let mut claims = Vec::new();
        for node in &self.nodes {
            let pods = find(&node.pods)?;
            claims.push(node.claim(world)?);
            nodes.push(PlannedNode {
                pool: node.pool.clone(),
                instance_type: node.instance_type.clone(),
                zone: node.zone.clone(),
                capacity_type: node.capacity_type.clone(),
                reservation: None,
                price: Default::default(),
                pods,
                instance_types: vec![node.instance_type.clone()],
                bin: 0,
                row: 0,
                allocatable: Resources::default(),
                daemons: Resources::default(),
            });
        }
        let mut existing = Vec::new();
        for (node, pods) in &self.existing {
            existing.push((node.clone(), find(pods)?));
        }
        let placed = nodes.iter().map(|n| &n.pods).chain(existing.iter().map(|(_, pods)| pods)).flatten();
        placed.for_each(|p| {
            open.remove(p);
        });
        let unscheduled = open.into_iter().map(|pod| (pod, Vec::new())).collect();
        Ok(Decision { nodes, claims, existing, unscheduled, ..ours })
    }
}

impl ForeignNode {
    /// Its NodeClaim, as far as a node takes after it.
    fn claim(&self, world: &World) -> Result<Value, String> {
        let pool = world.node_pools.iter().find(|p| p.name() == self.pool);
        let pool = pool.ok_or_else(|| format!("NodePool {}", self.pool))?;
        let taints: Vec<Value> = pool.template.taints.iter().map(written::taint).collect();
        Ok(json!({"metadata": {"labels": self.labels}, "spec": {"taints": taints, "requirements": []}}))
    }
}
