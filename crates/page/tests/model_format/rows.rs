//! The model's table and its row formats by version.

use std::collections::BTreeMap;

use base::prng::Prng;
use base::{ColumnId, IndexId, TableId};
use page::{RowFormat, RowRef};
use types::{
    CollationId, ColumnDef, ColumnDefault, IndexDef, IndexKind, KeyPart, SqlType, TableDef, TypeKind,
};

/// Storage bytes by column id.
pub(crate) type Row = BTreeMap<u16, Option<Vec<u8>>>;

/// The primary key: INT.
pub(crate) const ID: u16 = 1;
/// VARCHAR under a collation that ignores case; indexed.
pub(crate) const V: u16 = 2;
/// INT.
pub(crate) const N: u16 = 3;

/// One version of the table.
pub(crate) struct Version {
    pub(crate) table: TableDef,
    pub(crate) clustered: RowFormat,
    pub(crate) secondary: RowFormat,
}

/// All versions, and what rows older than a column show in it.
pub(crate) struct Versions {
    pub(crate) all: Vec<Version>,
    defaults: BTreeMap<u16, Option<Vec<u8>>>,
}

fn column(id: u16, ty: SqlType, nullable: bool) -> ColumnDef {
    ColumnDef {
        id: ColumnId(id),
        name: format!("c{id}").into(),
        ty,
        nullable,
        default: ColumnDefault::None,
        auto_increment: false,
        on_update_now: false,
        names_collation: false,
        unknown: None,
        invisible: false,
        comment: "".into(),
    }
}

fn index(id: u32, kind: IndexKind, column: u16) -> IndexDef {
    let parts = vec![KeyPart { column, prefix_len: None, desc: false }];
    IndexDef {
        id: IndexId(id),
        name: "".into(),
        kind,
        parts,
        comment: "".into(),
        names_btree: false,
        invisible: false,
        unknown: None,
    }
}

impl Versions {
    pub(crate) fn new() -> Versions {
        let text =
            SqlType { collation: CollationId::UTF8MB4_0900_AI_CI, ..SqlType::new(TypeKind::VarChar, 20) };
        let int = SqlType::new(TypeKind::Int, 11);
        let table = TableDef {
            id: TableId(1),
            schema: "s".into(),
            name: "t".into(),
            columns: vec![column(ID, int.clone(), false), column(V, text, true), column(N, int, true)],
            indexes: vec![index(64, IndexKind::Primary, 0), index(65, IndexKind::Secondary, 1)],
            hidden_row_id: false,
            collation: CollationId::UTF8MB4_0900_AI_CI,
            comment: "".into(),
            format_version: 0,
            auto_increment_start: 1,
            create_time: 0,
            hints: Box::default(),
            unknown: None,
        };
        let mut versions = Versions { all: Vec::new(), defaults: BTreeMap::new() };
        versions.push(table);
        versions
    }

    fn push(&mut self, mut table: TableDef) {
        table.format_version = self.all.len() as u16;
        let clustered = RowFormat::clustered(&table);
        let secondary = RowFormat::secondary(&table, &table.indexes[1]);
        self.all.push(Version { table, clustered, secondary });
    }

    pub(crate) fn now(&self) -> &Version {
        self.all.last().unwrap()
    }

    /// Adds a column at the end or in the middle; its id and default.
    pub(crate) fn add_column(&mut self, prng: &mut Prng) -> (u16, Option<Vec<u8>>) {
        let mut table = self.now().table.clone();
        let id = N + self.all.len() as u16;
        let default = (prng.below(2) == 0).then(|| 7i32.to_le_bytes().to_vec());
        let at = if prng.below(2) == 0 { 2 } else { table.columns.len() };
        table.columns.insert(at, column(id, SqlType::new(TypeKind::Int, 11), true));
        self.defaults.insert(id, default.clone());
        self.push(table);
        (id, default)
    }

    /// Drops the newest added column that is left.
    pub(crate) fn drop_column(&mut self) -> Option<u16> {
        let mut table = self.now().table.clone();
        let at = table.columns.iter().position(|column| column.id.0 > N)?;
        let id = table.columns.remove(at).id.0;
        self.push(table);
        Some(id)
    }

    pub(crate) fn default_of(&self, id: u16) -> Option<&[u8]> {
        self.defaults.get(&id)?.as_deref()
    }

    /// `row` by table position of the newest version.
    pub(crate) fn values<'r>(&self, row: &'r Row) -> Vec<Option<&'r [u8]>> {
        self.now().table.columns.iter().map(|column| row[&column.id.0].as_deref()).collect()
    }

    /// What a record of some version shows of the newest version's columns.
    pub(crate) fn row_of(&self, read: &RowRef<'_>, version: &Version) -> Row {
        let mut scratch = Vec::new();
        let mut row = Row::new();
        for column in &self.now().table.columns {
            let old = version.table.columns.iter().position(|old| old.id == column.id);
            let value = match old {
                Some(position) => read.column(position, &mut scratch).map(<[u8]>::to_vec),
                None => self.default_of(column.id.0).map(<[u8]>::to_vec),
            };
            row.insert(column.id.0, value);
        }
        row
    }
}
