//! Instances like the generated families: lognormal requests, Zipf counts, a
//! catalogue of several hundred types in five zones.
#![allow(dead_code, clippy::unwrap_used)]

use fixedbitset::FixedBitSet;
use millwright_solver::instance::*;
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};

pub const CPU: usize = 0;
pub const MEM: usize = 1;
pub const PODS: usize = 2;

/// Which rules the shapes carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    Free,
    Constrained,
    Five,
}

fn normal(rng: &mut StdRng) -> f64 {
    let (u, v): (f64, f64) = (rng.random_range(1e-12..1.0), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// CPU in milli, memory in KiB. Domains: zone, capacity type, architecture.
fn catalogue(rng: &mut StdRng, spot: bool) -> (Vec<Bin>, Vec<bool>) {
    let lines = [("c", 2.0, 0.0425), ("m", 4.0, 0.048), ("r", 8.0, 0.063), ("x", 16.0, 0.0834), ("i", 7.8, 0.078)];
    let mut bins = Vec::new();
    let mut arm = Vec::new();
    for (_, ratio, per_cpu) in lines {
        for generation in 0..16 {
            let is_arm = generation % 3 == 2;
            let factor = (0.85 + 0.03 * f64::from(generation % 11)) * if is_arm { 0.8 } else { 1.0 };
            let zones: Vec<u32> = (0..5).filter(|&z| z < 3 || rng.random_bool(0.6)).collect();
            for cpu in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 48.0, 64.0, 96.0, 128.0_f64] {
                if cpu < 2.0 && !is_arm {
                    continue;
                }
                let mem = cpu * ratio * 1024.0;
                let pods = match cpu as u32 {
                    1 => 8.0_f64,
                    2 => 29.0,
                    4 | 8 => 58.0,
                    16 => 110.0,
                    _ => 250.0,
                };
                let reserved_cpu = 60.0
                    + 10.0 * (cpu - 1.0).clamp(0.0, 1.0)
                    + 10.0 * (cpu - 2.0).clamp(0.0, 2.0) / 2.0
                    + 2.5 * (cpu - 4.0).max(0.0);
                let alloc_mem = mem * 0.925 - 255.0 - 11.0 * pods - 100.0 - 250.0;
                if alloc_mem <= 0.0 {
                    continue;
                }
                let capacity =
                    vec![(cpu * 1000.0 - reserved_cpu) as i64 - 150, (alloc_mem * 1024.0) as i64, pods as i64 - 3];
                let price = per_cpu * cpu * factor * 1e6;
                let spot_share = rng.random_range(0.30..0.45);
                for &z in &zones {
                    let mut push = |ct: u32, price: f64| {
                        bins.push(Bin {
                            capacity: capacity.clone(),
                            price: price.round() as i64,
                            domain: vec![Some(z), Some(ct), Some(u32::from(is_arm))],
                            limit_use: vec![],
                            supply: None,
                            buyable: true,
                            in_bound: true,
                        });
                        arm.push(is_arm);
                    };
                    push(0, price);
                    if spot {
                        push(1, price * spot_share * rng.random_range(0.85..1.15));
                    }
                }
            }
        }
    }
    (bins, arm)
}

/// The synthetic types of the five-kind mix: i vCPU, 2i GiB, 10i pods.
fn fake400() -> Vec<Bin> {
    let mut bins = Vec::new();
    for i in 1..=400_i64 {
        let price = 0.1 * i as f64 + 0.1 * (2 * i * (1 << 30)) as f64 / 1e9;
        for (z, ct) in [(0, 1), (1, 1), (0, 0), (1, 0), (2, 0)] {
            bins.push(Bin {
                capacity: vec![i * 1000 - 100, (2 * i * 1024 - 10) * 1024, 10 * i],
                price: (price * 1e6).ceil() as i64,
                domain: vec![Some(z), Some(ct), Some(0)],
                limit_use: vec![],
                supply: None,
                buyable: true,
                in_bound: true,
            });
        }
    }
    bins
}

fn shape(cpu: i64, mem_mib: i64, count: u32, admission: usize) -> Shape {
    Shape { demand: vec![cpu, mem_mib * 1024, 1], count, priority: 0, tiers: vec![Tier { admission, waived: vec![] }] }
}

fn rule(key: Key, kind: RuleKind, owners: Vec<usize>, selected: Vec<usize>) -> Rule {
    Rule { key, kind, owners, selected, present: vec![], present_owners: vec![] }
}

fn spread(instance: &Instance, zones: Vec<u32>) -> RuleKind {
    let mut bins = FixedBitSet::with_capacity(instance.bins.len());
    bins.insert_range(..);
    let nodes = FixedBitSet::with_capacity(instance.nodes.len());
    RuleKind::Spread(Spread { max_skew: 1, min_domains: 1, eligible: zones, scope: Scope { bins, nodes } })
}

fn admission(bins: &[Bin], allow: impl Fn(&Bin) -> bool) -> Admission {
    let mut set = FixedBitSet::with_capacity(bins.len());
    for (i, b) in bins.iter().enumerate() {
        set.set(i, allow(b));
    }
    Admission { bins: set, nodes: FixedBitSet::new() }
}

/// One of the families.
pub fn generate(family: Family, pods: u32, seed: u64, spot: bool) -> Instance {
    let mut rng = StdRng::seed_from_u64(seed);
    if family == Family::Five {
        return five(pods, &mut rng);
    }
    let (bins, _) = catalogue(&mut rng, spot);
    let mut instance = Instance { dims: 3, keys: 3, domains: vec![5, 2, 2], ..Instance::default() };
    // Admissions: any, one of three zones, one architecture, on-demand.
    instance.admissions.push(admission(&bins, |_| true));
    for z in 0..3 {
        instance.admissions.push(admission(&bins, |b| b.domain[0] == Some(z)));
    }
    for a in 0..2 {
        instance.admissions.push(admission(&bins, |b| b.domain[2] == Some(a)));
    }
    instance.admissions.push(admission(&bins, |b| b.domain[1] == Some(0)));
    instance.bins = bins;
    let shapes = (1.5 * f64::from(pods).sqrt()).max(15.0) as usize;
    let total: f64 = (0..shapes).map(|i| 1.0 / (i + 1) as f64).sum();
    for i in 0..shapes {
        let count = ((f64::from(pods) / (i + 1) as f64 / total).round() as u32).max(1);
        let (a, b) = (normal(&mut rng), normal(&mut rng));
        let cpu = ((350.0 * a.exp()).clamp(20.0, 16000.0) as i64) / 10 * 10;
        let mem = (900.0 * (1.3 * (0.7 * a + (1.0_f64 - 0.49).sqrt() * b)).exp()).clamp(32.0, 65536.0) as i64;
        let mut s = shape(cpu, mem, count, 0);
        if family == Family::Constrained && rng.random_bool(0.30) {
            let mut kind = rng.random_range(0..7);
            if kind == 5 && count > 3 {
                kind = 4;
            }
            match kind {
                0 => s.tiers[0].admission = 1 + rng.random_range(0..3),
                1 => s.tiers[0].admission = 4 + rng.random_range(0..2),
                2 => s.tiers[0].admission = 6,
                3 => instance.rules.push(rule(Key::Host, RuleKind::Anti, vec![i], vec![i])),
                4 => {
                    let kind = spread(&instance, (0..5).collect());
                    instance.rules.push(rule(Key::Domain(0), kind, vec![i], vec![i]));
                }
                5 => instance.rules.push(rule(Key::Domain(0), RuleKind::Anti, vec![i], vec![i])),
                _ => instance.rules.push(rule(Key::Domain(0), RuleKind::Affinity, vec![i], vec![i])),
            }
        }
        instance.shapes.push(s);
    }
    prune_unfit(&mut instance);
    instance
}

/// A member of an admission has room for one pod of each shape that uses it:
/// shapes get admissions of their own where that fails.
fn prune_unfit(instance: &mut Instance) {
    for s in 0..instance.shapes.len() {
        let a = instance.shapes[s].tiers[0].admission;
        let mut own = instance.admissions[a].clone();
        for b in instance.admissions[a].bins.ones() {
            if !instance.fits(s, &instance.bins[b].capacity) {
                own.bins.set(b, false);
            }
        }
        let at = instance.admissions.iter().position(|x| *x == own).unwrap_or_else(|| {
            instance.admissions.push(own);
            instance.admissions.len() - 1
        });
        instance.shapes[s].tiers[0].admission = at;
    }
}

/// (kind, cpu, mem, label, selector)
type Group = (u8, i64, i64, u8, u8);

fn five(pods: u32, rng: &mut StdRng) -> Instance {
    use std::collections::BTreeMap;
    let bins = fake400();
    let mut instance = Instance { dims: 3, keys: 3, domains: vec![3, 2, 1], ..Instance::default() };
    instance.admissions.push(admission(&bins, |_| true));
    instance.bins = bins;
    let each = pods / 5;
    let mut groups: BTreeMap<Group, u32> = BTreeMap::new();
    for kind in 0..5_u8 {
        for _ in 0..each {
            let cpu = [100, 250, 500, 1000, 1500][rng.random_range(0..5)];
            let mem = [100, 256, 512, 1024, 2048, 4096][rng.random_range(0..6)];
            let label = if kind == 4 { 0 } else { rng.random_range(0..7) };
            let selector = if kind == 1 || kind == 2 { rng.random_range(0..7) } else { 0 };
            *groups.entry((kind, cpu, mem, label, selector)).or_default() += 1;
        }
    }
    let keys: Vec<_> = groups.keys().copied().collect();
    for (&(_, cpu, mem, ..), &count) in &groups {
        instance.shapes.push(shape(cpu, mem, count, 0));
    }
    let of = |want: &dyn Fn(&Group) -> bool| -> Vec<usize> {
        keys.iter().enumerate().filter(|(_, k)| want(k)).map(|(i, _)| i).collect()
    };
    for l in 0..7 {
        let selected = of(&|k| k.0 <= 2 && k.3 == l);
        let kind = spread(&instance, vec![0, 1, 2]);
        instance.rules.push(rule(Key::Domain(0), kind, of(&|k| k.0 == 1 && k.4 == l), selected.clone()));
        let kind = spread(&instance, vec![]);
        instance.rules.push(rule(Key::Host, kind, of(&|k| k.0 == 2 && k.4 == l), selected));
        let together = of(&|k| k.0 == 3 && k.3 == l);
        instance.rules.push(rule(Key::Domain(0), RuleKind::Affinity, together.clone(), together));
    }
    let alone = of(&|k| k.0 == 4);
    instance.rules.push(rule(Key::Host, RuleKind::Anti, alone.clone(), alone));
    prune_unfit(&mut instance);
    instance
}

/// The same instance with shapes and bins in another order.
pub fn shuffled(instance: &Instance, rng: &mut impl Rng) -> Instance {
    let permute = |n: usize, rng: &mut dyn FnMut(usize) -> usize| -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, rng(i + 1));
        }
        order
    };
    let mut draw = |n: usize| rng.random_range(0..n);
    let shapes = permute(instance.shapes.len(), &mut draw);
    let bins = permute(instance.bins.len(), &mut draw);
    let mut shape_at = vec![0; shapes.len()];
    shapes.iter().enumerate().for_each(|(new, &old)| shape_at[old] = new);
    let mut bin_at = vec![0; bins.len()];
    bins.iter().enumerate().for_each(|(new, &old)| bin_at[old] = new);
    let moved = |set: &FixedBitSet| {
        let mut out = FixedBitSet::with_capacity(set.len());
        set.ones().for_each(|b| out.insert(bin_at[b]));
        out
    };
    let mut out = instance.clone();
    out.shapes = shapes.iter().map(|&s| instance.shapes[s].clone()).collect();
    out.bins = bins.iter().map(|&b| instance.bins[b].clone()).collect();
    for a in &mut out.admissions {
        a.bins = moved(&a.bins);
    }
    for r in &mut out.rules {
        for list in [&mut r.owners, &mut r.selected] {
            list.iter_mut().for_each(|s| *s = shape_at[*s]);
            list.sort_unstable();
        }
        if let RuleKind::Spread(s) = &mut r.kind {
            s.scope.bins = moved(&s.scope.bins);
        }
    }
    for n in &mut out.nodes {
        n.residents.iter_mut().for_each(|r| r.0 = shape_at[r.0]);
        n.residents.sort_unstable();
    }
    for v in &mut out.varieties {
        let mut pairs: Vec<(usize, u32)> = v.bins.iter().map(|&b| bin_at[b]).zip(v.value.iter().copied()).collect();
        pairs.sort_unstable();
        (v.bins, v.value) = pairs.into_iter().unzip();
    }
    out
}
