//! `millwright plan`.

use crate::args::{PlanArgs, PlanOutput};
use crate::failure::{Failure, Outcome};
use crate::output::{html, json, plan_table, yaml};
use crate::progress::Progress;
use crate::{load, planner, stdio};

use super::catalog::provenance;

pub fn run(args: &PlanArgs) -> Result<Outcome, Failure> {
    let progress = Progress::start("reading");
    let catalog = load::catalog(args.world.region.as_deref(), args.world.catalog.as_deref())?;
    let world = load::world(&args.world, &catalog)?;
    progress.now("planning");
    let decision = planner::plan(&world, &catalog, args)?;
    drop(progress);
    match args.output {
        PlanOutput::Json => stdio::print(|out| json::write(&decision, out))?,
        PlanOutput::Yaml => {
            for warning in &decision.warnings {
                stdio::complain(&format!("warning: {warning}"));
            }
            stdio::print(|out| yaml::write(&decision, out))?;
        }
        PlanOutput::Html => {
            let page = html::of_plan(&world, &catalog, &decision, &provenance(&catalog));
            stdio::print(|out| out.write_all(page.as_bytes()))?;
        }
        PlanOutput::Table => {
            let text = plan_table::render(&decision, &provenance(&catalog));
            stdio::print(|out| out.write_all(text.as_bytes()))?;
        }
    }
    Ok(if decision.unscheduled.is_empty() { Outcome::Done } else { Outcome::Unscheduled })
}
