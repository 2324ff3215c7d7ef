//! Names of metrics, and what each tells.

/// Names that dashboards and alerts for Karpenter ask for, without the
/// `karpenter_` that begins them. (10-api §15)
const KARPENTER: [&str; 66] = [
    "build_info",
    "cloudprovider_duration_seconds",
    "cloudprovider_errors_total",
    "cluster_state_node_count",
    "cluster_state_synced",
    "cluster_state_unsynced_time_seconds",
    "cluster_utilization_percent",
    "consolidation_moves_total",
    "consolidation_score",
    "nodeclaims_created_total",
    "nodeclaims_disrupted_total",
    "nodeclaims_instance_termination_duration_seconds",
    "nodeclaims_terminated_total",
    "nodeclaims_termination_duration_seconds",
    "nodeclaims_unhealthy_disrupted_total",
    "nodepools_allowed_disruptions",
    "nodepools_cost_total",
    "nodepools_cost_tracker_errors_total",
    "nodepools_limit",
    "nodepools_nodes_consuming_budgets",
    "nodepools_usage",
    "nodes_allocatable",
    "nodes_created_total",
    "nodes_current_lifetime_seconds",
    "nodes_drained_total",
    "nodes_lifetime_duration_seconds",
    "nodes_reboot_duration_seconds",
    "nodes_reboot_recovery_duration_seconds",
    "nodes_reboots_total",
    "nodes_system_overhead",
    "nodes_terminated_total",
    "nodes_termination_duration_seconds",
    "nodes_total_daemon_limits",
    "nodes_total_daemon_requests",
    "nodes_total_pod_limits",
    "nodes_total_pod_requests",
    "pod_deletion_cost_nodes_with_pending_annotation_writes",
    "pod_deletion_cost_pod_annotation_writes_total",
    "pods_bound_duration_seconds",
    "pods_disruption_initiated_total",
    "pods_drained_total",
    "pods_eviction_requests_total",
    "pods_provisioning_bound_duration_seconds",
    "pods_provisioning_scheduling_undecided_time_seconds",
    "pods_provisioning_startup_duration_seconds",
    "pods_provisioning_unbound_time_seconds",
    "pods_provisioning_unstarted_time_seconds",
    "pods_scheduling_decision_duration_seconds",
    "pods_startup_duration_seconds",
    "pods_state",
    "pods_unbound_time_seconds",
    "pods_unstarted_time_seconds",
    "scheduler_ignored_pods_count",
    "scheduler_pending_pods_by_effective_zone_count",
    "scheduler_queue_depth",
    "scheduler_scheduling_duration_seconds",
    "scheduler_unfinished_work_seconds",
    "scheduler_unschedulable_pods_count",
    "voluntary_disruption_consolidation_timeouts_total",
    "voluntary_disruption_decision_evaluation_duration_seconds",
    "voluntary_disruption_decisions_by_nodepool_total",
    "voluntary_disruption_decisions_total",
    "voluntary_disruption_eligible_nodes",
    "voluntary_disruption_failed_validations_total",
    "voluntary_disruption_queue_failures_total",
    "voluntary_disruption_terminate_first_decisions_total",
];

/// Families that stand for themselves.
const WHOLE: [&str; 4] = ["millwright_", "client_go_", "operator_", "leader_election_"];

/// The name as it is scraped: what Karpenter does not have is ours.
pub fn full(name: &str) -> String {
    if WHOLE.iter().any(|p| name.starts_with(p)) {
        name.to_owned()
    } else if KARPENTER.binary_search(&name).is_ok() {
        format!("karpenter_{name}")
    } else {
        format!("millwright_{name}")
    }
}

const TEXTS: [(&str, &str); 37] = [
    ("build_info", "Always 1; the labels tell what runs"),
    ("cloudprovider_duration_seconds", "Length of calls of the provider"),
    ("cloudprovider_errors_total", "Calls of the provider that failed"),
    ("cluster_state_node_count", "Nodes that are known"),
    ("cluster_state_synced", "Whether everything that is watched has been listed"),
    ("cluster_state_unsynced_time_seconds", "How long it has not been"),
    ("cluster_utilization_percent", "What pods request of what nodes can give"),
    ("millwright_decision_bound_dollars_per_hour", "Proven: no plan of the same scope costs less"),
    ("millwright_decision_cost_dollars_per_hour", "Price of what the last decision of a kind came to"),
    ("millwright_decision_gap_ratio", "Distance of the last decision of a kind from its proven bound"),
    ("millwright_decision_seconds", "Length of decisions"),
    ("millwright_decisions_total", "Decisions by kind and by the engine that found them"),
    ("millwright_disruption_price_dollars_per_hour", "What an eviction and a removed node must each save"),
    ("millwright_look_seconds", "Length of looks at the cluster"),
    ("millwright_requests_total", "Requests that were carried out, by what became of them"),
    ("millwright_unreadable_objects", "Objects that cannot be taken as written"),
    ("nodeclaims_created_total", "NodeClaims created"),
    ("nodeclaims_disrupted_total", "NodeClaims whose deletion the controller began"),
    ("nodeclaims_terminated_total", "NodeClaims whose machine is gone"),
    ("nodepools_limit", "Limits of NodePools"),
    ("nodepools_usage", "What the nodes of NodePools have together"),
    ("nodes_allocatable", "What pods can use of a node"),
    ("nodes_created_total", "Nodes that have registered"),
    ("nodes_current_lifetime_seconds", "Age of a node"),
    ("nodes_system_overhead", "What the system keeps of a node"),
    ("nodes_terminated_total", "Nodes that are gone"),
    ("nodes_total_daemon_requests", "What the DaemonSet pods of a node request"),
    ("nodes_total_pod_requests", "What the pods of a node request, DaemonSet pods aside"),
    ("pods_bound_duration_seconds", "From the creation of a pod until it has a node"),
    ("pods_drained_total", "Pods that left a draining node"),
    ("pods_eviction_requests_total", "Evictions asked for, by HTTP code"),
    ("pods_startup_duration_seconds", "From the creation of a pod until it runs"),
    ("pods_state", "Always 1; the labels tell where a pod is and how it does"),
    ("pods_unbound_time_seconds", "Age of pods without a node"),
    ("pods_unstarted_time_seconds", "Age of pods that do not run"),
    ("scheduler_scheduling_duration_seconds", "Length of a provisioning pass"),
    ("scheduler_unschedulable_pods_count", "Pods that the last pass found no place for"),
];

/// The text of a metric; its own name where there is none.
pub fn text(name: &str) -> String {
    let place = TEXTS.binary_search_by_key(&name, |(n, _)| n);
    place.map_or_else(|_| name.replace('_', " "), |i| TEXTS[i].1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts() {
        assert!(TEXTS.is_sorted_by_key(|(name, _)| name) && KARPENTER.is_sorted());
        assert_eq!(full("nodes_created_total"), "karpenter_nodes_created_total");
        assert_eq!(full("bindings_total"), "millwright_bindings_total");
        assert_eq!(full("millwright_look_seconds"), "millwright_look_seconds");
        assert_eq!(text("nodepools_limit"), "Limits of NodePools");
        assert_eq!(text("x_y"), "x y");
    }
}
