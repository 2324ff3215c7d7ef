//! Words for what keeps a pod pending.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;

use super::bins::Bins;
use super::classes::Class;
use super::registry::{Registry, RuleId};
use super::terms::{Namespaces, Selectors};
use super::tiers::{Owned, TierContext};
use crate::karpenter::labels;
use crate::kube::node::Taint;
use crate::kube::selector::{Expression, LabelSelector, Operator};
use crate::world::World;

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
        RuleId::Port(_) => "a host port that is taken".to_owned(),
    }
}

fn selector_words(s: &LabelSelector) -> String {
    let labels = s.match_labels.iter().map(|(k, v)| format!("{k}={v}"));
    let all: Vec<String> = labels.chain(s.match_expressions.iter().map(expression_words)).collect();
    if all.is_empty() { "any pods".to_owned() } else { format!("pods with {}", all.join(", ")) }
}

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

/// One thing that the pod asks of a machine, and the rows that offer it.
struct Ask {
    words: String,
    rows: FixedBitSet,
}

/// The smallest sets of things asked that no offering meets together: every
/// row breaks at least one of the reasons returned.
pub fn unhosted(
    world: &World,
    cx: &mut TierContext<'_, '_, '_, '_>,
    class: &Class,
    bins: &Bins,
    registry: &Registry,
    owned: &Owned,
) -> Vec<String> {
    let pod = class.sample(world);
    if bins.bins.is_empty() {
        return vec!["no dynamic NodePool takes part, and no node that exists has room for it".to_owned()];
    }
    for &(rule, drop) in owned {
        if let (None, Some((RuleId::Affinity { key, .. }, parties))) = (drop, registry.rules.get_index(rule))
            && parties.selected.is_empty()
            && parties.present.is_empty()
        {
            return vec![format!("its pod affinity over {key} is to pods that exist nowhere")];
        }
    }
    let mut asks = resource_asks(cx, pod.requests.iter(), bins);
    for (key, value) in &pod.spec.node_selector {
        let e = Expression { key: key.clone(), operator: Operator::In, values: vec![value.clone()], min_values: None };
        let rows = cx.ground.rows.matching(&e).clone();
        asks.push(Ask { words: format!("nodeSelector {}", expression_words(&e)), rows });
    }
    let affinity = pod.spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref());
    if let Some(required) = affinity.and_then(|n| n.required.as_ref()) {
        if let [only] = &required.node_selector_terms[..] {
            for e in &only.match_expressions {
                let rows = cx.ground.rows.matching(e).clone();
                asks.push(Ask { words: format!("node affinity {}", expression_words(e)), rows });
            }
        } else {
            let rows = cx.ground.rows.any_term(&required.node_selector_terms);
            asks.push(Ask { words: "every alternative of its node affinity".to_owned(), rows });
        }
    }
    asks.extend(taint_asks(cx, pod));
    for terms in &class.needs.alternatives {
        let rows = cx.ground.rows.any_term(terms);
        let words: Vec<String> = terms.iter().flat_map(|t| &t.match_expressions).map(expression_words).collect();
        asks.push(Ask { words: format!("a volume that demands {}", words.join(" or ")), rows });
    }
    let attached = attachment_ask(cx, class);
    asks.extend(attached);
    for &(rule, drop) in owned {
        if let (None, Some(reach)) = (drop, &cx.defined[rule])
            && let Some((id, _)) = registry.rules.get_index(rule)
        {
            let key = id.key().unwrap_or(labels::HOSTNAME);
            asks.push(Ask { words: format!("a rule over {key}, which nodes do not have"), rows: reach.rows.clone() });
        }
    }
    if !class.ports.is_empty() {
        asks.push(port_ask(cx, class));
    }
    let mut reasons: Vec<String> = smallest_cover(&asks, bins.bins.len());
    for (pool, resource) in &bins.exceeded {
        reasons.push(format!("NodePool {pool} has exceeded its limit on {resource}"));
    }
    reasons
}

fn resource_asks<'r>(
    cx: &mut TierContext<'_, '_, '_, '_>,
    requests: impl Iterator<Item = (&'r str, i64)>,
    bins: &Bins,
) -> Vec<Ask> {
    let mut asks = Vec::new();
    for (name, amount) in requests {
        let Some(d) = cx.dims.resources.iter().position(|r| r == name) else { continue };
        let mut rows = FixedBitSet::with_capacity(bins.bins.len());
        let mut most = 0;
        for (i, bin) in bins.bins.iter().enumerate() {
            rows.set(i, bins.usable.contains(i) && bin.capacity[d] >= amount);
            most = most.max(bin.capacity[d]);
        }
        let asked = crate::quantity::format(name, amount);
        let words = if amount >= 1_000_000_000 && name == "cpu" {
            format!("requests {name} {asked} (is M meant to be m?)")
        } else if most > 0 {
            format!("requests {name} {asked}; a new node has at most {}", crate::quantity::format(name, most))
        } else {
            format!("requests {name} {asked}, which no new node has")
        };
        asks.push(Ask { words, rows });
    }
    asks
}

fn taint_asks(cx: &mut TierContext<'_, '_, '_, '_>, pod: &crate::kube::pod::Pod) -> Vec<Ask> {
    let offers = cx.ground.rows.source();
    let mut by_taint: BTreeMap<(String, String, String), BTreeSet<usize>> = BTreeMap::new();
    for (p, pool) in offers.pools.iter().enumerate() {
        for Taint { key, value, effect } in &pool.pool.template.taints {
            let taint = Taint { key: key.clone(), value: value.clone(), effect: effect.clone() };
            if effect != "PreferNoSchedule" && !pod.spec.tolerations.iter().any(|t| t.tolerates(&taint)) {
                by_taint.entry((key.clone(), value.clone(), effect.clone())).or_default().insert(p);
            }
        }
    }
    by_taint
        .into_iter()
        .map(|((key, value, effect), pools)| {
            let mut rows = FixedBitSet::with_capacity(offers.rows.len());
            for (i, row) in offers.rows.iter().enumerate() {
                rows.set(i, !pools.contains(&row.pool));
            }
            let value = if value.is_empty() { value } else { format!("={value}") };
            let names: Vec<&str> = pools.iter().map(|&p| offers.pools[p].pool.name()).collect();
            Ask { words: format!("does not tolerate {key}{value}:{effect} of NodePool {}", names.join(", ")), rows }
        })
        .collect()
}

fn attachment_ask(cx: &TierContext<'_, '_, '_, '_>, class: &Class) -> Vec<Ask> {
    let base = cx.dims.resources.len();
    let mut asks = Vec::new();
    for (driver, &n) in &class.needs.attachments {
        let Some(d) = cx.dims.drivers.iter().position(|x| x == driver) else { continue };
        let bins = &cx.room.bins.bins;
        let most = bins.iter().map(|b| b.capacity[base + d]).max().unwrap_or(0);
        let mut rows = FixedBitSet::with_capacity(bins.len());
        for (i, bin) in bins.iter().enumerate() {
            rows.set(i, bin.capacity[base + d] >= i64::from(n));
        }
        asks.push(Ask { words: format!("attaches {n} volumes of {driver}; a new node takes at most {most}"), rows });
    }
    asks
}

fn port_ask(cx: &TierContext<'_, '_, '_, '_>, class: &Class) -> Ask {
    let bad: Vec<bool> = cx.room.row_groups.iter().map(|g| super::ports::conflict(&class.ports, &g.ports)).collect();
    let mut rows = FixedBitSet::with_capacity(cx.room.of_row.len());
    for (row, &group) in cx.room.of_row.iter().enumerate() {
        rows.set(row, !bad[group]);
    }
    Ask { words: "needs a host port that a DaemonSet takes".to_owned(), rows }
}

/// A smallest set of asks whose rows have nothing in common, by search over
/// growing sizes; all of them if more than four are needed.
fn smallest_cover(asks: &[Ask], rows: usize) -> Vec<String> {
    let mut everything = FixedBitSet::with_capacity(rows);
    everything.insert_range(..);
    for size in 1..=4usize.min(asks.len()) {
        let mut chosen = Vec::new();
        if pick(asks, 0, size, &everything, &mut chosen) {
            return chosen.iter().map(|&i| asks[i].words.clone()).collect();
        }
    }
    let mut left = everything;
    for a in asks {
        left.intersect_with(&a.rows);
    }
    if left.is_clear() {
        return asks.iter().map(|a| a.words.clone()).collect();
    }
    vec!["no offering of any NodePool has room beside its DaemonSets".to_owned()]
}

fn pick(asks: &[Ask], from: usize, size: usize, left: &FixedBitSet, chosen: &mut Vec<usize>) -> bool {
    if size == 0 {
        return left.is_clear();
    }
    for i in from..asks.len() {
        let mut rest = left.clone();
        rest.intersect_with(&asks[i].rows);
        chosen.push(i);
        if pick(asks, i + 1, size - 1, &rest, chosen) {
            return true;
        }
        chosen.pop();
    }
    false
}
