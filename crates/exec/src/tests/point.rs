use expr::ExprKind;

use super::support::*;
use crate::*;
use sql::plan::*;
use std::sync::Arc;
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

/// Packets of the rows that a point read, a range and a read column by column send for `id`.
fn three_ways(bench: &mut Bench, def: &Arc<TableDef>, protocol: Protocol, id: i64) -> [Vec<Vec<u8>>; 3] {
    let point = select_all(def, Path::Point { index: 0, key: [param(0)].into() }, None);
    let bound = || Some((param(0), true));
    let (eq, null_safe) = (Vec::new(), Vec::new());
    let range = Path::Range { index: 0, eq, null_safe, lower: bound(), upper: bound(), reverse: false };
    let range = select_all(def, range, None);
    // Off the usual character set, text is converted and columns are written one by one.
    let latin1 = ResultCharset { collation: Some(8), max_bytes: 1 };
    [(point.clone(), ResultCharset::UTF8MB4), (range, ResultCharset::UTF8MB4), (point, latin1)].map(
        |(plan, charset)| {
            bench.charset = charset;
            let (outcome, bytes) = bench.run_as(protocol, Plan::Query(plan), &[Value::Int(id)]);
            bench.charset = ResultCharset::UTF8MB4;
            let rows = packets(&bytes).split_off(1 + def.columns.len());
            assert_eq!(outcome.unwrap().rows_sent, rows.len() as u64);
            rows
        },
    )
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
            let [point, range, columns] = three_ways(bench, &def, protocol, id);
            assert_eq!(point, range, "row {id}, {protocol:?}");
            assert_eq!(point, columns, "row {id}, {protocol:?}");
        }
        three_ways(bench, &def, Protocol::Text, id)[0].clone()
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
