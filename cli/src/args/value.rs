//! Values of flags.

use std::time::Duration;

use jiff::Timestamp;

/// `500ms`, `2s`, `1.5m`, `1h`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "" => return Err("a unit is missing: ms, s, m or h".to_owned()),
        unit => return Err(format!("unknown unit {unit:?}: ms, s, m or h")),
    };
    if !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Err(format!("{digits:?} is no number"));
    }
    let amount: f64 = digits.parse().map_err(|_| format!("{digits:?} is no number"))?;
    let span = Duration::try_from_secs_f64(amount * scale).map_err(|e| e.to_string())?;
    if span.is_zero() { Err("must be longer than nothing".to_owned()) } else { Ok(span) }
}

/// Dollars as micro-dollars, rounded up as prices are.
pub fn dollars(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix('$').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Err(format!("{text:?} is no amount of dollars like 0.002"));
    }
    let amount: f64 = digits.parse().map_err(|_| format!("{text:?} is no amount of dollars like 0.002"))?;
    if amount >= 1e9 {
        return Err(format!("{text:?} is beyond any price"));
    }
    // The nearest millionth where one is meant, else the next above.
    let micros = amount * 1e6;
    let near = micros.round();
    Ok(if (micros - near).abs() < 1e-3 { near as i64 } else { micros.ceil() as i64 })
}

/// RFC 3339.
pub fn timestamp(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|e| format!("not an RFC 3339 time such as 2026-11-30T12:00:00Z: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_keep_six_places() {
        for (text, micros) in
            [("0", 0), ("0.002", 2000), ("$1.5", 1_500_000), ("0.0000001", 1), (".5", 500_000), ("0.1", 100_000)]
        {
            assert_eq!(dollars(text), Ok(micros), "{text}");
        }
        for bad in ["", "$", "-1", "1e3", "x", "1..2", "1,5", "9999999999"] {
            assert!(dollars(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn durations_need_a_number_and_a_unit() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        for bad in ["", "2", "s", "2d", "-1s", "1e3s", "0s", "nans", "infs", "1..5s", "9999999999999999999999h"] {
            assert!(duration(bad).is_err(), "{bad:?} was accepted");
        }
    }
}
