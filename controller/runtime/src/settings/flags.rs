//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::value::span;

/// Where machines come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProviderName {
    /// Node objects that simulated kubelets keep alive
    Kwok,
}

/// Flags. What is not given comes from the environment, under the name in
/// brackets.
#[derive(Clone, Debug, Default, Args)]
pub struct Flags {
    /// How to reach the API server; the pod's own account, or $KUBECONFIG, if not given
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Region of the embedded catalogue [MILLWRIGHT_REGION; us-east-1]
    #[arg(long, value_name = "REGION")]
    pub region: Option<String>,
    /// Catalogue file in place of the embedded one [MILLWRIGHT_CATALOG]
    #[arg(long, value_name = "FILE")]
    pub catalog: Option<String>,

    /// Port of /metrics [METRICS_PORT; 8080]
    #[arg(long, value_name = "PORT")]
    pub metrics_port: Option<u16>,
    /// Port of /healthz and /readyz [HEALTH_PROBE_PORT; 8081]
    #[arg(long, value_name = "PORT")]
    pub health_probe_port: Option<u16>,
    /// Writes per second [KUBE_CLIENT_QPS; 200]
    #[arg(long, value_name = "N")]
    pub kube_client_qps: Option<u32>,
    /// Writes at once before that counts [KUBE_CLIENT_BURST; 300]
    #[arg(long, value_name = "N")]
    pub kube_client_burst: Option<u32>,
    /// Lead without a lease [DISABLE_LEADER_ELECTION; false]
    #[arg(long, value_name = "true|false", action = clap::ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub disable_leader_election: Option<bool>,
    /// Name of the lease [LEADER_ELECTION_NAME; karpenter-leader-election]
    #[arg(long, value_name = "NAME")]
    pub leader_election_name: Option<String>,
    /// Namespace of the lease [LEADER_ELECTION_NAMESPACE; the own one, SYSTEM_NAMESPACE]
    #[arg(long, value_name = "NAME")]
    pub leader_election_namespace: Option<String>,
    /// No series of single nodes and pods [DISABLE_CLUSTER_STATE_OBSERVABILITY; false]
    #[arg(long, value_name = "true|false", action = clap::ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub disable_cluster_state_observability: Option<bool>,
    /// debug, info or error [LOG_LEVEL; info]
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<String>,
    /// json or text [MILLWRIGHT_LOG_FORMAT; json]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,

    /// Decide once no pod has come for this long [BATCH_IDLE_DURATION; 1s]
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub batch_idle_duration: Option<Duration>,
    /// Decide after this long at the latest [BATCH_MAX_DURATION; 10s]
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub batch_max_duration: Option<Duration>,
    /// Whether preferences of pods count: Respect, Ignore [PREFERENCE_POLICY; Respect]
    #[arg(long, value_name = "POLICY")]
    pub preference_policy: Option<String>,
    /// Whether minValues may be relaxed: Strict, BestEffort [MIN_VALUES_POLICY; Strict]
    #[arg(long, value_name = "POLICY")]
    pub min_values_policy: Option<String>,
    /// Only true: pods that claim devices are not planned for [IGNORE_DRA_REQUESTS; true]
    #[arg(long, value_name = "true|false", action = clap::ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub ignore_dra_requests: Option<bool>,
    /// Only empty: default spread constraints are not supported [SCHEDULER_CONFIG]
    #[arg(long, value_name = "YAML")]
    pub scheduler_config: Option<String>,
    /// Feature gates, Name=true,Other=false [FEATURE_GATES]
    #[arg(long, value_name = "GATES")]
    pub feature_gates: Option<String>,

    /// How planned pods come to their nodes: bind, nominate, none [MILLWRIGHT_PLACEMENT; bind]
    #[arg(long, value_name = "HOW")]
    pub placement: Option<String>,
    /// Only pods of these schedulers are placed [MILLWRIGHT_PLACEMENT_SCHEDULERS; default-scheduler]
    #[arg(long, value_name = "NAMES")]
    pub placement_schedulers: Option<String>,
    /// How long to search for what to buy [MILLWRIGHT_PROVISION_DEADLINE; 1s]
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub provision_deadline: Option<Duration>,
    /// How long to search for a cheaper cluster [MILLWRIGHT_CONSOLIDATE_DEADLINE; 10s]
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub consolidate_deadline: Option<Duration>,
    /// Search this many rounds instead [MILLWRIGHT_ITERATIONS]
    #[arg(long, value_name = "N")]
    pub iterations: Option<u64>,
    /// Seed of everything random [MILLWRIGHT_SEED; 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// $ per hour that an evicted pod and a removed node must each save [MILLWRIGHT_DISRUPTION_PRICE]
    #[arg(long, value_name = "PRICE")]
    pub disruption_price: Option<String>,
    /// A node is held for its pods no longer than this [MILLWRIGHT_HOLD; 60s]
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub hold: Option<Duration>,
    /// Between two looks for a cheaper cluster [MILLWRIGHT_POLL; 10s]
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub poll: Option<Duration>,
    /// Types that each spot launch can choose from [MILLWRIGHT_SPOT_TYPES; 5]
    #[arg(long, value_name = "K")]
    pub spot_types: Option<usize>,
}
