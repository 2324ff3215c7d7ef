use std::collections::BTreeMap;

use clap::{Args as _, Command, FromArgMatches as _};

use super::*;

fn flags(line: &[&str]) -> Result<Flags, clap::Error> {
    let command = Flags::augment_args(Command::new("controller"));
    Flags::from_arg_matches(&command.try_get_matches_from(std::iter::once(&"controller").chain(line))?)
}

fn settings(line: &[&str], env: &[(&str, &str)]) -> Result<Settings, SettingError> {
    let env: BTreeMap<String, String> = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Settings::of(&flags(line).unwrap(), &|name| env.get(name).cloned())
}

#[test]
fn defaults_are_karpenters() {
    let s = settings(&[], &[]).unwrap();
    assert_eq!((s.metrics_port, s.health_probe_port), (8080, 8081));
    assert_eq!((s.kube_client_qps, s.kube_client_burst), (200.0, 300.0));
    assert_eq!((s.core.batch_idle, s.core.batch_max), (Duration::from_secs(1), Duration::from_secs(10)));
    assert_eq!(s.lease_name, "karpenter-leader-election");
    assert!(s.leader_election && !s.no_observability && s.core.lower.gates.reserved_capacity);
    assert_eq!((s.log_level, s.log_format), (LevelFilter::INFO, Format::Json));
}

#[test]
fn ops_004_a_flag_wins_over_the_environment() {
    let env = [("BATCH_IDLE_DURATION", "3s"), ("MILLWRIGHT_PLACEMENT", "none"), ("SYSTEM_NAMESPACE", "karpenter")];
    let s = settings(&["--batch-idle-duration=2s", "--placement=nominate"], &env).unwrap();
    assert_eq!((s.core.batch_idle, s.core.placement), (Duration::from_secs(2), Placement::Nominate));
    assert_eq!(s.lease_namespace, "karpenter");
    let s = settings(&[], &env).unwrap();
    assert_eq!((s.core.batch_idle, s.core.placement), (Duration::from_secs(3), Placement::None));
}

#[test]
fn ops_006_unknown_gates_are_passed_over_and_the_others_keep_their_defaults() {
    let gates = settings(&[], &[("FEATURE_GATES", "Foo=true,NodeRepair=true")]).unwrap().core.lower.gates;
    assert!(gates.node_repair && gates.reserved_capacity && !gates.node_overlay);
    let gates = settings(&["--feature-gates=ReservedCapacity=false"], &[]).unwrap().core.lower.gates;
    assert!(!gates.reserved_capacity);
}

#[test]
fn ops_007_a_gate_is_true_or_false() {
    for wrong in ["NodeRepair=maybe", "NodeRepair", "Foo=x"] {
        let error = settings(&[], &[("FEATURE_GATES", wrong)]).unwrap_err();
        assert_eq!(error.name, "FEATURE_GATES", "{wrong}");
    }
}

#[test]
fn ops_008_levels_are_few() {
    assert_eq!(settings(&[], &[("LOG_LEVEL", "debug")]).unwrap().log_level, LevelFilter::DEBUG);
    assert!(settings(&["--log-level=trace"], &[]).unwrap_err().to_string().contains("trace"));
}

#[test]
fn ops_038_flags_are_strict_and_the_environment_is_not() {
    let off = |line: &[&str], env: &[(&str, &str)]| !settings(line, env).unwrap().leader_election;
    assert!(off(&[], &[("DISABLE_LEADER_ELECTION", "1")]) && off(&["--disable-leader-election"], &[]));
    assert!(!off(&["--disable-leader-election=false"], &[("DISABLE_LEADER_ELECTION", "true")]));
    assert!(!off(&[], &[("DISABLE_LEADER_ELECTION", "yes")]));
    for wrong in ["--disable-leader-election=1", "--metrics-port=abc", "--batch-max-duration=10", "--hold=-1s"] {
        assert!(flags(&[wrong]).is_err(), "{wrong}");
    }
    let s = settings(&[], &[("METRICS_PORT", "abc"), ("BATCH_MAX_DURATION", "10")]).unwrap();
    assert_eq!((s.metrics_port, s.core.batch_max), (8080, Duration::from_secs(10)));
}

#[test]
fn words_that_decide_are_strict_everywhere() {
    let wrong = [
        ("PREFERENCE_POLICY", "respect"),
        ("MIN_VALUES_POLICY", "x"),
        ("MILLWRIGHT_PLACEMENT", "Bind"),
        ("MILLWRIGHT_DISRUPTION_PRICE", "-1"),
        ("SCHEDULER_CONFIG", "podTopologySpread: {}"),
        ("IGNORE_DRA_REQUESTS", "false"),
    ];
    for (name, value) in wrong {
        assert!(settings(&[], &[(name, value)]).is_err(), "{name}={value}");
    }
    let s = settings(&[], &[("MILLWRIGHT_DISRUPTION_PRICE", "0.05"), ("PREFERENCE_POLICY", "Ignore")]).unwrap();
    assert_eq!((s.core.disruption_price, s.core.lower.preferences), (Some(50_000), PreferencePolicy::Ignore));
}

#[test]
fn prices() {
    let read = |t: &str| value::dollars(t).ok();
    assert_eq!(
        [read("1"), read("0.5"), read(".25"), read("0.1234567")],
        [Some(1_000_000), Some(500_000), Some(250_000), Some(123_456)]
    );
    assert_eq!([read(""), read("."), read("x"), read("1e3"), read("-1")], [None; 5]);
}
