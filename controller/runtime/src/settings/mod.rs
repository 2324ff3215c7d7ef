//! What the user sets: a flag, else the environment, else the default.
//! (spec 60 §1)
//!
//! Flags are strict. In the environment a boolean, number or duration that
//! cannot be read gives the default, as it does for Karpenter.

mod flags;
mod gates;
mod value;

use std::path::PathBuf;
use std::time::Duration;

use jiff::SignedDuration;
use millwright_core::control::settings::{Placement, Settings as Core};
use millwright_models::lower::{MinValuesPolicy, PreferencePolicy};
use tracing::level_filters::LevelFilter;

pub use flags::{Flags, ProviderName};

use crate::logs::Format;
use value::Source;

/// Everything that the program is told.
#[derive(Clone, Debug)]
pub struct Settings {
    pub core: Core,
    pub metrics_port: u16,
    pub health_probe_port: u16,
    pub kube_client_qps: f64,
    pub kube_client_burst: f64,
    pub leader_election: bool,
    pub lease_name: String,
    pub lease_namespace: String,
    /// Without series of single nodes and pods.
    pub no_observability: bool,
    pub log_level: LevelFilter,
    pub log_format: Format,
    pub kubeconfig: Option<PathBuf>,
    pub region: String,
    pub catalog: Option<PathBuf>,
}

/// Why the program does not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {problem}")]
pub struct SettingError {
    /// Flag and variable.
    pub name: String,
    pub problem: String,
}

impl Settings {
    /// What `flags` and the environment say together; `lookup` reads a variable.
    pub fn of(flags: &Flags, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let from = Source { lookup };
        let default = Core::default();
        let mut core = Core {
            batch_idle: from.span(flags.batch_idle_duration, "BATCH_IDLE_DURATION", default.batch_idle),
            batch_max: from.span(flags.batch_max_duration, "BATCH_MAX_DURATION", default.batch_max),
            provision_deadline: from.span(
                flags.provision_deadline,
                "MILLWRIGHT_PROVISION_DEADLINE",
                default.provision_deadline,
            ),
            consolidate_deadline: from.span(
                flags.consolidate_deadline,
                "MILLWRIGHT_CONSOLIDATE_DEADLINE",
                default.consolidate_deadline,
            ),
            iterations: flags.iterations.or_else(|| from.parsed("MILLWRIGHT_ITERATIONS")),
            seed: flags.seed.or_else(|| from.parsed("MILLWRIGHT_SEED")).unwrap_or(default.seed),
            disruption_price: from.strict(
                flags.disruption_price.as_ref(),
                "MILLWRIGHT_DISRUPTION_PRICE",
                value::dollars,
            )?,
            hold: from.signed(flags.hold, "MILLWRIGHT_HOLD", default.hold),
            poll: from.signed(flags.poll, "MILLWRIGHT_POLL", default.poll),
            placement: from
                .strict(flags.placement.as_ref(), "MILLWRIGHT_PLACEMENT", placement)?
                .unwrap_or(default.placement),
            ..default
        };
        if let Some(list) = from.text(flags.placement_schedulers.as_ref(), "MILLWRIGHT_PLACEMENT_SCHEDULERS") {
            core.placement_schedulers =
                list.split(',').map(|s| s.trim().to_owned()).filter(|s| !s.is_empty()).collect();
        }
        let lower = &mut core.lower;
        if let Some(policy) = from.strict(flags.preference_policy.as_ref(), "PREFERENCE_POLICY", preferences)? {
            lower.preferences = policy;
        }
        if let Some(policy) = from.strict(flags.min_values_policy.as_ref(), "MIN_VALUES_POLICY", min_values)? {
            lower.min_values = policy;
        }
        if let Some(gates) = from.strict(flags.feature_gates.as_ref(), "FEATURE_GATES", gates::gates)? {
            lower.gates = gates;
        }
        let spot_types = flags.spot_types.or_else(|| from.parsed("MILLWRIGHT_SPOT_TYPES"));
        lower.spot_types = spot_types.map_or(lower.spot_types, |n| n.max(1));
        refuse_what_is_not_there(flags, &from)?;
        Ok(Self {
            core,
            metrics_port: flags.metrics_port.or_else(|| from.parsed("METRICS_PORT")).unwrap_or(8080),
            health_probe_port: flags.health_probe_port.or_else(|| from.parsed("HEALTH_PROBE_PORT")).unwrap_or(8081),
            kube_client_qps: f64::from(flags.kube_client_qps.or_else(|| from.parsed("KUBE_CLIENT_QPS")).unwrap_or(200)),
            kube_client_burst: f64::from(
                flags.kube_client_burst.or_else(|| from.parsed("KUBE_CLIENT_BURST")).unwrap_or(300),
            ),
            leader_election: !from.flag(flags.disable_leader_election, "DISABLE_LEADER_ELECTION"),
            lease_name: from
                .text(flags.leader_election_name.as_ref(), "LEADER_ELECTION_NAME")
                .unwrap_or_else(|| "karpenter-leader-election".to_owned()),
            lease_namespace: from
                .text(flags.leader_election_namespace.as_ref(), "LEADER_ELECTION_NAMESPACE")
                .or_else(|| from.text(None, "SYSTEM_NAMESPACE"))
                .unwrap_or_else(|| "kube-system".to_owned()),
            no_observability: from
                .flag(flags.disable_cluster_state_observability, "DISABLE_CLUSTER_STATE_OBSERVABILITY"),
            log_level: from.strict(flags.log_level.as_ref(), "LOG_LEVEL", level)?.unwrap_or(LevelFilter::INFO),
            log_format: from.strict(flags.log_format.as_ref(), "MILLWRIGHT_LOG_FORMAT", format)?.unwrap_or_default(),
            kubeconfig: flags.kubeconfig.clone(),
            region: from.text(flags.region.as_ref(), "MILLWRIGHT_REGION").unwrap_or_else(|| "us-east-1".to_owned()),
            catalog: from.text(flags.catalog.as_ref(), "MILLWRIGHT_CATALOG").map(PathBuf::from),
        })
    }

    /// How often the lease's owner may write: a client of its own, as
    /// Karpenter's.
    pub const LEASE_PACE: (f64, f64) = (5.0, 10.0);
}

/// Settings of Karpenter that change what it decides and that are not to be
/// had here are refused rather than passed over.
fn refuse_what_is_not_there(flags: &Flags, from: &Source<'_>) -> Result<(), SettingError> {
    let refuse = |flag: &str, variable: &str| {
        let name = format!("--{flag} ({variable})");
        Err(SettingError { name, problem: "is not supported".to_owned() })
    };
    if from.text(flags.scheduler_config.as_ref(), "SCHEDULER_CONFIG").is_some() {
        return refuse("scheduler-config", "SCHEDULER_CONFIG");
    }
    if from.flag_or(flags.ignore_dra_requests, "IGNORE_DRA_REQUESTS", true) {
        return Ok(());
    }
    refuse("ignore-dra-requests=false", "IGNORE_DRA_REQUESTS")
}

fn preferences(text: &str) -> Result<PreferencePolicy, String> {
    match text {
        "Respect" => Ok(PreferencePolicy::Respect),
        "Ignore" => Ok(PreferencePolicy::Ignore),
        _ => Err(format!("{text:?} is neither Respect nor Ignore")),
    }
}

fn min_values(text: &str) -> Result<MinValuesPolicy, String> {
    match text {
        "Strict" => Ok(MinValuesPolicy::Strict),
        "BestEffort" => Ok(MinValuesPolicy::BestEffort),
        _ => Err(format!("{text:?} is neither Strict nor BestEffort")),
    }
}

fn placement(text: &str) -> Result<Placement, String> {
    match text {
        "bind" => Ok(Placement::Bind),
        "nominate" => Ok(Placement::Nominate),
        "none" => Ok(Placement::None),
        _ => Err(format!("{text:?} is none of bind, nominate, none")),
    }
}

fn level(text: &str) -> Result<LevelFilter, String> {
    match text {
        "" | "info" => Ok(LevelFilter::INFO),
        "debug" => Ok(LevelFilter::DEBUG),
        "error" => Ok(LevelFilter::ERROR),
        _ => Err(format!("{text:?} is none of debug, info, error")),
    }
}

fn format(text: &str) -> Result<Format, String> {
    match text {
        "json" => Ok(Format::Json),
        "text" => Ok(Format::Text),
        _ => Err(format!("{text:?} is neither json nor text")),
    }
}

/// What the core counts in, of what flags are read in.
fn signed(span: Duration) -> SignedDuration {
    SignedDuration::try_from(span).unwrap_or(SignedDuration::MAX)
}

#[cfg(test)]
mod tests;
