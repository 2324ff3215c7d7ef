//! Which types hold a total, by thresholds per resource.

use super::bits::Bits;

/// For one resource: the amounts that occur, and the types with at least so
/// much.
#[derive(Debug)]
struct Ladder {
    amounts: Vec<i64>,
    at_least: Vec<Bits>,
}

/// Free amounts of all types of a template.
#[derive(Debug)]
pub(super) struct Steps {
    /// Per resource, per type.
    free: Vec<Vec<i64>>,
    ladders: Vec<Ladder>,
}

impl Steps {
    /// `free[resource][type]`.
    pub fn new(free: Vec<Vec<i64>>) -> Self {
        let ladder = |row: &Vec<i64>| {
            let mut amounts = row.clone();
            amounts.sort_unstable();
            amounts.dedup();
            let types = |least: &i64| row.iter().enumerate().filter(|(_, a)| **a >= *least).map(|(i, _)| i).collect();
            let at_least = amounts.iter().map(types).collect();
            Ladder { amounts, at_least }
        };
        let ladders = free.iter().map(ladder).collect();
        Self { free, ladders }
    }

    /// What type `t` has of resource `dim`.
    #[cfg(test)]
    pub fn free(&self, dim: usize, t: usize) -> i64 {
        self.free[dim][t]
    }

    /// Keeps the types of `set` that hold `total` of every resource.
    pub fn retain(&self, set: &mut Bits, total: &[i64]) {
        for (ladder, wanted) in self.ladders.iter().zip(total) {
            match ladder.at_least.get(ladder.amounts.partition_point(|a| a < wanted)) {
                Some(types) => set.and(types),
                None => return set.reset(0),
            }
        }
    }

    /// The largest free amount per resource over the types of `set`.
    pub fn largest(&self, set: &Bits, into: &mut [i64]) {
        for (row, most) in self.free.iter().zip(into) {
            *most = set.iter().map(|t| row[t]).max().unwrap_or(i64::MIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_a_plain_comparison_keeps() {
        let free = vec![vec![1000, 2000, 500, 4000], vec![8, 4, -1, 4]];
        let steps = Steps::new(free.clone());
        for cpu in [0, 500, 501, 2000, 4000, 4001] {
            for memory in [0, 4, 5, 9] {
                let mut set = Bits::ones(4);
                steps.retain(&mut set, &[cpu, memory]);
                let plain: Bits = (0..4).filter(|t| free[0][*t] >= cpu && free[1][*t] >= memory).collect();
                assert_eq!(set, plain, "cpu {cpu} memory {memory}");
            }
        }
    }
}
