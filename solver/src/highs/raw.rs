//! Foreign calls. Every function here keeps the library's own invariants:
//! the handle is live from creation to drop, arrays are as long as the counts
//! passed with them, and strings are NUL-terminated.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::ptr;

use highs_sys as sys;

use super::{HighsError, Status};

/// An owned HiGHS object.
pub(super) struct Handle(*mut c_void);

// SAFETY: a HiGHS object holds no thread-local state of its own; it may move
// to another thread as long as one thread at a time uses it, which `&mut` and
// the lack of `Sync` ensure.
unsafe impl Send for Handle {}

/// Values after a run.
#[derive(Default)]
pub(super) struct Solution {
    pub col_value: Vec<f64>,
    pub col_dual: Vec<f64>,
    row_value: Vec<f64>,
    pub row_dual: Vec<f64>,
}

/// A position as HiGHS counts.
pub(super) fn index(i: usize) -> Result<i32, HighsError> {
    i32::try_from(i).map_err(|_| HighsError::TooLarge)
}

/// Parallel arrays of entries.
pub(super) fn split(entries: impl Iterator<Item = (usize, f64)>) -> Result<(Vec<i32>, Vec<f64>), HighsError> {
    let mut indices = Vec::new();
    let mut values = Vec::new();
    for (i, v) in entries {
        indices.push(index(i)?);
        values.push(v);
    }
    index(indices.len())?;
    Ok((indices, values))
}

fn done(what: &'static str, status: i32) -> Result<(), HighsError> {
    // 1 is a warning.
    if status == 0 || status == 1 { Ok(()) } else { Err(HighsError::Call(what)) }
}

impl Handle {
    pub fn new() -> Result<Self, HighsError> {
        // SAFETY: takes nothing, gives an owned object or null.
        let raw = unsafe { sys::Highs_create() };
        if raw.is_null() { Err(HighsError::Create) } else { Ok(Handle(raw)) }
    }

    pub fn set_bool(&self, name: &CStr, value: bool) -> Result<(), HighsError> {
        // SAFETY: live handle, NUL-terminated name.
        done("an option", unsafe { sys::Highs_setBoolOptionValue(self.0, name.as_ptr(), i32::from(value)) })
    }

    pub fn set_int(&self, name: &CStr, value: i32) -> Result<(), HighsError> {
        // SAFETY: live handle, NUL-terminated name.
        done("an option", unsafe { sys::Highs_setIntOptionValue(self.0, name.as_ptr(), value) })
    }

    pub fn set_double(&self, name: &CStr, value: f64) -> Result<(), HighsError> {
        // SAFETY: live handle, NUL-terminated name.
        done("an option", unsafe { sys::Highs_setDoubleOptionValue(self.0, name.as_ptr(), value) })
    }

    pub fn set_string(&self, name: &CStr, value: &CStr) -> Result<(), HighsError> {
        // SAFETY: live handle, NUL-terminated name and value.
        done("an option", unsafe { sys::Highs_setStringOptionValue(self.0, name.as_ptr(), value.as_ptr()) })
    }

    pub fn reset_clock(&self) -> Result<(), HighsError> {
        // SAFETY: live handle.
        done("the clock", unsafe { sys::Highs_zeroAllClocks(self.0) })
    }

    pub fn add_col(&self, cost: f64, lower: f64, upper: f64, rows: &[i32], values: &[f64]) -> Result<(), HighsError> {
        let n = index(rows.len().min(values.len()))?;
        // SAFETY: live handle; both arrays hold at least `n` entries and are
        // only read.
        let status = unsafe { sys::Highs_addCol(self.0, cost, lower, upper, n, rows.as_ptr(), values.as_ptr()) };
        done("a column", status)
    }

    pub fn add_row(&self, lower: f64, upper: f64, cols: &[i32], values: &[f64]) -> Result<(), HighsError> {
        let n = index(cols.len().min(values.len()))?;
        // SAFETY: live handle; both arrays hold at least `n` entries and are
        // only read.
        done("a row", unsafe { sys::Highs_addRow(self.0, lower, upper, n, cols.as_ptr(), values.as_ptr()) })
    }

    pub fn set_integer(&self, col: i32) -> Result<(), HighsError> {
        // SAFETY: live handle; an unknown column is refused by the library.
        done("integrality", unsafe { sys::Highs_changeColIntegrality(self.0, col, sys::kHighsVarTypeInteger) })
    }

    pub fn set_cost(&self, col: i32, cost: f64) -> Result<(), HighsError> {
        // SAFETY: as above.
        done("a cost", unsafe { sys::Highs_changeColCost(self.0, col, cost) })
    }

    pub fn set_col_bounds(&self, col: i32, lower: f64, upper: f64) -> Result<(), HighsError> {
        // SAFETY: as above.
        done("bounds", unsafe { sys::Highs_changeColBounds(self.0, col, lower, upper) })
    }

    pub fn set_row_bounds(&self, row: i32, lower: f64, upper: f64) -> Result<(), HighsError> {
        // SAFETY: as above, for a row.
        done("bounds", unsafe { sys::Highs_changeRowBounds(self.0, row, lower, upper) })
    }

    pub fn sparse_solution(&self, cols: &[i32], values: &[f64]) -> Result<(), HighsError> {
        let n = index(cols.len().min(values.len()))?;
        // SAFETY: live handle; both arrays hold at least `n` entries and are
        // only read.
        done("a start", unsafe { sys::Highs_setSparseSolution(self.0, n, cols.as_ptr(), values.as_ptr()) })
    }

    pub fn run(&self) -> Result<Status, HighsError> {
        // SAFETY: live handle.
        done("a run", unsafe { sys::Highs_run(self.0) })?;
        // SAFETY: live handle.
        let status = unsafe { sys::Highs_getModelStatus(self.0) };
        match status {
            sys::kHighsModelStatusOptimal | sys::kHighsModelStatusModelEmpty => Ok(Status::Optimal),
            sys::kHighsModelStatusInfeasible => Ok(Status::Infeasible),
            sys::kHighsModelStatusUnbounded | sys::kHighsModelStatusUnboundedOrInfeasible => Ok(Status::Unbounded),
            sys::kHighsModelStatusTimeLimit
            | sys::kHighsModelStatusIterationLimit
            | sys::kHighsModelStatusSolutionLimit
            | sys::kHighsModelStatusInterrupt => Ok(Status::Stopped),
            other => Err(HighsError::Ended(other)),
        }
    }

    pub fn solution(&self, cols: usize, rows: usize) -> Result<Solution, HighsError> {
        let mut s = Solution {
            col_value: vec![0.0; cols],
            col_dual: vec![0.0; cols],
            row_value: vec![0.0; rows],
            row_dual: vec![0.0; rows],
        };
        // SAFETY: live handle; the arrays are as long as the model has columns
        // and rows, which is what the library writes.
        let status = unsafe {
            sys::Highs_getSolution(
                self.0,
                s.col_value.as_mut_ptr(),
                s.col_dual.as_mut_ptr(),
                s.row_value.as_mut_ptr(),
                s.row_dual.as_mut_ptr(),
            )
        };
        done("the solution", status)?;
        Ok(s)
    }

    pub fn info(&self, name: &CStr) -> Option<f64> {
        let mut value = 0.0;
        // SAFETY: live handle, NUL-terminated name, one double to write to.
        let status = unsafe { sys::Highs_getDoubleInfoValue(self.0, name.as_ptr(), ptr::from_mut(&mut value)) };
        (status == 0).then_some(value)
    }

    pub fn has_point(&self) -> bool {
        let mut value = 0;
        // SAFETY: live handle, NUL-terminated name, one integer to write to.
        let status = unsafe {
            sys::Highs_getIntInfoValue(self.0, c"primal_solution_status".as_ptr(), ptr::from_mut(&mut value))
        };
        status == 0 && value == sys::kHighsSolutionStatusFeasible
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: created by `Highs_create`, destroyed once.
        unsafe { sys::Highs_destroy(self.0) };
    }
}
