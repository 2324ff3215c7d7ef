//! Where pods would go if nodes went. (spec 30 §13.1)

use std::collections::BTreeSet;

use millwright_models::catalog::PoolTypes;
use millwright_models::greedy::{self, GreedyOptions, GreedyPlan, Imagined};
use millwright_models::karpenter::nodepool::NodePool;

use super::pass::{Command, Pass};
use super::{Method, Refusal};
use crate::candidates::Candidate;
use crate::consolidatable::{Consolidatable, consolidatable};

impl Pass<'_, '_> {
    /// Schedules the pods of `leaving` beside those that wait, on the other
    /// nodes or new ones. `protect` closes nodes whose pods changed a moment
    /// ago.
    pub(super) fn simulate(&self, leaving: &[&Candidate<'_>], protect: bool) -> Result<GreedyPlan, Refusal> {
        self.simulate_with(&self.pools, &self.greedy, leaving, protect)
    }

    /// The same with other types to buy and other options.
    pub(super) fn simulate_with(
        &self,
        pools: &[(&NodePool, PoolTypes)],
        options: &GreedyOptions,
        leaving: &[&Candidate<'_>],
        protect: bool,
    ) -> Result<GreedyPlan, Refusal> {
        let scene = self.scene;
        let names: BTreeSet<&str> = leaving.iter().map(|c| scene.nodes[c.node].name()).collect();
        let closed = if protect { self.closed() } else { BTreeSet::new() };
        let imagined = Imagined { leaving: names, closed };
        let plan = greedy::simulate(scene.world, pools, options, &imagined, self.stop);
        if plan.stopped {
            return Err(Refusal::Stopped);
        }
        for (p, why) in &plan.unscheduled {
            let pod = &scene.world.pods[*p];
            if pod.node_name.is_some() {
                return Err(Refusal::Homeless { pod: pod.full_name(), why: why.join("; ") });
            }
        }
        let unready: BTreeSet<&str> = scene.nodes.iter().filter(|n| !n.is_initialized()).map(|n| n.name()).collect();
        for (node, pods) in plan.existing.iter().filter(|(node, _)| unready.contains(node.as_str())) {
            let moved = |p: &&usize| {
                let home = scene.world.pods[**p].node_name.as_deref();
                home.is_some_and(|n| imagined.leaving.contains(n))
            };
            if let Some(p) = pods.iter().find(moved) {
                let pod = scene.world.pods[*p].full_name();
                return Err(Refusal::Uninitialized { pod, node: node.clone() });
            }
        }
        Ok(plan)
    }

    /// Nodes inside the consolidateAfter of their pool.
    fn closed(&self) -> BTreeSet<&str> {
        let scene = self.scene;
        let recent = scene.nodes.iter().filter(|node| {
            let pool = node.pool().and_then(|p| scene.world.node_pool(p)).filter(|p| p.replicas.is_none());
            let judged = node.claim.zip(pool).map(|(c, p)| consolidatable(c, p, node.is_initialized(), scene.now));
            matches!(judged, Some(Consolidatable::From(_)))
        });
        recent.map(|n| n.name()).collect()
    }

    /// Nodes for pods that wait and for those of nodes on their way out.
    pub(super) fn provision(&self) -> Option<Command> {
        let scene = self.scene;
        let going = scene.nodes.iter().any(|n| n.node.is_some() && n.is_marked(&scene.memory) && !n.pods.is_empty());
        if !going && !scene.world.pods.iter().any(|p| p.is_pending()) {
            return None;
        }
        let options = GreedyOptions { strict_reservations: true, ..self.greedy };
        let plan = greedy::solve(scene.world, &self.pools, &options, self.stop);
        let acts = !plan.claims.is_empty() || !plan.existing.is_empty();
        acts.then(|| Command { method: Method::Provisioning, nodes: self.marked(), plan, savings: 0 })
    }

    /// Nodes that are on their way out.
    fn marked(&self) -> Vec<usize> {
        let all = 0..self.scene.nodes.len();
        all.filter(|n| self.scene.nodes[*n].is_marked(&self.scene.memory)).collect()
    }
}
