//! The pools that are used where the input has none.

use super::labels;
use super::nodeclass::NodeClass;
use super::nodepool::{Budget, Disruption, NodeClassRef, NodePool, Template};
use crate::kube::meta::Meta;
use crate::kube::selector::{Expression, Operator};

/// Name of the node class of the default pools.
const CLASS: &str = "default";

/// Pools for Linux on amd64, on demand, of instance generations above 4:
/// `default` with categories c, m and r (and so without burstable types), and,
/// where a pod asks for a device, `default-gpu` with g and p.
///
/// `default` has the higher weight, so it hosts whatever it can and
/// `default-gpu` only what needs a GPU. No taint keeps others off: a pod that
/// asks for a GPU need not tolerate anything, and pods may use what room is
/// left beside it. Where nobody asks, the pool is left out: its zones would
/// count as domains that spreads have to fill.
pub fn default_pools(devices: bool) -> (Vec<NodePool>, NodeClass) {
    let mut pools = vec![pool("default", 2, &["c", "m", "r"])];
    if devices {
        pools.push(pool("default-gpu", 1, &["g", "p"]));
    }
    let meta = Meta { name: CLASS.to_owned(), ..Meta::default() };
    (pools, NodeClass { meta, ami_family: "AL2023".to_owned(), ..NodeClass::default() })
}

fn pool(name: &str, weight: i32, categories: &[&str]) -> NodePool {
    NodePool {
        meta: Meta { name: name.to_owned(), ..Meta::default() },
        weight,
        template: Template {
            requirements: vec![
                requirement(labels::OS, Operator::In, &["linux"]),
                requirement(labels::ARCH, Operator::In, &["amd64"]),
                requirement(labels::CAPACITY_TYPE, Operator::In, &[labels::ON_DEMAND]),
                requirement(labels::INSTANCE_CATEGORY, Operator::In, categories),
                requirement(labels::INSTANCE_GENERATION, Operator::Gt, &["4"]),
            ],
            node_class: NodeClassRef {
                group: labels::KARPENTER_AWS.to_owned(),
                kind: "EC2NodeClass".to_owned(),
                name: CLASS.to_owned(),
            },
            expire_after: Some("720h".to_owned()),
            ..Template::default()
        },
        disruption: Disruption {
            consolidate_after: Some("0s".to_owned()),
            policy: "WhenEmptyOrUnderutilized".to_owned(),
            budgets: vec![Budget { nodes: "10%".to_owned(), ..Budget::default() }],
        },
        ..NodePool::default()
    }
}

fn requirement(key: &str, operator: Operator, values: &[&str]) -> Expression {
    let values = values.iter().map(|v| (*v).to_owned()).collect();
    Expression { key: key.to_owned(), operator, values, min_values: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Faults;
    use crate::karpenter::validate;

    #[test]
    fn the_default_pools_are_valid() {
        let (pools, class) = default_pools(true);
        let mut faults = Faults::default();
        for pool in &pools {
            validate::node_pool(pool, Some(pool.weight), &mut faults);
            assert_eq!(pool.template.node_class.name, class.meta.name);
        }
        assert_eq!(faults, Faults::default());
        assert!(pools[0].weight > pools[1].weight);
        assert_eq!(default_pools(false).0, pools[..1]);
    }
}
