use super::*;
use crate::kube::pod::validate;
use crate::resources::CPU;

#[test]
fn workloads_without_pods_count_as_their_pods() {
    let text = workload("Deployment", "web", ", replicas: 2")
        + &workload(
            "StatefulSet",
            "db",
            ", volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: gp3}}]",
        )
        + &workload("Job", "batch", ", parallelism: 5, completions: 3")
        + &workload("Job", "halted", ", suspend: true")
        + &workload("ReplicaSet", "none", ", replicas: 0");
    let world = world(&text);
    assert_eq!(
        names(&world),
        ["default/batch-0", "default/batch-1", "default/batch-2", "default/db-0", "default/web-0", "default/web-1"]
    );
    assert!(world.pods.iter().all(|p| p.synthetic && p.is_pending() && p.requests.get(CPU) == 1000));
    let db = world.pod("default", "db-0").unwrap();
    assert_eq!(db.spec.volumes[0].persistent_volume_claim.as_ref().unwrap().claim_name, "data-db-0");
    assert_eq!(world.claim("default", "data-db-0").unwrap().storage_class.as_deref(), Some("gp3"));
    assert!(validate(db, &world).is_empty(), "{:?}", validate(db, &world));
    assert_eq!(world.pod("default", "web-1").unwrap().owner.as_ref().unwrap().kind, "Deployment");
    assert_eq!(world.workloads.len(), 5);
}

#[test]
fn a_workload_with_pods_adds_none() {
    let owned = "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, uid: rs1, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: Deployment-web, controller: true}]}, spec: {replicas: 3}}\n";
    let web = workload("Deployment", "web", ", replicas: 3");
    // By chain, without the ReplicaSet in the input, and not at all.
    assert_eq!(names(&world(&(web.clone() + owned + &owned_pod("p", "ReplicaSet", "web-1", "web")))), ["default/p"]);
    assert_eq!(names(&world(&(web.clone() + &owned_pod("p", "ReplicaSet", "web-77", "web")))), ["default/p"]);
    assert_eq!(world(&(web.clone() + &owned_pod("p", "ReplicaSet", "web-77", "other"))).pods.len(), 4);
    assert_eq!(world(&(web.clone() + &owned_pod("p", "ReplicaSet", "webber-1", "web"))).pods.len(), 4);
    // A ReplicaSet of a present Deployment does not count twice; alone it counts.
    assert_eq!(world(&(web + owned)).pods.len(), 3);
    assert_eq!(names(&world(owned)), ["default/web-1-0", "default/web-1-1", "default/web-1-2"]);
    let set = workload("StatefulSet", "db", ", replicas: 3");
    assert_eq!(names(&world(&(set + &owned_pod("db-2", "StatefulSet", "db", "db")))), ["default/db-2"]);
}

#[test]
fn names_that_clash_are_told_apart() {
    let world = world(&(workload("Deployment", "x", "") + &workload("StatefulSet", "x", "")));
    assert_eq!(names(&world), ["default/x-0", "default/x-statefulset-0"]);
    assert!(world.warnings.iter().any(|w| w.contains("x-statefulset-i")), "{:?}", world.warnings);
}

#[test]
fn absurd_replicas_are_refused() {
    let errors = refused(&[&workload("Deployment", "x", ", replicas: 2000000000")]);
    assert!(errors[0].contains("Deployment default/x: spec.replicas"), "{errors:?}");
    assert!(refused(&[&workload("Deployment", "x", ", replicas: -1")])[0].contains("spec.replicas"));
}

#[test]
fn sch_132_the_newest_live_daemon_pod_counts_without_its_pin() {
    let pin = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}";
    let live = |name: &str, created: &str, cpu: &str| {
        format!(
            "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, creationTimestamp: '{created}', ownerReferences: [{{apiVersion: apps/v1, kind: DaemonSet, name: d, controller: true}}]}}, spec: {{nodeName: n1, {pin}, containers: [{{name: c, resources: {{requests: {{cpu: '{cpu}'}}}}}}]}}}}\n"
        )
    };
    let set = "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}}}}\n";
    let text = format!("{set}{}{}", live("x", "2026-01-01T00:00:00Z", "3"), live("y", "2026-01-02T00:00:00Z", "1"));
    let world = world(&text);
    assert_eq!(world.daemon_sets[0].requests.get(CPU), 1000);
    assert_eq!(world.daemon_sets[0].spec.affinity, None);
}

#[test]
fn a_pool_of_gpus_is_assumed_only_where_a_pod_asks_for_one() {
    let pod = |limits: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{containers: [{{name: c, image: i, \
             resources: {{limits: {{{limits}}}}}}}]}}}}"
        )
    };
    let pools = |text: &str| -> Vec<String> {
        let world = read(&documents(&[text]), &ReadOptions::default()).unwrap();
        world.node_pools.iter().map(|p| p.meta.name.clone()).collect()
    };
    assert_eq!(pools(&pod("cpu: 1")), ["default"]);
    assert_eq!(pools(&pod("nvidia.com/gpu: 1")), ["default", "default-gpu"]);
}
