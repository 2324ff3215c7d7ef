//! `openb-pods`: pods of a cluster that shares GPUs.

use std::collections::BTreeMap;

use super::lifetime::runs_at;
use super::manifest::{self, Workload};
use super::table::{Row, Table};
use super::{Selection, Trace};

/// GPU models of the trace and the label value of the same model on EC2.
/// P100 and the undisclosed G1 to G3 are not sold there; A10G is EC2's A10.
const ON_EC2: [(&str, &str); 4] = [("A10", "a10g"), ("T4", "t4"), ("V100M16", "v100"), ("V100M32", "v100")];
const NOT_ON_EC2: [&str; 4] = ["G1", "G2", "G3", "P100"];

/// Oldest generation with one of these models.
const OLDEST: u32 = 3;

/// What makes pods identical.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    qos: String,
    cpu_milli: i64,
    mem_mib: i64,
    gpus: i64,
    models: Vec<&'static str>,
}

impl Shape {
    fn name(&self) -> String {
        let mut name = format!("{}-{}m-{}mi", self.qos, self.cpu_milli, self.mem_mib);
        if self.gpus > 0 {
            name += &format!("-{}gpu", self.gpus);
        }
        for model in &self.models {
            name = name + "-" + model;
        }
        name
    }
}

pub fn read(mut table: Table, selection: &mut Selection, models33: bool) -> Result<Trace, String> {
    let column = if models33 { "gpu_spec33" } else { "gpu_spec" };
    table.need(&["cpu_milli", "mem_mib", "gpu", "gpu_milli", "priority", column])?;
    let mut shapes: BTreeMap<Shape, u64> = BTreeMap::new();
    let (mut parts, mut unknown) = (0, 0);
    while let Some(row) = table.next()? {
        if !runs_at(&row, selection.at)? {
            continue;
        }
        let (gpus, is_part) = whole_gpus(&row)?;
        let (models, nowhere) = models(&row, column)?;
        let qos = row.text("priority").to_ascii_lowercase();
        if !qos.bytes().all(|b| b.is_ascii_lowercase()) || qos.is_empty() {
            return Err(row.wrong("priority", "is no QoS class"));
        }
        let shape = Shape { qos, cpu_milli: row.number("cpu_milli")?, mem_mib: row.number("mem_mib")?, gpus, models };
        if selection.is_full() {
            break;
        }
        selection.take(1);
        parts += u64::from(is_part);
        unknown += u64::from(nowhere);
        *shapes.entry(shape).or_default() += 1;
    }
    let mut trace = Trace::default();
    trace.documents.push(manifest::namespace("openb"));
    if shapes.keys().any(|s| !s.models.is_empty()) {
        trace.documents.extend(manifest::pool("openb", OLDEST, 100));
        trace.notes.push("a NodePool comes with it, since the default one has no machines old enough".to_owned());
    }
    for (shape, replicas) in shapes {
        trace.add(&Workload {
            namespace: "openb",
            name: shape.name(),
            labels: BTreeMap::from([("qos", shape.qos.clone())]),
            replicas,
            cpu_milli: shape.cpu_milli,
            mem_mib: shape.mem_mib,
            gpus: shape.gpus,
            affinity: (!shape.models.is_empty())
                .then(|| manifest::node_in("karpenter.k8s.aws/instance-gpu-name", &shape.models)),
            ..Workload::default()
        });
    }
    trace.note(parts, "pod", "with a part of a GPU: rounded up to a whole one");
    trace.note(unknown, "pod", "with none but GPU models that EC2 does not sell: the wish is dropped");
    Ok(trace)
}

/// Whole devices, and whether that is more than was asked for.
fn whole_gpus(row: &Row<'_>) -> Result<(i64, bool), String> {
    let devices = row.number("gpu")?;
    let milli = row.maybe("gpu_milli")?.unwrap_or(0);
    if devices > 0 && milli > 1000 {
        return Err(row.wrong("gpu_milli", "is more than a whole device"));
    }
    Ok((devices, devices > 0 && milli < 1000))
}

/// Label values of the accepted models, and whether models were named but
/// none is to be had.
fn models(row: &Row<'_>, column: &str) -> Result<(Vec<&'static str>, bool), String> {
    let mut found = Vec::new();
    let named = row.text(column);
    for model in named.split('|').filter(|m| !m.is_empty()) {
        match ON_EC2.iter().find(|(name, _)| *name == model) {
            Some((_, label)) => found.push(*label),
            None if NOT_ON_EC2.contains(&model) => {}
            None => return Err(row.wrong(column, "names an unknown GPU model")),
        }
    }
    found.sort_unstable();
    found.dedup();
    let nowhere = !named.is_empty() && found.is_empty();
    Ok((found, nowhere))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "name,cpu_milli,mem_mib,gpu,gpu_milli,group,priority,zone,gpu_spec,gpu_spec33,phase,create_s,schedule_s,delete_s\n";

    fn take(rows: &str, selection: Selection, models33: bool) -> Result<Trace, String> {
        let text: &'static str = Box::leak(format!("{HEAD}{rows}").into_boxed_str());
        read(Table::of(text), &mut selection.clone(), models33)
    }

    const ROWS: &str = "a,12000,16384,1,1000,,LS,,,,Running,0,0,50\nb,12000,16384,1,460,,LS,,,P100|T4,Running,10,10,60\n\
        c,4000,8192,0,0,,BE,,,,Running,20,20,70\nd,12000,16384,1,460,,LS,,,G2,Running,10,10,60\n";

    #[test]
    fn parts_of_a_gpu_become_whole_and_are_counted() {
        let trace = take(ROWS, Selection::default(), false).unwrap();
        assert_eq!((trace.pods, trace.workloads), (4, 2), "{:?}", trace.documents);
        let gpu = &trace.documents[2]["spec"];
        assert_eq!(gpu["replicas"], 3);
        let requests = &gpu["template"]["spec"]["containers"][0]["resources"]["requests"];
        assert_eq!(requests["nvidia.com/gpu"], "1");
        assert_eq!(requests["cpu"], "12000m");
        assert_eq!(trace.notes, ["2 pods with a part of a GPU: rounded up to a whole one"]);
    }

    #[test]
    fn models_become_alternatives_where_ec2_has_them() {
        let trace = take(ROWS, Selection::default(), true).unwrap();
        let text = serde_json::to_string(&trace.documents).unwrap();
        assert!(
            text.contains(r#""key":"karpenter.k8s.aws/instance-gpu-name","operator":"In","values":["t4"]"#),
            "{text}"
        );
        assert!(trace.notes.iter().any(|n| n.starts_with("1 pod with none but GPU models")), "{:?}", trace.notes);
    }

    #[test]
    fn only_what_runs_then_is_taken() {
        for (at, pods) in [(0, 1), (10, 3), (20, 4), (50, 3), (70, 0)] {
            assert_eq!(take(ROWS, Selection { at: Some(at), left: None }, false).unwrap().pods, pods, "at {at}");
        }
        assert_eq!(take(ROWS, Selection { at: None, left: Some(2) }, false).unwrap().pods, 2);
    }

    #[test]
    fn bad_rows_are_named() {
        let complaint = |row: &str| take(row, Selection::default(), true).unwrap_err();
        assert!(complaint("a,x,1,0,0,,LS,,,,Running,0,0,1\n").contains("line 2: column cpu_milli: \"x\""));
        assert!(complaint("a,1,1,1,2000,,LS,,,,Running,0,0,1\n").contains("column gpu_milli"));
        assert!(complaint("a,1,1,1,1000,,LS,,,H9,Running,0,0,1\n").contains("column gpu_spec33: \"H9\""));
        assert!(complaint("a,1,1,1,1000,,,,,,Running,0,0,1\n").contains("column priority"));
    }
}
