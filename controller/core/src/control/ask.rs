//! What the controller asks of the API server and the provider, and the
//! answers.

use std::fmt;

use jiff::Timestamp;
use serde_json::Value;

/// Kinds that are written, with where the API server keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Pod,
    Node,
    NodeClaim,
    NodePool,
    NodeClass,
    CapacityBuffer,
}

impl Kind {
    pub fn api_version(self) -> &'static str {
        match self {
            Self::Pod | Self::Node => "v1",
            Self::NodeClaim | Self::NodePool => "karpenter.sh/v1",
            Self::NodeClass => "karpenter.k8s.aws/v1",
            Self::CapacityBuffer => "autoscaling.x-k8s.io/v1beta1",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Pod => "Pod",
            Self::Node => "Node",
            Self::NodeClaim => "NodeClaim",
            Self::NodePool => "NodePool",
            Self::NodeClass => "EC2NodeClass",
            Self::CapacityBuffer => "CapacityBuffer",
        }
    }

    pub fn plural(self) -> &'static str {
        match self {
            Self::Pod => "pods",
            Self::Node => "nodes",
            Self::NodeClaim => "nodeclaims",
            Self::NodePool => "nodepools",
            Self::NodeClass => "ec2nodeclasses",
            Self::CapacityBuffer => "capacitybuffers",
        }
    }
}

/// An object of the API.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    pub kind: Kind,
    /// Empty for objects of no namespace.
    pub namespace: String,
    pub name: String,
}

impl Target {
    pub fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        Self { kind, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    pub fn pod(namespace: &str, name: &str) -> Self {
        Self::new(Kind::Pod, namespace, name)
    }

    pub fn node(name: &str) -> Self {
        Self::new(Kind::Node, "", name)
    }

    pub fn claim(name: &str) -> Self {
        Self::new(Kind::NodeClaim, "", name)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "" => write!(f, "{} {}", self.kind.name(), self.name),
            namespace => write!(f, "{} {namespace}/{}", self.kind.name(), self.name),
        }
    }
}

/// Names a request in its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Something to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Makes an object of this name. Answers: [`Reply::Object`],
    /// [`Refusal::Conflict`] where one exists.
    Create { target: Target, object: Value },
    /// A merge patch (RFC 7386). With `metadata.resourceVersion` in the body it
    /// holds only for that version, else [`Refusal::Conflict`].
    Patch { target: Target, status: bool, body: Value },
    /// Deletes exactly the object of this uid.
    Delete { target: Target, uid: String, grace_seconds: Option<i64> },
    /// `pods/binding`.
    Bind { pod: Target, uid: String, node: String },
    /// `pods/eviction` of exactly this pod.
    Evict { pod: Target, uid: String },
    /// An event about an object.
    Event(Event),
    /// Buys a machine for a NodeClaim (the object as the API has it). Must be
    /// safe to repeat: the claim's uid is the client token. Answers:
    /// [`Reply::Launched`].
    Launch { claim: String, uid: String, object: Value },
    /// Ends a machine. Answers [`Reply::Done`] while it ends,
    /// [`Refusal::NotFound`] once it is gone.
    Terminate { claim: String, provider_id: String },
    /// Whether a machine exists: [`Reply::Instances`] with one, or
    /// [`Refusal::NotFound`].
    Describe { claim: String, provider_id: String },
    /// All machines of this cluster.
    Instances,
    /// Lists the pods that are bound to a node as they are now, not as a watch
    /// has told. Answered by [`Reply::Done`] once the snapshot holds them.
    Refresh { node: String },
}

impl Ask {
    /// The object that no second request may touch before this one is
    /// answered.
    pub fn key(&self) -> Option<Target> {
        match self {
            Self::Create { target, .. } | Self::Patch { target, .. } | Self::Delete { target, .. } => {
                Some(target.clone())
            }
            Self::Bind { pod, .. } | Self::Evict { pod, .. } => Some(pod.clone()),
            Self::Launch { claim, .. } | Self::Terminate { claim, .. } | Self::Describe { claim, .. } => {
                Some(Target::claim(claim))
            }
            Self::Event(_) | Self::Instances | Self::Refresh { .. } => None,
        }
    }
}

/// An event, as `kubectl get events` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub about: Target,
    pub uid: String,
    pub warning: bool,
    pub reason: &'static str,
    pub message: String,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instance {
    pub provider_id: String,
    pub image_id: String,
    /// The NodeClaim it was bought for, as its tags say.
    pub claim: String,
    pub created: Option<Timestamp>,
    /// On its way out.
    pub terminating: bool,
    /// Labels that the machine decides (type, zone, capacity type, …).
    pub labels: millwright_models::kube::meta::Labels,
    pub annotations: millwright_models::kube::meta::Labels,
    /// As written in the status of a NodeClaim.
    pub capacity: Value,
    pub allocatable: Value,
}

/// The answer to an [`Ask`].
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "an answer lives until it is taken in")]
pub enum Reply {
    /// The object as it is stored now. Whoever carries out requests must put
    /// it into the snapshot before the next look.
    Object(Value),
    Done,
    Launched(Instance),
    Instances(Vec<Instance>),
    Refused(Refusal),
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("not found")]
    NotFound,
    /// Another version, another uid, or the name is taken.
    #[error("conflict")]
    Conflict,
    /// 429: a PodDisruptionBudget holds the pod.
    #[error("{message}")]
    Budget { message: String },
    /// 500: more than one PodDisruptionBudget holds the pod.
    #[error("{message}")]
    Budgets { message: String },
    /// The API server finds the object wrong: repeating changes nothing.
    #[error("refused: {message}")]
    Invalid { message: String },
    /// No machine of the wanted kind is to be had.
    #[error("insufficient capacity: {message}")]
    InsufficientCapacity { message: String },
    #[error("the node class is not ready: {message}")]
    NodeClassNotReady { message: String },
    /// A launch failed for a reason the provider names.
    #[error("{reason}: {message}")]
    Create { reason: String, message: String },
    /// No answer, throttled, or an error of the server: try again.
    #[error("{message}")]
    Unavailable { message: String },
}
