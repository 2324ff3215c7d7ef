//! The pods that wait: bare ones and workloads, with rules of every kind.

use serde_json::{Value, json};

use super::world::{APPS, NAMESPACES};
use super::{Dice, zone};

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";
const KIND: &str = "karpenter.sh/capacity-type";

pub fn objects(dice: &mut Dice) -> Vec<Value> {
    let mut all = Vec::new();
    for group in 0..dice.between(2, 6) {
        workload(dice, group, &mut all);
    }
    all
}

/// Pods alike: bare, or as a Deployment, a StatefulSet or a Job.
fn workload(dice: &mut Dice, group: u32, all: &mut Vec<Value>) {
    let name = format!("w{group}");
    let namespace = dice.pick(&NAMESPACES);
    let labels = json!({"app": dice.pick(&APPS), "rev": dice.pick(&["1", "2"]), "w": name});
    let count = dice.between(1, 6);
    let mut spec = spec(dice, &labels);
    let meta = json!({"name": name, "namespace": namespace});
    let template = |spec: &Value| json!({"metadata": {"labels": labels}, "spec": spec});
    match dice.below(5) {
        0 => all.push(json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": {
            "replicas": count, "selector": {"matchLabels": {"w": name}}, "template": template(&spec)}})),
        1 => {
            let class = dice.pick(&["late", "pinned"]);
            let claim = json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
                "storageClassName": class, "resources": {"requests": {"storage": "1Gi"}}}});
            all.push(json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": {
                "replicas": count, "serviceName": name, "selector": {"matchLabels": {"w": name}},
                "template": template(&spec), "volumeClaimTemplates": [claim]}}));
        }
        2 => {
            spec["restartPolicy"] = json!("Never");
            all.push(json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {
                "parallelism": count, "completions": count, "template": template(&spec)}}));
        }
        _ => {
            if dice.chance(15) {
                spec["volumes"] = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "bound"}}]);
            }
            for i in 0..count {
                let meta = json!({"name": format!("{name}-{i}"), "namespace": namespace, "labels": labels});
                all.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}));
            }
        }
    }
}

fn spec(dice: &mut Dice, labels: &Value) -> Value {
    let mut requests =
        json!({"cpu": format!("{}m", 50 * dice.between(2, 40)), "memory": format!("{}Mi", 64 * dice.between(1, 30))});
    if dice.chance(5) {
        requests["example.com/gpu"] = json!(1);
    }
    let mut container = json!({"name": "c", "image": "i", "resources": {"requests": requests}});
    if requests.get("example.com/gpu").is_some() {
        container["resources"]["limits"] = json!({"example.com/gpu": 1});
    }
    if dice.chance(15) {
        container["ports"] = json!([{"containerPort": 80, "hostPort": 9000 + dice.below(3)}]);
    }
    let mut spec = json!({"containers": [container]});
    if dice.chance(15) {
        let mut init = json!({"name": "i", "image": "i", "resources": {"requests": {"cpu": format!("{}m", 100 * dice.between(1, 30))}}});
        if dice.chance(50) {
            init["restartPolicy"] = json!("Always");
        }
        spec["initContainers"] = json!([init]);
    }
    if dice.chance(15) {
        spec["priorityClassName"] = json!("high");
    }
    if dice.chance(30) {
        spec["tolerations"] = match dice.below(3) {
            0 => json!([{"key": "team", "operator": "Exists"}]),
            1 => json!([{"key": "team", "operator": "Equal", "value": "x", "effect": "NoSchedule"}]),
            _ => json!([{"operator": "Exists"}]),
        };
    }
    if dice.chance(15) {
        let (key, value) = dice.pick(&[
            (ZONE, "z1"),
            (ZONE, "z2"),
            (KIND, "on-demand"),
            (KIND, "spot"),
            ("rack", "r1"),
            ("disk", "ssd"),
        ]);
        spec["nodeSelector"] = json!({key: value});
    }
    affinity(dice, labels, &mut spec);
    let mut spreads = Vec::new();
    for _ in 0..2 {
        if dice.chance(25) {
            spreads.push(spread(dice, labels));
        }
    }
    if spreads.len() == 2 && spreads[0]["topologyKey"] == spreads[1]["topologyKey"] {
        spreads.pop();
    }
    if !spreads.is_empty() {
        spec["topologySpreadConstraints"] = json!(spreads);
    }
    spec
}

fn spread(dice: &mut Dice, labels: &Value) -> Value {
    let soft = dice.chance(20);
    let mut spread = json!({
        "maxSkew": dice.between(1, 2), "topologyKey": dice.pick(&[ZONE, ZONE, HOST, HOST, KIND, "rack"]),
        "whenUnsatisfiable": if soft { "ScheduleAnyway" } else { "DoNotSchedule" },
        "labelSelector": {"matchLabels": {"app": labels["app"]}},
    });
    if !soft && dice.chance(20) {
        spread["minDomains"] = json!(dice.between(1, 3));
    }
    if dice.chance(20) {
        spread["nodeTaintsPolicy"] = json!("Honor");
    }
    if dice.chance(20) {
        spread["nodeAffinityPolicy"] = json!("Ignore");
    }
    if dice.chance(20) {
        spread["matchLabelKeys"] = json!(["rev"]);
    }
    spread
}

fn affinity(dice: &mut Dice, labels: &Value, spec: &mut Value) {
    let mut affinity = json!({});
    if dice.chance(20) {
        let mut terms = vec![json!({"matchExpressions": [expression(dice)]})];
        if dice.chance(40) {
            terms.push(json!({"matchExpressions": [expression(dice), expression(dice)]}));
        }
        affinity["nodeAffinity"] =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
    }
    if dice.chance(15) {
        affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] =
            json!([{"weight": 10, "preference": {"matchExpressions": [expression(dice)]}}]);
    }
    let topology = dice.pick(&[ZONE, HOST, HOST, KIND]);
    if dice.chance(15) {
        let own = dice.chance(70);
        let target = if own { labels["app"].clone() } else { json!(dice.pick(&APPS)) };
        affinity["podAffinity"] =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": [term(dice, topology, &target)]});
    }
    if dice.chance(20) {
        let own = dice.chance(60);
        let target = if own { labels["app"].clone() } else { json!(dice.pick(&APPS)) };
        affinity["podAntiAffinity"] =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": [term(dice, topology, &target)]});
    }
    if affinity != json!({}) {
        spec["affinity"] = affinity;
    }
}

fn term(dice: &mut Dice, topology: &str, app: &Value) -> Value {
    let mut term = json!({"topologyKey": topology, "labelSelector": {"matchLabels": {"app": app}}});
    match dice.below(6) {
        0 => term["namespaces"] = json!(NAMESPACES),
        1 => term["namespaceSelector"] = json!({"matchLabels": {"team": "y"}}),
        2 => term["namespaceSelector"] = json!({}),
        _ => {}
    }
    if dice.chance(15) {
        term["matchLabelKeys"] = json!(["rev"]);
    } else if dice.chance(10) {
        term["mismatchLabelKeys"] = json!(["rev"]);
    }
    term
}

fn expression(dice: &mut Dice) -> Value {
    match dice.below(8) {
        0 => json!({"key": ZONE, "operator": "In", "values": [zone(dice), zone(dice)]}),
        1 => json!({"key": ZONE, "operator": "NotIn", "values": [zone(dice)]}),
        2 => json!({"key": "lab.example/cpu", "operator": "Gt", "values": [dice.pick(&["1", "2", "4"])]}),
        3 => json!({"key": "lab.example/cpu", "operator": "Lt", "values": [dice.pick(&["9", "17"])]}),
        4 => json!({"key": "rack", "operator": dice.pick(&["Exists", "DoesNotExist"])}),
        5 => json!({"key": "disk", "operator": "NotIn", "values": ["hdd"]}),
        6 => json!({"key": KIND, "operator": "In", "values": [dice.pick(&["spot", "on-demand"])]}),
        _ => json!({"key": "node.kubernetes.io/instance-type", "operator": "NotIn", "values": ["t1"]}),
    }
}
