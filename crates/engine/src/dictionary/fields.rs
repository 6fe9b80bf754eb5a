//! Tagged fields of a table's definition: the properties of the table, its columns and its indexes that have
//! no place of their own in the entry.
//!
//! First come the fields of the table, then those of each column in order, then those of each index in order.
//! For each of them:
//!
//! | FIELD |
//! |---|
//! | number of fields |
//! | for each, in ascending order of tags: tag, length, bytes |
//!
//! Integers are LEB128. Bit 0 of a tag is set if a server that does not know the field must refuse the table.
//! Otherwise it keeps the field, and writes it back with the definition. Tags of tables, columns and indexes
//! are apart:
//!
//! | OWNER | TAG | BYTES |
//! |---|---|---|
//! | column | 3 | DEFAULT (expression): its text, UTF-8 |

use base::codec::push_varint;
use types::{ColumnDef, ColumnDefault, TableDef, UnknownField, UnknownFields};

use super::codec::{bytes, damaged, int, list, push_bytes};
use crate::error::{Error, Result};

/// The bit of a tag that says that a server has to know it.
const REQUIRED: u32 = 1;
/// A column's DEFAULT (expression).
const DEFAULT_EXPRESSION: u32 = 1 << 1 | REQUIRED;
/// Most fields of one table, column or index.
const FIELDS_MAX: usize = 256;

/// Fields in the order of their tags.
type Fields<'a> = Vec<(u32, &'a [u8])>;

/// Whether the definition has any field.
pub(super) fn has_any(def: &TableDef) -> bool {
    def.unknown.is_some()
        || def.columns.iter().any(|column| column.unknown.is_some() || column.default_expression().is_some())
        || def.indexes.iter().any(|index| index.unknown.is_some())
}

pub(super) fn push(out: &mut Vec<u8>, def: &TableDef) {
    push_fields(out, unknown_fields(def.unknown.as_deref()));
    for column in &def.columns {
        push_fields(out, column_fields(column));
    }
    for index in &def.indexes {
        push_fields(out, unknown_fields(index.unknown.as_deref()));
    }
}

fn unknown_fields(unknown: Option<&UnknownFields>) -> Fields<'_> {
    let fields = unknown.map_or(&[][..], |unknown| &unknown.0);
    fields.iter().map(|field| (field.tag, &*field.bytes)).collect()
}

fn column_fields(column: &ColumnDef) -> Fields<'_> {
    let mut fields = unknown_fields(column.unknown.as_deref());
    fields.extend(column.default_expression().map(|text| (DEFAULT_EXPRESSION, text.as_bytes())));
    fields.sort_unstable_by_key(|(tag, _)| *tag);
    fields
}

fn push_fields(out: &mut Vec<u8>, fields: Fields<'_>) {
    push_varint(out, fields.len() as u64);
    for (tag, bytes) in fields {
        push_varint(out, u64::from(tag));
        push_bytes(out, bytes);
    }
}

/// Reads the fields of `def`, whose other properties are known.
///
/// # Errors
/// [`Error::DictionaryCorrupt`], [`Error::NewerDefinition`].
pub(super) fn take(rest: &mut &[u8], def: &mut TableDef) -> Result<()> {
    let name = format!("{}.{}", def.schema, def.name);
    def.unknown = unknown(take_fields(rest)?, &name)?;
    for column in &mut def.columns {
        let mut fields = take_fields(rest)?;
        if let Some(at) = fields.iter().position(|(tag, _)| *tag == DEFAULT_EXPRESSION) {
            let (_, text) = fields.remove(at);
            let text = std::str::from_utf8(text).map_err(|_| damaged("default expression"))?;
            if column.default != ColumnDefault::None {
                return Err(damaged("default"));
            }
            column.default = ColumnDefault::Expression(text.into());
        }
        column.unknown = unknown(fields, &name)?;
    }
    for index in &mut def.indexes {
        index.unknown = unknown(take_fields(rest)?, &name)?;
    }
    Ok(())
}

fn take_fields<'a>(rest: &mut &'a [u8]) -> Result<Fields<'a>> {
    let mut last = None;
    let fields = list(rest, |rest| {
        let tag: u32 = int(rest)?;
        let is_next = last < Some(tag);
        last = Some(tag);
        is_next.then_some((tag, bytes(rest)?))
    });
    fields.filter(|fields| fields.len() <= FIELDS_MAX).ok_or_else(|| damaged("fields of a table"))
}

/// What is kept of fields that are not known here.
fn unknown(fields: Fields<'_>, table: &str) -> Result<Option<Box<UnknownFields>>> {
    if let Some((tag, _)) = fields.iter().find(|(tag, _)| tag & REQUIRED != 0) {
        return Err(Error::NewerDefinition { table: table.into(), tag: *tag });
    }
    let kept = |(tag, bytes): (u32, &[u8])| UnknownField { tag, bytes: bytes.into() };
    let fields: Vec<_> = fields.into_iter().map(kept).collect();
    Ok((!fields.is_empty()).then(|| Box::new(UnknownFields(fields))))
}

#[cfg(test)]
mod tests {
    use types::{IndexDef, IndexKind, SqlType};

    use super::*;

    fn table() -> TableDef {
        let columns = vec![
            ColumnDef::new("id", SqlType::bigint(), false),
            ColumnDef {
                default: ColumnDefault::Expression("(`id` + 1)".into()),
                ..ColumnDef::new("n", SqlType::bigint(), true)
            },
        ];
        TableDef::new("shop", "item", columns, vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])])
    }

    fn kept(tag: u32) -> UnknownFields {
        let field = |tag, bytes: &[u8]| UnknownField { tag, bytes: bytes.into() };
        UnknownFields(vec![field(tag, b"one"), field(tag + 2, b"")])
    }

    fn encoded(def: &TableDef) -> Vec<u8> {
        let mut out = Vec::new();
        push(&mut out, def);
        out
    }

    /// What `bytes` say of the table.
    fn read(mut bytes: &[u8]) -> Result<TableDef> {
        let mut def = table();
        def.columns[1].default = ColumnDefault::None;
        take(&mut bytes, &mut def)?;
        if bytes.is_empty() { Ok(def) } else { Err(damaged("table")) }
    }

    #[test]
    fn a_default_expression_is_a_field_that_servers_have_to_know() {
        let def = table();
        assert!(has_any(&def));
        let bytes = encoded(&def);
        assert_eq!(bytes, [&[0, 0, 1, 3, 10][..], b"(`id` + 1)", &[0]].concat());
        assert_eq!(read(&bytes).unwrap(), def);
        assert!(read(&[0, 0, 1, 3, 1, 0xff, 0]).is_err(), "a text that is not UTF-8");
    }

    #[test]
    fn fields_that_may_be_passed_over_are_written_back_as_they_were() {
        let mut def = table();
        def.unknown = Some(Box::new(kept(2)));
        def.columns[0].unknown = Some(Box::new(kept(40)));
        def.columns[1].unknown = Some(Box::new(kept(2)));
        def.indexes[0].unknown = Some(Box::new(kept(u32::MAX - 3)));
        let bytes = encoded(&def);
        assert_eq!(read(&bytes).unwrap(), def);
        assert_eq!(encoded(&read(&bytes).unwrap()), bytes);
        def.columns[1].default = ColumnDefault::None;
        assert!(has_any(&def), "they are enough for the format that has fields");
    }

    #[test]
    fn a_field_that_a_server_has_to_know_is_refused_by_number_and_table() {
        for bytes in [&[1, 9, 0, 0, 0, 0][..], &[0, 1, 9, 0, 0, 0], &[0, 0, 0, 1, 9, 0]] {
            let error = read(bytes).unwrap_err();
            assert!(matches!(&error, Error::NewerDefinition { table, tag: 9 } if **table == *"shop.item"));
            let said = error.to_string();
            assert!(said.contains("shop.item has field 9") && said.contains("newer server"), "{said}");
            assert_eq!(error.force_recovery_level(), Some(1));
        }
    }

    #[test]
    fn fields_out_of_order_twice_cut_or_too_many_are_refused() {
        assert!(read(&[0, 0, 0, 0]).is_ok());
        assert!(read(&[2, 2, 0, 4, 0, 0, 0, 0]).is_ok());
        assert!(read(&[2, 4, 0, 2, 0, 0, 0, 0]).is_err());
        assert!(read(&[2, 2, 0, 2, 0, 0, 0, 0]).is_err());
        let bytes = encoded(&table());
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err());
        }
        let many = |count: u32| {
            let mut out = Vec::new();
            push_fields(&mut out, (0..count).map(|tag| (tag * 2, &b""[..])).collect());
            [&out[..], &[0, 0, 0]].concat()
        };
        assert!(read(&many(FIELDS_MAX as u32)).is_ok());
        assert!(read(&many(FIELDS_MAX as u32 + 1)).is_err());
        // The count alone is no reason to reserve memory.
        assert!(read(&[0xff, 0xff, 0xff, 0xff, 0x0f]).is_err());
    }
}
