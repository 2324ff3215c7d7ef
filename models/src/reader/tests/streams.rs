use super::*;

#[test]
fn every_form_of_stream_is_read() {
    let list = format!("apiVersion: v1\nitems:\n- {POD}\nkind: List\nmetadata: {{resourceVersion: ''}}\n");
    let typed = "kind: PodList\napiVersion: v1\nitems:\n- metadata: {name: a}\n  spec: {containers: [{name: c}]}\n";
    let (a, b) = (pod_json("a"), pod_json("b"));
    let json_list = format!(r#"{{"kind":"List","apiVersion":"v1","items":[{a},{b}]}}"#);
    let json_typed = r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}"#;
    let nested = format!(r#"{{"kind":"List","items":[{json_list}]}}"#);
    for (text, expected) in [
        (POD.to_owned(), 1),
        (list, 1),
        (typed.to_owned(), 1),
        (format!("{a}\n{b}\n"), 2),
        (format!("{a}{b}"), 2),
        (format!("---\n{a}\n---\n# Source: x\n{b}\n---\n# nothing\n---\n"), 2),
        (json_list, 2),
        (json_typed.to_owned(), 1),
        (nested, 2),
        ("# only a comment\n---\n\n".to_owned(), 0),
        ("null".to_owned(), 0),
        (r#"{"kind":"List","apiVersion":"v1","items":null}"#.to_owned(), 0),
    ] {
        assert_eq!(world(&text).pods.len(), expected, "{text}");
    }
}

#[test]
fn null_counts_as_absent_everywhere() {
    let text = r#"
apiVersion: v1
kind: Pod
metadata: {name: a, labels: null, annotations: {x: null}, ownerReferences: null, creationTimestamp: null}
spec:
  nodeName: null
  containers: [{name: c, ports: null, resources: {requests: null, limits: {cpu: null}}}, null]
  tolerations: null
  nodeSelector: null
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists, values: null}]}]}}}
status: null
"#;
    let yaml = world(text);
    assert_eq!(yaml.pods.len(), 1);
    let json = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":null},"spec":{"containers":null}}"#;
    assert_eq!(world(json).pods.len(), 1);
}

#[test]
fn anchors_and_merge_keys_work() {
    let text = "
apiVersion: v1
kind: List
items:
- &p {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: &s {priority: 7, containers: [{name: c}]}}
- {<<: *p, metadata: {name: b}}
";
    let world = world(text);
    assert_eq!(names(&world), ["default/a", "default/b"]);
    assert!(std::sync::Arc::ptr_eq(&world.pods[0].spec, &world.pods[1].spec), "equal specs are shared");
}

#[test]
fn all_bad_objects_are_named_with_file_line_and_field() {
    let bad = "apiVersion: v1\nkind: Pod\nmetadata: {name: bad, namespace: x}\nspec: {containers: [{resources: {requests: {cpu: '-1'}}}]}\n";
    let second = "---\n# c\n---\nkind: Node\napiVersion: v1\nmetadata: {}\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: q}\nspec: {priority: high}\n---\na: [\n";
    let errors = refused(&[bad, second]);
    assert_eq!(errors.len(), 4, "{errors:#?}");
    assert_eq!(
        errors[0],
        "f0.yaml, document 1 (line 1): Pod x/bad: spec.containers[0].resources.requests.cpu: quantity \"-1\" is negative"
    );
    assert!(
        errors[1].starts_with("f1.yaml, document 1 (line 4): Node (no name): metadata.name: missing"),
        "{}",
        errors[1]
    );
    assert!(errors[2].starts_with("f1.yaml, document 2 (line 8): Pod default/q: spec.priority: "), "{}", errors[2]);
    assert!(errors[3].contains("document 3") && errors[3].contains("not YAML"), "{}", errors[3]);
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    for (text, word) in [
        ("just text", "not an object with apiVersion and kind"),
        ("- a\n- b", "a list without kind"),
        ("a: 1\na: 2", "key a is given twice"),
        ("{\"kind\": \"Pod", "neither JSON"),
        ("kind: {{ .Values.kind }}\n", "helm template"),
        ("a: 1", "no kind"),
        ("{\"kind\":5}", "kind"),
        ("{\"kind\":\"Pod\"} x", "not JSON"),
        ("{\"kind\":\"List\",\"items\":3}", "items"),
        ("kind: List\nitems: 3", "not YAML"),
        (
            "{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {containers: [{resources: {requests: {cpu: .nan}}}]}}",
            "is not a quantity",
        ),
        (
            "{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {tolerations: [{key: a, operator: Foo}]}}",
            "spec.tolerations[0].operator",
        ),
        (
            "{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {topologySpreadConstraints: [{maxSkew: 0, topologyKey: z}]}}",
            "maxSkew",
        ),
        (
            "{kind: PodDisruptionBudget, apiVersion: policy/v1, metadata: {name: a}, spec: {minAvailable: half}}",
            "spec.minAvailable",
        ),
        (
            "{kind: PodDisruptionBudget, apiVersion: policy/v1, metadata: {name: a}, spec: {minAvailable: -1}}",
            "spec.minAvailable",
        ),
        ("{kind: Node, apiVersion: v1, metadata: {name: a}, status: {capacity: {cpu: -4}}}", "status.capacity.cpu"),
    ] {
        let errors = refused(&[text]);
        assert!(errors.iter().any(|e| e.contains(word)), "{text}: {errors:?}");
    }
}

#[test]
fn repetitions_are_dropped_and_contradictions_refused() {
    assert_eq!(read(&documents(&[POD, POD]), &ReadOptions::default()).unwrap().pods.len(), 1);
    let errors = refused(&[POD, &POD.replace("250m", "300m")]);
    assert_eq!(
        errors,
        ["Pod default/a is given twice and differs: f0.yaml, document 1 (line 1) and f1.yaml, document 1 (line 1)"]
    );
}

#[test]
fn foreign_kinds_are_skipped_and_counted() {
    let text = "{kind: ConfigMap, apiVersion: v1}\n---\n{kind: ConfigMap, apiVersion: v1}\n---\n{kind: Service, apiVersion: serving.knative.dev/v1}\n---\n{kind: CronJob, apiVersion: batch/v1}\n";
    let world = read(&documents(&[text]), &ReadOptions { default_pools: false }).unwrap();
    assert_eq!(
        world.warnings,
        ["skipped 4 objects of 3 kinds this program does not need: ConfigMap 2, CronJob 1, Service 1"]
    );
    assert!(world.node_pools.is_empty());
}

#[test]
fn deep_nesting_is_an_error() {
    for text in [
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        format!("a: {}", "[".repeat(10_000)),
        "{\"kind\":\"List\",\"items\":[".repeat(5_000) + &"]}".repeat(5_000),
        format!("{}1", "- ".repeat(20_000)),
    ] {
        assert!(read(&documents(&[&text]), &ReadOptions::default()).is_err(), "{}", &text[..20]);
    }
}
