//! Emptying a node, in order. (spec 40 §§6.3–6.4)

use jiff::{SignedDuration, Timestamp};
use millwright_models::karpenter::labels;
use millwright_models::kube::node::Node;
use millwright_models::kube::pod::Pod;

use super::Ending;
use super::node::warn;
use super::queue::{Bound, Queue, needs_force};
use crate::control::ask::Target;
use crate::control::conditions::Truth;
use crate::control::counts::label;
use crate::control::desk::{Desk, Part};
use crate::control::keys::DRAINED;
use crate::control::view::View;
use crate::pods;

/// A pod that has been ending for longer than this is not waited for.
const STUCK: SignedDuration = SignedDuration::from_mins(1);
/// A drain lasts at least so long, for pods that were bound at the last
/// moment.
const LEAST: SignedDuration = SignedDuration::from_secs(5);
const AGAIN: SignedDuration = SignedDuration::from_secs(1);

/// A node that is being emptied.
pub(super) struct Drain<'a, 'w> {
    pub node: &'a Node,
    /// Its position in the view.
    pub place: usize,
    pub deadline: Option<Timestamp>,
    pub view: &'a View<'w>,
}

impl<'w> Drain<'_, 'w> {
    /// All pods of the node.
    pub fn pods(&self) -> impl Iterator<Item = &'w Pod> {
        let world = self.view.world;
        self.view.nodes[self.place].pods.iter().map(|p| &world.pods[*p])
    }

    /// Whether the drain waits for the pod to end.
    pub fn is_drainable(&self, pod: &Pod) -> bool {
        let stuck = pod.deleted.is_some_and(|at| self.view.now.duration_since(at) > STUCK);
        !pods::tolerates_disruption(pod) && !stuck && !pod.is_static
    }

    /// One step; true once the node is empty for good.
    pub fn look(&self, queue: &mut Queue, mut ending: Option<&mut Ending<'_>>, reason: &str, desk: &mut Desk) -> bool {
        if ending.as_ref().is_some_and(|e| e.conditions.is(DRAINED, Truth::True)) && self.is_empty() {
            return true;
        }
        if let Some(ending) = &mut ending
            && !ending.conditions.is(DRAINED, Truth::Unknown)
        {
            ending.conditions.set(DRAINED, Truth::Unknown, "Draining", "Draining");
        }
        let waiting: Vec<&Pod> = self.pods().filter(|p| !p.is_terminal() && self.is_drainable(p)).collect();
        let unread = self.unread();
        if !waiting.is_empty() || unread > 0 {
            self.evict(&waiting, queue, reason, desk);
            let count = waiting.len() + unread;
            warn(self.node, desk, "waiting", format!("Failed to drain node, {count} pods are waiting to be evicted"));
            desk.wake(self.view.now + AGAIN);
            return false;
        }
        let Some(ending) = ending else { return true };
        let over = ending.conditions.since(DRAINED).map(|since| since + LEAST);
        if let Some(over) = over.filter(|over| *over > self.view.now) {
            desk.wake(over);
            return false;
        }
        // Goes on once this is written, so that it is counted once.
        ending.conditions.set_true(DRAINED);
        if desk.is_free(&Target::claim(&ending.claim.meta.name)) {
            desk.count("nodes_drained_total", &[("nodepool", label(ending.claim, labels::NODEPOOL))]);
        }
        false
    }

    fn is_empty(&self) -> bool {
        self.unread() == 0 && !self.pods().any(|p| !p.is_terminal() && self.is_drainable(p))
    }

    /// Pods on the node that could not be read. A deadline ends the wait for
    /// them.
    fn unread(&self) -> usize {
        if self.deadline.is_some_and(|d| d <= self.view.now) {
            return 0;
        }
        let here = |u: &&millwright_models::world::Unread| u.node_name.as_deref() == Some(&self.node.meta.name);
        self.view.world.unread.iter().filter(here).count()
    }

    /// Those whose time is over at once, of the others the first tier.
    fn evict(&self, waiting: &[&Pod], queue: &mut Queue, reason: &str, desk: &mut Desk) {
        let bound = self.deadline.map(Bound::deadline);
        let forced = |p: &&&Pod| self.deadline.is_some_and(|d| needs_force(p, d, self.view.now));
        let first = waiting.iter().filter(|p| !forced(p)).map(|p| tier(p)).min();
        let due = waiting.iter().filter(|p| forced(p) || Some(tier(p)) == first);
        for pod in due {
            queue.add(pod, bound, &self.node.meta.name, reason);
            queue.work(pod, self.view, Part::Termination, desk);
        }
        if let Some(next) = waiting.iter().filter_map(|p| super::queue::force_time(p, self.deadline?)).min() {
            desk.wake(next.max(self.view.now + AGAIN));
        }
    }
}

/// Order of eviction.
fn tier(pod: &Pod) -> u8 {
    let critical = matches!(pod.spec.priority_class_name.as_str(), "system-cluster-critical" | "system-node-critical");
    2 * u8::from(critical) + u8::from(pod.is_daemon())
}
