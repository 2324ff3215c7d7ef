//! Whether something runs at a moment of the trace.

use super::table::Row;

/// Whether the pod of `row` runs at `at`: created by then, deleted after. An
/// empty creation lies before the start, an empty deletion after the end.
pub fn runs_at(row: &Row<'_>, at: Option<i64>) -> Result<bool, String> {
    let moment = |column: &str| match row.text(column) {
        "" => Ok(None),
        _ => row.milli(column).map(Some),
    };
    let (created, deleted) = (moment("create_s")?, moment("delete_s")?);
    let at = at.map(|second| second.saturating_mul(1000));
    Ok(at.is_none_or(|at| created.is_none_or(|from| from <= at) && deleted.is_none_or(|to| at < to)))
}

/// Whether the VMs of `row` run at `at`. Lifetimes are known as bins: the
/// middle is taken. One that was cut off by the end of the trace lasts to it.
pub fn vm_runs_at(row: &Row<'_>, at: i64) -> Result<bool, String> {
    let created = row.number("create_s")?;
    let (low, high) = (row.number("life_lo_s")?, row.maybe("life_hi_s")?);
    if high.is_some_and(|high| high < low) {
        return Err(row.wrong("life_hi_s", "is less than life_lo_s"));
    }
    let cut_off = match row.text("censored") {
        "0" => false,
        "1" => true,
        _ => return Err(row.wrong("censored", "is neither 0 nor 1")),
    };
    let middle = high.map_or(low, |high| low + (high - low) / 2);
    Ok(created <= at && (cut_off || at < created.saturating_add(middle)))
}
