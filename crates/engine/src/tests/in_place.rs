//! Rows that are updated in place, against the same rows taken out of their records; rows inserted with an
//! entry, against rows inserted before it; and changes that commit.

use std::sync::Arc;

use base::PageNo;
use base::prng::Prng;
use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef};

use super::support::*;
use crate::row::update_in_place::NEVER_IN_PLACE;
use crate::*;

const IDS: u64 = 400;

/// (id INT PRIMARY KEY, k INT, c VARCHAR(60), n INT, KEY k (k), KEY kn (n, k), KEY c (c)).
fn narrow_def() -> TableDef {
    let columns = vec![
        ColumnDef::new("id", int(), false),
        ColumnDef::new("k", int(), true),
        ColumnDef::new("c", SqlType::varchar(60, CollationId::UTF8MB4_0900_AI_CI), true),
        ColumnDef::new("n", int(), false),
    ];
    let indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
        IndexDef::new("k", IndexKind::Secondary, &[1]),
        IndexDef::new("nk", IndexKind::Secondary, &[3, 1]),
        IndexDef::new("c", IndexKind::Secondary, &[2]),
    ];
    TableDef::new("s", "narrow", columns, indexes)
}

/// Storage bytes of a row; `spread`: how many values of `k` there are.
fn row_of(prng: &mut Prng, id: i32, spread: u64) -> Vec<Option<Vec<u8>>> {
    let k = (prng.below(8) != 0).then(|| (prng.below(spread) as i32).to_le_bytes().to_vec());
    let name = ["anna", "ANNA", "bert", "longer than the others", ""][prng.below(5) as usize];
    let c = (prng.below(8) != 0).then(|| name.as_bytes().to_vec());
    vec![Some(id.to_le_bytes().to_vec()), k, c, Some((prng.below(3) as i32).to_le_bytes().to_vec())]
}

fn slices(row: &[Option<Vec<u8>>]) -> Vec<Option<&[u8]>> {
    row.iter().map(|value| value.as_deref()).collect()
}

/// Runs a stream of transactions, most of whose changes are updates, and shows the leaves of all indexes as
/// they are then: all but checksum and LSN.
fn run(seed: u64, in_place: bool) -> Vec<Vec<u8>> {
    NEVER_IN_PLACE.set(!in_place);
    let mut prng = Prng::new(seed);
    let (engine, _disk) = engine();
    let table = engine.create_table(narrow_def()).unwrap();
    let spread = 1 + prng.below(2000);
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..IDS as i32 {
        table.insert(&engine, &mut trx, &slices(&row_of(&mut prng, id, spread))).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    for _ in 0..300 {
        trx.restart(BeginOptions::default());
        for _ in 0..=prng.below(4) {
            let id = prng.below(IDS) as i32;
            let changed: ColumnSet = (0..4).filter(|_| prng.below(3) == 0).collect();
            let row = row_of(&mut prng, id, spread);
            match prng.below(8) {
                0 => drop(table.delete(&engine, &mut trx, &key(id)).unwrap()),
                1 => drop(table.insert(&engine, &mut trx, &slices(&row))),
                _ => drop(table.update(&engine, &mut trx, &key(id), &slices(&row), &changed).unwrap()),
            }
        }
        match prng.below(4) {
            0 => engine.rollback(&mut trx).unwrap(),
            _ => engine.commit(&mut trx).unwrap(),
        }
        if prng.below(10) == 0 {
            engine.purge_step(prng.below(5) as usize).unwrap();
        }
    }
    NEVER_IN_PLACE.set(false);
    assert_sound(&engine, &table);
    table.indexes.iter().flat_map(|index| leaves(&engine, index.tree.root)).collect()
}

fn leaves(engine: &Arc<Engine>, page: PageNo) -> Vec<Vec<u8>> {
    let guard = engine.store().pool().shared(page).unwrap();
    let page = guard.page();
    if page.is_leaf() {
        return vec![page.bytes()[16..].to_vec()];
    }
    let children: Vec<PageNo> = (0..page.count()).map(|slot| page.child(slot)).collect();
    children.into_iter().flat_map(|child| leaves(engine, child)).collect()
}

/// Entries that move within a leaf get there at once, and on two ways otherwise; a leaf may be split at
/// another moment then.
fn records(leaves: &[Vec<u8>]) -> Vec<(Vec<u8>, Vec<u8>, u16)> {
    let mut records = Vec::new();
    for leaf in leaves {
        let mut bytes = [0; page::PAGE_SIZE];
        bytes[16..].copy_from_slice(leaf);
        let page = page::PageRef::new(&bytes);
        for slot in 0..page.count() {
            let record = page.record(slot);
            records.push((page.key(slot), record.payload().to_vec(), record.flags().bits()));
        }
    }
    records
}

#[test]
fn a_row_changed_the_short_way_is_the_one_changed_the_long_way() {
    for seed in 0..6 {
        let (one, other) = (run(seed, true), run(seed, false));
        assert_eq!(records(&one), records(&other), "seed {seed}");
    }
}

#[test]
fn a_last_change_commits_its_transaction() {
    let (engine, disk) = engine();
    let table = engine.create_table(narrow_def()).unwrap();
    let (mut prng, changed) = (Prng::new(1), [1, 3].into_iter().collect());
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..20 {
        table.insert(&engine, &mut trx, &slices(&row_of(&mut prng, id, 9))).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    let mut committed = 0;
    let mut newest = vec![None; 20];
    for round in 0..100 {
        trx.restart(BeginOptions::default());
        let id = prng.below(20) as i32;
        let row = row_of(&mut prng, id, 9);
        let writer = trx.begin_write().unwrap();
        trx.commit_with_change();
        let outcome = table.update(&engine, &mut trx, &key(id), &slices(&row), &changed).unwrap();
        if trx.committed().is_some() {
            assert_eq!((outcome, trx.id()), (UpdateOutcome::Updated, None));
            assert!(!engine.trx_system().is_in_progress(writer), "it has ended with its change");
            committed += 1;
        }
        if outcome == UpdateOutcome::Updated {
            newest[id as usize] = Some(row);
        }
        engine.commit(&mut trx).unwrap();
        assert!(!trx.is_open() && trx.committed().is_none());
        if round % 7 == 0 {
            engine.purge_step(3).unwrap();
        }
    }
    assert!(committed > 30, "{committed} of 100 changes committed");
    assert_sound(&engine, &table);
    // Nothing but the log has them.
    drop(trx);
    let disk = Arc::new(disk.crash());
    let engine = Engine::open(config(&disk)).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    let table = engine.open_table(&mut trx, "s", "narrow").unwrap();
    assert_sound(&engine, &table);
    for (id, row) in newest.iter().enumerate() {
        let Some(row) = row else { continue };
        let view = trx.view();
        let found = table.get(&engine, &view, &key(id as i32), |found| {
            [1, 3].map(|position| value(&engine, &found, position))
        });
        assert_eq!(found.unwrap(), Some([row[1].clone(), row[3].clone()]), "row {id}");
    }
}

#[test]
fn a_change_that_fails_or_finds_nothing_commits_nothing() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(1, 1, "a")).unwrap();
    insert(&engine, &table, &mut trx, &Wide::new(2, 1, "b")).unwrap();
    engine.commit(&mut trx).unwrap();
    for (id, row, outcome) in [
        (7, Wide::new(7, 1, "c"), Some(UpdateOutcome::Missing)),
        (1, Wide::new(1, 1, "a"), Some(UpdateOutcome::Unchanged)),
        (1, Wide::new(1, 1, "b"), None),
    ] {
        trx.restart(BeginOptions::default());
        trx.commit_with_change();
        let done = update(&engine, &table, &mut trx, id, &row);
        assert_eq!((done.ok(), trx.committed()), (outcome, None));
        engine.rollback(&mut trx).unwrap();
    }
}

/// Ids by the index on `k`, in its order.
fn ids_by_k(engine: &Engine, table: &Table, view: ReadView) -> Vec<Vec<u8>> {
    let mut scan = Scan::open(engine, table, 1, view, KeyRange::all(), Direction::Forward).unwrap();
    let mut ids = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        for row in batch.rows() {
            ids.push(Vec::new());
            table.indexes[1].append_clustered_key(&row, ids.last_mut().unwrap());
        }
    }
    ids
}

#[test]
fn a_full_leaf_gives_up_the_entries_that_nobody_sees() {
    let (engine, _disk) = engine();
    let table = engine.create_table(narrow_def()).unwrap();
    let mut prng = Prng::new(3);
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..IDS as i32 {
        table.insert(&engine, &mut trx, &slices(&row_of(&mut prng, id, 1000))).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    let changed: ColumnSet = [1].into_iter().collect();
    let mut change_all = |rounds: u64| {
        for _ in 0..rounds * IDS {
            let id = prng.below(IDS) as i32;
            trx.restart(BeginOptions::default());
            let row = row_of(&mut prng, id, 1000);
            table.update(&engine, &mut trx, &key(id), &slices(&row), &changed).unwrap();
            engine.commit(&mut trx).unwrap();
        }
        leaves(&engine, table.indexes[1].tree.root).len()
    };
    let alone = change_all(20);
    assert!(alone <= 6, "{alone} leaves for {IDS} entries");
    let mut reader = engine.begin(BeginOptions::default());
    let view = reader.view();
    let before = ids_by_k(&engine, &table, view);
    let watched = change_all(20);
    assert!(watched > 3 * alone, "{watched} leaves for entries that are needed");
    assert_eq!(ids_by_k(&engine, &table, view), before);
    engine.commit(&mut reader).unwrap();
    assert_eq!(change_all(5), watched);
    assert_sound(&engine, &table);
    let purged = engine.purge_step(usize::MAX).unwrap();
    assert!(purged.removed < purged.transactions, "some had gone before: {purged:?}");
    assert_sound(&engine, &table);
}

#[test]
fn a_row_and_its_one_entry_change_in_one_frame() {
    let (engine, disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let row = |id: i32, k: i32| Wide::new(id, k, &format!("{id}"));
    let mut trx = engine.begin(BeginOptions::default());
    // Without assertions, the tree of the entries learns where its leaves are from some dozens on.
    for id in 0..if cfg!(debug_assertions) { 4_000 } else { 60_000 } {
        insert(&engine, &table, &mut trx, &row(id, 10 * id)).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    let changed: ColumnSet = [1].into_iter().collect();
    let mut change = |id: i32, k: i32| {
        trx.restart(BeginOptions::default());
        trx.commit_with_change();
        let frames = engine.store().log().stats().frames;
        row(id, k).with(|row| table.update(&engine, &mut trx, &key(id), row, &changed)).unwrap();
        let frames = engine.store().log().stats().frames - frames;
        assert!(trx.committed().is_some(), "row {id}");
        engine.commit(&mut trx).unwrap();
        frames
    };
    // After this number of descents the tree's leaf directory is built.
    (0..2000).for_each(|id| _ = change(id, 10 * id + 1));
    let frames: Vec<u64> = (2000..3000).map(|id| change(id, 10 * id + 1)).collect();
    let single = frames.iter().filter(|&&frames| frames == 1).count();
    assert!(single > 900, "{single} of 1000 changes took one frame");
    assert_eq!(change(3000, 7), 2, "the entry goes to another leaf");
    assert_sound(&engine, &table);
    drop(trx);
    let (engine, table, mut trx) = open_crashed(&disk);
    let view = trx.view();
    assert_eq!(rows(&engine, &table, view)[2500], row(2500, 25_001));
}

#[test]
fn a_new_row_and_its_one_entry_come_in_one_frame() {
    let (engine, disk) = engine();
    let mut def = wide_def("t");
    def.indexes.truncate(2);
    let table = engine.create_table(def).unwrap();
    let count = if cfg!(debug_assertions) { 4_000 } else { 60_000 };
    let row = |id: i32| Wide::new(id, id * 7 % count, &format!("{id}"));
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..count {
        insert(&engine, &table, &mut trx, &row(2 * id)).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    let mut add = |id: i32| {
        trx.restart(BeginOptions::default());
        trx.commit_with_change();
        let frames = engine.store().log().stats().frames;
        insert(&engine, &table, &mut trx, &row(id)).unwrap();
        let frames = engine.store().log().stats().frames - frames;
        assert!(trx.committed().is_some(), "row {id}");
        engine.commit(&mut trx).unwrap();
        frames
    };
    let mut prng = Prng::new(2);
    let mut ids: Vec<i32> = Vec::new();
    while ids.len() < 3000 {
        let id = 1 + 2 * prng.below(count as u64) as i32;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let (first, rest) = ids.split_at(1000);
    for &id in first {
        add(id);
    }
    let single = rest.iter().filter(|&&id| add(id) == 1).count();
    assert!(single > rest.len() * 3 / 4, "{single} of {} rows took one frame", rest.len());
    assert!(single < rest.len(), "a leaf that is full takes more");
    assert_sound(&engine, &table);
    drop(trx);
    let engine = Engine::open(config(&Arc::new(disk.crash()))).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    let table = engine.open_table(&mut trx, "s", "t").unwrap();
    assert_sound(&engine, &table);
    let view = trx.view();
    let found: Vec<i32> = rows(&engine, &table, view).iter().map(|row| row.id).collect();
    ids.extend((0..count).map(|id| 2 * id));
    ids.sort_unstable();
    assert_eq!(found, ids);
}
