//! Runs every script of `tests/metadata` against a server of its own and compares the definitions of columns
//! and parameters with those recorded from MySQL.

#![allow(clippy::unwrap_used, reason = "test code")]

testkit::script_tests!("metadata", testkit::metadata::run_file;
    aggregates,
    casts_and_choices,
    columns,
    derived_tables,
    digits_and_lengths,
    functions_of_numbers,
    functions_of_text,
    functions_of_time,
    gathered,
    literals_and_operators,
    parameters,
    set_operations,
    show,
    without_strict_mode,
);
