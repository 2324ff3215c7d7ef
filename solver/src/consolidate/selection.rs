//! Which nodes go, decided over the columns of the restricted master: who is
//! kept is whole, what is bought is whole, what kept nodes take in is not.

use crate::bound::Column;
use crate::highs::{Col, HighsError, INFINITY, Model, Row, Status};
use crate::instance::Instance;
use std::collections::BTreeMap;

/// Relative gap at which the search ends.
const GAP: f64 = 1e-5;

/// What a selection may take.
#[derive(Clone, Copy, Debug)]
pub enum Effort {
    /// Time.
    Seconds(f64),
    /// Nodes of the search tree, where no clock decides.
    Nodes(u32),
}

/// Removable nodes not kept in the best selection found; `need` is the number
/// of pods per shape to be served, residents included.
pub fn select(
    instance: &Instance,
    columns: &[Column],
    need: &[u64],
    effort: Effort,
) -> Result<Option<Vec<usize>>, HighsError> {
    let mut m = Model::new()?;
    let mut groups: BTreeMap<&[usize], Row> = BTreeMap::new();
    let mut group_of: Vec<Option<Row>> = vec![None; instance.shapes.len()];
    for (shapes, _) in columns.iter().flat_map(|c| &c.contents) {
        if !groups.contains_key(shapes.as_slice()) {
            let pods: u64 = shapes.iter().map(|&s| need[s]).sum();
            let row = m.add_row(pods as f64, INFINITY, &[])?;
            groups.insert(shapes, row);
            shapes.iter().for_each(|&s| group_of[s] = Some(row));
        }
    }
    let rows = Rows::new(&mut m, instance)?;
    let mut keep: Vec<Option<Col>> = vec![None; instance.nodes.len()];
    let mut room: Vec<Row> = Vec::with_capacity(instance.nodes.len());
    for (n, node) in instance.nodes.iter().enumerate() {
        // What it takes in weighs at most as much as it is kept.
        let fixed = if node.removal.is_some() { 0.0 } else { 1.0 };
        room.push(m.add_row(-INFINITY, fixed, &[])?);
        let Some(removal) = &node.removal else { continue };
        let mut entries: BTreeMap<Row, f64> = BTreeMap::from([(room[n], -1.0)]);
        for &(s, c) in &node.residents {
            if let Some(row) = group_of[s] {
                *entries.entry(row).or_default() += f64::from(c);
            }
        }
        let draws = removal.budgets.iter().map(|&(b, a)| (rows.budget[b], a as f64));
        let limits = node.limit_use.iter().map(|&(l, a)| (rows.limit[l], a as f64));
        draws.chain(limits).chain(node.supply.map(|s| (rows.supply[s], 1.0))).for_each(|(r, a)| {
            *entries.entry(r).or_default() += a;
        });
        let entries: Vec<(Row, f64)> = entries.into_iter().filter(|e| e.1 != 0.0).collect();
        let cost = (node.price - removal.charge) as f64 / 1e6;
        keep[n] = Some(m.add_int(cost, 0.0, if removal.forced { 0.0 } else { 1.0 }, &entries)?);
    }
    for c in columns {
        let mut entries: Vec<(Row, f64)> = Vec::with_capacity(c.contents.len() + 2);
        for (shapes, n) in &c.contents {
            entries.push((groups[shapes.as_slice()], f64::from(*n)));
        }
        if c.existing {
            if !entries.is_empty() {
                entries.push((room[c.at], 1.0));
                m.add_col(0.0, 0.0, 1.0, &entries)?;
            }
        } else {
            let bin = &instance.bins[c.at];
            entries.extend(bin.limit_use.iter().filter(|l| l.1 > 0).map(|&(l, a)| (rows.limit[l], a as f64)));
            entries.extend(bin.supply.map(|s| (rows.supply[s], 1.0)));
            m.add_int(bin.price as f64 / 1e6, 0.0, INFINITY, &entries)?;
        }
    }
    match effort {
        Effort::Seconds(seconds) => m.time_limit(seconds)?,
        Effort::Nodes(nodes) => m.node_limit(nodes)?,
    }
    m.mip_gap(GAP, 0.0)?;
    let status = m.run()?;
    if status == Status::Infeasible || !m.has_point() {
        return Ok(None);
    }
    let gone = |n: &usize| keep[*n].is_some_and(|col| m.value(col) < 0.5);
    Ok(Some((0..keep.len()).filter(gone).collect()))
}

/// Rows that couple nodes and bins.
struct Rows {
    limit: Vec<Row>,
    supply: Vec<Row>,
    budget: Vec<Row>,
}

impl Rows {
    fn new(m: &mut Model, instance: &Instance) -> Result<Self, HighsError> {
        let removable = || instance.nodes.iter().filter(|n| n.removal.is_some());
        let mut out = Rows { limit: Vec::new(), supply: Vec::new(), budget: Vec::new() };
        for (l, limit) in instance.limits.iter().enumerate() {
            let kept: i64 = removable().flat_map(|n| &n.limit_use).filter(|u| u.0 == l).map(|u| u.1).sum();
            out.limit.push(m.add_row(-INFINITY, (limit.max.max(0) + kept) as f64, &[])?);
        }
        for (s, supply) in instance.supplies.iter().enumerate() {
            let kept = removable().filter(|n| n.supply == Some(s)).count();
            out.supply.push(m.add_row(-INFINITY, f64::from(supply.count) + kept as f64, &[])?);
        }
        for (b, budget) in instance.budgets.iter().enumerate() {
            let draws = removable().filter_map(|n| n.removal.as_ref()).flat_map(|r| &r.budgets);
            let all: i64 = draws.filter(|d| d.0 == b).map(|d| d.1).sum();
            out.budget.push(m.add_row((all - budget.max) as f64, INFINITY, &[])?);
        }
        Ok(out)
    }
}
