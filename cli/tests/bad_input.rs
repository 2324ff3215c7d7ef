//! Bad input exits 1 and says which file, which object, which field.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::{Scratch, deployment, pipe, run};

/// A pod with one line replaced.
fn pod(line: &str, with: &str) -> String {
    const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: team\nspec:\n  containers:\n    - name: c\n      \
                       resources:\n        requests:\n          cpu: 100m\n          memory: 64Mi\n";
    assert!(POD.contains(line));
    POD.replacen(line, with, 1)
}

#[test]
fn each_fault_is_named_with_file_object_and_field() {
    let scratch = Scratch::new("faults");
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: np\nspec:\n  template:\n    spec:\n      \
                nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}\n      requirements:\n        \
                - {key: kubernetes.io/arch, operator: Near, values: [amd64]}\n";
    let faults: &[(&str, String, &[&str])] = &[
        ("quantity", pod("100m", "100x"), &["team/p", "cpu"]),
        ("overflow", pod("64Mi", "99999999999Ei"), &["team/p", "memory"]),
        ("negative", pod("100m", "\"-1\""), &["team/p", "cpu"]),
        ("number", deployment("web", 1, "1", "1Gi").replace("replicas: 1", "replicas: many"), &["web", "replicas"]),
        ("minus", deployment("web", 1, "1", "1Gi").replace("replicas: 1", "replicas: -1"), &["web", "replicas"]),
        ("operator", pool.to_owned(), &["np", "requirements"]),
        ("yaml", "kind: Pod\n  metadata: [\n".to_owned(), &[]),
        ("json", "{\"kind\": \"Pod\", ".to_owned(), &[]),
        ("list", pod("  containers:\n", "  containers: 5\n  other:\n"), &["team/p", "containers"]),
        ("no-name", pod("  name: p\n", ""), &["name"]),
    ];
    for (name, text, words) in faults {
        let file = scratch.file(&format!("{name}.yaml"), text);
        let ran = run(&["plan", "-f", &file]);
        assert_eq!(ran.code, 1, "{name}: {}{}", ran.out, ran.err);
        assert!(ran.out.is_empty(), "{name} printed an answer");
        assert!(ran.err.contains(&format!("{name}.yaml")), "{name}: no file in {}", ran.err);
        for word in *words {
            assert!(ran.err.contains(word), "{name}: no {word} in {}", ran.err);
        }
        assert!(!ran.err.contains("panicked"), "{name}: {}", ran.err);
    }
}

#[test]
fn a_directory_reports_every_bad_file_at_once() {
    let scratch = Scratch::new("directory");
    scratch.file("d/good.yaml", &deployment("web", 1, "1", "1Gi"));
    scratch.file("d/one.yaml", &pod("100m", "1q"));
    scratch.file("d/deep/er/two.json", "{]");
    scratch.file("d/ignored.txt", "{]");
    scratch.file("d/three.yml", &(pod("64Mi", "lots") + "---\n" + &pod("100m", "2z").replace("name: p", "name: q")));
    let ran = run(&["plan", "-f", &scratch.path("d"), "-f", "/no/such/path"]);
    assert_eq!(ran.code, 1);
    for word in ["one.yaml", "two.json", "three.yml", "team/p", "team/q", "/no/such/path"] {
        assert!(ran.err.contains(word), "no {word} in {}", ran.err);
    }
    assert!(!ran.err.contains("ignored.txt") && !ran.err.contains("good.yaml"), "{}", ran.err);
}

#[test]
fn an_empty_directory_and_bytes_that_are_no_text_are_refused() {
    let scratch = Scratch::new("empty");
    scratch.file("d/readme.txt", "");
    let ran = run(&["plan", "-f", &scratch.path("d")]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("no .yaml, .yml or .json file"), "{}", ran.err);
    let binary = scratch.path("b.yaml");
    std::fs::write(&binary, [0x6b, 0xff, 0xfe]).unwrap();
    let ran = run(&["plan", "-f", &binary]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("b.yaml") && ran.err.contains("byte 1"), "{}", ran.err);
}

#[test]
fn standard_input_is_named_in_errors() {
    let ran = pipe(&["plan", "-f", "-"], &pod("100m", "100x"));
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("standard input") && ran.err.contains("team/p"), "{}", ran.err);
}

#[test]
fn input_without_any_object_is_no_success() {
    for text in ["", "\n# nothing\n---\n"] {
        let ran = pipe(&["plan", "-f", "-"], text);
        assert_eq!(ran.code, 1, "{}", ran.out);
        assert!(ran.err.contains("no Kubernetes object"), "{}", ran.err);
    }
}

#[test]
fn values_of_a_chart_beside_its_manifests_are_left_out_with_a_warning() {
    let scratch = Scratch::new("values");
    scratch.file("d/web.yaml", &deployment("web", 1, "1", "1Gi"));
    scratch.file("d/values.yaml", "replicas: 3\nimage: {tag: x}\n");
    scratch.file("d/schema.json", "{\"type\": \"object\"}");
    let ran = run(&["plan", "-f", &scratch.path("d"), "--iterations", "3"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for file in ["values.yaml", "schema.json"] {
        assert!(ran.out.contains(&format!("{file}: left out")), "{file}: {}", ran.out);
    }
    let named = run(&["plan", "-f", &scratch.path("d/values.yaml")]);
    assert_eq!(named.code, 1, "named by the user, it must be right");
}

#[test]
fn broken_text_is_explained_in_words_of_the_format() {
    let bomb: String = ('a'..'h')
        .zip('b'..='h')
        .map(|(inner, outer)| format!("{outer}: &{outer} [{}]\n", vec![format!("*{inner}"); 9].join(",")))
        .collect();
    let cases: [(&str, String, &[&str]); 7] = [
        ("key", "kind: Pod\nkind: Pod\n".to_owned(), &["key kind is given twice in one mapping"]),
        ("list", "- kind: Pod\n".to_owned(), &["a list without kind"]),
        ("json-list", "[{\"kind\": \"Pod\"}]".to_owned(), &["a list without kind"]),
        ("word", "hello\n".to_owned(), &["not an object with apiVersion and kind"]),
        ("half", "{\"kind\": \"Pod\", \"metadata\": {\"name".to_owned(), &["neither JSON (EOF", "nor YAML ("]),
        ("chart", "kind: Pod\nmetadata: {name: {{ .Values.name }}}\n".to_owned(), &["helm template"]),
        ("bomb", format!("kind: Pod\na: &a [x,x,x,x,x,x,x,x,x]\n{bomb}"), &["aliases grow without measure"]),
    ];
    for (name, text, words) in cases {
        let ran = pipe(&["plan", "-f", "-"], &text);
        assert_eq!(ran.code, 1, "{name}");
        for word in words {
            assert!(ran.err.contains(word), "{name}: no {word} in {}", ran.err);
        }
    }
}

#[test]
fn a_request_that_no_machine_could_ever_hold_is_a_reason_and_no_error() {
    let ran = pipe(&["plan", "-f", "-", "-o", "json", "--iterations", "1"], &pod("64Mi", "7Ei"));
    assert_eq!(ran.code, 3, "{}", ran.err);
    let unscheduled = &ran.json()["unscheduled"][0];
    assert_eq!(unscheduled["pod"], "team/p");
    assert_eq!(unscheduled["reasons"][0], "requests memory 7Ei, more than any machine has");
    let many = pipe(&["plan", "-f", "-", "-o", "json", "--iterations", "1"], &pod("100m", "\"5000\""));
    let reason = many.json()["unscheduled"][0]["reasons"][0].to_string();
    assert!(reason.contains("requests cpu 5000 (is 5000m meant?)"), "{reason}");
}
