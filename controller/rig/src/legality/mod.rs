//! Plans carried out by the real scheduler.
//!
//! Each pod of a plan is nominated to its node and let in, in an order that
//! `models::rules` finds legal. The scheduler filters the nominated node
//! first, so a pod that lands elsewhere or nowhere shows that the plan breaks
//! one of its rules. Pods that the plan leaves out must find no place in the
//! end.

mod foreign;
mod land;
mod provisioner;
mod scene;
mod stage;
mod workloads;

pub use foreign::Foreign;
pub use land::{Disagreement, LandError, Outcome};
pub use scene::{Case, Fate, Scene, SceneError};
pub use stage::unschedulable;

use std::time::{Duration, Instant};

use crate::room::{Room, RoomError};

/// What came of a case.
#[derive(Debug)]
pub struct Report {
    /// Pods that landed as planned, if nothing is wrong.
    pub landed: usize,
    /// Pods that stayed out as planned, if nothing is wrong.
    pub left: usize,
    pub nodes: usize,
    pub disagreements: Vec<Disagreement>,
    /// Pods that neither plan nor API server take.
    pub invalid: Vec<String>,
    /// Pods that stay out by the contract on spread, where the scheduler alone
    /// would take them.
    pub stricter: Vec<String>,
    /// Planning, setting up, landing.
    pub times: [Duration; 3],
}

/// Why a case could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    #[error(transparent)]
    Scene(#[from] Box<SceneError>),
    #[error(transparent)]
    Room(#[from] RoomError),
    #[error(transparent)]
    Land(#[from] LandError),
}

/// Plans a case and has it carried out.
pub async fn judge(room: &Room, case: &Case) -> Result<Report, JudgeError> {
    let start = Instant::now();
    let scene = Scene::of(case).map_err(Box::new)?;
    carry_out(room, &scene, start).await
}

/// Has a planned case carried out; `start` is when its planning began.
pub async fn carry_out(room: &Room, scene: &Scene, start: Instant) -> Result<Report, JudgeError> {
    let planned = start.elapsed();
    room.clear().await?;
    let refused = stage::set(room, scene).await?;
    let set = start.elapsed();
    let mut report = Report {
        landed: scene.waiting.iter().filter(|w| matches!(w.fate, Fate::Lands(_))).count(),
        left: scene.waiting.iter().filter(|w| matches!(w.fate, Fate::Waits(_))).count(),
        nodes: scene.nodes.len(),
        disagreements: Vec::new(),
        invalid: Vec::new(),
        stricter: Vec::new(),
        times: [planned, set - planned, Duration::ZERO],
    };
    for (i, reason) in &refused {
        let waiting = &scene.waiting[*i];
        let pod = format!("{}/{}", waiting.namespace, waiting.name);
        match &waiting.fate {
            Fate::Lands(_) => report.disagreements.push(Disagreement::Invalid { pod, reason: reason.clone() }),
            Fate::Waits(_) => report.invalid.push(format!("{pod}: {reason}")),
        }
    }
    let absent: Vec<usize> = refused.into_iter().map(|(i, _)| i).collect();
    let landing = land::land(room, scene, &absent).await?;
    report.disagreements.extend(landing.wrong);
    report.stricter = landing.stricter;
    report.times[2] = start.elapsed() - set;
    Ok(report)
}
