//! The command line.

mod value;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;
use millwright_models::catalog::Gates;

/// Which EC2 machines a Kubernetes workload should run on, with a proof of
/// how far that is from the cheapest.
#[derive(Debug, Parser)]
#[command(
    name = "millwright",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// What to buy for the pods that wait, for how much, and how far from the minimum
    Plan(PlanArgs),
    /// What a cluster costs, what it could cost, and the moves that get there
    Audit(AuditArgs),
    /// Check a plan and its certificate with independent code
    Verify(VerifyArgs),
    /// Why a pod stays pending or a node stays, and what would help
    Explain(ExplainArgs),
    /// The EC2 catalogue: types, capacity, allocatable, prices
    Catalog(CatalogArgs),
    /// Print the CustomResourceDefinitions
    Crds,
    /// Print a published trace of pods or VMs as Kubernetes YAML
    ImportTrace(TraceArgs),
    #[command(hide = true)]
    Simulate(Later),
    #[command(hide = true)]
    Lint(Later),
    /// Capture a running cluster to a file that the other commands read
    Snapshot(SnapshotArgs),
}

#[derive(Debug, ClapArgs)]
pub struct SnapshotArgs {
    /// Where to write; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace names, namespaces, labels and images by tokens that still match each other, and leave
    /// out all that decides nothing (commands, environment, annotations, messages): plans and audits
    /// come out at the same cost
    #[arg(long)]
    pub redact: bool,
    /// How to reach the cluster; else $KUBECONFIG, ~/.kube/config, or the cluster this runs in
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Another context than the current one
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
}

/// A command of the contract that this version does not have.
#[derive(Debug, ClapArgs)]
#[command(disable_help_flag = true)]
pub struct Later {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub rest: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub struct PlanArgs {
    #[command(flatten)]
    pub world: WorldArgs,
    /// How to print the answer
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub output: PlanOutput,
    #[command(flatten)]
    pub search: SearchArgs,
}

/// How to solve, the clock aside.
#[derive(Debug, ClapArgs)]
pub struct MethodArgs {
    /// How to search
    #[arg(long, default_value = "auto")]
    pub engine: Engine,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Search this many rounds and look at no clock
    #[arg(long, value_name = "N")]
    pub iterations: Option<u64>,
}

/// How to solve.
#[derive(Debug, ClapArgs)]
pub struct SearchArgs {
    /// How long to search (500ms, 2s, 1m)
    #[arg(long, value_parser = value::duration, value_name = "TIME", default_value = "1s")]
    pub deadline: Duration,
    #[command(flatten)]
    pub method: MethodArgs,
}

/// How moves of a running cluster are searched for.
#[derive(Debug, ClapArgs)]
pub struct MoveArgs {
    /// How long to search (500ms, 2s, 1m)
    #[arg(long, value_parser = value::duration, value_name = "TIME", default_value = "10s")]
    pub deadline: Duration,
    #[command(flatten)]
    pub method: MethodArgs,
    /// $ per hour that an evicted pod and a removed node must each save. Not given: what an average
    /// node costs in 3 minutes, spread over the mean age of the nodes, which in a steady cluster is
    /// the life they have left
    #[arg(long, value_parser = value::dollars, value_name = "PRICE")]
    pub disruption_price: Option<i64>,
    /// Nodes that no NodePool manages may be removed too
    #[arg(long)]
    pub include_unmanaged: bool,
}

#[derive(Debug, ClapArgs)]
pub struct AuditArgs {
    #[command(flatten)]
    pub world: WorldArgs,
    /// How to print the answer
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub output: PlanOutput,
    #[command(flatten)]
    pub moves: MoveArgs,
    /// Only the wave that is legal now, or wave after wave until nothing is left to do
    #[arg(long, default_value = "1", value_name = "1|all")]
    pub waves: Waves,
    /// Evict no more than this many pods per wave
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    pub max_evictions: Option<i64>,
    /// Remove no more than this many nodes per wave
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    pub max_removed: Option<i64>,
    /// Also tell what fewer evictions would reach
    #[arg(long)]
    pub frontier: bool,
    /// Judge moves that somebody else proposes: NodeClaims, a Proposal (README), or lines of
    /// Karpenter's log about a command
    #[arg(long, value_name = "PATH")]
    pub against: Option<PathBuf>,
    /// Exit with 3 if the wave saves more than this ($ per hour)
    #[arg(long, value_parser = value::dollars, value_name = "SAVINGS")]
    pub fail_above: Option<i64>,
}

/// Objects, catalogue and the rules that decide what is allowed.
#[derive(Debug, ClapArgs)]
pub struct WorldArgs {
    /// File, directory or - for standard input; Kubernetes YAML or JSON. May be repeated
    #[arg(short, long = "filename", value_name = "PATH", required = true)]
    pub filename: Vec<PathBuf>,
    /// Refuse fields and kinds that do not exist, instead of warning of them
    #[arg(long)]
    pub strict: bool,
    /// Region of the embedded catalogue [default: us-east-1]
    #[arg(long, conflicts_with = "catalog")]
    pub region: Option<String>,
    /// Catalogue file in place of the embedded one
    #[arg(long, value_name = "PATH")]
    pub catalog: Option<PathBuf>,
    /// Types that each spot launch can choose from [default: 5]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub spot_types: Option<u32>,
    /// The time to plan for (RFC 3339); the clock if not given
    #[arg(long, value_name = "TIME", value_parser = value::timestamp)]
    pub now: Option<Timestamp>,
    /// Whether preferences of pods count [default: Respect]
    #[arg(long, value_name = "POLICY")]
    pub preference_policy: Option<PreferencePolicy>,
    /// Whether minValues of a NodePool may be relaxed [default: Strict]
    #[arg(long, value_name = "POLICY")]
    pub min_values_policy: Option<MinValuesPolicy>,
    /// Feature gates (Name=true,Other=false) [default: as Karpenter has them]
    #[arg(long, value_name = "GATES")]
    pub feature_gates: Option<Gates>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Region, spot types, policies, gates and time are those that stand in the plan: no default \
applies, and a flag that contradicts the plan is refused. Give the same objects, and the same --catalog if there was \
one. Exit code 0 if everything holds, 1 if anything does not.")]
pub struct VerifyArgs {
    /// What `millwright plan -o json` or `millwright audit -o json` printed; - for standard input
    #[arg(value_name = "PLAN.json")]
    pub plan: PathBuf,
    #[command(flatten)]
    pub world: WorldArgs,
    /// How to print the answer
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub output: ShortOutput,
}

#[derive(Debug, ClapArgs)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  millwright explain pod shop/cart-0 -f cluster.yaml\n  \
                  millwright explain node ip-10-0-1-17.ec2.internal -f cluster.yaml"
)]
pub struct ExplainArgs {
    #[command(subcommand)]
    pub command: ExplainCommand,
}

#[derive(Debug, Subcommand)]
pub enum ExplainCommand {
    /// Why a pod stays pending
    Pod(ExplainPodArgs),
    /// Why a node stays though the cluster could be cheaper
    Node(ExplainNodeArgs),
}

#[derive(Debug, ClapArgs)]
pub struct ExplainPodArgs {
    /// The pod, as namespace/name; a name alone is in the namespace default
    #[arg(value_name = "NAMESPACE/NAME")]
    pub pod: String,
    #[command(flatten)]
    pub world: WorldArgs,
    /// How to print the answer
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub output: ShortOutput,
    #[command(flatten)]
    pub search: SearchArgs,
}

#[derive(Debug, ClapArgs)]
pub struct ExplainNodeArgs {
    /// The node
    #[arg(value_name = "NAME")]
    pub node: String,
    #[command(flatten)]
    pub world: WorldArgs,
    /// How to print the answer
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub output: ShortOutput,
    #[command(flatten)]
    pub moves: MoveArgs,
}

#[derive(Debug, ClapArgs)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct CatalogArgs {
    #[command(subcommand)]
    pub command: CatalogCommand,
}

#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    /// List types with capacity, allocatable and prices, their source and date
    Show(ShowArgs),
    #[command(hide = true)]
    Refresh(Later),
    #[command(hide = true)]
    Diff(Later),
}

#[derive(Debug, ClapArgs)]
pub struct ShowArgs {
    /// Region of the embedded catalogue
    #[arg(long, conflicts_with = "catalog")]
    pub region: Option<String>,
    /// Catalogue file in place of the embedded one
    #[arg(long, value_name = "PATH")]
    pub catalog: Option<PathBuf>,
    /// Only types whose name matches, with * and ?; may be repeated
    #[arg(long = "type", value_name = "PATTERN")]
    pub types: Vec<String>,
    /// How to print it
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub output: ShortOutput,
}

#[derive(Debug, ClapArgs)]
pub struct TraceArgs {
    /// What the file holds
    #[arg(long)]
    pub format: TraceFormat,
    /// CSV file, gzipped if its name ends in .gz; - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Only what runs at this second of the trace (azure: the last second if not given)
    #[arg(long, value_name = "SECOND", value_parser = clap::value_parser!(i64).range(0..))]
    pub at: Option<i64>,
    /// No more than this many pods, in the order of the file
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// openb: read the GPU models from the column gpu_spec33 instead of gpu_spec
    #[arg(long)]
    pub gpu_spec33: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlanOutput {
    Table,
    Json,
    /// The NodeClaims, for `kubectl create`
    Yaml,
    /// One page for a browser: every node with its pods
    Html,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Waves {
    #[value(name = "1")]
    One,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShortOutput {
    Table,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// The best that the deadline allows
    Auto,
    /// Exactly, or as far as the deadline allows, with a warning
    Exact,
    /// First fit, Millwright's own; what Karpenter's algorithm would do stands under Baseline
    Greedy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum PreferencePolicy {
    Respect,
    Ignore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum MinValuesPolicy {
    Strict,
    BestEffort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// Pods of a production GPU-sharing cluster
    Openb,
    /// Long-running applications with anti-affinity limits
    Tianchi,
    /// Inference services of recommendation models
    Dlrm,
    /// VM arrivals of 48 hours
    Azure,
}
