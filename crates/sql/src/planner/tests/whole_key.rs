//! Lookups of whole keys and of short lists of them, against the plans that comparing all paths finds.

use crate::bind::block::Query;
use crate::bind::tests::fixture::with_bound;
use crate::planner::draft::{Extra, PlanInput};
use crate::planner::outer::Params;
use crate::planner::{RULES, Rule, fold, key_list, select, whole_key};

/// What [`whole_key`] and [`key_list`] make of `sql`, and what the general way makes of it.
fn both_plans(sql: &str) -> (Option<String>, String) {
    let mut plans = None;
    with_bound(sql, |query, ctx| {
        let Query::Select(mut block) = query else { panic!("{sql}: a union") };
        let (extra, params) = (Extra::default(), Params::new(ctx.param_count));
        fold::apply(&mut PlanInput::new(&mut block, &extra, ctx, &params));
        let mut copy = block.clone();
        let found = match (whole_key::find(&copy, ctx), key_list::find(&copy, ctx)) {
            (Some(key), _) => Some(key.plan(&mut copy, &extra)),
            (None, Some(keys)) => Some(keys.plan(&mut copy, &extra)),
            (None, None) => None,
        };
        let is_direct = |rule: &&Rule| ["whole_key", "key_list"].contains(&rule.name());
        let by_paths: Vec<Rule> = RULES.iter().filter(|rule| !is_direct(rule)).copied().collect();
        let compared = select::by_rules(&by_paths, PlanInput::new(&mut block, &extra, ctx, &params));
        plans = Some((found.map(|plan| format!("{plan:?}")), format!("{compared:?}")));
    });
    plans.unwrap()
}

#[test]
fn a_lookup_of_a_whole_key_is_planned_as_comparing_all_paths_plans_it() {
    for sql in [
        "SELECT * FROM emp WHERE id = 3",
        "SELECT name FROM emp WHERE 3 = id FOR UPDATE",
        "SELECT name n, id FROM emp WHERE id = '3'",
        "SELECT salary + 1 FROM emp WHERE id = 3 AND salary > 5 AND name LIKE 'a%'",
        "SELECT 1 FROM emp WHERE dept = 4 AND id = 3 AND dept = 4 AND hired IS NOT NULL LIMIT 1",
        "SELECT SQL_CALC_FOUND_ROWS 1 FROM emp WHERE id = 3 LIMIT 0",
        "SELECT 1 FROM emp WHERE id = 3 AND dept IN (1, 2, 3) LIMIT 5, 0",
        "SELECT quantity FROM stock WHERE w = 1 AND i = 5",
        "SELECT quantity, name FROM stock s WHERE s.quantity <> 1 AND 5 = s.i AND s.name = 'x' AND s.w = 1",
        "SELECT c FROM many WHERE id = 1 AND c = 'x' AND a = 1 AND b = 2 LOCK IN SHARE MODE",
        "SELECT c FROM many WHERE id = 1 AND c = NULL",
    ] {
        let (found, compared) = both_plans(sql);
        assert_eq!(found.as_deref(), Some(&*compared), "{sql}");
    }
}

#[test]
fn a_short_list_of_whole_keys_is_planned_as_comparing_all_paths_plans_it() {
    let rows =
        |count: u32| (0..count).map(|n| format!("({n}, {})", n * 7 % 5)).collect::<Vec<_>>().join(", ");
    for condition in [
        "(w, i) IN ((1, 5), (1, 7))".to_owned(),
        "(i, w) IN ((5, 1), (7, 2), (9, 1)) LIMIT 2".to_owned(),
        "(w = 1 AND i = 5) OR (7 = i AND w = 2) FOR UPDATE".to_owned(),
        format!("(w, i) IN ({})", rows(16)),
    ] {
        let sql = format!("SELECT quantity q, name FROM stock WHERE {condition}");
        let (found, compared) = both_plans(&sql);
        assert_eq!(found.as_deref(), Some(&*compared), "{sql}");
    }
    for condition in [
        "id IN (3, 5, 4, 3) FOR UPDATE",
        "id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16) LIMIT 3",
    ] {
        let sql = format!("SELECT name, salary + 1 FROM emp WHERE {condition}");
        let (found, compared) = both_plans(&sql);
        assert_eq!(found.as_deref(), Some(&*compared), "{sql}");
    }
    for condition in [
        format!("(w, i) IN ({})", rows(17)),
        "(w, i) IN ((1, 5), (1, 7)) AND quantity > 5".to_owned(),
        "(w, i, quantity) IN ((1, 5, 3), (1, 7, 3))".to_owned(),
        "(w, i) NOT IN ((1, 5), (1, 7))".to_owned(),
        "(w, i) IN ((1, 5), (1, NULL))".to_owned(),
        "(w = 1 AND i = 5) OR (w = 2 AND i > 7)".to_owned(),
        "(w, i) IN ((1, 5), (1, 7)) ORDER BY quantity".to_owned(),
    ] {
        let sql = format!("SELECT quantity q FROM stock WHERE {condition}");
        assert_eq!(both_plans(&sql).0, None, "{sql}");
    }
    for condition in [
        "id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)",
        "id IN (3, 5) AND salary > 5",
        "id IN (3, NULL)",
        "id IN (3, 5.5)",
        "id IN (3, dept)",
        "id NOT IN (3, 5)",
        "dept IN (3, 5)",
    ] {
        let sql = format!("SELECT name FROM emp WHERE {condition}");
        assert_eq!(both_plans(&sql).0, None, "{sql}");
    }
}

#[test]
fn what_may_change_the_path_is_left_to_the_comparison_of_paths() {
    for sql in [
        "SELECT 1 FROM emp WHERE id > 3",
        "SELECT 1 FROM emp WHERE id = 3 AND id = 4",
        "SELECT 1 FROM emp WHERE id = 3 AND id > 2",
        "SELECT 1 FROM emp WHERE id = 3.5",
        "SELECT 1 FROM emp WHERE id = NULL",
        "SELECT 1 FROM emp WHERE id = 3 AND (dept = 1 OR dept = 2)",
        "SELECT 1 FROM emp WHERE id = 3 AND FALSE",
        "SELECT 1 FROM emp WHERE id = 3 AND id = dept",
        "SELECT 1 FROM emp WHERE id = 3 ORDER BY name",
        "SELECT MAX(name) FROM emp WHERE id = 3",
        "SELECT 1 FROM emp IGNORE INDEX (PRIMARY) WHERE id = 3",
        "SELECT 1 FROM emp WHERE id = 3 AND dept IN (SELECT id FROM dept)",
        "SELECT 1 FROM emp e JOIN dept d ON d.id = e.dept WHERE e.id = 3",
        "SELECT 1 FROM stock WHERE w = 1",
        "SELECT 1 FROM stock WHERE w = 1 AND w = 1",
        "SELECT 1 FROM stock WHERE name = 'x'",
        "SELECT 1 FROM salaries WHERE emp_no = 7 AND from_date = '2000-01-01'",
        "SELECT 1 FROM log WHERE line = 'x'",
    ] {
        assert_eq!(both_plans(sql).0, None, "{sql}");
    }
}
