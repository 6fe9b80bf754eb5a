//! Runs every script of `tests/sql` against a server of its own and compares with the recorded answers.

#![allow(clippy::unwrap_used, reason = "test code")]

testkit::script_tests!("sql", testkit::runner::run_file;
    aggregates_of_subqueries,
    alter_charsets,
    alter_columns,
    alter_keeps_values,
    alter_keys,
    alter_manner,
    alter_options,
    alter_refused,
    alter_values,
    assignments,
    auto_increment,
    auto_increment_used_up,
    bit_aggregates,
    bits_and_bytes,
    checksum_table,
    completion_type,
    computed_constants,
    constant_warnings,
    dates_beside_years,
    dates_of_times,
    ddl,
    ddl_alter,
    ddl_columns,
    ddl_keys,
    ddl_whole,
    differential_found,
    dml,
    functional_dependence,
    functions_numeric,
    functions_string,
    functions_time,
    held_values,
    insert_warnings,
    integer_constants,
    invisible,
    lists_of_dates,
    load_data,
    locales,
    named_collations,
    names,
    names_in_errors,
    on_duplicate_columns,
    prepared_kept_types,
    prepared_types,
    queries,
    read_only,
    rename_locked,
    safe_updates,
    select_basic,
    select_list,
    semantics_arithmetic,
    semantics_assignment,
    semantics_choice,
    semantics_comparison,
    semantics_conversion,
    show,
    statements,
    storage_hints,
    stored_as_mysql_does,
    texts_beside_numbers,
    texts_read_last,
    time_formats,
    times_extracted,
    type_pairs,
    types_store,
    update_clustered_keys,
    update_row_by_row,
    utf8mb3,
    values_date,
    values_lockstep,
    values_number,
    values_of_moments,
    values_query,
    volatile,
    volatile_conditions,
    zerofill_rows,
);

/// A table that a script means to lack is called `nosuch`; any other was lost when the script was edited.
#[test]
fn no_script_has_lost_a_table() {
    for script in std::fs::read_dir(folder()).unwrap() {
        let path = script.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lost =
            text.lines().filter(|line| line.starts_with("error 1146 ") && !line.contains("nosuch"));
        assert_eq!(lost.next(), None, "{}", path.display());
    }
}
