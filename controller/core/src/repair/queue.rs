//! The nodes that are due for repair, the most urgent first, and what becomes
//! of each. (spec 30 §20.2)

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::breaker::breaker;
use super::matching::{Verdict, verdict};
use super::policy::{Action, Policies};
use crate::budgets::{Reason, allowances};
use crate::candidates::{Candidate, Class, Exclusion, Scene};
use crate::duration;

/// Annotation of a node that nothing repairs.
const DO_NOT_REPAIR: &str = "karpenter.sh/do-not-repair";

/// Why a node that is due is not repaired now.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Why {
    #[error("{0}")]
    Excluded(Exclusion),
    #[error("the node has the annotation karpenter.sh/do-not-repair")]
    DoNotRepair,
    #[error("its pods hold it, and neither the repair policy nor the NodeClaim bounds how long that is waited for")]
    Unbounded,
    #[error("{unhealthy} of {nodes} nodes of NodePool {pool} are unhealthy")]
    Breaker { pool: String, unhealthy: u64, nodes: u64 },
    #[error("the disruption budget of NodePool {0} allows no repair now")]
    Budget(String),
}

/// What to do about one node.
#[derive(Clone, Debug)]
pub enum Step<'w> {
    /// Reboot it, once its pods had `bound` to leave.
    Reboot { candidate: Candidate<'w>, verdict: Verdict, bound: Option<SignedDuration> },
    /// Replace it: simulate its pods, those that are held included; delete the
    /// claim with a deadline of `bound` from then on.
    Replace { candidate: Candidate<'w>, verdict: Verdict, bound: Option<SignedDuration> },
    /// Leave it, and tell why.
    Blocked { node: usize, why: Why },
}

/// Every node that is due, in order. The first that can be acted on is the
/// command of this look. `reboots` are those of the last day by
/// [`crate::nodes::StateNode::id`].
pub fn queue<'w>(scene: &Scene<'w>, policies: &Policies, reboots: &BTreeMap<String, usize>) -> Vec<Step<'w>> {
    let mut out = Vec::new();
    let mut due: Vec<(Candidate<'w>, Verdict)> = Vec::new();
    for (n, node) in scene.nodes.iter().enumerate() {
        let lately = reboots.get(node.id()).copied().unwrap_or(0);
        let Some(verdict) = verdict(node, policies, lately, scene.now) else { continue };
        let shielded = node.node.is_some_and(|n| n.meta.annotations.get(DO_NOT_REPAIR).is_some_and(|v| v == "true"));
        let blocked = match scene.candidate(n, Class::Repair) {
            Err(why) => Why::Excluded(why),
            Ok(_) if shielded => Why::DoNotRepair,
            Ok(c) if c.has_blockers && verdict.grace.is_none() && own_grace(scene, n).is_none() => Why::Unbounded,
            Ok(c) => {
                due.push((c, verdict));
                continue;
            }
        };
        out.push(Step::Blocked { node: n, why: blocked });
    }
    let name = |c: &Candidate<'_>| scene.nodes[c.node].name();
    due.sort_by(|(a, v), (b, w)| {
        w.score
            .total_cmp(&v.score)
            .then(a.disruption_cost.total_cmp(&b.disruption_cost))
            .then_with(|| name(a).cmp(name(b)))
    });
    let (allowed, _) = allowances(&scene.world.node_pools, scene.census(), Reason::Unhealthy, scene.now);
    for (candidate, verdict) in due {
        let node = candidate.node;
        let pool = candidate.pool.map_or("", |p| p.name());
        let broken = breaker(&scene.nodes, Some(pool), policies);
        if broken.is_open() {
            let why = Why::Breaker { pool: pool.to_owned(), unhealthy: broken.unhealthy, nodes: broken.nodes };
            out.push(Step::Blocked { node, why });
            continue;
        }
        let spent = allowed.get(pool).is_some_and(|a| a.remaining == 0);
        if spent && scene.nodes[node].is_initialized() {
            out.push(Step::Blocked { node, why: Why::Budget(pool.to_owned()) });
            continue;
        }
        let bound = verdict.grace.map(|g| own_grace(scene, node).map_or(g, |own| own.min(g)));
        out.push(match verdict.action {
            Action::RebootNode => {
                let bound = bound.or_else(|| own_grace(scene, node));
                Step::Reboot { candidate, verdict, bound }
            }
            Action::ReplaceNode => Step::Replace { candidate, verdict, bound },
        });
    }
    out
}

/// The grace period of the node's claim.
fn own_grace(scene: &Scene<'_>, node: usize) -> Option<SignedDuration> {
    let claim = scene.nodes[node].claim?;
    claim.termination_grace_period.as_deref().and_then(duration::parse)
}
