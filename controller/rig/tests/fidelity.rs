//! The table of what comes true of tight plans.
#![allow(clippy::unwrap_used, clippy::expect_used)] // without a control plane there is nothing to measure

use millwright_rig::api::Api;
use millwright_rig::fidelity::{Score, Way, measure};
use millwright_rig::plane::{Plane, Programs};
use millwright_rig::room::Room;
use millwright_rig::say;

const CLUSTERS: u64 = 20;

#[test]
#[ignore = "minutes; make rig-test"]
fn landing_makes_every_plan_come_true() {
    let programs = match Programs::locate() {
        Ok(programs) => programs,
        Err(missing) => return say(&format!("SKIPPED fidelity: {missing}")),
    };
    let ways = [Way::Plain, Way::Nominated, Way::Landed];
    // Most of the time is waiting: all at once, each on a plane of its own.
    let scores: Vec<Score> = std::thread::scope(|scope| {
        let started: Vec<_> = ways.iter().map(|way| scope.spawn(|| on_a_plane(&programs, *way))).collect();
        started.into_iter().map(|s| s.join().unwrap()).collect()
    });
    let mut table = format!(
        "{} clusters filled to 98-100 %, {} pods, {} nodes that turn Ready 1 to 6 s after the first registers\n",
        scores[0].clusters, scores[0].pods, scores[0].nodes
    );
    table += "| way       | pods bound | as planned | clusters complete | exactly as planned | DaemonSet pods |\n";
    table += "| --------- | ---------- | ---------- | ----------------- | ------------------ | -------------- |\n";
    for (way, s) in ways.iter().zip(&scores) {
        table += &format!(
            "| {:9} | {:8.1} % | {:8.1} % | {:8} of {:2}    | {:9} of {:2}    | {:5} of {:3}   |\n",
            format!("{way:?}").to_lowercase(),
            percent(s.bound, s.pods),
            percent(s.as_planned, s.pods),
            s.complete,
            s.clusters,
            s.exact,
            s.clusters,
            s.daemons,
            s.nodes
        );
    }
    say(&table);
    let landed = scores[2];
    assert_eq!((landed.bound, landed.as_planned), (landed.pods, landed.pods));
    assert_eq!(landed.daemons, landed.nodes);
}

fn on_a_plane(programs: &Programs, way: Way) -> Score {
    let plane = Plane::start(programs).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let room = Room::new(Api::new(plane.client().await.unwrap()));
        measure(&room, way, 0..CLUSTERS).await.unwrap()
    })
}

fn percent(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all as f64
}
