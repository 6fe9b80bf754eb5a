//! What a crash between two steps of a DDL statement leaves.

use std::sync::Arc;

use base::IndexId;
use types::{IndexDef, IndexKind};

use super::support::*;
use crate::dictionary::Kind;
use crate::*;

fn pages_used(engine: &Engine) -> u64 {
    engine.store().space_report().pages_used
}

fn notes(engine: &Engine) -> usize {
    engine.dictionary.list(&engine.store, Kind::PendingTrees).unwrap().len()
}

fn fill(engine: &Arc<Engine>, table: &Table) {
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..300 {
        let body = (id % 20 == 0).then(|| "long ".repeat(3000));
        insert(engine, table, &mut trx, &Wide { body, ..Wide::new(id, id % 9, &format!("c{id}")) }).unwrap();
    }
    engine.commit(&mut trx).unwrap();
}

#[test]
fn no_definition_change_leaves_a_note() {
    let (engine, _disk) = engine();
    let wait = std::time::Duration::from_secs(1);
    let table = engine.create_table(wide_def("t")).unwrap();
    fill(&engine, &table);
    drop(table);
    engine.create_index("s", "t", IndexDef::new("kc", IndexKind::Secondary, &[1, 2]), wait).unwrap();
    engine.drop_index("s", "t", "k", wait).unwrap();
    engine.truncate_table("s", "t", wait).unwrap();
    engine.drop_table("s", "t", wait).unwrap();
    assert_eq!(notes(&engine), 0);
}

#[test]
fn notes_of_trees_that_a_change_made_and_the_next_gives_up_stand_side_by_side() {
    let (engine, _disk) = engine();
    let [old, new] = [[80, 81], [82, 83]].map(|ids| ids.map(IndexId));
    let truncated = [new, old].concat();
    engine.put_pending_trees(&truncated).unwrap();
    engine.put_pending_trees(&new).unwrap();
    assert_eq!(engine.dead_trees().unwrap(), truncated.iter().copied().collect());
    engine.forget_pending_trees(&new).unwrap();
    assert_eq!(engine.dead_trees().unwrap(), truncated.iter().copied().collect());
    engine.forget_pending_trees(&truncated).unwrap();
    assert_eq!(notes(&engine), 0);
}

#[test]
fn a_start_frees_the_trees_that_no_table_names_and_keeps_the_others() {
    let (engine, disk) = engine();
    let empty = pages_used(&engine);
    let table = engine.create_table(wide_def("t")).unwrap();
    fill(&engine, &table);
    // As if the server had ended before the note was forgotten: the table is defined.
    engine.put_pending_trees(&table.index_ids().collect::<Vec<_>>()).unwrap();
    let kept = pages_used(&engine);
    engine.shutdown().unwrap();
    drop((table, engine));
    let engine = Engine::open(config(&disk)).unwrap();
    assert_eq!((notes(&engine), pages_used(&engine)), (0, kept));
    let table = engine.table("s", "t").unwrap();
    assert_sound(&engine, &table);
    // As if it had ended before the trees were freed: the table is not defined any more.
    engine.put_pending_trees(&table.index_ids().collect::<Vec<_>>()).unwrap();
    engine.dictionary.delete(&engine.store, Kind::Table, &table.def.id.0.to_be_bytes()).unwrap();
    engine.dictionary.delete(&engine.store, Kind::Counters, &table.def.id.0.to_be_bytes()).unwrap();
    engine.change_catalog(|catalog| catalog.remove_table("s", "t"));
    engine.shutdown().unwrap();
    drop((table, engine));
    let engine = Engine::open(config(&disk)).unwrap();
    assert_eq!((notes(&engine), pages_used(&engine)), (0, empty));
}
