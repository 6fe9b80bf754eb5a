//! Expressions as text, for the errors that quote them.

use std::fmt::Write;

use crate::build::charset_of;
use crate::func::Func;
use crate::{CmpOp, EvalCtx, Expr, ExprKind, RowPart};
use types::temporal::IntervalUnit;
use types::{Charset, CollationId, OwnedValue, SqlModes, SqlType, TypeKind};

/// The expression as MySQL's errors show it: `(a + 1)`, `cast(1 as unsigned)`.
#[cold]
pub(crate) fn to_text(expr: &Expr, ctx: &EvalCtx<'_>) -> String {
    let expr = expr.unpadded().unwrap_or(expr);
    match &expr.kind {
        ExprKind::Const(value) => introducer(value, &expr.ty, ctx) + &constant(value, &expr.ty),
        ExprKind::Param(_) if ctx.session.hides_parameters() => "?".to_owned(),
        ExprKind::Param(n) => ctx
            .params
            .get(usize::from(*n))
            .map_or_else(|| "?".to_owned(), |value| constant(&value.to_owned_value(), &expr.ty)),
        ExprKind::Column(column) => {
            let name = ctx.subqueries.column_name(*column).unwrap_or_else(|| format!("#{}", column.col));
            if ctx.session.modes().has(SqlModes::ANSI_QUOTES) { name.replace('`', "\"") } else { name }
        }
        ExprKind::Cast { arg, is_written: true, .. } => {
            format!("cast({} as {})", to_text(arg, ctx), cast_name(&expr.ty))
        }
        ExprKind::Cast { arg, .. } => to_text(arg, ctx),
        ExprKind::Call { func, args } => call_text(*func, args, &expr.ty, ctx),
        ExprKind::UserVar(name) => format!("(@`{name}`)"),
        ExprKind::SysVar { name, .. } => format!("@@{name}"),
        ExprKind::Case { arms, otherwise } => case(arms, otherwise.as_deref(), ctx),
        ExprKind::Let { body: shown, .. } | ExprKind::Held { shown: Some(shown), .. } => to_text(shown, ctx),
        ExprKind::Subquery { .. } => "(select ...)".to_owned(),
        _ => predicate_text(expr, ctx),
    }
}

fn list(args: &[Expr], separator: &str, ctx: &EvalCtx<'_>) -> String {
    args.iter().map(|e| to_text(e, ctx)).collect::<Vec<_>>().join(separator)
}

/// A comparison of rows, of those of their parts.
fn rows_text(parts: &[RowPart], ctx: &EvalCtx<'_>) -> String {
    let side = |at: usize| {
        let texts: Vec<String> = parts.iter().map(|part| to_text(&part.sides[at], ctx)).collect();
        texts.join(",")
    };
    let symbol = parts.first().map_or("", |part| part.op.symbol());
    format!("(({}) {symbol} ({}))", side(0), side(1))
}

/// A function or an operator that is one.
fn call_text(func: Func, args: &[Expr], ty: &SqlType, ctx: &EvalCtx<'_>) -> String {
    match func {
        Func::CutText | Func::PadBytes => match &args[0].kind {
            ExprKind::Cast { arg, .. } => {
                let (arg, length, charset) = (to_text(arg, ctx), ty.length, ty.charset().name());
                format!("cast({arg} as char({length}) charset {charset})")
            }
            _ => list(args, "", ctx),
        },
        Func::Bin => format!("conv({},10,2)", list(args, "", ctx)),
        Func::DateDiff => {
            let [a, b] = [0, 1].map(|i| to_text(&args[i], ctx));
            format!("(to_days({a}) - to_days({b}))")
        }
        Func::Oct => format!("conv({},10,8)", list(args, "", ctx)),
        Func::CachedValue => format!("<cache>({})", list(args, "", ctx)),
        Func::KeptNumber
        | Func::KeptValue
        | Func::MomentOfText
        | Func::AsMoment
        | Func::DateInList
        | Func::FullScale
        | Func::OwnDigits => list(args, "", ctx),
        Func::FormatUnixTime => {
            format!("date_format(from_unixtime({}),{})", to_text(&args[0], ctx), list(&args[1..], ",", ctx))
        }
        Func::ConvertUsing => {
            format!("convert({} using {})", list(args, "", ctx), ty.charset().name())
        }
        Func::Collate => {
            let name = ty.collation.collation().map_or("binary", |c| c.name);
            format!("({} collate {name})", list(args, "", ctx))
        }
        Func::Trim | Func::TrimLeading | Func::TrimTrailing => trimmed(func, args, ctx),
        Func::DateAdd(unit) => format!("({} {})", list(args, " + interval ", ctx), unit_name(unit)),
        Func::DateSub(unit) => format!("({} {})", list(args, " - interval ", ctx), unit_name(unit)),
        Func::Extract(unit) => format!("extract({} from {})", unit_name(unit), list(args, "", ctx)),
        Func::Timestamp | Func::DateOf | Func::TimeOf if args.len() == 1 => {
            format!("cast({} as {})", list(args, "", ctx), cast_name(ty))
        }
        _ => match (infix(func), args) {
            (Some(symbol), [_, _]) => format!("({})", list(args, &format!(" {symbol} "), ctx)),
            (Some(symbol), _) => format!("{symbol}({})", list(args, "", ctx)),
            (None, _) => format!("{}({})", func.name(), list(args, ",", ctx)),
        },
    }
}

/// What is true, false or NULL.
fn predicate_text(expr: &Expr, ctx: &EvalCtx<'_>) -> String {
    match &expr.kind {
        ExprKind::And(args) => format!("({})", list(args, " and ", ctx)),
        ExprKind::Or(args) => format!("({})", list(args, " or ", ctx)),
        ExprKind::Xor(args) => format!("({})", list(&args[..], " xor ", ctx)),
        ExprKind::Not(arg) => format!("(not({}))", to_text(arg, ctx)),
        ExprKind::Compare { op, args, .. } => {
            format!("({})", list(&args[..], &format!(" {} ", op.symbol()), ctx))
        }
        ExprKind::IsNull { negated, arg } => {
            format!("({} is {}null)", to_text(arg, ctx), if *negated { "not " } else { "" })
        }
        ExprKind::IsTruth { negated, truth, arg } => {
            let not = if *negated { "not " } else { "" };
            format!("({} is {not}{truth})", to_text(arg, ctx))
        }
        ExprKind::CompareRows(parts) => rows_text(parts, ctx),
        ExprKind::Between { negated, args, .. } => {
            let [value, low, high] = [0, 1, 2].map(|i| to_text(&args[i], ctx));
            format!("({value} {}between {low} and {high})", if *negated { "not " } else { "" })
        }
        ExprKind::In { negated, needle, list: items, .. } => {
            let not = if *negated { "not " } else { "" };
            format!("({} {not}in ({}))", to_text(needle, ctx), list(items, ",", ctx))
        }
        ExprKind::Like { negated, args, .. } => {
            let like = format!("({})", list(&args[..], " like ", ctx));
            if *negated { format!("(not({like}))") } else { like }
        }
        _ => "(...)".to_owned(),
    }
}

/// The name of a unit as MySQL shows it: `DayHour` is day_hour.
fn unit_name(unit: IntervalUnit) -> String {
    let mut name = String::new();
    for letter in format!("{unit:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// TRIM, whose second argument is what it takes away.
fn trimmed(func: Func, args: &[Expr], ctx: &EvalCtx<'_>) -> String {
    let side = match func {
        Func::TrimLeading => "leading ",
        Func::TrimTrailing => "trailing ",
        _ => "",
    };
    match args {
        [text, taken, ..] => format!("trim({side}{} from {})", to_text(taken, ctx), to_text(text, ctx)),
        _ => format!("trim({side}{})", args.iter().map(|e| to_text(e, ctx)).collect::<String>()),
    }
}

/// The introducer of a text that is not in the connection's character set. N'text' has none.
fn introducer(value: &OwnedValue, ty: &SqlType, ctx: &EvalCtx<'_>) -> String {
    let OwnedValue::Bytes { collation, .. } = value else { return String::new() };
    let charset = charset_of(*collation);
    let is_hexadecimal = charset == Charset::Binary && ty.unsigned;
    let is_usual = charset == Charset::Utf8mb3 || charset == charset_of(ctx.session.connection_collation());
    if is_hexadecimal || is_usual { String::new() } else { format!("_{}", charset.name()) }
}

/// CASE; one of a single condition may have been written as IF, which is more usual.
fn case(arms: &[(Expr, Expr)], otherwise: Option<&Expr>, ctx: &EvalCtx<'_>) -> String {
    if let ([(condition, result)], Some(other)) = (arms, otherwise) {
        if let Some(text) = nullif(condition, result, other, ctx) {
            return text;
        }
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

/// NULLIF, which is a CASE whose one condition compares the result with another value.
fn nullif(condition: &Expr, result: &Expr, other: &Expr, ctx: &EvalCtx<'_>) -> Option<String> {
    let ExprKind::Compare { op: CmpOp::Eq, args, .. } = &condition.kind else { return None };
    let [a, b] = args.each_ref().map(|e| to_text(e, ctx));
    let is_null = matches!(result.kind, ExprKind::Const(OwnedValue::Null));
    (is_null && a == to_text(other, ctx)).then(|| format!("nullif({a},{b})"))
}

/// A constant as it is written; `ty` is its type.
fn constant(value: &OwnedValue, ty: &SqlType) -> String {
    let text = value.as_value().message_text();
    match value {
        // A number is longer than a truth value.
        OwnedValue::Int(truth) if ty.length == 1 && !ty.unsigned => (*truth != 0).to_string(),
        OwnedValue::Double(v) if *v < 0.0 => signed(with_exponent(-v), true),
        OwnedValue::Double(v) => written_double(*v, ty.length),
        OwnedValue::Int(_) | OwnedValue::Decimal(_) => {
            let digits = text.trim_start_matches('-');
            signed(digits.to_owned(), digits.len() < text.len())
        }
        OwnedValue::Bytes { data, collation: CollationId::BINARY } if ty.unsigned => hexadecimal(data),
        OwnedValue::Bytes { .. } => format!("'{}'", escaped(&text)),
        OwnedValue::Date(_) => format!("DATE'{text}'"),
        OwnedValue::Time(..) => format!("TIME'{text}'"),
        OwnedValue::DateTime(..) => format!("TIMESTAMP'{text}'"),
        OwnedValue::Bit { bytes: 0, .. } => "X''".to_owned(),
        OwnedValue::Bit { value, bytes } => format!("0x{value:0width$x}", width = usize::from(*bytes) * 2),
        _ => text,
    }
}

fn signed(digits: String, is_negative: bool) -> String {
    if is_negative { format!("-({digits})") } else { digits }
}

/// A double as it is written after a minus, which hides the length: with an exponent, as doubles are.
fn with_exponent(value: f64) -> String {
    let shortest = OwnedValue::Double(value).as_value().message_text();
    if shortest.contains('e') { shortest } else { shortest + "e0" }
}

/// A double as it may have been written in `length` characters; in its shortest digits if it was in none of
/// the usual ways.
fn written_double(value: f64, length: u32) -> String {
    let shortest = OwnedValue::Double(value).as_value().message_text();
    let ways = [format!("{value:e}"), format!("{shortest}e0"), shortest];
    let [.., shortest] = &ways;
    ways.iter().find(|way| way.len() == length as usize).unwrap_or(shortest).clone()
}

/// A text between quotes as MySQL shows it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' | '\'' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = "0x".to_owned();
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn cast_name(ty: &SqlType) -> String {
    match ty.kind {
        TypeKind::BigInt if ty.unsigned => "unsigned".to_owned(),
        TypeKind::BigInt => "signed".to_owned(),
        TypeKind::VarChar | TypeKind::Text(_) | TypeKind::VarBinary | TypeKind::Blob(_) => {
            format!("char charset {}", ty.charset().name())
        }
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
