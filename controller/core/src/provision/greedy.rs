//! Karpenter's greedy: the baseline, a plan to start from, and one to fall
//! back on where the search, for want of time, found nothing as good.

use std::collections::BTreeMap;
use std::time::Duration;

use millwright_models::greedy::{self, GreedyClaim, GreedyOptions, GreedyPlan};
use millwright_models::lower::Lowered;
use millwright_models::world::World;
use millwright_solver::check;
use millwright_solver::engine::Candidate;
use millwright_solver::plan::{Contents, NewNode, Plan};

use super::{Baseline, Clock, Options};

/// What the greedy decides, and what that is as a baseline.
pub fn run(world: &World, lowered: &Lowered<'_>, options: &Options, clock: Clock<'_>) -> (GreedyPlan, Baseline) {
    let began = clock();
    let settings = GreedyOptions {
        preference_policy: options.lower.preferences,
        min_values_policy: options.lower.min_values,
        ..GreedyOptions::new(options.lower.gates)
    };
    let pools: Vec<_> = lowered.offers.pools.iter().map(|p| (p.pool, p.types.clone())).collect();
    let minute = Duration::from_secs(60);
    let plan = greedy::solve(world, &pools, &settings, &|| clock().saturating_sub(began) > minute);
    let baseline = Baseline {
        cost: plan.cost,
        nodes: plan.claims.len(),
        unscheduled: plan.unscheduled.len(),
        elapsed: clock().saturating_sub(began),
    };
    (plan, baseline)
}

/// What a plan is called that the greedy found.
pub const SOURCE: &str = "karpenter-greedy";

/// The greedy's plan where it is legal and cheaper than `found`. It serves the
/// same pods in the same tiers, so whatever was proven about `found` holds for
/// it too.
pub fn better(lowered: &Lowered<'_>, greedy: &GreedyPlan, found: &Plan) -> Option<Plan> {
    if greedy.cost >= found.bought_cost(&lowered.instance) {
        return None;
    }
    let plan = as_plan(lowered, greedy)?;
    let same = plan.unserved == found.unserved && plan.demoted == found.demoted && found.removed.is_empty();
    (same && check::plan(&lowered.instance, &plan).is_ok()).then_some(plan)
}

/// The greedy's decision as a plan to start from.
pub fn candidate(lowered: &Lowered<'_>, greedy: &GreedyPlan) -> Option<Candidate> {
    Some(Candidate { plan: as_plan(lowered, greedy)?, source: SOURCE })
}

/// The greedy's decision in the solver's terms; none if it holds something
/// that the compiled problem has no word for. Whether it is legal by the rules
/// of the compiled problem is for the checker to say.
fn as_plan(lowered: &Lowered<'_>, greedy: &GreedyPlan) -> Option<Plan> {
    let shapes = Shapes::of(lowered);
    let mut plan = Plan::default();
    let mut demoted: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    for claim in &greedy.claims {
        let contents = shapes.count(&claim.pods)?;
        let bin = rows(lowered, claim).find(|&row| {
            contents
                .iter()
                .all(|&(s, _)| tier(lowered, s, |a| lowered.instance.admissions[a].bins.contains(row)).is_some())
        })?;
        for &(s, count) in &contents {
            let tier = tier(lowered, s, |a| lowered.instance.admissions[a].bins.contains(bin))?;
            *demoted.entry((s, tier)).or_default() += count;
        }
        plan.bought.push(NewNode { bin, contents });
    }
    for (name, pods) in &greedy.existing {
        let node = lowered.places.iter().position(|p| p.name == name)?;
        let contents = shapes.count(pods)?;
        for &(s, count) in &contents {
            let tier = tier(lowered, s, |a| lowered.instance.admissions[a].nodes.contains(node))?;
            *demoted.entry((s, tier)).or_default() += count;
        }
        plan.placed.push((node, contents));
    }
    plan.placed.sort();
    plan.demoted = demoted.into_iter().filter(|((_, tier), _)| *tier > 0).map(|((s, t), n)| (s, t, n)).collect();
    let refused = |p: &usize| lowered.refused.iter().any(|(r, _)| r == p);
    let left: Vec<usize> = greedy.unscheduled.iter().map(|(p, _)| *p).filter(|p| !refused(p)).collect();
    plan.unserved = shapes.count(&left)?;
    Some(plan)
}

/// The shape of each pod that is planned.
struct Shapes(BTreeMap<usize, usize>);

impl Shapes {
    fn of(lowered: &Lowered<'_>) -> Self {
        let pairs = lowered.shape_pods.iter().enumerate().flat_map(|(s, pods)| pods.iter().map(move |&p| (p, s)));
        Self(pairs.collect())
    }

    /// How many of each shape; none if a pod has no shape.
    fn count(&self, pods: &[usize]) -> Option<Contents> {
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        for pod in pods {
            *counts.entry(*self.0.get(pod)?).or_default() += 1;
        }
        Some(counts.into_iter().collect())
    }
}

/// The earliest tier of a shape whose admission is as `admits` asks.
fn tier(lowered: &Lowered<'_>, shape: usize, admits: impl Fn(usize) -> bool) -> Option<usize> {
    lowered.instance.shapes[shape].tiers.iter().position(|t| admits(t.admission))
}

/// Rows that sell the offering a claim is billed at.
fn rows<'a>(lowered: &'a Lowered<'_>, claim: &'a GreedyClaim) -> impl Iterator<Item = usize> + 'a {
    lowered.offers.rows.iter().enumerate().filter_map(move |(i, row)| {
        let (ptype, zone, capacity_type) = claim.cheapest.as_ref()?;
        let offering = lowered.offers.offering(row);
        let same = lowered.offers.pools[row.pool].pool.name() == claim.pool
            && row.ptype == *ptype as usize
            && offering.zone == *zone
            && offering.capacity_type == *capacity_type
            && offering.price == claim.price;
        same.then_some(i)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use millwright_models::catalog::Catalog;
    use millwright_models::lower::{self, Settings};
    use millwright_models::reader::{self, Document, ReadOptions};

    const CATALOG: &str = r#"
apiVersion: millwright.dev/v1
kind: Catalog
region: r
types:
  - {name: t.small, architecture: amd64, operatingSystems: [linux], capacity: {cpu: "2", memory: 4Gi, pods: "20"},
     allocatable: {cpu: "2", memory: 4Gi, pods: "20"},
     offerings: [{zone: za, capacityType: on-demand, price: 0.1}, {zone: zb, capacityType: on-demand, price: 0.1}]}
  - {name: t.large, architecture: amd64, operatingSystems: [linux], capacity: {cpu: "4", memory: 8Gi, pods: "20"},
     allocatable: {cpu: "4", memory: 8Gi, pods: "20"},
     offerings: [{zone: za, capacityType: on-demand, price: 0.19}]}
"#;

    fn world(pods: u32) -> World {
        let text = format!(
            r#"
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: {pods}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers: [{{name: c, image: i, resources: {{requests: {{cpu: "1", memory: 1Gi}}}}}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: p}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}}
      requirements: [{{key: kubernetes.io/arch, operator: In, values: [amd64]}}]
"#
        );
        reader::read(&[Document { file: "w".to_owned(), text }], &ReadOptions::default()).unwrap()
    }

    fn greedy_of(world: &World, lowered: &Lowered<'_>) -> GreedyPlan {
        let pools: Vec<_> = lowered.offers.pools.iter().map(|p| (p.pool, p.types.clone())).collect();
        greedy::solve(world, &pools, &GreedyOptions::new(Settings::default().gates), &|| false)
    }

    #[test]
    fn the_greedy_is_told_in_the_solvers_terms_at_its_own_cost() {
        let (world, catalog) = (world(5), Catalog::parse("c", CATALOG).unwrap());
        let lowered = lower::lower(&world, &catalog, &Settings::default()).unwrap();
        let greedy = greedy_of(&world, &lowered);
        let plan = as_plan(&lowered, &greedy).unwrap();
        assert_eq!(check::plan(&lowered.instance, &plan), Ok(()));
        assert_eq!(plan.bought_cost(&lowered.instance), greedy.cost);
        assert!(greedy.cost > 0 && plan.unserved.is_empty());
    }

    #[test]
    fn only_a_cheaper_legal_greedy_replaces_what_was_found() {
        let (world, catalog) = (world(2), Catalog::parse("c", CATALOG).unwrap());
        let lowered = lower::lower(&world, &catalog, &Settings::default()).unwrap();
        let greedy = greedy_of(&world, &lowered);
        let own = as_plan(&lowered, &greedy).unwrap();
        assert_eq!(better(&lowered, &greedy, &own), None, "it is no cheaper");
        // Each pod on a node of its own is legal and dearer.
        let mut dear = own.clone();
        let bin = own.bought[0].bin;
        dear.bought = vec![NewNode { bin, contents: vec![(0, 1)] }; 2];
        assert_eq!(check::plan(&lowered.instance, &dear), Ok(()));
        assert_eq!(better(&lowered, &greedy, &dear), Some(own.clone()));
        // A plan that serves fewer pods is no match, whatever it costs.
        dear.bought.pop();
        dear.unserved = vec![(0, 1)];
        dear.bought[0].bin = (0..lowered.instance.bins.len()).max_by_key(|b| lowered.instance.bins[*b].price).unwrap();
        assert_eq!(better(&lowered, &greedy, &dear), None);
    }
}
