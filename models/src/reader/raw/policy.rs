//! PodDisruptionBudgets, PriorityClasses, RuntimeClasses, LimitRanges,
//! Namespaces, Services.

use serde::Deserialize;

use super::{Quantities, requested, settle};
use crate::faults::Faults;
use crate::kube;
use crate::kube::meta::{Labels, Meta};
use crate::kube::pod::RawQuantity;
use crate::kube::policy::{Namespace, PodDisruptionBudget, PriorityClass, Service};
use crate::kube::selector::LabelSelector;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawBudget {
    metadata: Meta,
    spec: BudgetSpec,
    status: Option<BudgetStatus>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct BudgetSpec {
    selector: Option<LabelSelector>,
    min_available: Option<RawQuantity>,
    max_unavailable: Option<RawQuantity>,
    unhealthy_pod_eviction_policy: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct BudgetStatus {
    disruptions_allowed: Option<i64>,
}

impl RawBudget {
    pub fn keep(self, faults: &mut Faults) -> PodDisruptionBudget {
        let Self { metadata: mut meta, spec, status } = self;
        settle(&mut meta, true, faults);
        let policy = spec.unhealthy_pod_eviction_policy.unwrap_or_default();
        if !matches!(policy.as_str(), "" | "IfHealthyBudget" | "AlwaysAllow") {
            faults.add(
                "spec.unhealthyPodEvictionPolicy",
                format!("{policy:?} is neither IfHealthyBudget nor AlwaysAllow"),
            );
        }
        if spec.min_available.is_some() && spec.max_unavailable.is_some() {
            faults.add("spec", "minAvailable and maxUnavailable exclude each other");
        }
        if let Some(selector) = &spec.selector {
            kube::validate::label_selector(selector, "spec.selector", faults);
        }
        let mut bound = |quantity: Option<RawQuantity>, field: &str| {
            let text = quantity?.0;
            let number = text.strip_suffix('%').unwrap_or(&text);
            let fits = number.parse::<u32>().is_ok_and(|n| !text.ends_with('%') || n <= 100);
            if !fits || !number.bytes().all(|b| b.is_ascii_digit()) {
                faults.add(field, format!("{text:?} is neither a number of pods nor a percentage up to 100%"));
            }
            Some(text)
        };
        PodDisruptionBudget {
            min_available: bound(spec.min_available, "spec.minAvailable"),
            max_unavailable: bound(spec.max_unavailable, "spec.maxUnavailable"),
            meta,
            selector: spec.selector,
            disruptions_allowed: status.and_then(|s| s.disruptions_allowed),
            always_allow_unhealthy: policy == "AlwaysAllow",
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in super::super) struct RawPriority {
    metadata: Meta,
    value: i32,
    global_default: bool,
}

impl RawPriority {
    pub fn keep(self, faults: &mut Faults) -> PriorityClass {
        let Self { metadata: mut meta, value, global_default } = self;
        settle(&mut meta, false, faults);
        PriorityClass { meta, value, global_default }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawRuntime {
    metadata: Meta,
    overhead: Overhead,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Overhead {
    pod_fixed: Quantities,
}

/// A RuntimeClass.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct RuntimeClass {
    pub meta: Meta,
    pub overhead: Quantities,
}

impl RawRuntime {
    pub fn keep(self, faults: &mut Faults) -> RuntimeClass {
        let Self { metadata: mut meta, overhead } = self;
        settle(&mut meta, false, faults);
        requested(&overhead.pod_fixed, "overhead.podFixed", faults);
        RuntimeClass { meta, overhead: overhead.pod_fixed }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawLimitRange {
    metadata: Meta,
    spec: LimitSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LimitSpec {
    limits: Vec<LimitItem>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LimitItem {
    #[serde(rename = "type")]
    kind: String,
    default: Quantities,
    default_request: Quantities,
    max: Quantities,
    min: Quantities,
}

/// What a LimitRange gives containers that ask for nothing.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct LimitRange {
    pub meta: Meta,
    pub limits: Quantities,
    pub requests: Quantities,
}

impl RawLimitRange {
    pub fn keep(self, faults: &mut Faults) -> LimitRange {
        let Self { metadata: mut meta, spec } = self;
        settle(&mut meta, true, faults);
        let mut range = LimitRange { meta, limits: Quantities::new(), requests: Quantities::new() };
        for (i, item) in spec.limits.into_iter().enumerate() {
            for (map, name) in [
                (&item.default, "default"),
                (&item.default_request, "defaultRequest"),
                (&item.max, "max"),
                (&item.min, "min"),
            ] {
                requested(map, &format!("spec.limits[{i}].{name}"), faults);
            }
            if item.kind != "Container" {
                continue;
            }
            // A missing default is the maximum, a missing request the default,
            // else the minimum.
            let fill = |into: &mut Quantities, from: &Quantities| {
                for (name, quantity) in from {
                    into.entry(name.clone()).or_insert_with(|| quantity.clone());
                }
            };
            let (mut limits, mut requests) = (item.default, item.default_request);
            fill(&mut limits, &item.max);
            fill(&mut requests, &limits);
            fill(&mut requests, &item.min);
            fill(&mut range.limits, &limits);
            fill(&mut range.requests, &requests);
        }
        range
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawNamespace {
    metadata: Meta,
}

impl RawNamespace {
    pub fn keep(self, faults: &mut Faults) -> Namespace {
        let mut meta = self.metadata;
        settle(&mut meta, false, faults);
        // Set by the API server on every namespace.
        meta.labels.insert("kubernetes.io/metadata.name".to_owned(), meta.name.clone());
        Namespace { meta }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawService {
    metadata: Meta,
    spec: ServiceSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ServiceSpec {
    selector: Option<Labels>,
}

impl RawService {
    pub fn keep(self, faults: &mut Faults) -> Service {
        let Self { metadata: mut meta, spec } = self;
        settle(&mut meta, true, faults);
        Service { meta, selector: spec.selector }
    }
}
