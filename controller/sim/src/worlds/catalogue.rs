//! Catalogues of a few types.

use millwright_models::catalog::{Catalog, InstanceType, Offering};
use millwright_models::karpenter::labels;
use millwright_models::kube::meta::Labels;
use millwright_models::resources::{CPU, MEMORY, PODS, Resources};

use super::zone_names;
use crate::dice::Dice;

const GIB: i64 = 1 << 30;

/// Name, cores, GiB, micro-dollars per hour.
const TYPES: [(&str, i64, i64, i64); 9] = [
    ("c7.large", 2, 4, 85_000),
    ("m7.large", 2, 8, 96_000),
    ("r7.large", 2, 16, 126_000),
    ("c7.xlarge", 4, 8, 170_000),
    ("m7.xlarge", 4, 16, 192_000),
    ("r7.xlarge", 4, 32, 252_000),
    ("c7.2xlarge", 8, 16, 340_000),
    ("m7.2xlarge", 8, 32, 384_000),
    ("m7.4xlarge", 16, 64, 768_000),
];

/// Four to nine types in `zones` zones, on demand and as spot; four to six in a
/// small cluster.
pub fn catalog(dice: &mut Dice, zones: usize, is_small: bool) -> Catalog {
    let share = if is_small { 0.25 } else { 0.75 };
    let mut chosen: Vec<_> = TYPES.into_iter().filter(|_| dice.chance(share)).collect();
    if is_small {
        chosen.truncate(2);
    }
    for needed in [TYPES[1], TYPES[4], TYPES[7], TYPES[8]] {
        if !chosen.contains(&needed) {
            chosen.push(needed);
        }
    }
    let types = chosen.into_iter().map(|t| instance_type(dice, t, zones)).collect();
    Catalog::new("sim-1".to_owned(), "simulated".to_owned(), types)
}

fn instance_type(dice: &mut Dice, (name, cores, memory, price): (&str, i64, i64, i64), zones: usize) -> InstanceType {
    let mut capacity = Resources::default();
    capacity.set(CPU, cores * 1000);
    capacity.set(MEMORY, memory * GIB);
    capacity.set(PODS, 8 + cores * 6);
    let mut allocatable = capacity.clone();
    allocatable.set(CPU, cores * 1000 - 70);
    allocatable.set(MEMORY, memory * GIB / 100 * 92);
    let price = price / 100 * dice.between(92, 108);
    let mut offerings = Vec::new();
    for zone in zone_names(zones) {
        let offering = |capacity_type: &str, price| Offering {
            zone: zone.clone(),
            capacity_type: capacity_type.to_owned(),
            price,
            available: true,
            reservation: None,
        };
        offerings.push(offering(labels::ON_DEMAND, price));
        offerings.push(offering(labels::SPOT, price / 100 * dice.between(25, 70)));
    }
    let (family, size) = name.split_once('.').unwrap_or((name, ""));
    let generation = family.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let own = [
        (labels::INSTANCE_CATEGORY, &family[..1]),
        (labels::INSTANCE_FAMILY, family),
        (labels::INSTANCE_GENERATION, generation),
        (labels::INSTANCE_SIZE, size),
        ("karpenter.k8s.aws/instance-cpu", &cores.to_string()),
    ];
    InstanceType {
        name: name.to_owned(),
        architecture: "amd64".to_owned(),
        operating_systems: vec!["linux".to_owned()],
        capacity,
        allocatable: Some(allocatable),
        labels: own.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect::<Labels>(),
        volume_attachments: None,
        offerings,
        unpriced_zones: Vec::new(),
        hardware: None,
    }
}
