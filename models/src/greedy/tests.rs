//! Random worlds: every search for a claim is compared with the naive one
//! (see `on_claims`), and every plan with the rules it must keep.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::{GreedyOptions, GreedyPlan, solve};
use crate::catalog::gates::Gates;
use crate::catalog::pool_types::{CapacityType, PoolOffering, PoolType, PoolTypes};
use crate::karpenter::nodepool::NodePool;
use crate::kube::pod::{Phase, Pod, PodSpec};
use crate::requirements::{Requirement, Requirements};
use crate::resources::Resources;
use crate::world::World;

const ZONE: &str = "topology.kubernetes.io/zone";

/// A pod in brief: CPU in halves, label, rule, label that the rule selects.
type Brief = (i64, usize, usize, usize);

fn labels(label: usize) -> BTreeMap<String, String> {
    [("app".to_owned(), ["a", "b", "c"][label].to_owned())].into()
}

fn spec(rule: usize, selects: usize) -> PodSpec {
    let selector = serde_json::json!({"matchLabels": labels(selects)});
    let hostname = "kubernetes.io/hostname";
    let term = |key: &str| serde_json::json!([{"topologyKey": key, "labelSelector": selector}]);
    let affinity = |kind: &str, key: &str| serde_json::json!({"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": term(key)}}});
    let spread = |key: &str, skew: u32| {
        serde_json::json!({"topologySpreadConstraints": [{"maxSkew": skew, "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}]})
    };
    let port = serde_json::json!([{"containerPort": 80, "hostPort": 8080 + selects}]);
    let value = match rule {
        0 => spread(ZONE, 1),
        1 => spread(hostname, 1),
        2 => spread(hostname, 2),
        3 => affinity("podAntiAffinity", hostname),
        4 => affinity("podAntiAffinity", ZONE),
        5 => affinity("podAffinity", hostname),
        6 => affinity("podAffinity", ZONE),
        7 => serde_json::json!({"nodeSelector": {ZONE: format!("z{}", selects + 1)}}),
        8 => serde_json::json!({"containers": [{"name": "c", "ports": port}]}),
        _ => serde_json::json!({}),
    };
    serde_json::from_value(value).unwrap()
}

fn pod(i: usize, (cpu, label, rule, selects): Brief) -> Pod {
    let requests = [("cpu", cpu * 500), ("memory", 1 << 28), ("pods", 1)].into_iter().collect::<Resources>();
    Pod {
        namespace: "default".to_owned(),
        name: format!("p{i:02}"),
        uid: format!("{i:02}"),
        created: None,
        deleted: None,
        owner: None,
        is_static: false,
        labels: Arc::new(labels(label)),
        annotations: Arc::default(),
        spec: Arc::new(spec(rule, selects)),
        requests: Arc::new(requests),
        node_name: None,
        phase: Phase::Pending,
        conditions: Vec::new(),
        nominated_node: None,
        started: None,
        synthetic: false,
    }
}

fn kind(index: usize, cpu: i64) -> PoolType {
    let zones = ["z1", "z2", "z3"];
    let mut requirements = Requirements::default();
    requirements.add(Requirement { values: zones.map(str::to_owned).into(), ..Requirement::is(ZONE, "") });
    requirements.add(Requirement::is("node.kubernetes.io/instance-type", format!("t{cpu}")));
    let holds = [("cpu", cpu * 1000), ("memory", cpu << 30), ("pods", cpu * 4)].into_iter().collect::<Resources>();
    let offering = |zone: &str| PoolOffering {
        zone: Arc::from(zone),
        capacity_type: CapacityType::OnDemand,
        price: cpu * 1000,
        // One type misses a zone.
        available: !(index == 0 && zone == "z2"),
        reservation: None,
        overlaid: false,
    };
    PoolType {
        type_index: index,
        name: Arc::from(format!("t{cpu}")),
        requirements,
        labels: BTreeMap::new(),
        capacity: holds.clone(),
        allocatable: holds,
        offerings: zones.map(offering).into(),
        volume_attachments: None,
        overlaid: false,
    }
}

fn run(pods: Vec<Pod>) -> (World, GreedyPlan) {
    let world = World { pods, ..World::default() };
    let mut pool = NodePool::default();
    pool.meta.name = "p".to_owned();
    let types = PoolTypes {
        types: [1, 2, 4, 6].into_iter().enumerate().map(|(i, c)| kind(i, c)).collect(),
        ..PoolTypes::default()
    };
    let plan = solve(&world, &[(&pool, types)], &GreedyOptions::new(Gates::default()), &|| false);
    (world, plan)
}

fn brief() -> impl Strategy<Value = Vec<Brief>> {
    prop::collection::vec((1..9_i64, 0..3_usize, 0..12_usize, 0..3_usize), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// The comparison with the naive search is in `try_claims` itself.
    #[test]
    fn short_cuts_change_nothing_and_every_pod_is_accounted_for(briefs in brief()) {
        let (world, plan) = run(briefs.iter().enumerate().map(|(i, b)| pod(i, *b)).collect());
        let mut seen: Vec<usize> = plan.claims.iter().flat_map(|c| c.pods.clone()).collect();
        seen.extend(plan.unscheduled.iter().map(|(p, _)| *p));
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..world.pods.len()).collect::<Vec<_>>());
        for claim in &plan.claims {
            let cpu: i64 = claim.pods.iter().map(|p| world.pods[*p].requests.get("cpu")).sum();
            let least = [1, 2, 4, 6][claim.types[0] as usize] * 1000;
            prop_assert!(cpu <= least, "{} milli-CPUs on a machine of {}", cpu, least);
        }
    }

    /// The order in which pods are listed does not matter.
    #[test]
    fn order_of_pods_does_not_matter(briefs in brief()) {
        let pods: Vec<Pod> = briefs.iter().enumerate().map(|(i, b)| pod(i, *b)).collect();
        let names = |(world, plan): (World, GreedyPlan)| {
            let name = |p: &usize| world.pods[*p].name.clone();
            plan.claims.iter().map(|c| c.pods.iter().map(name).collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        let mut turned = pods.clone();
        turned.reverse();
        prop_assert_eq!(names(run(pods)), names(run(turned)));
    }
}
