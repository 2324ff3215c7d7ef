//! An order in which every placement is legal when it happens.
//!
//! Room, ports, taints and anti-affinity do not depend on the order. Spread
//! does: a domain may receive only while it is not too far above the lowest.
//! So does required affinity: a follower needs its target, or to be the first
//! of all. Pods that no rule can tell apart and that go to nodes in the same
//! domains form a cell; cells take turns, the one that unbalances least first,
//! and one that is blocked waits until a counter it looks at has moved.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use thiserror::Error;

use super::refusal::Refusal;
use super::replay::Placement;
use super::search;
use super::state::State;
use super::topology::{Domain, Slot};

const HOSTNAME: &str = "kubernetes.io/hostname";

/// The domains a cell is in.
type Region = Vec<Option<Domain>>;

/// No legal order was found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{} of the placements cannot land: {}", refused.len(), refused.first().map_or_else(String::new, |(i, r)| format!("#{i}: {r}")))]
pub struct Stuck {
    /// What landed, in order, in the attempt that came furthest.
    pub landed: Vec<usize>,
    /// A placement that was refused then, and why, for each kind of pod and node.
    pub refused: Vec<(usize, Refusal)>,
    /// Whether no order can be legal; otherwise none was found.
    pub proven: bool,
}

/// Pods of one class for one node.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub class: usize,
    pub slot: Slot,
    /// Placements, the next one last.
    pub pods: Vec<usize>,
}

/// Pieces of one class in the same domains.
#[derive(Clone, Debug)]
struct Cell {
    class: usize,
    tier: Tier,
    /// Some spread counts it that it does not carry.
    foreign: bool,
    pieces: VecDeque<Piece>,
}

/// What a cell is to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tier {
    /// Begins an affinity group where no other target will come.
    First,
    /// Carries spread or affinity, or is counted by no spread.
    Carrier,
    /// Carries nothing, but some spread counts it.
    Stranger,
}

/// Which cells go first.
#[derive(Clone, Copy, Debug)]
enum Strategy {
    Carriers,
    Balance,
    Strangers,
    /// Whom some spread counts that they do not carry come last, affinity or
    /// not.
    Natives,
}

/// Finds an order of `placements`, as positions, in which each is legal when
/// it happens.
pub fn landing_order(state: &State, placements: &[Placement]) -> Result<Vec<usize>, Stuck> {
    let given = as_given(state, placements);
    let mut best = match given {
        Ok(order) => return Ok(order),
        Err(stuck) if stuck.proven => return Err(stuck),
        Err(stuck) => stuck,
    };
    let mut state = state.clone();
    let cells = cells(&mut state, placements).map_err(|refused| Stuck { landed: Vec::new(), refused, proven: true })?;
    for strategy in [Strategy::Carriers, Strategy::Balance, Strategy::Strangers, Strategy::Natives] {
        match attempt(state.clone(), placements, cells.clone(), strategy) {
            Ok(order) => return Ok(order),
            Err(stuck) if stuck.proven => return Err(stuck),
            Err(stuck) if stuck.landed.len() > best.landed.len() => best = stuck,
            Err(_) => {}
        }
    }
    let pieces = cells.into_iter().flat_map(|c| c.pieces).collect();
    match search::order(state, placements, pieces) {
        search::Outcome::Found(order) => Ok(order),
        search::Outcome::Impossible => Err(Stuck { proven: true, ..best }),
        search::Outcome::GaveUp => Err(best),
    }
}

/// Whether the order of the input will do.
fn as_given(state: &State, placements: &[Placement]) -> Result<Vec<usize>, Stuck> {
    let mut state = state.clone();
    for placement in placements {
        state.counters.intern(&placement.pod);
    }
    for (i, placement) in placements.iter().enumerate() {
        if let Err(refusal) = state.land(placement) {
            let proven = !refusal.may_pass();
            return Err(Stuck { landed: (0..i).collect(), refused: vec![(i, refusal)], proven });
        }
    }
    Ok((0..placements.len()).collect())
}

/// Sorts placements into cells; refused are those whose node will never do.
fn cells(state: &mut State, placements: &[Placement]) -> Result<Vec<Cell>, Vec<(usize, Refusal)>> {
    let classes: Vec<usize> = placements.iter().map(|p| state.counters.intern(&p.pod)).collect();
    let mut sorted: BTreeMap<(usize, Region), BTreeMap<Slot, Vec<usize>>> = BTreeMap::new();
    let mut refused = Vec::new();
    let mut fine: BTreeSet<(usize, Slot)> = BTreeSet::new();
    for (i, (placement, class)) in placements.iter().zip(classes).enumerate() {
        let slot = match state.slot(&placement.node) {
            Ok(slot) => slot,
            Err(error) => {
                refused.push((i, error.into()));
                continue;
            }
        };
        let alike = placement.pod.spec.volumes.is_empty();
        if !(alike && fine.contains(&(class, slot))) {
            match state.node_admits(&placement.pod, class, slot) {
                Ok(()) if alike => drop(fine.insert((class, slot))),
                Ok(()) => {}
                Err(refusal) => refused.push((i, refusal)),
            }
        }
        let region = state.region(class, slot);
        sorted.entry((class, region)).or_default().entry(slot).or_default().push(i);
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    let cell = |((class, _), pieces): ((usize, _), BTreeMap<Slot, Vec<usize>>)| {
        let piece = |(slot, mut pods): (Slot, Vec<usize>)| {
            pods.reverse();
            Piece { class, slot, pods }
        };
        let tier = if state.counters.is_stranger(class) { Tier::Stranger } else { Tier::Carrier };
        let foreign = state.counters.is_foreign(class);
        Cell { class, tier, foreign, pieces: pieces.into_iter().map(piece).collect() }
    };
    let mut cells: Vec<Cell> = sorted.into_iter().map(cell).collect();
    mark_first(state, &mut cells);
    Ok(cells)
}

/// An affinity group without any target yet must begin somewhere; not where
/// other targets come anyway, for then the domains without them never could.
fn mark_first(state: &State, cells: &mut [Cell]) {
    let counters = &state.counters;
    let mut with_targets: BTreeMap<usize, BTreeSet<Option<Domain>>> = BTreeMap::new();
    let begins = |cell: &Cell| {
        let follow = counters.classes[cell.class].affinity.as_ref()?;
        let empty = follow.tallies.iter().all(|t| counters.tallies[*t].is_empty());
        let key = counters.tallies[*follow.tallies.first()?].topology;
        (follow.is_target && empty).then_some((follow.pick, key))
    };
    let domain = |cell: &Cell, key| cell.pieces.front().and_then(|p| counters.topologies.domain(key, p.slot));
    let groups: BTreeMap<usize, usize> = cells.iter().filter_map(begins).collect();
    for cell in cells.iter() {
        let class = &counters.classes[cell.class];
        let own = class.affinity.as_ref().map(|f| f.pick);
        for (pick, key) in groups.iter().filter(|(pick, _)| class.picks.contains(pick) && own != Some(**pick)) {
            let slots = cell.pieces.iter().map(|p| counters.topologies.domain(*key, p.slot));
            with_targets.entry(*pick).or_default().extend(slots);
        }
    }
    for cell in cells.iter_mut() {
        if let Some((pick, key)) = begins(cell) {
            let others = with_targets.get(&pick).is_some_and(|domains| domains.contains(&domain(cell, key)));
            if !others {
                cell.tier = Tier::First;
            }
        }
    }
}

/// One greedy pass.
fn attempt(
    mut state: State,
    placements: &[Placement],
    mut cells: Vec<Cell>,
    strategy: Strategy,
) -> Result<Vec<usize>, Stuck> {
    let rank = |state: &State, cells: &[Cell], cell: usize| strategy.rank(&cells[cell], state);
    let mut queue: BTreeSet<([u32; 2], usize)> = (0..cells.len()).map(|c| (rank(&state, &cells, c), c)).collect();
    let mut blocked: Vec<(usize, u64)> = Vec::new();
    let mut landed = Vec::new();
    while let Some((old, at)) = queue.pop_first() {
        let now = rank(&state, &cells, at);
        if now > old {
            queue.insert((now, at));
            continue;
        }
        match step(&mut state, placements, &mut cells[at]) {
            Err(refused) => return Err(Stuck { landed, refused: vec![refused], proven: true }),
            Ok(None) => blocked.push((at, state.counters.stamp(cells[at].class))),
            Ok(Some(placement)) => {
                landed.push(placement);
                if !cells[at].pieces.is_empty() {
                    queue.insert((rank(&state, &cells, at), at));
                }
                blocked.retain(|(cell, stamp)| {
                    let waits = state.counters.stamp(cells[*cell].class) == *stamp;
                    if !waits {
                        queue.insert((rank(&state, &cells, *cell), *cell));
                    }
                    waits
                });
            }
        }
    }
    let left: Vec<&Piece> = blocked.iter().flat_map(|(cell, _)| &cells[*cell].pieces).collect();
    if left.is_empty() {
        return Ok(landed);
    }
    let refused = left.into_iter().filter_map(|piece| {
        let next = *piece.pods.last()?;
        let refusal = state.room_admits(&placements[next].pod, piece.class, piece.slot).err()?;
        Some((next, refusal))
    });
    let refused = refused.collect();
    Err(Stuck { landed, refused, proven: false })
}

/// Lands one pod of a cell: the placement, or nothing if all must wait, or the
/// one that never can.
fn step(state: &mut State, placements: &[Placement], cell: &mut Cell) -> Result<Option<usize>, (usize, Refusal)> {
    for _ in 0..cell.pieces.len() {
        let Some(mut piece) = cell.pieces.pop_front() else { return Ok(None) };
        let Some(next) = piece.pods.pop() else { continue };
        match state.land_in(&placements[next].pod, piece.class, piece.slot) {
            Ok(()) => {
                if !piece.pods.is_empty() {
                    cell.pieces.push_back(piece);
                }
                return Ok(Some(next));
            }
            Err(refusal) if !refusal.may_pass() => return Err((next, refusal)),
            Err(refusal) => {
                piece.pods.push(next);
                cell.pieces.push_back(piece);
                // Every node of the cell is in the same domain of this key.
                if refusal.key() != Some(HOSTNAME) {
                    return Ok(None);
                }
            }
        }
    }
    Ok(None)
}

impl Strategy {
    fn rank(self, cell: &Cell, state: &State) -> [u32; 2] {
        let tier = match (self, cell.tier) {
            (Self::Natives, _) => 1 + u32::from(cell.foreign),
            (_, Tier::First) => 0,
            (Self::Carriers, Tier::Carrier) | (Self::Strangers, Tier::Stranger) | (Self::Balance, _) => 1,
            _ => 2,
        };
        [tier, cell.pieces.front().map_or(0, |p| state.imbalance(cell.class, p.slot))]
    }
}

impl State {
    /// The domains of a slot, of every key but the hostname, that a rule on
    /// `class` looks at.
    fn region(&self, class: usize, slot: Slot) -> Region {
        let counters = &self.counters;
        let mut keys = counters.keys_of(class);
        keys.retain(|key| counters.topologies.key(*key) != HOSTNAME);
        keys.into_iter().map(|key| counters.topologies.domain(key, slot)).collect()
    }

    /// How far above the lowest a pod would raise the domain it comes to, in
    /// the worst of the spreads that count it.
    fn imbalance(&self, class: usize, slot: Slot) -> u32 {
        let counters = &self.counters;
        let picks = counters.classes[class].picks.iter().map(|p| &counters.picks.all[*p]);
        let above = picks.flat_map(|p| &p.spreads).filter_map(|spread| {
            let spread = &counters.spreads[*spread];
            let field = &counters.fields[spread.field];
            let key = field.filter.topology;
            if !field.admits(slot) || counters.topologies.key(key) == HOSTNAME {
                return None;
            }
            Some((spread.count(counters.topologies.domain(key, slot)?) + 1).saturating_sub(spread.lowest(field, 1)))
        });
        above.max().unwrap_or(0)
    }
}
