//! Columns of the main table that come, go and get wider while its rows stay.
//!
//! There are 64, by number, of three types. A row that was written before its column came shows the initial
//! value, one that was written after it a value made from the row.

use base::prng::Prng;
use engine::{Alteration, Engine, NewColumns, Table};
use types::{CollationId, ColumnDef, LobSize, SqlType, TypeKind};

use super::coverage::Event;
use super::model::Row;

/// Columns that the table has at most at a time.
const EXTRAS_MAX: u32 = 4;

/// The number of the column called `name`.
pub(super) fn number(name: &str) -> Option<u32> {
    name.strip_prefix('x')?.parse().ok()
}

/// The columns of `table`: a bit for each.
pub(super) fn of(table: &Table) -> u64 {
    let numbers = table.def.columns.iter().filter_map(|column| number(&column.name));
    numbers.fold(0, |columns, number| columns | 1 << number)
}

fn column(number: u32) -> ColumnDef {
    let text = |kind, length| SqlType { collation: CollationId::UTF8MB4_BIN, ..SqlType::new(kind, length) };
    let ty = match number % 3 {
        0 => SqlType::new(TypeKind::Int, 11),
        1 => text(TypeKind::VarChar, 100),
        _ => text(TypeKind::Text(LobSize::Long), 0),
    };
    ColumnDef::new(&format!("x{number}"), ty, !number.is_multiple_of(3))
}

/// What rows from before the column came show in it.
pub(super) fn initial(number: u32) -> Option<Vec<u8>> {
    match number % 6 {
        0 | 3 => Some((number * 0x0101).to_le_bytes().to_vec()),
        1 => Some(b"initial ".repeat(number as usize % 8)),
        _ => None,
    }
}

/// What `row` has in it.
pub(super) fn written(number: u32, row: &Row) -> Option<Vec<u8>> {
    let stamp = row.stamp.rotate_left(number);
    let len = match (number % 3, stamp % 8) {
        (0, _) => return Some(stamp.to_le_bytes().to_vec()),
        (_, 0) => return None,
        (2, 1) => 9000,
        (2, 2..4) => 700,
        _ => stamp as usize % 40,
    };
    Some(Row { stamp, len, ..*row }.content())
}

/// A change of the columns.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Add(u32),
    Drop(u32),
    /// The column at one place gets another.
    Move(usize, usize),
    /// All integers become BIGINT.
    Widen,
}

impl Step {
    pub(super) fn draw(prng: &mut Prng, columns: u64, width: usize) -> Step {
        let number = prng.below(64) as u32;
        let dropped = (0..64).map(|at| (number + at) % 64).find(|at| columns >> at & 1 != 0);
        let has_integer = (0..64).any(|at: u32| columns >> at & 1 != 0 && at.is_multiple_of(3));
        match (prng.below(6), dropped) {
            (5, _) if has_integer => Step::Widen,
            (0, _) => Step::Move(prng.below(width as u64) as usize, prng.below(width as u64) as usize),
            (1..3, Some(dropped)) => Step::Drop(dropped),
            _ if columns >> number & 1 == 0 && columns.count_ones() < EXTRAS_MAX => Step::Add(number),
            (_, Some(dropped)) => Step::Drop(dropped),
            _ => Step::Move(0, width - 1),
        }
    }

    /// The columns after it.
    pub(super) fn after(self, columns: u64) -> u64 {
        match self {
            Step::Add(number) => columns | 1 << number,
            Step::Drop(number) => columns & !(1 << number),
            Step::Move(..) | Step::Widen => columns,
        }
    }

    pub(super) fn event(self) -> Event {
        match self {
            Step::Add(_) => Event::ColumnsAdded,
            Step::Drop(_) => Event::ColumnsDropped,
            Step::Move(..) => Event::ColumnsMoved,
            Step::Widen => Event::ColumnsWidened,
        }
    }

    /// Makes the change of `old`.
    pub(super) fn make(
        self,
        engine: &Engine,
        old: &Table,
        place: usize,
        wait: std::time::Duration,
    ) -> engine::Result<()> {
        let mut columns: Vec<(ColumnDef, Option<u16>)> = old
            .def
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| (column.clone(), Some(at as u16)))
            .collect();
        match self {
            Step::Add(number) => columns.insert(place.min(columns.len()), (column(number), None)),
            Step::Drop(dropped) => columns.retain(|(column, _)| number(&column.name) != Some(dropped)),
            Step::Move(from, to) => {
                let moved = columns.remove(from);
                columns.insert(to, moved);
            }
            Step::Widen => {
                let extras = columns.iter_mut().filter(|(column, _)| number(&column.name).is_some());
                for (column, _) in extras.filter(|(column, _)| column.ty.kind == TypeKind::Int) {
                    column.ty = SqlType::bigint();
                }
            }
        }
        let kept: Vec<Option<u16>> = columns.iter().map(|(_, at)| *at).collect();
        let initial = columns.iter().map(|(column, at)| {
            let number = number(&column.name).filter(|_| at.is_none())?;
            initial(number).map(Into::into)
        });
        let initial = initial.collect();
        let mut def = (*old.def).clone();
        for part in def.indexes.iter_mut().flat_map(|index| &mut index.parts) {
            part.column = kept.iter().position(|at| *at == Some(part.column)).unwrap_or(0) as u16;
        }
        def.columns = columns.into_iter().map(|(column, _)| column).collect();
        let alteration = Alteration { def, auto_increment: None };
        engine.change_columns(&old.def, alteration, NewColumns { kept: &kept, initial: &initial }, wait)
    }
}
