//! A row of COMPAT.md that says "yes" has an effect to show for it: in a test that it names, or in
//! `tests/claims/effects.txt`. What a row with "no" or "partly" denies is missing: by its words, or by
//! `tests/claims/missing.txt`. False rows are found.

#![allow(clippy::unwrap_used, reason = "test code")]

mod effects;
mod evidence;
mod missing;
mod planted;
mod rows;
mod variables;

use std::path::{Path, PathBuf};

use testkit::runner::Target;
use testkit::server::TestServer;

use effects::Effects;
use evidence::Evidence;
use missing::Missing;
use rows::Row;

/// Words in capitals that are no part of a statement.
const PROSE: [&str; 6] = ["TCP", "TLS", "SSL", "JSON", "MB", "SQL"];

/// Variables and counters that no test shows an effect of. It may only get shorter.
const NOT_SHOWN: [&str; 7] = [
    "back_log",
    "connection_control_max_connection_delay",
    "connection_memory_chunk_size",
    "interactive_timeout",
    "Ratchet_index_change_blocks",
    "ratchet_hash_seed",
    "session_track_schema",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn start() -> (TestServer, Target) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    (server, target)
}

/// What is claimed in `compat` and not shown, a message each.
fn unshown(compat: &str, effects: &Effects) -> Vec<String> {
    let mut found = Vec::new();
    for row in rows::claims(compat) {
        let evidence = Evidence::of(&root(), &row.tests);
        for missing in missing(&row, &evidence, effects) {
            found.push(format!("{}: {}: nothing shows {missing}", row.section, row.title));
        }
    }
    found
}

/// The parts of a row's claim that nothing shows.
fn missing(row: &Row, evidence: &Evidence, effects: &Effects) -> Vec<String> {
    let shown = |name: &str| effects.has(name);
    if row.section == "System variables" {
        let names = row.names.iter().filter(|name| !shown(name) && !evidence.sets(name));
        return names.cloned().collect();
    }
    if shown(&row.title) {
        return Vec::new();
    }
    let words = row.title.split(|c: char| !c.is_ascii_uppercase() && c != '_');
    let words = words.filter(|word| word.len() > 1 && !PROSE.contains(word) && !word.starts_with("COM_"));
    let words: Vec<String> = match row.section.as_str() {
        "Statements" => words.map(str::to_owned).chain(row.names.iter().cloned()).collect(),
        _ => row.names.clone(),
    };
    words.into_iter().filter(|word| !evidence.says(word) && !shown(word)).collect()
}

fn compat() -> String {
    std::fs::read_to_string(root().join("COMPAT.md")).unwrap()
}

fn effects() -> Effects {
    let path = root().join("tests/claims/effects.txt");
    Effects::parse(&std::fs::read_to_string(path).unwrap())
}

#[test]
fn what_is_claimed_is_shown() {
    let found = unshown(&compat(), &effects());
    let known = |message: &&String| !NOT_SHOWN.iter().any(|name| message.ends_with(&format!(" {name}")));
    let new: Vec<_> = found.iter().filter(known).collect();
    assert!(new.is_empty(), "{} claims without an effect:\n{new:#?}", new.len());
    let unneeded: Vec<_> = NOT_SHOWN
        .iter()
        .filter(|name| !found.iter().any(|message| message.ends_with(&format!(" {name}"))))
        .collect();
    assert!(unneeded.is_empty(), "shown after all, or not claimed: {unneeded:?}");
}

#[test]
fn effects_are_seen() {
    let (_server, target) = start();
    assert_eq!(effects().unseen(&target), [""; 0]);
}

fn missing_effects() -> Missing {
    let path = root().join("tests/claims/missing.txt");
    Missing::parse(&std::fs::read_to_string(path).unwrap())
}

#[test]
fn what_is_denied_is_missing() {
    let rows = rows::denials(&compat());
    let missing = missing_effects();
    assert_eq!(missing.unshown(&rows), [""; 0]);
    let (_server, target) = start();
    assert_eq!(missing.wrong(&target), [""; 0]);
}

/// Variables that take another value and have no effect, at least.
const KEPT_AT_LEAST: usize = 100;

#[test]
fn variables_without_effect_have_none() {
    let (_server, target) = start();
    let seen = variables::tried(&rows::denials(&compat()), &target);
    assert_eq!(seen.wrong, [""; 0], "{seen:?}");
    // Tried with nothing that they take, they would be counted as such that can only be read.
    assert!(seen.kept >= KEPT_AT_LEAST, "{seen:?}");
}
