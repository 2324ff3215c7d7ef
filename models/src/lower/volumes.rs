//! Where a pod's volumes let it run, and how many it attaches per driver.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::karpenter::labels;
use crate::kube::pod::{Pod, Volume};
use crate::kube::selector::NodeSelectorTerm;
use crate::kube::volume::{CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass};
use crate::world::World;

/// The driver assumed where nothing names one: that of EKS's default class.
pub const EBS: &str = "ebs.csi.aws.com";

/// Namespace and name of a claim.
pub type Claim = (String, String);

/// Distinct claims per CSI driver.
pub type Claims = BTreeMap<String, BTreeSet<Claim>>;

/// What the volumes of one pod ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VolumeNeeds {
    /// Each volume's alternatives: the node must satisfy one term of every
    /// entry. A term without expressions is no constraint.
    pub alternatives: Vec<Vec<NodeSelectorTerm>>,
    /// Number of claims per CSI driver that take room of their own.
    pub attachments: BTreeMap<String, u32>,
    /// Claims that every node keeps room for.
    pub reserved: Claims,
}

/// Claims, volumes and classes by name.
pub struct Storage<'w> {
    claims: FxHashMap<(&'w str, &'w str), &'w PersistentVolumeClaim>,
    volumes: FxHashMap<&'w str, &'w PersistentVolume>,
    classes: FxHashMap<&'w str, &'w StorageClass>,
    csi: FxHashMap<&'w str, &'w CsiNode>,
}

impl<'w> Storage<'w> {
    pub fn new(world: &'w World) -> Self {
        Self {
            claims: world.claims.iter().map(|c| ((c.meta.namespace.as_str(), c.meta.name.as_str()), c)).collect(),
            volumes: world.volumes.iter().map(|v| (v.meta.name.as_str(), v)).collect(),
            classes: world.storage_classes.iter().map(|c| (c.meta.name.as_str(), c)).collect(),
            csi: world.csi_nodes.iter().map(|c| (c.meta.name.as_str(), c)).collect(),
        }
    }

    /// What is not in the input of the claims that pods name, in sentences.
    pub fn gaps(&self, world: &'w World) -> Vec<String> {
        let (mut claims, mut volumes) = (BTreeMap::new(), BTreeMap::new());
        for pod in world.pods.iter().filter(|p| !p.is_terminal()) {
            for volume in &pod.spec.volumes {
                let Some((name, claim, _)) = self.claim_of(pod, volume) else { continue };
                match claim {
                    // Ephemeral ones are made with the pod.
                    None if volume.ephemeral.is_none() || pod.node_name.is_some() => {
                        claims.entry((&pod.namespace, name)).or_insert(pod);
                    }
                    // Of a pod that waits it is a reason to refuse it.
                    Some(c)
                        if pod.node_name.is_some()
                            && !c.volume_name.is_empty()
                            && !self.volumes.contains_key(c.volume_name.as_str()) =>
                    {
                        volumes.entry(c.volume_name.as_str()).or_insert(pod);
                    }
                    _ => {}
                }
            }
        }
        let mut out = Vec::new();
        if let Some(((namespace, name), pod)) = claims.first_key_value() {
            out.push(format!(
                "{} not in the input, taken as not bound yet, so free to be in any zone: {namespace}/{name} of pod {} \
                 for example",
                counted(claims.len(), "PersistentVolumeClaim"),
                pod.full_name()
            ));
        }
        if let Some((name, pod)) = volumes.first_key_value() {
            out.push(format!(
                "{} not in the input, taken to be usable in every zone: {name} of pod {} for example",
                counted(volumes.len(), "PersistentVolume"),
                pod.full_name()
            ));
        }
        out
    }

    /// The node's limit for a driver: `Some(None)` is unlimited by the node's
    /// own word, `None` says nothing.
    pub fn limit(&self, node: &str, driver: &str) -> Option<Option<u32>> {
        self.csi.get(node)?.drivers.get(driver).copied()
    }

    /// What the pod's volumes need; `reserved` claims take no room of its own.
    pub fn needs(&self, pod: &Pod, reserved: &Claims) -> VolumeNeeds {
        let alternatives = self.each(pod).into_iter().map(|(_, terms, _)| terms).filter(|t| !t.is_empty());
        let mut needs = VolumeNeeds { alternatives: alternatives.collect(), ..VolumeNeeds::default() };
        needs.alternatives.sort();
        for (driver, claims) in self.claims(std::iter::once(pod)) {
            let kept = |c: &Claim| reserved.get(&driver).is_some_and(|r| r.contains(c));
            let (kept, own): (BTreeSet<Claim>, BTreeSet<Claim>) = claims.into_iter().partition(kept);
            if !own.is_empty() {
                needs.attachments.insert(driver.clone(), own.len() as u32);
            }
            if !kept.is_empty() {
                needs.reserved.insert(driver, kept);
            }
        }
        needs
    }

    /// Distinct claims per driver that pods on one node attach together.
    pub fn claims<'p>(&self, pods: impl Iterator<Item = &'p Pod>) -> Claims {
        let mut out = Claims::new();
        for pod in pods {
            for (claim, _, driver) in self.each(pod) {
                let Some(driver) = driver else { continue };
                out.entry(driver).or_default().insert((pod.namespace.clone(), claim));
            }
        }
        out
    }

    /// Claims of the pod that bind it to some nodes, with the alternatives.
    pub fn demands(&self, pod: &Pod) -> Vec<(String, Vec<NodeSelectorTerm>)> {
        let bound = self.each(pod).into_iter().filter(|(_, terms, _)| !terms.is_empty());
        bound.map(|(claim, terms, _)| (claim, terms)).collect()
    }

    /// Claim, alternatives and driver of each volume that has a claim.
    fn each(&self, pod: &Pod) -> Vec<(String, Vec<NodeSelectorTerm>, Option<String>)> {
        let mut out = Vec::new();
        for volume in &pod.spec.volumes {
            let Some((name, claim, class)) = self.claim_of(pod, volume) else { continue };
            let bound = claim
                .map(|c| c.volume_name.as_str())
                .filter(|v| !v.is_empty())
                .and_then(|v| self.volumes.get(v).copied());
            let (terms, driver) = match bound {
                Some(pv) => (volume_terms(pv), pv.driver.clone()),
                None => match class.and_then(|c| self.classes.get(c)) {
                    Some(class) => (class.topologies.clone(), Some(class.provisioner.clone())),
                    None => (Vec::new(), Some(EBS.to_owned())),
                },
            };
            out.push((name, terms, driver));
        }
        out
    }

    fn claim_of<'p>(
        &self,
        pod: &'p Pod,
        volume: &'p Volume,
    ) -> Option<(String, Option<&'w PersistentVolumeClaim>, Option<&'p str>)>
    where
        'w: 'p,
    {
        let (name, class) = match (&volume.persistent_volume_claim, &volume.ephemeral) {
            (Some(source), _) => (source.claim_name.clone(), None),
            (None, Some(source)) => (
                format!("{}-{}", pod.name, volume.name),
                source.volume_claim_template.as_ref().and_then(|t| t.spec.storage_class_name.as_deref()),
            ),
            (None, None) => return None,
        };
        let claim = self.claims.get(&(pod.namespace.as_str(), name.as_str())).copied();
        let class = claim.and_then(|c| c.storage_class.as_deref()).or(class);
        Some((name, claim, class))
    }
}

fn counted(count: usize, kind: &str) -> String {
    if count == 1 { format!("1 {kind} is") } else { format!("{count} {kind}s are") }
}

/// Terms of a volume; hostname expressions of local volumes are void.
fn volume_terms(volume: &PersistentVolume) -> Vec<NodeSelectorTerm> {
    let mut terms = Vec::new();
    for term in &volume.terms {
        let mut term = term.clone();
        if term.match_expressions.is_empty() {
            continue;
        }
        if volume.is_local {
            term.match_expressions.retain(|e| e.key != labels::HOSTNAME);
            if term.match_expressions.is_empty() {
                return Vec::new();
            }
        }
        terms.push(term);
    }
    terms
}
