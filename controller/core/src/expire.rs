//! Claims that have reached the end of their life. (spec 30 §21)

use jiff::Timestamp;
use millwright_models::karpenter::nodeclaim::NodeClaim;

use crate::duration;

/// When the claim is to be deleted; none if it never expires.
pub fn expiry(claim: &NodeClaim) -> Option<Timestamp> {
    let life = claim.expire_after.as_deref().and_then(duration::parse)?;
    claim.meta.creation_timestamp?.checked_add(life).ok()
}

/// Whether the claim is to be deleted now. Budgets have no say in it.
pub fn is_expired(claim: &NodeClaim, now: Timestamp) -> bool {
    expiry(claim).is_some_and(|end| now >= end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millwright_models::kube::meta::Meta;

    #[test]
    fn a_claim_lives_as_long_as_it_says() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let born = |expire_after: Option<&str>| NodeClaim {
            meta: Meta { creation_timestamp: Some(time("2026-11-01T00:00:00Z")), ..Meta::default() },
            expire_after: expire_after.map(str::to_owned),
            ..NodeClaim::default()
        };
        assert_eq!(expiry(&born(Some("720h"))), Some(time("2026-12-01T00:00:00Z")));
        assert!(is_expired(&born(Some("720h")), time("2026-12-01T00:00:00Z")));
        assert!(!is_expired(&born(Some("720h")), time("2026-11-30T23:59:59Z")));
        assert!(!is_expired(&born(None), time("2096-11-30T23:59:59Z")));
        assert!(!is_expired(&NodeClaim::default(), time("2096-11-30T23:59:59Z")));
    }
}
