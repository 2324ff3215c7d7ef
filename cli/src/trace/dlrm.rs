//! `dlrm-pods`: inference services, each of CPU pods and GPU pods.

use std::collections::BTreeMap;

use super::lifetime::runs_at;
use super::manifest::{self, Workload};
use super::table::Table;
use super::{Selection, Trace};

/// Disk requests go up to a tebibyte, several pods share a machine.
const ROOT_GIB: u32 = 16_384;

/// What makes pods of one group identical.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    cpu_milli: i64,
    mem_mib: i64,
    disk_mib: i64,
    gpus: i64,
    most_per_node: Option<i64>,
}

pub fn read(mut table: Table, selection: &mut Selection) -> Result<Trace, String> {
    table.need(&[
        "cpu_milli",
        "mem_mib",
        "gpu",
        "gpu_milli",
        "group",
        "role",
        "eph_mib",
        "rdma_pct",
        "max_per_node",
    ])?;
    let mut groups: BTreeMap<(String, String), BTreeMap<Shape, u64>> = BTreeMap::new();
    let (mut rdma, mut parts) = (0, 0);
    while let Some(row) = table.next()? {
        if !runs_at(&row, selection.at)? {
            continue;
        }
        let group = row.name("group")?.to_owned();
        let role = row.name("role").map_or_else(|_| row.text("role").to_ascii_lowercase(), str::to_owned);
        let Some(service) = group.strip_suffix(&format!("-{role}")) else {
            return Err(row.wrong("group", "does not end in its role"));
        };
        let service = service.to_owned();
        let (gpus, milli) = (row.number("gpu")?, row.number("gpu_milli")?);
        let most_per_node = row.maybe("max_per_node")?;
        if most_per_node == Some(0) {
            return Err(row.wrong("max_per_node", "leaves no machine for the pod"));
        }
        let shape = Shape {
            cpu_milli: row.number("cpu_milli")?,
            mem_mib: row.number("mem_mib")?,
            disk_mib: row.number("eph_mib")?,
            gpus,
            most_per_node,
        };
        let has_rdma = row.maybe("rdma_pct")?.is_some_and(|p| p > 0);
        if selection.is_full() {
            break;
        }
        selection.take(1);
        rdma += u64::from(has_rdma);
        parts += u64::from(gpus > 0 && milli < 1000);
        *groups.entry((service, group)).or_default().entry(shape).or_default() += 1;
    }
    let mut trace = Trace::default();
    trace.documents.push(manifest::namespace("dlrm"));
    trace.documents.extend(manifest::pool("dlrm", 5, ROOT_GIB));
    trace.notes.push(format!("a NodePool with {ROOT_GIB} GiB of disk comes with it, since these pods ask for disk"));
    for ((service, group), shapes) in groups {
        let several = shapes.len() > 1;
        for (i, (shape, replicas)) in shapes.into_iter().enumerate() {
            trace.add(&Workload {
                namespace: "dlrm",
                name: if several { format!("{group}-v{i}") } else { group.clone() },
                labels: BTreeMap::from([("service", service.clone()), ("group", group.clone())]),
                replicas,
                cpu_milli: shape.cpu_milli,
                mem_mib: shape.mem_mib,
                disk_mib: shape.disk_mib,
                gpus: shape.gpus,
                spread: shape.most_per_node.map(|most| manifest::spread_on_machines("service", &service, most)),
                ..Workload::default()
            });
        }
    }
    trace.note(parts, "pod", "with a part of a GPU: rounded up to a whole one");
    trace.note(rdma, "pod", "with a share of an RDMA card: the share is dropped");
    Ok(trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "name,cpu_milli,mem_mib,gpu,gpu_milli,group,priority,zone,role,eph_mib,rdma_pct,max_per_node,create_s,schedule_s,delete_s\n\
        i0,12000,122880,1,1000,a0-hn,LS,,HN,655360,25,8,,,\ni1,12000,122880,1,1000,a0-hn,LS,,HN,696320,25,8,,,9.5\n\
        i2,96000,491520,0,0,a0-cn,LS,,CN,348160,0,,5,5,\n";

    #[test]
    fn limits_per_node_become_spreads_over_the_service() {
        let trace = read(Table::of(ROWS), &mut Selection::default()).unwrap();
        let names: Vec<_> = trace.documents[3..].iter().map(|d| d["metadata"]["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["a0-cn", "a0-hn-v0", "a0-hn-v1"]);
        let spread = &trace.documents[4]["spec"]["template"]["spec"]["topologySpreadConstraints"][0];
        assert_eq!((&spread["maxSkew"], &spread["labelSelector"]["matchLabels"]["service"]), (&8.into(), &"a0".into()));
        assert!(trace.documents[3]["spec"]["template"]["spec"].get("topologySpreadConstraints").is_none());
        assert!(
            trace.notes.iter().any(|n| n == "2 pods with a share of an RDMA card: the share is dropped"),
            "{:?}",
            trace.notes
        );
    }

    #[test]
    fn empty_times_lie_outside_the_trace() {
        for (at, pods) in [(0, 2), (5, 3), (9, 3), (10, 2)] {
            assert_eq!(
                read(Table::of(ROWS), &mut Selection { at: Some(at), left: None }).unwrap().pods,
                pods,
                "at {at}"
            );
        }
    }
}
