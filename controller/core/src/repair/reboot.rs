//! A reboot from its request to its end. (spec 30 §20.3)

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

/// Reboots of a claim within [`DAY`]; after that it is replaced.
pub const MOST: usize = 2;
const DAY: SignedDuration = SignedDuration::from_hours(24);
/// A drain that has nothing to do still waits so long, and so does one whose
/// bound is shorter.
const SHORTEST: SignedDuration = SignedDuration::from_secs(5);
/// The provider is asked again for so long.
const ISSUE: SignedDuration = SignedDuration::from_mins(5);
/// A machine is back within this time, or it is given up.
const RECOVERY: SignedDuration = SignedDuration::from_mins(20);

/// Reboots that were committed, by the uid of the claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger(BTreeMap<String, Vec<Timestamp>>);

impl Ledger {
    /// Notes a reboot, whatever comes of it.
    pub fn commit(&mut self, uid: &str, now: Timestamp) {
        let mine = self.0.entry(uid.to_owned()).or_default();
        mine.retain(|at| now.duration_since(*at) < DAY);
        mine.push(now);
    }

    /// Those of the last day.
    pub fn lately(&self, uid: &str, now: Timestamp) -> usize {
        self.0.get(uid).map_or(0, |all| all.iter().filter(|at| now.duration_since(**at) < DAY).count())
    }
}

/// What is known of a reboot under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen<'a> {
    /// When it was asked for.
    pub requested: Timestamp,
    /// The bound as its annotation says it, read or not.
    pub bound: Option<Result<SignedDuration, ()>>,
    /// Pods still have to leave.
    pub draining: bool,
    /// The provider was first asked then.
    pub tried: Option<Timestamp>,
    /// The provider's last word was that it never will.
    pub refused: bool,
    /// The condition says that it was issued, since then.
    pub issued: Option<Timestamp>,
    /// Boot IDs, the one noted before and the one of the node, if there is one.
    pub before: Option<&'a str>,
    pub boot: Option<&'a str>,
    pub ready: bool,
}

/// The next thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reboot {
    /// Evict what may be evicted, look again.
    Drain,
    /// Ask the provider.
    Issue,
    /// The machine restarted already: note that it was issued.
    Issued,
    /// Wait for it to come back; the fence goes with the new boot ID.
    Observe {
        fenced: bool,
    },
    Succeeded,
    /// Over without success; the claim goes, but for a request that cannot be
    /// read, which leaves the node alone.
    Failed {
        result: &'static str,
        replace: bool,
    },
}

/// Decides one step at `now`.
pub fn reboot(seen: &Seen<'_>, now: Timestamp) -> Reboot {
    let past = |from: Timestamp, span: SignedDuration| now.duration_since(from) >= span;
    let failed = |result| Reboot::Failed { result, replace: true };
    if let Some(issued) = seen.issued {
        let restarted = matches!((seen.before, seen.boot), (Some(a), Some(b)) if a != b);
        return match () {
            () if restarted && seen.ready => Reboot::Succeeded,
            () if past(issued, RECOVERY) => failed("recovery_timeout"),
            () => Reboot::Observe { fenced: !restarted },
        };
    }
    let bound = match seen.bound {
        Some(Err(())) => return Reboot::Failed { result: "invalid_request", replace: false },
        Some(Ok(bound)) if bound.is_negative() => {
            return Reboot::Failed { result: "invalid_request", replace: false };
        }
        Some(Ok(bound)) => Some(bound),
        None => None,
    };
    if seen.refused {
        return failed("provider_error");
    }
    if past(seen.tried.unwrap_or(seen.requested), ISSUE) && (seen.tried.is_some() || seen.boot.is_none()) {
        return failed("provider_error");
    }
    if matches!((seen.before, seen.boot), (Some(a), Some(b)) if a != b) {
        return Reboot::Issued;
    }
    if bound == Some(SignedDuration::ZERO) || seen.tried.is_some() {
        return Reboot::Issue;
    }
    let over = bound.is_some_and(|b| past(seen.requested, b.max(SHORTEST)));
    let idle = !seen.draining && past(seen.requested, SHORTEST);
    if over || idle { Reboot::Issue } else { Reboot::Drain }
}
