//! DECIMAL against a big-number library and against answers of a real server.

use super::*;
use bigdecimal::{BigDecimal, RoundingMode};
use proptest::prelude::*;

fn dec(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn big(value: Decimal) -> BigDecimal {
    value.to_string().parse().unwrap()
}

fn number() -> impl Strategy<Value = Decimal> {
    prop_oneof![
        "-?[0-9]{1,9}(\\.[0-9]{1,6})?".prop_map(|t| dec(&t)),
        "-?[0-9]{1,35}(\\.[0-9]{1,30})?".prop_map(|t| dec(&t)),
        "-?(0|1|9|5){1,20}(\\.(0|9|5){1,10})?".prop_map(|t| dec(&t)),
    ]
}

#[test]
fn text_comes_back_with_its_scale() {
    for text in ["0", "1.50", "-0.001", "123456789012345678901234567890.123456789012345678901234567890"] {
        assert_eq!(dec(text).to_string(), text);
    }
    let forms = [
        ("  +12.5 ", "12.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-0.00", "0.00"),
        ("1e3", "1000"),
        ("1.25e1", "12.5"),
        ("1e-3", "0.001"),
        ("-12e-1", "-1.2"),
    ];
    for (text, expected) in forms {
        assert_eq!(dec(text).to_string(), expected, "{text}");
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let long = Decimal::parse_prefix(&[b'9'; 66]);
    assert!(long.overflow);
    assert_eq!(long.value, Decimal::max_value(65, 0));
    let deep = Decimal::parse_prefix(b"1e-31");
    assert!(deep.truncated && deep.value.is_zero());
    assert_eq!(Decimal::parse_prefix(b"12abc").consumed, 2);
    assert_eq!(Decimal::parse_prefix(b"abc").consumed, 0);
    assert!(Decimal::parse_prefix(b"1e400").overflow);
    assert_eq!(Decimal::parse_prefix(b"1e+").consumed, 1);
}

#[test]
fn scales_follow_the_server() {
    let quotient =
        |a: &str, b: &str| dec(a).checked_div(dec(b), DIV_PRECISION_INCREMENT).unwrap().unwrap().to_string();
    assert_eq!(quotient("1", "3"), "0.3333");
    assert_eq!(quotient("2", "3"), "0.6667");
    assert_eq!(quotient("10.0000", "3"), "3.33333333");
    assert_eq!(quotient("0.000000000000000000000000000005", "1"), "0.000000000000000000000000000005");
    assert_eq!(dec("0.3333").checked_mul(dec("3")).unwrap().to_string(), "0.9999");
    assert_eq!(dec("1.5").checked_rem(dec("0.4")).unwrap().unwrap().to_string(), "0.3");
    assert_eq!(dec("-7.5").checked_rem(dec("2")).unwrap().unwrap().to_string(), "-1.5");
    assert_eq!(dec("-0.4").checked_div_int(dec("1")).unwrap().unwrap().to_string(), "0");
    assert_eq!(dec("1").checked_div(dec("0.0"), 4), Ok(None));
    let nines = Decimal::max_value(65, 0);
    assert_eq!(nines.checked_mul(nines), None);
}

#[test]
fn rounding_is_half_away_from_zero() {
    let cases = [
        ("2.5", 0, "3"),
        ("-2.5", 0, "-3"),
        ("125", -1, "130"),
        ("1.298", 1, "1.3"),
        ("149", -2, "100"),
        ("-0.4", 0, "0"),
    ];
    for (text, digits, expected) in cases {
        assert_eq!(dec(text).round(digits).to_string(), expected);
    }
    assert_eq!(dec("-1.999").truncate(1).to_string(), "-1.9");
    assert_eq!((dec("-1.5").floor().to_string(), dec("-1.5").ceil().to_string()), ("-2".into(), "-1".into()));
    assert_eq!(dec("99").round(-100).to_string(), "0");
}

#[test]
fn integers_and_doubles_convert() {
    assert_eq!(dec("9223372036854775807.4").to_i64(), Ok(i64::MAX));
    assert_eq!(dec("9223372036854775807.5").to_i64(), Err(i64::MAX));
    assert_eq!(dec("-9223372036854775808").to_i64(), Ok(i64::MIN));
    assert_eq!(dec("-0.6").to_u64(), Err(0));
    assert_eq!(dec("18446744073709551615").to_u64(), Ok(u64::MAX));
    assert_eq!(Decimal::from_f64(0.1).unwrap().to_string(), "0.1");
    assert_eq!(Decimal::from_f64(1e20).unwrap().to_string(), "100000000000000000000");
    assert_eq!(Decimal::from_f64(f64::NAN), None);
    assert_eq!(Decimal::from_f64(1e66), None);
}

#[test]
fn equal_numbers_hash_alike() {
    let hash = |value: Decimal| {
        use std::hash::BuildHasher;
        std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default().hash_one(value)
    };
    assert_eq!(dec("1.0"), dec("1.000"));
    assert_eq!(hash(dec("1.0")), hash(dec("1.000")));
    assert_eq!(hash(dec("-0.0")), hash(dec("0")));
}

proptest! {
    #[test]
    fn sums_and_products_are_exact(a in number(), b in number()) {
        prop_assert_eq!(big(a.checked_add(b).unwrap()), big(a) + big(b));
        prop_assert_eq!(big(a.checked_sub(b).unwrap()), big(a) - big(b));
        let product = big(a) * big(b);
        if let Some(ours) = a.checked_mul(b) {
            let expected = product.with_scale_round(i64::from(ours.scale()), RoundingMode::HalfUp);
            prop_assert_eq!(big(ours), expected);
        } else {
            prop_assert!(product.digits() > 60);
        }
    }

    #[test]
    fn quotients_are_rounded_once(a in number(), b in number()) {
        prop_assume!(!b.is_zero());
        if let Ok(Some(ours)) = a.checked_div(b, 4) {
            let scale = i64::from(ours.scale());
            let unit: BigDecimal = BigDecimal::new(1.into(), scale);
            let error = (big(ours) * big(b) - big(a)).abs();
            prop_assert!(error * 2 <= unit * big(b).abs(), "{} / {} = {}", a, b, ours);
        }
        if let Ok(Some(rest)) = a.checked_rem(b) {
            prop_assert_eq!(big(rest), big(a) % big(b));
        }
    }

    #[test]
    fn comparison_agrees(a in number(), b in number()) {
        prop_assert_eq!(a.cmp(&b), big(a).cmp(&big(b)));
        prop_assert_eq!(a == b.normalize(), big(a) == big(b));
    }

    #[test]
    fn rounding_agrees(a in number(), digits in -12i32..32) {
        prop_assert_eq!(big(a.round(digits)), big(a).with_scale_round(i64::from(digits.min(i32::from(a.scale()))), RoundingMode::HalfUp));
        prop_assert_eq!(big(a.truncate(digits)), big(a).with_scale_round(i64::from(digits.min(i32::from(a.scale()))), RoundingMode::Down));
        prop_assert_eq!(a.to_string().parse::<Decimal>().unwrap().to_string(), a.to_string());
    }

    #[test]
    fn doubles_are_the_nearest(a in number()) {
        prop_assert_eq!(a.to_f64(), a.to_string().parse::<f64>().unwrap());
    }
}
