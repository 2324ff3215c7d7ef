//! `millwright explain`.

use std::time::Instant;

use millwright_core::explain;

use crate::args::{ExplainNodeArgs, ExplainPodArgs, ShortOutput};
use crate::failure::{Failure, Outcome};
use crate::output::{explained, explained_node};
use crate::progress::Progress;
use crate::{load, planner, stdio};

pub fn pod(args: &ExplainPodArgs) -> Result<Outcome, Failure> {
    let (namespace, name) = args.pod.split_once('/').unwrap_or(("default", &args.pod));
    if name.is_empty() || namespace.is_empty() || name.contains('/') {
        return Err(Failure::Usage(format!("{} is no pod: namespace/name is asked for", args.pod)));
    }
    let progress = Progress::start("reading");
    let catalog = load::catalog(args.world.region.as_deref(), args.world.catalog.as_deref())?;
    let world = load::world(&args.world, &catalog)?;
    progress.now("planning");
    let options = planner::options(&args.world, &args.search);
    let began = Instant::now();
    let answer = explain::pod(&world, &catalog, &options, &|| began.elapsed(), namespace, name)
        .map_err(|e| Failure::input(e.to_string()))?;
    drop(progress);
    match args.output {
        ShortOutput::Json => {
            let text = explained::json(&answer);
            stdio::print(|out| writeln!(out, "{text:#}"))?;
        }
        ShortOutput::Table => stdio::print(|out| out.write_all(explained::text(&answer).as_bytes()))?,
    }
    Ok(Outcome::Done)
}

pub fn node(args: &ExplainNodeArgs) -> Result<Outcome, Failure> {
    let progress = Progress::start("reading");
    let catalog = load::catalog(args.world.region.as_deref(), args.world.catalog.as_deref())?;
    let world = load::world(&args.world, &catalog)?;
    progress.now("auditing");
    let answer = planner::explain_node(&world, &catalog, args)?;
    drop(progress);
    match args.output {
        ShortOutput::Json => {
            let text = explained_node::json(&answer);
            stdio::print(|out| writeln!(out, "{text:#}"))?;
        }
        ShortOutput::Table => stdio::print(|out| out.write_all(explained_node::text(&answer).as_bytes()))?,
    }
    Ok(Outcome::Done)
}
