//! Lists of keys that are taken as they are, against the plans that comparing all paths finds.

use base::prng::Prng;

use crate::bind::tests::fixture::bind;
use crate::planner::key_list::{NO_ROW_LISTS, PARAM_LISTS};
use crate::planner::row_list::ROW_LISTS;

/// Compares both ways of planning `sql`; whether a list was taken.
fn compare(sql: &str) -> bool {
    let plan = |is_general: bool| {
        NO_ROW_LISTS.set(is_general);
        let planned = bind(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        NO_ROW_LISTS.set(false);
        format!("{:?} {:?}", planned.plan, planned.range_memory_exceeded)
    };
    let before = ROW_LISTS.get();
    let taken = plan(false);
    let count = ROW_LISTS.get() - before;
    assert_eq!(taken, plan(true), "{sql}");
    assert_eq!(ROW_LISTS.get() - before, count, "{sql}");
    count == 1
}

const LIST: &str = "(w, d, o) IN ((1, 1, 7), (1, 2, 9), (1, 3, 9))";

#[test]
fn a_list_of_first_parts_is_planned_as_comparing_all_paths_plans_it() {
    for sql in [
        format!("SELECT d, SUM(amount) FROM order_line WHERE {LIST} GROUP BY d"),
        format!("SELECT n, d FROM order_line WHERE {LIST} GROUP BY d, n HAVING COUNT(*) > 1"),
        format!("SELECT amount FROM order_line WHERE {LIST}"),
        format!("SELECT amount FROM order_line WHERE {LIST} ORDER BY w, d DESC FOR UPDATE"),
        format!("SELECT DISTINCT d, n FROM order_line WHERE {LIST} ORDER BY d"),
        format!("SELECT MIN(d), MAX(n) FROM order_line WHERE {LIST}"),
        format!("SELECT d, MAX(o) FROM order_line WHERE {LIST} GROUP BY d"),
        format!("UPDATE order_line SET amount = amount + 1 WHERE {LIST}"),
        format!("UPDATE order_line SET item = 7 WHERE {LIST} ORDER BY n DESC"),
        format!("DELETE FROM order_line WHERE {LIST}"),
        "SELECT amount FROM order_line WHERE (o = 7 AND w = 1 AND 2 = d) OR (w = 3 AND d = 4 AND o = 5)"
            .to_owned(),
        "SELECT amount FROM order_line WHERE (w, d) IN ((1, 7), (1, 7.5)) ORDER BY n".to_owned(),
        "SELECT name FROM stock WHERE (i, w) IN ((5, 1), (7, 1), (5, 1)) ORDER BY quantity".to_owned(),
    ] {
        assert!(compare(&sql), "{sql}");
    }
}

#[test]
fn parameters_of_clients_are_kept_by_their_numbers() {
    let before = PARAM_LISTS.get();
    for sql in [
        "SELECT d, SUM(amount) FROM order_line WHERE (w, d, o) IN ((?, ?, ?), (?, ?, ?)) GROUP BY d",
        "UPDATE order_line SET amount = ? WHERE (d, o, w) IN ((?, ?, ?), (?, ?, ?), (?, ?, ?))",
        "DELETE FROM order_line WHERE (w = ? AND d = ? AND o = ?) OR (? = w AND o = ? AND d = ?)",
    ] {
        assert!(compare(sql), "{sql}");
    }
    // As a whole.
    assert!(!compare("SELECT quantity FROM stock WHERE (w, i) IN ((?, ?), (?, ?)) FOR UPDATE"));
    assert_eq!(PARAM_LISTS.get() - before, 4);
    for sql in [
        "UPDATE order_line SET amount = ? WHERE (w, d, o) IN ((?, ?, 7), (?, ?, ?))",
        "DELETE FROM order_line WHERE (w, d, o) IN ((1, 1, 1), (?, ?, ?))",
    ] {
        assert!(compare(sql), "{sql}");
    }
    assert_eq!(PARAM_LISTS.get() - before, 4, "constants among them");
}

#[test]
fn what_may_change_the_path_is_left_to_the_comparison_of_paths() {
    for sql in [
        format!("SELECT amount FROM order_line WHERE {LIST} LIMIT 2"),
        format!("SELECT amount FROM order_line WHERE {LIST} AND amount > 2 ORDER BY n"),
        format!("SELECT amount FROM order_line IGNORE INDEX (PRIMARY) WHERE {LIST}"),
        format!("SELECT amount FROM order_line WHERE {LIST} AND n IN (SELECT id FROM emp) ORDER BY n"),
        format!("SELECT e.name FROM order_line JOIN emp e ON e.id = n WHERE {LIST}"),
        format!("SELECT id FROM emp WHERE dept IN (SELECT n FROM order_line WHERE {LIST})"),
        "SELECT amount FROM order_line WHERE (w, o) IN ((1, 7), (1, 9)) ORDER BY n".to_owned(),
        "SELECT amount FROM order_line WHERE (w, d) IN ((1, 7), (1, NULL)) ORDER BY n".to_owned(),
        "SELECT amount FROM order_line WHERE (w = 1 AND d = 2) OR (w = 2 AND d > 3) ORDER BY n".to_owned(),
        "SELECT amount FROM order_line WHERE (item, w) IN ((1, 7), (1, 9)) ORDER BY n".to_owned(),
        // The table has few rows.
        "SELECT at FROM log WHERE (at, line) IN (('2000-01-01', 'a'), ('2000-01-02', 'b'))".to_owned(),
    ] {
        assert!(!compare(&sql), "{sql}");
    }
}

#[test]
fn drawn_lists_are_planned_as_comparing_all_paths_plans_them() {
    let mut prng = Prng::new(5);
    let taken = (0..400).filter(|_| compare(&drawn(&mut prng))).count();
    assert!((150..400).contains(&taken), "{taken} lists taken");
}

/// A statement with a list of keys, some of which are no keys or too many.
fn drawn(prng: &mut Prng) -> String {
    const PARTS: [&str; 5] = ["w, d, o", "w, d", "d, o, w", "w, d, o, n", "w, o"];
    const VALUES: [&str; 6] = ["1", "2", "1", "7", "4000000000", "'3'"];
    let mut any = |of: &[&'static str]| of[prng.below(of.len() as u64) as usize];
    let parts = any(&PARTS);
    let mut row = || {
        let values: Vec<&str> = parts.split(", ").map(|_| any(&VALUES)).collect();
        format!("({})", values.join(", "))
    };
    let rows: Vec<String> = (0..9).map(|_| row()).collect();
    let count = any(&["11", "111", "111111111"]).len();
    let list = format!("({parts}) IN ({})", rows[..count].join(", "));
    let rest = any(&["", "", " ORDER BY d, o", " ORDER BY n", " LIMIT 1", " AND amount IS NULL"]);
    match any(&["select", "group", "delete", "update"]) {
        "select" => format!("SELECT amount FROM order_line WHERE {list}{rest}"),
        "group" => format!("SELECT d, COUNT(item) FROM order_line WHERE {list} GROUP BY d"),
        "delete" => format!("DELETE FROM order_line WHERE {list}"),
        _ => format!("UPDATE order_line SET amount = 1 WHERE {list}"),
    }
}
