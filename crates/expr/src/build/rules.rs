//! Type rules of functions: the columns of the table in `func_rules.rs`.

use types::temporal::{DateFlags, FSP_MAX};
use types::{CollationId, OwnedValue, SqlModes, SqlType, TypeKind, Value};

use super::fsp::{moment_fsp, temporal_fsp};
use super::literal::{datetime_type, time_type};
use super::typing::{Class, class_of, is_long_hexadecimal, is_text, numeric_class};
use super::{BindError, Builder, shown_chars, string_type};
use crate::fold::constant_value;
use crate::func::Func;
use crate::{Expr, ExprKind};

/// How a function's result is typed.
pub(crate) enum Rule {
    /// Signed integer.
    Int,
    /// Signed integer whose text has at most this many characters.
    Digits(u32),
    /// Unsigned integer.
    UInt,
    /// Unsigned integer whose text has at most this many characters.
    UDigits(u32),
    /// Truth value.
    Bool,
    /// DOUBLE.
    Double,
    /// DOUBLE with this many fraction digits and characters.
    Fixed(u8, u32),
    /// Text in the connection's collation of this many characters.
    Text(u32),
    /// Text made of the arguments, in their common collation; how long.
    FromTexts(fn(&[Expr]) -> u64),
    /// As `FromTexts`, but only of the first argument; the others are numbers.
    FromFirst(fn(&[Expr]) -> u64),
    /// Number or truth about the arguments' texts, which are compared in their common collation; how wide.
    IntOfTexts(u32),
    /// DATE.
    Date,
    /// YEAR.
    Year,
    /// TIME with the fraction digits of the arguments.
    Time,
    /// DATETIME with the fraction digits of the arguments.
    DateTime,
    /// NOW and its like: the kind, its fraction digits a constant argument.
    Clock(TypeKind),
    /// Computed by a function.
    Of(fn(&Builder, Func, &[Expr]) -> SqlType),
    /// The whole expression is built by a function.
    Build(fn(&Builder, Func, Vec<Expr>) -> Result<Expr, BindError>),
}

/// When a function's result may be NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// When an argument may be.
    Args,
    /// At any time.
    Maybe,
    /// Never.
    Never,
    /// In strict modes, as every text.
    Strict,
}

impl Builder {
    /// Applies `rule` to arguments of the right number.
    pub(super) fn apply(
        &self,
        func: Func,
        rule: &Rule,
        nulls: Nulls,
        args: Vec<Expr>,
    ) -> Result<Expr, BindError> {
        let mut args = args;
        if func.reads_time() {
            args = args.into_iter().map(super::temporal::read_for_time).collect();
        }
        super::temporal::read_years_as_times(func, &mut args);
        let ty = match rule {
            Rule::Build(build) => return build(self, func, args),
            Rule::Int => SqlType::bigint(),
            Rule::Digits(width) => SqlType::new(TypeKind::BigInt, *width),
            Rule::UInt => SqlType::bigint_unsigned(),
            Rule::UDigits(width) => SqlType { unsigned: true, ..SqlType::new(TypeKind::BigInt, *width) },
            Rule::Bool => super::logic::boolean_type(),
            Rule::Double => SqlType::double(),
            Rule::Fixed(decimals, width) => {
                SqlType { decimals: *decimals, ..SqlType::new(TypeKind::Double, *width) }
            }
            Rule::Text(chars) => string_type(*chars, self.collation),
            Rule::FromTexts(chars) => self.made_of_texts(func, *chars, &mut args)?,
            Rule::FromFirst(chars) => {
                let collation = self.result_collation(&[&args[0]], func.name())?;
                let first = std::mem::replace(&mut args[0], self.null());
                args[0] = self.in_charset(first, collation);
                bounded_text(chars(&args), collation)
            }
            Rule::IntOfTexts(width) => {
                self.share_charset(&mut args, func, true)?;
                SqlType::new(TypeKind::BigInt, *width)
            }
            Rule::Date => SqlType::new(TypeKind::Date, 10),
            Rule::Year => SqlType { unsigned: true, ..SqlType::new(TypeKind::Year, 4) },
            Rule::Time => time_type(args.iter().map(temporal_fsp).max().unwrap_or(0)),
            Rule::DateTime => {
                let times = args.iter().skip(1).map(temporal_fsp);
                datetime_type(times.chain(args.first().map(moment_fsp)).max().unwrap_or(0))
            }
            Rule::Clock(kind) => clock_type(*kind, args.first(), func)?,
            Rule::Of(type_of) => type_of(self, func, &args),
        };
        let nullable = match nulls {
            // In strict mode MySQL takes every text that a function makes for one that may be NULL.
            Nulls::Args if ty.is_string() && !func.is_bitwise() && func != Func::MakeSet => {
                let may_be_too_long = !matches!(rule, Rule::Text(_)) && is_longest(&ty);
                self.modes.is_strict() || may_be_too_long || args.iter().any(|e| e.nullable)
            }
            Nulls::Args => args.iter().any(|e| e.nullable),
            Nulls::Maybe => true,
            Nulls::Never => false,
            Nulls::Strict => self.modes.is_strict(),
        };
        self.read_branch_texts_for(func, &ty, &mut args);
        Ok(Expr { kind: ExprKind::Call { func, args: args.into() }, ty, nullable })
    }

    /// The type of a text made of the arguments, which become texts of its character set.
    fn made_of_texts(
        &self,
        func: Func,
        chars: fn(&[Expr]) -> u64,
        args: &mut Vec<Expr>,
    ) -> Result<SqlType, BindError> {
        // Quoted values are text, and NULL becomes a word.
        let is_quoted = func == Func::Quote;
        if is_quoted && is_bytes(&args[0]) {
            let bytes = self.text_of(std::mem::replace(&mut args[0], self.null()));
            args[0] = self.in_charset(bytes, self.collation);
        }
        let shared = self.share_charset(args, func, false)?;
        let is_binary = shared == CollationId::BINARY && !is_quoted;
        let collation = if is_quoted && shared == CollationId::BINARY { self.collation } else { shared };
        Ok(bounded_text(if is_binary { chars(&in_bytes(args)) } else { chars(args) }, collation))
    }

    /// The collation of a function's text arguments. Where one of them decides, the others get its character
    /// set.
    fn shared_collation(&self, args: &[Expr], func: Func, strict: bool) -> Result<CollationId, BindError> {
        let main = func.main_text();
        let decides = main.map(|main| &args[main]);
        let is_null = |e: &Expr| e.ty.kind == TypeKind::Null;
        if decides.is_some_and(|main| is_bytes(main) || is_null(main)) {
            return Ok(CollationId::BINARY);
        }
        if let Some(main) = decides {
            return Ok(if is_text(main) { main.ty.collation } else { self.collation });
        }
        let texts: Vec<&Expr> =
            args.iter().enumerate().filter(|(i, _)| func.takes_text(*i)).map(|(_, e)| e).collect();
        if strict {
            self.common_collation(&texts, func.name())
        } else {
            self.result_collation(&texts, func.name())
        }
    }

    /// Turns text arguments to the character set of their common collation. A comparison (`strict`) needs one
    /// collation; the evaluation takes it from the first argument's type.
    pub(super) fn share_charset(
        &self,
        args: &mut Vec<Expr>,
        func: Func,
        strict: bool,
    ) -> Result<CollationId, BindError> {
        let main = func.main_text();
        let collation = self.shared_collation(args, func, strict)?;
        *args = std::mem::take(args)
            .into_iter()
            .enumerate()
            .map(|(i, e)| {
                if !func.takes_text(i) {
                    return e;
                }
                let e = if main.is_some() && is_bytes(&e) { self.text_of(e) } else { e };
                let is_text = is_text(&e);
                let e = self.in_charset(e, collation);
                if strict && is_text && e.ty.collation != collation { recollated(e, collation) } else { e }
            })
            .collect();
        Ok(collation)
    }
}

/// Whether `expr` is bytes where a text is wanted.
fn is_bytes(expr: &Expr) -> bool {
    expr.ty.kind == TypeKind::Bit || (is_text(expr) && expr.ty.collation == CollationId::BINARY)
}

/// `expr` under another collation of its character set.
fn recollated(expr: Expr, collation: CollationId) -> Expr {
    let ty = string_type(shown_chars(&expr.ty), collation);
    let nullable = expr.nullable;
    Expr { kind: ExprKind::Call { func: Func::Collate, args: Box::new([expr]) }, ty, nullable }
}

/// `args` with the lengths of their texts in bytes, for a result that is made of their bytes.
fn in_bytes(args: &[Expr]) -> Vec<Expr> {
    let mut args = args.to_vec();
    for arg in args.iter_mut().filter(|e| e.ty.is_string()) {
        arg.ty = string_type(super::byte_width(&arg.ty), CollationId::BINARY);
    }
    args
}

fn clip(chars: u64) -> u32 {
    chars.min(u64::from(u32::MAX) / 4) as u32
}

/// The type of a text of at most `chars` characters, of which there are no more than the longest text has
/// bytes. One of unknown length has as many characters.
pub(super) fn bounded_text(chars: u64, collation: CollationId) -> SqlType {
    let char_bytes = u64::from(SqlType::varchar(1, collation).max_char_bytes());
    let is_known = chars != LONG_TEXT;
    let chars = if is_known { chars.min(LONG_TEXT / char_bytes) } else { chars };
    string_type(chars as u32, collation)
}

/// Whether a text may be longer than any value, and so NULL.
fn is_longest(ty: &SqlType) -> bool {
    u64::from(ty.length) * u64::from(ty.max_char_bytes()) >= LONG_TEXT
}

fn clock_type(kind: TypeKind, fsp: Option<&Expr>, func: Func) -> Result<SqlType, BindError> {
    let fsp = match fsp.map(|e| &e.kind) {
        None => 0,
        Some(ExprKind::Const(value)) => value.as_value().to_i64().value,
        Some(_) => return Err(BindError::WrongArguments { function: func.name() }),
    };
    // As in MySQL only the low 8 bits count.
    let fsp = fsp as u8;
    if fsp > FSP_MAX {
        return Err(BindError::TooBigPrecision { given: fsp.into(), name: func.name().into(), max: 6 });
    }
    let time = time_type(fsp);
    // A time of day has two characters less than other times, which may have a sign and a third digit.
    let time_of_day = SqlType { length: time.length - 2, ..time };
    Ok(if kind == TypeKind::Time { time_of_day } else { datetime_type(fsp) })
}

/// Characters of all arguments together.
pub(crate) fn sum_of_chars(args: &[Expr]) -> u64 {
    args.iter().map(|e| u64::from(shown_chars(&e.ty))).sum()
}

/// Characters of the longest argument.
pub(crate) fn most_chars(args: &[Expr]) -> u64 {
    args.iter().map(|e| u64::from(shown_chars(&e.ty))).max().unwrap_or(0)
}

/// CONCAT_WS: the separator between any two.
pub(crate) fn joined_chars(args: &[Expr]) -> u64 {
    let separator = u64::from(shown_chars(&args[0].ty));
    sum_of_chars(&args[1..]) + separator * (args.len() as u64 - 2)
}

/// Characters of the first argument.
pub(crate) fn first_chars(args: &[Expr]) -> u64 {
    u64::from(shown_chars(&args[0].ty))
}

/// LEFT, RIGHT: no more than a constant count says.
pub(crate) fn cut_chars(args: &[Expr]) -> u64 {
    let all = first_chars(args);
    constant_int(&args[args.len() - 1]).map_or(all, |n| n.clamp(0, all as i64) as u64)
}

/// SUBSTRING: from a constant position, no more than a constant count says.
pub(crate) fn substring_chars(args: &[Expr]) -> u64 {
    let all = first_chars(args);
    let rest = match constant_int(&args[1]) {
        // As in MySQL NULL and a position past those of texts leave the length alone.
        None if is_null(&args[1]) => return all,
        None => all,
        Some(from) if from > i64::from(i32::MAX) || from <= i64::from(i32::MIN) => all,
        Some(from) if from < 0 => Some(from.unsigned_abs()).filter(|n| *n <= all).unwrap_or(0),
        Some(0) => 0,
        Some(from) => all.saturating_sub(from as u64 - 1),
    };
    args.get(2).and_then(constant_int).map_or(rest, |count| rest.min(count.max(0) as u64))
}

/// SOUNDEX makes at least four characters.
pub(crate) fn soundex_chars(args: &[Expr]) -> u64 {
    first_chars(args).max(4)
}

/// MAKE_SET: all members and the commas between them.
pub(crate) fn set_chars(args: &[Expr]) -> u64 {
    sum_of_chars(&args[1..]) + args.len() as u64 - 2
}

/// REPEAT, LPAD, RPAD: what a constant count says, else the largest text.
pub(crate) fn repeated_chars(args: &[Expr]) -> u64 {
    // As in MySQL a negative count is a large one for the type.
    constant_int(&args[1]).map_or(LONG_TEXT, |n| first_chars(args).saturating_mul(n as u64))
}

/// As [`repeated_chars`], for a length.
pub(crate) fn padded_chars(args: &[Expr]) -> u64 {
    constant_int(&args[1]).map_or(LONG_TEXT, |n| n as u64)
}

/// REPLACE: every character may become as long as the replacement.
pub(crate) fn replaced_chars(args: &[Expr]) -> u64 {
    first_chars(args).saturating_mul(u64::from(written_chars(args, 2).saturating_sub(1)).max(1))
}

/// INSERT: both texts.
pub(crate) fn inserted_chars(args: &[Expr]) -> u64 {
    first_chars(args) + u64::from(written_chars(args, 3))
}

/// Characters of argument `at`, which is written into the first one: of a constant number its own, as far as
/// it becomes a text for that.
fn written_chars(args: &[Expr], at: usize) -> u32 {
    let (written, is_converted) = (&args[at], !is_bytes(&args[0]) && super::is_number(&args[at]));
    let own = is_converted.then(|| constant_value(written, SqlModes::DEFAULT)).flatten();
    let Some(own) = own.filter(|own| !own.is_null()) else { return shown_chars(&written.ty) };
    let mut text = Vec::new();
    match own.as_value() {
        Value::Double(value) if written.ty.decimals < SqlType::NOT_FIXED_DECIMALS => {
            text.extend_from_slice(format!("{value:.*}", usize::from(written.ty.decimals)).as_bytes());
        }
        value => value.write_text(&mut text),
    }
    text.len() as u32
}

/// Whether `expr` is a constant NULL.
pub(super) fn is_null(expr: &Expr) -> bool {
    constant_value(expr, SqlModes::DEFAULT).is_some_and(|value| value.is_null())
}

/// QUOTE: every character escaped, and the quotes; or the word NULL.
pub(crate) fn quoted_chars(args: &[Expr]) -> u64 {
    (first_chars(args) * 2 + 2).max(if args[0].nullable { 4 } else { 0 })
}

/// EXPORT_SET: 64 of the longer word, and separators.
pub(crate) fn exported_chars(args: &[Expr]) -> u64 {
    let separator = args.get(3).map_or(1, |e| u64::from(shown_chars(&e.ty)));
    64 * most_chars(&args[1..3]) + 63 * separator
}

/// Bytes of the longest text.
pub(super) const LONG_TEXT: u64 = 16_777_216;

/// The integer that a constant argument is; past the range of BIGINT its nearest bound.
pub(super) fn constant_int(expr: &Expr) -> Option<i64> {
    match constant_value(expr, SqlModes::DEFAULT)? {
        OwnedValue::UInt(value) => Some(i64::try_from(value).unwrap_or(i64::MAX)),
        // Those of a hexadecimal literal have no sign.
        value @ OwnedValue::Bit { .. } if expr.ty.unsigned => {
            Some(i64::try_from(value.as_value().to_u64().value).unwrap_or(i64::MAX))
        }
        value if !value.is_null() => Some(value.as_value().to_i64().value),
        _ => None,
    }
}

/// Text in the connection's collation as long as `HEX` and its like make of the argument.
pub(crate) fn hex_text(builder: &Builder, _: Func, args: &[Expr]) -> SqlType {
    let chars = match numeric_class(&args[0]) {
        _ if class_of(&args[0]) == Class::Text => {
            first_chars(args) * u64::from(args[0].ty.max_char_bytes()) * 2
        }
        _ if class_of(&args[0]) == Class::Null => 0,
        _ if args[0].ty.is_temporal() => first_chars(args) * 2,
        _ => 16,
    };
    string_type(clip(chars), builder.collation)
}

/// FORMAT: the number, a separator each three digits, a sign and the most fraction digits that it shows.
pub(crate) fn formatted_number(builder: &Builder, _: Func, args: &[Expr]) -> SqlType {
    const FRACTION_DIGITS_MAX: u32 = 30;
    let chars = shown_chars(&args[0].ty);
    let separators = chars / 3 + 1;
    string_type(chars + separators + 1 + FRACTION_DIGITS_MAX, builder.collation)
}

/// SHA2: two digits a byte of the constant length, else of the longest.
pub(crate) fn digest(builder: &Builder, _: Func, args: &[Expr]) -> SqlType {
    let bits = match constant_int(&args[1]) {
        Some(0) => 256,
        Some(bits @ (224 | 384 | 512)) => bits as u32,
        Some(_) => 256,
        None if is_null(&args[1]) => 256,
        None => 512,
    };
    string_type(bits / 4, builder.collation)
}

/// Bytes that UNHEX, FROM_BASE64 make of the argument.
pub(crate) fn decoded_bytes(_: &Builder, func: Func, args: &[Expr]) -> SqlType {
    let bytes = u64::from(super::kept_bytes(&args[0].ty));
    let decoded = if func == Func::Unhex { bytes.div_ceil(2) } else { bytes * 3 / 4 };
    string_type(clip(decoded), CollationId::BINARY)
}

/// Text that TO_BASE64 makes: 4 for 3 and a line feed after 76.
pub(crate) fn base64_text(builder: &Builder, _: Func, args: &[Expr]) -> SqlType {
    let chars = u64::from(super::kept_bytes(&args[0].ty)).div_ceil(3) * 4;
    string_type(clip(chars + chars / 76), builder.collation)
}

/// Bit operators: unsigned integers, or bytes when both operands are binary strings.
pub(crate) fn bits(_: &Builder, _: Func, args: &[Expr]) -> SqlType {
    let is_literal =
        |e: &Expr| matches!(e.kind, ExprKind::Const(OwnedValue::Bit { .. })) || is_long_hexadecimal(e);
    if args.iter().any(is_byte_string) && args.iter().all(|e| is_byte_string(e) || is_literal(e)) {
        return string_type(clip(most_chars(args)), CollationId::BINARY);
    }
    SqlType::bigint_unsigned()
}

/// Shifts and `~`: the first operand decides.
pub(crate) fn shifted_bits(builder: &Builder, func: Func, args: &[Expr]) -> SqlType {
    bits(builder, func, &args[..1])
}

/// Whether bit operators see bytes; hexadecimal literals are numbers.
fn is_byte_string(expr: &Expr) -> bool {
    class_of(expr) == Class::Text
        && expr.ty.collation == CollationId::BINARY
        && !matches!(expr.ty.kind, TypeKind::Enum | TypeKind::Set)
        && !is_long_hexadecimal(expr)
}

/// UNIX_TIMESTAMP: an integer, or a decimal if the argument has fraction digits.
pub(crate) fn unix_seconds(_: &Builder, _: Func, args: &[Expr]) -> SqlType {
    // A day that the month does not have is written all the same.
    let flags = DateFlags { allow_invalid_dates: true, ..DateFlags::default() };
    let fsp = |e: &Expr| match constant_value(e, SqlModes::DEFAULT) {
        // A hexadecimal literal has no fraction.
        Some(OwnedValue::Bytes { collation: CollationId::BINARY, .. }) if e.ty.unsigned => 0,
        Some(OwnedValue::Bytes { data, .. }) if types::DateTime::parse(&data, flags).is_none() => FSP_MAX,
        _ => moment_fsp(e),
    };
    match args.first().map_or(0, fsp) {
        0 => SqlType::bigint(),
        fsp => SqlType::decimal(11 + u32::from(fsp), fsp),
    }
}

/// CAST(x AS CHAR(n)) and BINARY(n) carry their type from where they are built.
pub(crate) fn as_first(_: &Builder, _: Func, args: &[Expr]) -> SqlType {
    args[0].ty.clone()
}
