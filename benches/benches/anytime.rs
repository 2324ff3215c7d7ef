//! The anytime table: cost, bound and gap at several deadlines for generated
//! worlds and traces beside Karpenter's result, then published packing
//! instances beside what is known of their optima.
//!
//! `cargo bench --bench anytime -- [--quick] [--all] [--only TEXT] [--flexibility] [--peer PROGRAM]`

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use millwright_benches::worlds::WORLDS;
use millwright_benches::{formats, instances, karpenter, tables};

#[derive(Parser)]
struct Args {
    /// Small instances and deadlines up to 1 s.
    #[arg(long)]
    quick: bool,
    /// All published instances instead of a few.
    #[arg(long)]
    all: bool,
    /// Only instances whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// What more spot types per node cost, instead of the anytime table.
    #[arg(long)]
    flexibility: bool,
    /// Run this build of benches/peers/karpenter instead of reading what was
    /// recorded, and leave out the published instances.
    #[arg(long, value_name = "PROGRAM")]
    peer: Option<PathBuf>,
    /// Given by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Published sets, and how many of them a run takes unless told otherwise.
const SETS: [(&str, usize); 3] = [("falkenauer", 6), ("vsbpp-1d", 6), ("vsvbp", 6)];

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let Some(shared) = instances::shared() else {
        println!("SKIPPED anytime: ../shared is absent, and with it the generator and the published instances");
        return Ok(());
    };
    let wanted = |name: &str| args.only.as_ref().is_none_or(|t| name.contains(t.as_str()));
    let recorded = karpenter::recorded(&shared.join("data/karpenter/provisioning.csv"))?;
    if args.flexibility {
        tables::flexibility_header()
    } else {
        tables::worlds_header()
    }
    let chosen = WORLDS.iter().filter(|w| wanted(w.0) && (!args.quick || w.1.is_small()));
    for (name, source) in chosen.filter(|w| !args.flexibility || w.1.sells_spot()) {
        let case = match source.read(name) {
            Ok(case) => case,
            Err(reason) => {
                println!("SKIPPED {name}: {reason}");
                continue;
            }
        };
        if args.flexibility {
            tables::flexibility(&case, Duration::from_secs(if args.quick { 1 } else { 5 }))?;
            continue;
        }
        let peer = match (&args.peer, &case.files) {
            (Some(program), Some((objects, catalog))) => Some(karpenter::run(program, objects, catalog)?),
            (Some(_), None) => None,
            (None, _) => recorded.get(*name).cloned(),
        };
        tables::worlds(&case, peer.as_ref(), if args.quick { 1.0 } else { 10.0 })?;
    }
    if args.flexibility || args.peer.is_some() {
        return Ok(());
    }
    for (set, few) in SETS {
        println!("\n{set}");
        let mut problems = formats::read(&shared.join(format!("data/vbp/{set}.jsonl.gz")))?;
        problems.retain(|p| wanted(&p.name) && p.upper.is_some());
        let every = if args.all { 1 } else { problems.len().div_ceil(few).max(1) };
        let chosen: Vec<_> = problems.into_iter().step_by(every).collect();
        let deadline = Duration::from_secs(if args.quick { 1 } else { 10 });
        println!("{}", tables::published(&chosen, deadline)?);
    }
    Ok(())
}
