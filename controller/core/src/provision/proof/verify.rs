//! Re-checks a plan's JSON against its inputs.

use std::collections::{BTreeMap, BTreeSet};

use millwright_models::catalog::Catalog;
use millwright_models::lower::{self, Lowered};
use millwright_models::world::World;
use millwright_solver::check;
use millwright_solver::instance::Micros;
use millwright_solver::plan::{Contents, NewNode, Plan};
use serde_json::Value;

use super::audit;
use super::names::RowName;
use super::read::{self, Names, ProofError, form, list, micros, text};
use super::words::Words;

/// What the check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The lines that do not hold, in the order of the file; empty if all do.
    pub broken: Vec<String>,
}

impl Verdict {
    /// Whether everything holds.
    pub fn ok(&self) -> bool {
        self.broken.is_empty()
    }
}

/// Checks plan and bound with the independent checker. The options stand in
/// the file; an envelope's node is checked as the type it tells.
pub fn verify(world: &World, catalog: &Catalog, file: &Value) -> Result<Verdict, ProofError> {
    let certificate = file.get("certificate").ok_or_else(|| form("certificate", "is missing"))?;
    let settings = read::settings(certificate)?;
    let mut broken = Vec::new();
    let digest = text(&certificate["options"], "certificate.options", "catalog_digest")?;
    if digest != catalog.digest {
        broken.push("certificate.options.catalog_digest: another catalogue was planned on".to_owned());
    }
    let removals = read::removals(world, catalog, &settings, certificate)?;
    let is_audit = removals.is_some();
    let lowered = lower::lower_with_removals(world, catalog, &settings, &removals.unwrap_or_default())?;
    let names = Names::new(world, &lowered);
    let plan = read_plan(world, &lowered, &names, file, certificate, &mut broken)?;
    let words = Words { world, lowered: &lowered, plan: &plan };
    if let Err(faults) = check::plan(&lowered.instance, &plan) {
        broken.extend(faults.iter().map(|f| format!("plan: {}", words.plan(f))));
        return Ok(Verdict { broken });
    }
    let saved = if is_audit { audit::money(file, &lowered, &plan, &mut broken)? } else { 0 };
    money(file, saved + plan.bought_cost(&lowered.instance), &mut broken)?;
    unserved(world, &lowered, &plan, &mut broken);
    let proof = read::certificate(&names, &lowered, certificate)?;
    let said = micros(file, "", "lower_bound_per_hour")?;
    match check::certificate(&lowered.instance, &plan, &proof) {
        Err(fault) => broken.push(format!("certificate: {}", words.proof(&fault))),
        Ok(bound) => {
            let proven = if is_audit { audit::bound(&lowered, &plan, bound) } else { bound };
            if proven.max(0) != said {
                broken.push(format!(
                    "lower_bound_per_hour: says {}, the certificate proves {}",
                    said as f64 / 1e6,
                    proven as f64 / 1e6
                ));
            }
        }
    }
    Ok(Verdict { broken })
}

fn read_plan(
    world: &World,
    lowered: &Lowered<'_>,
    names: &Names<'_>,
    file: &Value,
    certificate: &Value,
    broken: &mut Vec<String>,
) -> Result<Plan, ProofError> {
    let removed = read::removed(names, file)?;
    let mut plan = Plan { demoted: read::demoted(names, certificate)?, removed, ..Plan::default() };
    let mut seen: BTreeSet<String> = audit::settled(world, lowered, &plan);
    for (i, node) in list(file, "", "nodes")?.iter().enumerate() {
        let path = format!("nodes[{i}]");
        let contents = contents(names, node, &path, &mut seen, broken)?;
        let row = row_of(lowered, names, node, &path, &contents)?;
        let price = micros(node, &path, "price_per_hour")?;
        let of_row = lowered.instance.bins[row].price;
        if price != of_row {
            let (said, is) = (price as f64 / 1e6, of_row as f64 / 1e6);
            broken.push(format!("{path}.price_per_hour: says {said}, the catalogue says {is}"));
        }
        launch_list(lowered, node, &path, row, &contents, broken)?;
        plan.bought.push(NewNode { bin: row, contents });
    }
    let mut placed: BTreeMap<usize, Contents> = BTreeMap::new();
    for (i, entry) in list(file, "", "existing")?.iter().enumerate() {
        let path = format!("existing[{i}]");
        let name = text(entry, &path, "node")?;
        let node = names.places.get(name).ok_or_else(|| form(&path, format!("there is no node {name}")))?;
        let contents = contents(names, entry, &path, &mut seen, broken)?;
        if placed.insert(*node, contents).is_some() {
            broken.push(format!("{path}: node {name} is listed twice"));
        }
    }
    plan.placed = placed.into_iter().filter(|(_, c)| !c.is_empty()).collect();
    let refused: BTreeSet<String> = lowered.refused.iter().map(|(p, _)| world.pods[*p].full_name()).collect();
    let mut unserved: BTreeMap<usize, u32> = BTreeMap::new();
    for (i, entry) in list(file, "", "unscheduled")?.iter().enumerate() {
        let path = format!("unscheduled[{i}]");
        let pod = text(entry, &path, "pod")?;
        if !seen.insert(pod.to_owned()) {
            broken.push(format!("{path}: pod {pod} is named twice"));
        } else if !refused.contains(pod) {
            *unserved.entry(names.shape(pod, &path)?).or_default() += 1;
        }
    }
    plan.unserved = unserved.into_iter().collect();
    Ok(plan)
}

fn contents(
    names: &Names<'_>,
    value: &Value,
    path: &str,
    seen: &mut BTreeSet<String>,
    broken: &mut Vec<String>,
) -> Result<Contents, ProofError> {
    let mut out: BTreeMap<usize, u32> = BTreeMap::new();
    for pod in list(value, path, "pods")? {
        let pod = pod.as_str().ok_or_else(|| form(format!("{path}.pods"), "holds something else than names"))?;
        if !seen.insert(pod.to_owned()) {
            broken.push(format!("{path}: pod {pod} is named twice, or its node stays"));
            continue;
        }
        *out.entry(names.shape(pod, path)?).or_default() += 1;
    }
    Ok(out.into_iter().collect())
}

/// The row a node names; of several (label variants, systems, reservations)
/// the first that admits its pods.
fn row_of(
    lowered: &Lowered<'_>,
    names: &Names<'_>,
    node: &Value,
    path: &str,
    contents: &Contents,
) -> Result<usize, ProofError> {
    let name = RowName {
        pool: text(node, path, "pool")?.to_owned(),
        instance_type: text(node, path, "instance_type")?.to_owned(),
        zone: text(node, path, "zone")?.to_owned(),
        capacity_type: text(node, path, "capacity_type")?.to_owned(),
        os: String::new(),
        reservation: String::new(),
        variant: 0,
    };
    let same = |other: &RowName| {
        (&other.pool, &other.instance_type, &other.zone, &other.capacity_type)
            == (&name.pool, &name.instance_type, &name.zone, &name.capacity_type)
    };
    let candidates: Vec<usize> =
        names.rows.range(name.clone()..).take_while(|(n, _)| same(n)).map(|(_, &row)| row).collect();
    let admits = |row: &usize| {
        contents.iter().all(|&(s, _)| {
            let tiers = &lowered.instance.shapes[s].tiers;
            tiers.iter().any(|t| lowered.instance.admissions[t.admission].bins.contains(*row))
        })
    };
    let chosen = candidates.iter().find(|r| admits(r)).or(candidates.first()).copied();
    chosen.ok_or_else(|| {
        let RowName { pool, instance_type, zone, capacity_type, .. } = &name;
        form(path, format!("no offering {instance_type} {zone} {capacity_type} in NodePool {pool}"))
    })
}

/// Every listed type must hold what was planned.
fn launch_list(
    lowered: &Lowered<'_>,
    node: &Value,
    path: &str,
    row: usize,
    contents: &Contents,
    broken: &mut Vec<String>,
) -> Result<(), ProofError> {
    let like = &lowered.offers.rows[row];
    let told = &lowered.offers.ptype(like).name;
    let mut holds_told = false;
    for entry in list(node, path, "instance_types")? {
        let name = entry.as_str().ok_or_else(|| form(format!("{path}.instance_types"), "holds no names"))?;
        holds_told |= name == &**told;
        let fits = lowered.offers.rows.iter().enumerate().any(|(r, other)| {
            let bin = &lowered.instance.bins[r];
            other.pool == like.pool
                && &*lowered.offers.ptype(other).name == name
                && contents
                    .iter()
                    .fold(vec![0i64; lowered.instance.dims], |mut sum, &(s, n)| {
                        for (total, d) in sum.iter_mut().zip(&lowered.instance.shapes[s].demand) {
                            *total = total.saturating_add(d.saturating_mul(i64::from(n)));
                        }
                        sum
                    })
                    .iter()
                    .zip(&bin.capacity)
                    .all(|(d, c)| d <= c)
        });
        if !fits {
            broken.push(format!("{path}.instance_types: {name} does not hold the node's pods"));
        }
    }
    if !holds_told {
        broken.push(format!("{path}.instance_types: lacks {told}"));
    }
    Ok(())
}

fn money(file: &Value, cost: Micros, broken: &mut Vec<String>) -> Result<(), ProofError> {
    let said = micros(file, "", "cost_per_hour")?;
    if said != cost {
        broken.push(format!("cost_per_hour: says {}, the nodes cost {}", said as f64 / 1e6, cost as f64 / 1e6));
    }
    let bound = micros(file, "", "lower_bound_per_hour")?;
    let gap = crate::provision::gap(said, bound);
    let told = file.get("gap").and_then(Value::as_f64);
    let same = match (gap, told) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6,
        (None, None) => true,
        _ => false,
    };
    if !same {
        let words = |gap: Option<f64>| gap.map_or_else(|| "none".to_owned(), |g| g.to_string());
        broken.push(format!("gap: says {}, cost and bound make {}", words(told), words(gap)));
    }
    Ok(())
}

/// Bins that differ in none of these are alike to a rule or limit: domains,
/// supply, use of limits.
type Kind<'i> = (&'i [Option<u32>], Option<usize>, &'i [(usize, i64)]);

/// A pod listed without a place must not fit a new node beside the plan.
fn unserved(world: &World, lowered: &Lowered<'_>, plan: &Plan, broken: &mut Vec<String>) {
    let instance = &lowered.instance;
    for (at, &(shape, count)) in plan.unserved.iter().enumerate() {
        let mut tried: BTreeSet<Kind<'_>> = BTreeSet::new();
        for tier in &instance.shapes[shape].tiers {
            for b in instance.admissions[tier.admission].bins.ones() {
                let bin = &instance.bins[b];
                if !bin.buyable || !tried.insert((&bin.domain, bin.supply, &bin.limit_use)) {
                    continue;
                }
                let mut more = plan.clone();
                more.bought.push(NewNode { bin: b, contents: vec![(shape, 1)] });
                if count == 1 {
                    more.unserved.remove(at);
                } else {
                    more.unserved[at].1 -= 1;
                }
                if check::plan(instance, &more).is_ok() {
                    let pod = world.pods[lowered.shape_pods[shape][0]].full_name();
                    broken.push(format!("unscheduled: a pod like {pod} fits a new node of its own"));
                    return;
                }
            }
        }
    }
}
