//! What a disruption costs where the user does not say.
//!
//! A move is paid for once and saves by the hour, so a price per disruption
//! becomes a price per hour when it is spread over the time that the savings
//! last: the life that nodes have left. In a cluster that turns over steadily,
//! the mean life left equals the mean age of what runs, whatever the law of
//! lifetimes, so the snapshot tells it. A disruption is taken to cost what an
//! average node costs in [`MINUTES`]: for an evicted pod its start and warm-up
//! elsewhere, for a removed node the time in which it and its successor both
//! run.

use jiff::Timestamp;
use millwright_solver::instance::Micros;

use crate::candidates::Scene;

/// Minutes of an average node per disruption.
const MINUTES: f64 = 3.0;

/// Life left is taken to be within these, in hours.
const LIFE: (f64, f64) = (1.0, 720.0);

/// Life left where no node tells its age, in hours.
const USUAL: f64 = 24.0;

/// $/h per evicted pod and per removed node, in micro-dollars.
pub fn default_price(scene: &Scene<'_>) -> Micros {
    let prices: Vec<f64> =
        (0..scene.nodes.len()).filter_map(|n| scene.price(n)).filter(|p| *p > 0).map(|p| p as f64).collect();
    if prices.is_empty() {
        return 0;
    }
    let mean = prices.iter().sum::<f64>() / prices.len() as f64;
    let price = mean * MINUTES / 60.0 / life_left(scene);
    price.round() as Micros
}

/// Expected hours that the nodes have left.
fn life_left(scene: &Scene<'_>) -> f64 {
    let age = |born: Timestamp| scene.now.duration_since(born).as_secs_f64() / 3600.0;
    let born = scene.nodes.iter().filter_map(|n| n.node.and_then(|n| n.meta.creation_timestamp));
    let ages: Vec<f64> = born.map(age).filter(|a| *a >= 0.0).collect();
    if ages.is_empty() { USUAL } else { (ages.iter().sum::<f64>() / ages.len() as f64).clamp(LIFE.0, LIFE.1) }
}
