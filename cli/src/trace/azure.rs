//! `azure-v1-vms`: the VMs that run at one moment.

use std::collections::BTreeMap;

use super::lifetime::vm_runs_at;
use super::manifest::{Workload, namespace};
use super::table::Table;
use super::{Selection, Trace};

/// The last second of the trace.
const LAST_SECOND: i64 = 172_799;

pub fn read(mut table: Table, selection: &mut Selection) -> Result<Trace, String> {
    table.need(&["create_s", "cpu_milli", "mem_mib", "count", "life_lo_s", "life_hi_s", "censored"])?;
    let at = selection.at.unwrap_or(LAST_SECOND);
    let mut sizes: BTreeMap<(i64, i64), u64> = BTreeMap::new();
    while let Some(row) = table.next()? {
        let size = (row.number("cpu_milli")?, row.number("mem_mib")?);
        let count = row.number("count")?.unsigned_abs();
        if vm_runs_at(&row, at)? {
            *sizes.entry(size).or_default() += selection.take(count);
        }
    }
    let mut trace = Trace::default();
    trace.documents.push(namespace("azure"));
    for ((cpu_milli, mem_mib), replicas) in sizes.into_iter().filter(|(_, n)| *n > 0) {
        trace.add(&Workload {
            namespace: "azure",
            name: format!("vm-{cpu_milli}m-{mem_mib}mi"),
            replicas,
            cpu_milli,
            mem_mib,
            ..Workload::default()
        });
    }
    trace.notes.push(format!("VMs that run at second {at}; a lifetime known as a range counts to its middle"));
    Ok(trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "create_s,group,cpu_milli,mem_mib,count,life_lo_s,life_hi_s,censored\n\
        0,b1,1000,1792,2,100,200,0\n0,b2,2000,3584,3,1000,1000,0\n150,b3,1000,1792,4,0,,1\n500,b4,1000,1792,9,50,50,0\n";

    fn pods(at: i64) -> u64 {
        read(Table::of(ROWS), &mut Selection { at: Some(at), left: None }).unwrap().pods
    }

    #[test]
    fn vms_run_from_creation_to_the_middle_of_their_bin() {
        assert_eq!(pods(0), 2 + 3);
        assert_eq!(pods(149), 2 + 3);
        assert_eq!(pods(150), 3 + 4);
        assert_eq!(pods(1000), 4);
    }

    #[test]
    fn the_limit_counts_vms() {
        let trace = read(Table::of(ROWS), &mut Selection { at: Some(0), left: Some(3) }).unwrap();
        assert_eq!((trace.pods, trace.workloads), (3, 2));
    }
}
