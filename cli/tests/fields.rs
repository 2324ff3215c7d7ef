//! Fields and kinds that do not exist are told of, and refused under
//! `--strict`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::path::Path;

use support::{Run, Scratch, deployment, pipe, run, shared};

const SLIPS: [(&str, &str, &str); 5] = [
    (
        "containers:",
        "initContainers:",
        "Deployment web: spec.template.spec.containers: a pod needs at least one container",
    ),
    ("replicas: 2", "replica: 2", "Deployment web: spec.replica: there is no such field; did you mean replicas?"),
    (
        "requests:",
        "requets:",
        "Deployment web: spec.template.spec.containers[0].resources.requets: there is no such field; did you mean \
         requests?",
    ),
    (
        "containers:",
        "nodeSelectr: {disk: ssd}\n      containers:",
        "Deployment web: spec.template.spec.nodeSelectr: there is no such field; did you mean nodeSelector?",
    ),
    (
        "replicas: 2",
        "replicas: 2\n  nodeName: n",
        "Deployment web: spec.nodeName: there is no such field here; it belongs in spec.template.spec",
    ),
];

/// Warnings about fields and kinds.
fn slips(ran: &Run) -> Vec<String> {
    let answer = ran.json();
    let all = answer["warnings"].as_array().unwrap().iter().map(|w| w.as_str().unwrap().to_owned());
    let told = ["there is no such field", "did you mean", "it belongs to", "at least one container"];
    all.filter(|w| told.iter().any(|t| w.contains(t))).collect()
}

#[test]
fn a_misspelt_field_is_told_with_its_path_and_refused_under_strict() {
    let scratch = Scratch::new("slips");
    for (i, (line, with, words)) in SLIPS.iter().enumerate() {
        let good = deployment("web", 2, "1", "1Gi");
        assert!(good.contains(line), "{line}");
        let file = scratch.file(&format!("{i}.yaml"), &good.replacen(line, with, 1));
        let plan = |more: &[&str]| run(&[&["plan", "-f", &file, "--deadline", "200ms", "-o", "json"], more].concat());
        assert_eq!(slips(&plan(&[])), [format!("{file}, document 1 (line 1): {words}")]);
        let strict = plan(&["--strict"]);
        assert_eq!(strict.code, 1);
        assert!(strict.out.is_empty() && strict.err.contains(words), "{}", strict.err);
    }
}

#[test]
fn sound_objects_pass_under_strict() {
    let quickstart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/quickstart").display().to_string();
    let ran = run(&["plan", "-f", &quickstart, "--strict", "--deadline", "200ms", "-o", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(slips(&ran), [""; 0]);
    let Some(files) = shared("scenarios/files") else { return };
    for entry in std::fs::read_dir(files).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        let objects: Vec<_> = std::fs::read_dir(&entry).unwrap().map(|e| e.unwrap().path()).collect();
        let objects = objects.iter().filter(|p| !p.file_name().unwrap().to_string_lossy().contains("catalog"));
        for file in objects.filter(|p| p.extension().is_some_and(|e| e == "yaml")) {
            let text = std::fs::read_to_string(file).unwrap();
            if !text.contains("kind: ") {
                continue;
            }
            let ran = run(&["plan", "-f", &file.display().to_string(), "--strict", "--deadline", "50ms", "-o", "json"]);
            for told in ["there is no such field", "did you mean"] {
                assert!(!ran.err.contains(told), "{}: {}", file.display(), ran.err);
            }
        }
    }
}

#[test]
fn a_misspelt_kind_is_more_than_skipped() {
    let text = deployment("web", 2, "1", "1Gi");
    let other = |from: &str, to: &str| deployment("api", 1, "1", "1Gi").replacen(from, to, 1);
    let ask = |object: &str| {
        let input = format!("{text}---\n{object}");
        slips(&pipe(&["plan", "-f", "-", "--deadline", "200ms", "-o", "json"], &input))
    };
    let place = "standard input, document 2 (line 23)";
    let cases = [
        (
            other("kind: Deployment", "kind: Deploymnt"),
            "Deploymnt api: kind Deploymnt is not read; did you mean Deployment?",
        ),
        (
            other("kind: Deployment", "kind: deployment"),
            "deployment api: kind deployment is not read; did you mean Deployment?",
        ),
        (
            other("apiVersion: apps/v1\n", ""),
            "Deployment api: Deployment with no apiVersion is not read: it belongs to the API group apps",
        ),
        (
            other("apps/v1", "v1"),
            "Deployment api: Deployment with apiVersion v1 is not read: it belongs to the API group apps",
        ),
    ];
    for (object, words) in cases {
        let told = ask(&object);
        assert!(
            told.len() == 1 && told[0].starts_with(place) && told[0].ends_with(words),
            "{told:?} instead of {words}"
        );
    }
    // Kinds of others are not judged by their likeness.
    for kind in ["ConfigMap", "CronJob", "Role", "Secret", "Ingress", "Lease", "ServiceAccount", "PodGroup"] {
        assert_eq!(ask(&format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: x}}\n")), [""; 0], "{kind}");
    }
    for (version, kind) in
        [("serving.knative.dev/v1", "Service"), ("eks.amazonaws.com/v1", "NodeClass"), ("batch.volcano.sh/v1", "Job")]
    {
        assert_eq!(ask(&format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\n")), [""; 0], "{kind}");
    }
}

#[test]
fn one_slip_in_many_objects_is_told_once() {
    let pod = |i: usize| {
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"p{i}\"}},\"spec\":{{\"tolerationz\":[],\
             \"containers\":[{{\"name\":\"c\"}},{{\"name\":\"d\",\"imagee\":\"x\"}}]}}}}"
        )
    };
    let list = format!("{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{},{},{}]}}", pod(0), pod(1), pod(2));
    let told = slips(&pipe(&["plan", "-f", "-", "--deadline", "200ms", "-o", "json"], &list));
    assert_eq!(
        told,
        [
            "standard input, document 1 (line 1): Pod p0: spec.tolerationz: there is no such field; did you mean \
             tolerations? (so in 2 more objects)",
            "standard input, document 1 (line 1): Pod p0: spec.containers[1].imagee: there is no such field; did you \
             mean image? (so in 2 more objects)",
        ]
    );
}

#[test]
fn what_an_api_server_handed_out_is_not_judged() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p, UID}, spec: {ofTomorrow: 1, containers: [{name: c}]}}";
    let ask = |uid: &str| {
        slips(&pipe(&["plan", "-f", "-", "--deadline", "200ms", "-o", "json"], &pod.replace("UID", uid))).len()
    };
    assert_eq!((ask("uid: 0c1d"), ask("namespace: default")), (0, 1));
    let json = |uid: &str| {
        let text = format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"p\"{uid}}},\"spec\":{{\"ofTomorrow\":1,\
             \"containers\":[{{\"name\":\"c\"}}]}}}}"
        );
        slips(&pipe(&["plan", "-f", "-", "--deadline", "200ms", "-o", "json"], &text)).len()
    };
    assert_eq!((json(",\"uid\":\"0c1d\""), json("")), (0, 1));
}
