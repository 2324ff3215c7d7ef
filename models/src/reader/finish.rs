//! Collected objects into the world: canonical, expanded, completed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ReadOptions;
use super::canonical::{canonical, values};
use super::collector::{Collector, Entry};
use super::daemons::{newest, representative};
use super::defaults::{Context, Defaults, Shape};
use super::error::{Place, ReadError, ReadErrors};
use super::expand::expand;
use super::intern::Interner;
use super::kind::Kind;
use super::raw::pod::{PodDraft, TemplateDraft};
use super::raw::workload::WorkloadDraft;
use crate::faults::Faults;
use crate::karpenter::default_pools;
use crate::kube::meta::Meta;
use crate::kube::pod::{Pod, PodSpec};
use crate::kube::workload::{DaemonSet, PodTemplate, Workload};
use crate::world::{Unread, World};

/// Everything, or what is wrong with it.
pub(super) fn finish(mut collector: Collector, options: &ReadOptions) -> Result<World, ReadErrors> {
    settle(&mut collector);
    let mut warnings = Vec::new();
    warnings.extend(skipped(&collector.skipped));
    warnings.extend(expand(&mut collector));
    collector.pods.sort_by(|a, b| (&a.value.namespace, &a.value.name).cmp(&(&b.value.namespace, &b.value.name)));
    collector.claims.sort_by(|a, b| {
        (&a.value.meta.namespace, &a.value.meta.name).cmp(&(&b.value.meta.namespace, &b.value.meta.name))
    });
    for pool in &collector.node_pools {
        let object = Kind::NodePool.object("", &pool.value.meta.name);
        let at = pool.place.describe(&collector.files);
        let fault = |(field, message): &(String, String)| ReadError::Field {
            place: at.clone(),
            object: object.clone(),
            field: field.clone(),
            message: message.clone(),
        };
        collector.errors.extend(pool.value.faults.iter().map(|f| (pool.place, fault(f))));
    }
    let mut defaults = Defaults::of(&collector);
    let Completed { mut world, mut errors, .. } = complete(collector, &mut defaults);
    if !errors.is_empty() {
        errors.sort_by_key(|(place, _)| *place);
        return Err(ReadErrors(errors.into_iter().map(|(_, error)| error).collect()));
    }
    warnings.append(&mut world.warnings);
    world.warnings = warnings;
    if options.default_pools && world.node_pools.is_empty() {
        add_default_pools(&mut world);
    }
    Ok(world)
}

/// A world of what could be completed, and what is wrong with the rest.
pub(super) struct Completed {
    pub world: World,
    pub errors: Vec<(Place, ReadError)>,
    pub interner: Interner,
}

/// Collected objects, in canonical order, into the world.
pub(super) fn complete(collector: Collector, defaults: &mut Defaults) -> Completed {
    let mut shaper = Shaper { defaults, collector };
    let daemon_sets = shaper.daemon_sets();
    let workloads = shaper.workloads();
    let pod_templates = shaper.pod_templates();
    let pods = shaper.pods();
    let Shaper { defaults, collector } = shaper;
    let warnings = defaults.missing.iter().map(|((kind, class), pod)| match *kind {
        "PriorityClass" => {
            format!("PriorityClass {class} is not in the input: priority 0 assumed (pod {pod} for example)")
        }
        _ => format!("{kind} {class} is not in the input: no overhead assumed (pod {pod} for example)"),
    });
    let storage_classes = values(collector.storage_classes);
    let mut claims = values(collector.claims);
    default_class(&mut claims, &storage_classes);
    let world = World {
        pods,
        nodes: values(collector.nodes),
        daemon_sets,
        workloads,
        pod_templates,
        node_pools: values(collector.node_pools),
        node_claims: values(collector.node_claims),
        node_classes: values(collector.node_classes),
        overlays: values(collector.overlays),
        buffers: values(collector.buffers),
        claims,
        volumes: values(collector.volumes),
        storage_classes,
        csi_nodes: values(collector.csi_nodes),
        attachments: values(collector.attachments),
        budgets: values(collector.budgets),
        priority_classes: values(collector.priority_classes),
        namespaces: values(collector.namespaces),
        services: values(collector.services),
        unread: collector.unread,
        warnings: warnings.collect(),
    };
    Completed { world, errors: collector.errors, interner: collector.interner }
}

/// Every list in canonical order, each object once.
pub(super) fn settle(collector: &mut Collector) {
    let Collector { files, errors, .. } = collector;
    macro_rules! settle {
        ($($list:ident: $kind:expr),* $(,)?) => {
            $(canonical(&mut collector.$list, |_| $kind, files, errors);)*
        };
    }
    settle!(
        pods: Kind::Pod,
        pod_templates: Kind::PodTemplate,
        nodes: Kind::Node,
        daemon_sets: Kind::DaemonSet,
        node_pools: Kind::NodePool,
        node_claims: Kind::NodeClaim,
        node_classes: Kind::Ec2NodeClass,
        overlays: Kind::NodeOverlay,
        buffers: Kind::CapacityBuffer,
        claims: Kind::PersistentVolumeClaim,
        volumes: Kind::PersistentVolume,
        storage_classes: Kind::StorageClass,
        csi_nodes: Kind::CsiNode,
        attachments: Kind::VolumeAttachment,
        budgets: Kind::PodDisruptionBudget,
        priority_classes: Kind::PriorityClass,
        runtime_classes: Kind::RuntimeClass,
        limit_ranges: Kind::LimitRange,
        namespaces: Kind::Namespace,
        services: Kind::Service,
    );
    canonical(&mut collector.workloads, WorkloadDraft::kind, files, errors);
}

impl WorkloadDraft {
    fn kind(&self) -> Kind {
        match self.kind {
            "Deployment" => Kind::Deployment,
            "StatefulSet" => Kind::StatefulSet,
            "ReplicaSet" => Kind::ReplicaSet,
            "Job" => Kind::Job,
            _ => Kind::ReplicationController,
        }
    }
}

/// Turns drafts into what the world holds.
struct Shaper<'d> {
    defaults: &'d mut Defaults,
    collector: Collector,
}

impl Shaper<'_> {
    fn pods(&mut self) -> Vec<Pod> {
        let drafts = std::mem::take(&mut self.collector.pods);
        let mut pods = Vec::with_capacity(drafts.len());
        for Entry { place, value: draft } in drafts {
            let context = Context {
                namespace: &draft.namespace,
                name: &draft.name,
                created: draft.created,
                bound: draft.node_name.is_some(),
                allocated: &draft.allocated,
            };
            match self.defaults.shape(&draft.spec, context, &mut self.collector.interner) {
                Ok(shape) => pods.push(pod(draft, shape)),
                Err(faults) if draft.synthetic => drop(faults),
                Err(faults) => {
                    self.report(place, Kind::Pod, &draft.namespace, &draft.name, "", faults);
                    self.collector.unread.push(Unread {
                        kind: Kind::Pod.name(),
                        namespace: draft.namespace,
                        name: draft.name,
                        node_name: draft.node_name,
                    });
                }
            }
        }
        pods
    }

    fn daemon_sets(&mut self) -> Vec<DaemonSet> {
        let drafts = std::mem::take(&mut self.collector.daemon_sets);
        let live = newest(&self.collector.pods);
        let specs: Vec<_> = drafts
            .iter()
            .map(|d| {
                let live = live.get(&(&*d.value.meta.namespace, &*d.value.meta.name)).copied();
                (representative(&d.value, live), live.is_some())
            })
            .collect();
        let mut sets = Vec::with_capacity(drafts.len());
        for (Entry { place, value: set }, (spec, live)) in drafts.into_iter().zip(specs) {
            let spec = self.collector.interner.spec(spec);
            if let Some((spec, requests)) = self.template(place, Kind::DaemonSet, &set.meta, &spec, live) {
                sets.push(DaemonSet { meta: set.meta, labels: set.template.labels, spec, requests });
            }
        }
        sets
    }

    fn workloads(&mut self) -> Vec<Workload> {
        let drafts = std::mem::take(&mut self.collector.workloads);
        let mut workloads = Vec::with_capacity(drafts.len());
        for Entry { place, value: draft } in drafts {
            let kind = draft.kind();
            let WorkloadDraft { meta, template, .. } = draft;
            if let Some((spec, requests)) = self.template(place, kind, &meta, &template.spec, false) {
                let labels = template.labels;
                let (kind, replicas, selector) = (draft.kind, draft.replicas, draft.selector);
                workloads.push(Workload { kind, meta, replicas, selector, labels, spec, requests });
            }
        }
        workloads
    }

    fn pod_templates(&mut self) -> Vec<PodTemplate> {
        let drafts = std::mem::take(&mut self.collector.pod_templates);
        let mut templates = Vec::with_capacity(drafts.len());
        for Entry { place, value: (meta, template) } in drafts {
            let TemplateDraft { labels, spec, .. } = template;
            if let Some((spec, requests)) = self.template(place, Kind::PodTemplate, &meta, &spec, false) {
                templates.push(PodTemplate { meta, labels, spec, requests });
            }
        }
        templates
    }

    /// Completes a template, or reports what is wrong with it.
    fn template(&mut self, place: Place, kind: Kind, meta: &Meta, spec: &Arc<PodSpec>, live: bool) -> Option<Shape> {
        let context =
            Context { namespace: &meta.namespace, name: &meta.name, created: None, bound: live, allocated: &[] };
        match self.defaults.shape(spec, context, &mut self.collector.interner) {
            Ok(shape) => Some(shape),
            Err(faults) => {
                let prefix = if kind == Kind::PodTemplate { "template." } else { "spec.template." };
                self.report(place, kind, &meta.namespace, &meta.name, prefix, faults);
                None
            }
        }
    }

    fn report(&mut self, place: Place, kind: Kind, namespace: &str, name: &str, prefix: &str, faults: Faults) {
        let object = kind.object(namespace, name);
        for (field, message) in faults.0 {
            self.collector.fault(place, &object, format!("{prefix}{field}"), message);
        }
    }
}

fn pod(draft: PodDraft, (spec, requests): Shape) -> Pod {
    Pod {
        namespace: draft.namespace,
        name: draft.name,
        uid: draft.uid,
        created: draft.created,
        deleted: draft.deleted,
        owner: draft.owner,
        is_static: draft.is_static,
        labels: draft.labels,
        annotations: draft.annotations,
        spec,
        requests,
        node_name: draft.node_name,
        phase: draft.phase,
        conditions: draft.conditions,
        nominated_node: draft.nominated_node,
        started: draft.started,
        synthetic: draft.synthetic,
    }
}

/// An unbound claim without a class gets the default one, if there is one.
fn default_class(
    claims: &mut [crate::kube::volume::PersistentVolumeClaim],
    classes: &[crate::kube::volume::StorageClass],
) {
    let marked = "storageclass.kubernetes.io/is-default-class";
    // Of several the newest; at equal age the first by name.
    let defaults = classes.iter().filter(|c| c.meta.annotations.get(marked).is_some_and(|v| v == "true"));
    let default = defaults.rev().max_by_key(|c| c.meta.creation_timestamp);
    let Some(default) = default else { return };
    for claim in claims.iter_mut().filter(|c| c.storage_class.is_none() && c.volume_name.is_empty()) {
        claim.storage_class = Some(default.meta.name.clone());
    }
}

fn add_default_pools(world: &mut World) {
    let devices = world.pods.iter().any(|p| p.requests.iter().any(|(name, amount)| name.contains('/') && amount > 0));
    let (pools, class) = default_pools(devices);
    world.node_pools = pools;
    if !world.node_classes.iter().any(|c| c.meta.name == class.meta.name) {
        world.node_classes.push(class);
        world.node_classes.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    }
    world.warnings.push(
        "no NodePool in the input: assumed Linux, amd64, on-demand, instance categories c, m and r (g and p for pods \
         that ask for a GPU), generations above 4"
            .to_owned(),
    );
}

fn skipped(kinds: &BTreeMap<String, usize>) -> Option<String> {
    let objects: usize = kinds.values().sum();
    let list: Vec<_> = kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let (things, sorts) = (plural(objects, "object"), plural(kinds.len(), "kind"));
    (objects > 0).then(|| format!("skipped {things} of {sorts} this program does not need: {}", list.join(", ")))
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
