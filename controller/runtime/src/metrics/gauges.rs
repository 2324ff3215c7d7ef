//! Gauges that are read off a snapshot of the cluster.

use jiff::Timestamp;
use millwright_core::nodes::{StateNode, state_nodes};
use millwright_models::karpenter::labels;
use millwright_models::kube::pod::{Phase, Pod};
use millwright_models::resources::{CPU, Resources};
use millwright_models::world::World;

use super::{Labels, Metrics};

/// Labels of a node that its series carry, with their names there.
fn node_labels(node: &StateNode<'_>) -> Labels {
    let mut all: Labels = labels::WELL_KNOWN
        .iter()
        .map(|key| {
            let name = key.rsplit('/').next().unwrap_or(key).to_lowercase().replace('-', "_");
            (name, node.labels().get(*key).cloned().unwrap_or_default())
        })
        .collect();
    all.push(("node_name".to_owned(), node.node.map(|n| n.meta.name.clone()).unwrap_or_default()));
    let is_leaving = node.node.is_some_and(|n| n.meta.deletion_timestamp.is_some());
    all.push(("phase".to_owned(), if is_leaving { "Terminating" } else { "" }.to_owned()));
    all.push(("managed".to_owned(), node.is_managed().to_string()));
    all
}

fn with(base: &Labels, more: &[(&str, &str)]) -> Labels {
    base.iter().cloned().chain(more.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))).collect()
}

/// Cores for cpu, else the resource's own unit.
fn amount(resource: &str, value: i64) -> f64 {
    if resource == CPU { value as f64 / 1000.0 } else { value as f64 }
}

fn is_daemon(pod: &Pod) -> bool {
    pod.owner.as_ref().is_some_and(|o| o.kind == "DaemonSet")
}

fn has_ended(pod: &Pod) -> bool {
    matches!(pod.phase, Phase::Succeeded | Phase::Failed)
}

/// What a snapshot tells.
pub struct Snapshot<'w> {
    world: &'w World,
    nodes: Vec<StateNode<'w>>,
    now: Timestamp,
}

impl<'w> Snapshot<'w> {
    pub fn new(world: &'w World, now: Timestamp) -> Self {
        Self { world, nodes: state_nodes(world), now }
    }

    /// Sets everything that hangs on single nodes, pods and pools.
    pub fn publish(&self, metrics: &Metrics) {
        self.nodes(metrics);
        self.pools(metrics);
        self.pods(metrics);
    }

    /// How many nodes are known.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    fn nodes(&self, metrics: &Metrics) {
        let [mut allocatable, mut overhead, mut pods, mut daemons] = [const { Vec::new() }; 4];
        let mut age = Vec::new();
        let (mut asked, mut given) = (Resources::default(), Resources::default());
        for state in &self.nodes {
            let Some(node) = state.node else { continue };
            let base = node_labels(state);
            let mut requests = [Resources::default(), Resources::default()];
            for pod in state.pods.iter().map(|p| &self.world.pods[*p]).filter(|p| !has_ended(p)) {
                requests[usize::from(is_daemon(pod))].add(&pod.requests);
            }
            for (resource, value) in node.allocatable.iter() {
                let labels = with(&base, &[("resource_type", resource)]);
                allocatable.push((labels.clone(), amount(resource, value)));
                overhead.push((labels, amount(resource, (node.capacity.get(resource) - value).max(0))));
            }
            for (series, requests) in [&mut pods, &mut daemons].into_iter().zip(&requests) {
                for (resource, value) in requests.iter() {
                    series.push((with(&base, &[("resource_type", resource)]), amount(resource, value)));
                }
                asked.add(requests);
            }
            given.add(&node.allocatable);
            if let Some(born) = node.meta.creation_timestamp {
                age.push((base, self.now.duration_since(born).as_secs_f64()));
            }
        }
        let utilization = given.iter().filter(|(_, total)| *total > 0).map(|(resource, total)| {
            let share = 100.0 * asked.get(resource) as f64 / total as f64;
            (vec![("resource_type".to_owned(), resource.to_owned())], share)
        });
        metrics.set_all("cluster_utilization_percent", utilization.collect());
        metrics.set_all("nodes_allocatable", allocatable);
        metrics.set_all("nodes_system_overhead", overhead);
        metrics.set_all("nodes_total_pod_requests", pods);
        metrics.set_all("nodes_total_daemon_requests", daemons);
        metrics.set_all("nodes_current_lifetime_seconds", age);
    }

    fn pools(&self, metrics: &Metrics) {
        let (mut limits, mut usage) = (Vec::new(), Vec::new());
        for pool in &self.world.node_pools {
            let name = pool.meta.name.as_str();
            let labels = |resource: &str| -> Labels {
                vec![("nodepool".to_owned(), name.to_owned()), ("resource_type".to_owned(), resource.to_owned())]
            };
            for (resource, value) in pool.limits.iter() {
                limits.push((labels(resource), amount(resource, value)));
            }
            limits.extend(pool.node_limit.map(|nodes| (labels("nodes"), nodes as f64)));
            let mut used = Resources::default();
            let mut count = 0;
            let of_pool = |n: &&StateNode<'_>| n.labels().get(labels::NODEPOOL).is_some_and(|p| p == name);
            for state in self.nodes.iter().filter(of_pool) {
                let capacity = state.node.map(|n| &n.capacity).or(state.claim.map(|c| &c.capacity));
                used.add(capacity.unwrap_or(&Resources::default()));
                count += 1;
            }
            for (resource, value) in used.iter() {
                usage.push((labels(resource), amount(resource, value)));
            }
            usage.push((labels("nodes"), f64::from(count)));
        }
        metrics.set_all("nodepools_limit", limits);
        metrics.set_all("nodepools_usage", usage);
    }

    fn pods(&self, metrics: &Metrics) {
        let mut all = Vec::with_capacity(self.world.pods.len());
        let mut of_node = std::collections::BTreeMap::new();
        for state in &self.nodes {
            of_node.extend(state.node.map(|n| (n.meta.name.as_str(), state)));
        }
        for pod in &self.world.pods {
            let node = pod.node_name.as_deref().and_then(|n| of_node.get(n));
            let label = |key: &str| node.and_then(|n| n.labels().get(key)).map_or("", String::as_str);
            let is_ready = pod.conditions.iter().any(|c| c.kind == "Ready" && c.status == "True");
            let owner = pod.owner.as_ref().map(|o| format!("{}/{}", o.kind, o.name)).unwrap_or_default();
            let phase = format!("{:?}", pod.phase);
            let labels = [
                ("name", pod.name.as_str()),
                ("namespace", &pod.namespace),
                ("owner", &owner),
                ("node", pod.node_name.as_deref().unwrap_or_default()),
                ("scheduled", if pod.node_name.is_some() { "true" } else { "false" }),
                ("nodepool", label(labels::NODEPOOL)),
                ("zone", label(labels::ZONE)),
                ("arch", label(labels::ARCH)),
                ("capacity_type", label(labels::CAPACITY_TYPE)),
                ("instance_type", label(labels::INSTANCE_TYPE)),
                ("phase", &phase),
                ("ready", if is_ready { "true" } else { "false" }),
                ("managed", if node.is_some_and(|n| n.is_managed()) { "true" } else { "false" }),
            ];
            all.push((super::owned(&labels), 1.0));
        }
        metrics.set_all("pods_state", all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millwright_models::reader::{self, Document, ReadOptions};

    #[test]
    fn a_cluster_shows_in_its_gauges() {
        let text = r"
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  limits: {cpu: 100}
  template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {karpenter.sh/nodepool: default, topology.kubernetes.io/zone: a}, creationTimestamp: '2026-05-01T10:00:00Z'}
status:
  capacity: {cpu: 4, memory: 8Gi}
  allocatable: {cpu: 3900m, memory: 7Gi}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: web}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1950m}}}]}
status: {phase: Running}
";
        let document = Document { file: "test".to_owned(), text: text.to_owned() };
        let world = reader::read(&[document], &ReadOptions::default()).unwrap();
        let metrics = Metrics::default();
        Snapshot::new(&world, "2026-05-01T10:01:00Z".parse().unwrap()).publish(&metrics);
        let text = metrics.text().unwrap();
        let value = |name: &str, labels: &[&str]| {
            let mut lines = text.lines().filter(|l| l.starts_with(&format!("karpenter_{name}{{")));
            let line = lines.find(|l| labels.iter().all(|x| l.contains(x)));
            line.and_then(|l| l.rsplit(' ').next()).map(|v| v.parse::<f64>().unwrap())
        };
        assert_eq!(
            value("nodes_allocatable", &[r#"node_name="n1""#, r#"zone="a""#, r#"resource_type="cpu""#]),
            Some(3.9)
        );
        assert_eq!(value("nodes_total_pod_requests", &[r#"resource_type="cpu""#]), Some(1.95));
        assert_eq!(value("cluster_utilization_percent", &[r#"resource_type="cpu""#]), Some(50.0));
        assert_eq!(value("nodepools_limit", &[r#"nodepool="default""#, r#"resource_type="cpu""#]), Some(100.0));
        assert_eq!(value("nodepools_usage", &[r#"resource_type="nodes""#]), Some(1.0));
        assert_eq!(value("nodes_current_lifetime_seconds", &[]), Some(60.0));
        assert_eq!(value("pods_state", &[r#"name="p""#, r#"phase="Running""#, r#"scheduled="true""#]), Some(1.0));
    }
}
