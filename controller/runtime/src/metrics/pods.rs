//! How long pods wait for a place, and until they run. (10-api §15)

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use millwright_models::kube::pod::{Phase, Pod};
use millwright_models::world::World;

use super::{Labels, Metrics};

/// Follows each pod from its creation until it runs.
#[derive(Debug, Default)]
pub struct PodTimes {
    /// By uid. What pods had reached before the first look is not measured.
    seen: Option<HashMap<String, Reached>>,
}

/// What a pod has reached, at the last look.
#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    bound: bool,
    started: bool,
}

impl Reached {
    fn of(pod: &Pod) -> Self {
        let started = !matches!(pod.phase, Phase::Pending | Phase::Unknown);
        Self { bound: pod.node_name.is_some(), started }
    }
}

impl PodTimes {
    /// Takes a snapshot in: what pods have reached since the last one.
    pub fn look(&mut self, world: &World, now: Timestamp, metrics: &Metrics) {
        let before = self.seen.take();
        let mut seen = HashMap::with_capacity(world.pods.len());
        for pod in &world.pods {
            let reached = Reached::of(pod);
            if let (Some(before), Some(born)) = (&before, pod.created) {
                let last = before.get(&pod.uid).copied().unwrap_or_default();
                let took = Duration::try_from(now.duration_since(born)).unwrap_or_default();
                if reached.bound && !last.bound {
                    let labels = [("dynamic_resources", has_claims(pod))];
                    metrics.observe("pods_bound_duration_seconds", &labels, took);
                }
                if reached.started && !last.started {
                    metrics.observe("pods_startup_duration_seconds", &[], took);
                }
            }
            seen.insert(pod.uid.clone(), reached);
        }
        self.seen = Some(seen);
    }
}

/// Sets the age of pods that have no place yet, or do not run yet.
pub fn publish(world: &World, now: Timestamp, metrics: &Metrics) {
    let [mut unbound, mut unstarted] = [const { Vec::<(Labels, f64)>::new() }; 2];
    for pod in world.pods.iter().filter(|p| !p.is_terminal() && p.deleted.is_none()) {
        let Some(age) = pod.created.map(|born| now.duration_since(born).as_secs_f64().max(0.0)) else { continue };
        let reached = Reached::of(pod);
        let labels = [("name", pod.name.as_str()), ("namespace", pod.namespace.as_str())];
        if !reached.bound {
            let more = [labels[0], labels[1], ("dynamic_resources", has_claims(pod))];
            unbound.push((super::owned(&more), age));
        }
        if !reached.started {
            unstarted.push((super::owned(&labels), age));
        }
    }
    metrics.set_all("pods_unbound_time_seconds", unbound);
    metrics.set_all("pods_unstarted_time_seconds", unstarted);
}

fn has_claims(pod: &Pod) -> &'static str {
    if pod.spec.resource_claims.is_empty() { "false" } else { "true" }
}

#[cfg(test)]
mod tests {
    use millwright_models::reader::live::Live;
    use serde_json::json;

    use super::*;

    fn pod(name: &str, version: u32, node: Option<&str>, phase: &str) -> serde_json::Value {
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "a", "uid": name, "resourceVersion": version.to_string(),
                "creationTimestamp": "2026-11-30T12:00:00Z"},
            "spec": {"nodeName": node, "containers": [{"name": "c"}]}, "status": {"phase": phase}})
    }

    #[test]
    fn pods_are_measured_once_from_their_creation() {
        let (mut live, mut times, metrics) = (Live::default(), PodTimes::default(), Metrics::new("1"));
        let mut step = |objects: &[serde_json::Value], at: &str| {
            objects.iter().for_each(|o| assert!(live.apply(o).unwrap()));
            let (world, now) = (live.world().0, at.parse().unwrap());
            times.look(&world, now, &metrics);
            publish(&world, now, &metrics);
            metrics.text().unwrap()
        };
        let first = step(&[pod("old", 1, Some("n"), "Running")], "2026-11-30T12:00:10Z");
        assert!(!first.contains("pods_bound_duration_seconds"), "what was so before is not measured");
        let waits = step(&[pod("new", 2, None, "Pending")], "2026-11-30T12:00:12Z");
        let gauge = "karpenter_pods_unbound_time_seconds{name=\"new\",namespace=\"a\",dynamic_resources=\"false\"} 12";
        assert!(waits.contains(gauge), "{waits}");
        step(&[pod("new", 3, Some("n"), "Pending")], "2026-11-30T12:00:20Z");
        let runs = step(&[pod("new", 4, Some("n"), "Running")], "2026-11-30T12:00:25Z");
        assert!(runs.contains("karpenter_pods_bound_duration_seconds_sum{dynamic_resources=\"false\"} 20"), "{runs}");
        assert!(runs.contains("karpenter_pods_startup_duration_seconds_sum 25"), "{runs}");
        let again = step(&[], "2026-11-30T12:01:00Z");
        assert!(again.contains("karpenter_pods_startup_duration_seconds_count 1"), "{again}");
        assert!(!again.contains("pods_unbound_time_seconds{"), "{again}");
    }
}
