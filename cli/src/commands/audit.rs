//! `millwright audit`.

use super::catalog::provenance;
use crate::args::{AuditArgs, PlanOutput};
use crate::failure::{Failure, Outcome};
use crate::output::{audit_against, audit_json, audit_table, html, yaml};
use crate::progress::Progress;
use crate::{load, planner, stdio};

pub fn run(args: &AuditArgs) -> Result<Outcome, Failure> {
    let progress = Progress::start("reading");
    let catalog = load::catalog(args.world.region.as_deref(), args.world.catalog.as_deref())?;
    let world = load::world(&args.world, &catalog)?;
    let proposal = args.against.as_deref().map(load::proposal).transpose()?;
    progress.now("auditing");
    let audit = planner::audit(&world, &catalog, args)?;
    progress.now("following Karpenter's heuristics");
    let heuristic = planner::heuristic(&world, &catalog, args);
    let judged = proposal.map(|p| planner::against(&world, &catalog, args, &p)).transpose()?;
    drop(progress);
    match args.output {
        PlanOutput::Json => stdio::print(|out| audit_json::write(&audit, &heuristic, judged.as_ref(), out))?,
        PlanOutput::Yaml => stdio::print(|out| yaml::write_audit(&audit, out))?,
        PlanOutput::Html => {
            let page = html::of_audit(&world, &catalog, &audit, &heuristic, &provenance(&catalog));
            stdio::print(|out| out.write_all(page.as_bytes()))?;
        }
        PlanOutput::Table => {
            let mut text = audit_table::render(&audit, &heuristic, &provenance(&catalog));
            if let Some(judged) = &judged {
                text += &audit_against::section(judged, &audit);
            }
            stdio::print(|out| out.write_all(text.as_bytes()))?;
        }
    }
    let saved = audit.current_cost - audit.waves[0].cost;
    Ok(if args.fail_above.is_some_and(|limit| saved > limit) { Outcome::Wasteful } else { Outcome::Done })
}
