//! Lists in an order that does not depend on the input's, each object once.

use super::collector::Entry;
use super::error::{Place, ReadError};
use super::kind::Kind;
use crate::kube::meta::Meta;

/// What objects are sorted by and told apart with.
pub(super) trait Named {
    fn names(&self) -> (&str, &str);

    /// Whether nothing that matters tells the two apart. The version does not
    /// matter: two dumps may hold one object.
    fn says_the_same(&self, other: &Self) -> bool;
}

macro_rules! named_by_meta {
    ($($object:ty),* $(,)?) => {
        $(impl Named for $object {
            fn names(&self) -> (&str, &str) {
                (&self.meta.namespace, &self.meta.name)
            }

            fn says_the_same(&self, other: &Self) -> bool {
                let mut other = other.clone();
                other.meta.resource_version.clone_from(&self.meta.resource_version);
                *self == other
            }
        })*
    };
}

named_by_meta!(
    super::raw::workload::WorkloadDraft,
    super::raw::policy::LimitRange,
    super::raw::policy::RuntimeClass,
    crate::karpenter::buffer::CapacityBuffer,
    crate::karpenter::nodeclaim::NodeClaim,
    crate::karpenter::nodeclass::NodeClass,
    crate::karpenter::nodepool::NodePool,
    crate::karpenter::overlay::NodeOverlay,
    crate::kube::node::Node,
    crate::kube::policy::Namespace,
    crate::kube::policy::PodDisruptionBudget,
    crate::kube::policy::PriorityClass,
    crate::kube::policy::Service,
    crate::kube::volume::CsiNode,
    crate::kube::volume::PersistentVolume,
    crate::kube::volume::PersistentVolumeClaim,
    crate::kube::volume::StorageClass,
    crate::kube::volume::VolumeAttachment,
);

impl Named for super::raw::pod::PodDraft {
    fn names(&self) -> (&str, &str) {
        (&self.namespace, &self.name)
    }

    fn says_the_same(&self, other: &Self) -> bool {
        self == other
    }
}

impl<T: Clone + PartialEq> Named for (Meta, T) {
    fn names(&self) -> (&str, &str) {
        (&self.0.namespace, &self.0.name)
    }

    fn says_the_same(&self, other: &Self) -> bool {
        let mut meta = other.0.clone();
        meta.resource_version.clone_from(&self.0.resource_version);
        self.0 == meta && self.1 == other.1
    }
}

/// Sorts by namespace and name and drops repetitions. Two objects of one name
/// that differ are an error.
pub(super) fn canonical<T: Named>(
    list: &mut Vec<Entry<T>>,
    kind: impl Fn(&T) -> Kind,
    files: &[String],
    errors: &mut Vec<(Place, ReadError)>,
) {
    let order = |a: &Entry<T>, b: &Entry<T>| {
        let by_kind = kind(&a.value).cmp(&kind(&b.value));
        a.value.names().cmp(&b.value.names()).then(by_kind).then(a.place.cmp(&b.place))
    };
    list.sort_by(order);
    list.dedup_by(|later, first| {
        let same = later.value.names() == first.value.names() && kind(&later.value) == kind(&first.value);
        if same && !first.value.says_the_same(&later.value) {
            let (namespace, name) = first.value.names();
            let object = kind(&first.value).object(namespace, name);
            let (one, other) = (first.place.describe(files), later.place.describe(files));
            errors.push((later.place, ReadError::Conflict { object, first: one, second: other }));
        }
        same
    });
}

/// The objects without their places.
pub(super) fn values<T>(list: Vec<Entry<T>>) -> Vec<T> {
    list.into_iter().map(|entry| entry.value).collect()
}
