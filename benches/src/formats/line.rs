use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use millwright_solver::instance::{Admission, Bin, Instance, Shape, Tier};
use serde::Deserialize;

use super::{Problem, UNIT};

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    OneType { name: String, capacity: i64, items: Vec<i64>, lower: Option<f64>, upper: Option<f64> },
    Sizes { name: String, bins: Vec<(i64, f64)>, items: Vec<i64> },
    Vectors { name: String, bins: Vec<VectorBin>, items: Vec<Vec<i64>> },
}

#[derive(Deserialize)]
struct VectorBin {
    cost: f64,
    cap: Vec<i64>,
}

/// Reads one line, with the reason if it is none of the known shapes.
pub fn parse(text: &str) -> Result<Problem, String> {
    let line: Line = serde_json::from_str(text)
        .map_err(|e| format!("no instance: {e}; expected falkenauer, vsbpp-1d or vsvbp, see --help"))?;
    let (name, bins, items, lower, upper) = match line {
        Line::OneType { name, capacity, items, lower, upper } => {
            (name, vec![(vec![capacity], 1.0)], single(items), lower, upper)
        }
        Line::Sizes { name, bins, items } => {
            (name, bins.into_iter().map(|(cap, cost)| (vec![cap], cost)).collect(), single(items), None, None)
        }
        Line::Vectors { name, bins, items } => {
            (name, bins.into_iter().map(|b| (b.cap, b.cost)).collect(), items, None, None)
        }
    };
    let instance = instance(&bins, &items).map_err(|reason| format!("instance {name}: {reason}"))?;
    Ok(Problem { name, instance, lower, upper })
}

fn single(items: Vec<i64>) -> Vec<Vec<i64>> {
    items.into_iter().map(|size| vec![size]).collect()
}

/// Equal items become one shape; the last dimension counts items.
fn instance(bins: &[(Vec<i64>, f64)], items: &[Vec<i64>]) -> Result<Instance, String> {
    let dims = bins.first().ok_or("no bins")?.0.len();
    let mut shapes: BTreeMap<&[i64], u32> = BTreeMap::new();
    for item in items {
        if item.len() != dims {
            return Err(format!("an item has {} sizes, the bins {dims}", item.len()));
        }
        *shapes.entry(item).or_default() += 1;
    }
    let slots = i64::try_from(items.len()).map_err(|_| "too many items")?;
    let mut instance = Instance { dims: dims + 1, ..Instance::default() };
    for (capacity, cost) in bins {
        let price = cost * UNIT as f64;
        if capacity.len() != dims || !(0.0..1e15).contains(&price) {
            return Err(format!("bin of {capacity:?} at {cost}"));
        }
        instance.bins.push(Bin {
            capacity: capacity.iter().copied().chain([slots]).collect(),
            price: price.round() as i64,
            domain: Vec::new(),
            limit_use: Vec::new(),
            supply: None,
            buyable: true,
            in_bound: true,
        });
    }
    for (item, count) in shapes {
        let demand: Vec<i64> = item.iter().copied().chain([1]).collect();
        let mut fits = FixedBitSet::with_capacity(bins.len());
        fits.extend((0..bins.len()).filter(|&b| demand.iter().zip(&instance.bins[b].capacity).all(|(d, c)| d <= c)));
        let admission = Admission { bins: fits, nodes: FixedBitSet::new() };
        let at = instance.admissions.iter().position(|a| *a == admission).unwrap_or_else(|| {
            instance.admissions.push(admission);
            instance.admissions.len() - 1
        });
        instance.shapes.push(Shape {
            demand,
            count,
            priority: 0,
            tiers: vec![Tier { admission: at, waived: Vec::new() }],
        });
    }
    instance.validate().map_err(|e| e.to_string())?;
    Ok(instance)
}
