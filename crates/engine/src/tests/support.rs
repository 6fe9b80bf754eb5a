//! Engines and tables for tests: one table shape, rows as vectors.

use std::ops::Bound;
use std::sync::{Arc, Mutex};

use env::SimDisk;
use types::{CollationId, ColumnDef, IndexDef, IndexKind, LobSize, SqlType, TableDef, TypeKind};

use crate::*;

pub(crate) fn config(disk: &Arc<SimDisk>) -> EngineConfig {
    let disk: Arc<dyn env::Disk> = Arc::clone(disk) as _;
    EngineConfig { pool_bytes: 32 << 20, background: false, ..EngineConfig::new(disk, "/data") }
}

/// As [`config`], with a log so small that a checkpoint does not keep it for purge.
pub(super) fn small_log(disk: &Arc<SimDisk>) -> EngineConfig {
    let log = LogConfig { capacity_bytes: 1 << 20, buffer_bytes: 64 << 10, file_bytes_min: 64 << 10 };
    EngineConfig { log, ..config(disk) }
}

/// Keeps the lines that an engine reports.
#[derive(Debug, Default)]
pub(super) struct StartupLines(pub(super) Mutex<Vec<String>>);

impl StartupLog for StartupLines {
    fn note(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_owned());
    }
}

/// A new engine with the schema `s`, and its disk.
pub(super) fn engine() -> (Arc<Engine>, Arc<SimDisk>) {
    let disk = Arc::new(SimDisk::new());
    let engine = Engine::open(config(&disk)).unwrap();
    engine.create_schema("s", CollationId::UTF8MB4_0900_AI_CI).unwrap();
    (engine, disk)
}

pub(super) fn int() -> SqlType {
    SqlType::new(TypeKind::Int, 11)
}

pub(super) fn text() -> SqlType {
    SqlType { collation: CollationId::UTF8MB4_0900_AI_CI, ..SqlType::new(TypeKind::Text(LobSize::Long), 0) }
}

/// (id INT PRIMARY KEY, k INT, c VARCHAR(60), body LONGTEXT, KEY k (k), UNIQUE u (c), KEY b (body(20))).
pub(super) fn wide_def(name: &str) -> TableDef {
    let columns = vec![
        ColumnDef::new("id", int(), false),
        ColumnDef::new("k", int(), true),
        ColumnDef::new("c", SqlType::varchar(60, CollationId::UTF8MB4_0900_AI_CI), true),
        ColumnDef::new("body", text(), true),
    ];
    let mut body = IndexDef::new("b", IndexKind::Secondary, &[3]);
    body.parts[0].prefix_len = Some(20);
    let indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
        IndexDef::new("k", IndexKind::Secondary, &[1]),
        IndexDef::new("u", IndexKind::Unique, &[2]),
        body,
    ];
    TableDef::new("s", name, columns, indexes)
}

/// A row of [`wide_def`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wide {
    pub(super) id: i32,
    pub(super) k: Option<i32>,
    pub(super) c: Option<String>,
    pub(super) body: Option<String>,
}

impl Wide {
    pub(super) fn new(id: i32, k: i32, c: &str) -> Self {
        Wide { id, k: Some(k), c: Some(c.into()), body: None }
    }

    pub(super) fn with<R>(&self, f: impl FnOnce(&[Option<&[u8]>]) -> R) -> R {
        let (id, k) = (self.id.to_le_bytes(), self.k.map(i32::to_le_bytes));
        let text = |value: &Option<String>| value.clone().map(String::into_bytes);
        let (c, body) = (text(&self.c), text(&self.body));
        f(&[Some(&id), k.as_ref().map(|k| &k[..]), c.as_deref(), body.as_deref()])
    }

    /// [`Wide::with`] of several rows at once, as a batch takes them.
    pub(super) fn with_all<R>(rows: &[Wide], f: impl FnOnce(&[&[Option<&[u8]>]]) -> R) -> R {
        let owned: Vec<Vec<Option<Vec<u8>>>> = rows
            .iter()
            .map(|row| row.with(|row| row.iter().map(|v| v.map(<[u8]>::to_vec)).collect()))
            .collect();
        let rows: Vec<Vec<Option<&[u8]>>> =
            owned.iter().map(|row| row.iter().map(|value| value.as_deref()).collect()).collect();
        f(&rows.iter().map(|row| &row[..]).collect::<Vec<_>>())
    }

    pub(super) fn read(engine: &Engine, row: &RowRef<'_>) -> Self {
        let int = |bytes: Vec<u8>| i32::from_le_bytes(bytes.try_into().unwrap());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Wide {
            id: int(value(engine, row, 0).unwrap()),
            k: value(engine, row, 1).map(int),
            c: value(engine, row, 2).map(text),
            body: value(engine, row, 3).map(text),
        }
    }
}

/// A column's storage bytes, off-page values read in.
pub(super) fn value(engine: &Engine, row: &RowRef<'_>, position: usize) -> Option<Vec<u8>> {
    match row.field(position, &mut Vec::new()) {
        Field::Null => None,
        Field::Bytes(bytes) => Some(bytes.to_vec()),
        Field::OffPage(reference) => {
            let mut out = Vec::new();
            engine.read_value(&reference, &mut out).unwrap();
            Some(out)
        }
    }
}

pub(super) fn key(id: i32) -> Vec<u8> {
    (id as u32 ^ 0x8000_0000).to_be_bytes().to_vec()
}

pub(super) fn insert(engine: &Engine, table: &Table, trx: &mut Trx, row: &Wide) -> Result<()> {
    row.with(|row| table.insert(engine, trx, row)).map(drop)
}

pub(super) fn update(
    engine: &Engine,
    table: &Table,
    trx: &mut Trx,
    id: i32,
    row: &Wide,
) -> Result<UpdateOutcome> {
    row.with(|row| table.update(engine, trx, &key(id), row, &ColumnSet::ALL))
}

pub(super) fn delete(engine: &Engine, table: &Table, trx: &mut Trx, id: i32) -> Result<bool> {
    table.delete(engine, trx, &key(id))
}

/// All rows that `view` sees, through the clustered index, in its order.
pub(super) fn rows(engine: &Engine, table: &Table, view: ReadView) -> Vec<Wide> {
    rows_in(engine, table, view, KeyRange::all(), Direction::Forward)
}

pub(super) fn rows_in(
    engine: &Engine,
    table: &Table,
    view: ReadView,
    range: KeyRange,
    direction: Direction,
) -> Vec<Wide> {
    let mut scan = Scan::open(engine, table, 0, view, range, direction).unwrap().detached();
    let mut rows = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        rows.extend(batch.rows().map(|row| Wide::read(engine, &row)));
    }
    rows
}

/// Clustered keys of the rows that `view` sees through a secondary index, by id.
pub(super) fn ids_by_index(engine: &Engine, table: &Table, index: usize, view: ReadView) -> Vec<i32> {
    let mut scan = Scan::open(engine, table, index, view, KeyRange::all(), Direction::Forward).unwrap();
    let mut ids = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        for row in batch.rows() {
            let mut key = Vec::new();
            table.indexes[index].append_clustered_key(&row, &mut key);
            ids.push((u32::from_be_bytes(key.try_into().unwrap()) ^ 0x8000_0000) as i32);
        }
    }
    ids.sort_unstable();
    ids
}

pub(super) fn between(from: i32, to: i32) -> KeyRange {
    KeyRange::new(Bound::Included(&key(from)), Bound::Included(&key(to)))
}

/// What `ratchet check` would find.
pub(super) fn look_at(disk: &Arc<SimDisk>) -> check::FileReport {
    let disk: Arc<dyn env::Disk> = Arc::clone(disk) as _;
    check::check_datadir(disk, "/data".as_ref(), 8 << 20, &mut |_| {}).unwrap()
}

/// The engine that a crash of `disk` leaves, and its table `s.t`, which is sound, with a transaction that
/// uses it.
pub(super) fn open_crashed(disk: &SimDisk) -> (Arc<Engine>, Arc<Table>, Trx) {
    let engine = Engine::open(config(&Arc::new(disk.crash()))).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    let table = engine.open_table(&mut trx, "s", "t").unwrap();
    assert_sound(&engine, &table);
    (engine, table, trx)
}

pub(super) fn assert_sound(engine: &Engine, table: &Table) {
    let report = table.check(engine).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}
