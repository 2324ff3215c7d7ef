//! The pod that a DaemonSet would put on a new node.

use std::collections::BTreeMap;

use super::collector::Entry;
use super::raw::pod::PodDraft;
use super::raw::workload::WorkloadDraft;
use crate::kube::pod::{Affinity, NodeAffinity, Phase, PodSpec};

/// The newest live pod of each DaemonSet, by namespace and name.
pub(super) fn newest(pods: &[Entry<PodDraft>]) -> BTreeMap<(&str, &str), &PodDraft> {
    let mut newest: BTreeMap<(&str, &str), &PodDraft> = BTreeMap::new();
    for pod in pods.iter().map(|p| &p.value) {
        let Some(owner) = pod.owner.as_ref().filter(|o| o.kind == "DaemonSet") else { continue };
        if pod.deleted.is_some() || pod.is_terminal() {
            continue;
        }
        let held = newest.entry((&pod.namespace, &owner.name)).or_insert(pod);
        if (pod.created, &pod.name) > (held.created, &held.name) {
            *held = pod;
        }
    }
    newest
}

/// The live pod's spec with the template's required node affinity: a live pod
/// is pinned to its node.
pub(super) fn representative(set: &WorkloadDraft, live: Option<&PodDraft>) -> PodSpec {
    let template = &set.template.spec;
    let Some(live) = live else { return (**template).clone() };
    let required = |affinity: &Option<Affinity>| affinity.as_ref()?.node_affinity.as_ref()?.required.clone();
    let wanted = required(&template.affinity);
    let mut spec = (*live.spec).clone();
    if wanted.is_some() || required(&spec.affinity).is_some() {
        let affinity = spec.affinity.get_or_insert_default();
        affinity.node_affinity.get_or_insert_default().required = wanted;
    }
    // Where only the pin was written, nothing is left.
    if let Some(affinity) = &mut spec.affinity {
        affinity.node_affinity = affinity.node_affinity.take().filter(|n| *n != NodeAffinity::default());
    }
    spec.affinity = spec.affinity.filter(|a| *a != Affinity::default());
    spec
}

impl PodDraft {
    pub fn is_terminal(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }
}
