//! Indexes that are built while rows change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use ::trx::ExclusiveWait;
use base::prng::Prng;
use base::sync::interrupt;
use types::{ColumnDef, IndexDef, IndexKind, TableDef};

use super::index_builds::{filled, new_indexes, notes, pages_used, records, temp_files};
use super::support::*;
use crate::side_log::{IndexBuild, TableSideLog};
use crate::*;

pub(super) const LONG: Duration = Duration::from_mins(2);
pub(super) const ROWS: i32 = 1200;

pub(super) fn options() -> BuildOptions {
    BuildOptions { memory: SortMemory { buffer_bytes: 0, account: None }, ..BuildOptions::default() }
}

pub(super) fn add(
    engine: &Engine,
    indexes: Vec<IndexDef>,
    options: &BuildOptions,
    wait: impl Into<ExclusiveWait>,
) -> Result<Arc<Table>> {
    let old = engine.table("s", "t")?;
    let mut def = (*old.def).clone();
    def.indexes.extend(indexes);
    engine.alter_table(&old.def, Alteration { def, auto_increment: None }, options, wait)?;
    engine.table("s", "t")
}

pub(super) fn unique(name: &str, columns: &[u16]) -> IndexDef {
    IndexDef::new(name, IndexKind::Unique, columns)
}

/// A transaction that uses the table: no index of it is put in place before the transaction ends.
pub(super) fn user(engine: &Arc<Engine>) -> Trx {
    let mut trx = engine.begin(BeginOptions::default());
    engine.open_table_to(&mut trx, "s", "t", TableUse::Read).unwrap();
    trx
}

/// Runs `alter` in a thread, up to where it waits for `user` to end.
pub(super) fn at_the_end<'s, R>(
    scope: &'s thread::Scope<'s, '_>,
    engine: &Engine,
    alter: impl FnOnce() -> R + Send + 's,
) -> ScopedJoinHandle<'s, R>
where
    R: Send + 's,
{
    let table = engine.table("s", "t").unwrap();
    let altering = scope.spawn(alter);
    while !table.state.lock.is_wanted() {
        assert!(!altering.is_finished(), "it does not wait for the table's user");
        thread::yield_now();
    }
    altering
}

pub(super) fn long(id: i32, n: usize) -> String {
    format!("{n:03} body {id} ").repeat(700 + n)
}

/// Changes of all kinds, in a transaction that has ended; which of them stand depends on `prng`.
pub(super) fn change_all_kinds(engine: &Engine, table: &Table, trx: &mut Trx, prng: &mut Prng) {
    let of = |id: i32, n: usize| Wide {
        body: Some(long(id, n)),
        ..Wide::new(id, n as i32, &format!("new {id} {n}"))
    };
    for id in 2..40 {
        match prng.below(6) {
            0 => assert!(delete(engine, table, trx, id).unwrap()),
            1 => drop(update(engine, table, trx, id, &Wide { id: id + 20_000, ..of(id, 1) }).unwrap()),
            2 => drop(update(engine, table, trx, id, &Wide { c: None, ..Wide::new(id, 7, "") }).unwrap()),
            3 => {
                assert!(delete(engine, table, trx, id).unwrap());
                insert(engine, table, trx, &of(id, 3)).unwrap();
            }
            4 => insert(engine, table, trx, &of(id + 30_000, 4)).unwrap(),
            _ => {
                for n in 5..8 {
                    update(engine, table, trx, id, &of(id, n)).unwrap();
                }
            }
        }
        if prng.below(3) == 0 {
            let mark = trx.mark();
            insert(engine, table, trx, &of(id + 40_000, 8)).unwrap();
            // The row is changed, moved, deleted, and is there again.
            let _ = update(engine, table, trx, id, &of(id, 9)).unwrap();
            let _ = update(engine, table, trx, id, &Wide { id: id + 50_000, ..of(id, 10) }).unwrap();
            let _ = delete(engine, table, trx, id + 50_000).unwrap();
            engine.rollback_statement(trx, mark).unwrap();
        }
    }
    let batch: Vec<Wide> = (0..30).map(|n| of(60_000 + (n * 7) % 30, 11)).collect();
    if prng.below(2) == 0 {
        Wide::with_all(&batch, |rows| table.insert_batch(engine, trx, rows)).unwrap();
    }
}

/// Changes of all kinds that are rolled back, up to three times, and those that a transaction then commits.
pub(super) fn change_in_rounds(engine: &Arc<Engine>, prng: &mut Prng) {
    for _ in 0..3 {
        let mut trx = engine.begin(BeginOptions::default());
        trx.begin_locking().unwrap();
        let table = engine.open_table(&mut trx, "s", "t").unwrap();
        change_all_kinds(engine, &table, &mut trx, prng);
        engine.rollback(&mut trx).unwrap();
        trx.restart(BeginOptions::default());
        trx.begin_locking().unwrap();
        let table = engine.open_table(&mut trx, "s", "t").unwrap();
        if prng.below(2) == 0 {
            change_all_kinds(engine, &table, &mut trx, prng);
            engine.commit(&mut trx).unwrap();
            break;
        }
    }
}

/// Entry for entry what an undisturbed build makes.
#[test]
fn an_index_has_the_entries_of_all_rows_that_changed_meanwhile() {
    for seed in 0..8 {
        let (engine, disk) = engine();
        filled(&engine, ROWS);
        let mut prng = Prng::new(seed);
        thread::scope(|scope| {
            let mut reader = user(&engine);
            let altering = at_the_end(scope, &engine, || add(&engine, new_indexes(), &options(), LONG));
            change_in_rounds(&engine, &mut prng);
            engine.commit(&mut reader).unwrap();
            altering.join().unwrap().unwrap();
        });
        let totals = engine.side_log_totals();
        assert!(totals.noted > 100 && totals.noted == totals.applied, "{totals:?}");
        let again: Vec<IndexDef> = new_indexes()
            .into_iter()
            .map(|index| IndexDef { name: format!("{} again", index.name).into(), ..index })
            .collect();
        let table = add(&engine, again, &options(), LONG).unwrap();
        assert_sound(&engine, &table);
        for index in 1..=5 {
            let (built, again) = (records(&engine, &table, index), records(&engine, &table, index + 5));
            assert!(built == again && built.len() > 1000, "seed {seed}, index {index}");
        }
        assert_eq!((notes(&engine), temp_files(&disk)), (0, 0));
    }
}

/// One change of a row that others change, too. Whether the transaction was not chosen to break a deadlock.
fn change_one(engine: &Engine, table: &Table, trx: &mut Trx, prng: &mut Prng, writer: i32) -> bool {
    let id = prng.below(300) as i32;
    let n = prng.below(90) as usize;
    let body = Some(if prng.below(4) == 0 { long(id, n) } else { "b".repeat(n) });
    let row = Wide { body, ..Wide::new(id, n as i32, &format!("{id} of {writer} {n}")) };
    let done = match prng.below(8) {
        0 => delete(engine, table, trx, id).map(drop),
        1 | 2 => insert(engine, table, trx, &row),
        3 => update(engine, table, trx, id, &Wide { id: prng.below(300) as i32, ..row }).map(drop),
        4 => {
            let rows: Vec<Wide> = (0..20).map(|at| Wide { id: id + at, c: None, ..row.clone() }).collect();
            Wide::with_all(&rows, |rows| table.insert_batch(engine, trx, rows))
                .map(drop)
                .map_err(|failed| failed.1)
        }
        _ => update(engine, table, trx, id, &row).map(drop),
    };
    match done {
        Ok(()) | Err(Error::DuplicateKey(_)) => true,
        Err(Error::Lock(trx::Error::Deadlock)) => false,
        Err(error) => panic!("{error}"),
    }
}

/// Transactions of all lengths, until `is_over`; how many there were.
pub(super) fn write(engine: &Arc<Engine>, writer: i32, seed: u64, is_over: &AtomicBool) -> usize {
    let mut prng = Prng::new(seed);
    let mut trx = engine.begin(BeginOptions::default());
    let mut transactions = 0;
    while !is_over.load(Ordering::Relaxed) {
        let table = engine.open_table(&mut trx, "s", "t").unwrap();
        let length = prng.below(6);
        let mut stands = true;
        if length == 0 {
            trx.begin_write().unwrap();
            trx.commit_with_change();
            stands = change_one(engine, &table, &mut trx, &mut prng, writer);
        }
        for _ in 0..length {
            let mark = trx.mark();
            stands = stands && change_one(engine, &table, &mut trx, &mut prng, writer);
            if stands && prng.below(5) == 0 {
                engine.rollback_statement(&mut trx, mark).unwrap();
            }
        }
        let ends_well = trx.committed().is_some() || stands && prng.below(4) > 0;
        if ends_well { engine.commit(&mut trx) } else { engine.rollback(&mut trx) }.unwrap();
        trx.restart(BeginOptions::default());
        transactions += 1;
    }
    engine.commit(&mut trx).unwrap();
    transactions
}

pub(super) fn fill_with_short_rows(engine: &Arc<Engine>) {
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..4000 {
        let row = Wide { body: Some("body".repeat(20)), ..Wide::new(id, id % 50, &format!("row {id}")) };
        insert(engine, &table, &mut trx, &row).unwrap();
    }
    engine.commit(&mut trx).unwrap();
}

#[test]
fn writers_go_on_while_indexes_are_built() {
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
            let mut indexes: Vec<IndexDef> = new_indexes();
            // Differs wherever the clustered key does.
            indexes.retain(|index| index.kind == IndexKind::Secondary || index.name.starts_with('u'));
            for index in &mut indexes {
                index.name = format!("{} {round}", index.name).into();
            }
            let altered = add(&engine, indexes, &options(), LONG);
            is_over.store(true, Ordering::Relaxed);
            for writer in writers {
                meanwhile += writer.join().unwrap();
            }
            altered.unwrap();
        });
        let table = engine.table("s", "t").unwrap();
        assert_sound(&engine, &table);
        assert_eq!((notes(&engine), temp_files(&disk)), (0, 0));
        for index in new_indexes() {
            engine.drop_index("s", "t", &format!("{} {round}", index.name), LONG).unwrap();
        }
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
fn rows_that_have_a_key_twice_for_a_while_are_no_duplicates() {
    let (engine, _disk) = engine();
    filled(&engine, ROWS);
    thread::scope(|scope| {
        let mut reader = user(&engine);
        let altering = at_the_end(scope, &engine, || {
            add(&engine, vec![unique("k", &[1, 0]), unique("c", &[2])], &options(), LONG)
        });
        let mut trx = engine.begin(BeginOptions::default());
        trx.begin_locking().unwrap();
        let table = engine.open_table(&mut trx, "s", "t").unwrap();
        // All of them at once, and then each another one.
        for c in ["one", "two"] {
            for id in 2..40 {
                let c = if c == "one" { c.to_owned() } else { format!("one {id}") };
                update(&engine, &table, &mut trx, id, &Wide::new(id, 1, &c)).unwrap();
            }
        }
        engine.commit(&mut trx).unwrap();
        engine.commit(&mut reader).unwrap();
        assert_sound(&engine, &altering.join().unwrap().unwrap());
    });
}

#[test]
fn rows_that_get_one_key_meanwhile_are_duplicates() {
    let (engine, disk) = engine();
    filled(&engine, ROWS);
    let used = pages_used(&engine);
    let table = engine.table("s", "t").unwrap();
    for is_committed in [false, true] {
        let altered = thread::scope(|scope| {
            let mut reader = user(&engine);
            let altering =
                at_the_end(scope, &engine, || add(&engine, vec![unique("c", &[2])], &options(), LONG));
            let mut trx = engine.begin(BeginOptions::default());
            trx.begin_locking().unwrap();
            let table = engine.open_table(&mut trx, "s", "t").unwrap();
            update(&engine, &table, &mut trx, 11, &Wide::new(11, 1, "Zwei")).unwrap();
            update(&engine, &table, &mut trx, 12, &Wide::new(12, 1, "zwei")).unwrap();
            if is_committed { engine.commit(&mut trx) } else { engine.rollback(&mut trx) }.unwrap();
            engine.commit(&mut reader).unwrap();
            altering.join().unwrap()
        });
        if !is_committed {
            assert_sound(&engine, &altered.unwrap());
            engine.drop_index("s", "t", "c", LONG).unwrap();
            continue;
        }
        let Err(Error::DuplicateKey(clash)) = altered else { panic!("duplicates are refused") };
        assert_eq!((&*clash.index, clash.parts[0].value.as_deref()), ("c", Some(&b"zwei"[..])));
    }
    let table_now = engine.table("s", "t").unwrap();
    assert_eq!((table.indexes.len(), table_now.indexes.len()), (1, 1));
    assert_eq!((pages_used(&engine), notes(&engine), temp_files(&disk)), (used, 0, 0));
    assert_sound(&engine, &table_now);
}

/// Changes all rows of the table again and again.
pub(super) fn change_much(engine: &Arc<Engine>, times: std::ops::Range<usize>) {
    for n in times {
        let mut trx = engine.begin(BeginOptions::default());
        trx.begin_locking().unwrap();
        let table = engine.open_table(&mut trx, "s", "t").unwrap();
        for id in 2..ROWS {
            let c = format!("{}{id} {n}", "changed ".repeat(40));
            update(engine, &table, &mut trx, id, &Wide::new(id, 1, &c)).unwrap();
        }
        engine.commit(&mut trx).unwrap();
    }
}

#[test]
fn changes_that_do_not_fit_in_memory_wait_in_a_file() {
    let (engine, disk) = engine();
    filled(&engine, ROWS);
    thread::scope(|scope| {
        let mut reader = user(&engine);
        let altering = at_the_end(scope, &engine, || add(&engine, new_indexes(), &options(), LONG));
        change_much(&engine, 0..3);
        assert_eq!(temp_files(&disk), 1);
        engine.commit(&mut reader).unwrap();
        assert_sound(&engine, &altering.join().unwrap().unwrap());
    });
    let totals = engine.side_log_totals();
    assert!(totals.blocks > 3 && totals.applied == totals.noted, "{totals:?}");
    assert_eq!(temp_files(&disk), 0);
}

/// Each of these ends the statement and nothing else, while it waits for a reader.
#[test]
fn a_build_that_fails_leaves_the_table_and_its_writers_as_they_are() {
    let (engine, disk) = engine();
    let table = filled(&engine, ROWS);
    let mut used = Vec::new();
    let kill = Arc::new(AtomicBool::new(false));
    for way in 0..5usize {
        let error = thread::scope(|scope| {
            let mut reader = user(&engine);
            let (engine, kill) = (&engine, &kill);
            let altering = at_the_end(scope, engine, || {
                interrupt::set_flag(Some(Arc::clone(kill)));
                let wait = if way == 1 { Duration::from_millis(300) } else { LONG };
                let side_log_bytes_max = if way == 0 { 100_000 } else { 128 << 20 };
                let few = BuildOptions { side_log_bytes_max, ..options() };
                add(engine, new_indexes(), &few, wait).map(drop).unwrap_err()
            });
            if way >= 3 {
                let first = table.clustered().def.id.0 + 1 + (way * new_indexes().len()) as u32;
                let file = format!("changes-{first}.sort").leak();
                // The file of the changes cannot be written, or read back.
                disk.schedule_all(&[env::ScheduledFault {
                    op: Some(if way == 3 { env::IoOp::Write } else { env::IoOp::Read }),
                    file: Some(file),
                    nth: 2,
                    fault: env::FaultKind::Error(std::io::ErrorKind::StorageFull),
                }]);
            }
            change_much(engine, way..way + 1);
            kill.store(way == 2, Ordering::Relaxed);
            // Nothing is waited for that the build does not need.
            let error = altering.join().unwrap();
            kill.store(false, Ordering::Relaxed);
            let mut trx = engine.begin(BeginOptions::default());
            assert!(engine.lock_table(&mut trx, &table, TableUse::Write).unwrap());
            update(engine, &table, &mut trx, 3, &Wide::new(3, 1, "after")).unwrap();
            engine.commit(&mut trx).unwrap();
            engine.commit(&mut reader).unwrap();
            error
        });
        let is_expected = match way {
            0 => {
                matches!(&error, Error::SideLogFull { index } if new_indexes().iter().any(|new| new.name == *index))
            }
            1 => matches!(&error, Error::Lock(trx::Error::LockWaitTimeout)),
            2 => matches!(&error, Error::Lock(trx::Error::Interrupted)),
            _ => matches!(&error, Error::TempFile(_)),
        };
        assert!(is_expected && error.effect() == Effect::Statement, "{way}: {error:?}");
        assert!(table.is_current() && !table.is_building());
        engine.purge_step(usize::MAX).unwrap();
        used.push(pages_used(&engine));
        assert_eq!((notes(&engine), temp_files(&disk)), (0, 0), "{way}");
        assert_sound(&engine, &table);
    }
    // The first one has made the rows longer.
    assert!(used[1..].iter().all(|&pages| pages == used[0]), "{used:?}");
}

#[test]
fn the_second_build_of_a_table_waits_for_the_first() {
    let (engine, _disk) = engine();
    filled(&engine, ROWS);
    let second = || vec![IndexDef::new("second", IndexKind::Secondary, &[1])];
    thread::scope(|scope| {
        let mut reader = user(&engine);
        let first = at_the_end(scope, &engine, || add(&engine, new_indexes(), &options(), LONG));
        let is_timeout = |error: Error| matches!(error, Error::Lock(trx::Error::LockWaitTimeout));
        let short = Duration::from_millis(20);
        assert!(is_timeout(add(&engine, second(), &options(), short).unwrap_err()));
        let altering = scope.spawn(|| {
            loop {
                match add(&engine, second(), &options(), LONG) {
                    // The first one has come to its end.
                    Err(Error::TableChanged) => {}
                    done => break done,
                }
            }
        });
        engine.commit(&mut reader).unwrap();
        first.join().unwrap().unwrap();
        let table = altering.join().unwrap().unwrap();
        assert_eq!(table.indexes.len(), 7);
        assert_sound(&engine, &table);
    });
}

#[test]
fn a_view_from_before_the_end_of_a_build_does_not_use_the_index() {
    let (engine, _disk) = engine();
    filled(&engine, ROWS);
    let mut old = engine.begin(BeginOptions::default());
    let view = old.view();
    let table = add(&engine, new_indexes(), &options(), LONG).unwrap();
    let scan = |view| Scan::open(&engine, &table, 1, view, KeyRange::all(), Direction::Forward);
    assert!(matches!(scan(view), Err(Error::TableDefinitionChanged)));
    assert_eq!(rows(&engine, &table, view).len(), ROWS as usize);
    engine.commit(&mut old).unwrap();
    old.restart(BeginOptions::default());
    assert!(scan(old.view()).is_ok());
}

#[test]
fn writers_wait_for_a_build_that_does_not_let_them_on() {
    let (engine, _disk) = engine();
    let table = filled(&engine, ROWS);
    thread::scope(|scope| {
        let mut reader = user(&engine);
        let altering = at_the_end(scope, &engine, || {
            let alone = BuildOptions { lets_writers_on: false, ..options() };
            add(&engine, new_indexes(), &alone, LONG)
        });
        let short = Duration::from_millis(20);
        let mut trx = engine.begin(BeginOptions { metadata_wait: short, ..BeginOptions::default() });
        trx.begin_locking().unwrap();
        let error = engine.lock_table(&mut trx, &table, TableUse::Write).unwrap_err();
        assert!(matches!(error, Error::Lock(trx::Error::LockWaitTimeout)));
        engine.commit(&mut reader).unwrap();
        altering.join().unwrap().unwrap();
    });
    assert_eq!(engine.side_log_totals().noted, 0);
}

/// More keys than are remembered.
#[test]
fn of_very_many_keys_that_rows_have_twice_those_that_stay_count() {
    for stays in [false, true] {
        let (engine, _disk) = engine();
        filled(&engine, 5000);
        let altered = thread::scope(|scope| {
            let mut reader = user(&engine);
            let altering =
                at_the_end(scope, &engine, || add(&engine, vec![unique("c", &[2])], &options(), LONG));
            let mut trx = engine.begin(BeginOptions::default());
            trx.begin_locking().unwrap();
            let table = engine.open_table(&mut trx, "s", "t").unwrap();
            let set = |trx: &mut Trx, id: i32, n: i32| {
                update(&engine, &table, trx, id, &Wide::new(id, 1, &format!("value {n}"))).unwrap();
            };
            (0..5000).for_each(|id| set(&mut trx, id, id));
            // Each row takes the key of the next one, which gives it up.
            (0..5000).for_each(|id| set(&mut trx, id, id + 1));
            if stays {
                (0..5000).for_each(|id| set(&mut trx, id, id / 2));
            }
            engine.commit(&mut trx).unwrap();
            engine.commit(&mut reader).unwrap();
            altering.join().unwrap()
        });
        if stays {
            // As long as the transaction continues there is no telling.
            let is_refused = matches!(altered, Err(Error::DuplicateKey(_) | Error::SideLogFull { .. }));
            assert!(is_refused, "{:?}", altered.map(drop));
        } else {
            assert_sound(&engine, &altered.unwrap());
        }
    }
}

#[test]
fn the_end_of_a_build_is_not_that_of_the_next_one() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let build = || {
        TableSideLog::Indexes(Arc::new(IndexBuild::new(
            &engine.temp_folder,
            &table.def,
            vec![table.indexes[1].again()],
            0,
        )))
    };
    let (first, second) = (build(), build());
    table.begin_build(&first);
    table.begin_build(&second);
    table.end_build(&first);
    assert!(table.is_building() && table.build().is_some_and(|build| build.is(&second)));
    table.end_build(&second);
    assert!(!table.is_building() && table.build().is_none());
}

#[test]
fn rows_without_a_key_of_their_own_change_meanwhile() {
    let (engine, _disk) = engine();
    let columns = vec![ColumnDef::new("k", int(), true), ColumnDef::new("c", text(), true)];
    let table = engine.create_table(TableDef::new("s", "t", columns, Vec::new())).unwrap();
    let put = |trx: &mut Trx, k: i32| {
        let c = format!("{k} ").repeat(k as usize * 20);
        let row = table.insert(&engine, trx, &[Some(&k.to_le_bytes()), Some(c.as_bytes())]).unwrap();
        let id = row.row_id.unwrap();
        id.to_be_bytes()[8 - page::ROW_ID_BYTES..].to_vec()
    };
    let mut trx = engine.begin(BeginOptions::default());
    let keys: Vec<Vec<u8>> = (0..300).map(|k| put(&mut trx, k)).collect();
    engine.commit(&mut trx).unwrap();
    let indexes = |name: &str| {
        let mut c = IndexDef::new(&format!("c{name}"), IndexKind::Secondary, &[1, 0]);
        c.parts[0].prefix_len = Some(7);
        vec![unique(&format!("k{name}"), &[0]), c]
    };
    thread::scope(|scope| {
        let mut reader = user(&engine);
        let altering = at_the_end(scope, &engine, || add(&engine, indexes(""), &options(), LONG));
        trx.restart(BeginOptions::default());
        trx.begin_locking().unwrap();
        assert!(engine.lock_table(&mut trx, &table, TableUse::Write).unwrap());
        for (k, key) in keys.iter().enumerate() {
            let is_null = k % 7 == 0;
            let new = (1000 + k as i32).to_le_bytes();
            let row = [Some(&new[..]).filter(|_| !is_null), Some(&b"new"[..])];
            match k % 5 {
                0 => drop(table.delete(&engine, &mut trx, key).unwrap()),
                1 => drop(table.update(&engine, &mut trx, key, &row, &ColumnSet::ALL).unwrap()),
                2 => drop(table.update(&engine, &mut trx, key, &row, &[0].into_iter().collect()).unwrap()),
                3 => drop(put(&mut trx, 500 + k as i32)),
                _ => {}
            }
        }
        engine.commit(&mut trx).unwrap();
        engine.commit(&mut reader).unwrap();
        altering.join().unwrap().unwrap();
    });
    let table = add(&engine, indexes(" again"), &options(), LONG).unwrap();
    assert_sound(&engine, &table);
    for index in [1, 2] {
        let (built, again) = (records(&engine, &table, index), records(&engine, &table, index + 2));
        assert!(built == again && built.len() == 300, "{index}: {} entries", built.len());
    }
}
