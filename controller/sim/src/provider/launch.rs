//! Selling a machine for a NodeClaim.

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::{Refusal, Reply};
use millwright_models::catalog::{Catalog, InstanceType, Offering};
use millwright_models::karpenter::labels;
use millwright_models::kube::meta::Labels;
use millwright_models::resources::{MEMORY, Resources};
use serde_json::Value;

use super::{Machine, Provider, Sale, State};
use crate::json;

/// How a machine that is sold will behave.
#[derive(Clone, Copy, Debug)]
pub struct Temper {
    pub boots_in: Option<SignedDuration>,
    pub ready_in: SignedDuration,
    /// Its kubelet offers less memory than promised.
    pub is_small: bool,
}

impl Provider {
    /// Sells a machine, once per token: asked again, it answers as before.
    pub fn launch(&mut self, claim: &str, token: &str, object: &Value, temper: Temper, now: Timestamp) -> Reply {
        if let Some(known) = self.tokens.get(token).and_then(|id| self.machines.get(id)) {
            return if known.is_up() {
                Reply::Launched(known.instance(now))
            } else {
                let reason = "IdempotentInstanceTerminated".to_owned();
                Reply::Refused(Refusal::Create { reason, message: format!("{} has ended", known.id) })
            };
        }
        let catalog = self.catalog.clone();
        let on_sale = candidates(&catalog, object);
        let in_stock = |(t, o): &&(&InstanceType, &Offering)| !self.is_out_of_stock(&sale(t, o), now);
        let Some((kind, offering)) = on_sale.iter().find(in_stock) else {
            let message = format!("none of {} offerings is in stock", on_sale.len());
            return Reply::Refused(Refusal::InsufficientCapacity { message });
        };
        self.sold += 1;
        let machine = build(self, claim, token, kind, offering, object, temper, now);
        let instance = machine.instance(now);
        self.tokens.insert(token.to_owned(), machine.id.clone());
        self.machines.insert(machine.id.clone(), machine);
        Reply::Launched(instance)
    }
}

fn sale(kind: &InstanceType, offering: &Offering) -> Sale {
    (kind.name.clone(), offering.zone.clone(), offering.capacity_type.clone())
}

/// The offerings that a NodeClaim admits: spot before on-demand, then the
/// cheapest.
pub fn candidates<'c>(catalog: &'c Catalog, claim: &Value) -> Vec<(&'c InstanceType, &'c Offering)> {
    let wishes = json::list(claim, &["spec", "requirements"]);
    let mut fit: Vec<_> = catalog
        .types
        .iter()
        .flat_map(|t| t.offerings.iter().map(move |o| (t, o)))
        .filter(|(t, o)| o.available && admits(wishes, &labels_of(catalog, t, o)))
        .collect();
    fit.sort_by_key(|(t, o)| (o.capacity_type != labels::SPOT, o.price, t.name.as_str(), o.zone.as_str()));
    fit
}

/// Whether every requirement on a label that machines decide holds.
fn admits(wishes: &[Value], labels: &Labels) -> bool {
    wishes.iter().all(|wish| {
        let Some(value) = labels.get(json::text(wish, &["key"])) else { return true };
        let values: Vec<&str> = json::list(wish, &["values"]).iter().filter_map(Value::as_str).collect();
        let number = |text: &str| text.parse::<i64>().ok();
        let bound = || values.first().and_then(|v| number(v));
        match json::text(wish, &["operator"]) {
            "In" => values.contains(&value.as_str()),
            "NotIn" => !values.contains(&value.as_str()),
            "DoesNotExist" => false,
            "Gt" => number(value).zip(bound()).is_some_and(|(v, b)| v > b),
            "Lt" => number(value).zip(bound()).is_some_and(|(v, b)| v < b),
            "Gte" => number(value).zip(bound()).is_some_and(|(v, b)| v >= b),
            "Lte" => number(value).zip(bound()).is_some_and(|(v, b)| v <= b),
            _ => true,
        }
    })
}

fn labels_of(catalog: &Catalog, kind: &InstanceType, offering: &Offering) -> Labels {
    let mut all = kind.labels.clone();
    let own = [
        (labels::INSTANCE_TYPE, kind.name.as_str()),
        (labels::ZONE, &offering.zone),
        (labels::REGION, &catalog.region),
        (labels::CAPACITY_TYPE, &offering.capacity_type),
        (labels::ARCH, &kind.architecture),
        (labels::OS, kind.operating_systems.first().map_or("linux", String::as_str)),
    ];
    all.extend(own.map(|(k, v)| (k.to_owned(), v.to_owned())));
    all
}

#[allow(clippy::too_many_arguments)]
fn build(
    provider: &Provider,
    claim: &str,
    token: &str,
    kind: &InstanceType,
    offering: &Offering,
    object: &Value,
    temper: Temper,
    now: Timestamp,
) -> Machine {
    let number = provider.sold;
    let allocatable = kind.allocatable.clone().unwrap_or_else(|| kind.capacity.clone());
    let offered = if temper.is_small { smaller(&allocatable) } else { allocatable.clone() };
    let startup = json::list(object, &["spec", "startupTaints"]);
    Machine {
        id: format!("aws:///{}/i-{number:04}", offering.zone),
        claim: claim.to_owned(),
        token: token.to_owned(),
        instance_type: kind.name.clone(),
        zone: offering.zone.clone(),
        capacity_type: offering.capacity_type.clone(),
        price: offering.price,
        image: provider.image.clone(),
        created: now,
        state: State::Up,
        labels: labels_of(&provider.catalog, kind, offering),
        capacity: kind.capacity.clone(),
        allocatable,
        offered,
        boots_in: temper.boots_in,
        ready_in: temper.ready_in,
        node: format!("ip-10-0-{}-{}", number / 250, number % 250),
        taints: [json::list(object, &["spec", "taints"]), startup].concat(),
    }
}

/// Some memory less, as kernels differ.
fn smaller(allocatable: &Resources) -> Resources {
    let mut less = allocatable.clone();
    less.set(MEMORY, allocatable.get(MEMORY) / 100 * 97);
    less
}
