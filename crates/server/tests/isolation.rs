//! Runs every script of `tests/isolation` against a server of its own and compares with the recorded answers.

#![allow(clippy::unwrap_used, reason = "test code")]

testkit::script_tests!("isolation", testkit::isolation::run_file; deadlocks, duplicates, gaps, levels, row_locks, skip_nowait);
