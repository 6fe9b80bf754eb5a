//! Operators and functions with a keyword among their arguments: units of intervals, sides of TRIM.

use types::temporal::{FSP_MAX, IntervalUnit};
use types::{SqlType, TypeKind};

use super::fsp::temporal_fsp;
use super::literal::{datetime_type, time_type};
use super::typing::{Class, class_of, numeric_class};
use super::{BindError, Builder, string_type};
use crate::fold::constant_value;
use crate::func::Func;
use crate::{Expr, ExprKind};

/// Where TRIM cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimSide {
    /// BOTH, or no side.
    Both,
    /// LEADING
    Leading,
    /// TRAILING
    Trailing,
}

impl Builder {
    /// `date +/- INTERVAL amount unit`.
    pub fn date_add(&self, date: Expr, amount: Expr, unit: IntervalUnit, subtract: bool) -> Expr {
        let ty = self.date_add_type(&date, &amount, unit);
        let func = if subtract { Func::DateSub(unit) } else { Func::DateAdd(unit) };
        Expr { kind: ExprKind::Call { func, args: Box::new([date, amount]) }, ty, nullable: true }
    }

    fn date_add_type(&self, date: &Expr, amount: &Expr, unit: IntervalUnit) -> SqlType {
        let amount_fsp = match unit {
            _ if unit.has_microseconds() => FSP_MAX,
            IntervalUnit::Second => match numeric_class(amount) {
                Class::Int => 0,
                Class::Decimal => amount.ty.decimals.min(FSP_MAX),
                _ if amount.ty.is_string() => FSP_MAX,
                _ => temporal_fsp(amount),
            },
            _ => 0,
        };
        let fsp = amount_fsp.max(if date.ty.is_temporal() { date.ty.decimals } else { 0 });
        match date.ty.kind {
            TypeKind::Date if unit.is_date_unit() => SqlType::new(TypeKind::Date, 10),
            TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => datetime_type(fsp),
            TypeKind::Time if !counts_days(unit) => time_type(fsp),
            TypeKind::Time => datetime_type(fsp),
            _ => SqlType { kind: TypeKind::Char, ..string_type(29, self.collation) },
        }
    }

    /// `EXTRACT(unit FROM value)`.
    pub fn extract(&self, unit: IntervalUnit, value: Expr) -> Expr {
        Expr {
            kind: ExprKind::Call { func: Func::Extract(unit), args: Box::new([value]) },
            ty: SqlType::new(TypeKind::BigInt, extracted_width(unit)),
            nullable: true,
        }
    }

    /// `TIMESTAMPADD(unit, amount, date)`.
    pub fn timestamp_add(&self, unit: IntervalUnit, amount: Expr, date: Expr) -> Expr {
        self.date_add(date, amount, unit, false)
    }

    /// `TIMESTAMPDIFF(unit, from, to)`.
    pub fn timestamp_diff(&self, unit: IntervalUnit, from: Expr, to: Expr) -> Expr {
        Expr {
            kind: ExprKind::Call { func: Func::TimestampDiff(unit), args: Box::new([from, to]) },
            ty: SqlType::bigint(),
            nullable: true,
        }
    }

    /// `TRIM([side] [remove FROM] text)`.
    pub fn trim(&self, side: TrimSide, remove: Option<Expr>, text: Expr) -> Result<Expr, BindError> {
        let func = match side {
            TrimSide::Both => Func::Trim,
            TrimSide::Leading => Func::TrimLeading,
            TrimSide::Trailing => Func::TrimTrailing,
        };
        self.call_func(func, [text].into_iter().chain(remove).collect())
    }

    /// ADDDATE and SUBDATE with a number of days.
    pub(super) fn add_days(&self, mut args: Vec<Expr>, subtract: bool) -> Result<Expr, BindError> {
        match (args.pop(), args.pop()) {
            (Some(days), Some(date)) => Ok(self.date_add(date, days, IntervalUnit::Day, subtract)),
            _ => Err(BindError::ParameterCount { name: "ADDDATE".into() }),
        }
    }
}

/// Whether a unit has days or longer parts, so that a time plus it is a date and time.
fn counts_days(unit: IntervalUnit) -> bool {
    use IntervalUnit::{DayHour, DayMicrosecond, DayMinute, DaySecond};
    unit.is_date_unit() || matches!(unit, DayHour | DayMinute | DaySecond | DayMicrosecond)
}

/// `expr` for what reads a time: DATE_ADD of a text shows a date and time, and is read as one.
pub(super) fn read_for_time(expr: Expr) -> Expr {
    let ExprKind::Call { func: Func::DateAdd(_) | Func::DateSub(_), .. } = expr.kind else { return expr };
    if !expr.ty.is_string() {
        return expr;
    }
    let moment = datetime_type(temporal_fsp(&expr));
    Expr::cast(expr, moment, true)
}

/// Makes years that `func` adds to or compares as times numbers: 2024 is 00:20:24 there, and no date.
pub(super) fn read_years_as_times(func: Func, args: &mut [Expr]) {
    let times = match func {
        Func::AddTime | Func::SubTime => 1,
        Func::TimeDiff => 2,
        _ => return,
    };
    for arg in args.iter_mut().take(times).filter(|arg| arg.ty.kind == TypeKind::Year) {
        let nullable = arg.nullable;
        let null = Expr::constant(types::OwnedValue::Null, SqlType::null());
        let year = std::mem::replace(arg, null);
        *arg = Expr::cast(year, SqlType::bigint_unsigned(), nullable);
    }
}

/// Most characters of what EXTRACT takes out, sign included.
fn extracted_width(unit: IntervalUnit) -> u32 {
    match unit {
        IntervalUnit::Quarter => 2,
        IntervalUnit::Month | IntervalUnit::Week | IntervalUnit::Day => 3,
        IntervalUnit::Minute | IntervalUnit::Second => 3,
        IntervalUnit::Hour => 4,
        IntervalUnit::Year | IntervalUnit::MinuteSecond => 5,
        IntervalUnit::HourMinute => 6,
        IntervalUnit::YearMonth | IntervalUnit::Microsecond => 7,
        IntervalUnit::HourSecond => 8,
        IntervalUnit::DayHour | IntervalUnit::SecondMicrosecond => 9,
        IntervalUnit::DayMinute | IntervalUnit::MinuteMicrosecond => 11,
        IntervalUnit::DaySecond => 13,
        IntervalUnit::HourMicrosecond => 14,
        IntervalUnit::DayMicrosecond => 20,
    }
}

/// ADDTIME, SUBTIME: TIME for times, DATETIME for dates, text for text.
pub(crate) fn add_time(builder: &Builder, _: Func, args: &[Expr]) -> SqlType {
    let fsp = temporal_fsp(&args[0]).max(temporal_fsp(&args[1]));
    match class_of(&args[0]) {
        Class::Time => time_type(fsp),
        Class::DateTime => datetime_type(fsp),
        _ => SqlType { kind: TypeKind::Char, ..string_type(29, builder.collation) },
    }
}

/// STR_TO_DATE: what the parts of a constant format make up.
pub(crate) fn str_to_date(builder: &Builder, _: Func, args: &[Expr]) -> SqlType {
    let format = constant_value(&args[1], builder.modes).filter(|format| !format.is_null());
    let Some(format) = format else { return datetime_type(FSP_MAX) };
    let text = format.as_value();
    let mut scratch = Vec::new();
    let parts = crate::functions::format_parts(text.as_text(&mut scratch));
    let fsp = if parts.micros { FSP_MAX } else { 0 };
    match (parts.date, parts.time) {
        (true, true) => datetime_type(fsp),
        (false, true) => time_type(fsp),
        _ => SqlType::new(TypeKind::Date, 10),
    }
}
