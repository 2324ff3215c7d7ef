//! Rules that judge a move as a whole, once it is known.

use std::collections::BTreeMap;

use millwright_models::karpenter::labels::SPOT;
use millwright_models::lift::Lifted;

use super::moves::Part;
use super::terms::Terms;
use crate::balanced;
use crate::budgets::Reason;

/// Nodes that must stay after all, and why: those of parts that a Balanced
/// pool rejects, or that replace spot by spot while that is switched off.
pub fn rejected(terms: &Terms<'_>, lifted: &Lifted, parts: &[Part], spot_to_spot: bool) -> BTreeMap<String, String> {
    let mut held = BTreeMap::new();
    for part in parts {
        if let Some(why) = unbalanced(terms, part).or_else(|| spot(terms, lifted, part, spot_to_spot)) {
            let may_stay = |n: &&String| !is_forced(terms, n);
            held.extend(part.removed.iter().filter(may_stay).map(|name| (name.clone(), why.clone())));
        }
    }
    held
}

/// Whether some part replaces spot nodes by spot nodes alone.
pub fn has_spot_to_spot(terms: &Terms<'_>, lifted: &Lifted, parts: &[Part]) -> bool {
    parts.iter().any(|p| spot(terms, lifted, p, false).is_some())
}

fn is_forced(terms: &Terms<'_>, name: &str) -> bool {
    terms.removals.nodes.get(name).is_some_and(|t| t.forced)
}

fn unbalanced(terms: &Terms<'_>, part: &Part) -> Option<String> {
    let leavers: Vec<_> = part.removed.iter().filter_map(|n| terms.leavers.get(n.as_str())).collect();
    // Emptiness and drift never score.
    if leavers.iter().any(|l| l.reason != Reason::Underutilized) {
        return None;
    }
    let scored: Vec<balanced::Part<'_>> = leavers
        .iter()
        .filter_map(|l| {
            let c = &l.candidate;
            Some(balanced::Part { pool: c.pool?, price: c.price, rescheduling: c.rescheduling })
        })
        .collect();
    if scored.is_empty() {
        return None;
    }
    let scores = balanced::scores(&scored, part.savings as f64, &terms.totals);
    let bad = scores.iter().find(|s| !s.approved())?;
    Some(format!(
        "the policy Balanced of NodePool {} rejects its move: {:.1} % of the pool's cost for {:.1} % of its \
         disruption, a score of {:.2} below {:.2}",
        bad.pool,
        bad.savings_fraction * 100.0,
        bad.disruption_fraction * 100.0,
        bad.score,
        1.0 / balanced::K
    ))
}

fn spot(terms: &Terms<'_>, lifted: &Lifted, part: &Part, allowed: bool) -> Option<String> {
    let was_spot = |n: &String| terms.leavers.get(n.as_str()).is_some_and(|l| l.candidate.capacity_type == Some(SPOT));
    // Drift replaces like by like.
    let all_spot = part.removed.iter().all(was_spot) && !part.removed.iter().all(|n| is_forced(terms, n));
    let buys_spot = part.added.iter().any(|a| lifted.nodes[*a].capacity_type == SPOT);
    (!allowed && all_spot && buys_spot && !part.serves_pending).then(|| {
        "only other spot nodes would be cheaper, and the feature gate SpotToSpotConsolidation is off".to_owned()
    })
}
