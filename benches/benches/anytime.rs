//! The anytime table: cost, bound and gap at several deadlines for generated
//! worlds beside Karpenter's recorded result, then published packing
//! instances beside what is known of their optima.
//!
//! `cargo bench --bench anytime -- [--quick] [--all] [--only TEXT]`

use std::error::Error;
use std::time::Duration;

use clap::Parser;
use millwright_benches::{formats, instances, karpenter, tables};
use millwright_models::catalog::Catalog;
use millwright_models::reader::{self, Document, ReadOptions};

#[derive(Parser)]
struct Args {
    /// Small instances and deadlines up to 1 s.
    #[arg(long)]
    quick: bool,
    /// All published instances instead of every 16th.
    #[arg(long)]
    all: bool,
    /// Only instances whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Given by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Family, pods, name.
const WORLDS: [(&str, &str, &str); 9] = [
    ("free", "1000", "free-1000-s1"),
    ("constrained", "1000", "constrained-1000-s1"),
    ("five", "1000", "five-1000"),
    ("free", "10000", "free-10000-s1"),
    ("constrained", "10000", "constrained-10000-s1"),
    ("five", "5000", "five-5000"),
    ("free", "50000", "free-50000-s1"),
    ("constrained", "50000", "constrained-50000-s1"),
    ("five", "20000", "five-20000"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let Some(shared) = instances::shared() else {
        println!("SKIPPED anytime: ../shared is absent, and with it the generator and the published instances");
        return Ok(());
    };
    let wanted = |name: &str| args.only.as_ref().is_none_or(|t| name.contains(t.as_str()));
    let recorded = karpenter::recorded(&shared.join("data/karpenter/provisioning.csv"))?;
    tables::worlds_header();
    for (family, pods, name) in WORLDS {
        if !wanted(name) || args.quick && pods.len() > 4 {
            continue;
        }
        match instances::generated(name, &["--family", family, "--pods", pods]) {
            Ok((objects, catalog)) => {
                let document = Document { file: name.to_owned(), text: std::fs::read_to_string(&objects)? };
                let world = reader::read(&[document], &ReadOptions::default())?;
                let catalog = Catalog::parse(name, &std::fs::read_to_string(&catalog)?)?;
                tables::worlds(name, &world, &catalog, recorded.get(name), if args.quick { 1.0 } else { 10.0 })?;
            }
            Err(reason) => println!("SKIPPED {name}: {reason}"),
        }
    }
    for set in ["falkenauer", "vsbpp-1d", "vsvbp"] {
        println!("\n{set}");
        let mut problems = formats::read(&shared.join(format!("data/vbp/{set}.jsonl.gz")))?;
        problems.retain(|p| wanted(&p.name) && p.upper.is_some());
        let every = if args.all { 1 } else { 16 };
        let chosen: Vec<_> = problems.into_iter().step_by(every).collect();
        let deadline = Duration::from_secs(if args.quick { 1 } else { 10 });
        println!("{}", tables::published(&chosen, deadline)?);
    }
    Ok(())
}
