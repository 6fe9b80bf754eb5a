//! Plan shapes, as EXPLAIN shows them.

mod row_keys;
mod row_list;
mod whole_key;

use base::prng::Prng;

use super::key_boxes::{CONJUNCTIONS, NO_CONJUNCTIONS};
use super::key_paths::LEAST_PATHS;
use crate::bind::tests::fixture::{bind, plan};

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

#[test]
fn conjunctions_make_the_keys_that_the_general_way_makes() {
    let shapes = SHAPES.split("\n\n").filter_map(|case| case.split_once("\n----\n"));
    let more = [
        "SELECT name FROM stock WHERE i = 5 AND quantity > 3 AND w = 1 ORDER BY name",
        "SELECT name FROM stock WHERE i = 5 AND w = 1 AND i = 6 ORDER BY name",
        "SELECT name FROM stock WHERE i = 5 ORDER BY name",
        "SELECT name FROM stock WHERE w = 1 AND i > 5 ORDER BY name",
        "SELECT name FROM stock WHERE w = 1 AND i > 5 AND i <= 9 AND i IS NOT NULL ORDER BY name",
        "SELECT name FROM stock WHERE w BETWEEN 1 AND 3 AND i IN (2, 3) AND w <> 2 ORDER BY name",
        "SELECT e.name FROM stock s JOIN emp e ON e.id = s.i WHERE s.w = 1 AND s.i = 5.0 AND e.dept = s.quantity",
    ];
    let (before, least_before) = (CONJUNCTIONS.get(), LEAST_PATHS.get());
    let mut prng = Prng::new(7);
    let drawn: Vec<String> = (0..900).map(|_| conjunction(&mut prng)).collect();
    let drawn = drawn.iter().map(|sql| &sql[..]);
    for sql in shapes.map(|(sql, _)| sql.trim()).chain(more).chain(drawn) {
        let shown = |is_general: bool| {
            NO_CONJUNCTIONS.set(is_general);
            format!("{:?}", bind(sql).map(|planned| (planned.plan, planned.range_memory_exceeded)))
        };
        assert_eq!(shown(false), shown(true), "{sql}");
    }
    NO_CONJUNCTIONS.set(false);
    assert!(CONJUNCTIONS.get() > before + 1500, "only {}", CONJUNCTIONS.get() - before);
    assert!(LEAST_PATHS.get() > least_before + 100, "only {}", LEAST_PATHS.get() - least_before);
}

/// A query of two tables with comparisons: some limit one key part twice, or leave out the part before.
fn conjunction(prng: &mut Prng) -> String {
    const COLUMNS: [&str; 7] = ["m.id", "m.a", "m.b", "s.w", "s.i", "s.quantity", "s.w"];
    const VALUES: [&str; 3] = ["1", "2", "3.5"];
    let mut any = |of: &[&'static str]| of[prng.below(of.len() as u64) as usize];
    let all = [&COLUMNS[..], &VALUES[..]].concat();
    let count = any(&["111", "1111", "11111", "111111"]).len();
    let operators = [&["="; 8][..], &["<", ">=", "<>", "<=>"]].concat();
    let mut term = || format!("{} {} {}", any(&COLUMNS), any(&operators), any(&all));
    let terms: Vec<String> = (0..count).map(|_| term()).collect();
    let hint = any(&[
        "FROM stock s JOIN many m",
        "FROM many m LEFT JOIN stock s",
        "FROM stock s STRAIGHT_JOIN many m",
    ]);
    let order = any(&["", "", " ORDER BY m.c", " ORDER BY s.i"]);
    format!("SELECT m.c, s.name {hint} ON {} WHERE {}{order}", terms[0], terms[1..].join(" AND "))
}

#[test]
fn conditions_that_multiply_are_planned_with_bounded_work() {
    let list = |column: &str| {
        let terms: Vec<String> = (0..64).map(|n| format!("{column} = {n}")).collect();
        format!("({})", terms.join(" OR "))
    };
    let many = vec![format!("({} AND {})", list("a"), list("b")); 500].join(" OR ");
    let rows: Vec<String> = (0..20_000).map(|n| format!("({n}, {n})")).collect();
    let bounds: Vec<String> = (0..2000).map(|n| format!("a > {n}")).collect();
    let begun = std::time::Instant::now();
    assert!(plan(&format!("SELECT * FROM many WHERE {many}")).contains("Table scan"));
    let both = format!("(a, b) IN ({}) AND {}", rows.join(", "), bounds.join(" AND "));
    assert!(plan(&format!("SELECT * FROM many WHERE {both}")).contains("range scan on many using ab"));
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

#[test]
fn nested_subqueries_are_planned_with_bounded_work() {
    for (open, close) in [
        ("id IN (SELECT dept FROM emp WHERE ", ")"),
        ("id NOT IN (SELECT id FROM emp WHERE ", ")"),
        ("EXISTS (SELECT 1 FROM emp i WHERE i.id = emp.dept AND i.salary = emp.salary AND ", ")"),
        ("(id, dept) IN (SELECT dept, id FROM emp WHERE ", ")"),
    ] {
        let depth = 30;
        let sql = format!("SELECT 1 FROM emp WHERE {}id = 1{}", open.repeat(depth), close.repeat(depth));
        let begun = std::time::Instant::now();
        assert!(plan(&sql).contains("emp"), "{sql}");
        assert!(begun.elapsed().as_secs() < 20, "{open}: {:?}", begun.elapsed());
    }
}
