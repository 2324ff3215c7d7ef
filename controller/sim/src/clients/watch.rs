//! When a client hears of a change.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::dice::Dice;
use crate::faults::Rates;
use crate::server::Key;

/// Times at which a change is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub at: Timestamp,
    pub again: Option<Timestamp>,
}

/// A watch: news of one object come in order, those of different objects may
/// overtake each other.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    told: BTreeMap<Key, Timestamp>,
    /// Changes up to this one came with the first list.
    pub from: u64,
}

impl Watch {
    /// Decides when a change of `key` is told.
    pub fn deliver(&mut self, key: &Key, now: Timestamp, rates: &Rates, dice: &mut Dice) -> Delivery {
        let mut lag = dice.millis(2, 60);
        if dice.chance(rates.late) {
            lag += dice.millis(100, rates.latest.as_millis().try_into().unwrap_or(i64::MAX));
        }
        let mut at = now + lag;
        if dice.chance(rates.batched) {
            // Up to the next tenth of a second, together with others.
            let over = at.as_millisecond().rem_euclid(100);
            at += SignedDuration::from_millis(100 - over);
        }
        let at = self.told.get(key).map_or(at, |last| at.max(*last));
        self.told.insert(key.clone(), at);
        let again = dice.chance(rates.duplicated).then(|| at + dice.millis(0, 500));
        Delivery { at, again }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_of_one_object_come_in_order_and_others_overtake() {
        let (mut watch, mut dice) = (Watch::default(), Dice::new(1, "watch"));
        let rates = Rates::wild();
        let keys = [Key::node("a"), Key::node("b")];
        let mut now = Timestamp::UNIX_EPOCH;
        let mut told = [Vec::new(), Vec::new()];
        let mut all = Vec::new();
        for i in 0..400 {
            let delivery = watch.deliver(&keys[i % 2], now, &rates, &mut dice);
            assert!(delivery.at >= now && delivery.again.is_none_or(|again| again >= delivery.at));
            told[i % 2].push(delivery.at);
            all.push(delivery.at);
            now += SignedDuration::from_millis(20);
        }
        assert!(told.iter().all(|list| list.is_sorted()));
        assert!(!all.is_sorted(), "nothing overtook anything");
    }
}
