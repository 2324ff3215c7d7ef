//! The instance with only those bins that search would look at.

use crate::arrival::Index;
use crate::instance::{Instance, RuleKind};
use crate::plan::Plan;
use crate::search::offers;
use fixedbitset::FixedBitSet;

/// An instance with fewer bins.
pub struct Lean {
    /// Everything but the bins that are never bought.
    pub instance: Instance,
    /// Its bins in the whole instance.
    bins: Vec<usize>,
}

impl Lean {
    /// Leaves out what no pod is ever best served by; `full` is the instance
    /// with everybody waiting.
    pub fn new(instance: &Instance, full: &Instance) -> Self {
        let mut bins: Vec<usize> = if instance.varieties.is_empty() {
            offers(full, &Index::new(full))
        } else {
            // Whether a launch leaves a choice depends on all of them.
            (0..instance.bins.len()).collect()
        };
        bins.sort_unstable();
        let mut lean = Instance { bins: bins.iter().map(|&b| instance.bins[b].clone()).collect(), ..instance.clone() };
        let fewer = |set: &FixedBitSet| {
            let mut out = FixedBitSet::with_capacity(bins.len());
            bins.iter().enumerate().for_each(|(i, &b)| out.set(i, set.contains(b)));
            out
        };
        lean.admissions.iter_mut().for_each(|a| a.bins = fewer(&a.bins));
        for rule in &mut lean.rules {
            if let RuleKind::Spread(s) = &mut rule.kind {
                s.scope.bins = fewer(&s.scope.bins);
            }
        }
        Lean { instance: lean, bins }
    }

    /// A plan in terms of the whole instance.
    pub fn whole(&self, mut plan: Plan) -> Plan {
        plan.bought.iter_mut().for_each(|n| n.bin = self.bins[n.bin]);
        plan
    }
}
