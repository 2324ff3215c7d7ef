//! Puts the parts of an instance together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use millwright_solver::instance::{Instance, Node, Shape, Tier, UNLIMITED};
use rustc_hash::{FxHashMap, FxHashSet};

use super::attach::Attach;
use super::bins::{self, Bins, Dims};
use super::classes::{self, Class};
use super::columns::Columns;
use super::daemons::{self, Overhead};
use super::nodes::{self, Places};
use super::offers::{self, Mentions, Offers};
use super::parties;
use super::reasons;
use super::registry::{Domains, Registry, RuleId};
use super::removals::{self, Leavers, Removals};
use super::terms::TermReader;
use super::tiers::{Admissions, Ground, Owned, Reach, Room, TierContext, tiers};
use super::volumes::Storage;
use super::{BinSource, LowerError, Lowered, MinValuesPolicy, Settings, envelopes, pools, variety};
use crate::catalog::Catalog;
use crate::karpenter::labels;
use crate::kube::meta::Labels;
use crate::kube::pod::PodSpec;
use crate::world::World;

pub fn assemble<'w>(
    world: &'w World,
    catalog: &Catalog,
    settings: &Settings,
    removals: &Removals,
) -> Result<Lowered<'w>, LowerError> {
    let (pools, mut warnings) = pools::participating(world, catalog, settings);
    let (places, unlaunched) = nodes::places(world);
    if !unlaunched.is_empty() {
        warnings.push(format!(
            "{} NodeClaims without status are not counted as capacity: {}",
            unlaunched.len(),
            unlaunched.join(", ")
        ));
    }
    let offers = offers::offers(pools, &catalog.region, &mentions(world))?;
    let leavers = Leavers::new(world, catalog, &offers, &places, removals)?;
    warnings.extend(leavers.warnings.iter().cloned());
    let storage = Storage::new(world);
    let prefer = prefers(&offers, &places);
    let mut reader = TermReader::new(world, settings.preferences, prefer);
    let chosen = classes::chosen(world, &places, &leavers.homes);
    let attach = Attach::new(world, &offers, &places, &storage, &chosen);
    let demand = classes::demand(world, &places, &leavers.homes, &chosen, &attach, &mut reader);
    warnings.extend(demand.warnings);
    let mut classes = demand.classes;
    let mut registry = Registry::default();
    let parts = {
        let mut ground = Ground::new(&offers, &places);
        let owned = parties::register(world, &mut ground, &leavers.homes, &mut classes, &mut reader, &mut registry);
        let (of_row, row_groups) = daemons::of_rows(world, &mut ground.rows);
        let place_daemons = daemons::of_places(world, &mut ground.places);
        let dims = dims(world, &classes);
        let bins = bins::bins(&offers, &of_row, &row_groups, &dims, &places, &attach);
        let free = free(world, &places, &place_daemons, &dims, &attach);
        let mut room = Room::new(&bins, &of_row, &row_groups, &free, &place_daemons);
        let defined: Vec<Option<Reach>> =
            registry.rules.keys().map(|id| id.key().map(|k| parties::defined(&mut ground, k))).collect();
        let hopeless = |rule: usize, class: usize| is_hopeless(&registry, rule, class);
        let mut admissions = Admissions::default();
        let mut all_tiers: Vec<Vec<Tier>> = Vec::with_capacity(classes.len());
        let mut cx = TierContext {
            ground: &mut ground,
            room: &mut room,
            attach: &attach,
            dims: &dims,
            defined: &defined,
            hopeless: &hopeless,
            admissions: &mut admissions,
        };
        for (c, class) in classes.iter().enumerate() {
            all_tiers.push(tiers(&mut cx, class, c, class.sample(world), &owned[c]));
        }
        let domains = domains(&registry, &mut ground);
        Parts { owned, dims, bins, free, admissions, tiers: all_tiers, domains }
    };
    let Parts { owned, dims, mut bins, free, admissions, tiers, domains } = parts;
    set_domains(&mut bins, &offers, &domains);
    let (mut shapes, shape_of, shape_pods) = collapse(world, &classes, &dims, tiers, &owned, &registry);
    let residents = residents(&mut shapes, &shape_pods, &leavers, places.0.len());
    let nodes = places
        .0
        .iter()
        .zip(residents)
        .enumerate()
        .map(|(i, (place, residents))| Node {
            free: free[i].clone().unwrap_or_else(|| vec![0; dims.count()]),
            domain: place_domain(&place.labels, &domains),
            residents,
            price: leavers.prices[i],
            removal: leavers.removal(i),
            limit_use: bins.place_use[i].clone(),
            supply: supply_of(place, &bins.supply_names),
        })
        .collect();
    let mut instance = Instance {
        dims: dims.count(),
        keys: domains.keys.len(),
        domains: domains.values.iter().map(|v| v.len() as u32).collect(),
        shapes,
        admissions: admissions.all,
        bins: std::mem::take(&mut bins.bins),
        nodes,
        rules: registry.finish(&domains, &shape_of),
        limits: bins.limits,
        supplies: bins.supplies,
        varieties: Vec::new(),
        budgets: removals::budgets(removals),
    };
    let mut sources: Vec<BinSource> = (0..instance.bins.len()).map(BinSource::Row).collect();
    if settings.min_values == MinValuesPolicy::Strict {
        instance.varieties = variety::varieties(&offers, &sources);
    }
    envelopes::add(&mut instance, &mut sources, &offers, settings.spot_types);
    instance.validate()?;
    let rule_names = registry.rules.keys().map(|id| reasons::name(id, &reader.selectors)).collect();
    let mut optional_rules: Vec<Vec<usize>> = vec![Vec::new(); shape_pods.len()];
    for (owned, &shape) in owned.iter().zip(&shape_of) {
        optional_rules[shape].extend(owned.iter().filter(|(_, drop)| drop.is_some()).map(|(rule, _)| *rule));
    }
    Ok(Lowered {
        world,
        instance,
        dims,
        offers,
        bins: sources,
        places: places.0,
        shape_pods,
        homes: leavers.homes,
        stuck: leavers.stuck,
        refused: demand.refused,
        limit_names: bins.limit_names,
        supply_names: bins.supply_names,
        budget_names: removals.budgets.iter().map(|b| b.name.clone()).collect(),
        domain_keys: domains.keys,
        domain_values: domains.values,
        rule_names,
        optional_rules,
        usable: bins.usable,
        exceeded: bins.exceeded,
        warnings,
    })
}

/// Residents per place by shape; they do not wait.
fn residents(
    shapes: &mut [Shape],
    shape_pods: &[Vec<usize>],
    leavers: &Leavers<'_>,
    places: usize,
) -> Vec<Vec<(usize, u32)>> {
    let mut out: Vec<BTreeMap<usize, u32>> = vec![BTreeMap::new(); places];
    for (s, pods) in shape_pods.iter().enumerate() {
        for home in pods.iter().filter_map(|p| leavers.homes.get(p)) {
            *out[*home].entry(s).or_default() += 1;
            shapes[s].count -= 1;
        }
    }
    out.into_iter().map(|r| r.into_iter().collect()).collect()
}

/// The reservation a place holds a unit of.
fn supply_of(place: &nodes::Place<'_>, names: &[String]) -> Option<usize> {
    let id = place.labels.get(labels::RESERVATION_ID).filter(|_| !place.leaving)?;
    names.iter().position(|n| n == id)
}

struct Parts {
    owned: Vec<Owned>,
    dims: Dims,
    bins: Bins,
    free: Vec<Option<Vec<i64>>>,
    admissions: Admissions,
    tiers: Vec<Vec<Tier>>,
    domains: Domains,
}

/// An affinity of a class that does not select itself, to pods that are
/// nowhere and never will be.
fn is_hopeless(registry: &Registry, rule: usize, class: usize) -> bool {
    let Some((RuleId::Affinity { .. }, parties)) = registry.rules.get_index(rule) else { return false };
    !parties.selected.contains(&class) && parties.selected.is_empty() && parties.present.is_empty()
}

/// Values of label keys that specs name, and the topology keys they use.
fn mentions(world: &World) -> Mentions {
    let mut all = Mentions::new();
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    let pods = world.pods.iter().filter(|p| !p.is_terminal()).map(|p| &p.spec);
    for spec in pods.chain(world.daemon_sets.iter().map(|d| &d.spec)) {
        if seen.insert(Arc::as_ptr(spec) as usize) {
            mention(spec, &mut all);
        }
    }
    all
}

fn mention(spec: &PodSpec, all: &mut Mentions) {
    for (key, value) in &spec.node_selector {
        all.entry(key.clone()).or_default().insert(value.clone());
    }
    for c in &spec.topology_spread_constraints {
        all.entry(c.topology_key.clone()).or_default();
    }
    let Some(affinity) = &spec.affinity else { return };
    if let Some(node) = &affinity.node_affinity {
        let required = node.required.iter().flat_map(|r| &r.node_selector_terms);
        for e in required.chain(node.preferred.iter().map(|p| &p.preference)).flat_map(|t| &t.match_expressions) {
            all.entry(e.key.clone()).or_default().extend(e.values.iter().cloned());
        }
    }
    for pods in [&affinity.pod_affinity, &affinity.pod_anti_affinity].into_iter().flatten() {
        for term in pods.required.iter().chain(pods.preferred.iter().map(|p| &p.pod_affinity_term)) {
            all.entry(term.topology_key.clone()).or_default();
        }
    }
}

fn prefers(offers: &Offers<'_>, places: &Places<'_>) -> bool {
    let pools = offers.pools.iter().flat_map(|p| &p.pool.template.taints);
    pools.chain(places.0.iter().flat_map(|p| &p.taints)).any(|t| t.effect == "PreferNoSchedule")
}

fn dims(world: &World, classes: &[Class]) -> Dims {
    let mut resources: BTreeSet<&str> = BTreeSet::new();
    let mut drivers: BTreeSet<&str> = BTreeSet::new();
    for class in classes {
        let requests = class.sample(world).requests.iter();
        resources.extend(requests.filter(|(_, amount)| *amount > 0).map(|(name, _)| name));
        drivers.extend(class.needs.attachments.keys().map(String::as_str));
    }
    Dims {
        resources: resources.into_iter().map(str::to_owned).collect(),
        drivers: drivers.into_iter().map(str::to_owned).collect(),
    }
}

/// Room on every place; `None` where it leaves or is overcommitted.
fn free(
    world: &World,
    places: &Places<'_>,
    daemons: &[Overhead],
    dims: &Dims,
    attach: &Attach<'_, '_>,
) -> Vec<Option<Vec<i64>>> {
    let one = |(index, (place, daemons)): (usize, (&nodes::Place<'_>, &Overhead))| {
        if place.leaving {
            return None;
        }
        let mut left = place.allocatable.clone();
        let running = place.running.iter().map(|&p| &world.pods[p]);
        running.for_each(|pod| left.sub(&pod.requests));
        if left.iter().any(|(_, amount)| amount < 0) {
            return None;
        }
        left.sub(&daemons.requests);
        let resources = dims.resources.iter().map(|r| left.get(r).clamp(0, UNLIMITED));
        let drivers = dims.drivers.iter().map(|d| attach.place_room(index, d));
        Some(resources.chain(drivers).collect())
    };
    places.0.iter().zip(daemons).enumerate().map(one).collect()
}

fn domains(registry: &Registry, ground: &mut Ground<'_, '_>) -> Domains {
    let keys = registry.keys();
    let values = keys
        .iter()
        .map(|key| {
            let rows = ground.rows.values(key);
            let places = ground.places.values(key);
            let all: BTreeSet<String> = rows.into_iter().chain(places).flatten().collect();
            all.into_iter().collect()
        })
        .collect();
    Domains { keys, values }
}

fn set_domains(bins: &mut Bins, offers: &Offers<'_>, domains: &Domains) {
    let mut columns = Columns::new(offers);
    let by_key: Vec<Vec<Option<u32>>> = domains
        .keys
        .iter()
        .enumerate()
        .map(|(k, key)| columns.values(key).into_iter().map(|v| v.and_then(|v| domains.value(k, &v))).collect())
        .collect();
    for (i, bin) in bins.bins.iter_mut().enumerate() {
        bin.domain = by_key.iter().map(|column| column[i]).collect();
    }
}

fn place_domain(labels: &Labels, domains: &Domains) -> Vec<Option<u32>> {
    domains.keys.iter().enumerate().map(|(k, key)| labels.get(key).and_then(|v| domains.value(k, v))).collect()
}

/// Merges classes that nothing in force can tell apart.
fn collapse(
    world: &World,
    classes: &[Class],
    dims: &Dims,
    tiers: Vec<Vec<Tier>>,
    owned: &[Owned],
    registry: &Registry,
) -> (Vec<Shape>, Vec<usize>, Vec<Vec<usize>>) {
    let mut selected: Vec<Vec<usize>> = vec![Vec::new(); classes.len()];
    for (r, parties) in registry.rules.values().enumerate() {
        for &c in &parties.selected {
            selected[c].push(r);
        }
    }
    type Look = (Vec<i64>, i32, Vec<(usize, Vec<usize>)>, Vec<usize>, Vec<usize>);
    let mut index: FxHashMap<Look, usize> = FxHashMap::default();
    let mut shapes: Vec<Shape> = Vec::new();
    let mut shape_pods: Vec<Vec<usize>> = Vec::new();
    let mut shape_of = Vec::with_capacity(classes.len());
    for (c, (class, tiers)) in classes.iter().zip(tiers).enumerate() {
        let pod = class.sample(world);
        let demand = dims.demand(&pod.requests, &class.needs.attachments);
        let priority = pod.spec.priority.unwrap_or(0);
        let look = (
            demand.clone(),
            priority,
            tiers.iter().map(|t| (t.admission, t.waived.clone())).collect(),
            owned[c].iter().map(|(r, _)| *r).collect(),
            std::mem::take(&mut selected[c]),
        );
        let s = *index.entry(look).or_insert_with(|| {
            shapes.push(Shape { demand, count: 0, priority, tiers });
            shape_pods.push(Vec::new());
            shapes.len() - 1
        });
        shape_of.push(s);
        shapes[s].count += class.pods.len() as u32;
        shape_pods[s].extend(&class.pods);
    }
    for pods in &mut shape_pods {
        pods.sort_unstable();
    }
    (shapes, shape_of, shape_pods)
}
