//! Transactions that commit with their only change: inserted, deleted and updated rows, against a map and
//! after a crash.

use std::collections::BTreeMap;

use base::prng::Prng;
use types::TableDef;

use super::support::*;
use crate::*;

const IDS: u64 = 40;

/// [`wide_def`] with its first `indexes` indexes alone.
fn def_of(indexes: usize) -> TableDef {
    let mut def = wide_def("t");
    def.indexes.truncate(indexes);
    def
}

/// A row whose `c` another row may have, and whose body may be off page.
fn some_row(prng: &mut Prng) -> Wide {
    let id = prng.below(IDS) as i32;
    let mut row = Wide::new(id, prng.below(5) as i32, &format!("c{}", prng.below(2 * IDS)));
    if prng.below(4) == 0 {
        row.body = Some("long".repeat(500 + prng.below(2000) as usize));
    }
    row
}

/// Whether no row has a key of `row`; `unique`: there is the index over `c`.
fn is_free(rows: &BTreeMap<i32, Wide>, row: &Wide, unique: bool) -> bool {
    rows.values().all(|other| other.id != row.id && !(unique && other.c == row.c))
}

#[test]
fn a_change_that_ends_its_transaction_commits_whole_or_not_at_all() {
    for indexes in 1..=4 {
        let (engine, disk) = engine();
        let table = engine.create_table(def_of(indexes)).unwrap();
        let (mut prng, mut model) = (Prng::new(indexes as u64), BTreeMap::new());
        let mut trx = engine.begin(BeginOptions::default());
        engine.commit(&mut trx).unwrap();
        let mut committed = 0;
        for round in 0..600 {
            trx.restart(BeginOptions::default());
            let writer = trx.begin_write().unwrap();
            trx.commit_with_change();
            let row = some_row(&mut prng);
            let (id, unique) = (prng.below(IDS) as i32, indexes > 2);
            match prng.below(3) {
                0 => {
                    let done = insert(&engine, &table, &mut trx, &row).is_ok();
                    assert_eq!(done, is_free(&model, &row, unique));
                    if done {
                        model.insert(row.id, row);
                    }
                }
                1 => {
                    let done = delete(&engine, &table, &mut trx, id).unwrap();
                    assert_eq!(done, model.remove(&id).is_some());
                }
                _ => match update(&engine, &table, &mut trx, id, &row) {
                    Ok(UpdateOutcome::Missing) => assert!(!model.contains_key(&id)),
                    Ok(_) => {
                        model.remove(&id).unwrap();
                        assert!(is_free(&model, &row, unique));
                        model.insert(row.id, row);
                    }
                    Err(_) => {
                        assert!(trx.committed().is_none());
                        let old = model.remove(&id).unwrap();
                        assert!(!is_free(&model, &row, unique));
                        model.insert(id, old);
                    }
                },
            }
            if trx.committed().is_some() {
                assert!(!engine.trx_system().is_in_progress(writer));
                committed += 1;
            }
            engine.commit(&mut trx).unwrap();
            assert_eq!(
                rows(&engine, &table, ReadView::newest()),
                model.values().cloned().collect::<Vec<_>>()
            );
            if round % 13 == 0 {
                engine.purge_step(3).unwrap();
            }
        }
        assert!(committed > 100, "{committed} of 600 changes committed");
        assert_sound(&engine, &table);
        drop(trx);
        // Nothing but the log has them.
        let (engine, table, mut trx) = open_crashed(&disk);
        let view = trx.view();
        assert_eq!(rows(&engine, &table, view), model.into_values().collect::<Vec<_>>());
    }
}
