//! Definition changes: names, limits, indexes, metadata locks.

use std::sync::Arc;
use std::time::Duration;

use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

use super::support::*;
use crate::*;

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_mins(1);

fn refused(def: types::TableDef) -> DefinitionError {
    let (engine, _disk) = engine();
    match engine.create_table(def) {
        Err(Error::Definition(error)) => *error,
        other => panic!("{other:?}"),
    }
}

fn ints(count: usize) -> Vec<types::ColumnDef> {
    (0..count).map(|i| ColumnDef::new(&format!("c{i}"), int(), false)).collect()
}

#[test]
fn names_that_are_missing_or_taken_are_refused() {
    let (engine, _disk) = engine();
    let name = |result: Result<()>| match result {
        Err(Error::Name(error)) => *error,
        other => panic!("{other:?}"),
    };
    let utf8 = CollationId::UTF8MB4_BIN;
    assert_eq!(name(engine.create_schema("s", utf8)), NameError::SchemaExists("s".into()));
    assert_eq!(name(engine.drop_schema("x", SHORT).map(drop)), NameError::NoSchemaToDrop("x".into()));
    assert_eq!(name(engine.tables("x").map(drop)), NameError::UnknownSchema("x".into()));
    engine.create_table(wide_def("t")).unwrap();
    assert_eq!(name(engine.create_table(wide_def("t")).map(drop)), NameError::TableExists("t".into()));
    let missing = NameError::NoSuchTable { schema: "s".into(), table: "T".into() };
    assert_eq!(name(engine.table("s", "T").map(drop)), missing);
    let missing = NameError::NoTableToDrop { schema: "s".into(), table: "x".into() };
    assert_eq!(name(engine.drop_table("s", "x", SHORT)), missing);
}

#[test]
fn words_of_a_definition_change_and_records_stay() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(1, 10, "a")).unwrap();
    engine.commit(&mut trx).unwrap();
    let mut def = (*table.def).clone();
    (def.columns[1].name, def.comment) = ("renamed".into(), "comment".into());
    def.indexes[1].name = "other".into();
    let alter = |table: &Table, def: &TableDef| {
        engine.alter_table(
            &table.def,
            Alteration { def: def.clone(), auto_increment: None },
            &BuildOptions::default(),
            SHORT,
        )
    };
    alter(&table, &def).unwrap();
    assert!(matches!(alter(&table, &def), Err(Error::TableChanged)));
    let table = engine.table("s", "t").unwrap();
    assert_eq!(table.find_index("other"), Some(1));
    assert_eq!((&*table.def.columns[1].name, &*table.def.comment), ("renamed", "comment"));
    assert_eq!(ids_by_index(&engine, &table, 1, ReadView::newest()), [1]);
    assert_sound(&engine, &table);
    assert_eq!(table.count_rows(&engine).unwrap(), 1);
    def.columns[0].name = "renamed".into();
    assert!(matches!(alter(&table, &def), Err(Error::Definition(_))));
    def.columns[0].ty = SqlType::bigint();
    assert!(matches!(alter(&table, &def), Err(Error::TableChanged)));
    assert!(engine.check_table("s", "t", SHORT, check::Depth::Full).unwrap().problems.is_empty());
}

#[test]
fn what_a_newer_server_says_of_a_table_stays_with_it() {
    let (engine, disk) = engine();
    let unknown = |tag| {
        let field = types::UnknownField { tag, bytes: b"from later"[..].into() };
        Some(Box::new(types::UnknownFields(vec![field])))
    };
    let mut def = wide_def("t");
    def.unknown = unknown(2);
    def.columns[1].unknown = unknown(4);
    def.columns[2].default = types::ColumnDefault::Expression("uuid()".into());
    def.indexes[1].unknown = unknown(6);
    let table = engine.create_table(def).unwrap();
    let name = |table| ("s", table);
    engine.rename_tables(&[(name("t"), name("t2"))], SHORT).unwrap();
    let mut altered = (*engine.table("s", "t2").unwrap().def).clone();
    altered.columns[1].name = "renamed".into();
    let old = engine.table("s", "t2").unwrap();
    let change = Alteration { def: altered, auto_increment: None };
    engine.alter_table(&old.def, change, &BuildOptions::default(), SHORT).unwrap();
    engine.shutdown().unwrap();
    drop((table, old, engine));
    let engine = Engine::open(config(&disk)).unwrap();
    let def = Arc::clone(&engine.table("s", "t2").unwrap().def);
    assert_eq!((&def.unknown, &def.columns[1].unknown), (&unknown(2), &unknown(4)));
    assert_eq!(def.indexes[1].unknown, unknown(6));
    assert_eq!((&*def.columns[1].name, def.columns[2].default_expression()), ("renamed", Some("uuid()")));
}

#[test]
fn limits_of_definitions_are_mysqls() {
    let primary = || vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])];
    let utf8 = CollationId::UTF8MB4_0900_AI_CI;
    assert_eq!(refused(TableDef::new("s", "t", ints(1018), primary())), DefinitionError::TooManyColumns);
    assert_eq!(refused(TableDef::new("s", "t", vec![], vec![])), DefinitionError::NoColumns);
    let keys = (0..65).map(|i| IndexDef::new(&format!("k{i}"), IndexKind::Secondary, &[0]));
    let def = TableDef::new("s", "t", ints(1), primary().into_iter().chain(keys).collect());
    assert_eq!(refused(def), DefinitionError::TooManyKeys { limit: 64 });
    let parts: Vec<u16> = (0..17).collect();
    let def = TableDef::new("s", "t", ints(17), vec![IndexDef::new("k", IndexKind::Secondary, &parts)]);
    assert_eq!(refused(def), DefinitionError::TooManyKeyParts { limit: 16 });
    let wide = vec![ColumnDef::new("a", SqlType::varchar(16_384, utf8), false)];
    assert_eq!(refused(TableDef::new("s", "t", wide, vec![])), DefinitionError::RowSize { limit: 65_535 });
    let long = vec![ColumnDef::new("a", SqlType::varchar(769, utf8), false)];
    let def = TableDef::new("s", "t", long, vec![IndexDef::new("k", IndexKind::Secondary, &[0])]);
    assert_eq!(refused(def), DefinitionError::KeyTooLong { limit: 3072 });
    let def = TableDef::new("s", "t", ints(1), vec![IndexDef::new("k", IndexKind::Secondary, &[7])]);
    assert_eq!(refused(def), DefinitionError::KeyColumnMissing { column: "7".into() });
    let def = TableDef::new(
        "s",
        "t",
        ints(1),
        vec![IndexDef::new("k", IndexKind::Secondary, &[0]), IndexDef::new("K", IndexKind::Unique, &[0])],
    );
    assert_eq!(refused(def), DefinitionError::DuplicateKeyName { name: "k".into() });
    let def = TableDef::new(
        "s",
        "t",
        vec![ColumnDef::new("a", int(), false), ColumnDef::new("A", int(), false)],
        vec![],
    );
    assert_eq!(refused(def), DefinitionError::DuplicateColumn { name: "A".into() });
    let two = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
        IndexDef::new("P2", IndexKind::Primary, &[0]),
    ];
    assert_eq!(refused(TableDef::new("s", "t", ints(1), two)), DefinitionError::MultiplePrimaryKeys);
    let mut def = TableDef::new("s", "t", ints(2), primary());
    def.columns[1].auto_increment = true;
    assert_eq!(refused(def), DefinitionError::AutoColumnNotKey);
    let blob = vec![ColumnDef::new("b", text(), false)];
    let def = TableDef::new("s", "t", blob, vec![IndexDef::new("k", IndexKind::Secondary, &[0])]);
    assert_eq!(refused(def), DefinitionError::BlobKeyWithoutLength { column: "b".into() });
}

#[test]
fn without_a_primary_key_a_not_null_unique_one_or_a_row_id_clusters() {
    let (engine, _disk) = engine();
    let columns = || vec![ColumnDef::new("a", int(), true), ColumnDef::new("b", int(), false)];
    let uniques =
        vec![IndexDef::new("ua", IndexKind::Unique, &[0]), IndexDef::new("ub", IndexKind::Unique, &[1])];
    let table = engine.create_table(TableDef::new("s", "t", columns(), uniques)).unwrap();
    assert_eq!((&*table.clustered().def.name, table.def.hidden_row_id), ("ub", false));
    let table = engine
        .create_table(TableDef::new(
            "s",
            "h",
            columns(),
            vec![IndexDef::new("k", IndexKind::Secondary, &[0])],
        ))
        .unwrap();
    assert!(table.def.hidden_row_id);
    let mut trx = engine.begin(BeginOptions::default());
    for n in 0..300i32 {
        let (a, b) = ((n % 5).to_le_bytes(), n.to_le_bytes());
        let row: [Option<&[u8]>; 2] = [(n % 7 != 0).then_some(&a[..]), Some(&b)];
        let outcome = table.insert(&engine, &mut trx, &row).unwrap();
        assert_eq!(outcome.row_id, Some(n as u64 + 1));
    }
    let zero = 0i32.to_le_bytes();
    let row: [Option<&[u8]>; 2] = [None, Some(&zero)];
    let key = 5u64.to_be_bytes()[2..].to_vec();
    assert_eq!(table.update(&engine, &mut trx, &key, &row, &ColumnSet::ALL).unwrap(), UpdateOutcome::Updated);
    assert!(table.delete(&engine, &mut trx, &6u64.to_be_bytes()[2..]).unwrap());
    engine.commit(&mut trx).unwrap();
    assert_sound(&engine, &table);
    engine.create_index("s", "h", IndexDef::new("kb", IndexKind::Secondary, &[1, 0]), LONG).unwrap();
    let table = engine.table("s", "h").unwrap();
    let report = table.check(&engine).unwrap();
    assert_eq!((report.rows, report.problems), (299, vec![]));
}

#[test]
fn an_index_is_built_from_the_rows_there_are() {
    let (engine, _disk) = engine();
    let mut def = wide_def("t");
    def.indexes.truncate(1);
    let table = engine.create_table(def).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..2000 {
        let body = (id % 400 == 0).then(|| "long ".repeat(2000 + id as usize));
        insert(
            &engine,
            &table,
            &mut trx,
            &Wide { body, ..Wide::new(id, (id * 7) % 50, &format!("n{}", 2000 - id)) },
        )
        .unwrap();
    }
    engine.commit(&mut trx).unwrap();
    let mut old = engine.begin(BeginOptions::default());
    let old_view = old.view();
    delete(&engine, &table, &mut trx, 1).unwrap_or_default();
    trx.restart(BeginOptions::default());
    delete(&engine, &table, &mut trx, 2).unwrap();
    engine.commit(&mut trx).unwrap();
    let version = engine.catalog_version();
    for index in &wide_def("t").indexes[1..] {
        engine.create_index("s", "t", index.clone(), SHORT).unwrap();
    }
    assert!(engine.catalog_version() > version && !table.is_current());
    let table = engine.table("s", "t").unwrap();
    assert_sound(&engine, &table);
    let too_old = Scan::open(&engine, &table, 1, old_view, KeyRange::all(), Direction::Forward);
    assert!(matches!(too_old, Err(Error::TableDefinitionChanged)));
    engine.rollback(&mut old).unwrap();
    assert_eq!(ids_by_index(&engine, &table, 1, old.view()).len(), rows(&engine, &table, old.view()).len());
    engine.drop_index("s", "t", "K", SHORT).unwrap();
    let table = engine.table("s", "t").unwrap();
    assert_eq!(table.indexes.len(), 3);
    assert_sound(&engine, &table);
    let missing = engine.drop_index("s", "t", "k", SHORT);
    assert!(
        matches!(missing, Err(Error::Definition(error)) if *error == DefinitionError::NoSuchKey { name: "k".into() })
    );
}

#[test]
fn a_unique_index_over_clashing_rows_is_refused_and_leaves_nothing() {
    let (engine, _disk) = engine();
    let mut def = wide_def("t");
    def.indexes.truncate(1);
    let table = engine.create_table(def).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for (id, c) in [(1, "b"), (2, "a"), (3, "A"), (4, "c")] {
        insert(&engine, &table, &mut trx, &Wide::new(id, 0, c)).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    let pages = engine.store().space_report().pages_used;
    let Err(Error::DuplicateKey(clash)) =
        engine.create_index("s", "t", IndexDef::new("u", IndexKind::Unique, &[2]), SHORT)
    else {
        panic!("a clash is refused")
    };
    assert_eq!((&*clash.table, &*clash.index), ("t", "u"));
    assert!(clash.parts[0].value.as_ref().unwrap().eq_ignore_ascii_case(b"a"));
    assert_eq!(engine.store().space_report().pages_used, pages);
    assert_eq!(engine.table("s", "t").unwrap().indexes.len(), 1);
}

#[test]
fn dropping_and_truncating_free_the_pages() {
    let (engine, _disk) = engine();
    let before = engine.store().space_report().pages_used;
    let fill = |table: &Arc<Table>| {
        let mut trx = engine.begin(BeginOptions::default());
        for id in 0..3000 {
            let body = (id % 100 == 0).then(|| "y".repeat(9000));
            insert(&engine, table, &mut trx, &Wide { body, ..Wide::new(id, id, &format!("c{id}")) }).unwrap();
        }
        engine.commit(&mut trx).unwrap();
    };
    let table = engine.create_table(wide_def("t")).unwrap();
    let empty = engine.store().space_report().pages_used;
    fill(&table);
    assert!(engine.store().space_report().pages_used > empty + 50);
    engine.truncate_table("s", "t", SHORT).unwrap();
    let table = engine.table("s", "t").unwrap();
    assert_eq!((rows(&engine, &table, ReadView::newest()).len(), table.row_count_estimate()), (0, 0));
    assert!(engine.store().space_report().pages_used <= empty + 4);
    fill(&table);
    assert_sound(&engine, &table);
    engine.drop_table("s", "t", SHORT).unwrap();
    assert!(engine.store().space_report().pages_used <= before + 4);
    assert!(engine.table("s", "t").is_err());
    engine.create_table(wide_def("a")).unwrap();
    engine.create_table(wide_def("b")).unwrap();
    assert_eq!(engine.drop_schema("s", SHORT).unwrap(), 2);
    assert!(engine.schemas().is_empty());
}

#[test]
fn a_snapshot_from_before_a_truncation_is_refused() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(1, 1, "a")).unwrap();
    engine.commit(&mut trx).unwrap();
    let mut reader = engine.begin(BeginOptions::default());
    let view = reader.view();
    trx.restart(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(2, 1, "b")).unwrap();
    engine.commit(&mut trx).unwrap();
    engine.truncate_table("s", "t", SHORT).unwrap();
    let table = engine.table("s", "t").unwrap();
    let scan = Scan::open(&engine, &table, 0, view, KeyRange::all(), Direction::Forward);
    assert!(matches!(scan, Err(Error::TableDefinitionChanged)));
    let row = table.get(&engine, &view, &key(1), |_| ());
    assert!(matches!(row, Err(Error::TableDefinitionChanged)));
    engine.commit(&mut reader).unwrap();
    reader.restart(BeginOptions::default());
    assert_eq!(rows(&engine, &table, reader.view()), []);
}

#[test]
fn a_renamed_table_keeps_its_rows_and_its_lock() {
    let (engine, _disk) = engine();
    engine.create_schema("other", CollationId::UTF8MB4_BIN).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    let table = engine.open_table(&mut trx, "s", &table.def.name).unwrap();
    insert(&engine, &table, &mut trx, &Wide::new(1, 1, "a")).unwrap();
    let waiting = engine.rename_table(("s", "t"), ("other", "u"), SHORT);
    assert!(matches!(waiting, Err(Error::Lock(trx::Error::LockWaitTimeout))));
    engine.commit(&mut trx).unwrap();
    engine.rename_table(("s", "t"), ("other", "u"), SHORT).unwrap();
    trx.restart(BeginOptions::default());
    assert!(!engine.lock_table(&mut trx, &table, trx::TableUse::Write).unwrap());
    assert!(engine.open_table(&mut trx, "s", "t").is_err());
    let table = engine.open_table(&mut trx, "other", "u").unwrap();
    assert_eq!(rows(&engine, &table, trx.view()), [Wide::new(1, 1, "a")]);
}

#[test]
fn objects_of_layers_above_come_back_by_kind_and_name() {
    let (engine, _disk) = engine();
    let long = vec![9; 20_000];
    engine.put_object("account", "root@localhost", b"one").unwrap();
    engine.put_object("account", "app@%", &long).unwrap();
    engine.put_object("view", "app@%", b"select").unwrap();
    assert_eq!(engine.get_object("account", "app@%").unwrap(), Some(long.clone()));
    assert_eq!(engine.get_object("account", "nobody").unwrap(), None);
    engine.put_object("account", "root@localhost", b"").unwrap();
    let accounts = engine.list_objects("account").unwrap();
    assert_eq!(accounts, [("app@%".to_owned(), long), ("root@localhost".to_owned(), vec![])]);
    assert!(engine.delete_object("account", "app@%").unwrap());
    assert!(!engine.delete_object("account", "app@%").unwrap());
}

#[test]
fn auto_increment_counts_on_and_stops_at_the_types_end() {
    let (engine, _disk) = engine();
    let mut def = TableDef::new("s", "t", ints(2), vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])]);
    def.columns[0].auto_increment = true;
    def.columns[0].ty = SqlType::new(TypeKind::TinyInt, 4);
    def.auto_increment_start = 5;
    let table = engine.create_table(def).unwrap();
    assert_eq!(table.reserve_auto_increment(&engine, 3, 0).unwrap(), 5);
    assert_eq!(table.reserve_auto_increment(&engine, 1, 100).unwrap(), 100);
    table.advance_auto_increment(&engine, 50).unwrap();
    assert_eq!(table.next_auto_increment(&engine).unwrap(), Some(101));
    assert!(matches!(table.reserve_auto_increment(&engine, 30, 0), Err(Error::AutoIncrementExhausted)));
    assert_eq!(table.reserve_auto_increment(&engine, 27, 0).unwrap(), 101);
    assert!(matches!(table.reserve_auto_increment(&engine, 1, 0), Err(Error::AutoIncrementExhausted)));
}

#[test]
fn numbers_at_the_types_end_are_fewer_and_the_last_is_taken_again() {
    let (engine, _disk) = engine();
    let mut def = TableDef::new("s", "t", ints(2), vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])]);
    def.columns[0].auto_increment = true;
    def.columns[0].ty = SqlType::new(TypeKind::TinyInt, 4);
    def.auto_increment_start = 120;
    let table = engine.create_table(def).unwrap();
    assert_eq!(table.take_auto_increment(&engine, 3, 0).unwrap(), 120);
    assert_eq!(table.take_auto_increment(&engine, 1, 125).unwrap(), 125);
    assert_eq!(table.take_auto_increment(&engine, 30, 0).unwrap(), 126);
    assert_eq!(table.next_auto_increment(&engine).unwrap(), Some(127));
    assert_eq!(table.take_auto_increment(&engine, 1, 0).unwrap(), 127);
    assert_eq!(table.take_auto_increment(&engine, 1, 0).unwrap(), 127);
    assert!(matches!(table.take_auto_increment(&engine, 1, 128), Err(Error::AutoIncrementExhausted)));
    assert_eq!(table.reserve_auto_increment(&engine, 1, 0).unwrap(), 127);
    assert_eq!(table.next_auto_increment(&engine).unwrap(), Some(127));
}

#[test]
fn a_row_whose_columns_end_beyond_all_offsets_is_refused() {
    let (engine, _disk) = engine();
    let ty = SqlType::new(TypeKind::Binary, 255);
    let columns = (0..257).map(|n| ColumnDef::new(&format!("c{n}"), ty.clone(), false)).collect();
    let table = engine.create_table(TableDef::new("s", "wide", columns, Vec::new())).unwrap();
    let bytes = [7; 255];
    let row = vec![Some(&bytes[..]); 257];
    let mut trx = engine.begin(BeginOptions::default());
    assert!(matches!(table.insert(&engine, &mut trx, &row), Err(Error::RowTooLarge { .. })));
    engine.commit(&mut trx).unwrap();
    assert_sound(&engine, &table);
}
