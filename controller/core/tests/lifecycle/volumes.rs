//! LIF-067 to LIF-069.

use serde_json::{Value, json};

use crate::objects::{pod, ready, with};
use crate::stage::Stage;

fn attachment(name: &str, volume: Option<&str>) -> Value {
    json!({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": name},
        "spec": {"nodeName": "n", "attacher": "ebs.csi.aws.com", "source": {"persistentVolumeName": volume}}})
}

fn claimed(name: &str, patch: Value) -> [Value; 2] {
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": format!("{name}-claim"), "namespace": "a"},
        "spec": {"volumeName": format!("pv-{name}")}, "status": {"phase": "Bound"}});
    let volume = json!({"name": "v", "persistentVolumeClaim": {"claimName": format!("{name}-claim")}});
    [with(with(pod(name, "n"), json!({"spec": {"volumes": [volume]}})), patch), claim]
}

fn draining(grace: Option<&str>, objects: Vec<Value>) -> Stage {
    let mut stage = ready(grace.map_or(json!({}), |g| json!({"spec": {"terminationGracePeriod": g}})));
    objects.into_iter().for_each(|o| stage.put(o));
    stage.settle();
    stage.delete("NodeClaim", "c");
    stage
}

#[test]
fn lif_067_the_volume_of_an_evicted_pod_is_waited_for() {
    let [pod, claim] = claimed("web", json!({}));
    let mut stage = draining(None, vec![pod, claim, attachment("va", Some("pv-web"))]);
    stage.pass(60);
    stage.claim_says("Drained", "True", "Drained");
    stage.claim_says("VolumesDetached", "Unknown", "AwaitingVolumeDetachment");
    assert!(stage.events("AwaitingVolumeDetachment").iter().any(|e| e.about.name == "n" && e.message.contains("va")));
    assert_eq!(stage.terminations(), 0);
    stage.server.lose("VolumeAttachment", "va");
    stage.pass(6);
    assert!(!stage.has("Node", "n"));
}

#[test]
fn lif_068_volumes_of_pods_that_stay_are_not() {
    let [tolerating, one] = claimed("stays", json!({"spec": {"tolerations": [{"operator": "Exists"}]}}));
    let owner = json!([{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "n", "controller": true}]);
    let [mirror, two] = claimed("mirror", json!({"metadata": {"ownerReferences": owner}}));
    let objects = vec![
        tolerating,
        one,
        mirror,
        two,
        attachment("a", Some("pv-stays")),
        attachment("b", Some("pv-mirror")),
        attachment("c", None),
    ];
    let mut stage = draining(None, objects);
    stage.pass(12);
    assert!(!stage.has("Node", "n"));
    assert!(stage.events("AwaitingVolumeDetachment").is_empty());
}

#[test]
fn lif_069_the_deadline_ends_the_wait() {
    let [pod, claim] = claimed("web", json!({}));
    let mut stage = draining(Some("2m"), vec![pod, claim, attachment("va", Some("pv-web"))]);
    stage.provider.ends_after = jiff::SignedDuration::from_secs(3);
    stage.pass(119);
    assert_eq!(stage.terminations(), 0);
    stage.pass(2);
    stage.claim_says("VolumesDetached", "False", "TerminationGracePeriodElapsed");
    assert!(stage.terminations() > 0);
    stage.pass(12);
    assert!(!stage.has("Node", "n"));
}
