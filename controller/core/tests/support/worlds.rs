//! Small random clusters with every kind of rule, as Kubernetes objects.
#![allow(dead_code)] // each test file uses its part

use serde_json::{Value, json};

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";
const CAPACITY: &str = "karpenter.sh/capacity-type";

/// Splitmix.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// Pools, nodes with pods, workloads and DaemonSets.
pub fn objects(seed: u64) -> Vec<Value> {
    let mut r = Random(seed);
    let mut out: Vec<Value> = (0..1 + r.below(2)).map(|i| pool(&mut r, i)).collect();
    let apps = 1 + r.below(4);
    for n in 0..r.below(4) {
        out.push(node(&mut r, n));
        for p in 0..r.below(3) {
            let app = r.below(apps);
            let mut pod = pod(&mut r, app, apps);
            pod["metadata"]["name"] = json!(format!("old-{n}-{p}"));
            pod["spec"]["nodeName"] = json!(format!("n{n}"));
            pod["status"] = json!({"phase": "Running"});
            out.push(pod);
        }
    }
    for app in 0..apps {
        let one = pod(&mut r, app, apps);
        for i in 0..1 + r.below(4) {
            let mut pod = one.clone();
            pod["metadata"]["name"] = json!(format!("a{app}-{i}"));
            out.push(pod);
        }
    }
    if r.chance(30) {
        let port = if r.chance(40) { json!([{"containerPort": 80, "hostPort": 80}]) } else { json!([]) };
        out.push(json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "kube-system"},
            "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}},
            "spec": {"tolerations": [{"operator": "Exists"}], "containers": [{"name": "c", "ports": port,
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}]}}}}));
    }
    out
}

fn pool(r: &mut Random, i: usize) -> Value {
    let mut requirements = Vec::new();
    if r.chance(30) {
        requirements.push(json!({"key": ZONE, "operator": "In", "values": ["z1", "z2"]}));
    }
    if r.chance(50) {
        requirements.push(json!({"key": CAPACITY, "operator": "In", "values": ["on-demand"]}));
    }
    if r.chance(30) {
        requirements.push(json!({"key": "rack", "operator": "In", "values": ["r1", "r2"]}));
    }
    let taints = if r.chance(25) { json!([{"key": "team", "value": "x", "effect": "NoSchedule"}]) } else { json!([]) };
    let mut spec = json!({"template": {"spec": {"requirements": requirements, "taints": taints,
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}}});
    if r.chance(30) {
        spec["limits"] = json!({"cpu": 4 + r.below(12)});
    }
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": format!("p{i}")}, "spec": spec})
}

fn node(r: &mut Random, i: usize) -> Value {
    let name = format!("n{i}");
    let taints = if r.chance(20) { json!([{"key": "team", "value": "x", "effect": "NoSchedule"}]) } else { json!([]) };
    let labels = json!({HOST: name, ZONE: r.pick(&["z1", "z2", "z3"]), CAPACITY: "on-demand",
        "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"});
    let room = json!({"cpu": 2 + r.below(3), "memory": "8Gi", "pods": 4 + r.below(8)});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {"taints": taints},
        "status": {"allocatable": room, "capacity": room}})
}

fn pod(r: &mut Random, app: usize, apps: usize) -> Value {
    let mut spec = json!({"containers": [{"name": "c", "resources": {"requests":
        {"cpu": r.pick(&["250m", "500m", "900m", "1500m"]), "memory": r.pick(&["128Mi", "700Mi", "2Gi"])}}}]});
    let term = |r: &mut Random| {
        json!({"topologyKey": r.pick(&[ZONE, HOST, HOST, CAPACITY]),
        "labelSelector": {"matchLabels": {"app": format!("a{}", if r.chance(60) { app } else { r.below(apps) })}}})
    };
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    if r.chance(30) {
        spec["affinity"]["podAntiAffinity"][required] = json!([term(r)]);
    }
    if r.chance(20) {
        spec["affinity"]["podAffinity"][required] = json!([term(r)]);
    }
    if r.chance(35) {
        let own = if r.chance(80) { app } else { r.below(apps) };
        spec["topologySpreadConstraints"] = json!([{"maxSkew": 1 + r.below(2), "topologyKey": r.pick(&[ZONE, HOST, CAPACITY]),
            "whenUnsatisfiable": r.pick(&["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": {"matchLabels": {"app": format!("a{own}")}}}]);
    }
    if r.chance(15) {
        spec["nodeSelector"] = json!({ZONE: r.pick(&["z1", "z2", "z3", "z9"])});
    }
    if r.chance(10) {
        spec["nodeSelector"] = json!({"rack": "r1"});
    }
    if r.chance(15) {
        spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = json!([{"weight": 1, "preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z1"]}]}}]);
    }
    if r.chance(30) {
        spec["tolerations"] = json!([{"key": "team", "operator": "Exists"}]);
    }
    if r.chance(10) {
        spec["containers"][0]["ports"] = json!([{"containerPort": 80, "hostPort": 80}]);
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "", "namespace": "default",
        "labels": {"app": format!("a{app}")}}, "spec": spec})
}
