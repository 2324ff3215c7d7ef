//! What may still be removed.

use crate::instance::{Instance, Removal};

/// Budgets while nodes are chosen.
#[derive(Clone, Debug)]
pub struct Budgets {
    left: Vec<i64>,
}

impl Budgets {
    /// Nothing drawn.
    pub fn new(instance: &Instance) -> Self {
        Budgets { left: instance.budgets.iter().map(|b| b.max).collect() }
    }

    /// Whether one more node may go.
    pub fn admit(&self, removal: &Removal) -> bool {
        removal.budgets.iter().all(|&(b, a)| a <= self.left[b])
    }

    /// Draws what a node takes.
    pub fn take(&mut self, removal: &Removal) {
        removal.budgets.iter().for_each(|&(b, a)| self.left[b] -= a);
    }
}

/// Whether the budgets let exactly these nodes go.
pub fn holds(instance: &Instance, gone: &[usize]) -> bool {
    let mut budgets = Budgets::new(instance);
    gone.iter().filter_map(|&n| instance.nodes[n].removal.as_ref()).for_each(|r| budgets.take(r));
    budgets.left.iter().all(|&l| l >= 0)
}

/// Of `wanted`, in this order, as many as the budgets let go, with those that
/// must go before all others; ascending.
pub fn choose(instance: &Instance, wanted: &[usize]) -> Vec<usize> {
    let mut budgets = Budgets::new(instance);
    let mut out: Vec<usize> = forced(instance);
    out.iter().filter_map(|&n| instance.nodes[n].removal.as_ref()).for_each(|r| budgets.take(r));
    for &n in wanted {
        if let Some(removal) = &instance.nodes[n].removal
            && !removal.forced
            && budgets.admit(removal)
        {
            budgets.take(removal);
            out.push(n);
        }
    }
    out.sort_unstable();
    out
}

/// Nodes that must go, ascending.
pub fn forced(instance: &Instance) -> Vec<usize> {
    let must = |n: &usize| instance.nodes[*n].removal.as_ref().is_some_and(|r| r.forced);
    (0..instance.nodes.len()).filter(must).collect()
}
