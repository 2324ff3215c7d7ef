//! `millwright catalog show`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::{Scratch, run};

#[test]
fn shows_types_with_sizes_prices_source_and_date() {
    let ran = run(&["catalog", "show", "--region", "us-east-1", "--type", "m7i"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let line = ran.out.lines().find(|l| l.starts_with(" m7i.large ")).expect("a row for m7i.large");
    assert!(line.contains("on-demand") && line.contains(" 1.93 ") && line.contains(" 0.1008"), "{line}");
    assert!(line.contains(" 7.4Gi ") && line.contains(" 29 "), "{line}");
    assert!(!ran.out.contains("m7i-flex"), "a family is not a prefix");
    assert!(ran.out.contains("us-east-1") && ran.out.contains("prices of 20"), "{}", ran.out);
}

#[test]
fn json_is_a_catalogue_file() {
    let scratch = Scratch::new("catalog");
    let shown = run(&["catalog", "show", "--type", "c7g.*", "--type", "g6", "-o", "json"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    let file = scratch.file("catalog.json", &shown.out);
    let again = run(&["catalog", "show", "--catalog", &file, "-o", "json"]);
    assert_eq!((again.code, again.err.as_str()), (0, ""));
    assert_eq!(again.out, shown.out);
    assert_eq!(again.json()["kind"], "Catalog");
}

#[test]
fn every_promised_region_is_there() {
    for region in ["us-east-1", "us-west-2", "eu-west-1"] {
        let types = run(&["catalog", "show", "--region", region, "-o", "json"]).json()["types"].clone();
        let priced = |t: &&serde_json::Value| !t["offerings"].as_array().expect("a list").is_empty();
        let sold = types.as_array().expect("a list").iter().filter(priced).count();
        assert!(sold > 500, "{region}: {sold} types with a price");
    }
}

#[test]
fn bad_catalogues_are_named() {
    let scratch = Scratch::new("bad-catalog");
    let zero = scratch.file(
        "zero.yaml",
        "apiVersion: millwright.dev/v1\nkind: Catalog\nregion: r\ntypes:\n- name: x.large\n  architecture: amd64\n  \
         capacity: {cpu: 2, memory: 8Gi, pods: 29}\n  allocatable: {cpu: 2, memory: 8Gi, pods: 29}\n  offerings:\n  \
         - {zone: z1, capacityType: on-demand, price: 0}\n",
    );
    for (args, words) in [
        (["--catalog", zero.as_str()], &["zero.yaml", "x.large", "price"][..]),
        (["--catalog", "/no/such/file"], &["/no/such/file"]),
        (["--region", "mars-1"], &["mars-1", "us-east-1"]),
        (["--type", "zz9"], &["zz9"]),
    ] {
        let ran = run(&[&["catalog", "show"][..], &args].concat());
        assert_eq!(ran.code, 1, "{args:?}");
        for word in words {
            assert!(ran.err.contains(word), "{args:?}: no {word} in {}", ran.err);
        }
    }
}
