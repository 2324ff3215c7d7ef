use crate::pods::Shield;

/// Why a node is no candidate, in the words of its event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exclusion {
    #[error("it is being disrupted already")]
    Queued,
    #[error("no NodePool manages it (it has no NodeClaim)")]
    Unmanaged,
    #[error("its NodeClaim has no node yet")]
    NoNode,
    #[error("it is rebooting")]
    Rebooting,
    #[error("it is being deleted or marked for deletion")]
    Leaving,
    #[error("it is not initialized{}", if *registered { "" } else { " nor registered" })]
    Uninitialized { registered: bool },
    #[error("it is nominated for a pending pod")]
    Nominated,
    #[error("the node has the annotation karpenter.sh/do-not-disrupt")]
    DoNotDisrupt,
    #[error("it lacks the label karpenter.sh/nodepool")]
    NoPoolLabel,
    #[error("its NodePool {0} does not exist")]
    NoPool(String),
    #[error("the instance types of its NodePool {pool} are not known: {why}")]
    NoTypes { pool: String, why: String },
    #[error("pod {pod} has the annotation karpenter.sh/do-not-disrupt{}", until(*shield))]
    PodShield { pod: String, shield: Shield },
    #[error("PodDisruptionBudget {pdb} allows no eviction (pod {pod})")]
    Pdb { pod: String, pdb: String },
    #[error("several PodDisruptionBudgets cover pod {pod}, which the eviction API refuses: {}", pdbs.join(", "))]
    SeveralPdbs { pod: String, pdbs: Vec<String> },
}

fn until(shield: Shield) -> String {
    match shield {
        Shield::Until(end) => format!(", until {end}"),
        _ => String::new(),
    }
}

impl Exclusion {
    /// Whether an event `DisruptionBlocked` tells it.
    pub fn has_event(&self) -> bool {
        !matches!(self, Self::Queued | Self::Unmanaged)
    }
}
