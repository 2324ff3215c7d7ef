//! What is told of decisions and requests: log lines and metrics.

use std::time::Duration;

use millwright_core::control::ask::{Ask, Kind, Refusal, Reply};
use millwright_core::control::desk::Request;
use millwright_core::control::work::{Answer, Finding};
use millwright_core::provision::gap;
use millwright_solver::instance::Micros;

use crate::metrics::Metrics;

/// A decision in figures.
struct Figures<'a> {
    kind: &'static str,
    engine: &'a str,
    cost: Micros,
    bound: Micros,
    took: Duration,
}

impl Figures<'_> {
    fn measure(&self, metrics: &Metrics) {
        let kind = [("kind", self.kind)];
        metrics.count("millwright_decisions_total", &[("kind", self.kind), ("engine", self.engine)]);
        metrics.observe("millwright_decision_seconds", &kind, self.took);
        metrics.set("millwright_decision_cost_dollars_per_hour", &kind, dollars(self.cost));
        metrics.set("millwright_decision_bound_dollars_per_hour", &kind, dollars(self.bound));
        metrics.set("millwright_decision_gap_ratio", &kind, gap(self.cost, self.bound).unwrap_or(f64::INFINITY));
    }
}

/// Tells what was decided aside: one record per decision.
pub fn finding(finding: &Finding, metrics: &Metrics) {
    match &finding.answer {
        Answer::Provision(answer) => match answer.as_ref() {
            Ok(d) => {
                let figures =
                    Figures { kind: "provision", engine: &d.engine, cost: d.cost, bound: d.bound, took: d.elapsed };
                figures.measure(metrics);
                let controller = [("controller", "provisioner")];
                metrics.observe("scheduler_scheduling_duration_seconds", &controller, d.elapsed);
                metrics.set("scheduler_unschedulable_pods_count", &controller, d.unscheduled.len() as f64);
                let pods: usize = d.nodes.iter().map(|n| n.pods.len()).sum();
                tracing::info!(
                    controller = "provisioner",
                    nodeclaims = d.nodes.len(),
                    pods,
                    existing = d.existing.iter().map(|(_, pods)| pods.len()).sum::<usize>(),
                    unschedulable = d.unscheduled.len(),
                    cost_per_hour = dollars(d.cost),
                    lower_bound_per_hour = dollars(d.bound),
                    gap = d.gap(),
                    engine = d.engine,
                    elapsed_ms = millis(d.elapsed),
                    reasons = first_reasons(d.unscheduled.iter().map(|(_, reasons)| reasons)),
                    "computed new nodeclaim(s) to fit pod(s)"
                );
            }
            Err(error) => tracing::error!(controller = "provisioner", error = %error, "no plan was found"),
        },
        Answer::Consolidate(answer) => match answer.as_ref() {
            Ok(audit) => {
                let Some(wave) = audit.waves.first() else { return };
                let figures = Figures {
                    kind: "consolidate",
                    engine: &wave.engine,
                    cost: wave.cost,
                    bound: wave.bound,
                    took: audit.elapsed,
                };
                figures.measure(metrics);
                metrics.set("millwright_disruption_price_dollars_per_hour", &[], dollars(audit.disruption_price));
                tracing::info!(
                    controller = "disruption",
                    removed = wave.removed.len(),
                    replacements = wave.nodes.len(),
                    pods = wave.moves.len(),
                    current_cost_per_hour = dollars(audit.current_cost),
                    cost_per_hour = dollars(wave.cost),
                    lower_bound_per_hour = dollars(wave.bound),
                    gap = gap(wave.cost, wave.bound),
                    engine = wave.engine,
                    elapsed_ms = millis(audit.elapsed),
                    blocked = audit.blocked.len(),
                    "looked for a cheaper cluster"
                );
            }
            Err(error) => tracing::error!(controller = "disruption", error = %error, "no wave was found"),
        },
    }
}

/// Why pods stay out, one reason each, without repeats.
fn first_reasons<'a>(all: impl Iterator<Item = &'a Vec<String>>) -> Option<String> {
    let mut reasons: Vec<&str> = all.filter_map(|r| r.first().map(String::as_str)).collect();
    reasons.sort_unstable();
    reasons.dedup();
    reasons.truncate(5);
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Tells what became of a request.
pub fn reply(request: &Request, reply: &Reply, took: Duration, metrics: &Metrics) {
    let (verb, object) = named(&request.ask);
    let part = format!("{:?}", request.part);
    let result = match reply {
        Reply::Refused(refusal) => outcome(refusal),
        _ => "ok",
    };
    metrics.count("millwright_requests_total", &[("part", &part), ("verb", verb), ("result", result)]);
    let took = millis(took);
    match (&request.ask, reply) {
        (_, Reply::Refused(Refusal::NotFound | Refusal::Conflict)) => {
            tracing::debug!(part, verb, object, result, took_ms = took, "request refused");
        }
        (_, Reply::Refused(refusal)) => {
            tracing::warn!(part, verb, object, result, took_ms = took, error = %refusal, "request refused");
        }
        (Ask::Launch { claim, .. }, Reply::Launched(instance)) => {
            let label = |key: &str| instance.labels.get(key).map_or("", String::as_str);
            tracing::info!(
                NodeClaim = claim,
                provider_id = instance.provider_id,
                instance_type = label("node.kubernetes.io/instance-type"),
                zone = label("topology.kubernetes.io/zone"),
                capacity_type = label("karpenter.sh/capacity-type"),
                took_ms = took,
                "launched nodeclaim"
            );
        }
        (Ask::Create { target, .. }, _) if target.kind == Kind::NodeClaim => {
            tracing::info!(NodeClaim = target.name, part, "created nodeclaim");
        }
        (Ask::Delete { target, .. }, _) => match target.kind {
            Kind::NodeClaim => tracing::info!(NodeClaim = target.name, part, "deleted nodeclaim"),
            Kind::Node => tracing::info!(Node = target.name, part, "deleted node"),
            _ => tracing::info!(part, object, "deleted"),
        },
        (Ask::Evict { .. }, _) => tracing::info!(part, object, "evicted pod"),
        (Ask::Bind { node, .. }, _) => tracing::info!(part, object, Node = node, "bound pod"),
        _ => tracing::debug!(part, verb, object, took_ms = took, "request done"),
    }
}

fn outcome(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NotFound => "not_found",
        Refusal::Conflict => "conflict",
        Refusal::Budget { .. } | Refusal::Budgets { .. } => "budget",
        Refusal::Invalid { .. } => "invalid",
        Refusal::InsufficientCapacity { .. } => "insufficient_capacity",
        Refusal::NodeClassNotReady { .. } => "nodeclass_not_ready",
        Refusal::Create { .. } => "launch_failed",
        Refusal::Unavailable { .. } => "unavailable",
    }
}

/// What is done to what.
fn named(ask: &Ask) -> (&'static str, String) {
    match ask {
        Ask::Create { target, .. } => ("create", target.to_string()),
        Ask::Patch { target, status: false, .. } => ("patch", target.to_string()),
        Ask::Patch { target, status: true, .. } => ("patch_status", target.to_string()),
        Ask::Delete { target, .. } => ("delete", target.to_string()),
        Ask::Bind { pod, .. } => ("bind", pod.to_string()),
        Ask::Evict { pod, .. } => ("evict", pod.to_string()),
        Ask::Event(event) => ("event", event.about.to_string()),
        Ask::Launch { claim, .. } => ("launch", claim.clone()),
        Ask::Terminate { claim, .. } => ("terminate", claim.clone()),
        Ask::Describe { claim, .. } => ("describe", claim.clone()),
        Ask::Instances => ("instances", String::new()),
        Ask::Refresh { node } => ("refresh", node.clone()),
    }
}

fn dollars(micros: Micros) -> f64 {
    micros as f64 / 1e6
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
