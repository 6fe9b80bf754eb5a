//! Plan shapes, as EXPLAIN shows them.

use crate::bind::tests::fixture::plan;

/// Statement, `----`, plan, empty line.
static SHAPES: &str = include_str!("shapes.test");

#[test]
fn plans_have_the_shapes_written_down() {
    let mut wrong = String::new();
    for case in SHAPES.split("\n\n") {
        let (sql, tree) = case.split_once("\n----\n").unwrap();
        let planned = plan(sql.trim());
        if planned.trim_end() != tree.trim_end() {
            wrong += &format!("{sql}\n----\n{planned}\n");
        }
    }
    assert!(wrong.is_empty(), "other shapes than written down:\n{wrong}");
}
