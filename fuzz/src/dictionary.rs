//! Definitions in the dictionary whose bytes were changed and whose checksums were stamped again: each is
//! refused, or can be opened and is encoded to the same.

use std::sync::OnceLock;

use base::checksum::crc32;
use engine::check::definition::{encoded_table, recoded_schema, recoded_table};
use types::{
    CollationId, ColumnDef, ColumnDefault, IndexDef, IndexKind, KeyPart, LobSize, SqlType, TableDef, TypeKind,
};

use crate::Bytes;

/// Bytes of the checksum after a definition.
const SUM_BYTES: usize = 4;

/// The first byte selects a definition, or that the rest is one; each three that follow change a byte of it,
/// take one out or put one in.
pub fn run(input: &[u8]) {
    let mut input = Bytes::new(input);
    let shape = input.u8();
    let mut bytes = match sound_tables().get(usize::from(shape)) {
        Some(table) => table.clone(),
        None => input.rest().to_vec(),
    };
    while usize::from(shape) < sound_tables().len() && !input.is_empty() {
        change(&mut bytes, input.u16(), input.u8());
    }
    stamp(&mut bytes);
    for recoded in [recoded_table, recoded_schema] {
        if let Ok(once) = recoded(&bytes) {
            let again = recoded(&once).expect("what was encoded can be read");
            assert_eq!(once, again, "a definition is encoded to the same");
        }
    }
}

/// Changes the byte at the low bits of `place`; the high bits say how.
fn change(bytes: &mut Vec<u8>, place: u16, value: u8) {
    let at = usize::from(place & 0x3fff) % bytes.len().max(1);
    match place >> 14 {
        0 | 1 if bytes.is_empty() => {}
        0 => bytes[at] = value,
        1 => drop(bytes.remove(at)),
        _ => bytes.insert(at, value),
    }
}

/// Puts the checksum after what is before it, as docs/file_format.md, section 5, has it.
fn stamp(bytes: &mut Vec<u8>) {
    let body = bytes.len().saturating_sub(SUM_BYTES);
    bytes.truncate(body);
    let sum = crc32(bytes).wrapping_mul(0x9e37_79b1);
    bytes.extend_from_slice(&sum.to_le_bytes());
}

/// Encoded definitions: of columns of all types, with keys of each; of a table without a key.
fn sound_tables() -> &'static [Vec<u8>] {
    static TABLES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let of_types = table(
            columns(),
            vec![
                index(64, IndexKind::Primary, &[(0, None, false), (3, None, true)]),
                index(65, IndexKind::Unique, &[(5, None, false)]),
                index(66, IndexKind::Secondary, &[(3, Some(7), false), (8, None, true), (1, None, false)]),
                index(67, IndexKind::Secondary, &[(11, Some(20), false)]),
            ],
        );
        let mut without_key = table(columns(), vec![index(68, IndexKind::Unique, &[])]);
        without_key.hidden_row_id = true;
        [of_types, without_key].iter().map(encoded_table).collect()
    })
}

fn table(columns: Vec<ColumnDef>, indexes: Vec<IndexDef>) -> TableDef {
    TableDef::new("f", "t", columns, indexes)
}

fn index(id: u32, kind: IndexKind, parts: &[(u16, Option<u16>, bool)]) -> IndexDef {
    let parts = parts.iter().map(|&(column, prefix_len, desc)| KeyPart { column, prefix_len, desc });
    IndexDef { id: base::IndexId(id), parts: parts.collect(), ..IndexDef::new(&format!("k{id}"), kind, &[]) }
}

fn columns() -> Vec<ColumnDef> {
    let text =
        |kind, length| SqlType { collation: CollationId::UTF8MB4_0900_AI_CI, ..SqlType::new(kind, length) };
    let fraction = |kind, fsp| SqlType { decimals: fsp, ..SqlType::new(kind, 20) };
    let members: Vec<Box<[u8]>> = ["x", "y", "z"].map(|member| member.as_bytes().into()).into();
    let of_members = |kind| SqlType { members: Some(members.clone().into()), ..text(kind, 1) };
    let types = [
        SqlType::new(TypeKind::Int, 11),
        SqlType::new(TypeKind::MediumInt, 8),
        SqlType::decimal(30, 10),
        SqlType::varchar(60, CollationId::UTF8MB4_BIN),
        text(TypeKind::Char, 20),
        fraction(TypeKind::Date, 0),
        fraction(TypeKind::DateTime, 3),
        fraction(TypeKind::Time, 6),
        fraction(TypeKind::Timestamp, 1),
        of_members(TypeKind::Enum),
        of_members(TypeKind::Set),
        text(TypeKind::Text(LobSize::Normal), 0),
        SqlType::new(TypeKind::Blob(LobSize::Long), 0),
        SqlType::new(TypeKind::Bit, 13),
        SqlType::new(TypeKind::Binary, 16),
        SqlType::new(TypeKind::VarBinary, 30),
        SqlType::double(),
        SqlType::new(TypeKind::Year, 4),
    ];
    let column = |(position, ty): (usize, SqlType)| {
        let mut column = ColumnDef::new(&format!("c{position}"), ty, position % 3 == 2);
        column.id = base::ColumnId(position as u16);
        column.auto_increment = position == 0;
        column.default = match position {
            1 => ColumnDefault::Constant([7, 0, 0][..].into()),
            2 => ColumnDefault::Null,
            8 => ColumnDefault::Now,
            _ => ColumnDefault::None,
        };
        column
    };
    types.into_iter().enumerate().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_sound() {
        for bytes in sound_tables() {
            assert_eq!(recoded_table(bytes).expect("a sound definition"), *bytes);
        }
    }
}
