//! Exit codes and how errors reach the user.

use std::process::ExitCode;

use crate::stdio;

/// A command that ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was answered.
    Done,
    /// The answer is there, but some pods have no place.
    Unscheduled,
    /// The answer is there, and more can be saved than is tolerated.
    Wasteful,
    /// The answer is there, and it is no.
    Refuted,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::SUCCESS,
            Outcome::Refuted => Self::from(1),
            Outcome::Unscheduled | Outcome::Wasteful => Self::from(3),
        }
    }
}

/// Why a command gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{}", .0.join("\n"))]
    Input(Vec<String>),
    #[error("{0}")]
    Usage(String),
    #[error("`millwright {0}` is not available in this version")]
    Unavailable(String),
    /// The reader of standard output went away: nobody is left to tell.
    #[error("standard output was closed")]
    Closed,
    #[error("standard output: {0}")]
    Output(std::io::Error),
}

impl Failure {
    /// One complaint about the input.
    pub fn input(message: impl Into<String>) -> Self {
        Self::Input(vec![message.into()])
    }

    /// Says what went wrong on standard error.
    pub fn report(&self) -> ExitCode {
        match self {
            Self::Input(messages) => {
                for message in messages {
                    stdio::complain(&format!("error: {message}"));
                }
                ExitCode::from(1)
            }
            Self::Usage(message) => {
                stdio::complain(&format!("error: {message}\n\nFor more information, try '--help'."));
                ExitCode::from(2)
            }
            Self::Unavailable(_) | Self::Output(_) => {
                stdio::complain(&format!("error: {self}"));
                ExitCode::from(1)
            }
            Self::Closed => ExitCode::SUCCESS,
        }
    }
}

/// Arguments that clap refused, or a request for help.
pub fn bad_usage(error: &clap::Error) -> ExitCode {
    // A closed stream is no reason to fail on top.
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}
