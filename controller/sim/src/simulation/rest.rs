//! What must hold once nothing comes from outside any more.

use std::time::Duration;

use jiff::SignedDuration;
use millwright_core::provision;
use millwright_models::world::World;
use millwright_solver::engine;

use super::Simulation;
use crate::invariants::unfinished::is_starting;
use crate::json;
use crate::server::Kind;

/// No write for this long is peace.
const PEACE: SignedDuration = SignedDuration::from_mins(10);

impl Simulation<'_> {
    /// Nothing was written for ten minutes, and nothing is on its way.
    pub(super) fn is_at_rest(&self) -> bool {
        let now = self.stage.now();
        let pools_expire = self.nodes_expire();
        let quiet = now.duration_since(self.last_write) >= PEACE;
        let past_stock_outs = !self.stage.provider.has_stock_outs(now);
        let long_enough = now.duration_since(self.history.start) >= self.options.active + PEACE * 5;
        past_stock_outs && (quiet || (pools_expire && long_enough))
    }

    /// Once nothing comes from outside, neither do more pods wait nor do the
    /// machines cost more, from one moment to the next in which nothing is on
    /// its way.
    pub(super) fn cost_holds(&mut self) {
        let Some(now) = self.balance() else { return };
        if let Some(before) = self.settled.filter(|before| now > *before) {
            let message =
                format!("{} pods waited at {} µ$ an hour, now {} wait at {} µ$", before.0, before.1, now.0, now.1);
            self.fail("cost", message);
        }
        self.settled = Some(now);
    }

    /// Pods that wait and what the machines cost; none while something is on
    /// its way, or may be for a reason of before.
    fn balance(&self) -> Option<(usize, i64)> {
        let server = &self.stage.server;
        let is_settled = |claim: &serde_json::Value| {
            json::is_true(claim, "Initialized") && !json::is_deleting(claim) && !json::is_true(claim, "Drifted")
        };
        let moves = server.all(Kind::Pod).any(|(_, p)| json::is_deleting(p));
        let claims = server.all(Kind::NodeClaim).count();
        let up = || self.stage.provider.machines().filter(|m| m.is_up());
        let calm = !moves
            && server.all(Kind::NodeClaim).all(|(_, c)| is_settled(c))
            && up().count() == claims
            && !self.stage.provider.has_stock_outs(self.stage.now())
            && !self.nodes_expire();
        let waits = |p: &serde_json::Value| json::text(p, &["spec", "nodeName"]).is_empty();
        let pending = server.all(Kind::Pod).filter(|(_, p)| waits(p)).count();
        calm.then(|| (pending, up().map(|m| m.price).sum()))
    }

    /// Where nodes expire there is always something to write.
    fn nodes_expire(&self) -> bool {
        let is_finite = |o: &serde_json::Value, path: &[&str]| !matches!(json::text(o, path), "" | "Never");
        let server = &self.stage.server;
        server.all(Kind::NodePool).any(|(_, p)| is_finite(p, &["spec", "template", "spec", "expireAfter"]))
            || server.all(Kind::NodeClaim).any(|(_, c)| is_finite(c, &["spec", "expireAfter"]))
    }

    /// There was no peace.
    pub(super) fn unrest(&mut self) {
        let last = self.stage.now().duration_since(self.last_write);
        self.fail("fixed point", format!("still writing at the end; the last write was {} s ago", last.as_secs()));
    }

    /// Looks at what came out; tells how many pods wait.
    pub(super) fn last_checks(&mut self) -> usize {
        let (world, errors) = self.stage.world();
        if let Some(error) = errors.first() {
            let message = error.clone();
            self.fail("unreadable", message);
        }
        if !self.nodes_expire()
            && let Some(message) = self.invariants.unfinished(&self.stage)
        {
            self.fail("unfinished", message);
        }
        let pending = world.pods.iter().filter(|p| p.is_pending()).count();
        // Pods of a machine that does not come up wait until it is given up.
        let starting = self.stage.server.all(Kind::NodeClaim).any(|(_, c)| is_starting(&self.stage, c));
        if pending > 0
            && !starting
            && let Some(message) = self.fits(&world)
        {
            self.fail("pending though it fits", message);
        }
        pending
    }

    /// A pod that waits although a plan has a place for it.
    fn fits(&self, world: &World) -> Option<String> {
        let settings = &self.options.settings;
        let (iterations, method, seed) = (settings.iterations, settings.method, settings.seed);
        let engine = engine::Options { iterations, method, seed, threads: 1, ..engine::Options::default() };
        let options = provision::Options {
            lower: settings.lower.clone(),
            engine,
            now: self.stage.now().to_string(),
            baseline: false,
        };
        let plan = provision::plan(world, &self.stage.provider.catalog, &options, &|| Duration::ZERO);
        let decision = match plan {
            Ok(decision) => decision,
            Err(error) => return Some(format!("no plan: {error}")),
        };
        let placed = decision.nodes.first().map(|n| (&n.pods, format!("a new {} of {}", n.instance_type, n.pool)));
        let placed = placed.or_else(|| {
            let (node, pods) = decision.existing.iter().find(|(_, pods)| !pods.is_empty())?;
            Some((pods, node.clone()))
        });
        let (pods, place) = placed?;
        let name = pods.first().map(|p| world.pods[*p].full_name()).unwrap_or_default();
        Some(format!("{name} would fit on {place}"))
    }
}
