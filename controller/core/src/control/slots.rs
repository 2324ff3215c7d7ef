//! What a plan has for a node, kept with the node's claim or the node itself
//! so that it outlives the controller.
//!
//! A slot is the place of one pod. The pod is told by name and uid, and by
//! owner and shape, since what comes may be a successor under another name.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use jiff::Timestamp;
use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::kube::pod::{Pod, PodSpec};
use millwright_models::world::World;
use serde::{Deserialize, Serialize};

/// On a claim: what the plan has for its node.
pub const SLOTS: &str = "millwright.dev/slots";
/// On a node that was there before: what comes to it.
pub const LANDING: &str = "millwright.dev/landing";
pub use super::keys::{HOLD, HOLD_UNTIL};
/// On a node: the slots of its claim are settled.
pub const LANDED: &str = "millwright.dev/landed";
/// On a pod or NodePool: `none` leaves the placement to the scheduler.
pub const PLACEMENT: &str = "millwright.dev/placement";

/// All annotations of an object together may take 256 KiB.
const MOST_BYTES: usize = 200_000;
/// Labels and annotations of pods that are scheduled as one.
const GANGS: [&str; 4] = [
    "scheduling.x-k8s.io/pod-group",
    "pod-group.scheduling.sigs.k8s.io",
    "pod-group.scheduling.sigs.k8s.io/name",
    "scheduling.k8s.io/group-name",
];

/// The place of one pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    pub namespace: String,
    pub owner: Option<Owner>,
    /// Digest of what the pod asks for.
    pub shape: String,
    /// Name and uid of the pod that was planned; none where they were too
    /// many to write down.
    pub pod: Option<(String, String)>,
    /// It runs elsewhere and has to be evicted there first.
    pub moved: bool,
    /// It is left to its scheduler.
    pub left: bool,
}

/// Who makes a pod anew.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    pub kind: String,
    pub name: String,
    pub uid: String,
}

/// The slots of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// When they were planned: what came to the node before does not fill
    /// them.
    pub since: Option<Timestamp>,
    pub all: Vec<Slot>,
}

/// Slots that differ only in the pod, as they are written.
#[derive(Debug, Deserialize, Serialize)]
struct Group {
    ns: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<(String, String, String)>,
    shape: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    moved: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    left: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pods: Vec<(String, String)>,
    /// Slots without a pod.
    #[serde(default, skip_serializing_if = "is_zero")]
    more: usize,
}

#[derive(Debug, Default, Deserialize, Serialize)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    slots: Vec<Group>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Slot {
    /// The place of `pod` as it is.
    pub fn of(pod: &Pod, left: bool) -> Self {
        let owner = pod.owner.as_ref();
        Self {
            namespace: pod.namespace.clone(),
            owner: owner.map(|o| Owner { kind: o.kind.clone(), name: o.name.clone(), uid: o.uid.clone() }),
            shape: shape(pod),
            pod: Some((pod.name.clone(), pod.uid.clone())),
            moved: pod.node_name.is_some(),
            left,
        }
    }

    /// Uid of the pod that was planned.
    pub fn uid(&self) -> Option<&str> {
        self.pod.as_ref().map(|(_, uid)| uid.as_str()).filter(|uid| !uid.is_empty())
    }

    fn kind(&self) -> Self {
        Self { pod: None, ..self.clone() }
    }
}

impl Slots {
    /// As written by [`Slots::write`]; none if it is not.
    pub fn read(text: &str) -> Option<Self> {
        let written: Written = serde_json::from_str(text).ok()?;
        let mut all = Vec::new();
        for group in written.slots {
            let kind = Slot {
                namespace: group.ns,
                owner: group.owner.map(|(kind, name, uid)| Owner { kind, name, uid }),
                shape: group.shape,
                pod: None,
                moved: group.moved,
                left: group.left,
            };
            all.extend(group.pods.into_iter().map(|pod| Slot { pod: Some(pod), ..kind.clone() }));
            all.extend(std::iter::repeat_n(kind, group.more));
        }
        Some(Self { since: written.since, all })
    }

    /// As compact JSON. Where it would grow too large the pods' names are left
    /// out, for owners and shapes are enough to find them; then whole groups,
    /// whose pods the scheduler will place.
    pub fn write(&self) -> String {
        let mut written = Written { since: self.since, slots: self.groups() };
        let mut text = json(&written);
        if text.len() > MOST_BYTES {
            for group in &mut written.slots {
                group.more += std::mem::take(&mut group.pods).len();
            }
            text = json(&written);
        }
        while text.len() > MOST_BYTES && !written.slots.is_empty() {
            written.slots.truncate(written.slots.len() * 9 / 10);
            text = json(&written);
        }
        text
    }

    fn groups(&self) -> Vec<Group> {
        let mut groups: BTreeMap<Slot, Group> = BTreeMap::new();
        for slot in &self.all {
            let kind = slot.kind();
            let group = groups.entry(kind).or_insert_with(|| Group {
                ns: slot.namespace.clone(),
                owner: slot.owner.as_ref().map(|o| (o.kind.clone(), o.name.clone(), o.uid.clone())),
                shape: slot.shape.clone(),
                moved: slot.moved,
                left: slot.left,
                pods: Vec::new(),
                more: 0,
            });
            match &slot.pod {
                Some(pod) => group.pods.push(pod.clone()),
                None => group.more += 1,
            }
        }
        groups.into_values().collect()
    }

    /// Whether the pods of `other` are among these.
    pub fn holds(&self, other: &Self) -> bool {
        other.all.iter().all(|s| self.all.contains(s))
    }

    /// With the slots of `other` that are missing.
    pub fn with(&self, other: &Self) -> Self {
        let missing = other.all.iter().filter(|s| !self.all.contains(s)).cloned();
        let since = self.since.into_iter().chain(other.since).min();
        Self { since, all: self.all.iter().cloned().chain(missing).collect() }
    }
}

fn json(written: &Written) -> String {
    // Strings, numbers and booleans always have a JSON form.
    serde_json::to_string(written).unwrap_or_default()
}

/// Digest of what a pod asks for, its volumes aside: a successor in a
/// StatefulSet has its own.
pub fn shape(pod: &Pod) -> String {
    let mut digest = Fnv(0xcbf2_9ce4_8422_2325);
    if pod.spec.volumes.is_empty() {
        pod.spec.hash(&mut digest);
    } else {
        PodSpec { volumes: Vec::new(), ..PodSpec::clone(&pod.spec) }.hash(&mut digest);
    }
    pod.labels.hash(&mut digest);
    for (name, amount) in pod.requests.iter() {
        (name, amount).hash(&mut digest);
    }
    format!("{:016x}", digest.finish())
}

/// 64-bit FNV-1a: the same in every process.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// Whether the placement of a pod is its scheduler's business alone: another
/// scheduler, a gang, or its owner's wish.
pub fn is_left(pod: &Pod, schedulers: &[String]) -> bool {
    let scheduler = match pod.spec.scheduler_name.as_str() {
        "" => "default-scheduler",
        name => name,
    };
    !schedulers.iter().any(|s| s == scheduler)
        || GANGS.iter().any(|key| pod.labels.contains_key(*key) || pod.annotations.contains_key(*key))
        || pod.annotations.get(PLACEMENT).is_some_and(|v| v == "none")
}

/// Whether a pool's nodes are left to the scheduler.
pub fn is_opted_out(pool: &NodePool) -> bool {
    pool.meta.annotations.get(PLACEMENT).is_some_and(|v| v == "none")
}

/// Whether the scheduler must prepare something that a binding by us would
/// skip: volumes that are provisioned where the pod goes, devices by claim.
pub fn needs_scheduler(world: &World, pod: &Pod) -> bool {
    let spec = &pod.spec;
    let devices = !spec.resource_claims.is_empty() || spec.containers.iter().any(|c| !c.resources.claims.is_empty());
    let unbound = |name: &str| world.claim(&pod.namespace, name).is_none_or(|c| c.volume_name.is_empty());
    devices
        || spec.volumes.iter().any(|v| match (&v.persistent_volume_claim, &v.ephemeral) {
            (Some(source), _) => unbound(&source.claim_name),
            (None, Some(_)) => unbound(&format!("{}-{}", pod.name, v.name)),
            (None, None) => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(n: usize) -> Slot {
        Slot {
            namespace: "default".to_owned(),
            owner: Some(Owner { kind: "ReplicaSet".to_owned(), name: "web".to_owned(), uid: "rs".to_owned() }),
            shape: "0123456789abcdef".to_owned(),
            pod: Some((format!("web-{n}"), format!("uid-{n}"))),
            moved: n % 2 == 1,
            left: false,
        }
    }

    #[test]
    fn slots_survive_being_written() {
        let slots = Slots { since: Some(Timestamp::UNIX_EPOCH), all: (0..5).map(slot).collect() };
        let text = slots.write();
        let back = Slots::read(&text).unwrap();
        assert_eq!(back.since, slots.since);
        assert!(back.holds(&slots) && slots.holds(&back), "{text}");
        assert!(text.len() < 450, "groups share what they have in common: {text}");
        assert_eq!(Slots::read("[]"), None);
    }

    #[test]
    fn too_many_names_give_way_to_counts() {
        let slots = Slots { since: None, all: (0..20_000).map(slot).collect() };
        let text = slots.write();
        assert!(text.len() < MOST_BYTES);
        let back = Slots::read(&text).unwrap();
        assert_eq!(back.all.len(), 20_000);
        assert!(back.all.iter().all(|s| s.pod.is_none()));
        let strangers = |n: usize| Slot {
            owner: Some(Owner { uid: format!("{n:0200}"), ..Owner::clone(slot(n).owner.as_ref().unwrap()) }),
            ..slot(n)
        };
        let text = Slots { since: None, all: (0..2000).map(strangers).collect() }.write();
        assert!(text.len() < MOST_BYTES, "{}", text.len());
        assert!(Slots::read(&text).unwrap().all.len() > 500);
    }

    #[test]
    fn merged_slots_are_there_once() {
        let (a, b) =
            (Slots { since: None, all: vec![slot(0), slot(1)] }, Slots { since: None, all: vec![slot(1), slot(2)] });
        assert_eq!(a.with(&b).all, [slot(0), slot(1), slot(2)]);
    }
}
