//! Small clusters with a plan that fills them.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// What a DaemonSet takes of each node, milli-CPU and MiB.
const AGENT: (u32, u32) = (100, 64);

/// A plan: nodes, and pods each of which belongs on one.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub nodes: Vec<Planned>,
    pub pods: Vec<Pod>,
}

/// A node and when it comes.
#[derive(Clone, Debug)]
pub struct Planned {
    pub name: String,
    /// Milli-CPU and MiB, the DaemonSet's part included.
    pub cpu: u32,
    pub memory: u32,
    /// Milliseconds until it registers, and from then until it is Ready.
    pub registers: u64,
    pub boots: u64,
}

#[derive(Clone, Debug)]
pub struct Pod {
    pub name: String,
    pub node: String,
    pub cpu: u32,
    pub memory: u32,
}

impl Cluster {
    /// 3 to 6 nodes of 2 to 8 CPUs with 2 to 6 pods each; one resource of each
    /// node is filled to 98 to 100 %. No node has room left for a pod of
    /// another: what is released is open to all.
    pub fn of(seed: u64) -> Self {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        loop {
            let cluster = Self::any(&mut dice);
            if cluster.is_closed() {
                return cluster;
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.nodes.iter().all(|node| {
            let (mut cpu, mut memory) = (node.cpu - AGENT.0, node.memory - AGENT.1);
            for pod in self.pods.iter().filter(|p| p.node == node.name) {
                cpu -= pod.cpu;
                memory -= pod.memory;
            }
            self.pods.iter().all(|p| p.node == node.name || p.cpu > cpu || p.memory > memory)
        })
    }

    fn any(dice: &mut ChaCha8Rng) -> Self {
        let (mut nodes, mut pods) = (Vec::new(), Vec::new());
        for i in 0..dice.random_range(3..=6) {
            let cpu = 1000 * [2, 4, 8][dice.random_range(0..3)];
            let memory = cpu / 1000 * 1024 * [2, 4, 8][dice.random_range(0..3)];
            let tight = dice.random_range(980..=1000);
            let loose = dice.random_range(600..=970);
            let (c, m) = if dice.random_range(0..2) == 0 { (tight, loose) } else { (loose, tight) };
            let count = dice.random_range(2..=6);
            let name = format!("planned-{i}");
            let cuts = cut(dice, cpu / 1000 * c, count).into_iter().zip(cut(dice, memory / 1000 * m, count));
            for (k, (cpu, memory)) in cuts.enumerate() {
                pods.push(Pod { name: format!("pod-{i}-{k}"), node: name.clone(), cpu, memory });
            }
            nodes.push(Planned {
                name,
                cpu: cpu + AGENT.0,
                memory: memory + AGENT.1,
                registers: dice.random_range(0..3000),
                boots: dice.random_range(1000..3000),
            });
        }
        Self { nodes, pods }
    }

    /// Names of the pods planned on a node.
    pub fn on(&self, node: &str) -> Vec<String> {
        self.pods.iter().filter(|p| p.node == node).map(|p| p.name.clone()).collect()
    }
}

/// Cuts an amount into parts of different sizes.
fn cut(dice: &mut ChaCha8Rng, amount: u32, parts: u32) -> Vec<u32> {
    let weights: Vec<u32> = (0..parts).map(|_| dice.random_range(10..40)).collect();
    let all: u32 = weights.iter().sum();
    weights.into_iter().map(|w| (u64::from(amount) * u64::from(w) / u64::from(all)) as u32).collect()
}

fn spec(cpu: u32, memory: u32) -> Value {
    json!({"terminationGracePeriodSeconds": 0, "containers": [{"name": "c", "image": "none",
        "resources": {"requests": {"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi")}}}]})
}

impl Pod {
    pub fn object(&self) -> Value {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": self.name, "namespace": "default"},
            "spec": spec(self.cpu, self.memory)})
    }
}

/// Runs on every node.
pub fn daemon_set() -> Value {
    let labels = json!({"daemon": "agent"});
    json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec(AGENT.0, AGENT.1)}}})
}
