//! Exit codes and messages of the command line itself.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::{Scratch, deployment, pipe, run};

#[test]
fn help_and_version_exit_0() {
    for args in [&["--help"][..], &["--version"], &["plan", "--help"], &["catalog", "show", "--help"]] {
        let ran = run(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
        assert!(!ran.out.is_empty());
    }
}

#[test]
fn wrong_usage_exits_2() {
    let scratch = Scratch::new("usage");
    let file = scratch.file("a.yaml", &deployment("a", 1, "100m", "128Mi"));
    let f = file.as_str();
    let wrong: &[&[&str]] = &[
        &[],
        &["nonsense"],
        &["plan"],
        &["plan", "-f"],
        &["plan", "-f", f, "-o", "pdf"],
        &["plan", "-f", f, "--waves", "1"],
        &["plan", "-f", f, "--disruption-price", "1"],
        &["plan", "-f", f, "--frontier"],
        &["plan", "-f", f, "--deadline", "2"],
        &["plan", "-f", f, "--deadline", "-2s"],
        &["plan", "-f", f, "--engine", "magic"],
        &["plan", "-f", f, "--seed", "x"],
        &["plan", "-f", f, "--iterations", "-1"],
        &["plan", "-f", f, "--spot-types", "0"],
        &["plan", "-f", f, "--now", "yesterday"],
        &["plan", "-f", f, "--preference-policy", "maybe"],
        &["plan", "-f", f, "--min-values-policy", "Loose"],
        &["plan", "-f", f, "--feature-gates", "NodeOverlay"],
        &["plan", "-f", f, "--region", "us-east-1", "--catalog", f],
        &["plan", "-f", f, "stray"],
        &["verify"],
        &["verify", f],
        &["catalog"],
        &["catalog", "show", "--deadline", "1s"],
        &["import-trace", f],
        &["import-trace", "--format", "borg", f],
        &["import-trace", "--format", "tianchi", "--at", "1", f],
        &["import-trace", "--format", "openb", "--at", "-1", f],
    ];
    for args in wrong {
        let ran = run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.out.is_empty(), "{args:?} wrote to standard output");
        assert!(!ran.err.is_empty(), "{args:?} said nothing");
    }
}

#[test]
fn commands_to_come_say_so() {
    for args in [&["simulate", "s"][..], &["lint"], &["catalog", "refresh"], &["catalog", "diff"]] {
        let ran = run(args);
        assert_eq!(ran.code, 1, "{args:?}");
        assert!(ran.err.contains("not available in this version"), "{args:?}: {}", ran.err);
    }
    let help = run(&["--help"]).out;
    assert!(!help.contains("simulate"), "{help}");
}

#[test]
fn a_snapshot_of_no_cluster_says_what_is_missing() {
    let ran = run(&["snapshot", "--kubeconfig", "/nowhere/config"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.is_empty() && ran.err.contains("/nowhere/config"), "{}", ran.err);
}

#[test]
fn crds_are_printed_for_kubectl() {
    let ran = run(&["crds"]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.out.matches("kind: CustomResourceDefinition\n").count(), 5);
    assert_eq!(ran.out.matches("---\n").count(), 5);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::Stdio;
    for args in [&["catalog", "show"][..], &["catalog", "show", "-o", "json"], &["--help"]] {
        let mut child =
            support::command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!err.contains("panicked"), "{args:?}: {err}");
        assert_eq!(output.status.code(), Some(0), "{args:?}: {err}");
    }
}

#[test]
fn nothing_but_the_answer_goes_to_a_pipe() {
    let ran = pipe(&["catalog", "show", "--type", "m7i.large"], "");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(!ran.out.contains('\u{1b}'), "escape codes in a pipe");
}
