//! Micro-dollars per hour as people and programs read them.

/// Hours in the month that prices are quoted for.
const MONTH_HOURS: i64 = 730;

/// Dollars as a JSON number: never more than six decimals.
pub fn dollars(micros: i64) -> f64 {
    micros as f64 / 1e6
}

/// `$1,234.5678`, exact to `decimals` places, halves away from zero.
pub fn text(micros: i64, decimals: u32) -> String {
    grouped(i128::from(micros), decimals)
}

/// What an hourly price makes in a month, to whole dollars or, below a
/// hundred, to cents.
pub fn month(micros: i64) -> String {
    let total = i128::from(micros) * i128::from(MONTH_HOURS);
    grouped(total, if total.abs() < 100_000_000 { 2 } else { 0 })
}

fn grouped(micros: i128, decimals: u32) -> String {
    let unit = 10_i128.pow(6 - decimals.min(6));
    let rounded = (micros.abs() + unit / 2) / unit;
    let one = 10_i128.pow(decimals.min(6));
    let (whole, part) = (rounded / one, rounded % one);
    let sign = if micros < 0 && rounded > 0 { "-" } else { "" };
    let width = decimals as usize;
    let tail = if width == 0 { String::new() } else { format!(".{part:0width$}") };
    format!("{sign}${}{tail}", thousands(whole))
}

/// `1,234,567`.
pub fn thousands(number: i128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_round_to_the_places_shown() {
        assert_eq!(text(96_000, 4), "$0.0960");
        assert_eq!(text(1_234_567_891, 4), "$1,234.5679");
        assert_eq!(text(999_999, 2), "$1.00");
        assert_eq!(text(0, 4), "$0.0000");
        assert_eq!(text(-1_500_000, 2), "-$1.50");
        assert_eq!(text(-1, 2), "$0.00");
        assert_eq!(text(1_234_500_000, 0), "$1,235");
    }

    #[test]
    fn months_have_730_hours() {
        assert_eq!(month(96_000), "$70.08");
        assert_eq!(month(12_345_600), "$9,012");
        assert_eq!(month(1_000_000_000_000_000), "$730,000,000,000");
    }

    #[test]
    fn json_dollars_have_six_places_at_most() {
        for micros in [1, 96_000, 1_234_567_891, 357_000, 99_999_999] {
            let text = serde_json::to_string(&dollars(micros)).unwrap();
            let places = text.split_once('.').map_or(0, |(_, part)| part.len());
            assert!(places <= 6, "{text}");
            assert_eq!((text.parse::<f64>().unwrap() * 1e6).round() as i64, micros);
        }
    }
}
