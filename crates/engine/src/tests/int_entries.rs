//! Entries that a build of an index makes of a leaf's rows at once are those that it makes of each row.

use std::sync::Arc;
use std::time::Duration;

use base::prng::Prng;
use types::{ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

use super::support::*;
use crate::row::built_entry;
use crate::row::int_entry::IntEntries;
use crate::*;

const SHORT: Duration = Duration::from_millis(20);

/// Columns of integers, and a text between them.
fn columns() -> Vec<ColumnDef> {
    let int = |kind, unsigned| SqlType { unsigned, ..SqlType::new(kind, 11) };
    let column = |name, ty| ColumnDef::new(name, ty, false);
    vec![
        column("tiny", int(TypeKind::TinyInt, false)),
        column("small", int(TypeKind::SmallInt, true)),
        column("medium", int(TypeKind::MediumInt, false)),
        column("c", text()),
        column("int", int(TypeKind::Int, false)),
        column("uint", int(TypeKind::Int, true)),
        column("big", int(TypeKind::BigInt, false)),
        ColumnDef::new("nullable", int(TypeKind::Int, false), true),
    ]
}

/// Bytes of each column; 0: a text.
const WIDTHS: [usize; 8] = [1, 2, 3, 0, 4, 4, 8, 4];

/// Bytes of each column in a key.
const BYTES: [usize; 8] = [1, 2, 3, 0, 4, 4, 8, 5];

/// A table with this primary key, none if it is empty, and rows of random bytes.
fn filled(engine: &Arc<Engine>, name: &str, primary: &[u16], prng: &mut Prng) -> Arc<Table> {
    let indexes = match primary {
        [] => vec![],
        parts => vec![def_of("PRIMARY", IndexKind::Primary, parts)],
    };
    let table = engine.create_table(TableDef::new("s", name, columns(), indexes)).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for number in 0..600u32 {
        let mut values: Vec<Vec<u8>> = WIDTHS
            .iter()
            .map(|&width| match width {
                0 => b"text".repeat(prng.below(9) as usize),
                // Few values, the least and the greatest among them.
                _ => prng.next_u64().to_le_bytes()[..width].iter().map(|byte| byte / 64 * 85).collect(),
            })
            .collect();
        values[5] = number.wrapping_mul(0x9E37_79B1).to_le_bytes().to_vec();
        let mut row: Vec<Option<&[u8]>> = values.iter().map(|value| Some(&value[..])).collect();
        if number % 3 == 0 {
            row[7] = None;
        }
        table.insert(engine, &mut trx, &row).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    table
}

/// An index of these columns; those from 100 on are descending.
fn def_of(name: &str, kind: IndexKind, parts: &[u16]) -> IndexDef {
    let columns: Vec<u16> = parts.iter().map(|part| part % 100).collect();
    let mut def = IndexDef::new(name, kind, &columns);
    for (part, &written) in def.parts.iter_mut().zip(parts) {
        part.desc = written >= 100;
    }
    def
}

fn index_of(table: &Table, parts: &[u16]) -> Index {
    let def = def_of("k", IndexKind::Secondary, parts);
    let format = Arc::new(crate::index::format_of(&table.def, &def));
    Index::new(&def, Arc::clone(&table.clustered().tree), format, base::Lsn::default())
}

/// The keys of `index` that are made at once of the rows that `view` sees; they are compared to those of each
/// row.
fn compared(engine: &Engine, table: &Table, index: &Index, view: ReadView) -> Vec<Vec<u8>> {
    let mut scan = Scan::open(engine, table, 0, view, KeyRange::all(), Direction::Forward).unwrap();
    let mut keys = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        let Some(entries) = IntEntries::of_leaf(index, &batch) else { continue };
        let mut numbers = Vec::new();
        entries.append_all(&batch, &mut numbers);
        assert_eq!(numbers.len(), batch.len());
        for (number, row) in numbers.iter().zip(batch.rows()) {
            let mut key = Vec::new();
            built_entry::append_of_record(index, &row, &mut key, &mut Vec::new()).unwrap();
            key.resize(16, 0);
            assert_eq!(number.to_be_bytes().to_vec(), key, "{:?}", index.def);
            keys.push(key);
        }
    }
    keys
}

#[test]
fn integer_keys_made_of_a_leaf_are_those_of_its_rows() {
    let (engine, _disk) = engine();
    let mut prng = Prng::new(5);
    let primaries: [&[u16]; 6] = [&[5], &[6, 5], &[1, 5], &[105], &[], &[6, 4, 5]];
    for (at, primary) in primaries.into_iter().enumerate() {
        let table = filled(&engine, &format!("t{at}"), primary, &mut prng);
        let clustered = usize::from(table.clustered().format.fixed_key_len().unwrap());
        let indexes = [&[4][..], &[6], &[0, 1], &[104], &[2, 101], &[5], &[105, 0], &[0, 1, 2, 4]];
        let nullable = [&[7][..], &[107], &[4, 7], &[107, 0], &[0, 1, 107]];
        for parts in indexes.into_iter().chain(nullable) {
            let bytes = parts.iter().map(|part| BYTES[usize::from(part % 100)]).sum::<usize>();
            let expected = if clustered <= 8 && clustered + bytes <= 16 { 600 } else { 0 };
            let keys = compared(&engine, &table, &index_of(&table, parts), ReadView::newest());
            assert_eq!(keys.len(), expected, "{primary:?} {parts:?}");
        }
        // Others are left to the rows.
        for parts in [&[3][..], &[4, 3]] {
            let keys = compared(&engine, &table, &index_of(&table, parts), ReadView::newest());
            assert!(keys.is_empty(), "{parts:?}");
        }
    }
}

#[test]
fn versions_that_an_old_view_sees_have_their_own_keys() {
    let (engine, _disk) = engine();
    let table = filled(&engine, "t", &[5], &mut Prng::new(6));
    let mut reader = engine.begin(BeginOptions::default());
    let old = reader.view();
    let index = index_of(&table, &[4]);
    let mut trx = engine.begin(BeginOptions::default());
    let keys = compared(&engine, &table, &index, old);
    for (at, key) in keys.iter().enumerate() {
        let clustered = &key[4..8];
        match at % 3 {
            0 => drop(table.delete(&engine, &mut trx, clustered).unwrap()),
            1 => {
                let values: Vec<Vec<u8>> = WIDTHS.iter().map(|&width| vec![1; width]).collect();
                let mut row: Vec<Option<&[u8]>> = values.iter().map(|value| Some(&value[..])).collect();
                let id: Vec<u8> = clustered.iter().rev().copied().collect();
                row[5] = Some(&id);
                table.update(&engine, &mut trx, clustered, &row, &ColumnSet::ALL).unwrap();
            }
            _ => {}
        }
    }
    engine.commit(&mut trx).unwrap();
    assert_eq!(compared(&engine, &table, &index, old), keys);
    let new = compared(&engine, &table, &index, ReadView::newest());
    let changed = new.iter().filter(|key| key.starts_with(&[0x81, 1, 1, 1])).count();
    assert!(new.len() == 400 && changed >= 200, "{} keys, {changed} changed", new.len());
}

#[test]
fn indexes_of_integers_that_may_be_null_are_built_with_all_rows() {
    let (engine, _disk) = engine();
    let table = filled(&engine, "t", &[5], &mut Prng::new(7));
    let mut def = (*table.def).clone();
    // NULLs keep the keys of the unique one from being short.
    def.indexes.extend([
        def_of("k", IndexKind::Secondary, &[7]),
        def_of("u", IndexKind::Unique, &[7, 5]),
        def_of("d", IndexKind::Secondary, &[107, 4]),
        def_of("w", IndexKind::Unique, &[4, 5]),
        def_of("c", IndexKind::Secondary, &[4, 3]),
    ]);
    for index in def.indexes.iter_mut().filter(|index| &*index.name == "c") {
        index.parts[1].prefix_len = Some(5);
    }
    let alteration = Alteration { def, auto_increment: None };
    engine.alter_table(&table.def, alteration, &BuildOptions::default(), SHORT).unwrap();
    let table = engine.table("s", "t").unwrap();
    assert_eq!(table.def.indexes.len(), 6);
    assert_sound(&engine, &table);
}
