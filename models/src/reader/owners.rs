//! Which workloads already have pods in the input.

use std::collections::{BTreeMap, BTreeSet};

use super::collector::Entry;
use super::raw::pod::PodDraft;
use super::raw::workload::WorkloadDraft;
use crate::kube::meta::{Labels, Meta, OwnerReference};

/// Controllers of the pods and workloads that were read.
#[derive(Debug, Default)]
pub(super) struct Owners<'a> {
    uids: BTreeSet<&'a str>,
    /// Namespace, kind, name.
    names: BTreeSet<(&'a str, &'a str, &'a str)>,
    /// Label sets of the pods of each ReplicaSet, by namespace and name.
    replica_sets: BTreeMap<(&'a str, &'a str), Vec<&'a Labels>>,
    /// Namespace, kind, name and UID of every workload.
    workloads: BTreeSet<(&'a str, &'a str, &'a str)>,
    workload_uids: BTreeSet<&'a str>,
}

impl<'a> Owners<'a> {
    pub fn new(pods: &'a [Entry<PodDraft>], workloads: &'a [Entry<WorkloadDraft>]) -> Self {
        let mut owners = Self::default();
        for pod in pods.iter().map(|p| &p.value) {
            let Some(owner) = &pod.owner else { continue };
            owners.note(&pod.namespace, owner);
            if owner.kind == "ReplicaSet" {
                let seen = owners.replica_sets.entry((&pod.namespace, &owner.name)).or_default();
                if !seen.contains(&&*pod.labels) {
                    seen.push(&pod.labels);
                }
            }
        }
        for workload in workloads.iter().map(|w| &w.value) {
            owners.workloads.insert((&workload.meta.namespace, workload.kind, &workload.meta.name));
            owners.workload_uids.insert(&workload.meta.uid);
        }
        // A ReplicaSet with pods stands for its Deployment, a Job for its owner.
        for workload in workloads.iter().map(|w| &w.value) {
            if let Some(owner) = workload.meta.controller()
                && owners.controls(&workload.meta, workload.kind)
            {
                owners.note(&workload.meta.namespace, owner);
            }
        }
        owners
    }

    fn note(&mut self, namespace: &'a str, owner: &'a OwnerReference) {
        if !owner.uid.is_empty() {
            self.uids.insert(&owner.uid);
        }
        self.names.insert((namespace, &owner.kind, &owner.name));
    }

    fn controls(&self, meta: &Meta, kind: &str) -> bool {
        self.names.contains(&(&*meta.namespace, kind, &*meta.name)) || self.uids.contains(&*meta.uid)
    }

    /// Whether the workload adds no pods of its own: some of its pods are in
    /// the input, or a workload that controls it is.
    pub fn is_covered(&self, workload: &WorkloadDraft) -> bool {
        let meta = &workload.meta;
        let by_owner = meta.controller().is_some_and(|owner| {
            self.workloads.contains(&(&*meta.namespace, &*owner.kind, &*owner.name))
                || (!owner.uid.is_empty() && self.workload_uids.contains(&*owner.uid))
        });
        by_owner || self.controls(meta, workload.kind) || (workload.kind == "Deployment" && self.by_selector(workload))
    }

    /// A pod that the Deployment selects, of a ReplicaSet named after it.
    fn by_selector(&self, deployment: &WorkloadDraft) -> bool {
        let Some(selector) = &deployment.selector else { return false };
        let prefix = format!("{}-", deployment.meta.name);
        let from = (&*deployment.meta.namespace, &*prefix);
        self.replica_sets
            .range(from..)
            .take_while(|((namespace, name), _)| *namespace == from.0 && name.starts_with(&prefix))
            .any(|(_, labels)| labels.iter().any(|l| selector.matches(l)))
    }
}
