//! The walls between the rooms (ARCHITECTURE.md), held by reading sources
//! and cargo's own account of dependencies.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "walls/sources.rs"]
mod sources;

use std::collections::BTreeMap;
use std::process::Command;

use sources::{Source, sources, workspace};

/// Longest file; tables that a script made are no code.
const LINES: usize = 800;

#[test]
fn no_file_is_longer_than_800_lines() {
    let long: Vec<_> = sources(&workspace())
        .into_iter()
        .filter(|s| s.lines() > LINES && !s.path.contains("/generated/"))
        .map(|s| format!("{}: {} lines", s.path, s.lines()))
        .collect();
    assert!(long.is_empty(), "longer than {LINES} lines: {long:#?}");
}

/// Packages of the workspace and the direct dependencies a library build of
/// each has.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(workspace())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let text = |v: &serde_json::Value| v.as_str().expect("a name").to_owned();
    packages
        .iter()
        .map(|p| {
            let direct = p["dependencies"].as_array().expect("dependencies").iter();
            (text(&p["name"]), direct.filter(|d| d["kind"].is_null()).map(|d| text(&d["name"])).collect())
        })
        .collect()
}

#[test]
fn rooms_depend_only_on_rooms_below() {
    let rooms = dependencies();
    let may: [(&str, &[&str]); 11] = [
        ("millwright-client", &[]),
        ("millwright-solver", &[]),
        ("millwright-models", &["millwright-solver"]),
        ("millwright-core", &["millwright-solver", "millwright-models"]),
        ("millwright-runtime", &["millwright-client", "millwright-solver", "millwright-models", "millwright-core"]),
        ("millwright-kwok", &["millwright-models", "millwright-core", "millwright-runtime"]),
        ("millwright-controller", &["millwright-core", "millwright-runtime", "millwright-kwok"]),
        ("millwright-rig", &["millwright-solver", "millwright-models", "millwright-core"]),
        ("millwright-sim", &["millwright-solver", "millwright-models", "millwright-core"]),
        ("millwright", &["millwright-client", "millwright-solver", "millwright-models", "millwright-core"]),
        ("millwright-benches", &["millwright-solver", "millwright-models", "millwright-core"]),
    ];
    for (room, allowed) in may {
        let found = rooms.get(room).unwrap_or_else(|| panic!("no package {room}"));
        let wrong: Vec<_> =
            found.iter().filter(|d| d.starts_with("millwright") && !allowed.contains(&d.as_str())).collect();
        assert!(wrong.is_empty(), "{room} must not depend on {wrong:?}");
    }
}

#[test]
fn only_the_client_the_runtime_and_the_test_room_have_a_kubernetes_client() {
    let with = |crates: &[&str]| -> Vec<String> {
        let has = |d: &[String]| d.iter().any(|d| crates.contains(&d.as_str()));
        dependencies().into_iter().filter(|(_, d)| has(d)).map(|(package, _)| package).collect()
    };
    assert_eq!(with(&["kube"]), ["millwright-client", "millwright-rig", "millwright-runtime"]);
    assert_eq!(with(&["millwright-client"]), ["millwright", "millwright-runtime"]);
    assert_eq!(with(&["millwright-runtime"]), ["millwright-controller", "millwright-kwok"]);
    assert_eq!(with(&["millwright-kwok", "millwright-rig", "millwright-controller"]), ["millwright-controller"]);
}

#[test]
fn inner_rooms_have_no_runtime_and_no_client() {
    let rooms = dependencies();
    for room in ["millwright-solver", "millwright-models", "millwright-core", "millwright-sim"] {
        let banned = |d: &&String| {
            ["tokio", "async", "hyper", "reqwest", "aws-", "kube-client", "clap"].iter().any(|b| d.starts_with(b))
                || *d == "kube"
        };
        let wrong: Vec<_> = rooms[room].iter().filter(banned).collect();
        assert!(wrong.is_empty(), "{room} must not depend on {wrong:?}");
    }
    for name in ["serde", "serde_json", "jiff", "k8s-openapi"] {
        assert!(!rooms["millwright-solver"].iter().any(|d| d == name), "the solver must not depend on {name}");
    }
}

/// Lines of production code in `room` that mention one of `words`.
fn mentions(room: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources(&workspace().join(room).join("src")) {
        for (number, line) in source.production() {
            for word in words.iter().filter(|w| line.contains(**w)) {
                found.push(format!("{}:{number}: {word}", source.path));
            }
        }
    }
    found
}

#[test]
fn inner_rooms_read_no_clock_and_do_no_io() {
    const OUTSIDE: [&str; 14] = [
        "std::fs",
        "std::net",
        "std::env",
        "std::process",
        "std::io",
        "Instant",
        "SystemTime",
        "Timestamp::now",
        "Zoned::now",
        "println!",
        "eprintln!",
        "thread::sleep",
        "thread_rng",
        "from_entropy",
    ];
    for room in ["solver", "models", "controller/core", "controller/sim"] {
        let mut found = mentions(room, &OUTSIDE);
        // A writer that only counts bytes: varisat asks for one.
        found.retain(|line| !(line.contains("solver/src/sat/budget.rs") && line.ends_with("std::io")));
        assert!(found.is_empty(), "{room} reaches outside: {found:#?}");
    }
}

#[test]
fn unsafe_code_stays_in_one_room() {
    let mut found = mentions("solver", &["unsafe "]);
    found.extend(mentions("models", &["unsafe "]));
    found.extend(mentions("controller/core", &["unsafe "]));
    found.extend(mentions("cli", &["unsafe "]));
    found.extend(mentions("benches", &["unsafe "]));
    for room in [
        "controller/client",
        "controller/rig",
        "controller/runtime",
        "controller/kwok",
        "controller/bin",
        "controller/sim",
    ] {
        found.extend(mentions(room, &["unsafe "]));
    }
    found.retain(|line| !line.contains("solver/src/highs"));
    assert!(found.is_empty(), "unsafe outside solver::highs: {found:#?}");
}

/// Modules of the own crate that `source` names.
fn own_modules(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let text: String = source.production().map(|(_, line)| line.to_owned() + "\n").collect();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => found.push(first_word(rest)),
            Some(list) => {
                found.extend(list.split('}').next().unwrap_or_default().split(',').map(|w| first_word(w.trim())))
            }
        }
    }
    found.retain(|w| !w.is_empty());
    found
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn the_checker_trusts_nothing_but_the_problem_the_plan_and_the_certificate() {
    let check: Vec<_> = sources(&workspace().join("solver/src"))
        .into_iter()
        .filter(|s| s.path.contains("/solver/src/check/") || s.path.ends_with("/solver/src/check.rs"))
        .collect();
    if check.is_empty() {
        println!("SKIPPED: there is no solver::check yet");
        return;
    }
    for source in &check {
        for module in own_modules(source) {
            assert!(
                ["instance", "plan", "certificate", "check"].contains(&module.as_str()),
                "{} imports {module}",
                source.path
            );
        }
        let above = "super::".repeat(depth_below("/solver/src/check", &source.path) + 1);
        let lines: Vec<_> = source.production().filter(|(_, l)| l.contains(&above)).collect();
        assert!(lines.is_empty(), "{} climbs out of its room: {lines:?}", source.path);
    }
}

/// How many modules the file at `path` lies below the module `room`.
fn depth_below(room: &str, path: &str) -> usize {
    let inside = path.split_once(room).map_or("", |(_, rest)| rest);
    inside.trim_end_matches(".rs").split('/').filter(|part| !part.is_empty() && *part != "mod").count()
}

#[test]
fn the_problem_statement_stands_alone() {
    for source in sources(&workspace().join("solver/src/instance")) {
        for module in own_modules(&source) {
            assert!(["instance", "plan"].contains(&module.as_str()), "{} imports {module}", source.path);
        }
    }
}

#[test]
fn the_reader_of_sources_sees_through_comments_and_tests() {
    let source = Source {
        path: "x.rs".to_owned(),
        text: "use std::fs; // std::net\n/// unsafe \nlet a = 1;\n#[cfg(test)]\nmod tests {\n    use std::env;\n}\nlet b;\n".to_owned(),
    };
    let seen: Vec<_> = source.production().collect();
    assert_eq!(seen, [(1, "use std::fs; "), (3, "let a = 1;"), (8, "let b;")]);
    let imports =
        Source { path: String::new(), text: "use crate::{plan::Plan, engine};\nuse crate::check::x;".to_owned() };
    assert_eq!(own_modules(&imports), ["plan", "engine", "check"]);
    let depths = ["check.rs", "check/mod.rs", "check/place.rs", "check/proof/mod.rs", "check/proof/form.rs"];
    assert_eq!(depths.map(|f| depth_below("/solver/src/check", &format!("/x/solver/src/{f}"))), [0, 0, 1, 1, 2]);
}
