//! Claims that take too long. (spec 40 §5)

use jiff::Timestamp;

use crate::control::conditions::{Conditions, Truth};
use crate::control::keys::{LAUNCHED, REGISTERED};
use crate::control::view::View;

/// How a claim stands.
pub(super) enum Life {
    /// It has until then, or as long as it likes.
    Lives(Option<Timestamp>),
    Over(&'static str),
}

/// Judged by how long a condition has been what it is, not by the claim's age.
pub(super) fn look(conditions: &Conditions, view: &View<'_>) -> Life {
    if conditions.is(REGISTERED, Truth::True) {
        return Life::Lives(None);
    }
    let launch = (LAUNCHED, view.settings.launch_timeout, "launch_timeout");
    let registration = (REGISTERED, view.settings.registration_timeout, "registration_timeout");
    let launch = Some(launch).filter(|_| !conditions.is(LAUNCHED, Truth::True));
    let mut first: Option<Timestamp> = None;
    for (kind, timeout, reason) in launch.into_iter().chain([registration]) {
        let Some(end) = conditions.since(kind).map(|since| since + timeout) else { continue };
        if end <= view.now {
            return Life::Over(reason);
        }
        first = Some(first.map_or(end, |f| f.min(end)));
    }
    Life::Lives(first)
}
