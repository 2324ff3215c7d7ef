//! Machines and claims match.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::{Broken, Invariants};
use crate::json;
use crate::server::Kind;
use crate::stage::Stage;

/// A machine that no claim stands for is found within this time: it must be
/// 30 s old, and orphans are looked for every two minutes.
const FOUND_WITHIN: SignedDuration = SignedDuration::from_mins(5);

impl Invariants {
    /// No machine without claim for long, none twice per claim.
    pub(super) fn machines(&mut self, stage: &Stage, now: Timestamp) -> Option<Broken> {
        let claims: BTreeSet<&str> = stage.server.all(Kind::NodeClaim).map(|(_, c)| json::uid(c)).collect();
        let mut of_claim: BTreeMap<&str, &str> = BTreeMap::new();
        let up: Vec<_> = stage.provider.machines().filter(|m| m.is_up()).collect();
        self.unowned.retain(|id, _| up.iter().any(|m| m.id == *id && !claims.contains(m.token.as_str())));
        for machine in up {
            if let Some(other) = of_claim.insert(&machine.claim, &machine.id) {
                let both = format!("{other} and {} are both for NodeClaim {}", machine.id, machine.claim);
                return Some(("one machine per claim", both));
            }
            if claims.contains(machine.token.as_str()) {
                continue;
            }
            let since = *self.unowned.entry(machine.id.clone()).or_insert(now);
            if self.reacting(since, now) > FOUND_WITHIN {
                let text = format!("{} has run without its NodeClaim {} since {since}", machine.id, machine.claim);
                return Some(("no machine without claim", text));
            }
        }
        None
    }
}
