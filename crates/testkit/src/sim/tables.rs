//! The tables that simulations work on, and reading them.
//!
//! (id INT PRIMARY KEY, n INT, c LONGTEXT, KEY n (n)), at times with KEY c (c(20), n), and with columns that
//! come, go and get wider (`extra`).

use std::time::Duration;

use engine::{
    Alteration, BuildOptions, Direction, Engine, Field, KeyRange, OlderVersion, ReadView, Result, RowRef,
    Scan, Table,
};
use types::storage::widened;
use types::{CollationId, ColumnDef, IndexDef, IndexKind, LobSize, SqlType, TableDef, TypeKind};

use super::extra;
use super::model::{Row, Rows};

/// Characters of the long column in its index.
const PREFIX: u16 = 20;

pub(super) const SCHEMA: &str = "s";

/// The names of `MAIN` and `SIDE`.
pub(super) const NAMES: [&str; 2] = ["main", "side"];

/// The schema of the pair.
pub(super) const PAIR_SCHEMA: &str = "pair";

/// The names of its tables. Each keeps its first one as its comment.
pub(super) const PAIR: [&str; 2] = ["left", "right"];

/// A table of the pair.
pub(super) fn pair_definition(at: usize) -> TableDef {
    TableDef { schema: PAIR_SCHEMA.into(), name: PAIR[at].into(), comment: PAIR[at].into(), ..definition(0) }
}

/// The comment of the main table.
pub(super) fn comment(has_index_on_c: bool) -> &'static str {
    if has_index_on_c { "with c" } else { "" }
}

pub(super) fn definition(table: usize) -> TableDef {
    let int = SqlType::new(TypeKind::Int, 11);
    let text =
        SqlType { collation: CollationId::UTF8MB4_BIN, ..SqlType::new(TypeKind::Text(LobSize::Long), 0) };
    let columns = vec![
        ColumnDef::new("id", int.clone(), false),
        ColumnDef::new("n", int, false),
        ColumnDef::new("c", text, false),
    ];
    let indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
        IndexDef::new("n", IndexKind::Secondary, &[1]),
    ];
    TableDef::new(SCHEMA, NAMES[table], columns, indexes)
}

/// The index that comes and goes, of a table of this definition.
pub(super) fn index_on_c(def: &TableDef) -> IndexDef {
    let at = |name| def.find_column(name).map_or(0, |at| at as u16);
    let mut index = IndexDef::new("c", IndexKind::Secondary, &[at("c"), at("n")]);
    index.parts[0].prefix_len = Some(PREFIX);
    index
}

pub(super) fn key(id: i32) -> [u8; 4] {
    (id as u32 ^ 0x8000_0000).to_be_bytes()
}

/// Runs `work` with a row's values in the columns of `table`.
pub(super) fn with_row<R>(table: &Table, id: i32, row: &Row, work: impl FnOnce(&[Option<&[u8]>]) -> R) -> R {
    let value = |column: &ColumnDef| match &*column.name {
        "id" => Some(id.to_le_bytes().to_vec()),
        "n" => Some(row.n.to_le_bytes().to_vec()),
        "c" => Some(row.content()),
        extra => {
            let written = extra::number(extra).and_then(|number| extra::written(number, row))?;
            Some(if column.ty.kind == TypeKind::BigInt { widened(&written, true).to_vec() } else { written })
        }
    };
    let values: Vec<Option<Vec<u8>>> = table.def.columns.iter().map(value).collect();
    work(&values.iter().map(Option::as_deref).collect::<Vec<_>>())
}

/// A row as it was read: its id, `n`, the long column, and the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) id: i32,
    pub(super) n: i32,
    content: Vec<u8>,
    extras: Vec<(u32, Option<Vec<u8>>)>,
}

impl Found {
    /// Reads `row`, which has the version `older` unless that is `None`.
    fn read(engine: &Engine, table: &Table, row: &RowRef<'_>, older: Option<&OlderVersion>) -> Result<Self> {
        let mut found = Found { id: -1, n: -1, content: Vec::new(), extras: Vec::new() };
        let int = |bytes: &[u8]| bytes.first_chunk().map_or(-1, |raw| i32::from_le_bytes(*raw));
        let mut scratch = Vec::new();
        for (at, column) in table.def.columns.iter().enumerate() {
            let mut bytes = Vec::new();
            let field = match older.filter(|older| !older.seen().covers(at)) {
                Some(older) => older.initial(at).map_or(Field::Null, Field::Bytes),
                None => row.field(at, &mut scratch),
            };
            let is_null = match field {
                Field::Bytes(stored) => {
                    bytes.extend_from_slice(stored);
                    false
                }
                Field::OffPage(reference) => engine.read_value(&reference, &mut bytes).map(|()| false)?,
                Field::Null => true,
            };
            match &*column.name {
                "id" => found.id = int(&bytes),
                "n" => found.n = int(&bytes),
                "c" => found.content = bytes,
                name => {
                    narrow(&mut bytes, &column.ty);
                    found.extras.extend(extra::number(name).map(|at| (at, (!is_null).then_some(bytes))));
                }
            }
        }
        Ok(found)
    }

    /// Whether it is `row`, written before or after its columns came.
    pub(super) fn is(&self, row: &Row) -> bool {
        let is_its = |(number, value): &(u32, Option<Vec<u8>>)| {
            *value == extra::initial(*number) || *value == extra::written(*number, row)
        };
        self.n == row.n
            && self.content.len() == row.len
            && self.content == row.content()
            && self.extras.iter().all(is_its)
    }
}

/// A BIGINT that holds an INT becomes that; one that does not stays what it is, and is no row's.
fn narrow(bytes: &mut Vec<u8>, ty: &SqlType) {
    if ty.kind == TypeKind::BigInt && bytes.len() == 8 && widened(&bytes[..4], true)[..] == bytes[..] {
        bytes.truncate(4);
    }
}

/// The row `id` as `view` sees it.
pub(super) fn get(engine: &Engine, table: &Table, view: ReadView, id: i32) -> Result<Option<Found>> {
    // The leaf stays latched while the row is read; a value off the page is read afterwards.
    let mut scan =
        Scan::open(engine, table, 0, view, KeyRange::prefix(&key(id)), Direction::Forward)?.detached();
    match scan.next_batch()? {
        Some(batch) => batch.rows().next().map(|row| Found::read(engine, table, &row, None)).transpose(),
        None => Ok(None),
    }
}

/// All rows that `view` sees, in the order of the primary key or against it: in that order those of older
/// versions as they are on their pages, against it converted.
pub(super) fn scan(
    engine: &Engine,
    table: &Table,
    view: ReadView,
    direction: Direction,
) -> Result<Vec<Found>> {
    let mut scan = Scan::open(engine, table, 0, view, KeyRange::all(), direction)?.detached();
    let mut found = Vec::new();
    if direction == Direction::Forward {
        scan = scan.versioned();
        while let Some((batch, older)) = scan.next_versioned_batch()? {
            for row in batch.rows() {
                found.push(Found::read(engine, table, &row, older)?);
            }
        }
        return Ok(found);
    }
    while let Some(batch) = scan.next_batch()? {
        for row in batch.rows() {
            found.push(Found::read(engine, table, &row, None)?);
        }
    }
    Ok(found)
}

/// The ids that `view` sees through the index at `position`, in its order.
pub(super) fn ids_by_index(
    engine: &Engine,
    table: &Table,
    position: usize,
    view: ReadView,
    direction: Direction,
) -> Result<Vec<i32>> {
    let mut scan = Scan::open(engine, table, position, view, KeyRange::all(), direction)?.detached();
    let (mut ids, mut key) = (Vec::new(), Vec::new());
    while let Some(batch) = scan.next_batch()? {
        for row in batch.rows() {
            key.clear();
            table.indexes[position].append_clustered_key(&row, &mut key);
            let id = key.first_chunk().map_or(0, |raw| u32::from_be_bytes(*raw));
            ids.push((id ^ 0x8000_0000) as i32);
        }
    }
    Ok(ids)
}

/// The ids of `rows` in the order of the index called `name`.
pub(super) fn ids_in_order(rows: &Rows, name: &str) -> Vec<i32> {
    let prefix = |row: &Row| {
        let mut content = Row { len: row.len.min(PREFIX.into()), ..*row }.content();
        if name != "c" {
            content.clear();
        }
        content
    };
    let mut ids: Vec<(Vec<u8>, i32, i32)> = rows.iter().map(|(id, row)| (prefix(row), row.n, *id)).collect();
    ids.sort_unstable();
    ids.into_iter().map(|(_, _, id)| id).collect()
}

/// Writes all rows of a table again, while others change them; if not `in_order`, as if the new key were
/// another, so that writers wait.
pub(super) fn rebuild(
    engine: &Engine,
    old: &Table,
    alteration: Alteration,
    in_order: bool,
    wait: Duration,
) -> Result<()> {
    let kept = |(at, column): (usize, &ColumnDef)| (in_order || &*column.name != "id").then_some(at as u16);
    let kept: Vec<Option<u16>> = old.def.columns.iter().enumerate().map(kept).collect();
    let options = BuildOptions::default();
    engine.rebuild_table(&old.def, alteration, &kept, &options, wait, |row, put| put(row)).map(drop)
}
