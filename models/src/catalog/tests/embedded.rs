//! The embedded catalogue.

use crate::catalog::describe::Name;
use crate::catalog::{Catalog, embedded};
use crate::karpenter::labels::is_label_value;

fn region(name: &str) -> Catalog {
    embedded(name).unwrap()
}

#[test]
fn every_region_loads_and_an_unknown_one_is_refused() {
    for name in embedded::REGIONS {
        let catalog = region(name);
        assert!(catalog.types.len() > 1100, "{name}: {}", catalog.types.len());
        assert!(catalog.types.is_sorted_by(|a, b| a.name < b.name));
        let priced = catalog.types.iter().filter(|t| !t.offerings.is_empty()).count();
        assert!(priced > 700, "{name}: {priced}");
        for t in &catalog.types {
            assert_ne!(t.offerings.is_empty(), t.unpriced_zones.is_empty(), "{}", t.name);
            assert!(t.offerings.iter().all(|o| o.capacity_type == "on-demand" && o.price > 0 && o.available));
            assert!(t.labels.values().all(|v| is_label_value(v)), "{}: {:?}", t.name, t.labels);
        }
        assert!(catalog.source.contains("moto") && catalog.source.contains("2025"));
        assert_eq!(catalog.digest, region(name).digest);
    }
    let error = embedded("mars-1").unwrap_err().to_string();
    assert!(error.contains("mars-1") && error.contains("eu-west-1"), "{error}");
}

#[test]
fn prices_and_zones_of_well_known_types() {
    let catalog = region("us-east-1");
    let m5 = catalog.find("m5.large").unwrap();
    assert!(m5.offerings.iter().all(|o| o.price == 96_000));
    assert!(m5.offerings.iter().any(|o| o.zone == "us-east-1a"));
    assert_eq!(region("eu-west-1").find("m5.large").unwrap().offerings[0].price, 107_000);
    assert!(!catalog.find("m8a.large").unwrap().unpriced_zones.is_empty());
}

fn label(name: &str, key: &str) -> Option<String> {
    embedded::known(name).unwrap().labels.get(&format!("karpenter.k8s.aws/instance-{key}")).cloned()
}

#[test]
fn aws_039_names_tell_category_generation_size_and_flex() {
    let parts = |name| Name::of(name).category_and_generation();
    assert_eq!(parts("u-12tb1.112xlarge"), Some(("u", "1")));
    assert_eq!(parts("mac2-m2.metal"), Some(("mac", "2")));
    assert_eq!(parts("u7i-12tb.224xlarge"), Some(("u", "7")));
    assert_eq!(parts("p6-b200.48xlarge"), Some(("p", "6")));
    assert_eq!(parts("m5"), None);
    assert_eq!(parts("5m.large"), None);
    assert_eq!(Name::of("mac2-m2.metal").family_and_size(), Some(("mac2-m2", "metal")));
    assert_eq!(Name::of("a.b.c").family_and_size(), None);
    assert_eq!(label("c7i-flex.large", "capability-flex").unwrap(), "true");
    assert_eq!(label("c7i.large", "capability-flex").unwrap(), "false");
}

fn devices(name: &str) -> Vec<(String, u32)> {
    embedded::known(name).unwrap().hardware.unwrap().devices.into_iter().collect()
}

fn expect(name: &str, want: &[(&str, u32)]) {
    let want: Vec<_> = want.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect();
    assert_eq!(devices(name), want, "{name}");
}

#[test]
fn gpus_become_devices_and_labels() {
    expect("g4dn.12xlarge", &[("nvidia.com/gpu", 4), ("vpc.amazonaws.com/efa", 1)]);
    expect("g6f.large", &[("nvidia.com/gpu", 1)]);
    expect("m5.large", &[]);
    assert_eq!(label("p4d.24xlarge", "gpu-name").unwrap(), "a100");
    assert_eq!(label("p4d.24xlarge", "gpu-manufacturer").unwrap(), "nvidia");
    assert_eq!(label("p4d.24xlarge", "gpu-count").unwrap(), "8");
    assert_eq!(label("p4d.24xlarge", "gpu-memory").unwrap(), "40960");
    assert_eq!(label("m5.large", "gpu-name"), None);
}

#[test]
fn aws_042_two_gpu_entries_give_a_sum_and_no_labels() {
    let t = described("l4/NVIDIA/1/100;t4/NVIDIA/2/100", "", "");
    assert_eq!(t.hardware.unwrap().devices["nvidia.com/gpu"], 3);
    assert!(t.labels.keys().all(|k| !k.contains("gpu")));
}

#[test]
fn aws_043_neuron_devices_and_cores() {
    let t = described("", "trainium/2/4", "");
    let devices = t.hardware.unwrap().devices;
    assert_eq!((devices["aws.amazon.com/neuron"], devices["aws.amazon.com/neuroncore"]), (2, 8));
    assert_eq!(t.labels["karpenter.k8s.aws/instance-accelerator-manufacturer"], "aws");
    expect("inf2.24xlarge", &[("aws.amazon.com/neuron", 6), ("aws.amazon.com/neuroncore", 12)]);
}

#[test]
fn aws_044_neuron_beats_inference_labels() {
    let t = described("", "inferentia/4/2", "other/acme/9");
    assert_eq!(t.labels["karpenter.k8s.aws/instance-accelerator-name"], "inferentia");
    assert_eq!(t.labels["karpenter.k8s.aws/instance-accelerator-count"], "4");
    let t = described("", "", "other/acme/9");
    assert_eq!(t.labels["karpenter.k8s.aws/instance-accelerator-manufacturer"], "acme");
}

fn described(gpus: &str, neuron: &str, inference: &str) -> crate::catalog::InstanceType {
    let line = format!("x1.large,amd64,2,8192,intel,,nitro,0,3,10,,0,,27,1,0,0,0,0,{gpus},{neuron},{inference}");
    let row = crate::catalog::describe::Row::of(&line).unwrap();
    crate::catalog::describe::instance_type(&row).unwrap()
}
