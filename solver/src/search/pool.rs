//! The nodes of all good constructions as columns of one linear program, and
//! constructions rounded from its solution.

use super::budget::Budget;
use super::downsize;
use super::greedy::{Greedy, Guide};
use super::model::Model;
use super::solution::{Bought, Open, Solution};
use crate::highs::{self, Col, HighsError, INFINITY, Row, Status};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashSet;

/// Most columns.
const COLUMNS: usize = 20_000;
/// Simplex iterations between two questions whether to stop.
const SLICE: u32 = 200;

/// Contents of a node by lane: (offer, (lane, units)).
type Column = (u32, Vec<(u32, u32)>);

/// Columns, and the program over them.
pub struct Pool {
    program: highs::Model,
    cover: Vec<Row>,
    columns: Vec<(Column, Col)>,
    known: FxHashSet<Column>,
    /// Level per column in the last solution.
    level: Vec<f64>,
    /// Value per lane in the last solution.
    value: Vec<f64>,
}

impl Pool {
    /// No columns.
    pub fn new(model: &Model) -> Result<Self, HighsError> {
        let mut program = highs::Model::new()?;
        program.presolve(false)?;
        let rows = model.lanes.iter().map(|l| program.add_row(f64::from(l.count), INFINITY, &[]));
        let cover = rows.collect::<Result<_, _>>()?;
        let (columns, known) = (Vec::new(), FxHashSet::default());
        Ok(Pool { program, cover, columns, known, level: Vec::new(), value: Vec::new() })
    }

    /// Whether a solution is at hand to round.
    pub fn is_solved(&self) -> bool {
        !self.level.is_empty()
    }

    /// Takes the bought nodes of a solution.
    pub fn add(&mut self, model: &Model, solution: &Solution) -> Result<(), HighsError> {
        for node in &solution.bought {
            if self.columns.len() >= COLUMNS {
                break;
            }
            let column = (node.offer, by_lane(model, &node.contents));
            if !self.known.insert(column.clone()) {
                continue;
            }
            let entries: Vec<(Row, f64)> =
                column.1.iter().map(|&(l, n)| (self.cover[l as usize], f64::from(n))).collect();
            let price = model.offers[node.offer as usize].price as f64 / 1e6;
            let col = self.program.add_col(price, 0.0, INFINITY, &entries)?;
            self.columns.push((column, col));
        }
        Ok(())
    }

    /// Solves for what the nodes filled in `base` leave. False if told to
    /// stop, or if there is no optimum.
    pub fn solve(&mut self, model: &Model, base: &Solution, stop: &dyn Fn() -> bool) -> Result<bool, HighsError> {
        let filled = in_nodes(model, base);
        for (l, lane) in model.lanes.iter().enumerate() {
            self.program.set_row_bounds(self.cover[l], f64::from(lane.count - filled[l]), INFINITY)?;
        }
        let mut iterations = SLICE;
        loop {
            self.program.iteration_limit(iterations)?;
            match self.program.run()? {
                Status::Optimal => break,
                Status::Stopped if !stop() => iterations = iterations.saturating_add(SLICE),
                _ => return Ok(false),
            }
        }
        self.level = self.columns.iter().map(|c| self.program.value(c.1)).collect();
        self.value = self.cover.iter().map(|&r| self.program.dual(r).max(0.0) * 1e6).collect();
        Ok(true)
    }

    /// Rounds the solution: whole parts down, fractions up with probability
    /// `keep` times themselves; the rest is constructed by `guide`, its
    /// values mixed with those of the program.
    #[allow(clippy::too_many_arguments)]
    pub fn dive(
        &self,
        model: &Model,
        base: &Solution,
        keep: f64,
        greedy: &mut Greedy,
        guide: &Guide,
        rng: &mut ChaCha8Rng,
    ) -> Option<Solution> {
        let mut budget = Budget::new(model.instance);
        let mut slot: Vec<u32> = model.slots.iter().map(|s| s.count).collect();
        base.filled.iter().flat_map(|f| &f.1).for_each(|&(s, n)| slot[s as usize] -= n);
        let mut lane = vec![0; model.lanes.len()];
        slot.iter().zip(&model.slots).for_each(|(&n, s)| lane[s.lane as usize] += n);
        let mut order: Vec<usize> = (0..self.level.len()).filter(|&c| self.level[c] > 1e-6).collect();
        order.sort_by(|&a, &b| self.level[b].total_cmp(&self.level[a]).then(a.cmp(&b)));
        let mut bought: Vec<Bought> = Vec::new();
        for c in order {
            let whole = (self.level[c] + 1e-6).floor();
            let up = rng.random::<f64>() < (self.level[c] - whole) * keep;
            let (offer, contents) = &self.columns[c].0;
            let most = contents.iter().map(|&(l, n)| lane[l as usize] / n).min().unwrap_or(0);
            let copies = (whole as u32 + u32::from(up)).min(most).min(budget.left(model, *offer));
            if copies == 0 {
                continue;
            }
            contents.iter().for_each(|&(l, n)| lane[l as usize] -= n * copies);
            budget.take(model, *offer, copies);
            if contents.iter().all(|&(l, _)| model.lanes[l as usize].plain) {
                let contents: Vec<(u32, u32)> =
                    contents.iter().map(|&(l, n)| (model.lanes[l as usize].slots[0], n)).collect();
                contents.iter().for_each(|&(s, n)| slot[s as usize] -= n * copies);
                bought.push(Bought { offer: *offer, copies, contents });
                continue;
            }
            for _ in 0..copies {
                let mut open = Open::new(&model.offers[*offer as usize].room, Vec::new());
                for plain in [false, true] {
                    for &(l, n) in contents.iter().filter(|c| model.lanes[c.0 as usize].plain == plain) {
                        let put = open.put_lane(model, l, n, &mut slot);
                        // What host rules turn away is constructed later.
                        lane[l as usize] += n - put;
                    }
                }
                if open.contents.is_empty() {
                    budget.give(model, *offer, 1);
                } else {
                    bought.push(Bought { offer: *offer, copies: 1, contents: open.contents });
                }
            }
        }
        let mixed: Vec<f64> = self.value.iter().zip(guide.value).map(|(d, v)| 0.7 * d + 0.3 * v).collect();
        let guide = Guide { value: &mixed, spares: false, ..guide.clone() };
        let mut out = greedy.run(model, &slot, &mut budget, &guide)?;
        out.bought.extend(bought);
        out.filled.clone_from(&base.filled);
        downsize(model, &mut out, &mut budget);
        Some(out)
    }
}

fn by_lane(model: &Model, contents: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut lanes: Vec<(u32, u32)> = contents.iter().map(|&(s, n)| (model.slots[s as usize].lane, n)).collect();
    lanes.sort_unstable();
    lanes.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 += later.1;
        }
        same
    });
    lanes
}

/// Units per lane that sit on nodes that exist.
fn in_nodes(model: &Model, base: &Solution) -> Vec<u32> {
    let mut filled = vec![0; model.lanes.len()];
    for &(s, n) in base.filled.iter().flat_map(|f| &f.1) {
        filled[model.slots[s as usize].lane as usize] += n;
    }
    filled
}
