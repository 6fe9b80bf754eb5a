//! Calendar arithmetic, literals and zones.

use super::*;
use proptest::prelude::*;

fn at(text: &str) -> DateTime {
    DateTime::parse(text.as_bytes(), DateFlags::default()).unwrap().value
}

fn day(text: &str) -> Date {
    at(text).date()
}

fn parse(text: &str) -> Option<String> {
    let parsed = DateTime::parse(text.as_bytes(), DateFlags::default())?;
    Some(format!("{}{}", parsed.value, if parsed.truncated { " +" } else { "" }))
}

#[test]
fn day_numbers_are_those_of_to_days() {
    let known = [
        ("1970-01-01", 719_528),
        ("0000-01-01", 1),
        ("0001-01-01", 366),
        ("9999-12-31", 3_652_424),
        ("2000-02-29", 730_544),
    ];
    for (text, number) in known {
        assert_eq!(day(text).day_number(), number, "{text}");
    }
    assert_eq!(Date::from_day_number(365), Date::ZERO);
    assert_eq!(Date::from_day_number(730_669), day("2000-07-03"));
    assert!((366..=3_652_424).all(|n| Date::from_day_number(n).day_number() == n));
}

#[test]
fn weeks_follow_all_modes() {
    // WEEK(date, 0) ..= WEEK(date, 7) as a server answers.
    let known = [
        ("2000-01-01", [0, 0, 52, 52, 0, 0, 52, 52]),
        ("2008-02-20", [7, 8, 7, 8, 8, 7, 8, 7]),
        ("2024-12-31", [52, 53, 52, 1, 53, 53, 1, 53]),
        ("2023-01-01", [1, 0, 1, 52, 1, 0, 1, 52]),
    ];
    for (text, weeks) in known {
        for (mode, week) in weeks.into_iter().enumerate() {
            assert_eq!(day(text).week(WeekMode::from_number(mode as i64)).1, week, "{text} mode {mode}");
        }
    }
    assert_eq!(day("2000-01-01").week(WeekMode::from_number(2)), (1999, 52));
    assert_eq!(day("2024-12-31").week(WeekMode::from_number(3)), (2025, 1));
    assert_eq!(day("2024-06-01").weekday(), 5);
}

#[test]
fn loose_literals_are_read() {
    let known = [
        ("2024-1-2 3:4:5.6", "2024-01-02 03:04:05.600000"),
        ("20240102030405", "2024-01-02 03:04:05"),
        ("240102", "2024-01-02 00:00:00"),
        ("700101", "1970-01-01 00:00:00"),
        ("01012", "2001-01-02 00:00:00"),
        ("2024-01-02T03:04:05", "2024-01-02 03:04:05"),
        ("2024^01@02 03*04+05", "2024-01-02 03:04:05"),
        ("0000-00-00", "0000-00-00 00:00:00"),
        ("2024-01-02 03:04:05xyz", "2024-01-02 03:04:05 +"),
        ("  2024-01-02 ", "2024-01-02 00:00:00"),
    ];
    for (text, expected) in known {
        assert_eq!(parse(text).as_deref(), Some(expected), "{text}");
    }
    for text in ["", "abc", "2024", "2024-13-01", "2024-02-30", "2024-01-01 24:00:00", "2024-01-02 03:04 05"]
    {
        assert_eq!(parse(text), None, "{text}");
    }
}

#[test]
fn fractions_round_into_the_next_second_and_day() {
    let parsed = DateTime::parse(b"2024-12-31 23:59:59.9999995", DateFlags::default()).unwrap();
    assert_eq!(parsed.to_fsp(6, false), Some(at("2025-01-01")));
    assert_eq!(parsed.to_fsp(6, true), Some(at("2024-12-31 23:59:59.999999")));
    assert_eq!(at("9999-12-31 23:59:59.5").round(0), None);
    assert_eq!(Time::parse(b"10:11:12.55").unwrap().to_fsp(1, false).to_string(), "10:11:12.600000");
}

#[test]
fn numbers_are_literals_too() {
    let read = |n| DateTime::from_number(n, 0, DateFlags::default()).map(|p| p.value.to_string());
    assert_eq!(read(240102).as_deref(), Some("2024-01-02 00:00:00"));
    assert_eq!(read(20240102030405).as_deref(), Some("2024-01-02 03:04:05"));
    assert_eq!(read(101), Some("2000-01-01 00:00:00".into()));
    assert_eq!((read(100), read(691232), read(-1)), (None, None, None));
    assert_eq!(Time::from_number(-101112, 0).unwrap().value.to_string(), "-10:11:12");
    assert!(Time::from_number(8_390_000, 0).unwrap().out_of_range);
    assert_eq!(Time::from_number(6000, 0), None);
}

#[test]
fn flags_decide_about_incomplete_dates() {
    let none = DateFlags::default();
    assert!(
        none.accept(Date::ZERO)
            && none.accept(Date::new(2024, 0, 10))
            && !none.accept(Date::new(2023, 2, 29))
    );
    assert!(!DateFlags { no_zero_date: true, ..none }.accept(Date::ZERO));
    assert!(!DateFlags { no_zero_in_date: true, ..none }.accept(Date::new(2024, 1, 0)));
    assert!(DateFlags { allow_invalid_dates: true, ..none }.accept(Date::new(2023, 2, 31)));
}

#[test]
fn intervals_clip_months_and_keep_the_range() {
    let add =
        |text: &str, n, unit| Interval::from_count(n, unit).unwrap().add_to(at(text)).map(|v| v.to_string());
    use IntervalUnit::*;
    let known = [
        ("2024-01-31", 1, Month, Some("2024-02-29 00:00:00")),
        ("2024-02-29", 1, Year, Some("2025-02-28 00:00:00")),
        ("2024-01-31", -1, Quarter, Some("2023-10-31 00:00:00")),
        ("2024-02-28", 2, Day, Some("2024-03-01 00:00:00")),
        ("2024-01-01", -1, Second, Some("2023-12-31 23:59:59")),
        ("2024-01-01", 1, Microsecond, Some("2024-01-01 00:00:00.000001")),
        ("9999-12-31", 1, Day, None),
        ("9999-12-31 23:59:59", 1, Second, None),
        ("2024-00-00", 1, Day, None),
    ];
    for (text, n, unit, expected) in known {
        assert_eq!(add(text, n, unit).as_deref(), expected, "{text} + {n} {unit:?}");
    }
    assert_eq!(Interval::from_count(i64::MAX, Year), None);
}

#[test]
fn compound_intervals_are_read_from_the_right() {
    use IntervalUnit::*;
    let second = MICROS_PER_SECOND;
    assert_eq!(Interval::parse(b"1:30", MinuteSecond), Some(Interval::Micros(90 * second)));
    assert_eq!(Interval::parse(b"30", MinuteSecond), Some(Interval::Micros(30 * second)));
    assert_eq!(Interval::parse(b"-1 2:3:4", DaySecond), Some(Interval::Micros(-93_784 * second)));
    assert_eq!(Interval::parse(b"2-3", YearMonth), Some(Interval::Months(27)));
    assert_eq!(Interval::parse(b"1.5", SecondMicrosecond), Some(Interval::Micros(1_500_000)));
    assert_eq!(Interval::parse(b"1:2:3", MinuteSecond), None);
}

#[test]
fn months_between_count_whole_months() {
    assert_eq!(at("2024-03-31").months_since(at("2024-02-29")), 1);
    assert_eq!(at("2024-03-28").months_since(at("2024-02-29")), 0);
    assert_eq!(at("2024-02-29").months_since(at("2024-03-31")), -1);
}

#[test]
fn clock_changes_are_handled() {
    let berlin = TimeZone::from_name("Europe/Berlin").expect("the tz database");
    let summer = berlin.to_unix(at("2024-07-01 12:00:00"));
    assert_eq!(summer, LocalTime { seconds: 1_719_828_000, in_gap: false });
    assert_eq!(berlin.to_local(1_719_828_000, 5).to_string(), "2024-07-01 12:00:00.000005");
    // 2:00 to 3:00 on 2024-03-31 does not exist: the moment of the change stands for all of it.
    for text in ["2024-03-31 02:00:00", "2024-03-31 02:30:00", "2024-03-31 02:59:59"] {
        assert_eq!(berlin.to_unix(at(text)), LocalTime { seconds: 1_711_846_800, in_gap: true }, "{text}");
    }
    assert_eq!(
        berlin.to_unix(at("2024-03-31 03:00:00")),
        LocalTime { seconds: 1_711_846_800, in_gap: false }
    );
    // 2:30 on 2024-10-27 comes twice: the first counts.
    assert_eq!(berlin.to_unix(at("2024-10-27 02:30:00")).seconds, 1_729_989_000);
    let fixed = TimeZone::from_name("+05:30").unwrap();
    assert_eq!(fixed.to_local(0, 0).to_string(), "1970-01-01 05:30:00");
    assert_eq!(TimeZone::from_name("+14:01"), None);
    assert_eq!(TimeZone::from_name("-13:59").map(|z| z.name().to_owned()).as_deref(), Some("-13:59"));
    assert_eq!(TimeZone::from_name("no/such"), None);
}

proptest! {
    #[test]
    fn literals_come_back(number in 366i64..=3_652_424, micros in 0i64..86_400_000_000) {
        let moment = DateTime::from_date_and_time(Date::from_day_number(number), Time::from_micros(micros).unwrap()).unwrap();
        prop_assert_eq!(at(&moment.to_string()), moment);
        prop_assert_eq!(DateTime::from_epoch_micros(i128::from(moment.epoch_micros())), Some(moment));
    }

    #[test]
    fn times_come_back(micros in -3_020_399_000_000i64..=3_020_399_000_000) {
        let time = Time::from_micros(micros).unwrap();
        prop_assert_eq!(Time::parse(time.to_string().as_bytes()).unwrap().value, time);
    }

    #[test]
    fn no_text_makes_parsing_panic(text in "[0-9 :.T+-]{0,30}", noise in ".{0,20}") {
        for text in [text, noise] {
            let _ = DateTime::parse(text.as_bytes(), DateFlags::default());
            let _ = Time::parse(text.as_bytes());
            let _ = Interval::parse(text.as_bytes(), IntervalUnit::DayMicrosecond);
        }
    }
}

#[test]
fn numbers_are_dates_whose_missing_parts_are_zero() {
    let date =
        |number| Date::from_number(number, DateFlags::default()).map(|d| (d.year(), d.month(), d.day()));
    assert_eq!(date(0), Some((2000, 0, 0)));
    assert_eq!(date(5), Some((2000, 0, 5)));
    assert_eq!(date(100), Some((2000, 1, 0)));
    assert_eq!(date(700_000), Some((1970, 0, 0)));
    assert_eq!(date(1_000_000), Some((100, 0, 0)));
    assert_eq!(date(100_999_999), Some((2000, 1, 0)));
    assert_eq!(date(20_240_229_101_112), Some((2024, 2, 29)));
    for none in [-1, 32, 1300, 99_999_999, 9_999_999_999_999, 100_000_000_000_000] {
        assert_eq!(date(none), None, "{none}");
    }
}
