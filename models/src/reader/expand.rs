//! Workloads without pods become the pods they would make.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::collector::{Collector, Entry};
use super::error::Place;
use super::kind::Kind;
use super::owners::Owners;
use super::raw::pod::PodDraft;
use super::raw::workload::WorkloadDraft;
use crate::kube::meta::{Meta, OwnerReference};
use crate::kube::pod::{ClaimSource, Phase, PodSpec, Volume};
use crate::kube::volume::PersistentVolumeClaim;

/// Pods that workloads may add, at most.
const LIMIT: u64 = 1_000_000;

/// Adds the pods, and the unbound claims of StatefulSets, and says in how many
/// names a clash was avoided.
pub(super) fn expand(collector: &mut Collector) -> Vec<String> {
    let owners = Owners::new(&collector.pods, &collector.workloads);
    let mut wanting: Vec<Entry<WorkloadDraft>> =
        collector.workloads.iter().filter(|w| is_wanting(&w.value, &owners)).cloned().collect();
    wanting.sort_by_key(|w| Kind::of(api_version(w.value.kind), w.value.kind));
    let total: u64 = wanting.iter().map(|w| u64::from(w.value.replicas)).sum();
    if total > LIMIT {
        if let Some(largest) = wanting.iter().max_by_key(|w| w.value.replicas) {
            let WorkloadDraft { kind, meta, replicas, .. } = &largest.value;
            let object = format!("{kind} {}/{}", meta.namespace, meta.name);
            let message = format!("{replicas}; workloads without pods ask for {total} in all, more than {LIMIT}");
            collector.fault(largest.place, &object, "spec.replicas", message);
        }
        return Vec::new();
    }
    let mut taken: BTreeSet<(String, String)> =
        collector.pods.iter().map(|p| (p.value.namespace.clone(), p.value.name.clone())).collect();
    let mut known: BTreeSet<(String, String)> =
        collector.claims.iter().map(|c| (c.value.meta.namespace.clone(), c.value.meta.name.clone())).collect();
    let mut warnings = Vec::new();
    for Entry { place, value: workload } in wanting {
        let name = &workload.meta.name;
        let free = |stem: &str| {
            let clash = |i: u32| taken.contains(&(workload.meta.namespace.clone(), format!("{stem}-{i}")));
            !numbers(&workload).any(clash)
        };
        let longer = format!("{name}-{}", workload.kind.to_lowercase());
        let stem = if free(name) { name.clone() } else { longer };
        if stem != *name {
            warnings.push(format!(
                "pods of {} {}/{name} are named {stem}-i, since others have the name {name}-i",
                workload.kind, workload.meta.namespace
            ));
        }
        for i in numbers(&workload) {
            let pod = pod(&workload, &stem, i, collector);
            taken.insert((pod.namespace.clone(), pod.name.clone()));
            collector.pods.push(Entry { place, value: pod });
        }
        claims(&workload, place, &mut known, collector);
    }
    warnings
}

fn is_wanting(workload: &WorkloadDraft, owners: &Owners<'_>) -> bool {
    workload.replicas > 0 && workload.meta.deletion_timestamp.is_none() && !owners.is_covered(workload)
}

fn numbers(workload: &WorkloadDraft) -> impl Iterator<Item = u32> + use<> {
    workload.first..workload.first.saturating_add(workload.replicas)
}

fn pod(workload: &WorkloadDraft, stem: &str, number: u32, collector: &mut Collector) -> PodDraft {
    let template = &workload.template;
    let mut labels = (*template.labels).clone();
    if workload.kind == "Deployment" {
        // All pods of one template share it; only its equality matters.
        let hash = fnv(&format!("{}/{}", workload.meta.namespace, workload.meta.name));
        labels.entry("pod-template-hash".to_owned()).or_insert_with(|| format!("{hash:08x}"));
    }
    let spec = if workload.claims.is_empty() {
        Arc::clone(&template.spec)
    } else {
        collector.interner.spec(with_claims(workload, number))
    };
    PodDraft {
        namespace: workload.meta.namespace.clone(),
        name: format!("{stem}-{number}"),
        uid: String::new(),
        created: None,
        deleted: None,
        owner: Some(OwnerReference {
            api_version: api_version(workload.kind).to_owned(),
            kind: workload.kind.to_owned(),
            name: workload.meta.name.clone(),
            uid: workload.meta.uid.clone(),
            controller: true,
            block_owner_deletion: None,
        }),
        is_static: false,
        labels: collector.interner.labels(labels),
        annotations: Arc::clone(&template.annotations),
        spec,
        allocated: Vec::new(),
        node_name: None,
        phase: Phase::Pending,
        conditions: Vec::new(),
        nominated_node: None,
        started: None,
        synthetic: true,
    }
}

/// The template's spec with a volume for each claim template.
fn with_claims(workload: &WorkloadDraft, number: u32) -> PodSpec {
    let mut spec = (*workload.template.spec).clone();
    for claim in &workload.claims {
        spec.volumes.retain(|v| v.name != claim.name);
        let claim_name = format!("{}-{}-{number}", claim.name, workload.meta.name);
        let source = Some(ClaimSource { claim_name });
        spec.volumes.push(Volume { name: claim.name.clone(), persistent_volume_claim: source, ephemeral: None });
    }
    spec
}

/// The claims of a StatefulSet's pods that the input does not hold.
fn claims(workload: &WorkloadDraft, place: Place, known: &mut BTreeSet<(String, String)>, collector: &mut Collector) {
    for claim in &workload.claims {
        for number in numbers(workload) {
            let name = format!("{}-{}-{number}", claim.name, workload.meta.name);
            let namespace = &workload.meta.namespace;
            if !known.insert((namespace.clone(), name.clone())) {
                continue;
            }
            let meta = Meta { name, namespace: namespace.clone(), ..Meta::default() };
            let value = PersistentVolumeClaim {
                meta,
                storage_class: claim.storage_class.clone(),
                phase: "Pending".to_owned(),
                ..PersistentVolumeClaim::default()
            };
            collector.claims.push(Entry { place, value });
        }
    }
}

fn api_version(kind: &str) -> &'static str {
    match kind {
        "Job" => "batch/v1",
        "ReplicationController" => "v1",
        _ => "apps/v1",
    }
}

fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
