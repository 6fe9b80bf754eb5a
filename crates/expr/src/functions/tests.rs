//! Answers recorded from MySQL, one test a family.

use types::temporal::IntervalUnit;
use types::{SqlModes, TypeKind};

use crate::build::TrimSide;
use crate::test_session::{Nil, Operand, builder, call, dec, evaluate, text, warnings};
use crate::{EvalError, Expr, Func, Warning};

fn op(func: Func, a: impl Operand, b: impl Operand) -> Result<Expr, crate::BindError> {
    builder().operator(func, vec![a.expr(), b.expr()])
}

#[track_caller]
fn check(cases: Vec<(Result<Expr, crate::BindError>, &str)>) {
    for (i, (expr, expected)) in cases.into_iter().enumerate() {
        assert_eq!(text(expr), expected, "case {i}");
    }
}

#[test]
fn operators_compute_in_the_widest_class() {
    check(vec![
        (op(Func::Add, 1, dec("1.5")), "2.5"),
        (op(Func::Add, "1", "2"), "3"),
        (op(Func::Mul, dec("1.10"), dec("2.20")), "2.4200"),
        (op(Func::Div, 7, 2), "3.5000"),
        (op(Func::Div, dec("3.14"), 2), "1.570000"),
        (op(Func::Div, 2, dec("3.00")), "0.6667"),
        (op(Func::Div, 1.0, 3), "0.3333333333333333"),
        (op(Func::IntDiv, -7, 2), "-3"),
        (op(Func::IntDiv, dec("7.5"), 2), "3"),
        (op(Func::Mod, -7, 3), "-1"),
        (op(Func::Mod, dec("5.5"), 2), "1.5"),
        (op(Func::Sub, u64::MAX, 1), "18446744073709551614"),
        (op(Func::Add, builder().hex(&[0x41]), 0), "65"),
        (op(Func::Add, Nil, 1), "NULL"),
        (op(Func::BitAnd, -1, 255), "255"),
        (op(Func::ShiftLeft, 1, 64), "0"),
        (op(Func::BitXor, 6, 3), "5"),
    ]);
}

#[test]
fn results_out_of_range_quote_the_operation() {
    let refused = |expr: Result<Expr, _>| match evaluate(&expr.unwrap()) {
        Err(EvalError::OutOfRange { type_name, operation }) => format!("{type_name} {operation}"),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(op(Func::Add, i64::MAX, 1)), "BIGINT (9223372036854775807 + 1)");
    let unsigned = builder().cast(1.expr(), crate::build::CastTo::Unsigned).unwrap();
    assert_eq!(refused(op(Func::Sub, unsigned, 2)), "BIGINT UNSIGNED (cast(1 as unsigned) - 2)");
    assert_eq!(refused(call!("exp", 1000)), "DOUBLE exp(1000)");
    assert_eq!(refused(op(Func::Sub, i64::MIN, 1)), "BIGINT (-(9223372036854775808) - 1)");
}

#[test]
fn no_unsigned_subtraction_makes_the_difference_signed() {
    let modes = SqlModes::DEFAULT.with(SqlModes::NO_UNSIGNED_SUBTRACTION);
    let lenient = crate::Builder { modes, ..builder() };
    let unsigned = lenient.cast(1.expr(), crate::build::CastTo::Unsigned).unwrap();
    assert_eq!(text(lenient.operator(Func::Sub, vec![unsigned, 2.expr()])), "-1");
}

#[test]
fn division_by_zero_is_null_with_a_warning() {
    for func in [Func::Div, Func::IntDiv, Func::Mod] {
        let (value, warnings) = evaluate(&op(func, 1, 0).unwrap()).unwrap();
        assert_eq!((value.as_str(), warnings), ("NULL", vec![Warning::DivisionByZero]));
    }
}

#[test]
fn bit_operators_see_bytes_in_binary_strings() {
    let bytes = |b: &[u8]| builder().string(b, types::CollationId::BINARY);
    check(vec![
        (op(Func::BitOr, bytes(&[0x41, 0x20]), bytes(&[0x02, 0x41])), "Ca"),
        (op(Func::ShiftLeft, bytes(&[0x04, 0x14]), 4), "A@"),
        (op(Func::ShiftRight, bytes(&[0x41, 0x42]), 8), "\0A"),
    ]);
    let unequal = op(Func::BitAnd, bytes(&[1]), bytes(&[1, 2])).unwrap();
    assert_eq!(evaluate(&unequal), Err(EvalError::BitOperandLengths));
}

#[test]
fn strings_are_cut_by_characters() {
    check(vec![
        (call!("length", "\u{e4}\u{20ac}"), "5"),
        (call!("char_length", "\u{e4}\u{20ac}"), "2"),
        (call!("left", "\u{e4}\u{f6}\u{fc}", 2), "\u{e4}\u{f6}"),
        (call!("right", "hello", 3), "llo"),
        (call!("right", "abc", -1), ""),
        (call!("substring", "hello", -3, 2), "ll"),
        (call!("substring", "hello", 0), ""),
        (call!("mid", "hello", 2, 2), "el"),
        (call!("insert", "Quadratic", 3, 4, "What"), "QuWhattic"),
        (call!("reverse", "abc\u{e4}"), "\u{e4}cba"),
        (call!("upper", "abc\u{e4}"), "ABC\u{c4}"),
        (call!("ord", "\u{20ac}"), "14844588"),
        (call!("lpad", "hi", 5, "?"), "???hi"),
        (call!("rpad", "hi", 5, "?!"), "hi?!?"),
        (call!("lpad", "hi", 1, "?"), "h"),
        (call!("lpad", "hi", -1, "?"), "NULL"),
    ]);
}

#[test]
fn strings_are_put_together() {
    check(vec![
        (call!("concat", "a", "b", 1, dec("2.5")), "ab12.5"),
        (call!("concat", "a", Nil), "NULL"),
        (call!("concat_ws", ",", "a", Nil, "b"), "a,b"),
        (call!("replace", "www.mysql.com", "w", "Ww"), "WwWwWw.mysql.com"),
        (call!("repeat", "ab", 3), "ababab"),
        (call!("substring_index", "www.mysql.com", ".", -2), "mysql.com"),
        (call!("substring_index", "www.mysql.com", ".", 2), "www.mysql"),
        (call!("quote", "Don't!"), "'Don\\'t!'"),
        (call!("quote", Nil), "NULL"),
        (call!("soundex", "Hello"), "H400"),
        (call!("make_set", 5, "a", "b", "c"), "a,c"),
        (call!("export_set", 5, "Y", "N", ",", 4), "Y,N,Y,N"),
        (call!("format", dec("12332.123456"), 4), "12,332.1235"),
        (call!("format", dec("12332.2"), 0), "12,332"),
        (builder().trim(TrimSide::Both, Some("x".expr()), "xxaxx".expr()), "a"),
        (builder().trim(TrimSide::Leading, Some("x".expr()), "xxaxx".expr()), "axx"),
        (builder().trim(TrimSide::Trailing, None, "a  ".expr()), "a"),
    ]);
}

#[test]
fn searches_follow_the_collation() {
    check(vec![
        (call!("instr", "foobarbar", "bar"), "4"),
        (call!("locate", "bar", "foobarbar", 5), "7"),
        (call!("locate", "B", "abc"), "2"),
        (call!("locate", "b", "abc", 0), "0"),
        (call!("find_in_set", "B", "a,b"), "2"),
        (call!("find_in_set", "", "a,,b"), "2"),
        (call!("strcmp", "a", "A"), "0"),
        (call!("strcmp", "b", "a"), "1"),
        (call!("field", "B", "a", "b"), "2"),
        (call!("field", 2, 1, 2), "2"),
        (call!("elt", 3, "a"), "NULL"),
    ]);
}

/// Recorded from MySQL 9.7.4.
#[test]
fn base_64_is_read_as_mysql_reads_it() {
    for (text, expected) in [
        (&b"YR=="[..], "a"),
        (b"YWK=", "ab"),
        (b"YW\x0bJj", "abc"),
        (b"\nYW\tJj\x0c\r ", "abc"),
        (b"YWJjYQ = = ", "abca"),
        (b"", ""),
        (b" ", ""),
        (b"Y", "NULL"),
        (b"YQ", "NULL"),
        (b"YQ=", "NULL"),
        (b"YWJjYQ=  ", "NULL"),
        (b"YWJj=", "NULL"),
        (b"YQ==YQ==", "NULL"),
        (b"YW=j", "NULL"),
        (b"====", "NULL"),
        (b"YW-_", "NULL"),
        (b"YW\0Jj", "NULL"),
    ] {
        let text = std::str::from_utf8(text).unwrap();
        check(vec![(call!("from_base64", text), expected)]);
    }
}

#[test]
fn lines_of_base_64_have_76_characters() {
    let line = "YWFh".repeat(19);
    check(vec![
        (call!("to_base64", ""), ""),
        (call!("to_base64", "a".repeat(57).as_str()), line.as_str()),
        (call!("to_base64", "a".repeat(58).as_str()), format!("{line}\nYQ==").as_str()),
    ]);
}

#[test]
fn notations_and_digests() {
    check(vec![
        (call!("hex", "abc"), "616263"),
        (call!("hex", 255), "FF"),
        (call!("hex", -1), "FFFFFFFFFFFFFFFF"),
        (call!("unhex", "4D7953514C"), "MySQL"),
        (call!("to_base64", "abc"), "YWJj"),
        (call!("from_base64", "YQ=="), "a"),
        (call!("bin", 12), "1100"),
        (call!("conv", "6E", 18, 8), "172"),
        (call!("conv", -17, 10, -18), "-H"),
        (call!("conv", "", 10, 2), "NULL"),
        (call!("md5", ""), "d41d8cd98f00b204e9800998ecf8427e"),
        (call!("md5", "a"), "0cc175b9c0f1b6a831c399e269772661"),
        (call!("md5", "message digest"), "f96b697d7cb7938d525a2f31aaf161d0"),
        (call!("sha1", "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (call!("sha2", "abc", 1), "NULL"),
        (call!("crc32", "MySQL"), "3259397556"),
    ]);
}

#[test]
fn numbers_are_rounded() {
    check(vec![
        (call!("round", dec("-1.5")), "-2"),
        (call!("round", 2.5), "2"),
        (call!("round", dec("23.298"), -1), "20"),
        (call!("round", 25, -1), "30"),
        (call!("truncate", dec("-1.999"), 1), "-1.9"),
        (call!("truncate", 122, -2), "100"),
        (call!("ceil", dec("1.2")), "2"),
        (call!("floor", dec("-1.2")), "-2"),
        (call!("sign", dec("2.5")), "1"),
        (call!("abs", dec("5.5")), "5.5"),
        (call!("pi"), "3.141593"),
        (call!("log", 2, 65536), "16"),
        (call!("pow", 2, -2), "0.25"),
        (call!("bit_count", 29), "4"),
        (call!("greatest", dec("1.5"), 2), "2.0"),
        (call!("least", 1, Nil), "NULL"),
        (call!("interval", 23, 1, 15, 17, 30), "3"),
    ]);
    assert_eq!(warnings(call!("log", -1)), [Warning::LogarithmArgument]);
}

#[test]
fn dates_have_parts() {
    let day = "2024-03-05";
    check(vec![
        (call!("dayofweek", day), "3"),
        (call!("week", day, 3), "10"),
        (call!("yearweek", "2024-01-01"), "202353"),
        (call!("dayname", day), "Tuesday"),
        (call!("last_day", "2024-02-10"), "2024-02-29"),
        (call!("to_days", day), "739315"),
        (call!("to_seconds", day), "63876816000"),
        (call!("month", "2024-00-10"), "0"),
        (call!("hour", "272:59:59"), "272"),
        (call!("date", "2024-02-30"), "NULL"),
        (Ok(builder().extract(IntervalUnit::DayMinute, "2024-03-05 10:11:12".expr())), "51011"),
        (call!("datediff", day, "2024-01-01"), "64"),
        (call!("makedate", 2024, 60), "2024-02-29"),
        (call!("period_add", 202401, 3), "202404"),
        (call!("period_diff", 202405, 202401), "4"),
    ]);
}

#[test]
fn intervals_are_added_to_dates_and_texts() {
    use IntervalUnit::{Day, HourMinute, Month, Second};
    let add = |date: Expr, amount: Expr, unit| Ok(builder().date_add(date, amount, unit, false));
    check(vec![
        (add("2024-01-31".expr(), 1.expr(), Month), "2024-02-29"),
        (add("2024-01-01".expr(), "1:30".expr(), HourMinute), "2024-01-01 01:30:00"),
        (add("2024-01-01 00:00:00".expr(), 90.expr(), Second), "2024-01-01 00:01:30"),
        (add("2024-01-01".expr(), dec("1.5").expr(), Second), "2024-01-01 00:00:01.500000"),
        (add(builder().date_literal(b"2024-01-01").unwrap(), 1.expr(), Day), "2024-01-02"),
        (call!("subdate", "2024-01-01", 1), "2023-12-31"),
        (call!("addtime", "10:00:00", "01:30:00"), "11:30:00"),
        (call!("timediff", "10:00:00", "09:30:00"), "00:30:00"),
        (Ok(builder().timestamp_diff(Month, "2024-01-31".expr(), "2024-03-30".expr())), "1"),
    ]);
    assert_eq!(warnings(add("9999-12-31".expr(), 1.expr(), Day)), [Warning::DateOverflow]);
}

#[test]
fn dates_are_written_and_read_by_formats() {
    let all = "%Y-%m-%d %H:%i:%s.%f %W %M %j %y %c %e %k %l %p %T %r %a %b %D %U %u %%";
    check(vec![
        (
            call!("date_format", "2024-03-05 01:02:03.004", all),
            "2024-03-05 01:02:03.004000 Tuesday March 065 24 3 5 1 1 AM 01:02:03 01:02:03 AM Tue Mar 5th 09 10 %",
        ),
        (call!("time_format", "25:01:02", "%H %k %i"), "25 25 01"),
        (call!("str_to_date", "05,03,2024", "%d,%m,%Y"), "2024-03-05"),
        (call!("str_to_date", "10:11", "%H:%i"), "10:11:00"),
        (call!("str_to_date", "10:11 PM", "%h:%i %p"), "22:11:00"),
        (call!("get_format", "DATE", "ISO"), "%Y-%m-%d"),
    ]);
    assert_eq!(call!("str_to_date", "x", "%H").unwrap().ty.kind, TypeKind::Time);
    let refused = warnings(call!("str_to_date", "x", "%Y"));
    assert!(matches!(&refused[..], [Warning::WrongValueForFunction { function: "str_to_date", .. }]));
}

#[test]
fn the_clock_is_the_statements() {
    check(vec![
        (call!("now"), "2023-11-14 22:13:20"),
        (call!("now", 3), "2023-11-14 22:13:20.123"),
        (call!("utc_date"), "2023-11-14"),
        (call!("curtime"), "22:13:20"),
        (call!("unix_timestamp"), "1700000000"),
        (call!("unix_timestamp", "1970-01-02"), "86400"),
        (call!("from_unixtime", dec("1.5")), "1970-01-01 00:00:01.5"),
        (call!("from_unixtime", 86400, "%Y-%m-%d"), "1970-01-02"),
        (call!("convert_tz", "2024-01-01 12:00:00", "+00:00", "+05:30"), "2024-01-01 17:30:00"),
        (call!("sec_to_time", 3661), "01:01:01"),
        (call!("maketime", 10, 11, dec("12")), "10:11:12"),
    ]);
}

#[test]
fn the_session_answers() {
    check(vec![
        (call!("database"), "db"),
        (call!("user"), "root@localhost"),
        (call!("current_user"), "root@%"),
        (call!("current_role"), "NONE"),
        (call!("last_insert_id"), "42"),
        (call!("row_count"), "-1"),
        (call!("charset", "a"), "utf8mb4"),
        (call!("charset", 1), "binary"),
        (call!("collation", "a"), "utf8mb4_general_ci"),
        (call!("coercibility", "a"), "4"),
        (call!("coercibility", call!("user").unwrap()), "3"),
        (call!("coercibility", 1), "5"),
    ]);
}

#[test]
fn identifiers_have_texts_and_bytes() {
    let uuid = "6ccd780c-baba-1026-9564-5b8c656024db";
    let bytes = || call!("uuid_to_bin", uuid, 1).unwrap();
    check(vec![
        (call!("hex", bytes()), "1026BABA6CCD780C95645B8C656024DB"),
        (call!("bin_to_uuid", bytes(), 1), uuid),
        (call!("is_uuid", "6ccd780cbaba102695645b8c656024db"), "1"),
        (call!("is_uuid", "6ccd780c-baba-1026-9564-5b8c656024d"), "0"),
        (call!("inet_aton", "10.0.5.9"), "167773449"),
        (call!("inet_aton", "127.1"), "2130706433"),
        (call!("inet_aton", "1..2"), "16777218"),
        (call!("inet_aton", "1.2.3.256"), "NULL"),
        (call!("inet_ntoa", 167773449), "10.0.5.9"),
    ]);
    let refused = evaluate(&call!("uuid_to_bin", "x").unwrap());
    assert!(matches!(refused, Err(EvalError::WrongValue { function: "uuid_to_bin", .. })));
}
