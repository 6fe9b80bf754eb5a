//! Constants that are not what their place asks for: MySQL warns of them once, before it reads a row. Strict
//! modes make an error of that in statements that change rows. Beside a column of dates the comparison may be
//! refused after that.

use expr::build::CastTo;
use expr::{ColumnRef, ComparedRows, Expr, ExprKind, Warning, fold};
use types::temporal::{DateFlags, FSP_MAX, OddDelimiter};
use types::value::{Loss, integer_prefix, round_text_to_i128};
use types::{CollationId, Date, DateTime, SqlModes, SqlType, StoreContext, TimeZone, TypeKind, Value};

use super::binder::Binder;
use super::block::Source;
use super::text_param::{TextUse, has_offset};
use super::{BindError, Clause, Deprecated};
use crate::ast;
use crate::literal::{IntValue, Literal, LiteralKind};

/// A column of dates and its type in messages.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    column: ColumnRef,
    type_name: &'static str,
}

impl Binder<'_, '_> {
    /// The column of dates among the sides of a comparison.
    pub(super) fn moment_beside(sides: &[Expr]) -> Option<Moment> {
        sides.iter().find_map(|side| {
            let ExprKind::Column(column) = side.kind else { return None };
            let type_name = temporal_name(side.ty.kind).filter(|_| side.ty.kind != TypeKind::Time)?;
            Some(Moment { column, type_name })
        })
    }

    /// Whether a text among the operands of a comparison is read in the zone that it names: in conditions on
    /// a column of dates and times, but not of rows that are ordered or listed.
    pub(super) fn shifts_offsets(&self, operands: &[Expr]) -> bool {
        let Some(level) = self.levels.last() else { return false };
        if !matches!(level.clause, Clause::Where | Clause::On | Clause::Having)
            || self.build.rows != ComparedRows::None
        {
            return false;
        }
        operands.iter().any(|operand| {
            // Aggregates are columns of no relation.
            let is_stored = |column: ColumnRef| usize::from(column.rel) < level.rels.len();
            matches!(operand.ty.kind, TypeKind::DateTime | TypeKind::Timestamp)
                && matches!(operand.kind, ExprKind::Column(column) if is_stored(column))
        })
    }

    /// Makes a date literal beside a column of TIME its time of day, as MySQL does: what is computed is a
    /// moment of today instead.
    pub(super) fn read_times_of_day(&mut self, sides: &mut [Expr; 2]) {
        for at in 0..2 {
            let ExprKind::Column(column) = sides[at].kind else { continue };
            if sides[at].ty.kind == TypeKind::Time
                && let Some(time) = self.build.time_of_day(&sides[1 - at])
                // Aggregates are columns of no relation.
                && self.level().rels.get(usize::from(column.rel)).is_some()
            {
                sides[1 - at] = time;
            }
        }
    }

    /// The truth of a text that is a whole condition.
    pub(super) fn text_condition(&mut self, literal: &Literal) -> Result<Expr, BindError> {
        let text = self.constant(literal)?;
        let ExprKind::Const(value) = &text.kind else { return Ok(text) };
        let number = value.as_value().to_f64();
        if number.loss != Loss::None {
            let shown = value.as_value().message_text();
            self.note_incorrect(format!("Truncated incorrect DOUBLE value: '{shown}'"));
        }
        Ok(self.build.boolean(number.value != 0.0))
    }

    /// Makes a text among the sides of a comparison the number that it begins with, if it is written beside a
    /// column of numbers. MySQL reads it before the first row where the comparison is part of WHERE or
    /// HAVING.
    pub(super) fn read_text_first(
        &mut self,
        sides: &mut [Expr; 2],
        written: [&ast::Expr<'_>; 2],
    ) -> Result<(), BindError> {
        if !matches!(self.level().clause, Clause::Where | Clause::Having) {
            return Ok(());
        }
        for (at, e) in written.into_iter().enumerate() {
            if let ast::ExprKind::Literal(literal) = e.kind
                && literal.kind == LiteralKind::String
                && let Some(wants_decimal) = self.reads_texts(&sides[1 - at])
            {
                let is_year = sides[1 - at].ty.kind == TypeKind::Year;
                let said = self.read_text(&mut sides[at], &literal, (wants_decimal, is_year))?;
                self.read_last.extend(said);
            }
        }
        Ok(())
    }

    /// Whether `column` is a column of numbers, beside which texts are read; true: as DECIMAL.
    fn reads_texts(&mut self, column: &Expr) -> Option<bool> {
        use TypeKind::{Decimal, Double, Float, Year};
        let ExprKind::Column(place) = column.kind else { return None };
        // Aggregates are columns of no relation.
        self.level().rels.get(usize::from(place.rel))?;
        match column.ty.kind {
            Decimal => Some(true),
            Double | Float | Year => Some(false),
            _ => column.ty.is_integer().then_some(false),
        }
    }

    /// As [`Binder::read_text_first`], for a list of literals: where one comparison serves them all, MySQL
    /// sorts the list first. `values`: what is searched for, then the list.
    pub(super) fn read_texts_of_list(
        &mut self,
        values: &mut [Expr],
        list: &[ast::Expr<'_>],
    ) -> Result<(), BindError> {
        let [needle, items @ ..] = values else { return Ok(()) };
        self.note_no_moments(needle, items, list)?;
        let is_text = |e: &ast::Expr<'_>| matches!(e.kind, ast::ExprKind::Literal(literal) if literal.kind == LiteralKind::String);
        if is_computed_integer(needle) && list.iter().all(is_text) {
            return self.read_integers(items, list);
        }
        let is_double = matches!(needle.ty.kind, TypeKind::Double | TypeKind::Float);
        let is_exact = needle.ty.is_integer() || matches!(needle.ty.kind, TypeKind::Decimal | TypeKind::Bit);
        let is_uniform = |e: &ast::Expr<'_>| match e.kind {
            ast::ExprKind::Literal(literal) => match literal.kind {
                LiteralKind::String => true,
                LiteralKind::Int | LiteralKind::Decimal | LiteralKind::Float => is_double,
                _ => false,
            },
            _ => false,
        };
        if !(is_double || is_exact) || !list.iter().all(is_uniform) {
            return Ok(());
        }
        for (item, e) in items.iter_mut().zip(list) {
            if let ast::ExprKind::Literal(literal) = e.kind
                && literal.kind == LiteralKind::String
                && let Some(text) = self.read_text(item, &literal, (false, false))?
            {
                self.note_incorrect(text);
            }
        }
        Ok(())
    }

    /// Makes the texts of `list` signed integers, as MySQL does beside an integer that is no column: from
    /// 2^63 on they are negative, and equal nothing that is unsigned.
    fn read_integers(&mut self, items: &mut [Expr], list: &[ast::Expr<'_>]) -> Result<(), BindError> {
        for (item, e) in items.iter_mut().zip(list) {
            let ast::ExprKind::Literal(literal) = e.kind else { continue };
            if let ExprKind::Param(param) = item.kind
                && self.is_text_of(&literal, param, TextUse::Count)
            {
                let number = self.build.cast(item.clone(), CastTo::Signed)?;
                *item = self.build.kept_value(number);
                continue;
            }
            let constant = self.constant(&literal)?;
            let ExprKind::Const(value) = &constant.kind else { continue };
            let value = value.as_value();
            let read = integer_prefix(value.as_text(&mut Vec::new()));
            if read.loss != Loss::None {
                let shown = value.message_text();
                self.note_incorrect(format!("Truncated incorrect INTEGER value: '{shown}'"));
            }
            *item = self.build.int(read.value as i64);
        }
        Ok(())
    }

    /// Notes the literals of `list` that are no dates or times, which `needle` is looked for among; `items`:
    /// what they are bound to. Beside a DATE, and a TIME among constant texts and times alone, all statements
    /// are warned of them, and so is a text among constants of which one is a DATE or TIME. Beside other
    /// columns a change is, before it reads a row; other statements are warned of dates that the mode
    /// refuses, and of the rest row by row.
    fn note_no_moments(
        &mut self,
        needle: &Expr,
        items: &[Expr],
        list: &[ast::Expr<'_>],
    ) -> Result<(), BindError> {
        let is_text = |e: &Expr| e.ty.is_string() || matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set);
        let meets = match temporal_name(needle.ty.kind) {
            None if is_text(needle) && items.len() > 1 => {
                let moment = items.iter().find_map(|item| temporal_name(item.ty.kind));
                moment.filter(|name| *name != "datetime")
            }
            known => known,
        };
        let Some(type_name) = meets else { return Ok(()) };
        if list.iter().all(is_number_or_null) {
            return self.note_numbers_of_list(type_name, list);
        }
        let column = needle.as_column().filter(|_| needle.ty.is_temporal());
        let is_computed =
            |item: &Expr| temporal_name(item.ty.kind) == Some(type_name) && is_computed_from_constants(item);
        let are_read_once = |is_such: fn(&ast::Expr<'_>) -> bool| {
            list.iter().zip(items).all(|(e, item)| is_such(e) || is_computed(item))
        };
        let is_read_once = match type_name {
            "date" => are_read_once(is_literal),
            "time" => are_read_once(is_text_time_or_null),
            _ => false,
        };
        if column.is_none() && !is_read_once {
            return Ok(());
        }
        for e in list {
            let ast::ExprKind::Literal(literal) = e.kind else { continue };
            if !matches!(literal.kind, LiteralKind::String | LiteralKind::Hex | LiteralKind::Bit) {
                continue;
            }
            let constant = self.constant_of(&literal)?;
            let ExprKind::Const(value) = &constant.kind else { continue };
            let mut scratch = Vec::new();
            let value = match value.as_value() {
                bits @ Value::Bit { .. } => Value::binary(bits.as_text(&mut scratch)),
                value => value,
            };
            let is_moment = match type_name {
                "time" => value.to_time().is_some_and(|read| read.loss == Loss::None || !is_read_once),
                _ => self.is_accepted(&value),
            };
            let is_noted = is_read_once || self.change.is_some() || is_date_of_some_mode(&value);
            if is_moment || !is_noted {
                continue;
            }
            self.pin(&literal);
            let text = match (type_name, column) {
                ("datetime", Some(column)) => {
                    self.incorrect(Moment { column, type_name }, &value.message_text())
                }
                _ => Some(format!("Truncated incorrect {type_name} value: '{}'", value.message_text())),
            };
            if let Some(text) = text {
                self.note_incorrect(text);
            }
        }
        Ok(())
    }

    /// Makes a text with more than a date in it the date at its front, beside a column of dates: MySQL reads
    /// it, and warns, before the first row.
    pub(super) fn read_moment_first(&mut self, sides: &mut [Expr; 2]) {
        let Some(moment) = Self::moment_beside(sides) else { return };
        for side in sides {
            let ExprKind::Const(value) = &side.kind else { continue };
            let value = value.as_value();
            let Value::Bytes { data, collation } = value else { continue };
            let read = value.to_datetime(DateFlags::from_modes(self.ctx.modes), Date::ZERO);
            let Some(read) = read.filter(|read| read.loss == Loss::Truncated) else { continue };
            if self.build.shifts_offsets && has_offset(data) || collation == CollationId::BINARY {
                continue;
            }
            let shown = value.message_text();
            let Some(text) = self.incorrect(moment, &shown) else { continue };
            let odd = OddDelimiter::of_date(data).map(|odd| Warning::OddDelimiter { odd, value: shown });
            self.deprecated.extend(odd.map(Deprecated::Constant));
            self.note_incorrect(text);
            *side = self.build.datetime(read.value, FSP_MAX);
        }
    }

    /// Notes the numbers of `list` that are no values of the type `type_name`. None beside a DATE is noted.
    fn note_numbers_of_list(&mut self, type_name: &str, list: &[ast::Expr<'_>]) -> Result<(), BindError> {
        for e in list {
            let ast::ExprKind::Literal(literal) = e.kind else { continue };
            let constant = self.constant_of(&literal)?;
            let ExprKind::Const(value) = &constant.kind else { continue };
            let value = value.as_value();
            let (is_moment, what) = match type_name {
                "datetime" => (is_date_of_some_mode(&value), "Incorrect"),
                "time" => {
                    (value.to_time().is_some_and(|read| read.loss == Loss::None), "Truncated incorrect")
                }
                _ => continue,
            };
            if !is_moment {
                self.pin(&literal);
                self.note_incorrect(format!("{what} {type_name} value: '{}'", value.message_text()));
            }
        }
        Ok(())
    }

    /// Whether `count` is written as 0.
    pub(super) fn is_zero(&self, count: &ast::Expr<'_>) -> bool {
        let ast::ExprKind::Literal(literal) = count.kind else { return false };
        literal.kind == LiteralKind::Int && literal.int_value(self.ctx.sql) == IntValue::Signed(0)
    }

    /// Notes the texts that MySQL reads last.
    pub(super) fn note_read_last(&mut self) {
        for text in std::mem::take(&mut self.read_last) {
            self.note_incorrect(text);
        }
    }

    /// Whether the text `value` is a date that the mode accepts.
    fn is_accepted(&self, value: &Value<'_>) -> bool {
        TextUse::Moment(DateFlags::from_modes(self.ctx.modes)).accepts(value)
    }

    /// Makes `text`, which is `literal`, a number unless it is one as a whole. Returns what MySQL says then.
    fn read_text(
        &mut self,
        text: &mut Expr,
        literal: &Literal,
        (wants_decimal, is_year): (bool, bool),
    ) -> Result<Option<String>, BindError> {
        let constant = self.constant_of(literal)?;
        let ExprKind::Const(value) = &constant.kind else { return Ok(None) };
        let value = value.as_value();
        if is_year && let Some(digits) = year_before_other_text(&value) {
            self.pin(literal);
            *text = self.build.string(digits, self.ctx.collation);
            return Ok(None);
        }
        let read_as = if wants_decimal { TextUse::Decimal } else { TextUse::Double };
        let is_number = match text.kind {
            ExprKind::Param(param) => self.is_text_of(literal, param, read_as),
            _ => read_as.accepts(&value),
        };
        if is_number {
            return Ok(None);
        }
        let (double, decimal) = (value.to_f64(), value.to_decimal());
        self.pin(literal);
        let type_name = if wants_decimal { "DECIMAL" } else { "DOUBLE" };
        *text =
            if wants_decimal { self.build.decimal(decimal.value) } else { self.build.double(double.value) };
        Ok(Some(format!("Truncated incorrect {type_name} value: '{}'", value.message_text())))
    }

    /// Notes the message `text` about a constant: a warning, or in strict modes an error of the statement.
    pub(super) fn note_incorrect(&mut self, text: String) {
        if self.change == Some(true) {
            self.deferred.note(BindError::Incorrect { text, moment: None });
        } else {
            self.deprecated.push(Deprecated::Incorrect(text));
        }
    }

    /// Notes the constants that are compared with a column of dates or times, and that it would not take.
    pub(super) fn note_misfits(&mut self, values: &[Expr]) {
        let column = values.iter().find_map(|value| match value.kind {
            ExprKind::Column(column) => Some((column, temporal_name(value.ty.kind)?, &value.ty)),
            _ => None,
        });
        let Some((column, type_name, ty)) = column else { return };
        for value in values {
            let folded;
            let constant = match &value.kind {
                ExprKind::Const(constant) => constant,
                _ if !is_computed_from_constants(value) => continue,
                _ => {
                    folded = fold(value.clone());
                    let ExprKind::Const(constant) = &folded.kind else { continue };
                    constant
                }
            };
            let constant = constant.as_value();
            if let Some(shown) = misfit(ty, &constant) {
                if let Some(text) = self.incorrect(Moment { column, type_name }, &shown) {
                    self.note_incorrect(text);
                }
            } else if loses_time(ty, &constant) {
                let text = self.incorrect(Moment { column, type_name }, &constant.message_text());
                self.deprecated.extend(text.map(Deprecated::LostTime));
            }
        }
    }

    /// What became of the comparison of the column with a constant.
    pub(super) fn compared_with_moment(
        &mut self,
        compared: Result<Expr, expr::BindError>,
        moment: Moment,
    ) -> Result<Expr, BindError> {
        let is_strict = self.change == Some(true);
        match compared {
            Err(expr::BindError::IncorrectTemporal { type_name: known_as, value })
                if self.change.is_some() =>
            {
                let Some(text) = self.incorrect(moment, &value) else {
                    return Err(expr::BindError::IncorrectTemporal { type_name: known_as, value }.into());
                };
                Err(BindError::Incorrect { text, moment: (!is_strict).then_some((known_as, value)) })
            }
            Ok(compared) => Ok(compared),
            Err(error) => Err(error.into()),
        }
    }

    /// MySQL's text of a value that a column of dates does not have; `None`: the column is not one of a
    /// table.
    #[cold]
    fn incorrect(&mut self, moment: Moment, value: &str) -> Option<String> {
        let Moment { column, type_name } = moment;
        let Source::Table { def, .. } = self.level().rels.get(usize::from(column.rel))? else { return None };
        let name = &def.columns.get(usize::from(column.col))?.name;
        Some(format!("Incorrect {type_name} value: '{value}' for column '{name}' at row 1"))
    }
}

/// The name in messages of a type of dates or times.
fn temporal_name(kind: TypeKind) -> Option<&'static str> {
    match kind {
        TypeKind::Date => Some("date"),
        TypeKind::Time => Some("time"),
        TypeKind::DateTime | TypeKind::Timestamp => Some("datetime"),
        _ => None,
    }
}

fn is_literal(e: &ast::Expr<'_>) -> bool {
    matches!(e.kind, ast::ExprKind::Literal(_) | ast::ExprKind::Null)
}

fn is_number_or_null(e: &ast::Expr<'_>) -> bool {
    match e.kind {
        ast::ExprKind::Literal(literal) => {
            matches!(literal.kind, LiteralKind::Int | LiteralKind::Decimal | LiteralKind::Float)
        }
        ast::ExprKind::Null => true,
        _ => false,
    }
}

fn is_text_time_or_null(e: &ast::Expr<'_>) -> bool {
    use LiteralKind::{Bit, Hex, String, Time};
    match e.kind {
        ast::ExprKind::Literal(literal) => matches!(literal.kind, String | Hex | Bit | Time),
        ast::ExprKind::Null => true,
        _ => false,
    }
}

/// Whether `needle` is an integer that is no column, beside which a list of texts is one of integers.
fn is_computed_integer(needle: &Expr) -> bool {
    !matches!(needle.kind, ExprKind::Column(_)) && needle.ty.is_integer()
}

/// Whether a text or number is a date that some modes accept.
fn is_date_of_some_mode(value: &Value<'_>) -> bool {
    value.to_datetime(DateFlags { allow_invalid_dates: true, ..DateFlags::default() }, Date::ZERO).is_some()
}

/// The number at the front of a text that continues: beside a YEAR column it is what the text is.
fn year_before_other_text<'v>(value: &Value<'v>) -> Option<&'v [u8]> {
    let Value::Bytes { data, .. } = *value else { return None };
    let (_, consumed) = round_text_to_i128(data);
    let goes_on = !data[consumed..].trim_ascii().is_empty();
    (consumed > 0 && goes_on).then_some(&data[..consumed])
}

/// Whether `value` is computed from constants of the statement alone.
fn is_computed_from_constants(value: &Expr) -> bool {
    let mut is_constant = true;
    value.walk(&mut |e| is_constant &= !e.may_vary() && !matches!(e.kind, ExprKind::Param(_)));
    is_constant
}

/// Whether a column of type `ty`, a DATE, keeps no more than the date of a number that has a time of day, in
/// whole seconds.
#[cold]
fn loses_time(ty: &SqlType, constant: &Value<'_>) -> bool {
    if ty.kind != TypeKind::Date || constant.is_textual() || constant.is_temporal() {
        return false;
    }
    let flags = DateFlags { allow_invalid_dates: true, ..DateFlags::default() };
    let read = constant.to_datetime(flags, Date::ZERO).filter(|read| read.loss == Loss::None);
    let whole = read.and_then(|read| read.value.round(0));
    whole.is_some_and(|moment| moment != DateTime::from_date(moment.date()))
}

/// The text of a constant that a column of type `ty`, which holds dates or times, would not take. Incomplete
/// dates are none of these, whatever the mode. Texts beside dates are read where they are compared.
#[cold]
fn misfit(ty: &SqlType, constant: &Value<'_>) -> Option<String> {
    let is_text = constant.is_textual() || matches!(constant, Value::Bit { .. });
    if constant.is_null() || constant.is_temporal() || is_text && ty.kind != TypeKind::Time {
        return None;
    }
    let mut scratch = Vec::new();
    let constant = match *constant {
        Value::Bit { .. } => Value::binary(constant.as_text(&mut scratch)),
        value => value,
    };
    let zone = TimeZone::utc();
    let strict = StoreContext::new(SqlModes::STRICT_ALL_TABLES, &zone, Date::ZERO);
    let flags = DateFlags { allow_invalid_dates: true, ..DateFlags::default() };
    let context = StoreContext { date_flags: flags, ..strict };
    let refused = types::storage::store(ty, &constant, &context, &mut Vec::new()).is_err();
    refused.then(|| constant.message_text())
}
