use super::broken::{Broken, Spot};
use super::place::{View, carries, resident_carries};
use crate::instance::{Instance, Rule};

/// Pods in one domain, as an anti-affinity sees them.
#[derive(Clone, Default)]
struct Pairs {
    /// New pods that carry it and are selected, carry it only, are selected
    /// only.
    both: u64,
    owners: u64,
    selected: u64,
    /// The same of what ran before and stays: selected, carriers.
    old_selected: u64,
    old_owners: u64,
}

/// A domain with an owner holds no other selected pod, in either direction;
/// what ran before is not judged among itself.
pub(super) fn anti(instance: &Instance, view: &View, r: usize, rule: &Rule, broken: &mut Vec<Broken>) {
    let domains = count(instance, view, r, rule);
    for (d, p) in domains.iter().enumerate() {
        let new_owner = p.both + p.owners > 0;
        let new_selected = p.both + p.selected > 0;
        let clash = p.both > 1
            || (p.both == 1 && p.owners + p.selected > 0)
            || (p.owners > 0 && p.selected > 0)
            || (new_owner && p.old_selected > 0)
            || (new_selected && p.old_owners > 0);
        if clash {
            broken.push(Broken::Anti { rule: r, domain: view.name(d, rule.key) });
        }
    }
}

/// A domain with an owner also holds a selected pod; one owner that selects
/// itself may come first if nothing selected is anywhere.
pub(super) fn affinity(instance: &Instance, view: &View, r: usize, rule: &Rule, broken: &mut Vec<Broken>) {
    for (p, place) in view.places.iter().enumerate() {
        if view.domain(p, rule.key).is_none() && place.pods.iter().any(|x| carries(instance, r, rule, x)) {
            broken.push(Broken::NoDomain { rule: r, spot: place.spot });
        }
    }
    let domains = count(instance, view, r, rule);
    let mut first_is_free = !anything_selected(view, rule);
    for (d, p) in domains.iter().enumerate() {
        let owners = p.both + p.owners;
        if owners == 0 || p.selected + p.old_selected > 0 {
            continue;
        }
        if p.both > 0 && first_is_free {
            first_is_free = false;
            continue;
        }
        broken.push(Broken::Affinity { rule: r, domain: view.name(d, rule.key) });
    }
}

/// Whether a selected pod runs and stays, whatever its domain.
fn anything_selected(view: &View, rule: &Rule) -> bool {
    rule.present.iter().any(|&(n, c)| c > 0 && view.of_node[n].is_some())
        || view.places.iter().any(|p| p.residents.iter().any(|&(s, c)| c > 0 && rule.selects(s)))
}

fn count(instance: &Instance, view: &View, r: usize, rule: &Rule) -> Vec<Pairs> {
    let mut domains = vec![Pairs::default(); view.domains(instance, rule.key)];
    for (p, place) in view.places.iter().enumerate() {
        let Some(d) = view.domain(p, rule.key) else { continue };
        let domain = &mut domains[d];
        for pods in &place.pods {
            let n = u64::from(pods.count);
            match (carries(instance, r, rule, pods), rule.selects(pods.shape)) {
                (true, true) => domain.both += n,
                (true, false) => domain.owners += n,
                (false, true) => domain.selected += n,
                (false, false) => {}
            }
        }
        for &(s, c) in place.residents {
            if rule.selects(s) {
                domain.old_selected += u64::from(c);
            }
            if resident_carries(instance, r, rule, s) {
                domain.old_owners += u64::from(c);
            }
        }
        debug_assert!(matches!(place.spot, Spot::Node(_)) || place.residents.is_empty());
    }
    let on = |n: usize| view.of_node[n].and_then(|p| view.domain(p, rule.key));
    for &(n, c) in &rule.present {
        if let Some(d) = on(n) {
            domains[d].old_selected += u64::from(c);
        }
    }
    for &(n, c) in &rule.present_owners {
        if let Some(d) = on(n) {
            domains[d].old_owners += u64::from(c);
        }
    }
    domains
}
