//! Definitions as bytes.
//!
//! | SIZE | FIELD |
//! |---|---|
//! | 1 | format of what follows, [`FORMAT`], or for a table with a list of hints [`HINTED`] or [`MARKED`], with a history as well [`VERSIONED`] or [`WIDENED`], and with tagged fields as well [`TAGGED`] |
//! | ... | fields in the order of the encoders below: integers as LEB128, strings with their length before |
//! | ... | if it has hints: their number, then for each 0 and the place of an index that says USING BTREE, 253 and the place of a column that names its collation, 254 and that of an invisible index, 255 and that of an invisible column, or the number of a table option and its value |
//! | ... | if it has a history: `history.rs` |
//! | ... | if it has tagged fields: `fields.rs` |
//! | 4 | CRC-32 of everything before |
//!
//! A record of another format or with another checksum is refused whole.

use base::checksum::crc32;
use base::codec::{get_u32, push_varint, take, take_varint};
use base::{ColumnId, IndexId, PageNo, SchemaId, TableId};
use types::{
    CollationId, ColumnDef, ColumnDefault, IndexDef, IndexKind, KeyPart, LobSize, RowHistory, SqlType,
    StorageHint, TableDef, TypeKind,
};

use super::{SchemaDef, TableRecord, fields, history};
use crate::error::{Error, Result};

pub(super) const FORMAT: u8 = 1;
/// A table with hints. An older server refuses it.
const HINTED: u8 = 2;
/// A table with hints, some of which mark columns or hide an index. An older server refuses it.
const MARKED: u8 = 3;
/// A table whose columns have changed while its rows stayed: a list of hints, which may be empty, and a
/// history. An older server refuses it.
const VERSIONED: u8 = 4;
/// The same, and pages may have one of its integers in a narrower type. An older server refuses it.
const WIDENED: u8 = 5;
/// A table with hints and a history, both perhaps empty, and tagged fields: later properties have no format
/// of their own. An older server refuses it.
const TAGGED: u8 = 6;
/// In the place of a table option: an index says USING BTREE.
const INDEX_NAMES_BTREE: u8 = 0;
/// In the place of a table option: a column names its collation.
const COLUMN_NAMES_COLLATION: u8 = 253;
/// In the place of a table option: an index is INVISIBLE.
const INDEX_IS_INVISIBLE: u8 = 254;
/// In the place of a table option: a column is INVISIBLE.
const COLUMN_IS_INVISIBLE: u8 = 255;

/// The bytes of a schema.
pub(crate) fn encode_schema(schema: &SchemaDef) -> Vec<u8> {
    let mut out = vec![FORMAT];
    push_varint(&mut out, u64::from(schema.id.0));
    push_str(&mut out, &schema.name);
    push_varint(&mut out, u64::from(schema.collation.0));
    seal(out)
}

/// The schema in `bytes`.
pub(crate) fn decode_schema(bytes: &[u8]) -> Result<SchemaDef> {
    let mut rest = open(bytes)?;
    let schema = schema(&mut rest).filter(|_| rest.is_empty());
    schema.ok_or_else(|| damaged("schema"))
}

fn schema(rest: &mut &[u8]) -> Option<SchemaDef> {
    Some(SchemaDef { id: SchemaId(int(rest)?), name: str(rest)?, collation: CollationId(int(rest)?) })
}

/// The bytes of a table.
pub(crate) fn encode_table(table: &TableRecord) -> Vec<u8> {
    let def = &table.def;
    let hints = hints_of(def);
    let marks = hints.iter().any(|(number, _)| *number >= COLUMN_NAMES_COLLATION);
    let is_versioned = def.format_version != 1 || !def.columns.is_sorted_by_key(|column| column.id);
    let is_tagged = fields::has_any(def);
    let mut out = vec![match hints[..] {
        _ if is_tagged => TAGGED,
        _ if is_versioned && table.history.has_narrower(def) => WIDENED,
        _ if is_versioned => VERSIONED,
        [] => FORMAT,
        _ if marks => MARKED,
        _ => HINTED,
    }];
    push_varint(&mut out, u64::from(def.id.0));
    push_str(&mut out, &def.schema);
    push_str(&mut out, &def.name);
    push_varint(&mut out, def.columns.len() as u64);
    for column in &def.columns {
        push_column(&mut out, column);
    }
    push_varint(&mut out, def.indexes.len() as u64);
    for (index, root) in def.indexes.iter().zip(&table.roots) {
        push_index(&mut out, index);
        push_varint(&mut out, u64::from(root.0));
    }
    out.push(u8::from(def.hidden_row_id));
    push_varint(&mut out, u64::from(def.collation.0));
    push_str(&mut out, &def.comment);
    push_varint(&mut out, u64::from(def.format_version));
    push_varint(&mut out, def.auto_increment_start);
    push_varint(&mut out, def.create_time);
    if is_tagged || is_versioned || !hints.is_empty() {
        push_varint(&mut out, hints.len() as u64);
        for (number, value) in hints {
            out.push(number);
            push_varint(&mut out, value);
        }
    }
    if is_tagged || is_versioned {
        history::push(&mut out, &table.history);
    }
    if is_tagged {
        fields::push(&mut out, def);
    }
    seal(out)
}

/// The hints of a table and its indexes.
fn hints_of(def: &TableDef) -> Vec<(u8, u64)> {
    let indexes = || def.indexes.iter().enumerate();
    let names_btree = indexes().filter(|(_, index)| index.names_btree);
    let hidden_indexes = indexes().filter(|(_, index)| index.invisible);
    let columns = || def.columns.iter().enumerate();
    let named_columns = columns().filter(|(_, column)| column.names_collation);
    let hidden_columns = columns().filter(|(_, column)| column.invisible);
    let mut hints: Vec<_> = names_btree.map(|(place, _)| (INDEX_NAMES_BTREE, place as u64)).collect();
    hints.extend(def.hints.iter().map(|&(hint, value)| (hint as u8, value)));
    hints.extend(named_columns.map(|(place, _)| (COLUMN_NAMES_COLLATION, place as u64)));
    hints.extend(hidden_indexes.map(|(place, _)| (INDEX_IS_INVISIBLE, place as u64)));
    hints.extend(hidden_columns.map(|(place, _)| (COLUMN_IS_INVISIBLE, place as u64)));
    hints
}

/// The table in `bytes`.
///
/// # Errors
/// [`Error::DictionaryCorrupt`]; [`Error::NewerDefinition`] for a field that only a newer server can read.
pub(crate) fn decode_table(bytes: &[u8]) -> Result<TableRecord> {
    let (format, mut rest) = open_any(bytes)?;
    let read = table(&mut rest).and_then(|mut record| {
        match format {
            FORMAT => {}
            HINTED | MARKED => hints(&mut rest, &mut record.def)?,
            VERSIONED | WIDENED | TAGGED => {
                hints(&mut rest, &mut record.def)?;
                record.history = history::take(&mut rest)?;
            }
            _ => return None,
        }
        Some(record)
    });
    let mut record = read.ok_or_else(|| damaged("table"))?;
    if format == TAGGED {
        fields::take(&mut rest, &mut record.def)?;
    }
    if rest.is_empty() { Ok(record) } else { Err(damaged("table")) }
}

fn hints(rest: &mut &[u8], def: &mut TableDef) -> Option<()> {
    let mut of_table = Vec::new();
    for (number, value) in list(rest, |rest| Some((byte(rest)?, take_varint(rest)?)))? {
        let place = usize::try_from(value);
        match number {
            INDEX_NAMES_BTREE => def.indexes.get_mut(place.ok()?)?.names_btree = true,
            COLUMN_NAMES_COLLATION => def.columns.get_mut(place.ok()?)?.names_collation = true,
            INDEX_IS_INVISIBLE => def.indexes.get_mut(place.ok()?)?.invisible = true,
            COLUMN_IS_INVISIBLE => def.columns.get_mut(place.ok()?)?.invisible = true,
            _ => of_table.push((StorageHint::of_number(number)?, value)),
        }
    }
    def.hints = of_table.into();
    Some(())
}

fn table(rest: &mut &[u8]) -> Option<TableRecord> {
    let (id, schema, name) = (TableId(int(rest)?), str(rest)?, str(rest)?);
    let columns = list(rest, column)?;
    let (indexes, roots) = list(rest, |rest| Some((index(rest)?, PageNo(int(rest)?))))?.into_iter().unzip();
    let def = TableDef {
        id,
        schema,
        name,
        columns,
        indexes,
        hidden_row_id: flag(rest)?,
        collation: CollationId(int(rest)?),
        comment: str(rest)?,
        format_version: int(rest)?,
        auto_increment_start: take_varint(rest)?,
        create_time: take_varint(rest)?,
        hints: Box::default(),
        unknown: None,
    };
    Some(TableRecord { def, roots, history: RowHistory::default() })
}

fn push_column(out: &mut Vec<u8>, column: &ColumnDef) {
    push_varint(out, u64::from(column.id.0));
    push_str(out, &column.name);
    push_type(out, &column.ty);
    let bits = [column.nullable, column.auto_increment, column.on_update_now];
    out.push(bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit)));
    match &column.default {
        ColumnDefault::None => out.push(0),
        ColumnDefault::Null => out.push(1),
        ColumnDefault::Constant(bytes) => {
            out.push(2);
            push_bytes(out, bytes);
        }
        ColumnDefault::Now => out.push(3),
        ColumnDefault::Dropped => out.push(4),
        // The expression is a tagged field.
        ColumnDefault::Expression(_) => out.push(0),
    }
    push_str(out, &column.comment);
}

fn column(rest: &mut &[u8]) -> Option<ColumnDef> {
    let (id, name, ty) = (ColumnId(int(rest)?), str(rest)?, sql_type(rest)?);
    let bits = byte(rest)?;
    let default = match byte(rest)? {
        0 => ColumnDefault::None,
        1 => ColumnDefault::Null,
        2 => ColumnDefault::Constant(bytes(rest)?.into()),
        3 => ColumnDefault::Now,
        4 => ColumnDefault::Dropped,
        _ => return None,
    };
    Some(ColumnDef {
        id,
        name,
        ty,
        nullable: bits & 1 != 0,
        default,
        auto_increment: bits & 2 != 0,
        on_update_now: bits & 4 != 0,
        invisible: false,
        comment: str(rest)?,
        names_collation: false,
        unknown: None,
    })
}

fn push_index(out: &mut Vec<u8>, index: &IndexDef) {
    push_varint(out, u64::from(index.id.0));
    push_str(out, &index.name);
    out.push(match index.kind {
        IndexKind::Primary => 0,
        IndexKind::Unique => 1,
        IndexKind::Secondary => 2,
    });
    push_varint(out, index.parts.len() as u64);
    for part in &index.parts {
        push_varint(out, u64::from(part.column));
        push_varint(out, part.prefix_len.map_or(0, |len| u64::from(len) + 1));
        out.push(u8::from(part.desc));
    }
    push_str(out, &index.comment);
}

fn index(rest: &mut &[u8]) -> Option<IndexDef> {
    let (id, name) = (IndexId(int(rest)?), str(rest)?);
    let kind = match byte(rest)? {
        0 => IndexKind::Primary,
        1 => IndexKind::Unique,
        2 => IndexKind::Secondary,
        _ => return None,
    };
    let parts = list(rest, |rest| {
        let column = int(rest)?;
        let prefix_len = match take_varint(rest)? {
            0 => None,
            len => Some(u16::try_from(len - 1).ok()?),
        };
        Some(KeyPart { column, prefix_len, desc: flag(rest)? })
    })?;
    Some(IndexDef {
        id,
        name,
        kind,
        parts,
        comment: str(rest)?,
        names_btree: false,
        invisible: false,
        unknown: None,
    })
}

pub(super) fn push_type(out: &mut Vec<u8>, ty: &SqlType) {
    out.push(kind_byte(ty.kind));
    out.push(u8::from(ty.unsigned) | u8::from(ty.zerofill) << 1);
    push_varint(out, u64::from(ty.length));
    out.push(ty.decimals);
    push_varint(out, u64::from(ty.collation.0));
    let members = ty.members.as_deref().unwrap_or(&[]);
    push_varint(out, members.len() as u64);
    for member in members {
        push_bytes(out, member);
    }
}

pub(super) fn sql_type(rest: &mut &[u8]) -> Option<SqlType> {
    let kind = kind_of(byte(rest)?)?;
    let bits = byte(rest)?;
    let (length, decimals, collation) = (int(rest)?, byte(rest)?, CollationId(int(rest)?));
    let members: Vec<Box<[u8]>> = list(rest, |rest| Some(bytes(rest)?.into()))?;
    let has_members = matches!(kind, TypeKind::Enum | TypeKind::Set);
    Some(SqlType {
        kind,
        unsigned: bits & 1 != 0,
        zerofill: bits & 2 != 0,
        length,
        decimals,
        collation,
        members: has_members.then(|| members.into()),
        is_calculated: false,
    })
}

/// Type kinds by their byte: the position is the format.
const KINDS: [TypeKind; 29] = [
    TypeKind::Null,
    TypeKind::TinyInt,
    TypeKind::SmallInt,
    TypeKind::MediumInt,
    TypeKind::Int,
    TypeKind::BigInt,
    TypeKind::Decimal,
    TypeKind::Float,
    TypeKind::Double,
    TypeKind::Bit,
    TypeKind::Char,
    TypeKind::VarChar,
    TypeKind::Binary,
    TypeKind::VarBinary,
    TypeKind::Text(LobSize::Tiny),
    TypeKind::Text(LobSize::Normal),
    TypeKind::Text(LobSize::Medium),
    TypeKind::Text(LobSize::Long),
    TypeKind::Blob(LobSize::Tiny),
    TypeKind::Blob(LobSize::Normal),
    TypeKind::Blob(LobSize::Medium),
    TypeKind::Blob(LobSize::Long),
    TypeKind::Date,
    TypeKind::Time,
    TypeKind::DateTime,
    TypeKind::Timestamp,
    TypeKind::Year,
    TypeKind::Enum,
    TypeKind::Set,
];

fn kind_byte(kind: TypeKind) -> u8 {
    KINDS.iter().position(|&known| known == kind).expect("every kind has a byte") as u8
}

fn kind_of(byte: u8) -> Option<TypeKind> {
    KINDS.get(usize::from(byte)).copied()
}

pub(super) fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn push_str(out: &mut Vec<u8>, text: &str) {
    push_bytes(out, text.as_bytes());
}

/// Of a definition: its CRC-32 times a large odd number. The plain one would make every definition of one
/// length look the same to the page's checksum, so that a crash which leaves the old one on a page went
/// unnoticed.
fn checksum(body: &[u8]) -> u32 {
    crc32(body).wrapping_mul(0x9e37_79b1)
}

pub(super) fn seal(mut out: Vec<u8>) -> Vec<u8> {
    let sum = checksum(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}

pub(super) fn open(bytes: &[u8]) -> Result<&[u8]> {
    match open_any(bytes)? {
        (FORMAT, rest) => Ok(rest),
        _ => Err(damaged("format")),
    }
}

/// The format of a record and what follows it.
fn open_any(bytes: &[u8]) -> Result<(u8, &[u8])> {
    let Some((body, sum)) = bytes.split_last_chunk::<4>() else { return Err(damaged("length")) };
    if get_u32(sum, 0) != checksum(body) {
        return Err(damaged("checksum"));
    }
    let (format, rest) = body.split_first().ok_or_else(|| damaged("format"))?;
    Ok((*format, rest))
}

#[cold]
pub(super) fn damaged(what: &'static str) -> Error {
    Error::DictionaryCorrupt { what }
}

pub(super) fn int<T: TryFrom<u64>>(rest: &mut &[u8]) -> Option<T> {
    T::try_from(take_varint(rest)?).ok()
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    take(rest, 1).map(|bytes| bytes[0])
}

pub(super) fn flag(rest: &mut &[u8]) -> Option<bool> {
    Some(byte(rest)? != 0)
}

pub(super) fn bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = int(rest)?;
    take(rest, len)
}

fn str(rest: &mut &[u8]) -> Option<Box<str>> {
    std::str::from_utf8(bytes(rest)?).ok().map(Into::into)
}

pub(super) fn list<'a, T>(
    rest: &mut &'a [u8],
    mut item: impl FnMut(&mut &'a [u8]) -> Option<T>,
) -> Option<Vec<T>> {
    let count: usize = int(rest)?;
    // Every item takes a byte at least, so a damaged count cannot ask for more memory than the record has.
    if count > rest.len() {
        return None;
    }
    (0..count).map(|_| item(rest)).collect()
}

#[cfg(test)]
mod tests {
    use types::{AddedColumn, PastColumn};

    use super::*;

    #[test]
    fn a_definition_can_be_told_from_another_by_the_checksum_of_a_page() {
        let (one, other) = (seal(vec![FORMAT, 1, 2]), seal(vec![FORMAT, 1, 3]));
        assert_ne!(crc32(&one), crc32(&other));
        let plain = |body: &[u8]| [body, &crc32(body).to_le_bytes()].concat();
        assert_eq!(crc32(&plain(&[FORMAT, 1, 2])), crc32(&plain(&[FORMAT, 1, 3])));
    }

    fn record() -> TableRecord {
        let column = |id, name: &str, ty, default| ColumnDef {
            id: ColumnId(id),
            name: name.into(),
            ty,
            nullable: id % 2 == 0,
            default,
            auto_increment: id == 1,
            on_update_now: id == 3,
            invisible: false,
            comment: "c".into(),
            names_collation: false,
            unknown: None,
        };
        let members =
            SqlType { members: Some(vec![b"x"[..].into()].into()), ..SqlType::new(TypeKind::Enum, 1) };
        let def = TableDef {
            id: TableId(7),
            schema: "s".into(),
            name: "t".into(),
            columns: vec![
                column(1, "id", SqlType::bigint_unsigned(), ColumnDefault::None),
                column(2, "e", members, ColumnDefault::Null),
                column(3, "at", SqlType::new(TypeKind::DateTime, 0), ColumnDefault::Now),
                column(4, "d", SqlType::decimal(10, 2), ColumnDefault::Constant([1, 2, 3][..].into())),
            ],
            indexes: vec![IndexDef {
                id: IndexId(70),
                name: "PRIMARY".into(),
                kind: IndexKind::Primary,
                parts: vec![KeyPart { column: 0, prefix_len: Some(3), desc: true }],
                comment: "".into(),
                names_btree: false,
                invisible: false,
                unknown: None,
            }],
            hidden_row_id: false,
            collation: CollationId::UTF8MB4_0900_AI_CI,
            comment: "table".into(),
            format_version: 1,
            auto_increment_start: 100,
            create_time: 1_700_000_000,
            hints: Box::default(),
            unknown: None,
        };
        TableRecord { def, roots: vec![PageNo(9)], history: RowHistory::default() }
    }

    #[test]
    fn definitions_come_back_as_they_were() {
        let table = record();
        assert_eq!(decode_table(&encode_table(&table)).unwrap(), table);
        assert_eq!(encode_table(&table)[0], FORMAT, "older servers read a table without hints");
        let mut hinted = table;
        hinted.def.hints = Box::new([(StorageHint::MinRows, 3), (StorageHint::Compression, 300)]);
        assert_eq!(decode_table(&encode_table(&hinted)).unwrap(), hinted);
        hinted.def.indexes[0].names_btree = true;
        assert_eq!(decode_table(&encode_table(&hinted)).unwrap(), hinted);
        assert_eq!(encode_table(&hinted)[0], HINTED, "and refuse one with hints");
        hinted.def.indexes[0].invisible = true;
        hinted.def.columns[1].invisible = true;
        hinted.def.columns[0].names_collation = true;
        assert_eq!(decode_table(&encode_table(&hinted)).unwrap(), hinted);
        assert_eq!(encode_table(&hinted)[0], MARKED, "or with marked columns");
        hinted.def.format_version = 3;
        hinted.history = RowHistory {
            oldest: 1,
            past: vec![PastColumn {
                id: ColumnId(9),
                ty: hinted.def.columns[1].ty.clone(),
                nullable: true,
                versions: 1..3,
            }],
            added: vec![
                AddedColumn { id: ColumnId(3), since: 2, initial: None },
                AddedColumn { id: ColumnId(4), since: 3, initial: Some([1, 2, 3][..].into()) },
            ],
        };
        assert_eq!(decode_table(&encode_table(&hinted)).unwrap(), hinted);
        assert_eq!(encode_table(&hinted)[0], VERSIONED, "or with rows of several versions");
        hinted.history.past[0].id = hinted.def.columns[0].id;
        hinted.history.past[0].ty = SqlType::new(TypeKind::TinyInt, 0);
        assert_eq!(decode_table(&encode_table(&hinted)).unwrap(), hinted);
        assert_eq!(encode_table(&hinted)[0], WIDENED, "or with rows that have a narrower integer");
        hinted.def.columns[1].default = ColumnDefault::Expression("uuid()".into());
        assert_eq!(decode_table(&encode_table(&hinted)).unwrap(), hinted);
        assert_eq!(encode_table(&hinted)[0], TAGGED, "or with properties that came later");
        let mut moved = record();
        moved.def.columns.swap(1, 2);
        assert_eq!(decode_table(&encode_table(&moved)).unwrap(), moved);
        assert_eq!(encode_table(&moved)[0], VERSIONED, "or whose columns have changed places");
        let schema = SchemaDef { id: SchemaId(3), name: "s".into(), collation: CollationId::UTF8MB4_BIN };
        assert_eq!(decode_schema(&encode_schema(&schema)).unwrap(), schema);
    }

    /// The entry of a table of each format, the latest with a field that is kept, a column's default and a
    /// history.
    fn records() -> Vec<TableRecord> {
        let plain = record();
        let mut hinted = record();
        hinted.def.hints = Box::new([(StorageHint::MinRows, 3)]);
        let mut marked = record();
        marked.def.columns[1].invisible = true;
        let mut versioned = record();
        versioned.def.format_version = 3;
        versioned.history.oldest = 1;
        let mut widened = versioned.clone();
        widened.history.past.push(PastColumn {
            id: widened.def.columns[0].id,
            ty: SqlType::new(TypeKind::TinyInt, 0),
            nullable: true,
            versions: 1..2,
        });
        let mut tagged = widened.clone();
        tagged.def.columns[1].default = ColumnDefault::Expression("(`id` + 1)".into());
        let field = types::UnknownField { tag: 2, bytes: b"kept"[..].into() };
        tagged.def.indexes[0].unknown = Some(Box::new(types::UnknownFields(vec![field])));
        vec![plain, hinted, marked, versioned, widened, tagged]
    }

    #[test]
    fn entries_of_every_format_are_read_and_written_in_it() {
        for (format, record) in (FORMAT..).zip(records()) {
            let bytes = encode_table(&record);
            assert_eq!(bytes[0], format);
            assert_eq!(decode_table(&bytes).unwrap(), record);
        }
        let mut newer = encode_table(&record());
        newer.truncate(newer.len() - 4);
        newer[0] = TAGGED + 1;
        assert!(decode_table(&seal(newer)).is_err());
    }

    #[test]
    fn every_type_kind_has_a_byte_of_its_own() {
        for (byte, &kind) in KINDS.iter().enumerate() {
            assert_eq!((kind_byte(kind), kind_of(byte as u8)), (byte as u8, Some(kind)));
        }
    }

    #[test]
    fn a_changed_byte_or_a_cut_is_refused() {
        for bytes in records().iter().map(encode_table) {
            for at in 0..bytes.len() {
                let mut broken = bytes.clone();
                broken[at] ^= 0x10;
                assert!(decode_table(&broken).is_err());
                assert!(decode_table(&bytes[..at]).is_err());
                // Sealed again, a cut is no damage that a checksum finds.
                assert!(at + 4 >= bytes.len() || decode_table(&seal(bytes[..at].to_vec())).is_err());
            }
        }
    }
}
