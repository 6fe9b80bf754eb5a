use expr::ExprKind;

use super::support::*;
use crate::point::{LOCKED, NEVER_LOCKS};
use crate::*;
use engine::{BeginOptions, Isolation};
use sql::plan::*;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use trx::LockKind;
use types::{SqlType, TableDef, Value};
use wire::{Capabilities, ResultCharset};

fn param(n: u16) -> expr::Expr {
    expr::Expr { kind: ExprKind::Param(n), ty: SqlType::bigint(), nullable: true }
}

#[test]
fn a_constant_needs_no_table() {
    let mut bench = Bench::new();
    let plan = query_plan(Vec::new(), Node::Dual, vec![int(1), text("a"), null()]);
    assert_eq!(bench.query(plan, &[]), rows(&[&["1", "a", "NULL"]]));
}

#[test]
fn constants_are_answered_as_their_program_does() {
    let mut bench = Bench::new();
    let long = "x".repeat(300);
    let lists = [vec![int(1)], vec![int(-7), text("a"), null(), text(&long)], (0..40).map(int).collect()];
    for list in lists {
        let plan = Plan::Query(query_plan(Vec::new(), Node::Dual, list));
        for (protocol, eof) in [
            (Protocol::Text, Capabilities::default()),
            (Protocol::Text, Capabilities::DEPRECATE_EOF),
            (Protocol::Binary, Capabilities::DEPRECATE_EOF),
        ] {
            bench.capabilities = eof;
            let (outcome, bytes) = bench.run_as(protocol, plan.clone(), &[]);
            let outcome = outcome.unwrap();
            assert_eq!((outcome.rows_sent, outcome.found_rows), (1, 1));
            assert_eq!(bench.constants(protocol, plan.clone(), ResultCharset::UTF8MB4), Some(bytes));
        }
        let latin1 = ResultCharset { collation: Some(8), max_bytes: 1 };
        assert_eq!(bench.constants(Protocol::Text, plan, latin1), None);
    }
    let plan = query_plan(Vec::new(), Node::Dual, vec![int(1), param(0)]);
    assert_eq!(bench.constants(Protocol::Text, Plan::Query(plan), ResultCharset::UTF8MB4), None);
}

#[test]
fn a_point_read_finds_one_row_or_none() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 500);
    let plan = select_all(&def, Path::Point { index: 0, key: [param(0)].into() }, None);
    assert_eq!(bench.query(plan.clone(), &[Value::Int(42)]), rows(&[&["42", "2", "name 42"]]));
    for missing in [Value::Int(500), Value::Int(1 << 40), Value::Null, Value::Double(1.5)] {
        assert!(bench.query(plan.clone(), &[missing]).is_empty(), "{missing:?}");
    }
    assert_eq!(bench.query(plan, &[Value::binary(b"7")]).len(), 1);
}

/// Packets of the rows that a point read, a range, a read column by column and the first run of a program
/// send for `id`.
fn four_ways(bench: &mut Bench, def: &Arc<TableDef>, protocol: Protocol, id: i64) -> [Vec<Vec<u8>>; 4] {
    let point = select_all(def, Path::Point { index: 0, key: [param(0)].into() }, None);
    let bound = || Some(Box::new((param(0), true)));
    let (eq, null_safe) = (Vec::new(), Vec::new());
    let range = Path::Range { index: 0, eq, null_safe, lower: bound(), upper: bound(), reverse: false };
    let range = select_all(def, range, None);
    // Off the usual character set, text is converted and columns are written one by one.
    let latin1 = ResultCharset { collation: Some(8), max_bytes: 1 };
    let usual = ResultCharset::UTF8MB4;
    [
        (point.clone(), usual, false),
        (range, usual, false),
        (point.clone(), latin1, false),
        (point, usual, true),
    ]
    .map(|(plan, charset, is_first_run)| {
        (bench.charset, bench.is_first_run) = (charset, is_first_run);
        let (outcome, bytes) = bench.run_as(protocol, Plan::Query(plan), &[Value::Int(id)]);
        (bench.charset, bench.is_first_run) = (usual, false);
        let rows = packets(&bytes).split_off(1 + def.columns.len());
        assert_eq!(outcome.unwrap().rows_sent, rows.len() as u64);
        rows
    })
}

#[test]
fn a_point_read_sends_what_other_ways_send_of_every_version() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 50);
    let long = "long ".repeat(3);
    bench.insert(&def, &[&[int(60), null(), null()], &[int(61), int(-5), text(&long)]]).unwrap();
    bench.engine.commit(&mut bench.trx).unwrap();
    let options = *bench.trx.options();
    bench.trx.restart(options);
    let compare = |bench: &mut Bench, id: i64| {
        for protocol in [Protocol::Text, Protocol::Binary] {
            let [point, range, columns, first] = four_ways(bench, &def, protocol, id);
            assert_eq!(point, range, "row {id}, {protocol:?}");
            assert_eq!(point, first, "row {id}, {protocol:?}");
            assert_eq!(point, columns, "row {id}, {protocol:?}");
        }
        four_ways(bench, &def, Protocol::Text, id)[0].clone()
    };
    let before: Vec<_> = (38..63).map(|id| compare(&mut bench, id)).collect();
    let other = bench.engine.begin(options);
    let reader = std::mem::replace(&mut bench.trx, other);
    let replace =
        InsertPlan { mode: InsertMode::Replace, ..insert_plan(&def, &[&[int(42), null(), text("new")]]) };
    bench.run_as(Protocol::Text, Plan::Insert(replace), &[]).0.unwrap();
    bench.engine.commit(&mut bench.trx).unwrap();
    bench.trx.restart(options);
    assert_ne!(compare(&mut bench, 42), before[4], "the newest version");
    bench.engine.commit(&mut bench.trx).unwrap();
    bench.trx = reader;
    let after: Vec<_> = (38..63).map(|id| compare(&mut bench, id)).collect();
    assert_eq!(after, before, "the version that the reader's view sees");
}

/// What a statement answers, counts and locks, in a transaction of its own at this isolation level.
fn locking(
    bench: &mut Bench,
    plan: &Plan,
    isolation: Isolation,
    protocol: Protocol,
) -> (Outcome, Vec<u8>, u64, Vec<LockKind>) {
    bench.trx.restart(BeginOptions { isolation, ..*bench.trx.options() });
    let before = bench.rows_examined.load(Ordering::Relaxed);
    let (outcome, bytes) = bench.run_as(protocol, plan.clone(), &[]);
    let examined = bench.rows_examined.load(Ordering::Relaxed) - before;
    let locks = bench.engine.trx_system().lock_report().locks.into_iter().map(|lock| lock.kind).collect();
    bench.engine.commit(&mut bench.trx).unwrap();
    (outcome.unwrap(), bytes, examined, locks)
}

#[test]
fn a_locking_point_read_sends_and_locks_what_the_general_way_does() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 50);
    let delete = bench.plan("DELETE FROM t WHERE id IN (0, 7, 49)");
    bench.run_as(Protocol::Text, delete, &[]).0.unwrap();
    bench.insert(&def, &[&[int(60), null(), null()]]).unwrap();
    bench.engine.commit(&mut bench.trx).unwrap();
    let sent = LOCKED.get();
    for clause in ["FOR UPDATE", "FOR SHARE", "FOR UPDATE NOWAIT", "FOR SHARE SKIP LOCKED"] {
        for id in [-1, 0, 1, 7, 8, 48, 49, 50, 60, 61] {
            let plan = bench.plan(&format!("SELECT k, t.* FROM t WHERE id = {id} {clause}"));
            for isolation in [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable] {
                for (protocol, is_first_run) in
                    [(Protocol::Text, true), (Protocol::Text, false), (Protocol::Binary, false)]
                {
                    bench.is_first_run = is_first_run;
                    let quick = locking(&mut bench, &plan, isolation, protocol);
                    NEVER_LOCKS.set(true);
                    let general = locking(&mut bench, &plan, isolation, protocol);
                    NEVER_LOCKS.set(false);
                    assert_eq!(quick, general, "{id} {clause}, {isolation:?}, {protocol:?}");
                }
            }
        }
    }
    assert_eq!(LOCKED.get() - sent, 4 * 4 * 9, "rows that are there");
}

#[test]
fn locking_reads_of_a_list_of_rows_send_and_lock_what_the_general_way_does() {
    let mut bench = Bench::new();
    filled(&mut bench, "t", 50);
    let delete = bench.plan("DELETE FROM t WHERE id IN (0, 7, 49)");
    bench.run_as(Protocol::Text, delete, &[]).0.unwrap();
    bench.engine.commit(&mut bench.trx).unwrap();
    let sent = LOCKED.get();
    for clause in ["FOR UPDATE", "FOR SHARE NOWAIT", "LIMIT 2 FOR UPDATE", "FOR UPDATE SKIP LOCKED"] {
        for list in ["3, 1, 2", "0, 1, 48, 49, 50", "7, 8, 7, 70", "5, 5", "-1, 60"] {
            let plan = bench.plan(&format!("SELECT k, t.* FROM t WHERE id IN ({list}) {clause}"));
            for isolation in [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable] {
                for protocol in [Protocol::Text, Protocol::Binary] {
                    let quick = locking(&mut bench, &plan, isolation, protocol);
                    NEVER_LOCKS.set(true);
                    let general = locking(&mut bench, &plan, isolation, protocol);
                    NEVER_LOCKS.set(false);
                    assert_eq!(quick, general, "{list} {clause}, {isolation:?}, {protocol:?}");
                }
            }
        }
    }
    assert_eq!(LOCKED.get() - sent, 3 * 7 * 6, "rows that are there, where there is no LIMIT");
}

#[test]
fn the_binary_protocol_has_fixed_widths() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 3);
    let plan = select_all(&def, Path::Point { index: 0, key: [param(0)].into() }, None);
    let (outcome, bytes) = bench.run_as(Protocol::Binary, Plan::Query(plan), &[Value::Int(2)]);
    assert_eq!(outcome.unwrap().rows_sent, 1);
    assert_eq!(packets(&bytes)[4], b"\0\0\x02\0\0\0\x02\0\0\0\x06name 2");
}

#[test]
fn values_that_do_not_fit_name_their_column_and_row() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 0);
    let error =
        bench.insert(&def, &[&[int(1), int(1), null()], &[int(2), int(1 << 40), null()]]).unwrap_err();
    assert!(matches!(&error, ExecError::Store { column, row: 2, .. } if &**column == "k"), "{error:?}");
    let error = bench.insert(&def, &[&[null(), int(1), null()]]).unwrap_err();
    assert!(matches!(&error, ExecError::ColumnNull { column } if &**column == "id"), "{error:?}");
    assert!(bench.query(select_all(&def, Path::Scan { index: 0, reverse: false }, None), &[]).is_empty());
}

#[test]
fn a_failed_insert_leaves_nothing() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 3);
    let error = bench.insert(&def, &[&[int(9), null(), null()], &[int(2), null(), null()]]).unwrap_err();
    assert!(matches!(error, ExecError::Engine(engine::Error::DuplicateKey(_))), "{error:?}");
    let plan = select_all(&def, Path::Scan { index: 0, reverse: false }, None);
    assert_eq!(bench.query(plan, &[]).len(), 3);
}
