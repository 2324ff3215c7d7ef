use millwright_models::kube::pod::Phase;
use millwright_models::lift::{Lifted, PlannedNode};
use millwright_models::world::World;

/// Where a pod is or goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// On a node, and it stays there.
    Runs { node: String },
    /// On a node that is bought.
    NewNode(Box<PlannedNode>),
    /// On a node that exists, or a claim in flight.
    Existing { node: String },
    /// Nowhere.
    Pending,
    /// It ran to its end.
    Ended(Phase),
    /// It is being deleted.
    Deleted,
    /// Scheduling gates hold it.
    Gated { gates: Vec<String> },
    /// It comes with its node.
    Daemon,
    /// A kubelet runs it from a file.
    Static,
}

impl Whereabouts {
    pub(super) fn of(world: &World, lifted: &Lifted, index: usize) -> Self {
        let pod = &world.pods[index];
        if let Some(node) = lifted.nodes.iter().find(|n| n.pods.contains(&index)) {
            return Self::NewNode(Box::new(node.clone()));
        }
        if let Some((node, _)) = lifted.existing.iter().find(|(_, pods)| pods.contains(&index)) {
            return Self::Existing { node: node.clone() };
        }
        if lifted.unscheduled.iter().any(|(p, _)| *p == index) {
            return Self::Pending;
        }
        match &pod.node_name {
            _ if pod.is_terminal() => Self::Ended(pod.phase),
            Some(node) => Self::Runs { node: node.clone() },
            None if pod.deleted.is_some() => Self::Deleted,
            None if pod.is_daemon() => Self::Daemon,
            None if pod.is_static => Self::Static,
            None if !pod.spec.scheduling_gates.is_empty() => {
                Self::Gated { gates: pod.spec.scheduling_gates.iter().map(|g| g.name.clone()).collect() }
            }
            None => Self::Pending,
        }
    }

    /// One word for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Runs { .. } => "running",
            Self::NewNode(_) | Self::Existing { .. } => "planned",
            Self::Pending => "pending",
            Self::Ended(_) => "ended",
            Self::Deleted => "deleted",
            Self::Gated { .. } => "gated",
            Self::Daemon => "daemon",
            Self::Static => "static",
        }
    }

    /// A sentence about the pod.
    pub fn sentence(&self, pod: &str) -> String {
        match self {
            Self::Runs { node } => format!("{pod} is not pending: it runs on node {node}"),
            Self::NewNode(n) => format!(
                "{pod} is not pending: planned onto new node {} in {}, {}, of NodePool {}",
                n.instance_type, n.zone, n.capacity_type, n.pool
            ),
            Self::Existing { node } => format!("{pod} is not pending: planned onto node {node}"),
            Self::Pending => format!("{pod} stays pending"),
            Self::Ended(phase) => format!("{pod} is not pending: it has ended ({phase:?})"),
            Self::Deleted => format!("{pod} is not planned: it is being deleted"),
            Self::Gated { gates } => format!("{pod} is not planned: scheduling gates hold it ({})", gates.join(", ")),
            Self::Daemon => format!("{pod} is not planned: the pods of a DaemonSet come with their nodes"),
            Self::Static => format!("{pod} is not planned: a kubelet runs it from a file"),
        }
    }
}
