//! Pods without a place, those with the same reasons together.

use std::collections::BTreeMap;

use super::style::{counted, paragraph};

/// Groups that are printed, and pods that each names.
const GROUPS: usize = 12;
const NAMES: usize = 3;
const REASONS: usize = 4;

/// A paragraph per set of reasons, the largest group first.
pub fn section(unscheduled: &[(String, Vec<String>)]) -> String {
    if unscheduled.is_empty() {
        return String::new();
    }
    let mut groups: BTreeMap<&[String], Vec<&str>> = BTreeMap::new();
    for (pod, reasons) in unscheduled {
        groups.entry(reasons).or_default().push(pod);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, pods)| std::cmp::Reverse(pods.len()));
    let mut out = format!("Without a place: {}\n", counted(unscheduled.len(), "pod"));
    for (reasons, pods) in groups.iter().take(GROUPS) {
        let mut names = pods[..pods.len().min(NAMES)].join(", ");
        if pods.len() > NAMES {
            names += &format!(" and {} more", pods.len() - NAMES);
        }
        out += &paragraph("  ", &names);
        for reason in reasons.iter().take(REASONS) {
            out += &paragraph("    - ", reason);
        }
        if reasons.len() > REASONS {
            out += &format!("    - and {} more (all of them: -o json)\n", counted(reasons.len() - REASONS, "reason"));
        }
    }
    if groups.len() > GROUPS {
        let rest: usize = groups[GROUPS..].iter().map(|(_, pods)| pods.len()).sum();
        out += &format!("  … and {} for other reasons (all of them: -o json)\n", counted(rest, "more pod"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_with_the_same_reasons_stand_together() {
        let pod = |i: usize, why: &str| (format!("default/p-{i}"), vec![why.to_owned()]);
        let pods: Vec<_> = (0..5).map(|i| pod(i, "too large")).chain([pod(9, "no zone")]).collect();
        assert_eq!(
            section(&pods),
            "Without a place: 6 pods\n  default/p-0, default/p-1, default/p-2 and 2 more\n    - too large\n  default/p-9\n    - no zone\n"
        );
        assert_eq!(section(&[]), "");
    }
}
