use super::broken::{Broken, Spot};
use super::order::{Arrivals, stranded};
use super::place::{View, carries};
use crate::instance::{Instance, Key, Rule, Spread};

/// Judges a spread on the state after the plan.
pub(super) fn check(
    instance: &Instance,
    view: &View,
    r: usize,
    rule: &Rule,
    spread: &Spread,
    broken: &mut Vec<Broken>,
) {
    let mut domains = vec![Arrivals::default(); view.domains(instance, rule.key)];
    if rule.key != Key::Host {
        for &d in &spread.eligible {
            domains[d as usize].eligible = true;
        }
    }
    for (p, place) in view.places.iter().enumerate() {
        let in_scope = match (place.spot, place.bin) {
            (Spot::Node(n), _) => spread.scope.nodes.contains(n),
            (Spot::Bought(_), Some(b)) => spread.scope.bins.contains(b),
            (Spot::Bought(_), None) => false,
        };
        let Some(d) = view.domain(p, rule.key) else {
            if place.pods.iter().any(|pods| carries(instance, r, rule, pods)) {
                broken.push(Broken::NoDomain { rule: r, spot: place.spot });
            }
            continue;
        };
        let domain = &mut domains[d];
        domain.eligible |= in_scope;
        if in_scope {
            domain.running +=
                place.residents.iter().filter(|&&(s, _)| rule.selects(s)).map(|&(_, c)| u64::from(c)).sum::<u64>();
        }
        for pods in &place.pods {
            let count = u64::from(pods.count);
            match (carries(instance, r, rule, pods), rule.selects(pods.shape)) {
                (true, true) if in_scope => domain.owners += count,
                (true, true) => domain.passing += count,
                (true, false) => domain.guests += count,
                (false, true) if in_scope => domain.free += count,
                (false, _) => {}
            }
        }
    }
    for &(n, count) in &rule.present {
        let place = view.of_node[n].filter(|_| spread.scope.nodes.contains(n));
        if let Some(d) = place.and_then(|p| view.domain(p, rule.key)) {
            domains[d].running += u64::from(count);
        }
    }
    let eligible = domains.iter().filter(|d| d.eligible).count();
    let floor = eligible < spread.min_domains as usize;
    if domains.iter().any(|d| d.free > 0) {
        let left = stranded(domains, u64::from(spread.max_skew), floor);
        if left > 0 {
            broken.push(Broken::NoOrder { rule: r, left });
        }
        return;
    }
    let total = |d: &Arrivals| d.running + d.owners;
    let minimum = if floor { 0 } else { domains.iter().filter(|d| d.eligible).map(total).min().unwrap_or(0) };
    for (d, domain) in domains.iter().enumerate() {
        let receives = domain.owners + domain.passing + domain.guests > 0;
        let count = total(domain);
        if receives && count > minimum + u64::from(spread.max_skew) {
            let domain = view.name(d, rule.key);
            broken.push(Broken::Skew { rule: r, domain, count, minimum, max_skew: spread.max_skew });
        }
    }
}
