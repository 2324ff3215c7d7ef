//! Writing to streams that may be closed any time.

use std::io::{self, BufWriter, ErrorKind, Write};

use crate::failure::Failure;

/// Hands a buffered standard output to `write`.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Output(error),
    })
}

/// A line on standard error. If that is closed, there is nobody to tell.
pub fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
