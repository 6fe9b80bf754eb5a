use std::sync::atomic::Ordering;

use expr::CmpOp;

use super::support::*;
use crate::access::runs::ROWS_IN_RUNS;
use sql::plan::*;

#[test]
fn a_scan_filters_in_either_direction() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 2000);
    for reverse in [false, true] {
        let filter = compare(CmpOp::Ge, col(&def, 0, 0), int(1990));
        let plan = select_all(&def, Path::Scan { index: 0, reverse }, Some(filter));
        let got: Vec<i64> = bench.query(plan, &[]).iter().map(|row| row[0].parse().unwrap()).collect();
        let mut expected: Vec<i64> = (1990..2000).collect();
        if reverse {
            expected.reverse();
        }
        assert_eq!(got, expected);
    }
}

#[test]
fn rows_behind_a_secondary_index_come_in_its_order() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 100);
    let path = Path::Range {
        index: 1,
        eq: vec![int(3)],
        null_safe: vec![false],
        lower: None,
        upper: None,
        reverse: false,
    };
    let got = bench.query(select_all(&def, path, None), &[]);
    assert_eq!(got.len(), 10);
    assert_eq!(got[1], ["13", "3", "name 13"]);
    let mut covered = select_all(&def, points(1, &[9, 2]), None);
    covered.output = covered.output[..2].into();
    if let Node::Access { covering, .. } = &mut covered.root {
        *covering = true;
    }
    let got = bench.query(covered, &[]);
    assert_eq!(
        (got.len(), &got[0][..], &got[19][..]),
        (20, &rows(&[&["2", "2"]])[0][..], &rows(&[&["99", "9"]])[0][..])
    );
}

#[test]
fn bounds_include_what_they_say_and_never_null() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 50);
    bench.insert(&def, &[&[int(100), null(), null()]]).unwrap();
    let mut count = |lower: Option<(i64, bool)>, upper: Option<(i64, bool)>| {
        let bound = |b: Option<(i64, bool)>| b.map(|(value, inclusive)| Box::new((int(value), inclusive)));
        let path = Path::Range {
            index: 1,
            eq: Vec::new(),
            null_safe: Vec::new(),
            lower: bound(lower),
            upper: bound(upper),
            reverse: false,
        };
        bench.query(select_all(&def, path, None), &[]).len()
    };
    assert_eq!(count(Some((3, true)), Some((5, true))), 15);
    assert_eq!(count(Some((3, false)), Some((5, false))), 5);
    assert_eq!(count(None, Some((1, true))), 10);
    assert_eq!(count(Some((8, true)), None), 10);
    assert_eq!(count(None, Some((1 << 40, false))), 50);
    assert_eq!(count(Some((1 << 40, false)), None), 0);
}

#[test]
fn a_limit_stops_early_and_skips() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 100);
    let mut plan = select_all(&def, Path::Scan { index: 0, reverse: false }, None);
    let input = Box::new(plan.root);
    plan.root = Node::Limit { input, offset: Some(int(5)), count: Some(int(2)) };
    let got = bench.query(plan, &[]);
    assert_eq!(got.iter().map(|row| &row[0][..]).collect::<Vec<_>>(), ["5", "6"]);
}

#[test]
fn a_left_join_fills_up_with_nulls() {
    let mut bench = Bench::new();
    let (a, b) = (filled(&mut bench, "a", 20), filled(&mut bench, "b", 5));
    let access = |rel, path| {
        Box::new(Node::Access { rel, path, filter: None, index_condition: None, covering: false })
    };
    let root = Node::Join {
        kind: JoinKind::Left,
        outer: access(0, Path::Scan { index: 0, reverse: false }),
        inner: access(1, Path::Point { index: 0, key: [col(&a, 0, 1)].into() }),
        on: None,
        inner_rels: vec![1],
    };
    let plan = query_plan(vec![relation(&a), relation(&b)], root, vec![col(&a, 0, 0), col(&b, 1, 2)]);
    let got = bench.query(plan, &[]);
    assert_eq!(got.len(), 20);
    assert_eq!(got[14], ["14", "name 4"]);
    assert_eq!(got[15], ["15", "NULL"]);
}

#[test]
fn large_answers_are_flushed_between_leaves() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 20_000);
    let plan = select_all(&def, Path::Scan { index: 0, reverse: false }, None);
    assert_eq!(bench.query(plan, &[]).len(), 20_000);
}

#[test]
fn neighbours_that_pass_a_filter_are_the_rows_one_at_a_time() {
    let mut bench = Bench::new();
    filled(&mut bench, "t", 3000);
    for (tests, rows) in
        [("id >= 10", 2990), ("id <> 1500 AND id <> 1501", 2998), ("id < 0", 0), ("k <> 3", 2700)]
    {
        for limit in ["", " LIMIT 1", " LIMIT 9", " LIMIT 700", " LIMIT 20, 900"] {
            let mut answer = |test: &str| {
                let examined = bench.rows_examined.load(Ordering::Relaxed);
                let answer = bench
                    .select(&format!("SELECT id, k FROM t IGNORE INDEX (k, PRIMARY) WHERE {test}{limit}"));
                (answer, bench.rows_examined.load(Ordering::Relaxed) - examined)
            };
            let before = ROWS_IN_RUNS.get();
            let in_runs = answer(tests);
            let run = ROWS_IN_RUNS.get() - before;
            assert!(limit.is_empty() || run < 2300, "{run} rows for {tests}{limit}");
            assert!(!limit.is_empty() || rows == run, "{run} rows for {tests}");
            // What the interpreter decides comes a row at a time.
            assert_eq!(in_runs, answer(&format!("({tests}) + 0 = 1")), "{tests}{limit}");
        }
    }
}
