//! What an audit tells beside its figures.

use std::collections::BTreeMap;

use millwright_models::world::World;

use super::solve::Solved;
use crate::candidates::Scene;
use crate::expire::is_expired;
use crate::nodes::StateNode;
use crate::pods::is_bare;

/// What was assumed, and what the user should know of the nodes.
pub fn warnings(world: &World, scene: &Scene<'_>, first: &Solved<'_>) -> Vec<String> {
    let mut out = world.warnings.clone();
    // What keeps a node stands with the node.
    let own = first.lowered.warnings.iter().filter(|w| !w.contains(" cannot be removed: "));
    out.extend(own.filter(|w| !world.warnings.contains(w)).cloned());
    for (pool, fault) in &first.terms.faults {
        out.push(format!("NodePool {pool}: {fault}; no node of it may be disrupted"));
    }
    let mut drifts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, drift) in &first.terms.drifted {
        drifts.entry(drift.as_str()).or_default().push(name);
    }
    for (reason, names) in drifts {
        out.push(format!(
            "{} will be replaced in any case, having drifted ({reason}): {}",
            nodes(names.len()),
            list(&names)
        ));
    }
    let expired = |n: &&StateNode<'_>| n.claim.is_some_and(|c| is_expired(c, scene.now));
    let expired: Vec<&str> = scene.nodes.iter().filter(expired).map(|n| n.name()).collect();
    if !expired.is_empty() {
        out.push(format!("{} past expireAfter: {}", nodes(expired.len()), list(&expired)));
    }
    let leaving: Vec<&str> = scene.nodes.iter().map(|n| n.name()).filter(|n| first.is_leaving(scene, n)).collect();
    if !leaving.is_empty() {
        out.push(format!(
            "{} on the way out, in no cost here; their pods are planned for: {}",
            nodes(leaving.len()),
            list(&leaving)
        ));
    }
    let bare = first.lifted.moves.iter().filter(|m| is_bare(&world.pods[m.pod])).count();
    if bare > 0 {
        let pods = if bare == 1 { "1 pod".to_owned() } else { format!("{bare} pods") };
        out.push(format!("the wave moves {pods} that no controller will make again"));
    }
    out
}

fn nodes(count: usize) -> String {
    if count == 1 { "1 node".to_owned() } else { format!("{count} nodes") }
}

/// The first few of many names.
fn list(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
