use jiff::SignedDuration;
use serde_json::{Value, json};

use super::*;

fn at(seconds: i64) -> jiff::Timestamp {
    jiff::Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

fn claim(name: &str) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": name},
        "spec": {"nodeClassRef": {"group": "g", "kind": "k", "name": "n"}}, "status": {"providerID": "x"},
    })
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c"}]},
    })
}

fn running(server: &mut Server, name: &str) -> (Key, String) {
    let made = server.create(pod(name), at(0)).unwrap();
    let key = Key::pod("default", name);
    server.bind(&key, json::uid(&made), "n", at(0)).unwrap();
    let ready = json!([{"type": "Ready", "status": "True"}]);
    server.patch(&key, true, &json!({"status": {"phase": "Running", "conditions": ready}})).unwrap();
    (key, json::uid(&made).to_owned())
}

fn budget(server: &mut Server, name: &str, allowed: i64) -> Key {
    let object = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "a"}}},
    });
    server.create(object, at(0)).unwrap();
    let key = Key::new(Kind::Budget, "default", name);
    let status =
        json!({"disruptionsAllowed": allowed, "observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1});
    server.patch(&key, true, &json!({"status": status})).unwrap();
    key
}

#[test]
fn a_new_object_gets_identity_and_loses_its_status() {
    let mut server = Server::default();
    let made = server.create(claim("a"), at(1)).unwrap();
    assert_eq!(made["metadata"]["generation"], 1);
    assert_eq!(made["metadata"]["creationTimestamp"], "1970-01-01T00:00:01Z");
    assert_eq!(made.get("status"), None);
    assert!(matches!(server.create(claim("a"), at(2)), Err(Denial::Conflict(_))));
    let mut generated = claim("");
    generated["metadata"] = json!({"generateName": "pool-"});
    let (one, two) = (server.create(generated.clone(), at(2)).unwrap(), server.create(generated, at(2)).unwrap());
    assert!(json::name(&one).starts_with("pool-") && json::name(&one) != json::name(&two));
    assert!(
        json::uid(&one) != json::uid(&two) && one["metadata"]["resourceVersion"] != two["metadata"]["resourceVersion"]
    );
}

#[test]
fn a_patch_holds_for_its_version_only_and_an_empty_one_changes_nothing() {
    let mut server = Server::default();
    let key = Key::claim("a");
    let first = server.create(claim("a"), at(0)).unwrap();
    let labelled = json!({"metadata": {"labels": {"x": "1"}, "resourceVersion": first["metadata"]["resourceVersion"]}});
    let second = server.patch(&key, false, &labelled).unwrap();
    assert_ne!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    assert_eq!(second["metadata"]["generation"], 1, "labels are no new generation");
    assert!(matches!(server.patch(&key, false, &labelled), Err(Denial::Conflict(_))));
    let again = server.patch(&key, false, &json!({"metadata": {"labels": {"x": "1"}}})).unwrap();
    assert_eq!(again["metadata"]["resourceVersion"], second["metadata"]["resourceVersion"]);
    assert_eq!(server.changes().len(), 2);
    assert_eq!(server.patch(&Key::claim("b"), false, &json!({})), Err(Denial::NotFound));
}

#[test]
fn status_and_the_rest_are_written_apart() {
    let mut server = Server::default();
    let key = Key::claim("a");
    server.create(claim("a"), at(0)).unwrap();
    let both = json!({"metadata": {"labels": {"x": "1"}}, "status": {"nodeName": "n"}});
    let main = server.patch(&key, false, &both).unwrap();
    assert_eq!((main.get("status"), json::label(&main, "x")), (None, Some("1")));
    let other = json!({"metadata": {"labels": {"x": "2"}}, "status": {"nodeName": "n"}});
    let status = server.patch(&key, true, &other).unwrap();
    assert_eq!((json::text(&status, &["status", "nodeName"]), json::label(&status, "x")), ("n", Some("1")));
    assert!(matches!(server.patch(&key, false, &json!({"spec": {"x": 1}})), Err(Denial::Invalid(_))));
    let bad = json!({"status": {"conditions": [{"type": "Launched", "status": "True"}]}});
    assert!(matches!(server.patch(&key, true, &bad), Err(Denial::Invalid(_))), "conditions need a reason");
}

#[test]
fn finalizers_hold_a_deleted_object_and_none_may_be_added() {
    let mut server = Server::default();
    let key = Key::claim("a");
    let mut object = claim("a");
    object["metadata"]["finalizers"] = json!(["f"]);
    let made = server.create(object, at(0)).unwrap();
    assert!(matches!(server.delete(&key, "uid-other", None, at(5)), Err(Denial::Conflict(_))));
    server.delete(&key, json::uid(&made), None, at(5)).unwrap();
    let deleted = server.get(&key).unwrap().clone();
    assert_eq!(deleted["metadata"]["deletionTimestamp"], "1970-01-01T00:00:05Z");
    server.delete(&key, "", None, at(9)).unwrap();
    assert_eq!(server.get(&key).unwrap(), &deleted, "once is enough");
    let more = json!({"metadata": {"finalizers": ["f", "g"]}});
    assert!(matches!(server.patch(&key, false, &more), Err(Denial::Invalid(_))));
    server.patch(&key, false, &json!({"metadata": {"finalizers": null}})).unwrap();
    assert_eq!(server.get(&key), None);
    assert!(server.changes().last().unwrap().gone);
    assert_eq!(server.delete(&key, "", None, at(9)), Err(Denial::NotFound));
}

#[test]
fn running_pods_get_their_grace_and_it_only_becomes_shorter() {
    let mut server = Server::default();
    let (key, uid) = running(&mut server, "p");
    server.delete(&key, &uid, None, at(10)).unwrap();
    assert_eq!(server.get(&key).unwrap()["metadata"]["deletionTimestamp"], "1970-01-01T00:00:40Z");
    server.delete(&key, &uid, Some(60), at(11)).unwrap();
    assert_eq!(server.get(&key).unwrap()["metadata"]["deletionGracePeriodSeconds"], 30);
    server.delete(&key, &uid, Some(5), at(12)).unwrap();
    assert_eq!(server.get(&key).unwrap()["metadata"]["deletionTimestamp"], "1970-01-01T00:00:17Z");
    server.delete(&key, &uid, Some(0), at(13)).unwrap();
    assert_eq!(server.get(&key), None);
    server.create(pod("q"), at(0)).unwrap();
    server.delete(&Key::pod("default", "q"), "", None, at(0)).unwrap();
    assert_eq!(server.get(&Key::pod("default", "q")), None, "nobody has to stop a pod that is not bound");
}

#[test]
fn a_binding_counts_once_and_is_not_weighed() {
    let mut server = Server::default();
    let made = server.create(pod("p"), at(0)).unwrap();
    let key = Key::pod("default", "p");
    assert!(matches!(server.bind(&key, "uid-other", "n", at(0)), Err(Denial::Conflict(_))));
    server.bind(&key, json::uid(&made), "no-such-node", at(0)).unwrap();
    assert!(json::is_true(server.get(&key).unwrap(), "PodScheduled"));
    assert!(matches!(server.bind(&key, json::uid(&made), "n", at(0)), Err(Denial::Conflict(_))));
    server.delete(&key, "", None, at(0)).unwrap();
    assert!(matches!(server.bind(&key, "", "n", at(0)), Err(Denial::Conflict(_))));
    assert_eq!(server.bind(&Key::pod("default", "x"), "", "n", at(0)), Err(Denial::NotFound));
}

#[test]
fn evictions_are_charged_and_refused() {
    let mut server = Server::default();
    let (one, two) = (running(&mut server, "one"), running(&mut server, "two"));
    let key = budget(&mut server, "b", 1);
    server.evict(&one.0, &one.1, at(1)).unwrap();
    assert!(json::is_deleting(server.get(&one.0).unwrap()));
    let charged = server.get(&key).unwrap();
    assert_eq!(charged["status"]["disruptionsAllowed"], 0);
    assert_eq!(charged["status"]["disruptedPods"]["one"], "1970-01-01T00:00:01Z");
    assert!(matches!(server.evict(&two.0, &two.1, at(1)), Err(Denial::TooManyRequests(_))));
    server.evict(&one.0, &one.1, at(2)).unwrap();
    assert_eq!(server.evict(&two.0, "uid-other", at(1)).unwrap_err().to_string().split(':').next(), Some("conflict"));
    budget(&mut server, "c", 1);
    assert!(matches!(server.evict(&two.0, &two.1, at(1)), Err(Denial::Internal(_))));
    server.patch(&two.0, true, &json!({"status": {"phase": "Pending"}})).unwrap();
    server.evict(&two.0, &two.1, at(1)).unwrap();
}

#[test]
fn a_budget_that_was_not_counted_yet_lets_nothing_go() {
    let mut server = Server::default();
    let (pod, uid) = running(&mut server, "p");
    let key = budget(&mut server, "b", 1);
    server.patch(&key, false, &json!({"spec": {"maxUnavailable": 2}})).unwrap();
    assert!(matches!(server.evict(&pod, &uid, at(1)), Err(Denial::TooManyRequests(_))));
}

#[test]
fn unwell_pods_go_where_the_rest_is_well_enough() {
    let mut server = Server::default();
    let (pod, uid) = running(&mut server, "p");
    let key = budget(&mut server, "b", 0);
    server.patch(&pod, true, &json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}})).unwrap();
    server.patch(&key, true, &json!({"status": {"currentHealthy": 0}})).unwrap();
    assert!(matches!(server.evict(&pod, &uid, at(1)), Err(Denial::TooManyRequests(_))));
    server.patch(&key, false, &json!({"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}})).unwrap();
    server.evict(&pod, &uid, at(1)).unwrap();
}

#[test]
fn new_nodes_are_tainted_and_keep_their_status() {
    let mut server = Server::default();
    let node =
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": "1"}}});
    let made = server.create(node, at(0)).unwrap();
    assert_eq!(made["spec"]["taints"][0]["key"], "node.kubernetes.io/not-ready");
    assert_eq!(made["status"]["capacity"]["cpu"], "1");
}
