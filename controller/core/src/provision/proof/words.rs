//! What the checker complains of, in the names of the plan.

use millwright_models::lower::Lowered;
use millwright_models::quantity;
use millwright_models::world::World;
use millwright_solver::check::{Broken, BrokenProof, Spot};
use millwright_solver::plan::Plan;

use super::names::RowName;

/// Positions of the checker, as the names behind them.
pub struct Words<'a, 'w> {
    pub world: &'w World,
    pub lowered: &'a Lowered<'w>,
    pub plan: &'a Plan,
}

impl Words<'_, '_> {
    /// One complaint about the plan.
    pub fn plan(&self, broken: &Broken) -> String {
        let lowered = self.lowered;
        match *broken {
            Broken::NotBuyable { bought, .. } => format!("{} may not be bought alone", self.bought(bought)),
            Broken::PlacedOnRemoved { node } => format!("{} is removed and receives pods", self.node(node)),
            Broken::NotRemovable { node } => format!("{} is removed though it must stay", self.node(node)),
            Broken::NotRemoved { node } => format!("{} must go and stays", self.node(node)),
            Broken::Budget { budget, drawn, max } => {
                format!("{}: {drawn} drawn of {max}", named(&lowered.budget_names, budget, "budget"))
            }
            Broken::Evicted { shape, unserved, most } => {
                format!("{unserved} {} have no place, but only {most} wait or must move", self.pods(shape))
            }
            Broken::Count { shape, want, got } => {
                format!("{got} {} are in the plan, {want} wait", self.pods(shape))
            }
            Broken::Overfull { spot, dim, used, room } => {
                let (what, amount) = self.dimension(dim);
                format!("{}: its pods take {what} {}, it has {}", self.spot(spot), amount(used), amount(room.into()))
            }
            Broken::DemotedTooMany { shape, demoted, placed } => {
                format!("{demoted} {} are said to give up preferences, only {placed} are placed", self.pods(shape))
            }
            Broken::NotAdmitted { spot, shape } => {
                format!("{}: {} may not run there", self.spot(spot), self.pods(shape))
            }
            Broken::TiersImpossible { shape } => {
                format!("{}: so many cannot keep their preferences as stated", self.pods(shape))
            }
            Broken::Limit { limit, used, max } => {
                let Some((pool, resource)) = lowered.limit_names.get(limit) else { return broken.to_string() };
                format!("NodePool {pool}: takes {resource} {used} of its limit, {max} are left")
            }
            Broken::Supply { supply, used, count } => {
                let name = named(&lowered.supply_names, supply, "reservation");
                format!("capacity reservation {name}: {used} units taken of {count}")
            }
            Broken::Variety { bought, left, least, .. } => {
                format!("{}: its launch leaves {left} values, minValues asks for {least}", self.bought(bought))
            }
            Broken::NoDomain { rule, spot } => {
                format!("{}: {} has no value of its label", self.rule(rule), self.spot(spot))
            }
            Broken::Skew { rule, ref domain, count, minimum, max_skew } => format!(
                "{}: {domain} receives pods and has {count}, the lowest has {minimum}, maxSkew is {max_skew}",
                self.rule(rule)
            ),
            Broken::NoOrder { rule, left } => {
                format!("{}: in no order can all its pods arrive; {left} are left", self.rule(rule))
            }
            Broken::Anti { rule, ref domain } => {
                format!("{}: {domain} holds pods that it keeps apart", self.rule(rule))
            }
            Broken::Affinity { rule, ref domain } => {
                format!("{}: {domain} holds such a pod and none that it asks for", self.rule(rule))
            }
            // Of the form of a plan, which no name would make clearer.
            Broken::NoSuchBin { .. }
            | Broken::NoSuchNode { .. }
            | Broken::Unsorted { .. }
            | Broken::NoSuchShape { .. }
            | Broken::ZeroCount { .. }
            | Broken::NoSuchTier { .. } => broken.to_string(),
        }
    }

    /// What is wrong with the certificate.
    pub fn proof(&self, broken: &BrokenProof) -> String {
        match *broken {
            BrokenProof::Partition { shape, want, got, .. } => {
                format!("values {got} {}, the plan serves {want}", self.pods(shape))
            }
            BrokenProof::Bin { bin, worth, price } => {
                let (worth, price) = (dollars(worth), dollars(price));
                format!("{}: what fits it is worth {worth} $/h by the duals, it costs {price}", self.bin(bin))
            }
            BrokenProof::Unbounded { bin } => format!("{}: nothing bounds what it can hold", self.bin(bin)),
            BrokenProof::Dangling { .. }
            | BrokenProof::Unit { .. }
            | BrokenProof::Length { .. }
            | BrokenProof::Negative { .. }
            | BrokenProof::Reference { .. }
            | BrokenProof::Overflow => broken.to_string(),
        }
    }

    fn spot(&self, spot: Spot) -> String {
        match spot {
            Spot::Bought(i) => self.bought(i),
            Spot::Node(n) => self.node(n),
        }
    }

    fn node(&self, node: usize) -> String {
        self.lowered.places.get(node).map_or_else(|| format!("node {node}"), |p| format!("node {}", p.name))
    }

    /// A node to buy, by its place in the file.
    fn bought(&self, bought: usize) -> String {
        let what = self.plan.bought.get(bought).map_or_else(String::new, |n| format!(" ({})", self.bin(n.bin)));
        format!("nodes[{bought}]{what}")
    }

    fn bin(&self, bin: usize) -> String {
        if bin >= self.lowered.offers.rows.len() {
            return format!("bin {bin}");
        }
        let RowName { pool, instance_type, zone, capacity_type, .. } = RowName::of(self.lowered, bin);
        format!("{instance_type} {zone} {capacity_type} of NodePool {pool}")
    }

    fn pods(&self, shape: usize) -> String {
        let first = self.lowered.shape_pods.get(shape).and_then(|pods| pods.first());
        first.map_or_else(
            || format!("pods of shape {shape}"),
            |p| format!("pods like {}", self.world.pods[*p].full_name()),
        )
    }

    fn rule(&self, rule: usize) -> String {
        named(&self.lowered.rule_names, rule, "rule")
    }

    /// Name of a dimension, and how its amounts are written.
    fn dimension(&self, dim: usize) -> (String, impl Fn(i128) -> String) {
        let dims = &self.lowered.dims;
        let resource = dims.resources.get(dim).cloned();
        let name = match &resource {
            Some(name) => name.clone(),
            None => named(&dims.drivers, dim.wrapping_sub(dims.resources.len()), "volumes of driver"),
        };
        let write = move |amount: i128| match (&resource, i64::try_from(amount)) {
            (Some(resource), Ok(amount)) => quantity::format(resource, amount),
            _ => amount.to_string(),
        };
        (name, write)
    }
}

fn named(names: &[String], at: usize, kind: &str) -> String {
    names.get(at).cloned().unwrap_or_else(|| format!("{kind} {at}"))
}

/// From 2^-20 nano-dollars.
fn dollars(amount: i128) -> String {
    format!("{:.6}", amount as f64 / f64::from(1_u32 << 20) / 1e9)
}
