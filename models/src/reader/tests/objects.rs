use super::*;
use crate::karpenter::labels;
use crate::kube::pod::validate;
use crate::resources::{CPU, MEMORY};

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
fn a_cordoned_node_has_the_taint() {
    let world = world(
        "{apiVersion: v1, kind: Node, metadata: {name: n}, spec: {unschedulable: true}, status: {capacity: {cpu: 1999999u}}}",
    );
    let node = world.node("n").unwrap();
    assert_eq!(node.taints[0].key, "node.kubernetes.io/unschedulable");
    assert_eq!((node.capacity.get(CPU), node.allocatable.get(CPU)), (1999, 1999), "capacity rounds down");
}

#[test]
fn written_taints_are_those_of_the_object() {
    let cordon = "{key: node.kubernetes.io/unschedulable, effect: NoSchedule, timeAdded: \"2026-12-01T09:00:00Z\"}";
    for (list, written) in [("{key: a, effect: NoExecute}", 1), (cordon, 1)] {
        let world = world(&format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: n}}, spec: {{unschedulable: true, taints: [{list}]}}}}"
        ));
        let node = world.node("n").unwrap();
        assert_eq!(node.written_taints().count(), written);
        assert_eq!(node.assumed_cordon, list != cordon);
        assert_eq!(node.written_taints().any(|t| t.time_added.is_some()), list == cordon);
    }
}

#[test]
fn two_dumps_of_one_object_may_differ_in_their_version() {
    let node = |version: u32| {
        format!("{{apiVersion: v1, kind: Node, metadata: {{name: n, resourceVersion: \"{version}\"}}}}\n---\n")
    };
    assert_eq!(world(&(node(1) + &node(2))).nodes.len(), 1);
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
