//! The cases of docs/mvcc.md by name.

use super::support::*;
use crate::*;

struct Case {
    engine: std::sync::Arc<Engine>,
    table: std::sync::Arc<Table>,
    trx: Trx,
}

/// A table with the committed row (1, k 1, c 'a'), and an open transaction.
fn case() -> Case {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(1, 1, "a")).unwrap();
    engine.commit(&mut trx).unwrap();
    trx.restart(BeginOptions::default());
    Case { engine, table, trx }
}

impl Case {
    fn update(&mut self, k: i32, c: &str) {
        let done = update(&self.engine, &self.table, &mut self.trx, 1, &Wide::new(1, k, c));
        assert_eq!(done.unwrap(), UpdateOutcome::Updated);
    }

    /// Entries of the index on `k`, closed ones too.
    fn entries(&self, index: usize) -> usize {
        let tree = &self.table.indexes[index].tree;
        tree.check(self.engine.store()).records as usize
    }

    fn commit(&mut self) {
        self.engine.commit(&mut self.trx).unwrap();
        self.trx.restart(BeginOptions::default());
    }

    /// Nothing is left over once no thread reads.
    fn purge(&self) {
        self.engine.purge_step(usize::MAX).unwrap();
        let report = self.table.check(&self.engine).unwrap();
        assert_eq!((report.leftovers, report.problems), (0, vec![]));
    }

    fn own_by_k(&mut self) -> Vec<i32> {
        let view = self.trx.view();
        self.by_k(view)
    }

    fn by_k(&self, view: ReadView) -> Vec<i32> {
        let mut scan = Scan::open(&self.engine, &self.table, 1, view, KeyRange::all(), Direction::Forward)
            .unwrap()
            .detached();
        let mut found = Vec::new();
        while let Some(batch) = scan.next_batch().unwrap() {
            let k = |row: RowRef<'_>| value(&self.engine, &row, 1).unwrap().try_into().unwrap();
            found.extend(batch.rows().map(|row| i32::from_le_bytes(k(row))));
        }
        found
    }
}

#[test]
fn one_to_two_to_one_opens_a_new_entry_and_ends_with_one() {
    let mut case = case();
    let mut reader = case.engine.begin(BeginOptions::default());
    let old = reader.view();
    case.update(2, "a");
    case.update(1, "a");
    assert_eq!(case.entries(1), 3);
    case.update(2, "a");
    assert_eq!(case.entries(1), 3, "the entry it had closed itself is opened again");
    assert_eq!((case.by_k(old), case.own_by_k()), (vec![1], vec![2]));
    case.commit();
    assert_eq!((case.by_k(old), case.own_by_k()), (vec![1], vec![2]));
    drop(reader);
    case.commit();
    case.purge();
    assert_eq!(case.entries(1), 1);
}

#[test]
fn rolling_one_to_two_to_one_back_leaves_the_first_entry() {
    let mut case = case();
    case.update(2, "a");
    case.trx.set_savepoint("two");
    case.update(1, "a");
    case.update(2, "a");
    case.update(3, "a");
    case.engine.rollback_to_savepoint(&mut case.trx, "two").unwrap();
    assert_eq!(case.own_by_k(), [2]);
    assert_sound(&case.engine, &case.table);
    case.engine.rollback(&mut case.trx).unwrap();
    assert_eq!(case.entries(1), 1);
    assert_eq!(case.by_k(ReadView::newest()), [1]);
    case.purge();
}

#[test]
fn another_letter_case_is_another_entry_under_the_same_key() {
    let mut case = case();
    let mut reader = case.engine.begin(BeginOptions::default());
    let old = reader.view();
    case.update(1, "A");
    let covered = |case: &Case, view| {
        let mut scan = Scan::open(&case.engine, &case.table, 2, view, KeyRange::all(), Direction::Forward)
            .unwrap()
            .detached();
        let batch = scan.next_batch().unwrap().unwrap();
        assert_eq!(batch.len(), 1);
        value(&case.engine, &batch.row(0), 2).unwrap()
    };
    let own = case.trx.view();
    assert_eq!((covered(&case, old), covered(&case, own)), (b"a".to_vec(), b"A".to_vec()));
    case.commit();
    assert_eq!(covered(&case, old), b"a");
    case.engine.commit(&mut reader).unwrap();
    case.purge();
}

#[test]
fn a_key_deleted_and_inserted_again_shows_each_view_its_own_row() {
    let mut case = case();
    let mut reader = case.engine.begin(BeginOptions::default());
    let old = reader.view();
    delete(&case.engine, &case.table, &mut case.trx, 1).unwrap();
    case.commit();
    let mut between = case.engine.begin(BeginOptions::default());
    let gone = between.view();
    insert(&case.engine, &case.table, &mut case.trx, &Wide::new(1, 9, "z")).unwrap();
    case.commit();
    let new = case.trx.view();
    for (view, wanted) in
        [(old, vec![Wide::new(1, 1, "a")]), (gone, vec![]), (new, vec![Wide::new(1, 9, "z")])]
    {
        assert_eq!(rows(&case.engine, &case.table, view), wanted);
        assert_eq!(case.by_k(view), wanted.iter().filter_map(|row| row.k).collect::<Vec<_>>());
    }
    drop((reader, between));
    case.commit();
    case.purge();
}

#[test]
fn a_rollback_does_not_bring_back_a_delete_mark_that_purge_has_passed() {
    let mut case = case();
    delete(&case.engine, &case.table, &mut case.trx, 1).unwrap();
    case.commit();
    insert(&case.engine, &case.table, &mut case.trx, &Wide::new(1, 2, "b")).unwrap();
    case.engine.purge_step(usize::MAX).unwrap();
    case.engine.rollback(&mut case.trx).unwrap();
    let report = case.table.check(&case.engine).unwrap();
    assert_eq!((report.rows, report.leftovers, report.problems), (0, 0, vec![]));
    assert_eq!(case.table.row_count_estimate(), 0);
}

#[test]
fn a_change_over_an_unseen_version_is_found_through_its_own_entry_only() {
    let mut case = case();
    let mut other = case.engine.begin(BeginOptions::default());
    assert_eq!(rows(&case.engine, &case.table, case.trx.view()), [Wide::new(1, 1, "a")]);
    update(&case.engine, &case.table, &mut other, 1, &Wide::new(1, 2, "a")).unwrap();
    case.engine.commit(&mut other).unwrap();
    assert_eq!(case.own_by_k(), [1]);
    let c = Wide::new(1, 0, "c");
    c.with(|row| case.table.update(&case.engine, &mut case.trx, &key(1), row, &[2].into_iter().collect()))
        .unwrap();
    let view = case.trx.view();
    assert!(view.is_mixed());
    assert_eq!(rows(&case.engine, &case.table, view), [Wide::new(1, 2, "c")]);
    assert_eq!(case.by_k(view), [2]);
    case.commit();
    case.purge();
}

#[test]
fn a_dropped_transaction_is_rolled_back() {
    let mut case = case();
    case.update(5, "e");
    drop(case.trx);
    assert_eq!(rows(&case.engine, &case.table, ReadView::newest()), [Wide::new(1, 1, "a")]);
    let mut next = case.engine.begin(BeginOptions::default());
    assert!(delete(&case.engine, &case.table, &mut next, 1).unwrap());
}

#[test]
fn a_prober_keeps_to_its_view_on_a_copied_leaf() {
    let mut case = case();
    for id in 2..50 {
        insert(&case.engine, &case.table, &mut case.trx, &Wide::new(id, id, &format!("n{id}"))).unwrap();
    }
    case.commit();
    let mut reader = case.engine.begin(BeginOptions::default());
    let (engine, table) = (case.engine.clone(), case.table.clone());
    let mut prober = Prober::new(&engine, &table, 0, reader.view()).unwrap();
    for id in 1..10 {
        assert!(prober.get(&key(id)).unwrap().is_some());
    }
    for id in 2..50 {
        delete(&case.engine, &case.table, &mut case.trx, id).unwrap();
    }
    case.commit();
    for id in 2..50 {
        let row = prober.get(&key(id)).unwrap().map(|row| Wide::read(&case.engine, &row).id);
        assert_eq!(row, Some(id));
    }
    assert!(prober.get(&key(50)).unwrap().is_none());
}

#[test]
fn a_check_misses_an_entry_that_only_an_old_view_sees() {
    let mut case = case();
    case.commit();
    let mut reader =
        case.engine.begin(BeginOptions { isolation: Isolation::RepeatableRead, ..Default::default() });
    let _view = reader.view();
    case.update(2, "a");
    case.commit();
    assert_eq!(case.table.check(&case.engine).unwrap().problems, []);
    let index = &case.table.indexes[1];
    let store = case.engine.store();
    let closed = |at: &btree::Cursor<'_>| at.record().flags().has_end();
    let mut cursor = index.tree.seek(store, &[], btree::Seek::First).unwrap();
    while let Some(at) = cursor.take_if(|at| !closed(at)) {
        cursor = at.next().unwrap();
    }
    let mut key = Vec::new();
    cursor.unwrap().record().append_key(&mut key);
    let mut edit = index.tree.edit(store, &key, 0).unwrap();
    edit.remove();
    edit.commit();
    let problems = case.table.check(&case.engine).unwrap().problems;
    assert!(
        problems[0]
            .to_string()
            .starts_with("index k: has 0 entries for the row with clustered key 0x80000001")
    );
    assert_eq!(problems.len(), 1, "{problems:?}");
}
