//! Picks columns: most pods by priority, fewest in later tiers, least cost,
//! fewest nodes.

use std::collections::BTreeMap;

use super::contents::{Columns, shapes};
use super::rows;
use crate::highs::{Col, HighsError, INFINITY, Model, Row, Status};
use crate::instance::Instance;
use crate::plan::{Contents, NewNode, Plan};

/// The best plan made of these columns, or `None` if its being the best could
/// not be proven in time. `complete` says that all pods can be served in
/// their first tier.
pub(super) fn best(instance: &Instance, columns: &Columns, complete: bool, left: &dyn Fn() -> f64) -> Option<Plan> {
    run(instance, columns, complete, left).ok().flatten()
}

fn run(
    instance: &Instance,
    columns: &Columns,
    complete: bool,
    left: &dyn Fn() -> f64,
) -> Result<Option<Plan>, HighsError> {
    let mut m = Model::new()?;
    m.mip_gap(0.0, 0.4)?;
    let waiting: Vec<usize> = (0..instance.shapes.len()).filter(|&s| instance.shapes[s].count > 0).collect();
    let mut row_of: BTreeMap<usize, Row> = BTreeMap::new();
    for &s in &waiting {
        let count = f64::from(instance.shapes[s].count);
        let loose = (0..columns.items.len()).filter(|&i| columns.items[i].shape == s).all(|i| columns.loose[i]);
        row_of.insert(s, m.add_row(count, if loose { INFINITY } else { count }, &[])?);
    }
    let limits: Vec<Row> =
        instance.limits.iter().map(|l| m.add_row(-INFINITY, l.max.max(0) as f64, &[])).collect::<Result<_, _>>()?;
    let supplies: Vec<Row> =
        instance.supplies.iter().map(|s| m.add_row(-INFINITY, f64::from(s.count), &[])).collect::<Result<_, _>>()?;
    let keep: Vec<Row> = instance.nodes.iter().map(|_| m.add_row(-INFINITY, 1.0, &[])).collect::<Result<_, _>>()?;
    let mut cols: Vec<Col> = Vec::with_capacity(columns.list.len());
    for c in &columns.list {
        let mut entries: BTreeMap<Row, f64> = BTreeMap::new();
        for &(i, n) in &c.pods {
            if let Some(&row) = row_of.get(&columns.items[i].shape) {
                *entries.entry(row).or_default() += f64::from(n);
            }
        }
        // Surplus is allowed, so one shape alone may call for all of these.
        let counts = shapes(&columns.items, c).into_iter().map(|s| f64::from(instance.shapes[s].count));
        let mut most = counts.fold(0.0, f64::max);
        if c.node {
            entries.insert(keep[c.at], 1.0);
            most = 1.0;
        } else {
            let bin = &instance.bins[c.at];
            bin.limit_use.iter().filter(|l| l.1 > 0).for_each(|&(l, a)| {
                *entries.entry(limits[l]).or_default() += a as f64;
            });
            if let Some(s) = bin.supply {
                entries.insert(supplies[s], 1.0);
            }
        }
        let entries: Vec<(Row, f64)> = entries.into_iter().collect();
        cols.push(m.add_int(0.0, 0.0, most, &entries)?);
    }
    rows::add(instance, columns, &cols, &mut m)?;
    let mut unserved: BTreeMap<usize, Col> = BTreeMap::new();
    for &s in &waiting {
        let most = if complete { 0.0 } else { f64::from(instance.shapes[s].count) };
        unserved.insert(s, m.add_int(0.0, 0.0, most, &[(row_of[&s], 1.0)])?);
    }
    let mut goals: Vec<Vec<(Col, f64)>> = Vec::new();
    if !complete {
        let mut by_priority: BTreeMap<i32, Vec<(Col, f64)>> = BTreeMap::new();
        for (&s, &col) in &unserved {
            by_priority.entry(instance.shapes[s].priority).or_default().push((col, 1.0));
        }
        goals.extend(by_priority.into_values().rev());
        let last = instance.shapes.iter().map(|s| s.tiers.len()).max().unwrap_or(0);
        for t in (1..last).rev() {
            let later = |c: &super::contents::Column| -> f64 {
                c.pods.iter().filter(|p| columns.items[p.0].tier >= t).map(|p| f64::from(p.1)).sum()
            };
            goals.push(columns.list.iter().zip(&cols).map(|(c, &col)| (col, later(c))).filter(|e| e.1 > 0.0).collect());
        }
    }
    let bought = |weight: &dyn Fn(usize) -> f64| -> Vec<(Col, f64)> {
        let list = columns.list.iter().zip(&cols).filter(|(c, _)| !c.node);
        list.map(|(c, &col)| (col, weight(c.at))).filter(|e| e.1 > 0.0).collect()
    };
    goals.push(bought(&|b| instance.bins[b].price as f64));
    goals.push(bought(&|_| 1.0));
    let mut values: Vec<f64> = Vec::new();
    for (g, goal) in goals.iter().enumerate() {
        for &(col, cost) in goal {
            m.set_cost(col, cost)?;
        }
        if left() <= 0.0 {
            return Ok(None);
        }
        match left() {
            f64::INFINITY => m.node_limit(super::NODES)?,
            seconds => m.time_limit(seconds)?,
        }
        if m.run()? != Status::Optimal {
            return Ok(None);
        }
        values = cols.iter().chain(unserved.values()).map(|&c| m.value(c)).collect();
        let nodes: f64 = columns.list.iter().zip(&values).filter(|(c, _)| !c.node).map(|(_, level)| level).sum();
        if g + 2 == goals.len() && nodes < 1.5 {
            // There are no fewer nodes than one, or none.
            break;
        }
        if g + 1 < goals.len() {
            for &(col, _) in goal {
                m.set_cost(col, 0.0)?;
            }
            m.add_row(-INFINITY, (m.objective() + 0.01).floor() + 0.4, goal)?;
            let start: Vec<(Col, f64)> = cols.iter().copied().zip(values.iter().copied()).collect();
            m.start(&start)?;
        }
    }
    Ok(Some(decode(instance, columns, &values)))
}

/// The plan behind the levels of the columns; surplus pods are left out.
fn decode(instance: &Instance, columns: &Columns, levels: &[f64]) -> Plan {
    let mut left: Vec<u32> = instance.shapes.iter().map(|s| s.count).collect();
    let mut demoted: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    let mut plan = Plan::default();
    for (c, &level) in columns.list.iter().zip(levels) {
        for _ in 0..level.round() as u32 {
            let mut contents: BTreeMap<usize, u32> = BTreeMap::new();
            for &(i, n) in &c.pods {
                let item = columns.items[i];
                let n = n.min(left[item.shape]);
                if n > 0 {
                    left[item.shape] -= n;
                    *contents.entry(item.shape).or_default() += n;
                    if item.tier > 0 {
                        *demoted.entry((item.shape, item.tier)).or_default() += n;
                    }
                }
            }
            let contents: Contents = contents.into_iter().collect();
            if contents.is_empty() {
                continue;
            }
            if c.node {
                plan.placed.push((c.at, contents));
            } else {
                plan.bought.push(NewNode { bin: c.at, contents });
            }
        }
    }
    plan.placed.sort();
    plan.bought.sort_by(|a, b| (a.bin, &a.contents).cmp(&(b.bin, &b.contents)));
    plan.unserved = left.iter().enumerate().filter(|l| *l.1 > 0).map(|(s, &n)| (s, n)).collect();
    plan.demoted = demoted.into_iter().map(|((s, t), n)| (s, t, n)).collect();
    plan
}
