//! Functions over texts of several pieces: they answer as over short texts, and check the kill flag between
//! the pieces.

use std::cell::Cell;

use aws_lc_rs::digest;
use bumpalo::Bump;
use md5::{Digest, Md5};
use types::{CollationId, OwnedValue, SqlModes, TimeZone};

use super::pieces::PIECE_BYTES;
use crate::test_session::{TestSession, builder, call, text};
use crate::{EvalCtx, EvalError, Expr, SessionInfo, Warning};

/// Characters of one to four bytes, so that pieces end inside characters.
const UNIT: &str = "aé€😀 ";

/// A text of more than `pieces` pieces.
fn long(pieces: usize) -> String {
    UNIT.repeat(PIECE_BYTES * pieces / UNIT.len() + 3)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Fails with both only if they differ, and then shows little of them.
#[track_caller]
fn check(name: &str, expr: Result<Expr, crate::BindError>, expected: &str) {
    let value = text(expr);
    let same = value.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count();
    assert!(
        value == expected,
        "{name}: {} bytes, not {}, which differ from byte {same} on",
        value.len(),
        expected.len()
    );
}

#[test]
fn long_texts_are_worked_on_as_short_ones() {
    let long = long(2);
    let (text, units) = (long.as_str(), long.len() / UNIT.len());
    let reversed: String = text.chars().rev().collect();
    let chars = units * 5;
    check("reverse", call!("reverse", text), &reversed);
    check("upper", call!("upper", text), &"AÉ€😀 ".repeat(units));
    check("lower", call!("lower", call!("upper", text).unwrap()), text);
    check("char_length", call!("char_length", text), &chars.to_string());
    check("left", call!("left", text, (chars - 1) as u64), &text[..text.len() - 1]);
    check("right", call!("right", text, 7), "😀 aé€😀 ");
    check("substring", call!("substring", text, (chars - 2) as u64, 2), "€😀");
    check(
        "insert",
        call!("insert", text, (chars - 3) as u64, 100, "!"),
        &format!("{}!", &text[..text.len() - 10]),
    );
    check("replace", call!("replace", text, "€", "ab"), &"aéab😀 ".repeat(units));
    check("replace nothing", call!("replace", text, "€€", "ab"), text);
    check("concat", call!("concat", text, "-", text), &format!("{text}-{text}"));
    check("concat_ws", call!("concat_ws", "-", text, text), &format!("{text}-{text}"));
    check("quote", call!("quote", text), &format!("'{text}'"));
    check(
        "substring_index",
        call!("substring_index", text, " ", (units - 1) as u64),
        &text[..text.len() - UNIT.len() - 1],
    );
    check("substring_index", call!("substring_index", text, "a", -1), &UNIT[1..]);
    check("trim", call!("trim", &*format!("{0}x{0}", " ".repeat(PIECE_BYTES + 1))), "x");
    check("lpad", call!("lpad", "x", (chars + 1) as u64, UNIT), &format!("{text}x"));
    check("rpad", call!("rpad", text, (chars + 3) as u64, "é€"), &format!("{text}é€é"));
    check("repeat", call!("repeat", UNIT, units as u64), text);
    check("repeat", call!("repeat", text, 2), &text.repeat(2));
    check("space", call!("space", text.len() as u64), &" ".repeat(text.len()));
    check("hex", call!("hex", text), &hex(text.as_bytes()).to_uppercase());
    check("unhex", call!("unhex", &*hex(text.as_bytes())), text);
    check("unhex", call!("unhex", &*format!("a{}", hex(text.as_bytes()))), &format!("\n{text}"));
    check("base64", call!("from_base64", call!("to_base64", text).unwrap()), text);
    check("from_base64", call!("from_base64", &*format!("YQ=={}", "YWJj".repeat(PIECE_BYTES))), "NULL");
    check("md5", call!("md5", text), &hex(&Md5::digest(text)));
    check("sha2", call!("sha2", text, 512), &hex(digest::digest(&digest::SHA512, text.as_bytes()).as_ref()));
    check("crc32", call!("crc32", text), &crc32fast::hash(text.as_bytes()).to_string());
    check("soundex", call!("soundex", &*"ab".repeat(PIECE_BYTES)), "A100");
    check(
        "date_format",
        call!("date_format", "2024-02-03", &*"%d!".repeat(PIECE_BYTES)),
        &"03!".repeat(PIECE_BYTES),
    );
}

#[test]
fn places_in_long_texts_are_found_under_each_kind_of_collation() {
    let set = |collation: CollationId, text: &str| {
        builder().collate(builder().string(text.as_bytes(), collation), collation.collation().unwrap().name)
    };
    for collation in [
        CollationId::UTF8MB4_0900_AI_CI,
        CollationId::UTF8MB4_GENERAL_CI,
        CollationId::UTF8MB4_BIN,
        CollationId::UTF8MB4_0900_BIN,
    ] {
        let ascii = format!("{}abX{}", "ab".repeat(PIECE_BYTES), "ab".repeat(5));
        let place = (2 * PIECE_BYTES + 2).to_string();
        let locate = |wanted: &str, text: &str| {
            call!("locate", set(collation, wanted).unwrap(), set(collation, text).unwrap())
        };
        check("ASCII", locate("bX", &ascii), &place);
        let exact = matches!(collation, CollationId::UTF8MB4_BIN | CollationId::UTF8MB4_0900_BIN);
        check("case", locate("Bx", &ascii), if exact { "0" } else { &place });
        check("nowhere", locate("xx", &ascii), "0");
        let mixed = format!("é{}", &ascii[2 * PIECE_BYTES - 10_000..]);
        check("mixed", locate("bX", &mixed), "10003");
        check("itself", locate(&ascii, &ascii), "1");
    }
    // A control character has no weight under this collation: it is part of what is found.
    let text = format!("{}a\u{1}b", "x".repeat(10_000));
    let set = |text: &str| set(CollationId::UTF8MB4_0900_AI_CI, text).unwrap();
    check("ignorable", call!("locate", set("xa"), set(&text)), "10000");
    check("ignorable", call!("locate", set("b"), set(&text)), "10002");
}

/// A session that is killed at some look.
struct Killed {
    session: TestSession,
    looks: Cell<usize>,
    at: usize,
}

impl Killed {
    fn at(look: usize) -> Self {
        Killed { session: TestSession::default(), looks: Cell::new(0), at: look }
    }
}

/// What the session of other tests answers.
macro_rules! as_in_other_tests {
    ($(fn $name:ident(&self $(, $arg:ident: $ty:ty)*) -> $answer:ty;)*) => {
        $(fn $name(&self $(, $arg: $ty)*) -> $answer { self.session.$name($($arg),*) })*
    };
}

impl SessionInfo for Killed {
    as_in_other_tests! {
        fn statement_time_micros(&self) -> i64;
        fn clock_micros(&self) -> i64;
        fn time_zone(&self) -> &TimeZone;
        fn modes(&self) -> SqlModes;
        fn connection_id(&self) -> u64;
        fn user(&self) -> &str;
        fn current_user(&self) -> &str;
        fn current_role(&self) -> &str;
        fn database(&self) -> Option<&str>;
        fn last_insert_id(&self) -> u64;
        fn set_last_insert_id(&self, id: u64) -> ();
        fn row_count(&self) -> i64;
        fn found_rows(&self) -> u64;
        fn user_variable(&self, name: &str) -> OwnedValue;
        fn set_user_variable(&self, name: &str, value: OwnedValue) -> Result<(), EvalError>;
        fn system_variable(&self, global: Option<bool>, name: &str) -> Option<OwnedValue>;
        fn group_concat_max_len(&self) -> u64;
        fn div_precision_increment(&self) -> u8;
        fn max_allowed_packet(&self) -> u64;
        fn version(&self) -> &str;
        fn connection_collation(&self) -> CollationId;
        fn warn(&self, warning: Warning) -> ();
        fn warning_count(&self) -> u64;
        fn repeat_warnings(&self, count: u64) -> ();
    }

    fn killed(&self) -> bool {
        self.looks.set(self.looks.get() + 1);
        self.looks.get() >= self.at
    }
}

/// A function over a text.
type OverText = fn(&str) -> Result<Expr, crate::BindError>;

#[test]
fn functions_look_at_the_kill_flag_at_each_piece() {
    let functions: [(&str, OverText); 34] = [
        ("reverse", |t| call!("reverse", t)),
        ("upper", |t| call!("upper", t)),
        ("lower", |t| call!("lower", t)),
        ("char_length", |t| call!("char_length", t)),
        ("left", |t| call!("left", t, (t.len() / 2) as u64)),
        ("right", |t| call!("right", t, 1)),
        ("substring", |t| call!("substring", t, 2)),
        ("insert", |t| call!("insert", t, 2, 1, "x")),
        ("replace", |t| call!("replace", t, "€€", "b")),
        ("replace all", |t| call!("replace", t, "€", "b")),
        ("concat", |t| call!("concat", t, "x")),
        ("concat_ws", |t| call!("concat_ws", ",", t, "x")),
        ("make_set", |t| call!("make_set", 3, t, "x")),
        ("export_set", |t| call!("export_set", 1, t, "", "", 2)),
        ("quote", |t| call!("quote", t)),
        ("substring_index", |t| call!("substring_index", t, "€€", 1)),
        ("substring_index from the back", |t| call!("substring_index", t, "€€", -1)),
        ("trim", |t| call!("trim", &*" ".repeat(t.len()))),
        ("rpad", |t| call!("rpad", t, t.len() as u64, "x")),
        ("repeat", |t| call!("repeat", "ab", (t.len() / 2) as u64)),
        ("space", |t| call!("space", t.len() as u64)),
        ("hex", |t| call!("hex", t)),
        ("unhex", |t| call!("unhex", &*"6a".repeat(t.len() / 2))),
        ("to_base64", |t| call!("to_base64", t)),
        ("from_base64", |t| call!("from_base64", &*"YWJj".repeat(t.len() / 4))),
        ("md5", |t| call!("md5", t)),
        ("sha1", |t| call!("sha1", t)),
        ("sha2", |t| call!("sha2", t, 256)),
        ("crc32", |t| call!("crc32", t)),
        ("soundex", |t| call!("soundex", t)),
        ("locate", |t| call!("locate", "€€", t)),
        ("locate in ASCII", |t| call!("locate", "aab", &*"a".repeat(t.len()))),
        ("find_in_set", |t| call!("find_in_set", "x", &*"a,".repeat(t.len() / 2))),
        ("date_format", |t| call!("date_format", "2024-02-03", &*"%d".repeat(t.len() / 2))),
    ];
    let looks_at = |function: OverText, text: &str, killed_at: usize| {
        let (arena, session) = (Bump::new(), Killed::at(killed_at));
        let expr = function(text).unwrap();
        let result = expr.eval(&(), &EvalCtx::new(&arena, &[], &session)).map(|_| ());
        (session.looks.get(), result)
    };
    let (short, long) = (long(1), long(3));
    for (name, function) in functions {
        let (few, result) = looks_at(function, &short, usize::MAX);
        assert!(result.is_ok(), "{name}: {result:?}");
        let (more, _) = looks_at(function, &long, usize::MAX);
        assert!(more >= few + 2, "{name} looks {few} times, and {more} times over two more pieces");
        let (looks, result) = looks_at(function, &long, more);
        assert_eq!((looks, result), (more, Err(EvalError::Killed)), "{name}");
    }
}
