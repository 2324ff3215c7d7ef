use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::agenda::Agenda;
use crate::clients::Mirror;
use crate::json;
use crate::provider::Provider;
use crate::server::{Key, Server};
use crate::worlds;

/// A control plane with what it controls.
struct Scene {
    plane: ControlPlane,
    stage: Stage,
    routed: usize,
}

impl Scene {
    fn new() -> Self {
        let start = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_767_225_600);
        let catalog = Arc::new(worlds::catalog(&mut Dice::new(1, "catalogue"), 2, false));
        let provider = Provider::new(catalog);
        let (agenda, server) = (Agenda::new(start), Server::default());
        let mut stage = Stage { agenda, server, provider, truth: Mirror::default(), noted: 0 };
        stage.agenda.after(TICK, Happening::Tick);
        Self { plane: ControlPlane::new(1), stage, routed: 0 }
    }

    fn create(&mut self, object: Value) -> Arc<Value> {
        let now = self.stage.now();
        self.stage.server.create(object, now).unwrap()
    }

    /// Buys a machine, whose node is registered at once.
    fn node(&mut self, name: &str) {
        use crate::provider::Temper;
        let temper = Temper {
            boots_in: Some(SignedDuration::from_secs(1)),
            ready_in: SignedDuration::from_secs(1),
            is_small: false,
        };
        let claim = json!({"spec": {"requirements": [
            {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m7.xlarge"]},
        ]}});
        let now = self.stage.now();
        let reply = self.stage.provider.launch(name, name, &claim, temper, now);
        let millwright_core::control::ask::Reply::Launched(instance) = reply else { panic!("{reply:?}") };
        self.plane.kubelets.boot(&instance.provider_id, &mut self.stage);
        let node = self.stage.provider.machine(&instance.provider_id).unwrap().node.clone();
        let key = Key::node(&node);
        let taints = json::list(self.stage.server.get(&key).unwrap(), &["spec", "taints"]).to_vec();
        let taints: Vec<Value> =
            taints.into_iter().filter(|t| json::text(t, &["key"]) != "karpenter.sh/unregistered").collect();
        self.stage.server.patch(&key, false, &json!({"spec": {"taints": taints}})).unwrap();
    }

    fn run(&mut self, seconds: i64) {
        let end = self.stage.now() + SignedDuration::from_secs(seconds);
        loop {
            while self.routed < self.stage.server.changes().len() {
                let change = self.stage.server.changes()[self.routed].clone();
                self.routed += 1;
                self.plane.notice(&change, &mut self.stage);
            }
            match self.stage.agenda.next(end) {
                Some(Happening::Part(part)) => self.plane.run(part, &mut self.stage),
                Some(Happening::Bind { pod, uid, node }) => {
                    self.plane.scheduler.bind(&pod, &uid, &node, &mut self.stage);
                }
                Some(Happening::Ready { machine }) => self.plane.kubelets.ready(&machine, &mut self.stage),
                Some(Happening::Run { pod, uid }) => self.plane.kubelets.start(&pod, &uid, &mut self.stage),
                Some(Happening::Finish { pod, uid }) => self.plane.kubelets.finish(&pod, &uid, &mut self.stage),
                Some(Happening::Tick) => {
                    self.plane.tick(&mut self.stage);
                    self.stage.agenda.after(TICK, Happening::Tick);
                }
                Some(_) => {}
                None => break,
            }
        }
    }

    fn pods(&self) -> Vec<Arc<Value>> {
        self.stage.server.all(Kind::Pod).map(|(_, p)| p.clone()).collect()
    }

    fn running(&self) -> usize {
        self.pods().iter().filter(|p| json::is_true(p, "Ready")).count()
    }
}

fn set(kind: &str, replicas: i64, cpu: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
                "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
                "terminationGracePeriodSeconds": 10,
            }},
        },
    })
}

#[test]
fn pods_are_made_scheduled_run_and_made_anew() {
    let mut scene = Scene::new();
    scene.create(set("ReplicaSet", 3, "500m"));
    scene.run(10);
    assert_eq!((scene.pods().len(), scene.running()), (3, 0));
    let marked =
        |p: &Value| json::condition(p, "PodScheduled").is_some_and(|c| json::text(c, &["reason"]) == "Unschedulable");
    assert!(scene.pods().iter().all(|p| marked(p)));
    scene.node("a");
    scene.run(30);
    assert_eq!(scene.running(), 3);
    let pod = scene.pods()[0].clone();
    let key = Key::pod("default", json::name(&pod));
    let now = scene.stage.now();
    scene.stage.server.evict(&key, json::uid(&pod), now).unwrap();
    scene.run(40);
    assert_eq!((scene.pods().len(), scene.running()), (3, 3));
    assert!(scene.stage.server.get(&key).is_none());
    let key = Key::new(Kind::ReplicaSet, "default", "web");
    scene.stage.server.patch(&key, false, &json!({"spec": {"replicas": 1}})).unwrap();
    scene.run(40);
    assert_eq!(scene.pods().len(), 1);
}

#[test]
fn a_stateful_set_keeps_its_names() {
    let mut scene = Scene::new();
    scene.create(set("StatefulSet", 2, "500m"));
    scene.node("a");
    scene.run(30);
    let names = |scene: &Scene| scene.pods().iter().map(|p| json::name(p).to_owned()).collect::<Vec<_>>();
    assert_eq!((names(&scene), scene.running()), (vec!["web-0".to_owned(), "web-1".to_owned()], 2));
    let uid = json::uid(&scene.pods()[0]).to_owned();
    let now = scene.stage.now();
    scene.stage.server.delete(&Key::pod("default", "web-0"), "", None, now).unwrap();
    scene.run(40);
    assert_eq!((names(&scene), scene.running()), (vec!["web-0".to_owned(), "web-1".to_owned()], 2));
    assert_ne!(json::uid(&scene.pods()[0]), uid);
}

#[test]
fn cordons_keep_pods_out_but_not_daemons() {
    let mut scene = Scene::new();
    scene.node("a");
    scene.run(10);
    let (key, _) = scene.stage.server.all(Kind::Node).next().map(|(k, n)| (k.clone(), n.clone())).unwrap();
    scene.stage.server.patch(&key, false, &json!({"spec": {"unschedulable": true}})).unwrap();
    scene.run(5);
    let tainted = |scene: &Scene| {
        let node = scene.stage.server.get(&key).unwrap();
        json::list(node, &["spec", "taints"])
            .iter()
            .any(|t| json::text(t, &["key"]) == "node.kubernetes.io/unschedulable")
    };
    assert!(tainted(&scene));
    scene.create(set("ReplicaSet", 1, "500m"));
    let mut daemons = set("DaemonSet", 0, "100m");
    daemons["metadata"]["name"] = json!("agent");
    daemons["spec"]["template"]["metadata"]["labels"] = json!({"app": "agent"});
    scene.create(daemons);
    scene.run(30);
    let running: Vec<_> = scene.pods().into_iter().filter(|p| json::is_true(p, "Ready")).collect();
    assert_eq!(running.len(), 1);
    assert_eq!(json::label(&running[0], "app"), Some("agent"));
    scene.stage.server.patch(&key, false, &json!({"spec": {"unschedulable": null}})).unwrap();
    scene.run(30);
    assert!(!tainted(&scene));
    assert_eq!(scene.running(), 2);
}

#[test]
fn a_kubelet_refuses_what_does_not_fit() {
    let mut scene = Scene::new();
    scene.create(set("ReplicaSet", 1, "3"));
    scene.node("a");
    scene.run(20);
    assert_eq!(scene.running(), 1);
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "fat", "namespace": "default"}});
    pod["spec"] =
        json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}], "schedulerName": "none"});
    let made = scene.create(pod);
    let node = scene.stage.server.all(Kind::Node).next().unwrap().0.name.clone();
    let (key, now) = (Key::pod("default", "fat"), scene.stage.now());
    scene.stage.server.bind(&key, json::uid(&made), &node, now).unwrap();
    scene.run(5);
    let fat = scene.stage.server.get(&key).unwrap();
    assert_eq!((json::text(fat, &["status", "phase"]), json::text(fat, &["status", "reason"])), ("Failed", "OutOfcpu"));
    scene.run(60);
    assert!(scene.stage.server.get(&key).is_none(), "pods that ended are cleared away");
}

#[test]
fn budgets_are_counted_as_pods_come_and_go() {
    let mut scene = Scene::new();
    scene.create(set("ReplicaSet", 3, "500m"));
    scene.create(json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }));
    scene.run(5);
    let status = |scene: &Scene| {
        let budget = scene.stage.server.get(&Key::new(Kind::Budget, "default", "web")).unwrap();
        let number = |f: &str| budget["status"][f].as_i64().unwrap();
        [number("currentHealthy"), number("desiredHealthy"), number("disruptionsAllowed")]
    };
    assert_eq!(status(&scene), [0, 2, 0]);
    scene.node("a");
    scene.run(30);
    assert_eq!(status(&scene), [3, 2, 1]);
    let (key, uid) = (Key::pod("default", json::name(&scene.pods()[0])), json::uid(&scene.pods()[0]).to_owned());
    let now = scene.stage.now();
    scene.stage.server.evict(&key, &uid, now).unwrap();
    scene.run(1);
    assert_eq!(status(&scene)[2], 0);
    scene.run(40);
    assert_eq!(status(&scene), [3, 2, 1]);
    let budget = scene.stage.server.get(&Key::new(Kind::Budget, "default", "web")).unwrap();
    assert!(budget["status"].get("disruptedPods").is_none());
}

#[test]
fn a_machine_that_vanishes_takes_its_node_and_pods() {
    let mut scene = Scene::new();
    scene.create(set("ReplicaSet", 1, "500m"));
    scene.node("a");
    scene.run(20);
    assert_eq!(scene.running(), 1);
    let id = scene.stage.provider.machines().next().unwrap().id.clone();
    scene.stage.provider.machine_mut(&id).unwrap().state = crate::provider::State::Gone;
    scene.run(30);
    assert_eq!(scene.stage.server.all(Kind::Node).count(), 1, "silence is not noticed at once");
    scene.run(40);
    assert_eq!(scene.stage.server.all(Kind::Node).count(), 0);
    scene.run(60);
    assert_eq!(scene.pods().len(), 1);
    assert!(json::text(&scene.pods()[0], &["spec", "nodeName"]).is_empty(), "a new pod waits");
}

#[test]
fn what_no_owner_is_left_of_goes() {
    let mut scene = Scene::new();
    let owner = scene.create(set("ReplicaSet", 2, "500m"));
    scene.run(5);
    assert_eq!(scene.pods().len(), 2);
    let now = scene.stage.now();
    scene.stage.server.delete(&Key::new(Kind::ReplicaSet, "default", "web"), json::uid(&owner), None, now).unwrap();
    scene.run(5);
    assert!(scene.pods().is_empty());
}
