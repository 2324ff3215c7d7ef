//! `millwright-controller`: runs a cluster's nodes.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use millwright_core::control::brain::Brain;
use millwright_kwok::{classes, provider::Kwok};
use millwright_runtime::logs;
use millwright_runtime::run::{RunError, cluster, run, told_to_stop};
use millwright_runtime::settings::{Flags, ProviderName, Settings};

/// Provisions, lands and consolidates the nodes of a Kubernetes cluster.
#[derive(Debug, Parser)]
#[command(name = "millwright-controller", version, max_term_width = 100)]
struct Args {
    /// Where machines come from
    #[arg(long)]
    provider: ProviderName,
    #[command(flatten)]
    flags: Flags,
}

#[tokio::main]
async fn main() -> ExitCode {
    match start(&Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = %error, "the controller ends");
            eprintln!("millwright-controller: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn start(args: &Args) -> Result<(), RunError> {
    let settings = Settings::of(&args.flags, &|name| std::env::var(name).ok())?;
    logs::begin(settings.log_format, settings.log_level);
    let stop = told_to_stop().map_err(|e| RunError::Client(e.to_string()))?;
    let config = cluster(settings.kubeconfig.as_deref()).await?;
    let brain = Brain::new(settings.core.clone());
    let ProviderName::Kwok = args.provider;
    run(
        &settings,
        config,
        brain,
        |api| {
            tokio::spawn(classes::tend(api.clone()));
            Arc::new(Kwok::new(api))
        },
        stop,
    )
    .await
}
