//! One wave: terms, compiler, engine, and the rules that judge whole moves.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use millwright_models::catalog::{CapacityType, Catalog, Gates};
use millwright_models::karpenter::labels::{CAPACITY_TYPE, SPOT};
use millwright_models::lift::{self, Lifted};
use millwright_models::lower::{BinSource, Lowered, Removals, Settings, Witness, lower_with_removals};
use millwright_models::world::World;
use millwright_solver::engine::{self, Outcome};
use millwright_solver::instance::Micros;
use millwright_solver::plan::Plan;
use serde_json::{Value, json};

use super::moves::parts;
use super::terms::{Drifted, Terms, terms};
use super::{AuditError, Limits, Options, launch, policy, takes_unmanaged};
use crate::candidates::Scene;
use crate::nodes::{Memory, StateNode};
use crate::provision::{self, Clock};

/// What every solve of an audit shares.
pub struct Context<'a> {
    pub catalog: &'a Catalog,
    pub options: &'a Options,
    pub clock: Clock<'a>,
    /// When the audit is due.
    pub due: Option<Duration>,
}

/// A wave with everything it was made from.
pub struct Solved<'w> {
    pub terms: Terms<'w>,
    pub lowered: Lowered<'w>,
    pub outcome: Outcome,
    pub lifted: Lifted,
    /// Nodes that a judgement on whole moves keeps.
    pub held: BTreeMap<String, String>,
}

impl<'a> Context<'a> {
    /// Whether the audit's time is over.
    pub fn late(&self) -> bool {
        self.due.is_some_and(|d| (self.clock)() >= d)
    }

    /// The engine's options with a share of the time that is left.
    pub fn engine(&self, share: f64) -> engine::Options {
        let now = (self.clock)();
        let deadline = self.due.map(|d| now + d.saturating_sub(now).mul_f64(share));
        engine::Options { deadline, ..self.options.engine.clone() }
    }

    /// The best legal wave.
    pub fn solve<'w>(
        &self,
        scene: &Scene<'w>,
        price: Micros,
        limits: &Limits,
        share: f64,
    ) -> Result<Solved<'w>, AuditError> {
        let now = (self.clock)();
        let due = self.due.map(|d| now + d.saturating_sub(now).mul_f64(share));
        let part = Context { catalog: self.catalog, options: self.options, clock: self.clock, due };
        let judged = scene.world.node_pools.iter().any(|p| p.disruption.policy == "Balanced");
        let open = self.options.lower.gates.spot_to_spot_consolidation;
        let has_spot = |n: &StateNode<'_>| n.labels().get(CAPACITY_TYPE).is_some_and(|c| c == SPOT);
        let gated = !open && scene.nodes.iter().any(has_spot);
        let plain = part.rounds(scene, price, limits, false, judged || gated)?;
        // Where spot may not replace spot, spot nodes can still go without
        // replacement: worth a look of its own.
        if open || plain.held.is_empty() || !plain.met_spot {
            return Ok(plain.solved);
        }
        let without = part.rounds(scene, price, limits, true, judged)?;
        let better = without.solved.merit() < plain.solved.merit();
        Ok(if better { without.solved } else { plain.solved })
    }

    /// Solves until no rule rejects a move; every round holds more nodes.
    fn rounds<'w>(
        &self,
        scene: &Scene<'w>,
        price: Micros,
        limits: &Limits,
        no_spot: bool,
        judged: bool,
    ) -> Result<Rounds<'w>, AuditError> {
        let settings = &self.options.lower;
        let open = settings.gates.spot_to_spot_consolidation;
        let mut held = BTreeMap::new();
        let mut met_spot = false;
        loop {
            let terms = terms(scene, price, limits, &held, self.options.drifted);
            let mut lowered = lower_with_removals(scene.world, self.catalog, settings, &terms.removals)?;
            let rooted = rooted(scene.world, &lowered);
            if !rooted.is_empty() {
                held.extend(rooted);
                continue;
            }
            if no_spot {
                close_spot(&mut lowered);
            }
            let engine = self.engine(if judged { 0.5 } else { 1.0 });
            let outcome = engine::solve(&lowered.instance, &engine, self.clock)?;
            let mut lifted = lift::lift(&lowered, &outcome.plan, settings.spot_types);
            let prices: BTreeMap<&str, Micros> =
                lowered.places.iter().map(|p| p.name).zip(lowered.instance.nodes.iter().map(|n| n.price)).collect();
            let parts = parts(&lifted, |name| prices.get(name).copied().unwrap_or(0));
            met_spot |= !open && policy::has_spot_to_spot(&terms, &lifted, &parts);
            let homeless = homeless(scene.world, &terms, &lifted);
            if !homeless.is_empty() {
                held.extend(homeless);
                continue;
            }
            let rejected = policy::rejected(&terms, &lifted, &parts, open);
            if rejected.is_empty() {
                launch::narrow(&lowered, &mut lifted, &parts);
                return Ok(Rounds {
                    solved: Solved { terms, lowered, outcome, lifted, held: held.clone() },
                    held,
                    met_spot,
                });
            }
            held.extend(rejected);
        }
    }
}

struct Rounds<'w> {
    solved: Solved<'w>,
    held: BTreeMap<String, String>,
    met_spot: bool,
}

/// Nodes with pods that nothing but the node itself would take, by name, with
/// the reason.
pub fn rooted(world: &World, lowered: &Lowered<'_>) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let nothing = Plan::default();
    let mut witness = None;
    for (s, _) in lowered.instance.shapes.iter().enumerate().filter(|(_, s)| s.tiers.is_empty()) {
        for p in &lowered.shape_pods[s] {
            if let Some(&home) = lowered.homes.get(p) {
                out.entry(lowered.places[home].name.to_owned()).or_insert_with(|| {
                    let witness = witness.get_or_insert_with(|| Witness::new(lowered, &nothing));
                    let why = witness.why(*p, s).reasons.join("; ");
                    format!("pod {} could not be placed again: {why}", world.pods[*p].full_name())
                });
            }
        }
    }
    out
}

/// Nodes that must go and whose pods would lose their place by that, with
/// the first such pod.
fn homeless(world: &World, terms: &Terms<'_>, lifted: &Lifted) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for (p, why) in &lifted.unscheduled {
        let Some(home) = &world.pods[*p].node_name else { continue };
        if terms.removals.nodes.get(home).is_some_and(|t| t.forced) {
            let pod = world.pods[*p].full_name();
            let because = || format!("it drifted, and pod {pod} could not be placed again: {}", why.join("; "));
            out.entry(home.clone()).or_insert_with(because);
        }
    }
    out
}

/// Lets nothing be bought on the spot market.
fn close_spot(lowered: &mut Lowered<'_>) {
    for (bin, source) in lowered.instance.bins.iter_mut().zip(&lowered.bins) {
        let row = match source {
            BinSource::Row(r) => *r,
            BinSource::Envelope(e) => e.members[0],
        };
        if lowered.offers.offering(&lowered.offers.rows[row]).capacity_type == CapacityType::Spot {
            bin.buyable = false;
        }
    }
}

impl Solved<'_> {
    /// What the cluster costs afterwards.
    pub fn cost(&self) -> Micros {
        self.outcome.plan.cost_after(&self.lowered.instance)
    }

    /// Whether a node is on its way out: its claim is, or the node itself.
    pub fn is_leaving(&self, scene: &Scene<'_>, name: &str) -> bool {
        let marked = scene.nodes.iter().any(|n| n.name() == name && n.is_marked(&scene.memory));
        marked || self.lowered.places.iter().any(|p| p.name == name && p.leaving)
    }

    /// The proven minimum, at this plan's charge.
    pub fn bound(&self) -> Micros {
        self.after(self.outcome.bound)
    }

    /// The same, proved by search.
    pub fn claimed_bound(&self) -> Option<Micros> {
        self.outcome.claimed.map(|c| self.after(c)).filter(|c| *c > self.bound())
    }

    /// A bound on the objective as one on the cost.
    fn after(&self, bound: Micros) -> Micros {
        let instance = &self.lowered.instance;
        (instance.current_cost() + bound - self.outcome.plan.charges(instance)).max(0)
    }

    /// Less is better: pods without a place, then the objective.
    fn merit(&self) -> (usize, Micros) {
        (self.lifted.unscheduled.len(), self.outcome.plan.cost(&self.lowered.instance))
    }

    /// This cost less the best known where one spot type per node is enough.
    pub fn premium(&self, cx: &Context<'_>, scene: &Scene<'_>, price: Micros) -> Result<Micros, AuditError> {
        if !self.lowered.bins.iter().any(|b| matches!(b, BinSource::Envelope(_))) {
            return Ok(0);
        }
        let options = Options { lower: Settings { spot_types: 1, ..cx.options.lower.clone() }, ..cx.options.clone() };
        let single = Context { options: &options, ..*cx }.solve(scene, price, &options.limits, 0.4)?;
        let fair = single.lifted.unscheduled.len() <= self.lifted.unscheduled.len();
        Ok(if fair { (self.cost() - single.cost()).max(0) } else { 0 })
    }

    /// The proof, with everything needed to state the problem again.
    pub fn certificate(&self, cx: &Context<'_>, world: &World, price: Micros) -> Value {
        let options = provision::Options {
            lower: cx.options.lower.clone(),
            engine: cx.options.engine.clone(),
            now: cx.options.now.to_string(),
            baseline: false,
        };
        let mut certificate = provision::certificate(world, cx.catalog, &self.lowered, &self.outcome, &options);
        let limits = &cx.options.limits;
        certificate["options"]["audit"] = json!({
            "disruption_price": price as f64 / 1e6,
            "max_evictions": limits.evictions,
            "max_removed": limits.removed,
            "include_unmanaged": cx.options.include_unmanaged,
            "drifted_must_go": cx.options.drifted == Drifted::Must,
            "held": self.held.keys().collect::<Vec<_>>(),
        });
        certificate
    }
}

/// The terms that an audit's certificate was made for.
pub(crate) fn removals(
    world: &World,
    catalog: &Catalog,
    gates: Gates,
    now: Timestamp,
    said: &Value,
) -> Result<Removals, String> {
    let number = |key: &str| match said.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_i64().filter(|n| *n >= 0).map(Some).ok_or_else(|| format!("{key} is no count")),
    };
    let price = said.get("disruption_price").and_then(Value::as_f64).filter(|p| (0.0..1e12).contains(p));
    let price = (price.ok_or("disruption_price is no price")? * 1e6).round() as Micros;
    let limits = Limits { evictions: number("max_evictions")?, removed: number("max_removed")? };
    let mut scene = Scene::new(world, catalog, gates, now, Memory::default());
    let unmanaged = said.get("include_unmanaged").and_then(Value::as_bool).ok_or("include_unmanaged is missing")?;
    scene.unmanaged = takes_unmanaged(unmanaged, world);
    let mut held = BTreeMap::new();
    for name in said.get("held").and_then(Value::as_array).ok_or("held is no list")? {
        let name = name.as_str().ok_or("held holds something else than names")?;
        held.insert(name.to_owned(), String::new());
    }
    let must = said.get("drifted_must_go").and_then(Value::as_bool).unwrap_or(false);
    let drift = if must { Drifted::Must } else { Drifted::May };
    Ok(terms(&scene, price, &limits, &held, drift).removals)
}
