//! Which statements ask indexes for the rows of their values, and whether their plans are for others.

use bumpalo::Bump;
use expr::EvalCtx;
use sql::dive::{self, Dives, Recheck};
use types::{ColumnDef, IndexDef, IndexKind, TableDef, Value};

use super::statements::EngineCatalog;
use super::support::*;

/// `grp` has 10 values, `day` as many as rows, of which there are 6,000.
fn start() -> Bench {
    let mut bench = Bench::new();
    let columns = ["id", "grp", "day", "other"].map(|name| ColumnDef::new(name, int_type(), false)).to_vec();
    let indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
        IndexDef::new("grp", IndexKind::Secondary, &[1]),
        IndexDef::new("day", IndexKind::Secondary, &[2]),
    ];
    let def = bench.create(TableDef::new("s", "t", columns, indexes));
    let rows: Vec<_> = (0..6_000).map(|n| [int(n), int(n % 10), int(n), int(n)]).collect();
    let rows: Vec<_> = rows.iter().map(|row| &row[..]).collect();
    bench.insert(&def, &rows).unwrap();
    bench
}

/// How often planning `sql` dives, and what its plan depends on.
fn ask(bench: &Bench, sql: &str) -> (u32, Vec<Recheck>) {
    let (arena, catalog) = (Bump::new(), EngineCatalog::new(&bench.engine));
    let dives = Dives::new(EvalCtx::new(&arena, &[], &bench.session), 200);
    let planned = bench.planned(sql, &catalog, Some(&dives));
    (catalog.dives.get(), planned.rechecks)
}

#[test]
fn indexes_are_asked_only_where_there_is_a_choice_among_expensive_paths() {
    let bench = start();
    for (sql, dives, rechecks) in [
        ("SELECT other FROM t WHERE id = 7", 0, 0),
        ("SELECT other FROM t WHERE id BETWEEN 7 AND 5000", 0, 0),
        ("SELECT other FROM t WHERE id IN (1, 2, 3) AND grp = 5", 0, 0),
        ("SELECT other FROM t WHERE day = 7 AND grp = 5", 0, 0),
        ("SELECT day FROM t WHERE day > 7", 0, 0),
        ("SELECT other FROM t WHERE other > 7", 0, 0),
        ("SELECT other FROM t WHERE grp = 5 AND day > 7 LIMIT 5", 0, 0),
        ("SELECT other FROM t WHERE day > 7", 1, 1),
        ("SELECT other FROM t WHERE grp = 5 AND day > 7", 2, 1),
        ("SELECT other FROM t WHERE grp = 5 AND day BETWEEN 7 AND 9", 2, 1),
        ("SELECT other FROM t WHERE grp IN (1, 5, 5) AND day > 7", 3, 1),
        ("SELECT other FROM t WHERE grp = 5 AND day > 7 FOR UPDATE", 2, 1),
        ("SELECT other FROM t WHERE day > 7 FOR UPDATE", 0, 0),
    ] {
        let (asked, noted) = ask(&bench, sql);
        assert_eq!((asked, noted.len()), (dives, rechecks), "{sql}\n{noted:?}");
    }
    // Rows that the other side finds by a key do not depend on how many a range has.
    let join =
        "SELECT t.other FROM t AS o JOIN t ON t.id = o.other WHERE o.id = 7 AND t.grp = 5 AND t.day > 7";
    assert!(ask(&bench, join).1.is_empty());
}

#[test]
fn a_plan_is_good_for_values_that_make_no_other_path_far_cheaper() {
    let bench = start();
    let arena = Bump::new();
    let lifted = |values: &[i64]| values.iter().map(|&value| Value::Int(value)).collect::<Vec<_>>();
    let sql = "SELECT other FROM t WHERE grp = ? AND day BETWEEN ? AND ?";
    let serves = |made_for: &[i64], run_with: &[i64]| {
        let (made_for, run_with) = (lifted(made_for), lifted(run_with));
        let catalog = EngineCatalog::new(&bench.engine);
        let dives = Dives::new(EvalCtx::new(&arena, &made_for, &bench.session), 200);
        let planned = bench.planned(sql, &catalog, Some(&dives));
        assert_eq!(planned.rechecks.len(), 1);
        catalog.dives.set(0);
        let ctx = EvalCtx::new(&arena, &run_with, &bench.session);
        (dive::holds(&planned.rechecks, &catalog, &ctx), catalog.dives.get())
    };
    let (narrow, wide, wider) = ([5, 100, 110], [5, 100, 5_000], [5, 10, 5_900]);
    // What is cheap is not compared with anything.
    assert_eq!(serves(&narrow, &[5, 300, 340]), (true, 1));
    assert_eq!(serves(&narrow, &wide), (false, 2));
    assert_eq!(serves(&wide, &wider), (true, 2));
    assert_eq!(serves(&wide, &narrow), (false, 2));
}
