//! Pools of a fixed size. (spec 20 §16)

use std::time::Duration;

/// What a static pool asks for, and what it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub replicas: u64,
    /// `limits.nodes`, if set.
    pub limit: Option<u64>,
    /// Claims that are neither deleting nor about to be disrupted.
    pub active: u64,
    pub deleting: u64,
    pub pending_disruption: u64,
    /// Granted to others and not created yet.
    pub reserved: u64,
}

/// What to do about a pool that may be too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Create so many claims.
    Create(u64),
    /// It is large enough; look again after this.
    Enough(Duration),
    /// Its limit leaves no room; look again after this.
    Limited(Duration),
}

/// How many claims a pool may create now.
pub fn growth(size: Size) -> Growth {
    if size.active + size.pending_disruption >= size.replicas {
        return Growth::Enough(Duration::from_secs(60));
    }
    let missing = size.replicas - size.active;
    match room(size).min(missing) {
        0 => Growth::Limited(Duration::from_secs(30)),
        n => Growth::Create(n),
    }
}

/// How many more nodes the limit lets the pool have for a while.
pub fn room(size: Size) -> u64 {
    let used = size.active + size.deleting + size.pending_disruption + size.reserved;
    size.limit.map_or(u64::MAX, |l| l.saturating_sub(used))
}

/// A claim of a pool that is too large.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    pub name: String,
    pub launched: bool,
    /// No pods, or only those of DaemonSets, none of which asks not to be
    /// disrupted.
    pub empty: bool,
    /// Some pod asks not to be disrupted.
    pub guarded: bool,
    /// What evicting its pods costs, times the part of its life that is left.
    pub cost: f64,
}

/// The claims to delete so that `replicas` stay, in that order.
pub fn surplus(mut members: Vec<Member>, replicas: usize) -> Vec<String> {
    let rank = |m: &Member| match (m.launched, m.empty, m.guarded) {
        (false, ..) => 0,
        (_, true, _) => 1,
        (_, _, false) => 2,
        _ => 3,
    };
    members.sort_by(|a, b| {
        rank(a).cmp(&rank(b)).then_with(|| a.cost.total_cmp(&b.cost)).then_with(|| a.name.cmp(&b.name))
    });
    let over = members.len().saturating_sub(replicas);
    members.into_iter().take(over).map(|m| m.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sch_228_sch_231_missing_claims_are_created() {
        let size = Size { replicas: 3, ..Size::default() };
        assert_eq!(growth(size), Growth::Create(3));
        assert_eq!(growth(Size { active: 3, ..size }), Growth::Enough(Duration::from_secs(60)));
        assert_eq!(growth(Size { active: 2, ..size }), Growth::Create(1), "one was removed by somebody");
        let replaced = Size { active: 2, pending_disruption: 1, ..size };
        assert_eq!(growth(replaced), Growth::Enough(Duration::from_secs(60)), "disruption brings its own");
    }

    #[test]
    fn sch_229_a_limit_on_nodes_holds() {
        let size = Size { replicas: 5, limit: Some(4), ..Size::default() };
        assert_eq!(growth(size), Growth::Create(4));
        assert_eq!(growth(Size { active: 4, ..size }), Growth::Limited(Duration::from_secs(30)));
        assert_eq!(growth(Size { active: 4, limit: Some(6), ..size }), Growth::Create(1));
        assert_eq!(growth(Size { active: 3, deleting: 1, ..size }), Growth::Limited(Duration::from_secs(30)));
        assert_eq!(growth(Size { active: 1, reserved: 2, ..size }), Growth::Create(1));
    }

    #[test]
    fn sch_230_unlaunched_and_empty_claims_go_first() {
        let member = |name: &str, launched, empty, guarded, cost| Member {
            name: name.to_owned(),
            launched,
            empty,
            guarded,
            cost,
        };
        let all = vec![
            member("busy-a", true, false, false, 5.0),
            member("unlaunched", false, false, false, 0.0),
            member("busy-b", true, false, false, 3.0),
            member("empty", true, true, false, 0.0),
        ];
        assert_eq!(surplus(all.clone(), 2), ["unlaunched", "empty"]);
        assert_eq!(surplus(all.clone(), 1), ["unlaunched", "empty", "busy-b"]);
        assert!(surplus(all.clone(), 4).is_empty());
        let mut guarded = all;
        guarded[2].guarded = true;
        assert_eq!(surplus(guarded, 1), ["unlaunched", "empty", "busy-a"]);
    }
}
