//! Better contents for small nodes: a bounded depth-first search around the
//! linear program's shadow prices.

use super::knapsack::Knapsack;

/// Steps one search may take.
const STEPS: u32 = 160;
/// Columns one search looks at.
const WIDTH: usize = 18;
/// A pattern with more units than this rounds well enough.
const UNITS: u32 = 16;
/// A pattern this close to its bound is good enough.
const GAP: f64 = 0.002;

#[derive(Clone, Copy, Debug)]
struct Candidate {
    column: usize,
    value: f64,
    /// Units it may take.
    most: u32,
    /// What the units of this and all later candidates can be worth beyond
    /// the price of their room.
    rest: f64,
}

/// Buffers of the search.
#[derive(Clone, Debug, Default)]
pub struct Sharpener {
    candidates: Vec<Candidate>,
    chosen: Vec<u32>,
    best: Vec<u32>,
    value: f64,
    steps: u32,
}

impl Sharpener {
    /// Replaces `have` by contents worth more than `value`, if it finds any.
    /// `demand` gives a column's integer demand.
    pub fn improve<'m>(
        &mut self,
        knapsack: &Knapsack,
        most: &[u32],
        room: &[i64],
        have: &mut [u32],
        value: f64,
        demand: &dyn Fn(usize) -> &'m [i64],
    ) {
        let gap = knapsack.best - value;
        if gap <= GAP * knapsack.best || have.iter().sum::<u32>() > UNITS {
            return;
        }
        let m = knapsack.rows;
        self.candidates.clear();
        let mut ranked: Vec<(f64, f64, usize)> = Vec::new();
        for (j, &v) in knapsack.value.iter().enumerate() {
            let need = &knapsack.need[j * m..(j + 1) * m];
            let price: f64 = need.iter().zip(&knapsack.u).map(|(a, u)| a * u).sum();
            if price - v < gap {
                ranked.push((((price - v) / v).max(-1.0), price, j));
            }
        }
        ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        ranked.truncate(WIDTH);
        ranked.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)));
        let mut rest = 0.0;
        for &(_, price, j) in ranked.iter().rev() {
            rest += (knapsack.value[j] - price).max(0.0) * f64::from(most[j]);
            self.candidates.push(Candidate { column: j, value: knapsack.value[j], most: most[j], rest });
        }
        self.candidates.reverse();
        self.chosen.clear();
        self.chosen.resize(self.candidates.len(), 0);
        self.best.clear();
        self.value = value * (1.0 + 1e-9);
        self.steps = STEPS;
        // The room's worth is the same sum in every row, row-scaled.
        let unit: Vec<f64> = {
            let mut row = 0;
            room.iter()
                .map(|&r| {
                    if r > 0 {
                        row += 1;
                        knapsack.u[row - 1] / r as f64
                    } else {
                        0.0
                    }
                })
                .collect()
        };
        let mut left = room.to_vec();
        self.walk(0, 0.0, &mut left, &unit, demand);
        if !self.best.is_empty() {
            have.fill(0);
            for (c, &n) in self.candidates.iter().zip(&self.best) {
                have[c.column] = n;
            }
        }
    }

    fn walk<'m>(&mut self, at: usize, value: f64, left: &mut [i64], unit: &[f64], demand: &dyn Fn(usize) -> &'m [i64]) {
        if value > self.value {
            self.value = value;
            self.best.clone_from(&self.chosen);
        }
        if at == self.candidates.len() || self.steps == 0 {
            return;
        }
        self.steps -= 1;
        let worth: f64 = left.iter().zip(unit).map(|(&l, u)| l as f64 * u).sum();
        let c = self.candidates[at];
        if value + worth + c.rest <= self.value {
            return;
        }
        let need = demand(c.column);
        let mut n = c.most;
        for (d, l) in need.iter().zip(left.iter()) {
            if *d > 0 {
                n = n.min(u32::try_from(l / d).unwrap_or(u32::MAX));
            }
        }
        for take in (0..=n).rev() {
            for (l, d) in left.iter_mut().zip(need) {
                *l -= d * i64::from(take);
            }
            self.chosen[at] = take;
            self.walk(at + 1, value + c.value * f64::from(take), left, unit, demand);
            self.chosen[at] = 0;
            for (l, d) in left.iter_mut().zip(need) {
                *l += d * i64::from(take);
            }
            if self.steps == 0 {
                return;
            }
        }
    }
}
