//! Which pods a live pass is for. (spec 20 §2.1)

use millwright_models::kube::pod::Pod;

/// Whether a pod waits for a node that somebody must provide: the scheduler
/// has tried and failed. (Offline, a pod that is not bound is enough.)
pub fn is_provisionable(pod: &Pod) -> bool {
    let failed = pod.conditions.iter().any(|c| c.kind == "PodScheduled" && c.reason == "Unschedulable");
    let nominated = pod.nominated_node.as_ref().is_some_and(|n| !n.is_empty());
    failed && !nominated && pod.node_name.is_none() && !pod.is_daemon() && !pod.is_static
}

#[cfg(test)]
mod tests {
    use super::*;
    use millwright_models::reader::{Document, ReadOptions, read};

    fn pod(fields: &str) -> Pod {
        let text = format!("{{apiVersion: v1, kind: Pod, {fields}}}");
        let document = Document { file: "pod".to_owned(), text };
        let mut world = read(&[document], &ReadOptions { default_pools: false }).unwrap();
        world.pods.remove(0)
    }

    const NAME: &str = "metadata: {name: p}, spec: {containers: [{name: c}]}";
    const FAILED: &str = "status: {conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}";

    #[test]
    fn a_pod_that_the_scheduler_gave_up_on() {
        assert!(is_provisionable(&pod(&format!("{NAME}, {FAILED}"))));
        assert!(!is_provisionable(&pod(NAME)), "not tried yet");
    }

    #[test]
    fn sch_011_sch_012_other_reasons_do_not_count() {
        for reason in ["SchedulingGated", "Elsewhere"] {
            let status = FAILED.replace("Unschedulable", reason);
            assert!(!is_provisionable(&pod(&format!("{NAME}, {status}"))), "{reason}");
        }
    }

    #[test]
    fn sch_013_nominated_pods_have_a_node() {
        let status = FAILED.replace("{conditions", "{nominatedNodeName: n, conditions");
        assert!(!is_provisionable(&pod(&format!("{NAME}, {status}"))));
    }

    #[test]
    fn sch_014_sch_015_pods_of_daemon_sets_and_kubelets() {
        for (version, kind) in [("apps/v1", "DaemonSet"), ("v1", "Node")] {
            let owner = format!("{{apiVersion: {version}, kind: {kind}, name: o, uid: u, controller: true}}");
            let named = NAME.replace("{name: p}", &format!("{{name: p, ownerReferences: [{owner}]}}"));
            assert!(!is_provisionable(&pod(&format!("{named}, {FAILED}"))), "{kind}");
        }
    }

    #[test]
    fn sch_016_the_scheduler_may_be_any() {
        let named = NAME.replace("{containers", "{schedulerName: other, containers");
        assert!(is_provisionable(&pod(&format!("{named}, {FAILED}"))));
    }
}
