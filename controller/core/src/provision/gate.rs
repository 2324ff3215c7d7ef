//! Whether the state of the cluster is known well enough to act on it.
//! (spec 20 §1.3)

use std::collections::BTreeSet;

/// What the API server has, and what is tracked in memory.
#[derive(Clone, Debug, Default)]
pub struct Sight<'a> {
    /// Tracked claims, with their provider ids, empty if not launched yet.
    pub claims: Vec<(&'a str, &'a str)>,
    /// Tracked nodes.
    pub nodes: BTreeSet<&'a str>,
    /// Managed claims in the API.
    pub api_claims: BTreeSet<&'a str>,
    /// Nodes in the API.
    pub api_nodes: BTreeSet<&'a str>,
}

/// Opens once everything in the API was seen; from then on only claims that
/// are not launched close it.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    opened: bool,
}

/// Why no pass may start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsynced {
    #[error("NodeClaims that are not launched: {}", .0.join(", "))]
    Unlaunched(Vec<String>),
    #[error("NodeClaims not seen yet: {}", .0.join(", "))]
    Claims(Vec<String>),
    #[error("nodes not seen yet: {}", .0.join(", "))]
    Nodes(Vec<String>),
}

impl Gate {
    /// Whether a pass may start.
    pub fn look(&mut self, sight: &Sight<'_>) -> Result<(), Unsynced> {
        let names = |all: Vec<&str>| -> Vec<String> { all.into_iter().map(str::to_owned).collect() };
        let waiting: Vec<&str> = sight.claims.iter().filter(|(_, id)| id.is_empty()).map(|(name, _)| *name).collect();
        if !waiting.is_empty() {
            return Err(Unsynced::Unlaunched(names(waiting)));
        }
        if !self.opened {
            let tracked: BTreeSet<&str> = sight.claims.iter().map(|(name, _)| *name).collect();
            let claims: Vec<&str> = sight.api_claims.difference(&tracked).copied().collect();
            if !claims.is_empty() {
                return Err(Unsynced::Claims(names(claims)));
            }
            let nodes: Vec<&str> = sight.api_nodes.difference(&sight.nodes).copied().collect();
            if !nodes.is_empty() {
                return Err(Unsynced::Nodes(names(nodes)));
            }
            self.opened = true;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sch_006_claims_that_are_not_launched_keep_it_shut() {
        let mut gate = Gate::default();
        let mut sight = Sight { claims: vec![("c", "")], api_claims: ["c"].into(), ..Sight::default() };
        assert_eq!(gate.look(&sight), Err(Unsynced::Unlaunched(vec!["c".to_owned()])));
        sight.claims = vec![("c", "aws:///i-1")];
        assert_eq!(gate.look(&sight), Ok(()));
        sight.claims.push(("d", ""));
        assert!(gate.look(&sight).is_err(), "also later");
        sight.claims.pop();
        assert_eq!(gate.look(&sight), Ok(()), "deleted");
    }

    #[test]
    fn sch_007_at_first_every_node_must_be_known() {
        let mut gate = Gate::default();
        let mut sight = Sight { api_nodes: ["a", "b", "c", "d"].into(), ..Sight::default() };
        sight.nodes = ["a", "b", "c"].into();
        assert_eq!(gate.look(&sight), Err(Unsynced::Nodes(vec!["d".to_owned()])));
        sight.nodes.insert("d");
        assert_eq!(gate.look(&sight), Ok(()));
        sight.nodes.remove("d");
        assert_eq!(gate.look(&sight), Ok(()), "only at first");
    }
}
