//! Vectors of `spec/50-aws.md` §2.5 and §23, and the reference table.

use std::fs;

use super::*;
use crate::catalog::InstanceType;
use crate::catalog::embedded::known;
use crate::catalog::tests::shared;
use crate::karpenter::nodeclass::{BlockDevice, NetworkInterface};
use crate::kube::pod::RawQuantity;
use crate::quantity::amount_down;

const MI: i64 = 1 << 20;
const GI: i64 = 1 << 30;

fn class(family: &str) -> NodeClass {
    NodeClass { ami_family: family.to_owned(), ..NodeClass::default() }
}

fn quantities(pairs: &[(&str, &str)]) -> std::collections::BTreeMap<String, RawQuantity> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), RawQuantity((*v).to_owned()))).collect()
}

fn device(name: &str, root: bool, size: Option<i64>) -> BlockDevice {
    BlockDevice { device_name: name.to_owned(), root_volume: root, volume_size: size }
}

fn known_type(name: &str) -> InstanceType {
    known(name).unwrap_or_else(|| panic!("{name} is not in the embedded table"))
}

fn sizes(name: &str, class: &NodeClass, settings: Settings) -> Amounts {
    let t = known_type(name);
    amounts(&t.hardware.unwrap(), &t.architecture, class, settings, &Resources::default()).unwrap()
}

fn plain(name: &str, class: &NodeClass) -> Amounts {
    sizes(name, class, Settings::default())
}

/// Pods, memory capacity in Mi, allocatable memory in bytes and CPU.
fn figures(a: &Amounts) -> (i64, i64, i64, i64) {
    (a.capacity.get("pods"), a.capacity.get("memory") / MI, a.allocatable.get("memory"), a.allocatable.get("cpu"))
}

fn reserving(reserved_enis: u32) -> Settings {
    Settings { reserved_enis, ..Settings::default() }
}

#[test]
fn aws_038_worked_numbers() {
    let max = |family, pods| {
        let mut c = class(family);
        c.kubelet.max_pods = Some(pods);
        c
    };
    let al = class("AL2023");
    assert_eq!(figures(&plain("m5.large", &al)), (29, 7577, 6903 * MI, 1930));
    assert_eq!(figures(&plain("m5.large", &max("AL2023", 110))), (110, 7577, 6903 * MI, 1930));
    assert_eq!(figures(&plain("m5.large", &max("Bottlerocket", 110))), (110, 7577, 6012 * MI, 1930));
    assert_eq!(figures(&sizes("m5.large", &al, reserving(1))), (20, 7577, 6903 * MI, 1930));
    assert_eq!(figures(&sizes("m5.large", &class("Bottlerocket"), reserving(1))), (20, 7577, 7002 * MI, 1930));
    assert_eq!(figures(&plain("m6g.xlarge", &al)), (58, 15096, 14103 * MI, 3920));
    assert_eq!(figures(&plain("t3.micro", &class("AL2"))), (4, 947, 548 * MI, 1930));
    assert_eq!(plain("c5.18xlarge", &al).allocatable.get("cpu"), 72_000 - 250);
    assert_eq!(plain("m5.large", &al).allocatable.get("ephemeral-storage"), 17 * GI);
    let windows = plain("m5.large", &class("Windows2022"));
    assert_eq!(figures(&windows), (110, 7577, 6012 * MI, 1930));
    assert_eq!(windows.allocatable.get("ephemeral-storage"), 44 * GI);
    assert_eq!(windows.capacity.get("vpc.amazonaws.com/PrivateIPv4Address"), 9);
    assert_eq!(figures(&plain("t3.nano", &al)), (4, 473, 74 * MI, 1930));
    let tenth = Settings { vm_memory_overhead_ppm: 100_000, ..Settings::default() };
    assert_eq!(figures(&sizes("m5.large", &al, tenth)), (29, 7372, 6698 * MI, 1930));
    let mut five = class("AL2023");
    five.kubelet.eviction_hard.insert("memory.available".to_owned(), "5%".to_owned());
    assert_eq!(figures(&plain("m5.large", &five)), (29, 7577, 6_945_924_710, 1930));
}

#[test]
fn aws_045_046_047_ephemeral_storage() {
    let storage = |name: &str, c: &NodeClass| plain(name, c).capacity.get("ephemeral-storage");
    let mut raid = class("AL2023");
    raid.instance_store_policy = "RAID0".to_owned();
    assert_eq!(storage("m7gd.16xlarge", &raid), 3_800_000_000_000);
    raid.block_devices = vec![device("/dev/xvda", true, Some(64 * GI))];
    assert_eq!(storage("m5.large", &raid), 64 * GI);
    let mut custom = class("Custom");
    assert_eq!(storage("m5.large", &custom), 20 * GI);
    custom.block_devices = vec![device("/dev/a", false, Some(30 * GI)), device("/dev/b", false, Some(80 * GI))];
    assert_eq!(storage("m5.large", &custom), 80 * GI);
    custom.block_devices[0].root_volume = true;
    assert_eq!(storage("m5.large", &custom), 30 * GI);
    let mut bottlerocket = class("Bottlerocket");
    bottlerocket.block_devices = vec![device("/dev/xvda", false, Some(50 * GI))];
    assert_eq!(storage("m5.large", &bottlerocket), 20 * GI);
    bottlerocket.block_devices.push(device("/dev/xvdb", false, Some(100 * GI)));
    assert_eq!(storage("m5.large", &bottlerocket), 100 * GI);
}

#[test]
fn aws_048_049_eviction_thresholds() {
    let mut c = class("AL2023");
    let mut with = |signal: &str| {
        c.kubelet.eviction_hard.insert("memory.available".to_owned(), signal.to_owned());
        let a = plain("m6g.xlarge", &c);
        a.capacity.get("memory") - a.allocatable.get("memory") - 893 * MI
    };
    assert_eq!(with("5%"), (15096 * MI * 5 + 99) / 100);
    assert_eq!(with("100%"), 0);
    assert_eq!(with("500Mi"), 500 * MI);
    c.kubelet.eviction_hard.clear();
    c.kubelet.eviction_soft.insert("memory.available".to_owned(), "2Gi".to_owned());
    assert_eq!(plain("m6g.xlarge", &c), plain("m6g.xlarge", &class("AL2023")));
}

#[test]
fn bad_thresholds_and_families_are_refused() {
    let t = known_type("m5.large");
    let refused = |c: &NodeClass, words: &[&str]| {
        let h = t.hardware.clone().unwrap();
        let error = amounts(&h, "amd64", c, Settings::default(), &Resources::default()).unwrap_err().to_string();
        assert!(words.iter().all(|w| error.contains(w)), "{error}");
    };
    for text in ["-1%", "101%", "%", "x", "1x%", "-1Mi"] {
        let mut c = class("AL2023");
        c.meta.name = "mine".to_owned();
        c.kubelet.eviction_hard.insert("memory.available".to_owned(), text.to_owned());
        refused(&c, &["mine", "evictionHard.memory.available"]);
    }
    let mut c = class("AL2023");
    c.kubelet.kube_reserved = quantities(&[("cpu", "1y")]);
    refused(&c, &["kubeReserved.cpu", "1y"]);
    refused(&class("Ubuntu"), &["amiFamily", "Ubuntu"]);
}

#[test]
fn aws_050_051_kube_reserved() {
    assert_eq!(plain("m5.4xlarge", &class("AL2023")).allocatable.get("cpu"), 16_000 - 110);
    let mut c = class("AL2023");
    c.kubelet.kube_reserved = quantities(&[("cpu", "300m"), ("pid", "1000")]);
    let (changed, usual) = (plain("m5.large", &c), plain("m5.large", &class("AL2023")));
    assert_eq!(changed.allocatable.get("cpu"), 1700);
    for name in ["memory", "ephemeral-storage"] {
        assert_eq!(changed.allocatable.get(name), usual.allocatable.get(name));
    }
    assert_eq!(changed.allocatable.entry("pid"), None);
}

#[test]
fn aws_052_053_054_pods() {
    let pods = |name: &str, c: &NodeClass, s: Settings| sizes(name, c, s).capacity.get("pods");
    assert_eq!(pods("m5.large", &class("AL2023"), reserving(4)), 0);
    let mut efa = class("AL2023");
    let interface = |card, efa_only| NetworkInterface { card, device: 1, efa_only };
    efa.network_interfaces = vec![interface(0, false), interface(0, true), interface(0, true), interface(1, true)];
    assert_eq!(pods("p4d.24xlarge", &efa, Settings::default()), 639);
    assert_eq!(plain("p4d.24xlarge", &efa).capacity.get("vpc.amazonaws.com/efa"), 3);
    let mut per_core = class("AL2023");
    per_core.kubelet.pods_per_core = Some(3);
    assert_eq!(pods("m5.2xlarge", &per_core, Settings::default()), 24);
    per_core.ami_family = "Bottlerocket".to_owned();
    assert_eq!(pods("m5.2xlarge", &per_core, Settings::default()), 58);
}

#[test]
fn aws_057_no_memory_overhead() {
    let none = Settings { vm_memory_overhead_ppm: 0, ..Settings::default() };
    let memory = |name| sizes(name, &class("AL2023"), none).capacity.get("memory");
    assert_eq!(memory("m5.large"), 8192 * MI);
    assert_eq!(memory("m6g.xlarge"), (16384 - 64) * MI);
}

#[test]
fn volumes_for_pods() {
    let volumes =
        |name: &str, c: &NodeClass| pod_volumes(&known_type(name).hardware.unwrap(), c, Family::of(c).unwrap());
    assert_eq!(volumes("m5.large", &class("AL2023")), 25);
    assert_eq!(volumes("m5.large", &class("Bottlerocket")), 24);
    assert_eq!(volumes("m5d.large", &class("AL2023")), 24);
    assert_eq!(volumes("c8gd.24xlarge", &class("AL2023")), 63);
    assert_eq!(volumes("t2.micro", &class("AL2023")), 39);
    let mut more = class("AL2023");
    more.block_devices =
        vec![device("/dev/xvda", true, None), device("/dev/b", false, None), device("/dev/c", false, None)];
    assert_eq!(volumes("m5.large", &more), 23);
}

/// Class and settings of a row's `settings` column.
fn configured(family: &str, text: &str) -> (NodeClass, Settings) {
    let (mut c, mut s) = (class(family), Settings::default());
    for part in text.split(';') {
        let part = part.split(" (").next().unwrap();
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (key, first) = key.split_once(':').unwrap_or((key, ""));
        let pairs = || format!("{first}={value}").split(',').map(|p| p.split_once('=').unwrap()).map(own).collect();
        fn own((k, v): (&str, &str)) -> (String, String) {
            (k.to_owned(), v.to_owned())
        }
        let raw = |pairs: Vec<(String, String)>| pairs.into_iter().map(|(k, v)| (k, RawQuantity(v))).collect();
        match key {
            "default" => {}
            "maxPods" => c.kubelet.max_pods = Some(value.parse().unwrap()),
            "podsPerCore" => c.kubelet.pods_per_core = Some(value.parse().unwrap()),
            "reservedENIs" => s.reserved_enis = value.parse().unwrap(),
            "vmMemoryOverheadPercent" => {
                let percent: crate::catalog::money::Decimal = value.parse().unwrap();
                s.vm_memory_overhead_ppm = percent.micros().unwrap().try_into().unwrap();
            }
            "kubeReserved" => c.kubelet.kube_reserved = raw(pairs()),
            "systemReserved" => c.kubelet.system_reserved = raw(pairs()),
            "evictionHard" => c.kubelet.eviction_hard = pairs().into_iter().collect::<Vec<_>>().into_iter().collect(),
            "instanceStorePolicy" => c.instance_store_policy = value.to_owned(),
            "bdm" => {
                let size = amount_down("ephemeral-storage", value).unwrap();
                c.block_devices.push(device(first, false, Some(size)));
            }
            "networkInterfaces" => {
                c.network_interfaces.push(NetworkInterface::default());
                for index in 1..=value.parse().unwrap() {
                    c.network_interfaces.push(NetworkInterface { card: 0, device: index, efa_only: true });
                }
            }
            other => panic!("unknown setting {other:?}"),
        }
    }
    (c, s)
}

/// Fields of a line, of which quoted ones may hold commas.
fn fields(line: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all
}

#[test]
fn aws_168_every_row_of_the_reference_table() {
    let Some(path) = shared("data/ec2-reference/allocatable.csv") else { return };
    let text = fs::read_to_string(path).unwrap();
    let (mut rows, mut wrong) = (0, Vec::new());
    for line in text.lines().skip(1) {
        let f = fields(line);
        let (c, s) = configured(&f[1], &f[2]);
        let a = sizes(&f[0], &c, s);
        let have: Vec<i64> = ["cpu", "memory", "pods"].iter().map(|n| a.capacity.get(n)).collect();
        let left: Vec<i64> =
            ["cpu", "memory", "ephemeral-storage", "pods"].iter().map(|n| a.allocatable.get(n)).collect();
        let want: Vec<i64> = f[3..10].iter().map(|v| v.parse().unwrap()).collect();
        if [have, left].concat() != want {
            wrong.push(format!("{} {} {}", f[0], f[1], f[2]));
        }
        let t = known_type(&f[0]);
        for pair in f[10].split(';').filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap();
            let own = match key {
                "kubernetes.io/arch" => Some(t.architecture.as_str()),
                // Pools tell these two, not types.
                "node.kubernetes.io/windows-build" => Family::windows_build(&f[1]),
                "karpenter.sh/capacity-type" => Some("on-demand"),
                _ => t.labels.get(&format!("karpenter.k8s.aws/{key}")).map(String::as_str),
            };
            // EC2 itself states 28.125 Gbit/s; the reference took the rounded figure of a web page.
            let rounded = (f[0].as_str(), key) == ("i8g.12xlarge", "instance-network-bandwidth");
            if own != Some(value) && !rounded {
                wrong.push(format!("{} {key}={value}, not {own:?}", f[0]));
            }
        }
        rows += 1;
    }
    assert_eq!(rows, 261);
    assert!(wrong.is_empty(), "{} differences: {:#?}", wrong.len(), &wrong[..wrong.len().min(30)]);
}
