//! What a user sets. (spec 60 §1, §2)

use std::time::Duration;

use jiff::SignedDuration;
use millwright_models::lower::Settings as LowerSettings;
use millwright_solver::engine::Method;
use millwright_solver::instance::Micros;

/// How planned pods come to their nodes. (DESIGN §5)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The controller binds them while it holds the node.
    #[default]
    Bind,
    /// It writes `status.nominatedNodeName`.
    Nominate,
    /// It leaves them to the scheduler.
    None,
}

/// Everything that changes what the controller does.
#[derive(Clone, Debug)]
pub struct Settings {
    pub batch_idle: Duration,
    pub batch_max: Duration,
    /// Feature gates among it.
    pub lower: LowerSettings,
    pub placement: Placement,
    /// Only pods of these schedulers are bound or nominated.
    pub placement_schedulers: Vec<String>,
    /// Engine time of a provisioning pass, and of a consolidation.
    pub provision_deadline: Duration,
    pub consolidate_deadline: Duration,
    /// How much effort an answer is worth.
    pub method: Method,
    /// Search rounds instead of time: a run that can be replayed.
    pub iterations: Option<u64>,
    pub seed: u64,
    /// Per evicted pod and removed node, per hour; derived if not given.
    pub disruption_price: Option<Micros>,
    /// A node that is still held this long after Initialized is let go.
    pub hold: SignedDuration,
    pub launch_timeout: SignedDuration,
    pub registration_timeout: SignedDuration,
    /// Pods' ResourceClaims decide nothing.
    pub ignore_dra: bool,
    /// Between two looks for a cheaper cluster.
    pub poll: SignedDuration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            batch_idle: Duration::from_secs(1),
            batch_max: Duration::from_secs(10),
            lower: LowerSettings::default(),
            placement: Placement::default(),
            placement_schedulers: vec!["default-scheduler".to_owned()],
            provision_deadline: Duration::from_secs(1),
            consolidate_deadline: Duration::from_secs(10),
            method: Method::Auto,
            iterations: None,
            seed: 1,
            disruption_price: None,
            hold: SignedDuration::from_secs(60),
            launch_timeout: SignedDuration::from_mins(5),
            registration_timeout: SignedDuration::from_mins(15),
            ignore_dra: true,
            poll: SignedDuration::from_secs(10),
        }
    }
}
