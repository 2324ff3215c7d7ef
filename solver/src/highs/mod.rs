//! Linear and integer programs through HiGHS: columns and rows added between
//! solves, warm starts, duals. The one room with foreign calls; no type of
//! HiGHS leaves it.

mod raw;

use raw::Handle;

/// What a solve came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Solved to optimality.
    Optimal,
    /// No point satisfies all rows.
    Infeasible,
    /// The objective has no bound (or the model may be infeasible as well).
    Unbounded,
    /// Stopped by time, iterations, nodes or on request; what is best so far
    /// may be read.
    Stopped,
}

/// Why HiGHS could not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HighsError {
    /// The library gave no object.
    #[error("HiGHS could not be created")]
    Create,
    /// A call was refused.
    #[error("HiGHS refused {0}")]
    Call(&'static str),
    /// The solve ended in a state that says nothing.
    #[error("HiGHS ended with status {0}")]
    Ended(i32),
    /// More columns, rows or entries than its index type holds.
    #[error("the model is too large for HiGHS")]
    TooLarge,
}

/// Column, in the order of addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Col(pub usize);

/// Row, in the order of addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row(pub usize);

/// A minimisation that grows.
pub struct Model {
    handle: Handle,
    cols: usize,
    rows: usize,
    /// What the last run left. HiGHS forgets it at the next change.
    solution: raw::Solution,
    objective: f64,
    mip_bound: f64,
    has_point: bool,
}

impl Model {
    /// An empty minimisation, single-threaded and silent. The thread count is
    /// set here once and for all: HiGHS refuses later changes on one thread.
    pub fn new() -> Result<Self, HighsError> {
        let handle = Handle::new()?;
        handle.set_bool(c"output_flag", false)?;
        handle.set_int(c"threads", 1)?;
        handle.set_string(c"parallel", c"off")?;
        handle.set_int(c"random_seed", 1)?;
        // Takes longer than all the rest of a small program.
        handle.set_bool(c"mip_heuristic_run_feasibility_jump", false)?;
        Ok(Model {
            handle,
            cols: 0,
            rows: 0,
            solution: raw::Solution::default(),
            objective: f64::NAN,
            mip_bound: f64::NEG_INFINITY,
            has_point: false,
        })
    }

    /// Whether to simplify the model before solving. Off is better for a model
    /// that is solved again after small changes.
    pub fn presolve(&mut self, on: bool) -> Result<(), HighsError> {
        self.handle.set_string(c"presolve", if on { c"on" } else { c"off" })
    }

    /// Seconds a run may take.
    pub fn time_limit(&mut self, seconds: f64) -> Result<(), HighsError> {
        // The library counts from its creation unless the clock is reset.
        self.handle.reset_clock()?;
        self.handle.set_double(c"time_limit", seconds.max(0.0))
    }

    /// Simplex iterations a run may take: a limit that no clock decides.
    pub fn iteration_limit(&mut self, iterations: u32) -> Result<(), HighsError> {
        self.handle.set_int(c"simplex_iteration_limit", i32::try_from(iterations).unwrap_or(i32::MAX))
    }

    /// Nodes of the search tree a run may take.
    pub fn node_limit(&mut self, nodes: u32) -> Result<(), HighsError> {
        self.handle.set_int(c"mip_max_nodes", i32::try_from(nodes).unwrap_or(i32::MAX))
    }

    /// Gap at which an integer run ends: relative and absolute.
    pub fn mip_gap(&mut self, relative: f64, absolute: f64) -> Result<(), HighsError> {
        self.handle.set_double(c"mip_rel_gap", relative)?;
        self.handle.set_double(c"mip_abs_gap", absolute)
    }

    /// Adds `lower ≤ x ≤ upper` with its cost and its entries in rows.
    pub fn add_col(&mut self, cost: f64, lower: f64, upper: f64, entries: &[(Row, f64)]) -> Result<Col, HighsError> {
        debug_assert!(entries.iter().all(|e| e.0.0 < self.rows));
        let (index, value) = raw::split(entries.iter().map(|e| (e.0.0, e.1)))?;
        self.handle.add_col(cost, lower, upper, &index, &value)?;
        self.cols += 1;
        Ok(Col(self.cols - 1))
    }

    /// The same, integer.
    pub fn add_int(&mut self, cost: f64, lower: f64, upper: f64, entries: &[(Row, f64)]) -> Result<Col, HighsError> {
        let col = self.add_col(cost, lower, upper, entries)?;
        self.handle.set_integer(raw::index(col.0)?)?;
        Ok(col)
    }

    /// Adds `lower ≤ Σ entries ≤ upper`.
    pub fn add_row(&mut self, lower: f64, upper: f64, entries: &[(Col, f64)]) -> Result<Row, HighsError> {
        debug_assert!(entries.iter().all(|e| e.0.0 < self.cols));
        let (index, value) = raw::split(entries.iter().map(|e| (e.0.0, e.1)))?;
        self.handle.add_row(lower, upper, &index, &value)?;
        self.rows += 1;
        Ok(Row(self.rows - 1))
    }

    /// Changes the cost of a column.
    pub fn set_cost(&mut self, col: Col, cost: f64) -> Result<(), HighsError> {
        self.handle.set_cost(raw::index(col.0)?, cost)
    }

    /// Changes the bounds of a column.
    pub fn set_bounds(&mut self, col: Col, lower: f64, upper: f64) -> Result<(), HighsError> {
        self.handle.set_col_bounds(raw::index(col.0)?, lower, upper)
    }

    /// Changes the bounds of a row.
    pub fn set_row_bounds(&mut self, row: Row, lower: f64, upper: f64) -> Result<(), HighsError> {
        self.handle.set_row_bounds(raw::index(row.0)?, lower, upper)
    }

    /// Hands an integer run a point to start from; columns that are not named
    /// are for HiGHS to complete.
    pub fn start(&mut self, values: &[(Col, f64)]) -> Result<(), HighsError> {
        let (index, value) = raw::split(values.iter().map(|e| (e.0.0, e.1)))?;
        self.handle.sparse_solution(&index, &value)
    }

    /// Solves, from the last basis if there is one.
    pub fn run(&mut self) -> Result<Status, HighsError> {
        let status = self.handle.run()?;
        self.objective = self.handle.info(c"objective_function_value").unwrap_or(f64::NAN);
        self.mip_bound = self.handle.info(c"mip_dual_bound").unwrap_or(f64::NEG_INFINITY);
        self.has_point = self.handle.has_point();
        self.solution = match self.handle.solution(self.cols, self.rows) {
            Err(e) if status == Status::Optimal => return Err(e),
            // A run without a point has nothing to read.
            read => read.unwrap_or_default(),
        };
        Ok(status)
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Objective of the last run.
    pub fn objective(&self) -> f64 {
        self.objective
    }

    /// Proven bound of the last integer run; minus infinity if there is none
    /// yet.
    pub fn mip_bound(&self) -> f64 {
        self.mip_bound
    }

    /// Whether the last run left a point that satisfies the rows.
    pub fn has_point(&self) -> bool {
        self.has_point
    }

    /// Value of a column after the last run, 0 if it was added since.
    pub fn value(&self, col: Col) -> f64 {
        self.solution.col_value.get(col.0).copied().unwrap_or(0.0)
    }

    /// Reduced cost of a column.
    pub fn reduced_cost(&self, col: Col) -> f64 {
        self.solution.col_dual.get(col.0).copied().unwrap_or(0.0)
    }

    /// Dual of a row after the last run.
    pub fn dual(&self, row: Row) -> f64 {
        self.solution.row_dual.get(row.0).copied().unwrap_or(0.0)
    }
}

/// No bound.
pub const INFINITY: f64 = f64::INFINITY;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_join_between_runs_and_lower_the_cost() {
        let mut m = Model::new().unwrap();
        let demand = m.add_row(4.0, INFINITY, &[]).unwrap();
        let dear = m.add_col(3.0, 0.0, INFINITY, &[(demand, 1.0)]).unwrap();
        assert_eq!(m.run(), Ok(Status::Optimal));
        assert!((m.objective() - 12.0).abs() < 1e-6);
        assert!((m.dual(demand) - 3.0).abs() < 1e-6);
        let cheap = m.add_col(1.0, 0.0, 1.0, &[(demand, 2.0)]).unwrap();
        assert_eq!(m.value(cheap), 0.0);
        assert_eq!(m.run(), Ok(Status::Optimal));
        assert!((m.objective() - 7.0).abs() < 1e-6);
        assert!((m.value(dear) - 2.0).abs() < 1e-6);
    }

    #[test]
    fn an_integer_run_has_a_bound_and_takes_a_start() {
        let mut m = Model::new().unwrap();
        let row = m.add_row(7.0, INFINITY, &[]).unwrap();
        let a = m.add_int(3.0, 0.0, 9.0, &[(row, 2.0)]).unwrap();
        let b = m.add_int(5.0, 0.0, 9.0, &[(row, 3.0)]).unwrap();
        m.start(&[(a, 4.0), (b, 0.0)]).unwrap();
        assert_eq!(m.run(), Ok(Status::Optimal));
        assert!((m.objective() - 11.0).abs() < 1e-6);
        assert!((m.mip_bound() - 11.0).abs() < 1e-6);
        assert!(m.has_point());
    }

    #[test]
    fn contradictions_are_found() {
        let mut m = Model::new().unwrap();
        let row = m.add_row(5.0, INFINITY, &[]).unwrap();
        m.add_col(1.0, 0.0, 1.0, &[(row, 1.0)]).unwrap();
        assert_eq!(m.run(), Ok(Status::Infeasible));
    }

    #[test]
    fn two_threads_solve_apart() {
        let solve = || {
            let mut m = Model::new().unwrap();
            let row = m.add_row(1.0, INFINITY, &[]).unwrap();
            m.add_col(2.0, 0.0, INFINITY, &[(row, 1.0)]).unwrap();
            m.run().unwrap();
            m.objective()
        };
        let other = std::thread::spawn(solve);
        assert_eq!(solve(), other.join().unwrap());
    }
}
