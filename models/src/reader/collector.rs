//! Objects by kind, as the documents are read.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::error::{Place, ReadError};
use super::intern::Interner;
use super::kind::Kind;
use super::raw::buffer::RawBuffer;
use super::raw::node::{RawClaim, RawNode};
use super::raw::nodeclass::RawNodeClass;
use super::raw::nodepool::{RawOverlay, RawPool};
use super::raw::pod::{PodDraft, RawPod, TemplateDraft};
use super::raw::policy::{
    LimitRange, RawBudget, RawLimitRange, RawNamespace, RawPriority, RawRuntime, RawService, RuntimeClass,
};
use super::raw::settle;
use super::raw::volume::{RawAttachment, RawCsiNode, RawStorageClass, RawVolume, RawVolumeClaim};
use super::raw::workload::{RawController, RawPodTemplate, RawWorkload, WorkloadDraft};
use super::source::Source;
use crate::faults::Faults;
use crate::karpenter::buffer::CapacityBuffer;
use crate::karpenter::nodeclaim::NodeClaim;
use crate::karpenter::nodeclass::NodeClass;
use crate::karpenter::nodepool::NodePool;
use crate::karpenter::overlay::NodeOverlay;
use crate::kube::meta::Meta;
use crate::kube::node::Node;
use crate::kube::policy::{Namespace, PodDisruptionBudget, PriorityClass, Service};
use crate::kube::volume::{CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment};
use crate::world::Unread;

/// An object and where it was read.
#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    pub place: Place,
    pub value: T,
}

/// Everything read so far.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub files: Vec<String>,
    pub interner: Interner,
    pub errors: Vec<(Place, ReadError)>,
    /// Kinds that are not needed, with how many objects of each were met.
    pub skipped: BTreeMap<String, usize>,
    pub pods: Vec<Entry<PodDraft>>,
    pub pod_templates: Vec<Entry<(Meta, TemplateDraft)>>,
    pub nodes: Vec<Entry<Node>>,
    pub workloads: Vec<Entry<WorkloadDraft>>,
    pub daemon_sets: Vec<Entry<WorkloadDraft>>,
    pub node_pools: Vec<Entry<NodePool>>,
    pub node_claims: Vec<Entry<NodeClaim>>,
    pub node_classes: Vec<Entry<NodeClass>>,
    pub overlays: Vec<Entry<NodeOverlay>>,
    pub buffers: Vec<Entry<CapacityBuffer>>,
    pub claims: Vec<Entry<PersistentVolumeClaim>>,
    pub volumes: Vec<Entry<PersistentVolume>>,
    pub storage_classes: Vec<Entry<StorageClass>>,
    pub csi_nodes: Vec<Entry<CsiNode>>,
    pub attachments: Vec<Entry<VolumeAttachment>>,
    pub budgets: Vec<Entry<PodDisruptionBudget>>,
    pub priority_classes: Vec<Entry<PriorityClass>>,
    pub runtime_classes: Vec<Entry<RuntimeClass>>,
    pub limit_ranges: Vec<Entry<LimitRange>>,
    pub namespaces: Vec<Entry<Namespace>>,
    pub services: Vec<Entry<Service>>,
    /// Objects that were read and could not be completed.
    pub unread: Vec<Unread>,
}

impl Collector {
    /// Reports text that is no object.
    pub fn syntax(&mut self, place: Place, message: impl Into<String>) {
        let error = ReadError::Syntax { place: self.describe(place), message: message.into() };
        self.errors.push((place, error));
    }

    /// Reports a fault of an object.
    pub fn fault(&mut self, place: Place, object: &str, field: impl Into<String>, message: impl Into<String>) {
        let place_text = self.describe(place);
        let (object, field, message) = (object.to_owned(), field.into(), message.into());
        self.errors.push((place, ReadError::Field { place: place_text, object, field, message }));
    }

    pub fn describe(&self, place: Place) -> String {
        place.describe(&self.files)
    }

    /// Takes one object in.
    pub fn accept(&mut self, place: Place, api_version: &str, kind: &str, source: Source<'_>) {
        let Some(kind) = Kind::of(api_version, kind) else {
            *self.skipped.entry(kind.to_owned()).or_default() += 1;
            return;
        };
        macro_rules! take {
            ($list:ident, $raw:ty) => {
                take!($list, $raw, |raw: $raw, faults: &mut Faults, _: &mut Interner| raw.keep(faults))
            };
            ($list:ident, $raw:ty, $keep:expr) => {
                if let Some(value) = self.take(place, kind, source, $keep) {
                    self.$list.push(Entry { place, value });
                }
            };
        }
        match kind {
            Kind::Pod => take!(pods, RawPod, RawPod::keep),
            Kind::PodTemplate => take!(pod_templates, RawPodTemplate, keep_template),
            Kind::Node => take!(nodes, RawNode),
            Kind::Deployment | Kind::StatefulSet | Kind::ReplicaSet | Kind::Job => {
                take!(workloads, RawWorkload, |raw: RawWorkload, f: &mut Faults, i: &mut Interner| {
                    raw.keep(kind.name(), f, i)
                });
            }
            Kind::ReplicationController => take!(workloads, RawController, RawController::keep),
            Kind::DaemonSet => {
                take!(daemon_sets, RawWorkload, |raw: RawWorkload, f: &mut Faults, i: &mut Interner| {
                    raw.keep(kind.name(), f, i)
                });
            }
            Kind::NodePool => take!(node_pools, RawPool),
            Kind::NodeClaim => take!(node_claims, RawClaim),
            Kind::NodeOverlay => take!(overlays, RawOverlay),
            Kind::Ec2NodeClass => take!(node_classes, RawNodeClass),
            Kind::CapacityBuffer => take!(buffers, RawBuffer),
            Kind::PersistentVolumeClaim => take!(claims, RawVolumeClaim),
            Kind::PersistentVolume => take!(volumes, RawVolume),
            Kind::StorageClass => take!(storage_classes, RawStorageClass),
            Kind::CsiNode => take!(csi_nodes, RawCsiNode),
            Kind::VolumeAttachment => take!(attachments, RawAttachment),
            Kind::PodDisruptionBudget => take!(budgets, RawBudget),
            Kind::PriorityClass => take!(priority_classes, RawPriority),
            Kind::RuntimeClass => take!(runtime_classes, RawRuntime),
            Kind::LimitRange => take!(limit_ranges, RawLimitRange),
            Kind::Namespace => take!(namespaces, RawNamespace),
            Kind::Service => take!(services, RawService),
        }
    }

    /// The kept form, or `None` and errors.
    fn take<R: DeserializeOwned, T>(
        &mut self,
        place: Place,
        kind: Kind,
        source: Source<'_>,
        keep: impl FnOnce(R, &mut Faults, &mut Interner) -> T,
    ) -> Option<T> {
        // A tree is gone once it is read; the others can be asked again.
        let (again, identity) = match &source {
            Source::Json(text) => (Some(Source::Json(text)), None),
            Source::Borrowed(tree) => (Some(Source::Borrowed(tree)), None),
            Source::Tree(_) => (None, Some(source.identity())),
        };
        let mut faults = Faults::default();
        let kept = match source.read::<R>() {
            Ok(raw) => Some(keep(raw, &mut faults, &mut self.interner)),
            Err((field, message)) => {
                faults.add(field, message);
                None
            }
        };
        if faults.is_empty() {
            return kept;
        }
        let identity = identity.or_else(|| again.map(|a| a.identity()));
        let (namespace, name) = identity.unwrap_or_default();
        let object = kind.object(&namespace, &name);
        for (field, message) in faults.0 {
            self.fault(place, &object, field, message);
        }
        None
    }
}

fn keep_template(raw: RawPodTemplate, faults: &mut Faults, interner: &mut Interner) -> (Meta, TemplateDraft) {
    let mut meta = raw.metadata;
    settle(&mut meta, true, faults);
    (meta, raw.template.keep(interner))
}
