//! VolumeBinding, VolumeZone and NodeVolumeLimits, as far as bound volumes,
//! allowed topologies and attach limits go.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::labels::NodeRule;
use super::refusal::Refusal;
use crate::kube::meta::Labels;
use crate::kube::node::Node;
use crate::kube::pod::Pod;
use crate::kube::volume::{CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass};

const ZONE: &str = "topology.kubernetes.io/zone";
const EBS_ZONE: &str = "topology.ebs.csi.aws.com/zone";
const EBS_DRIVER: &str = "ebs.csi.aws.com";
const EBS_IN_TREE: &str = "kubernetes.io/aws-ebs";
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// Label keys of a volume that the scheduler compares with the node's, each
/// with its present-day name.
const PLACES: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", ZONE),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    (ZONE, ZONE),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// Claims, volumes and storage classes by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Storage {
    claims: HashMap<(String, String), PersistentVolumeClaim>,
    volumes: HashMap<String, Bound>,
    classes: HashMap<String, Class>,
}

#[derive(Clone, Debug)]
struct Bound {
    name: String,
    driver: Option<String>,
    rule: NodeRule,
    places: Vec<(&'static str, &'static str, BTreeSet<String>)>,
}

#[derive(Clone, Debug)]
struct Class {
    provisioner: String,
    immediate: bool,
    rule: NodeRule,
}

/// What one volume of a pod asks of a node.
enum Need<'a> {
    Volume(&'a Bound),
    Provision {
        claim: String,
        class: &'a str,
        of: &'a Class,
    },
    /// Nothing is known of the claim: it can be made anywhere.
    Anywhere,
}

/// Volumes attached to a node: per driver, how many pods use each.
#[derive(Clone, Debug, Default)]
pub(super) struct Attached(BTreeMap<String, BTreeMap<String, u32>>);

impl Storage {
    pub fn new(claims: &[PersistentVolumeClaim], volumes: &[PersistentVolume], classes: &[StorageClass]) -> Self {
        let name = |c: &PersistentVolumeClaim| (c.meta.namespace.clone(), c.meta.name.clone());
        Self {
            claims: claims.iter().map(|c| (name(c), c.clone())).collect(),
            volumes: volumes.iter().map(|v| (v.meta.name.clone(), Bound::of(v))).collect(),
            classes: classes.iter().map(|c| (c.meta.name.clone(), Class::of(c))).collect(),
        }
    }

    /// VolumeBinding and VolumeZone.
    pub fn admits(&self, pod: &Pod, node: &Node) -> Result<(), Refusal> {
        let labels = driver_labels(&node.meta.labels);
        for need in self.needs(pod)? {
            match need {
                Need::Anywhere => {}
                Need::Volume(volume) => volume.admits(&node.meta.name, &labels)?,
                Need::Provision { claim, class, of } => {
                    let able = !of.provisioner.is_empty() && of.provisioner != NO_PROVISIONER;
                    if !able || !of.rule.admits(&node.meta.name, &labels) {
                        return Err(Refusal::VolumeTopology { claim, class: class.to_owned() });
                    }
                }
            }
        }
        Ok(())
    }

    /// NodeVolumeLimits: volumes that are attached already count once.
    pub fn fits(&self, pod: &Pod, limits: Option<&CsiNode>, attached: &Attached) -> Result<(), Refusal> {
        let Some(limits) = limits else { return Ok(()) };
        let mut fresh: BTreeMap<String, usize> = BTreeMap::new();
        for (driver, volume) in self.attachments(pod) {
            let known = attached.0.get(&driver).is_some_and(|all| all.contains_key(&volume));
            *fresh.entry(driver).or_default() += usize::from(!known);
        }
        for (driver, new) in fresh {
            let Some(Some(limit)) = limits.drivers.get(&driver) else { continue };
            let used = attached.0.get(&driver).map_or(0, BTreeMap::len);
            if new > 0 && used + new > *limit as usize {
                return Err(Refusal::VolumeCount { driver, limit: *limit, used, new });
            }
        }
        Ok(())
    }

    pub fn attach(&self, pod: &Pod, attached: &mut Attached) {
        for (driver, volume) in self.attachments(pod) {
            *attached.0.entry(driver).or_default().entry(volume).or_default() += 1;
        }
    }

    pub fn detach(&self, pod: &Pod, attached: &mut Attached) {
        for (driver, volume) in self.attachments(pod) {
            let Some(all) = attached.0.get_mut(&driver) else { continue };
            if let Some(uses) = all.get_mut(&volume) {
                *uses -= 1;
                if *uses == 0 {
                    all.remove(&volume);
                }
            }
        }
    }

    /// Driver and identity of every volume that takes a slot, each once.
    fn attachments(&self, pod: &Pod) -> BTreeSet<(String, String)> {
        let named = claims_of(pod).into_iter().filter_map(|(name, class)| {
            let claim = self.claims.get(&(pod.namespace.clone(), name.clone()));
            if let Some(volume) = claim.and_then(|c| self.volumes.get(&c.volume_name)) {
                return Some((volume.driver.clone()?, volume.name.clone()));
            }
            let class = claim.and_then(|c| c.storage_class.as_deref()).or(class)?;
            let provisioner = &self.classes.get(class)?.provisioner;
            let driver = if provisioner == EBS_IN_TREE { EBS_DRIVER } else { provisioner };
            (driver != NO_PROVISIONER).then(|| (driver.to_owned(), format!("{}/{name}", pod.namespace)))
        });
        named.collect()
    }

    fn needs(&self, pod: &Pod) -> Result<Vec<Need<'_>>, Refusal> {
        claims_of(pod).into_iter().map(|(name, class)| self.need(&pod.namespace, name, class)).collect()
    }

    fn need(&self, namespace: &str, name: String, template: Option<&str>) -> Result<Need<'_>, Refusal> {
        let claim = format!("{namespace}/{name}");
        let Some(found) = self.claims.get(&(namespace.to_owned(), name)) else {
            // It will be made with the pod; of its class only what is known binds.
            return Ok(match template.and_then(|c| self.classes.get_key_value(c)) {
                Some((class, of)) if !of.immediate => Need::Provision { claim, class, of },
                _ => Need::Anywhere,
            });
        };
        if !found.volume_name.is_empty() {
            return match self.volumes.get(&found.volume_name) {
                Some(volume) => Ok(Need::Volume(volume)),
                None => Err(Refusal::VolumeMissing { claim, volume: found.volume_name.clone() }),
            };
        }
        let Some(class) = found.storage_class.as_deref().filter(|c| !c.is_empty()) else {
            return Err(Refusal::VolumeClassless { claim });
        };
        match self.classes.get_key_value(class) {
            None => Err(Refusal::VolumeClassMissing { claim, class: class.to_owned() }),
            Some((_, of)) if of.immediate => Err(Refusal::VolumeUnbound { claim }),
            Some((class, of)) => Ok(Need::Provision { claim, class, of }),
        }
    }
}

impl Bound {
    fn of(volume: &PersistentVolume) -> Self {
        let label = |(key, now): (&'static str, &'static str)| {
            let values = volume.meta.labels.get(key)?.split("__").map(str::to_owned).collect();
            Some((key, now, values))
        };
        Self {
            name: volume.meta.name.clone(),
            driver: volume.driver.clone(),
            rule: NodeRule::of_terms(&volume.terms),
            places: PLACES.into_iter().filter_map(label).collect(),
        }
    }

    fn admits(&self, node: &str, labels: &Labels) -> Result<(), Refusal> {
        if !self.rule.admits(node, labels) {
            return Err(Refusal::VolumeAffinity { volume: self.name.clone() });
        }
        if PLACES.iter().all(|(key, _)| !labels.contains_key(*key)) {
            return Ok(()); // a cluster that knows no zones
        }
        for (key, now, values) in &self.places {
            let place = labels.get(*key).or_else(|| labels.get(*now));
            if !place.is_some_and(|p| values.contains(p)) {
                let values = values.iter().cloned().collect::<Vec<_>>().join(", ");
                return Err(Refusal::VolumeZone { volume: self.name.clone(), key: (*key).to_owned(), values });
            }
        }
        Ok(())
    }
}

impl Class {
    fn of(class: &StorageClass) -> Self {
        Self {
            provisioner: class.provisioner.clone(),
            immediate: class.immediate,
            rule: NodeRule::of_terms(&class.topologies),
        }
    }
}

/// Names of the claims a pod uses, with the storage class of a template.
fn claims_of(pod: &Pod) -> Vec<(String, Option<&str>)> {
    let claims = pod.spec.volumes.iter().filter_map(|volume| {
        if let Some(source) = &volume.persistent_volume_claim {
            return Some((source.claim_name.clone(), None));
        }
        let template = volume.ephemeral.as_ref()?.volume_claim_template.as_ref();
        let class = template.and_then(|t| t.spec.storage_class_name.as_deref());
        Some((format!("{}-{}", pod.name, volume.name), class))
    });
    claims.collect()
}

/// The EBS driver labels its nodes with the zone when it registers; a node
/// that does not run it yet will have that label by the time a pod comes.
fn driver_labels(labels: &Labels) -> Labels {
    let mut all = labels.clone();
    if let Some(zone) = labels.get(ZONE) {
        all.entry(EBS_ZONE.to_owned()).or_insert_with(|| zone.clone());
    }
    all
}
