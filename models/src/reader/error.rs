//! What is wrong with the input, every bad object of every file.

use std::fmt;

/// Where a document stands. Lines and documents count from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub file: u32,
    pub document: u32,
    pub line: u32,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("{place}: {message}")]
    Syntax { place: String, message: String },
    #[error("{place}: {object}: {field}: {message}")]
    Field { place: String, object: String, field: String, message: String },
    #[error("{object} is given twice and differs: {first} and {second}")]
    Conflict { object: String, first: String, second: String },
}

/// Everything that is wrong, in the order of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadErrors(pub Vec<ReadError>);

impl fmt::Display for ReadErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadErrors {}
