use crate::instance::{Instance, Micros};
use crate::plan::Plan;

/// How good a plan is; smaller is better: pods without a place, most
/// important first; pods in later tiers, latest first; money; evicted pods;
/// removed nodes; new nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Merit {
    unserved: Vec<u64>,
    demoted: Vec<u64>,
    cost: Micros,
    evictions: u64,
    removed: usize,
    nodes: usize,
}

impl Merit {
    /// The merit of a plan.
    pub fn of(instance: &Instance, plan: &Plan) -> Self {
        let mut ranks: Vec<i32> = instance.shapes.iter().map(|s| s.priority).collect();
        ranks.sort_unstable_by(|a, b| b.cmp(a));
        ranks.dedup();
        let mut unserved = vec![0; ranks.len()];
        for &(s, n) in &plan.unserved {
            if let Some(r) = ranks.iter().position(|&p| p == instance.shapes[s].priority) {
                unserved[r] += u64::from(n);
            }
        }
        let tiers = instance.shapes.iter().map(|s| s.tiers.len()).max().unwrap_or(0);
        let mut demoted = vec![0; tiers];
        for &(_, t, n) in &plan.demoted {
            demoted[tiers - 1 - t] += u64::from(n);
        }
        Merit {
            unserved,
            demoted,
            cost: plan.cost(instance),
            evictions: plan.evictions(instance),
            removed: plan.removed.len(),
            nodes: plan.bought.len(),
        }
    }
}
