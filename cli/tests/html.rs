//! The page for a browser.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;
use std::process::{Command, Stdio};

fn quickstart() -> String {
    format!("{}/../fixtures/quickstart", env!("CARGO_MANIFEST_DIR"))
}

/// The data that the page carries.
fn data(args: &[&str]) -> serde_json::Value {
    let run = Command::new(env!("CARGO_BIN_EXE_millwright")).args(args).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(matches!(run.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(text.starts_with("<!doctype html>") && text.trim_end().ends_with("</html>"));
    let from = text.split_once("id=\"data\">").unwrap().1;
    serde_json::from_str(from.split_once("</script>").unwrap().0).unwrap()
}

/// Names of the pods on the machines of a side, sorted.
fn drawn(page: &serde_json::Value, side: &str) -> Vec<String> {
    let name = |i: &serde_json::Value| page["pods"][i.as_u64().unwrap() as usize]["name"].as_str().unwrap().to_owned();
    let machines = page[side].as_array().unwrap().iter();
    let mut names: Vec<String> = machines.flat_map(|m| m["pods"].as_array().unwrap()).map(name).collect();
    names.sort();
    names
}

#[test]
fn a_plan_draws_every_pod_once_within_what_its_node_has() {
    assert!(Path::new(&quickstart()).is_dir());
    let page = data(&["plan", "-f", &quickstart(), "--iterations", "2", "-o", "html"]);
    let names = drawn(&page, "after");
    let mut once = names.clone();
    once.dedup();
    assert_eq!(names, once, "a pod is drawn twice");
    let left = page["unscheduled"].as_array().unwrap().len();
    assert_eq!(names.len() + left, page["pods"].as_array().unwrap().len());
    for machine in page["after"].as_array().unwrap() {
        for resource in page["resources"].as_array().unwrap() {
            let resource = resource.as_str().unwrap();
            let of = |amounts: &serde_json::Value| amounts[resource].as_i64().unwrap_or(0);
            let pods = machine["pods"].as_array().unwrap().iter();
            let used: i64 = pods.map(|p| of(&page["pods"][p.as_u64().unwrap() as usize]["requests"])).sum();
            assert!(used + of(&machine["system"]) <= of(&machine["capacity"]), "{resource} on {}", machine["name"]);
        }
    }
}
