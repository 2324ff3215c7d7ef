//! What each metric tells.

const TEXTS: [(&str, &str); 33] = [
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
    ("pods_drained_total", "Pods that left a draining node"),
    ("pods_eviction_requests_total", "Evictions asked for, by HTTP code"),
    ("pods_state", "Always 1; the labels tell where a pod is and how it does"),
    ("scheduler_scheduling_duration_seconds", "Length of a provisioning pass"),
    ("scheduler_unschedulable_pods_count", "Pods that the last pass found no place for"),
];

/// The text of a metric; its own name where there is none.
pub fn of(name: &str) -> String {
    let place = TEXTS.binary_search_by_key(&name, |(n, _)| n);
    place.map_or_else(|_| name.replace('_', " "), |i| TEXTS[i].1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found() {
        assert!(TEXTS.is_sorted_by_key(|(name, _)| name));
        assert_eq!(of("nodepools_limit"), "Limits of NodePools");
        assert_eq!(of("x_y"), "x y");
    }
}
