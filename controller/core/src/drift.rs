//! Nodes that are no longer what their NodePool asks for. (spec 30 §17.1)

use jiff::{SignedDuration, Timestamp};
use millwright_models::catalog::Catalog;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::karpenter::nodeclass::NodeClass;
use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::karpenter::{hash, labels};
use millwright_models::kube::meta::Labels;

const CLASS_HASH: &str = "karpenter.k8s.aws/ec2nodeclass-hash";
const CLASS_HASH_VERSION: &str = "karpenter.k8s.aws/ec2nodeclass-hash-version";
/// A type may be missing from the catalogue for so long.
const GRACE: SignedDuration = SignedDuration::from_hours(1);

/// How a claim drifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drift {
    /// The pool's template changed.
    NodePool,
    /// The pool's requirements do not admit the node's labels.
    Requirements,
    /// Its offering is not in the catalogue any more.
    InstanceType,
    /// The node class changed.
    NodeClass,
    /// The node class selects other images.
    Ami,
}

impl Drift {
    /// The reason of the condition `Drifted`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NodePool => "NodePoolDrifted",
            Self::Requirements => "RequirementsDrifted",
            Self::InstanceType => "InstanceTypeNotFound",
            Self::NodeClass => "NodeClassDrift",
            Self::Ami => "AMIDrift",
        }
    }
}

/// The first way in which `claim` has drifted from `pool`. A claim that has
/// not been launched cannot. What the cloud alone knows (subnets, security
/// groups) is not looked at.
pub fn drift(
    claim: &NodeClaim,
    pool: &NodePool,
    class: Option<&NodeClass>,
    catalog: &Catalog,
    now: Timestamp,
) -> Option<Drift> {
    if claim.conditions.iter().any(|c| c.kind == "Launched" && c.status != "True") {
        return None;
    }
    let differ = |a: &Labels, b: &Labels, key: &str, version: &str| {
        let both = |key: &str| a.get(key).zip(b.get(key));
        both(version).is_some_and(|(x, y)| x == y) && both(key).is_some_and(|(x, y)| x != y)
    };
    let (own, of_pool) = (&claim.meta.annotations, &pool.meta.annotations);
    if differ(own, of_pool, hash::ANNOTATION, hash::VERSION_ANNOTATION) {
        return Some(Drift::NodePool);
    }
    if !admits(pool, &claim.meta.labels) {
        return Some(Drift::Requirements);
    }
    let old = claim.meta.creation_timestamp.is_some_and(|born| now.duration_since(born) > GRACE);
    if old && !is_offered(catalog, &claim.meta.labels) {
        return Some(Drift::InstanceType);
    }
    let class = class?;
    if differ(own, &class.meta.annotations, CLASS_HASH, CLASS_HASH_VERSION) {
        return Some(Drift::NodeClass);
    }
    let foreign = !class.amis.is_empty() && !claim.image_id.is_empty() && !class.amis.contains(&claim.image_id);
    foreign.then_some(Drift::Ami)
}

/// Whether the pool's requirements admit a node with these labels.
fn admits(pool: &NodePool, have: &Labels) -> bool {
    let normal: Labels = have.iter().map(|(k, v)| (labels::normalise(k).to_owned(), v.clone())).collect();
    pool.template.requirements.iter().all(|r| {
        let mut r = r.clone();
        r.key = labels::normalise(&r.key).to_owned();
        r.matches(&normal)
    })
}

/// Whether the catalogue has the offering, available or not. A reserved node
/// is on offer as long as its type is, reserved or on demand.
fn is_offered(catalog: &Catalog, have: &Labels) -> bool {
    let label = |key: &str| have.get(key).map(String::as_str);
    let Some(name) = label(labels::INSTANCE_TYPE) else { return true };
    let Some(t) = catalog.find(name) else { return false };
    let zone = label(labels::ZONE);
    let kinds: &[&str] = match label(labels::CAPACITY_TYPE) {
        Some(labels::RESERVED) => &[labels::RESERVED, labels::ON_DEMAND],
        Some(labels::SPOT) => &[labels::SPOT],
        Some(_) => &[labels::ON_DEMAND],
        None => &[labels::RESERVED, labels::ON_DEMAND, labels::SPOT],
    };
    t.offerings.iter().any(|o| kinds.contains(&o.capacity_type.as_str()) && zone.is_none_or(|z| z == o.zone))
}
