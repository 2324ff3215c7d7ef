//! One module per command.

mod audit;
pub mod catalog;
mod crds;
mod explain;
mod import_trace;
mod plan;
mod snapshot;
mod verify;

use crate::args::{CatalogCommand, Command, ExplainCommand};
use crate::failure::{Failure, Outcome};

/// Runs a command.
pub fn run(command: Command) -> Result<Outcome, Failure> {
    let later = |name: &str| Err(Failure::Unavailable(name.to_owned()));
    match command {
        Command::Plan(args) => plan::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Explain(args) => match args.command {
            ExplainCommand::Pod(args) => explain::pod(&args),
            ExplainCommand::Node(args) => explain::node(&args),
        },
        Command::Catalog(args) => match args.command {
            CatalogCommand::Show(args) => catalog::show(&args),
            CatalogCommand::Refresh(_) => later("catalog refresh"),
            CatalogCommand::Diff(_) => later("catalog diff"),
        },
        Command::ImportTrace(args) => import_trace::run(&args),
        Command::Simulate(_) => later("simulate"),
        Command::Lint(_) => later("lint"),
        Command::Snapshot(args) => snapshot::run(&args),
        Command::Crds => crds::run(),
    }
}
