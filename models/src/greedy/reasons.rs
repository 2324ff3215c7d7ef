//! Why a pod found no place (spec 20 §8.3).

use super::bits::Bits;
use super::limit::Exhausted;
use super::pass::{Candidate, Pass};
use super::port::conflict;
use super::shape::Shape;
use super::topology::{Host, HostNames};
use super::volume::exceeded;

impl Pass<'_> {
    /// What stands in the way of the most relaxed form of the shape, as
    /// things are at the end of the pass.
    pub(super) fn reasons(&mut self, shape: &Shape, deferred: bool) -> Vec<String> {
        if let Some(reason) = &shape.refused {
            return vec![reason.clone()];
        }
        if deferred {
            return vec!["waits for a reserved offering that others hold in this pass, or that is full".to_owned()];
        }
        let Some(variant) = shape.variants.last() else { return Vec::new() };
        if self.templates.is_empty() {
            return vec!["no NodePool that is ready has instance types for new nodes".to_owned()];
        }
        let candidate = Candidate { shape, variant, pod: usize::MAX };
        let mut all: Vec<String> = Vec::new();
        for template in 0..self.templates.len() {
            let why = self.obstacle(template, candidate);
            all.push(format!("NodePool {:?}: {why}", self.templates[template].pool.name()));
        }
        all
    }

    fn obstacle(&mut self, template: usize, candidate: Candidate<'_>) -> String {
        let Candidate { shape, variant, .. } = candidate;
        if let Some(taint) = self.taints.obstacle(variant.tolerations, self.templates[template].taints) {
            return format!("did not tolerate taint {}={}:{}", taint.key, taint.value, taint.effect);
        }
        if self.templates[template].start.is_empty() {
            return "its requirements leave no instance type".to_owned();
        }
        match self.templates[template]
            .limits
            .retain(self.templates[template].types, &mut self.templates[template].start.clone())
        {
            Err(Exhausted::Nodes) => return "node limits have been exhausted for nodepool".to_owned(),
            Err(Exhausted::AllTypes) => return "all available instance types exceed limits for nodepool".to_owned(),
            Ok(()) => {}
        }
        if let Some(reason) = self.volume_obstacle(template, shape) {
            return reason;
        }
        let base = self.templates[template].req;
        if let Err(conflicts) = self.book.conflicts(base, variant.full) {
            return format!("incompatible requirements, {conflicts}");
        }
        if !Host::Claim(0).satisfies(variant.full_host.as_ref()) {
            return "asks for the hostname of an existing node".to_owned();
        }
        let mut ways: Vec<_> = self.book.join(base, variant.full).into_iter().collect();
        if !shape.alternatives.is_empty() {
            let near = shape.alternatives.iter().filter(|a| Host::Claim(0).satisfies(a.host.as_ref()));
            let near: Vec<_> =
                near.flat_map(|a| ways.iter().filter_map(|w| self.book.join(*w, a.req)).collect::<Vec<_>>()).collect();
            if near.is_empty() {
                return "its volumes cannot be reached from such a node".to_owned();
            }
            ways = near;
        }
        let names = HostNames(&self.hostnames);
        if let Some(group) = self.topology.rejects_fresh_host(shape, variant, names) {
            return format!("unsatisfiable {}", self.topology.describe(&self.book, group));
        }
        let mut narrowed = Vec::new();
        for way in &ways {
            narrowed.extend(self.topology.narrow(&mut self.book, shape, variant, *way));
        }
        let Some(req) = narrowed.first().copied() else {
            let group = ways.iter().find_map(|w| self.topology.obstacle(&mut self.book, shape, variant, *w));
            return match group {
                Some(group) => format!("unsatisfiable {}", self.topology.describe(&self.book, group)),
                None => "its topology rules contradict each other".to_owned(),
            };
        };
        self.type_obstacle(template, req, candidate)
    }

    fn volume_obstacle(&self, template: usize, shape: &Shape) -> Option<String> {
        let template = &self.templates[template];
        let mut over = template
            .start
            .iter()
            .map(|t| exceeded(&Default::default(), &shape.attached, |driver| template.attach_limit(t, driver)));
        let worst = over.try_fold(None::<(String, usize, u32)>, |worst, this| {
            let (driver, count, limit) = this?;
            let limit = worst.map_or(limit, |(_, _, l)| l.max(limit));
            Some(Some((driver, count, limit)))
        });
        worst.flatten().filter(|_| !shape.attached.is_empty()).map(|(driver, count, limit)| {
            format!(
                "would exceed volume limit for all instance type options: {count} volumes of {driver}, at most {limit}"
            )
        })
    }

    /// Which criteria no single type meets.
    fn type_obstacle(&mut self, template: usize, req: u32, candidate: Candidate<'_>) -> String {
        let demand = &self.demands[candidate.shape.demand];
        let class = self.templates[template].class(&self.book, req);
        let template = &self.templates[template];
        let mut open = Bits::ones(template.types.len());
        let limited = template.limits.retain(template.types, &mut open).is_err();
        let mut roomy = open.clone();
        template.steps.retain(&mut roomy, demand);
        let and = |a: &Bits, b: &Bits| {
            let mut both = a.clone();
            both.and(b);
            both
        };
        let (asked, offered) = (and(&open, &class.by_requirements), and(&open, &class.by_offering));
        let wanted = self.requested(demand);
        let pairs = [
            (and(&asked, &roomy), "met the requirements and had the resources"),
            (and(&asked, &offered), "met the requirements and had an offering"),
            (and(&roomy, &offered), "had the resources and an offering"),
        ];
        let none =
            [(&asked, "met the requirements"), (&roomy, "had enough resources"), (&offered, "had a required offering")];
        let lacking: Vec<&str> = none.iter().filter(|(set, _)| set.is_empty()).map(|(_, what)| *what).collect();
        let all = and(&pairs[0].0, &offered);
        let what = if limited {
            "is left by the limits".to_owned()
        } else if !lacking.is_empty() {
            lacking.join(" or ")
        } else if let Some((_, pair)) = pairs.iter().find(|(set, _)| set.is_empty()) {
            (*pair).to_owned()
        } else if all.is_empty() {
            "met the requirements and had the resources and an offering".to_owned()
        } else if let Some(unmet) = class.min_values.iter().find(|m| !m.is_met(&all)) {
            return format!(
                "minValues {} of {} cannot be met, {} found; {wanted}",
                unmet.need,
                unmet.key,
                unmet.reached(&all)
            );
        } else if template.daemon_groups.iter().all(|g| conflict(&candidate.shape.ports, &g.ports)) {
            return "a DaemonSet takes the host port on every instance type".to_owned();
        } else {
            return format!("no instance type was left by limits, ports and volumes together; {wanted}");
        };
        format!("no instance type {what}; requirements {}; {wanted}", self.book.words(req))
    }

    fn requested(&self, demand: &[i64]) -> String {
        let parts = self.dims.iter().zip(demand).filter(|(_, a)| **a > 0);
        let parts: Vec<String> =
            parts.map(|(name, a)| if name == "cpu" { format!("cpu {a}m") } else { format!("{name} {a}") }).collect();
        let huge = self.dims.iter().zip(demand).any(|(name, a)| name == "cpu" && *a >= 1_000_000_000);
        let hint = if huge { " (was m meant instead of M?)" } else { "" };
        format!("requested {}{hint}", parts.join(", "))
    }
}
