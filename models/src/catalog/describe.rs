//! Labels and devices of an EC2 type, from a row of the embedded table.
//!
//! Rules: `spec/50-aws.md` §2.2 and §2.3.

use std::collections::BTreeMap;

use super::{Hardware, InstanceType};
use crate::kube::meta::Labels;

const DOMAIN: &str = "karpenter.k8s.aws";
/// Extended resource per GPU manufacturer.
const GPU_RESOURCES: [(&str, &str); 3] =
    [("NVIDIA", "nvidia.com/gpu"), ("AMD", "amd.com/gpu"), ("Habana", "habana.ai/gaudi")];

/// A row of the table of types, fields in the order of its columns.
pub(super) struct Row<'a>(Vec<&'a str>);

/// Columns of the table.
pub(super) const COLUMNS: &str = "type,arch,vcpus,mib,cpu,mhz,hypervisor,metal,enis,ipv4,net_mbps,efa,ebs_mbps,\
                                  ebs_slots,ebs_shared,store_gb,nvme_gb,encrypted,enclaves,gpus,neuron,inference";

impl<'a> Row<'a> {
    /// Splits a line; the fields hold no commas.
    pub fn of(line: &'a str) -> Result<Self, String> {
        let fields: Vec<&str> = line.split(',').collect();
        let columns = COLUMNS.split(',').count();
        if fields.len() == columns { Ok(Self(fields)) } else { Err(format!("{} fields, not {columns}", fields.len())) }
    }

    fn text(&self, column: &str) -> &'a str {
        COLUMNS.split(',').position(|c| c == column).and_then(|i| self.0.get(i).copied()).unwrap_or_default()
    }

    fn number<T: std::str::FromStr>(&self, column: &str) -> Result<T, String> {
        let text = self.text(column);
        text.parse().map_err(|_| format!("{column}: {text:?} is not a number"))
    }

    fn flag(&self, column: &str) -> bool {
        self.text(column) == "1"
    }

    /// Entries of a list column, each with `parts` parts.
    fn entries(&self, column: &str, parts: usize) -> Result<Vec<Vec<&'a str>>, String> {
        let list = self.text(column);
        let entries = list.split(';').filter(|e| !e.is_empty()).map(|e| e.split('/').collect::<Vec<_>>());
        let entries: Vec<_> = entries.collect();
        match entries.iter().find(|e| e.len() != parts) {
            Some(_) => Err(format!("{column}: {list:?} is malformed")),
            None => Ok(entries),
        }
    }
}

/// The type of a row, without offerings.
pub(super) fn instance_type(row: &Row) -> Result<InstanceType, String> {
    let arch = row.text("arch");
    let systems: &[&str] = if arch == "amd64" { &["linux", "windows"] } else { &["linux"] };
    Ok(InstanceType {
        name: row.text("type").to_owned(),
        architecture: arch.to_owned(),
        operating_systems: systems.iter().map(|s| (*s).to_owned()).collect(),
        labels: labels(row)?,
        hardware: Some(hardware(row)?),
        ..InstanceType::default()
    })
}

fn hardware(row: &Row) -> Result<Hardware, String> {
    Ok(Hardware {
        vcpus: row.number("vcpus")?,
        memory_mib: row.number("mib")?,
        interfaces: row.number("enis")?,
        ipv4_per_interface: row.number("ipv4")?,
        local_nvme_gb: row.number("nvme_gb")?,
        instance_store_gb: row.number("store_gb")?,
        devices: devices(row)?,
        bare_metal: row.flag("metal"),
        hypervisor: row.text("hypervisor").to_owned(),
        ebs_attachments: row.number("ebs_slots")?,
        ebs_slots_shared: row.flag("ebs_shared"),
    })
}

fn count(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("{text:?} is no count"))
}

fn devices(row: &Row) -> Result<BTreeMap<String, u32>, String> {
    let mut all = BTreeMap::new();
    for gpu in row.entries("gpus", 4)? {
        if let Some((_, resource)) = GPU_RESOURCES.iter().find(|(maker, _)| *maker == gpu[1]) {
            *all.entry((*resource).to_owned()).or_insert(0) += count(gpu[2])?;
        }
    }
    let neuron = row.entries("neuron", 3)?;
    let mut total = 0;
    for device in &neuron {
        total += count(device[1])?;
    }
    let cores = neuron.first().map(|d| Ok::<u32, String>(count(d[1])? * count(d[2])?)).transpose()?;
    all.insert("aws.amazon.com/neuron".to_owned(), total);
    all.insert("aws.amazon.com/neuroncore".to_owned(), cores.unwrap_or(0));
    all.insert("vpc.amazonaws.com/efa".to_owned(), row.number("efa")?);
    all.retain(|_, count| *count > 0);
    Ok(all)
}

fn labels(row: &Row) -> Result<Labels, String> {
    let mut all = Labels::new();
    let mut put = |name: &str, value: &str| {
        all.insert(format!("{DOMAIN}/instance-{name}"), value.to_owned());
    };
    put("cpu", row.text("vcpus"));
    put("memory", row.text("mib"));
    put("hypervisor", row.text("hypervisor"));
    put("encryption-in-transit-supported", if row.flag("encrypted") { "true" } else { "false" });
    for (name, column) in [
        ("cpu-manufacturer", "cpu"),
        ("cpu-sustained-clock-speed-mhz", "mhz"),
        ("ebs-bandwidth", "ebs_mbps"),
        ("network-bandwidth", "net_mbps"),
    ] {
        if !row.text(column).is_empty() {
            put(name, row.text(column));
        }
    }
    if row.number::<u64>("nvme_gb")? > 0 {
        put("local-nvme", row.text("nvme_gb"));
    }
    if let [gpu] = row.entries("gpus", 4)?.as_slice() {
        put("gpu-name", gpu[0]);
        put("gpu-manufacturer", &gpu[1].to_lowercase());
        put("gpu-count", gpu[2]);
        put("gpu-memory", gpu[3]);
    }
    match (row.entries("neuron", 3)?.as_slice(), row.entries("inference", 3)?.as_slice()) {
        ([neuron], _) => {
            put("accelerator-name", neuron[0]);
            put("accelerator-manufacturer", "aws");
            put("accelerator-count", neuron[1]);
        }
        ([], [inference]) => {
            put("accelerator-name", inference[0]);
            put("accelerator-manufacturer", inference[1]);
            put("accelerator-count", inference[2]);
        }
        _ => {}
    }
    let name = Name::of(row.text("type"));
    if let Some((category, generation)) = name.category_and_generation() {
        put("category", category);
        put("generation", generation);
    }
    if let Some((family, size)) = name.family_and_size() {
        put("family", family);
        put("size", size);
        put("capability-flex", if family.contains("-flex") { "true" } else { "false" });
    }
    all.insert(format!("{DOMAIN}/nitro-sandbox"), row.flag("enclaves").to_string());
    Ok(all)
}

/// The name of a type, which says its family, size, category and generation.
pub(super) struct Name<'a>(&'a str);

impl<'a> Name<'a> {
    pub fn of(name: &'a str) -> Self {
        Self(name)
    }

    /// The parts around the dot, if there is just one.
    pub fn family_and_size(&self) -> Option<(&'a str, &'a str)> {
        self.0.split_once('.').filter(|(_, size)| !size.contains('.'))
    }

    /// Leading letters, and the digits after them; the `-6tb` of the
    /// high-memory family stands in between and is no generation.
    pub fn category_and_generation(&self) -> Option<(&'a str, &'a str)> {
        let (family, _) = self.0.split_once('.')?;
        let letters = family.find(|c: char| !c.is_ascii_lowercase())?;
        let (category, rest) = family.split_at(letters);
        let rest = match rest.strip_prefix('-').and_then(|r| r.split_once("tb")) {
            Some((size, rest)) if !size.is_empty() && size.bytes().all(|b| b.is_ascii_digit()) => rest,
            _ => rest,
        };
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        (!category.is_empty() && digits > 0).then(|| (category, &rest[..digits]))
    }
}
