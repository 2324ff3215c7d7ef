//! What an error of the API server means to the one who asked.

use millwright_core::control::ask::Refusal;

use crate::api::ApiError;

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Evict,
    Other,
}

/// Why the API server did not do it.
pub fn refusal(verb: Verb, error: &ApiError) -> Refusal {
    let message = error.message.clone();
    match (verb, error.code) {
        (_, 404 | 410) => Refusal::NotFound,
        (_, 409) => Refusal::Conflict,
        (Verb::Evict, 429) if is_budget(error) => Refusal::Budget { message },
        (Verb::Evict, 500) if message.contains("more than one PodDisruptionBudget") => Refusal::Budgets { message },
        // Repeating a request that is wrong, or forbidden, changes nothing;
        // the desk asks again all the same, more and more rarely.
        (_, 400 | 403 | 405 | 413 | 415 | 422) => Refusal::Invalid { message },
        _ => Refusal::Unavailable { message: error.to_string() },
    }
}

/// The API server also answers 429 to whoever asks too much.
fn is_budget(error: &ApiError) -> bool {
    error.causes.iter().any(|c| c == "DisruptionBudget") || error.message.contains("disruption budget")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: u16, message: &str, causes: &[&str]) -> ApiError {
        let causes = causes.iter().map(|c| (*c).to_owned()).collect();
        ApiError { what: "POST /x".to_owned(), code, reason: String::new(), message: message.to_owned(), causes }
    }

    #[test]
    fn each_answer_has_its_meaning() {
        let many = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        let text = |m: &str| m.to_owned();
        let cases = [
            (Verb::Other, error(404, "gone", &[]), Refusal::NotFound),
            (Verb::Other, error(410, "expired", &[]), Refusal::NotFound),
            (Verb::Other, error(409, "exists", &[]), Refusal::Conflict),
            (Verb::Other, error(422, "wrong", &[]), Refusal::Invalid { message: text("wrong") }),
            (Verb::Other, error(403, "no", &[]), Refusal::Invalid { message: text("no") }),
            (Verb::Evict, error(429, "held", &["DisruptionBudget"]), Refusal::Budget { message: text("held") }),
            (
                Verb::Evict,
                error(429, "it would violate the pod's disruption budget.", &[]),
                Refusal::Budget { message: text("it would violate the pod's disruption budget.") },
            ),
            (Verb::Evict, error(429, "slow down", &[]), Refusal::Unavailable { message: text("POST /x: slow down") }),
            (
                Verb::Other,
                error(429, "held", &["DisruptionBudget"]),
                Refusal::Unavailable { message: text("POST /x: held") },
            ),
            (Verb::Evict, error(500, many, &[]), Refusal::Budgets { message: text(many) }),
            (Verb::Evict, error(500, "etcd", &[]), Refusal::Unavailable { message: text("POST /x: etcd") }),
            (Verb::Other, error(503, "later", &[]), Refusal::Unavailable { message: text("POST /x: later") }),
            (Verb::Other, error(0, "reset", &[]), Refusal::Unavailable { message: text("POST /x: reset") }),
        ];
        for (verb, error, expected) in cases {
            assert_eq!(refusal(verb, &error), expected, "{verb:?} {}", error.code);
        }
    }
}
