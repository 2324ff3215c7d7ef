//! Tables for people, a row printed as soon as it is known.

use std::time::Duration;

use crate::anytime::{self, AnytimeError, DEADLINES, Point};
use crate::formats::{Problem, UNIT};
use crate::karpenter::Recorded;
use crate::worlds::Case;

/// Spot types a node must be launchable as, in the table of what that costs.
const SPOT_TYPES: [usize; 5] = [1, 3, 5, 10, 15];

/// Solves each problem once and prints it; returns the summary line.
pub fn published(problems: &[Problem], deadline: Duration) -> Result<String, AnytimeError> {
    println!(
        "{:<24} {:>10} {:>10} {:>8} {:>10} {:>10} {:>8} {:>9}  SOURCE",
        "INSTANCE", "COST", "BOUND", "GAP", "LOWER", "UPPER", "OVER", "SECONDS"
    );
    let (mut met, mut near, mut known, mut above) = (0, 0, 0, 0);
    for p in problems {
        let point = anytime::solve(&p.instance, deadline)?;
        let cost = point.cost as f64 / UNIT as f64;
        let over = p.upper.map(|u| cost - u);
        if let Some(over) = over {
            known += 1;
            met += usize::from(over < 0.5);
            near += usize::from(over < 1.5);
            above += usize::from(over >= 0.5);
        }
        println!(
            "{:<24} {:>10.1} {:>10.1} {:>8} {:>10} {:>10} {:>8} {:>9.2}  {}{}",
            p.name,
            cost,
            point.bound as f64 / UNIT as f64,
            percent(point.gap()),
            number(p.lower),
            number(p.upper),
            number(over),
            point.elapsed.as_secs_f64(),
            point.source,
            missing(&point),
        );
    }
    Ok(format!(
        "{} instances; of {known} with a known value {met} meet it, {near} are within one unit, {above} are above",
        problems.len()
    ))
}

/// Plans one world under each deadline and prints a row each.
pub fn worlds(case: &Case, recorded: Option<&Recorded>, most: f64) -> Result<(), AnytimeError> {
    for seconds in DEADLINES.into_iter().filter(|s| *s <= most) {
        let point = anytime::plan(&case.world, &case.catalog, Duration::from_secs_f64(seconds), 1)?;
        let cost = point.cost as f64 / 1e6;
        let peer = recorded.map_or_else(String::new, |r| {
            let partly = if r.unscheduled > 0 { format!(", {} left", r.unscheduled) } else { String::new() };
            format!("karpenter {:.4} in {:.1} s{partly} ({:+.1} %)", r.cost, r.seconds, 100.0 * (cost / r.cost - 1.0))
        });
        println!(
            "{:<26} {:>6.1} {:>9.3} {:>11.4} {:>11.4} {:>8}  {:<18} {peer}{}",
            case.name,
            seconds,
            point.elapsed.as_secs_f64(),
            cost,
            point.bound as f64 / 1e6,
            percent(point.gap()),
            point.source,
            missing(&point),
        );
    }
    Ok(())
}

/// Heads the rows of [`worlds`].
pub fn worlds_header() {
    println!(
        "{:<26} {:>6} {:>9} {:>11} {:>11} {:>8}  {:<18} PEER",
        "INSTANCE", "ASKED", "SECONDS", "COST", "BOUND", "GAP", "SOURCE"
    );
}

/// Plans one world for several numbers of spot types and prints what each
/// costs over one.
pub fn flexibility(case: &Case, deadline: Duration) -> Result<(), AnytimeError> {
    let mut single = None;
    for k in SPOT_TYPES {
        let point = anytime::plan(&case.world, &case.catalog, deadline, k)?;
        let cost = point.cost as f64 / 1e6;
        let first = *single.get_or_insert(cost);
        println!(
            "{:<26} {:>6} {:>11.4} {:>11.4} {:>9}  {}{}",
            case.name,
            k,
            cost,
            point.bound as f64 / 1e6,
            format!("{:+.2} %", 100.0 * (cost / first - 1.0)),
            point.source,
            missing(&point),
        );
    }
    Ok(())
}

/// Heads the rows of [`flexibility`].
pub fn flexibility_header() {
    println!("{:<26} {:>6} {:>11} {:>11} {:>9}  SOURCE", "INSTANCE", "TYPES", "COST", "BOUND", "PREMIUM");
}

fn percent(gap: Option<f64>) -> String {
    gap.map_or_else(|| "-".to_owned(), |g| format!("{:.2} %", 100.0 * g))
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{v:.1}"))
}

fn missing(point: &Point) -> String {
    if point.left == 0 { String::new() } else { format!("  {} without a place", point.left) }
}
