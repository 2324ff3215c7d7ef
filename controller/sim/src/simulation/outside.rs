//! What comes from outside: faults, people, workloads that change.

use jiff::SignedDuration;
use serde_json::json;

use super::Simulation;
use crate::faults::{Fault, Rates};
use crate::json;
use crate::server::{Key, Kind};
use crate::stage::Happening;

impl Simulation<'_> {
    /// An entry of the schedule happens.
    pub(super) fn strike(&mut self, fault: Fault) {
        let now = self.stage.now();
        self.note(format!("outside: {fault:?}"));
        self.invariants.outside(now);
        match fault {
            Fault::Scale { to } => self.scale(to),
            Fault::Crash { writes } => {
                if let Some(client) = self.clients.values_mut().next() {
                    client.dies_after = Some(client.writes + writes);
                }
            }
            Fault::Overlap { lasts } => {
                if let Some(first) = self.clients.keys().next().copied() {
                    self.invariants.overlap(now + lasts);
                    self.start();
                    self.stage.agenda.after(lasts, Happening::Stop { client: first });
                }
            }
            Fault::Pause { lasts } => {
                for client in self.clients.values_mut() {
                    client.paused_until = Some(now + lasts);
                }
                self.invariants.blind(now);
                self.invariants.alive(now + lasts);
            }
            Fault::Jump { by } => {
                for client in self.clients.values_mut() {
                    client.skew = by;
                }
                let ids: Vec<u32> = self.clients.keys().copied().collect();
                ids.into_iter().for_each(|id| self.want_look(id, now));
            }
            Fault::BreakWatch => {
                let ids: Vec<u32> = self.clients.keys().copied().collect();
                for client in ids {
                    self.stage.agenda.after(self.net.millis(10, 2000), Happening::List { client });
                }
            }
            Fault::StockOut { percent, lasts } => self.stock_out(percent, lasts),
            Fault::Reclaim => self.lose_machine(true),
            Fault::Vanish => self.lose_machine(false),
            Fault::Cordon { lasts } => self.cordon(lasts),
            Fault::Stranger => self.stranger(),
            Fault::DeleteClaim => self.delete_one(Kind::NodeClaim),
            Fault::DeleteNode => self.delete_one(Kind::Node),
            Fault::NewImage => self.new_image(),
            Fault::NewTemplate => self.new_template(),
        }
    }

    /// From here on nothing comes from outside.
    pub(super) fn calm_down(&mut self) {
        self.note("outside: peace".to_owned());
        self.rates = Rates { slow_boots: 0.0, ..Rates::calm() };
        for client in self.clients.values_mut() {
            client.dies_after = None;
        }
        self.last_write = self.stage.now();
    }

    fn pick(&mut self, kind: Kind) -> Option<Key> {
        let keys: Vec<Key> = self.stage.server.all(kind).map(|(k, _)| k.clone()).collect();
        self.fate.pick(&keys).cloned()
    }

    fn scale(&mut self, to: i64) {
        let kinds = [Kind::ReplicaSet, Kind::StatefulSet];
        let keys: Vec<Key> = kinds.into_iter().flat_map(|k| self.stage.server.all(k)).map(|(k, _)| k.clone()).collect();
        if let Some(key) = self.fate.pick(&keys) {
            drop(self.stage.server.patch(key, false, &json!({"spec": {"replicas": to}})));
        }
    }

    fn stock_out(&mut self, percent: i64, lasts: SignedDuration) {
        let until = self.stage.now() + lasts;
        let catalog = self.stage.provider.catalog.clone();
        for kind in &catalog.types {
            for offering in &kind.offerings {
                if self.fate.between(1, 100) <= percent {
                    let sale = (kind.name.clone(), offering.zone.clone(), offering.capacity_type.clone());
                    self.stage.provider.stock_out(sale, until);
                }
            }
        }
    }

    /// A machine goes: announced by its shutdown, or without a word.
    fn lose_machine(&mut self, is_spot: bool) {
        let now = self.stage.now();
        let up = self.stage.provider.machines().filter(|m| m.is_up() && (!is_spot || m.capacity_type == "spot"));
        let up: Vec<String> = up.map(|m| m.id.clone()).collect();
        let Some(id) = self.fate.pick(&up).cloned() else { return };
        self.note(format!("outside: {id} is lost"));
        if is_spot {
            self.stage.provider.terminate(&id, SignedDuration::from_secs(30), now);
        } else if let Some(machine) = self.stage.provider.machine_mut(&id) {
            machine.state = crate::provider::State::Gone;
        }
    }

    /// A person cordons a node that is not cordoned.
    fn cordon(&mut self, lasts: SignedDuration) {
        let now = self.stage.now();
        let open =
            |n: &serde_json::Value| n["spec"].get("unschedulable").and_then(serde_json::Value::as_bool) != Some(true);
        let nodes = self.stage.server.all(Kind::Node).filter(|(_, n)| open(n) && !json::is_deleting(n));
        let nodes: Vec<Key> = nodes.map(|(k, _)| k.clone()).collect();
        let Some(key) = self.fate.pick(&nodes).cloned() else { return };
        drop(self.stage.server.patch(&key, false, &json!({"spec": {"unschedulable": true}})));
        self.invariants.cordoned(&key.name, now);
        self.stage.agenda.after(lasts, Happening::Uncordon { node: key.name });
    }

    /// The person takes the cordon back.
    pub(super) fn uncordon(&mut self, node: &str) {
        self.note(format!("outside: uncordon {node}"));
        self.invariants.outside(self.stage.now());
        if self.invariants.uncordoned(node) {
            drop(self.stage.server.patch(&Key::node(node), false, &json!({"spec": {"unschedulable": null}})));
        }
    }

    /// A pod that somebody else's scheduler bound, cordon or not.
    fn stranger(&mut self) {
        let now = self.stage.now();
        let Some(node) = self.pick(Kind::Node) else { return };
        let cpu = self.fate.of(["100m", "300m", "800m"]);
        let name = format!("stranger-{}", self.stage.server.version());
        let pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "labels": {"app": "stranger"}},
            "spec": {
                "schedulerName": "another",
                "terminationGracePeriodSeconds": 5,
                "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu, "memory": "100Mi"}}}],
            },
        });
        let (world, _) = self.stage.world();
        let used: i64 = world
            .pods
            .iter()
            .filter(|p| p.node_name.as_deref() == Some(&node.name) && !p.is_terminal())
            .map(|p| p.requests.get("cpu"))
            .sum();
        let room = world.node(&node.name).map_or(0, |n| n.allocatable.get("cpu")) - used;
        if room < 800 {
            return;
        }
        if let Ok(made) = self.stage.server.create(pod, now) {
            let key = Key::pod("default", json::name(&made));
            drop(self.stage.server.bind(&key, json::uid(&made), &node.name, now));
        }
    }

    fn delete_one(&mut self, kind: Kind) {
        let now = self.stage.now();
        if let Some(key) = self.pick(kind) {
            drop(self.stage.server.delete(&key, "", None, now));
        }
    }

    fn new_image(&mut self) {
        let image = format!("ami-{}", self.stage.server.version());
        self.stage.provider.image.clone_from(&image);
        let amis = json!([{"id": image, "requirements": [
            {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
        ]}]);
        drop(self.stage.server.patch(
            &Key::new(Kind::NodeClass, "", "default"),
            true,
            &json!({"status": {"amis": amis}}),
        ));
    }

    fn new_template(&mut self) {
        if let Some(key) = self.pick(Kind::NodePool) {
            let labels = json!({"revision": format!("r{}", self.stage.server.version())});
            let template = json!({"metadata": {"labels": labels}});
            drop(self.stage.server.patch(&key, false, &json!({"spec": {"template": template}})));
        }
    }
}
