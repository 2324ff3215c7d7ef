//! `millwright`: which EC2 machines a Kubernetes workload should run on, and
//! how far from a proven minimum that is.
#![forbid(unsafe_code)]

mod answer;
mod args;
mod commands;
mod failure;
mod fields;
mod input;
mod load;
mod output;
mod planner;
mod progress;
mod stdio;
mod trace;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return failure::bad_usage(&error),
    };
    match commands::run(args.command) {
        Ok(outcome) => outcome.into(),
        Err(failure) => failure.report(),
    }
}
