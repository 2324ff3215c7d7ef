//! Which offerings a NodeClaim admits, in the order of price. (spec 50 §9)

use std::borrow::Cow;
use std::sync::Arc;

use millwright_models::catalog::{Catalog, CatalogError, Gates, PoolOffering, PoolType, pool_types};
use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::karpenter::nodepool::{NodePool, Template};
use millwright_models::kube::meta::{Labels, Meta};
use millwright_models::reader::{self, Document, ReadErrors, ReadOptions};
use millwright_models::requirements::{Requirement, RequirementError, Requirements};
use millwright_models::resources::Resources;
use millwright_models::world::World;
use millwright_solver::instance::Micros;
use serde_json::Value;

/// An offering that a claim may become.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    pub instance_type: Arc<str>,
    pub zone: Arc<str>,
    pub capacity_type: &'static str,
    pub reservation: Option<String>,
    /// Per hour.
    pub price: Micros,
    /// What a node of this offering is labelled with.
    pub labels: Labels,
    pub capacity: Resources,
    pub allocatable: Resources,
}

/// Why nothing can be launched.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("the NodeClaim cannot be read: {0}")]
    Claim(#[from] ReadErrors),
    #[error("the input holds no NodeClaim")]
    NoClaim,
    #[error("the requirements contradict themselves: {0}")]
    Requirements(#[from] RequirementError),
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// No type has the labels and the size.
    #[error("no instance type meets the requirements and holds {0}")]
    NoType(String),
    /// Types there are, but none is to be had where the claim allows it.
    #[error("none of {0} compatible instance types has an available offering that the requirements admit")]
    NoOffering(usize),
}

/// The NodeClaim that `object` is.
pub fn claim(object: &Value) -> Result<NodeClaim, LaunchError> {
    let document = Document { file: "NodeClaim".to_owned(), text: object.to_string() };
    let world = reader::read(&[document], &ReadOptions { default_pools: false })?;
    world.node_claims.into_iter().next().ok_or(LaunchError::NoClaim)
}

/// Every offering that `claim` admits and that can be launched now, the
/// cheapest first; equal prices in the order of type, zone, capacity type.
pub fn offers(world: &World, catalog: &Catalog, claim: &NodeClaim, gates: &Gates) -> Result<Vec<Offer>, LaunchError> {
    let wanted = Requirements::from_expressions(&claim.requirements)?;
    let catalog = &named(catalog, &wanted);
    let types = pool_types(world, catalog, &stand_in(claim), gates)?.types;
    let fitting: Vec<&PoolType> = types.iter().filter(|t| fits(claim, t) && agrees(&t.requirements, &wanted)).collect();
    if fitting.is_empty() {
        let requests = claim
            .requests
            .iter()
            .map(|(name, amount)| format!("{name} {}", millwright_models::quantity::format(name, amount)));
        return Err(LaunchError::NoType(requests.collect::<Vec<_>>().join(", ")));
    }
    let mut all: Vec<Offer> = fitting
        .iter()
        .flat_map(|t| t.offerings.iter().filter(|o| o.launchable()).map(move |o| (t, o)))
        .filter(|(t, o)| agrees(&concrete(t, o), &wanted))
        .map(|(t, o)| offer(t, o, &wanted))
        .collect();
    if all.is_empty() {
        return Err(LaunchError::NoOffering(fitting.len()));
    }
    let rank = |o: &Offer| (o.price, o.instance_type.clone(), o.zone.clone(), o.capacity_type, o.reservation.clone());
    all.sort_by_cached_key(rank);
    Ok(all)
}

/// The part of a catalogue that the claim names: a few types of a thousand.
fn named<'c>(catalog: &'c Catalog, wanted: &Requirements) -> Cow<'c, Catalog> {
    let Some(names) = wanted.get(labels::INSTANCE_TYPE) else { return Cow::Borrowed(catalog) };
    let types = catalog.types.iter().filter(|t| names.has(&t.name)).cloned().collect();
    let Catalog { region, source, prices_of, digest, .. } = catalog;
    Cow::Owned(Catalog {
        region: region.clone(),
        source: source.clone(),
        prices_of: *prices_of,
        types,
        digest: digest.clone(),
    })
}

/// A pool that asks for nothing: the claim says it all, and its pool may have
/// changed since.
fn stand_in(claim: &NodeClaim) -> NodePool {
    let name = claim.meta.labels.get(labels::NODEPOOL).cloned().unwrap_or_default();
    NodePool {
        meta: Meta { name, ..Meta::default() },
        template: Template { node_class: claim.node_class.clone(), ..Template::default() },
        ..NodePool::default()
    }
}

fn fits(claim: &NodeClaim, kind: &PoolType) -> bool {
    claim.requests.iter().all(|(name, amount)| amount <= kind.allocatable.get(name))
}

/// Whether every label that the provider decides can be as it is wanted.
/// Labels that no type has are the claim's own, and written to its node.
fn agrees(kind: &Requirements, wanted: &Requirements) -> bool {
    kind.intersects(wanted).is_ok()
}

/// The type's labels with those that hang on the offering.
fn concrete(kind: &PoolType, offering: &PoolOffering) -> Requirements {
    let mut all = kind.requirements.clone();
    all.remove(labels::RESERVATION_ID);
    all.add(Requirement::is(labels::ZONE, &*offering.zone));
    all.add(Requirement::is(labels::CAPACITY_TYPE, offering.capacity_type.as_str()));
    all.add(match &offering.reservation {
        Some(reservation) => Requirement::is(labels::RESERVATION_ID, &reservation.id),
        None => Requirement::absent(labels::RESERVATION_ID),
    });
    all
}

fn offer(kind: &PoolType, offering: &PoolOffering, wanted: &Requirements) -> Offer {
    let mut own = kind.labels.clone();
    own.insert(labels::ZONE.to_owned(), offering.zone.to_string());
    own.insert(labels::CAPACITY_TYPE.to_owned(), offering.capacity_type.as_str().to_owned());
    match &offering.reservation {
        Some(reservation) => own.insert(labels::RESERVATION_ID.to_owned(), reservation.id.clone()),
        None => own.remove(labels::RESERVATION_ID),
    };
    // Several values left: a machine is shared unless it must not be.
    let tenancy =
        if wanted.get(labels::INSTANCE_TENANCY).is_some_and(|r| !r.has("default")) { "dedicated" } else { "default" };
    if kind.requirements.get(labels::INSTANCE_TENANCY).is_some() {
        own.insert(labels::INSTANCE_TENANCY.to_owned(), tenancy.to_owned());
    }
    Offer {
        instance_type: kind.name.clone(),
        zone: offering.zone.clone(),
        capacity_type: offering.capacity_type.as_str(),
        reservation: offering.reservation.as_ref().map(|r| r.id.clone()),
        price: offering.price,
        labels: own,
        capacity: kind.capacity.clone(),
        allocatable: kind.allocatable.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millwright_models::catalog;
    use serde_json::json;

    fn wanted(requirements: Value, requests: Value) -> NodeClaim {
        let object = json!({
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": {"name": "c", "labels": {"karpenter.sh/nodepool": "default"}},
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": requirements,
                "resources": {"requests": requests},
            },
        });
        claim(&object).unwrap()
    }

    fn find(requirements: Value, requests: Value) -> Result<Vec<Offer>, LaunchError> {
        let catalog = catalog::embedded("us-east-1").unwrap();
        offers(&World::default(), &catalog, &wanted(requirements, requests), &Gates::default())
    }

    fn types(names: &[&str]) -> Value {
        json!({"key": "node.kubernetes.io/instance-type", "operator": "In", "values": names})
    }

    #[test]
    fn the_cheapest_that_holds_the_requests_comes_first() {
        let all = find(json!([types(&["m5.large", "m5.xlarge", "c5.large"])]), json!({"cpu": "1500m"})).unwrap();
        assert_eq!(&*all[0].instance_type, "c5.large");
        assert!(all.is_sorted_by_key(|o| o.price));
        assert!(all.iter().any(|o| &*o.instance_type == "m5.xlarge"));
        let all = find(json!([types(&["m5.large", "m5.xlarge", "c5.large"])]), json!({"cpu": 3})).unwrap();
        assert!(all.iter().all(|o| &*o.instance_type == "m5.xlarge"), "the others are too small");
        let labels = &all[0].labels;
        let label = |key: &str| labels.get(key).map_or("", String::as_str);
        assert_eq!(label("node.kubernetes.io/instance-type"), "m5.xlarge");
        assert_eq!(label("kubernetes.io/arch"), "amd64");
        assert_eq!(label("kubernetes.io/os"), "linux");
        assert_eq!(label("karpenter.sh/capacity-type"), "on-demand");
        assert_eq!(label("topology.kubernetes.io/region"), "us-east-1");
        assert_eq!(label("karpenter.k8s.aws/instance-tenancy"), "default");
        assert_eq!(label("topology.kubernetes.io/zone"), &*all[0].zone);
        assert!(all[0].allocatable.get("cpu") < all[0].capacity.get("cpu"));
    }

    #[test]
    fn zone_system_and_labels_of_the_claim_itself() {
        let zone = json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1b"]});
        let team = json!({"key": "team", "operator": "In", "values": ["blue"]});
        let all = find(json!([types(&["m5.large"]), zone, team]), json!({"cpu": 1})).unwrap();
        assert!(all.iter().all(|o| &*o.zone == "us-east-1b") && !all.is_empty());
        let arm = json!({"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]});
        assert!(matches!(find(json!([types(&["m5.large"]), arm]), json!({})), Err(LaunchError::NoType(_))));
    }

    #[test]
    fn what_is_too_large_and_what_is_not_offered_are_told_apart() {
        let error = find(json!([types(&["m5.large"])]), json!({"cpu": 64})).unwrap_err();
        assert_eq!(error.to_string(), "no instance type meets the requirements and holds cpu 64");
        let nowhere = json!({"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]});
        let zone = json!({"key": "topology.kubernetes.io/zone", "operator": "NotIn", "values": ["us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d", "us-east-1e", "us-east-1f"]});
        let error = find(json!([types(&["m5.large"]), nowhere, zone]), json!({"cpu": 1})).unwrap_err();
        assert!(matches!(error, LaunchError::NoType(_) | LaunchError::NoOffering(_)), "{error}");
    }
}
