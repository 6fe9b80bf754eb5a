//! What MySQL refuses, in its words.

use types::SqlModes;

use super::fixture::{bind, bind_under, error};
use crate::bind::BindError;

#[test]
fn unknown_columns_are_told_with_their_clause() {
    let cases = [
        ("SELECT nosuch FROM emp", "Unknown column 'nosuch' in 'field list'"),
        ("SELECT e.nosuch FROM emp e", "Unknown column 'e.nosuch' in 'field list'"),
        ("SELECT nosuch.id FROM emp e", "Unknown column 'nosuch.id' in 'field list'"),
        ("SELECT id AS x FROM emp WHERE x = 1", "Unknown column 'x' in 'where clause'"),
        ("SELECT id FROM emp ORDER BY x", "Unknown column 'x' in 'order clause'"),
        ("SELECT id FROM emp ORDER BY 5", "Unknown column '5' in 'order clause'"),
        ("SELECT id FROM emp GROUP BY x", "Unknown column 'x' in 'group statement'"),
        ("SELECT id FROM emp GROUP BY 0", "Unknown column '0' in 'group statement'"),
        ("SELECT id FROM emp HAVING salary > 1", "Unknown column 'salary' in 'having clause'"),
        ("SELECT 1 FROM emp e JOIN dept d ON e.x = d.id", "Unknown column 'e.x' in 'on clause'"),
        ("SELECT 1 FROM emp JOIN dept USING (salary)", "Unknown column 'salary' in 'from clause'"),
        ("INSERT INTO emp (nosuch) VALUES (1)", "Unknown column 'nosuch' in 'field list'"),
        ("SELECT 1 FROM (SELECT 1 AS a) d WHERE d.b = 1", "Unknown column 'd.b' in 'where clause'"),
    ];
    for (sql, text) in cases {
        assert_eq!(error(sql), text, "{sql}");
    }
}

#[test]
fn ambiguous_names_are_refused() {
    let cases = [
        ("SELECT id FROM emp, dept", "Column 'id' in field list is ambiguous"),
        ("SELECT 1 FROM emp, dept WHERE name = 'x'", "Column 'name' in where clause is ambiguous"),
        ("SELECT id AS a, name AS a FROM emp ORDER BY a", "Column 'a' in order clause is ambiguous"),
        ("SELECT 1 FROM emp, emp", "Not unique table/alias: 'emp'"),
        ("SELECT 1 FROM emp e JOIN dept e", "Not unique table/alias: 'e'"),
    ];
    for (sql, text) in cases {
        assert_eq!(error(sql), text, "{sql}");
    }
}

#[test]
fn tables_and_schemas_must_exist() {
    assert_eq!(error("SELECT * FROM nosuch"), "Table 'db.nosuch' doesn't exist");
    assert_eq!(error("SELECT * FROM other.t"), "Unknown database 'other'");
    assert_eq!(error("SELECT x.* FROM emp"), "Unknown table 'x'");
    assert_eq!(error("SELECT *"), "No tables used");
    assert_eq!(error("SELECT * FROM (SELECT 1)"), "Every derived table must have its own alias");
    assert_eq!(error("SELECT * FROM emp USE INDEX (x)"), "Key 'x' doesn't exist in table 'emp'");
    let none = bind_under("SELECT * FROM emp", None, SqlModes::DEFAULT, &[]).unwrap_err();
    assert_eq!(none.to_string(), "No database selected");
}

#[test]
fn aggregates_stand_only_where_they_may() {
    let wrong = "Invalid use of group function";
    assert_eq!(error("SELECT COUNT(*) FROM emp WHERE COUNT(*) > 1"), wrong);
    assert_eq!(error("SELECT SUM(COUNT(*)) FROM emp"), wrong);
    assert_eq!(error("SELECT COUNT(*) AS n FROM emp GROUP BY n"), "Can't group on 'n'");
    assert_eq!(
        error("SELECT id FROM emp ORDER BY COUNT(*)"),
        "Expression #1 of ORDER BY contains aggregate function and applies to the result of a non-aggregated query"
    );
    assert!(bind("SELECT dept FROM emp GROUP BY dept HAVING COUNT(*) > 1 ORDER BY COUNT(*)").is_ok());
}

#[test]
fn only_full_group_by_refuses_columns_that_the_groups_do_not_determine() {
    assert_eq!(
        error("SELECT name, COUNT(*) FROM emp GROUP BY dept"),
        "Expression #1 of SELECT list is not in GROUP BY clause and contains nonaggregated column 'db.emp.name' which is \
         not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by"
    );
    assert_eq!(
        error("SELECT COUNT(*), name FROM emp"),
        "In aggregated query without GROUP BY, expression #2 of SELECT list contains nonaggregated column 'db.emp.name'; \
         this is incompatible with sql_mode=only_full_group_by"
    );
    for sql in [
        "SELECT name, COUNT(*) FROM emp GROUP BY id",
        "SELECT e.name, d.name FROM emp e JOIN dept d ON e.dept = d.id GROUP BY e.id",
        "SELECT name, COUNT(*) FROM emp WHERE name = 'x' GROUP BY dept",
        "SELECT dept + 1, COUNT(*) FROM emp GROUP BY dept + 1",
        "SELECT ANY_VALUE(name) FROM emp GROUP BY dept",
    ] {
        assert!(bind(sql).is_ok(), "{sql}");
    }
    let loose = SqlModes::DEFAULT.without(SqlModes::ONLY_FULL_GROUP_BY);
    assert!(bind_under("SELECT name, COUNT(*) FROM emp GROUP BY dept", Some("db"), loose, &[]).is_ok());
}

#[test]
fn distinct_orders_by_what_it_selects() {
    assert_eq!(
        error("SELECT DISTINCT name FROM emp ORDER BY salary"),
        "Expression #1 of ORDER BY clause is not in SELECT list, references column 'db.emp.salary' which is not in \
         SELECT list; this is incompatible with DISTINCT"
    );
    assert!(bind("SELECT DISTINCT name FROM emp ORDER BY UPPER(name)").is_ok());
}

#[test]
fn column_counts_must_agree() {
    let cases = [
        ("INSERT INTO dept VALUES (1)", "Column count doesn't match value count at row 1"),
        ("INSERT INTO dept VALUES (1, 'a'), (2)", "Column count doesn't match value count at row 2"),
        ("INSERT INTO dept (id, name) SELECT 1", "Column count doesn't match value count at row 1"),
        ("INSERT INTO dept (id, id) VALUES (1, 2)", "Column 'id' specified twice"),
        ("SELECT 1 UNION SELECT 1, 2", "The used SELECT statements have a different number of columns"),
        ("SELECT (SELECT 1, 2)", "Operand should contain 1 column(s)"),
        ("SELECT 1 IN (SELECT 1, 2)", "Operand should contain 1 column(s)"),
        ("SELECT 1 FROM emp WHERE (id, name) IN (SELECT 1)", "Operand should contain 2 column(s)"),
        ("SELECT (1, 2) = (1, 2, 3)", "Operand should contain 2 column(s)"),
        ("SELECT * FROM (SELECT 1 AS a, 2 AS a) d", "Duplicate column name 'a'"),
    ];
    for (sql, text) in cases {
        assert_eq!(error(sql), text, "{sql}");
    }
}

#[test]
fn what_is_missing_is_told_as_unsupported() {
    for sql in [
        "SELECT dept, COUNT(*) FROM emp GROUP BY dept WITH ROLLUP",
        "SELECT ROW_NUMBER() OVER () FROM emp",
        "WITH RECURSIVE c AS (SELECT 1) SELECT * FROM c",
        "SELECT 1 EXCEPT SELECT 2",
    ] {
        assert!(matches!(bind(sql), Err(BindError::NotSupported(_))), "{sql}");
    }
}

#[test]
fn a_changed_table_is_not_read_by_subqueries() {
    assert_eq!(
        error("DELETE FROM emp WHERE id = (SELECT MAX(id) FROM emp)"),
        "You can't specify target table 'emp' for update in FROM clause"
    );
    assert!(bind("DELETE FROM emp WHERE id = (SELECT x FROM (SELECT MAX(id) AS x FROM emp) d)").is_ok());
    assert_eq!(error("DELETE x FROM emp e"), "Unknown table 'x' in MULTI DELETE");
    assert_eq!(
        error("UPDATE (SELECT 1 AS a) d SET a = 2"),
        "The target table d of the UPDATE is not updatable"
    );
}

#[test]
fn numbers_that_are_no_dates_are_refused_beside_them_but_zero_is_one() {
    for (value, is_date) in [("0", true), ("0.0", true), ("20240229", true), ("5", false), ("0.5", false)] {
        for condition in [format!("at = {value}"), format!("at BETWEEN {value} AND 20240301")] {
            let change = bind(&format!("UPDATE log SET line = '' WHERE {condition}"));
            match change {
                Ok(_) => assert!(is_date, "{condition}"),
                Err(error) => {
                    let text = format!("Incorrect datetime value: '{value}' for column 'at' at row 1");
                    assert_eq!((error.to_string(), is_date), (text, false), "{condition}");
                }
            }
        }
    }
}
