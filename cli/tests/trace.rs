//! `millwright import-trace` on the published traces.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::{Scratch, run, shared};

fn imported(format: &str, file: &str, more: &[&str]) -> Option<support::Run> {
    let path = shared("data/traces")?.join(file).display().to_string();
    let ran = run(&[&["import-trace", "--format", format, &path], more].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    Some(ran)
}

/// Pods that a stream of Deployments makes.
fn pods(stream: &str) -> u64 {
    let documents = stream.split("---\n").skip(1).map(|d| serde_json::from_str::<serde_json::Value>(d).expect("JSON"));
    documents.filter_map(|d| d["spec"]["replicas"].as_u64()).sum()
}

#[test]
fn every_published_trace_is_read_whole() {
    for (format, file, more, count) in [
        ("openb", "openb-pods.csv.gz", &[][..], 8152),
        ("openb", "openb-pods.csv.gz", &["--gpu-spec33"], 8152),
        ("openb", "openb-pods.csv.gz", &["--limit", "1000"], 1000),
        ("tianchi", "tianchi-apps.csv.gz", &[], 68_224),
        ("dlrm", "dlrm-pods.csv.gz", &[], 23_871),
        ("dlrm", "dlrm-pods.csv.gz", &["--at", "0"], 7280),
    ] {
        let Some(ran) = imported(format, file, more) else { return };
        assert_eq!(pods(&ran.out), count, "{format} {more:?}");
        assert!(ran.out.starts_with(&format!("# {count} pods in ")), "{format} {more:?}");
    }
}

#[test]
fn what_is_dropped_is_counted_on_both_streams() {
    for (format, file, note) in [
        ("openb", "openb-pods.csv.gz", "3,078 pods with a part of a GPU"),
        ("tianchi", "tianchi-apps.csv.gz", "10,934 limits j:k with k > 0: dropped"),
        ("dlrm", "dlrm-pods.csv.gz", "23,871 pods with a share of an RDMA card: the share is dropped"),
    ] {
        let Some(ran) = imported(format, file, &[]) else { return };
        assert!(ran.err.contains(note), "{format}: {}", ran.err);
        assert!(ran.out.lines().any(|l| l.starts_with('#') && l.contains(note)), "{format}");
    }
}

#[test]
fn azure_gives_the_vms_of_one_moment() {
    let Some(early) = imported("azure", "azure-v1-vms.csv.gz", &["--at", "3600"]) else { return };
    let Some(late) = imported("azure", "azure-v1-vms.csv.gz", &["--at", "86400"]) else { return };
    assert_eq!((pods(&early.out), pods(&late.out)), (1223, 9522));
}

#[test]
fn bad_files_are_named_with_line_and_column() {
    let scratch = Scratch::new("bad-trace");
    let head = "app_id,replicas,cores,mem_gib,self_k,limits\n";
    let bad = scratch.file("bad.csv", &format!("{head}1,1,1,1,2,\n2,one,1,1,2,\n"));
    let short = scratch.file("short.csv", &format!("{head}1,1,1\n"));
    let other = scratch.file("other.csv", "a,b\n1,2\n");
    let no_gzip = scratch.file("plain.csv.gz", head);
    for (file, words) in [
        (&bad, &["bad.csv", "line 3", "replicas", "one"][..]),
        (&short, &["short.csv", "line 2", "fields"]),
        (&other, &["other.csv", "no column app_id"]),
        (&no_gzip, &["plain.csv.gz"]),
        (&scratch.path("absent.csv"), &["absent.csv"]),
    ] {
        let ran = run(&["import-trace", "--format", "tianchi", file]);
        assert_eq!(ran.code, 1, "{file}");
        for word in words {
            assert!(ran.err.contains(word), "no {word} in {}", ran.err);
        }
        assert!(ran.out.is_empty(), "half an answer for {file}");
    }
}
