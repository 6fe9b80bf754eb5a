//! The tables of `docs/semantics.md` say what MySQL answered when their scripts were recorded, and what this
//! server answers.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::{Path, PathBuf};

use testkit::runner::{self, Target};
use testkit::semantics::{self, Table};
use testkit::server::TestServer;

/// Tables that the document has to have, in its order.
const TABLES: [&str; 32] = [
    "samples-v",
    "samples-w",
    "number-texts",
    "addition",
    "subtraction",
    "multiplication",
    "overflow",
    "division",
    "integer-division",
    "remainder",
    "quotients",
    "equal",
    "less",
    "null-safe",
    "in",
    "between",
    "comparisons",
    "columns-and-constants",
    "greatest",
    "least",
    "coalesce",
    "if",
    "case",
    "union",
    "texts",
    "round",
    "rounding",
    "cast",
    "casts",
    "assignment-strict",
    "assignment-lax",
    "assignments",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn stated() -> Vec<Table> {
    semantics::read_tables(&std::fs::read_to_string(root().join(semantics::DOCUMENT)).unwrap()).unwrap()
}

#[test]
fn the_document_has_every_table() {
    let names: Vec<String> = stated().into_iter().map(|table| table.name).collect();
    assert_eq!(names, TABLES);
}

#[test]
fn the_document_says_what_was_recorded_from_mysql() {
    let found = semantics::differences(&stated(), &semantics::recorded_tables(&root()).unwrap());
    assert!(found.is_empty(), "`cargo xtask semantics` writes the tables:\n{}", found.join("\n"));
}

#[test]
fn the_server_answers_every_cell_as_the_document_says() {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    let mut answered = Vec::new();
    for (path, entries) in semantics::scripts(&root()).unwrap() {
        let entries = runner::answered(entries, &target).unwrap();
        let tables = semantics::tables_of(&entries);
        answered.extend(tables.unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    }
    let found = semantics::differences(&stated(), &answered);
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
