//! Why one node stays, and what would let it go.

use std::time::Duration;

use millwright_models::catalog::Catalog;
use millwright_models::world::World;
use millwright_solver::instance::Micros;

use super::lifts::{Lift, lifts};
use super::price;
use super::solve::{Context, Solved};
use super::{AuditError, Options, blocked, ideal};
use crate::provision::Clock;

/// Parts of the time: for the wave, and for what the cluster could cost. The
/// rest is for the changes.
const WAVE: f64 = 0.25;
const IDEAL: f64 = 0.4;

/// Why a node cannot be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainNodeError {
    /// The input has no such node.
    #[error("there is no node {name}{hint}")]
    NoNode { name: String, hint: String },
    /// There is no audit.
    #[error(transparent)]
    Audit(#[from] AuditError),
}

/// What becomes of a node in the wave that is legal now.
#[derive(Clone, Debug)]
pub struct NodeExplanation {
    pub node: String,
    /// What it costs now.
    pub price: Micros,
    /// Where its pods go, if it goes: (pod, node or new node).
    pub goes: Option<Vec<(String, String)>>,
    /// Why it stays; none if it goes.
    pub reasons: Vec<String>,
    /// What would let it go, the best first.
    pub relaxations: Vec<Relaxation>,
    /// What the cluster costs now, and after the wave.
    pub current_cost: Micros,
    pub cost: Micros,
    pub elapsed: Duration,
    pub warnings: Vec<String>,
}

/// Changes that together let the node go, none of them to spare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relaxation {
    pub changes: Vec<String>,
    /// What the cluster costs after the wave that is legal then.
    pub cost: Micros,
}

/// Explains node `name` by the wave that [`super::audit`] finds with the same
/// options.
pub fn node(
    world: &World,
    catalog: &Catalog,
    options: &Options,
    clock: Clock<'_>,
    name: &str,
) -> Result<NodeExplanation, ExplainNodeError> {
    if world.node(name).is_none() {
        return Err(no_node(world, name));
    }
    let began = clock();
    let due = options.engine.deadline;
    let cx = Context { catalog, options, clock, due };
    let price = options.disruption_price.unwrap_or_else(|| price::default_price(&cx.scene(world)));
    let scene = cx.scene(world);
    let first = cx.solve(&scene, price, &options.limits, WAVE)?;
    let n = scene.nodes.iter().position(|s| s.name() == name);
    let mut out = NodeExplanation {
        node: name.to_owned(),
        price: n.and_then(|n| scene.price(n)).unwrap_or(0),
        goes: goes(world, &first, name),
        reasons: Vec::new(),
        relaxations: Vec::new(),
        current_cost: first.lowered.instance.current_cost(),
        cost: first.cost(),
        elapsed: Duration::ZERO,
        warnings: super::warnings::warnings(world, &scene, &first),
    };
    if out.goes.is_none() {
        let part = Context { due: due.map(|d| began + d.saturating_sub(began).mul_f64(IDEAL)), ..cx };
        let ideal = ideal::ideal(&part, &scene, &first)?;
        let all = blocked::blocked(&scene, &first, &ideal, price);
        out.reasons = all.into_iter().find(|(n, _)| n == name).map(|(_, why)| why).unwrap_or_default();
        out.relaxations = helpful(&cx, world, price, name, lifts(&scene, name, price), first.cost())?;
    }
    out.elapsed = clock().saturating_sub(began);
    Ok(out)
}

fn no_node(world: &World, name: &str) -> ExplainNodeError {
    let alike = world.nodes.iter().map(|n| n.meta.name.as_str()).find(|n| n.starts_with(name) || name.starts_with(n));
    let of_claim = world.node_claim(name).map(|c| c.node_name.as_str()).filter(|n| !n.is_empty());
    let hint = of_claim.or(alike).map_or_else(String::new, |n| format!("; is {n} meant?"));
    ExplainNodeError::NoNode { name: name.to_owned(), hint }
}

fn goes(world: &World, solved: &Solved<'_>, name: &str) -> Option<Vec<(String, String)>> {
    use millwright_models::lift::Target;
    if !solved.lifted.removed.iter().any(|r| r == name) {
        return None;
    }
    let moves = solved.lifted.moves.iter().filter(|m| m.from == name);
    let to = |t: &Target| match t {
        Target::Existing(node) => node.clone(),
        Target::New(i) => format!("a new {}", solved.lifted.nodes[*i].instance_type),
    };
    Some(moves.map(|m| (world.pods[m.pod].full_name(), to(&m.to))).collect())
}

/// Single changes that help; where none does, all together as far as they are
/// needed. `now` is the cost after the wave without a change.
fn helpful(
    cx: &Context<'_>,
    world: &World,
    price: Micros,
    name: &str,
    all: Vec<Lift>,
    now: Micros,
) -> Result<Vec<Relaxation>, AuditError> {
    let mut out = Vec::new();
    let mut left = all.len() + if all.len() > 1 { all.len() + 1 } else { 0 };
    let mut try_out = |lifts: &[&Lift]| -> Result<Option<Micros>, AuditError> {
        let share = 1.0 / left.max(1) as f64;
        left = left.saturating_sub(1);
        if cx.late() {
            return Ok(None);
        }
        let mut changed = world.clone();
        lifts.iter().for_each(|l| l.apply(&mut changed));
        let price = if lifts.iter().any(|l| matches!(l, Lift::FreeDisruption)) { 0 } else { price };
        let scene = cx.scene(&changed);
        let solved = cx.solve(&scene, price, &cx.options.limits, share)?;
        Ok(solved.lifted.removed.iter().any(|r| r == name).then(|| solved.cost()))
    };
    for lift in &all {
        // Disruption that saves nothing is not worth its being free.
        let worth = |cost: Micros| !matches!(lift, Lift::FreeDisruption) || cost < now;
        if let Some(cost) = try_out(&[lift])?.filter(|cost| worth(*cost)) {
            out.push(Relaxation { changes: vec![lift.words()], cost });
        }
    }
    if out.is_empty() && all.len() > 1 {
        let mut needed: Vec<&Lift> = all.iter().collect();
        if let Some(mut cost) = try_out(&needed)? {
            for lift in &all {
                let fewer: Vec<&Lift> = needed.iter().copied().filter(|l| *l != lift).collect();
                if let Some(without) = try_out(&fewer)? {
                    needed = fewer;
                    cost = without;
                }
            }
            out.push(Relaxation { changes: needed.iter().map(|l| l.words()).collect(), cost });
        }
    }
    out.sort_by_key(|r| r.cost);
    Ok(out)
}
