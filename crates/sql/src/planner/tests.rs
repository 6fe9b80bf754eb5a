//! Plan shapes.

use crate::bind::tests::fixture::plan;

#[track_caller]
fn check(sql: &str, tree: &str) {
    assert_eq!(plan(sql).trim_end(), tree.trim_start_matches('\n').trim_end(), "{sql}");
}

#[test]
fn a_unique_key_is_a_point() {
    check("SELECT * FROM emp WHERE id = 3", "-> Single-row index lookup on emp using PRIMARY (id=3)");
    check("SELECT * FROM many WHERE c = 'x'", "-> Single-row index lookup on many using u (c='x')");
    check("SELECT 1", "-> Rows fetched before execution");
}

#[test]
fn the_left_join_of_the_promise() {
    check(
        "SELECT * FROM employees e LEFT JOIN salaries s ON e.emp_no = s.emp_no LIMIT 10",
        "
-> Limit: 10 row(s)
    -> Nested loop left join
        -> Table scan on e
        -> Index lookup on s using PRIMARY (emp_no=e.emp_no)",
    );
}
