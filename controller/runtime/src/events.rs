//! Events: one object per kind of news about an object, counted up when the
//! same is told again.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use millwright_core::control::ask::{Event, Target};
use serde_json::{Value, json};

use crate::api::{Api, ApiError};
use crate::pace::Pace;

/// As `kubectl describe` shows it; users filter by it.
const COMPONENT: &str = "karpenter";
/// Repeats within this time count up the same event.
const REPEAT: Duration = Duration::from_secs(600);
/// Longest message that the API server takes.
const LONGEST: usize = 1024;

type Key = (Target, &'static str, String);

/// Tells events.
pub struct Events {
    api: Api,
    told: Mutex<BTreeMap<Key, Told>>,
    /// Reasons that come once per pod share this.
    crowd: Pace,
}

struct Told {
    path: String,
    count: i64,
    at: Instant,
}

impl Events {
    pub fn new(api: Api) -> Self {
        Self { api, told: Mutex::new(BTreeMap::new()), crowd: Pace::new(5.0, 10.0) }
    }

    /// Tells `event`. One that comes once per pod is dropped when too many do.
    pub async fn tell(&self, event: &Event) -> Result<(), ApiError> {
        if comes_in_crowds(event) && !self.crowd.try_turn() {
            return Ok(());
        }
        let key = (event.about.clone(), event.reason, event.message.clone());
        let now = Timestamp::now();
        if let Some((path, count)) = self.again(&key) {
            let body = json!({"count": count, "lastTimestamp": seconds(now)});
            match self.api.patch(&path, &body).await {
                Err(error) if error.is_not_found() => {}
                other => return other.map(drop),
            }
        }
        let object = object(event, now);
        let collection = format!("/api/v1/namespaces/{}/events", namespace(event));
        let made = self.api.post(&collection, &object).await?;
        let name = made["metadata"]["name"].as_str().unwrap_or_default();
        let told = Told { path: format!("{collection}/{name}"), count: 1, at: Instant::now() };
        self.lock().insert(key, told);
        Ok(())
    }

    /// The event that said so a while ago, counted up.
    fn again(&self, key: &Key) -> Option<(String, i64)> {
        let mut told = self.lock();
        told.retain(|_, t| t.at.elapsed() < REPEAT);
        let told = told.get_mut(key)?;
        told.count += 1;
        told.at = Instant::now();
        Some((told.path.clone(), told.count))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Key, Told>> {
        // Entries stand for themselves: a panic elsewhere cannot have broken them.
        self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn comes_in_crowds(event: &Event) -> bool {
    matches!(event.reason, "Nominated" | "InsufficientCapacityError")
        && event.about.kind == millwright_core::control::ask::Kind::Pod
}

/// Events about objects of no namespace are kept in `default`.
fn namespace(event: &Event) -> &str {
    if event.about.namespace.is_empty() { "default" } else { &event.about.namespace }
}

fn object(event: &Event, now: Timestamp) -> Value {
    let about = &event.about;
    let mut message = event.message.clone();
    if message.len() > LONGEST {
        let end = message.floor_char_boundary(LONGEST - 3);
        message.truncate(end);
        message.push_str("...");
    }
    let mut involved = json!({"apiVersion": about.kind.api_version(), "kind": about.kind.name(), "name": about.name});
    if !about.namespace.is_empty() {
        involved["namespace"] = json!(about.namespace);
    }
    if !event.uid.is_empty() {
        involved["uid"] = json!(event.uid);
    }
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": format!("{}.", about.name), "namespace": namespace(event)},
        "involvedObject": involved,
        "type": if event.warning { "Warning" } else { "Normal" },
        "reason": event.reason,
        "message": message,
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "reportingInstance": "",
        "firstTimestamp": seconds(now),
        "lastTimestamp": seconds(now),
        "count": 1,
    })
}

/// Times of events have no fractions.
fn seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(about: Target, message: &str) -> Event {
        Event { about, uid: "u".to_owned(), warning: true, reason: "FailedDraining", message: message.to_owned() }
    }

    #[test]
    fn an_event_names_its_object_and_is_not_too_long() {
        let at = "2026-05-01T10:00:00.25Z".parse().unwrap();
        let made = object(&event(Target::node("n1"), &"ä".repeat(600)), at);
        assert_eq!(made["metadata"]["namespace"], "default");
        assert_eq!(made["involvedObject"], json!({"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u"}));
        assert_eq!(made["lastTimestamp"], "2026-05-01T10:00:00Z");
        assert_eq!(made["type"], "Warning");
        let message = made["message"].as_str().unwrap();
        assert!(message.len() <= LONGEST && message.ends_with("..."));
        let pod = object(&event(Target::pod("web", "p"), "x"), at);
        assert_eq!(
            (&pod["metadata"]["namespace"], &pod["involvedObject"]["namespace"]),
            (&json!("web"), &json!("web"))
        );
    }
}
