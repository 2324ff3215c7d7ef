//! Durations as Go writes them: `1h15m`, `1.5h`, `100ms`.

use jiff::SignedDuration;

/// Reads a duration; a sign, fractions and the units from `ns` to `h` are
/// allowed, a bare number only if it is 0.
pub fn parse(text: &str) -> Option<SignedDuration> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(SignedDuration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        total = total.checked_add(amount(number, nanos(unit)?)?)?;
        rest = after;
    }
    let total = i64::try_from(if negative { -total } else { total }).ok()?;
    Some(SignedDuration::from_nanos(total))
}

fn nanos(unit: &str) -> Option<i128> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// `number × unit`, fractions of a nanosecond cut off.
fn amount(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits =
        |t: &str| -> Option<i128> { if t.is_empty() { Some(0) } else { t.parse::<u64>().ok().map(i128::from) } };
    // More digits than these are below a nanosecond of any unit.
    let fraction = &fraction[..fraction.len().min(15)];
    let scale = 10_i128.pow(fraction.len() as u32);
    Some(digits(whole)?.checked_mul(unit)? + digits(fraction)? * unit / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_reads_them_the_same_way() {
        let seconds = |text| parse(text).map(|d| d.as_secs_f64());
        for (text, want) in [
            ("30m", 1800.0),
            ("1h15m", 4500.0),
            ("1.5h", 5400.0),
            (".5s", 0.5),
            ("1.s", 1.0),
            ("100ms", 0.1),
            ("0", 0.0),
            ("0s", 0.0),
            ("-5m", -300.0),
            ("+5m", 300.0),
            ("2562047h", 2_562_047.0 * 3600.0),
        ] {
            assert_eq!(seconds(text), Some(want), "{text}");
        }
        for bad in ["", "-", "5", "m", "5x", "1h 5m", "1..5h", ".h", "abc", "true", "9999999999h", "1d"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
