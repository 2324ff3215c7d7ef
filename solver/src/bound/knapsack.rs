//! The linear relaxation of one node's contents: what it can be worth at
//! most, and the multipliers that prove it.

/// Items as columns: values and demands in doubles.
pub(super) struct Columns {
    /// Dimensions in use.
    pub dims: usize,
    /// Demand, `dims` per item.
    pub demand: Vec<f64>,
}

impl Columns {
    pub fn of(&self, item: usize) -> &[f64] {
        &self.demand[item * self.dims..(item + 1) * self.dims]
    }
}

/// What a node may hold.
pub(super) struct Room<'a> {
    /// Capacity per dimension in use.
    pub capacity: &'a [f64],
    /// Items that fit, with the most of each.
    pub guests: &'a [Guest],
    /// Most pods per group, for groups with several guests.
    pub groups: &'a [f64],
}

/// An item in a room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guest {
    pub item: usize,
    pub most: f64,
    /// Index into [`Room::groups`].
    pub group: Option<usize>,
}

/// A fractional content and its proof.
#[derive(Clone, Debug, Default)]
pub(super) struct Filling {
    /// Multipliers: per dimension, then per group.
    pub u: Vec<f64>,
    /// (guest position, amount), positive.
    pub x: Vec<(usize, f64)>,
    /// An upper bound on the worth, recomputed from `u`.
    pub worth: f64,
}

/// Upper bound on the worth of a room by multipliers `u`; any non-negative
/// ones do.
pub(super) fn bound(columns: &Columns, room: &Room, value: &[f64], u: &[f64]) -> f64 {
    let dims = columns.dims;
    let mut total: f64 = room.capacity.iter().chain(room.groups).zip(u).map(|(a, u)| a * u).sum();
    for g in room.guests {
        let mut v = value[g.item];
        if v <= 0.0 {
            continue;
        }
        for (r, u) in columns.of(g.item).iter().zip(u) {
            v -= r * u;
        }
        if let Some(k) = g.group {
            v -= u[dims + k];
        }
        if v > 0.0 {
            total += v * g.most;
        }
    }
    total
}

/// Smaller pivots count as zero.
const PIVOT: f64 = 1e-9;

/// Steps whose rests differ by less count as equal; rows are scaled to 1.
const TIE: f64 = 1e-10;

/// A fractional content of which so small a share is unproven is the best.
const PROVEN: f64 = 1e-8;

#[derive(Clone, Copy, PartialEq)]
enum Var {
    Slack(usize),
    Guest(usize),
}

/// Solves the relaxation. Where ties keep the simplex from its end, once more
/// with values that differ a little.
pub(super) fn fill(columns: &Columns, room: &Room, value: &[f64]) -> Filling {
    let first = simplex(columns, room, value, value);
    let held: f64 = first.x.iter().map(|&(g, n)| value[room.guests[g].item] * n).sum();
    if first.worth <= held * (1.0 + PROVEN) + 1e-12 {
        return first;
    }
    let apart = |(i, v): (usize, &f64)| v * (1.0 + 1e-8 * ((i * 7919 + 13) % 101) as f64 / 101.0);
    let aside: Vec<f64> = value.iter().enumerate().map(apart).collect();
    let second = simplex(columns, room, &aside, value);
    // Not a number is no bound.
    if second.worth <= first.worth || !first.worth.is_finite() { second } else { first }
}

/// A bounded primal simplex on a dense inverse with one row per dimension and
/// group. Its multipliers bound the worth by the values `real`.
fn simplex(columns: &Columns, room: &Room, value: &[f64], real: &[f64]) -> Filling {
    let dims = columns.dims;
    let m = dims + room.groups.len();
    // Rows are scaled so that every capacity is 1.
    let scale: Vec<f64> =
        room.capacity.iter().chain(room.groups).map(|&c| if c > 0.0 { 1.0 / c } else { 0.0 }).collect();
    let n = room.guests.len();
    let mut inverse = vec![0.0_f64; m * m];
    (0..m).for_each(|i| inverse[i * m + i] = 1.0);
    let mut basis: Vec<Var> = (0..m).map(Var::Slack).collect();
    let mut level = vec![1.0_f64; m];
    let mut upper = vec![false; n];
    let mut basic = vec![false; n];
    let mut slack_basic = vec![true; m];
    let mut y = vec![0.0; m];
    let mut w = vec![0.0; m];
    let mut alpha = vec![0.0_f64; m];
    let most = room.guests.iter().map(|g| value[g.item]).fold(0.0, f64::max);
    let eps = 1e-10 * most.max(1e-12);
    for _ in 0..(60 + 3 * n + 10 * m) {
        y.iter_mut().for_each(|v| *v = 0.0);
        for (k, b) in basis.iter().enumerate() {
            if let Var::Guest(j) = *b {
                let c = value[room.guests[j].item];
                for i in 0..m {
                    y[i] += c * inverse[k * m + i];
                }
            }
        }
        for i in 0..m {
            w[i] = y[i] * scale[i];
        }
        let mut entering: Option<(f64, Var)> = None;
        for i in 0..m {
            if !slack_basic[i] && -y[i] > eps && entering.is_none_or(|e| -y[i] > e.0) {
                entering = Some((-y[i], Var::Slack(i)));
            }
        }
        if entering.is_none() {
            let mut best = 0.0;
            for (j, g) in room.guests.iter().enumerate() {
                if basic[j] {
                    continue;
                }
                let mut d = value[g.item];
                let mut size = 0.0;
                for ((r, w), s) in columns.of(g.item).iter().zip(&w).zip(&scale) {
                    d -= r * w;
                    size += r * s;
                }
                if let Some(k) = g.group {
                    d -= w[dims + k];
                    size += scale[dims + k];
                }
                if upper[j] {
                    d = -d;
                }
                if d > eps {
                    let score = d / (size + 1e-9);
                    if score > best {
                        best = score;
                        entering = Some((d, Var::Guest(j)));
                    }
                }
            }
        }
        let Some((_, var)) = entering else { break };
        let (sign, limit) = match var {
            Var::Slack(i) => {
                (0..m).for_each(|k| alpha[k] = inverse[k * m + i]);
                (1.0, f64::INFINITY)
            }
            Var::Guest(j) => {
                let g = &room.guests[j];
                let r = columns.of(g.item);
                for k in 0..m {
                    let row = &inverse[k * m..(k + 1) * m];
                    let mut a = 0.0;
                    for d in 0..dims {
                        a += row[d] * r[d] * scale[d];
                    }
                    if let Some(q) = g.group {
                        a += row[dims + q] * scale[dims + q];
                    }
                    alpha[k] = a;
                }
                (if upper[j] { -1.0 } else { 1.0 }, g.most)
            }
        };
        // How far each basic variable lets the entering one go. Of those that
        // stop it at about the same point the one with the largest pivot
        // leaves: at the duals of a fluid relaxation nearly all tie, and a
        // tiny pivot would ruin the inverse.
        let reach = |k: usize, slack: f64| -> Option<f64> {
            let a = alpha[k] * sign;
            if a > PIVOT {
                return Some((level[k].max(0.0) + slack) / a);
            }
            let Var::Guest(j) = basis[k] else { return None };
            (a < -PIVOT).then(|| ((room.guests[j].most - level[k]).max(0.0) + slack) / -a)
        };
        let far = (0..m).filter_map(|k| reach(k, TIE)).fold(f64::INFINITY, f64::min);
        let near = (0..m).filter_map(|k| Some((k, reach(k, 0.0)?))).filter(|&(_, t)| t <= far);
        let last = near.max_by(|a, b| alpha[a.0].abs().total_cmp(&alpha[b.0].abs()));
        let (step, leave) = match last {
            Some((k, t)) if t < limit => (t, Some((k, alpha[k] * sign < 0.0))),
            _ => (limit, None),
        };
        if !step.is_finite() {
            break;
        }
        for k in 0..m {
            level[k] -= step * alpha[k] * sign;
        }
        let Some((k, at_upper)) = leave else {
            if let Var::Guest(j) = var {
                upper[j] = !upper[j];
            }
            continue;
        };
        match basis[k] {
            Var::Slack(i) => slack_basic[i] = false,
            Var::Guest(j) => {
                basic[j] = false;
                upper[j] = at_upper;
            }
        }
        level[k] = match var {
            Var::Slack(i) => {
                slack_basic[i] = true;
                step
            }
            Var::Guest(j) => {
                basic[j] = true;
                if upper[j] { room.guests[j].most - step } else { step }
            }
        };
        basis[k] = var;
        let pivot = 1.0 / alpha[k];
        (0..m).for_each(|i| inverse[k * m + i] *= pivot);
        for q in (0..m).filter(|&q| q != k) {
            let f = alpha[q];
            if f != 0.0 {
                for i in 0..m {
                    inverse[q * m + i] -= f * inverse[k * m + i];
                }
            }
        }
    }
    let u: Vec<f64> = y.iter().zip(&scale).map(|(y, s)| (y * s).max(0.0)).collect();
    let mut x: Vec<(usize, f64)> = Vec::new();
    for (k, b) in basis.iter().enumerate() {
        if let Var::Guest(j) = *b
            && level[k] > 1e-9
        {
            x.push((j, level[k]));
        }
    }
    x.extend((0..n).filter(|&j| upper[j] && !basic[j]).map(|j| (j, room.guests[j].most)));
    x.sort_unstable_by_key(|e| e.0);
    let worth = bound(columns, room, real, &u);
    Filling { u, x, worth }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    /// The relaxation through HiGHS.
    fn twin(columns: &Columns, room: &Room, value: &[f64]) -> f64 {
        let mut m = crate::highs::Model::new().unwrap();
        let caps = room.capacity.iter().chain(room.groups);
        let rows: Vec<_> = caps.map(|&c| m.add_row(-crate::highs::INFINITY, c, &[]).unwrap()).collect();
        for g in room.guests {
            let mut entries: Vec<_> = columns.of(g.item).iter().enumerate().map(|(d, &r)| (rows[d], r)).collect();
            entries.extend(g.group.map(|k| (rows[columns.dims + k], 1.0)));
            m.add_col(-value[g.item], 0.0, g.most, &entries).unwrap();
        }
        m.run().unwrap();
        -m.objective()
    }

    #[test]
    fn the_worth_is_that_of_the_relaxation() {
        for seed in 0..60 {
            let mut rng = StdRng::seed_from_u64(seed);
            let (dims, n) = (rng.random_range(1..5), rng.random_range(1..40));
            let demand: Vec<f64> = (0..dims * n).map(|_| f64::from(rng.random_range(0..60))).collect();
            let value: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(0..50))).collect();
            let columns = Columns { dims, demand };
            let capacity: Vec<f64> = (0..dims).map(|_| f64::from(rng.random_range(1..200))).collect();
            let groups: Vec<f64> = (0..rng.random_range(0..3)).map(|_| f64::from(rng.random_range(1..3))).collect();
            let guests: Vec<Guest> = (0..n)
                .map(|item| Guest {
                    item,
                    most: f64::from(rng.random_range(1..5)),
                    group: (!groups.is_empty() && rng.random_bool(0.4)).then(|| rng.random_range(0..groups.len())),
                })
                .collect();
            let room = Room { capacity: &capacity, guests: &guests, groups: &groups };
            let got = fill(&columns, &room, &value);
            let want = twin(&columns, &room, &value);
            assert!((got.worth - want).abs() < 1e-5 * want.max(1.0), "seed {seed}: {} for {want}", got.worth);
        }
    }
}
