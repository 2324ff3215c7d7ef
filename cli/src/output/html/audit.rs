//! The page of an audit.

use std::collections::BTreeSet;

use millwright_core::consolidate::{Audit, Wave};
use millwright_models::catalog::Catalog;
use millwright_models::world::World;

use super::cluster;
use super::page::{self, Bridge, Machine, Page, State, Tile, amounts};
use crate::output::audit_baseline;
use crate::output::money::{month, text};
use crate::planner::Heuristic;

/// Draws the cluster as it is beside the cluster after the waves.
pub fn of_audit(world: &World, catalog: &Catalog, audit: &Audit, heuristic: &Heuristic, prices: &str) -> String {
    let mut page = Page {
        title: "Millwright audit".to_owned(),
        subtitle: format!(
            "The same cluster under Karpenter's heuristics: {}. Prices: {prices}",
            audit_baseline::sentence(heuristic)
        ),
        resources: cluster::resources(world),
        after_title: if audit.waves.len() == 1 { "After this wave" } else { "After all waves" }.to_owned(),
        tiles: tiles(audit, heuristic),
        bridge: bridge(audit),
        waves: audit.waves.iter().filter(|w| !w.is_nothing()).map(wave).collect(),
        blocked: audit.blocked.clone(),
        unscheduled: audit.waves[0].unscheduled.clone(),
        warnings: audit.warnings.clone(),
        ..Page::default()
    };
    page.pods = cluster::pods(world, &page.resources);
    let mut before = cluster::machines(world, catalog, &page);
    page.after = after(&before, audit, &page);
    let gone: BTreeSet<&String> = audit.waves.iter().flat_map(|w| &w.removed).collect();
    for machine in before.iter_mut().filter(|m| gone.contains(&m.name)) {
        machine.state = State::Removed;
    }
    page.before = before;
    let moves = audit.waves.iter().flat_map(|w| &w.moves);
    page.moves = moves.map(|m| (m.pod.clone(), m.from.clone(), m.to.clone())).collect();
    page.render()
}

/// The machines once every wave has been carried out.
fn after(before: &[Machine], audit: &Audit, page: &Page) -> Vec<Machine> {
    let positions = page.positions();
    let mut machines = before.to_vec();
    for wave in &audit.waves {
        let removed: BTreeSet<&String> = wave.removed.iter().collect();
        machines.retain(|m| !removed.contains(&m.name));
        for (name, pods) in &wave.existing {
            if let Some(machine) = machines.iter_mut().find(|m| m.name == *name) {
                machine.pods.extend(positions(pods));
            }
        }
        for ((node, name), pods) in wave.nodes.iter().zip(&wave.names).zip(&wave.pods) {
            machines.push(Machine {
                name: name.clone(),
                state: State::New,
                instance_type: node.instance_type.clone(),
                zone: node.zone.clone(),
                capacity_type: node.capacity_type.clone(),
                price: node.price,
                capacity: amounts(&node.allocatable, &page.resources),
                system: amounts(&node.daemons, &page.resources),
                pods: positions(pods),
            });
        }
    }
    machines
}

fn wave(wave: &Wave) -> page::Wave {
    let added = wave.nodes.iter().map(|n| format!("{} in {}", n.instance_type, n.zone)).collect();
    page::Wave { removed: wave.removed.clone(), added, moved: wave.evictions(), cost: wave.cost, bound: wave.bound }
}

fn tiles(audit: &Audit, heuristic: &Heuristic) -> Vec<Tile> {
    let tile = |label: &str, value: String| Tile { label: label.to_owned(), value };
    let last = audit.waves.last().unwrap_or(&audit.waves[0]);
    let removed: usize = audit.waves.iter().map(|w| w.removed.len()).sum();
    let added: usize = audit.waves.iter().map(|w| w.nodes.len()).sum();
    let evictions: usize = audit.waves.iter().map(Wave::evictions).sum();
    vec![
        tile("per hour now", text(audit.current_cost, 4)),
        tile("per hour after", text(last.cost, 4)),
        tile("saved per month of 730 h", month(audit.current_cost - last.cost)),
        tile("per hour under Karpenter's heuristics", text(heuristic.trajectory.cost(), 4)),
        tile("ideal per hour", text(audit.ideal.cost, 4)),
        tile("proven minimum per hour", text(audit.ideal.bound, 4)),
        tile("nodes removed, added", format!("{removed}, {added}")),
        tile("pods moved", evictions.to_string()),
    ]
}

/// From what the cluster costs, wave by wave, to its proven minimum.
fn bridge(audit: &Audit) -> Vec<Bridge> {
    let total = |label: &str, to: i64| Bridge { label: label.to_owned(), from: 0, to, total: true };
    let step = |label: String, from: i64, to: i64| Bridge { label, from, to, total: false };
    let mut steps = vec![total("Now", audit.current_cost)];
    let mut at = audit.current_cost;
    for (i, wave) in audit.waves.iter().enumerate().filter(|(_, w)| w.cost != audit.current_cost || !w.is_nothing()) {
        steps.push(step(format!("Wave {}", i + 1), at, wave.cost));
        at = wave.cost;
    }
    if audit.ideal.cost < at {
        steps.push(step("Held back by budgets and opt-outs".to_owned(), at, audit.ideal.cost));
        at = audit.ideal.cost;
    }
    if audit.ideal.bound < at {
        steps.push(step("At most to be gained beyond".to_owned(), at, audit.ideal.bound));
    }
    steps.push(total("Proven minimum", audit.ideal.bound));
    steps
}
