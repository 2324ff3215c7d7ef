use super::enumerate::Fleet;
use crate::highs::{Col, HighsError, INFINITY, Model, Row, Status};
use crate::instance::{Admission, Instance};
use crate::plan::{Contents, NewNode, Plan};

/// Whether pods fit.
pub enum Fit {
    /// They do, rules between pods aside.
    Plan(Plan),
    /// There is no way.
    Never,
    /// Not found out in time.
    Unknown,
}

/// Nodes of the search tree per fleet, and seconds.
const NODES: u32 = 2_000;
const SECONDS: f64 = 1.0;

/// A machine of the fleet, or a node that stays.
enum Slot {
    New(usize),
    Node(usize),
}

impl Slot {
    fn room<'i>(&self, instance: &'i Instance) -> &'i [i64] {
        match *self {
            Slot::New(b) => &instance.bins[b].capacity,
            Slot::Node(n) => &instance.nodes[n].free,
        }
    }

    fn is_in(&self, admission: &Admission) -> bool {
        match *self {
            Slot::New(b) => admission.bins.contains(b),
            Slot::Node(n) => admission.nodes.contains(n),
        }
    }
}

/// Puts all pods that wait, and those of the nodes that go, into the machines
/// of the fleet and the nodes that stay.
pub fn fit(instance: &Instance, fleet: &Fleet, left: f64) -> Result<Fit, HighsError> {
    let mut count: Vec<u32> = instance.shapes.iter().map(|s| s.count).collect();
    fleet.removed.iter().flat_map(|&n| &instance.nodes[n].residents).for_each(|&(s, c)| count[s] += c);
    let stay = (0..instance.nodes.len()).filter(|n| fleet.removed.binary_search(n).is_err());
    let slots: Vec<Slot> = fleet.bins.iter().map(|&b| Slot::New(b)).chain(stay.map(Slot::Node)).collect();
    let mut m = Model::new()?;
    let room: Vec<Vec<Row>> = slots
        .iter()
        .map(|slot| slot.room(instance).iter().map(|&c| m.add_row(-INFINITY, c as f64, &[])).collect())
        .collect::<Result<_, _>>()?;
    let mut cols: Vec<(Col, usize, usize)> = Vec::new();
    for (s, shape) in instance.shapes.iter().enumerate().filter(|(s, _)| count[*s] > 0) {
        let Some(tier) = shape.tiers.first() else { return Ok(Fit::Never) };
        let all = m.add_row(f64::from(count[s]), f64::from(count[s]), &[])?;
        let mut reach = 0;
        for (k, slot) in slots.iter().enumerate() {
            let most = most(&shape.demand, slot.room(instance)).min(count[s]);
            if most == 0 || !slot.is_in(&instance.admissions[tier.admission]) {
                continue;
            }
            reach += most;
            let demand = shape.demand.iter().zip(&room[k]).filter(|d| *d.0 > 0).map(|(d, row)| (*row, *d as f64));
            let entries: Vec<(Row, f64)> = std::iter::once((all, 1.0)).chain(demand).collect();
            cols.push((m.add_int(0.0, 0.0, f64::from(most), &entries)?, s, k));
        }
        if reach < count[s] {
            return Ok(Fit::Never);
        }
    }
    if left.is_finite() {
        m.node_limit(NODES)?;
        m.time_limit(left.clamp(0.0, SECONDS))?;
    } else {
        m.node_limit(super::super::NODES)?;
    }
    match m.run()? {
        Status::Infeasible => return Ok(Fit::Never),
        Status::Optimal => {}
        _ if m.has_point() => {}
        _ => return Ok(Fit::Unknown),
    }
    let mut contents: Vec<Contents> = vec![Vec::new(); slots.len()];
    for &(col, s, k) in &cols {
        let pods = m.value(col).round() as u32;
        if pods > 0 {
            contents[k].push((s, pods));
        }
    }
    let mut plan = Plan { removed: fleet.removed.clone(), ..Plan::default() };
    for (slot, contents) in slots.iter().zip(contents).filter(|c| !c.1.is_empty()) {
        match *slot {
            Slot::New(bin) => plan.bought.push(NewNode { bin, contents }),
            Slot::Node(n) => plan.placed.push((n, contents)),
        }
    }
    Ok(Fit::Plan(plan))
}

/// How many pods of this demand the room takes.
fn most(demand: &[i64], room: &[i64]) -> u32 {
    let fits = demand.iter().zip(room).filter(|d| *d.0 > 0).map(|(d, r)| r.max(&0) / d).min();
    fits.map_or(u32::MAX, |n| u32::try_from(n).unwrap_or(u32::MAX))
}
