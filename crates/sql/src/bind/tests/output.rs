//! Names, origins and types of select lists.

use std::sync::Arc;

use types::{CollationId, SqlType, TypeKind, Value};

use super::fixture::{bind, bind_shared, bind_under};
use crate::plan::{InsertCell, InsertSource, Plan, QueryPlan, explain};

fn query(sql: &str) -> QueryPlan {
    match bind(sql) {
        Ok(planned) => match Arc::unwrap_or_clone(planned.plan) {
            Plan::Query(query) => query,
            other => panic!("{sql}: {other:?}"),
        },
        Err(error) => panic!("{sql}: {error}"),
    }
}

fn names(sql: &str) -> Vec<String> {
    query(sql).output.iter().map(|o| o.name.to_string()).collect()
}

#[test]
fn columns_are_named_as_written() {
    assert_eq!(
        names("SELECT ID, emp.name, 'a' 'b', ' x', -1, 1  +  1,   id, COUNT( * ) AS n FROM emp GROUP BY id"),
        ["ID", "name", "a", " x", "-1", "1  +  1", "id", "n"]
    );
    assert_eq!(names("SELECT * FROM dept d"), ["id", "name"]);
    assert_eq!(names("SELECT NULL, TRUE, @@autocommit"), ["NULL", "TRUE", "@@autocommit"]);
}

#[test]
fn common_columns_of_a_join_are_shown_once() {
    assert_eq!(
        names("SELECT * FROM emp JOIN dept USING (id)"),
        ["id", "name", "dept", "salary", "hired", "name"]
    );
    assert_eq!(names("SELECT * FROM dept NATURAL JOIN (SELECT 1 AS id, 'x' AS y) z"), ["id", "name", "y"]);
    assert_eq!(names("SELECT d.*, e.id FROM emp e RIGHT JOIN dept d ON d.id = e.id"), ["id", "name", "id"]);
}

#[test]
fn origins_tell_table_and_keys() {
    let output = query("SELECT e.id, e.dept AS x, e.id + 1 FROM emp e").output;
    let id = output[0].origin.as_ref().unwrap();
    assert_eq!((id.schema(), id.table(), id.org_table(), id.org_name()), ("db", "e", "emp", "id"));
    assert!(id.traits().primary_key && id.traits().no_default);
    let dept = output[1].origin.as_ref().unwrap();
    assert!(dept.traits().multiple_key && !dept.traits().primary_key && dept.org_name() == "dept");
    assert!(output[2].origin.is_none());
}

#[test]
fn left_joins_make_columns_nullable() {
    let output = query("SELECT e.id, d.id FROM emp e LEFT JOIN dept d ON d.id = e.dept").output;
    assert!(!output[0].expr.nullable);
    assert!(output[1].expr.nullable);
}

#[test]
fn a_union_has_types_that_hold_all_operands() {
    let output = query("SELECT 1 UNION SELECT 2.5 UNION SELECT id FROM emp").output;
    assert_eq!(output[0].expr.ty.kind, TypeKind::Decimal);
    let text = query("SELECT name FROM emp UNION SELECT id FROM dept").output;
    assert_eq!(text[0].expr.ty.kind, TypeKind::VarChar);
}

#[test]
fn parameters_have_the_types_announced() {
    let types = [Some(SqlType::bigint())];
    let planned = bind_under("SELECT ? + 1", Some("db"), types::SqlModes::DEFAULT, &types).unwrap();
    let Plan::Query(query) = Arc::unwrap_or_clone(planned.plan) else { panic!("a query") };
    assert_eq!(query.output[0].expr.ty.kind, TypeKind::BigInt);
}

#[test]
fn user_variables_keep_a_plan_from_being_shared() {
    assert!(bind("SELECT 1").unwrap().shareable);
    assert!(!bind("SELECT @a").unwrap().shareable);
}

#[test]
fn inserts_know_columns_and_cells() {
    let planned = bind("INSERT INTO emp (name, id) VALUES ('x', DEFAULT), (?, id + 1)").unwrap();
    let Plan::Insert(insert) = Arc::unwrap_or_clone(planned.plan) else { panic!("an insert") };
    assert_eq!(insert.columns, [1, 0]);
    let InsertSource::Rows(rows) = insert.source else { panic!("rows") };
    assert!(matches!(rows[0][1], InsertCell::Default));
    assert_eq!(rows.len(), 2);
    for sql in [
        "INSERT INTO dept VALUES (1, 'a') ON DUPLICATE KEY UPDATE name = VALUES(name)",
        "INSERT INTO dept VALUES (1, 'a') AS n ON DUPLICATE KEY UPDATE name = n.name",
        "INSERT INTO dept VALUES (1, 'a') AS n(i, m) ON DUPLICATE KEY UPDATE name = CONCAT(name, m)",
        "INSERT INTO dept SET id = 1, name = 'a'",
        "INSERT INTO dept () VALUES ()",
        "REPLACE INTO dept SELECT id, name FROM emp",
    ] {
        assert!(bind(sql).is_ok(), "{sql}: {:?}", bind(sql).err());
    }
}

#[test]
fn numbered_literals_become_parameters_behind_the_placeholders() {
    let shared = bind_shared("SELECT name, 5 FROM emp WHERE id = 3 AND dept = ? ORDER BY 1 LIMIT 7").unwrap();
    assert!(shared.shareable);
    assert_eq!(
        explain(&shared.plan).trim_end(),
        "-> Limit: 7 row(s)\n    -> Filter: (emp.dept = ?0)\n        -> Single-row index lookup on emp using PRIMARY (id=?1)"
    );
    let text = bind_shared("SELECT name FROM emp WHERE id = '3'").unwrap();
    assert!(text.shareable && explain(&text.plan).contains("using PRIMARY (id=?0)"));
    let year = bind_shared("SELECT id FROM many WHERE y = 1").unwrap();
    assert!(!year.shareable && explain(&year.plan).contains("2001"));
}

#[test]
fn lengths_of_digests_and_locales_are_parameters_if_there_are_such() {
    let is_shared = |sql: &str| bind_shared(sql).unwrap().shareable;
    assert!(is_shared("SELECT id FROM emp WHERE name = SHA2('x', 256)"));
    assert!(!is_shared("SELECT id FROM emp WHERE name = SHA2('x', 257)"));
    assert!(is_shared("SELECT id FROM emp WHERE name = FORMAT(id, 2, 'de_DE')"));
    assert!(!is_shared("SELECT id FROM emp WHERE name = FORMAT(id, 2, 'none')"));
    // A plan for one length is not for a number that is none.
    let digest = bind_shared("SELECT id FROM emp WHERE name = SHA2('x', 256)").unwrap();
    let serves = |bits: i64| {
        let params = [Value::Bytes { data: b"x", collation: CollationId::BINARY }, Value::Int(bits)];
        digest.text_params.iter().all(|text| text.serves(&params))
    };
    assert!(serves(512) && serves(0) && !serves(257));
}

#[test]
fn outer_columns_are_parameters_behind_those_of_enclosing_queries() {
    let planned = bind(
        "SELECT (SELECT MAX(x.id) FROM emp x WHERE x.dept = (SELECT y.id FROM dept y WHERE y.id = e.dept AND y.name = \
         x.name)) FROM emp e",
    );
    let Plan::Query(query) = Arc::unwrap_or_clone(planned.unwrap().plan) else { panic!("a query") };
    let outer = &query.subqueries[0];
    assert_eq!((outer.outer_base, outer.outer.len()), (0, 1));
    let inner = &outer.query.subqueries[0];
    assert_eq!((inner.outer_base, inner.outer.len()), (1, 1));
}
