//! Targets of coverage-guided fuzzing.
//!
//! A target is a function over bytes that must return, whatever the bytes are. `cargo xtask fuzz` builds each
//! of them with the fuzzer (`src/bin`) and runs it; the tests of this crate run each over its corpus.
//! docs/testing.md has the rules.
//!
//! # Invariants
//! 1. A target's outcome depends on its input alone, as far as threads permit.
//! 2. A target asserts what it can beyond "no panic": well-formed answers, values that survive a round trip,
//!    right rows.
//! 3. [`canary`] fails: a run in which the fuzzer does not find its planted bug is a failed run.

#![forbid(unsafe_code)]

mod bytes;
pub mod canary;
mod client;
pub mod connection;
pub mod datadir;
pub mod dictionary;
pub mod load_data;
mod log_bytes;
mod mounted;
pub mod options;
pub mod packets;
pub mod pages;
pub mod parameters;
pub mod redo;
mod rows;
pub mod spill;
pub mod sql;
pub mod sql_mutator;
mod tables;
pub mod undo;
pub mod values;

pub use bytes::Bytes;

/// A target: its name, and what runs one input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets that must not fail.
pub const TARGETS: [Target; 13] = [
    ("connection", connection::run),
    ("datadir", datadir::run),
    ("dictionary", dictionary::run),
    ("load_data", load_data::run),
    ("options", options::run),
    ("packets", packets::run),
    ("pages", pages::run),
    ("parameters", parameters::run),
    ("redo", redo::run),
    ("spill", spill::run),
    ("sql", sql::run),
    ("undo", undo::run),
    ("values", values::run),
];
