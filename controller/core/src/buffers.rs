//! CapacityBuffers: room kept free for pods that may come. (spec 40 §13)
//!
//! A buffer stands for *virtual pods*: they are planned for like pods that
//! wait, nobody makes them, and the room that is bought for them stays free
//! for real ones.

use std::sync::Arc;

use millwright_models::karpenter::buffer::CapacityBuffer;
use millwright_models::kube::meta::Labels;
use millwright_models::kube::pod::{Phase, Pod, PodCondition, PodSpec};
use millwright_models::resources::Resources;
use millwright_models::world::World;

/// Annotations of virtual pods.
pub const FAKE: &str = "karpenter.sh/capacity-buffer-fake-pod";
const NAME: &str = "karpenter.sh/capacity-buffer-name";
const NAMESPACE: &str = "karpenter.sh/capacity-buffer-namespace";

/// What the pods of a buffer are made from.
#[derive(Clone, Debug)]
pub struct Source<'w> {
    pub labels: &'w Arc<Labels>,
    pub spec: &'w Arc<PodSpec>,
    pub requests: &'w Arc<Resources>,
    /// Name and generation of a PodTemplate.
    pub template: Option<(&'w str, i64)>,
    /// Replicas of a workload.
    pub scale: Option<u32>,
}

/// Why a buffer names nothing that pods could be made from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("PodTemplate {0} not found")]
    TemplateNotFound(String),
    #[error("{kind} {name} not found")]
    ScalableNotFound { kind: String, name: String },
    #[error("neither podTemplateRef nor scalableRef is set")]
    Nothing,
    #[error("scalableRef of kind {kind} in group {group} is not supported")]
    Unsupported { group: String, kind: String },
}

impl Unresolved {
    /// The reason of the condition.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::TemplateNotFound(_) => "PodTemplateNotFound",
            Self::ScalableNotFound { .. } => "ScalableRefNotFound",
            Self::Nothing | Self::Unsupported { .. } => "ResolutionFailed",
        }
    }

    /// Whether it is the buffer that is wrong, not what is missing.
    pub fn is_error(&self) -> bool {
        matches!(self, Self::Unsupported { .. })
    }
}

/// What a buffer names.
pub fn source<'w>(buffer: &CapacityBuffer, world: &'w World) -> Result<Source<'w>, Unresolved> {
    let namespace = &buffer.meta.namespace;
    if let Some(name) = &buffer.pod_template {
        let found = world.pod_templates.iter().find(|t| t.meta.namespace == *namespace && t.meta.name == *name);
        let template = found.ok_or_else(|| Unresolved::TemplateNotFound(name.clone()))?;
        return Ok(Source {
            labels: &template.labels,
            spec: &template.spec,
            requests: &template.requests,
            template: Some((&template.meta.name, template.meta.generation)),
            scale: None,
        });
    }
    let Some(named) = &buffer.scalable else { return Err(Unresolved::Nothing) };
    let (kind, name) = (named.kind.clone(), named.name.clone());
    let is_known = matches!(kind.as_str(), "Deployment" | "StatefulSet" | "ReplicaSet");
    if !is_known || !matches!(named.api_group.as_str(), "" | "apps") {
        return Err(Unresolved::Unsupported { group: named.api_group.clone(), kind });
    }
    let same = |w: &&millwright_models::kube::workload::Workload| {
        w.kind == named.kind && w.meta.namespace == *namespace && w.meta.name == named.name
    };
    let workload = world.workloads.iter().find(same).ok_or(Unresolved::ScalableNotFound { kind, name })?;
    Ok(Source {
        labels: &workload.labels,
        spec: &workload.spec,
        requests: &workload.requests,
        template: None,
        scale: Some(workload.replicas),
    })
}

/// How many virtual pods a buffer stands for.
pub fn replicas(buffer: &CapacityBuffer, source: &Source<'_>) -> u32 {
    let share = buffer.percentage.zip(source.scale).filter(|(_, scale)| *scale > 0).map(|(percentage, scale)| {
        let part = (u64::from(scale) * u64::from(percentage)).div_ceil(100);
        u32::try_from(part).unwrap_or(u32::MAX)
    });
    let wanted = share.max(buffer.replicas);
    match (wanted, room(&buffer.limits, source.requests)) {
        (Some(wanted), Some(room)) => wanted.min(room),
        (Some(wanted), None) => wanted,
        (None, room) => room.unwrap_or(0),
    }
}

/// How many pods of these requests the limits hold; none if they limit nothing
/// that is asked for.
fn room(limits: &Resources, requests: &Resources) -> Option<u32> {
    let each = limits.iter().filter_map(|(resource, limit)| {
        let asked = requests.get(resource);
        (asked > 0).then(|| u32::try_from(limit.max(0) / asked).unwrap_or(u32::MAX))
    });
    each.min()
}

/// The virtual pods of a buffer, by number.
pub fn pods(buffer: &CapacityBuffer, source: &Source<'_>) -> Vec<Pod> {
    let mut spec = (**source.spec).clone();
    // A claim of a volume is no business of pods that nobody makes.
    spec.volumes.clear();
    spec.node_name.clear();
    spec.priority = Some(i32::MIN);
    spec.priority_class_name.clear();
    let spec = Arc::new(spec);
    let marks =
        [(FAKE, "true".to_owned()), (NAME, buffer.meta.name.clone()), (NAMESPACE, buffer.meta.namespace.clone())];
    let annotations = Arc::new(Labels::from(marks.map(|(key, value)| (key.to_owned(), value))));
    let waits = PodCondition {
        kind: "PodScheduled".to_owned(),
        status: "False".to_owned(),
        reason: "Unschedulable".to_owned(),
    };
    let pod = |i: u32| Pod {
        namespace: buffer.meta.namespace.clone(),
        name: format!("capacity-buffer-{}-{i}", buffer.meta.name),
        uid: format!("{}-{i}", buffer.meta.uid),
        created: None,
        deleted: None,
        owner: None,
        is_static: false,
        labels: source.labels.clone(),
        annotations: annotations.clone(),
        spec: spec.clone(),
        requests: source.requests.clone(),
        node_name: None,
        phase: Phase::Pending,
        conditions: vec![waits.clone()],
        nominated_node: None,
        started: None,
        synthetic: true,
    };
    (1..=replicas(buffer, source)).map(pod).collect()
}

/// The virtual pods of all buffers; those that resolve to nothing have none.
pub fn all_pods(world: &World) -> Vec<Pod> {
    let live = world.buffers.iter().filter(|b| b.meta.deletion_timestamp.is_none());
    live.filter_map(|b| Some(pods(b, &source(b, world).ok()?))).flatten().collect()
}

/// Whether nobody makes this pod.
pub fn is_virtual(pod: &Pod) -> bool {
    pod.annotations.contains_key(FAKE)
}

/// Adds the virtual pods of all buffers to the pods of a world. Real pods that
/// are called alike come first, and the order of names holds.
pub fn add_pods(world: &mut World) {
    let mut extra = all_pods(world);
    if extra.is_empty() {
        return;
    }
    extra.retain(|pod| world.pod(&pod.namespace, &pod.name).is_none());
    world.pods.extend(extra);
    world.pods.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
}
