//! `millwright explain pod`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use serde_json::Value;
use support::{Scratch, deployment, run};

const ROUNDS: [&str; 2] = ["--iterations", "3"];

fn explain(pod: &str, file: &str, more: &[&str]) -> support::Run {
    run(&[&["explain", "pod", pod, "-f", file][..], more, &ROUNDS].concat())
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().expect("an array").iter().map(|v| v.as_str().expect("text").to_owned()).collect()
}

#[test]
fn a_pending_pod_has_reasons_and_remedies() {
    let scratch = Scratch::new("explain");
    let web = deployment("web", 2, "1", "1Gi");
    let arm = web
        .replace("web", "arm")
        .replace("containers:", "nodeSelector: {kubernetes.io/arch: arm64}\n      containers:");
    let file = scratch.file("a.yaml", &format!("{web}---\n{arm}"));
    let ran = explain("default/arm-0", &file, &["-o", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json = ran.json();
    assert_eq!((json["pod"].as_str(), json["state"].as_str()), (Some("default/arm-0"), Some("pending")));
    let reasons = texts(&json["reasons"]);
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    for word in ["nodeSelector", "kubernetes.io/arch=arm64", "NodePool default", "amd64"] {
        assert!(reasons[0].contains(word), "{reasons:?}");
    }
    let best = &json["relaxations"][0];
    assert_eq!(texts(&best["changes"]), ["drop nodeSelector kubernetes.io/arch=arm64"]);
    assert!(best["cost_per_hour"].as_f64() > json["cost_per_hour"].as_f64());
    assert_eq!(best["unscheduled"], 0);
    let table = explain("default/arm-0", &file, &[]).out;
    assert!(table.starts_with("default/arm-0 stays pending.") && table.contains("drop nodeSelector"), "{table}");
    // The plan says the same.
    let plan = run(&[&["plan", "-f", &file, "-o", "json"][..], &ROUNDS].concat()).json();
    assert_eq!(texts(&plan["unscheduled"][0]["reasons"]), reasons);
}

#[test]
fn a_pod_with_a_place_says_where() {
    let scratch = Scratch::new("explained");
    let file = scratch.file("a.yaml", &deployment("web", 2, "1", "1Gi"));
    let ran = explain("default/web-1", &file, &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("is not pending: planned onto new node"), "{}", ran.out);
    let json = explain("web-1", &file, &["-o", "json"]).json();
    assert_eq!((json["state"].as_str(), texts(&json["reasons"]).len()), (Some("planned"), 0));
    assert!(json["new_node"]["instance_type"].is_string());
    let running = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: r}\n\
                   spec: {nodeName: n1, containers: [{name: c}]}\nstatus: {phase: Running}\n";
    let file = scratch.file("b.yaml", running);
    assert!(explain("default/r", &file, &[]).out.contains("is not pending: it runs on node n1"));
}

#[test]
fn what_cannot_be_explained_is_an_error() {
    let scratch = Scratch::new("unexplained");
    let file = scratch.file("a.yaml", &deployment("web", 1, "1", "1Gi"));
    let ran = explain("other/web-0", &file, &[]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("no pod other/web-0") && ran.err.contains("default/web-0"), "{}", ran.err);
    assert_eq!(explain("a/b/c", &file, &[]).code, 2);
    assert_eq!(run(&["explain", "pod", "-f", &file]).code, 2);
}
