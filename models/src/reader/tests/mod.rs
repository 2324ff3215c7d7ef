mod objects;
mod properties;
mod streams;
mod workloads;

use super::*;

fn documents(texts: &[&str]) -> Vec<Document> {
    let named = |(i, text): (usize, &&str)| Document { file: format!("f{i}.yaml"), text: (*text).to_owned() };
    texts.iter().enumerate().map(named).collect()
}

fn world(text: &str) -> World {
    read(&documents(&[text]), &ReadOptions::default()).unwrap()
}

fn refused(texts: &[&str]) -> Vec<String> {
    read(&documents(texts), &ReadOptions::default()).unwrap_err().0.iter().map(ToString::to_string).collect()
}

fn names(world: &World) -> Vec<String> {
    world.pods.iter().map(crate::kube::pod::Pod::full_name).collect()
}

const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, resources: {requests: {cpu: 250m}}}]}}";

fn pod_json(name: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}"}},"spec":{{"containers":[{{"name":"c"}}]}}}}"#
    )
}

fn pool(spec: &str) -> String {
    format!(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: p}}\nspec: {{template: {{spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}}, {spec}\n"
    )
}

fn workload(kind: &str, name: &str, extra: &str) -> String {
    let group = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    format!(
        "---\napiVersion: {group}\nkind: {kind}\nmetadata: {{name: {name}, uid: {kind}-{name}}}\nspec: {{selector: {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: c, resources: {{limits: {{cpu: 1}}}}}}]}}}}{extra}}}\n"
    )
}

fn owned_pod(name: &str, kind: &str, owner: &str, app: &str) -> String {
    format!(
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, labels: {{app: {app}}}, ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {owner}, controller: true}}]}}}}\n"
    )
}
