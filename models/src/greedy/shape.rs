//! Pods that are alike, and what they become as they give up preferences.

use std::sync::Arc;

use super::book::ReqId;
use super::constraints::Constraints;
use super::port::HostPort;
use super::taint::TolerationsId;
use super::topology::{GroupId, Owned};
use super::volume::{Attached, PodVolumes};
use crate::kube::meta::Labels;
use crate::requirements::{Requirement, Requirements};

/// Number of a vector of requests.
pub(super) type DemandId = usize;

/// Pods that are alike in everything that is looked at.
#[derive(Debug)]
pub(super) struct Shape {
    pub namespace: String,
    pub labels: Arc<Labels>,
    pub demand: DemandId,
    pub ports: Vec<HostPort>,
    /// Where the volumes can be reached: any of these; empty: anywhere.
    pub alternatives: Vec<Alternative>,
    pub attached: Attached,
    /// Ever more relaxed; the first is the original.
    pub variants: Vec<Variant>,
    /// Ordinary groups that count the pod.
    pub selected_by: Vec<GroupId>,
    /// Inverse groups whose owners keep away from the pod.
    pub repelled_by: Vec<GroupId>,
    /// They run, and only what is imagined moves them.
    pub moves: bool,
    /// Why such pods are not tried at all.
    pub refused: Option<String>,
}

/// A shape at one step of relaxation.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    /// With the heaviest preference; hostname apart.
    pub full: ReqId,
    pub full_host: Option<Requirement>,
    /// Without preferences.
    pub strict: ReqId,
    pub strict_host: Option<Requirement>,
    pub tolerations: TolerationsId,
    pub owned: Vec<Owned>,
    /// Inverse groups that the pod owns.
    pub repels: Vec<GroupId>,
}

/// One way to reach the volumes.
#[derive(Clone, Debug)]
pub(super) struct Alternative {
    pub req: ReqId,
    pub host: Option<Requirement>,
}

/// A shape before the groups are known.
#[derive(Debug)]
pub(super) struct Draft {
    pub namespace: String,
    pub labels: Arc<Labels>,
    pub demand: DemandId,
    pub ports: Vec<HostPort>,
    pub volumes: PodVolumes,
    /// The original and what relaxation makes of it, step by step.
    pub chain: Vec<Constraints>,
    pub moves: bool,
    pub refused: Option<String>,
}

impl Draft {
    /// Every requirement set that may be held against a node's labels.
    pub fn sets(&self) -> impl Iterator<Item = Requirements> + '_ {
        let selectors = self.chain.first().into_iter().flat_map(Constraints::sets);
        selectors.chain(self.volumes.alternatives.iter().cloned())
    }
}
