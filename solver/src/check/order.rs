//! Orders of arrival under a spread.

/// One domain of a spread: what is there and what arrives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrivals {
    /// Counted pods there before.
    pub running: u64,
    /// Carriers of the rule that it also counts.
    pub owners: u64,
    /// Carriers that are counted for themselves as they arrive but never
    /// after: they land outside the scope.
    pub passing: u64,
    /// Carriers that the rule does not select.
    pub guests: u64,
    /// Counted pods that do not carry the rule and may arrive at any time.
    pub free: u64,
    /// Whether the minimum is taken over it.
    pub eligible: bool,
}

/// How many carriers cannot arrive whatever the order.
///
/// Greedy is exact here: carriers only get harder to place as their own
/// domain fills, a carrier in a domain at the minimum is always legal, and so
/// the minimum can only be stuck where free pods alone can lift it. `floor`
/// fixes the minimum at 0.
pub(super) fn stranded(mut domains: Vec<Arrivals>, max_skew: u64, floor: bool) -> u64 {
    loop {
        let minimum =
            if floor { 0 } else { domains.iter().filter(|d| d.eligible).map(|d| d.running).min().unwrap_or(0) };
        for d in &mut domains {
            if d.running <= minimum + max_skew {
                d.guests = 0;
            }
            if d.running < minimum + max_skew {
                d.passing = 0;
                let now = d.owners.min(minimum + max_skew - d.running);
                d.owners -= now;
                d.running += now;
            }
        }
        let left: u64 = domains.iter().map(|d| d.owners + d.guests + d.passing).sum();
        if left == 0 || floor {
            return left;
        }
        let lifted = domains.iter().filter(|d| d.eligible).map(|d| d.running).min().unwrap_or(0);
        if lifted > minimum {
            continue;
        }
        for d in domains.iter_mut().filter(|d| d.eligible && d.running == minimum) {
            if d.free == 0 {
                return left;
            }
            d.free -= 1;
            d.running += 1;
        }
        if !domains.iter().any(|d| d.eligible) {
            return left;
        }
    }
}
