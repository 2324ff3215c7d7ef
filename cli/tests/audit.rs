//! `millwright audit`: fields, exit codes, limits, proof.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use serde_json::Value;
use support::{Run, Scratch, run};

/// No clock decides: fast and the same everywhere.
const ROUNDS: [&str; 4] = ["--iterations", "5", "--now", "2026-11-30T12:00:00Z"];

const CATALOG: &str = "apiVersion: millwright.dev/v1
kind: Catalog
region: r
types:
- {name: m.small, architecture: amd64, operatingSystems: [linux], capacity: {cpu: 2, memory: 8Gi, pods: 30}, \
allocatable: {cpu: 2, memory: 8Gi, pods: 30}, offerings: [{zone: a, capacityType: on-demand, price: 0.1}]}
- {name: m.large, architecture: amd64, operatingSystems: [linux], capacity: {cpu: 8, memory: 32Gi, pods: 60}, \
allocatable: {cpu: 8, memory: 32Gi, pods: 60}, offerings: [{zone: a, capacityType: on-demand, price: 0.4}]}
";

fn pool(budget: &str) -> String {
    format!(
        "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: p}}\nspec:\n  template: {{spec: \
         {{expireAfter: Never, nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}}, requirements: \
         [{{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}]}}}}\n  disruption: \
         {{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, budgets: [{{nodes: '{budget}'}}]}}\n"
    )
}

/// A large node with its claim.
fn node(name: &str) -> String {
    let labels = format!(
        "{{kubernetes.io/hostname: {name}, kubernetes.io/arch: amd64, kubernetes.io/os: linux, \
         node.kubernetes.io/instance-type: m.large, topology.kubernetes.io/zone: a, karpenter.sh/capacity-type: \
         on-demand, karpenter.sh/nodepool: p, karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true'}}"
    );
    let room = "{cpu: 8, memory: 32Gi, pods: 60}";
    format!(
        "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}, creationTimestamp: '2026-11-30T00:00:00Z', labels: \
         {labels}}}\nspec: {{providerID: 'x:///{name}'}}\nstatus: {{allocatable: {room}, capacity: {room}}}\n---\n\
         apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {{name: claim-{name}, labels: {labels}}}\nspec: \
         {{requirements: [], expireAfter: Never, nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: \
         c}}}}\nstatus: {{providerID: 'x:///{name}', nodeName: {name}, allocatable: {room}, capacity: {room}}}\n"
    )
}

fn pod(name: &str, on: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: d, labels: {{app: w}}, ownerReferences: \
         [{{apiVersion: apps/v1, kind: ReplicaSet, name: w, uid: u, controller: true}}]}}\nspec: {{nodeName: {on}, \
         containers: [{{name: c, resources: {{requests: {{cpu: 500m, memory: 1Gi}}}}}}]}}\nstatus: {{phase: Running}}\n"
    )
}

/// Four large nodes with one small pod each.
fn cluster(budget: &str) -> String {
    let each = |i: usize| node(&format!("n{i}")) + &pod(&format!("w{i}"), &format!("n{i}"));
    pool(budget) + &(0..4).map(each).collect::<String>()
}

struct Case {
    scratch: Scratch,
    objects: String,
    catalog: String,
}

impl Case {
    fn new(name: &str, objects: &str) -> Self {
        let scratch = Scratch::new(name);
        let objects = scratch.file("objects.yaml", objects);
        let catalog = scratch.file("catalog.yaml", CATALOG);
        Self { scratch, objects, catalog }
    }

    fn audit(&self, args: &[&str]) -> Run {
        run(&[&["audit", "-f", &self.objects, "--catalog", &self.catalog][..], args, &ROUNDS].concat())
    }

    fn json(&self, args: &[&str]) -> Value {
        let ran = self.audit(&[args, &["-o", "json"]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.json()
    }
}

fn count(value: &Value) -> usize {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list")).len()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn json_has_every_field_of_the_contract() {
    let case = Case::new("audit-contract", &cluster("100%"));
    let json = case.json(&["--disruption-price", "0", "--frontier", "--waves", "all"]);
    assert_eq!(number(&json["current_cost_per_hour"]), 1.6);
    assert_eq!((number(&json["cost_per_hour"]), number(&json["savings_per_hour"])), (0.1, 1.5));
    assert!(number(&json["lower_bound_per_hour"]) <= 0.1 && number(&json["gap"]) >= 0.0);
    assert_eq!(number(&json["ideal"]["cost_per_hour"]), 0.1);
    assert_eq!((count(&json["removed_nodes"]), json["evictions"].as_u64(), count(&json["nodes"])), (4, Some(4), 1));
    assert_eq!(json["nodes"][0]["instance_type"], "m.small");
    assert_eq!(json["nodes"][0]["instance_types"], serde_json::json!(["m.small", "m.large"]));
    let wave = &json["waves"][0];
    assert_eq!((&wave["removed"], &wave["cost_per_hour"]), (&json["removed_nodes"], &json["cost_per_hour"]));
    assert_eq!(count(&wave["pods_moved"]), 4);
    for moved in wave["pods_moved"].as_array().unwrap() {
        assert_eq!(moved["to"], wave["added"][0]["name"], "{moved}");
        assert!(moved["from"].as_str().unwrap().starts_with('n') && moved["pod"].as_str().unwrap().starts_with("d/w"));
    }
    let points: Vec<u64> =
        json["frontier"].as_array().unwrap().iter().map(|p| p["evictions"].as_u64().unwrap()).collect();
    assert!(points.is_sorted() && points.last() == Some(&4), "{points:?}");
    for field in ["engine", "elapsed_ms", "existing", "unscheduled", "blocked", "flexibility_premium", "warnings"] {
        assert!(!json[field].is_null(), "{field}");
    }
    assert!(json["certificate"]["options"]["audit"].is_object());
}

#[test]
fn the_same_cluster_under_karpenters_heuristics() {
    let case = Case::new("audit-baseline", &cluster("100%"));
    let baseline = case.json(&["--disruption-price", "0"])["baseline"].take();
    assert_eq!((number(&baseline["cost_per_hour"]), baseline["nodes"].as_u64()), (0.1, Some(1)), "{baseline}");
    assert_eq!((&baseline["engine"], &baseline["finished"]), (&"karpenter-consolidation".into(), &true.into()));
    let command = &baseline["commands"][0];
    assert_eq!((count(&baseline["commands"]), &command["method"]), (1, &"MultiNodeConsolidation".into()));
    assert_eq!((count(&command["removed"]), &command["added"][0]["instance_type"]), (4, &"m.small".into()));
    let table = case.audit(&["--disruption-price", "0"]).out;
    assert!(table.contains("Karpenter's heuristics"), "{table}");
    // One by one under a budget of one.
    let case = Case::new("audit-baseline-budget", &cluster("1"));
    let baseline = case.json(&["--disruption-price", "0"])["baseline"].take();
    assert_eq!((number(&baseline["cost_per_hour"]), count(&baseline["commands"])), (0.1, 4), "{baseline}");
}

#[test]
fn somebody_elses_moves_are_judged() {
    let proposal = "apiVersion: millwright.dev/v1\nkind: Proposal\nremove: [n0, n1, claim-n2]\n";
    let case = Case::new("audit-against", &cluster("100%"));
    let file = case.scratch.file("proposal.yaml", proposal);
    let args = ["--disruption-price", "0", "--against", &file];
    let judged = case.json(&args)["against"].take();
    assert_eq!((&judged["legal"], count(&judged["removed_nodes"]), &judged["evictions"]), (&true.into(), 3, &3.into()));
    assert_eq!((number(&judged["cost_per_hour"]), number(&judged["best_cost_per_hour"])), (0.4, 0.1));
    assert!(number(&judged["gap"]) >= 3.0 && number(&judged["lower_bound_per_hour"]) <= 0.1, "{judged}");
    let table = case.audit(&args).out;
    assert!(table.contains("Legal now") && table.contains("more than the wave above"), "{table}");
    // The same under a budget of one.
    let case = Case::new("audit-against-budget", &cluster("1"));
    let file = case.scratch.file("proposal.yaml", proposal);
    let judged = case.json(&["--disruption-price", "0", "--against", &file])["against"].take();
    assert_eq!(judged["legal"], false);
    assert!(judged["broken"][0].as_str().unwrap().contains("1 of 4 nodes at once is exceeded"), "{judged}");
    // Karpenter's log.
    let line = r#"{"level":"INFO","message":"disrupting node(s)","decision":"replace","disrupted-nodes":[{"Node":{"name":"n0"},"NodeClaim":{"name":"claim-n0"},"capacity-type":"on-demand","instance-type":"m.large"}],"replacement-nodes":[{"capacity-type":"on-demand","instance-types":"m.small"}]}"#;
    let log = case.scratch.file("karpenter.log", &format!("{{\"message\":\"tainted node\"}}\n{line}\n"));
    let judged = case.json(&["--disruption-price", "0", "--against", &log])["against"].take();
    assert_eq!((number(&judged["cost_per_hour"]), &judged["nodes"][0]["instance_type"]), (1.3, &"m.small".into()));
    let wrong = case.scratch.file("wrong.yaml", "apiVersion: millwright.dev/v1\nkind: Proposal\nremove: [nobody]\n");
    let ran = case.audit(&["--against", &wrong]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("nobody"), "{}", ran.err);
}

#[test]
fn a_budget_cuts_the_wave_and_the_next_ones_follow() {
    let case = Case::new("audit-budget", &cluster("1"));
    let json = case.json(&["--disruption-price", "0", "--waves", "all"]);
    assert_eq!(count(&json["removed_nodes"]), 1);
    assert!(count(&json["waves"]) >= 3, "{}", json["waves"]);
    let waves = json["waves"].as_array().unwrap();
    assert!(waves.iter().all(|w| count(&w["removed"]) == 1), "{waves:?}");
    let costs: Vec<f64> = waves.iter().map(|w| number(&w["cost_per_hour"])).collect();
    assert!(costs.is_sorted_by(|a, b| a > b), "{costs:?}");
    assert_eq!(costs.last(), Some(&0.1));
    assert_eq!(number(&json["ideal"]["cost_per_hour"]), 0.1);
    let stays = json["blocked"].as_array().unwrap();
    assert_eq!(stays.len(), 3);
    assert!(stays.iter().any(|b| b["reasons"][0].as_str().unwrap().contains("1 of 4 nodes at once")), "{stays:?}");
}

#[test]
fn limits_and_the_price_on_disruption_hold_it_back() {
    let case = Case::new("audit-limits", &cluster("100%"));
    let json = case.json(&["--disruption-price", "0", "--max-evictions", "2"]);
    assert!(json["evictions"].as_u64() <= Some(2) && number(&json["cost_per_hour"]) < 1.6, "{json}");
    let json = case.json(&["--disruption-price", "0", "--max-removed", "1"]);
    assert_eq!(count(&json["removed_nodes"]), 1);
    let json = case.json(&["--disruption-price", "1"]);
    assert_eq!((count(&json["removed_nodes"]), number(&json["cost_per_hour"])), (0, 1.6));
    assert!(
        json["blocked"][0]["reasons"][0].as_str().unwrap().contains("its disruption is taken to cost"),
        "{}",
        json["blocked"]
    );
}

#[test]
fn savings_above_the_tolerance_exit_3() {
    let case = Case::new("audit-fail", &cluster("100%"));
    assert_eq!(case.audit(&["--disruption-price", "0", "--fail-above", "1.4"]).code, 3);
    let fine = case.audit(&["--disruption-price", "0", "--fail-above", "1.5"]);
    assert_eq!(fine.code, 0);
    assert!(fine.out.contains("Cost now") && fine.out.contains("$1.6000"), "{}", fine.out);
    assert_eq!(case.audit(&["--disruption-price", "-1"]).code, 2);
    let claims = case.audit(&["--disruption-price", "0", "-o", "yaml"]);
    assert!(claims.out.contains("kind: NodeClaim") && claims.out.contains("# remove: n0"), "{}", claims.out);
}

#[test]
fn the_proof_holds_and_a_changed_audit_does_not() {
    let case = Case::new("audit-verify", &cluster("2"));
    let json = case.json(&["--disruption-price", "0.01"]);
    let verify = |name: &str, json: &Value| {
        let file = case.scratch.file(name, &json.to_string());
        run(&["verify", &file, "-f", &case.objects, "--catalog", &case.catalog])
    };
    let ran = verify("good.json", &json);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let all = Value::from(["n0", "n1", "n2", "n3"].map(Value::from).to_vec());
    for (field, value) in [
        ("cost_per_hour", Value::from(0.05)),
        ("lower_bound_per_hour", Value::from(9.0)),
        ("current_cost_per_hour", Value::from(2.0)),
        ("evictions", Value::from(0)),
        ("removed_nodes", all),
        ("existing", Value::from(Vec::<Value>::new())),
    ] {
        let mut changed = json.clone();
        changed[field] = value;
        let ran = verify("bad.json", &changed);
        assert_eq!(ran.code, 1, "{field}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn nodes_that_nobody_manages_go_only_if_asked_for() {
    let bare = |i: usize| node(&format!("n{i}")).split("---\napiVersion: karpenter.sh/v1").next().unwrap().to_owned();
    let with_claim = pool("100%") + &node("n0") + &pod("w0", "n0") + &bare(1) + &pod("w1", "n1");
    let case = Case::new("audit-unmanaged", &with_claim);
    let json = case.json(&["--disruption-price", "0"]);
    assert_eq!(json["removed_nodes"], serde_json::json!(["n0"]));
    let json = case.json(&["--disruption-price", "0", "--include-unmanaged"]);
    assert_eq!(count(&json["removed_nodes"]), 2);
    let case = Case::new("audit-no-claims", &(pool("100%") + &bare(0) + &pod("w0", "n0") + &bare(1)));
    let json = case.json(&["--disruption-price", "0"]);
    assert_eq!((count(&json["removed_nodes"]), number(&json["cost_per_hour"])), (2, 0.1));
}

impl Case {
    fn explain(&self, node: &str) -> Run {
        let args = ["explain", "node", node, "-f", &self.objects, "--catalog", &self.catalog, "-o", "json"];
        run(&[&args[..], &["--disruption-price", "0"], &ROUNDS].concat())
    }
}

fn changes(answer: &Value) -> Vec<Vec<&str>> {
    let each = answer["relaxations"].as_array().unwrap().iter().map(|r| r["changes"].as_array().unwrap());
    each.map(|list| list.iter().map(|t| t.as_str().unwrap()).collect()).collect()
}

#[test]
fn a_node_that_goes_says_where_its_pods_go() {
    let answer = Case::new("node-goes", &cluster("100%")).explain("n0").json();
    assert_eq!(answer["state"], "goes", "{answer:#}");
    assert_eq!(answer["pods_moved"][0]["pod"], "d/w0");
    assert_eq!(count(&answer["reasons"]), 0);
}

#[test]
fn a_node_that_a_budget_holds_names_it_and_what_would_help() {
    let answer = Case::new("node-budget", &cluster("0")).explain("n0").json();
    assert_eq!(answer["state"], "stays");
    assert!(answer["reasons"][0].as_str().unwrap().contains("budget"), "{answer:#}");
    let changes = changes(&answer);
    assert!(changes.iter().any(|c| c.len() == 1 && c[0].contains("disrupt more nodes at once")), "{answer:#}");
    assert!(number(&answer["relaxations"][0]["savings_per_hour"]) > 0.0, "{answer:#}");
}

#[test]
fn two_things_that_hold_a_node_are_named_together() {
    let annotated = "metadata: {name: w0, annotations: {karpenter.sh/do-not-disrupt: 'true'}, ";
    let input = cluster("0").replace("metadata: {name: w0, ", annotated);
    let answer = Case::new("node-two", &input).explain("n0").json();
    let changes = changes(&answer);
    assert_eq!(changes.len(), 1, "{answer:#}");
    assert_eq!(changes[0].len(), 2, "{answer:#}");
    assert!(changes[0][0].contains("off d/w0") && changes[0][1].contains("disrupt more nodes"), "{answer:#}");
}

#[test]
fn an_unknown_node_is_an_error_with_a_hint() {
    let ran = Case::new("node-unknown", &cluster("0")).explain("claim-n1");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("there is no node claim-n1; is n1 meant?"), "{}", ran.err);
}

#[test]
fn no_bound_is_below_that_of_the_ideal() {
    let case = Case::new("audit-bounds", &cluster("100%"));
    for price in ["0", "0.05", "0.2", "1"] {
        let json = case.json(&["--disruption-price", price]);
        let bound = number(&json["lower_bound_per_hour"]);
        let told = json["claimed_bound_per_hour"].as_f64().unwrap_or(bound).max(bound);
        let ideal = number(&json["ideal"]["lower_bound_per_hour"]);
        assert!(told + 1e-6 >= ideal, "price {price}: {told} below {ideal}");
        assert!(told <= number(&json["cost_per_hour"]) + 1e-6, "price {price}: {json}");
    }
    let table = case.audit(&["--disruption-price", "1"]);
    assert!(!table.out.contains("no plan can be cheaper"), "{}", table.out);
}

#[test]
fn a_node_on_its_way_out_does_not_stay() {
    let gone =
        node("n0").replacen("creationTimestamp", "deletionTimestamp: '2026-11-30T11:00:00Z', creationTimestamp", 1);
    let text = cluster("0").replacen(&node("n0"), &gone, 1);
    assert!(text.contains("deletionTimestamp"));
    let json = Case::new("audit-leaving", &text).json(&[]);
    let blocked: Vec<_> = json["blocked"].as_array().unwrap().iter().map(|b| b["node"].as_str().unwrap()).collect();
    assert_eq!(blocked, ["n1", "n2", "n3"]);
    assert!(json["warnings"].to_string().contains("1 node on the way out"), "{}", json["warnings"]);
}

#[test]
fn a_node_whose_price_is_not_known_is_told_in_every_command() {
    let text = cluster("0").replacen("instance-type: m.large", "instance-type: m.huge", 2);
    let case = Case::new("audit-unpriced", &text);
    let told = |json: &Value| json["warnings"].to_string().matches("the price of 1 node is not known").count();
    assert_eq!(told(&case.json(&[])), 1);
    let plan = run(&["plan", "-f", &case.objects, "--catalog", &case.catalog, "-o", "json", "--iterations", "1"]);
    assert_eq!(told(&plan.json()), 1);
}
