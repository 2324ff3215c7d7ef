//! `millwright-kubelets`: makes simulated machines and all pods look alive.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use millwright_kwok::kubelet::{Pace, play};
use millwright_runtime::api::Api;
use millwright_runtime::fence::Fence;
use millwright_runtime::run::{RunError, client, cluster, told_to_stop};
use millwright_runtime::{logs, pace};
use tracing::level_filters::LevelFilter;

/// Plays the kubelets of a test cluster.
#[derive(Debug, Parser)]
#[command(name = "millwright-kubelets", version)]
struct Args {
    /// How to reach the API server
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Seconds from the creation of a node until it is Ready
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds)]
    boot: f64,
    /// Nodes differ by up to this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0, value_parser = seconds)]
    boot_spread: f64,
    /// Seconds until a pod that is asked to end is gone, its grace period at most
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    end: f64,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    if (0.0..1e6).contains(&seconds) { Ok(seconds) } else { Err(format!("{text} seconds are too many or too few")) }
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    logs::begin(logs::Format::Text, LevelFilter::INFO);
    match run(&args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = %error, "the kubelets cannot run");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: &Args) -> Result<(), RunError> {
    let client = client(cluster(args.kubeconfig.as_deref()).await?)?;
    let api = Api::new(client, pace::Pace::new(1000.0, 1000.0), Fence::open());
    let mut stop = told_to_stop().map_err(|e| RunError::Client(e.to_string()))?;
    let span = Duration::from_secs_f64;
    tracing::info!(boot = args.boot, spread = args.boot_spread, "kubelets run");
    tokio::select! {
        () = play(api, Pace { boot: span(args.boot), spread: span(args.boot_spread), end: span(args.end) }) => {}
        _ = stop.wait_for(|s| *s) => {}
    }
    Ok(())
}
