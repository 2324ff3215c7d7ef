use serde_json::json;

use super::*;

fn pod(name: &str, uid: &str, version: u64, node: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "a", "uid": uid, "resourceVersion": version.to_string(), "labels": null},
        "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}})
}

fn names(live: &mut Live) -> Vec<String> {
    live.world().0.pods.iter().map(crate::kube::pod::Pod::full_name).collect()
}

#[test]
fn the_newest_version_wins_in_any_order() {
    let mut live = Live::default();
    assert_eq!(live.apply(&pod("p", "u", 10, "n10")), Ok(true));
    assert_eq!(live.apply(&pod("p", "u", 9, "n9")), Ok(false));
    assert_eq!(live.apply(&pod("p", "u", 10, "n10")), Ok(false), "versions are numbers, this one is held");
    assert_eq!(live.apply(&pod("p", "u", 100, "n100")), Ok(true));
    let (world, errors) = live.world();
    assert_eq!(world.pods[0].node_name.as_deref(), Some("n100"));
    assert!(errors.is_empty());
    assert_eq!(live.version("v1", "Pod", "a", "p"), Some(("u", Some(100))));
}

#[test]
fn the_world_is_the_same_one_until_something_changes() {
    let mut live = Live::default();
    live.apply(&pod("p", "u", 1, "n")).unwrap();
    let first = live.world().0;
    assert!(Arc::ptr_eq(&first, &live.world().0));
    assert_eq!(live.apply(&pod("p", "u", 2, "n")), Ok(true));
    assert!(Arc::ptr_eq(&first, &live.world().0), "only the version of a pod is new");
    live.apply(&pod("q", "v", 3, "n")).unwrap();
    assert!(!Arc::ptr_eq(&first, &live.world().0));
}

#[test]
fn what_was_deleted_does_not_come_back() {
    let mut live = Live::default();
    live.apply(&pod("p", "old", 5, "n")).unwrap();
    assert!(live.remove("v1", "Pod", "a", "p", "old", "8"));
    assert_eq!(live.apply(&pod("p", "old", 7, "n")), Ok(false), "an answer that was late");
    assert_eq!(live.apply(&pod("p", "new", 9, "n")), Ok(true));
    assert!(!live.remove("v1", "Pod", "a", "p", "old", "8"), "it is another pod that has the name now");
    assert_eq!(names(&mut live), ["a/p"]);
    assert!(live.remove("v1", "Pod", "a", "p", "new", ""));
    assert!(!live.remove("v1", "Pod", "a", "p", "new", ""));
    assert_eq!(live.apply(&pod("p", "new", 9, "n")), Ok(false), "without a version that of what was held counts");
    assert!(names(&mut live).is_empty());
    assert!(live.remove("v1", "Pod", "a", "q", "u", "4") || live.apply(&pod("q", "u", 3, "n")) == Ok(false));
}

#[test]
fn an_unreadable_object_is_left_out_and_named() {
    let mut live = Live::default();
    live.apply(&pod("good", "g", 1, "n")).unwrap();
    live.apply(&pod("p", "u", 1, "n")).unwrap();
    let mut bad = pod("p", "u", 2, "n");
    bad["spec"]["containers"][0]["ports"] = json!("none");
    let refused = live.apply(&bad).unwrap_err();
    assert!(refused.to_string().starts_with("API server: Pod a/p: spec.containers"), "{refused}");
    let mut wrong = pod("q", "w", 2, "m");
    wrong["spec"]["tolerations"] = json!([{"operator": "Near"}]);
    assert_eq!(live.apply(&wrong), Ok(true), "what is wrong shows when the pod is completed");
    let (world, errors) = live.world();
    assert_eq!(world.pods.len(), 1);
    assert_eq!(errors.len(), 3, "{errors:?}");
    let unread: Vec<_> = world.unread.iter().map(|u| (u.name.as_str(), u.node_name.as_deref())).collect();
    assert_eq!(unread, [("q", Some("m")), ("p", Some("n"))]);
    assert_eq!(
        live.held("v1", "Pod").map(|h| (h.name, h.uid)).collect::<Vec<_>>(),
        [("good", "g"), ("p", "u"), ("q", "w")]
    );
    live.apply(&pod("p", "u", 3, "n")).unwrap();
    live.apply(&pod("q", "w", 3, "n")).unwrap();
    assert!(live.world().1.is_empty());
    assert_eq!(live.world().0.pods.len(), 3);
}

#[test]
fn a_pool_that_validation_refuses_stays_and_nothing_is_bought_for_it() {
    let mut live = Live::default();
    let pool = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "p"}, "spec": {
        "template": {"spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c"},
            "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["foo"]}]}}}});
    assert_eq!(live.apply(&pool), Ok(true));
    let world = live.world().0;
    assert_eq!(world.node_pools[0].faults.len(), 1, "{:?}", world.node_pools[0].faults);
}

#[test]
fn defaults_follow_the_classes() {
    let mut live = Live::default();
    let class = |value: i32, version: &str| {
        json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": value,
            "metadata": {"name": "high", "resourceVersion": version}})
    };
    let mut high = pod("p", "u", 1, "");
    high["spec"]["priorityClassName"] = json!("high");
    live.apply(&class(7, "1")).unwrap();
    live.apply(&high).unwrap();
    assert_eq!(live.world().0.pods[0].spec.priority, Some(7));
    live.apply(&class(8, "2")).unwrap();
    assert_eq!(live.world().0.pods[0].spec.priority, Some(8));
    assert_eq!(live.apply(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}})), Ok(false));
}

#[test]
fn workloads_without_pods_make_none_in_a_live_cluster() {
    let mut live = Live::default();
    live.apply(&json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "a"},
        "spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "c"}]}}}}))
        .unwrap();
    assert!(names(&mut live).is_empty());
    assert_eq!(live.world().0.workloads.len(), 1);
}
