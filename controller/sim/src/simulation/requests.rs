//! What becomes of a request.

use jiff::SignedDuration;
use millwright_core::control::ask::{Ask, Refusal, Reply};
use millwright_core::control::desk::Request;

use super::Simulation;
use crate::json;
use crate::provider::{Temper, candidates};
use crate::server::{Denial, Key, Kind};
use crate::stage::Happening;

impl Simulation<'_> {
    /// A request arrives, is carried out or not, and is answered or not.
    pub(super) fn arrive(&mut self, id: u32, request: Request) {
        let Request { ticket, part, ask } = request;
        let reply = if let Some(refusal) = self.turned_away(&ask) {
            Reply::Refused(refusal)
        } else {
            if let Some((rule, message)) = self.invariants.judge(part, &ask, &mut self.stage) {
                self.note(format!("controller {id}: {}", short(&ask)));
                self.fail(rule, message);
                return;
            }
            match &ask {
                Ask::Refresh { node } => self.refresh(id, node),
                other => self.perform(other),
            }
        };
        self.note(format!("controller {id}: {}: {}", short(&ask), outcome(&reply)));
        let now = self.stage.now();
        if matches!(reply, Reply::Refused(Refusal::InsufficientCapacity { .. })) {
            self.learn(id, &ask);
        }
        let is_write = !matches!(ask, Ask::Event(_) | Ask::Describe { .. } | Ask::Instances | Ask::Refresh { .. });
        if is_write && !matches!(reply, Reply::Refused(_)) {
            self.writes += 1;
            self.last_write = now;
            if let Some(client) = self.clients.get_mut(&id) {
                client.writes += 1;
                if client.dies_after.is_some_and(|n| client.writes >= n) {
                    self.crash(id);
                    return;
                }
            }
        }
        let reply = if is_write && self.fate.chance(self.rates.lost) {
            self.note("the answer is lost".to_owned());
            Reply::Refused(Refusal::Unavailable { message: "connection reset".to_owned() })
        } else {
            reply
        };
        let delay = match ask {
            Ask::Launch { .. } => self.net.millis(400, 4000),
            _ => self.net.millis(1, 40),
        };
        self.stage.agenda.after(delay, Happening::Answer { client: id, ticket, reply: Box::new(reply) });
    }

    /// Throttling, and conflicts with writes that changed nothing of interest.
    fn turned_away(&mut self, ask: &Ask) -> Option<Refusal> {
        if self.fate.chance(self.rates.throttled) {
            return Some(Refusal::Unavailable { message: "too many requests".to_owned() });
        }
        let is_patch = matches!(ask, Ask::Patch { .. });
        (is_patch && self.fate.chance(self.rates.conflict)).then_some(Refusal::Conflict)
    }

    /// What could not be had is not offered to this controller for a while.
    fn learn(&mut self, id: u32, ask: &Ask) {
        let now = self.stage.now();
        let Ask::Launch { object, .. } = ask else { return };
        let tried = candidates(&self.stage.provider.catalog, object);
        let tried = tried.into_iter().map(|(t, o)| (t.name.clone(), o.zone.clone(), o.capacity_type.clone())).collect();
        if let Some(client) = self.clients.get_mut(&id) {
            client.offerings.refuse(tried, now);
        }
    }

    /// Puts the pods of a node, as they are now, into what a controller knows.
    fn refresh(&mut self, id: u32, node: &str) -> Reply {
        let version = self.stage.server.version();
        let Some(client) = self.clients.get_mut(&id) else { return Reply::Done };
        let here = |p: &serde_json::Value| json::text(p, &["spec", "nodeName"]) == node;
        for (_, pod) in self.stage.server.all(Kind::Pod).filter(|(_, p)| here(p)) {
            client.mirror.apply(pod);
        }
        let (world, _) = client.mirror.world();
        for pod in world.pods.iter().filter(|p| p.node_name.as_deref() == Some(node)) {
            let key = Key::pod(&pod.namespace, &pod.name);
            if self.stage.server.get(&key).is_none_or(|p| json::uid(p) != pod.uid) {
                client.mirror.remove(&key, &pod.uid, version);
            }
        }
        Reply::Done
    }

    /// Carries a request out.
    fn perform(&mut self, ask: &Ask) -> Reply {
        let now = self.stage.now();
        let server = &mut self.stage.server;
        let done = |result: Result<(), Denial>| match result {
            Ok(()) => Reply::Done,
            Err(denial) => Reply::Refused(denial.into()),
        };
        match ask {
            Ask::Create { target, object } => {
                let mut object = object.clone();
                if object["metadata"].get("name").is_none() && !target.name.is_empty() {
                    object["metadata"]["name"] = serde_json::json!(target.name);
                }
                match server.create(object, now) {
                    Ok(made) => Reply::Object((*made).clone()),
                    Err(denial) => Reply::Refused(denial.into()),
                }
            }
            Ask::Patch { target, status, body } => match server.patch(&Key::from(target), *status, body) {
                Ok(made) => Reply::Object((*made).clone()),
                Err(denial) => Reply::Refused(denial.into()),
            },
            Ask::Delete { target, uid, grace_seconds } => {
                done(server.delete(&Key::from(target), uid, *grace_seconds, now))
            }
            Ask::Bind { pod, uid, node } => done(server.bind(&Key::from(pod), uid, node, now)),
            Ask::Evict { pod, uid } => done(server.evict(&Key::from(pod), uid, now)),
            // Lists go into the cache of who asks.
            Ask::Event(_) | Ask::Refresh { .. } => Reply::Done,
            Ask::Launch { claim, uid, object } => self.launch(claim, uid, object),
            Ask::Terminate { provider_id, .. } => {
                let takes = self.fate.millis(5_000, 60_000);
                self.stage.provider.terminate(provider_id, takes, now)
            }
            Ask::Describe { provider_id, .. } => self.stage.provider.describe(provider_id, now),
            Ask::Instances => self.stage.provider.list(now),
        }
    }

    /// Buys a machine and lets it boot.
    fn launch(&mut self, claim: &str, uid: &str, object: &serde_json::Value) -> Reply {
        let now = self.stage.now();
        let boots_in = if self.fate.chance(self.rates.never_boots) {
            None
        } else if self.fate.chance(self.rates.slow_boots) {
            Some(self.fate.millis(120_000, 720_000))
        } else {
            Some(self.fate.millis(15_000, 60_000))
        };
        let ready_in = self.fate.millis(1_000, 15_000);
        let temper = Temper { boots_in, ready_in, is_small: self.fate.chance(self.rates.small) };
        let before = self.stage.provider.sold();
        let reply = self.stage.provider.launch(claim, uid, object, temper, now);
        if let (Reply::Launched(instance), true) = (&reply, self.stage.provider.sold() > before) {
            let machine = instance.provider_id.clone();
            let boots_in = self.stage.provider.machine(&machine).and_then(|m| m.boots_in);
            if let Some(boots_in) = boots_in {
                self.stage.agenda.after(boots_in.max(SignedDuration::ZERO), Happening::Boot { machine });
            }
        }
        reply
    }
}

/// A request in a line.
pub(super) fn short(ask: &Ask) -> String {
    match ask {
        Ask::Create { target, .. } => format!("create {target}"),
        Ask::Patch { target, status, body } => {
            let what = if *status { "status of " } else { "" };
            let mut text = body.to_string();
            if text.len() > 160 {
                let cut = (0..=160).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
                text.truncate(cut);
                text.push('…');
            }
            format!("patch {what}{target} {text}")
        }
        Ask::Delete { target, uid, .. } => format!("delete {target} ({uid})"),
        Ask::Bind { pod, node, .. } => format!("bind {pod} to {node}"),
        Ask::Evict { pod, .. } => format!("evict {pod}"),
        Ask::Event(event) => format!("event on {} {}: {}", event.about, event.reason, event.message),
        Ask::Launch { claim, uid, .. } => format!("launch for {claim} ({uid})"),
        Ask::Terminate { claim, provider_id } => format!("terminate {provider_id} of {claim}"),
        Ask::Describe { claim, provider_id } => format!("describe {provider_id} of {claim}"),
        Ask::Instances => "list instances".to_owned(),
        Ask::Refresh { node } => format!("list pods of {node}"),
    }
}

fn outcome(reply: &Reply) -> String {
    match reply {
        Reply::Object(_) | Reply::Done => "done".to_owned(),
        Reply::Launched(instance) => instance.provider_id.clone(),
        Reply::Instances(all) => format!("{} instances", all.len()),
        Reply::Refused(refusal) => format!("refused: {refusal:?}"),
    }
}
