//! Counting a placed pod (spec 20 §10.6).

use super::super::book::{Book, ReqId};
use super::super::shape::{Shape, Variant};
use super::super::taint::TaintBook;
use super::{Group, GroupId, Host, Kind, Target, Topology};

impl Group {
    /// Counts one pod in known domain `d`.
    pub(super) fn count(&mut self, d: usize) {
        if d >= self.counts.len() {
            self.counts.resize(d + 1, 0);
        }
        self.known.set(d);
        self.counts[d] += 1;
    }

    /// Counts one pod on a target that leaves `req` open. Anti-affinity and
    /// inverse groups count every domain the target could still be in, the
    /// others only one that is certain.
    fn count_target(&mut self, book: &mut Book, req: ReqId, host: Host<'_>) {
        let Some(key) = self.id.key else { return self.hosts.add(host, self.id.kind) };
        let open = book.admitted(req, key);
        if self.id.kind == Kind::AntiAffinity {
            open.values.iter().for_each(|d| self.count(d));
        } else if let Some(d) = open.exactly {
            self.count(d);
        }
    }
}

impl Topology {
    /// Counts a pod that landed on `target`.
    pub fn record(&mut self, book: &mut Book, taints: &mut TaintBook, pod: (&Shape, &Variant), target: Target<'_>) {
        for id in &pod.0.selected_by {
            if self.admits(book, taints, *id, target) {
                self.groups[*id].count_target(book, target.req, target.host);
            }
        }
        for id in &pod.1.repels {
            self.groups[*id].count_target(book, target.req, target.host);
        }
    }

    /// Whether the group's node filter lets the target count.
    pub(super) fn admits(&mut self, book: &mut Book, taints: &mut TaintBook, id: GroupId, target: Target<'_>) -> bool {
        let filter = &self.groups[id].id.filter;
        let by_host = filter.affinity.iter().flatten().any(|(_, host)| host.is_some());
        if !by_host && let Some(known) = self.filtered.get(&(id, target.req, target.taints)) {
            return *known;
        }
        let affine = filter.affinity.as_ref().is_none_or(|any| {
            any.iter().any(|(req, host)| target.host.satisfies(host.as_ref()) && book.satisfies(target.req, *req))
        });
        let ok = affine && filter.tolerations.is_none_or(|t| taints.tolerates(t, target.taints));
        if !by_host {
            self.filtered.insert((id, target.req, target.taints), ok);
        }
        ok
    }
}
