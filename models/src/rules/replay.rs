//! Placements judged one after the other, as the scheduler would.

use std::sync::Arc;

use super::landing::{Stuck, landing_order};
use super::refusal::Refusal;
use super::state::State;
use super::topology::Slot;
use crate::kube::pod::Pod;

/// A pod that is to run on a node. Where the pod runs now does not matter:
/// its controller makes it anew.
#[derive(Clone, Debug)]
pub struct Placement {
    pub pod: Arc<Pod>,
    pub node: Arc<str>,
}

impl Placement {
    pub fn new(pod: Arc<Pod>, node: &str) -> Self {
        Self { pod, node: Arc::from(node) }
    }
}

/// Lets each pod come in the order given; the first that is refused, by its
/// position, and why.
pub fn replay(state: &State, placements: &[Placement]) -> Result<(), (usize, Refusal)> {
    let mut state = state.clone();
    for (i, placement) in placements.iter().enumerate() {
        state.land(placement).map_err(|refusal| (i, refusal))?;
    }
    Ok(())
}

/// Replays `placements` in orders chosen to annoy: the pods whose order cannot
/// matter come last and backwards, then first and shuffled, then scattered
/// among the others, which keep an order that is legal.
pub fn replay_adversarial(state: &State, placements: &[Placement], seed: u64) -> Result<(), Annoyed> {
    let legal = landing_order(state, placements)?;
    let mut probe = state.clone();
    let classes: Vec<usize> = placements.iter().map(|p| probe.counters.intern(&p.pod)).collect();
    let free = |i: &usize| probe.counters.is_indifferent(classes[*i]);
    let (mut indifferent, bound): (Vec<usize>, Vec<usize>) = legal.into_iter().partition(free);
    let mut random = Random(seed);
    for attempt in 0..3 {
        let order = match attempt {
            0 => {
                indifferent.reverse();
                [&*bound, &*indifferent].concat()
            }
            1 => {
                random.shuffle(&mut indifferent);
                [&*indifferent, &*bound].concat()
            }
            _ => random.merge(&bound, &indifferent),
        };
        let in_order: Vec<Placement> = order.iter().map(|i| placements[*i].clone()).collect();
        replay(state, &in_order).map_err(|(at, refusal)| Annoyed::Refused { placement: order[at], refusal })?;
    }
    Ok(())
}

/// As [`landing_order`], in steps: placements of one step may land in any
/// order, or at a time. The first step holds all that no order can matter to.
pub fn landing_steps(state: &State, placements: &[Placement]) -> Result<Vec<Vec<usize>>, Stuck> {
    let legal = landing_order(state, placements)?;
    let mut probe = state.clone();
    let classes: Vec<usize> = placements.iter().map(|p| probe.counters.intern(&p.pod)).collect();
    let (free, bound): (Vec<usize>, Vec<usize>) =
        legal.into_iter().partition(|i| probe.counters.is_indifferent(classes[*i]));
    let steps = std::iter::once(free).filter(|step| !step.is_empty());
    Ok(steps.chain(bound.into_iter().map(|i| vec![i])).collect())
}

/// Why an adversarial replay failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Annoyed {
    #[error(transparent)]
    Stuck(#[from] Stuck),
    #[error("placement {placement} is refused: {refusal}")]
    Refused { placement: usize, refusal: Refusal },
}

impl State {
    /// Judges a placement, and makes it.
    pub fn land(&mut self, placement: &Placement) -> Result<(), Refusal> {
        let slot = self.slot(&placement.node)?;
        let class = self.counters.intern(&placement.pod);
        self.node_admits(&placement.pod, class, slot)?;
        self.land_in(&placement.pod, class, slot)
    }

    /// As [`State::land`], where the node itself is known to be fine.
    pub(super) fn land_in(&mut self, pod: &Arc<Pod>, class: usize, slot: Slot) -> Result<(), Refusal> {
        self.room_admits(pod, class, slot)?;
        Ok(self.settle(pod, class, slot, false)?)
    }
}

/// Splitmix: enough to shuffle with, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// Both, each in its own order, interleaved at random.
    fn merge(&mut self, a: &[usize], b: &[usize]) -> Vec<usize> {
        let (mut a, mut b) = (a.iter(), b.iter());
        let mut all = Vec::new();
        while a.len() + b.len() > 0 {
            let next = if self.below(a.len() + b.len()) < a.len() { a.next() } else { b.next() };
            all.extend(next);
        }
        all
    }
}
