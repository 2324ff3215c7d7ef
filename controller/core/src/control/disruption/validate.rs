//! Whether a command that was decided on a while ago is still right.
//! (spec 30 §15)

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::rules::{Placement, State, landing_order};
use rustc_hash::FxHashSet;

use super::command::{Command, Method};
use super::conditions::drifted;
use super::simple::{draw, remaining};
use crate::budgets::Reason;
use crate::candidates::{Class, Scene};
use crate::control::desk::Desk;
use crate::control::landing;
use crate::control::ledger::Ledger;
use crate::control::slots::Slots;
use crate::control::view::View;

/// Why a command is dropped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    #[error("churn: {0}")]
    Churn(String),
    #[error("budget: NodePool {0} lets no more nodes go")]
    Budget(String),
    #[error("scheduling: {0}")]
    Scheduling(String),
}

/// What is left for the commands of a pass: of the pools' budgets per reason,
/// and of PodDisruptionBudgets.
pub struct Allowances {
    of_pools: BTreeMap<Reason, BTreeMap<String, i64>>,
    /// Evictions that are spoken for, per budget.
    evictions: BTreeMap<usize, i64>,
}

impl Allowances {
    /// Pods of nodes that are about to go have drawn their part already.
    pub fn new(scene: &Scene<'_>) -> Self {
        let reasons = [Reason::Empty, Reason::Drifted, Reason::Underutilized];
        let of_pools = reasons.into_iter().map(|r| (r, remaining(scene, r))).collect();
        let mut evictions = BTreeMap::new();
        for n in 0..scene.nodes.len() {
            if scene.nodes[n].is_queued(&scene.memory) {
                charge(scene, n, &mut evictions);
            }
        }
        Self { of_pools, evictions }
    }

    fn draw(&mut self, reason: Reason, pool: &str) -> bool {
        let granted = self.of_pools.get_mut(&reason).is_some_and(|left| draw(left, pool));
        if granted {
            // What goes for one reason counts against all.
            for (other, left) in &mut self.of_pools {
                if *other != reason
                    && let Some(n) = left.get_mut(pool)
                {
                    *n = (*n - 1).max(0);
                }
            }
        }
        granted
    }

    /// Draws the evictions of a node; the budget that lets too few go.
    fn evict(&mut self, scene: &Scene<'_>, n: usize) -> Result<(), Invalid> {
        charge(scene, n, &mut self.evictions);
        match self.evictions.iter().find(|(b, drawn)| **drawn > scene.pdbs.allowed(**b)) {
            Some((b, _)) => Err(Invalid::Scheduling(format!(
                "PodDisruptionBudget {} allows only {} evictions at once",
                scene.pdbs.key(*b),
                scene.pdbs.allowed(*b)
            ))),
            None => Ok(()),
        }
    }
}

fn charge(scene: &Scene<'_>, n: usize, evictions: &mut BTreeMap<usize, i64>) {
    for budget in scene.nodes[n].pods.iter().filter_map(|p| scene.pdbs.charged(*p, scene.now)) {
        *evictions.entry(budget).or_default() += 1;
    }
}

/// Judges a proposal after its wait, and draws from the budgets. An emptiness
/// command shrinks to what is still empty; another stands or falls whole.
pub fn proposal(
    view: &View<'_>,
    scene: &Scene<'_>,
    command: &mut Command,
    allowances: &mut Allowances,
) -> Result<(), Invalid> {
    if command.reason == Reason::Empty {
        return emptiness(view, scene, command, allowances);
    }
    forget_vanished(view, command);
    for candidate in &mut command.candidates {
        let at = scene.nodes.iter().position(|n| n.id() == candidate.id);
        let at = at.ok_or_else(|| Invalid::Churn(format!("node {} is gone", candidate.node)))?;
        let judged = scene.candidate(at, Class::Graceful).map_err(|why| Invalid::Churn(why.to_string()))?;
        let quiet = if judged.is_empty() { scene.emptiable(&judged) } else { scene.consolidatable(&judged) };
        if let Err(why) = quiet
            && drifted(view, &view.nodes[at]).is_none()
        {
            return Err(Invalid::Churn(why.to_string()));
        }
        let stranger = judged.pods.iter().map(|p| &scene.world.pods[*p]).find(|p| !command.moves.contains_key(&p.uid));
        if let Some(pod) = stranger {
            return Err(Invalid::Churn(format!("pod {} has come to node {}", pod.full_name(), candidate.node)));
        }
        candidate.price = judged.price;
        allowances.evict(scene, at)?;
    }
    pays(command)?;
    room(view, command)?;
    for candidate in &command.candidates {
        if !allowances.draw(command.reason, &candidate.pool) {
            return Err(Invalid::Budget(candidate.pool.clone()));
        }
    }
    Ok(())
}

/// Whether the pools may still buy what comes: up to their limits, since what
/// it replaces goes.
pub fn limits(view: &View<'_>, command: &Command, desk: &Desk) -> Result<(), Invalid> {
    if command.replacements.is_empty() {
        return Ok(());
    }
    let ledger = Ledger::new(view, desk);
    let mut pools = command.replacements.iter().filter_map(|r| view.world.node_pool(&r.pool));
    match pools.find_map(|p| ledger.exceeded(p)) {
        Some(over) => Err(Invalid::Scheduling(over.to_string())),
        None => Ok(()),
    }
}

/// Leaves out pods that no place has to be found for any more.
fn forget_vanished(view: &View<'_>, command: &mut Command) {
    let lives = view.world.pods.iter().filter(|p| p.is_reschedulable()).map(|p| p.uid.as_str());
    let lives: FxHashSet<&str> = lives.collect();
    command.forget_pods(|uid| lives.contains(uid));
}

/// Whether what goes costs more than what comes.
fn pays(command: &mut Command) -> Result<(), Invalid> {
    command.count_savings();
    match command.savings {
        saved if saved > 0 => Ok(()),
        _ => Err(Invalid::Scheduling("it saves nothing any more".to_owned())),
    }
}

/// Judges a command just before its replacements are bought: nothing is bought
/// for pods that are gone, nor in place of nodes that went by themselves.
pub fn purchase(view: &View<'_>, command: &mut Command) -> Result<(), Invalid> {
    forget_vanished(view, command);
    if command.method != Method::Consolidation {
        return Ok(());
    }
    let stays = |c: &NodeClaim| c.meta.deletion_timestamp.is_none();
    command
        .candidates
        .retain(|c| view.world.node_claim(&c.claim).is_some_and(|n| n.meta.uid == c.claim_uid && stays(n)));
    if command.candidates.is_empty() {
        return Err(Invalid::Churn("its nodes are gone".to_owned()));
    }
    pays(command)
}

fn emptiness(
    view: &View<'_>,
    scene: &Scene<'_>,
    command: &mut Command,
    allowances: &mut Allowances,
) -> Result<(), Invalid> {
    let mut full = None;
    command.candidates.retain(|c| {
        let Some(at) = scene.nodes.iter().position(|n| n.id() == c.id) else { return false };
        let Ok(judged) = scene.candidate(at, Class::Graceful) else { return false };
        let right = scene.emptiable(&judged).is_ok() || drifted(view, &view.nodes[at]).is_some();
        if !judged.is_empty() || !right {
            return false;
        }
        let granted = allowances.draw(Reason::Empty, &c.pool);
        if !granted {
            full = Some(c.pool.clone());
        }
        granted
    });
    match full {
        _ if !command.candidates.is_empty() => Ok(()),
        Some(pool) => Err(Invalid::Budget(pool)),
        None => Err(Invalid::Churn("no node is empty any more".to_owned())),
    }
}

/// Whether the moved pods that go to nodes which exist fit there now.
fn room(view: &View<'_>, command: &Command) -> Result<(), Invalid> {
    if command.receivers.is_empty() {
        return Ok(());
    }
    let mut state = without_candidates(view, command);
    for (name, slots) in &command.receivers {
        let Some(node) = view.nodes.iter().find(|n| n.name() == name && !landing::is_leaving(n)) else {
            return Err(Invalid::Scheduling(format!("node {name} is gone")));
        };
        if node.node.is_none() {
            continue;
        }
        for pod in present(view, slots) {
            let pod = Arc::new(pod.clone());
            match state.filter_anew(&pod, name) {
                // What depends on others is judged once they are there.
                Err(why) if !why.may_pass() => {
                    return Err(Invalid::Scheduling(format!("pod {} on node {name}: {why}", pod.full_name())));
                }
                _ => drop(state.place(&pod, name)),
            }
        }
    }
    Ok(())
}

fn without_candidates(view: &View<'_>, command: &Command) -> State {
    let mut state = landing::state(view.world, &BTreeMap::new());
    for candidate in &command.candidates {
        drop(state.remove_node(&candidate.node));
    }
    state
}

/// The pods of slots that are there still.
fn present<'w>(view: &View<'w>, slots: &Slots) -> Vec<&'w millwright_models::kube::pod::Pod> {
    let pod = |s: &crate::control::slots::Slot| {
        let (name, uid) = s.pod.as_ref()?;
        view.world.pod(&s.namespace, name).filter(|p| p.uid == *uid && p.is_reschedulable())
    };
    slots.all.iter().filter_map(pod).collect()
}

/// Judges a command whose receivers are all there, just before its nodes are
/// deleted: nobody may have got a claim to stay meanwhile, and every pod must
/// find its place.
pub fn last(view: &View<'_>, scene: &Scene<'_>, command: &Command) -> Result<(), Invalid> {
    let class = match command.method {
        Method::Drift | Method::StaticDrift => Class::Eventual,
        Method::Emptiness | Method::Consolidation => Class::Graceful,
    };
    for candidate in &command.candidates {
        let Some(at) = scene.nodes.iter().position(|n| n.id() == candidate.id) else { continue };
        if scene.nodes[at].claim.is_some_and(|c| c.meta.deletion_timestamp.is_some()) {
            continue;
        }
        let judged = scene.candidate(at, class).map_err(|why| Invalid::Churn(why.to_string()))?;
        if command.reason == Reason::Empty && !judged.is_empty() {
            return Err(Invalid::Churn(format!("node {} is not empty any more", candidate.node)));
        }
    }
    lands(view, command)
}

/// Whether every pod that moves finds its place among nodes that exist, once
/// the nodes of this command alone are gone.
pub fn lands(view: &View<'_>, command: &Command) -> Result<(), Invalid> {
    let mut placements = Vec::new();
    let replaced = command.replacements.iter().map(|r| (node_of(view, &r.name), &r.slots));
    let existing = command.receivers.iter().map(|(name, slots)| (node_of(view, name), slots));
    for (node, slots) in replaced.chain(existing) {
        let Some(node) = node else { continue };
        placements.extend(present(view, slots).into_iter().map(|p| Placement::new(Arc::new(p.clone()), node)));
    }
    if placements.is_empty() {
        return Ok(());
    }
    let state = without_candidates(view, command);
    match landing_order(&state, &placements) {
        Err(stuck) if stuck.proven => Err(Invalid::Scheduling(stuck.to_string())),
        _ => Ok(()),
    }
}

/// The node of that name, or of that claim.
fn node_of<'v>(view: &View<'v>, name: &str) -> Option<&'v str> {
    let named = |n: &&crate::nodes::StateNode<'_>| n.name() == name || n.claim.is_some_and(|c| c.meta.name == name);
    view.nodes.iter().find(named).and_then(|n| n.node).map(|n| n.meta.name.as_str())
}

/// Names of nodes that could take a pod which moves, beside its receivers:
/// they are held too, so that it does not go there. At most so many.
pub fn others(view: &View<'_>, command: &Command, most: usize) -> Vec<String> {
    let own: BTreeSet<&str> = command.candidates.iter().map(|c| c.node.as_str()).collect();
    let mut state = without_candidates(view, command);
    let mut shapes = BTreeSet::new();
    let all = command.receivers.values().chain(command.replacements.iter().map(|r| &r.slots));
    let mut samples: Vec<&millwright_models::kube::pod::Pod> = Vec::new();
    for slots in all {
        for (slot, pod) in slots.all.iter().zip(present(view, slots)) {
            if shapes.insert((slot.namespace.clone(), slot.shape.clone())) {
                samples.push(pod);
            }
        }
    }
    let mut names = Vec::new();
    for node in view.nodes.iter().filter(|n| !landing::is_leaving(n)) {
        let Some(real) = node.node.filter(|n| !landing::is_closed(n)) else { continue };
        let name = real.meta.name.as_str();
        if names.len() >= most {
            break;
        }
        let takes = |state: &mut State| samples.iter().any(|p| state.filter_anew(p, name).is_ok());
        if !own.contains(name) && !command.receivers.contains_key(name) && takes(&mut state) {
            names.push(name.to_owned());
        }
    }
    names
}
