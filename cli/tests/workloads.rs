//! Workloads of public applications: every one plans, and each pod without a
//! place has a reason.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};
use support::{pipe, shared};

/// The objects of one line of the collection.
fn manifest(row: &Value) -> String {
    let name = &row["name"];
    let labels = if row["labels"].is_null() { json!({"app": name}) } else { row["labels"].clone() };
    let mut requests = Map::new();
    for (field, resource, unit) in [
        ("cpu_milli", "cpu", "m"),
        ("mem_mib", "memory", "Mi"),
        ("eph_mib", "ephemeral-storage", "Mi"),
        ("gpu", "nvidia.com/gpu", ""),
    ] {
        if let Some(amount) = row[field].as_i64().filter(|a| *a > 0) {
            requests.insert(resource.to_owned(), json!(format!("{amount}{unit}")));
        }
    }
    let mut limits = Map::new();
    if let Some(gpu) = requests.get("nvidia.com/gpu") {
        limits.insert("nvidia.com/gpu".to_owned(), gpu.clone());
    }
    let mut container = json!({"name": "main", "image": "none", "resources": {"requests": requests, "limits": limits}});
    if let Some(ports) = row["host_ports"].as_array() {
        container["ports"] =
            ports.iter().map(|p| json!({"containerPort": p[0], "hostPort": p[0], "protocol": p[1]})).collect();
    }
    let mut spec = json!({"containers": [container]});
    for (field, key) in [
        ("node_selector", "nodeSelector"),
        ("affinity", "affinity"),
        ("tolerations", "tolerations"),
        ("topology_spread", "topologySpreadConstraints"),
        ("priority_class", "priorityClassName"),
        ("host_network", "hostNetwork"),
        ("termination_grace_s", "terminationGracePeriodSeconds"),
    ] {
        if !row[field].is_null() {
            spec[key] = row[field].clone();
        }
    }
    let claims = row["volumes"].as_array().into_iter().flatten().filter_map(|v| v["claim"].as_str());
    spec["volumes"] = claims.map(|c| json!({"name": c, "persistentVolumeClaim": {"claimName": c}})).collect();
    let template = json!({"metadata": {"labels": labels}, "spec": spec});
    let (api, kind) = match row["kind"].as_str() {
        Some("Job") => ("batch/v1", "Job"),
        Some("CronJob") => ("batch/v1", "CronJob"),
        Some("Prometheus" | "Alertmanager") => ("apps/v1", "StatefulSet"),
        Some(kind) => ("apps/v1", kind),
        None => panic!("{row} has no kind"),
    };
    let mut body = match kind {
        "CronJob" => json!({"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": template}}}),
        "Job" => json!({"template": template}),
        _ => json!({"selector": {"matchLabels": labels}, "template": template}),
    };
    if kind == "StatefulSet" {
        let templates = row["volumes"].as_array().into_iter().flatten().filter(|v| v["name"].is_string());
        let claim = |v: &Value| {
            let size = format!("{}Mi", v["size_mib"].as_u64().unwrap_or(1024));
            let mut spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}});
            if v["class"].is_string() {
                spec["storageClassName"] = v["class"].clone();
            }
            json!({"metadata": {"name": v["name"]}, "spec": spec})
        };
        body["volumeClaimTemplates"] = templates.map(claim).collect();
    }
    if let Some(replicas) = row["replicas"].as_u64().filter(|_| kind != "CronJob") {
        body[if kind == "Job" { "parallelism" } else { "replicas" }] = json!(replicas);
    }
    let namespace = row["namespace"].as_str().unwrap_or("default");
    let meta = json!({"name": name, "namespace": namespace});
    let mut text = json!({"apiVersion": api, "kind": kind, "metadata": meta, "spec": body}).to_string();
    if let Some(budget) = row["pdb"].as_object() {
        let mut budget = Value::Object(budget.clone());
        budget["selector"] = json!({"matchLabels": labels});
        let object =
            json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": budget});
        text = text + "\n---\n" + &object.to_string();
    }
    text
}

/// What is wrong with the answer to one line.
fn complaint(row: &Value) -> Option<String> {
    let text = manifest(row);
    let ran = pipe(&["plan", "-f", "-", "-o", "json", "--iterations", "1"], &text);
    if ran.code != 0 && ran.code != 3 {
        return Some(format!("{}/{}: exit {}: {}", row["app"], row["name"], ran.code, ran.err));
    }
    let json = ran.json();
    let left = json["unscheduled"].as_array().expect("a list");
    let silent = left.iter().find(|u| u["reasons"].as_array().is_none_or(Vec::is_empty));
    if let Some(pod) = silent {
        return Some(format!("{}/{}: no reason for {}", row["app"], row["name"], pod["pod"]));
    }
    if (ran.code == 3) == left.is_empty() {
        return Some(format!("{}/{}: exit {} with {} pods left", row["app"], row["name"], ran.code, left.len()));
    }
    let placed: usize =
        json["nodes"].as_array().expect("a list").iter().map(|n| n["pods"].as_array().map_or(0, Vec::len)).sum();
    let wanted = match row["kind"].as_str() {
        Some("DaemonSet" | "CronJob") => 0,
        _ => row["replicas"].as_u64().unwrap_or(1) as usize,
    };
    (placed + left.len() != wanted)
        .then(|| format!("{}/{}: {placed} placed, {} left of {wanted}", row["app"], row["name"], left.len()))
}

#[test]
fn every_public_workload_plans() {
    let Some(path) = shared("data/traces/k8s-workloads.jsonl") else { return };
    let text = std::fs::read_to_string(path).expect("text");
    let rows: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert!(rows.len() > 200, "only {} workloads", rows.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.extend(complaint(row));
        }
        found
    };
    let found: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|w| w.join().expect("a worker ends")).collect()
    });
    assert!(found.is_empty(), "{} of {} do not plan:\n{}", found.len(), rows.len(), found.join("\n"));
}
