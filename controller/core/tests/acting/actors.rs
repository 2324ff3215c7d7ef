//! The rest of the cluster: provider, kubelets, controllers, scheduler.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::{Instance, Reply};
use millwright_models::rules::State;
use serde_json::{Value, json};

use super::objects;
use super::room::{Machine, Room, Workload};

impl Room {
    /// Everybody does what is due.
    pub fn play(&mut self) {
        self.machines_join();
        self.pods_end();
        self.workloads();
        self.daemons();
        if self.scheduler {
            self.schedule();
        }
        self.kubelets();
    }

    /// Makes a workload with its pods.
    pub fn deploy(&mut self, app: &str, replicas: usize, cpu: &str, patch: Value) {
        let pod = objects::pod(app, "", cpu, patch);
        self.workloads.insert(app.to_owned(), Workload { pod, replicas, made: 0 });
        self.workloads();
    }

    /// A node that was there before, with its claim.
    pub fn node(&mut self, name: &str, kind: &str) {
        let [node, claim] = objects::node(name, kind);
        self.add(claim);
        self.add(node);
        let id = format!("lab:///{name}");
        let instance = Instance { provider_id: id.clone(), claim: format!("claim-{name}"), ..Instance::default() };
        self.machines.insert(id, Machine { instance, born: self.now - SignedDuration::from_hours(2) });
    }

    /// A pod that runs.
    pub fn running(&mut self, app: &str, name: &str, cpu: &str, node: &str) {
        let pod = objects::pod(app, name, cpu, objects::on(node));
        self.add(pod);
        let template = objects::pod(app, "", cpu, json!({}));
        let workload = self.workloads.entry(app.to_owned());
        workload.or_insert(Workload { pod: template, replicas: 0, made: 100 }).replicas += 1;
    }

    /// The cheapest type that the claim lists.
    pub fn launch(&mut self, name: &str, claim: &Value) -> Reply {
        let requirements = claim["spec"]["requirements"].as_array().unwrap();
        let values = |key: &str| -> Vec<String> {
            let all = requirements.iter().find(|r| r["key"] == key && r["operator"] == "In");
            let all = all.and_then(|r| r["values"].as_array()).into_iter().flatten();
            all.filter_map(|v| v.as_str().map(str::to_owned)).collect()
        };
        let (types, zones) = (values("node.kubernetes.io/instance-type"), values("topology.kubernetes.io/zone"));
        let kinds = values("karpenter.sh/capacity-type");
        let id = format!("lab:///{name}");
        if let Some(machine) = self.machines.get(&id) {
            return Reply::Launched(machine.instance.clone());
        }
        let catalog = self.catalog.clone();
        let offers = catalog
            .types
            .iter()
            .filter(|t| types.is_empty() || types.contains(&t.name))
            .flat_map(|t| t.offerings.iter().map(move |o| (o.price, t, o)));
        let fits = offers
            .filter(|(_, _, o)| (zones.is_empty() || zones.contains(&o.zone)) && kinds.contains(&o.capacity_type));
        let (_, kind, offering) = fits.min_by_key(|(price, t, o)| (*price, &t.name, &o.zone)).unwrap();
        let amounts = |r: &millwright_models::resources::Resources| -> Value {
            r.iter()
                .map(|(n, a)| (n.to_owned(), json!(millwright_models::quantity::format(n, a))))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let labels = [
            ("node.kubernetes.io/instance-type", kind.name.as_str()),
            ("topology.kubernetes.io/zone", offering.zone.as_str()),
            ("karpenter.sh/capacity-type", offering.capacity_type.as_str()),
            ("kubernetes.io/arch", "amd64"),
            ("kubernetes.io/os", "linux"),
        ];
        let instance = Instance {
            provider_id: id.clone(),
            claim: name.to_owned(),
            created: Some(self.now),
            labels: labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            capacity: amounts(&kind.capacity),
            allocatable: amounts(kind.allocatable.as_ref().unwrap()),
            ..Instance::default()
        };
        self.machines.insert(id, Machine { instance: instance.clone(), born: self.now });
        Reply::Launched(instance)
    }

    fn machines_join(&mut self) {
        for machine in self.machines.values().cloned().collect::<Vec<_>>() {
            let name = machine.instance.claim.clone();
            let old = self.objects.values().any(|o| o["spec"]["providerID"] == *machine.instance.provider_id);
            if old || self.now.duration_since(machine.born) < self.boot {
                continue;
            }
            let mut labels = json!(machine.instance.labels);
            labels["kubernetes.io/hostname"] = json!(name);
            self.add(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
                "spec": {"providerID": machine.instance.provider_id, "taints": [
                    {"key": "karpenter.sh/unregistered", "effect": "NoExecute"},
                    {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]},
                "status": {"allocatable": machine.instance.allocatable, "capacity": machine.instance.capacity,
                    "conditions": [{"type": "Ready", "status": "False"}]}}));
        }
        for node in self.names("Node") {
            let object = self.get("Node", "", &node).unwrap().clone();
            let registered = object["metadata"]["labels"]["karpenter.sh/registered"] == "true";
            let born: Timestamp = object["metadata"]["creationTimestamp"].as_str().unwrap().parse().unwrap();
            let old = self.now.duration_since(born) >= SignedDuration::from_secs(2);
            if registered
                && old
                && object["status"]["conditions"][0]["status"] == "False"
                && !self.unready.contains(&node)
            {
                let taints: Vec<Value> = object["spec"]["taints"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|t| t["key"] != "node.kubernetes.io/not-ready")
                    .cloned()
                    .collect();
                self.edit(
                    "Node",
                    "",
                    &node,
                    json!({"spec": {"taints": taints},
                    "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
                );
            }
        }
    }

    fn pods_end(&mut self) {
        let nodes: BTreeSet<String> = self.names("Node").into_iter().collect();
        for pod in self.all("Pod").into_iter().cloned().collect::<Vec<_>>() {
            let key = Self::key(&pod);
            let due = pod["metadata"]["deletionTimestamp"].as_str().map(|t| t.parse::<Timestamp>().unwrap());
            let orphan = pod["spec"]["nodeName"].as_str().is_some_and(|n| !nodes.contains(n));
            if orphan || due.is_some_and(|at| at <= self.now) {
                self.drop_object(&key);
            }
        }
    }

    /// As many pods as each workload wants.
    fn workloads(&mut self) {
        for (app, mut workload) in self.workloads.clone() {
            let lives = |p: &&&Value| {
                p["metadata"]["labels"]["app"] == *app
                    && p["metadata"]["deletionTimestamp"].is_null()
                    && p["status"]["phase"] != "Failed"
            };
            let all = self.all("Pod");
            let mut have: Vec<String> =
                all.iter().filter(lives).map(|p| p["metadata"]["name"].as_str().unwrap().to_owned()).collect();
            while have.len() < workload.replicas {
                let mut pod = workload.pod.clone();
                let name = format!("{app}-{}", workload.made);
                pod["metadata"]["name"] = json!(name);
                workload.made += 1;
                have.push(name);
                self.add(pod);
            }
            for name in have.into_iter().skip(workload.replicas) {
                self.drop_object(&("Pod".to_owned(), "default".to_owned(), name));
            }
            self.workloads.insert(app, workload);
        }
    }

    fn daemons(&mut self) {
        for set in self.all("DaemonSet").into_iter().cloned().collect::<Vec<_>>() {
            let name = set["metadata"]["name"].as_str().unwrap().to_owned();
            let nodes = if self.lazy.contains(&name) { Vec::new() } else { self.names("Node") };
            for node in nodes {
                let object = self.get("Node", "", &node).unwrap();
                let foreign = |t: &Value| !t["key"].as_str().unwrap().starts_with("node.kubernetes.io/");
                let tainted = object["spec"]["taints"].as_array().into_iter().flatten().any(foreign);
                let pod = format!("{name}-{node}");
                let ready = object["status"]["conditions"][0]["status"] == "True";
                if tainted || !ready || self.get("Pod", "default", &pod).is_some() {
                    continue;
                }
                let mut spec = set["spec"]["template"]["spec"].clone();
                spec["nodeName"] = json!(node);
                self.add(json!({"apiVersion": "v1", "kind": "Pod",
                    "metadata": {"name": pod, "namespace": "default", "labels": {"app": name},
                        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name,
                            "uid": set["metadata"]["uid"], "controller": true}]},
                    "spec": spec, "status": {"phase": "Pending"}}));
            }
        }
    }

    /// The first node that will do, or none.
    fn schedule(&mut self) {
        let world = self.world();
        let mut state = State::of(&world).unwrap();
        for pod in world.pods.iter().filter(|p| p.is_pending()) {
            let fits = world.nodes.iter().find(|n| state.filter(pod, &n.meta.name).is_ok());
            let key = ("Pod".to_owned(), pod.namespace.clone(), pod.name.clone());
            let mut object = self.objects[&key].clone();
            match fits {
                Some(node) => {
                    state.place(&std::sync::Arc::new(pod.clone()), &node.meta.name).unwrap();
                    object["spec"]["nodeName"] = json!(node.meta.name);
                    object["status"]["conditions"] = json!([{"type": "PodScheduled", "status": "True"}]);
                }
                None if object["status"]["conditions"].is_null() => {
                    object["status"]["conditions"] =
                        json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]);
                }
                None => continue,
            }
            self.put(object);
        }
    }

    fn kubelets(&mut self) {
        for pod in self.all("Pod").into_iter().cloned().collect::<Vec<_>>() {
            if pod["status"]["phase"] == "Pending" && !pod["spec"]["nodeName"].is_null() {
                let mut pod = pod;
                objects::merge(
                    &mut pod,
                    &json!({"status": {"phase": "Running", "startTime": self.now.to_string(),
                    "conditions": [{"type": "Ready", "status": "True"}]}}),
                );
                self.put(pod);
            }
        }
    }
}
