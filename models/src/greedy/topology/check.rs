//! Where the groups let a pod go (spec 20 §10.5).

use super::super::bits::Bits;
use super::super::book::{Book, KeyId, ReqId};
use super::super::shape::{Shape, Variant};
use super::{Group, GroupId, Kind, Topology};

/// Which kind of host is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum HostKind {
    Node,
    Claim,
}

impl Group {
    /// Domains in which the pod may land, out of those the target leaves
    /// `open`. `wanted`: what the pod's own strict requirements admit.
    /// `itself`: the pod matches the group's selector.
    fn allowed(&self, wanted: &Bits, open: &Bits, itself: bool) -> Bits {
        let mut known = self.known.clone();
        known.and(open);
        match self.id.kind {
            Kind::Spread { max_skew } => self.spread(wanted, &known, i64::from(itself), max_skew),
            Kind::Affinity => self.affinity(wanted, known, itself),
            Kind::AntiAffinity => {
                known.and(wanted);
                known.iter().filter(|d| self.counts[*d] == 0).collect()
            }
        }
    }

    fn spread(&self, wanted: &Bits, open: &Bits, itself: i64, max_skew: i64) -> Bits {
        let mut mine = self.known.clone();
        mine.and(wanted);
        let few = self.min_domains.is_some_and(|m| mine.count() < m as usize);
        let lowest = if few { 0 } else { mine.iter().map(|d| self.counts[d]).min().unwrap_or(0) };
        let fits = open.iter().filter(|d| self.counts[*d] + itself - lowest <= max_skew);
        fits.min_by_key(|d| (self.counts[*d], *d)).into_iter().collect()
    }

    fn affinity(&self, wanted: &Bits, open: Bits, itself: bool) -> Bits {
        let mut both = open;
        both.and(wanted);
        let options: Bits = both.iter().filter(|d| self.counts[*d] > 0).collect();
        if !options.is_empty() {
            return options;
        }
        let mut mine = self.known.clone();
        mine.and(wanted);
        if itself && mine.iter().all(|d| self.counts[d] == 0) {
            return both.iter().next().or_else(|| mine.iter().next()).into_iter().collect();
        }
        Bits::default()
    }

    /// Whether the first pod of a hostname affinity may pick its host.
    fn bootstraps(&self, variant: &Variant, itself: bool, topology: &HostNames<'_>) -> bool {
        if !itself {
            return false;
        }
        if self.hosts.total == 0 {
            return true;
        }
        let Some(rule) = &variant.strict_host else { return false };
        let fresh = rule.complement && rule.gte.is_none() && rule.lte.is_none();
        let on_claims = fresh && !self.hosts.claims.some.is_empty();
        !on_claims && !self.hosts.nodes.some.iter().any(|n| rule.has(topology.name(n)))
    }
}

/// Hostnames of the existing nodes in their order.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct HostNames<'a>(pub &'a [String]);

impl HostNames<'_> {
    fn name(&self, node: usize) -> &str {
        &self.0[node]
    }
}

impl Topology {
    /// Every group with a say about the pod: those it owns, and those whose
    /// owners keep away from it.
    fn relevant<'a>(&'a self, shape: &'a Shape, variant: &'a Variant) -> impl Iterator<Item = (GroupId, bool)> + 'a {
        let owned = variant.owned.iter().map(|o| (o.group, o.itself));
        owned.chain(shape.repelled_by.iter().map(|g| (*g, true)))
    }

    /// The requirements of a target described by `req`, narrowed to the
    /// domains in which the groups let the pod land.
    pub fn narrow(&self, book: &mut Book, shape: &Shape, variant: &Variant, req: ReqId) -> Option<ReqId> {
        let mut domains: Vec<(KeyId, Bits)> = Vec::new();
        for (id, itself) in self.relevant(shape, variant) {
            let group = &self.groups[id];
            let Some(key) = group.id.key else { continue };
            let (wanted, open) = (book.admitted(variant.strict, key), book.admitted(req, key));
            let allowed = group.allowed(&wanted.values, &open.values, itself);
            match domains.iter_mut().find(|(k, _)| *k == key) {
                Some((_, all)) => all.and(&allowed),
                None => domains.push((key, allowed)),
            }
        }
        domains.iter().try_fold(req, |now, (key, allowed)| book.narrow(now, *key, allowed))
    }

    /// Whether the groups let the pod land on an existing node with labels
    /// `req`; a node without the label of a relevant group is refused.
    pub fn accepts_node(&self, book: &mut Book, shape: &Shape, variant: &Variant, req: ReqId) -> bool {
        self.relevant(shape, variant).all(|(id, itself)| {
            let group = &self.groups[id];
            let Some(key) = group.id.key else { return true };
            let (wanted, open) = (book.admitted(variant.strict, key), book.admitted(req, key));
            open.exactly.is_some_and(|d| group.allowed(&wanted.values, &open.values, itself).get(d))
        })
    }

    /// Adds to `reject` those of the first `n` hosts that the groups forbid.
    pub fn reject_hosts(
        &self,
        pod: (&Shape, &Variant),
        names: HostNames<'_>,
        kind: HostKind,
        reject: &mut Bits,
        n: usize,
    ) {
        for (id, itself) in self.relevant(pod.0, pod.1) {
            let group = &self.groups[id];
            if group.id.key.is_some() {
                continue;
            }
            let bootstrap = group.id.kind == Kind::Affinity && group.bootstraps(pod.1, itself, &names);
            let side = if kind == HostKind::Node { &group.hosts.nodes } else { &group.hosts.claims };
            side.reject(group.id.kind, itself, bootstrap, reject, n);
        }
    }

    /// Whether the groups admit one host, by its counts alone.
    #[cfg(test)]
    pub fn naive_host(&self, shape: &Shape, variant: &Variant, names: HostNames<'_>, host: super::Host<'_>) -> bool {
        self.relevant(shape, variant).all(|(id, itself)| {
            let group = &self.groups[id];
            let count = match host {
                super::Host::Node(i, _) => group.hosts.nodes.count(i),
                super::Host::Claim(i) => group.hosts.claims.count(i),
                super::Host::Elsewhere(_) => 0,
            };
            group.id.key.is_some()
                || match group.id.kind {
                    Kind::Spread { max_skew } => count + i64::from(itself) <= max_skew,
                    Kind::AntiAffinity => count == 0,
                    Kind::Affinity => count > 0 || group.bootstraps(variant, itself, &names),
                }
        })
    }

    /// The group that keeps the pod off a host nobody is on yet.
    pub fn rejects_fresh_host(&self, shape: &Shape, variant: &Variant, names: HostNames<'_>) -> Option<GroupId> {
        let barred = self.relevant(shape, variant).find(|(id, itself)| {
            let group = &self.groups[*id];
            group.id.key.is_none()
                && match group.id.kind {
                    Kind::Spread { max_skew } => i64::from(*itself) > max_skew,
                    Kind::AntiAffinity => false,
                    Kind::Affinity => !group.bootstraps(variant, *itself, &names),
                }
        });
        barred.map(|(id, _)| id)
    }

    /// The group that leaves no domain to a target described by `req`.
    pub fn obstacle(&self, book: &mut Book, shape: &Shape, variant: &Variant, req: ReqId) -> Option<GroupId> {
        let found = self.relevant(shape, variant).find(|(id, itself)| {
            let group = &self.groups[*id];
            group.id.key.is_some_and(|key| {
                let (wanted, open) = (book.admitted(variant.strict, key), book.admitted(req, key));
                group.allowed(&wanted.values, &open.values, *itself).is_empty()
            })
        });
        found.map(|(id, _)| id)
    }

    /// The group in words: kind, key and counts.
    pub fn describe(&self, book: &Book, id: GroupId) -> String {
        let group = &self.groups[id];
        let kind = match (group.id.kind, group.id.inverse) {
            (Kind::Spread { max_skew }, _) => format!("topology spread (maxSkew {max_skew})"),
            (Kind::Affinity, _) => "pod affinity".to_owned(),
            (Kind::AntiAffinity, false) => "pod anti-affinity".to_owned(),
            (Kind::AntiAffinity, true) => "pod anti-affinity of other pods".to_owned(),
        };
        let Some(key) = group.id.key else {
            return format!("{kind} on kubernetes.io/hostname, {} pods counted", group.hosts.total);
        };
        let values = book.values(key);
        let counts: Vec<_> =
            group.known.iter().take(25).map(|d| format!("{}: {}", values[d], group.counts[d])).collect();
        let counts = if counts.is_empty() { "no known domains".to_owned() } else { counts.join(", ") };
        format!("{kind} on {} ({counts})", book.key_name(key))
    }
}
