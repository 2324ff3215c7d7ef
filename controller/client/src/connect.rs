//! Which cluster is talked to, and as whom.

use std::path::Path;

use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};

use crate::error::chain;

/// Why no cluster is to be reached.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("{path}: {problem}")]
    Kubeconfig { path: String, problem: String },
    #[error("neither a kubeconfig nor a cluster to run in: {0}")]
    Nowhere(String),
    #[error("context {context}: {problem}")]
    Context { context: String, problem: String },
    #[error("no client of the cluster: {0}")]
    Client(String),
}

/// The cluster that `kubeconfig` names; the user's own, or the one we run in,
/// if none is given. `context`: another than the current one.
pub async fn cluster(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Config, ConnectError> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    match (kubeconfig, context) {
        (Some(path), _) => {
            let wrong = |error: &dyn std::error::Error| ConnectError::Kubeconfig {
                path: path.display().to_string(),
                problem: chain(error),
            };
            let file = Kubeconfig::read_from(path).map_err(|e| wrong(&e))?;
            Config::from_custom_kubeconfig(file, &options).await.map_err(|e| wrong(&e))
        }
        (None, Some(context)) => Config::from_kubeconfig(&options)
            .await
            .map_err(|e| ConnectError::Context { context: context.to_owned(), problem: chain(&e) }),
        (None, None) => Config::infer().await.map_err(|e| ConnectError::Nowhere(chain(&e))),
    }
}

/// A client of the runtime that it is made in.
pub fn client(mut config: Config) -> Result<Client, ConnectError> {
    // A refused eviction is an answer to act on, and a write that is sent
    // again by itself would pass the fence of a leader unseen.
    config.default_retry = false;
    Client::try_from(config).map_err(|e| ConnectError::Client(chain(&e)))
}
