//! Keys that are kept as numbers of parameters, against the conditions that any WHERE is bound to.

use base::prng::Prng;

use crate::bind::block::{Block, Query};
use crate::bind::key_condition::NO_ROW_KEYS;
use crate::bind::tests::fixture::{bind_shared, with_bound_shared};
use crate::plan::explain;
use crate::planner::draft::builder;
use crate::planner::key_list::FLAT_LISTS;

/// What `work` comes to where WHERE is bound to conditions.
fn by_conditions<T>(work: impl FnOnce() -> T) -> T {
    NO_ROW_KEYS.set(true);
    let result = work();
    NO_ROW_KEYS.set(false);
    result
}

/// The plan of `sql` in full and as EXPLAIN shows it, or its error.
fn plan(sql: &str) -> Result<(String, String), String> {
    let planned = bind_shared(sql).map_err(|error| error.to_string())?;
    Ok((format!("{:?} {}", planned.plan, planned.shareable), explain(&planned.plan)))
}

/// Whether WHERE of `sql` is kept as keys; if it is, these make the conditions that it is bound to otherwise.
fn is_kept(sql: &str) -> bool {
    let conditions = |block: &Block| format!("{:?}", block.filter);
    let mut bound = String::new();
    by_conditions(|| {
        with_bound_shared(sql, |query, _| match query {
            Query::Select(block) => bound = conditions(&block),
            Query::Union(_) => {}
        });
    });
    let mut is_kept = false;
    with_bound_shared(sql, |query, ctx| {
        let Query::Select(mut block) = query else { return };
        is_kept = block.row_keys.is_some();
        assert_eq!(block.filter.is_empty(), is_kept, "{sql}");
        block.expand_row_keys(&builder(ctx));
        assert_eq!(conditions(&block), bound, "{sql}");
    });
    is_kept
}

/// Compares both ways of planning `sql`; how many of its queries are planned with keys of parameters.
fn compare(sql: &str) -> usize {
    let before = FLAT_LISTS.get();
    let by_keys = plan(sql);
    let flat = FLAT_LISTS.get() - before;
    assert_eq!(by_keys, by_conditions(|| plan(sql)), "{sql}");
    assert_eq!(FLAT_LISTS.get() - before, flat, "{sql}");
    flat
}

#[test]
fn keys_of_integer_literals_are_kept_as_parameters() {
    for condition in [
        "w = 1 AND i = 5",
        "i = 5 AND stock.w = 1",
        "w = 99999999999999999999 AND i = 18446744073709551615",
        "(w, i) IN ((1, 5), (1, 7))",
        "(i, w) IN ((1, 5), (1, 5), (7, 1), (5, 1))",
        "(w, db.stock.i) IN ((1, 5), (99999999999999999999, 9223372036854775808)) LIMIT 3",
        "(w, i) IN ((1, 5), (1, 7), (3, 5)) LIMIT 1 OFFSET 1",
        "(W, I) IN ((1, 5), (1, 7)) LOCK IN SHARE MODE",
    ] {
        for lock in ["", " FOR UPDATE"] {
            let lock = if condition.contains("LOCK IN") { "" } else { lock };
            let sql = format!("SELECT quantity q, name, w + 1 FROM stock WHERE {condition}{lock}");
            assert!(is_kept(&sql), "{sql}");
            assert_eq!(compare(&sql), 1, "{sql}");
        }
    }
    for sql in ["SELECT name FROM emp WHERE id = 3", "SELECT 1 FROM many m WHERE m.id = 99999999999999999999"]
    {
        assert!(is_kept(sql), "{sql}");
        assert_eq!(compare(sql), 1, "{sql}");
    }
}

#[test]
fn keys_that_no_short_way_serves_become_conditions() {
    let rows = (0..17).map(|n| format!("({n}, 1)")).collect::<Vec<_>>().join(", ");
    for sql in [
        // The path of another index, or hints, have to be compared.
        "SELECT 1 FROM stock IGNORE INDEX (PRIMARY) WHERE w = 1 AND i = 5",
        "SELECT 1 FROM stock FORCE INDEX (n) WHERE (w, i) IN ((1, 5), (1, 7))",
        "SELECT 1 FROM stock WHERE w = 1 AND i = 5 UNION SELECT 2 FROM stock WHERE (w, i) IN ((1, 5), (1, 7))",
        "SELECT 1, (SELECT MAX(id) FROM emp) FROM stock WHERE w = 1 AND i = 5",
    ] {
        is_kept(sql);
        assert_eq!(compare(sql), 0, "{sql}");
    }
    for condition in [
        "(w, i) IN ((1, 5), (1, NULL))",
        "(w, i) IN ((1, 5), (1, '7'))",
        "(w, i) IN ((1, 5), (1, 7.5))",
        "(w, i) IN ((1, 5), (1, -7))",
        "(w, i) IN ((1, 5), (1, 7e0))",
        "(w, i) IN ((1, 5), (1, 0x10))",
        "(w, i) IN ((1, 5), (1, quantity))",
        "(w, i) NOT IN ((1, 5), (1, 7))",
        "(w, w) IN ((1, 5), (1, 7))",
        "(w, quantity) IN ((1, 5), (1, 7))",
        "(w, i + 0) IN ((1, 5), (1, 7))",
        "(w, i, quantity) IN ((1, 5, 1), (1, 7, 1))",
        "(w, i) IN ((1, 5))",
        "(w, i) IN ((1, 5), (1, 7)) AND quantity > 3",
        "(w, i) IN ((1, 5), (1, 7)) ORDER BY quantity",
        "(w, i) IN ((1, 5), (1, 7)) GROUP BY w",
        "(w, i) IN ((1, 5), (1, 7)) HAVING w > 1",
        "(w, i) IN ((1, 5, 6), (1, 7))",
        "(w, i) IN ((1, 5), 7)",
        "(w, nothing) IN ((1, 5), (1, 7))",
        "(w, other.i) IN ((1, 5), (1, 7))",
        "w = 1",
        "w = 1 AND w = 2",
        "w = 1 AND quantity = 5",
        "w = 1 AND i = -5",
        "w = 1 AND i = '5'",
        "w = 1 AND i = 5.0",
        "w = 1 AND 5 = i",
        "w = 1 AND i <=> 5",
        "w = 1 AND i = 5 AND quantity = 3",
        "w = 1 AND i = i",
        "w = 1 OR i = 5",
        "name = 5",
        "other.w = 1 AND i = 5",
    ] {
        assert_eq!(compare(&format!("SELECT quantity q FROM stock WHERE {condition}")), 0, "{condition}");
    }
    for sql in [
        format!("SELECT 1 FROM stock WHERE (w, i) IN ({rows})"),
        "SELECT MAX(quantity) FROM stock WHERE (w, i) IN ((1, 5), (1, 7))".to_owned(),
        "SELECT DISTINCT quantity FROM stock WHERE (w, i) IN ((1, 5), (1, 7))".to_owned(),
        "SELECT 1 FROM stock s JOIN emp e WHERE (s.w, s.i) IN ((1, 5), (1, 7))".to_owned(),
        "SELECT 1 FROM stock WHERE quantity IN (SELECT quantity FROM stock WHERE w = 1 AND i = 5)".to_owned(),
        "SELECT 1 FROM salaries WHERE emp_no = 7 AND from_date = 5".to_owned(),
        "UPDATE stock SET quantity = 1 WHERE (w, i) IN ((1, 5), (1, 7))".to_owned(),
        "DELETE FROM stock WHERE w = 1 AND i = 5".to_owned(),
        "INSERT INTO emp (id, name) SELECT w, 'x' FROM stock WHERE w = 1 AND i = 5".to_owned(),
    ] {
        assert_eq!(compare(&sql), 0, "{sql}");
    }
}

#[test]
fn drawn_conditions_are_planned_as_without_keys_of_parameters() {
    let mut prng = Prng::new(11);
    let mut flat = 0;
    for _ in 0..500 {
        let sql = format!("SELECT quantity{} FROM stock WHERE {}", alias(&mut prng), condition(&mut prng));
        flat += compare(&sql);
    }
    assert!(flat > 100, "{flat} plans with keys of parameters");
}

fn alias(prng: &mut Prng) -> &'static str {
    ["", " q", " w", " i"][prng.below(4) as usize]
}

/// A literal, mostly an integer.
fn value(prng: &mut Prng) -> &'static str {
    const VALUES: [&str; 10] =
        ["1", "5", "0", "77", "127", "2147483648", "99999999999999999999", "6", "-1", "2.5"];
    let count = if prng.below(8) == 0 { VALUES.len() as u64 } else { 8 };
    VALUES[prng.below(count) as usize]
}

/// A condition on whole keys, mostly.
fn condition(prng: &mut Prng) -> String {
    let (a, b) = if prng.below(2) == 0 { ("i", "w") } else { ("w", "i") };
    if prng.below(4) == 0 {
        return format!("{a} = {} AND {b} = {}", value(prng), value(prng));
    }
    let rows: Vec<String> =
        (0..=prng.below(18)).map(|_| format!("({}, {})", value(prng), value(prng))).collect();
    let not = if prng.below(8) == 0 { "NOT " } else { "" };
    format!("({a}, {b}) {not}IN ({})", rows.join(", "))
}
