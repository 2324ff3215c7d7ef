//! NodePools as new claims come from them (spec 20 §4.2, §4.3, §4.5).

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::bits::Bits;
use super::book::{Book, ReqId};
use super::daemon::Daemon;
use super::limit::Limits;
use super::minvalues::MinValue;
use super::port::HostPort;
use super::reserved::ReservationId;
use super::steps::Steps;
use super::taint::{TaintBook, TaintsId};
use crate::catalog::pool_types::{CapacityType, PoolOffering, PoolType};
use crate::karpenter::labels::{CAPACITY_TYPE, INITIALIZED, NODEPOOL, REGISTERED, RESERVATION_ID, ZONE};
use crate::karpenter::nodepool::NodePool;
use crate::requirements::{Requirement, Requirements};

/// The driver whose attachments a type's figure limits.
pub(super) const EBS_DRIVER: &str = "ebs.csi.aws.com";

/// A pool with its types.
#[derive(Debug)]
pub(super) struct Template<'a> {
    pub pool: &'a NodePool,
    pub types: &'a [PoolType],
    pub req: ReqId,
    pub taints: TaintsId,
    pub steps: Steps,
    /// Types left by the pre-filter.
    pub start: Bits,
    pub daemon_groups: Vec<DaemonGroup>,
    pub limits: Limits,
    /// Per type its reserved offerings, by place in the list.
    pub reservations: Vec<Vec<(usize, ReservationId)>>,
    pub has_reservations: bool,
    classes: FxHashMap<ReqId, Rc<Class>>,
}

/// Types that run the same DaemonSets.
#[derive(Debug)]
pub(super) struct DaemonGroup {
    pub types: Bits,
    pub ports: Vec<HostPort>,
}

/// What a requirement set leaves of a template's types, resources apart.
#[derive(Debug)]
pub(super) struct Class {
    /// Requirements meet.
    pub by_requirements: Bits,
    /// Some available offering fits.
    pub by_offering: Bits,
    /// Both.
    pub types: Bits,
    pub min_values: Vec<MinValue>,
    /// Types with an offering that is not reserved.
    pub fallback: Bits,
    /// Reserved offerings with room: type and reservation.
    pub live: Vec<(usize, ReservationId)>,
}

/// The template's requirements: the pool's, its labels, and two that only the
/// simulation sees.
pub(super) fn requirements(pool: &NodePool) -> Result<Requirements, String> {
    let wanted = Requirements::from_expressions(&pool.template.requirements);
    let mut all = wanted.map_err(|e| format!("NodePool {:?}: spec.template.spec.requirements: {e}", pool.name()))?;
    all.add_all(&Requirements::from_labels(&pool.template.labels));
    all.add(Requirement::is(NODEPOOL, pool.name()));
    all.add(Requirement::is(REGISTERED, "true"));
    all.add(Requirement::is(INITIALIZED, "true"));
    Ok(all)
}

impl<'a> Template<'a> {
    /// `dims` names the resources that vectors count.
    pub fn new(
        book: &mut Book,
        taints: &mut TaintBook,
        (pool, types): (&'a NodePool, &'a [PoolType]),
        req: ReqId,
        daemons: &[Daemon<'_>],
        dims: &[String],
        limits: Limits,
    ) -> Self {
        let running: Vec<Vec<bool>> = daemons
            .iter()
            .map(|d| d.on_types(book, req, &pool.template.taints, types.iter().map(|t| &t.requirements)))
            .collect();
        let overhead = |t: usize, dim: &str| -> i64 {
            let on = daemons.iter().zip(&running).filter(|(_, on)| on[t]);
            on.map(|(d, _)| d.requests.get(dim)).fold(0, i64::saturating_add)
        };
        let row = |dim: &String| {
            let free = |(t, kind): (usize, &PoolType)| kind.allocatable.get(dim).saturating_sub(overhead(t, dim));
            types.iter().enumerate().map(free).collect()
        };
        let mut groups: Vec<(Vec<bool>, DaemonGroup)> = Vec::new();
        for t in 0..types.len() {
            let signature: Vec<bool> = running.iter().map(|on| on[t]).collect();
            match groups.iter_mut().find(|(s, _)| *s == signature) {
                Some((_, group)) => group.types.set(t),
                None => {
                    let on = daemons.iter().zip(&signature).filter(|(_, on)| **on);
                    let ports = on.flat_map(|(d, _)| d.ports.iter().cloned()).collect();
                    groups.push((signature, DaemonGroup { types: [t].into_iter().collect(), ports }));
                }
            }
        }
        let mut template = Self {
            pool,
            types,
            req,
            taints: taints.taints_id(&pool.template.taints),
            steps: Steps::new(dims.iter().map(row).collect()),
            start: Bits::default(),
            daemon_groups: groups.into_iter().map(|(_, g)| g).collect(),
            limits,
            reservations: vec![Vec::new(); types.len()],
            has_reservations: false,
            classes: FxHashMap::default(),
        };
        let sound = |kind: &PoolType| kind.allocatable.iter().all(|(_, amount)| amount >= 0);
        let mut start: Bits = types.iter().enumerate().filter(|(_, t)| sound(t)).map(|(i, _)| i).collect();
        start.and(&template.class(book, req).types);
        template.steps.retain(&mut start, &vec![0; dims.len()]);
        template.start = start;
        template
    }

    /// Numbers the reserved offerings; forgets what was derived before.
    pub fn reserve(&mut self, mut id: impl FnMut(&str, u32) -> ReservationId) {
        for (t, kind) in self.types.iter().enumerate() {
            for (o, offering) in kind.offerings.iter().enumerate() {
                if let Some(reservation) = &offering.reservation {
                    self.reservations[t].push((o, id(&reservation.id, reservation.count)));
                    self.has_reservations = true;
                }
            }
        }
        self.classes.clear();
    }

    /// How many volumes of `driver` type `t` attaches, if that is limited.
    pub fn attach_limit(&self, t: usize, driver: &str) -> Option<u32> {
        self.types[t].volume_attachments.filter(|_| driver == EBS_DRIVER)
    }

    /// What `req` leaves of the types.
    pub fn class(&mut self, book: &Book, req: ReqId) -> Rc<Class> {
        if let Some(known) = self.classes.get(&req) {
            return known.clone();
        }
        let set = book.set(req);
        let mut class = Class {
            by_requirements: Bits::zeros(self.types.len()),
            by_offering: Bits::zeros(self.types.len()),
            types: Bits::default(),
            min_values: MinValue::of(set, self.types),
            fallback: Bits::default(),
            live: Vec::new(),
        };
        for (t, kind) in self.types.iter().enumerate() {
            if set.intersects(&kind.requirements).is_ok() {
                class.by_requirements.set(t);
            }
            for offering in kind.offerings.iter().filter(|o| o.available && fits(set, o)) {
                class.by_offering.set(t);
                if offering.capacity_type != CapacityType::Reserved {
                    class.fallback.set(t);
                }
            }
            for (o, id) in &self.reservations[t] {
                if kind.offerings[*o].launchable() && fits(set, &kind.offerings[*o]) {
                    class.live.push((t, *id));
                }
            }
        }
        class.types = class.by_requirements.clone();
        class.types.and(&class.by_offering);
        let class = Rc::new(class);
        self.classes.insert(req, class.clone());
        class
    }
}

/// Whether a launch under `set` may use the offering.
pub(super) fn fits(set: &Requirements, offering: &PoolOffering) -> bool {
    let has = |key: &str, value: &str| set.get(key).is_none_or(|r| r.has(value));
    has(ZONE, &offering.zone)
        && has(CAPACITY_TYPE, offering.capacity_type.as_str())
        && offering.reservation.as_ref().is_none_or(|r| has(RESERVATION_ID, &r.id))
}
