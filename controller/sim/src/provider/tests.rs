use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::{Refusal, Reply};
use serde_json::{Value, json};

use super::*;
use crate::dice::Dice;
use crate::worlds;

const TEMPER: Temper =
    Temper { boots_in: Some(SignedDuration::from_secs(30)), ready_in: SignedDuration::from_secs(5), is_small: false };

fn provider() -> Provider {
    Provider::new(Arc::new(worlds::catalog(&mut Dice::new(1, "catalogue"), 2, false)))
}

fn claim(capacity_types: &[&str]) -> Value {
    json!({"spec": {"requirements": [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": capacity_types},
        {"key": "karpenter.sh/nodepool", "operator": "In", "values": ["unknown to machines"]},
    ]}})
}

fn launched(reply: Reply) -> millwright_core::control::ask::Instance {
    match reply {
        Reply::Launched(instance) => instance,
        other => panic!("not launched: {other:?}"),
    }
}

#[test]
fn a_token_buys_one_machine() {
    let (mut provider, now) = (provider(), Timestamp::UNIX_EPOCH);
    let one = launched(provider.launch("c", "t", &claim(&["on-demand"]), TEMPER, now));
    let again = launched(provider.launch("c", "t", &claim(&["on-demand"]), TEMPER, now));
    assert_eq!((one.provider_id.clone(), provider.sold()), (again.provider_id, 1));
    assert_eq!(provider.terminate(&one.provider_id, SignedDuration::from_secs(9), now), Reply::Done);
    let late = provider.launch("c", "t", &claim(&["on-demand"]), TEMPER, now);
    assert!(matches!(late, Reply::Refused(Refusal::Create { .. })), "a token does not buy a second one");
}

#[test]
fn the_cheapest_in_stock_is_sold() {
    let (mut provider, now) = (provider(), Timestamp::UNIX_EPOCH);
    let all = candidates(&provider.catalog, &claim(&["on-demand"])).into_iter();
    let all: Vec<Sale> = all.map(|(t, o)| (t.name.clone(), o.zone.clone(), o.capacity_type.clone())).collect();
    let first = launched(provider.launch("a", "a", &claim(&["on-demand"]), TEMPER, now));
    assert_eq!(first.labels["node.kubernetes.io/instance-type"], all[0].0);
    provider.stock_out(all[0].clone(), now + SignedDuration::from_secs(60));
    let second = launched(provider.launch("b", "b", &claim(&["on-demand"]), TEMPER, now));
    let sold = (&second.labels["node.kubernetes.io/instance-type"], &second.labels["topology.kubernetes.io/zone"]);
    assert_eq!(sold, (&all[1].0, &all[1].1));
    for sale in all {
        provider.stock_out(sale, now + SignedDuration::from_secs(60));
    }
    let none = provider.launch("c", "c", &claim(&["on-demand"]), TEMPER, now);
    assert!(matches!(none, Reply::Refused(Refusal::InsufficientCapacity { .. })));
    let later = now + SignedDuration::from_secs(60);
    launched(provider.launch("c", "c", &claim(&["on-demand"]), TEMPER, later));
}

#[test]
fn a_machine_ends_slowly_and_is_then_unknown() {
    let (mut provider, now) = (provider(), Timestamp::UNIX_EPOCH);
    let id = launched(provider.launch("c", "t", &claim(&["on-demand"]), TEMPER, now)).provider_id;
    let at = |seconds| now + SignedDuration::from_secs(seconds);
    assert_eq!(provider.list(at(1)), Reply::Instances(Vec::new()), "lists lag behind");
    assert!(matches!(provider.describe(&id, at(0)), Reply::Instances(_)));
    provider.terminate(&id, SignedDuration::from_secs(20), at(10));
    assert_eq!(provider.terminate(&id, SignedDuration::from_secs(20), at(15)), Reply::Done);
    assert!(matches!(provider.list(at(15)), Reply::Instances(all) if all[0].terminating));
    let gone = Reply::Refused(Refusal::NotFound);
    assert_eq!(
        (provider.terminate(&id, SignedDuration::ZERO, at(30)), provider.describe(&id, at(30))),
        (gone.clone(), gone)
    );
}

#[test]
fn what_was_refused_is_not_offered_for_a_while() {
    let base = provider().catalog;
    let now = Timestamp::UNIX_EPOCH;
    let mut offerings = Offerings::new(base.clone());
    let (kind, offering) = (&base.types[0], &base.types[0].offerings[0]);
    offerings.refuse(vec![(kind.name.clone(), offering.zone.clone(), offering.capacity_type.clone())], now);
    assert!(!offerings.catalog(now).types[0].offerings[0].available);
    assert!(offerings.catalog(now + SignedDuration::from_mins(3)).types[0].offerings[0].available);
}
