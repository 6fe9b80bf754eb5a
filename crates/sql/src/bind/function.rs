//! Functions, casts and the forms with a syntax of their own.

use expr::build::{CastTo, TrimSide};
use expr::{Expr, Func};
use types::temporal::IntervalUnit;
use types::{SqlType, TypeKind};

use super::binder::Binder;
use super::literal::PARAM_CHARS;
use super::{BindError, Clause, NumberRead, ParamRole};
use crate::ast::{self, CastType, ExprKind, TimeUnit};

impl<'a> Binder<'a, '_> {
    /// The forms that are functions.
    pub(super) fn function(&mut self, e: &'a ast::Expr<'a>) -> Result<Expr, BindError> {
        match e.kind {
            ExprKind::Call(call) => self.call(call),
            ExprKind::Cast(cast) => self.cast(cast),
            ExprKind::ConvertUsing(convert) => {
                let mut value = self.value(&convert.expr)?;
                let ty =
                    self.build.convert_using(self.build.string(b"", self.ctx.collation), convert.charset)?.ty;
                self.settle(&mut value, &ty);
                self.note_role(&value, ParamRole::Cast);
                let is_param = self.is_param(&value);
                let text = self.build.convert_using(value, convert.charset)?;
                Ok(if is_param { Self::lengthened(text) } else { text })
            }
            ExprKind::Collate(collate) => {
                let mut value = self.value(&collate.expr)?;
                if self.is_open(&value) {
                    let text = self.build.string(b"", self.ctx.collation);
                    let collation = self.build.collate(text, collate.collation)?.ty.collation;
                    self.settle(&mut value, &SqlType::varchar(PARAM_CHARS, collation));
                }
                self.note_role(&value, ParamRole::Text);
                Ok(self.build.collate(value, collate.collation)?)
            }
            ExprKind::DateAdd(add) => {
                let (mut date, mut amount) = (self.value(&add.date)?, self.value(&add.amount)?);
                self.settle_interval(interval_unit(add.unit), &mut date, &mut amount);
                Ok(self.build.date_add(date, amount, interval_unit(add.unit), add.subtract))
            }
            ExprKind::Extract(unit, value) => {
                let mut value = self.value(value)?;
                self.settle_moment(&mut value, TypeKind::DateTime);
                self.note_role(&value, ParamRole::Clock);
                Ok(self.build.extract(interval_unit(unit), value))
            }
            ExprKind::UnitCall(call) => {
                let (mut first, mut second) = (self.value(&call.first)?, self.value(&call.second)?);
                let unit = interval_unit(call.unit);
                if call.diff {
                    self.settle_moment(&mut first, TypeKind::DateTime);
                    self.settle_moment(&mut second, TypeKind::DateTime);
                } else {
                    self.settle_interval(unit, &mut second, &mut first);
                }
                Ok(if call.diff {
                    self.build.timestamp_diff(unit, first, second)
                } else {
                    self.build.timestamp_add(unit, first, second)
                })
            }
            ExprKind::Trim(trim) => self.trim(trim),
            ExprKind::ValuesOf(name) => self.values_of(name),
            ExprKind::DefaultOf(name) => self.default_of(name),
            ExprKind::Keyword(word) => Ok(self.build.string(word.as_bytes(), self.ctx.collation)),
            _ => Err(BindError::NotSupported(e.kind.name())),
        }
    }

    fn call(&mut self, call: &'a ast::FunctionCall<'a>) -> Result<Expr, BindError> {
        if let Some(schema) = call.schema {
            // There are no stored functions.
            let name = format!("{schema}.{}", call.name);
            return Err(expr::BindError::UnknownFunction { name }.into());
        }
        if call.spaced && is_function_only_at_once(call.name) {
            return Err(expr::BindError::NameCollision { name: call.name.to_owned() }.into());
        }
        if call.returning.is_some() {
            return Err(BindError::NotSupported("RETURNING"));
        }
        self.build.ensure_count(call.name, call.args.len())?;
        let mut args = self.args_of(call)?;
        if args.len() > 2 && call.name.eq_ignore_ascii_case("regexp_like") && self.is_param(&args[2]) {
            // Its flags compile the pattern.
            return Err(BindError::InvalidParameterUse);
        }
        self.settle_args(call.name, &mut args);
        self.note_counts(call.name, &mut args, call.args)?;
        if let ([_, _], true) = (&args[..], call.name.eq_ignore_ascii_case("nullif")) {
            if args[1].ty.kind == TypeKind::Time {
                // It is what a column of times stores, which is the answer.
                self.hold_literal(&mut args[0], &call.args[0])?;
            }
            self.pin_beside_column(&mut args, &[&call.args[0], &call.args[1]])?;
            self.note_misfits(&args);
        }
        if call.name.eq_ignore_ascii_case("strcmp") {
            self.note_misfits(&args);
        }
        self.store_beside_bigint(&mut args, call.args, call.name)?;
        match call.using {
            Some(charset) => Ok(self.build.char_using(args, charset)?),
            None => Ok(self.build.call(call.name, args)?),
        }
    }

    /// The arguments of `call`. Where they decide how many fraction digits it shows, they are constants.
    fn args_of(&mut self, call: &'a ast::FunctionCall<'a>) -> Result<Vec<Expr>, BindError> {
        use Func::{FromUnixTime, MakeTime, Round, SecToTime, Timestamp, Truncate};
        match (Func::find(call.name), call.args) {
            (Some(Round | Truncate), [number, digits]) => {
                Ok(vec![self.value_with_digits(number)?, self.value_of_literals(digits)?])
            }
            (Some(Round | Truncate | SecToTime | FromUnixTime | MakeTime | Timestamp), args) => {
                self.values_with_digits(args)
            }
            (_, args) => self.values(args),
        }
    }

    fn cast(&mut self, cast: &'a ast::Cast<'a>) -> Result<Expr, BindError> {
        if cast.array {
            return Err(BindError::NotSupported("CAST .. AS .. ARRAY"));
        }
        let mut value = self.value(&cast.expr)?;
        let target = cast_target(cast.ty)?;
        let ty = match self.build.cast(self.build.null(), target)?.ty {
            ty if ty.kind == TypeKind::Time => SqlType::new(TypeKind::DateTime, 0),
            ty => SqlType { unsigned: false, ..ty },
        };
        self.settle(&mut value, &ty);
        self.note_role(&value, ParamRole::Cast);
        if ty.is_integer() || ty.kind == TypeKind::Year {
            self.note_read_as(&value, NumberRead::Integer);
        }
        let has_any_length = matches!(target, CastTo::Char { length: None, .. } | CastTo::Binary(None));
        let is_param = has_any_length && self.is_param(&value);
        let cast = self.build.cast(value, target)?;
        Ok(if is_param { Self::lengthened(cast) } else { cast })
    }

    fn trim(&mut self, trim: &'a ast::Trim<'a>) -> Result<Expr, BindError> {
        let remove = trim.remove.as_ref().map(|e| self.value(e)).transpose()?;
        let text = self.value(&trim.expr)?;
        for operand in remove.iter().chain([&text]) {
            self.note_role(operand, ParamRole::Text);
        }
        let side = match trim.side {
            ast::TrimSide::Both => TrimSide::Both,
            ast::TrimSide::Leading => TrimSide::Leading,
            ast::TrimSide::Trailing => TrimSide::Trailing,
        };
        Ok(self.build.trim(side, remove, text)?)
    }

    /// `DEFAULT(column)`: the column's default as a constant.
    fn default_of(&mut self, name: &ast::ColumnRef<'_>) -> Result<Expr, BindError> {
        let scope = &self.level().scope;
        let found = scope.find(name, Clause::FieldList)?;
        let unknown =
            || BindError::UnknownColumn { name: super::scope::written(name), clause: Clause::FieldList };
        let Some(column) = found.map(|found| found.column) else {
            self.note_missing(name, Clause::FieldList);
            return Err(unknown());
        };
        self.note_read(&self.levels[self.levels.len() - 1].scope, column);
        let source = self.level().rels.get(usize::from(column.rel));
        let Some(super::block::Source::Table { def, .. }) = source else { return Err(unknown()) };
        let def = def.clone();
        super::default::constant(self.build, &def.columns[usize::from(column.col)])
    }
}

fn cast_target(ty: CastType<'_>) -> Result<CastTo<'_>, BindError> {
    Ok(match ty {
        CastType::Binary(length) => CastTo::Binary(length),
        CastType::Char { length, charset, binary, .. } => CastTo::Char { length, charset, binary },
        CastType::Signed => CastTo::Signed,
        CastType::Unsigned => CastTo::Unsigned,
        CastType::Date => CastTo::Date,
        CastType::Time(fsp) => CastTo::Time(fsp.unwrap_or(0)),
        CastType::DateTime(fsp) => CastTo::DateTime(fsp.unwrap_or(0)),
        CastType::Year => CastTo::Year,
        CastType::Decimal(precision, scale) => CastTo::Decimal(precision, scale),
        CastType::Double => CastTo::Double,
        CastType::Float(precision) => CastTo::Float(precision),
        CastType::Json => return Err(BindError::NotSupported("JSON")),
        CastType::Spatial(_) => return Err(BindError::NotSupported("spatial types")),
    })
}

fn interval_unit(unit: TimeUnit) -> IntervalUnit {
    match unit {
        TimeUnit::Microsecond => IntervalUnit::Microsecond,
        TimeUnit::Second => IntervalUnit::Second,
        TimeUnit::Minute => IntervalUnit::Minute,
        TimeUnit::Hour => IntervalUnit::Hour,
        TimeUnit::Day => IntervalUnit::Day,
        TimeUnit::Week => IntervalUnit::Week,
        TimeUnit::Month => IntervalUnit::Month,
        TimeUnit::Quarter => IntervalUnit::Quarter,
        TimeUnit::Year => IntervalUnit::Year,
        TimeUnit::SecondMicrosecond => IntervalUnit::SecondMicrosecond,
        TimeUnit::MinuteMicrosecond => IntervalUnit::MinuteMicrosecond,
        TimeUnit::MinuteSecond => IntervalUnit::MinuteSecond,
        TimeUnit::HourMicrosecond => IntervalUnit::HourMicrosecond,
        TimeUnit::HourSecond => IntervalUnit::HourSecond,
        TimeUnit::HourMinute => IntervalUnit::HourMinute,
        TimeUnit::DayMicrosecond => IntervalUnit::DayMicrosecond,
        TimeUnit::DaySecond => IntervalUnit::DaySecond,
        TimeUnit::DayMinute => IntervalUnit::DayMinute,
        TimeUnit::DayHour => IntervalUnit::DayHour,
        TimeUnit::YearMonth => IntervalUnit::YearMonth,
    }
}

/// Names that mean the built-in function only if their parenthesis follows at once; else a stored one is
/// searched for.
fn is_function_only_at_once(name: &str) -> bool {
    const NAMES: [&str; 32] = [
        "ADDDATE",
        "BIT_AND",
        "BIT_OR",
        "BIT_XOR",
        "CAST",
        "COUNT",
        "CURDATE",
        "CURTIME",
        "DATE_ADD",
        "DATE_SUB",
        "EXTRACT",
        "GROUP_CONCAT",
        "MAX",
        "MID",
        "MIN",
        "NOW",
        "POSITION",
        "SESSION_USER",
        "STD",
        "STDDEV",
        "STDDEV_POP",
        "STDDEV_SAMP",
        "SUBDATE",
        "SUBSTR",
        "SUBSTRING",
        "SUM",
        "SYSDATE",
        "SYSTEM_USER",
        "TRIM",
        "VARIANCE",
        "VAR_POP",
        "VAR_SAMP",
    ];
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}
