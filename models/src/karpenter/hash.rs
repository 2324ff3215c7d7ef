//! The drift hash of a NodePool's template, equal to Karpenter's `v3`.
//! (10-api §13)
//!
//! A list or map that is written but empty counts as absent here.

use super::nodepool::Template;
use crate::kube::meta::Labels;
use crate::kube::node::Taint;

/// Annotation that carries the hash.
pub const ANNOTATION: &str = "karpenter.sh/nodepool-hash";
/// Annotation that carries [`VERSION`].
pub const VERSION_ANNOTATION: &str = "karpenter.sh/nodepool-hash-version";
/// Version of the algorithm.
pub const VERSION: &str = "v3";

/// The hash; none where a duration cannot be read.
pub fn template_hash(template: &Template) -> Option<u64> {
    let meta =
        structure("ObjectMeta", &[("Labels", map(&template.labels)), ("Annotations", map(&template.annotations))]);
    let class = &template.node_class;
    let class = structure(
        "NodeClassReference",
        &[("Kind", text(&class.kind)), ("Name", text(&class.name)), ("Group", text(&class.group))],
    );
    let spec = structure(
        "NodeClaimTemplateSpec",
        &[
            ("Taints", taints(&template.taints)),
            ("StartupTaints", taints(&template.startup_taints)),
            ("NodeClassRef", Some(class)),
            ("TerminationGracePeriod", duration("Duration", template.termination_grace_period.as_deref())?),
            ("ExpireAfter", duration("NillableDuration", template.expire_after.as_deref())?),
        ],
    );
    let has_meta = !template.labels.is_empty() || !template.annotations.is_empty();
    Some(structure("NodeClaimTemplate", &[("ObjectMeta", has_meta.then_some(meta)), ("Spec", Some(spec))]))
}

/// 64-bit FNV-1 (Fowler, Noll, Vo).
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h: u64, b| h.wrapping_mul(0x0000_0100_0000_01b3) ^ u64::from(*b))
}

fn pair(a: u64, b: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&a.to_le_bytes());
    bytes[8..].copy_from_slice(&b.to_le_bytes());
    fnv(&bytes)
}

fn fin(a: u64) -> u64 {
    fnv(&a.to_le_bytes())
}

fn string(s: &str) -> u64 {
    fnv(s.as_bytes())
}

/// A string field; empty counts as unset.
fn text(s: &str) -> Option<u64> {
    (!s.is_empty()).then(|| string(s))
}

fn map(m: &Labels) -> Option<u64> {
    let all = m.iter().fold(0, |h, (k, v)| h ^ pair(string(k), string(v)));
    (!m.is_empty()).then(|| fin(all))
}

fn taints(list: &[Taint]) -> Option<u64> {
    let one = |t: &Taint| {
        structure("Taint", &[("Key", text(&t.key)), ("Value", text(&t.value)), ("Effect", text(&t.effect))])
    };
    (!list.is_empty()).then(|| list.iter().fold(0, |h, t| h ^ one(t)))
}

fn structure(name: &str, fields: &[(&str, Option<u64>)]) -> u64 {
    fields.iter().fold(string(name), |h, (field, value)| match value {
        Some(v) => fin(h ^ pair(string(field), *v)),
        None => h,
    })
}

/// `Some(None)` where the duration is absent, `None` where it cannot be read.
fn duration(kind: &str, written: Option<&str>) -> Option<Option<u64>> {
    let Some(written) = written else { return Some(None) };
    let nanos = nanoseconds(written)?;
    Some(Some(structure(kind, &[("Duration", (nanos != 0).then(|| fnv(&nanos.to_le_bytes())))])))
}

/// Reads a Go duration of hours, minutes and seconds.
pub fn nanoseconds(written: &str) -> Option<i64> {
    let mut total: i64 = 0;
    let mut digits = String::new();
    for c in written.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let unit: i64 = match c {
            'h' => 3_600_000_000_000,
            'm' => 60_000_000_000,
            's' => 1_000_000_000,
            _ => return None,
        };
        total = total.checked_add(digits.parse::<i64>().ok()?.checked_mul(unit)?)?;
        digits.clear();
    }
    (digits.is_empty() && !written.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::karpenter::nodepool::NodeClassRef;

    fn template(group: &str, expire: Option<&str>) -> Template {
        Template {
            node_class: NodeClassRef { group: group.into(), kind: "EC2NodeClass".into(), name: "default".into() },
            expire_after: expire.map(str::to_owned),
            ..Template::default()
        }
    }

    fn taint(key: &str, value: &str, effect: &str) -> Taint {
        Taint::new(key, value, effect)
    }

    const AWS: &str = "karpenter.k8s.aws";

    #[test]
    fn published_vectors_come_out() {
        let mut graced = template("", Some("720h"));
        graced.termination_grace_period = Some("1h".into());
        assert_eq!(template_hash(&graced), Some(377_058_807_571_762_610));
        assert_eq!(template_hash(&template(AWS, Some("720h"))), Some(6_821_555_240_594_823_858));
        assert_eq!(template_hash(&template(AWS, None)), Some(17_369_979_337_536_258_260));
        let mut labelled = template(AWS, Some("720h"));
        labelled.labels.insert("team".into(), "blue".into());
        assert_eq!(template_hash(&labelled), Some(2_242_541_143_413_205_139));
        let mut full = template(AWS, Some("240h"));
        full.labels.insert("team".into(), "blue".into());
        full.annotations.insert("example.com/a".into(), "1".into());
        full.taints = vec![taint("dedicated", "gpu", "NoSchedule")];
        full.startup_taints = vec![taint("cni", "", "NoExecute")];
        full.termination_grace_period = Some("30m".into());
        assert_eq!(template_hash(&full), Some(17_583_093_021_998_708_561));
    }

    #[test]
    fn order_of_taints_does_not_matter() {
        let mut t = template(AWS, Some("720h"));
        t.taints = vec![taint("a", "1", "NoSchedule"), taint("b", "", "PreferNoSchedule")];
        assert_eq!(template_hash(&t), Some(7_029_787_360_599_942_021));
        t.taints.reverse();
        assert_eq!(template_hash(&t), Some(7_029_787_360_599_942_021));
    }
}
