//! The finalizer of a NodeClaim. (spec 40 §6.1)

use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::meta::Labels;
use millwright_models::kube::node::Node;

use super::{Ending, Termination, expiring};
use crate::control::ask::{Ask, Target};
use crate::control::counts::label;
use crate::control::desk::{Desk, Part};
use crate::control::edit::Edit;
use crate::control::keys::{DEADLINE, REGISTERED, TERMINATION};
use crate::control::view::View;
use crate::duration;

impl Termination {
    /// One step of a claim that is being deleted.
    pub(super) fn claim(&mut self, claim: &NodeClaim, nodes: &[&Node], view: &View<'_>, desk: &mut Desk) {
        let target = Target::claim(&claim.meta.name);
        let grace = claim.termination_grace_period.as_deref().and_then(duration::parse);
        if let (Some(grace), Some(deleted)) = (grace, claim.meta.deletion_timestamp)
            && !claim.meta.annotations.contains_key(DEADLINE)
        {
            let deadline = deleted.saturating_add(grace).unwrap_or(deleted);
            let mut edit = Edit::new(target.clone(), &claim.meta);
            edit.annotations(&claim.meta.annotations, &Labels::from([(DEADLINE.to_owned(), deadline.to_string())]));
            edit.bind();
            expiring(desk, target, &claim.meta.uid, deadline);
            if let Some(ask) = edit.ask() {
                desk.ask(Part::Termination, ask);
            }
            return;
        }
        if claim.is(REGISTERED) && !nodes.is_empty() {
            for node in nodes.iter().filter(|n| n.meta.deletion_timestamp.is_none()) {
                let target = Target::node(&node.meta.name);
                let uid = node.meta.uid.clone();
                desk.ask(Part::Termination, Ask::Delete { target, uid, grace_seconds: None });
            }
            return;
        }
        if !claim.provider_id.is_empty() {
            let mut ending = Ending::new(claim, view.now);
            let gone = self.machines.end(&mut ending, view, desk);
            if !gone {
                ending.write(desk);
                return;
            }
        }
        let mut edit = Edit::new(target, &claim.meta);
        edit.without_finalizer(&claim.meta, TERMINATION);
        let Some(ask) = edit.ask() else { return };
        if desk.ask(Part::Termination, ask) {
            let (pool, zone) = (label(claim, labels::NODEPOOL), label(claim, labels::ZONE));
            let capacity = label(claim, labels::CAPACITY_TYPE);
            desk.count(
                "nodeclaims_terminated_total",
                &[("nodepool", pool), ("capacity_type", capacity), ("zone", zone)],
            );
        }
    }
}
