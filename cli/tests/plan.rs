//! `millwright plan`: exit codes, formats, order of the input.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::path::Path;

use serde_json::Value;
use support::{Scratch, deployment, pipe, run};

const QUICKSTART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/quickstart");

/// No clock decides: fast and the same everywhere.
const ROUNDS: [&str; 2] = ["--iterations", "5"];

fn plan(args: &[&str]) -> support::Run {
    run(&[&["plan"][..], args, &ROUNDS].concat())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn json_has_every_field_of_the_contract() {
    let scratch = Scratch::new("contract");
    let file = scratch.file("a.yaml", &deployment("web", 7, "900m", "1Gi"));
    let ran = plan(&["-f", &file, "-o", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json = ran.json();
    let (cost, bound, gap) =
        (number(&json["cost_per_hour"]), number(&json["lower_bound_per_hour"]), number(&json["gap"]));
    assert!(
        cost > 0.0 && bound > 0.0 && bound <= cost && (gap - (cost / bound - 1.0)).abs() < 1e-9,
        "{cost} {bound} {gap}"
    );
    assert!(number(&json["elapsed_ms"]) >= 0.0 && json["engine"].is_string());
    let nodes = json["nodes"].as_array().expect("nodes");
    let sum: f64 = nodes.iter().map(|n| number(&n["price_per_hour"])).sum();
    assert!((sum - cost).abs() < 1e-6, "{sum} {cost}");
    let mut pods: Vec<&str> = Vec::new();
    for node in nodes {
        for field in ["pool", "instance_type", "zone", "capacity_type"] {
            assert!(node[field].as_str().is_some_and(|t| !t.is_empty()), "{field}: {node}");
        }
        let types = node["instance_types"].as_array().expect("types");
        assert!(types.contains(&node["instance_type"]) && types.len() >= 3, "{node}");
        pods.extend(node["pods"].as_array().expect("pods").iter().filter_map(Value::as_str));
    }
    pods.sort_unstable();
    assert_eq!(pods, (0..7).map(|i| format!("default/web-{i}")).collect::<Vec<_>>());
    assert_eq!(
        (&json["existing"], &json["unscheduled"]),
        (&Value::from(Vec::<Value>::new()), &Value::from(Vec::<Value>::new()))
    );
    assert!(json["baseline"]["engine"].is_string());
    assert!(number(&json["baseline"]["cost_per_hour"]) > 0.0 && json["baseline"]["nodes"].as_u64() > Some(0));
    assert!(number(&json["flexibility_premium"]) >= 0.0 && json["certificate"].is_object());
    let said = json["warnings"].as_array().expect("warnings");
    assert!(
        said.iter().any(|w| w.as_str().is_some_and(|w| w.contains("NodePool"))),
        "the default pool is told: {said:?}"
    );
}

#[test]
fn pods_without_a_place_exit_3_with_a_reason() {
    let scratch = Scratch::new("unscheduled");
    let text = deployment("fits", 2, "500m", "512Mi") + "---\n" + &deployment("giant", 1, "9000", "1Gi");
    let file = scratch.file("a.yaml", &text);
    let ran = plan(&["-f", &file, "-o", "json"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let json = ran.json();
    let left = json["unscheduled"].as_array().expect("a list");
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["pod"], "default/giant-0");
    let reasons = left[0]["reasons"].as_array().expect("reasons");
    assert!(reasons.iter().any(|r| r.as_str().is_some_and(|r| r.contains("cpu"))), "{reasons:?}");
    let table = plan(&["-f", &file]);
    assert_eq!(table.code, 3);
    assert!(table.out.contains("Without a place: 1 pod") && table.out.contains("default/giant-0"), "{}", table.out);
}

#[test]
fn nothing_to_place_costs_nothing() {
    let ran = pipe(&["plan", "-f", "-", "-o", "json"], "apiVersion: v1\nkind: Namespace\nmetadata: {name: empty}\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json = ran.json();
    assert_eq!((number(&json["cost_per_hour"]), number(&json["gap"])), (0.0, 0.0));
    assert_eq!(json["nodes"].as_array().map(Vec::len), Some(0));
}

#[test]
fn standard_input_equals_the_file() {
    let scratch = Scratch::new("stdin");
    let text = deployment("a", 5, "700m", "2Gi");
    let file = scratch.file("a.yaml", &text);
    let piped = pipe(&[&["plan", "-f", "-", "-o", "json"][..], &ROUNDS].concat(), &text);
    assert_eq!(piped.code, 0, "{}", piped.err);
    assert_eq!(piped.json()["nodes"], plan(&["-f", &file, "-o", "json"]).json()["nodes"]);
}

#[test]
fn the_order_of_documents_and_files_changes_nothing() {
    let scratch = Scratch::new("shuffle");
    let documents: Vec<String> = std::fs::read_dir(QUICKSTART)
        .expect("the quickstart")
        .map(|e| std::fs::read_to_string(e.expect("an entry").path()).expect("text"))
        .flat_map(|text| text.split("\n---\n").map(|d| d.trim_end().to_owned() + "\n").collect::<Vec<_>>())
        .collect();
    let expected = plan(&["-f", QUICKSTART, "-o", "json"]);
    assert_eq!(expected.code, 0, "{}", expected.err);
    let expected = expected.json();
    for step in [7, 11, 13] {
        let n = documents.len();
        let step = (step..).find(|s| gcd(*s, n) == 1).expect("a step");
        let shuffled: Vec<&str> = (0..n).map(|i| documents[i * step % n].as_str()).collect();
        let (first, second) = shuffled.split_at(n / 2);
        let a = scratch.file(&format!("{step}-z.yaml"), &first.join("---\n"));
        let b = scratch.file(&format!("{step}-a.yaml"), &second.join("---\n"));
        let other = plan(&["-f", &a, "-f", &b, "-o", "json"]).json();
        assert_eq!(other["nodes"], expected["nodes"], "step {step}");
        assert_eq!(other["lower_bound_per_hour"], expected["lower_bound_per_hour"], "step {step}");
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn the_quickstart_beats_first_fit_and_uses_both_pools() {
    let ran = plan(&["-f", QUICKSTART, "--region", "us-east-1", "-o", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json = ran.json();
    assert!(number(&json["cost_per_hour"]) < number(&json["baseline"]["cost_per_hour"]), "{}", json["baseline"]);
    let pools: std::collections::BTreeSet<&str> =
        json["nodes"].as_array().expect("nodes").iter().filter_map(|n| n["pool"].as_str()).collect();
    assert_eq!(pools.into_iter().collect::<Vec<_>>(), ["general", "gpu"]);
    let table = plan(&["-f", QUICKSTART]);
    for word in ["Lower bound", "Baseline", "per month", "total", "gpu"] {
        assert!(table.out.contains(word), "no {word:?} in\n{}", table.out);
    }
    assert!(table.out.lines().all(|l| l.chars().count() <= 100), "wider than 100 columns:\n{}", table.out);
}

#[test]
fn yaml_is_a_stream_of_node_claims() {
    let ran = plan(&["-f", QUICKSTART, "-o", "yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json = plan(&["-f", QUICKSTART, "-o", "json"]).json();
    let claims: Vec<Value> = ran
        .out
        .split("---\n")
        .skip(1)
        .map(|d| serde_saphyr::from_str(d).unwrap_or_else(|e| panic!("{e}: {d}")))
        .collect();
    assert_eq!(claims.len(), json["nodes"].as_array().map_or(0, Vec::len));
    for claim in &claims {
        assert_eq!((&claim["kind"], &claim["apiVersion"]), (&"NodeClaim".into(), &"karpenter.sh/v1".into()));
        assert!(claim["metadata"]["name"].is_string() || claim["metadata"]["generateName"].is_string(), "{claim}");
        assert!(claim["spec"]["nodeClassRef"]["name"].is_string(), "{claim}");
        for requirement in claim["spec"]["requirements"].as_array().expect("requirements") {
            let values = requirement["values"].as_array().into_iter().flatten();
            assert!(values.clone().all(Value::is_string), "values are text: {requirement}");
        }
    }
}

#[test]
fn a_plan_verifies_and_a_false_one_does_not() {
    let scratch = Scratch::new("verify");
    let ran = plan(&["-f", QUICKSTART, "-o", "json"]);
    let file = scratch.file("plan.json", &ran.out);
    let ok = run(&["verify", &file, "-f", QUICKSTART, "-o", "json"]);
    assert_eq!(ok.code, 0, "{}{}", ok.out, ok.err);
    assert_eq!(ok.json()["ok"], true);
    let mut wrong = ran.json();
    let cheap = number(&wrong["lower_bound_per_hour"]) + 1.0;
    wrong["lower_bound_per_hour"] = cheap.into();
    let file = scratch.file("wrong.json", &wrong.to_string());
    let refuted = run(&["verify", &file, "-f", QUICKSTART, "-o", "json"]);
    assert_eq!(refuted.code, 1, "{}{}", refuted.out, refuted.err);
    assert!(!refuted.json()["broken"].as_array().expect("a list").is_empty());
}

#[test]
fn more_machines_or_lower_prices_never_cost_more() {
    let scratch = Scratch::new("monotone");
    let objects = scratch.file("a.yaml", &deployment("a", 9, "1300m", "3Gi"));
    let shown = run(&["catalog", "show", "--type", "m7i", "--type", "c7i", "--type", "r7i", "-o", "json"]).json();
    let cost = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut catalog = shown.clone();
        change(&mut catalog);
        let file = scratch.file(name, &catalog.to_string());
        let ran = plan(&["-f", &objects, "--catalog", &file, "-o", "json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        number(&ran.json()["cost_per_hour"])
    };
    let all = cost("all.json", &|_| {});
    let fewer = cost("fewer.json", &|c| {
        c["types"].as_array_mut().expect("types").retain(|t| t["name"].as_str().is_some_and(|n| !n.starts_with('c')));
    });
    let cheaper = cost("cheaper.json", &|c| {
        for t in c["types"].as_array_mut().expect("types") {
            for o in t["offerings"].as_array_mut().expect("offerings") {
                o["price"] = (number(&o["price"]) * 0.5).into();
            }
        }
    });
    assert!(all <= fewer && cheaper < all, "all {all}, fewer {fewer}, cheaper {cheaper}");
}

#[test]
fn the_quickstart_is_where_the_tests_expect_it() {
    assert!(Path::new(QUICKSTART).is_dir());
}

#[test]
fn a_pool_that_can_buy_nothing_says_why() {
    let pool = |requirement: &str| {
        format!(
            "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: np}}\nspec: {{template: {{spec: \
             {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}}, requirements: [{requirement}]}}}}}}\n"
        )
    };
    let cases = [
        ("{key: karpenter.sh/capacity-type, operator: In, values: [spot]}", "allow on-demand"),
        ("{key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a]}", "--region"),
        ("{key: karpenter.k8s.aws/instance-family, operator: In, values: [nosuch]}", "nosuch"),
    ];
    for (requirement, word) in cases {
        let input = deployment("web", 1, "1", "1Gi") + &pool(requirement);
        let ran = pipe(&["plan", "-f", "-", "--iterations", "3", "-o", "json"], &input);
        assert_eq!(ran.code, 3, "{requirement}: {}", ran.err);
        let answer = ran.json();
        let reason = answer["unscheduled"][0]["reasons"][0].as_str().unwrap();
        assert!(reason.contains("NodePool np can buy nothing") && reason.contains(word), "{requirement}: {reason}");
    }
}

#[test]
fn volumes_that_are_not_in_the_input_are_told() {
    let pod = |claim: &str, place: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p-{claim}}}\nspec: {{{place}containers: [{{name: c, \
             resources: {{requests: {{cpu: 1, memory: 1Gi}}}}}}], volumes: [{{name: v, persistentVolumeClaim: \
             {{claimName: {claim}}}}}]}}\n"
        )
    };
    let bound = "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: bound}\nspec: {volumeName: pv-1}\n";
    let input = pod("absent", "") + &pod("bound", "nodeName: n, ") + bound;
    let ran = pipe(&["plan", "-f", "-", "--iterations", "3"], &input);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let out = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("1 PersistentVolumeClaim is not in the input") && out.contains("default/absent"), "{out}");
    assert!(out.contains("1 PersistentVolume is not in the input") && out.contains("pv-1"), "{out}");
}
