//! What happens once, at its time.

use jiff::SignedDuration;

use crate::dice::Dice;

/// Something from outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A workload gets other replicas.
    Scale { to: i64 },
    /// The controller dies once it has carried out that many more writes.
    Crash { writes: u64 },
    /// A second controller runs beside the first, which ends after this time.
    Overlap { lasts: SignedDuration },
    /// The controller stands still.
    Pause { lasts: SignedDuration },
    /// The controller's clock jumps.
    Jump { by: SignedDuration },
    /// Watches break; everything is listed anew.
    BreakWatch,
    /// This share of the offerings is sold out.
    StockOut { percent: i64, lasts: SignedDuration },
    /// The provider takes a spot machine back.
    Reclaim,
    /// A machine is gone without a word.
    Vanish,
    /// A person cordons a node, and uncordons it after this time.
    Cordon { lasts: SignedDuration },
    /// A pod comes whose place somebody else chose.
    Stranger,
    /// A person deletes a NodeClaim.
    DeleteClaim,
    /// A person deletes a node.
    DeleteNode,
    /// The node class selects another image.
    NewImage,
    /// A person changes a NodePool's template.
    NewTemplate,
}

/// The schedule of a seed over `active`, in order. `hard` from 0 (only the
/// workloads change) to 2.
pub fn schedule(seed: u64, hard: i64, active: SignedDuration) -> Vec<(SignedDuration, Fault)> {
    let mut dice = Dice::new(seed, "faults");
    let mut all = Vec::new();
    let span = active.as_millis().try_into().unwrap_or(i64::MAX);
    let when = |dice: &mut Dice| dice.millis(0, span);
    for _ in 0..dice.between(1, 8) {
        let at = when(&mut dice);
        all.push((at, Fault::Scale { to: dice.of([0, 1, 1, 2, 3, 5, 8]) }));
    }
    let count = match hard {
        0 => 0,
        1 => dice.between(1, 5),
        _ => dice.between(4, 14),
    };
    for _ in 0..count {
        let at = when(&mut dice);
        all.push((at, fault(&mut dice)));
    }
    all.sort_by_key(|(at, _)| *at);
    all
}

fn fault(dice: &mut Dice) -> Fault {
    match dice.between(0, 19) {
        0..=3 => Fault::Crash { writes: u64::try_from(dice.between(1, 25)).unwrap_or(1) },
        4 => Fault::Overlap { lasts: dice.millis(500, 15_000) },
        5 => Fault::Pause { lasts: dice.millis(2_000, 120_000) },
        6 => Fault::Jump { by: dice.millis(-20_000, 30_000) },
        7 | 8 => Fault::BreakWatch,
        9 | 10 => Fault::StockOut { percent: dice.between(20, 90), lasts: dice.millis(60_000, 900_000) },
        11 | 12 => Fault::Reclaim,
        13 => Fault::Vanish,
        14 => Fault::Cordon { lasts: dice.millis(5_000, 600_000) },
        15 | 16 => Fault::Stranger,
        17 if dice.chance(0.5) => Fault::DeleteClaim,
        17 => Fault::DeleteNode,
        18 => Fault::NewImage,
        _ => Fault::NewTemplate,
    }
}
