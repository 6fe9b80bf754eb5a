use std::sync::Arc;

use expr::{AggFunc, CmpDomain, CmpOp, ColumnRef, Expr, ExprKind, SubqueryForm};
use sql::plan::*;
use types::{SqlType, TableDef};

use super::support::*;

fn scan(rel: u16) -> Box<Node> {
    let path = Path::Scan { index: 0, reverse: false };
    Box::new(Node::Access { rel, path, filter: None, index_condition: None, covering: false })
}

fn key(expr: Expr, desc: bool) -> SortKey {
    SortKey { expr, desc }
}

fn agg(func: AggFunc, args: Vec<Expr>, ty: SqlType) -> AggSpec {
    AggSpec {
        func,
        args,
        distinct: false,
        order: Vec::new(),
        separator: b",".as_slice().into(),
        ty,
        nullable: true,
    }
}

fn made(columns: &[SqlType]) -> Relation {
    let column = |ty: &SqlType| Column { name: "c".into(), ty: ty.clone(), nullable: true };
    Relation::Rows { columns: columns.iter().map(column).collect() }
}

fn big(rel: u16, col: u16) -> Expr {
    Expr::column(rel, col, SqlType::bigint(), true)
}

#[test]
fn rows_are_sorted_stably_and_the_first_of_them_found() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 3000);
    for limit in [None, Some(12), Some(2000)] {
        let mut plan = select_all(&def, Path::Scan { index: 0, reverse: false }, None);
        plan.root = Node::Sort {
            input: scan(0),
            keys: vec![key(col(&def, 0, 1), true)],
            rels: vec![0],
            limit: limit.map(int),
        };
        let got: Vec<i64> = bench.query(plan, &[]).iter().map(|row| row[0].parse().unwrap()).collect();
        let mut expected: Vec<i64> = (0..3000).collect();
        expected.sort_by_key(|id| -(id % 10));
        expected.truncate(limit.unwrap_or(3000) as usize);
        assert_eq!(got, expected);
    }
}

fn grouped(def: &Arc<TableDef>, sorted: bool) -> QueryPlan {
    let sum = agg(AggFunc::Sum, vec![col(def, 0, 0)], SqlType::decimal(32, 0));
    let count = agg(AggFunc::Count, Vec::new(), SqlType::bigint());
    let root = Node::Aggregate {
        input: if sorted {
            let path = Path::Scan { index: 1, reverse: false };
            Box::new(Node::Access { rel: 0, path, filter: None, index_condition: None, covering: true })
        } else {
            scan(0)
        },
        rel: 1,
        groups: vec![col(def, 0, 1)],
        aggs: vec![sum, count],
        sorted,
    };
    let relations = vec![relation(def), made(&[int_type(), SqlType::decimal(32, 0), SqlType::bigint()])];
    let sum = Expr::column(1, 1, SqlType::decimal(32, 0), true);
    query_plan(relations, root, vec![Expr::column(1, 0, int_type(), true), sum, big(1, 2)])
}

#[test]
fn groups_come_in_the_order_of_their_first_row() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 30);
    let expected: Vec<Row> =
        (0..10).map(|k| vec![k.to_string(), (3 * k + 30).to_string(), "3".to_owned()]).collect();
    assert_eq!(bench.query(grouped(&def, false), &[]), expected);
    assert_eq!(bench.query(grouped(&def, true), &[]), expected);
}

#[test]
fn without_groups_there_is_one_row_even_of_nothing() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 0);
    let root = Node::Aggregate {
        input: scan(0),
        rel: 1,
        groups: Vec::new(),
        aggs: vec![
            agg(AggFunc::Count, Vec::new(), SqlType::bigint()),
            agg(AggFunc::Max, vec![col(&def, 0, 0)], int_type()),
        ],
        sorted: false,
    };
    let relations = vec![relation(&def), made(&[SqlType::bigint(), int_type()])];
    let plan = query_plan(relations, root, vec![big(1, 0), Expr::column(1, 1, int_type(), true)]);
    assert_eq!(bench.query(plan, &[]), rows(&[&["0", "NULL"]]));
    assert!(bench.query(grouped(&def, false), &[]).is_empty());
    assert!(bench.query(grouped(&def, true), &[]).is_empty());
}

#[test]
fn distinct_keeps_the_first_of_equal_rows() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 25);
    let root = Node::Distinct { input: scan(0), exprs: vec![col(&def, 0, 1)] };
    let plan = query_plan(vec![relation(&def)], root, vec![col(&def, 0, 0)]);
    let expected: Vec<Row> = (0..10).map(|i| vec![i.to_string()]).collect();
    assert_eq!(bench.query(plan, &[]), expected);
}

#[test]
fn a_hash_join_pairs_rows_in_outer_then_inner_order() {
    let mut bench = Bench::new();
    let (a, b) = (filled(&mut bench, "a", 4), filled(&mut bench, "b", 12));
    let limit = Box::new(Node::Filter { input: scan(1), cond: compare(CmpOp::Ne, col(&b, 1, 0), int(3)) });
    for kind in [JoinKind::Inner, JoinKind::Left] {
        let root = Node::HashJoin {
            kind,
            outer: scan(0),
            inner: limit.clone(),
            keys: vec![(col(&a, 0, 1), col(&b, 1, 1), CmpDomain::Integer)],
            on: None,
            inner_rels: vec![1],
        };
        let plan = query_plan(vec![relation(&a), relation(&b)], root, vec![col(&a, 0, 0), col(&b, 1, 2)]);
        let mut expected = rows(&[
            &["0", "name 0"],
            &["0", "name 10"],
            &["1", "name 1"],
            &["1", "name 11"],
            &["2", "name 2"],
        ]);
        if kind == JoinKind::Left {
            expected.push(vec!["3".to_owned(), "NULL".to_owned()]);
        }
        assert_eq!(bench.query(plan, &[]), expected);
    }
}

#[test]
fn derived_tables_are_streamed_or_kept() {
    let mut bench = Bench::new();
    let def = filled(&mut bench, "t", 4);
    let inner = query_plan(vec![relation(&def)], *scan(0), vec![col(&def, 0, 0), col(&def, 0, 2)]);
    let derived = |rel| Box::new(Node::Derived { rel, query: Box::new(inner.clone()) });
    let columns = [int_type(), text_type(60)];
    let name = |rel| Expr::column(rel, 1, text_type(60), true);
    let plan = query_plan(vec![made(&columns)], *derived(0), vec![name(0)]);
    assert_eq!(bench.query(plan, &[]).len(), 4);
    let root = Node::Join {
        kind: JoinKind::Inner,
        outer: derived(0),
        inner: derived(1),
        on: Some(compare(CmpOp::Lt, big(0, 0), big(1, 0))),
        inner_rels: vec![1],
    };
    let plan = query_plan(vec![made(&columns), made(&columns)], root, vec![name(0), name(1)]);
    let got = bench.query(plan, &[]);
    assert_eq!((got.len(), &got[0]), (6, &rows(&[&["name 0", "name 1"]])[0]));
}

#[test]
fn a_union_drops_duplicates_as_far_as_distinct_reaches() {
    let mut bench = Bench::new();
    let arm = |value| query_plan(Vec::new(), Node::Dual, vec![int(value)]);
    let arms = vec![arm(1), arm(1), arm(2), arm(1), arm(2)];
    for (distinct_after, expected) in [(None, "11212"), (Some(2), "1212"), (Some(4), "12")] {
        let root = Node::Union { rel: 0, arms: arms.clone(), distinct_after };
        let plan = query_plan(vec![made(&[SqlType::bigint()])], root, vec![big(0, 0)]);
        let got: String = bench.query(plan, &[]).concat().concat();
        assert_eq!(got, expected);
    }
}

fn subquery(form: SubqueryForm, needle: Option<Expr>) -> Expr {
    let kind = ExprKind::Subquery { plan: 0, form, needle: needle.map(Box::new) };
    Expr { kind, ty: SqlType::bigint(), nullable: true }
}

#[test]
fn subqueries_run_once_or_once_a_row() {
    let mut bench = Bench::new();
    let (a, b) = (filled(&mut bench, "a", 15), filled(&mut bench, "b", 3));
    let all_of_b = |filter| {
        let path = Path::Scan { index: 0, reverse: false };
        let root = Node::Access { rel: 0, path, filter, index_condition: None, covering: false };
        query_plan(vec![relation(&b)], root, vec![col(&b, 0, 0)])
    };
    let mut plan = select_all(&a, Path::Scan { index: 0, reverse: false }, None);
    plan.output = [output(col(&a, 0, 0))].into();
    let is_in = SubqueryForm::In { negated: false, domain: CmpDomain::Integer };
    plan.root = Node::Filter { input: scan(0), cond: subquery(is_in, Some(col(&a, 0, 1))) };
    plan.subqueries =
        vec![SubPlan { query: all_of_b(None), outer_base: 0, outer: Vec::new(), repeatable: true }];
    let once = bench.query(plan.clone(), &[]).concat();
    assert_eq!(once, ["0", "1", "2", "10", "11", "12"]);
    let param = Expr { kind: ExprKind::Param(0), ty: int_type(), nullable: true };
    let filter = Some(compare(CmpOp::Eq, col(&b, 0, 0), param));
    let outer = vec![ColumnRef { rel: 0, col: 1 }];
    plan.subqueries = vec![SubPlan { query: all_of_b(filter), outer_base: 0, outer, repeatable: true }];
    let exists = SubqueryForm::Exists { negated: false };
    plan.root = Node::Filter { input: scan(0), cond: subquery(exists, None) };
    assert_eq!(bench.query(plan.clone(), &[]).concat(), once);
    plan.root = *scan(0);
    plan.output = [output(col(&a, 0, 0)), output(subquery(SubqueryForm::Scalar, None))].into();
    let got = bench.query(plan, &[]);
    assert_eq!((&got[2][..], &got[13][..]), (&rows(&[&["2", "2"]])[0][..], &rows(&[&["13", "NULL"]])[0][..]));
}

#[test]
fn a_scalar_subquery_of_two_rows_is_an_error() {
    let mut bench = Bench::new();
    let b = filled(&mut bench, "b", 2);
    let query = query_plan(vec![relation(&b)], *scan(0), vec![col(&b, 0, 0)]);
    let mut plan = query_plan(Vec::new(), Node::Dual, vec![subquery(SubqueryForm::Scalar, None)]);
    plan.subqueries = vec![SubPlan { query, outer_base: 0, outer: Vec::new(), repeatable: true }];
    let error = bench.run_as(crate::Protocol::Text, Plan::Query(plan), &[]).0.unwrap_err();
    assert!(matches!(error, crate::ExecError::SubqueryRows), "{error:?}");
}
