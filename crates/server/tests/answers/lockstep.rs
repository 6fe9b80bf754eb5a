//! Runs every script of `tests/lockstep` against a server of its own: generated statements with MySQL's
//! answers.

#![allow(clippy::unwrap_used, reason = "test code")]

testkit::script_tests!("lockstep", testkit::runner::run_file; alter, dml, expressions, names);
