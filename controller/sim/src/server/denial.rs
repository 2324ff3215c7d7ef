//! What the API server answers when it does not do a thing.

use millwright_core::control::ask::Refusal;

/// A refusal, by its status code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// 404
    #[error("not found")]
    NotFound,
    /// 409: another version, another uid, the name is taken, the pod is bound.
    #[error("conflict: {0}")]
    Conflict(String),
    /// 422
    #[error("invalid: {0}")]
    Invalid(String),
    /// 429
    #[error("{0}")]
    TooManyRequests(String),
    /// 500
    #[error("{0}")]
    Internal(String),
}

impl From<Denial> for Refusal {
    fn from(denial: Denial) -> Self {
        match denial {
            Denial::NotFound => Self::NotFound,
            Denial::Conflict(_) => Self::Conflict,
            Denial::Invalid(message) => Self::Invalid { message },
            Denial::TooManyRequests(message) => Self::Budget { message },
            Denial::Internal(message) => Self::Budgets { message },
        }
    }
}
