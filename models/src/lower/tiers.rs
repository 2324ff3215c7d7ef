//! Where a class may go, tier by tier.

use fixedbitset::FixedBitSet;
use millwright_solver::instance::{Admission, Tier};
use rustc_hash::FxHashMap;

use super::attach::Attach;
use super::bins::{Bins, Dims};
use super::classes::Class;
use super::columns::Columns;
use super::daemons::{Overhead, admitted};
use super::nodes::Places;
use super::offers::Offers;
use super::ports::conflict;
use super::terms::Step;
use crate::kube::node::{Taint, untolerated};
use crate::kube::pod::{Pod, Toleration};

/// Labels and taints of rows and places, ready to be asked.
pub struct Ground<'a, 'w> {
    pub rows: Columns<'a, Offers<'w>>,
    pub places: Columns<'a, Places<'w>>,
    /// Rows per pool.
    pool_rows: Vec<FixedBitSet>,
    /// Distinct taint lists of places, with the places that have them.
    place_taints: Vec<(Vec<Taint>, FixedBitSet)>,
}

/// A pair of sets: over rows and over places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    pub rows: FixedBitSet,
    pub places: FixedBitSet,
}

impl Reach {
    pub fn intersect(&mut self, other: &Self) {
        self.rows.intersect_with(&other.rows);
        self.places.intersect_with(&other.places);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_clear() && self.places.is_clear()
    }
}

impl<'a, 'w> Ground<'a, 'w> {
    pub fn new(offers: &'a Offers<'w>, places: &'a Places<'w>) -> Self {
        let mut pool_rows = vec![FixedBitSet::with_capacity(offers.rows.len()); offers.pools.len()];
        for (i, row) in offers.rows.iter().enumerate() {
            pool_rows[row.pool].insert(i);
        }
        let mut index: FxHashMap<&[Taint], usize> = FxHashMap::default();
        let mut place_taints: Vec<(Vec<Taint>, FixedBitSet)> = Vec::new();
        for (i, place) in places.0.iter().enumerate().filter(|(_, p)| !p.leaving) {
            let at = *index.entry(&place.taints).or_insert_with(|| {
                place_taints.push((place.taints.clone(), FixedBitSet::with_capacity(places.0.len())));
                place_taints.len() - 1
            });
            place_taints[at].1.insert(i);
        }
        Self { rows: Columns::new(offers), places: Columns::new(places), pool_rows, place_taints }
    }

    /// What the pod's node selector and required node affinity admit.
    pub fn selected(&mut self, pod: &Pod) -> Reach {
        Reach { rows: admitted(&mut self.rows, &pod.spec), places: admitted(&mut self.places, &pod.spec) }
    }

    /// What the tolerations admit; `prefer` tolerates `PreferNoSchedule` too.
    /// Places that leave are never among them.
    pub fn tolerated(&self, tolerations: &[Toleration], prefer: bool) -> Reach {
        let passes = |taints: &[Taint]| {
            if prefer {
                let hard: Vec<Taint> = taints.iter().filter(|t| t.effect != "PreferNoSchedule").cloned().collect();
                untolerated(&hard, tolerations).is_none()
            } else {
                untolerated(taints, tolerations).is_none()
            }
        };
        let offers = self.rows.source();
        let mut rows = FixedBitSet::with_capacity(offers.rows.len());
        for (pool, of_pool) in offers.pools.iter().zip(&self.pool_rows) {
            if passes(&pool.pool.template.taints) {
                rows.union_with(of_pool);
            }
        }
        let mut places = FixedBitSet::with_capacity(self.places.rows());
        for (taints, of_taints) in &self.place_taints {
            if passes(taints) {
                places.union_with(of_taints);
            }
        }
        Reach { rows, places }
    }

    /// What a preferred term asks for.
    fn preferred(&mut self, pod: &Pod, step: &Step) -> Option<Reach> {
        let wished = pod.spec.affinity.as_ref()?.node_affinity.as_ref()?;
        let term = &wished.preferred.get(step.preferred?)?.preference;
        if term.match_expressions.is_empty() {
            return None;
        }
        Some(Reach { rows: self.rows.term(term), places: self.places.term(term) })
    }

    /// What the pod's volumes admit.
    fn reachable_volumes(&mut self, class: &Class) -> Option<Reach> {
        if class.needs.alternatives.is_empty() {
            return None;
        }
        let mut reach = Reach { rows: self.rows.every(), places: self.places.every() };
        for terms in &class.needs.alternatives {
            reach.rows.intersect_with(&self.rows.any_term(terms));
            reach.places.intersect_with(&self.places.any_term(terms));
        }
        Some(reach)
    }

    /// Splits rows by the weight of their pools, heaviest first.
    fn by_weight(&self, rows: &FixedBitSet) -> Vec<FixedBitSet> {
        let offers = self.rows.source();
        let mut out: Vec<(i32, FixedBitSet)> = Vec::new();
        for (pool, of_pool) in offers.pools.iter().zip(&self.pool_rows) {
            let mut mine = rows.clone();
            mine.intersect_with(of_pool);
            if mine.is_clear() {
                continue;
            }
            match out.last_mut() {
                Some((weight, last)) if *weight == pool.pool.weight => last.union_with(&mine),
                _ => out.push((pool.pool.weight, mine)),
            }
        }
        out.into_iter().map(|(_, rows)| rows).collect()
    }
}

/// Room on rows and places, and the ports that DaemonSets take there.
pub struct Room<'b> {
    pub bins: &'b Bins,
    pub of_row: &'b [usize],
    pub row_groups: &'b [Overhead],
    /// Free amounts per place; `None` where it is overcommitted.
    pub free: &'b [Option<Vec<i64>>],
    pub place_daemons: &'b [Overhead],
    fits: FxHashMap<Vec<i64>, Reach>,
}

impl<'b> Room<'b> {
    pub fn new(
        bins: &'b Bins,
        of_row: &'b [usize],
        row_groups: &'b [Overhead],
        free: &'b [Option<Vec<i64>>],
        place_daemons: &'b [Overhead],
    ) -> Self {
        Self { bins, of_row, row_groups, free, place_daemons, fits: FxHashMap::default() }
    }

    /// Where one pod of this demand has room when nothing else is planned.
    pub fn fits(&mut self, demand: &[i64]) -> &Reach {
        if !self.fits.contains_key(demand) {
            let holds = |room: &[i64]| demand.iter().zip(room).all(|(d, r)| d <= r);
            let mut rows = self.bins.usable.clone();
            for (i, bin) in self.bins.bins.iter().enumerate() {
                if rows.contains(i) && !holds(&bin.capacity) {
                    rows.set(i, false);
                }
            }
            let mut places = FixedBitSet::with_capacity(self.free.len());
            for (i, free) in self.free.iter().enumerate() {
                places.set(i, free.as_ref().is_some_and(|f| holds(f)));
            }
            self.fits.insert(demand.to_vec(), Reach { rows, places });
        }
        &self.fits[demand]
    }

    fn drop_port_conflicts(&self, class: &Class, reach: &mut Reach) {
        if class.ports.is_empty() {
            return;
        }
        let bad: Vec<bool> = self.row_groups.iter().map(|g| conflict(&class.ports, &g.ports)).collect();
        for (row, &group) in self.of_row.iter().enumerate() {
            if bad[group] {
                reach.rows.set(row, false);
            }
        }
        for (place, overhead) in self.place_daemons.iter().enumerate() {
            if conflict(&class.ports, &overhead.ports) {
                reach.places.set(place, false);
            }
        }
    }
}

/// What a class carries: rule, and the step that drops it.
pub type Owned = Vec<(usize, Option<usize>)>;

/// Interned admissions.
#[derive(Default)]
pub struct Admissions {
    pub all: Vec<Admission>,
    index: FxHashMap<Admission, usize>,
}

impl Admissions {
    fn intern(&mut self, admission: Admission) -> usize {
        if let Some(&i) = self.index.get(&admission) {
            return i;
        }
        self.all.push(admission.clone());
        self.index.insert(admission, self.all.len() - 1);
        self.all.len() - 1
    }
}

/// Everything but the class itself that decides its tiers.
pub struct TierContext<'x, 'a, 'w, 'b> {
    pub ground: &'x mut Ground<'a, 'w>,
    pub room: &'x mut Room<'b>,
    pub attach: &'x Attach<'x, 'w>,
    pub dims: &'x Dims,
    /// Per rule: where the rule's key has a value; `None` for the node itself.
    pub defined: &'x [Option<Reach>],
    /// Rules that this class can never satisfy.
    pub hopeless: &'x dyn Fn(usize, usize) -> bool,
    pub admissions: &'x mut Admissions,
}

/// The tiers of a class: for each step of giving up preferences, existing
/// places and the heaviest pools first, then also lighter ones.
pub fn tiers(cx: &mut TierContext<'_, '_, '_, '_>, class: &Class, index: usize, pod: &Pod, owned: &Owned) -> Vec<Tier> {
    let demand = cx.dims.demand(&pod.requests, &class.needs.attachments);
    let mut base = cx.ground.selected(pod);
    base.intersect(cx.room.fits(&demand));
    if let Some(reach) = cx.ground.reachable_volumes(class) {
        base.intersect(&reach);
    }
    if !class.needs.reserved.is_empty() {
        base.intersect(&cx.attach.open_to(&class.needs.reserved));
    }
    cx.room.drop_port_conflicts(class, &mut base);
    if class.settled {
        for (p, place) in cx.ground.places.source().0.iter().enumerate() {
            base.places.set(p, base.places.contains(p) && place.is_destination());
        }
    }
    let mut out: Vec<Tier> = Vec::new();
    for (s, step) in class.ladder.steps.iter().enumerate() {
        let is_dropped = |drop: Option<usize>| drop.is_some_and(|d| d <= s);
        if owned.iter().any(|&(rule, drop)| !is_dropped(drop) && (cx.hopeless)(rule, index)) {
            continue;
        }
        let mut reach = base.clone();
        reach.intersect(&cx.ground.tolerated(&pod.spec.tolerations, step.tolerates_prefer));
        if let Some(wish) = cx.ground.preferred(pod, step) {
            reach.intersect(&wish);
        }
        let mut waived: Vec<usize> = Vec::new();
        for &(rule, drop) in owned {
            if is_dropped(drop) {
                waived.push(rule);
            } else if let Some(defined) = &cx.defined[rule] {
                reach.intersect(defined);
            }
        }
        waived.sort_unstable();
        waived.dedup();
        if reach.is_empty() {
            continue;
        }
        let mut rows = FixedBitSet::with_capacity(reach.rows.len());
        let mut classes = cx.ground.by_weight(&reach.rows);
        if classes.is_empty() {
            classes.push(rows.clone());
        }
        for more in classes {
            rows.union_with(&more);
            let admission = cx.admissions.intern(Admission { bins: rows.clone(), nodes: reach.places.clone() });
            let tier = Tier { admission, waived: waived.clone() };
            if out.last() != Some(&tier) {
                out.push(tier);
            }
        }
    }
    out
}
