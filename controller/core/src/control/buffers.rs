//! What CapacityBuffers say of themselves. (spec 40 §13)

use std::collections::BTreeMap;

use jiff::SignedDuration;
use millwright_models::karpenter::buffer::CapacityBuffer;
use serde_json::json;

use super::ask::{Kind, Reply, Target};
use super::brain::{Piece, Shared};
use super::conditions::{Conditions, Truth};
use super::desk::{Desk, Part, Sent};
use super::edit::Edit;
use super::view::View;
use crate::buffers::{replicas, source};

const RESOLVED: &str = "ReadyForProvisioning";
const PROVISIONING: &str = "Provisioning";
/// What a buffer names is looked for again after this.
const AGAIN: SignedDuration = SignedDuration::from_secs(30);

/// How the virtual pods of the last pass came out, by the buffer's uid.
pub type Fits = BTreeMap<String, Fit>;

/// Virtual pods by what their places are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fit {
    /// On nodes that exist or are on their way.
    pub existing: u32,
    /// On nodes that are bought for them, or nowhere.
    pub new: u32,
}

/// The part that keeps the status of buffers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Buffers;

impl Piece for Buffers {
    fn look(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        if !view.settings.lower.gates.capacity_buffer {
            return;
        }
        let live = view.world.buffers.iter().filter(|b| b.meta.deletion_timestamp.is_none());
        for buffer in live {
            status(buffer, view, shared.fits.get(&buffer.meta.uid), desk);
        }
        if !view.world.buffers.is_empty() {
            desk.wake(view.now.saturating_add(AGAIN).unwrap_or(view.now));
        }
    }

    fn answer(&mut self, _: &Sent, _: &Reply, _: &mut Shared, _: &mut Desk) {}
}

fn status(buffer: &CapacityBuffer, view: &View<'_>, fit: Option<&Fit>, desk: &mut Desk) {
    let target = Target::new(Kind::CapacityBuffer, &buffer.meta.namespace, &buffer.meta.name);
    let mut edit = Edit::new(target, &buffer.meta);
    let mut conditions = Conditions::of_buffer(buffer, view.now);
    match source(buffer, view.world) {
        Ok(source) => {
            let count = replicas(buffer, &source);
            conditions.set(RESOLVED, Truth::True, "Resolved", "");
            if buffer.resolved_replicas != Some(count) {
                edit.status("replicas", json!(count));
                edit.status("provisioningStrategy", json!(buffer.provisioning_strategy));
                if let Some((name, generation)) = source.template {
                    edit.status("podTemplateRef", json!({"name": name}));
                    edit.status("podTemplateGeneration", json!(generation));
                }
            }
            provisioning(&mut conditions, count, fit);
        }
        Err(why) => {
            conditions.set(RESOLVED, Truth::False, why.reason(), &why.to_string());
            conditions.set(PROVISIONING, Truth::False, "NotReadyForProvisioning", "");
            if why.is_error() {
                desk.count("capacity_buffer_errors_total", &[("reason", why.reason())]);
            }
        }
    }
    edit.conditions(conditions.changed());
    if let Some(ask) = edit.ask() {
        desk.ask(Part::Buffers, ask);
    }
}

/// What the last pass made of the buffer; unchanged if it saw none of it.
fn provisioning(conditions: &mut Conditions, count: u32, fit: Option<&Fit>) {
    match fit {
        _ if count == 0 => conditions.set(PROVISIONING, Truth::False, "BufferEmpty", "it stands for no pods"),
        None => {}
        Some(Fit { new: 0, .. }) => {
            conditions.set(PROVISIONING, Truth::True, "FitsExistingCapacity", "");
        }
        Some(Fit { existing, new }) => {
            let message = format!("{new} virtual pods need new nodes, {existing} fit");
            conditions.set(PROVISIONING, Truth::False, "RequiresNewCapacity", &message);
        }
    }
}
