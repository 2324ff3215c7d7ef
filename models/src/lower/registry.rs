//! The rules in force, each once, with who carries them and who runs already.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use millwright_solver::instance::{Key, Rule, RuleKind, Scope, Spread};

use crate::karpenter::labels;

/// Identity of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RuleId {
    /// Selector, key, parameters, where it counts and which domains are
    /// eligible beside.
    Spread {
        selector: usize,
        key: String,
        max_skew: u32,
        min_domains: u32,
        scope: Scope,
        eligible: BTreeSet<String>,
    },
    Anti {
        selector: usize,
        key: String,
    },
    Affinity {
        selector: usize,
        key: String,
    },
    /// Position among the port rules.
    Port(usize),
}

/// Who takes part in a rule; classes by position.
#[derive(Clone, Debug, Default)]
pub struct Parties {
    pub owners: BTreeSet<usize>,
    pub selected: BTreeSet<usize>,
    pub present: BTreeMap<usize, u32>,
    pub present_owners: BTreeMap<usize, u32>,
}

/// All rules, in the order they were first met.
#[derive(Default)]
pub struct Registry {
    pub rules: IndexMap<RuleId, Parties>,
}

/// Domain keys in force, and the values of each in sorted order.
pub struct Domains {
    pub keys: Vec<String>,
    pub values: Vec<Vec<String>>,
}

impl RuleId {
    /// The label key it divides by; `None` is the node itself.
    pub fn key(&self) -> Option<&str> {
        let key = match self {
            Self::Spread { key, .. } | Self::Anti { key, .. } | Self::Affinity { key, .. } => key,
            Self::Port(_) => return None,
        };
        (key != labels::HOSTNAME).then_some(key)
    }

    /// The selector it counts by.
    pub fn selector(&self) -> Option<usize> {
        match self {
            Self::Spread { selector, .. } | Self::Anti { selector, .. } | Self::Affinity { selector, .. } => {
                Some(*selector)
            }
            Self::Port(_) => None,
        }
    }
}

impl Registry {
    /// Position of a rule, added if new.
    pub fn rule(&mut self, id: RuleId) -> usize {
        let entry = self.rules.entry(id);
        let index = entry.index();
        entry.or_default();
        index
    }

    /// Lets `class` carry the rule.
    pub fn own(&mut self, rule: usize, class: usize) {
        self.rules[rule].owners.insert(class);
    }

    /// The keys that some rule divides by.
    pub fn keys(&self) -> Vec<String> {
        let keys: BTreeSet<&str> = self.rules.keys().filter_map(RuleId::key).collect();
        keys.into_iter().map(str::to_owned).collect()
    }

    /// The rules for the solver; `shape_of` maps classes to shapes.
    pub fn finish(&self, domains: &Domains, shape_of: &[usize]) -> Vec<Rule> {
        let shapes = |classes: &BTreeSet<usize>| {
            let set: BTreeSet<usize> = classes.iter().map(|&c| shape_of[c]).collect();
            set.into_iter().collect::<Vec<usize>>()
        };
        self.rules
            .iter()
            .map(|(id, parties)| {
                let key = domains.key_of(id);
                let kind = match id {
                    RuleId::Spread { max_skew, min_domains, scope, eligible, .. } => RuleKind::Spread(Spread {
                        max_skew: *max_skew,
                        min_domains: *min_domains,
                        eligible: match key {
                            Key::Host => Vec::new(),
                            Key::Domain(k) => eligible.iter().filter_map(|v| domains.value(k, v)).collect(),
                        },
                        scope: scope.clone(),
                    }),
                    RuleId::Anti { .. } | RuleId::Port(_) => RuleKind::Anti,
                    RuleId::Affinity { .. } => RuleKind::Affinity,
                };
                Rule {
                    key,
                    kind,
                    owners: shapes(&parties.owners),
                    selected: shapes(&parties.selected),
                    present: parties.present.iter().map(|(&n, &c)| (n, c)).collect(),
                    present_owners: parties.present_owners.iter().map(|(&n, &c)| (n, c)).collect(),
                }
            })
            .collect()
    }
}

impl Domains {
    /// The solver's key of a rule.
    pub fn key_of(&self, id: &RuleId) -> Key {
        id.key().and_then(|k| self.keys.iter().position(|x| x == k)).map_or(Key::Host, Key::Domain)
    }

    /// The id of a value.
    pub fn value(&self, key: usize, value: &str) -> Option<u32> {
        self.values[key].binary_search_by(|v| v.as_str().cmp(value)).ok().map(|i| i as u32)
    }
}
