//! The type rules of single functions, which the table of functions names.

use types::{CollationId, OwnedValue, SqlType};

pub(crate) use super::arith::{arithmetic, division, integer_division, integer_part, rounded, signed_number};
pub(crate) use super::format_width::formatted_time;
use super::fsp::{seconds_fsp, temporal_fsp};
use super::literal::{datetime_type, time_type};
use super::rules::{LONG_TEXT, bounded_text, constant_int};
pub(crate) use super::temporal::{add_time, str_to_date};
use super::{BindError, Builder, string_type};
use crate::Expr;
use crate::ExprKind;
use crate::func::Func;

/// The functions whose expression is built by hand.
pub(crate) fn build_special(builder: &Builder, func: Func, args: Vec<Expr>) -> Result<Expr, BindError> {
    let pair = |mut args: Vec<Expr>| match (args.pop(), args.pop()) {
        (Some(b), Some(a)) => Ok((a, b)),
        _ => Err(BindError::ParameterCount { name: func.name().into() }),
    };
    match func {
        Func::If => builder.if_call(args),
        Func::Coalesce => builder.coalesce(func, args),
        Func::NullIf => pair(args).and_then(|(a, b)| builder.nullif(a, b)),
        Func::Greatest | Func::Least => builder.extreme(func, args),
        Func::AddDate => builder.add_days(args, false),
        Func::SubDate => builder.add_days(args, true),
        Func::IsNull => Ok(builder.is_null(single(args, func)?, false)),
        Func::Elt => builder.elt(args),
        Func::Coercibility => Ok(builder.strength_of(&single(args, func)?)),
        _ => Err(BindError::NotSupported(func.name())),
    }
}

fn single(mut args: Vec<Expr>, func: Func) -> Result<Expr, BindError> {
    args.pop().ok_or_else(|| BindError::ParameterCount { name: func.name().into() })
}

/// IFNULL is COALESCE of two.
pub(crate) fn build_ifnull(builder: &Builder, func: Func, args: Vec<Expr>) -> Result<Expr, BindError> {
    builder.coalesce(func, args)
}

/// FIELD: strings in one collation, else numbers as they compare.
pub(crate) fn build_field(builder: &Builder, func: Func, mut args: Vec<Expr>) -> Result<Expr, BindError> {
    use super::typing::{Class, class_of, is_text};
    let is_shown_as_text =
        |e: &Expr| is_text(e) || matches!(class_of(e), Class::Null | Class::DateTime | Class::Time);
    if args.iter().all(is_shown_as_text) {
        match args.split_first_mut() {
            // What a text is compared with takes its character set, even if characters have no place there.
            Some((first, others)) if is_text(first) => {
                builder.bring_to_charset(others, first.ty.collation);
            }
            _ => {
                builder.agree_in_text(&mut args, "field")?;
            }
        }
    }
    let kind = ExprKind::Call { func, args: args.into() };
    Ok(Expr { kind, ty: SqlType::new(types::TypeKind::BigInt, 11), nullable: false })
}

/// FROM_UNIXTIME(n) is a DATETIME, FROM_UNIXTIME(n, format) text.
pub(crate) fn build_from_unixtime(builder: &Builder, func: Func, args: Vec<Expr>) -> Result<Expr, BindError> {
    if args.len() == 2 {
        return builder.call_func(Func::FormatUnixTime, args);
    }
    let ty = datetime_type(seconds_fsp(&args[0]));
    Ok(Expr { kind: ExprKind::Call { func, args: args.into() }, ty, nullable: true })
}

/// CHAR(..) without USING: four bytes an argument.
pub(crate) fn char_bytes(_: &Builder, _: Func, args: &[Expr]) -> SqlType {
    string_type(args.len() as u32 * 4, CollationId::BINARY)
}

/// UUID_TO_BIN.
pub(crate) fn uuid_bytes(_: &Builder, _: Func, _: &[Expr]) -> SqlType {
    string_type(16, CollationId::BINARY)
}

/// SPACE(n).
pub(crate) fn spaces(builder: &Builder, _: Func, args: &[Expr]) -> SqlType {
    let is_known = |e: &Expr| matches!(e.kind, ExprKind::Const(OwnedValue::Null)).then_some(0);
    let count = is_known(&args[0]).or_else(|| constant_int(&args[0]));
    bounded_text(count.map_or(LONG_TEXT, |n| n.max(0) as u64), builder.collation)
}

/// CONVERT_TZ.
pub(crate) fn datetime_of_first(_: &Builder, _: Func, args: &[Expr]) -> SqlType {
    datetime_type(temporal_fsp(&args[0]))
}

/// MAKETIME.
pub(crate) fn time_of_third(_: &Builder, _: Func, args: &[Expr]) -> SqlType {
    time_type(seconds_fsp(&args[2]))
}

/// SEC_TO_TIME.
pub(crate) fn time_of_seconds(_: &Builder, _: Func, args: &[Expr]) -> SqlType {
    time_type(seconds_fsp(&args[0]))
}
