//! Causes as sentences. Each is told against the spots that no other reason
//! excludes: what is said of those is what is missing.

use fixedbitset::FixedBitSet;
use millwright_solver::explain::{Obstacle, Spot};
use millwright_solver::instance::RuleKind;

use super::cause::Cause;
use super::names::{expression_words, terms_words};
use super::offer::list;
use super::witness::Witness;
use crate::kube::node::Taint;
use crate::kube::pod::Pod;
use crate::lower::ports::host_ports;
use crate::quantity::format as amount;

/// Milli-CPUs of more than the largest machines have: 1,000 CPUs.
const MANY: i64 = 1_000_000;

impl Witness<'_, '_> {
    /// One sentence about `cause`, which alone excludes `alone`.
    pub(super) fn words(&self, pod: &Pod, shape: usize, cause: &Cause, alone: &FixedBitSet) -> String {
        match cause {
            Cause::NodeSelector { key, value } => {
                format!("nodeSelector {key}={value}: {}", self.values(key, alone))
            }
            Cause::NodeAffinity(e) => {
                format!("node affinity {}: {}", expression_words(e), self.values(&e.key, alone))
            }
            Cause::NodeAffinityTerms(terms) => {
                format!("every alternative of its node affinity: {}", terms_words(terms))
            }
            Cause::Taint(taint) => format!("does not tolerate {} of {}", taint_words(taint), self.whose(alone)),
            Cause::Volume { claim, terms } => {
                let key = terms.iter().flat_map(|t| &t.match_expressions).next().map(|e| self.values(&e.key, alone));
                let offer = key.map_or_else(String::new, |k| format!(": {k}"));
                format!("its volume claim {claim} demands {}{offer}", terms_words(terms))
            }
            Cause::NoLabel { rule, key } => {
                let name = &self.lowered.rule_names[*rule];
                format!("{name}: {} has no label {key}", self.whose(alone))
            }
            Cause::DaemonPort => format!("needs host port {}, which a DaemonSet takes", ports(pod)),
            Cause::Exceeded { pool, resource } => {
                format!("NodePool {pool} has exceeded its limit on {resource}")
            }
            Cause::Daemons => format!("no type of {} has room beside its DaemonSets", self.whose(alone)),
            Cause::Obstacle(obstacle) => self.obstacle(pod, shape, *obstacle, alone),
        }
    }

    fn obstacle(&self, pod: &Pod, shape: usize, obstacle: Obstacle, alone: &FixedBitSet) -> String {
        match obstacle {
            Obstacle::Room(d) => self.room(shape, d, alone),
            Obstacle::Rule(r) => self.rule(pod, shape, r, alone),
            Obstacle::Limit(l) => self.limit(l, alone),
            Obstacle::Supply(s) => format!("capacity reservation {} has no unit left", self.lowered.supply_names[s]),
            Obstacle::Variety(v) => self.variety(v),
        }
    }

    fn room(&self, shape: usize, d: usize, alone: &FixedBitSet) -> String {
        let dims = &self.lowered.dims;
        let need = self.lowered.instance.shapes[shape].demand[d];
        let (new, old) = self.most(d, alone);
        let Some(resource) = dims.resources.get(d) else {
            let driver = &dims.drivers[d - dims.resources.len()];
            let most = new.max(old).unwrap_or(0);
            return format!("attaches {need} volumes of {driver}; a node takes at most {most} more");
        };
        let asked = amount(resource, need);
        if resource == "cpu" && need >= 1_000_000_000 {
            return format!("requests cpu {asked} (is M meant to be m?)");
        }
        // Whole CPUs beyond any machine, and as many thousandths would do.
        let most = new.max(old).unwrap_or(0);
        let slip = resource == "cpu" && need % 1000 == 0 && need > most && need / 1000 <= most;
        let asked = if slip && need >= MANY { format!("{asked} (is {asked}m meant?)") } else { asked };
        let parts: Vec<String> = [("a new node", "has", new), ("a node that is there or planned", "has left", old)]
            .into_iter()
            .filter_map(|(whose, has, most)| Some((whose, has, most?)))
            .map(|(whose, has, most)| {
                if most <= 0 {
                    format!("{whose} {has} none")
                } else {
                    format!("{whose} {has} at most {}", amount(resource, most))
                }
            })
            .collect();
        if new.max(old) <= Some(0) && old.is_none() {
            return format!("requests {resource} {asked}, which no new node has");
        }
        format!("requests {resource} {asked}; {}", parts.join(", "))
    }

    fn rule(&self, pod: &Pod, shape: usize, index: usize, alone: &FixedBitSet) -> String {
        let rule = &self.lowered.instance.rules[index];
        let name = &self.lowered.rule_names[index];
        let key = self.lowered.topology_key(index);
        let domains = self.domains(&key, alone);
        let host = self.lowered.rule_key(index).is_none();
        let places = if host { self.whose(alone) } else { list(&domains) };
        if name == "a host port" {
            return format!("needs host port {}, which other pods take on {places}", ports(pod));
        }
        let theirs = !rule.owned_by(shape);
        match rule.kind {
            RuleKind::Anti if theirs => format!("{name}, of pods that are in {places}"),
            RuleKind::Anti => format!("{name}: such pods are in {places}"),
            RuleKind::Affinity => format!("{name}: no such pod is in {places}"),
            RuleKind::Spread(_) => format!("{name}: one more in {places} would be too far above the lowest"),
        }
    }

    fn limit(&self, l: usize, alone: &FixedBitSet) -> String {
        let (pool, resource) = &self.lowered.limit_names[l];
        let left = self.scene.limits[l].max(0);
        let least = alone.ones().filter_map(|spot| self.takes(spot, l)).min().unwrap_or(0);
        if resource == "nodes" {
            return format!("NodePool {pool} has reached its limit on nodes");
        }
        format!(
            "NodePool {pool} has reached its limit on {resource}: {} left, one more node takes {} or more",
            amount(resource, left),
            amount(resource, least)
        )
    }

    /// What one more node at the spot takes of a limit.
    pub fn takes(&self, spot: usize, limit: usize) -> Option<i64> {
        let Spot::Fresh(bin) = self.scene.spots[spot] else { return None };
        let takes = &self.lowered.instance.bins[bin].limit_use;
        takes.iter().find(|(l, _)| *l == limit).map(|(_, amount)| *amount)
    }

    fn variety(&self, v: usize) -> String {
        let pool = self.pool_of_variety(v);
        let demands = pool.template.requirements.iter().filter_map(|e| Some(format!("{} of {}", e.min_values?, e.key)));
        let demands: Vec<String> = demands.collect();
        format!("NodePool {} demands minValues {} of each launch", pool.name(), demands.join(", "))
    }

    /// The pool that makes the demand.
    pub fn pool_of_variety(&self, v: usize) -> &crate::karpenter::nodepool::NodePool {
        let offers = &self.lowered.offers;
        offers.pools[offers.rows[self.lowered.instance.varieties[v].bins[0]].pool].pool
    }
}

/// `key=value:effect`.
pub fn taint_words(taint: &Taint) -> String {
    let value = if taint.value.is_empty() { String::new() } else { format!("={}", taint.value) };
    format!("{}{value}:{}", taint.key, taint.effect)
}

fn ports(pod: &Pod) -> String {
    let all: Vec<String> = host_ports(&pod.spec).iter().map(|p| format!("{}/{}", p.port, p.protocol)).collect();
    list(&all)
}
