//! `millwright-solve`: published packing instances, solved and told beside
//! what is known of their optima.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use millwright_benches::formats::{self, Problem};
use millwright_benches::tables;

/// Solves published packing instances.
///
/// FILE holds one JSON object a line, gzipped or not: {"name", "capacity",
/// "items"}, {"name", "bins": [[capacity, cost]], "items"} or {"name", "bins":
/// [{"cost", "cap"}], "items": [[..]]}. SET-bounds.csv beside SET.jsonl.gz is
/// read for what is known.
#[derive(Parser)]
#[command(name = "millwright-solve", version)]
struct Args {
    /// Files of instances.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Seconds for each instance.
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    deadline: f64,
    /// Only instances whose name contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Only every N-th of what is left.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
}

fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("{text:?} is no number of seconds"))?;
    if (0.001..=86_400.0).contains(&value) { Ok(value) } else { Err("must be from 0.001 to 86400".to_owned()) }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let mut problems: Vec<Problem> = Vec::new();
    for file in &args.files {
        match formats::read(file) {
            Ok(more) => problems.extend(more),
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    problems.retain(|p| args.only.as_ref().is_none_or(|t| p.name.contains(t.as_str())));
    let chosen: Vec<Problem> = problems.into_iter().step_by(args.every as usize).collect();
    match tables::published(&chosen, Duration::from_secs_f64(args.deadline)) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
