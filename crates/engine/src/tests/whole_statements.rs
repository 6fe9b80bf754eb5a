//! A DDL statement on several tables, or with several actions, is done as a whole or not at all.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use base::sync::interrupt;
use env::{FaultKind, SimDisk};
use types::{CollationId, IndexDef, IndexKind};

use super::support::*;
use crate::dictionary::Kind;
use crate::*;

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_mins(1);

type Statement = fn(&Engine) -> Result<()>;

/// Statements that change more than one entry of the dictionary, or make and give up trees.
const STATEMENTS: [(&str, Statement); 6] = [
    ("names swapped", |engine| {
        let pairs = [(("s", "a"), ("s", "x")), (("s", "b"), ("s", "a")), (("s", "x"), ("s", "b"))];
        engine.rename_tables(&pairs, SHORT)
    }),
    ("tables dropped", |engine| engine.drop_tables(&[("s", "b"), ("s", "a"), ("s", "c")], SHORT)),
    ("a schema dropped", |engine| engine.drop_schema("s", SHORT).map(drop)),
    ("a table truncated", |engine| engine.truncate_table("s", "a", SHORT)),
    ("a table altered", |engine| {
        let old = engine.table("s", "a")?;
        let mut def = (*old.def).clone();
        def.indexes.retain(|index| &*index.name != "k");
        def.indexes.push(IndexDef::new("kc", IndexKind::Secondary, &[1, 2]));
        def.indexes.push(IndexDef::new("ck", IndexKind::Unique, &[2, 1]));
        (def.comment, def.name) = ("altered".into(), "altered".into());
        engine.alter_table(
            &old.def,
            Alteration { def, auto_increment: Some(5000) },
            &BuildOptions::default(),
            SHORT,
        )
    }),
    ("an index created", |engine| {
        engine.create_index("s", "a", IndexDef::new("kc", IndexKind::Secondary, &[1, 2]), SHORT)
    }),
];

/// The tables `a`, `b` and `c`, each with its name in its comment and a few rows.
fn make_tables(engine: &Arc<Engine>) {
    for (at, name) in ["a", "b", "c"].into_iter().enumerate() {
        let mut def = wide_def(name);
        def.columns[0].auto_increment = true;
        def.comment = name.into();
        let table = engine.create_table(def).unwrap();
        let mut trx = engine.begin(BeginOptions::default());
        for id in 0..20 + at as i32 {
            let body = (id == 7).then(|| "long ".repeat(3000));
            insert(engine, &table, &mut trx, &Wide { body, ..Wide::new(id, id % 4, &format!("c{id}")) })
                .unwrap();
        }
        engine.commit(&mut trx).unwrap();
        table.reserve_auto_increment(engine, 1, 100).unwrap();
    }
}

/// What there is: each table's name, comment, indexes, rows and next number. Tables are sound.
fn content(engine: &Arc<Engine>) -> Vec<String> {
    let Ok(tables) = engine.tables("s") else { return vec!["no schema".to_owned()] };
    let line = |table: Arc<Table>| {
        assert_sound(engine, &table);
        let indexes: Vec<&str> = table.def.indexes.iter().map(|index| &*index.name).collect();
        let rows = rows(engine, &table, ReadView::newest()).len();
        let next = table.next_auto_increment(engine).unwrap().unwrap();
        format!("{} {} {indexes:?} {rows} {}", table.def.name, table.def.comment, next / 4000)
    };
    tables.into_iter().map(line).collect()
}

/// Opens what a crash of `disk` leaves; returns its content once it was closed and checked.
fn content_after_crash(disk: &SimDisk) -> Vec<String> {
    let disk = Arc::new(disk.crash());
    let engine = Engine::open(config(&disk)).unwrap();
    let found = content(&engine);
    assert_eq!(engine.dictionary.list(&engine.store, Kind::PendingTrees).unwrap(), []);
    assert_eq!(engine.dictionary.list(&engine.store, Kind::Change).unwrap(), []);
    engine.shutdown().unwrap();
    drop(engine);
    assert_eq!(look_at(&disk).findings, []);
    found
}

#[test]
fn a_crash_at_any_operation_leaves_all_of_a_statement_or_nothing() {
    for (what, statement) in STATEMENTS {
        let mut seen = BTreeSet::new();
        for nth in 1.. {
            let disk = Arc::new(SimDisk::seeded(nth));
            let engine = Engine::open(config(&disk)).unwrap();
            engine.create_schema("s", CollationId::UTF8MB4_0900_AI_CI).unwrap();
            make_tables(&engine);
            let before = content(&engine);
            disk.schedule(None, nth, FaultKind::PowerOff);
            let done = statement(&engine);
            let after = if done.is_ok() { content(&engine) } else { Vec::new() };
            let was_cut = disk.is_powered_off();
            drop(engine);
            let found = content_after_crash(&disk);
            if done.is_ok() {
                assert_eq!(found, after, "{what}, done, operation {nth}");
            }
            seen.insert(found.clone());
            if !was_cut {
                assert!(done.is_ok() && found != before, "{what}: {done:?}");
                break;
            }
        }
        assert!(seen.len() <= 2, "{what} was found half done: {seen:?}");
    }
}

#[test]
fn a_crash_at_any_operation_leaves_all_objects_of_a_change_or_none() {
    let object = |name: &str, bytes: Option<&[u8]>| (name.to_owned(), bytes.map(<[u8]>::to_vec));
    let long = vec![9; 9000];
    let change = [object("a", None), object("b", Some(&long)), object("c", Some(b"new")), object("d", None)];
    let before = vec![("a".to_owned(), b"old".to_vec()), ("b".to_owned(), b"old".to_vec())];
    let after = vec![("b".to_owned(), long.clone()), ("c".to_owned(), b"new".to_vec())];
    for nth in 1.. {
        let disk = Arc::new(SimDisk::seeded(nth));
        let engine = Engine::open(config(&disk)).unwrap();
        for (name, bytes) in &before {
            engine.put_object("account", name, bytes).unwrap();
        }
        disk.schedule(None, nth, FaultKind::PowerOff);
        let done = engine.change_objects("account", &change);
        let was_cut = disk.is_powered_off();
        drop(engine);
        let crashed = Arc::new(disk.crash());
        let engine = Engine::open(config(&crashed)).unwrap();
        let found = engine.list_objects("account").unwrap();
        assert!(found == after || done.is_err() && found == before, "operation {nth}: {found:?}");
        if !was_cut {
            break;
        }
    }
}

#[test]
fn a_statement_that_fails_in_the_middle_has_done_nothing() {
    let (engine, _disk) = engine();
    make_tables(&engine);
    let before = content(&engine);
    let version = engine.catalog_version();
    let pages = engine.store().space_report().pages_used;
    let refused: [Statement; 6] = [
        |engine| engine.drop_tables(&[("s", "a"), ("s", "b"), ("s", "missing")], SHORT),
        |engine| engine.rename_tables(&[(("s", "a"), ("s", "x")), (("s", "b"), ("s", "c"))], SHORT),
        |engine| engine.rename_tables(&[(("s", "a"), ("s", "x")), (("s", "a"), ("s", "y"))], SHORT),
        |engine| engine.rename_tables(&[(("s", "a"), ("s", "x")), (("s", "b"), ("none", "b"))], SHORT),
        |engine| {
            let old = engine.table("s", "a")?;
            let mut def = (*old.def).clone();
            def.indexes.push(IndexDef::new("kc", IndexKind::Secondary, &[1, 2]));
            def.indexes.push(IndexDef::new("clash", IndexKind::Unique, &[1]));
            engine.alter_table(
                &old.def,
                Alteration { def, auto_increment: Some(5000) },
                &BuildOptions::default(),
                SHORT,
            )
        },
        |engine| {
            let old = engine.table("s", "a")?;
            let mut def = (*old.def).clone();
            def.indexes.remove(1);
            def.name = "b".into();
            engine.alter_table(
                &old.def,
                Alteration { def, auto_increment: None },
                &BuildOptions::default(),
                SHORT,
            )
        },
    ];
    for (at, statement) in refused.into_iter().enumerate() {
        assert!(matches!(statement(&engine), Err(Error::Name(_) | Error::DuplicateKey(_))), "{at}");
        assert_eq!((content(&engine), engine.catalog_version()), (before.clone(), version), "{at}");
        assert_eq!(engine.store().space_report().pages_used, pages, "{at}");
    }
    assert_eq!(engine.dictionary.list(&engine.store, Kind::PendingTrees).unwrap(), []);
}

#[test]
fn a_table_in_use_keeps_a_statement_on_several_from_all_of_them() {
    let (engine, _disk) = engine();
    make_tables(&engine);
    let before = content(&engine);
    let mut trx = engine.begin(BeginOptions::default());
    engine.open_table(&mut trx, "s", "b").unwrap();
    for (what, statement) in &STATEMENTS[..3] {
        let waited = statement(&engine);
        assert!(matches!(waited, Err(Error::Lock(trx::Error::LockWaitTimeout))), "{what}: {waited:?}");
        assert_eq!(content(&engine), before, "{what}");
        // The others are free.
        let mut other = engine.begin(BeginOptions::default());
        engine.open_table(&mut other, "s", "a").unwrap();
        engine.open_table(&mut other, "s", "c").unwrap();
    }
    engine.commit(&mut trx).unwrap();
    STATEMENTS[0].1(&engine).unwrap();
    assert_eq!(&*engine.table("s", "a").unwrap().def.comment, "b");
}

#[test]
fn a_session_that_is_asked_to_end_changes_nothing() {
    let (engine, _disk) = engine();
    make_tables(&engine);
    let before = content(&engine);
    interrupt::set_flag(Some(Arc::new(AtomicBool::new(true))));
    for (what, statement) in STATEMENTS {
        let done = statement(&engine);
        assert!(matches!(done, Err(Error::Lock(trx::Error::Interrupted))), "{what}: {done:?}");
    }
    interrupt::set_flag(None);
    assert_eq!(content(&engine), before);
}

#[test]
fn nobody_waits_for_a_sync_behind_a_statements_locks() {
    for (what, statement) in STATEMENTS {
        let (engine, disk) = engine();
        make_tables(&engine);
        let before = content(&engine);
        let syncs = disk.count(env::IoOp::Sync);
        disk.hold_syncs(true);
        let done = std::thread::scope(|scope| {
            let thread = scope.spawn(|| statement(&engine));
            while disk.count(env::IoOp::Sync) == syncs {
                assert!(!thread.is_finished(), "{what} has not synced");
                std::thread::sleep(Duration::from_millis(1));
            }
            let mut trx = engine.begin(BeginOptions { metadata_wait: SHORT, ..BeginOptions::default() });
            let used = engine.tables("s").map(|tables| {
                let names = tables.iter().map(|table| table.def.name.clone());
                names.map(|name| engine.open_table(&mut trx, "s", &name)).collect::<Result<Vec<_>>>()
            });
            disk.hold_syncs(false);
            engine.rollback(&mut trx).unwrap();
            assert!(!matches!(used, Ok(Err(_))), "{what}: {used:?}");
            thread.join().unwrap()
        });
        done.unwrap();
        assert_ne!(content(&engine), before, "{what}");
    }
}

#[test]
fn statements_on_the_same_tables_in_any_order_wait_for_each_other_and_end() {
    let (engine, _disk) = engine();
    make_tables(&engine);
    let swaps = [["a", "b", "x"], ["b", "a", "y"], ["c", "a", "z"]];
    let threads: Vec<_> = swaps
        .into_iter()
        .map(|[one, other, between]| {
            let engine = Arc::clone(&engine);
            std::thread::spawn(move || {
                for _ in 0..40 {
                    let pairs = [
                        (("s", one), ("s", between)),
                        (("s", other), ("s", one)),
                        (("s", between), ("s", other)),
                    ];
                    engine.rename_tables(&pairs, LONG).unwrap();
                }
            })
        })
        .collect();
    let mut trx = engine.begin(BeginOptions::default());
    while threads.iter().any(|thread| !thread.is_finished()) {
        // Whoever has one of the tables sees each of the others by its name.
        let comments: BTreeSet<Box<str>> = ["b", "a", "c"]
            .map(|name| engine.open_table(&mut trx, "s", name).unwrap().def.comment.clone())
            .into();
        assert_eq!(comments.len(), 3);
        engine.commit(&mut trx).unwrap();
        trx.restart(BeginOptions::default());
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_schema_of_many_tables_is_dropped_as_one() {
    let (engine, disk) = engine();
    let empty = engine.store().space_report().pages_used;
    for number in 0..400 {
        engine.create_table(wide_def(&format!("t{number}"))).unwrap();
    }
    engine.shutdown().unwrap();
    drop(engine);
    let engine = Engine::open(config(&disk)).unwrap();
    let version = engine.catalog_version();
    assert_eq!(engine.drop_schema("s", LONG).unwrap(), 400);
    assert_eq!(engine.catalog_version(), version + 1);
    assert!(engine.store().space_report().pages_used <= empty + 4);
    engine.shutdown().unwrap();
    drop(engine);
    assert_eq!(look_at(&disk).findings, []);
}
