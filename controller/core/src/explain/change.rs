//! One change to the objects that lifts a reason.

use std::sync::Arc;

use millwright_models::kube::node::Taint;
use millwright_models::kube::pod::{Affinity, PodAffinityTerm, PodSpec, Toleration};
use millwright_models::kube::selector::{Expression, NodeSelectorTerm};
use millwright_models::lower::{expression_words, taint_words, terms_words};
use millwright_models::quantity;
use millwright_models::world::World;

/// A change to the pods or to a NodePool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    DropSelector {
        key: String,
        value: String,
    },
    DropNodeAffinity(Expression),
    DropNodeAffinityTerms(Vec<NodeSelectorTerm>),
    Tolerate(Taint),
    FreeVolume {
        claim: String,
    },
    DropHostPorts,
    Request {
        resource: String,
        amount: i64,
        instead: i64,
    },
    /// A rule that the pod carries, and what it is called.
    DropRule {
        kind: RuleKind,
        key: String,
        name: String,
    },
    /// The anti-affinity of other pods that keeps this one away.
    DropTheirs {
        key: String,
        name: String,
    },
    RaiseLimit {
        pool: String,
        resource: String,
        to: i64,
        from: i64,
    },
    DropMinValues {
        pool: String,
    },
}

/// Kinds of rules between pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    Spread,
    Affinity,
    Anti,
}

impl Change {
    /// What to do, as an instruction.
    pub fn words(&self) -> String {
        let amount = |resource: &str, n: i64| quantity::format(resource, n);
        match self {
            Self::DropSelector { key, value } => format!("drop nodeSelector {key}={value}"),
            Self::DropNodeAffinity(e) => format!("drop node affinity {}", expression_words(e)),
            Self::DropNodeAffinityTerms(terms) => format!("drop its node affinity ({})", terms_words(terms)),
            Self::Tolerate(taint) => format!("tolerate {}", taint_words(taint)),
            Self::FreeVolume { claim } => format!("make volume claim {claim} usable elsewhere, or drop it"),
            Self::DropHostPorts => "drop its host ports".to_owned(),
            Self::Request { resource, amount: n, instead } => {
                format!("request {resource} {} instead of {}", amount(resource, *n), amount(resource, *instead))
            }
            Self::DropRule { name, .. } => format!("drop its {name}"),
            Self::DropTheirs { name, .. } => format!("drop the {name} of the pods that carry it"),
            Self::RaiseLimit { pool, resource, to, from } => format!(
                "raise the limit of NodePool {pool} on {resource} from {} to {}",
                amount(resource, *from),
                amount(resource, *to)
            ),
            Self::DropMinValues { pool } => format!("drop minValues from NodePool {pool}"),
        }
    }

    /// Makes the change; `pods` are those that it is about.
    pub fn apply(&self, world: &mut World, pods: &[usize]) {
        match self {
            Self::Request { resource, amount, .. } => {
                for &p in pods {
                    Arc::make_mut(&mut world.pods[p].requests).set(resource, *amount);
                }
            }
            Self::RaiseLimit { pool, resource, to, .. } => {
                for pool in world.node_pools.iter_mut().filter(|p| p.name() == pool) {
                    if resource == "nodes" {
                        pool.node_limit = Some(*to);
                    } else {
                        pool.limits.set(resource, *to);
                    }
                }
            }
            Self::DropMinValues { pool } => {
                for pool in world.node_pools.iter_mut().filter(|p| p.name() == pool) {
                    pool.template.requirements.iter_mut().for_each(|e| e.min_values = None);
                }
            }
            Self::DropTheirs { key, .. } => drop_theirs(world, pods, key),
            _ => {
                // Pods of one spec keep sharing it.
                let mut done: Vec<(Arc<PodSpec>, Arc<PodSpec>)> = Vec::new();
                for &p in pods {
                    let pod = &mut world.pods[p];
                    let new = done.iter().find(|(old, _)| Arc::ptr_eq(old, &pod.spec)).map(|(_, new)| new.clone());
                    let new = new.unwrap_or_else(|| {
                        let mut edited = (*pod.spec).clone();
                        self.edit(&mut edited, &pod.name);
                        let new = Arc::new(edited);
                        done.push((pod.spec.clone(), new.clone()));
                        new
                    });
                    pod.spec = new;
                }
            }
        }
    }

    fn edit(&self, spec: &mut PodSpec, pod: &str) {
        match self {
            Self::DropSelector { key, .. } => drop(spec.node_selector.remove(key)),
            Self::DropNodeAffinity(e) => {
                let node = spec.affinity.as_mut().and_then(|a| a.node_affinity.as_mut());
                if let Some(required) = node.and_then(|n| n.required.as_mut()) {
                    for term in &mut required.node_selector_terms {
                        term.match_expressions.retain(|x| x != e);
                    }
                    required.node_selector_terms.retain(|t| !t.match_expressions.is_empty());
                }
                drop_empty_node_affinity(spec);
            }
            Self::DropNodeAffinityTerms(_) => {
                if let Some(node) = spec.affinity.as_mut().and_then(|a| a.node_affinity.as_mut()) {
                    node.required = None;
                }
            }
            Self::Tolerate(taint) => spec.tolerations.push(Toleration {
                key: taint.key.clone(),
                operator: "Exists".to_owned(),
                effect: taint.effect.clone(),
                ..Toleration::default()
            }),
            Self::FreeVolume { claim } => spec.volumes.retain(|v| {
                let named = v.persistent_volume_claim.as_ref().is_some_and(|c| c.claim_name == *claim);
                !named && format!("{pod}-{}", v.name) != *claim
            }),
            Self::DropHostPorts => {
                for port in spec.containers.iter_mut().flat_map(|c| &mut c.ports) {
                    port.host_port = 0;
                }
            }
            Self::DropRule { kind: RuleKind::Spread, key, .. } => {
                spec.topology_spread_constraints
                    .retain(|c| c.topology_key != *key || c.when_unsatisfiable == "ScheduleAnyway");
            }
            Self::DropRule { kind, key, .. } => {
                if let Some(terms) = required_terms(spec.affinity.as_mut(), *kind) {
                    terms.retain(|t| t.topology_key != *key);
                }
            }
            _ => {}
        }
    }
}

fn drop_empty_node_affinity(spec: &mut PodSpec) {
    if let Some(node) = spec.affinity.as_mut().and_then(|a| a.node_affinity.as_mut())
        && node.required.as_ref().is_some_and(|r| r.node_selector_terms.is_empty())
    {
        node.required = None;
    }
}

fn required_terms(affinity: Option<&mut Affinity>, kind: RuleKind) -> Option<&mut Vec<PodAffinityTerm>> {
    let affinity = affinity?;
    let pods = match kind {
        RuleKind::Anti => affinity.pod_anti_affinity.as_mut(),
        RuleKind::Affinity | RuleKind::Spread => affinity.pod_affinity.as_mut(),
    };
    Some(&mut pods?.required)
}

/// Takes from all other pods the anti-affinity over `key` that selects one of
/// `pods`.
fn drop_theirs(world: &mut World, pods: &[usize], key: &str) {
    let labels: Vec<_> = pods.iter().map(|&p| world.pods[p].labels.clone()).collect();
    let keeps_away = |t: &PodAffinityTerm| {
        let selects = |l: &_| t.label_selector.as_ref().is_some_and(|s| s.matches(l));
        t.topology_key == key && labels.iter().any(|l| selects(&**l))
    };
    for (i, pod) in world.pods.iter_mut().enumerate() {
        let has = pod.spec.affinity.as_ref().and_then(|a| a.pod_anti_affinity.as_ref());
        if !pods.contains(&i) && has.is_some_and(|a| a.required.iter().any(keeps_away)) {
            let spec = Arc::make_mut(&mut pod.spec);
            if let Some(terms) = required_terms(spec.affinity.as_mut(), RuleKind::Anti) {
                terms.retain(|t| !keeps_away(t));
            }
        }
    }
}
