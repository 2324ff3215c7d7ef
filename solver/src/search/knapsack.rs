/// What one bin can hold at most, as a linear program:
/// `max Σ value_j x_j`, `Σ need_jd x_j ≤ 1` per row, `0 ≤ x_j ≤ most_j`.
///
/// Bounded primal simplex with a dense inverse of one row per dimension. The
/// buffers live on between solves.
#[derive(Clone, Debug, Default)]
pub struct Knapsack {
    /// Rows.
    pub rows: usize,
    /// Row-scaled demand, `rows` numbers per column.
    pub need: Vec<f64>,
    /// Value per column.
    pub value: Vec<f64>,
    /// Upper bound per column.
    pub most: Vec<f64>,
    /// Solution.
    pub x: Vec<f64>,
    /// Shadow price per row.
    pub u: Vec<f64>,
    /// Value of the solution.
    pub best: f64,
    basis: Vec<usize>,
    level: Vec<f64>,
    inverse: Vec<f64>,
    weight: Vec<f64>,
    inside: Vec<bool>,
}

const SLACK: usize = 1 << 40;

impl Knapsack {
    /// Starts a new problem with `rows` rows.
    pub fn reset(&mut self, rows: usize) {
        self.rows = rows;
        self.need.clear();
        self.value.clear();
        self.most.clear();
    }

    /// Solves what has been filled in.
    pub fn solve(&mut self) {
        let (m, n) = (self.rows, self.value.len());
        self.x.clear();
        self.x.resize(n, 0.0);
        self.inside.clear();
        self.inside.resize(n, false);
        self.basis.clear();
        self.basis.extend((0..m).map(|i| SLACK + i));
        self.level.clear();
        self.level.resize(m, 1.0);
        self.inverse.clear();
        self.inverse.resize(m * m, 0.0);
        (0..m).for_each(|i| self.inverse[i * m + i] = 1.0);
        self.u.clear();
        self.u.resize(m, 0.0);
        self.weight.clear();
        self.weight.extend((0..n).map(|j| {
            let norm: f64 = self.need[j * m..(j + 1) * m].iter().map(|a| a * a).sum();
            1.0 / (norm.sqrt() + 1e-9)
        }));
        let scale = self.value.iter().fold(0.0_f64, |a, &v| a.max(v)).max(1e-12);
        for _ in 0..4 * n + 50 {
            if !self.step(1e-9 * scale) {
                break;
            }
        }
        for i in 0..m {
            if self.basis[i] < SLACK {
                self.x[self.basis[i]] = self.level[i].clamp(0.0, self.most[self.basis[i]]);
            }
        }
        self.best = self.x.iter().zip(&self.value).map(|(x, v)| x * v).sum();
    }

    /// One pivot or bound flip; false at the optimum.
    fn step(&mut self, tolerance: f64) -> bool {
        let (m, n) = (self.rows, self.value.len());
        let u = &self.u;
        let mut enter = None;
        let mut strength = 0.0;
        for (i, &price) in u.iter().enumerate() {
            if price < -tolerance && !self.basis.contains(&(SLACK + i)) && -price > strength {
                (strength, enter) = (-price, Some((SLACK + i, true)));
            }
        }
        for j in 0..n {
            if self.inside[j] || self.most[j] <= 0.0 {
                continue;
            }
            let need = &self.need[j * m..(j + 1) * m];
            let reduced = self.value[j] - need.iter().zip(u).map(|(a, u)| a * u).sum::<f64>();
            let up = self.x[j] == 0.0;
            let gain = if up { reduced } else { -reduced };
            if gain > tolerance && gain * self.weight[j] > strength {
                (strength, enter) = (gain * self.weight[j], Some((j, up)));
            }
        }
        let Some((column, up)) = enter else { return false };
        let mut direction = [0.0_f64; 16];
        for (i, d) in direction.iter_mut().enumerate().take(m) {
            *d = if column >= SLACK {
                self.inverse[i * m + (column - SLACK)]
            } else {
                let need = &self.need[column * m..(column + 1) * m];
                need.iter().zip(&self.inverse[i * m..(i + 1) * m]).map(|(a, b)| a * b).sum()
            };
        }
        let sign = if up { 1.0 } else { -1.0 };
        let mut reach = if column >= SLACK { f64::INFINITY } else { self.most[column] };
        let mut leave = None;
        for (i, &d) in direction.iter().enumerate().take(m) {
            let rate = d * sign;
            let limit = if rate > 1e-11 {
                self.level[i].max(0.0) / rate
            } else if rate < -1e-11 && self.basis[i] < SLACK {
                (self.most[self.basis[i]] - self.level[i]).max(0.0) / -rate
            } else {
                continue;
            };
            if limit < reach {
                (reach, leave) = (limit, Some((i, rate < 0.0)));
            }
        }
        if !reach.is_finite() {
            return false;
        }
        for (level, d) in self.level.iter_mut().zip(&direction) {
            *level -= d * sign * reach;
        }
        let Some((row, at_most)) = leave else {
            self.x[column] = if up { self.most[column] } else { 0.0 };
            return true;
        };
        let out = self.basis[row];
        if out < SLACK {
            self.inside[out] = false;
            self.x[out] = if at_most { self.most[out] } else { 0.0 };
        }
        let start = if column < SLACK { self.x[column] } else { 0.0 };
        self.basis[row] = column;
        self.level[row] = start + sign * reach;
        if column < SLACK {
            self.inside[column] = true;
        }
        let pivot = 1.0 / direction[row];
        for k in 0..m {
            self.inverse[row * m + k] *= pivot;
        }
        for i in (0..m).filter(|&i| i != row) {
            let factor = direction[i];
            if factor != 0.0 {
                for k in 0..m {
                    self.inverse[i * m + k] -= factor * self.inverse[row * m + k];
                }
            }
        }
        for k in 0..m {
            let cost = |b: usize| if b < SLACK { self.value[b] } else { 0.0 };
            self.u[k] = (0..m).map(|i| cost(self.basis[i]) * self.inverse[i * m + k]).sum();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    /// Weak duality closes the gap: any multipliers bound the value, and the
    /// solver's own must meet it.
    #[test]
    fn value_meets_its_dual_bound() {
        let mut rng = StdRng::seed_from_u64(5);
        let mut k = Knapsack::default();
        for _ in 0..2000 {
            let rows = rng.random_range(1..6);
            k.reset(rows);
            for _ in 0..rng.random_range(1..40) {
                for _ in 0..rows {
                    let zero = rng.random_bool(0.2);
                    k.need.push(if zero { 0.0 } else { rng.random_range(0.001..0.7) });
                }
                k.value.push(rng.random_range(0.0..3.0));
                k.most.push(f64::from(rng.random_range(0..6_u32)));
            }
            k.solve();
            for d in 0..rows {
                let used: f64 = k.x.iter().enumerate().map(|(j, x)| x * k.need[j * rows + d]).sum();
                assert!(used <= 1.0 + 1e-7, "row {d} overfull: {used}");
                assert!(k.u[d] >= -1e-7);
            }
            let dual: f64 = k.u.iter().sum::<f64>()
                + (0..k.value.len())
                    .map(|j| {
                        let need = &k.need[j * rows..(j + 1) * rows];
                        let reduced = k.value[j] - need.iter().zip(&k.u).map(|(a, u)| a * u).sum::<f64>();
                        k.most[j] * reduced.max(0.0)
                    })
                    .sum::<f64>();
            assert!((dual - k.best).abs() <= 1e-6 * (1.0 + dual), "dual {dual} primal {}", k.best);
        }
    }
}
