//! Instructions of the text path: what reading a cache key, lexing and parsing cost per statement or per row.
//!
//! `cargo run --release -p sql --example text_path` runs every operation over every text under callgrind and
//! prints a table. `text_path OPERATION TEXT ROUNDS` runs one of them, for a profile of one's own.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

use std::hint::black_box;
use std::process::{Command, ExitCode};

use bumpalo::Bump;
use sql::lexer::{Lexer, Tok};
use sql::{CacheKey, LexMode, parse, parse_numbered};

/// Runs per measurement of a short statement.
const ROUNDS: u64 = 1000;
/// Rows of the VALUES lists.
const ROWS: u64 = 500;

const OPERATIONS: [&str; 4] = ["key", "lex", "parse", "parse_numbered"];
const TEXTS: [&str; 8] =
    ["select_1", "point", "range", "distinct", "update", "insert", "orm_join", "values_sysbench"];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.as_slice() {
        [] => table(),
        [operation, text, rounds] => run(operation, text, rounds.parse().unwrap_or(ROUNDS)),
        _ => None,
    };
    if done.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Every operation over every text, each in a process of its own.
fn table() -> Option<()> {
    println!("text\tbytes\t{}", OPERATIONS.join("\t"));
    for text in TEXTS {
        let (bytes, units) = statement(text)?;
        let rounds = (ROUNDS / units).max(2);
        let counts: Vec<String> =
            OPERATIONS.iter().map(|op| measured(op, text, rounds, units)).collect::<Option<_>>()?;
        println!("{text}\t{}\t{}", bytes.len() as u64 / units, counts.join("\t"));
    }
    Some(())
}

/// Instructions per unit (statement or row) of one operation, counted by callgrind inside [`measure`] alone.
fn measured(operation: &str, text: &str, rounds: u64, units: u64) -> Option<String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*text_path*measure*"])
        .arg(std::env::current_exe().ok()?)
        .args([operation, text, &rounds.to_string()])
        .output()
        .ok()?;
    let report = String::from_utf8_lossy(&output.stderr);
    let count: u64 = report.split("Collected :").nth(1)?.split_whitespace().next()?.parse().ok()?;
    Some((count / rounds / units).to_string())
}

fn run(operation: &str, text: &str, rounds: u64) -> Option<()> {
    let operation = OPERATIONS.iter().position(|&o| o == operation)?;
    let (text, _) = statement(text)?;
    let mut state = State::default();
    // One round to grow the buffers.
    measure(&mut state, operation, &text, 0);
    state.round(operation, &text);
    measure(&mut state, operation, &text, rounds);
    Some(())
}

#[inline(never)]
fn measure(state: &mut State, operation: usize, text: &[u8], rounds: u64) {
    for _ in 0..rounds {
        state.round(operation, black_box(text));
    }
}

/// What a connection keeps between statements.
#[derive(Default)]
struct State {
    key: CacheKey,
    arena: Bump,
}

impl State {
    fn round(&mut self, operation: usize, text: &[u8]) {
        match operation {
            0 => assert!(self.key.read(text, 0, LexMode::NONE), "a statement of a cached kind"),
            1 => {
                let mut lexer = Lexer::new(text, 0, LexMode::NONE);
                while black_box(lexer.next()).kind != Tok::Eof {}
            }
            2 => {
                self.arena.reset();
                black_box(parse(text, 0, LexMode::NONE, &self.arena).is_ok());
            }
            _ => {
                if self.key.literals().is_empty() {
                    self.key.read(text, 0, LexMode::NONE);
                }
                self.arena.reset();
                let parsed = parse_numbered(text, 0, LexMode::NONE, &self.arena, Some(&self.key), usize::MAX);
                black_box(parsed.is_ok());
            }
        }
    }
}

/// A text and how many units it counts as.
fn statement(name: &str) -> Option<(Vec<u8>, u64)> {
    let text = match name {
        "select_1" => "SELECT 1",
        "point" => "SELECT c FROM sbtest1 WHERE id=12345",
        "range" => "SELECT c FROM sbtest1 WHERE id BETWEEN 12345 AND 12444",
        "distinct" => "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 12345 AND 12444 ORDER BY c",
        "update" => "UPDATE sbtest1 SET k=k+1 WHERE id=12345",
        "insert" => {
            "INSERT INTO sbtest1 (id, k, c, pad) VALUES (12345, 67890, '68487932199-96439406143-93774651418-41631865787', \
             '67847967377-48000963322-62604785301-91415491898')"
        }
        "orm_join" => {
            "SELECT `orders`.`id` AS `order_id`, `orders`.`total`, `customers`.`name` FROM `orders` INNER JOIN \
             `customers` ON (`orders`.`customer_id` = `customers`.`id`) WHERE (`orders`.`status` = 'open' AND \
             `customers`.`region` IN ('eu', 'us')) ORDER BY `orders`.`id` DESC LIMIT 20"
        }
        "values_sysbench" => return Some((values(), ROWS)),
        _ => return None,
    };
    Some((text.as_bytes().to_vec(), 1))
}

/// `INSERT .. VALUES` of [`ROWS`] rows as sysbench fills its tables: an integer, 119 and 59 bytes of digit
/// groups.
fn values() -> Vec<u8> {
    let mut seed = 42u64;
    let mut next = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        seed >> 33
    };
    let mut text = String::from("INSERT INTO sbtest1(k, c, pad) VALUES");
    for row in 0..ROWS {
        text.push_str(if row == 0 { "(" } else { ", (" });
        text.push_str(&(next() % 1_000_000).to_string());
        for groups in [10, 5] {
            let digits: Vec<String> =
                (0..groups).map(|_| format!("{:011}", next() % 100_000_000_000)).collect();
            text.push_str(&format!(", '{}'", digits.join("-")));
        }
        text.push(')');
    }
    text.into_bytes()
}
