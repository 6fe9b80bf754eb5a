//! Locks in words, for the reports of SHOW ENGINE INNODB STATUS and the log.

use std::fmt::Write as _;
use std::ops::Bound;
use std::sync::Arc;

use engine::{Engine, KeyValue, LockMode, Table};
use trx::{LockInfo, LockKind};
use types::collation::{Charset, convert};
use types::{TimeZone, storage};

/// A lock and the names of what it is on.
pub(crate) struct NamedLock<'l> {
    lock: &'l LockInfo,
    /// Table, and position of the index; `None`: dropped since.
    place: Option<(Arc<Table>, usize)>,
}

impl<'l> NamedLock<'l> {
    pub(crate) fn new(engine: &Engine, lock: &'l LockInfo) -> Self {
        NamedLock { lock, place: engine.index_of(lock.index) }
    }

    /// The index's name.
    pub(crate) fn index_name(&self) -> &str {
        self.place.as_ref().map_or("", |(table, index)| &table.indexes[*index].def.name)
    }

    /// Schema and table.
    pub(crate) fn table_name(&self) -> Option<(String, String)> {
        let (table, _) = self.place.as_ref()?;
        Some((table.def.schema.to_string(), table.def.name.to_string()))
    }

    /// The locked object: the values of a key, or of both ends of a gap.
    pub(crate) fn data(&self) -> String {
        match &self.lock.kind {
            LockKind::Row { key, .. } | LockKind::Insert { key } => self.key(key),
            LockKind::Gap { lower, upper } => {
                let lower = match lower {
                    Bound::Unbounded => "(infimum".to_owned(),
                    Bound::Included(key) if key.is_empty() => "(infimum".to_owned(),
                    Bound::Included(key) => format!("[{}", self.key(key)),
                    Bound::Excluded(key) => format!("({}", self.key(key)),
                };
                let upper = match upper {
                    Bound::Unbounded => "supremum)".to_owned(),
                    Bound::Included(key) => format!("{}]", self.key(key)),
                    Bound::Excluded(key) => format!("{})", self.key(key)),
                };
                format!("{lower} .. {upper}")
            }
        }
    }

    fn key(&self, key: &[u8]) -> String {
        let Some((table, index)) = &self.place else { return hex(key) };
        let values = table.indexes[*index].key_values(table, key);
        let texts: Vec<String> = values.iter().map(value_text).collect();
        texts.join(", ")
    }

    /// MySQL's lines for such a lock, where they apply here.
    pub(crate) fn report(&self) -> String {
        let LockInfo { trx, kind, granted, .. } = self.lock;
        let what = match kind {
            LockKind::Row { mode: LockMode::Shared, .. } => "S locks rec but not gap",
            LockKind::Row { mode: LockMode::Exclusive, .. } => "X locks rec but not gap",
            LockKind::Gap { .. } => "X locks gap",
            LockKind::Insert { .. } => "X insert intention",
        };
        let table = match &self.place {
            Some((table, _)) => format!("`{}`.`{}`", table.def.schema, table.def.name),
            None => "(dropped)".to_owned(),
        };
        let mut text = format!("RECORD LOCKS index {} of table {table}", self.index_name());
        let _ = write!(text, " trx id {} lock_mode {what}", trx.0);
        text.push_str(if *granted { "\n" } else { " waiting\n" });
        let word = if matches!(kind, LockKind::Gap { .. }) { "Gap lock, keys" } else { "Record lock, key" };
        let _ = writeln!(text, "{word}: {}", self.data());
        text
    }
}

fn value_text(value: &KeyValue) -> String {
    let (ty, bytes) = match value {
        KeyValue::Null => return "NULL".to_owned(),
        KeyValue::RowId(id) => return id.to_string(),
        KeyValue::Bytes(bytes) => return hex(bytes),
        KeyValue::Value(ty, bytes) => (ty, bytes),
    };
    let mut text = Vec::new();
    storage::read(ty, bytes, &TimeZone::utc()).write_text(&mut text);
    if !ty.is_string() && ty.members.is_none() {
        return String::from_utf8_lossy(&text).into_owned();
    }
    if ty.charset() == Charset::Binary {
        return hex(&text);
    }
    let mut utf8 = Vec::new();
    let charset = if ty.is_string() { ty.charset() } else { Charset::Utf8mb4 };
    convert(charset, Charset::Utf8mb4, &text, &mut utf8);
    format!("'{}'", String::from_utf8_lossy(&utf8))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02X}"))
}
