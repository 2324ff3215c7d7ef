//! The form of a disruption scenario and its way to Kubernetes objects.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::json::merge;

/// When nothing else is said.
pub const NOW: &str = "2026-11-30T12:00:00Z";

/// One scenario. Unless a field says otherwise: nodes have a claim, are
/// initialized, ready, on demand, of type t4 in zone z1 and of pool p; pools
/// consolidate at once what is underutilised, with a budget of 100 %; pods run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Begins with the id of the spec.
    pub name: String,
    #[serde(default)]
    pub gates: String,
    /// Merged into each pool; one pool `p` where none is given.
    #[serde(default)]
    pub pools: Option<BTreeMap<String, Value>>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub pods: Vec<Pod>,
    /// PodDisruptionBudgets: `namespace/name` (or a name in `default`) with
    /// spec and status.
    #[serde(default)]
    pub pdbs: BTreeMap<String, Value>,
    /// Anything else, as it is.
    #[serde(default)]
    pub objects: Vec<Value>,
    /// Names of nodes that a controller remembers.
    #[serde(default)]
    pub queued: Vec<String>,
    #[serde(default)]
    pub marked: Vec<String>,
    #[serde(default)]
    pub nominated: BTreeMap<String, String>,
    /// Pools whose instance types cannot be listed.
    #[serde(default)]
    pub unlisted: Vec<String>,
    /// Types beside those of the lab.
    #[serde(default)]
    pub types: Vec<Type>,
    /// So many spot types with room for 3 CPUs, `x00` and so on, from 0.010 $/h
    /// in steps of 0.001.
    #[serde(default)]
    pub cheap_spot: usize,
    /// The lab's own types do not exist.
    #[serde(default)]
    pub no_lab: bool,
    /// What a provider calls unhealthy.
    #[serde(default)]
    pub policies: Vec<Policy>,
    /// Reboots of the last day, per node.
    #[serde(default)]
    pub reboots: BTreeMap<String, usize>,
    #[serde(default)]
    pub best_effort: bool,
    #[serde(default)]
    pub ignore_preferences: bool,
    /// What must hold, and when.
    pub expect: Vec<Expected>,
}

/// A node with its claim; both can be changed by a merge patch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    pub name: String,
    /// So many, called `name-0` and so on.
    pub count: Option<usize>,
    #[serde(default)]
    pub pool: Option<String>,
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    #[serde(default)]
    pub zone: Option<String>,
    #[serde(default)]
    pub capacity: Option<String>,
    #[serde(default)]
    pub node: Value,
    #[serde(default)]
    pub claim: Value,
    /// There is no node yet.
    #[serde(default)]
    pub claim_only: bool,
    /// Nobody manages it.
    #[serde(default)]
    pub unmanaged: bool,
}

/// A pod, running on `on`; changed by a merge patch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pod {
    pub name: String,
    pub count: Option<usize>,
    #[serde(default)]
    pub on: Option<String>,
    /// Kind of the controlling owner; ReplicaSet if not given.
    #[serde(default)]
    pub owner: Option<String>,
    #[serde(default)]
    pub cpu: Option<Value>,
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    #[serde(default)]
    pub patch: Value,
}

/// What must hold at one time. Verdicts are `"yes"` or a part of the reason.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expected {
    pub now: Option<String>,
    pub graceful: BTreeMap<String, String>,
    pub eventual: BTreeMap<String, String>,
    pub repair: BTreeMap<String, String>,
    /// Whether the exclusion from the graceful class is told by an event.
    pub event: BTreeMap<String, bool>,
    pub consolidatable: BTreeMap<String, String>,
    pub emptiable: BTreeMap<String, String>,
    /// Whether nothing on a candidate has to move.
    pub empty: BTreeMap<String, bool>,
    /// Per pool and reason, before what is disrupted is subtracted.
    pub allowed: BTreeMap<String, BTreeMap<String, i64>>,
    pub remaining: BTreeMap<String, BTreeMap<String, i64>>,
    /// Pools that tell that nothing may go, per reason.
    pub budget_event: BTreeMap<String, BTreeMap<String, bool>>,
    /// Budgets that cannot be evaluated, per pool.
    pub budget_faults: Option<usize>,
    pub drift: BTreeMap<String, String>,
    pub expired: BTreeMap<String, bool>,
    pub shield: BTreeMap<String, String>,
    pub eviction_cost: BTreeMap<String, f64>,
    /// Pods that budgets can never let go.
    pub fully_blocked: BTreeMap<String, bool>,
    /// What Millwright does, at no price on disruption.
    #[serde(alias = "plan")]
    pub audit: Option<Audit>,
    /// What Karpenter does.
    pub baseline: Option<Baseline>,
    /// Nodes that are repaired, in order: `name action condition bound`, the
    /// bound in seconds or `-`.
    pub repairs: Option<Vec<String>>,
    /// Parts of the reasons why others are not.
    pub unrepaired: BTreeMap<String, String>,
    /// What the old controller does about each node.
    pub legacy: BTreeMap<String, String>,
}

/// What Karpenter's methods come to.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Baseline {
    /// The method that acts, or `none`.
    pub method: Option<String>,
    pub removed: Option<Vec<String>>,
    pub n_removed: Option<usize>,
    /// The cheapest type of each replacement, ascending.
    pub bought: Option<Vec<String>>,
    pub capacity_types: Option<Vec<String>>,
    pub zones: Option<Vec<String>>,
    /// Nodes that receive pods, in the order in which they are tried.
    pub takes: Option<Vec<String>>,
    /// What the first replacement lists, cheapest first.
    pub listed: Option<Vec<String>>,
    pub n_listed: Option<usize>,
    /// $/h, as Karpenter estimates it.
    pub savings: Option<f64>,
    /// Why each of these nodes does not go alone, in part; `yes` if it does.
    pub alone: BTreeMap<String, String>,
    /// Nodes that would go together, with a part of why not.
    pub together: Vec<(Vec<String>, String)>,
    /// The order in which single nodes are tried.
    pub order: Option<Vec<String>>,
    /// Methods of all commands to the end.
    pub methods: Option<Vec<String>>,
    /// $/h at the end.
    pub end: Option<f64>,
}

/// An instance type.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Type {
    pub name: String,
    pub cpu: u32,
    pub offers: Vec<Offer>,
}

/// Zone, capacity type, price and, of a reservation, its id and what is left.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    pub zone: String,
    pub capacity: String,
    pub price: f64,
    pub id: Option<String>,
    pub count: Option<u32>,
    pub available: Option<bool>,
}

/// A repair policy; spans as Go writes them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    pub condition: String,
    pub status: String,
    pub reason: Option<String>,
    pub toleration: String,
    pub grace: Option<String>,
    #[serde(default)]
    pub priority: u32,
    #[serde(default)]
    pub reboot: bool,
}

/// What the best legal wave must be, at no price on disruption.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Audit {
    pub removed: Option<Vec<String>>,
    pub n_removed: Option<usize>,
    pub most_removed: Option<usize>,
    /// Types of the nodes that are bought, ascending.
    pub bought: Option<Vec<String>>,
    pub capacity_types: Option<Vec<String>>,
    pub zones: Option<Vec<String>>,
    /// $/h afterwards.
    pub cost: Option<f64>,
    /// A part of the reason why each of these nodes stays.
    pub stays: BTreeMap<String, String>,
    pub lacks_types: Vec<String>,
}

impl Scenario {
    /// The lab with what the scenario adds.
    pub fn catalog(&self, lab: &Value) -> Value {
        let mut catalog = lab.clone();
        let Some(types) = catalog["types"].as_array_mut() else { return catalog };
        if self.no_lab {
            types.clear();
        }
        types.extend(self.types.iter().map(Type::object));
        types.extend((0..self.cheap_spot).map(|i| {
            let offers = ["z1", "z2", "z3"].map(|zone| Offer {
                zone: zone.to_owned(),
                capacity: "spot".to_owned(),
                price: 0.010 + i as f64 / 1000.0,
                id: None,
                count: None,
                available: None,
            });
            Type { name: format!("x{i:02}"), cpu: 4, offers: offers.into() }.object()
        }));
        catalog
    }

    /// Every object, one document each.
    pub fn objects(&self) -> String {
        let default = BTreeMap::from([("p".to_owned(), Value::Null)]);
        let pools = self.pools.as_ref().unwrap_or(&default).iter().map(|(name, patch)| pool(name, patch));
        let nodes = self.nodes.iter().flat_map(Node::objects);
        let pods = self.pods.iter().flat_map(Pod::objects);
        let pdbs = self.pdbs.iter().map(|(name, given)| pdb(name, given));
        let all = pools.chain(nodes).chain(pods).chain(pdbs).chain(self.objects.iter().cloned());
        all.map(|o| format!("---\n{o}\n")).collect()
    }
}

impl Type {
    fn object(&self) -> Value {
        let offers: Vec<Value> = self
            .offers
            .iter()
            .map(|o| {
                let mut offer = json!({"zone": o.zone, "capacityType": o.capacity, "price": format!("{:.8}", o.price)});
                let more = [
                    ("reservationId", o.id.as_ref().map(|id| json!(id))),
                    ("count", o.count.map(|n| json!(n))),
                    ("available", o.available.map(|a| json!(a))),
                ];
                for (key, value) in more {
                    if let Some(value) = value {
                        offer[key] = value;
                    }
                }
                offer
            })
            .collect();
        let room = json!({"cpu": format!("{}m", self.cpu * 1000 - 100),
            "memory": format!("{}Mi", self.cpu * 2048 - 100), "pods": (self.cpu * 5).to_string()});
        json!({"name": self.name, "architecture": "amd64", "operatingSystems": ["linux"],
            "capacity": {"cpu": self.cpu, "memory": format!("{}Mi", self.cpu * 2048), "pods": self.cpu * 5},
            "allocatable": room, "offerings": offers})
    }
}

fn patched(mut object: Value, patch: &Value) -> Value {
    if !patch.is_null() {
        merge(&mut object, patch);
    }
    object
}

fn pool(name: &str, patch: &Value) -> Value {
    let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    let spec = json!({
        "template": {"spec": {
            "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}],
            "nodeClassRef": class, "expireAfter": "Never"}},
        "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s",
            "budgets": [{"nodes": "100%"}]}});
    let object = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec});
    patched(object, patch)
}

fn names(name: &str, count: Option<usize>) -> Vec<String> {
    count.map_or_else(|| vec![name.to_owned()], |n| (0..n).map(|i| format!("{name}-{i}")).collect())
}

impl Node {
    fn objects(&self) -> Vec<Value> {
        names(&self.name, self.count).iter().flat_map(|name| self.pair(name)).collect()
    }

    fn pair(&self, name: &str) -> Vec<Value> {
        let kind = self.kind.as_deref().unwrap_or("t4");
        let cpus: u32 = kind[1..].parse().unwrap();
        let mut labels = json!({
            "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": kind,
            "topology.kubernetes.io/zone": self.zone.as_deref().unwrap_or("z1"),
            "karpenter.sh/capacity-type": self.capacity.as_deref().unwrap_or("on-demand")});
        if !self.unmanaged {
            labels["karpenter.sh/nodepool"] = json!(self.pool.as_deref().unwrap_or("p"));
            labels["karpenter.sh/registered"] = json!("true");
            labels["karpenter.sh/initialized"] = json!("true");
        }
        let yes = |kinds: &[&str]| -> Vec<Value> {
            kinds
                .iter()
                .map(|k| json!({"type": k, "status": "True", "lastTransitionTime": "2026-11-29T12:00:00Z"}))
                .collect()
        };
        let room = json!({"cpu": format!("{}m", cpus * 1000 - 100), "memory": format!("{}Mi", cpus * 2048 - 100),
            "pods": (cpus * 5).to_string()});
        let born = "2026-11-29T12:00:00Z";
        let node = json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": labels, "creationTimestamp": born},
            "spec": {"providerID": format!("lab:///{name}")},
            "status": {"allocatable": room, "capacity": room, "conditions": yes(&["Ready"])}});
        let claim = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
            "metadata": {"name": format!("claim-{name}"), "labels": labels, "creationTimestamp": born},
            "spec": {"requirements": [], "expireAfter": "Never",
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}},
            "status": {"providerID": format!("lab:///{name}"), "nodeName": name, "allocatable": room, "capacity": room,
                "conditions": yes(&["Launched", "Registered", "Initialized", "Consolidatable"])}});
        let mut out = Vec::new();
        if !self.claim_only {
            out.push(patched(node, &self.node));
        }
        if !self.unmanaged {
            out.push(patched(claim, &self.claim));
        }
        out
    }
}

impl Pod {
    fn objects(&self) -> Vec<Value> {
        names(&self.name, self.count).iter().map(|name| self.object(name)).collect()
    }

    fn object(&self, name: &str) -> Value {
        let cpu = self.cpu.clone().unwrap_or_else(|| json!("500m"));
        let phase = if self.on.is_some() { "Running" } else { "Pending" };
        let mut object = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "uid": name, "labels": {"app": self.name},
                "annotations": self.annotations},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}}}]},
            "status": {"phase": phase}});
        if let Some(node) = &self.on {
            object["spec"]["nodeName"] = json!(node);
            object["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
        }
        let owner = self.owner.as_deref().unwrap_or("ReplicaSet");
        if owner != "none" {
            let group = if owner == "Node" { "v1" } else { "apps/v1" };
            object["metadata"]["ownerReferences"] = json!([
                {"apiVersion": group, "kind": owner, "name": self.name, "uid": self.name, "controller": true}]);
        }
        patched(object, &self.patch)
    }
}

fn pdb(name: &str, given: &Value) -> Value {
    let (namespace, name) = name.split_once('/').unwrap_or(("default", name));
    let mut object = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace}});
    merge(&mut object, given);
    object
}
