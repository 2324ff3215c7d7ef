//! Values of lanes: from the fluid relaxation, then corrected by what nodes
//! really cost.

use super::model::Model;
use super::solution::Solution;
use crate::fluid::cover;
use rustc_hash::FxHashMap;

/// First values: what the room of a unit costs on the offers it may use.
pub fn fluid_values(model: &Model) -> Vec<f64> {
    let total: Vec<f64> = model.total().iter().map(|&t| t as f64).collect();
    let mut by_gate: FxHashMap<usize, Vec<f64>> = FxHashMap::default();
    let mut value = Vec::with_capacity(model.lanes.len());
    let mut dearest = 0.0_f64;
    for lane in &model.lanes {
        let rho = by_gate.entry(lane.gate).or_insert_with(|| {
            let columns: Vec<(&[i64], f64)> = model.gates[lane.gate]
                .offers
                .ones()
                .map(|o| (model.offers[o].room.as_slice(), model.offers[o].price as f64))
                .collect();
            cover(&columns, &total).price
        });
        let v: f64 = lane.demand.iter().zip(rho.iter()).map(|(&d, p)| d as f64 * p).sum();
        dearest = dearest.max(v);
        value.push(v);
    }
    for (v, lane) in value.iter_mut().zip(&model.lanes) {
        if model.gates[lane.gate].offers.is_clear() {
            // Only nodes can host it: it goes before all that can be bought.
            let size: f64 = lane.demand.iter().zip(&total).map(|(&d, t)| d as f64 / t.max(1.0)).sum();
            *v = 10.0 * dearest.max(1.0) * (1.0 + size);
        } else if *v <= 0.0 {
            // Free bins: still worth something.
            *v = 1e-3;
        }
    }
    value
}

/// The fluid bound: cost of the total demand if units were liquid.
pub fn fluid_cost(model: &Model) -> f64 {
    let total: Vec<f64> = model.total().iter().map(|&t| t as f64).collect();
    let columns: Vec<(&[i64], f64)> = model.offers.iter().map(|o| (o.room.as_slice(), o.price as f64)).collect();
    cover(&columns, &total).cost
}

/// Raises the value of lanes that sat on nodes dearer than their contents,
/// lowers it for the others.
pub fn correct(model: &Model, solution: &Solution, value: &mut [f64], gamma: f64) {
    let mut weight = vec![0.0; value.len()];
    let mut factor = vec![0.0; value.len()];
    let (mut cost, mut worth) = (0.0, 0.0);
    let lane_of = |slot: u32| model.slots[slot as usize].lane as usize;
    for node in &solution.bought {
        let v: f64 = node.contents.iter().map(|&(s, n)| value[lane_of(s)] * f64::from(n)).sum();
        let price = model.offers[node.offer as usize].price as f64;
        let copies = f64::from(node.copies);
        cost += price * copies;
        worth += v * copies;
        for &(s, n) in &node.contents {
            weight[lane_of(s)] += copies * f64::from(n);
            factor[lane_of(s)] += copies * f64::from(n) * price / v.max(1e-12);
        }
    }
    if worth <= 0.0 || cost <= 0.0 {
        return;
    }
    let mean = cost / worth;
    for (l, v) in value.iter_mut().enumerate() {
        if weight[l] > 0.0 {
            let f = (factor[l] / weight[l] / mean).clamp(0.5, 2.0);
            *v *= f.powf(gamma);
        }
    }
}
