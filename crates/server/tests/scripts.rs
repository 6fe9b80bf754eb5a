//! Runs every script of `tests/sql` against a server of its own and compares with the recorded answers.

#![allow(clippy::unwrap_used, reason = "test code")]

testkit::script_tests!("sql", testkit::runner::run_file;
    bit_aggregates,
    ddl,
    ddl_alter,
    ddl_columns,
    ddl_keys,
    differential_found,
    dml,
    functions_numeric,
    functions_string,
    functions_time,
    integer_constants,
    names_in_errors,
    queries,
    select_basic,
    show,
    types_store,
);
