use jiff::{SignedDuration, Timestamp};

use super::*;

const REQUESTED: &str = "2026-11-30T12:00:00Z";

fn at(seconds: i64) -> Timestamp {
    REQUESTED.parse::<Timestamp>().unwrap() + SignedDuration::from_secs(seconds)
}

fn seen<'a>() -> Seen<'a> {
    Seen { requested: at(0), draining: true, boot: Some("a"), before: Some("a"), ..Seen::default() }
}

fn failed(result: &'static str) -> Reboot {
    Reboot::Failed { result, replace: true }
}

#[test]
fn dis_183_a_drain_ends_with_its_bound() {
    let bound = |m| Seen { bound: Some(Ok(SignedDuration::from_mins(m))), ..seen() };
    assert_eq!(reboot(&bound(10), at(599)), Reboot::Drain, "budgets are respected");
    assert_eq!(reboot(&bound(10), at(600)), Reboot::Issue, "what is left rides along");
    assert_eq!(reboot(&bound(0), at(0)), Reboot::Issue, "no time for evictions");
    let endless = Seen { bound: None, ..seen() };
    assert_eq!(reboot(&endless, at(86_400)), Reboot::Drain, "no bound waits");
}

#[test]
fn dis_184_nothing_to_drain_waits_five_seconds() {
    let idle = Seen { draining: false, ..seen() };
    assert_eq!(reboot(&idle, at(4)), Reboot::Drain);
    assert_eq!(reboot(&idle, at(5)), Reboot::Issue);
    let short = Seen { bound: Some(Ok(SignedDuration::from_secs(2))), ..seen() };
    assert_eq!(reboot(&short, at(4)), Reboot::Drain, "a shorter bound counts as five seconds");
}

#[test]
fn dis_185_a_machine_is_back_with_a_new_boot_id_and_ready() {
    let issued = Seen { issued: Some(at(60)), ..seen() };
    assert_eq!(reboot(&issued, at(100)), Reboot::Observe { fenced: true });
    let restarted = Seen { boot: Some("b"), ..issued.clone() };
    assert_eq!(reboot(&restarted, at(240)), Reboot::Observe { fenced: false });
    assert_eq!(reboot(&Seen { ready: true, ..restarted }, at(300)), Reboot::Succeeded);
    assert_eq!(reboot(&issued, at(60 + 1199)), Reboot::Observe { fenced: true });
    assert_eq!(reboot(&issued, at(60 + 1200)), failed("recovery_timeout"));
}

#[test]
fn dis_186_a_provider_that_cannot() {
    assert_eq!(reboot(&Seen { refused: true, ..seen() }, at(10)), failed("provider_error"));
    let tried = Seen { tried: Some(at(10)), ..seen() };
    assert_eq!(reboot(&tried, at(309)), Reboot::Issue, "it is asked again");
    assert_eq!(reboot(&tried, at(310)), failed("provider_error"));
    let gone = Seen { boot: None, ..seen() };
    assert_eq!(reboot(&gone, at(299)), Reboot::Drain, "a node may come back");
    assert_eq!(reboot(&gone, at(300)), failed("provider_error"));
}

#[test]
fn dis_187_a_bound_that_cannot_be_read_leaves_the_node() {
    let kept = Reboot::Failed { result: "invalid_request", replace: false };
    assert_eq!(reboot(&Seen { bound: Some(Err(())), ..seen() }, at(0)), kept);
    let negative = Some(Ok(SignedDuration::from_mins(-5)));
    assert_eq!(reboot(&Seen { bound: negative, ..seen() }, at(0)), kept);
}

#[test]
fn dis_188_a_machine_that_restarted_meanwhile_is_not_asked_again() {
    assert_eq!(reboot(&Seen { boot: Some("b"), ..seen() }, at(1)), Reboot::Issued);
}

#[test]
fn dis_159_reboots_count_for_a_day() {
    let mut ledger = Ledger::default();
    ledger.commit("u", at(0));
    ledger.commit("u", at(3600));
    assert_eq!((ledger.lately("u", at(3601)), ledger.lately("v", at(3601))), (2, 0));
    assert_eq!(ledger.lately("u", at(86_400)), 1, "the first is a day old");
}

fn rule(reason: Option<&str>, action: Action) -> Rule {
    Rule {
        condition: "Ready".to_owned(),
        status: "False".to_owned(),
        reason: reason.map(str::to_owned),
        toleration: SignedDuration::ZERO,
        grace: None,
        priority: 0,
        action,
    }
}

#[test]
fn dis_192_every_fault_of_a_set_is_told() {
    use Action::{RebootNode, ReplaceNode};
    let faults = |rules| Policies::new(rules).map(|_| ()).unwrap_err();
    assert_eq!(faults(vec![]), [Fault::Empty]);
    assert_eq!(faults(vec![rule(None, ReplaceNode), rule(None, ReplaceNode)]), [Fault::Fallbacks(2)]);
    assert_eq!(faults(vec![rule(None, RebootNode)]), [Fault::RebootingFallback(0)]);
    let bad = faults(vec![rule(Some("("), ReplaceNode), rule(Some("x"), ReplaceNode)]);
    assert!(matches!(bad[..], [Fault::Fallbacks(0), Fault::Pattern(0, ..)]), "{bad:?}");
    let wild =
        Rule { condition: String::new(), status: "Perhaps".to_owned(), priority: 101, ..rule(None, ReplaceNode) };
    assert_eq!(faults(vec![wild]).len(), 3);
    assert!(Policies::new(vec![rule(None, ReplaceNode), rule(Some("x"), RebootNode)]).is_ok());
    // The old controller takes anything.
    let old = Policies::legacy(vec![rule(None, ReplaceNode), rule(None, ReplaceNode), rule(Some("("), RebootNode)]);
    assert!(old.names("Ready", "False"));
}
