//! What went wrong with a request.

/// What the API server refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {message}")]
pub struct ApiError {
    /// Method and path.
    pub what: String,
    /// HTTP; 0 where no answer came.
    pub code: u16,
    /// `AlreadyExists`, `NotFound`, …
    pub reason: String,
    pub message: String,
    /// Reasons of the causes that the server names.
    pub causes: Vec<String>,
}

impl ApiError {
    /// Nobody answered.
    pub fn silent(what: String, message: impl Into<String>) -> Self {
        Self { what, code: 0, reason: String::new(), message: message.into(), causes: Vec::new() }
    }

    /// What the client says of a request.
    pub fn of(what: String, error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self {
                what,
                code: status.code,
                reason: status.reason.clone(),
                message: status.message.clone(),
                causes: status.details.iter().flat_map(|d| d.causes.iter().map(|c| c.reason.clone())).collect(),
            },
            other => Self::silent(what, chain(&other)),
        }
    }

    pub fn is_not_found(&self) -> bool {
        self.code == 404
    }

    pub fn is_conflict(&self) -> bool {
        self.code == 409
    }
}

/// An error with everything beneath it.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut beneath = error.source();
    while let Some(error) = beneath {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        beneath = error.source();
    }
    text
}
