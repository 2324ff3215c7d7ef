//! What keeps a pending pod out of any plan.

use super::pod::{Pod, PodSpec};
use super::selector::{Expression, NodeSelectorTerm, Operator};
use super::volume::PersistentVolumeClaim;
use crate::karpenter::labels;
use crate::karpenter::validate::expression_fault;
use crate::world::World;

/// Everything that is wrong with a pending pod, one sentence each. A claim
/// that the input lacks counts as unbound and waiting for its first consumer;
/// so does a class, where the input holds no class at all.
pub fn validate(pod: &Pod, world: &World) -> Vec<String> {
    let mut faults = Vec::new();
    if avoids_pools(&pod.spec) {
        faults.push(format!("asks for {} DoesNotExist: it avoids nodes of any NodePool", labels::NODEPOOL));
    }
    for (key, value) in &pod.spec.node_selector {
        let pair =
            Expression { key: key.clone(), operator: Operator::In, values: vec![value.clone()], min_values: None };
        faults.extend(expression_fault(&pair).err().map(|e| format!("nodeSelector: {e}")));
    }
    for (i, term) in required(&pod.spec).iter().enumerate() {
        let field = format!("required node affinity, term {}", i + 1);
        if !term.match_fields.is_empty() {
            faults.push(format!("{field}: matchFields is not supported"));
        }
        for expression in &term.match_expressions {
            faults.extend(expression_fault(expression).err().map(|e| format!("{field}: {e}")));
        }
    }
    for volume in &pod.spec.volumes {
        let (claim, class) = match (&volume.persistent_volume_claim, &volume.ephemeral) {
            (Some(source), _) => (source.claim_name.clone(), None),
            (None, Some(ephemeral)) => {
                let template = ephemeral.volume_claim_template.as_ref();
                (format!("{}-{}", pod.name, volume.name), template.and_then(|t| t.spec.storage_class_name.clone()))
            }
            (None, None) => continue,
        };
        let fault = match world.claim(&pod.namespace, &claim) {
            Some(claim) => claim_fault(claim, world),
            // The claim of a generic ephemeral volume comes with its pod.
            None => class.and_then(|class| class_fault(Some(&class), world)),
        };
        faults.extend(fault.map(|f| format!("volume {}: claim {}/{claim}: {f}", volume.name, pod.namespace)));
    }
    faults
}

fn required(spec: &PodSpec) -> &[NodeSelectorTerm] {
    let node = spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref());
    node.and_then(|n| n.required.as_ref()).map(|r| r.node_selector_terms.as_slice()).unwrap_or_default()
}

/// The heaviest preference or the first required term wants no pool's node.
fn avoids_pools(spec: &PodSpec) -> bool {
    let node = spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref());
    let heaviest = node.and_then(|n| n.preferred.iter().rev().max_by_key(|p| p.weight)).map(|p| &p.preference);
    let terms = required(spec).first().into_iter().chain(heaviest);
    terms
        .flat_map(|t| &t.match_expressions)
        .any(|e| e.operator == Operator::DoesNotExist && labels::normalise(&e.key) == labels::NODEPOOL)
}

fn claim_fault(claim: &PersistentVolumeClaim, world: &World) -> Option<String> {
    if claim.meta.deletion_timestamp.is_some() {
        return Some("is being deleted".to_owned());
    }
    if claim.phase == "Lost" {
        return Some("its volume is lost".to_owned());
    }
    if claim.volume_name.is_empty() {
        return class_fault(claim.storage_class.as_deref(), world);
    }
    let Some(volume) = world.volume(&claim.volume_name) else {
        return Some(format!("its PersistentVolume {} is not there", claim.volume_name));
    };
    if volume.meta.deletion_timestamp.is_some() {
        return Some(format!("its PersistentVolume {} is being deleted", claim.volume_name));
    }
    let completed = claim.meta.annotations.contains_key("pv.kubernetes.io/bind-completed");
    (!completed).then(|| "binding to its volume is not completed".to_owned())
}

/// Against an unbound claim of this class.
fn class_fault(class: Option<&str>, world: &World) -> Option<String> {
    if class == Some("") {
        return Some("unbound, and its storage class is empty".to_owned());
    }
    if world.storage_classes.is_empty() {
        return None;
    }
    let Some(name) = class else {
        return Some("unbound, without a storage class, and there is no default one".to_owned());
    };
    match world.storage_class(name) {
        None => Some(format!("unbound, and its StorageClass {name} is not there")),
        Some(class) if class.immediate => {
            Some(format!("unbound, and its StorageClass {name} binds immediately, not for the first consumer"))
        }
        Some(_) => None,
    }
}
