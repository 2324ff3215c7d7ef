//! `millwright import-trace`.

use crate::args::TraceArgs;
use crate::failure::{Failure, Outcome};
use crate::{stdio, trace};

pub fn run(args: &TraceArgs) -> Result<Outcome, Failure> {
    let trace = trace::read(args)?;
    stdio::complain(&trace.summary());
    for note in &trace.notes {
        stdio::complain(note);
    }
    stdio::print(|out| trace.write(out))?;
    Ok(Outcome::Done)
}
