//! Cases judged one after the other on one control plane.

use std::ops::Range;
use std::time::Instant;

use millwright_models::rules::landing_order;
use millwright_rig::api::Api;
use millwright_rig::legality::{Case, Fate, Scene, judge};
use millwright_rig::plane::{Plane, Programs};
use millwright_rig::room::Room;
use millwright_rig::say;

/// What tests may disagree on, by the beginning of the case's name, and why
/// that is right.
const DEPARTURES: [(&str, &str); 1] = [(
    "SCH-144 a local volume with a zone beside its host",
    "the contract takes the host out of a local volume's affinity, so that a new node may stand for it",
)];

fn departs(case: &Case) -> bool {
    DEPARTURES.iter().any(|(name, _)| case.name.starts_with(name))
}

/// Seeds of the random clusters: `RIG_SEEDS=from..to`, else 200.
pub fn seeds() -> Range<u64> {
    let given = std::env::var("RIG_SEEDS").ok();
    let range = given.as_deref().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    range.unwrap_or(0..200)
}

/// Why the rules find no order for a plan.
fn stuck(scene: &Scene) -> Option<String> {
    match scene.landing() {
        Ok((state, placements)) => {
            let stuck = landing_order(&state, &placements).err()?;
            let name = |i: usize| format!("{} on {}", placements[i].pod.full_name(), placements[i].node);
            let landed: Vec<String> = stuck.landed.iter().map(|i| name(*i)).collect();
            let refused: Vec<String> = stuck.refused.iter().map(|(i, why)| format!("{}: {why}", name(*i))).collect();
            Some(format!("proven: {}; landed {landed:?}; refused {refused:?}", stuck.proven))
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Plans all cases and makes their objects.
pub fn stage_all(cases: &[Case]) {
    let mut faults = Vec::new();
    let (mut landing, mut left) = (0, 0);
    for case in cases {
        match Scene::of(case) {
            Ok(scene) => {
                let lands = scene.waiting.iter().filter(|w| matches!(w.fate, Fate::Lands(_))).count();
                landing += lands;
                left += scene.waiting.len() - lands;
                let why = stuck(&scene).filter(|_| !departs(case));
                faults.extend(why.map(|why| format!("{}: {why}", case.name)));
            }
            Err(error) => faults.push(format!("{}: {error}", case.name)),
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    assert!(landing > 4 * left && left > 0, "{landing} pods land, {left} stay out");
}

/// Judges all cases; fails if the real scheduler disagrees with any.
pub fn judge_all(what: &str, cases: Vec<Case>) {
    let only = std::env::var("RIG_ONLY").ok();
    let cases: Vec<Case> =
        cases.into_iter().filter(|c| only.as_ref().is_none_or(|o| c.name.contains(o.as_str()))).collect();
    let programs = match Programs::locate() {
        Ok(programs) => programs,
        Err(missing) => return say(&format!("SKIPPED {what} ({} cases): {missing}", cases.len())),
    };
    let start = Instant::now();
    let plane = Plane::start(&programs).unwrap();
    say(&format!("{what}: control plane up after {:.1} s", start.elapsed().as_secs_f64()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(run(what, &plane, &cases));
}

async fn run(what: &str, plane: &Plane, cases: &[Case]) {
    let room = Room::new(Api::new(plane.client().await.unwrap()));
    let (mut faults, mut landed, mut left, mut nodes, mut stricter) = (Vec::new(), 0, 0, 0, 0);
    let start = Instant::now();
    for case in cases {
        let mut told = String::new();
        let mut wrong: Vec<String> = Vec::new();
        match judge(&room, case).await {
            Ok(report) => {
                wrong.extend(report.disagreements.iter().map(ToString::to_string));
                for pod in report.invalid {
                    say(&format!("{}: left pending, and the API server refuses it: {pod}", case.name));
                }
                let [plan, set, land] = report.times.map(|t| t.as_secs_f64());
                told = format!(
                    "{} nodes, {} land, {} stay out; {plan:.1} + {set:.1} + {land:.1} s",
                    report.nodes, report.landed, report.left
                );
                stricter += report.stricter.len();
                landed += report.landed;
                left += report.left;
                nodes += report.nodes;
            }
            Err(error) => wrong.push(error.to_string()),
        }
        if std::env::var_os("RIG_VERBOSE").is_some() || !wrong.is_empty() {
            say(&format!("{}: {told} {}", case.name, wrong.join("; ")));
        }
        match wrong.is_empty() {
            false if !departs(case) => faults.push(format!("{}: {}", case.name, wrong.join("\n    "))),
            true if departs(case) => faults.push(format!("{} is no departure any more", case.name)),
            _ => {}
        }
    }
    say(&format!(
        "{what}: {} cases, {nodes} nodes, {landed} pods to land, {left} to stay out ({stricter} only for a domain that nobody has yet), {} cases disagree, {:.0} s",
        cases.len(),
        faults.len(),
        start.elapsed().as_secs_f64()
    ));
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
