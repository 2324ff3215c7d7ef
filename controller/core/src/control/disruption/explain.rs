//! Why nodes stay, told by events. (spec 30 §§5, 8, 9)

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::tell;
use crate::budgets::{Reason, allowances};
use crate::candidates::{Class, Scene};
use crate::control::ask::{Event, Kind, Target};
use crate::control::desk::{Desk, Part};
use crate::control::view::View;

/// That consolidation passes a node over is told once in this time, whatever
/// the cause.
const EVERY: SignedDuration = SignedDuration::from_mins(15);

/// What was told, by the uid of the claim.
#[derive(Debug, Default)]
pub struct Explanations(BTreeMap<String, Timestamp>);

impl Explanations {
    /// Tells of every node that is no candidate, and of every pool that lets
    /// none go.
    pub fn tell(&mut self, view: &View<'_>, scene: &Scene<'_>, buffered: &BTreeSet<String>, desk: &mut Desk) {
        self.0.retain(|_, at| view.now.duration_since(*at) < EVERY);
        for (n, node) in scene.nodes.iter().enumerate() {
            let Some(claim) = node.claim else { continue };
            let judged = match scene.candidate(n, Class::Graceful) {
                Ok(judged) => judged,
                Err(why) => {
                    if why.has_event() {
                        tell::blocked(node, &why.to_string(), desk);
                    }
                    continue;
                }
            };
            let passed = if judged.is_empty() { scene.emptiable(&judged) } else { scene.consolidatable(&judged) };
            let why = match passed {
                Err(why) if why.has_event() => Some(why.to_string()),
                Ok(_) if judged.is_empty() && buffered.contains(node.name()) => {
                    Some("the node has the room of virtual pods of a CapacityBuffer".to_owned())
                }
                _ => None,
            };
            if let Some(why) = why.filter(|_| !self.0.contains_key(&claim.meta.uid)) {
                self.0.insert(claim.meta.uid.clone(), view.now);
                tell::both(node, "Unconsolidatable", &why, desk);
            }
        }
        for reason in [Reason::Empty, Reason::Drifted, Reason::Underutilized] {
            let (all, _) = allowances(&scene.world.node_pools, scene.census(), reason, scene.now);
            for (pool, _) in all.iter().filter(|(_, a)| a.blocked) {
                let Some(object) = view.world.node_pool(pool) else { continue };
                let message =
                    format!("No allowed disruptions for disruption reason {} due to blocking budget", reason.as_str());
                let about = Target::new(Kind::NodePool, "", pool);
                let uid = object.meta.uid.clone();
                let event = Event { about, uid, warning: false, reason: "DisruptionBlocked", message };
                desk.event(Part::Disruption, event);
            }
        }
    }
}
