//! Values on their way to columns, where what they are written as decides what the column gets.

use expr::build::CastTo;
use expr::{ColumnRef, Expr, ExprKind, Func};
use types::{CollationId, OwnedValue, SqlType, TableDef, TypeKind, Value};

use super::BindError;
use super::binder::Binder;
use super::block::{Block, Query, Source};
use super::temp_table::temp_table;
use crate::plan::InsertCell;

/// `cell`, which is assigned to the column `target`: a date or time that is assigned to itself is kept.
pub(super) fn kept(cell: InsertCell, target: ColumnRef) -> InsertCell {
    match cell {
        InsertCell::Expr(value)
            if value.ty.is_temporal()
                && matches!(value.kind, ExprKind::Column(column) if column == target) =>
        {
            InsertCell::Kept(value)
        }
        cell => cell,
    }
}

/// More bytes than a number has.
const TOO_MANY_BYTES: u8 = 9;

impl Binder<'_, '_> {
    /// The values of the query of an INSERT as the columns of `table` get them. MySQL reads dates and times
    /// as such where it gathers the rows in a table first.
    pub(super) fn assign_output(
        &self,
        block: &mut Block,
        table: &TableDef,
        columns: &[u16],
    ) -> Result<(), BindError> {
        let type_of = |col: u16| &table.columns[usize::from(col)].ty;
        let mut assigned = block.output.iter().zip(columns);
        let differs = assigned.any(|(item, &col)| {
            let (from, to) = (&item.expr.ty, type_of(col));
            is_read_as_text(from, to) || from.kind == TypeKind::Decimal && !to.is_integer()
        });
        let is_gathered = differs && is_gathered(block, table);
        for (at, &col) in columns.iter().enumerate() {
            let value = std::mem::replace(&mut block.output[at].expr, self.build.null());
            let ty = type_of(col);
            let is_extreme = block.aggregation.as_ref().is_some_and(|rows| rows.is_extreme(&value));
            let is_moment = is_gathered && (is_extreme || is_mixed(&value)) && is_read_as_text(&value.ty, ty);
            block.output[at].expr = match (is_moment, is_extreme) {
                (true, _) => value,
                (false, true) => self.mixed_value_for(value, ty)?,
                (false, false) if is_gathered => self.value_for(value, ty)?,
                (false, false) => self.stored_value(value, ty)?,
            };
        }
        Ok(())
    }

    /// `value` as a column of type `ty` gets it, without a table between.
    pub(super) fn stored_value(&self, value: Expr, ty: &SqlType) -> Result<Expr, BindError> {
        let value = self.value_for(value, ty)?;
        let shows_digits = ty.is_string() || ty.is_temporal();
        Ok(if shows_digits { value.with_own_digits() } else { value })
    }

    /// `value` as a column of type `ty` gets it, perhaps from a table that gathers the rows.
    fn value_for(&self, value: Expr, ty: &SqlType) -> Result<Expr, BindError> {
        match &value.kind {
            ExprKind::Const(OwnedValue::Bit { .. }) if value.ty.is_string() => Ok(bytes_for(value, ty)),
            ExprKind::Const(_) if value.ty.is_string() && value.ty.unsigned => Ok(bytes_for(value, ty)),
            ExprKind::Const(_) if value.ty.kind == TypeKind::Bit && is_read_as_number(&value.ty, ty) => {
                Ok(self.build.cast(value, CastTo::Unsigned)?)
            }
            ExprKind::Column(_) if is_lob(ty) && has_own_text(&value.ty) => {
                let text = CastTo::Char { length: None, charset: None, binary: false };
                Ok(self.build.cast(value, text)?)
            }
            // The year 0 is a number there, though clients see 0000.
            ExprKind::Column(_) if value.ty.kind == TypeKind::Year && ty.is_string() && !is_lob(ty) => {
                Ok(self.build.cast(value, CastTo::Unsigned)?)
            }
            ExprKind::Column(_) if value.ty.kind == TypeKind::Float && ty.is_string() && !is_lob(ty) => {
                Ok(self.build.cast(value, CastTo::Double)?)
            }
            _ if is_mixed(&value) => self.mixed_value_for(value, ty),
            ExprKind::Column(_) if is_read_as_number(&value.ty, ty) => {
                let to = if value.ty.kind == TypeKind::Bit { CastTo::Unsigned } else { CastTo::Signed };
                Ok(self.build.cast(value, to)?)
            }
            _ => Ok(value),
        }
    }

    /// As [`Binder::value_for`], of what is one of several values: of a date or time, MySQL knows the text
    /// alone, of bits the number, and of a FLOAT the double.
    fn mixed_value_for(&self, value: Expr, ty: &SqlType) -> Result<Expr, BindError> {
        if value.ty.kind == TypeKind::Bit && (ty.is_string() || ty.is_temporal()) {
            return Ok(self.build.cast(value, CastTo::Unsigned)?);
        }
        if value.ty.kind == TypeKind::Float && ty.is_string() {
            return Ok(self.build.cast(value, CastTo::Double)?);
        }
        if !is_read_as_text(&value.ty, ty) {
            return Ok(value);
        }
        let text = CastTo::Char { length: None, charset: None, binary: false };
        Ok(self.build.cast(value, text)?)
    }
}

/// Whether MySQL gathers the rows of `block` in a table before they go to `table`: for its own reasons, or
/// because they come from there.
fn is_gathered(block: &Block, table: &TableDef) -> bool {
    let is_one_row = block.aggregation.as_ref().is_some_and(|made| made.groups.is_empty());
    temp_table(block, true).is_some() || !is_one_row && reads(block, table)
}

fn reads(block: &Block, table: &TableDef) -> bool {
    let is_source = |source: &Source| match source {
        Source::Table { def, .. } => def.id == table.id,
        Source::Query { query: Some(query), .. } => query_reads(query, table),
        _ => false,
    };
    block.rels.iter().any(is_source) || block.subqueries.iter().any(|sub| query_reads(&sub.query, table))
}

fn query_reads(query: &Query, table: &TableDef) -> bool {
    match query {
        Query::Select(block) => reads(block, table),
        Query::Union(union) => union.arms.iter().any(|arm| query_reads(arm, table)),
    }
}

/// Whether the text that queries show of a column is not the one that a TEXT column gets of the value.
fn has_own_text(ty: &SqlType) -> bool {
    let is_fixed = ty.kind == TypeKind::Float && ty.decimals < SqlType::NOT_FIXED_DECIMALS;
    ty.zerofill || is_fixed || ty.kind == TypeKind::Double
}

fn is_lob(ty: &SqlType) -> bool {
    matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_))
}

/// Whether `value` is one of several operands, or a subquery's.
fn is_mixed(value: &Expr) -> bool {
    use Func::{Coalesce, Greatest, If, IfNull, Least, NullIf};
    match &value.kind {
        ExprKind::Call { func, .. } => {
            matches!(func, Coalesce | Greatest | If | IfNull | Least | NullIf)
        }
        ExprKind::Case { .. } | ExprKind::Subquery { .. } => true,
        _ => false,
    }
}

/// Returns whether storing the text of a `from` value into a `to` column gives another value than storing the
/// `from` value.
fn is_read_as_text(from: &SqlType, to: &SqlType) -> bool {
    let is_date = |ty: &SqlType| matches!(ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp);
    match from.kind {
        TypeKind::Time => !to.is_string() && to.kind != TypeKind::Time,
        _ => is_date(from) && !to.is_string() && !is_date(to),
    }
}

/// Whether MySQL reads a column of type `from` as a number where one of type `to` gets its value, other than
/// in expressions.
fn is_read_as_number(from: &SqlType, to: &SqlType) -> bool {
    match from.kind {
        TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Time => {
            matches!(to.kind, TypeKind::Year | TypeKind::Bit)
        }
        TypeKind::Bit => {
            let is_moment =
                matches!(to.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Time);
            is_moment || to.is_string() && !is_lob(to)
        }
        _ => false,
    }
}

/// A hexadecimal or bit literal for a column of type `ty`: see [`bits_for`].
pub(super) fn bytes_for(literal: Expr, ty: &SqlType) -> Expr {
    let ExprKind::Const(constant) = &literal.kind else { return literal };
    let bytes = match constant {
        OwnedValue::Bit { value, bytes } => value.to_be_bytes()[8 - usize::from(*bytes).min(8)..].into(),
        OwnedValue::Bytes { data, collation: CollationId::BINARY } => data.clone(),
        _ => return literal,
    };
    let value = bits_for(&bytes, ty).to_owned_value();
    Expr { kind: ExprKind::Const(value), ..literal }
}

/// The value that the bytes of a hexadecimal or bit literal are for a column of type `ty`: a number for
/// numbers. One of more than 64 bits, or 63 for a column with a sign, is the greatest of them and out of
/// range.
pub fn bits_for<'v>(bytes: &'v [u8], ty: &SqlType) -> Value<'v> {
    match ty.kind {
        TypeKind::Bit | TypeKind::Year => number(bytes, u64::MAX),
        TypeKind::Decimal | TypeKind::Float | TypeKind::Double => number(bytes, greatest(ty)),
        _ if ty.is_integer() => number(bytes, greatest(ty)),
        _ => Value::Bytes { data: bytes, collation: CollationId::BINARY },
    }
}

fn greatest(ty: &SqlType) -> u64 {
    if ty.unsigned { u64::MAX } else { i64::MAX as u64 }
}

fn number(bytes: &[u8], greatest: u64) -> Value<'static> {
    if bytes.is_empty() {
        return Value::Int(0);
    }
    let value = bytes.iter().fold(0, |value: u64, &byte| value << 8 | u64::from(byte));
    if bytes.len() > 8 || value > greatest {
        return Value::Bit { value: greatest, bytes: TOO_MANY_BYTES };
    }
    Value::Bit { value, bytes: bytes.len() as u8 }
}
