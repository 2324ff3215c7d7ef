//! Selectors over labels, compiled and in a canonical form, so that equal
//! rules compare equal however they were written.

use std::collections::BTreeMap;

use crate::kube::meta::Labels;
use crate::kube::pod::PodSpec;
use crate::kube::selector::{Expression, LabelSelector, NodeSelectorTerm, Operator};

/// One condition on a set of labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Test {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
    Above(String, i64),
    Below(String, i64),
    /// What the API server would refuse, or the absent selector.
    Never,
}

/// A conjunction of tests; without any it selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Selector(Vec<Test>);

/// One alternative of a node selector.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct NodeTerm {
    labels: Selector,
    name: Selector,
}

/// Which nodes a pod's node selector and required node affinity admit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeRule {
    pairs: Vec<(String, String)>,
    terms: Option<Vec<NodeTerm>>,
}

const NAME_FIELD: &str = "metadata.name";

impl Test {
    /// A label selector knows no numbers, a node selector does.
    fn of(expression: &Expression, numbers: bool) -> Self {
        let key = expression.key.clone();
        let values = || {
            let mut values = expression.values.clone();
            values.sort();
            values.dedup();
            values
        };
        let number = || match &*expression.values {
            [one] if numbers => one.parse().ok(),
            _ => None,
        };
        match expression.operator {
            Operator::In if !expression.values.is_empty() => Self::In(key, values()),
            Operator::NotIn if !expression.values.is_empty() => Self::NotIn(key, values()),
            Operator::Exists => Self::Exists(key),
            Operator::DoesNotExist => Self::Missing(key),
            Operator::Gt => number().map_or(Self::Never, |n| Self::Above(key, n)),
            Operator::Lt => number().map_or(Self::Never, |n| Self::Below(key, n)),
            _ => Self::Never,
        }
    }

    fn holds<'a>(&self, value: impl Fn(&str) -> Option<&'a str>) -> bool {
        let number = |key: &str| value(key).and_then(|v| v.parse::<i64>().ok());
        match self {
            Self::In(key, values) => value(key).is_some_and(|v| values.iter().any(|x| x == v)),
            Self::NotIn(key, values) => value(key).is_none_or(|v| values.iter().all(|x| x != v)),
            Self::Exists(key) => value(key).is_some(),
            Self::Missing(key) => value(key).is_none(),
            Self::Above(key, n) => number(key).is_some_and(|v| v > *n),
            Self::Below(key, n) => number(key).is_some_and(|v| v < *n),
            Self::Never => false,
        }
    }
}

impl Selector {
    /// An absent selector selects nothing.
    pub fn of(selector: Option<&LabelSelector>) -> Self {
        let Some(selector) = selector else { return Self(vec![Test::Never]) };
        let pairs = selector.match_labels.iter().map(|(k, v)| Test::In(k.clone(), vec![v.clone()]));
        Self::canonical(pairs.chain(selector.match_expressions.iter().map(|e| Test::of(e, false))).collect())
    }

    /// Also demands the pod's own value of each of `same`, and forbids that of
    /// each of `other`; keys the pod lacks add nothing.
    pub fn with_keys(self, labels: &Labels, same: &[String], other: &[String]) -> Self {
        let mut tests = self.0;
        let own = |key: &String| labels.get(key).map(|v| vec![v.clone()]);
        tests.extend(same.iter().filter_map(|k| Some(Test::In(k.clone(), own(k)?))));
        tests.extend(other.iter().filter_map(|k| Some(Test::NotIn(k.clone(), own(k)?))));
        Self::canonical(tests)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|t| t.holds(|key| labels.get(key).map(String::as_str)))
    }

    /// A pair that every selected object carries, for an index.
    pub fn pair(&self) -> Option<(&str, &str)> {
        self.0.iter().find_map(|t| match t {
            Test::In(key, values) if values.len() == 1 => Some((&**key, &*values[0])),
            _ => None,
        })
    }

    fn canonical(mut tests: Vec<Test>) -> Self {
        tests.sort();
        tests.dedup();
        Self(tests)
    }
}

impl NodeTerm {
    /// `None` for a term without any condition: it selects no node.
    fn of(term: &NodeSelectorTerm) -> Option<Self> {
        if term.match_expressions.is_empty() && term.match_fields.is_empty() {
            return None;
        }
        let field = |e: &Expression| match e.operator {
            Operator::In | Operator::NotIn if e.key == NAME_FIELD && e.values.len() == 1 => Test::of(e, false),
            _ => Test::Never,
        };
        Some(Self {
            labels: Selector::canonical(term.match_expressions.iter().map(|e| Test::of(e, true)).collect()),
            name: Selector::canonical(term.match_fields.iter().map(field).collect()),
        })
    }

    fn admits(&self, name: &str, labels: &Labels) -> bool {
        self.labels.matches(labels) && self.name.0.iter().all(|t| t.holds(|key| (key == NAME_FIELD).then_some(name)))
    }
}

impl NodeRule {
    pub fn of(spec: &PodSpec) -> Self {
        let required = spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref()?.required.as_ref());
        Self {
            pairs: spec.node_selector.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
            terms: required.map(|r| r.node_selector_terms.iter().filter_map(NodeTerm::of).collect()),
        }
    }

    /// The alternatives of a volume or storage class; none at all is no rule.
    pub fn of_terms(terms: &[NodeSelectorTerm]) -> Self {
        let terms = (!terms.is_empty()).then(|| terms.iter().filter_map(NodeTerm::of).collect());
        Self { pairs: Vec::new(), terms }
    }

    pub fn admits(&self, name: &str, labels: &Labels) -> bool {
        self.pairs.iter().all(|(k, v)| labels.get(k) == Some(v))
            && self.terms.as_ref().is_none_or(|terms| terms.iter().any(|t| t.admits(name, labels)))
    }
}

/// Labels of namespaces; each also has the name label the API server sets.
#[derive(Clone, Debug, Default)]
pub(super) struct Namespaces(BTreeMap<String, Labels>);

/// The namespaces a pod affinity term looks at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Scope {
    pub names: Vec<String>,
    pub selector: Option<Selector>,
}

impl Namespaces {
    pub fn insert(&mut self, name: &str, labels: &Labels) {
        let labels = self.0.entry(name.to_owned()).insert_entry(labels.clone()).into_mut();
        labels.insert("kubernetes.io/metadata.name".to_owned(), name.to_owned());
    }

    fn matches(&self, name: &str, selector: &Selector) -> bool {
        match self.0.get(name) {
            Some(labels) => selector.matches(labels),
            None => selector.matches(&[("kubernetes.io/metadata.name".to_owned(), name.to_owned())].into()),
        }
    }
}

impl Scope {
    pub fn only(namespace: &str) -> Self {
        Self { names: vec![namespace.to_owned()], selector: None }
    }

    pub fn admits(&self, namespace: &str, all: &Namespaces) -> bool {
        self.names.iter().any(|n| n == namespace) || self.selector.as_ref().is_some_and(|s| all.matches(namespace, s))
    }
}
