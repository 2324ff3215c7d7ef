//! A small controller to test the simulator with: one claim per pod that
//! waits, and no disruption.
#![allow(dead_code)]

use millwright_core::control::ask::{Ask, Instance, Kind, Refusal, Reply, Target};
use millwright_core::control::brain::{Brain, Piece, Shared};
use millwright_core::control::desk::{Desk, Part, Sent};
use millwright_core::control::settings::Settings;
use millwright_core::control::view::View;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use serde_json::{Value, json};

/// What it does wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flaw {
    #[default]
    None,
    /// Two claims per pod.
    Greedy,
    /// Nodes are held and never let go.
    Holds,
    /// Whatever is cordoned is uncordoned.
    Uncordons,
    /// Machines are ended before their claims are deleted.
    Kills,
    /// Claims of the dead are forgotten.
    Forgets,
    /// Pods are bound anywhere.
    Crowds,
    /// Looks again at once.
    Spins,
    /// Pods are evicted for no reason.
    Evicts,
}

pub fn brain(settings: &Settings, flaw: Flaw) -> Brain {
    let lifecycle: Box<dyn Piece + Send> = Box::new(Lifecycle { flaw });
    let provision: Box<dyn Piece + Send> = Box::new(Provision { flaw });
    Brain::of(settings.clone(), vec![(Part::Lifecycle, lifecycle), (Part::Provision, provision)])
}

struct Provision {
    flaw: Flaw,
}

impl Piece for Provision {
    fn look(&mut self, view: &View<'_>, _: &mut Shared, desk: &mut Desk) {
        for pod in view.world.pods.iter().filter(|p| p.is_pending()) {
            let copies = if self.flaw == Flaw::Greedy { 6 } else { 1 };
            for i in 0..copies {
                let name = format!("for-{}-{i}", pod.uid);
                if view.world.node_claim(&name).is_none() {
                    let zone = pod.spec.node_selector.get("topology.kubernetes.io/zone");
                    let target = Target::claim(&name);
                    let object = claim(&name, zone.map(String::as_str));
                    desk.ask(Part::Provision, Ask::Create { target, object });
                }
            }
            if let Some(node) = view.world.nodes.first().filter(|_| self.flaw == Flaw::Crowds) {
                let (uid, node) = (pod.uid.clone(), node.meta.name.clone());
                let pod = Target::pod(&pod.namespace, &pod.name);
                desk.ask(Part::Provision, Ask::Bind { pod, uid, node });
            }
        }
        if self.flaw == Flaw::Evicts {
            for pod in view.world.pods.iter().filter(|p| p.node_name.is_some()) {
                let uid = pod.uid.clone();
                desk.ask(Part::Provision, Ask::Evict { pod: Target::pod(&pod.namespace, &pod.name), uid });
            }
        }
    }

    fn answer(&mut self, _: &Sent, _: &Reply, _: &mut Shared, _: &mut Desk) {}
}

fn claim(name: &str, zone: Option<&str>) -> Value {
    let mut requirements = vec![
        json!({"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}),
        json!({"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m7.2xlarge", "m7.4xlarge"]}),
    ];
    if let Some(zone) = zone {
        requirements.push(json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}));
    }
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {
            "name": name,
            "labels": {"karpenter.sh/nodepool": "general"},
            "finalizers": ["karpenter.sh/termination"],
        },
        "spec": {
            "requirements": requirements,
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "expireAfter": "Never",
        },
    })
}

struct Lifecycle {
    flaw: Flaw,
}

fn condition(kind: &str, view: &View<'_>) -> Value {
    let now = view.now.to_string();
    json!({"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": now})
}

impl Lifecycle {
    fn ask(&self, desk: &mut Desk, ask: Ask) {
        desk.ask(Part::Lifecycle, ask);
    }

    fn step(&self, view: &View<'_>, claim: &NodeClaim, desk: &mut Desk) {
        let target = Target::claim(&claim.meta.name);
        let (name, provider_id) = (claim.meta.name.clone(), claim.provider_id.clone());
        let node = view.world.nodes.iter().find(|n| !provider_id.is_empty() && n.provider_id == provider_id);
        if claim.meta.deletion_timestamp.is_some() {
            match node {
                Some(node) => {
                    let (target, uid) = (Target::node(&node.meta.name), node.meta.uid.clone());
                    self.ask(desk, Ask::Delete { target, uid, grace_seconds: None });
                }
                None if provider_id.is_empty() => self.let_go(desk, target),
                None => self.ask(desk, Ask::Terminate { claim: name, provider_id }),
            }
            return;
        }
        if provider_id.is_empty() {
            let requirements: Vec<Value> = claim
                .requirements
                .iter()
                .map(|e| json!({"key": e.key, "operator": format!("{:?}", e.operator), "values": e.values}))
                .collect();
            let object = json!({"metadata": {"name": name}, "spec": {"requirements": requirements}});
            self.ask(desk, Ask::Launch { claim: name, uid: claim.meta.uid.clone(), object });
            return;
        }
        let Some(node) = node else { return };
        if !node.meta.labels.contains_key("karpenter.sh/registered") {
            let keep = |t: &&millwright_models::kube::node::Taint| t.key != "karpenter.sh/unregistered";
            let taints: Vec<Value> = node
                .taints
                .iter()
                .filter(keep)
                .map(|t| json!({"key": t.key, "value": t.value, "effect": t.effect}))
                .collect();
            let mut body = json!({
                "metadata": {"labels": {
                    "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true",
                    "karpenter.sh/nodepool": "general",
                }},
                "spec": {"taints": taints},
            });
            if self.flaw == Flaw::Holds {
                body["spec"]["unschedulable"] = json!(true);
                body["metadata"]["annotations"] =
                    json!({"millwright.dev/hold": "test", "millwright.dev/hold-until": view.now.to_string()});
            }
            self.ask(desk, Ask::Patch { target: Target::node(&node.meta.name), status: false, body });
        } else if !claim.is("Initialized") {
            let all = ["Launched", "Registered", "Initialized"].map(|k| condition(k, view));
            let body = json!({"status": {"nodeName": node.meta.name, "conditions": all}});
            self.ask(desk, Ask::Patch { target, status: true, body });
        }
        if self.flaw == Flaw::Uncordons && node.unschedulable {
            let body = json!({"spec": {"unschedulable": null}});
            self.ask(desk, Ask::Patch { target: Target::node(&node.meta.name), status: false, body });
        }
        if self.flaw == Flaw::Kills && claim.is("Initialized") {
            let (claim, provider_id) = (claim.meta.name.clone(), claim.provider_id.clone());
            self.ask(desk, Ask::Terminate { claim, provider_id });
        }
        if self.flaw == Flaw::Forgets && claim.is("Initialized") {
            if !claim.meta.finalizers.is_empty() {
                return self.let_go(desk, Target::claim(&claim.meta.name));
            }
            let (target, uid) = (Target::claim(&claim.meta.name), claim.meta.uid.clone());
            self.ask(desk, Ask::Delete { target, uid, grace_seconds: None });
        }
    }

    fn let_go(&self, desk: &mut Desk, target: Target) {
        let body = json!({"metadata": {"finalizers": null}});
        self.ask(desk, Ask::Patch { target, status: false, body });
    }
}

impl Piece for Lifecycle {
    fn look(&mut self, view: &View<'_>, _: &mut Shared, desk: &mut Desk) {
        for claim in &view.world.node_claims {
            self.step(view, claim, desk);
        }
        if self.flaw == Flaw::Spins {
            desk.wake(view.now);
        }
    }

    fn answer(&mut self, sent: &Sent, reply: &Reply, _: &mut Shared, desk: &mut Desk) {
        match (&sent.ask, reply) {
            (Ask::Launch { claim, .. }, Reply::Launched(Instance { provider_id, .. })) => {
                let body = json!({"status": {"providerID": provider_id}});
                let target = Target::new(Kind::NodeClaim, "", claim);
                desk.ask(Part::Lifecycle, Ask::Patch { target, status: true, body });
            }
            (Ask::Terminate { claim, .. }, Reply::Refused(Refusal::NotFound)) => {
                self.let_go(desk, Target::claim(claim));
            }
            _ => {}
        }
    }
}
