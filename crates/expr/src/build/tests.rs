use types::{CollationId, SqlModes, SqlType, TypeKind};

use super::{BindError, Builder, CastTo};
use crate::test_session::{Nil, Operand, builder, call, column, dec, evaluate, text, warnings};
use crate::{CmpDomain, CmpOp, Expr, ExprKind, Func, Warning, fold};

fn domain_of(a: impl Operand, b: impl Operand) -> CmpDomain {
    match builder().compare(CmpOp::Eq, a.expr(), b.expr()).unwrap().kind {
        ExprKind::Compare { domain, .. } => domain,
        other => panic!("{other:?}"),
    }
}

fn cast(value: impl Operand, to: CastTo<'_>) -> Result<Expr, BindError> {
    builder().cast(value.expr(), to)
}

fn char_of(length: u32) -> CastTo<'static> {
    CastTo::Char { length: Some(length), charset: None, binary: false }
}

#[test]
fn comparisons_choose_their_domain() {
    use TypeKind::{BigInt, Date, DateTime, Decimal, Time, VarChar};
    assert_eq!(domain_of(1, 2), CmpDomain::Integer);
    assert_eq!(domain_of(1, dec("1.5")), CmpDomain::Decimal);
    assert_eq!(domain_of(1, 1.0), CmpDomain::Double);
    assert_eq!(domain_of(1, "1"), CmpDomain::Double);
    assert_eq!(domain_of(column(Decimal), "1"), CmpDomain::Decimal, "the text is a constant");
    assert_eq!(domain_of(column(Decimal), column(VarChar)), CmpDomain::Double);
    assert_eq!(domain_of(dec("1.5"), "1"), CmpDomain::Double);
    assert_eq!(domain_of(column(BigInt), "5"), CmpDomain::Integer, "the text is an integer");
    assert_eq!(domain_of(column(BigInt), "5x"), CmpDomain::Number);
    assert_eq!(domain_of(column(BigInt), 5.0), CmpDomain::Number);
    assert_eq!(domain_of(column(BigInt), column(VarChar)), CmpDomain::Number);
    assert_eq!(domain_of(column(Date), "2024-01-01"), CmpDomain::DateTime);
    assert_eq!(domain_of(column(Date), column(DateTime)), CmpDomain::DateTime);
    assert_eq!(domain_of(column(DateTime), 20240101), CmpDomain::DateTime);
    assert_eq!(domain_of(column(DateTime), column(BigInt)), CmpDomain::Double);
    assert_eq!(domain_of(column(Time), "10:00"), CmpDomain::Time);
    let column_wins = CmpDomain::String(CollationId::UTF8MB4_0900_AI_CI);
    assert_eq!(domain_of(column(VarChar), "a"), column_wins);
    assert_eq!(domain_of(builder().hex(b"a"), 97), CmpDomain::Integer);
    assert_eq!(domain_of(builder().hex(b"a"), "a"), CmpDomain::String(CollationId::BINARY));
}

#[test]
fn constants_that_are_no_dates_are_refused() {
    let refused = builder().compare(CmpOp::Eq, column(TypeKind::Date), "garbage".expr());
    let value = "garbage".to_owned();
    assert_eq!(refused.unwrap_err(), BindError::IncorrectTemporal { type_name: "DATE", value });
    assert!(builder().date_literal(b"2024-02-30").is_err());
    assert!(builder().time_literal(b"25:61:61").is_err());
}

#[test]
fn collations_are_combined_by_coercibility() {
    let explicit = |text: &str, name| builder().collate(text.expr(), name).unwrap();
    let equal = |a, b| builder().compare(CmpOp::Eq, a, b);
    assert_eq!(text(equal(explicit("a", "utf8mb4_bin"), "A".expr())), "0");
    assert_eq!(text(equal("a".expr(), "A ".expr())), "1");
    let mixed = equal(explicit("a", "utf8mb4_bin"), explicit("b", "utf8mb4_general_ci")).unwrap_err();
    let (left, right) = ("utf8mb4_bin,EXPLICIT".to_owned(), "utf8mb4_general_ci,EXPLICIT".to_owned());
    assert_eq!(mixed, BindError::IllegalMix { left, right, operation: "=".to_owned() });
    assert!(matches!(
        builder().collate("a".expr(), "latin1_swedish_ci"),
        Err(BindError::CollationCharset { collation: "latin1_swedish_ci", charset: "utf8mb4" })
    ));
    assert!(matches!(builder().collate("a".expr(), "nosuch"), Err(BindError::UnknownCollation { .. })));
}

#[test]
fn character_sets_meet_where_the_text_fits() {
    let latin1 = Expr::column(0, 0, SqlType::varchar(9, CollationId::LATIN1_SWEDISH_CI), false);
    let utf8 = column(TypeKind::VarChar);
    assert_eq!(domain_of(latin1.clone(), "a"), CmpDomain::String(CollationId::LATIN1_SWEDISH_CI));
    assert_eq!(domain_of(latin1.clone(), utf8), CmpDomain::String(CollationId::UTF8MB4_0900_AI_CI));
    // A constant that does not fit is refused when it is converted.
    assert_eq!(domain_of(latin1, "\u{4e2d}"), CmpDomain::String(CollationId::LATIN1_SWEDISH_CI));
}

#[test]
fn functions_are_found_by_name_and_count() {
    assert!(matches!(call!("nosuch", 1), Err(BindError::UnknownFunction { .. })));
    assert_eq!(call!("LENGTH").unwrap_err(), BindError::ParameterCount { name: "LENGTH".to_owned() });
    assert!(matches!(call!("round", 1, 2, 3), Err(BindError::ParameterCount { .. })));
    assert!(matches!(call!("now", 7), Err(BindError::TooBigPrecision { given: 7, .. })));
}

#[test]
fn results_have_the_types_that_the_protocol_shows() {
    use TypeKind::*;
    let kind = |e: Result<Expr, BindError>| (e.as_ref().unwrap().ty.kind, e.unwrap().ty.decimals);
    let binary = |func, a: Expr, b: Expr| builder().operator(func, vec![a, b]);
    assert_eq!(kind(binary(Func::Div, 7.expr(), 2.expr())), (Decimal, 4));
    assert_eq!(kind(binary(Func::Mul, dec("1.10").expr(), dec("2.20").expr())), (Decimal, 4));
    assert_eq!(kind(binary(Func::Add, 1.expr(), Nil.expr())), (Double, 0));
    assert_eq!(kind(call!("round", dec("1.298"), 1)), (Decimal, 1));
    assert_eq!(kind(call!("concat", "a")), (VarChar, 0));
    assert_eq!(kind(call!("left", "abc", 2)), (VarChar, 0));
    assert_eq!(kind(call!("year", "2024-01-01")), (Year, 0));
    assert_eq!(kind(call!("now", 6)), (DateTime, 6));
    assert_eq!(kind(call!("adddate", "2024-01-01", 1)), (Char, 0));
    assert_eq!(kind(call!("if", 1, 1, dec("2.5"))), (Decimal, 1));
    assert_eq!(kind(call!("ifnull", Nil, "x")), (VarChar, 0));
    assert_eq!(kind(call!("coalesce", 1, "x")), (VarChar, 0));
    assert_eq!(kind(builder().negate(u64::MAX.expr())), (Decimal, 0));
    assert_eq!(kind(builder().negate((1u64 << 63).expr())), (BigInt, 0));
}

#[test]
fn casts_convert_and_warn() {
    let truncated = |type_name: &str, value: &str| Warning::TruncatedWrongValue {
        type_name: type_name.to_owned(),
        value: value.to_owned(),
    };
    let (minus_one, number) = (u64::MAX.expr(), "12abc");
    assert_eq!(text(cast(minus_one, CastTo::Signed)), "-1");
    assert_eq!(text(cast(number, CastTo::Signed)), "12");
    assert_eq!(warnings(cast(number, CastTo::Signed)), [truncated("INTEGER", number)]);
    assert_eq!(text(cast("-5", CastTo::Unsigned)), "18446744073709551611");
    assert_eq!(warnings(cast("-5", CastTo::Unsigned)), [Warning::NegativeToUnsigned]);
    assert_eq!(text(cast(dec("-0.5"), CastTo::Decimal(Some(10), Some(0)))), "-1");
    assert_eq!(text(cast(99999, CastTo::Decimal(Some(3), Some(1)))), "99.9");
    assert_eq!(text(cast(300, char_of(2))), "30");
    assert_eq!(warnings(cast(300, char_of(2))), [truncated("CHAR(2)", "300")]);
    assert_eq!(text(cast("abc", CastTo::Binary(Some(5)))), "abc\0\0");
    assert_eq!(text(cast(20240102, CastTo::Date)), "2024-01-02");
    assert_eq!(text(cast("10:11:12.999", CastTo::Time(0))), "10:11:13");
    assert_eq!(text(cast("2024-01-02 03:04:05.678", CastTo::DateTime(2))), "2024-01-02 03:04:05.68");
    assert_eq!(warnings(cast("2024-13-01", CastTo::Date)), [truncated("date", "2024-13-01")]);
    assert!(matches!(cast(1, CastTo::Decimal(Some(66), None)), Err(BindError::TooBigPrecision { .. })));
    assert!(matches!(cast(1, CastTo::Decimal(Some(5), Some(6))), Err(BindError::ScaleAbovePrecision)));
}

#[test]
fn conditions_and_lists_evaluate() {
    let b: Builder = builder();
    let like = |s: &str, p: &str, esc| b.like(s.expr(), p.expr(), esc, false);
    assert_eq!(text(like("abc", "A_C", Some('\\'))), "1");
    assert_eq!(text(like("a%c", "a\\%c", Some('\\'))), "1");
    assert_eq!(text(like("a_b", "a|_b", Some('|'))), "1");
    assert_eq!(text(b.in_list(4.expr(), vec![1.expr(), Nil.expr()], false)), "NULL");
    assert_eq!(text(b.in_list("a".expr(), vec!["A".expr(), "b".expr()], false)), "1");
    assert_eq!(text(b.between(5.expr(), 1.expr(), 4.expr(), true)), "1");
    assert_eq!(text(b.case(Some(1.expr()), vec![(1.expr(), "one".expr())], None)), "one");
    assert_eq!(text(call!("nullif", 1, 1)), "NULL");
    let and = b.and(vec![b.and(vec![1.expr(), 1.expr()]), 0.expr()]);
    assert!(matches!(&and.kind, ExprKind::And(terms) if terms.len() == 3), "nested terms are flattened");
    assert_eq!(evaluate(&and).unwrap().0, "0");
}

#[test]
fn folding_keeps_what_asks_or_warns() {
    let is_constant = |e: Result<Expr, BindError>| matches!(fold(e.unwrap()).kind, ExprKind::Const(_));
    assert!(is_constant(call!("concat", "a", call!("upper", "b").unwrap())));
    assert!(is_constant(builder().operator(Func::Div, vec![1.expr(), 3.expr()])));
    assert!(!is_constant(builder().operator(Func::Div, vec![1.expr(), 0.expr()])), "warns");
    assert!(!is_constant(builder().operator(Func::Add, vec![i64::MAX.expr(), 1.expr()])), "fails");
    assert!(!is_constant(call!("now")));
    assert!(!is_constant(call!("rand")));
    assert!(!is_constant(call!("abs", column(TypeKind::BigInt))));
}

#[test]
fn what_is_volatile_is_not_called_to_bind_and_is_no_constant() {
    use crate::build::kept_constant::is_constant;
    use crate::fold::constant_value;
    let calls = [
        call!("rand"),
        call!("rand", 1),
        call!("uuid"),
        call!("sleep", 0),
        call!("sysdate"),
        call!("benchmark", 1, 1),
        call!("get_lock", "a", 0),
        call!("release_lock", "a"),
        call!("is_free_lock", "a"),
        call!("concat", call!("benchmark", 1, 1).unwrap()),
    ];
    for call in calls.map(Result::unwrap) {
        assert_eq!(constant_value(&call, SqlModes::DEFAULT), None, "{call:?}");
        assert!(!is_constant(&call), "{call:?}");
        assert!(!matches!(fold(call).kind, ExprKind::Const(_)));
    }
    assert!(is_constant(&call!("concat", "a").unwrap()));
    let large = (0..20).fold(column(TypeKind::VarChar), |text, _| call!("concat", text, "a").unwrap());
    assert!(!is_constant(&large.held()), "what it stands for varies");
}
