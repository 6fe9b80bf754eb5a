//! The metadata lock under the model checker.

use std::sync::Arc;

use base::sync::model::{UnsafeCell, explore, spawn};

use super::*;

const LONG: Duration = Duration::from_secs(1000);

/// A lock, the definition that it protects, and the rows, which one session at most changes here.
#[derive(Debug, Default)]
struct Table {
    lock: MetadataLock,
    definition: UnsafeCell<()>,
    rows: UnsafeCell<()>,
}

fn read(table: &Table) {
    table.lock.lock_shared(TableUse::Read, false, LONG).unwrap();
    table.definition.with(|_| ());
    table.lock.unlock_shared(TableUse::Read);
}

fn write(table: &Table) {
    table.lock.lock_shared(TableUse::Write, false, LONG).unwrap();
    table.definition.with(|_| ());
    table.rows.with_mut(|_| ());
    table.lock.unlock_shared(TableUse::Write);
}

fn alter(table: &Table) {
    table.lock.lock_exclusive(&LONG.into()).unwrap();
    table.definition.with_mut(|_| ());
    table.rows.with_mut(|_| ());
    table.lock.unlock_exclusive();
}

fn keep_still(table: &Table) {
    table.lock.lock_read_only(&LONG.into()).unwrap();
    table.rows.with(|_| ());
    table.lock.unlock_read_only();
}

fn rebuild(table: &Table) {
    table.lock.lock_for_rebuild(&LONG.into()).unwrap();
    table.rows.with(|_| ());
    table.lock.make_exclusive(&LONG.into()).unwrap();
    table.definition.with_mut(|_| ());
    table.rows.with_mut(|_| ());
    table.lock.unlock_exclusive();
}

/// Reads the rows, which others may change from then on, and changes the definition in the end.
fn build(table: &Table) {
    table.lock.lock_for_rebuild(&LONG.into()).unwrap();
    table.rows.with(|_| ());
    table.lock.admit_writers();
    table.lock.make_exclusive_from_writer(&LONG.into()).unwrap();
    table.definition.with_mut(|_| ());
    table.rows.with_mut(|_| ());
    table.lock.unlock_exclusive();
}

/// Rebuilds a table that the session has for itself.
fn rebuild_own(table: &Table) {
    let wait = ExclusiveWait { session: 7, ..LONG.into() };
    table.lock.own(&wait).unwrap();
    table.rows.with_mut(|_| ());
    table.lock.lock_for_rebuild(&wait).unwrap();
    table.lock.make_exclusive(&wait).unwrap();
    table.definition.with_mut(|_| ());
    table.lock.unlock_exclusive();
    table.lock.disown();
}

fn own(table: &Table) {
    table.lock.own(&ExclusiveWait { session: 7, ..LONG.into() }).unwrap();
    table.rows.with_mut(|_| ());
    table.lock.disown();
}

/// An attempt ends at any moment, or the pause after it.
fn end_pause(table: &Table) {
    let mut requests = table.lock.requests.lock();
    requests.end_pause();
    table.lock.mark(&mut requests);
    table.lock.changed.notify_all();
}

/// Runs all at the same time; none may be left waiting.
fn at_once<const N: usize>(preemptions: usize, works: [fn(&Table); N]) {
    explore(preemptions, move || {
        let table = Arc::new(Table::default());
        let threads = works.map(|work| {
            let table = Arc::clone(&table);
            spawn(move || work(&table))
        });
        threads.into_iter().for_each(|thread| drop(thread.join().unwrap()));
        assert_eq!(table.lock.state.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn a_definition_changes_only_while_nobody_uses_it() {
    at_once(2, [alter, write, read]);
}

#[test]
fn two_changes_of_a_definition_exclude_each_other() {
    at_once(2, [alter, alter]);
}

#[test]
fn rows_kept_still_are_not_changed() {
    at_once(2, [keep_still, write, keep_still]);
}

#[test]
fn a_rebuilt_table_takes_its_place_while_nobody_uses_it() {
    at_once(2, [rebuild, read]);
    at_once(2, [rebuild, write]);
}

#[test]
fn rows_of_a_table_whose_indexes_are_built_change_before_the_new_definition_or_after() {
    at_once(2, [build, write]);
    at_once(2, [build, read]);
    at_once(2, [build, alter]);
    at_once(2, [build, build]);
}

#[test]
fn who_lets_newcomers_pass_still_gets_its_turn() {
    at_once(2, [alter, write, end_pause]);
    at_once(2, [rebuild, read, end_pause]);
    at_once(2, [build, write, end_pause]);
}

#[test]
fn who_waits_for_a_build_with_writers_gets_its_turn() {
    at_once(2, [build, keep_still]);
    at_once(2, [build, own]);
    at_once(2, [build, rebuild]);
}

#[test]
fn an_owner_excludes_writers_and_definition_changes() {
    at_once(2, [own, write, alter]);
}

#[test]
fn of_several_that_keep_others_out_each_gets_its_turn() {
    at_once(2, [rebuild, rebuild]);
    at_once(2, [rebuild, alter]);
    at_once(2, [keep_still, alter]);
    at_once(2, [keep_still, own]);
    at_once(3, [alter, keep_still, read]);
}

#[test]
fn an_owner_rebuilds_its_table_while_others_wait_for_it() {
    at_once(2, [rebuild_own, alter]);
    at_once(2, [rebuild_own, rebuild]);
}
