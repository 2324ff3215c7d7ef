//! What Karpenter itself does with an instance: as recorded beside the
//! project, or by a run of `benches/peers/karpenter`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// One scheduling pass of Karpenter.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// $/h.
    pub cost: f64,
    pub unscheduled: u32,
    pub seconds: f64,
}

#[derive(Deserialize)]
struct Row {
    instance: String,
    karpenter_cost_per_hour: f64,
    unscheduled: u32,
    solve_ms: f64,
}

#[derive(Deserialize)]
struct Answer {
    cost_per_hour: f64,
    n_unscheduled: u32,
    elapsed_ms: f64,
}

/// Runs the peer program on objects and a catalogue.
pub fn run(program: &Path, objects: &Path, catalog: &Path) -> Result<Recorded, String> {
    let text = crate::worlds::run(Command::new(program).arg("-catalog").arg(catalog).arg(objects))?;
    let answer: Answer = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", program.display()))?;
    Ok(Recorded { cost: answer.cost_per_hour, unscheduled: answer.n_unscheduled, seconds: answer.elapsed_ms / 1e3 })
}

/// Results by instance; `file` is `provisioning.csv`.
pub fn recorded(file: &Path) -> Result<BTreeMap<String, Recorded>, csv::Error> {
    csv::Reader::from_path(file)?
        .deserialize::<Row>()
        .map(|row| {
            let r = row?;
            let recorded =
                Recorded { cost: r.karpenter_cost_per_hour, unscheduled: r.unscheduled, seconds: r.solve_ms / 1e3 };
            Ok((r.instance, recorded))
        })
        .collect()
}
