//! Single values, from a flag or a variable.

use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use millwright_core::duration;

use super::{SettingError, signed};

/// Reads variables.
pub struct Source<'a> {
    pub lookup: &'a dyn Fn(&str) -> Option<String>,
}

impl Source<'_> {
    /// A variable that is set to something.
    fn variable(&self, name: &str) -> Option<String> {
        (self.lookup)(name).filter(|text| !text.is_empty())
    }

    pub fn text(&self, flag: Option<&String>, variable: &str) -> Option<String> {
        flag.cloned().filter(|text| !text.is_empty()).or_else(|| self.variable(variable))
    }

    /// A number; none where it cannot be read.
    pub fn parsed<T: FromStr>(&self, variable: &str) -> Option<T> {
        self.variable(variable)?.parse().ok()
    }

    pub fn span(&self, flag: Option<Duration>, variable: &str, default: Duration) -> Duration {
        let read = || span(&self.variable(variable)?).ok();
        flag.or_else(read).unwrap_or(default)
    }

    pub fn signed(&self, flag: Option<Duration>, variable: &str, default: SignedDuration) -> SignedDuration {
        let read = || span(&self.variable(variable)?).ok();
        flag.or_else(read).map_or(default, signed)
    }

    pub fn flag(&self, flag: Option<bool>, variable: &str) -> bool {
        self.flag_or(flag, variable, false)
    }

    /// The environment knows more words for yes and no than a flag.
    pub fn flag_or(&self, flag: Option<bool>, variable: &str, default: bool) -> bool {
        let read = || match self.variable(variable)?.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
            _ => None,
        };
        flag.or_else(read).unwrap_or(default)
    }

    /// A word that must be right wherever it comes from.
    pub fn strict<T>(
        &self,
        flag: Option<&String>,
        variable: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, SettingError> {
        let (name, text) = match flag {
            Some(text) => (format!("the flag for {variable}"), text.clone()),
            None => match self.variable(variable) {
                Some(text) => (variable.to_owned(), text),
                None => return Ok(None),
            },
        };
        read(&text).map(Some).map_err(|problem| SettingError { name, problem })
    }
}

/// A duration as Go writes it, not negative.
pub fn span(text: &str) -> Result<Duration, String> {
    let span = duration::parse(text).ok_or_else(|| format!("{text:?} is no duration like 90s or 1m30s"))?;
    Duration::try_from(span).map_err(|_| format!("{text:?} is negative"))
}

/// `$` per hour, in micro-dollars.
pub fn dollars(text: &str) -> Result<i64, String> {
    let wrong = || format!("{text:?} is no price like 0.05");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return Err(wrong());
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| wrong())? };
    let micros: i64 = format!("{fraction:0<6}")[..6].parse().map_err(|_| wrong())?;
    whole.checked_mul(1_000_000).and_then(|w| w.checked_add(micros)).ok_or_else(wrong)
}
