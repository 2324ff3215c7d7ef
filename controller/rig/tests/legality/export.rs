//! Random clusters as files, with every pod written out.

use std::path::Path;

use millwright_models::catalog::file;
use millwright_models::rules::landing_order;
use millwright_rig::legality::{Foreign, Scene};
use millwright_rig::objects::Documents;
use serde_json::{Value, json};

use super::random;

/// What a cluster's own controllers would turn into pods.
const WORKLOADS: [&str; 3] = ["Deployment", "StatefulSet", "Job"];

/// Writes `objects.yaml` and `catalog.json` of a seed.
pub fn cluster(folder: &Path, seed: u64) {
    let (objects, catalog) = random::files(seed);
    let scene = Scene::of(&random::case(seed)).unwrap();
    let read = Documents::parse("random", &objects).unwrap();
    let waiting: Vec<&str> = scene.waiting.iter().map(|w| w.name.as_str()).collect();
    let kept = read.all().filter(|o| {
        let kind = o["kind"].as_str().unwrap();
        let pending = kind == "Pod" && waiting.contains(&o["metadata"]["name"].as_str().unwrap());
        !pending && !WORKLOADS.contains(&kind) && kind != "PersistentVolumeClaim"
    });
    let pods = scene.waiting.iter().map(|w| pending(&w.object));
    let all: String =
        kept.map(tainted).chain(scene.claims.iter().cloned()).chain(pods).map(|o| format!("---\n{o}\n")).collect();
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("objects.yaml"), all).unwrap();
    std::fs::write(folder.join("catalog.json"), catalog).unwrap();
}

/// A node as the node controller leaves it: one that is closed has the taint too.
fn tainted(object: &Value) -> Value {
    let mut object = object.clone();
    if object["kind"] == "Node" && object["spec"]["unschedulable"] == true {
        let mut taints = object["spec"]["taints"].as_array().cloned().unwrap_or_default();
        taints.push(json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}));
        object["spec"]["taints"] = json!(taints);
    }
    object
}

/// A pod that the scheduler has looked at and found no node for.
fn pending(object: &Value) -> Value {
    let mut pod = object.clone();
    pod["spec"].as_object_mut().unwrap().remove("schedulingGates");
    pod["status"] = json!({"phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]});
    pod
}

/// Judges `karpenter.json`: which of its pods can land in no order, and why.
pub fn verdict(folder: &Path) {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let plan: Foreign = serde_json::from_str(&read("karpenter.json")).unwrap();
    let catalog = file::parse("catalog.json", &read("catalog.json"), &|_| None).unwrap();
    let case = random::planned(folder.display().to_string(), read("objects.yaml"), catalog);
    let scene = Scene::of_foreign(&case, &plan).unwrap();
    let (state, placements) = scene.landing().unwrap();
    let refused: Vec<Value> = match landing_order(&state, &placements) {
        Ok(_) => Vec::new(),
        Err(stuck) => {
            let told = stuck.refused.iter().map(|(i, why)| {
                let placement = &placements[*i];
                json!({"pod": placement.pod.full_name(), "node": placement.node, "why": why.to_string()})
            });
            told.collect()
        }
    };
    std::fs::write(folder.join("verdict.json"), json!({ "refused": refused }).to_string()).unwrap();
}
