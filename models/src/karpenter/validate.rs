//! What Karpenter's schema and run-time validation refuse.

use super::labels;
use super::nodepool::{Budget, NodePool};
use super::overlay::NodeOverlay;
use crate::faults::Faults;
use crate::kube::node::Taint;
use crate::kube::selector::{Expression, Operator};
use crate::kube::validate::effects;
use crate::requirements::Requirement;

/// Whose requirements are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// May not select a pool.
    Pool,
    Claim,
    /// `NotIn` needs values too; no minValues.
    Overlay,
}

/// Resources whose capacity an overlay may not change.
const FIXED_CAPACITY: [&str; 9] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "pods",
    "vpc.amazonaws.com/pod-eni",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "habana.ai/gaudi",
    "vpc.amazonaws.com/efa",
];

/// A list of requirements.
pub(crate) fn expressions(list: &[Expression], field: &str, rules: Rules, faults: &mut Faults) {
    for (i, expression) in list.iter().enumerate() {
        let field = format!("{field}[{i}]");
        if let Err(message) = expression_fault(expression) {
            faults.add(&field, message);
        }
        let key = labels::normalise(&expression.key);
        if rules == Rules::Pool && key == labels::NODEPOOL {
            faults.add(&field, format!("key {key:?} is the pool's own"));
        }
        if rules == Rules::Overlay && expression.operator == Operator::NotIn && expression.values.is_empty() {
            faults.add(&field, format!("key {key:?} with operator NotIn needs at least one value"));
        }
        if rules == Rules::Overlay && expression.min_values.is_some() {
            faults.add(&field, format!("key {key:?}: minValues has no place in an overlay"));
        }
    }
}

/// What 10-api §3.4 says against one requirement.
pub(crate) fn expression_fault(expression: &Expression) -> Result<(), String> {
    let Expression { operator, values, min_values, .. } = expression;
    let key = labels::normalise(&expression.key);
    let said = || format!("key {key:?} with operator {operator} and values {values:?}");
    if labels::is_restricted(key) {
        return Err(format!(
            "{}: the key is restricted; usable are labels outside of the domains {} and the well-known {}",
            said(),
            labels::RESTRICTED_DOMAINS.join(", "),
            labels::WELL_KNOWN.join(", "),
        ));
    }
    if !labels::is_qualified(key) {
        return Err(format!("{}: the key is no qualified name", said()));
    }
    Requirement::new(key, *operator, values, *min_values).map_err(|e| e.to_string())?;
    let numeric = matches!(operator, Operator::Gt | Operator::Lt | Operator::Gte | Operator::Lte);
    if numeric && values.iter().any(|v| v.starts_with('-')) {
        return Err(format!("{}: the bound is negative", said()));
    }
    if let Some(bad) = values.iter().find(|v| !labels::is_label_value(v)) {
        return Err(format!("{}: {bad:?} is no label value", said()));
    }
    if let (Operator::In, Some(known)) = (operator, labels::known_values(key)) {
        let usable = values.iter().filter(|v| known.contains(&v.as_str())).count();
        if usable < min_values.unwrap_or(1) as usize {
            return Err(format!("{}: the key takes {}", said(), known.join(", ")));
        }
    }
    Ok(())
}

/// A pool; `weight` as written.
pub(crate) fn node_pool(pool: &NodePool, weight: Option<i32>, faults: &mut Faults) {
    if let Some(weight) = weight.filter(|w| !(1..=100).contains(w)) {
        faults.add("spec.weight", format!("{weight} is outside 1 to 100"));
    }
    if let Some(replicas) = pool.replicas {
        if replicas < 0 {
            faults.add("spec.replicas", format!("{replicas} is negative"));
        }
        if weight.is_some() {
            faults.add("spec.weight", "a static pool (with replicas) has no weight");
        }
        if !pool.limits.is_empty() {
            faults.add("spec.limits", "a static pool (with replicas) takes only the limit nodes");
        }
    }
    let template = &pool.template;
    let reference = &template.node_class;
    for (value, name) in [(&reference.group, "group"), (&reference.kind, "kind"), (&reference.name, "name")] {
        if value.is_empty() {
            faults.add(format!("spec.template.spec.nodeClassRef.{name}"), "missing");
        }
    }
    for (key, value) in &template.labels {
        let field = format!("spec.template.metadata.labels.{key}");
        if key == labels::NODEPOOL || labels::is_restricted(labels::normalise(key)) {
            faults.add(&field, "the key is restricted");
        } else if !labels::is_qualified(key) {
            faults.add(&field, "the key is no qualified name");
        }
        if !labels::is_label_value(value) {
            faults.add(&field, format!("{value:?} is no label value"));
        }
    }
    expressions(&template.requirements, "spec.template.spec.requirements", Rules::Pool, faults);
    effects(&template.taints, "spec.template.spec.taints", faults);
    effects(&template.startup_taints, "spec.template.spec.startupTaints", faults);
    let all: Vec<&Taint> = template.taints.iter().chain(&template.startup_taints).collect();
    for (i, taint) in all.iter().enumerate() {
        if all[..i].iter().any(|t| t.key == taint.key && t.effect == taint.effect) {
            let which = format!("{}:{}", taint.key, taint.effect);
            faults.add("spec.template.spec.taints", format!("{which} is given twice (startupTaints count too)"));
        }
    }
    let policy = &pool.disruption.policy;
    if !matches!(policy.as_str(), "WhenEmpty" | "WhenEmptyOrUnderutilized" | "Balanced") {
        let known = "WhenEmpty, WhenEmptyOrUnderutilized, Balanced";
        faults.add("spec.disruption.consolidationPolicy", format!("{policy:?} is none of {known}"));
    }
    for (i, budget) in pool.disruption.budgets.iter().enumerate() {
        budget_faults(budget, &format!("spec.disruption.budgets[{i}]"), faults);
    }
}

fn budget_faults(budget: &Budget, field: &str, faults: &mut Faults) {
    let nodes = budget.nodes.strip_suffix('%').unwrap_or(&budget.nodes);
    let percent = budget.nodes.ends_with('%');
    let digits = !nodes.is_empty() && nodes.bytes().all(|b| b.is_ascii_digit());
    if !digits || (percent && !nodes.parse::<u32>().is_ok_and(|n| n <= 100)) || nodes.parse::<i64>().is_err() {
        faults.add(
            format!("{field}.nodes"),
            format!("{:?} is neither a number nor a percentage up to 100%", budget.nodes),
        );
    }
    for reason in budget.reasons.iter().flatten() {
        if !matches!(reason.as_str(), "Underutilized" | "Empty" | "Drifted" | "Unhealthy") {
            let known = "Underutilized, Empty, Drifted, Unhealthy";
            faults.add(format!("{field}.reasons"), format!("{reason:?} is none of {known}"));
        }
    }
    if budget.schedule.is_some() != budget.duration.is_some() {
        faults.add(field, "schedule and duration go together");
    }
    if let Some(text) = &budget.duration
        && !is_duration(text, "hms")
    {
        faults.add(format!("{field}.duration"), format!("{text:?} is no duration like 8h30m"));
    }
}

/// An overlay; `weight` as written.
pub(crate) fn node_overlay(overlay: &NodeOverlay, weight: Option<i32>, faults: &mut Faults) {
    expressions(&overlay.requirements, "spec.requirements", Rules::Overlay, faults);
    if let Some(weight) = weight.filter(|w| !(1..=10_000).contains(w)) {
        faults.add("spec.weight", format!("{weight} is outside 1 to 10000"));
    }
    if overlay.price.is_some() && overlay.price_adjustment.is_some() {
        faults.add("spec", "price and priceAdjustment exclude each other");
    }
    if let Some(price) = overlay.price.as_deref().filter(|p| !is_price(p)) {
        faults.add("spec.price", format!("{price:?} is no price like 0.25"));
    }
    if let Some(adjustment) = overlay.price_adjustment.as_deref().filter(|a| !is_adjustment(a)) {
        let message = format!("{adjustment:?} is no adjustment like +0.1, -0.1, +5% or -30% (never below -100%)");
        faults.add("spec.priceAdjustment", message);
    }
    for (name, _) in overlay.capacity.iter().filter(|(name, _)| FIXED_CAPACITY.contains(name)) {
        faults.add(format!("spec.capacity.{name}"), "an overlay cannot change this resource");
    }
}

fn is_price(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && digits(fraction)
}

fn is_adjustment(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(['+', '-']) else { return false };
    let number = rest.strip_suffix('%').unwrap_or(rest);
    let (whole, fraction) = number.split_once('.').unwrap_or(("", number));
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    let wellformed = digits(whole) && digits(fraction) && !fraction.is_empty();
    let discount = text.starts_with('-') && text.ends_with('%');
    wellformed && (!discount || number.parse::<f64>().is_ok_and(|n| n <= 100.0))
}

/// A duration that may be `Never`, which is kept as `None`.
pub(crate) fn nillable(
    text: Option<String>,
    default: Option<&str>,
    field: &str,
    faults: &mut Faults,
) -> Option<String> {
    match text {
        None => default.map(str::to_owned),
        Some(text) if text == "Never" => None,
        some => duration(some, field, faults),
    }
}

/// A duration of whole hours, minutes and seconds.
pub(crate) fn duration(text: Option<String>, field: &str, faults: &mut Faults) -> Option<String> {
    if let Some(text) = text.as_deref().filter(|t| !is_duration(t, "hms")) {
        faults.add(field, format!("{text:?} is no duration like 1h30m"));
    }
    text
}

fn is_duration(text: &str, units: &str) -> bool {
    let mut rest = text;
    while let Some(end) = rest.find(|c| units.contains(c)) {
        if end == 0 || !rest[..end].bytes().all(|b| b.is_ascii_digit()) {
            return false;
        }
        rest = &rest[end + 1..];
    }
    !text.is_empty() && rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjustments_prices_and_durations() {
        for good in ["+0.1", "-.5", "+5%", "-30%", "-100%", "-99.5%", "+150%"] {
            assert!(is_adjustment(good), "{good}");
        }
        for bad in ["", "5", "+", "-%", "-101%", "+1.", "+1.2.3", "+x"] {
            assert!(!is_adjustment(bad), "{bad}");
        }
        assert!(is_price("0") && is_price("0.25") && !is_price(".5") && !is_price("-1") && !is_price("1."));
        assert!(is_duration("720h", "hms") && is_duration("1h30m0s", "hms"));
        assert!(!is_duration("", "hms") && !is_duration("1", "hms") && !is_duration("h", "hms"));
        assert!(!is_duration("1.5h", "hms") && !is_duration("-1h", "hms") && !is_duration("100ms", "hms"));
    }

    #[test]
    fn sch_030_capacity_types() {
        let ask = |values: &[&str]| Expression {
            key: labels::CAPACITY_TYPE.into(),
            operator: Operator::In,
            values: values.iter().map(|v| (*v).to_owned()).collect(),
            min_values: None,
        };
        assert!(expression_fault(&ask(&["preemptible"])).unwrap_err().contains("on-demand"));
        assert!(expression_fault(&ask(&["preemptible", "spot"])).is_ok());
    }
}
