//! What can be bought: one row per pool, label variant, type, zone, capacity
//! type and operating system.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::LowerError;
use super::columns::Labelled;
use crate::catalog::{CapacityType, PoolOffering, PoolType, PoolTypes};
use crate::karpenter::labels;
use crate::karpenter::nodepool::NodePool;
use crate::kube::meta::Labels;
use crate::kube::selector::{Expression, Operator};
use crate::requirements::Requirements;

/// Label variants of one pool beyond this are refused rather than tried.
const MOST_VARIANTS: usize = 256;

/// A pool that takes part, with the types it may buy.
pub struct PoolOffers<'w> {
    pub pool: &'w NodePool,
    pub types: PoolTypes,
    /// Labels every node of the pool has, one map per combination of the
    /// values that its open custom keys may take.
    pub variants: Vec<Labels>,
}

/// One thing that can be bought.
#[derive(Clone, Debug)]
pub struct Row {
    pub pool: usize,
    pub variant: usize,
    /// Index into the pool's types.
    pub ptype: usize,
    /// Index into the type's offerings.
    pub offering: usize,
    /// Operating system.
    pub os: Arc<str>,
}

/// All rows, with their labels.
pub struct Offers<'w> {
    pub pools: Vec<PoolOffers<'w>>,
    pub rows: Vec<Row>,
    pub region: String,
}

impl Offers<'_> {
    pub fn ptype(&self, row: &Row) -> &PoolType {
        &self.pools[row.pool].types.types[row.ptype]
    }

    pub fn offering(&self, row: &Row) -> &PoolOffering {
        &self.ptype(row).offerings[row.offering]
    }
}

impl Labelled for Offers<'_> {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn label(&self, row: usize, key: &str) -> Option<&str> {
        let row = &self.rows[row];
        let pool = &self.pools[row.pool];
        let ptype = &pool.types.types[row.ptype];
        let offering = &ptype.offerings[row.offering];
        match labels::normalise(key) {
            labels::ZONE => Some(&offering.zone),
            labels::CAPACITY_TYPE => Some(offering.capacity_type.as_str()),
            labels::INSTANCE_TYPE => Some(&ptype.name),
            labels::OS => Some(&row.os),
            labels::REGION => Some(&self.region),
            labels::REGISTERED | labels::INITIALIZED => Some("true"),
            labels::RESERVATION_ID => offering.reservation.as_ref().map(|r| r.id.as_str()),
            key => ptype.labels.get(key).or_else(|| pool.variants[row.variant].get(key)).map(String::as_str),
        }
    }
}

/// Values that pods and DaemonSets name, per label key; a topology key stands
/// with an empty set.
pub type Mentions = BTreeMap<String, BTreeSet<String>>;

/// Lists the rows of all pools, in the order of the pools, then of types as
/// the catalogue has them.
pub fn offers<'w>(
    pools: Vec<(&'w NodePool, PoolTypes)>,
    region: &str,
    mentions: &Mentions,
) -> Result<Offers<'w>, LowerError> {
    let mut out = Offers { pools: Vec::new(), rows: Vec::new(), region: region.to_owned() };
    for (pool, types) in pools {
        let known: BTreeSet<&str> = types.types.iter().flat_map(|t| t.labels.keys().map(String::as_str)).collect();
        let template = template_labels(pool);
        let (open, fixed): (Vec<&Expression>, Vec<&Expression>) =
            pool.template.requirements.iter().partition(|e| is_open(&e.key, &known));
        let variants = variants(pool, &template, &open, mentions)?;
        let index = out.pools.len();
        for (t, ptype) in types.types.iter().enumerate() {
            for (o, offering) in ptype.offerings.iter().enumerate() {
                if !offering.available {
                    continue;
                }
                for os in systems(ptype, pool) {
                    let fits = fixed.iter().all(|e| admits(e, ptype, offering, &os, region));
                    if fits && agrees(&template, ptype, offering, &os) {
                        for variant in 0..variants.len() {
                            let os = Arc::clone(&os);
                            out.rows.push(Row { pool: index, variant, ptype: t, offering: o, os });
                        }
                    }
                }
            }
        }
        out.pools.push(PoolOffers { pool, types, variants });
    }
    Ok(out)
}

/// Labels that the pool's template puts on every node.
pub fn template_labels(pool: &NodePool) -> Labels {
    let mut all = pool.template.labels.clone();
    all.insert(labels::NODEPOOL.to_owned(), pool.name().to_owned());
    let class = &pool.template.node_class;
    if !class.kind.is_empty() {
        all.insert(format!("{}/{}", class.group, class.kind.to_lowercase()), class.name.clone());
    }
    all
}

/// Whether the key is one that nodes get from the pool rather than from their
/// type or offering.
fn is_open(key: &str, known: &BTreeSet<&str>) -> bool {
    !known.contains(key)
        && !matches!(
            key,
            labels::ZONE
                | labels::CAPACITY_TYPE
                | labels::INSTANCE_TYPE
                | labels::OS
                | labels::ARCH
                | labels::REGION
                | labels::RESERVATION_ID
                | labels::NODEPOOL
        )
}

fn admits(e: &Expression, ptype: &PoolType, offering: &PoolOffering, os: &str, region: &str) -> bool {
    let value = match e.key.as_str() {
        labels::ZONE => Some(&*offering.zone),
        labels::CAPACITY_TYPE => Some(offering.capacity_type.as_str()),
        labels::INSTANCE_TYPE => Some(&*ptype.name),
        labels::OS => Some(os),
        labels::REGION => Some(region),
        labels::RESERVATION_ID => offering.reservation.as_ref().map(|r| r.id.as_str()),
        key => ptype.labels.get(key).map(String::as_str),
    };
    let holder = value.map(|v| (e.key.clone(), v.to_owned())).into_iter().collect();
    e.matches(&holder)
}

/// Template labels on keys that the type or offering decides must agree with it.
fn agrees(template: &Labels, ptype: &PoolType, offering: &PoolOffering, os: &str) -> bool {
    template.iter().all(|(key, value)| match key.as_str() {
        labels::ZONE => **value == *offering.zone,
        labels::CAPACITY_TYPE => value == offering.capacity_type.as_str(),
        labels::INSTANCE_TYPE => **value == *ptype.name,
        labels::OS => value == os,
        key => ptype.labels.get(key).is_none_or(|v| v == value),
    })
}

/// Operating systems that the pool admits for the type; Linux alone where the
/// pool does not say.
fn systems(ptype: &PoolType, pool: &NodePool) -> Vec<Arc<str>> {
    let offered: Vec<String> = match ptype.requirements.get(labels::OS) {
        Some(r) if !r.complement => r.values.iter().cloned().collect(),
        _ => vec!["linux".to_owned()],
    };
    let said = pool.template.requirements.iter().any(|e| e.key == labels::OS);
    let chosen: Vec<Arc<str>> =
        offered.iter().filter(|os| said || *os == "linux").map(|os| Arc::from(os.as_str())).collect();
    if chosen.is_empty() { offered.iter().take(1).map(|os| Arc::from(os.as_str())).collect() } else { chosen }
}

fn variants(
    pool: &NodePool,
    template: &Labels,
    open: &[&Expression],
    mentions: &Mentions,
) -> Result<Vec<Labels>, LowerError> {
    let mut all = vec![template.clone()];
    let owned: Vec<Expression> = open.iter().map(|e| (*e).clone()).collect();
    let requirements = Requirements::from_expressions(&owned)
        .map_err(|e| LowerError::Pool { pool: pool.name().to_owned(), reason: e.to_string() })?;
    for requirement in requirements.iter() {
        let key = &requirement.key;
        if template.contains_key(key) {
            continue;
        }
        let named = mentions.get(key);
        let mut values: Vec<Option<String>> = if requirement.complement {
            let told = named.into_iter().flatten().filter(|v| requirement.has(v)).cloned();
            let mut values: Vec<Option<String>> = told.map(Some).collect();
            values.push(Some(requirement.any()));
            if requirement.operator() == Operator::NotIn && named.is_some() {
                values.push(None);
            }
            values
        } else {
            requirement.values.iter().cloned().map(Some).collect()
        };
        values.dedup();
        if named.is_none() {
            values.truncate(1);
        }
        if values.is_empty() {
            // DoesNotExist: the label is never set.
            continue;
        }
        all = all
            .into_iter()
            .flat_map(|labels| {
                values.iter().map(move |value| {
                    let mut labels = labels.clone();
                    if let Some(v) = value {
                        labels.insert(key.clone(), v.clone());
                    }
                    labels
                })
            })
            .collect();
        if all.len() > MOST_VARIANTS {
            return Err(LowerError::Pool {
                pool: pool.name().to_owned(),
                reason: format!("its custom labels can be combined in more than {MOST_VARIANTS} ways"),
            });
        }
    }
    Ok(all)
}

/// Whether the row is bought on the spot market.
pub fn is_spot(offering: &PoolOffering) -> bool {
    offering.capacity_type == CapacityType::Spot
}
