//! `millwright verify`.

use millwright_core::provision;
use serde_json::{Value, json};

use crate::args::{ShortOutput, VerifyArgs, WorldArgs};
use crate::failure::{Failure, Outcome};
use crate::output::verified;
use crate::progress::Progress;
use crate::{input, load, stdio};

pub fn run(args: &VerifyArgs) -> Result<Outcome, Failure> {
    let progress = Progress::start("reading");
    let source = input::read_one(&args.plan)?;
    let plan: Value = serde_json::from_str(&source.text)
        .map_err(|e| Failure::input(format!("{}: not the JSON of a plan: {e}", source.name)))?;
    let options = &plan["certificate"]["options"];
    agree(&args.world, options)?;
    let region = args.world.region.as_deref().or(options["region"].as_str());
    let catalog = load::catalog(region, args.world.catalog.as_deref())?;
    let world = load::world(&args.world, &catalog)?;
    progress.now("checking");
    let verdict =
        provision::verify(&world, &catalog, &plan).map_err(|e| Failure::input(format!("{}: {e}", source.name)))?;
    drop(progress);
    match args.output {
        ShortOutput::Json => {
            let checked = if verdict.ok() { verified::checked(&plan) } else { Vec::new() };
            let text = json!({
                "ok": verdict.ok(), "broken": verdict.broken, "checked": checked, "unchecked": verified::unchecked(&plan)
            });
            stdio::print(|out| writeln!(out, "{text:#}"))?;
        }
        ShortOutput::Table => stdio::print(|out| out.write_all(verified::text(&plan, &verdict.broken).as_bytes()))?,
    }
    Ok(if verdict.ok() { Outcome::Done } else { Outcome::Refuted })
}

/// Refuses flags that say something else than the plan: it would not be the
/// plan that is checked.
fn agree(args: &WorldArgs, options: &Value) -> Result<(), Failure> {
    let given = [
        ("--region", "region", args.region.clone().map(Value::from)),
        ("--spot-types", "spot_types", args.spot_types.map(Value::from)),
        ("--preference-policy", "preference_policy", args.preference_policy.map(|p| format!("{p:?}").into())),
        ("--min-values-policy", "min_values_policy", args.min_values_policy.map(|p| format!("{p:?}").into())),
        ("--feature-gates", "feature_gates", args.feature_gates.map(|g| g.to_string().into())),
        ("--now", "now", args.now.map(|t| t.to_string().into())),
    ];
    for (flag, name, value) in given {
        if let Some(value) = value.filter(|v| *v != options[name]) {
            let said = &options[name];
            return Err(Failure::Usage(format!("{flag} {value} contradicts the plan, which was made with {said}")));
        }
    }
    Ok(())
}
