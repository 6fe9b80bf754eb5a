//! Conditions of every form over indexes of every form: what is found by ranges of an index is what a scan finds, in plain
//! and in locking reads.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use base::prng::Prng;
use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

/// Conditions that are tried; `RATCHET_INDEX_RANGES` asks for another number.
const CONDITIONS: u64 = if cfg!(debug_assertions) { 2000 } else { 8000 };

/// The columns but the last, the row's number.
const COLUMNS: [(&str, &str, Kind); 10] = [
    ("a", "INT", Kind::Integer),
    ("b", "SMALLINT", Kind::Integer),
    ("u", "INT UNSIGNED NOT NULL", Kind::Integer),
    ("c", "VARCHAR(8) COLLATE utf8mb4_0900_ai_ci", Kind::Text),
    ("p", "CHAR(6) COLLATE utf8mb4_general_ci", Kind::Text),
    ("k", "VARCHAR(8) COLLATE utf8mb4_bin NOT NULL", Kind::Text),
    ("e", "DECIMAL(5,1)", Kind::Number),
    ("f", "DOUBLE", Kind::Number),
    ("d", "DATETIME", Kind::Time),
    ("g", "DATE", Kind::Time),
];

/// The keys, one after another in `USE INDEX`.
const KEYS: [(&str, &str); 14] = [
    ("PRIMARY", "u, b0, n"),
    ("ab", "a, b"),
    ("ba", "b DESC, a"),
    ("abc", "a, b, c DESC"),
    ("ca", "c, a"),
    ("kp", "k(2), a"),
    ("pa", "p, a DESC"),
    ("pp", "p(1)"),
    ("ka", "k, a"),
    ("ef", "e, f"),
    ("fe", "f DESC, e DESC"),
    ("da", "d, a"),
    ("ga", "g DESC, u"),
    ("un", "b, a, n"),
];

/// What the constants beside a column are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Number,
    Text,
    Time,
}

struct Dice(Prng);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }

    fn text(&mut self) -> String {
        const LETTERS: [&str; 9] = ["a", "A", "b", "á", "ß", " ", "z", "\u{1}", "ab"];
        (0..self.below(4)).map(|_| *self.pick(&LETTERS)).collect()
    }

    fn time(&mut self) -> String {
        let date = format!("20{:02}-0{}-{:02}", self.below(2), 1 + self.below(2), 1 + self.below(3));
        if self.one_in(2) { date } else { format!("{date} 0{}:00:00", self.below(2)) }
    }

    /// A value that is stored.
    fn stored(&mut self, kind: Kind) -> String {
        match kind {
            Kind::Integer => (self.below(9)).to_string(),
            Kind::Number => format!("{}.{}", self.below(7), 5 * self.below(2)),
            Kind::Text => format!("'{}'", self.text()),
            Kind::Time => format!("'{}'", self.time()),
        }
    }

    /// A constant beside a column: mostly of its kind, now and then NULL, another kind, or beyond what the column holds.
    fn constant(&mut self, kind: Kind) -> String {
        match self.below(16) {
            0 => "NULL".to_owned(),
            1 if kind != Kind::Time => format!("{}.25", self.below(7)),
            2 if kind == Kind::Integer => {
                ["-1", "100000", "99999999999", "'3'", "'3x'"][self.below(5)].to_owned()
            }
            3 if kind == Kind::Text => format!("'{0}{0}{0}{0}'", self.text()),
            4 if kind == Kind::Number => ["-1", "1e9", "'2.5'", "3.14159"][self.below(4)].to_owned(),
            5 if kind == Kind::Time => "'2000-01-02 00:00:00.5'".to_owned(),
            _ => self.stored(kind),
        }
    }

    fn pattern(&mut self) -> String {
        const PIECES: [&str; 8] = ["a", "A", "b", "%", "_", "z", "\\\\%", " "];
        let text: String = (0..=self.below(4)).map(|_| *self.pick(&PIECES)).collect();
        format!("'{text}'")
    }

    fn constants(&mut self, kind: Kind) -> String {
        let count = 1 + self.below(5);
        (0..count).map(|_| self.constant(kind)).collect::<Vec<_>>().join(", ")
    }

    /// A condition on one or several of `columns`.
    fn leaf(&mut self, columns: &[(&str, &str, Kind)]) -> String {
        const OPERATORS: [&str; 7] = ["=", "=", "<", "<=", ">", ">=", "<>"];
        let &(name, _, kind) = self.pick(columns);
        let not = if self.one_in(3) { "NOT " } else { "" };
        match self.below(12) {
            0 => format!("{name} IS {not}NULL"),
            1 => format!("{name} <=> {}", self.constant(kind)),
            2 | 3 => format!("{name} {not}IN ({})", self.constants(kind)),
            4 => format!("{name} {not}BETWEEN {} AND {}", self.constant(kind), self.constant(kind)),
            5 if kind == Kind::Text => format!("{name} {not}LIKE {}", self.pattern()),
            6 => format!("({name} {} {}) IS TRUE", self.pick(&OPERATORS), self.constant(kind)),
            7 => format!("{} {} {name}", self.constant(kind), self.pick(&OPERATORS)),
            8 | 9 => self.rows(columns),
            _ => format!("{name} {} {}", self.pick(&OPERATORS), self.constant(kind)),
        }
    }

    /// A comparison of rows of two columns.
    fn rows(&mut self, columns: &[(&str, &str, Kind)]) -> String {
        const OPERATORS: [&str; 6] = ["=", "<", "<=", ">", ">=", "<>"];
        let (&(first, _, x), &(second, _, y)) = (self.pick(columns), self.pick(columns));
        let mut row = || format!("({}, {})", self.constant(x), self.constant(y));
        let rows = [row(), row(), row()];
        match self.below(3) {
            0 => format!("({first}, {second}) {} {}", self.pick(&OPERATORS), rows[0]),
            1 => format!("({first}, {second}) NOT IN ({}, {})", rows[0], rows[1]),
            _ => format!("({first}, {second}) IN ({})", rows.join(", ")),
        }
    }

    fn condition(&mut self, columns: &[(&str, &str, Kind)], depth: usize) -> String {
        if depth == 0 || self.one_in(3) {
            return self.leaf(columns);
        }
        let operator = if self.one_in(2) { " AND " } else { " OR " };
        let terms: Vec<String> = (0..2 + self.below(2)).map(|_| self.condition(columns, depth - 1)).collect();
        let not = if self.one_in(6) { "NOT " } else { "" };
        format!("{not}({})", terms.join(operator))
    }
}

/// A server with the rows in `indexed` and, without a key that serves, in `scanned`.
fn start(dice: &mut Dice) -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let columns: String = COLUMNS.iter().map(|(name, ty, _)| format!("{name} {ty}, ")).collect();
    let keys: String = KEYS[1..].iter().map(|(name, parts)| format!(", KEY {name} ({parts})")).collect();
    for sql in [
        "CREATE DATABASE d".to_owned(),
        "USE d".to_owned(),
        format!("CREATE TABLE scanned ({columns} b0 INT NOT NULL, n INT PRIMARY KEY)"),
        format!("CREATE TABLE indexed ({columns} b0 INT NOT NULL, n INT, PRIMARY KEY ({}){keys})", KEYS[0].1),
    ] {
        conn.query_drop(sql).unwrap();
    }
    let mut rows = Vec::new();
    for n in 0..400 {
        let mut cells = String::new();
        for (_, ty, kind) in COLUMNS {
            let null = !ty.contains("NOT NULL") && dice.one_in(8);
            cells += &if null { "NULL".to_owned() } else { dice.stored(kind) };
            cells += ", ";
        }
        rows.push(format!("({cells}{}, {n})", n % 3));
    }
    conn.query_drop(format!("INSERT INTO scanned VALUES {}", rows.join(", "))).unwrap();
    conn.query_drop("INSERT INTO indexed SELECT * FROM scanned").unwrap();
    (server, conn)
}

fn numbers(conn: &mut Conn, sql: &str) -> Vec<i64> {
    let mut rows: Vec<i64> = conn.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.sort_unstable();
    rows
}

/// The columns that a key begins with, and now and then others.
fn columns_for(dice: &mut Dice, parts: &str) -> Vec<(&'static str, &'static str, Kind)> {
    let named = |name: &str| parts.split(", ").any(|part| part.split([' ', '(']).next() == Some(name));
    let mut columns: Vec<_> = COLUMNS.into_iter().filter(|(name, ..)| named(name)).collect();
    if dice.one_in(3) {
        columns.push(*dice.pick(&COLUMNS));
    }
    columns
}

/// Reads the parts of a key in its order, or the other way round.
fn ordered(table: &str, condition: &str, parts: &str, reverse: bool) -> String {
    let (mut shown, mut order) = (Vec::new(), Vec::new());
    for part in parts.split(", ") {
        let column = part.split([' ', '(']).next().unwrap();
        let direction = if part.ends_with(" DESC") == reverse { "ASC" } else { "DESC" };
        shown.push(format!("IFNULL({column}, '-')"));
        order.push(format!("{column} {direction}"));
    }
    let (shown, order) = (shown.join(", "), order.join(", "));
    format!("SELECT CONCAT_WS('|', {shown}) FROM {table} WHERE {condition} ORDER BY {order}")
}

#[test]
fn ranges_of_an_index_are_what_a_scan_finds() {
    let seed = 20_261_124;
    let mut dice = Dice(Prng::new(seed));
    let (_server, mut conn) = start(&mut dice);
    let asked = std::env::var("RATCHET_INDEX_RANGES").ok().map(|count| count.parse().unwrap());
    let (mut by_ranges, mut found_rows) = (0, 0);
    let count = asked.unwrap_or(CONDITIONS);
    for at in 0..count {
        let (key, parts) = *dice.pick(&KEYS);
        let columns = columns_for(&mut dice, parts);
        let condition = dice.condition(&columns, 3);
        let what = format!("seed {seed}, the {at}th: USE INDEX ({key}) WHERE {condition}");
        let expected = numbers(&mut conn, &format!("SELECT n FROM scanned WHERE {condition}"));
        let read = format!("SELECT n FROM indexed USE INDEX ({key}) WHERE {condition}");
        assert_eq!(numbers(&mut conn, &read), expected, "{what}");
        if at % 4 == 0 {
            conn.query_drop("BEGIN").unwrap();
            assert_eq!(numbers(&mut conn, &format!("{read} FOR UPDATE")), expected, "locking, {what}");
            conn.query_drop("ROLLBACK").unwrap();
            let plan: Vec<String> = conn.query(format!("EXPLAIN FORMAT=TREE {read}")).unwrap();
            by_ranges += u64::from(plan[0].contains("range scan on indexed"));
        }
        if at % 4 == 1 && columns.iter().all(|(.., kind)| *kind != Kind::Text) {
            let reverse = dice.one_in(2);
            let ordered = |table: &str| ordered(table, &condition, parts, reverse);
            let expected: Vec<String> = conn.query(ordered("scanned")).unwrap();
            let found: Vec<String> = conn.query(ordered(&format!("indexed USE INDEX ({key})"))).unwrap();
            assert_eq!(found, expected, "ordered, {what}");
        }
        found_rows += expected.len();
    }
    // Most conditions leave a range of the key, and rows.
    assert!(by_ranges * 4 > count / 4, "{by_ranges} of {} by ranges", count / 4);
    assert!(found_rows as u64 > count * 20, "{found_rows} rows");
}
