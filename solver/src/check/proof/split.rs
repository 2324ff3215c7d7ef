use super::super::broken::BrokenProof;
use super::items::{Items, carries};
use crate::certificate::Certificate;
use crate::instance::{Instance, Key, Rule, RuleKind, Spread};

/// What all items are worth at least, in nano-dollars.
pub(super) fn total(instance: &Instance, proof: &Certificate, items: &Items) -> Result<i128, BrokenProof> {
    // Per item and key: what rules hold of it per domain.
    let mut total = 0i128;
    let mut held: Vec<Vec<(usize, usize)>> = vec![Vec::new(); items.list.len()];
    for (at, split) in proof.splits.iter().enumerate() {
        let Key::Domain(key) = instance.rules[split.rule].key else { continue };
        let group = group(instance, items, split.rule);
        for &i in &group {
            held[i].push((key, at));
        }
        let rho: Vec<i128> = split.dual.iter().map(|&v| i128::from(v)).collect();
        total += least(instance, items, split.rule, key, &group, &rho);
    }
    for (i, item) in items.list.iter().enumerate() {
        let mut keys: Vec<usize> = held[i].iter().map(|h| h.0).chain(item.by_domain.iter().map(|b| b.key)).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut worth = if item.by_domain.is_some() { 0 } else { i128::from(item.dual) };
        for key in keys {
            let at = |d: Option<usize>| -> i128 {
                let mut v = match &item.by_domain {
                    Some(by) if by.key == key => i128::from(d.map_or(item.dual, |d| by.dual[d])),
                    _ => 0,
                };
                if let Some(d) = d {
                    for &(_, s) in held[i].iter().filter(|h| h.0 == key) {
                        v -= i128::from(proof.splits[s].dual[d]);
                    }
                }
                v
            };
            let places = (0..instance.domains[key] as usize).map(Some).chain([None]);
            // An item that can be nowhere has no plan to bound; it counts 0.
            worth += places.filter(|&d| items.possible(i, key, d)).map(at).min().unwrap_or(0);
        }
        total += worth * i128::from(item.count);
    }
    Ok(total)
}

/// Items whose pods carry the rule and are selected by it.
fn group(instance: &Instance, items: &Items, r: usize) -> Vec<usize> {
    let rule = &instance.rules[r];
    (0..items.list.len())
        .filter(|&i| carries(instance, r, &items.list[i]) && rule.selects(items.list[i].shape))
        .collect()
}

/// The least `Σ ρ_z Y_z` over counts the rule allows. Where something could
/// change under the rule (removable nodes, selected pods that do not carry
/// it), the rule is dropped and the pods go where ρ is least.
fn least(instance: &Instance, items: &Items, r: usize, key: usize, group: &[usize], rho: &[i128]) -> i128 {
    let rule = &instance.rules[r];
    let pods: u64 = group.iter().map(|&i| u64::from(items.list[i].count)).sum();
    let open: Vec<bool> = (0..rho.len()).map(|d| group.iter().any(|&i| items.possible(i, key, Some(d)))).collect();
    let nowhere = group.iter().any(|&i| items.possible(i, key, None));
    let loose = || {
        let there = (0..rho.len()).filter(|&d| open[d]).map(|d| rho[d]);
        let least = there.chain(nowhere.then_some(0)).min().unwrap_or(0);
        least * i128::from(pods)
    };
    if pods == 0 || !settled(instance, rule) {
        return if pods == 0 { 0 } else { loose() };
    }
    let running = running(instance, rule, key);
    let others = (0..items.list.len())
        .any(|i| items.list[i].count > 0 && rule.selects(items.list[i].shape) && !group.contains(&i));
    let exact = match &rule.kind {
        RuleKind::Spread(s) if !others && !nowhere && counts_all(instance, items, s, group) => {
            spread(instance, s, key, pods, &open, &running, rho)
        }
        RuleKind::Anti => {
            let owners = old_owners(instance, r, rule, key);
            let most: Vec<u64> = (0..rho.len()).map(|d| u64::from(open[d] && running[d] + owners[d] == 0)).collect();
            let extra = if nowhere { pods } else { 0 };
            fill(pods, &vec![0; rho.len()], &most, extra, rho)
        }
        RuleKind::Affinity if !others && anything_selected(instance, rule) => {
            let there = (0..rho.len()).filter(|&d| open[d] && running[d] > 0).map(|d| rho[d]).min();
            there.map(|v| v * i128::from(pods))
        }
        RuleKind::Spread(_) | RuleKind::Affinity => None,
    };
    exact.unwrap_or_else(loose)
}

/// Whether nothing that the rule counts or owns could leave.
fn settled(instance: &Instance, rule: &Rule) -> bool {
    let touched = |n: usize| instance.nodes[n].removal.is_some();
    !rule.present.iter().chain(&rule.present_owners).any(|&(n, c)| c > 0 && touched(n))
        && instance
            .nodes
            .iter()
            .all(|n| n.removal.is_none() || n.residents.iter().all(|&(s, _)| !rule.selects(s) && !rule.owned_by(s)))
}

/// Whether every place the group could use is in the spread's scope.
fn counts_all(instance: &Instance, items: &Items, spread: &Spread, group: &[usize]) -> bool {
    let mut used: Vec<usize> = group.iter().map(|&i| items.admission[i]).collect();
    used.sort_unstable();
    used.dedup();
    used.iter()
        .map(|&a| &instance.admissions[items.admissions[a]])
        .all(|a| a.bins.is_subset(&spread.scope.bins) && a.nodes.is_subset(&spread.scope.nodes))
}

/// Counted pods per domain that run, on nodes in the rule's scope.
fn running(instance: &Instance, rule: &Rule, key: usize) -> Vec<u64> {
    let mut out = vec![0u64; instance.domains[key] as usize];
    let in_scope = |n: usize| match &rule.kind {
        RuleKind::Spread(s) => s.scope.nodes.contains(n),
        RuleKind::Anti | RuleKind::Affinity => true,
    };
    let residents = instance
        .nodes
        .iter()
        .enumerate()
        .flat_map(|(n, node)| node.residents.iter().filter(|r| rule.selects(r.0)).map(move |r| (n, r.1)));
    for (n, c) in residents.chain(rule.present.iter().copied()).filter(|&(n, _)| in_scope(n)) {
        if let Some(d) = instance.nodes[n].domain[key] {
            out[d as usize] += u64::from(c);
        }
    }
    out
}

fn old_owners(instance: &Instance, r: usize, rule: &Rule, key: usize) -> Vec<u64> {
    let mut out = vec![0u64; instance.domains[key] as usize];
    let bound =
        |s: usize| rule.owned_by(s) && instance.shapes[s].tiers.iter().all(|t| t.waived.binary_search(&r).is_err());
    let residents = instance
        .nodes
        .iter()
        .enumerate()
        .flat_map(|(n, node)| node.residents.iter().filter(|r| bound(r.0)).map(move |r| (n, r.1)));
    for (n, c) in residents.chain(rule.present_owners.iter().copied()) {
        if let Some(d) = instance.nodes[n].domain[key] {
            out[d as usize] += u64::from(c);
        }
    }
    out
}

fn anything_selected(instance: &Instance, rule: &Rule) -> bool {
    rule.present.iter().any(|p| p.1 > 0)
        || instance.nodes.iter().any(|n| n.residents.iter().any(|r| r.1 > 0 && rule.selects(r.0)))
}

/// The least over all final minima `m` of the known eligible domains. More
/// domains may turn out eligible and the minimum may be taken as 0; both only
/// tighten the rule.
fn spread(
    instance: &Instance,
    spread: &Spread,
    key: usize,
    pods: u64,
    open: &[bool],
    running: &[u64],
    rho: &[i128],
) -> Option<i128> {
    let mut eligible = vec![false; rho.len()];
    for &d in &spread.eligible {
        eligible[d as usize] = true;
    }
    for n in spread.scope.nodes.ones().filter(|&n| instance.nodes[n].removal.is_none()) {
        if let Some(d) = instance.nodes[n].domain[key] {
            eligible[d as usize] = true;
        }
    }
    let skew = u64::from(spread.max_skew);
    // A domain that no owner can enter keeps what it has.
    let fixed = (0..rho.len()).filter(|&d| eligible[d] && !open[d]).map(|d| running[d]).min();
    if !eligible.contains(&true) {
        return None;
    }
    let top = fixed.unwrap_or(u64::MAX).min(running.iter().copied().max().unwrap_or(0) + pods);
    let mut best: Option<i128> = None;
    let mut m = 0;
    while m <= top {
        let least: Vec<u64> =
            (0..rho.len()).map(|d| if eligible[d] && open[d] { m.saturating_sub(running[d]) } else { 0 }).collect();
        if least.iter().sum::<u64>() > pods {
            break;
        }
        let most: Vec<u64> =
            (0..rho.len()).map(|d| if open[d] { (m + skew).saturating_sub(running[d]) } else { 0 }).collect();
        let room: u64 = most.iter().sum();
        if room < pods {
            // Each step opens at most one more per domain.
            m += ((pods - room) / rho.len().max(1) as u64).max(1);
            continue;
        }
        if let Some(v) = fill(pods, &least, &most, 0, rho) {
            best = Some(best.map_or(v, |b| b.min(v)));
        }
        m += 1;
    }
    best
}

/// The least `Σ ρ Y` with `least ≤ Y ≤ most` and `Σ Y = pods`, up to `extra`
/// of them uncounted at 0.
fn fill(pods: u64, least: &[u64], most: &[u64], extra: u64, rho: &[i128]) -> Option<i128> {
    let mut left = pods.checked_sub(least.iter().sum())?;
    let mut total: i128 = least.iter().zip(rho).map(|(&n, &v)| i128::from(n) * v).sum();
    let mut steps: Vec<(i128, u64)> =
        (0..rho.len()).map(|d| (rho[d], most[d].saturating_sub(least[d]))).chain([(0, extra)]).collect();
    steps.sort_unstable();
    for (v, room) in steps {
        let take = left.min(room);
        total += i128::from(take) * v;
        left -= take;
    }
    (left == 0).then_some(total)
}
