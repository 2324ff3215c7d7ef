//! Kubernetes quantities as exact numbers.
//!
//! A quantity is a decimal number with a suffix: `n u m k M G T P E`, the
//! binary `Ki Mi Gi Ti Pi Ei`, or a decimal exponent. Kubernetes keeps nine
//! decimals and rounds anything finer away from zero; so does this module, and
//! within that nothing is ever lost.

use std::fmt;
use std::str::FromStr;

use crate::resources::CPU;

/// An exact quantity, counted in billionths of its unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(i128);

/// Why a text is no usable quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    #[error("{0:?} is not a quantity (a number with one of the suffixes n u m k M G T P E Ki Mi Gi Ti Pi Ei or eN)")]
    Malformed(String),
    #[error("quantity {0:?} is too large")]
    TooLarge(String),
    #[error("quantity {0:?} is negative")]
    Negative(String),
}

const NANO: i128 = 1_000_000_000;
const MILLI: i128 = 1_000_000;

impl Quantity {
    pub const ZERO: Self = Self(0);

    /// A whole number of units.
    pub const fn whole(units: i64) -> Self {
        Self(units as i128 * NANO)
    }

    /// A number of thousandths.
    pub const fn milli(thousandths: i64) -> Self {
        Self(thousandths as i128 * MILLI)
    }

    /// Thousandths, rounded up.
    pub fn ceil_milli(self) -> Result<i64, QuantityError> {
        self.narrow(div_ceil(self.0, MILLI))
    }

    /// Thousandths, rounded down.
    pub fn floor_milli(self) -> Result<i64, QuantityError> {
        self.narrow(self.0.div_euclid(MILLI))
    }

    /// Units, rounded up.
    pub fn ceil(self) -> Result<i64, QuantityError> {
        self.narrow(div_ceil(self.0, NANO))
    }

    /// Units, rounded down.
    pub fn floor(self) -> Result<i64, QuantityError> {
        self.narrow(self.0.div_euclid(NANO))
    }

    /// The sum; `None` if it leaves the representable range.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    fn narrow(self, value: i128) -> Result<i64, QuantityError> {
        i64::try_from(value).map_err(|_| QuantityError::TooLarge(self.to_string()))
    }
}

fn div_ceil(a: i128, b: i128) -> i128 {
    a.div_euclid(b) + i128::from(a.rem_euclid(b) != 0)
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let malformed = || QuantityError::Malformed(text.to_owned());
        let too_large = || QuantityError::TooLarge(text.to_owned());
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return Err(malformed());
        }
        let magnitude = match suffix.strip_suffix('i') {
            Some(prefix) => binary(whole, fraction, binary_shift(prefix).ok_or_else(malformed)?),
            None => decimal(whole, fraction, decimal_power(suffix).ok_or_else(malformed)?),
        };
        let magnitude = magnitude.ok_or_else(too_large)?;
        Ok(Self(if negative { -magnitude } else { magnitude }))
    }
}

/// `whole.fraction × 10^power` in nanos: the decimal point moves, and any digit
/// that is left behind it rounds up.
fn decimal(whole: &str, fraction: &str, power: i64) -> Option<i128> {
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let point = i64::try_from(whole.len()).ok()? + power + 9 - zeros;
    let Ok(point) = usize::try_from(point) else { return Some(1) };
    if point > 39 {
        return None;
    }
    let (high, low) = significant.split_at(point.min(significant.len()));
    let padding = point - high.len();
    let high = if high.is_empty() { 0 } else { high.parse::<i128>().ok()? };
    let shifted = high.checked_mul(10_i128.checked_pow(u32::try_from(padding).ok()?)?)?;
    shifted.checked_add(i128::from(low.bytes().any(|b| b != b'0')))
}

/// `whole.fraction × 2^shift` in nanos, rounded up; of the fraction eighteen
/// digits are exact, more can only round up.
fn binary(whole: &str, fraction: &str, shift: u32) -> Option<i128> {
    let number = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<i128>().ok() };
    let factor = 1_i128 << shift;
    let (lead, rest) = fraction.split_at(fraction.len().min(18));
    let product = number(lead)?.checked_mul(factor)?;
    let places = u32::try_from(lead.len()).ok()?;
    let part = match places.checked_sub(9) {
        Some(below) => {
            let unit = 10_i128.pow(below);
            let inexact = product % unit != 0 || rest.bytes().any(|b| b != b'0');
            product / unit + i128::from(inexact)
        }
        None => product.checked_mul(10_i128.pow(9 - places))?,
    };
    number(whole)?.checked_mul(factor)?.checked_mul(NANO)?.checked_add(part)
}

fn binary_shift(prefix: &str) -> Option<u32> {
    ["K", "M", "G", "T", "P", "E"].iter().zip(1..).find(|(p, _)| **p == prefix).map(|(_, i)| i * 10)
}

fn decimal_power(suffix: &str) -> Option<i64> {
    let names = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
    if let Some((_, i)) = names.iter().zip(-3..).find(|(n, _)| **n == suffix) {
        return Some(i * 3);
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    exponent.parse().ok()
}

impl fmt::Display for Quantity {
    /// The plain number with the decimals it needs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let (whole, nanos) = (magnitude / NANO.unsigned_abs(), magnitude % NANO.unsigned_abs());
        let sign = if self.0 < 0 { "-" } else { "" };
        if nanos == 0 {
            return write!(f, "{sign}{whole}");
        }
        write!(f, "{sign}{whole}.{}", format!("{nanos:09}").trim_end_matches('0'))
    }
}

/// What `text` asks of resource `name`: millicores for `cpu`, whole units of
/// anything else, rounded up. Negative amounts are refused.
pub fn amount_up(name: &str, text: &str) -> Result<i64, QuantityError> {
    let quantity = non_negative(text)?;
    if name == CPU { quantity.ceil_milli() } else { quantity.ceil() }
}

/// What `text` offers of resource `name`, as [`amount_up`] but rounded down.
pub fn amount_down(name: &str, text: &str) -> Result<i64, QuantityError> {
    let quantity = non_negative(text)?;
    if name == CPU { quantity.floor_milli() } else { quantity.floor() }
}

fn non_negative(text: &str) -> Result<Quantity, QuantityError> {
    let quantity: Quantity = text.parse()?;
    if quantity.is_negative() { Err(QuantityError::Negative(text.to_owned())) } else { Ok(quantity) }
}

/// The canonical text of an amount: `250m`, `2`, `1536Mi`.
pub fn format(resource: &str, amount: i64) -> String {
    if resource == CPU {
        return if amount % 1000 == 0 { (amount / 1000).to_string() } else { format!("{amount}m") };
    }
    let bytes = resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
    if !bytes || amount == 0 {
        return amount.to_string();
    }
    let steps = (amount.trailing_zeros() / 10).min(6);
    let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][steps as usize];
    format!("{}{suffix}", amount >> (steps * 10))
}

#[cfg(test)]
mod tests;
