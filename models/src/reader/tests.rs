use proptest::prelude::*;

use super::*;
use crate::karpenter::labels;
use crate::kube::pod::validate;
use crate::resources::{CPU, MEMORY};

fn documents(texts: &[&str]) -> Vec<Document> {
    let named = |(i, text): (usize, &&str)| Document { file: format!("f{i}.yaml"), text: (*text).to_owned() };
    texts.iter().enumerate().map(named).collect()
}

fn world(text: &str) -> World {
    read(&documents(&[text]), &ReadOptions::default()).unwrap()
}

fn refused(texts: &[&str]) -> Vec<String> {
    read(&documents(texts), &ReadOptions::default()).unwrap_err().0.iter().map(ToString::to_string).collect()
}

fn names(world: &World) -> Vec<String> {
    world.pods.iter().map(crate::kube::pod::Pod::full_name).collect()
}

const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, resources: {requests: {cpu: 250m}}}]}}";

fn pod_json(name: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}"}},"spec":{{"containers":[{{"name":"c"}}]}}}}"#
    )
}

#[test]
fn every_form_of_stream_is_read() {
    let list = format!("apiVersion: v1\nitems:\n- {POD}\nkind: List\nmetadata: {{resourceVersion: ''}}\n");
    let typed = "kind: PodList\napiVersion: v1\nitems:\n- metadata: {name: a}\n  spec: {containers: [{name: c}]}\n";
    let (a, b) = (pod_json("a"), pod_json("b"));
    let json_list = format!(r#"{{"kind":"List","apiVersion":"v1","items":[{a},{b}]}}"#);
    let json_typed = r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}"#;
    let nested = format!(r#"{{"kind":"List","items":[{json_list}]}}"#);
    for (text, expected) in [
        (POD.to_owned(), 1),
        (list, 1),
        (typed.to_owned(), 1),
        (format!("{a}\n{b}\n"), 2),
        (format!("{a}{b}"), 2),
        (format!("---\n{a}\n---\n# Source: x\n{b}\n---\n# nothing\n---\n"), 2),
        (json_list, 2),
        (json_typed.to_owned(), 1),
        (nested, 2),
        ("# only a comment\n---\n\n".to_owned(), 0),
        ("null".to_owned(), 0),
        (r#"{"kind":"List","apiVersion":"v1","items":null}"#.to_owned(), 0),
    ] {
        assert_eq!(world(&text).pods.len(), expected, "{text}");
    }
}

#[test]
fn null_counts_as_absent_everywhere() {
    let text = r#"
apiVersion: v1
kind: Pod
metadata: {name: a, labels: null, annotations: {x: null}, ownerReferences: null, creationTimestamp: null}
spec:
  nodeName: null
  containers: [{name: c, ports: null, resources: {requests: null, limits: {cpu: null}}}, null]
  tolerations: null
  nodeSelector: null
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists, values: null}]}]}}}
status: null
"#;
    let yaml = world(text);
    assert_eq!(yaml.pods.len(), 1);
    let json = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":null},"spec":{"containers":null}}"#;
    assert_eq!(world(json).pods.len(), 1);
}

#[test]
fn anchors_and_merge_keys_work() {
    let text = "
apiVersion: v1
kind: List
items:
- &p {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: &s {priority: 7, containers: [{name: c}]}}
- {<<: *p, metadata: {name: b}}
";
    let world = world(text);
    assert_eq!(names(&world), ["default/a", "default/b"]);
    assert!(std::sync::Arc::ptr_eq(&world.pods[0].spec, &world.pods[1].spec), "equal specs are shared");
}

#[test]
fn all_bad_objects_are_named_with_file_line_and_field() {
    let bad = "apiVersion: v1\nkind: Pod\nmetadata: {name: bad, namespace: x}\nspec: {containers: [{resources: {requests: {cpu: '-1'}}}]}\n";
    let second = "---\n# c\n---\nkind: Node\napiVersion: v1\nmetadata: {}\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: q}\nspec: {priority: high}\n---\na: [\n";
    let errors = refused(&[bad, second]);
    assert_eq!(errors.len(), 4, "{errors:#?}");
    assert_eq!(
        errors[0],
        "f0.yaml, document 1 (line 1): Pod x/bad: spec.containers[0].resources.requests.cpu: quantity \"-1\" is negative"
    );
    assert!(
        errors[1].starts_with("f1.yaml, document 1 (line 4): Node (no name): metadata.name: missing"),
        "{}",
        errors[1]
    );
    assert!(errors[2].starts_with("f1.yaml, document 2 (line 8): Pod default/q: spec.priority: "), "{}", errors[2]);
    assert!(errors[3].contains("document 3") && errors[3].contains("not YAML"), "{}", errors[3]);
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    for (text, word) in [
        ("just text", "not YAML"),
        ("- a\n- b", "not YAML"),
        ("a: 1", "no kind"),
        ("{\"kind\":5}", "kind"),
        ("{\"kind\":\"Pod\"} x", "not JSON"),
        ("{\"kind\":\"List\",\"items\":3}", "items"),
        ("kind: List\nitems: 3", "not YAML"),
        (
            "{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {containers: [{resources: {requests: {cpu: .nan}}}]}}",
            "is not a quantity",
        ),
        (
            "{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {tolerations: [{key: a, operator: Foo}]}}",
            "spec.tolerations[0].operator",
        ),
        (
            "{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {topologySpreadConstraints: [{maxSkew: 0, topologyKey: z}]}}",
            "maxSkew",
        ),
        (
            "{kind: PodDisruptionBudget, apiVersion: policy/v1, metadata: {name: a}, spec: {minAvailable: half}}",
            "spec.minAvailable",
        ),
        (
            "{kind: PodDisruptionBudget, apiVersion: policy/v1, metadata: {name: a}, spec: {minAvailable: -1}}",
            "spec.minAvailable",
        ),
        ("{kind: Node, apiVersion: v1, metadata: {name: a}, status: {capacity: {cpu: -4}}}", "status.capacity.cpu"),
    ] {
        let errors = refused(&[text]);
        assert!(errors.iter().any(|e| e.contains(word)), "{text}: {errors:?}");
    }
}

fn pool(spec: &str) -> String {
    format!(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: p}}\nspec: {{template: {{spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}}, {spec}\n"
    )
}

#[test]
fn pools_get_schema_defaults() {
    let world = world(&pool("requirements: []}}, limits: {cpu: '1.5', nodes: 3}}"));
    let pool = &world.node_pools[0];
    assert_eq!((pool.limits.get(CPU), pool.limits.entry("nodes"), pool.node_limit), (1500, None, Some(3)));
    assert_eq!(pool.template.expire_after.as_deref(), Some("720h"));
    assert_eq!(pool.disruption.consolidate_after.as_deref(), Some("0s"));
    assert_eq!(
        (pool.disruption.policy.as_str(), pool.disruption.budgets[0].nodes.as_str()),
        ("WhenEmptyOrUnderutilized", "10%")
    );
    assert!(!pool.has_status);
}

#[test]
fn bad_pools_and_overlays_are_refused() {
    for (text, field) in [
        (pool("requirements: [{key: a, operator: Near}]}}}"), "requirements[0].operator"),
        (pool("requirements: [{key: a, operator: Exists, minValues: 51}]}}}"), "requirements[0]"),
        (pool("requirements: [{key: karpenter.sh/nodepool, operator: Exists}]}}}"), "requirements[0]"),
        (pool("requirements: [{key: kubernetes.io/hostname, operator: Exists}]}}}"), "restricted"),
        (pool("requirements: [{key: n, operator: Gt, values: ['-1']}]}}}"), "negative"),
        (pool("taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: a, effect: NoSchedule}]}}}"), "given twice"),
        (pool("expireAfter: 1.5h}}}"), "expireAfter"),
        (pool("requirements: []}}, weight: 0}"), "spec.weight"),
        (pool("requirements: []}}, limits: {cpu: -1}}"), "spec.limits.cpu"),
        (pool("requirements: []}}, disruption: {budgets: [{nodes: 101%}]}}"), "budgets[0].nodes"),
        (pool("requirements: []}}, disruption: {budgets: [{nodes: '1', duration: 1h}]}}"), "budgets[0]"),
        ("{apiVersion: karpenter.sh/v1alpha1, kind: NodeOverlay, metadata: {name: o}, spec: {price: -1}}".into(), "spec.price"),
        ("{apiVersion: karpenter.sh/v1alpha1, kind: NodeOverlay, metadata: {name: o}, spec: {price: 1, priceAdjustment: +1%}}".into(), "exclude"),
        ("{apiVersion: karpenter.sh/v1alpha1, kind: NodeOverlay, metadata: {name: o}, spec: {capacity: {cpu: 1}}}".into(), "spec.capacity.cpu"),
        ("{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, spec: {}}".into(), "spec.amiFamily"),
    ] {
        let errors = refused(&[&text]);
        assert!(errors[0].contains(field), "{text}: {errors:?}");
    }
}

#[test]
fn node_classes_are_read() {
    let text = "
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: c}
spec:
  amiSelectorTerms: [{alias: bottlerocket@latest}]
  kubelet: {maxPods: 42, systemReserved: {cpu: 100m}, evictionHard: {memory.available: 5%}}
  blockDeviceMappings: [{deviceName: /dev/xvda, rootVolume: true, ebs: {volumeSize: 80Gi}}]
status:
  subnets: [{id: b, zone: z2}, {id: a, zone: z1}, {id: c, zone: z2}]
  capacityReservations: [{id: cr-1, instanceType: m5.large, availabilityZone: z1, reservationType: capacity-block}]
";
    let world = world(text);
    let class = world.node_class("c").unwrap();
    assert_eq!((class.ami_family.as_str(), class.kubelet.max_pods), ("Bottlerocket", Some(42)));
    assert_eq!(
        (class.block_devices[0].volume_size, &class.zones),
        (Some(80 << 30), &vec!["z1".to_owned(), "z2".to_owned()])
    );
    assert_eq!((class.reservations[0].kind.as_str(), class.reservations[0].zone.as_str()), ("capacity-block", "z1"));
}

#[test]
fn repetitions_are_dropped_and_contradictions_refused() {
    assert_eq!(read(&documents(&[POD, POD]), &ReadOptions::default()).unwrap().pods.len(), 1);
    let errors = refused(&[POD, &POD.replace("250m", "300m")]);
    assert_eq!(
        errors,
        ["Pod default/a is given twice and differs: f0.yaml, document 1 (line 1) and f1.yaml, document 1 (line 1)"]
    );
}

#[test]
fn foreign_kinds_are_skipped_and_counted() {
    let text = "{kind: ConfigMap, apiVersion: v1}\n---\n{kind: ConfigMap, apiVersion: v1}\n---\n{kind: Service, apiVersion: serving.knative.dev/v1}\n---\n{kind: CronJob, apiVersion: batch/v1}\n";
    let world = read(&documents(&[text]), &ReadOptions { default_pools: false }).unwrap();
    assert_eq!(
        world.warnings,
        ["skipped 4 objects of 3 kinds this program does not need: ConfigMap 2, CronJob 1, Service 1"]
    );
    assert!(world.node_pools.is_empty());
}

fn workload(kind: &str, name: &str, extra: &str) -> String {
    let group = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    format!(
        "---\napiVersion: {group}\nkind: {kind}\nmetadata: {{name: {name}, uid: {kind}-{name}}}\nspec: {{selector: {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: c, resources: {{limits: {{cpu: 1}}}}}}]}}}}{extra}}}\n"
    )
}

fn owned_pod(name: &str, kind: &str, owner: &str, app: &str) -> String {
    format!(
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, labels: {{app: {app}}}, ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {owner}, controller: true}}]}}}}\n"
    )
}

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
fn api_server_defaults_are_applied() {
    let text = "
{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: n}, spec: {limits: [{type: Container, default: {cpu: 500m}, defaultRequest: {cpu: 250m}, max: {memory: 1Gi}}]}}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, overhead: {podFixed: {cpu: 2}}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: usual}, value: 3, globalDefault: true}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n}, spec: {priorityClassName: high, runtimeClassName: kata, containers: [{name: c}, {name: d, resources: {limits: {cpu: 2}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: n}, spec: {nodeName: n1, containers: [{name: c}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: c, namespace: n}, spec: {priorityClassName: unheard, containers: [{name: c}]}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, namespace: n}, spec: {template: {spec: {containers: [{name: c}]}}}}
";
    let world = world(text);
    let [a, b, _] = &world.pods[..] else { panic!("{:?}", names(&world)) };
    assert_eq!((a.requests.get(CPU), a.requests.get(MEMORY), a.spec.priority), (4250, 2 << 30, Some(9)));
    assert_eq!((b.requests.get(CPU), b.spec.priority), (0, Some(3)), "a bound pod runs as it is");
    assert_eq!(world.daemon_sets[0].requests.get(CPU), 250);
    assert!(world.warnings.iter().any(|w| w.contains("PriorityClass unheard")), "{:?}", world.warnings);
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
fn a_cordoned_node_has_the_taint() {
    let world = world(
        "{apiVersion: v1, kind: Node, metadata: {name: n}, spec: {unschedulable: true}, status: {capacity: {cpu: 1999999u}}}",
    );
    let node = world.node("n").unwrap();
    assert_eq!(node.taints[0].key, "node.kubernetes.io/unschedulable");
    assert_eq!((node.capacity.get(CPU), node.allocatable.get(CPU)), (1999, 1999), "capacity rounds down");
}

#[test]
fn sch_023_to_036_validation_of_pending_pods() {
    let claims = "
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: wait}, volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: now}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: lost}, status: {phase: Lost}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: empty}, spec: {storageClassName: ''}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: missing}, spec: {storageClassName: gone}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: immediate}, spec: {storageClassName: now}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: waiting}, spec: {storageClassName: wait}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: half}, spec: {volumeName: pv}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: bound, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}, spec: {volumeName: pv, storageClassName: gone}}
---
";
    let required = |term: &str| {
        format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}}}}}"
        )
    };
    let mounts = |claim: &str| format!("volumes: [{{name: v, persistentVolumeClaim: {{claimName: {claim}}}}}]");
    for (spec, fault) in [
        (required("{matchExpressions: [{key: karpenter.sh/nodepool, operator: DoesNotExist}]}"), Some("avoids")),
        ("nodeSelector: {karpenter.sh/foo: x}".into(), Some("restricted")),
        ("nodeSelector: {sub.karpenter.sh/foo: x}".into(), Some("restricted")),
        (format!("nodeSelector: {{{}: n1}}", labels::HOSTNAME), Some("restricted")),
        ("nodeSelector: {node.kubernetes.io/role: web}".into(), None),
        (
            required(
                "{matchExpressions: [{key: a, operator: Exists}]}, {matchExpressions: [{key: karpenter.sh/x, operator: Exists}]}",
            ),
            Some("term 2"),
        ),
        (required("{matchFields: [{key: metadata.name, operator: In, values: [n]}]}"), Some("matchFields")),
        (
            required("{matchExpressions: [{key: karpenter.sh/capacity-type, operator: In, values: [preemptible]}]}"),
            Some("capacity-type"),
        ),
        (mounts("absent"), None),
        (mounts("lost"), Some("lost")),
        (mounts("empty"), Some("empty")),
        (mounts("missing"), Some("gone")),
        (mounts("immediate"), Some("immediately")),
        (mounts("waiting"), None),
        (mounts("half"), Some("not completed")),
        (mounts("bound"), None),
        ("volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: wait}}}}]".into(), None),
    ] {
        let world = world(&format!("{claims}{{apiVersion: v1, kind: Pod, metadata: {{name: w}}, spec: {{{spec}}}}}\n"));
        let faults = validate(world.pod("default", "w").unwrap(), &world);
        match fault {
            None => assert!(faults.is_empty(), "{spec}: {faults:?}"),
            Some(word) => assert!(faults.iter().any(|f| f.contains(word)), "{spec}: {faults:?}"),
        }
    }
}

#[test]
fn scenario_files_read() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/scenarios/files");
    let Ok(entries) = std::fs::read_dir(root) else {
        eprintln!("SKIPPED: {root} is not there");
        return;
    };
    let mut seen = 0;
    for entry in entries.flatten() {
        let path = entry.path().join("objects.yaml");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let read = read(&[Document { file: path.display().to_string(), text }], &ReadOptions::default());
        let world = read.unwrap_or_else(|e| panic!("{e}"));
        assert!(!world.pods.is_empty() && !world.node_pools.is_empty(), "{}", path.display());
        seen += 1;
    }
    assert!(seen > 0);
}

fn mixture() -> Vec<String> {
    let mut all = vec![
        pool("requirements: []}}}"),
        workload("Deployment", "web", ", replicas: 3"),
        workload("StatefulSet", "web", ", replicas: 2, volumeClaimTemplates: [{metadata: {name: data}}]"),
        "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {capacity: {cpu: 4}}}".to_owned(),
        POD.to_owned(),
        POD.to_owned(),
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, value: 1, globalDefault: true}"
            .to_owned(),
    ];
    all.extend((0..4).map(|i| owned_pod(&format!("d{i}"), "DaemonSet", "ds", "ds")));
    all.push("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: ds}}".to_owned());
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_order_of_documents_does_not_matter(order in Just(mixture()).prop_shuffle()) {
        let straight: Vec<_> = mixture().into_iter().map(|text| Document { file: "f".into(), text }).collect();
        let shuffled: Vec<_> = order.into_iter().map(|text| Document { file: "f".into(), text }).collect();
        let expected = read(&straight, &ReadOptions::default()).unwrap();
        prop_assert_eq!(read(&shuffled, &ReadOptions::default()).unwrap(), expected);
    }

    #[test]
    fn random_text_never_panics(text in "[ -~\n\u{80}-\u{2ff}]{0,300}", bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&documents(&[&text, &String::from_utf8_lossy(&bytes)]), &ReadOptions::default());
    }

    #[test]
    fn damaged_documents_never_panic(at in any::<prop::sample::Index>(), with in "[-{}\\[\\]:,'\"&*!|>%@0-9a-z \n]{0,6}", cut in 0..40_usize) {
        let mut text: Vec<char> = mixture().join("\n---\n").chars().collect();
        let at = at.index(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, with.chars());
        let text: String = text.into_iter().collect();
        let _ = read(&documents(&[&text]), &ReadOptions::default());
    }
}

#[test]
fn deep_nesting_is_an_error() {
    for text in [
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        format!("a: {}", "[".repeat(10_000)),
        "{\"kind\":\"List\",\"items\":[".repeat(5_000) + &"]}".repeat(5_000),
        format!("{}1", "- ".repeat(20_000)),
    ] {
        assert!(read(&documents(&[&text]), &ReadOptions::default()).is_err(), "{}", &text[..20]);
    }
}
