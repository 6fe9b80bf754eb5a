use base::memory::StatementAccount;
use bumpalo::Bump;
use types::{OwnedValue, TypeKind, Value};

use super::{Accumulator, AccumulatorSpec, AggFunc};
use crate::test_session::{Operand, TestSession, builder, column, dec};
use crate::{EvalCtx, Expr, Warning};

/// The text of an aggregate of the values, whose type is that of `arg`.
fn aggregate(func: AggFunc, arg: Expr, distinct: bool, values: &[OwnedValue]) -> String {
    let typed = builder().aggregate(func, vec![arg]).unwrap();
    let spec =
        AccumulatorSpec { func, args: &typed.args, distinct, order: &[], separator: b",", ty: &typed.ty };
    let (arena, session) = (Bump::new(), TestSession::default());
    let ctx = EvalCtx::new(&arena, &[], &session);
    let mut accumulator = Accumulator::new(&spec, &StatementAccount::unlimited());
    for value in values {
        accumulator.update(&[value.as_value()], &[], &ctx).unwrap();
    }
    accumulator.result(&ctx).unwrap().as_value().display_text()
}

fn ints(values: &[i64]) -> Vec<OwnedValue> {
    values.iter().map(|v| OwnedValue::Int(*v)).collect()
}

fn texts(values: &[&str]) -> Vec<OwnedValue> {
    let owned = |v: &&str| Value::text(v.as_bytes(), "".expr().ty.collation).to_owned_value();
    values.iter().map(owned).collect()
}

#[test]
fn sums_and_averages_are_exact() {
    let int = || column(TypeKind::BigInt);
    assert_eq!(aggregate(AggFunc::Sum, int(), false, &ints(&[i64::MAX, i64::MAX])), "18446744073709551614");
    assert_eq!(aggregate(AggFunc::Avg, int(), false, &ints(&[1, 2, 2])), "1.6667");
    assert_eq!(aggregate(AggFunc::Sum, int(), true, &ints(&[1, 2, 2])), "3");
    assert_eq!(aggregate(AggFunc::Sum, int(), false, &[]), "NULL");
    let decimals = [dec("0.10"), dec("0.20")].map(OwnedValue::Decimal);
    assert_eq!(aggregate(AggFunc::Sum, column(TypeKind::Decimal), false, &decimals), "0.30");
    assert_eq!(aggregate(AggFunc::Avg, column(TypeKind::Decimal), false, &decimals), "0.150000");
}

#[test]
fn nulls_do_not_count() {
    let values = [OwnedValue::Null, OwnedValue::Int(3)];
    assert_eq!(aggregate(AggFunc::Count, column(TypeKind::BigInt), false, &values), "1");
    assert_eq!(aggregate(AggFunc::Min, column(TypeKind::BigInt), false, &values), "3");
    assert_eq!(aggregate(AggFunc::AnyValue, column(TypeKind::BigInt), false, &values), "NULL");
}

#[test]
fn repetitions_are_told_by_the_collation() {
    let values = texts(&["a", "A", "b"]);
    assert_eq!(aggregate(AggFunc::Count, "".expr(), true, &values), "2");
    assert_eq!(aggregate(AggFunc::GroupConcat, "".expr(), true, &values), "a,b");
    assert_eq!(aggregate(AggFunc::Max, "".expr(), false, &values), "b");
}

#[test]
fn bits_and_variances_have_neutral_starts() {
    let int = || column(TypeKind::BigInt);
    assert_eq!(aggregate(AggFunc::BitAnd, int(), false, &[]), "18446744073709551615");
    assert_eq!(aggregate(AggFunc::BitOr, int(), false, &ints(&[1, 6])), "7");
    assert_eq!(aggregate(AggFunc::BitXor, int(), true, &ints(&[5, 5, 3])), "6");
    assert_eq!(aggregate(AggFunc::VarPop, int(), false, &ints(&[1, 2, 3, 4])), "1.25");
    assert_eq!(aggregate(AggFunc::VarSamp, int(), false, &ints(&[1])), "NULL");
}

#[test]
fn sums_have_the_types_of_mysql() {
    let ty = |func, arg: Expr| builder().aggregate(func, vec![arg]).unwrap().ty.to_string();
    assert_eq!(ty(AggFunc::Sum, column(TypeKind::Int)), "decimal(32,0)");
    assert_eq!(ty(AggFunc::Avg, column(TypeKind::Int)), "decimal(14,4)");
    assert_eq!(ty(AggFunc::Sum, column(TypeKind::Decimal)), "decimal(32,2)");
    assert_eq!(ty(AggFunc::Avg, column(TypeKind::Decimal)), "decimal(14,6)");
    assert_eq!(ty(AggFunc::Sum, column(TypeKind::VarChar)), "double");
    assert_eq!(ty(AggFunc::BitOr, column(TypeKind::Int)), "bigint unsigned");
}

#[test]
fn texts_are_joined_in_order_and_cut_between_characters() {
    let (arena, session) = (Bump::new(), TestSession { concat_limit: 4, ..TestSession::default() });
    let ctx = EvalCtx::new(&arena, &[], &session);
    let typed = builder().aggregate(AggFunc::GroupConcat, vec!["".expr()]).unwrap();
    let key = column(TypeKind::BigInt);
    let spec = AccumulatorSpec {
        func: AggFunc::GroupConcat,
        args: &typed.args,
        distinct: false,
        order: &[(&key, true)],
        separator: b"|",
        ty: &typed.ty,
    };
    let mut accumulator = Accumulator::new(&spec, &StatementAccount::unlimited());
    for (text, order) in [("\u{e4}", 1), ("bc", 2)] {
        let value = Value::text(text.as_bytes(), "".expr().ty.collation);
        accumulator.update(&[value], &[Value::Int(order)], &ctx).unwrap();
    }
    let result = accumulator.result(&ctx).unwrap();
    assert_eq!(result.as_value().display_text(), "bc|", "half a character is not shown");
    assert_eq!(*session.warnings.borrow(), [Warning::GroupConcatCut { row: 2 }]);
}
