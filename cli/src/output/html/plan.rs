//! The page of a plan.

use millwright_models::catalog::Catalog;
use millwright_models::world::World;

use super::cluster;
use super::page::{Bridge, Machine, Page, State, Tile, amounts};
use crate::answer::{Answer, PlannedNode};
use crate::output::money::{month, text};

/// Draws what would be bought, beside the nodes there are.
pub fn of_plan(world: &World, catalog: &Catalog, answer: &Answer, prices: &str) -> String {
    let mut page = Page {
        title: "Millwright plan".to_owned(),
        subtitle: format!("Prices: {prices}"),
        resources: cluster::resources(world),
        after_title: "Planned".to_owned(),
        unscheduled: answer.unscheduled.clone(),
        warnings: answer.warnings.clone(),
        tiles: tiles(answer),
        bridge: bridge(answer),
        ..Page::default()
    };
    page.pods = cluster::pods(world, &page.resources);
    let positions = page.positions();
    let mut undrawn = Vec::new();
    let mut after = cluster::machines(world, catalog, &page);
    for (node, pods) in &answer.existing {
        match after.iter_mut().find(|m| m.name == *node) {
            Some(machine) => machine.pods.extend(positions(pods)),
            // A claim in flight has no Node yet, so nothing to draw it by.
            None => undrawn.push(format!("{node} takes {} pods and is not drawn: it has no Node yet", pods.len())),
        }
    }
    let new = |(i, n): (usize, &PlannedNode)| Machine {
        name: format!("new {}", i + 1),
        state: State::New,
        instance_type: n.instance_type.clone(),
        zone: n.zone.clone(),
        capacity_type: n.capacity_type.clone(),
        price: n.price,
        capacity: amounts(&n.allocatable, &page.resources),
        system: amounts(&n.daemons, &page.resources),
        pods: positions(&n.pods),
    };
    after.extend(answer.nodes.iter().enumerate().map(new));
    drop(positions);
    page.warnings.extend(undrawn);
    page.after = after;
    page.render()
}

fn tiles(answer: &Answer) -> Vec<Tile> {
    let tile = |label: &str, value: String| Tile { label: label.to_owned(), value };
    let mut tiles = vec![
        tile("per hour", text(answer.cost, 4)),
        tile("per month of 730 h", month(answer.cost)),
        tile("lower bound per hour", text(answer.bound, 4)),
    ];
    if let Some(gap) = answer.gap {
        tiles.push(tile("above the bound", format!("{:.2} %", 100.0 * gap)));
    }
    tiles.push(tile("nodes to buy", answer.nodes.len().to_string()));
    if !answer.unscheduled.is_empty() {
        tiles.push(tile("pods without a place", answer.unscheduled.len().to_string()));
    }
    tiles
}

/// From what Karpenter's algorithm would cost to the proven minimum.
fn bridge(answer: &Answer) -> Vec<Bridge> {
    let total = |label: &str, to: i64| Bridge { label: label.to_owned(), from: 0, to, total: true };
    let step = |label: &str, from: i64, to: i64| Bridge { label: label.to_owned(), from, to, total: false };
    let mut steps = Vec::new();
    // Where that leaves more pods out, its cost is no comparison.
    if answer.baseline.cost > 0 && answer.baseline.unscheduled <= answer.unscheduled.len() {
        steps.push(total("Karpenter's algorithm", answer.baseline.cost));
        steps.push(step("Solved instead", answer.baseline.cost, answer.cost));
    }
    steps.push(total("This plan", answer.cost));
    if answer.bound > 0 && answer.bound < answer.cost {
        steps.push(step("At most to be gained", answer.cost, answer.bound));
    }
    steps.push(total("Proven minimum", answer.bound));
    steps
}
