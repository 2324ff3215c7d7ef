//! Claims opened in this pass.

use std::collections::BTreeSet;

use super::bits::Bits;
use super::book::ReqId;
use super::port::HostPort;
use super::reserved::ReservationId;
use super::volume::Attached;

/// A machine to be.
#[derive(Debug)]
pub(super) struct Claim {
    /// Place of its template.
    pub template: usize,
    pub req: ReqId,
    /// Number of its (template, requirements).
    pub class: usize,
    /// Types that can still become it.
    pub types: Bits,
    /// Requests of its pods by dimension.
    pub total: Vec<i64>,
    /// The most that some surviving type offers, by dimension.
    pub most: Vec<i64>,
    /// The most that some surviving type has left, by dimension.
    pub room: Vec<i64>,
    pub pods: Vec<usize>,
    pub ports: Vec<HostPort>,
    pub attached: Attached,
    pub held: BTreeSet<ReservationId>,
    pub min_values_relaxed: bool,
}

/// Claims by number of pods: those with the fewest come first.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    by_pods: Vec<Bits>,
    sizes: Vec<usize>,
}

impl Ranks {
    pub fn insert(&mut self, claim: usize, pods: usize) {
        if pods >= self.by_pods.len() {
            self.by_pods.resize_with(pods + 1, Bits::default);
            self.sizes.resize(pods + 1, 0);
        }
        self.by_pods[pods].set(claim);
        self.sizes[pods] += 1;
    }

    /// `claim` had `pods` pods and has one more now.
    pub fn promote(&mut self, claim: usize, pods: usize) {
        self.by_pods[pods].clear(claim);
        self.sizes[pods] -= 1;
        self.insert(claim, pods + 1);
    }

    /// Number of ranks.
    pub fn len(&self) -> usize {
        self.by_pods.len()
    }

    /// The claims with so many pods, if there are any.
    pub fn rank(&self, pods: usize) -> Option<&Bits> {
        (self.sizes[pods] > 0).then(|| &self.by_pods[pods])
    }
}
