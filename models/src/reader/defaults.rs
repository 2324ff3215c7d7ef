//! What the API server would have filled in, and requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use rustc_hash::FxHashMap;

use super::collector::Collector;
use super::intern::Interner;
use super::raw::Quantities;
use super::raw::policy::LimitRange;
use crate::faults::Faults;
use crate::kube::pod::{Container, PodSpec};
use crate::kube::policy::PriorityClass;
use crate::kube::requests::{Allocated, effective};
use crate::kube::validate;
use crate::resources::Resources;

/// A spec with defaults, and its requests.
pub(super) type Shape = (Arc<PodSpec>, Arc<Resources>);

/// Completes specs; pods of one spec share the work and the result.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    limit_ranges: BTreeMap<String, Vec<LimitRange>>,
    priorities: BTreeMap<String, i32>,
    global_priority: Option<i32>,
    overheads: BTreeMap<String, Quantities>,
    known: FxHashMap<Key, Result<Shape, Faults>>,
    /// Classes that specs name and the input lacks, with one pod that does.
    pub missing: BTreeMap<(&'static str, String), String>,
}

/// Address of the written spec (the interner keeps it alive), whether it is
/// bound, and the limit ranges that apply.
type Key = (usize, bool, Vec<(String, usize)>);

/// Which object a spec belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
    pub created: Option<Timestamp>,
    /// A bound pod runs as it is; only others are defaulted.
    pub bound: bool,
    pub allocated: &'a [Allocated],
}

impl Defaults {
    /// What the collected LimitRanges, PriorityClasses and RuntimeClasses say;
    /// lists sorted by name.
    pub fn of(collector: &Collector) -> Self {
        let mut defaults = Self::default();
        for range in &collector.limit_ranges {
            let range = range.value.clone();
            defaults.limit_ranges.entry(range.meta.namespace.clone()).or_default().push(range);
        }
        let priorities: Vec<&PriorityClass> = collector.priority_classes.iter().map(|p| &p.value).collect();
        // Kubernetes' own two exist in every cluster.
        for (name, value) in [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)] {
            defaults.priorities.insert(name.to_owned(), value);
        }
        for class in &priorities {
            defaults.priorities.insert(class.meta.name.clone(), class.value);
        }
        // Of several the API server takes the lowest.
        defaults.global_priority = priorities.iter().filter(|c| c.global_default).map(|c| c.value).min();
        defaults.overheads =
            collector.runtime_classes.iter().map(|r| (r.value.meta.name.clone(), r.value.overhead.clone())).collect();
        defaults
    }

    /// The spec with defaults and its requests, or what is wrong with it.
    pub fn shape(
        &mut self,
        written: &Arc<PodSpec>,
        context: Context<'_>,
        interner: &mut Interner,
    ) -> Result<Shape, Faults> {
        let ranges = self.applicable(context);
        if !context.allocated.is_empty() {
            return self.complete(written, &ranges, context, interner);
        }
        let key = (Arc::as_ptr(written) as usize, context.bound, ranges);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let shape = self.complete(written, &key.2, context, interner);
        self.known.insert(key, shape.clone());
        shape
    }

    /// Limit ranges of the namespace that were there when the pod came; where
    /// dates are missing, all of them. A bound pod has had its defaults.
    fn applicable(&self, context: Context<'_>) -> Vec<(String, usize)> {
        if context.bound {
            return Vec::new();
        }
        let ranges = self.limit_ranges.get(context.namespace).map(Vec::as_slice).unwrap_or_default();
        let before = |range: &LimitRange| match (range.meta.creation_timestamp, context.created) {
            (Some(range), Some(pod)) => range <= pod,
            _ => true,
        };
        let applicable = ranges.iter().enumerate().filter(|(_, range)| before(range));
        applicable.map(|(i, _)| (context.namespace.to_owned(), i)).collect()
    }

    fn complete(
        &mut self,
        written: &PodSpec,
        ranges: &[(String, usize)],
        context: Context<'_>,
        interner: &mut Interner,
    ) -> Result<Shape, Faults> {
        let mut faults = Faults::default();
        validate::pod_spec(written, &mut faults);
        let mut spec = written.clone();
        for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
            requests_from_limits(container);
            for (namespace, i) in ranges {
                if let Some(range) = self.limit_ranges.get(namespace).and_then(|all| all.get(*i)) {
                    fill(&mut container.resources.limits, &range.limits);
                    fill(&mut container.resources.requests, &range.requests);
                }
            }
        }
        self.overhead(&mut spec, context);
        self.priority(&mut spec, context);
        let requests = effective(&spec, context.allocated).map_err(|e| faults.add(e.field, e.source.to_string()));
        match requests {
            Ok(requests) if faults.is_empty() => Ok((interner.spec(spec), interner.requests(requests))),
            _ => Err(faults),
        }
    }

    fn overhead(&mut self, spec: &mut PodSpec, context: Context<'_>) {
        if spec.runtime_class_name.is_empty() || !spec.overhead.is_empty() || context.bound {
            return;
        }
        match self.overheads.get(&spec.runtime_class_name) {
            Some(overhead) => spec.overhead.clone_from(overhead),
            None => self.misses("RuntimeClass", &spec.runtime_class_name, context),
        }
    }

    fn priority(&mut self, spec: &mut PodSpec, context: Context<'_>) {
        if spec.priority.is_some() {
            return;
        }
        if spec.priority_class_name.is_empty() {
            spec.priority = Some(self.global_priority.unwrap_or_default());
            return;
        }
        spec.priority = self.priorities.get(&spec.priority_class_name).copied();
        if spec.priority.is_none() {
            self.misses("PriorityClass", &spec.priority_class_name, context);
            spec.priority = Some(0);
        }
    }

    fn misses(&mut self, kind: &'static str, class: &str, context: Context<'_>) {
        let pod = format!("{}/{}", context.namespace, context.name);
        let first = self.missing.entry((kind, class.to_owned())).or_insert_with(|| pod.clone());
        if pod < *first {
            *first = pod;
        }
    }
}

fn requests_from_limits(container: &mut Container) {
    let resources = &mut container.resources;
    fill(&mut resources.requests, &resources.limits);
}

fn fill(into: &mut Quantities, from: &Quantities) {
    for (name, quantity) in from {
        if !into.contains_key(name) {
            into.insert(name.clone(), quantity.clone());
        }
    }
}
