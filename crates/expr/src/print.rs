//! Expressions as text, for the errors that quote them.

use crate::func::Func;
use crate::{EvalCtx, Expr, ExprKind};
use types::{OwnedValue, SqlType, TypeKind};

/// The expression as MySQL's errors show it: `(a + 1)`, `cast(1 as unsigned)`.
#[cold]
pub(crate) fn to_text(expr: &Expr, ctx: &EvalCtx<'_>) -> String {
    let list = |args: &[Expr], separator: &str| {
        args.iter().map(|e| to_text(e, ctx)).collect::<Vec<_>>().join(separator)
    };
    match &expr.kind {
        ExprKind::Const(value) => constant(value),
        ExprKind::Param(n) => ctx
            .params
            .get(usize::from(*n))
            .map_or_else(|| "?".to_owned(), |value| constant(&value.to_owned_value())),
        ExprKind::Column(column) => {
            ctx.subqueries.column_name(*column).unwrap_or_else(|| format!("#{}", column.col))
        }
        ExprKind::And(args) => format!("({})", list(args, " and ")),
        ExprKind::Or(args) => format!("({})", list(args, " or ")),
        ExprKind::Xor(args) => format!("({})", list(&args[..], " xor ")),
        ExprKind::Not(arg) => format!("(not({}))", to_text(arg, ctx)),
        ExprKind::Compare { op, args, .. } => format!("({})", list(&args[..], &format!(" {} ", op.symbol()))),
        ExprKind::Cast { arg, .. } => format!("cast({} as {})", to_text(arg, ctx), cast_name(&expr.ty)),
        ExprKind::Call { func: Func::CutText | Func::PadBytes, args } => list(args, ""),
        ExprKind::Call { func, args } => match (infix(*func), &args[..]) {
            (Some(symbol), [_, _]) => format!("({})", list(args, &format!(" {symbol} "))),
            (Some(symbol), _) => format!("{symbol}({})", list(args, "")),
            (None, _) => format!("{}({})", func.name(), list(args, ",")),
        },
        ExprKind::UserVar(name) => format!("(@`{name}`)"),
        ExprKind::SysVar { name, .. } => format!("@@{name}"),
        ExprKind::Case { arms, otherwise } => case(arms, otherwise.as_deref(), ctx),
        ExprKind::IsNull { negated, arg } => {
            format!("({} is {}null)", to_text(arg, ctx), if *negated { "not " } else { "" })
        }
        ExprKind::IsTruth { negated, truth, arg } => {
            let not = if *negated { "not " } else { "" };
            format!("({} is {not}{truth})", to_text(arg, ctx))
        }
        ExprKind::Between { negated, args, .. } => {
            let [value, low, high] = [0, 1, 2].map(|i| to_text(&args[i], ctx));
            format!("({value} {}between {low} and {high})", if *negated { "not " } else { "" })
        }
        ExprKind::In { negated, needle, list: items, .. } => {
            let not = if *negated { "not " } else { "" };
            format!("({} {not}in ({}))", to_text(needle, ctx), list(items, ","))
        }
        ExprKind::Like { negated, args, .. } => {
            let like = format!("({})", list(&args[..], " like "));
            if *negated { format!("(not({like}))") } else { like }
        }
        ExprKind::Let { body: shown, .. } | ExprKind::Held { shown: Some(shown), .. } => to_text(shown, ctx),
        ExprKind::Subquery { .. } => "(select ...)".to_owned(),
        _ => "(...)".to_owned(),
    }
}

/// CASE; one of a single condition may have been written as IF, which is more usual.
fn case(arms: &[(Expr, Expr)], otherwise: Option<&Expr>, ctx: &EvalCtx<'_>) -> String {
    if let ([(condition, result)], Some(other)) = (arms, otherwise) {
        return format!("if({},{},{})", to_text(condition, ctx), to_text(result, ctx), to_text(other, ctx));
    }
    let mut text = "(case".to_owned();
    for (condition, result) in arms {
        text.push_str(&format!(" when {} then {}", to_text(condition, ctx), to_text(result, ctx)));
    }
    if let Some(other) = otherwise {
        text.push_str(&format!(" else {}", to_text(other, ctx)));
    }
    text + " end)"
}

fn constant(value: &OwnedValue) -> String {
    let text = value.as_value().message_text();
    match value {
        OwnedValue::Int(_) | OwnedValue::Decimal(_) | OwnedValue::Double(_) if text.starts_with('-') => {
            format!("-({})", &text[1..])
        }
        OwnedValue::Bytes { .. } => format!("'{text}'"),
        OwnedValue::Date(_) => format!("DATE'{text}'"),
        OwnedValue::Time(..) => format!("TIME'{text}'"),
        OwnedValue::DateTime(..) => format!("TIMESTAMP'{text}'"),
        OwnedValue::Bit { value, bytes } => format!("0x{value:0width$x}", width = usize::from(*bytes) * 2),
        _ => text,
    }
}

fn cast_name(ty: &SqlType) -> String {
    match ty.kind {
        TypeKind::BigInt if ty.unsigned => "unsigned".to_owned(),
        TypeKind::BigInt => "signed".to_owned(),
        TypeKind::VarChar | TypeKind::Text(_) => "char".to_owned(),
        TypeKind::VarBinary | TypeKind::Blob(_) => "binary".to_owned(),
        _ => ty.to_string(),
    }
}

fn infix(func: Func) -> Option<&'static str> {
    Some(match func {
        Func::Neg | Func::Sub => "-",
        Func::Add => "+",
        Func::Mul => "*",
        Func::Div => "/",
        Func::IntDiv => "DIV",
        Func::Mod => "%",
        Func::BitAnd => "&",
        Func::BitOr => "|",
        Func::BitXor => "^",
        Func::ShiftLeft => "<<",
        Func::ShiftRight => ">>",
        Func::BitNot => "~",
        _ => return None,
    })
}
