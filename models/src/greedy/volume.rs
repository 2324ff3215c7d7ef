//! Where volumes can be reached and how many a node holds (spec 20 §11).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::constraints::add_term;
use crate::karpenter::labels::HOSTNAME;
use crate::kube::pod::Pod;
use crate::kube::selector::NodeSelectorTerm;
use crate::kube::volume::{PersistentVolume, PersistentVolumeClaim, StorageClass};
use crate::requirements::Requirements;
use crate::world::World;

/// Distinct claims per driver.
pub(super) type Attached = BTreeMap<String, BTreeSet<String>>;

/// What a pod's volumes ask.
#[derive(Clone, Debug, Default)]
pub(super) struct PodVolumes {
    /// Any of these; empty: no demands.
    pub alternatives: Vec<Requirements>,
    pub attached: Attached,
}

/// The storage objects by name.
#[derive(Debug)]
pub(super) struct Storage<'a> {
    claims: FxHashMap<(&'a str, &'a str), &'a PersistentVolumeClaim>,
    volumes: FxHashMap<&'a str, &'a PersistentVolume>,
    classes: FxHashMap<&'a str, &'a StorageClass>,
}

impl<'a> Storage<'a> {
    pub fn new(world: &'a World) -> Self {
        Self {
            claims: world.claims.iter().map(|c| ((c.meta.namespace.as_str(), c.meta.name.as_str()), c)).collect(),
            volumes: world.volumes.iter().map(|v| (v.meta.name.as_str(), v)).collect(),
            classes: world.storage_classes.iter().map(|c| (c.meta.name.as_str(), c)).collect(),
        }
    }

    /// What the pod's volumes ask, or why it cannot be placed. A claim that is
    /// not in the snapshot counts as one that waits for its first consumer.
    pub fn of(&self, pod: &Pod) -> Result<PodVolumes, String> {
        let mut all = PodVolumes::default();
        for volume in &pod.spec.volumes {
            let (name, template) = match (&volume.persistent_volume_claim, &volume.ephemeral) {
                (Some(source), _) => (source.claim_name.clone(), None),
                (None, Some(source)) => {
                    (format!("{}-{}", pod.name, volume.name), source.volume_claim_template.as_ref())
                }
                (None, None) => continue,
            };
            let claim = self.claims.get(&(pod.namespace.as_str(), name.as_str())).copied();
            let class = claim.map(|c| &c.storage_class).or_else(|| template.map(|t| &t.spec.storage_class_name));
            let class = class.and_then(|c| c.as_deref()).filter(|c| !c.is_empty());
            let bound = claim.map(|c| c.volume_name.as_str()).filter(|v| !v.is_empty());
            if let Some(claim) = claim {
                refuse(claim, &name)?;
            }
            let (choices, driver) = match bound {
                Some(volume) => self.bound(&name, volume)?,
                None => self.unbound(&name, claim.is_some(), class)?,
            };
            if let Some(driver) = driver {
                all.attached.entry(driver).or_default().insert(format!("{}/{name}", pod.namespace));
            }
            all.alternatives = cross(all.alternatives, choices);
        }
        Ok(all)
    }

    fn bound(&self, claim: &str, name: &str) -> Result<(Vec<Requirements>, Option<String>), String> {
        let volume = self.volumes.get(name);
        let volume = volume.ok_or_else(|| format!("volume {name:?} of claim {claim:?} not found"))?;
        if volume.meta.deletion_timestamp.is_some() {
            return Err(format!("volume {name:?} of claim {claim:?} is being deleted"));
        }
        let terms = volume.terms.iter().filter(|t| !t.match_expressions.is_empty());
        let choices = terms.map(|t| alternative(t, volume.is_local)).collect();
        Ok((choices, volume.driver.clone()))
    }

    fn unbound(
        &self,
        claim: &str,
        exists: bool,
        class: Option<&str>,
    ) -> Result<(Vec<Requirements>, Option<String>), String> {
        let Some(name) = class else {
            let unbound = || format!("unbound claim {claim:?} must name a storage class");
            return if exists { Err(unbound()) } else { Ok(Default::default()) };
        };
        match self.classes.get(name) {
            None if exists => Err(format!("storage class {name:?} of claim {claim:?} not found")),
            None => Ok(Default::default()),
            Some(class) if class.immediate && exists => {
                Err(format!("claim {claim:?} is unbound and its storage class {name:?} binds immediately"))
            }
            Some(class) => {
                let choices = class.topologies.iter().map(|t| alternative(t, false)).collect();
                Ok((choices, Some(csi_driver(&class.provisioner).to_owned())))
            }
        }
    }

    /// The distinct claims per driver of a running pod.
    pub fn attached(&self, pod: &Pod) -> Attached {
        self.of(pod).map(|v| v.attached).unwrap_or_default()
    }
}

fn refuse(claim: &PersistentVolumeClaim, name: &str) -> Result<(), String> {
    if claim.meta.deletion_timestamp.is_some() {
        return Err(format!("claim {name:?} is being deleted"));
    }
    if claim.phase == "Lost" {
        return Err(format!("claim {name:?} has lost its volume"));
    }
    Ok(())
}

fn alternative(term: &NodeSelectorTerm, local: bool) -> Requirements {
    let mut set = Requirements::default();
    add_term(&mut set, term);
    if local {
        set.remove(HOSTNAME);
    }
    set
}

/// Every combination that does not contradict itself; all of them if all do,
/// so that the refusal can be explained.
fn cross(left: Vec<Requirements>, right: Vec<Requirements>) -> Vec<Requirements> {
    if left.is_empty() || right.is_empty() {
        return if left.is_empty() { right } else { left };
    }
    let pairs = || left.iter().flat_map(|a| right.iter().map(move |b| (a, b)));
    let both = |(a, b): (&Requirements, &Requirements)| {
        let mut all = a.clone();
        all.add_all(b);
        all
    };
    let sound: Vec<_> = pairs().filter(|(a, b)| a.intersects(b).is_ok()).map(both).collect();
    if sound.is_empty() { pairs().map(both).collect() } else { sound }
}

fn csi_driver(provisioner: &str) -> &str {
    match provisioner {
        "kubernetes.io/aws-ebs" => "ebs.csi.aws.com",
        "kubernetes.io/gce-pd" => "pd.csi.storage.gke.io",
        "kubernetes.io/azure-disk" => "disk.csi.azure.com",
        "kubernetes.io/azure-file" => "file.csi.azure.com",
        "kubernetes.io/cinder" => "cinder.csi.openstack.org",
        "kubernetes.io/vsphere-volume" => "csi.vsphere.vmware.com",
        other => other,
    }
}

/// The driver whose claims together exceed `limit`, with their number.
pub(super) fn exceeded(
    held: &Attached,
    more: &Attached,
    limit: impl Fn(&str) -> Option<u32>,
) -> Option<(String, usize, u32)> {
    more.iter().find_map(|(driver, claims)| {
        let limit = limit(driver)?;
        let known = held.get(driver);
        let new = claims.iter().filter(|c| known.is_none_or(|k| !k.contains(*c))).count();
        let all = known.map_or(0, BTreeSet::len) + new;
        (new > 0 && all > limit as usize).then(|| (driver.clone(), all, limit))
    })
}
