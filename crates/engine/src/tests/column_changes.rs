//! Columns that come, go and change places while the rows stay as they are, against a map of rows.

use std::sync::Arc;
use std::time::Duration;

use base::prng::Prng;
use types::{CollationId, ColumnDef, SqlType, TableDef};

use super::support::*;
use crate::*;

mod mirrored_table;

use mirrored_table::*;

const SHORT: Duration = Duration::from_millis(20);

#[test]
fn rows_stay_what_they_are_whatever_becomes_of_their_columns() {
    let (mut older_read, mut as_it_is, mut converted, mut changes, mut widened) = (0, 0, 0, 0, 0);
    for seed in 0..8 {
        let (mut prng, mut pair) = (Prng::new(seed), MirroredTable::new(seed));
        for step in 0..400 {
            let id = prng.below(120) as i32;
            match prng.below(20) {
                0..=8 => {
                    let row = pair.random_row(&mut prng, id);
                    pair.write(id, row, prng.below(6) > 0);
                }
                9..=11 => pair.delete(id, prng.below(4) > 0),
                12..=14 => {
                    pair.random_change(&mut prng);
                    changes += 1;
                }
                15 => drop(pair.engine.conversion_step().unwrap()),
                16 => drop(pair.engine.purge_step(usize::MAX).unwrap()),
                17 if step % 3 == 0 => {
                    pair.engine.checkpoint().unwrap();
                    let disk = if prng.below(2) == 0 {
                        Arc::new(pair.disk.crash())
                    } else {
                        pair.engine.shutdown().unwrap();
                        Arc::clone(&pair.disk)
                    };
                    converted += pair.engine.store.conversions();
                    pair = pair.reopened(disk);
                }
                _ => {
                    older_read += pair.older_leaves();
                    pair.assert_rows();
                }
            }
        }
        pair.assert_sound();
        pair.assert_rows();
        pair.convert_all();
        assert_eq!((pair.older_leaves(), pair.table().older_versions()), (0, 0));
        pair.assert_sound();
        pair.assert_rows();
        converted += pair.engine.store.conversions();
        let disk = Arc::clone(&pair.disk);
        pair.engine.shutdown().unwrap();
        let pair = pair.reopened(Arc::clone(&disk));
        pair.assert_rows();
        as_it_is += pair.read_older.get();
        widened += pair.widened;
        pair.engine.shutdown().unwrap();
        drop(pair);
        let report = look_at(&disk);
        assert_eq!((report.findings, report.notes), (vec![], Vec::<String>::new()), "seed {seed}");
    }
    assert!(older_read > 100 && converted > 100 && changes > 100, "{older_read} {converted} {changes}");
    assert!(widened > 30, "{widened} columns got wider");
    assert!(as_it_is > 1000, "{as_it_is} rows of older versions read as they are");
}

/// A table whose rows have a value of `body` bytes, with as many of them as `rows`.
fn filled(rows: i32, body: usize) -> MirroredTable {
    let mut pair = MirroredTable::new(1);
    for id in 0..rows {
        let row = [("id", Some(id.to_le_bytes().to_vec())), ("k", None), ("c", Some(b"c".to_vec()))];
        let mut row: Row = row.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        row.insert("body".into(), Some(vec![b'x'; body]));
        pair.write(id, row, true);
    }
    pair
}

#[test]
fn a_view_from_before_does_not_read_what_has_other_columns() {
    let mut pair = filled(10, 10);
    let mut reader = pair.engine.begin(BeginOptions::default());
    let old = reader.view();
    pair.add(1, int(), Some(&[7, 0, 0, 0]));
    let table = pair.table();
    for index in 0..2 {
        let scan = Scan::open(&pair.engine, &table, index, old, KeyRange::all(), Direction::Forward);
        assert!(matches!(scan, Err(Error::TableDefinitionChanged)), "index {index}");
    }
    let found = table.get(&pair.engine, &old, &key(3), |_| ());
    assert!(matches!(found, Err(Error::TableDefinitionChanged)));
    drop(reader);
    pair.assert_rows();
}

#[test]
fn a_change_waits_for_transactions_that_use_the_table() {
    let mut pair = filled(10, 10);
    let mut trx = pair.engine.begin(BeginOptions::default());
    let table = pair.engine.open_table(&mut trx, "s", "t").unwrap();
    table.delete(&pair.engine, &mut trx, &key(3)).unwrap();
    let mut def = (*table.def).clone();
    def.columns.push(ColumnDef::new("new", int(), true));
    let kept = [Some(0), Some(1), Some(2), Some(3), None];
    let columns = NewColumns { kept: &kept, initial: &vec![None; 5] };
    let change = |table: &Table, def: &TableDef| {
        let alteration = Alteration { def: def.clone(), auto_increment: None };
        pair.engine.change_columns(&table.def, alteration, columns, SHORT)
    };
    assert!(matches!(change(&table, &def), Err(Error::Lock(trx::Error::LockWaitTimeout))));
    pair.engine.rollback(&mut trx).unwrap();
    change(&table, &def).unwrap();
    assert!(matches!(change(&table, &def), Err(Error::TableChanged)), "it is another table by now");
    pair.rows.values_mut().for_each(|row| drop(row.insert("new".into(), None)));
    pair.assert_rows();
}

#[test]
fn long_values_of_a_dropped_column_are_freed_once() {
    let mut pair = filled(60, 20_000);
    let without = {
        let pair = filled(60, 1);
        pages_used(&pair.engine)
    };
    // Purge frees the values of these, which it knows from undo.
    for id in 0..20 {
        pair.delete(id, true);
    }
    let used = pages_used(&pair.engine);
    pair.drop_column("body");
    assert_eq!(pages_used(&pair.engine), used, "nothing is looked at");
    pair.assert_rows();
    pair.convert_all();
    assert!(pages_used(&pair.engine) < used, "the values of the rows that are there");
    pair.engine.purge_step(usize::MAX).unwrap();
    let left = pages_used(&pair.engine);
    assert!(left <= without, "{left} pages are in use, {without} in a table without long values");
    pair.assert_sound();
    pair.assert_rows();
}

#[test]
fn a_crash_loses_no_value_of_older_rows_and_keeps_none_without_a_row() {
    let mut pair = filled(400, 9000);
    pair.add(0, SqlType::bigint(), Some(&[9; 8]));
    pair.engine.checkpoint().unwrap();
    let disk = Arc::new(pair.disk.crash());
    let mut pair = pair.reopened(disk);
    while pair.engine.sweep_step().unwrap().is_some() {}
    while pair.engine.search_step().unwrap() {}
    assert!(pair.older_leaves() > 0, "the search claims what older leaves refer to");
    pair.assert_rows();
    pair.drop_column("body");
    // Some leaves have let go of their values, others have them.
    let row = pair.rows[&3].clone();
    pair.write(3, row, true);
    assert!(pair.older_leaves() > 0);
    pair.engine.checkpoint().unwrap();
    let disk = Arc::new(pair.disk.crash());
    let pair = pair.reopened(disk);
    while pair.engine.sweep_step().unwrap().is_some() {}
    while pair.engine.search_step().unwrap() {}
    pair.assert_rows();
    pair.convert_all();
    pair.engine.purge_step(usize::MAX).unwrap();
    let without = pages_used(&filled(400, 1).engine);
    let left = pages_used(&pair.engine);
    // References take more of the leaves than short values do.
    assert!(left <= without + 4, "{left} pages are in use, {without} in a table without long values");
    pair.assert_sound();
    pair.assert_rows();
}

#[test]
fn leaves_whose_rows_grow_are_split() {
    let mut pair = filled(600, 100);
    let splits = pair.engine.store.splits_and_merges().0;
    pair.add(4, SqlType::varchar(200, CollationId::UTF8MB4_BIN), Some(&[b'v'; 150]));
    let before = pair.older_leaves();
    pair.assert_rows();
    pair.convert_all();
    let after = pair.engine.store.splits_and_merges().0;
    assert!(
        before > 3 && after >= splits + before as u64 / 2,
        "{before} leaves, {splits} then {after} splits"
    );
    pair.assert_sound();
    pair.assert_rows();
}

/// A row that nearly fills a page grows: values that were short enough to stay move off page.
#[test]
fn a_row_that_grows_beyond_a_page_sends_values_off_it() {
    let mut pair = MirroredTable::new(1);
    let mut columns = vec![ColumnDef::new("id", int(), false), ColumnDef::new("k", int(), true)];
    let names: Vec<String> = (0..38).map(|i| format!("v{i}")).collect();
    let short = SqlType::varchar(255, CollationId::UTF8MB4_BIN);
    columns.extend(names.iter().map(|name| ColumnDef::new(name, short.clone(), true)));
    let def = TableDef { columns, ..def() };
    pair.engine.drop_tables(&[("s", "t")], SHORT).unwrap();
    pair.engine.create_table(def).unwrap();
    for id in 0..9i32 {
        let mut row: Row =
            names.iter().map(|name| (name.clone(), Some(vec![b'v'; 205 + id as usize]))).collect();
        row.insert("id".into(), Some(id.to_le_bytes().to_vec()));
        row.insert("k".into(), None);
        pair.write(id, row, true);
    }
    let used = pages_used(&pair.engine);
    pair.add(2, SqlType::varchar(4000, CollationId::UTF8MB4_BIN), Some(&[b'n'; 1900]));
    pair.assert_rows();
    assert!(pair.older_leaves() > 0);
    pair.convert_all();
    assert!(pages_used(&pair.engine) >= used + 9, "values are off page");
    pair.assert_sound();
    pair.assert_rows();
}

#[test]
fn a_history_outlives_other_changes_of_the_definition_and_ends_with_the_rows() {
    let mut pair = filled(300, 100);
    pair.add(0, int(), Some(&[1, 0, 0, 0]));
    pair.add(2, int(), None);
    pair.drop_column("c");
    let table = pair.table();
    assert_eq!(table.older_versions(), 3);
    pair.engine.rename_tables(&[(("s", "t"), ("s", "u"))], SHORT).unwrap();
    pair.engine.rename_tables(&[(("s", "u"), ("s", "t"))], SHORT).unwrap();
    let mut index = types::IndexDef::new("added", types::IndexKind::Secondary, &[0]);
    index.parts[0].desc = true;
    pair.engine.create_index("s", "t", index, SHORT).unwrap();
    assert!(pair.table().older_versions() == 3 && pair.older_leaves() > 0);
    pair.assert_rows();
    pair.assert_sound();
    let row = pair.rows[&0].clone();
    pair.engine.truncate_table("s", "t", SHORT).unwrap();
    pair.rows.clear();
    assert_eq!((pair.table().older_versions(), pair.older_leaves()), (0, 0));
    pair.write(0, row, true);
    pair.assert_rows();
    pair.drop_column("body");
    let table = pair.table();
    let kept: Vec<Option<u16>> = (0..table.def.columns.len() as u16).map(Some).collect();
    let alteration = Alteration { def: (*table.def).clone(), auto_increment: None };
    let again: Result<u64> = pair.engine.rebuild_table(
        &table.def,
        alteration,
        &kept,
        &BuildOptions::default(),
        SHORT,
        |row, put| put(row),
    );
    again.unwrap();
    assert_eq!((pair.table().older_versions(), pair.table().def.format_version), (0, 1));
    pair.assert_rows();
}

/// Changes that need the rows' values, or would let rows grow without end, are for a rebuild.
#[test]
fn a_column_stays_that_may_have_sent_values_of_others_off_page() {
    let pair = filled(1, 10);
    let names = [("x", 900), ("y", 900), ("z", 60)];
    let text =
        |(name, chars)| ColumnDef::new(name, SqlType::varchar(chars, CollationId::UTF8MB4_0900_AI_CI), true);
    let columns = std::iter::once(ColumnDef::new("id", int(), false)).chain(names.map(text)).collect();
    let key = types::IndexDef::new("PRIMARY", types::IndexKind::Primary, &[0]);
    pair.engine.create_table(TableDef::new("s", "v", columns, vec![key])).unwrap();
    let table = pair.engine.table("s", "v").unwrap();
    let can_drop = |at: usize| {
        let mut def = (*table.def).clone();
        def.columns.remove(at);
        let kept: Vec<Option<u16>> = (0..4).filter(|&column| column != at as u16).map(Some).collect();
        table.can_change_columns(&def, NewColumns { kept: &kept, initial: &vec![None; 3] })
    };
    assert_eq!([1, 2, 3].map(can_drop), [false, false, true]);
}

#[test]
fn changes_that_rows_have_to_be_read_for_are_refused() {
    let pair = filled(3, 10);
    let table = pair.table();
    let same: Vec<Option<u16>> = (0..4).map(Some).collect();
    let can = |change: &dyn Fn(&mut TableDef), kept: &[Option<u16>], initial: InitialValues| {
        let mut def = (*table.def).clone();
        change(&mut def);
        table.can_change_columns(&def, NewColumns { kept, initial: &initial })
    };
    let nothing = || vec![None; 5];
    assert!(can(&|def| def.columns.swap(2, 3), &[Some(0), Some(1), Some(3), Some(2)], nothing()));
    assert!(!can(&|def| def.columns[2].nullable = false, &same, nothing()), "NULL may be there");
    assert!(!can(&|def| def.columns[1].ty = SqlType::bigint(), &same, nothing()), "other bytes in a key");
    assert!(!can(&|def| def.indexes[1].parts[0].desc = true, &same, nothing()), "another order");
    let index = types::IndexDef::new("new", types::IndexKind::Secondary, &[2]);
    assert!(!can(&|def| def.indexes.push(index.clone()), &same, nothing()), "an index to be built");
    let drop_id = |def: &mut TableDef| {
        def.columns.remove(0);
        def.indexes[0].parts[0].column = 0;
        def.indexes[1].parts[0].column = 0;
    };
    assert!(!can(&drop_id, &same[1..], nothing()), "a column of the key");
    let grown = vec![None, None, None, None, Some(vec![b'x'; 3000].into())];
    let add = |def: &mut TableDef| def.columns.push(ColumnDef::new("new", text(), true));
    let with_new = [Some(0), Some(1), Some(2), Some(3), None];
    assert!(!can(&add, &with_new, grown), "rows of older versions would grow without end");
    assert!(can(&add, &with_new, nothing()));
}

/// Rows that are gone need no values.
#[test]
fn deleted_rows_that_are_converted_get_no_values() {
    const ROWS: i32 = 60;
    let mut pair = MirroredTable::new(1);
    let mut columns = vec![ColumnDef::new("id", int(), false), ColumnDef::new("k", int(), true)];
    let wide = SqlType::new(types::TypeKind::Binary, 255);
    columns.extend((0..31).map(|i| ColumnDef::new(&format!("w{i}"), wide.clone(), false)));
    let def = TableDef { columns, ..def() };
    pair.engine.drop_tables(&[("s", "t")], SHORT).unwrap();
    pair.engine.create_table(def.clone()).unwrap();
    for id in 0..ROWS {
        let value = |column: &ColumnDef| match &*column.name {
            "id" => Some(id.to_le_bytes().to_vec()),
            "k" => None,
            _ => Some(vec![id as u8; 255]),
        };
        let row = def.columns.iter().map(|column| (column.name.to_string(), value(column))).collect();
        pair.write(id, row, true);
    }
    let mut reader = pair.engine.begin(BeginOptions::default());
    reader.view();
    for id in 1..ROWS {
        pair.delete(id, true);
    }
    let used = pages_used(&pair.engine);
    pair.add(3, SqlType::varchar(2000, CollationId::UTF8MB4_BIN), Some(&[b'n'; 1900]));
    pair.convert_all();
    let converted = pages_used(&pair.engine);
    assert!(
        converted <= used + 1,
        "{converted} pages are in use, {used} before: one row has a value off page"
    );
    drop(reader);
    pair.engine.purge_step(usize::MAX).unwrap();
    pair.assert_sound();
    pair.assert_rows();
}
