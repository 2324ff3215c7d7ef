use proptest::prelude::*;

use super::*;

fn nanos(text: &str) -> i128 {
    text.parse::<Quantity>().unwrap().0
}

#[test]
fn every_suffix_has_its_factor() {
    for (text, value) in [
        ("1n", 1),
        ("1u", 1_000),
        ("1m", MILLI),
        ("1", NANO),
        ("1k", NANO * 1_000),
        ("1M", NANO * 1_000_000),
        ("1G", NANO * 1_000_000_000),
        ("1T", NANO * 1_000_000_000_000),
        ("1P", NANO * 1_000_000_000_000_000),
        ("1E", NANO * 1_000_000_000_000_000_000),
        ("1Ki", NANO << 10),
        ("1Mi", NANO << 20),
        ("1Gi", NANO << 30),
        ("1Ti", NANO << 40),
        ("1Pi", NANO << 50),
        ("1Ei", NANO << 60),
        ("1e3", NANO * 1_000),
        ("12E-1", NANO * 12 / 10),
        ("1.5e+2", NANO * 150),
        ("+.5", NANO / 2),
        ("5.", NANO * 5),
        ("-0.1", -NANO / 10),
        ("0.5Ki", NANO * 512),
        ("1.0000000001n", 2),
        ("0.1n", 1),
        ("-0.1n", -1),
        ("0e99999", 0),
        ("0.30000000000000004", 300_000_001),
        ("000000000000000000000000000000000000000000000012", NANO * 12),
        ("1e-99999", 1),
    ] {
        assert_eq!(nanos(text), value, "{text}");
    }
}

#[test]
fn malformed_and_oversized_texts_are_errors() {
    for text in [
        "", "+", "-", ".", "1..2", "1.2.3", "1 Gi", "1gi", "0x10", "1e", "1e+", "1e1.5", "1mi", "NaN", "inf", "1Kii",
        "i", "١",
    ] {
        assert_eq!(text.parse::<Quantity>(), Err(QuantityError::Malformed(text.into())), "{text}");
    }
    for text in ["1e40", "999999999999999999999999999999999999E", "1e999999999", "9999999999999Ei"] {
        assert_eq!(text.parse::<Quantity>(), Err(QuantityError::TooLarge(text.into())), "{text}");
    }
    assert!(amount_up("memory", "8Ei").is_err(), "one past the largest i64");
    assert_eq!(amount_up("memory", "7Ei"), Ok(7 << 60));
    assert!(matches!(amount_up("cpu", "-1"), Err(QuantityError::Negative(_))));
}

#[test]
fn requests_round_up_and_capacities_round_down() {
    assert_eq!(amount_up("cpu", "0.0001"), Ok(1));
    assert_eq!(amount_down("cpu", "0.0019"), Ok(1));
    assert_eq!(amount_up("memory", "100m"), Ok(1));
    assert_eq!(amount_down("memory", "1500m"), Ok(1));
    assert_eq!("-1.5".parse::<Quantity>().unwrap().floor(), Ok(-2));
    assert_eq!("-1.5".parse::<Quantity>().unwrap().ceil(), Ok(-1));
}

#[test]
fn canonical_texts() {
    assert_eq!(format("cpu", 250), "250m");
    assert_eq!(format("cpu", 2000), "2");
    assert_eq!(format("memory", 1536 << 20), "1536Mi");
    assert_eq!(format("memory", 1000), "1000");
    assert_eq!(format("memory", 0), "0");
    assert_eq!(format("pods", 1024), "1024");
    assert_eq!(format("nvidia.com/gpu", 2), "2");
}

proptest! {
    #[test]
    fn amounts_survive_formatting(amount in 0..=i64::MAX, cpu in any::<bool>()) {
        let resource = if cpu { "cpu" } else { "memory" };
        prop_assert_eq!(amount_up(resource, &format(resource, amount)), Ok(amount));
        prop_assert_eq!(amount_down(resource, &format(resource, amount)), Ok(amount));
    }

    #[test]
    fn display_survives_parsing(nanos in -(1_i128 << 100)..(1_i128 << 100)) {
        let quantity = Quantity(nanos);
        prop_assert_eq!(quantity.to_string().parse::<Quantity>(), Ok(quantity));
    }

    /// The decimal point by string shifting agrees with plain arithmetic.
    #[test]
    fn decimals_agree_with_arithmetic(whole in 0..1_000_000_i128, milli in 0..1000_i128, power in -3_i32..4) {
        let text = format!("{whole}.{milli:03}e{power}");
        let thousandths = (whole * 1000 + milli) * MILLI;
        let expected = if power >= 0 {
            thousandths * 10_i128.pow(power.unsigned_abs())
        } else {
            div_ceil(thousandths, 10_i128.pow(power.unsigned_abs()))
        };
        prop_assert_eq!(nanos(&text), expected);
    }

    #[test]
    fn binaries_agree_with_arithmetic(whole in 0..1_000_000_i128, digits in 0..1_000_000_000_000_i128, shift in 1_u32..7) {
        let suffix = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][shift as usize - 1];
        let text = format!("{whole}.{digits:012}{suffix}");
        let expected = (whole * NANO) * (1 << (10 * shift)) + div_ceil(digits * (1 << (10 * shift)), 1000);
        prop_assert_eq!(nanos(&text), expected);
    }

    #[test]
    fn parsing_never_panics(text in ".{0,40}", number in "[-+]?[0-9.]{0,50}(([KMGTPE]i?)|[numk]|[eE][-+]?[0-9]{0,12})?") {
        let _ = text.parse::<Quantity>();
        let _ = number.parse::<Quantity>();
    }
}
