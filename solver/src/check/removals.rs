use super::broken::Broken;
use crate::instance::Instance;
use crate::plan::Plan;

/// Nodes that must go are gone, budgets hold, and nobody loses a place for
/// nothing.
pub(super) fn check(instance: &Instance, plan: &Plan, broken: &mut Vec<Broken>) {
    let mut drawn = vec![0i128; instance.budgets.len()];
    let mut homeless: Vec<u64> = instance.shapes.iter().map(|s| u64::from(s.count)).collect();
    for (n, node) in instance.nodes.iter().enumerate() {
        let Some(removal) = &node.removal else { continue };
        let gone = plan.removed.binary_search(&n).is_ok();
        if gone {
            removal.budgets.iter().for_each(|&(b, a)| drawn[b] += i128::from(a));
        }
        if removal.forced {
            node.residents.iter().for_each(|&(s, c)| homeless[s] += u64::from(c));
            if !gone {
                broken.push(Broken::NotRemoved { node: n });
            }
        }
    }
    for (budget, b) in instance.budgets.iter().enumerate() {
        if drawn[budget] > i128::from(b.max) {
            broken.push(Broken::Budget { budget, drawn: drawn[budget], max: b.max });
        }
    }
    for &(shape, count) in &plan.unserved {
        let (unserved, most) = (u64::from(count), homeless[shape]);
        if unserved > most {
            broken.push(Broken::Evicted { shape, unserved, most });
        }
    }
}
