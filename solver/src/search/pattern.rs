use super::knapsack::Knapsack;
use super::model::{Model, fits};
use super::sharpen::Sharpener;

/// Contents of one node, by lane, and what they are worth.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// (lane, units), counts positive.
    pub lanes: Vec<(u32, u32)>,
    /// Sum of the lanes' values.
    pub value: f64,
}

/// Finds good contents for a room; keeps its buffers between calls.
#[derive(Clone, Debug, Default)]
pub struct Pricer {
    knapsack: Knapsack,
    sharpener: Sharpener,
    columns: Vec<u32>,
    order: Vec<(f64, u32)>,
    have: Vec<u32>,
    most: Vec<u32>,
    room: Vec<i64>,
}

impl Pricer {
    /// Contents of `room` from `lanes` worth the most at `value`, nearly:
    /// the linear program rounded down and filled up. `left` bounds the units
    /// per lane.
    pub fn price(
        &mut self,
        model: &Model,
        room: &[i64],
        lanes: &[u32],
        value: &[f64],
        left: &[u32],
        into: &mut Pattern,
    ) {
        into.lanes.clear();
        into.value = 0.0;
        let rows: Vec<usize> = (0..model.dims).filter(|&d| room[d] > 0).collect();
        let mut part = [0.0_f64; 16];
        rows.iter().for_each(|&d| part[d] = 1.0 / room[d] as f64);
        self.knapsack.reset(rows.len());
        self.columns.clear();
        self.most.clear();
        for &l in lanes {
            let lane = &model.lanes[l as usize];
            let units = left[l as usize].min(lane.most);
            if units == 0 || value[l as usize] <= 0.0 {
                continue;
            }
            let mut most = i64::from(units);
            for (d, r) in lane.demand.iter().zip(room) {
                if *d > 0 {
                    most = most.min(r / d);
                }
            }
            if most <= 0 {
                continue;
            }
            for &d in &rows {
                self.knapsack.need.push(lane.demand[d] as f64 * part[d]);
            }
            self.knapsack.value.push(value[l as usize]);
            self.knapsack.most.push(most as f64);
            self.most.push(most as u32);
            self.columns.push(l);
        }
        if self.columns.is_empty() {
            return;
        }
        self.knapsack.solve();
        self.round(model, room);
        self.fill(model);
        let rounded = self.have.iter().zip(&self.knapsack.value).map(|(&n, v)| f64::from(n) * v).sum();
        let demand = |j: usize| model.lanes[self.columns[j] as usize].demand.as_slice();
        self.sharpener.improve(&self.knapsack, &self.most, room, &mut self.have, rounded, &demand);
        for (j, &l) in self.columns.iter().enumerate() {
            if self.have[j] > 0 {
                into.lanes.push((l, self.have[j]));
                into.value += value[l as usize] * f64::from(self.have[j]);
            }
        }
    }

    /// An upper bound on the value of the last room's contents.
    pub fn bound(&self) -> f64 {
        self.knapsack.best
    }

    fn round(&mut self, model: &Model, room: &[i64]) {
        self.room.clear();
        self.room.extend_from_slice(room);
        self.have.clear();
        self.have.resize(self.columns.len(), 0);
        for (j, &l) in self.columns.iter().enumerate() {
            let mut n = (self.knapsack.x[j] + 1e-9).floor() as u32;
            let demand = &model.lanes[l as usize].demand;
            while n > 0 {
                let ok = demand.iter().zip(&self.room).all(|(d, r)| d * i64::from(n) <= *r);
                if ok {
                    break;
                }
                n -= 1;
            }
            if n > 0 {
                for (r, d) in self.room.iter_mut().zip(demand) {
                    *r -= d * i64::from(n);
                }
                self.have[j] = n;
            }
        }
    }

    fn fill(&mut self, model: &Model) {
        let m = self.knapsack.rows;
        self.order.clear();
        for (j, &l) in self.columns.iter().enumerate() {
            if self.have[j] < self.most[j] && fits(&model.lanes[l as usize].demand, &self.room) {
                let need = &self.knapsack.need[j * m..(j + 1) * m];
                let price: f64 = need.iter().zip(&self.knapsack.u).map(|(a, u)| a * u).sum();
                let size: f64 = need.iter().fold(0.0, |a, &b| a.max(b));
                let worth = self.knapsack.value[j] / (price + 1e-3 * self.knapsack.value[j] + 1e-12);
                self.order.push((worth * (1.0 + 0.3 * size), j as u32));
            }
        }
        self.order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for &(_, j) in &self.order {
            let j = j as usize;
            let demand = &model.lanes[self.columns[j] as usize].demand;
            while self.have[j] < self.most[j] && fits(demand, &self.room) {
                self.have[j] += 1;
                for (r, d) in self.room.iter_mut().zip(demand) {
                    *r -= d;
                }
            }
        }
    }
}
