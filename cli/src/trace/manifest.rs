//! Deployments, and a pool of machines for pods that the default one has no
//! room for.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Identical pods.
#[derive(Debug, Default)]
pub struct Workload {
    pub namespace: &'static str,
    pub name: String,
    pub labels: BTreeMap<&'static str, String>,
    pub replicas: u64,
    pub cpu_milli: i64,
    pub mem_mib: i64,
    pub disk_mib: i64,
    pub gpus: i64,
    pub affinity: Option<Value>,
    pub spread: Option<Value>,
}

impl Workload {
    /// The Deployment.
    pub fn document(&self) -> Value {
        let mut requests = Map::new();
        let mut request = |name: &str, amount: i64, unit: &str| {
            if amount > 0 {
                requests.insert(name.to_owned(), json!(format!("{amount}{unit}")));
            }
        };
        request("cpu", self.cpu_milli, "m");
        request("memory", self.mem_mib, "Mi");
        request("ephemeral-storage", self.disk_mib, "Mi");
        request("nvidia.com/gpu", self.gpus, "");
        // Devices must be limited to what they request.
        let resources = match self.gpus {
            0 => json!({"requests": requests}),
            n => json!({"requests": requests, "limits": {"nvidia.com/gpu": n.to_string()}}),
        };
        let mut spec =
            json!({"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": resources}]});
        if let Some(affinity) = &self.affinity {
            spec["affinity"] = affinity.clone();
        }
        if let Some(spread) = &self.spread {
            spec["topologySpreadConstraints"] = json!([spread]);
        }
        let mut labels = self.labels.clone();
        labels.insert("workload", self.name.clone());
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"namespace": self.namespace, "name": self.name},
            "spec": {
                "replicas": self.replicas,
                "selector": {"matchLabels": {"workload": self.name}},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        })
    }
}

/// The namespace object.
pub fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// A NodePool with its node class: on-demand x86 machines of every generation
/// from `generation` up, with a root volume of `root_gib`.
pub fn pool(name: &str, generation: u32, root_gib: u32) -> [Value; 2] {
    let class = json!({
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name},
        "spec": {
            "role": "KarpenterNodeRole",
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": name}}],
            "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": name}}],
            "blockDeviceMappings": [{
                "deviceName": "/dev/xvda",
                "rootVolume": true,
                "ebs": {"volumeSize": format!("{root_gib}Gi"), "volumeType": "gp3"},
            }],
        },
    });
    let wish = |key: &str, operator: &str, values: &[&str]| json!({"key": key, "operator": operator, "values": values});
    let below = generation.saturating_sub(1).to_string();
    let pool = json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name},
            "requirements": [
                wish("kubernetes.io/os", "In", &["linux"]),
                wish("kubernetes.io/arch", "In", &["amd64"]),
                wish("karpenter.sh/capacity-type", "In", &["on-demand"]),
                wish("karpenter.k8s.aws/instance-category", "In", &["c", "g", "m", "p", "r", "x"]),
                wish("karpenter.k8s.aws/instance-generation", "Gt", &[&below]),
            ],
        }}},
    });
    [class, pool]
}

/// Node affinity with one alternative: `key` has one of `values`.
pub fn node_in(key: &str, values: &[&str]) -> Value {
    json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": key, "operator": "In", "values": values}]}
    ]}}})
}

/// Anti-affinity on the machine towards pods whose label `key` is among
/// `values`.
pub fn never_with(key: &str, values: &[String]) -> Value {
    json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchExpressions": [{"key": key, "operator": "In", "values": values}]},
    }]}})
}

/// No more than `most` pods with this label more than on the emptiest machine.
pub fn spread_on_machines(key: &str, value: &str, most: i64) -> Value {
    json!({
        "maxSkew": most,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {key: value}},
    })
}
