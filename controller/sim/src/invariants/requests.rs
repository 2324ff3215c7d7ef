//! Requests that must not be made.

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::{Ask, Kind as AskKind, Target};
use millwright_core::control::desk::Part;
use millwright_core::pods::{is_active, is_shielded};
use millwright_models::kube::pod::Pod;
use millwright_models::resources::{PODS, Resources};
use millwright_models::world::World;
use serde_json::Value;

use super::{Broken, Invariants, SLACK};
use crate::json;
use crate::server::{Key, Kind};
use crate::stage::Stage;

/// When the controller learned that a drain may use force.
const DEADLINE: &str = "karpenter.sh/nodeclaim-termination-timestamp";

impl Invariants {
    /// Judges a request before it is carried out.
    pub fn judge(&mut self, part: Part, ask: &Ask, stage: &mut Stage) -> Option<Broken> {
        match ask {
            Ask::Bind { pod, uid, node } => overcommits(stage, pod, uid, node),
            Ask::Evict { pod, uid } => self.evicts(stage, pod, uid),
            Ask::Delete { target, uid, .. } => match target.kind {
                AskKind::Pod => deletes_pod(stage, target, uid),
                AskKind::NodeClaim => self.deletes_claim(part, stage, target, uid),
                _ => None,
            },
            Ask::Patch { target, status: false, body } if target.kind == AskKind::Node => {
                self.uncordons(stage, target, body).or_else(|| self.taints(part, stage, target, body))
            }
            Ask::Create { target, .. } if target.kind == AskKind::NodeClaim => self.floods(part, stage, &target.name),
            Ask::Terminate { claim, provider_id } => terminates(stage, claim, provider_id),
            _ => None,
        }
    }

    /// A cordon that is not ours is never touched.
    fn uncordons(&self, stage: &Stage, target: &Target, body: &Value) -> Option<Broken> {
        let now = stage.now();
        let since = self.cordons.get(&target.name).filter(|at| now.duration_since(**at) > SLACK)?;
        let value = json::get(body, &["spec", "unschedulable"])?;
        (value.as_bool() != Some(true))
            .then(|| ("foreign cordons", format!("{target} was cordoned by a person at {since}")))
    }

    /// Claims that are on their way, bounded by the pods that wait.
    fn floods(&mut self, part: Part, stage: &mut Stage, name: &str) -> Option<Broken> {
        let now = stage.now();
        if part != Part::Provision {
            // For pods that still run.
            self.replacements.insert(name.to_owned());
            return None;
        }
        self.replacements.remove(name);
        if now < self.overlap_until {
            return None;
        }
        let (world, _) = stage.world();
        let recent = |p: &&Pod| {
            self.waited.get(&p.uid).is_some_and(|at| now.duration_since(*at) < SignedDuration::from_secs(60))
        };
        let waiting = world.pods.iter().filter(|p| p.is_pending() || recent(p)).count();
        let moving = world.pods.iter().filter(|p| p.node_name.as_deref().is_some_and(|n| is_going(stage, n))).count();
        let coming = world.node_claims.iter().filter(|c| !c.is("Initialized") && c.meta.deletion_timestamp.is_none());
        // The pod of one that takes long may have found another place.
        let fresh = |c: &Timestamp| now.duration_since(*c) < SignedDuration::from_secs(60);
        let coming = coming.filter(|c| c.meta.creation_timestamp.as_ref().is_some_and(fresh));
        let coming = coming.filter(|c| !self.replacements.contains(&c.meta.name));
        let coming = coming.count() + 1;
        (coming > waiting + moving)
            .then(|| ("launches", format!("{coming} NodeClaims on their way for {waiting} pods that wait")))
    }

    /// Whether an eviction is anybody's wish, and has a place to go.
    fn evicts(&self, stage: &mut Stage, target: &Target, uid: &str) -> Option<Broken> {
        let now = stage.now();
        let (world, _) = stage.world();
        let pod = world.pod(&target.namespace, &target.name).filter(|p| p.uid == uid && is_active(p))?;
        let node = pod.node_name.as_deref()?;
        if is_shielded(pod, now) {
            return Some(("do-not-disrupt", format!("{target} is shielded and evicted from {node}")));
        }
        let object = stage.server.get(&Key::node(node))?;
        if !json::is_deleting(object) {
            return Some(("evictions", format!("{target} is evicted from {node}, which nobody deletes")));
        }
        let claim = stage.server.all(Kind::NodeClaim).find(|(_, c)| json::text(c, &["status", "nodeName"]) == node);
        let reason =
            claim.and_then(|(_, c)| json::condition(c, "DisruptionReason")).map(|c| json::text(c, &["reason"]));
        let wants_place = reason == Some("Underutilized") && pod.owner.is_some() && !pod.is_daemon();
        // Pods that came after the command was made have no place in its plan.
        let begun = self.disrupting.get(node).is_none_or(|b| pod.created.is_some_and(|c| c < b.at));
        if wants_place
            && begun
            && self.last_outside + SignedDuration::from_mins(3) < now
            && !has_room(&world, stage, pod, node)
        {
            return Some((
                "planned places",
                format!("{target} is evicted from {node} by consolidation, but fits nowhere"),
            ));
        }
        None
    }
}

/// A node that is deleted.
fn is_going(stage: &Stage, node: &str) -> bool {
    stage.server.get(&Key::node(node)).is_none_or(|n| json::is_deleting(n))
}

/// What runs on a node, without `but`.
fn load(world: &World, node: &str, but: &str) -> Resources {
    let mut load = Resources::default();
    for pod in world.pods.iter().filter(|p| p.node_name.as_deref() == Some(node) && !p.is_terminal() && p.uid != but) {
        load.add(&pod.requests);
    }
    load
}

/// Room for a pod on another node, or on a claim that is on its way.
fn has_room(world: &World, stage: &Stage, pod: &Pod, from: &str) -> bool {
    let fits =
        |room: &Resources, load: &Resources| pod.requests.iter().all(|(r, n)| n == 0 || load.get(r) + n <= room.get(r));
    let nodes = world.nodes.iter().filter(|n| n.meta.name != from && n.meta.deletion_timestamp.is_none());
    let mut nodes = nodes.map(|n| (&n.allocatable, load(world, &n.meta.name, "")));
    let claims = world.node_claims.iter().filter(|c| c.meta.deletion_timestamp.is_none() && !c.is("Registered"));
    let free = |c: &&millwright_models::karpenter::nodeclaim::NodeClaim| {
        c.allocatable.is_empty() || fits(&c.allocatable, &Resources::default())
    };
    nodes.any(|(room, load)| fits(room, &load))
        || claims.filter(free).count() > 0
        || stage.provider.catalog.types.is_empty()
}

/// A binding that the node has no room for, by pods that were there to see.
fn overcommits(stage: &mut Stage, target: &Target, uid: &str, node: &str) -> Option<Broken> {
    let now = stage.now();
    let (world, _) = stage.world();
    let pod = world.pod(&target.namespace, &target.name).filter(|p| p.uid == uid && p.node_name.is_none())?;
    let object = world.node(node)?;
    let settled = |p: &&Pod| {
        let object = stage.server.get(&Key::pod(&p.namespace, &p.name));
        let bound = object.and_then(|o| json::condition(o, "PodScheduled"));
        let at = bound.and_then(|c| json::time(c, &["lastTransitionTime"]));
        at.is_none_or(|at| now.duration_since(at) > SLACK)
    };
    let mut used = pod.requests.as_ref().clone();
    let here = world.pods.iter().filter(|p| p.node_name.as_deref() == Some(node) && !p.is_terminal());
    here.filter(settled).for_each(|p| used.add(&p.requests));
    let short = used.iter().find(|(r, n)| *r != PODS && *n > object.allocatable.get(r));
    short.map(|(r, n)| {
        let room = object.allocatable.get(r);
        ("overcommitment", format!("{target} makes {n} of {r} on {node}, which has {room}"))
    })
}

/// Pods are deleted by force only where the deadline of a drain asks for it.
fn deletes_pod(stage: &Stage, target: &Target, uid: &str) -> Option<Broken> {
    let pod = stage.server.get(&Key::from(target)).filter(|p| json::uid(p) == uid)?;
    let node = json::text(pod, &["spec", "nodeName"]);
    let claim = stage.server.all(Kind::NodeClaim).find(|(_, c)| json::text(c, &["status", "nodeName"]) == node);
    let has_deadline = claim.is_some_and(|(_, c)| json::annotation(c, DEADLINE).is_some());
    (!has_deadline).then(|| ("forced deletions", format!("{target} is deleted on {node}, whose drain has no deadline")))
}

/// A machine is ended only once its claim is, or was, deleted.
fn terminates(stage: &Stage, claim: &str, id: &str) -> Option<Broken> {
    let machine = stage.provider.machine(id)?;
    let object = stage.server.get(&Key::claim(claim)).filter(|c| json::uid(c) == machine.token)?;
    (!json::is_deleting(object))
        .then(|| ("terminations", format!("{id} is ended, but NodeClaim {claim} is not deleted")))
}
