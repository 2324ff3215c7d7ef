//! The controller as a whole, from settings to the end.

use std::path::Path;
use std::sync::Arc;

use kube::Client;
use kube::config::Config;
use millwright_client::connect::{self, ConnectError};
use millwright_core::control::brain::Brain;
use millwright_models::catalog::{self, Catalog, CatalogError};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::api::Api;
use crate::carry::Carrier;
use crate::drive::{Drive, DriveError};
use crate::elect::elect;
use crate::fence::Fence;
use crate::gate::Gate;
use crate::http::{Site, listen, serve};
use crate::kinds::watched;
use crate::metrics::Metrics;
use crate::pace::Pace;
use crate::provider::Provider;
use crate::settings::{SettingError, Settings};
use crate::watch::follow;

/// News that wait to be taken in; a watch that is ahead waits.
const NEWS: usize = 4096;

/// Why the controller ends, or does not start.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("the API server: {0}")]
    Client(String),
    #[error("the API server: {0}")]
    Connect(#[from] ConnectError),
    #[error("the catalogue: {0}")]
    Catalog(#[from] CatalogError),
    #[error("{path}: {problem}")]
    File { path: String, problem: std::io::Error },
    #[error("the thread that holds the lease: {0}")]
    Thread(std::io::Error),
    #[error("port {port}: {problem}")]
    Port { port: u16, problem: std::io::Error },
    #[error(transparent)]
    Drive(#[from] DriveError),
}

/// How to reach the cluster that `kubeconfig` names; the one we run in, or the
/// user's own, if none is given.
pub async fn cluster(kubeconfig: Option<&Path>) -> Result<Config, RunError> {
    Ok(connect::cluster(kubeconfig, None).await?)
}

/// A client of the runtime that it is made in.
pub fn client(config: Config) -> Result<Client, RunError> {
    Ok(connect::client(config)?)
}

/// The catalogue that the settings name.
pub fn catalog(settings: &Settings) -> Result<Catalog, RunError> {
    let Some(path) = &settings.catalog else { return Ok(catalog::embedded(&settings.region)?) };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|problem| RunError::File { path: name.clone(), problem })?;
    Ok(Catalog::parse(&name, &text)?)
}

/// Runs the controller until `stop`: watches, leads when it may, and gives the
/// lease back at the end.
pub async fn run(
    settings: &Settings,
    config: Config,
    brain: Brain,
    provider: impl FnOnce(Api) -> Arc<dyn Provider>,
    stop: watch::Receiver<bool>,
) -> Result<(), RunError> {
    let catalog = Arc::new(catalog(settings)?);
    let metrics = Metrics::new(env!("CARGO_PKG_VERSION"));
    let gates = settings.core.lower.gates;
    let kinds = watched(&gates);
    let gate = Gate::new(&kinds);
    let fence = if settings.leader_election { Fence::closed() } else { Fence::open() };
    let pace = Pace::new(settings.kube_client_qps, settings.kube_client_burst);
    let api = Api::new(client(config.clone())?, pace, fence.clone());

    // Dropping it ends what still runs.
    let mut aside = JoinSet::new();
    for (port, site) in [
        (settings.metrics_port, Site::Metrics(metrics.clone())),
        (settings.health_probe_port, Site::Health(gate.clone())),
    ] {
        let listener = listen(port).await.map_err(|problem| RunError::Port { port, problem })?;
        aside.spawn(serve(listener, site));
    }
    let (news, taken) = mpsc::channel(NEWS);
    for kind in kinds {
        aside.spawn(follow(api.clone(), kind, news.clone()));
    }
    drop(news);
    let (role, electing) = elect(settings, config, fence, stop.clone())?;
    let carrier = Carrier::new(api.clone(), provider(api), catalog.clone(), gates, metrics.clone());
    let drive = Drive::new(brain, catalog, Arc::new(carrier), gate, metrics, settings.no_observability);
    tracing::info!(version = env!("CARGO_PKG_VERSION"), region = settings.region, "starting");
    let ended = drive.run(taken, role, stop).await;
    // Time to give the lease back; one that was lost is not ours to give.
    if ended.is_ok() {
        electing.end().await;
    }
    Ok(ended?)
}

/// True once the process is told to end (INT, TERM).
pub fn told_to_stop() -> std::io::Result<watch::Receiver<bool>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (stop, stopped) = watch::channel(false);
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        tracing::info!("told to stop");
        stop.send_replace(true);
    });
    Ok(stopped)
}
