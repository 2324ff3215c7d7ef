//! PodDisruptionBudgets: which pods they cover, and how many of those may go.
//! (spec 30 §6)

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use millwright_models::kube::pod::{Phase, Pod};
use millwright_models::kube::policy::PodDisruptionBudget;
use millwright_models::world::World;
use rustc_hash::FxHashMap;

use crate::pods::{is_active, is_evictable};

/// The budgets of a world.
pub struct Pdbs<'w> {
    world: &'w World,
    /// Evictions that each still allows, none below 0; in the order of
    /// `World::budgets`.
    allowed: Vec<i64>,
    /// Budgets of each pod that any covers.
    of_pod: FxHashMap<usize, Vec<usize>>,
}

/// Why a pod may not be evicted now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// This budget allows no eviction.
    Exhausted(usize),
    /// Several cover the pod, which the eviction API refuses.
    Several(Vec<usize>),
}

impl<'w> Pdbs<'w> {
    /// Finds who covers whom, and counts.
    pub fn new(world: &'w World) -> Self {
        let mut by_namespace: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (b, budget) in world.budgets.iter().enumerate() {
            by_namespace.entry(&budget.meta.namespace).or_default().push(b);
        }
        let mut known: FxHashMap<(&str, usize), Vec<usize>> = FxHashMap::default();
        let mut of_pod: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let mut covered: Vec<Vec<usize>> = vec![Vec::new(); world.budgets.len()];
        for (p, pod) in world.pods.iter().enumerate() {
            let Some(candidates) = by_namespace.get(pod.namespace.as_str()) else { continue };
            let key = (pod.namespace.as_str(), Arc::as_ptr(&pod.labels) as usize);
            let covering = known.entry(key).or_insert_with(|| {
                let selects = |b: &&usize| world.budgets[**b].selector.as_ref().is_some_and(|s| s.matches(&pod.labels));
                candidates.iter().filter(selects).copied().collect()
            });
            if !covering.is_empty() {
                covering.iter().for_each(|b| covered[*b].push(p));
                of_pod.insert(p, covering.clone());
            }
        }
        let allowed = world.budgets.iter().zip(&covered);
        let allowed = allowed.map(|(budget, pods)| {
            let allowed = budget.disruptions_allowed;
            allowed.unwrap_or_else(|| computed(world, budget, pods)).max(0)
        });
        Self { world, allowed: allowed.collect(), of_pod }
    }

    /// Evictions that budget `b` still allows.
    pub fn allowed(&self, b: usize) -> i64 {
        self.allowed[b]
    }

    /// Its namespace and name.
    pub fn key(&self, b: usize) -> String {
        let meta = &self.world.budgets[b].meta;
        format!("{}/{}", meta.namespace, meta.name)
    }

    /// Number of budgets.
    pub fn len(&self) -> usize {
        self.allowed.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.allowed.is_empty()
    }

    /// The budgets that cover pod `p`, whatever its state.
    pub fn covering(&self, p: usize) -> &[usize] {
        self.of_pod.get(&p).map(Vec::as_slice).unwrap_or_default()
    }

    /// Why pod `p` cannot be evicted, if a budget is the cause.
    pub fn refusal(&self, p: usize, now: Timestamp) -> Option<Refusal> {
        self.judge(p, now, |b| self.allowed[b] == 0)
    }

    /// Whether budgets can never let pod `p` go, whatever recovers.
    pub fn fully_blocks(&self, p: usize, now: Timestamp) -> bool {
        self.judge(p, now, |b| never_allows(&self.world.budgets[b])).is_some()
    }

    /// The budget that evicting pod `p` draws one unit from.
    pub fn charged(&self, p: usize, now: Timestamp) -> Option<usize> {
        let [b] = self.covering(p)[..] else { return None };
        let pod = &self.world.pods[p];
        (is_evictable(pod, now) && !self.is_free(b, pod)).then_some(b)
    }

    fn judge(&self, p: usize, now: Timestamp, shut: impl Fn(usize) -> bool) -> Option<Refusal> {
        let pod = &self.world.pods[p];
        match self.covering(p) {
            [] => None,
            _ if !is_evictable(pod, now) => None,
            &[b] if self.is_free(b, pod) => None,
            &[b] => shut(b).then_some(Refusal::Exhausted(b)),
            several => Some(Refusal::Several(several.to_vec())),
        }
    }

    /// A pod that is known to be unwell may go where the budget says so.
    fn is_free(&self, b: usize, pod: &Pod) -> bool {
        let unwell = pod.conditions.iter().any(|c| c.kind == "Ready" && c.status == "False");
        self.world.budgets[b].always_allow_unhealthy && unwell
    }
}

/// Whether the budget's own words forbid every eviction.
fn never_allows(budget: &PodDisruptionBudget) -> bool {
    matches!(budget.max_unavailable.as_deref(), Some("0" | "0%")) || budget.min_available.as_deref() == Some("100%")
}

/// What the disruption controller would write into `status.disruptionsAllowed`
/// for these pods.
fn computed(world: &World, budget: &PodDisruptionBudget, pods: &[usize]) -> i64 {
    let pods: Vec<&Pod> = pods.iter().map(|p| &world.pods[*p]).filter(|p| !p.is_terminal()).collect();
    let healthy = pods.iter().filter(|p| is_active(p) && is_ready(p)).count() as i64;
    let desired = match (&budget.min_available, &budget.max_unavailable) {
        (Some(least), _) if !least.ends_with('%') => least.parse().unwrap_or(i64::MAX),
        (Some(least), _) => share(expected(world, &pods), least),
        (None, Some(most)) => {
            let expected = expected(world, &pods);
            let most = if most.ends_with('%') { share(expected, most) } else { most.parse().unwrap_or(0) };
            (expected - most).max(0)
        }
        // The API's default is to keep one.
        (None, None) => 1,
    };
    healthy.saturating_sub(desired).max(0)
}

/// A percentage of `count`, rounded up.
fn share(count: i64, percent: &str) -> i64 {
    let percent: i64 = percent.trim_end_matches('%').parse().unwrap_or(100);
    (count * percent + 99) / 100
}

/// How many pods there should be: what their owners want where the input says
/// so, else as many as there are.
fn expected(world: &World, pods: &[&Pod]) -> i64 {
    let mut owners: BTreeMap<(&str, &str, &str), i64> = BTreeMap::new();
    let mut bare = 0;
    for pod in pods {
        match &pod.owner {
            Some(o) => *owners.entry((o.kind.as_str(), pod.namespace.as_str(), o.name.as_str())).or_default() += 1,
            None => bare += 1,
        }
    }
    let wanted = |(kind, namespace, name): (&str, &str, &str), there: i64| {
        let place = |w: &&millwright_models::kube::workload::Workload| {
            w.kind == kind && w.meta.namespace == namespace && w.meta.name == name
        };
        world.workloads.iter().find(place).map_or(there, |w| i64::from(w.replicas).max(there))
    };
    bare + owners.into_iter().map(|(key, there)| wanted(key, there)).sum::<i64>()
}

/// Ready, or running without a word on it, as in snapshots made by hand.
fn is_ready(pod: &Pod) -> bool {
    let ready = pod.conditions.iter().find(|c| c.kind == "Ready");
    ready.map_or(pod.phase == Phase::Running, |c| c.status == "True")
}
