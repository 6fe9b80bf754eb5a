//! Plan shapes, as EXPLAIN shows them.

use crate::bind::tests::fixture::plan;

/// Statement, `----`, plan, empty line.
static SHAPES: &str = include_str!("shapes.test");

#[test]
fn plans_have_the_shapes_written_down() {
    for case in SHAPES.split("\n\n") {
        let (sql, tree) = case.split_once("\n----\n").unwrap();
        assert_eq!(plan(sql.trim()).trim_end(), tree.trim_end(), "{sql}");
    }
}
