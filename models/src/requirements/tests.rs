use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::karpenter::labels;
use crate::kube::meta::Labels;
use crate::kube::selector::{Expression, Operator};

fn requirement(key: &str, operator: Operator, values: &[&str]) -> Requirement {
    Requirement::new(key, operator, values.iter().copied(), None).unwrap()
}

fn set(list: &[(&str, Operator, &[&str])]) -> Requirements {
    list.iter().map(|(k, o, v)| requirement(k, *o, v)).collect()
}

fn labels_of(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
}

#[test]
fn sch_048_to_051_bounds() {
    let cpus = ["2", "4", "8", "16"];
    let admitted = |operator, n: &str| {
        let r = requirement("cpu", operator, &[n]);
        cpus.into_iter().filter(|c| r.has(c)).collect::<Vec<_>>()
    };
    assert_eq!(admitted(Operator::Gt, "3"), ["4", "8", "16"]);
    assert_eq!(admitted(Operator::Lt, "4"), ["2"]);
    assert_eq!(admitted(Operator::Lte, "4"), ["2", "4"]);
    assert_eq!(admitted(Operator::Gte, "8"), ["8", "16"]);
    let both = requirement("cpu", Operator::Gte, &["4"]).intersect(&requirement("cpu", Operator::Lte, &["8"]));
    assert_eq!(cpus.into_iter().filter(|c| both.has(c)).collect::<Vec<_>>(), ["4", "8"]);
    let written: Vec<_> = both.expressions().into_iter().map(|e| (e.operator, e.values)).collect();
    assert_eq!(written, [(Operator::Gte, vec!["4".into()]), (Operator::Lte, vec!["8".into()])]);
    let (high, low) = (requirement("cpu", Operator::Gt, &["8"]), requirement("cpu", Operator::Lt, &["4"]));
    assert!(!high.overlaps(&low));
    assert_eq!(high.intersect(&low).operator(), Operator::DoesNotExist);
}

#[test]
fn sch_052_undefined_custom_labels() {
    let pool = Requirements::new();
    for (operator, values, fits) in [
        (Operator::In, &["x"][..], false),
        (Operator::Exists, &[], false),
        (Operator::Gt, &["1"], false),
        (Operator::NotIn, &["x"], true),
        (Operator::DoesNotExist, &[], true),
    ] {
        let pod = set(&[("team", operator, values)]);
        assert_eq!(pool.compatible(&pod, &well_known).is_ok(), fits, "{operator}");
        assert_eq!(pool.is_compatible(&pod, &well_known), fits, "{operator}");
    }
}

#[test]
fn sch_053_defined_custom_labels() {
    let pool = Requirements::from_labels(&labels_of(&[("team", "red")]));
    for (operator, values, fits) in [
        (Operator::In, &["red"][..], true),
        (Operator::In, &["blue"], false),
        (Operator::NotIn, &["red"], false),
        (Operator::NotIn, &["blue"], true),
        (Operator::Exists, &[], true),
        (Operator::DoesNotExist, &[], false),
    ] {
        let pod = set(&[("team", operator, values)]);
        assert_eq!(pool.compatible(&pod, &well_known).is_ok(), fits, "{operator} {values:?}");
    }
}

#[test]
fn sch_054_to_056_open_requirements_resolve_to_a_value() {
    let team = requirement("team", Operator::Exists, &[]);
    assert_eq!(team.intersect(&requirement("team", Operator::In, &["red"])).any(), "red");
    assert_eq!(team.any(), "0");
    assert_eq!(requirement("team", Operator::In, &["red", "blue"]).any(), "blue");
    assert_eq!(requirement("n", Operator::Lt, &["-3"]).any(), "-4");
    assert_eq!(requirement("n", Operator::NotIn, &["0", "1"]).any(), "2");
    assert_eq!(requirement("n", Operator::DoesNotExist, &[]).any(), "");
    let shut = requirement("n", Operator::Gte, &["3"]).intersect(&requirement("n", Operator::Lte, &["3"]));
    assert_eq!(shut.intersect(&requirement("n", Operator::NotIn, &["3"])).any(), "");
}

#[test]
fn sch_057_well_known_labels_may_be_undefined() {
    let pod = set(&[(labels::INSTANCE_FAMILY, Operator::In, &["g5"])]);
    assert!(Requirements::new().compatible(&pod, &well_known).is_ok());
    assert!(Requirements::new().compatible(&pod, &nothing).is_err());
}

#[test]
fn sch_058_a_misspelt_key_gets_a_hint() {
    let pod = set(&[("zone", Operator::In, &["z1"])]);
    let conflicts = Requirements::new().compatible(&pod, &well_known).unwrap_err();
    let text = conflicts[0].to_string();
    assert!(text.contains("topology.kubernetes.io/zone") && text.contains("\"zone\"") && text.contains("z1"), "{text}");
}

#[test]
fn sch_059_aliases_are_normalised() {
    let pod = set(&[
        ("beta.kubernetes.io/arch", Operator::In, &["arm64"]),
        ("failure-domain.beta.kubernetes.io/zone", Operator::In, &["z2"]),
        ("topology.ebs.csi.aws.com/zone", Operator::In, &["z1", "z2"]),
    ]);
    assert_eq!(pod.keys().collect::<Vec<_>>(), [labels::ARCH, labels::ZONE]);
    assert_eq!(pod.get(labels::ZONE).unwrap().values, BTreeSet::from(["z2".to_owned()]));
    assert!(pod.satisfied_by(&labels_of(&[("beta.kubernetes.io/arch", "arm64"), (labels::ZONE, "z2")])));
}

#[test]
fn sch_060_two_absences_go_together() {
    let pool = set(&[("team", Operator::NotIn, &["red"])]);
    let pod = set(&[("team", Operator::DoesNotExist, &[])]);
    assert!(pool.compatible(&pod, &well_known).is_ok());
    assert!(pod.intersects(&pod).is_ok());
}

#[test]
fn sch_061_existing_nodes_allow_nothing_undefined() {
    let node = labels_of(&[("kubernetes.io/arch", "amd64")]);
    assert!(set(&[("disk", Operator::NotIn, &["hdd"])]).satisfied_by(&node));
    assert!(!set(&[("disk", Operator::In, &["ssd"])]).satisfied_by(&node));
}

#[test]
fn sch_062_exists_does_not_widen() {
    let mut node = set(&[("k", Operator::In, &["v"])]);
    node.add(requirement("k", Operator::Exists, &[]));
    assert_eq!(node.get("k").unwrap().values, BTreeSet::from(["v".to_owned()]));
}

#[test]
fn sch_063_bounds_exclude_words() {
    let bounded = requirement("n", Operator::Gte, &["0"]);
    assert!(!bounded.has("many") && !bounded.overlaps(&requirement("n", Operator::In, &["many"])));
}

#[test]
fn refused_expressions_name_key_operator_and_values() {
    let refused = |operator, values: &[&str], min| {
        Requirement::new("key", operator, values.iter().copied(), min).unwrap_err().to_string()
    };
    assert!(refused(Operator::In, &[], None).contains("\"key\" with operator In"));
    let text = refused(Operator::Gt, &["x"], None);
    assert!(text.contains("\"key\"") && text.contains("Gt") && text.contains("\"x\""), "{text}");
    assert!(refused(Operator::Lt, &["1", "2"], None).contains("exactly one integer"));
    assert!(refused(Operator::Exists, &[], Some(51)).contains("minValues 51"));
    assert!(refused(Operator::Exists, &[], Some(0)).contains("minValues 0"));
    assert!(refused(Operator::In, &["a"], Some(2)).contains("fewer values"));
}

#[test]
fn the_ends_of_the_integers() {
    let text = i64::MAX.to_string();
    assert_eq!(requirement("n", Operator::Gt, &[&text]).operator(), Operator::DoesNotExist);
    assert_eq!(requirement("n", Operator::Lt, &[&i64::MIN.to_string()]).operator(), Operator::DoesNotExist);
    assert!(requirement("n", Operator::Gte, &[&text]).has(&text));
}

const UNIVERSE: [&str; 10] = ["a", "b", "c", "-1", "0", "1", "2", "3", "4", "5"];

fn expression() -> impl Strategy<Value = Expression> {
    let word = prop::sample::select(&UNIVERSE[..]).prop_map(str::to_owned);
    let listed = (any::<bool>(), prop::collection::vec(word, 1..4))
        .prop_map(|(complement, values)| (if complement { Operator::NotIn } else { Operator::In }, values));
    let bound = (prop::sample::select(vec![Operator::Gt, Operator::Lt, Operator::Gte, Operator::Lte]), -1..6_i64)
        .prop_map(|(operator, n)| (operator, vec![n.to_string()]));
    let bare = prop::sample::select(vec![Operator::Exists, Operator::DoesNotExist]).prop_map(|o| (o, vec![]));
    prop_oneof![3 => listed, 3 => bound, 1 => bare].prop_map(|(operator, values)| Expression {
        key: "k".into(),
        operator,
        values,
        min_values: None,
    })
}

fn algebra(e: &Expression) -> Requirement {
    Requirement::new(&e.key, e.operator, &e.values, e.min_values).unwrap()
}

/// The twin: the values of the universe that satisfy every expression, by the
/// label selector's own rules.
fn twin(all: &[Expression]) -> BTreeSet<&'static str> {
    let matches = |v: &str| all.iter().all(|e| e.matches(&labels_of(&[("k", v)])));
    UNIVERSE.into_iter().filter(|v| matches(v)).collect()
}

fn admitted(r: &Requirement) -> BTreeSet<&'static str> {
    UNIVERSE.into_iter().filter(|v| r.has(v)).collect()
}

proptest! {
    #[test]
    fn intersection_is_conjunction(all in prop::collection::vec(expression(), 1..5)) {
        let folded = all.iter().map(algebra).reduce(|a, b| a.intersect(&b)).unwrap();
        prop_assert_eq!(admitted(&folded), twin(&all));
        let absent = all.iter().all(|e| e.matches(&Labels::new()));
        prop_assert!(!absent || folded.admits_absence() || !twin(&all).is_empty());
    }

    #[test]
    fn intersection_is_commutative_associative_idempotent(a in expression(), b in expression(), c in expression()) {
        let (a, b, c) = (algebra(&a), algebra(&b), algebra(&c));
        prop_assert_eq!(a.intersect(&b), b.intersect(&a));
        prop_assert_eq!(a.intersect(&b).intersect(&c), a.intersect(&b.intersect(&c)));
        prop_assert_eq!(a.intersect(&a), a);
    }

    #[test]
    fn overlap_is_a_common_value(a in prop::collection::vec(expression(), 1..3), b in prop::collection::vec(expression(), 1..3)) {
        let fold = |all: &[Expression]| all.iter().map(algebra).reduce(|a, b| a.intersect(&b)).unwrap();
        let (left, right) = (fold(&a), fold(&b));
        prop_assert_eq!(left.overlaps(&right), right.overlaps(&left));
        let both: Vec<_> = a.into_iter().chain(b).collect();
        if left.complement && right.complement {
            // Open on both sides: only crossing bounds part them.
            prop_assert_eq!(left.overlaps(&right), left.intersect(&right).operator() != Operator::DoesNotExist);
        } else {
            prop_assert_eq!(left.overlaps(&right), !twin(&both).is_empty());
        }
    }

    #[test]
    fn serialising_loses_nothing(all in prop::collection::vec(expression(), 1..4)) {
        let folded = all.iter().map(algebra).reduce(|a, b| a.intersect(&b)).unwrap();
        let back = Requirements::from_expressions(&folded.expressions()).unwrap();
        prop_assert_eq!(back.get("k"), Some(&folded));
    }

    #[test]
    fn any_is_admitted(all in prop::collection::vec(expression(), 1..4)) {
        let folded = all.iter().map(algebra).reduce(|a, b| a.intersect(&b)).unwrap();
        let value = folded.any();
        prop_assert!(value.is_empty() || folded.has(&value), "{} is not in {}", value, folded);
        prop_assert!(!value.is_empty() || twin(&all).is_empty());
    }

    /// A node's labels satisfy what their requirements are compatible with.
    #[test]
    fn labels_and_requirements_agree(value in prop::option::of(prop::sample::select(&UNIVERSE[..])), e in expression()) {
        let labels: Labels = value.into_iter().map(|v| ("k".to_owned(), v.to_owned())).collect();
        let asked = Requirements::from_expressions(std::slice::from_ref(&e)).unwrap();
        let node = Requirements::from_labels(&labels);
        prop_assert_eq!(asked.satisfied_by(&labels), e.matches(&labels));
        prop_assert_eq!(node.compatible(&asked, &nothing).is_ok(), e.matches(&labels));
        prop_assert_eq!(node.is_compatible(&asked, &nothing), e.matches(&labels));
    }

    #[test]
    fn both_ways_to_ask_agree(
        a in prop::collection::vec((0..3_usize, expression()), 0..4),
        b in prop::collection::vec((0..3_usize, expression()), 0..4),
    ) {
        let keyed = |list: Vec<(usize, Expression)>| -> Requirements {
            let keys = ["k", "zone", labels::ZONE];
            list.into_iter().map(|(i, e)| Requirement { key: keys[i].into(), ..algebra(&e) }).collect()
        };
        let (a, b) = (keyed(a), keyed(b));
        let full = a.compatible(&b, &well_known);
        prop_assert_eq!(full.is_ok(), a.is_compatible(&b, &well_known));
        if full.is_ok() {
            prop_assert!(a.intersects(&b).is_ok());
        }
    }
}
