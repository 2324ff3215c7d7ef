use super::host::{Held, admits, join};
use super::model::{Model, fits};
use crate::instance::Micros;

/// A new node, or several alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bought {
    /// Position in the model's offers.
    pub offer: u32,
    /// How many such nodes.
    pub copies: u32,
    /// (slot, units) per node.
    pub contents: Vec<(u32, u32)>,
}

/// A packing of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Solution {
    /// Contents per spare: (position in the model's spares, contents).
    pub filled: Vec<(u32, Vec<(u32, u32)>)>,
    /// New nodes.
    pub bought: Vec<Bought>,
    /// Units left over per slot.
    pub left: Vec<u32>,
}

/// How good a solution is; smaller is better.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score {
    /// Units left over, most important rank first.
    pub unserved: Vec<u64>,
    /// Price of all new nodes.
    pub cost: Micros,
    /// New nodes.
    pub nodes: u64,
}

impl Solution {
    /// Its score.
    pub fn score(&self, model: &Model) -> Score {
        let mut unserved = vec![0; model.ranks];
        for (s, &n) in self.left.iter().enumerate() {
            unserved[model.lanes[model.slots[s].lane as usize].rank] += u64::from(n);
        }
        Score {
            unserved,
            cost: self.bought.iter().map(|b| model.offers[b.offer as usize].price * Micros::from(b.copies)).sum(),
            nodes: self.bought.iter().map(|b| u64::from(b.copies)).sum(),
        }
    }
}

/// A node that is being filled.
#[derive(Clone, Debug)]
pub struct Open {
    /// Room left.
    pub room: Vec<i64>,
    /// Host counters.
    pub held: Vec<Held>,
    /// (slot, units).
    pub contents: Vec<(u32, u32)>,
}

impl Open {
    /// An empty node.
    pub fn new(room: &[i64], held: Vec<Held>) -> Self {
        Open { room: room.to_vec(), held, contents: Vec::new() }
    }

    /// Whether one more unit of `slot` may join.
    pub fn admits(&self, model: &Model, slot: u32) -> bool {
        let s = &model.slots[slot as usize];
        fits(&model.lanes[s.lane as usize].demand, &self.room) && admits(&self.held, &s.terms)
    }

    /// Puts up to `most` units of `slot` in; returns how many went in.
    pub fn put(&mut self, model: &Model, slot: u32, most: u32) -> u32 {
        let s = &model.slots[slot as usize];
        let demand = &model.lanes[s.lane as usize].demand;
        let mut done = 0;
        if s.terms.is_empty() {
            let mut n = i64::from(most);
            for (d, r) in demand.iter().zip(&self.room) {
                if *d > 0 {
                    n = n.min(r / d);
                }
            }
            done = n.max(0) as u32;
            for (r, d) in self.room.iter_mut().zip(demand) {
                *r -= d * i64::from(done);
            }
        } else {
            while done < most && self.admits(model, slot) {
                join(&mut self.held, &s.terms);
                for (r, d) in self.room.iter_mut().zip(demand) {
                    *r -= d;
                }
                done += 1;
            }
        }
        if done > 0 {
            match self.contents.iter_mut().find(|c| c.0 == slot) {
                Some(c) => c.1 += done,
                None => self.contents.push((slot, done)),
            }
        }
        done
    }

    /// Puts `want` units of a lane in, whichever of its slots the host rules
    /// let in, those with the most left first.
    pub fn put_lane(&mut self, model: &Model, lane: u32, want: u32, left: &mut [u32]) -> u32 {
        let slots = &model.lanes[lane as usize].slots;
        if let [slot] = slots.as_slice() {
            let done = self.put(model, *slot, want.min(left[*slot as usize]));
            left[*slot as usize] -= done;
            return done;
        }
        let mut done = 0;
        while done < want {
            let best = slots
                .iter()
                .copied()
                .filter(|&s| left[s as usize] > 0 && admits(&self.held, &model.slots[s as usize].terms))
                .max_by_key(|&s| (left[s as usize], std::cmp::Reverse(s)));
            let Some(slot) = best else { break };
            if self.put(model, slot, 1) == 0 {
                break;
            }
            left[slot as usize] -= 1;
            done += 1;
        }
        done
    }
}
