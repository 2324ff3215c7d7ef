//! Catalogue files.

use proptest::prelude::*;

use super::shared;
use crate::catalog::file::parse;
use crate::catalog::{Catalog, CatalogError, InstanceType};

fn unknown(_: &str) -> Option<InstanceType> {
    None
}

fn with(offering: &str) -> Result<Catalog, CatalogError> {
    parse(
        "c.yaml",
        &format!(
            "apiVersion: millwright.dev/v1\nkind: Catalog\nregion: r\ntypes:\n- name: m5.large\n  architecture: amd64\n  \
             allocatable: {{cpu: 1930m, memory: 6903Mi, pods: 29}}\n  offerings:\n  - {offering}\n"
        ),
        &unknown,
    )
}

fn refused(offering: &str, words: &[&str]) {
    let message = with(offering).unwrap_err().to_string();
    for word in ["c.yaml", "m5.large"].iter().chain(words) {
        assert!(message.contains(word), "{offering}: {message}");
    }
}

#[test]
fn amounts_and_prices_are_exact() {
    let catalog = with("{zone: a, capacityType: on-demand, price: 0.0416001}").unwrap();
    let t = catalog.find("m5.large").unwrap();
    assert_eq!(t.allocatable.as_ref().unwrap().get("cpu"), 1930);
    assert_eq!(t.allocatable.as_ref().unwrap().get("memory"), 6903 << 20);
    assert_eq!(t.capacity, *t.allocatable.as_ref().unwrap());
    assert_eq!(t.offerings[0].price, 41_601);
    assert!(t.offerings[0].available);
    assert_eq!(t.operating_systems, ["linux"]);
}

#[test]
fn prices_must_be_above_zero_unless_reserved() {
    for kind in ["on-demand", "spot"] {
        refused(&format!("{{zone: a, capacityType: {kind}, price: 0}}"), &["offerings[0].price", "above zero"]);
        refused(&format!("{{zone: a, capacityType: {kind}, price: '0.000'}}"), &["offerings[0].price"]);
        refused(&format!("{{zone: a, capacityType: {kind}, price: -1}}"), &["offerings[0].price", "negative"]);
        refused(&format!("{{zone: a, capacityType: {kind}, price: -0.0000001}}"), &["offerings[0].price", "negative"]);
        refused(&format!("{{zone: a, capacityType: {kind}, price: 'NaN'}}"), &["offerings[0].price"]);
        refused(&format!("{{zone: a, capacityType: {kind}}}"), &["offerings[0].price", "missing"]);
        refused(&format!("{{zone: a, capacityType: {kind}, price: 99999999999999999}}"), &["offerings[0].price"]);
    }
    assert!(with("{zone: a, capacityType: spot, price: .nan}").is_err());
    let free = with("{zone: a, capacityType: reserved, reservationId: cr-1, count: 3}").unwrap();
    assert_eq!(free.types[0].offerings[0].price, 0);
    assert_eq!(free.types[0].offerings[0].reservation.as_ref().unwrap().count, 3);
    refused("{zone: a, capacityType: reserved, reservationId: cr-1, count: 3, price: -1}", &["price"]);
}

#[test]
fn fields_that_do_not_belong_are_refused() {
    refused("{zone: a, capacityType: free, price: 1}", &["capacityType", "free", "on-demand"]);
    refused("{zone: '', capacityType: spot, price: 1}", &["offerings[0].zone"]);
    refused("{zone: a, capacityType: spot, price: 1, count: 2}", &["count"]);
    refused("{zone: a, capacityType: reserved, count: 2}", &["reservationId"]);
    refused("{zone: a, capacityType: reserved, reservationId: cr-1}", &["count"]);
    refused("{zone: a, capacityType: spot, prize: 1}", &["types[0].offerings[0]", "prize"]);
    refused(
        "{zone: a, capacityType: spot, price: 1}\n  - {zone: a, capacityType: spot, price: 2}",
        &["offerings[1]", "twice"],
    );
}

fn document(types: &str) -> Result<Catalog, CatalogError> {
    let text = format!(r#"{{"apiVersion":"millwright.dev/v1","kind":"Catalog","region":"r","types":[{types}]}}"#);
    parse("c.json", &text, &unknown)
}

#[test]
fn types_are_checked_and_named_in_errors() {
    let t = r#"{"name":"x","architecture":"amd64","allocatable":{"cpu":"1"}}"#;
    assert!(document(&format!("{t},{t}")).unwrap_err().to_string().contains("type x: name: given twice"));
    for (text, words) in [
        (r#"{"name":"x","architecture":"amd64"}"#, ["type x", "allocatable"]),
        (r#"{"name":"x","allocatable":{}}"#, ["type x", "architecture: missing"]),
        (r#"{"name":"x","architecture":"mips","allocatable":{}}"#, ["type x", "mips"]),
        (r#"{"name":"x","architecture":"amd64","allocatable":{"cpu":"1x"}}"#, ["type x", "allocatable.cpu"]),
        (
            r#"{"name":"x","architecture":"amd64","capacity":{"cpu":1},"allocatable":{"cpu":2}}"#,
            ["type x", "exceeds the capacity"],
        ),
        (r#"{"name":"x","architecture":"amd64","operatingSystems":["os2"],"allocatable":{}}"#, ["type x", "os2"]),
        (r#"{"name":"x","architecture":7,"allocatable":{}}"#, ["type x", "types[0].architecture"]),
        (r#"{"name":"","architecture":"amd64","allocatable":{}}"#, ["#0", "name"]),
    ] {
        let message = document(text).unwrap_err().to_string();
        assert!(words.iter().all(|w| message.contains(w)) && message.contains("c.json"), "{text}: {message}");
    }
    assert!(parse("c", "kind: Pod\napiVersion: v1\nregion: r\ntypes: []", &unknown).is_err());
    assert!(parse("c", "", &unknown).is_err());
}

#[test]
fn a_type_without_allocatable_takes_known_figures() {
    let known = |name: &str| {
        (name == "m5.large").then(|| InstanceType {
            architecture: "amd64".to_owned(),
            operating_systems: vec!["linux".to_owned(), "windows".to_owned()],
            labels: super::labels(&[("size", "large"), ("team", "a")]),
            hardware: Some(Default::default()),
            ..InstanceType::default()
        })
    };
    let text = "apiVersion: millwright.dev/v1\nkind: Catalog\nregion: r\ntypes: [{name: m5.large, labels: {team: b}}]";
    let catalog = parse("c", text, &known).unwrap();
    let t = &catalog.types[0];
    assert!(t.hardware.is_some() && t.allocatable.is_none());
    assert_eq!(t.labels, super::labels(&[("size", "large"), ("team", "b")]));
    assert_eq!(t.operating_systems, ["linux", "windows"]);
}

#[test]
fn the_digest_follows_the_content_and_not_the_order() {
    let a = r#"{"name":"a","architecture":"amd64","allocatable":{"cpu":"1"}}"#;
    let b = r#"{"name":"b","architecture":"amd64","allocatable":{"cpu":"1"}}"#;
    let c = r#"{"name":"b","architecture":"amd64","allocatable":{"cpu":"1001m"}}"#;
    let digest = |text: &str| document(text).unwrap().digest;
    assert_eq!(digest(&format!("{a},{b}")), digest(&format!("{b},{a}")));
    assert_ne!(digest(&format!("{a},{b}")), digest(&format!("{a},{c}")));
    assert_eq!(digest(a).len(), 64);
}

#[test]
fn json_and_yaml_read_alike_and_every_scenario_catalogue_parses() {
    let Some(root) = shared("scenarios/files") else { return };
    let mut read = 0;
    for folder in std::fs::read_dir(root).unwrap() {
        let path = folder.unwrap().path().join("catalog.yaml");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let catalog = parse("catalog.yaml", &text, &unknown).unwrap();
        let value: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(catalog.digest, parse("c.json", &value.to_string(), &unknown).unwrap().digest);
        read += 1;
    }
    assert!(read > 30, "{read}");
}

#[test]
fn a_whole_region_with_spot_prices_is_not_too_large() {
    let mut text = String::from("apiVersion: millwright.dev/v1\nkind: Catalog\nregion: r\ntypes:\n");
    for i in 0..1500 {
        text += &format!("- name: t{i}\n  architecture: amd64\n  allocatable: {{cpu: 1}}\n  offerings:\n");
        for zone in 0..12 {
            for kind in ["spot", "on-demand"] {
                text += &format!("  - {{zone: z{zone}, capacityType: {kind}, price: 0.1, available: true}}\n");
            }
        }
    }
    assert_eq!(parse("c.yaml", &text, &unknown).unwrap().types.len(), 1500);
}

proptest! {
    #[test]
    fn parsing_never_panics(text in "[ -~\n]{0,200}") {
        let _ = parse("c", &text, &unknown);
    }

    #[test]
    fn parsing_scalars_anywhere_never_panics(price in ".{0,20}", amount in ".{0,20}", name in ".{0,8}") {
        let value = serde_json::json!({
            "apiVersion": "millwright.dev/v1", "kind": "Catalog", "region": name,
            "types": [{"name": name, "architecture": "arm64", "allocatable": {"cpu": amount, "memory": amount},
                "offerings": [{"zone": "z", "capacityType": "spot", "price": price}]}],
        });
        let _ = parse("c", &value.to_string(), &unknown);
    }
}
