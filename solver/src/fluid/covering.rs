/// Optimum of a covering problem with few rows.
#[derive(Clone, Debug)]
pub struct Covering {
    /// Value per row: no column is worth more than its cost.
    pub price: Vec<f64>,
    /// Total cost.
    pub cost: f64,
}

#[derive(Clone, Copy)]
enum Column {
    Artificial,
    Surplus(usize),
    Real(usize),
}

/// `min Σ c_j x_j` so that `Σ a_dj x_j ≥ total_d`, `x ≥ 0`: revised simplex
/// with a dense inverse of one row per dimension. Rows nothing can cover get
/// price 0.
pub fn cover(columns: &[(&[i64], f64)], total: &[f64]) -> Covering {
    let rows: Vec<usize> =
        (0..total.len()).filter(|&d| total[d] > 0.0 && columns.iter().any(|(a, _)| a[d] > 0)).collect();
    let m = rows.len();
    let mut price = vec![0.0; total.len()];
    if m == 0 {
        return Covering { price, cost: 0.0 };
    }
    // Rows scaled so that the demand is 1.
    let a = |j: usize, i: usize| columns[j].0[rows[i]] as f64 / total[rows[i]];
    let big = columns.iter().map(|c| c.1).fold(1.0, f64::max) * 1e3
        / (0..m)
            .map(|i| (0..columns.len()).map(|j| a(j, i)).fold(0.0, f64::max))
            .fold(f64::INFINITY, f64::min)
            .max(1e-12);
    let mut basis = vec![Column::Artificial; m];
    let mut inverse: Vec<f64> = (0..m * m).map(|k| if k / m == k % m { 1.0 } else { 0.0 }).collect();
    let mut x = vec![1.0; m];
    let mut y = vec![0.0; m];
    for round in 0..200 * (m + 1) {
        for (i, yi) in y.iter_mut().enumerate() {
            *yi = (0..m)
                .map(|k| match basis[k] {
                    Column::Artificial => big * inverse[k * m + i],
                    Column::Surplus(_) => 0.0,
                    Column::Real(j) => columns[j].1 * inverse[k * m + i],
                })
                .sum();
        }
        // Dantzig's rule; surplus columns first so that prices stay positive.
        let mut entering: Option<(f64, Column)> = None;
        for (i, &yi) in y.iter().enumerate() {
            if yi < -1e-9 * big && entering.is_none_or(|e| yi < e.0) {
                entering = Some((yi, Column::Surplus(i)));
            }
        }
        if entering.is_none() {
            let mut worst = -1e-9;
            for (j, column) in columns.iter().enumerate() {
                let value: f64 = y.iter().enumerate().map(|(i, yi)| yi * a(j, i)).sum();
                let reduced = (column.1 - value) / (column.1.abs() + 1.0);
                if reduced < worst {
                    (worst, entering) = (reduced, Some((reduced, Column::Real(j))));
                }
            }
        }
        let Some((_, column)) = entering else { break };
        let direction: Vec<f64> = (0..m)
            .map(|k| match column {
                Column::Real(j) => (0..m).map(|i| inverse[k * m + i] * a(j, i)).sum(),
                Column::Surplus(i) => -inverse[k * m + i],
                Column::Artificial => 0.0,
            })
            .collect();
        let mut leaving: Option<(f64, usize)> = None;
        for k in 0..m {
            if direction[k] > 1e-11 {
                // A little perturbation keeps degenerate rounds from cycling.
                let ratio = (x[k] + 1e-12 * (k + round) as f64) / direction[k];
                if leaving.is_none_or(|l| ratio < l.0) {
                    leaving = Some((ratio, k));
                }
            }
        }
        let Some((_, leave)) = leaving else { break };
        let step = x[leave] / direction[leave];
        for k in 0..m {
            if k != leave {
                x[k] = (x[k] - step * direction[k]).max(0.0);
            }
        }
        x[leave] = step.max(0.0);
        let pivot = 1.0 / direction[leave];
        for i in 0..m {
            inverse[leave * m + i] *= pivot;
        }
        for k in (0..m).filter(|&k| k != leave) {
            for i in 0..m {
                inverse[k * m + i] -= direction[k] * inverse[leave * m + i];
            }
        }
        basis[leave] = column;
    }
    for (i, &d) in rows.iter().enumerate() {
        price[d] = y[i].max(0.0) / total[d];
    }
    let cost = (0..total.len()).map(|d| price[d] * total[d]).sum();
    Covering { price, cost }
}
