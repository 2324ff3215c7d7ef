//! Prometheus metrics, under Karpenter's names.

mod gauges;
mod names;
pub mod pods;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

pub use gauges::Snapshot;
pub use pods::PodTimes;

/// Names and values, in order.
pub type Labels = Vec<(String, String)>;

/// Everything that is measured. Copies share it.
#[derive(Clone, Default)]
pub struct Metrics {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    registry: Registry,
    counters: BTreeMap<String, Family<Labels, Counter>>,
    gauges: BTreeMap<String, Family<Labels, Gauge<f64, AtomicU64>>>,
    histograms: BTreeMap<String, Family<Labels, Histogram, Buckets>>,
}

/// Makes histograms with the buckets of their kind.
#[derive(Clone, Copy)]
struct Buckets(&'static [f64]);

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

/// Seconds, for most durations.
const DURATIONS: [f64; 45] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5,
    1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 120.0,
    150.0, 300.0, 450.0, 600.0,
];
/// Seconds, for calls.
const CALLS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// Seconds, for conditions.
const CONDITIONS: [f64; 15] =
    [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0];
/// Seconds, for the end of claims.
const ENDS: [f64; 12] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0];
/// Seconds, for the life of nodes: a quarter of an hour to 30 days.
const LIVES: [f64; 21] = [
    900.0,
    1800.0,
    2700.0,
    3600.0,
    7200.0,
    14_400.0,
    21_600.0,
    28_800.0,
    36_000.0,
    43_200.0,
    57_600.0,
    72_000.0,
    86_400.0,
    172_800.0,
    259_200.0,
    432_000.0,
    864_000.0,
    1_296_000.0,
    1_728_000.0,
    2_160_000.0,
    2_592_000.0,
];

fn buckets(name: &str) -> &'static [f64] {
    match name {
        "cloudprovider_duration_seconds" => &CALLS,
        "nodeclaims_termination_duration_seconds" => &ENDS,
        "nodes_lifetime_duration_seconds" => &LIVES,
        _ if name.starts_with("operator_") => &CONDITIONS,
        _ => &DURATIONS,
    }
}

impl Metrics {
    /// With the version that runs.
    pub fn new(version: &str) -> Self {
        let metrics = Self::default();
        let labels = [("version", version), ("goversion", ""), ("goarch", std::env::consts::ARCH), ("commit", "")];
        metrics.set("build_info", &labels, 1.0);
        for kind in ["multi", "single"] {
            let labels = [("consolidation_type", kind)];
            metrics.add("voluntary_disruption_consolidation_timeouts_total", &labels, 0);
        }
        metrics
    }

    /// Counts one. Names come without `karpenter_` or `millwright_`.
    pub fn count(&self, name: &str, labels: &[(&str, &str)]) {
        self.add(name, labels, 1);
    }

    fn add(&self, name: &str, labels: &[(&str, &str)], amount: u64) {
        let inner = &mut *self.lock();
        let family = inner.counters.entry(name.to_owned()).or_insert_with(|| {
            let family = Family::default();
            // The encoder adds the ending itself.
            let stem = names::full(name).trim_end_matches("_total").to_owned();
            inner.registry.register(stem, names::text(name), family.clone());
            family
        });
        family.get_or_create(&owned(labels)).inc_by(amount);
    }

    /// Sets one gauge.
    pub fn set(&self, name: &str, labels: &[(&str, &str)], value: f64) {
        let inner = &mut *self.lock();
        inner.gauge(name).get_or_create(&owned(labels)).set(value);
    }

    /// Sets all gauges of a name: those not given vanish.
    pub fn set_all(&self, name: &str, values: Vec<(Labels, f64)>) {
        let inner = &mut *self.lock();
        let family = inner.gauge(name);
        family.clear();
        for (labels, value) in values {
            family.get_or_create(&labels).set(value);
        }
    }

    /// Takes a duration into a histogram.
    pub fn observe(&self, name: &str, labels: &[(&str, &str)], took: Duration) {
        let inner = &mut *self.lock();
        let family = inner.histograms.entry(name.to_owned()).or_insert_with(|| {
            let family = Family::new_with_constructor(Buckets(buckets(name)));
            inner.registry.register(names::full(name), names::text(name), family.clone());
            family
        });
        family.get_or_create(&owned(labels)).observe(took.as_secs_f64());
    }

    /// Everything, as Prometheus reads it.
    pub fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.lock().registry)?;
        Ok(text)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Families stand for themselves: a panic elsewhere cannot have broken them.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn gauge(&mut self, name: &str) -> &Family<Labels, Gauge<f64, AtomicU64>> {
        let registry = &mut self.registry;
        self.gauges.entry(name.to_owned()).or_insert_with(|| {
            let family = Family::default();
            registry.register(names::full(name), names::text(name), family.clone());
            family
        })
    }
}

fn owned(labels: &[(&str, &str)]) -> Labels {
    labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_dashboards_ask_for() {
        let metrics = Metrics::new("1.2.3");
        let created = [("reason", "provisioned"), ("nodepool", "default"), ("min_values_relaxed", "false")];
        metrics.count("nodeclaims_created_total", &created);
        metrics.count("nodeclaims_created_total", &created);
        metrics.observe("cloudprovider_duration_seconds", &[("method", "Create")], Duration::from_millis(20));
        metrics.set("cluster_state_synced", &[], 1.0);
        metrics.set("millwright_decision_gap_ratio", &[], 0.004);
        let text = metrics.text().unwrap();
        for line in [
            r#"karpenter_nodeclaims_created_total{reason="provisioned",nodepool="default",min_values_relaxed="false"} 2"#,
            r#"karpenter_cloudprovider_duration_seconds_bucket{le="0.025",method="Create"} 1"#,
            "karpenter_cluster_state_synced 1.0",
            "millwright_decision_gap_ratio 0.004",
            r#"karpenter_voluntary_disruption_consolidation_timeouts_total{consolidation_type="multi"} 0"#,
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
        }
        assert!(text.contains("# TYPE karpenter_nodeclaims_created counter"), "{text}");
    }

    #[test]
    fn gauges_that_are_not_given_again_vanish() {
        let metrics = Metrics::default();
        let at = |pool: &str| vec![("nodepool".to_owned(), pool.to_owned())];
        metrics.set_all("nodepools_usage", vec![(at("a"), 1.0), (at("b"), 2.0)]);
        metrics.set_all("nodepools_usage", vec![(at("b"), 3.0)]);
        let text = metrics.text().unwrap();
        assert!(!text.contains(r#"nodepool="a""#) && text.contains(r#"nodepool="b"} 3.0"#), "{text}");
    }
}
