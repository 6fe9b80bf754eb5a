//! Tables that are rebuilt while rows change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ::trx::ExclusiveWait;
use base::prng::Prng;
use base::sync::interrupt;
use types::{ColumnDef, IndexDef, IndexKind, SqlType, TableDef};

use super::index_builds::{filled, notes, pages_used, records, temp_files};
use super::online_builds::{
    LONG, ROWS, at_the_end, change_all_kinds, change_in_rounds, change_much, fill_with_short_rows, options,
    unique, user, write,
};
use super::support::*;
use crate::*;

/// A table with rows and secondary indexes, one of them unique.
pub(super) fn indexed(engine: &Arc<Engine>, rows: i32) -> Arc<Table> {
    let table = filled(engine, rows);
    let mut def = (*table.def).clone();
    def.indexes.extend(super::index_builds::new_indexes());
    engine.alter_table(&table.def, Alteration { def, auto_increment: None }, &options(), LONG).unwrap();
    engine.table("s", "t").unwrap()
}

/// Rebuilds the table as it is: of most rows the records are kept.
pub(super) fn force(
    engine: &Engine,
    options: &BuildOptions,
    wait: impl Into<ExclusiveWait>,
) -> Result<Arc<Table>> {
    let old = engine.table("s", "t")?;
    let same: Vec<_> = (0..old.def.columns.len() as u16).map(Some).collect();
    let alteration = Alteration { def: (*old.def).clone(), auto_increment: None };
    engine.rebuild_table(&old.def, alteration, &same, options, wait, |row, put| put(row))?;
    engine.table("s", "t")
}

/// [`force`] that rewrites each record, the first one once `may_copy` is set.
fn force_rewritten(
    engine: &Engine,
    options: &BuildOptions,
    wait: impl Into<ExclusiveWait>,
    may_copy: &AtomicBool,
) -> Result<Arc<Table>> {
    let old = engine.table("s", "t")?;
    let key_alone: Vec<_> = (0..old.def.columns.len() as u16).map(|at| (at == 0).then_some(at)).collect();
    let alteration = Alteration { def: (*old.def).clone(), auto_increment: None };
    engine.rebuild_table(&old.def, alteration, &key_alone, options, wait, |row, put| {
        while !may_copy.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        put(row)
    })?;
    engine.table("s", "t")
}

/// Waits until changes of rows are noted for a rebuild.
fn wait_for_begin(engine: &Engine) {
    while !engine.table("s", "t").unwrap().is_building() {
        thread::yield_now();
    }
}

/// An undisturbed rebuild that keeps no record makes the same records.
fn assert_as_rebuilt(engine: &Engine, table: &Table) {
    assert_sound(engine, table);
    // Where values off page are is in the records.
    let all = |table: &Table| {
        let indexes = (1..table.indexes.len()).map(|index| records(engine, table, index));
        (rows(engine, table, ReadView::newest()), indexes.collect::<Vec<_>>())
    };
    let made = all(table);
    let alone = BuildOptions { lets_writers_on: false, ..options() };
    let again = force_rewritten(engine, &alone, LONG, &AtomicBool::new(true)).unwrap();
    assert!(made == all(&again), "the same rows and entries");
    assert_sound(engine, &again);
}

/// Key and payload of a record.
type KeyAndPayload = (Vec<u8>, Vec<u8>);

/// Keys and payloads after the row headers of the rows that have no value off page, and whether any of them
/// has a writer.
fn on_page(engine: &Engine, table: &Table) -> (Vec<KeyAndPayload>, bool) {
    let (all, view) = (KeyRange::all(), ReadView::newest());
    let mut scan = Scan::open(engine, table, 0, view, all, Direction::Forward).unwrap();
    let (mut records, mut any_writer) = (Vec::new(), false);
    while let Some(batch) = scan.next_batch().unwrap() {
        for row in batch.rows().filter(|row| !row.has_off_page()) {
            any_writer |= row.trx() != base::TrxId::NONE;
            let payload = row.record().payload()[base::ROW_HEADER_BYTES..].to_vec();
            records.push((row.record().with_key(<[u8]>::to_vec), payload));
        }
    }
    (records, any_writer)
}

#[test]
fn records_that_are_kept_are_those_that_are_rewritten() {
    for is_changed in [false, true] {
        let (engine, _disk) = engine();
        let table = engine.create_table(wide_def("t")).unwrap();
        let mut trx = engine.begin(BeginOptions::default());
        for id in 0..ROWS {
            let body = (is_changed && id % 100 == 1).then(|| "off ".repeat(3000));
            let row = Wide { body, ..Wide::new(id, id, &format!("row {id}")) };
            insert(&engine, &table, &mut trx, &row).unwrap();
        }
        engine.commit(&mut trx).unwrap();
        trx.restart(BeginOptions::default());
        for id in (0..ROWS).filter(|_| is_changed) {
            match id % 7 {
                0 => assert!(delete(&engine, &table, &mut trx, id).unwrap()),
                1 => drop(
                    update(&engine, &table, &mut trx, id, &Wide::new(id, -1, &format!("new {id}"))).unwrap(),
                ),
                2 => insert(&engine, &table, &mut trx, &Wide { c: None, ..Wide::new(ROWS + id, 1, "") })
                    .unwrap(),
                _ => {}
            }
        }
        engine.commit(&mut trx).unwrap();
        let alone = BuildOptions { lets_writers_on: false, ..options() };
        let (kept, any_writer) = on_page(&engine, &force(&engine, &alone, LONG).unwrap());
        // Whole leaves were copied where all of their rows stay.
        assert_eq!(any_writer, !is_changed);
        assert_eq!(engine.records_kept(), kept.len() as u64);
        let new = force_rewritten(&engine, &alone, LONG, &AtomicBool::new(true)).unwrap();
        assert_eq!(engine.records_kept(), kept.len() as u64);
        let (made, any_writer) = on_page(&engine, &new);
        assert!(!any_writer && kept == made && kept.len() > 1000, "{} of {}", kept.len(), made.len());
    }
}

#[test]
fn a_rebuilt_table_has_all_rows_as_they_changed_meanwhile() {
    for seed in 0..8 {
        let (engine, disk) = engine();
        indexed(&engine, ROWS);
        let mut prng = Prng::new(seed);
        thread::scope(|scope| {
            let mut reader = user(&engine);
            let altering = at_the_end(scope, &engine, || force(&engine, &options(), LONG));
            change_in_rounds(&engine, &mut prng);
            let before = engine.table("s", "t").unwrap();
            let expected = rows(&engine, &before, ReadView::newest());
            engine.commit(&mut reader).unwrap();
            let table = altering.join().unwrap().unwrap();
            assert!(!before.is_current() && rows(&engine, &table, ReadView::newest()) == expected);
            assert_eq!(table.row_count_estimate(), expected.len() as u64);
        });
        let totals = engine.side_log_totals();
        assert!(totals.noted > 100 && totals.noted == totals.applied, "{totals:?}");
        assert!(engine.records_kept() > ROWS as u64 / 2, "{} kept", engine.records_kept());
        assert_as_rebuilt(&engine, &engine.table("s", "t").unwrap());
        assert_eq!((notes(&engine), temp_files(&disk)), (0, 0));
    }
}

#[test]
fn writers_go_on_while_a_table_is_rebuilt() {
    let (engine, disk) = engine();
    fill_with_short_rows(&engine);
    let mut meanwhile = 0;
    for round in 0..6 {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let writers: Vec<_> = (0..3)
                .map(|writer| {
                    let (engine, is_over) = (&engine, &is_over);
                    scope.spawn(move || write(engine, writer, 10 * round + writer as u64, is_over))
                })
                .collect();
            let mut reader = (round % 2 == 0).then(|| user(&engine));
            let altering = scope.spawn(|| force(&engine, &options(), LONG));
            if reader.is_some() {
                // Writers change rows beside the whole copy, and the table that they leave is what is copied.
                while !engine.table("s", "t").unwrap().state.lock.is_wanted() {
                    thread::yield_now();
                }
                let enough = 200 * (round + 1);
                while engine.side_log_totals().noted < enough {
                    assert!(!altering.is_finished(), "it does not wait for the reader");
                    thread::yield_now();
                }
            } else {
                while !altering.is_finished() {
                    thread::yield_now();
                }
            }
            is_over.store(true, Ordering::Relaxed);
            for writer in writers {
                meanwhile += writer.join().unwrap();
            }
            let expected = rows(&engine, &engine.table("s", "t").unwrap(), ReadView::newest());
            if let Some(reader) = &mut reader {
                engine.commit(reader).unwrap();
            }
            let table = altering.join().unwrap().unwrap();
            assert!(rows(&engine, &table, ReadView::newest()) == expected, "round {round}");
            if reader.is_some() {
                assert_as_rebuilt(&engine, &table);
            }
        });
        let table = engine.table("s", "t").unwrap();
        assert_eq!((notes(&engine), temp_files(&disk)), (0, 0));
        assert_sound(&engine, &table);
        engine.purge_step(usize::MAX).unwrap();
    }
    let totals = engine.side_log_totals();
    assert!(
        totals.noted > 300 && totals.noted == totals.applied && meanwhile > 100,
        "{totals:?}, {meanwhile}"
    );
    engine.shutdown().unwrap();
}

#[test]
fn rows_that_have_a_key_twice_for_a_while_do_not_fail_a_rebuild() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..300 {
        insert(&engine, &table, &mut trx, &Wide::new(id, id, &format!("c {id}"))).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    thread::scope(|scope| {
        let mut reader = user(&engine);
        let altering = at_the_end(scope, &engine, || force(&engine, &options(), LONG));
        for round in 0..40 {
            trx.restart(BeginOptions::default());
            trx.begin_locking().unwrap();
            let table = engine.open_table(&mut trx, "s", "t").unwrap();
            let mut set = |id: i32, key: i32| {
                update(&engine, &table, &mut trx, id, &Wide::new(id, id, &format!("c {key}"))).unwrap();
            };
            (0..300).for_each(|id| set(id, id + 1000));
            // The rebuild copies rows in the order of their keys: each takes its new key before the row that
            // had it is copied.
            (0..300).for_each(|id| set(id, (id + 1 + round) % 300));
            engine.commit(&mut trx).unwrap();
        }
        engine.commit(&mut reader).unwrap();
        let table = altering.join().unwrap().unwrap();
        assert_as_rebuilt(&engine, &table);
    });
}

#[test]
fn rows_that_get_one_new_unique_key_meanwhile_are_duplicates() {
    let (engine, disk) = engine();
    let table = filled(&engine, ROWS);
    let used = pages_used(&engine);
    let rebuild = || add_unique_c(&engine);
    for is_committed in [true, false] {
        let altered: Result<u64> = thread::scope(|scope| {
            let mut reader = user(&engine);
            let altering = at_the_end(scope, &engine, rebuild);
            let mut trx = engine.begin(BeginOptions::default());
            trx.begin_locking().unwrap();
            let table = engine.open_table(&mut trx, "s", "t").unwrap();
            update(&engine, &table, &mut trx, 11, &Wide::new(11, 1, "Zwei")).unwrap();
            update(&engine, &table, &mut trx, 12, &Wide::new(12, 1, "zwei")).unwrap();
            if is_committed { engine.commit(&mut trx) } else { engine.rollback(&mut trx) }.unwrap();
            if is_committed {
                // A row that is not to be found by the first of the two.
                trx.restart(BeginOptions::default());
                trx.begin_locking().unwrap();
                let table = engine.open_table(&mut trx, "s", "t").unwrap();
                update(&engine, &table, &mut trx, 13, &Wide::new(13, 1, "drei")).unwrap();
                engine.commit(&mut trx).unwrap();
            }
            engine.commit(&mut reader).unwrap();
            altering.join().unwrap()
        });
        if is_committed {
            let Err(Error::DuplicateKey(clash)) = altered else { panic!("duplicates are refused") };
            assert_eq!((&*clash.index, clash.parts[0].value.as_deref()), ("c", Some(&b"zwei"[..])));
            assert!(table.is_current() && !table.is_building());
            assert_eq!((pages_used(&engine), notes(&engine), temp_files(&disk)), (used, 0, 0));
            let mut trx = engine.begin(BeginOptions::default());
            trx.begin_locking().unwrap();
            let table = engine.open_table(&mut trx, "s", "t").unwrap();
            update(&engine, &table, &mut trx, 11, &Wide::new(11, 1, "one")).unwrap();
            update(&engine, &table, &mut trx, 12, &Wide::new(12, 1, "two")).unwrap();
            engine.commit(&mut trx).unwrap();
        } else {
            altered.unwrap();
            assert_as_rebuilt(&engine, &engine.table("s", "t").unwrap());
        }
    }
}

/// A rebuild that gives the column `c` a unique key.
fn add_unique_c(engine: &Engine) -> Result<u64> {
    let old = engine.table("s", "t")?;
    let mut def = (*old.def).clone();
    def.indexes.push(unique("c", &[2]));
    let alteration = Alteration { def, auto_increment: None };
    let same: Vec<_> = (0..4).map(Some).collect();
    engine.rebuild_table(&old.def, alteration, &same, &options(), LONG, |row, put| put(row))
}

/// More keys than are remembered.
#[test]
fn of_very_many_keys_that_rows_share_one_is_a_duplicate() {
    for stays in [false, true] {
        let (engine, disk) = engine();
        filled(&engine, 5000);
        let altered = thread::scope(|scope| {
            let mut reader = user(&engine);
            let altering = at_the_end(scope, &engine, || add_unique_c(&engine));
            let mut trx = engine.begin(BeginOptions::default());
            trx.begin_locking().unwrap();
            let table = engine.open_table(&mut trx, "s", "t").unwrap();
            for id in 0..5000 {
                let n = if stays { id / 2 } else { id + 1 };
                update(&engine, &table, &mut trx, id, &Wide::new(id, 1, &format!("value {n}"))).unwrap();
            }
            engine.commit(&mut trx).unwrap();
            engine.commit(&mut reader).unwrap();
            altering.join().unwrap()
        });
        assert_eq!((notes(&engine), temp_files(&disk)), (0, 0));
        if stays {
            let Err(Error::DuplicateKey(clash)) = altered else { panic!("{altered:?}") };
            assert_eq!(&*clash.index, "c");
        } else {
            altered.unwrap();
            assert_as_rebuilt(&engine, &engine.table("s", "t").unwrap());
        }
    }
}

/// Each row that is copied has another one changed, as long as writers are let in.
#[test]
fn a_rebuild_ends_beside_writers_that_are_as_fast() {
    let (engine, disk) = engine();
    let few = 100;
    let table = indexed(&engine, few);
    let key_alone = [Some(0), None, None, None];
    let alteration = Alteration { def: (*table.def).clone(), auto_increment: None };
    let (mut changed, mut is_let_in) = (0, true);
    let short = Duration::from_millis(20);
    let rebuilt = engine.rebuild_table(&table.def, alteration, &key_alone, &options(), LONG, |row, put| {
        if is_let_in && table.is_building() {
            let mut trx = engine.begin(BeginOptions { metadata_wait: short, ..BeginOptions::default() });
            trx.begin_locking()?;
            is_let_in = engine.lock_table(&mut trx, &table, TableUse::Write).is_ok();
            if is_let_in {
                let id = changed % few;
                update(&engine, &table, &mut trx, id, &Wide::new(id, 1, &format!("change {changed}")))?;
                changed += 1;
            }
            engine.commit(&mut trx)?;
        }
        put(row)
    });
    let rows = rebuilt.unwrap();
    // The copy, and rounds of as many keys as that.
    assert!(rows == few as u64 && (2 * few..8 * few).contains(&changed), "{rows}, {changed}");
    assert_eq!((notes(&engine), temp_files(&disk)), (0, 0));
    assert_as_rebuilt(&engine, &engine.table("s", "t").unwrap());
}

#[test]
fn keys_that_do_not_fit_in_memory_wait_in_a_file() {
    let (engine, disk) = engine();
    indexed(&engine, ROWS);
    let may_copy = AtomicBool::new(false);
    thread::scope(|scope| {
        let altering = scope.spawn(|| force_rewritten(&engine, &options(), LONG, &may_copy).map(drop));
        wait_for_begin(&engine);
        change_much(&engine, 0..20);
        let files = temp_files(&disk);
        may_copy.store(true, Ordering::Relaxed);
        altering.join().unwrap().unwrap();
        assert_eq!(files, 1);
    });
    let totals = engine.side_log_totals();
    assert!(totals.blocks >= 2 && totals.applied == totals.noted, "{totals:?}");
    assert_eq!(temp_files(&disk), 0);
    assert_as_rebuilt(&engine, &engine.table("s", "t").unwrap());
}

/// Each of these ends the statement and nothing else.
#[test]
fn a_rebuild_that_fails_leaves_the_table_and_its_writers_as_they_are() {
    let (engine, disk) = engine();
    let table = indexed(&engine, ROWS);
    let kill = Arc::new(AtomicBool::new(false));
    let trees = table.indexes.len() as u32;
    let mut first_tree = table.indexes.last().unwrap().def.id.0 + 1;
    for way in 0..6 {
        let may_copy = AtomicBool::new(way == 5);
        let side_log_bytes_max = if way == 0 { 50_000 } else { 128 << 20 };
        let wait = if way == 1 { Duration::from_millis(300) } else { LONG };
        let rebuild = || {
            interrupt::set_flag(Some(Arc::clone(&kill)));
            let options = BuildOptions { side_log_bytes_max, ..options() };
            force_rewritten(&engine, &options, wait, &may_copy).map(drop).unwrap_err()
        };
        let error = thread::scope(|scope| {
            let mut reader = user(&engine);
            let altering = if way == 5 {
                at_the_end(scope, &engine, rebuild)
            } else {
                let altering = scope.spawn(rebuild);
                wait_for_begin(&engine);
                altering
            };
            if way == 3 || way == 4 {
                // The file of the keys cannot be written, or read back.
                disk.schedule_all(&[env::ScheduledFault {
                    op: Some(if way == 3 { env::IoOp::Write } else { env::IoOp::Read }),
                    file: Some(format!("changes-{first_tree}.sort").leak()),
                    nth: 2,
                    fault: env::FaultKind::Error(std::io::ErrorKind::StorageFull),
                }]);
            }
            // Enough keys to overflow the memory of the queue.
            change_much(&engine, 0..if [1, 2, 5].contains(&way) { 1 } else { 12 });
            kill.store(way == 2 || way == 5, Ordering::Relaxed);
            may_copy.store(true, Ordering::Relaxed);
            let error = altering.join().unwrap();
            kill.store(false, Ordering::Relaxed);
            let mut trx = engine.begin(BeginOptions::default());
            assert!(engine.lock_table(&mut trx, &table, TableUse::Write).unwrap());
            update(&engine, &table, &mut trx, 3, &Wide::new(3, 1, "after")).unwrap();
            engine.commit(&mut trx).unwrap();
            engine.commit(&mut reader).unwrap();
            error
        });
        first_tree += trees;
        let is_expected = match way {
            0 => matches!(&error, Error::SideLogFull { index } if &**index == "PRIMARY"),
            1 => matches!(&error, Error::Lock(trx::Error::LockWaitTimeout)),
            2 | 5 => matches!(&error, Error::Lock(trx::Error::Interrupted)),
            _ => matches!(&error, Error::TempFile(_)),
        };
        assert!(is_expected && error.effect() == Effect::Statement, "{way}: {error:?}");
        assert!(table.is_current() && !table.is_building());
        engine.purge_step(usize::MAX).unwrap();
        assert_eq!((notes(&engine), temp_files(&disk)), (0, 0), "{way}");
        assert_sound(&engine, &table);
    }
    engine.shutdown().unwrap();
    drop((table, engine));
    assert_eq!(look_at(&disk).findings, [], "every page is free or some tree's");
}

/// (id, k NOT NULL, c, body): NULL in `k` is refused.
fn close_k(engine: &Engine) -> Result<Arc<Table>> {
    let old = engine.table("s", "t")?;
    let mut def = (*old.def).clone();
    def.columns[1].nullable = false;
    let kept = [Some(0), None, Some(2), Some(3)];
    let alteration = Alteration { def, auto_increment: None };
    engine.rebuild_table(&old.def, alteration, &kept, &options(), LONG, |row, put| {
        if row[1].is_none() { Err(Error::AutoIncrementExhausted) } else { put(row) }
    })?;
    engine.table("s", "t")
}

#[test]
fn a_row_that_cannot_be_converted_counts_if_it_stays() {
    let (engine, disk) = engine();
    let table = filled(&engine, ROWS);
    let mut trx = engine.begin(BeginOptions::default());
    for id in (0..ROWS).step_by(30) {
        update(&engine, &table, &mut trx, id, &Wide::new(id, 7, "was NULL")).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    for stays in [true, false] {
        let closed = thread::scope(|scope| {
            let mut reader = user(&engine);
            let closing = at_the_end(scope, &engine, || close_k(&engine));
            let mut trx = engine.begin(BeginOptions::default());
            trx.begin_locking().unwrap();
            let table = engine.open_table(&mut trx, "s", "t").unwrap();
            for id in 0..ROWS {
                update(&engine, &table, &mut trx, id, &Wide { k: None, ..Wide::new(id, 0, "none") }).unwrap();
            }
            // The rebuild meets the rows.
            thread::sleep(Duration::from_millis(250));
            assert!(!closing.is_finished());
            for id in i32::from(stays)..ROWS {
                update(&engine, &table, &mut trx, id, &Wide::new(id, id, &format!("some {id}"))).unwrap();
            }
            engine.commit(&mut trx).unwrap();
            engine.commit(&mut reader).unwrap();
            closing.join().unwrap()
        });
        if stays {
            assert!(matches!(closed, Err(Error::AutoIncrementExhausted)), "{closed:?}");
            let table = engine.table("s", "t").unwrap();
            assert!(table.def.columns[1].nullable && notes(&engine) == 0 && temp_files(&disk) == 0);
            assert_sound(&engine, &table);
            let mut trx = engine.begin(BeginOptions::default());
            update(&engine, &table, &mut trx, 0, &Wide::new(0, 7, "was NULL")).unwrap();
            engine.commit(&mut trx).unwrap();
        } else {
            assert_as_rebuilt(&engine, &closed.unwrap());
        }
    }
    let totals = engine.side_log_totals();
    assert!(totals.noted > 2 * ROWS as u64, "{totals:?}");
}

#[test]
fn columns_come_and_go_and_change_places_while_rows_change() {
    let (engine, _disk) = engine();
    indexed(&engine, ROWS);
    let seven = 7i64.to_le_bytes();
    let mut prng = Prng::new(3);
    // (body, id, new, c, k): the columns of `filled` in another order, and one more.
    let kept = [Some(3), Some(0), None, Some(2), Some(1)];
    thread::scope(|scope| {
        let mut reader = user(&engine);
        let altering = at_the_end(scope, &engine, || -> Result<u64> {
            let old = engine.table("s", "t")?;
            let mut def = (*old.def).clone();
            let new = ColumnDef::new("new", SqlType::bigint(), false);
            let column =
                |at: &Option<u16>| at.map_or(new.clone(), |at| old.def.columns[usize::from(at)].clone());
            def.columns = kept.iter().map(column).collect();
            for part in def.indexes.iter_mut().flat_map(|index| &mut index.parts) {
                part.column = kept.iter().position(|at| *at == Some(part.column)).unwrap() as u16;
            }
            let alteration = Alteration { def, auto_increment: None };
            engine.rebuild_table(&old.def, alteration, &kept, &options(), LONG, |row, put| {
                put(&kept.map(|at| at.map_or(Some(&seven[..]), |at| row[usize::from(at)])))
            })
        });
        let mut trx = engine.begin(BeginOptions::default());
        trx.begin_locking().unwrap();
        let before = engine.open_table(&mut trx, "s", "t").unwrap();
        change_all_kinds(&engine, &before, &mut trx, &mut prng);
        engine.commit(&mut trx).unwrap();
        let expected = rows(&engine, &before, ReadView::newest());
        engine.commit(&mut reader).unwrap();
        altering.join().unwrap().unwrap();
        let table = engine.table("s", "t").unwrap();
        assert_sound(&engine, &table);
        let mut found = Vec::new();
        let scan = WholeRows::new(&engine, &table, ReadView::newest());
        let read: Result<()> = scan.for_each(|row, _| {
            assert_eq!(row[2], Some(&seven[..]));
            let int = |bytes: &[u8]| i32::from_le_bytes(bytes.try_into().unwrap());
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let (id, k) = (int(row[1].unwrap()), row[4].map(int));
            found.push(Wide { id, k, c: row[3].map(text), body: row[0].map(text) });
            Ok(())
        });
        read.unwrap();
        assert!(found == expected);
        assert!(engine.side_log_totals().noted > 30);
    });
}

#[test]
fn rows_without_a_key_of_their_own_change_while_their_table_is_rebuilt() {
    let (engine, _disk) = engine();
    let columns = vec![ColumnDef::new("k", int(), true), ColumnDef::new("c", text(), true)];
    let indexes = vec![IndexDef::new("k", IndexKind::Secondary, &[0])];
    let table = engine.create_table(TableDef::new("s", "t", columns, indexes)).unwrap();
    let put = |trx: &mut Trx, k: i32| {
        let c = format!("{k} ").repeat(k as usize * 20);
        let row = table.insert(&engine, trx, &[Some(&k.to_le_bytes()), Some(c.as_bytes())]).unwrap();
        let id = row.row_id.unwrap();
        id.to_be_bytes()[8 - page::ROW_ID_BYTES..].to_vec()
    };
    let mut trx = engine.begin(BeginOptions::default());
    let keys: Vec<Vec<u8>> = (0..300).map(|k| put(&mut trx, k)).collect();
    engine.commit(&mut trx).unwrap();
    let all = |table: &Table| {
        let mut all = Vec::new();
        let read: Result<()> = WholeRows::new(&engine, table, ReadView::newest()).for_each(|row, id| {
            all.push((id, row.iter().map(|value| value.map(<[u8]>::to_vec)).collect::<Vec<_>>()));
            Ok(())
        });
        read.map(|()| all).unwrap()
    };
    thread::scope(|scope| {
        let mut reader = user(&engine);
        let altering = at_the_end(scope, &engine, || force(&engine, &options(), LONG));
        trx.restart(BeginOptions::default());
        trx.begin_locking().unwrap();
        assert!(engine.lock_table(&mut trx, &table, TableUse::Write).unwrap());
        for (k, key) in keys.iter().enumerate() {
            let new = (1000 + k as i32).to_le_bytes();
            let row = [Some(&new[..]).filter(|_| k % 7 != 0), Some(&b"new"[..])];
            match k % 5 {
                0 => drop(table.delete(&engine, &mut trx, key).unwrap()),
                1 => drop(table.update(&engine, &mut trx, key, &row, &ColumnSet::ALL).unwrap()),
                3 => drop(put(&mut trx, 500 + k as i32)),
                _ => {}
            }
        }
        engine.commit(&mut trx).unwrap();
        let expected = all(&table);
        engine.commit(&mut reader).unwrap();
        let new = altering.join().unwrap().unwrap();
        assert!(all(&new) == expected && expected.len() == 300);
        assert_sound(&engine, &new);
        // Its next row gets an id of its own.
        trx.restart(BeginOptions::default());
        trx.begin_locking().unwrap();
        assert!(engine.lock_table(&mut trx, &new, TableUse::Write).unwrap());
        new.insert(&engine, &mut trx, &[None, None]).unwrap();
        engine.commit(&mut trx).unwrap();
        assert_eq!(all(&new).len(), 301);
    });
}
