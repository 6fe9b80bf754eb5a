//! Copying rows in flight to temporary rows.

use base::memory::ByteStore;
use bumpalo::Bump;
use expr::Expr;
use types::{DateTime, Decimal, SqlType, TypeKind, Value};

use crate::error::Result;
use crate::frame::{CurrentRow, Frame, row_source};
use crate::query_run::QueryRun;
use crate::temp_row::{CLUSTERED_KEY, Layout, RowWriter};

/// Appends the relations of `layout` from the row in flight to what `out` is writing.
pub(crate) fn keep_frame(layout: &Layout, frame: &Frame<'_>, out: &mut ByteStore) {
    let mut writer = RowWriter::new(out, layout.cells.len());
    let mut current: Option<(u16, Option<&CurrentRow<'_>>)> = None;
    for &(rel, col) in &layout.sources {
        let row = match current {
            Some((of, row)) if of == rel => row,
            _ => frame.find(rel),
        };
        current = Some((rel, row));
        match row {
            Some(CurrentRow::Record(record)) if col == CLUSTERED_KEY => {
                let mut key = Vec::new();
                record.clustered_key(&mut key);
                writer.put_cell(Some(&key));
            }
            Some(CurrentRow::Record(record)) => {
                writer.put_cell(record.reader.bytes(&record.row, usize::from(col), record.env));
            }
            Some(CurrentRow::Temp(temp)) => writer.put_cell(temp.cell(rel, col).map(|(_, bytes)| bytes)),
            Some(CurrentRow::Nulls(_)) | None => writer.put_cell(None),
        }
    }
}

/// Appends the values of a query's output columns, in the types of the layout, to what `out` is writing.
pub(crate) fn keep_outputs<'e>(
    layout: &Layout,
    outputs: impl Iterator<Item = &'e Expr>,
    frame: &Frame<'_>,
    run: &QueryRun<'_>,
    arena: &mut Bump,
    out: &mut ByteStore,
) -> Result<()> {
    arena.reset();
    let ctx = run.ctx(arena);
    let mut writer = RowWriter::new(out, layout.cells.len());
    for (expr, cell) in outputs.zip(&layout.cells) {
        let value = expr.eval(row_source(Some(frame)), &ctx).map_err(|error| run.st.eval_error(error))?;
        writer.put_value(&conform(value, cell.ty(), arena));
    }
    run.st.check()
}

/// The value in the type of the column that it goes to, where the arms of a UNION differ.
fn conform<'a>(value: Value<'a>, ty: &SqlType, arena: &'a Bump) -> Value<'a> {
    match (ty.kind, value) {
        (_, Value::Null) => Value::Null,
        (TypeKind::Decimal, Value::Int(_) | Value::UInt(_)) => {
            Value::Decimal(scaled(value.to_decimal().value, ty))
        }
        (TypeKind::Decimal, Value::Decimal(v)) => Value::Decimal(scaled(v, ty)),
        (TypeKind::Double, Value::Double(_)) => value,
        (TypeKind::Double, _) => Value::Double(value.to_f64().value),
        (TypeKind::DateTime | TypeKind::Timestamp, Value::Date(v)) => {
            Value::DateTime(DateTime::from_date(v), ty.decimals)
        }
        (_, Value::Bytes { .. }) => value,
        _ if ty.is_string() => {
            let mut text = Vec::new();
            value.write_text(&mut text);
            Value::Bytes { data: arena.alloc_slice_copy(&text), collation: ty.collation }
        }
        _ => value,
    }
}

fn scaled(value: Decimal, ty: &SqlType) -> Decimal {
    if value.scale() < ty.decimals { value.rescale(ty.decimals).unwrap_or(value) } else { value }
}
