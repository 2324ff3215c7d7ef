//! Equal values share one allocation.

use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::kube::meta::Labels;
use crate::kube::pod::PodSpec;
use crate::resources::Resources;

/// What pods of one workload have in common.
#[derive(Debug, Default)]
pub(super) struct Interner {
    specs: FxHashSet<Arc<PodSpec>>,
    labels: FxHashSet<Arc<Labels>>,
    requests: FxHashSet<Arc<Resources>>,
}

impl Interner {
    pub fn spec(&mut self, spec: PodSpec) -> Arc<PodSpec> {
        share(&mut self.specs, spec)
    }

    pub fn labels(&mut self, labels: Labels) -> Arc<Labels> {
        share(&mut self.labels, labels)
    }

    pub fn requests(&mut self, requests: Resources) -> Arc<Resources> {
        share(&mut self.requests, requests)
    }
}

impl Interner {
    /// How many values are shared.
    pub fn len(&self) -> usize {
        self.specs.len() + self.labels.len() + self.requests.len()
    }

    /// Lets go of values that nobody else holds.
    pub fn prune(&mut self) {
        self.specs.retain(|v| Arc::strong_count(v) > 1);
        self.labels.retain(|v| Arc::strong_count(v) > 1);
        self.requests.retain(|v| Arc::strong_count(v) > 1);
    }
}

fn share<T: Hash + Eq>(known: &mut FxHashSet<Arc<T>>, value: T) -> Arc<T> {
    if let Some(shared) = known.get(&value) {
        return Arc::clone(shared);
    }
    let shared = Arc::new(value);
    known.insert(Arc::clone(&shared));
    shared
}
