//! Claims opened in this pass.

use std::collections::BTreeSet;

use super::bits::Bits;
use super::book::ReqId;
use super::order;
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

/// Claims in the order in which they are tried: those with the fewest pods
/// come first.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    list: Vec<u32>,
    /// Pods per claim.
    pods: Vec<u32>,
    sorted: bool,
}

impl Ranks {
    /// Adds the next claim, with one pod.
    pub fn open(&mut self) {
        self.list.push(self.pods.len() as u32);
        self.pods.push(1);
        self.sorted = false;
    }

    /// `claim` has one pod more.
    pub fn promote(&mut self, claim: usize) {
        self.pods[claim] += 1;
        self.sorted = false;
    }

    /// The claims in order, lent until [`Ranks::give_back`].
    pub fn take(&mut self) -> Vec<u32> {
        if !self.sorted {
            order::sort(&mut self.list, &self.pods);
            self.sorted = true;
        }
        std::mem::take(&mut self.list)
    }

    pub fn give_back(&mut self, list: Vec<u32>) {
        self.list = list;
    }
}
