use super::Cells;
use crate::instance::{Instance, Key, RuleKind};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Rules by shape, and what else of an instance every search needs at hand.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Rules a shape carries, ascending.
    pub owned: Vec<Vec<usize>>,
    /// Rules that count a shape, ascending.
    pub selected: Vec<Vec<usize>>,
    /// Domain tuples.
    pub cells: Cells,
    /// Varieties a bin takes part in.
    pub varieties: Vec<Vec<usize>>,
    /// Per rule: counts that stand before anything is placed.
    pub base: Vec<Base>,
    /// Per rule of a spread on a domain key: domains the minimum is taken
    /// over from the start.
    pub eligible: Vec<Vec<u32>>,
    /// Shapes that carry some spread. Where a spread counts pods that do not
    /// carry it, carriers of any spread arrive before all others.
    pub early: Vec<bool>,
    /// Per rule: whether some owner may go to a node that is bought.
    pub new_node: Vec<bool>,
    /// Spreads whose scope has bins in domains that their owners cannot reach:
    /// such a node, bought for others, is one more domain to keep up with.
    pub fragile: Vec<usize>,
    /// Bins with the same number are in the same scopes.
    pub scopes: Vec<u32>,
}

/// Counts per node that stand before anything is placed.
#[derive(Clone, Debug, Default)]
pub struct Base {
    /// Counted pods: (node, count), ascending.
    pub selected: Vec<(usize, u32)>,
    /// Carriers: (node, count), ascending.
    pub owners: Vec<(usize, u32)>,
}

impl Index {
    /// Linear in the instance.
    pub fn new(instance: &Instance) -> Self {
        let shapes = instance.shapes.len();
        let mut owned = vec![Vec::new(); shapes];
        let mut selected = vec![Vec::new(); shapes];
        let mut early = vec![false; shapes];
        for (r, rule) in instance.rules.iter().enumerate() {
            for &s in &rule.owners {
                owned[s].push(r);
                early[s] |= matches!(rule.kind, RuleKind::Spread(_));
            }
            for &s in &rule.selected {
                selected[s].push(r);
            }
        }
        let mut varieties = vec![Vec::new(); instance.bins.len()];
        for (v, variety) in instance.varieties.iter().enumerate() {
            for &b in &variety.bins {
                varieties[b].push(v);
            }
        }
        let base = bases(instance, &owned, &selected);
        let eligible: Vec<Vec<u32>> = (0..instance.rules.len()).map(|r| eligible(instance, r)).collect();
        let reach: Vec<bool> = (instance.admissions.iter()).map(|a| !a.bins.is_clear()).collect();
        let new_node = (instance.rules.iter())
            .map(|r| r.owners.iter().flat_map(|&s| &instance.shapes[s].tiers).any(|t| reach[t.admission]))
            .collect();
        let fragile = (0..instance.rules.len()).filter(|&r| is_fragile(instance, r, &eligible[r])).collect();
        Index {
            fragile,
            owned,
            selected,
            cells: Cells::new(instance),
            varieties,
            base,
            eligible,
            early,
            new_node,
            scopes: scopes(instance),
        }
    }

    /// Rules that a pod of `shape` carries when served in `tier`.
    pub fn carried<'a>(
        &'a self,
        instance: &'a Instance,
        shape: usize,
        tier: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        let waived = &instance.shapes[shape].tiers[tier].waived;
        self.owned[shape].iter().copied().filter(move |r| waived.binary_search(r).is_err())
    }
}

fn bases(instance: &Instance, owned: &[Vec<usize>], selected: &[Vec<usize>]) -> Vec<Base> {
    let mut base: Vec<Base> =
        instance.rules.iter().map(|r| Base { selected: r.present.clone(), owners: r.present_owners.clone() }).collect();
    for (n, node) in instance.nodes.iter().enumerate() {
        for &(s, count) in &node.residents {
            // A preference that some tier of theirs gives up binds nobody.
            let carries = |r: usize| instance.shapes[s].tiers.iter().all(|t| t.waived.binary_search(&r).is_err());
            for &r in owned[s].iter().filter(|&&r| carries(r)) {
                base[r].owners.push((n, count));
            }
            for &r in &selected[s] {
                base[r].selected.push((n, count));
            }
        }
    }
    for b in &mut base {
        merge(&mut b.selected);
        merge(&mut b.owners);
    }
    base
}

fn merge(counts: &mut Vec<(usize, u32)>) {
    counts.sort_unstable();
    counts.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 += later.1;
        }
        same
    });
    counts.retain(|c| c.1 > 0);
}

fn eligible(instance: &Instance, rule: usize) -> Vec<u32> {
    let rule = &instance.rules[rule];
    let (RuleKind::Spread(spread), Key::Domain(k)) = (&rule.kind, rule.key) else { return Vec::new() };
    let mut of = spread.eligible.clone();
    of.extend(spread.scope.nodes.ones().filter_map(|n| instance.nodes[n].domain[k]));
    // A bin that owners may buy can become an eligible domain at any time.
    let mut bins = spread.scope.bins.clone();
    let mut reach = FixedBitSet::with_capacity(bins.len());
    let mut seen = Vec::new();
    for tier in rule.owners.iter().flat_map(|&s| &instance.shapes[s].tiers) {
        if !seen.contains(&tier.admission) {
            seen.push(tier.admission);
            reach.union_with(&instance.admissions[tier.admission].bins);
        }
    }
    bins.intersect_with(&reach);
    of.extend(bins.ones().filter(|&b| instance.bins[b].buyable).filter_map(|b| instance.bins[b].domain[k]));
    of.sort_unstable();
    of.dedup();
    of
}

fn scopes(instance: &Instance) -> Vec<u32> {
    let mut distinct: Vec<&FixedBitSet> = Vec::new();
    for rule in &instance.rules {
        if let RuleKind::Spread(s) = &rule.kind
            && !distinct.contains(&&s.scope.bins)
        {
            distinct.push(&s.scope.bins);
        }
    }
    let mut class: FxHashMap<Vec<bool>, u32> = FxHashMap::default();
    (0..instance.bins.len())
        .map(|b| {
            let inside = distinct.iter().map(|s| s.contains(b)).collect();
            let next = class.len() as u32;
            *class.entry(inside).or_insert(next)
        })
        .collect()
}

fn is_fragile(instance: &Instance, rule: usize, eligible: &[u32]) -> bool {
    let rule = &instance.rules[rule];
    let (RuleKind::Spread(s), Key::Domain(k)) = (&rule.kind, rule.key) else { return false };
    let mut domains = s.scope.bins.ones().filter_map(|b| instance.bins[b].domain[k]);
    domains.any(|d| eligible.binary_search(&d).is_err())
}
