//! The fluid relaxation: what a unit of each resource is worth if pods were
//! liquid.

mod covering;

pub use covering::{Covering, cover};

use crate::instance::Instance;

/// Prices per resource unit, in micro-dollars per hour, at which no bin of
/// `bins` is worth more than it costs, and `total` is worth the most.
pub fn prices(instance: &Instance, bins: &[usize], total: &[f64]) -> Vec<f64> {
    let columns: Vec<(&[i64], f64)> =
        bins.iter().map(|&b| (instance.bins[b].capacity.as_slice(), instance.bins[b].price as f64)).collect();
    cover(&columns, total).price
}

/// Sum of what waits, per dimension.
pub fn total_demand(instance: &Instance) -> Vec<f64> {
    let mut total = vec![0.0; instance.dims];
    for s in &instance.shapes {
        for (t, d) in total.iter_mut().zip(&s.demand) {
            *t += *d as f64 * f64::from(s.count);
        }
    }
    total
}
