//! Exact decimal arithmetic on prices.

use std::str::FromStr;

/// Micro-dollars in a dollar.
pub const MICROS: i64 = 1_000_000;

/// Fraction digits that can matter; more are refused.
const MAX_SCALE: usize = 18;

/// `digits × 10^-scale`, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: i128,
    scale: u32,
}

/// Why a text is no decimal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    #[error("{0:?} is not a decimal number")]
    Malformed(String),
    #[error("{0:?} has more digits than a price can use")]
    TooLong(String),
}

impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let malformed = || DecimalError::Malformed(text.to_owned());
        let (sign, rest) = match text.as_bytes().first() {
            Some(b'-') => (-1, &text[1..]),
            Some(b'+') => (1, &text[1..]),
            _ => (1, text),
        };
        let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
        let numeric = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !numeric(whole) || !numeric(fraction) {
            return Err(malformed());
        }
        let fraction = fraction.trim_end_matches('0');
        let whole = whole.trim_start_matches('0');
        if fraction.len() > MAX_SCALE || whole.len() > MAX_SCALE {
            return Err(DecimalError::TooLong(text.to_owned()));
        }
        let digits: i128 = format!("0{whole}{fraction}").parse().map_err(|_| malformed())?;
        let scale = u32::try_from(fraction.len()).map_err(|_| malformed())?;
        Ok(Self { digits: sign * digits, scale })
    }
}

impl Decimal {
    /// Dollars as micro-dollars, rounded up; `None` if out of range.
    pub fn micros(self) -> Option<i64> {
        self.plus_micros(0)
    }

    /// `base` micro-dollars plus this many dollars, rounded up.
    pub fn plus_micros(self, base: i64) -> Option<i64> {
        let unit = 10_i128.pow(self.scale);
        let sum = i128::from(base).checked_mul(unit)?.checked_add(self.digits.checked_mul(i128::from(MICROS))?)?;
        i64::try_from(div_ceil(sum, unit)).ok()
    }

    /// `base` micro-dollars changed by this many percent, rounded up.
    pub fn percent_on(self, base: i64) -> Option<i64> {
        let unit = 10_i128.pow(self.scale).checked_mul(100)?;
        let product = i128::from(base).checked_mul(unit.checked_add(self.digits)?)?;
        i64::try_from(div_ceil(product, unit)).ok()
    }

    /// This many percent of `amount`, rounded up.
    pub fn percent_of(self, amount: i64) -> Option<i64> {
        let unit = 10_i128.pow(self.scale).checked_mul(100)?;
        i64::try_from(div_ceil(i128::from(amount).checked_mul(self.digits)?, unit)).ok()
    }

    /// Compares with a whole number.
    pub fn cmp_whole(self, whole: i64) -> std::cmp::Ordering {
        self.digits.cmp(&(i128::from(whole) * 10_i128.pow(self.scale)))
    }
}

/// Division rounded towards positive infinity; `b` is positive.
pub fn div_ceil(a: i128, b: i128) -> i128 {
    a.div_euclid(b) + i128::from(a.rem_euclid(b) != 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn d(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn prices_round_up_to_micros() {
        assert_eq!(d("0.306").micros(), Some(306_000));
        assert_eq!(d("0.0000001").micros(), Some(1));
        assert_eq!(d("0.0416001").micros(), Some(41_601));
        assert_eq!(d("12").micros(), Some(12_000_000));
        assert_eq!(d(".5").micros(), Some(500_000));
        assert_eq!(d("000.10").micros(), Some(100_000));
    }

    #[test]
    fn malformed_decimals_are_refused() {
        for text in ["", ".", "-", "1e3", "NaN", "inf", "0x1", "1.2.3", " 1", "1_0", "--1", "１"] {
            assert!(text.parse::<Decimal>().is_err(), "{text:?}");
        }
        assert!(matches!("0.1234567890123456789".parse::<Decimal>(), Err(DecimalError::TooLong(_))));
        assert_eq!(d("999999999999999999").micros(), None);
    }

    #[test]
    fn percentages_are_exact() {
        assert_eq!(d("-50").percent_on(400_000), Some(200_000));
        assert_eq!(d("33.3").percent_on(1), Some(2));
        assert_eq!(d("-100").percent_on(7), Some(0));
        assert_eq!(d("3.3").percent_of(15_829_303_296), Some(522_367_009));
    }

    proptest! {
        #[test]
        fn any_text_parses_or_is_refused(text in ".{0,40}") {
            if let Ok(decimal) = text.parse::<Decimal>() {
                let _ = (decimal.micros(), decimal.percent_on(i64::MAX), decimal.percent_of(i64::MIN));
            }
        }

        #[test]
        fn micros_of_a_micro_amount_round_trip(amount in 0_i64..1_000_000_000_000) {
            let text = format!("{}.{:06}", amount / MICROS, amount % MICROS);
            prop_assert_eq!(d(&text).micros(), Some(amount));
        }
    }
}
