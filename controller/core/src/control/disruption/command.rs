//! A disruption that was decided on: who goes, who comes, who receives.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use millwright_solver::instance::Micros;
use serde_json::Value;

use crate::budgets::Reason;
use crate::candidates::{Candidate as Judged, Scene};
use crate::control::slots::Slots;

/// Which method decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    Emptiness,
    StaticDrift,
    Drift,
    Consolidation,
}

/// A node that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// As [`StateNode::id`](crate::nodes::StateNode::id) gives it.
    pub id: String,
    pub node: String,
    pub claim: String,
    pub claim_uid: String,
    pub pool: String,
    pub capacity_type: String,
    /// `graceful`, `eventual` or `forceful`.
    pub termination: &'static str,
    /// Of the pool, where consolidation asks for it.
    pub policy: String,
    /// Uids of the pods that have to move.
    pub pods: BTreeSet<String>,
    /// Per hour.
    pub price: Micros,
    /// Its taint cannot be set.
    pub failed: bool,
    /// Its deletion was asked for and counted.
    pub counted: bool,
}

/// A claim that comes in place of what goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    /// Empty until it is asked for.
    pub name: String,
    pub pool: String,
    pub object: Value,
    pub slots: Slots,
    pub price: Micros,
    pub state: Built,
}

/// How far a replacement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Built {
    New,
    Asked,
    /// No answer: it may have been made.
    Unsure,
    /// Made then, and not seen yet.
    Made(Timestamp),
    Seen,
    Ready,
}

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Tainting,
    Launching,
    /// Until every replacement is initialized.
    Waiting,
    /// Until every receiver is held and listed.
    Holding,
    Deleting,
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    pub method: Method,
    pub reason: Reason,
    pub candidates: Vec<Candidate>,
    pub replacements: Vec<Replacement>,
    /// Nodes and claims that exist with what comes to them.
    pub receivers: BTreeMap<String, Slots>,
    /// Where each pod goes that has to move, by uid: a name of a receiver, or
    /// none for a replacement.
    pub moves: BTreeMap<String, Option<String>>,
    pub savings: Micros,
    pub began: Timestamp,
    pub stage: Stage,
}

impl Command {
    /// `delete` or `replace`.
    pub fn decision(&self) -> &'static str {
        if self.replacements.is_empty() { "delete" } else { "replace" }
    }

    /// The label of counts.
    pub fn kind(&self) -> &'static str {
        match (self.method, self.candidates.len()) {
            (Method::Emptiness, _) => "empty",
            (Method::StaticDrift | Method::Drift, _) => "",
            (Method::Consolidation, _) if self.reason == Reason::Empty => "empty",
            (Method::Consolidation, 1) => "single",
            (Method::Consolidation, _) => "multi",
        }
    }

    /// Leaves out what would be done for pods that are gone: their moves, their
    /// slots, and replacements that nobody would come to any more. `lives`
    /// tells uids of pods that are there.
    pub fn forget_pods(&mut self, lives: impl Fn(&str) -> bool) {
        let keep = |slots: &mut Slots| {
            let had = !slots.all.is_empty();
            slots.all.retain(|s| s.uid().is_none_or(&lives));
            !had || !slots.all.is_empty()
        };
        self.moves.retain(|uid, _| lives(uid));
        self.candidates.iter_mut().for_each(|c| c.pods.retain(|uid| lives(uid)));
        self.receivers.retain(|_, slots| keep(slots));
        self.replacements.retain_mut(|r| r.state != Built::New || keep(&mut r.slots));
        self.count_savings();
    }

    /// Takes another command in: both or none.
    pub fn join(&mut self, other: Self) {
        if self.reason != other.reason {
            self.reason = Reason::Underutilized;
        }
        self.candidates.extend(other.candidates);
        self.replacements.extend(other.replacements);
        self.moves.extend(other.moves);
        for (name, slots) in other.receivers {
            let have = self.receivers.entry(name).or_default();
            *have = have.with(&slots);
        }
        self.count_savings();
    }

    /// What goes less what comes.
    pub fn count_savings(&mut self) {
        let gone: Micros = self.candidates.iter().map(|c| c.price).sum();
        self.savings = gone - self.replacements.iter().map(|r| r.price).sum::<Micros>();
    }

    /// The reason in lower case, for counts.
    pub fn label(&self) -> &'static str {
        match self.reason {
            Reason::Empty => "empty",
            Reason::Drifted => "drifted",
            Reason::Underutilized => "underutilized",
            Reason::Unhealthy => "unhealthy",
        }
    }

    /// What the command does, in a few words.
    pub fn words(&self) -> String {
        let names: Vec<&str> = self.candidates.iter().map(|c| c.node.as_str()).collect();
        match self.replacements.len() {
            0 => format!("delete {}", names.join(", ")),
            1 => format!("replace {} by 1 node", names.join(", ")),
            n => format!("replace {} by {n} nodes", names.join(", ")),
        }
    }
}

impl Candidate {
    /// A judged candidate as part of a command; none without claim and pool.
    pub fn of(scene: &Scene<'_>, judged: &Judged<'_>) -> Option<Self> {
        let node = &scene.nodes[judged.node];
        let claim = node.claim?;
        let grace = claim.termination_grace_period.as_deref().map(crate::duration::parse);
        Some(Self {
            id: node.id().to_owned(),
            node: node.name().to_owned(),
            claim: claim.meta.name.clone(),
            claim_uid: claim.meta.uid.clone(),
            pool: judged.pool?.name().to_owned(),
            capacity_type: judged.capacity_type.unwrap_or_default().to_owned(),
            termination: match grace {
                None => "graceful",
                Some(Some(grace)) if grace.is_positive() => "eventual",
                Some(_) => "forceful",
            },
            policy: judged.pool?.disruption.policy.clone(),
            pods: judged.pods.iter().map(|p| scene.world.pods[*p].uid.clone()).collect(),
            price: judged.price,
            failed: false,
            counted: false,
        })
    }
}
