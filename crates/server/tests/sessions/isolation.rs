//! Runs every script of `tests/isolation` against a server of its own and compares with the recorded answers.

#![allow(clippy::unwrap_used, reason = "test code")]

testkit::script_tests!("isolation", testkit::isolation::run_file;
    aborted_read, anti_dependency_cycle, circular_information_flow, deadlocks, dirty_write, duplicates, gaps,
    intermediate_read, levels, lock_tables, lock_tables_shown, locks_of_tables, lost_update, observed_transaction_vanishes, predicate_many_preceders,
    read_skew, row_locks, semi_consistent, skip_nowait, user_locks, write_skew);
