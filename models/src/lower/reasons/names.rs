//! Names of rules and of what selectors ask for.

use crate::kube::selector::{Expression, LabelSelector, NodeSelectorTerm, Operator};
use crate::lower::registry::RuleId;
use crate::lower::terms::{Namespaces, Selectors};

/// Describes a rule between pods.
pub fn name(id: &RuleId, selectors: &Selectors) -> String {
    let pods = |s: &usize| {
        let selector = selectors.get(*s);
        let words = selector.selector.as_ref().map_or_else(|| "no pods".to_owned(), selector_words);
        match &selector.namespaces {
            Namespaces::All => format!("{words} in all namespaces"),
            Namespaces::Set(_) => words,
        }
    };
    match id {
        RuleId::Spread { selector, key, max_skew, .. } => {
            format!("topology spread over {key} with maxSkew {max_skew} of {}", pods(selector))
        }
        RuleId::Anti { selector, key } => format!("pod anti-affinity over {key} to {}", pods(selector)),
        RuleId::Affinity { selector, key } => format!("pod affinity over {key} to {}", pods(selector)),
        RuleId::Port(_) => "a host port".to_owned(),
    }
}

/// The pods that a selector selects.
pub fn selector_words(s: &LabelSelector) -> String {
    let labels = s.match_labels.iter().map(|(k, v)| format!("{k}={v}"));
    let all: Vec<String> = labels.chain(s.match_expressions.iter().map(expression_words)).collect();
    if all.is_empty() { "any pods".to_owned() } else { format!("pods with {}", all.join(", ")) }
}

/// `key=value`, `key in [a, b]` and so on.
pub fn expression_words(e: &Expression) -> String {
    let values = e.values.join(", ");
    match e.operator {
        Operator::In if e.values.len() == 1 => format!("{}={values}", e.key),
        Operator::In => format!("{} in [{values}]", e.key),
        Operator::NotIn => format!("{} not in [{values}]", e.key),
        Operator::Exists => format!("{} exists", e.key),
        Operator::DoesNotExist => format!("{} absent", e.key),
        Operator::Gt => format!("{} > {values}", e.key),
        Operator::Lt => format!("{} < {values}", e.key),
        Operator::Gte => format!("{} >= {values}", e.key),
        Operator::Lte => format!("{} <= {values}", e.key),
    }
}

/// Alternatives, each a conjunction.
pub fn terms_words(terms: &[NodeSelectorTerm]) -> String {
    let term = |t: &NodeSelectorTerm| {
        let all: Vec<String> = t.match_expressions.iter().map(expression_words).collect();
        if all.is_empty() { "nothing".to_owned() } else { all.join(" and ") }
    };
    terms.iter().map(term).collect::<Vec<_>>().join(" or ")
}
