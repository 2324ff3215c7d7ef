//! Pods without a container. The API server refuses them, and what they would
//! take is not known.

use millwright_models::reader::Body;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// As much of an object as leads to containers.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Outline {
    spec: Option<Part>,
    template: Option<Template>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    containers: Option<Vec<IgnoredAny>>,
    template: Option<Template>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Template {
    spec: Option<Pod>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Pod {
    containers: Option<Vec<IgnoredAny>>,
}

/// The path at which a container is missing.
pub fn missing(kind: &str, body: &Body<'_>) -> Option<&'static str> {
    let outline = match body {
        Body::Json(text) => serde_json::from_str(text),
        Body::Tree(tree) => Outline::deserialize(*tree),
    };
    // What cannot be read that far is the reader's business.
    let outline = outline.ok()?;
    let of_template = |t: Option<Template>| t.and_then(|t| t.spec).and_then(|s| s.containers);
    let (containers, path) = match kind {
        "Pod" => (outline.spec.and_then(|s| s.containers), "spec.containers"),
        "PodTemplate" => (of_template(outline.template), "template.spec.containers"),
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "ReplicationController" | "Job" => {
            (of_template(outline.spec.and_then(|s| s.template)), "spec.template.spec.containers")
        }
        _ => return None,
    };
    containers.is_none_or(|c| c.is_empty()).then_some(path)
}
