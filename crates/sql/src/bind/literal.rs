//! Literals: constants, or parameters of a plan that is to be shared.

use expr::{Expr, ExprKind, Func};
use types::temporal::DateFlags;
use types::temporal::FSP_MAX;
use types::{Charset, CollationId, Decimal, SqlModes, SqlType, TypeKind, Value};

use super::binder::Binder;
use super::text_param::{TextParam, TextUse};
use super::{BindError, Literals};
use crate::ast;
use crate::charset::Introducer;
use crate::literal::{IntValue, Literal, LiteralKind};
use crate::mode::LexMode;
use crate::plan::int_param;

/// Characters of a string parameter whose length is not known: any length up to a VARCHAR's.
pub(super) const PARAM_CHARS: u32 = 16_383;

impl<'a> Binder<'a, '_> {
    /// A literal, with a minus before it if `negative`.
    pub(super) fn literal(&mut self, literal: Literal, negative: bool) -> Result<Expr, BindError> {
        if let Some(param) = self.lifted(&literal) {
            return if negative { Ok(self.build.negate(param)?) } else { Ok(param) };
        }
        let constant = self.constant(&literal)?;
        if negative { Ok(self.build.negate(constant)?) } else { Ok(constant) }
    }

    /// The parameter that stands for a numbered literal. Its type is that of the literal's kind: a shared
    /// plan serves literals of any length.
    pub(super) fn lifted(&self, literal: &Literal) -> Option<Expr> {
        let n = self.lifted_number(literal)?;
        let ty = match literal.kind {
            LiteralKind::Int => return Some(int_param(n)),
            LiteralKind::Float => SqlType::double(),
            LiteralKind::String => SqlType {
                kind: TypeKind::VarChar,
                ..SqlType::varchar(PARAM_CHARS, self.literal_collation(literal.charset).ok()?)
            },
            LiteralKind::Decimal if self.is_plain_decimal(literal) => {
                SqlType::decimal(types::decimal::PRECISION_MAX, types::decimal::SCALE_MAX)
            }
            _ => return None,
        };
        let mut param = self.build.param(n, ty);
        param.nullable = false;
        Some(param)
    }

    /// The number of the parameter that may stand for `literal`.
    pub(super) fn lifted_number(&self, literal: &Literal) -> Option<u16> {
        let Literals::Parameters { base } = self.ctx.literals else { return None };
        let stays = literal.ordinal == Literal::UNNUMBERED || self.keeps_literals;
        (!stays).then(|| base + literal.ordinal as u16)
    }

    fn is_plain_decimal(&self, literal: &Literal) -> bool {
        Decimal::parse(literal.text(self.ctx.sql)).is_some()
    }

    /// The value of an operand whose fraction digits decide those of a result: its decimals stay constants of
    /// the plan, as parameters have the most digits that there are.
    pub(super) fn value_with_digits(&mut self, e: &'a ast::Expr<'a>) -> Result<Expr, BindError> {
        if e.any(&is_decimal) { self.value_of_literals(e) } else { self.value(e) }
    }

    /// The value of `e`, whose literals stay constants of the plan.
    pub(super) fn value_of_literals(&mut self, e: &'a ast::Expr<'a>) -> Result<Expr, BindError> {
        let before = std::mem::replace(&mut self.keeps_literals, true);
        let bound = self.value(e);
        self.keeps_literals = before;
        bound
    }

    /// [`Binder::value_with_digits`] of each of `list`.
    pub(super) fn values_with_digits(&mut self, list: &'a [ast::Expr<'a>]) -> Result<Vec<Expr>, BindError> {
        list.iter().map(|e| self.value_with_digits(e)).collect()
    }

    /// Notes that the plan holds the value of `literal`, so that it serves this text only.
    pub(super) fn pin(&mut self, literal: &Literal) {
        if literal.ordinal != Literal::UNNUMBERED {
            self.shareable = false;
        }
    }

    /// The literal as a constant of the plan.
    pub(super) fn constant(&mut self, literal: &Literal) -> Result<Expr, BindError> {
        self.pin(literal);
        self.constant_of(literal)
    }

    /// The value of `literal`, of which the plan holds nothing yet.
    pub(super) fn constant_of(&self, literal: &Literal) -> Result<Expr, BindError> {
        let (sql, mode) = (self.ctx.sql, self.lex_mode());
        let build = self.build;
        Ok(match literal.kind {
            LiteralKind::Int => match literal.int_value(sql) {
                IntValue::Signed(v) => build.int_literal(v, literal.text(sql).len() as u32),
                IntValue::Unsigned(v) => build.uint(v),
                IntValue::Big => self.decimal_constant(literal),
            },
            LiteralKind::Decimal => self.decimal_constant(literal),
            LiteralKind::Float => {
                let text = literal.text(sql);
                build.double_literal(parse_double(text), text.len() as u32)
            }
            LiteralKind::String => {
                let collation = self.literal_collation(literal.charset)?;
                build.string(&literal.string_value(sql, mode), collation)
            }
            LiteralKind::Hex | LiteralKind::Bit => self.bytes_constant(literal)?,
            LiteralKind::Date => build.date_literal(&literal.string_value(sql, mode))?,
            LiteralKind::Time => build.time_literal(&literal.string_value(sql, mode))?,
            LiteralKind::Timestamp => build.timestamp_literal(&literal.string_value(sql, mode))?,
        })
    }

    /// `{d 'text'}` and its like: the date or time, or the text if it is invalid.
    pub(super) fn odbc_literal(&mut self, literal: &Literal) -> Expr {
        self.constant(literal).unwrap_or_else(|_| {
            self.build.string(&literal.string_value(self.ctx.sql, self.lex_mode()), self.ctx.collation)
        })
    }

    /// An exact number; one with more digits than DECIMAL has becomes the nearest double.
    fn decimal_constant(&self, literal: &Literal) -> Expr {
        let text = literal.text(self.ctx.sql);
        match Decimal::parse(text) {
            Some(value) => self.build.decimal_literal(value, whole_digits(text)),
            None => self.build.double(parse_double(text)),
        }
    }

    fn bytes_constant(&self, literal: &Literal) -> Result<Expr, BindError> {
        let mut bytes = Vec::new();
        if literal.kind == LiteralKind::Hex {
            literal.hex_value(self.ctx.sql, &mut bytes);
        } else {
            literal.bit_value(self.ctx.sql, &mut bytes);
        }
        if literal.charset == Introducer::NONE || literal.charset == Introducer::BINARY {
            let mut constant = self.build.hex(&bytes);
            constant.ty.unsigned = literal.kind == LiteralKind::Hex && literal.charset == Introducer::NONE;
            return Ok(constant);
        }
        Ok(self.build.string(&bytes, self.literal_collation(literal.charset)?))
    }

    /// Collation of a string literal: its introducer's default, else the connection's.
    fn literal_collation(&self, introducer: Introducer) -> Result<CollationId, BindError> {
        let Some(name) = introducer.name() else { return Ok(self.ctx.collation) };
        let charset = Charset::find(name);
        Ok(charset.ok_or_else(|| BindError::UnknownCharset(name.to_owned()))?.default_collation())
    }

    /// Makes lifted literals constants again where their text decides, texts that are no numbers beside
    /// numbers among them. `values` are the operands of a comparison, `written` their syntax.
    pub(super) fn pin_compared(
        &mut self,
        values: &mut [Expr],
        written: &[&'a ast::Expr<'a>],
    ) -> Result<(), BindError> {
        self.pin_texts(values, written)?;
        self.pin_beside_column(values, written)
    }

    /// Makes lifted literals constants again beside a YEAR column, which reads one or two digits as a year of
    /// its century, what is no date beside a date, and decimals beside a DOUBLE of fixed digits, whose own
    /// digits count. What is computed from literals is pinned beside the columns that store it.
    pub(super) fn pin_beside_column(
        &mut self,
        values: &mut [Expr],
        written: &[&'a ast::Expr<'a>],
    ) -> Result<(), BindError> {
        if !values.iter().any(may_decide_by_text) {
            return Ok(());
        }
        let beside_year = values.iter().any(is_year_column);
        let beside_date = values.iter().any(|e| {
            matches!(e.ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Time)
        });
        let beside_fixed = values.iter().any(|e| {
            matches!(e.ty.kind, TypeKind::Float | TypeKind::Double)
                && e.ty.decimals < SqlType::NOT_FIXED_DECIMALS
        });
        if !beside_year && !beside_date && !beside_fixed {
            return Ok(());
        }
        let is_date =
            |e: &Expr| matches!(e.ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp);
        let time_digits = (!values.iter().any(is_date)).then(|| time_column_digits(values));
        let stored = stored_by(values);
        let may_be_zoned = self.build.shifts_offsets;
        for (value, written) in values.iter_mut().zip(written) {
            if let Some((literal, negative)) = lifted_literal(value, written) {
                if beside_year
                    || (beside_date && !self.is_moment_text(value, &literal, (time_digits, may_be_zoned)))
                    || (beside_fixed && literal.kind == LiteralKind::Decimal)
                {
                    let constant = self.constant(&literal)?;
                    *value = if negative { self.build.negate(constant)? } else { constant };
                }
            } else if stored.is_some_and(|numbers_alone| !numbers_alone || is_number(value))
                && self.is_of_literals(value)
            {
                *value = self.value_of_literals(written)?;
            }
        }
        Ok(())
    }

    /// Whether `value` is computed from literals alone, of which some are lifted.
    pub(super) fn is_of_literals(&self, value: &Expr) -> bool {
        let Literals::Parameters { base } = self.ctx.literals else { return false };
        let (mut is_known, mut has_lifted) = (true, false);
        value.walk(&mut |e| match &e.kind {
            ExprKind::Param(n) => {
                is_known &= *n >= base;
                has_lifted = true;
            }
            _ => is_known &= !e.may_vary(),
        });
        is_known && has_lifted
    }

    /// Makes lifted texts beside numbers constants again that are no numbers: they are read once, and warned
    /// of then.
    fn pin_texts(&mut self, values: &mut [Expr], written: &[&ast::Expr<'_>]) -> Result<(), BindError> {
        let text = |e: &ast::Expr<'_>| match e.kind {
            ast::ExprKind::Literal(literal) if literal.kind == LiteralKind::String => Some(literal),
            _ => None,
        };
        if !written.iter().any(|e| text(e).is_some()) || !values.iter().any(is_number) {
            return Ok(());
        }
        for (value, written) in values.iter_mut().zip(written) {
            if let (&ExprKind::Param(param), Some(literal)) = (&value.kind, text(written))
                && !self.is_text_of(&literal, param, TextUse::Double)
            {
                *value = self.constant(&literal)?;
            }
        }
        Ok(())
    }

    /// Whether a literal, which is parameter `param`, is as a whole what it is read as. The plan is good for
    /// such literals alone then.
    pub(super) fn is_text_of(&mut self, literal: &Literal, param: u16, read_as: TextUse) -> bool {
        let is = if literal.kind == LiteralKind::Int {
            matches!(literal.int_value(self.ctx.sql), IntValue::Signed(v) if read_as.accepts(&Value::Int(v)))
        } else {
            let text = literal.string_value(self.ctx.sql, self.lex_mode());
            read_as.accepts(&Value::Bytes { data: &text, collation: self.ctx.collation })
        };
        if is {
            self.text_params.push(TextParam { param, read_as });
        }
        is
    }

    /// Whether `value`, a lifted literal, is a text that can be read as a date and time or, beside times
    /// alone, is wholly a time of at most `time_digits` fraction digits.
    fn is_moment_text(
        &mut self,
        value: &Expr,
        literal: &Literal,
        (time_digits, may_be_zoned): (Option<u8>, bool),
    ) -> bool {
        let ExprKind::Param(param) = value.kind else { return false };
        let moment = TextUse::PlainMoment { flags: DateFlags::from_modes(self.ctx.modes), may_be_zoned };
        let read_as = time_digits.map_or(moment, TextUse::Time);
        literal.kind == LiteralKind::String && self.is_text_of(literal, param, read_as)
    }

    /// The lexer's part of `sql_mode`.
    pub(super) fn lex_mode(&self) -> LexMode {
        if self.ctx.modes.has(SqlModes::NO_BACKSLASH_ESCAPES) {
            LexMode::NO_BACKSLASH_ESCAPES
        } else {
            LexMode::NONE
        }
    }
}

/// Whether `e` is an exact number with a point.
fn is_decimal(e: &ast::Expr<'_>) -> bool {
    matches!(e.kind, ast::ExprKind::Literal(literal) if literal.kind == LiteralKind::Decimal)
}

/// The literal for which `value`, written so, is a parameter, and whether a minus is before it.
fn lifted_literal(value: &Expr, written: &ast::Expr<'_>) -> Option<(Literal, bool)> {
    match (&value.kind, written.kind) {
        (ExprKind::Param(_), ast::ExprKind::Literal(literal)) => Some((literal, false)),
        (ExprKind::Call { func: Func::Neg, args }, ast::ExprKind::Unary(ast::UnaryOp::Neg, operand)) => {
            let (literal, negative) = lifted_literal(&args[0], operand)?;
            (!negative).then_some((literal, true))
        }
        _ => None,
    }
}

/// Fraction digits of the TIME columns among `values`, the fewest.
fn time_column_digits(values: &[Expr]) -> u8 {
    let is_column = |e: &&Expr| e.ty.kind == TypeKind::Time && matches!(e.kind, ExprKind::Column(_));
    values.iter().filter(is_column).map(|e| e.ty.decimals).min().unwrap_or(FSP_MAX)
}

/// Digits before the point as written, leading zeros included.
fn whole_digits(text: &[u8]) -> u32 {
    text.iter().take_while(|b| b.is_ascii_digit()).count() as u32
}

/// Whether the type of `expr` is one beside which the text of a literal may decide: see
/// [`Binder::pin_beside_column`].
#[inline]
fn may_decide_by_text(expr: &Expr) -> bool {
    use TypeKind::{Date, DateTime, Double, Float, Time, Timestamp, Year};
    matches!(expr.ty.kind, Year | Date | DateTime | Timestamp | Time | Float | Double)
}

/// Whether there is a column among `values` that constants beside it are stored in before they are compared:
/// one of times or years stores all, one of dates numbers alone (true).
fn stored_by(values: &[Expr]) -> Option<bool> {
    use TypeKind::{Date, DateTime, Time, Timestamp, Year};
    let of_column = |e: &Expr| match e.ty.kind {
        _ if !matches!(e.kind, ExprKind::Column(_)) => None,
        Time | Year => Some(false),
        Date | DateTime | Timestamp => Some(true),
        _ => None,
    };
    values.iter().filter_map(of_column).min()
}

/// Whether texts beside `expr` are read as numbers, unless there is a date or time, too.
fn is_number(expr: &Expr) -> bool {
    use TypeKind::{Bit, Decimal, Double, Float};
    expr.ty.is_integer() || matches!(expr.ty.kind, Decimal | Double | Float | Bit)
}

/// Whether `expr` is a YEAR column.
fn is_year_column(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column(_)) && expr.ty.kind == TypeKind::Year
}

/// A number's text as a double; past the range it is infinite.
fn parse_double(text: &[u8]) -> f64 {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
}
