//! A table made through the engine itself, for targets that need transactions which stay open.

use std::path::Path;
use std::sync::Arc;

use engine::{ColumnSet, Direction, Engine, EngineConfig, KeyRange, LogConfig, Scan, Table};
use env::SimDisk;
use page::{Field, RowRef};
use trx::{ReadView, Trx};
use types::{CollationId, ColumnDef, IndexDef, IndexKind, LobSize, SqlType, TableDef, TypeKind};

use crate::mounted::DATADIR;

/// Opens the data directory of `disk`, or makes one. No thread works in the background, and copies of pages
/// that would undo damage are not used.
pub(crate) fn open(disk: &SimDisk) -> engine::Result<Arc<Engine>> {
    let log = LogConfig { capacity_bytes: 8 << 20, buffer_bytes: 1 << 20, ..LogConfig::default() };
    Engine::open(EngineConfig {
        pool_bytes: 8 << 20,
        background: false,
        doublewrite: false,
        log,
        ..EngineConfig::new(Arc::new(disk.clone()), DATADIR)
    })
}

/// Makes `f.t`: (id INT PRIMARY KEY, k INT, c VARCHAR(60), body LONGTEXT, KEY k (k), KEY c (c)).
pub(crate) fn make_table(engine: &Arc<Engine>) -> Arc<Table> {
    let (int, text) = (SqlType::new(TypeKind::Int, 11), CollationId::UTF8MB4_0900_AI_CI);
    let long = SqlType { collation: text, ..SqlType::new(TypeKind::Text(LobSize::Long), 0) };
    let columns = vec![
        ColumnDef::new("id", int.clone(), false),
        ColumnDef::new("k", int, true),
        ColumnDef::new("c", SqlType::varchar(60, text), true),
        ColumnDef::new("body", long, true),
    ];
    let indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
        IndexDef::new("k", IndexKind::Secondary, &[1]),
        IndexDef::new("c", IndexKind::Secondary, &[2]),
    ];
    engine.create_schema("f", text).expect("a new schema");
    engine.create_table(TableDef::new("f", "t", columns, indexes)).expect("a new table")
}

/// A row, as text of `body_bytes` bytes and numbers that come from its id and `version`.
pub(crate) fn put(engine: &Engine, table: &Table, trx: &mut Trx, id: i32, version: i32, body_bytes: usize) {
    let (stored, k) = (id.to_le_bytes(), (id * 3 + version).to_le_bytes());
    let c = format!("text {version} of {id}").into_bytes();
    let body = vec![b'a' + (version % 26) as u8; body_bytes];
    let row = [Some(&stored[..]), (id % 5 > 0).then_some(&k[..]), Some(&c[..]), Some(&body[..])];
    let put = match version {
        0 => table.insert(engine, trx, &row).map(drop),
        _ => table.update(engine, trx, &key(id), &row, &ColumnSet::ALL).map(drop),
    };
    put.expect("a row that can be put");
}

/// The clustered key of a row.
pub(crate) fn key(id: i32) -> [u8; 4] {
    (id as u32 ^ 1 << 31).to_be_bytes()
}

/// Reads all rows that `view` sees by the index at `position`; how many, and the sum of their bytes.
pub(crate) fn read_all(
    engine: &Engine,
    table: &Table,
    position: usize,
    view: ReadView,
) -> engine::Result<(usize, u64)> {
    let mut scan = Scan::open(engine, table, position, view, KeyRange::all(), Direction::Forward)?.detached();
    let (mut rows, mut sum, mut bytes) = (0, 0, Vec::new());
    while let Some(batch) = scan.next_batch()? {
        for row in batch.rows() {
            rows += 1;
            let columns = (0..4).filter(|&column| table.indexes[position].format.covers(column));
            for column in columns {
                bytes.clear();
                read_column(engine, &row, column, &mut bytes)?;
                sum = bytes.iter().fold(sum, |sum: u64, &byte| sum.wrapping_mul(31) + u64::from(byte));
            }
        }
    }
    Ok((rows, sum))
}

fn read_column(engine: &Engine, row: &RowRef<'_>, column: usize, out: &mut Vec<u8>) -> engine::Result<()> {
    match row.field(column, &mut Vec::new()) {
        Field::Null => Ok(()),
        Field::Bytes(bytes) => {
            out.extend_from_slice(bytes);
            Ok(())
        }
        Field::OffPage(reference) => engine.read_value(&reference, out),
    }
}

/// A path in the data directory.
pub(crate) fn path(name: &str) -> std::path::PathBuf {
    Path::new(DATADIR).join(name)
}
