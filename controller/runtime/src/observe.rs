//! Metrics and log lines of what happens to status conditions, and to objects
//! as they go. (10-api §15) Events about it are the brain's.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use millwright_core::control::ask::{Kind, Target};
use millwright_models::karpenter::labels;
use millwright_models::kube::meta::{Condition, Meta};
use millwright_models::world::World;

use crate::metrics::Metrics;

/// A condition that has changed its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub about: Target,
    pub condition: String,
    pub from: String,
    pub to: String,
    pub reason: String,
    /// How long it was as it was.
    pub after: Duration,
}

/// Compares each snapshot with the one before.
#[derive(Debug, Default)]
pub struct Observer {
    seen: BTreeMap<(Kind, String), Seen>,
}

/// An object as it was last seen.
#[derive(Debug)]
struct Seen {
    about: Target,
    pool: String,
    born: Option<Timestamp>,
    dying: Option<Timestamp>,
    conditions: BTreeMap<String, Standing>,
}

/// A condition, and since when it is like that.
#[derive(Clone, Debug)]
struct Standing {
    status: String,
    reason: String,
    since: Timestamp,
}

impl Observer {
    /// Takes a snapshot in: what has turned since the last one. What is seen
    /// for the first time has turned nowhere.
    pub fn look(&mut self, world: &World, now: Timestamp, metrics: &Metrics) -> Vec<Turn> {
        let mut turns = Vec::new();
        let before = std::mem::take(&mut self.seen);
        for (kind, meta, conditions) in objects(world) {
            let about = Target::new(kind, &meta.namespace, &meta.name);
            let old = before.get(&(kind, meta.uid.clone()));
            let standing = conditions.iter().map(|c| {
                let last = old.and_then(|o| o.conditions.get(&c.kind));
                let since = match last {
                    Some(last) if last.status == c.status => last.since,
                    _ => c.last_transition_time.unwrap_or(now),
                };
                if let Some(last) = last.filter(|last| last.status != c.status) {
                    turns.push(Turn {
                        about: about.clone(),
                        condition: c.kind.clone(),
                        from: last.status.clone(),
                        to: c.status.clone(),
                        reason: c.reason.clone(),
                        after: span(last.since, since),
                    });
                }
                (c.kind.clone(), Standing { status: c.status.clone(), reason: c.reason.clone(), since })
            });
            let conditions = standing.collect();
            let pool = meta.labels.get(labels::NODEPOOL).cloned().unwrap_or_default();
            let (born, dying) = (meta.creation_timestamp, meta.deletion_timestamp);
            self.seen.insert((kind, meta.uid.clone()), Seen { about, pool, born, dying, conditions });
        }
        for (key, seen) in &before {
            if !self.seen.contains_key(key) {
                seen.gone(now, metrics);
            }
        }
        turns
    }

    /// Sets the gauges of all conditions.
    pub fn publish(&self, now: Timestamp, metrics: &Metrics) {
        for kind in [Kind::NodeClaim, Kind::NodePool, Kind::Node, Kind::NodeClass, Kind::CapacityBuffer] {
            let (mut count, mut seconds, mut dying) = (Vec::new(), Vec::new(), Vec::new());
            for seen in self.seen.range((kind, String::new())..).map(|(_, s)| s).take_while(|s| s.about.kind == kind) {
                let place = [("namespace", &seen.about.namespace), ("name", &seen.about.name)];
                let place = place.map(|(k, v)| (k.to_owned(), v.clone()));
                for (condition, standing) in &seen.conditions {
                    let more = [("type", condition), ("status", &standing.status), ("reason", &standing.reason)];
                    let labels: Vec<_> =
                        place.iter().cloned().chain(more.map(|(k, v)| (k.to_owned(), v.clone()))).collect();
                    seconds.push((labels.clone(), span(standing.since, now).as_secs_f64()));
                    count.push((labels, 1.0));
                }
                dying.extend(seen.dying.map(|at| (place.to_vec(), span(at, now).as_secs_f64())));
            }
            let name = word(kind);
            metrics.set_all(&format!("operator_{name}_status_condition_count"), count);
            metrics.set_all(&format!("operator_{name}_status_condition_current_status_seconds"), seconds);
            metrics.set_all(&format!("operator_{name}_termination_current_time_seconds"), dying);
        }
    }
}

impl Seen {
    /// It is no more.
    fn gone(&self, now: Timestamp, metrics: &Metrics) {
        let Some(dying) = self.dying else { return };
        let took = span(dying, now);
        metrics.observe(&format!("operator_{}_termination_duration_seconds", word(self.about.kind)), &[], took);
        let pool = [("nodepool", self.pool.as_str())];
        match self.about.kind {
            Kind::NodeClaim => metrics.observe("nodeclaims_termination_duration_seconds", &pool, took),
            Kind::Node => {
                metrics.observe("nodes_termination_duration_seconds", &pool, took);
                if let Some(born) = self.born {
                    metrics.observe("nodes_lifetime_duration_seconds", &pool, span(born, now));
                }
            }
            _ => {}
        }
    }
}

impl Turn {
    /// Counts it, and logs what people look for.
    pub fn tell(&self, metrics: &Metrics) {
        let kind = word(self.about.kind);
        let labels = [("type", self.condition.as_str()), ("status", &self.to), ("reason", &self.reason)];
        metrics.count(&format!("operator_{kind}_status_condition_transitions_total"), &labels);
        let labels = [("type", self.condition.as_str()), ("status", &self.from), ("to_status", &self.to)];
        metrics.observe(&format!("operator_{kind}_status_condition_transition_seconds"), &labels, self.after);
        let seconds = self.after.as_secs_f64();
        match (self.about.kind, self.condition.as_str(), self.to.as_str()) {
            (Kind::NodeClaim, "Registered", "True") => {
                tracing::info!(NodeClaim = self.about.name, seconds, "registered nodeclaim");
            }
            (Kind::NodeClaim, "Initialized", "True") => {
                tracing::info!(NodeClaim = self.about.name, seconds, "initialized nodeclaim");
            }
            _ => {
                let Self { condition, from, to, reason, .. } = self;
                tracing::debug!(object = %self.about, condition, from, to, reason, "condition turned");
            }
        }
    }
}

/// Everything that has conditions.
fn objects(world: &World) -> impl Iterator<Item = (Kind, &Meta, &[Condition])> {
    let claims = world.node_claims.iter().map(|c| (Kind::NodeClaim, &c.meta, &*c.conditions));
    let pools = world.node_pools.iter().map(|p| (Kind::NodePool, &p.meta, &*p.conditions));
    let nodes = world.nodes.iter().map(|n| (Kind::Node, &n.meta, &*n.conditions));
    let classes = world.node_classes.iter().map(|c| (Kind::NodeClass, &c.meta, &*c.conditions));
    claims.chain(pools).chain(nodes).chain(classes)
}

fn word(kind: Kind) -> String {
    kind.name().to_lowercase()
}

fn span(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use millwright_models::karpenter::nodeclaim::NodeClaim;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn world(registered: &str, since: i64) -> World {
        let condition = Condition {
            kind: "Registered".to_owned(),
            status: registered.to_owned(),
            reason: "Registered".to_owned(),
            last_transition_time: Some(at(since)),
            ..Condition::default()
        };
        let meta = Meta { name: "c".to_owned(), uid: "u".to_owned(), ..Meta::default() };
        World {
            node_claims: vec![NodeClaim { meta, conditions: vec![condition], ..NodeClaim::default() }],
            ..World::default()
        }
    }

    #[test]
    fn a_turn_is_told_once_and_first_sights_are_none() {
        let metrics = Metrics::default();
        let mut observer = Observer::default();
        assert!(observer.look(&world("Unknown", 100), at(101), &metrics).is_empty());
        let turns = observer.look(&world("True", 130), at(131), &metrics);
        assert_eq!(turns.len(), 1);
        assert_eq!(
            (turns[0].from.as_str(), turns[0].to.as_str(), turns[0].after),
            ("Unknown", "True", Duration::from_secs(30))
        );
        assert!(observer.look(&world("True", 130), at(140), &metrics).is_empty());
        observer.publish(at(140), &metrics);
        let text = metrics.text().unwrap();
        let line = r#"operator_nodeclaim_status_condition_current_status_seconds{namespace="",name="c",type="Registered",status="True",reason="Registered"} 10.0"#;
        assert!(text.lines().any(|l| l == line), "{text}");
    }

    #[test]
    fn what_goes_leaves_its_times() {
        let metrics = Metrics::default();
        let mut observer = Observer::default();
        let mut dying = world("True", 100);
        dying.node_claims[0].meta.deletion_timestamp = Some(at(200));
        dying.node_claims[0].meta.labels.insert("karpenter.sh/nodepool".to_owned(), "p".to_owned());
        observer.look(&dying, at(201), &metrics);
        observer.look(&World::default(), at(207), &metrics);
        let text = metrics.text().unwrap();
        for line in [
            r#"karpenter_nodeclaims_termination_duration_seconds_sum{nodepool="p"} 7.0"#,
            "operator_nodeclaim_termination_duration_seconds_count 1",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
    }
}
