//! Topology groups: spread, affinity and anti-affinity (spec 20 §10).

mod build;
mod check;
mod hosts;
mod matching;
mod record;
mod universe;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

pub(super) use build::{Author, Ground, Owned};
pub(super) use check::{HostKind, HostNames};
use hosts::Hosts;
use matching::Index;
pub(super) use universe::Universe;

use super::bits::Bits;
use super::book::{KeyId, ReqId};
use super::taint::{TaintsId, TolerationsId};
use crate::kube::selector::LabelSelector;
use crate::requirements::Requirement;

/// Number of a group.
pub(super) type GroupId = usize;

/// What a group demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Spread { max_skew: i64 },
    Affinity,
    AntiAffinity,
}

/// Namespaces a group looks at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Namespaces {
    All,
    These(BTreeSet<String>),
}

/// Which nodes count for a spread (spec 20 §10.3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Filter {
    /// Any of these: requirements beside the hostname, and on the hostname.
    affinity: Option<Vec<(ReqId, Option<Requirement>)>>,
    tolerations: Option<TolerationsId>,
}

/// What makes two pods share a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Identity {
    kind: Kind,
    /// Owners keep away those whom the group selects, rather than the other
    /// way round.
    inverse: bool,
    /// `None`: the hostname.
    key: Option<KeyId>,
    namespaces: Namespaces,
    selector: Option<LabelSelector>,
    filter: Filter,
}

/// A group with its counts.
#[derive(Debug)]
pub(super) struct Group {
    id: Identity,
    min_domains: Option<u32>,
    /// Domains that the group knows, of a key other than the hostname.
    known: Bits,
    counts: Vec<i64>,
    hosts: Hosts,
}

/// A node or claim as topology sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    /// Its requirements or labels, without the hostname.
    pub req: ReqId,
    pub taints: TaintsId,
    pub host: Host<'a>,
}

/// The hostname side of a target.
#[derive(Clone, Copy, Debug)]
pub(super) enum Host<'a> {
    /// Existing node by place in the order, with its hostname.
    Node(usize, &'a str),
    /// Claim opened in this pass.
    Claim(usize),
    /// A node that is no target, but whose pods count.
    Elsewhere(&'a str),
}

/// All groups of a pass.
#[derive(Debug, Default)]
pub(super) struct Topology {
    groups: Vec<Group>,
    ids: FxHashMap<Identity, GroupId>,
    index: Index,
    filtered: FxHashMap<(GroupId, ReqId, TaintsId), bool>,
}

impl Host<'_> {
    /// Whether a rule on the hostname admits the target; a claim's hostname
    /// is not known yet and equals none that is.
    pub fn satisfies(&self, rule: Option<&Requirement>) -> bool {
        rule.is_none_or(|r| match self {
            Host::Node(_, name) | Host::Elsewhere(name) => r.has(name),
            Host::Claim(_) => r.complement && r.gte.is_none() && r.lte.is_none(),
        })
    }
}
