//! Counts per host, in a form that rules out many hosts at a time.

use super::super::bits::Bits;
use super::{Host, Kind};

/// Pods counted per existing node and per claim.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    pub nodes: Side,
    pub claims: Side,
    /// Pods on nodes that are no targets.
    pub elsewhere: i64,
    pub total: i64,
}

/// One kind of host.
#[derive(Debug, Default)]
pub(super) struct Side {
    counts: Vec<i64>,
    /// Count at least 1.
    pub some: Bits,
    /// Count at least maxSkew: no room for a pod that counts itself.
    pub full: Bits,
    /// Count above maxSkew.
    over: Bits,
}

impl Hosts {
    pub fn add(&mut self, host: Host<'_>, kind: Kind) {
        self.total += 1;
        match host {
            Host::Node(i, _) => self.nodes.add(i, kind),
            Host::Claim(i) => self.claims.add(i, kind),
            Host::Elsewhere(_) => self.elsewhere += 1,
        }
    }
}

impl Side {
    fn add(&mut self, i: usize, kind: Kind) {
        if i >= self.counts.len() {
            self.counts.resize(i + 1, 0);
        }
        self.counts[i] += 1;
        self.some.set(i);
        if let Kind::Spread { max_skew } = kind {
            if self.counts[i] >= max_skew {
                self.full.set(i);
            }
            if self.counts[i] > max_skew {
                self.over.set(i);
            }
        }
    }

    /// Pods counted on host `i`.
    #[cfg(test)]
    pub fn count(&self, i: usize) -> i64 {
        self.counts.get(i).copied().unwrap_or(0)
    }

    /// Adds to `reject` each of the `n` hosts that a pod may not join.
    pub fn reject(&self, kind: Kind, itself: bool, bootstrap: bool, reject: &mut Bits, n: usize) {
        match kind {
            Kind::Spread { .. } => reject.or(if itself { &self.full } else { &self.over }),
            Kind::AntiAffinity => reject.or(&self.some),
            Kind::Affinity if bootstrap => {}
            Kind::Affinity => reject.or_not(&self.some, n),
        }
    }
}
