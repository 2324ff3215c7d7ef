//! What Karpenter itself did with an instance, as recorded beside the
//! project.

use std::collections::BTreeMap;
use std::path::Path;

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
