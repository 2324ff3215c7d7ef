//! The form of a scenario file and its way to Kubernetes objects.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// One scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Begins with the id of the spec.
    pub name: String,
    #[serde(default)]
    pub ignore_preferences: bool,
    #[serde(default)]
    pub best_effort: bool,
    #[serde(default)]
    pub fallback: bool,
    #[serde(default)]
    pub no_reservations: bool,
    /// One pool `p` without demands where none is given.
    #[serde(default)]
    pub pools: Option<Vec<Pool>>,
    #[serde(default)]
    pub pods: Vec<Pod>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub daemons: Vec<Pod>,
    /// Anything else, as it is.
    #[serde(default)]
    pub objects: Vec<Value>,
    /// Changes to the catalogue.
    #[serde(default)]
    pub offerings: Vec<OfferingChange>,
    /// Fields of types that are set or replaced.
    #[serde(default)]
    pub types: BTreeMap<String, Map<String, Value>>,
    /// One entry per pass; between passes what was planned comes true.
    pub passes: Vec<Expected>,
}

/// `spec.template.spec` fields stand beside the name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    pub name: String,
    #[serde(default)]
    pub weight: u32,
    #[serde(default)]
    pub labels: Value,
    #[serde(default)]
    pub requirements: Vec<Value>,
    #[serde(default)]
    pub taints: Vec<Value>,
    #[serde(default)]
    pub startup_taints: Vec<Value>,
    #[serde(default)]
    pub limits: Option<Value>,
    #[serde(default)]
    pub replicas: Option<u32>,
}

/// A pod, or several alike, or the pod of a DaemonSet.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pod {
    pub name: String,
    /// So many, called `name-0` and so on.
    pub count: Option<u32>,
    pub namespace: Option<String>,
    pub cpu: Option<Value>,
    pub memory: Option<Value>,
    pub requests: Map<String, Value>,
    pub labels: Value,
    /// The node it runs on.
    pub on: Option<String>,
    pub phase: Option<String>,
    /// Its own hostname.
    pub alone: bool,
    pub created: Option<String>,
    /// Further fields of the spec.
    pub spec: Map<String, Value>,
    pub metadata: Map<String, Value>,
}

/// An initialised node of a catalogue type; unmanaged unless `pool` is given.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Node {
    pub name: String,
    pub pool: Option<String>,
    pub zone: Option<String>,
    pub labels: Map<String, Value>,
    pub taints: Vec<Value>,
    pub allocatable: Value,
    pub capacity: Option<Value>,
    pub metadata: Map<String, Value>,
}

/// An offering added to a type, or one that is not available.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OfferingChange {
    #[serde(rename = "type")]
    pub kind: String,
    pub zone: Option<String>,
    pub capacity_type: Option<String>,
    pub reservation_id: Option<String>,
    pub count: Option<u32>,
    #[serde(default)]
    pub unavailable: bool,
}

/// What a pass must give.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expected {
    /// How many claims.
    pub claims: Option<usize>,
    /// Claims that must be among them, each a different one.
    pub with: Vec<ExpectedClaim>,
    /// Pods per existing node.
    pub existing: Option<BTreeMap<String, Vec<String>>>,
    /// Pods without a place.
    pub pending: Option<Vec<String>>,
    pub n_pending: Option<usize>,
    /// Pods that wait for a reservation.
    pub deferred: Option<Vec<String>>,
    /// A part of the reason of every pod without a place.
    pub reason: Option<String>,
    /// Numbers of pods per zone, ascending, over claims with one zone.
    pub per_zone: Option<Vec<usize>>,
    pub per_capacity_type: Option<BTreeMap<String, usize>>,
    /// Most pods on a claim.
    pub most: Option<usize>,
}

/// A claim, as far as it matters.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExpectedClaim {
    pub pool: Option<String>,
    pub pods: Option<Vec<String>>,
    pub n_pods: Option<usize>,
    /// All types it lists, cheapest first.
    pub types: Option<Vec<String>>,
    pub has_types: Vec<String>,
    pub lacks_types: Vec<String>,
    pub cheapest: Option<String>,
    pub zones: Option<Vec<String>>,
    pub capacity_types: Option<Vec<String>>,
    /// Requirements in words, as `key In [a]`.
    pub requirements: Vec<String>,
    pub relaxed: Option<bool>,
}

impl Scenario {
    /// Every object, as JSON values one after another.
    pub fn objects(&self) -> String {
        let default = || vec![Pool { name: "p".into(), ..Pool::plain() }];
        let pools = self.pools.as_ref().map_or_else(default, |_| Vec::new());
        let pools = pools.iter().chain(self.pools.iter().flatten()).map(Pool::object);
        let pods = self.pods.iter().flat_map(Pod::objects);
        let nodes = self.nodes.iter().map(Node::object);
        let daemons = self.daemons.iter().map(Pod::daemon_set);
        let all = pools.chain(pods).chain(nodes).chain(daemons).chain(self.objects.iter().cloned());
        all.map(|o| format!("---\n{o}\n")).collect()
    }

    /// The catalogue `lab` with this scenario's changes.
    pub fn catalog(&self, lab: &Value) -> String {
        let mut all = lab.clone();
        for kind in all["types"].as_array_mut().unwrap() {
            let name = kind["name"].as_str().unwrap().to_owned();
            for change in self.offerings.iter().filter(|c| c.kind == name) {
                change.apply(kind["offerings"].as_array_mut().unwrap());
            }
            let changes = self.types.get(&name).into_iter().flatten();
            changes.for_each(|(field, value)| kind[field] = value.clone());
        }
        all.to_string()
    }
}

impl OfferingChange {
    fn apply(&self, offerings: &mut Vec<Value>) {
        if let Some(id) = &self.reservation_id {
            let zone = self.zone.as_deref().unwrap_or("z1");
            offerings.push(json!({"zone": zone, "capacityType": "reserved", "price": "0", "reservationId": id,
                "count": self.count.unwrap_or(1), "available": !self.unavailable}));
            return;
        }
        for o in offerings.iter_mut() {
            let same = |field: &str, wanted: &Option<String>| wanted.as_ref().is_none_or(|w| o[field] == json!(w));
            if same("zone", &self.zone) && same("capacityType", &self.capacity_type) {
                o["available"] = json!(!self.unavailable);
            }
        }
    }
}

impl Pool {
    fn plain() -> Self {
        serde_json::from_value(json!({"name": ""})).unwrap()
    }

    fn object(&self) -> Value {
        let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
        let template = json!({"metadata": {"labels": or_empty(&self.labels)}, "spec": {
            "requirements": self.requirements, "taints": self.taints, "startupTaints": self.startup_taints,
            "nodeClassRef": class, "expireAfter": "Never"}});
        let mut spec = json!({"template": template, "disruption": {"consolidateAfter": "Never"}});
        if self.weight > 0 {
            spec["weight"] = json!(self.weight);
        }
        self.limits.iter().for_each(|l| spec["limits"] = l.clone());
        self.replicas.iter().for_each(|r| spec["replicas"] = json!(r));
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": self.name}, "spec": spec})
    }
}

fn or_empty(value: &Value) -> Value {
    if value.is_null() { json!({}) } else { value.clone() }
}

impl Pod {
    fn spec(&self) -> Value {
        let mut requests = self.requests.clone();
        let amount = |given: &Option<Value>, default: &str| given.clone().unwrap_or_else(|| json!(default));
        requests.insert("cpu".into(), amount(&self.cpu, "500m"));
        requests.insert("memory".into(), amount(&self.memory, "256Mi"));
        let mut spec = json!({"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]});
        if self.alone {
            spec["affinity"] = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"own": "node"}}}]}});
        }
        self.spec.iter().for_each(|(k, v)| spec[k] = v.clone());
        spec
    }

    fn labels(&self) -> Value {
        let mut labels = or_empty(&self.labels);
        if self.alone {
            labels["own"] = json!("node");
        }
        labels
    }

    fn objects(&self) -> Vec<Value> {
        let names = match self.count {
            None => vec![self.name.clone()],
            Some(n) => (0..n).map(|i| format!("{}-{i}", self.name)).collect(),
        };
        let object = |name: String| {
            let mut spec = self.spec();
            self.on.iter().for_each(|n| spec["nodeName"] = json!(n));
            let mut meta = json!({"name": name, "namespace": self.namespace.as_deref().unwrap_or("default"),
                "uid": format!("uid-{name}"), "labels": self.labels()});
            self.created.iter().for_each(|c| meta["creationTimestamp"] = json!(c));
            self.metadata.iter().for_each(|(k, v)| meta[k] = v.clone());
            let phase = self.phase.as_deref().unwrap_or(if self.on.is_some() { "Running" } else { "Pending" });
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": phase}})
        };
        names.into_iter().map(object).collect()
    }

    fn daemon_set(&self) -> Value {
        let selector = json!({"app": self.name});
        json!({"apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {"name": self.name, "namespace": "kube-system", "uid": format!("ds-{}", self.name)},
            "spec": {"selector": {"matchLabels": selector},
                "template": {"metadata": {"labels": selector}, "spec": self.spec()}}})
    }
}

impl Node {
    fn object(&self) -> Value {
        let mut labels = Map::from_iter([("kubernetes.io/hostname".to_owned(), json!(self.name))]);
        self.zone.iter().for_each(|z| {
            labels.insert("topology.kubernetes.io/zone".into(), json!(z));
        });
        self.pool.iter().for_each(|p| {
            labels.insert("karpenter.sh/nodepool".into(), json!(p));
        });
        labels.extend(self.labels.clone());
        let allocatable = if self.allocatable.is_null() {
            json!({"cpu": 4, "memory": "8Gi", "pods": 20})
        } else {
            self.allocatable.clone()
        };
        let capacity = self.capacity.clone().unwrap_or_else(|| allocatable.clone());
        let mut meta = json!({"name": self.name, "labels": labels});
        self.metadata.iter().for_each(|(k, v)| meta[k] = v.clone());
        json!({"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": {"taints": self.taints},
            "status": {"allocatable": allocatable, "capacity": capacity}})
    }
}
