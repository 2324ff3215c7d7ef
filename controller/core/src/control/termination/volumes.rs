//! Volumes that are still attached. (spec 40 §6.6)

use std::collections::BTreeSet;

use jiff::SignedDuration;
use millwright_models::kube::pod::Pod;

use super::Ending;
use super::drain::Drain;
use crate::control::ask::{Event, Target};
use crate::control::conditions::Truth;
use crate::control::desk::{Desk, Part};
use crate::control::keys::VOLUMES_DETACHED;

const AGAIN: SignedDuration = SignedDuration::from_secs(1);
/// How many attachments an event names.
const NAMED: usize = 5;

impl Drain<'_, '_> {
    /// Whether nothing that was mounted by an evicted pod is attached any
    /// more, or the time for it is over.
    pub fn volumes(&self, ending: Option<&mut Ending<'_>>, desk: &mut Desk) -> bool {
        let pending = self.attached();
        let over = self.deadline.is_some_and(|d| d <= self.view.now);
        if pending.is_empty() {
            if let Some(ending) = ending {
                if ending.conditions.is(VOLUMES_DETACHED, Truth::False) {
                    return true;
                }
                ending.conditions.set_true(VOLUMES_DETACHED);
            }
            return true;
        }
        let named = pending[..pending.len().min(NAMED)].join(", ");
        let message = format!("Awaiting deletion of bound VolumeAttachments ({}): {named}", pending.len());
        if let Some(ending) = ending {
            let (truth, reason) = if over {
                (Truth::False, "TerminationGracePeriodElapsed")
            } else {
                (Truth::Unknown, "AwaitingVolumeDetachment")
            };
            ending.conditions.set(VOLUMES_DETACHED, truth, reason, reason);
        }
        if !over {
            let (about, uid) = (Target::node(&self.node.meta.name), self.node.meta.uid.clone());
            let reason = "AwaitingVolumeDetachment";
            desk.event(Part::Termination, Event { about, uid, warning: false, reason, message });
            desk.wake(self.view.now + AGAIN);
        }
        over
    }

    /// Attachments of the node, those of pods that stay aside.
    fn attached(&self) -> Vec<&str> {
        let staying: BTreeSet<&str> =
            self.pods().filter(|p| !self.is_drainable(p)).flat_map(|p| self.volumes_of(p)).collect();
        let here = self.view.world.attachments.iter().filter(|a| a.node_name == self.node.meta.name);
        here.filter(|a| a.volume_name.as_deref().is_some_and(|v| !v.is_empty() && !staying.contains(v)))
            .map(|a| a.meta.name.as_str())
            .collect()
    }

    fn volumes_of(&self, pod: &Pod) -> Vec<&str> {
        let world = self.view.world;
        let claims =
            pod.spec.volumes.iter().filter_map(|volume| match (&volume.persistent_volume_claim, &volume.ephemeral) {
                (Some(source), _) => Some(source.claim_name.clone()),
                (None, Some(_)) => Some(format!("{}-{}", pod.name, volume.name)),
                (None, None) => None,
            });
        claims.filter_map(|name| world.claim(&pod.namespace, &name)).map(|c| c.volume_name.as_str()).collect()
    }
}
