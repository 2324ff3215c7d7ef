//! `tianchi-apps`: applications with limits on who shares a machine.
//!
//! A limit `j:k` on application i: beside an i at most k of j. With k = 0
//! that is anti-affinity. For i itself the published k counts the others, so
//! that 0 leaves one instance per machine. Larger limits have no counterpart
//! in Kubernetes and are dropped.

use std::collections::BTreeSet;

use super::manifest::{self, Workload};
use super::table::{Row, Table};
use super::{Selection, Trace};

struct App {
    id: String,
    replicas: u64,
    cpu_milli: i64,
    mem_mib: i64,
    never_with: Vec<String>,
}

pub fn read(mut table: Table, selection: &mut Selection) -> Result<Trace, String> {
    table.need(&["app_id", "replicas", "cores", "mem_gib", "self_k", "limits"])?;
    let mut apps: Vec<App> = Vec::new();
    let mut seen = BTreeSet::new();
    let (mut loose, mut loose_self) = (0, 0);
    while let Some(row) = table.next()? {
        if selection.is_full() {
            break;
        }
        let id = row.name("app_id")?.to_owned();
        if !seen.insert(id.clone()) {
            return Err(row.wrong("app_id", "stands there twice"));
        }
        let (mut never_with, dropped) = limits(&row)?;
        loose += dropped;
        match row.maybe("self_k")? {
            Some(0) => never_with.push(id.clone()),
            Some(_) => loose_self += 1,
            None => {}
        }
        never_with.sort_unstable();
        never_with.dedup();
        let replicas = selection.take(row.number("replicas")?.unsigned_abs());
        let mem_mib = mebibytes(row.milli("mem_gib")?);
        apps.push(App { id, replicas, cpu_milli: row.milli("cores")?, mem_mib, never_with });
    }
    let mut trace = Trace::default();
    trace.documents.push(manifest::namespace("tianchi"));
    let (mut rules, mut absent) = (0, 0);
    for mut app in apps {
        let named = app.never_with.len();
        app.never_with.retain(|other| seen.contains(other));
        absent += (named - app.never_with.len()) as u64;
        rules += app.never_with.len() as u64;
        trace.add(&Workload {
            namespace: "tianchi",
            name: format!("app-{}", app.id),
            labels: [("app", app.id)].into(),
            replicas: app.replicas,
            cpu_milli: app.cpu_milli,
            mem_mib: app.mem_mib,
            affinity: (!app.never_with.is_empty()).then(|| manifest::never_with("app", &app.never_with)),
            ..Workload::default()
        });
    }
    trace.note(rules, "limit", "of 0 became anti-affinity on the machine");
    trace.note(loose, "limit", "j:k with k > 0: dropped");
    trace.note(loose_self, "limit", "on an application beside itself with k > 0: dropped");
    trace.note(absent, "limit", "of 0 towards applications that are not taken: dropped");
    Ok(trace)
}

/// Thousandths of a GiB as MiB, rounded up.
fn mebibytes(milli_gib: i64) -> i64 {
    (milli_gib * 1024).div_euclid(1000) + i64::from((milli_gib * 1024).rem_euclid(1000) > 0)
}

/// Applications that must not come near, and how many limits are looser.
fn limits(row: &Row<'_>) -> Result<(Vec<String>, u64), String> {
    let (mut never, mut loose) = (Vec::new(), 0);
    for limit in row.text("limits").split_whitespace() {
        let parsed = limit.split_once(':').and_then(|(j, k)| Some((j, k.parse::<u32>().ok()?)));
        match parsed {
            Some((j, 0)) if !j.is_empty() => never.push(j.to_owned()),
            Some((j, _)) if !j.is_empty() => loose += 1,
            _ => return Err(row.wrong("limits", &format!("holds {limit:?}, which is not j:k"))),
        }
    }
    Ok((never, loose))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str =
        "app_id,replicas,cores,mem_gib,self_k,limits\n1,3,0.5,8,2,2:0 3:1\n2,1,4,0.1,0,\n3,2,1,1,1,9:0 2:0\n";

    #[test]
    fn zero_limits_become_anti_affinity_and_others_are_counted() {
        let trace = read(Table::of(ROWS), &mut Selection::default()).unwrap();
        let other = |i: usize| {
            let affinity = &trace.documents[i]["spec"]["template"]["spec"]["affinity"]["podAntiAffinity"];
            affinity["requiredDuringSchedulingIgnoredDuringExecution"][0]["labelSelector"]["matchExpressions"][0]
                ["values"]
                .to_string()
        };
        assert_eq!([other(1), other(2), other(3)], [r#"["2"]"#, r#"["2"]"#, r#"["2"]"#]);
        assert_eq!(trace.documents[1]["spec"]["template"]["metadata"]["labels"]["app"], "1");
        assert_eq!(
            trace.notes,
            [
                "3 limits of 0 became anti-affinity on the machine",
                "1 limit j:k with k > 0: dropped",
                "2 limits on an application beside itself with k > 0: dropped",
                "1 limit of 0 towards applications that are not taken: dropped",
            ]
        );
    }

    #[test]
    fn amounts_are_exact() {
        let trace = read(Table::of(ROWS), &mut Selection::default()).unwrap();
        let requests = |i: usize| {
            trace.documents[i]["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"].to_string()
        };
        assert_eq!(requests(1), r#"{"cpu":"500m","memory":"8192Mi"}"#);
        assert_eq!(requests(2), r#"{"cpu":"4000m","memory":"103Mi"}"#);
    }

    #[test]
    fn bad_limits_are_named() {
        let text = "app_id,replicas,cores,mem_gib,self_k,limits\n1,3,1,8,2,2:x\n";
        let complaint = read(Table::of(text), &mut Selection::default()).unwrap_err();
        assert!(complaint.contains("line 2: column limits"), "{complaint}");
    }
}
