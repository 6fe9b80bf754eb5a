//! Table, column and index definitions: plain data, shared by dictionary, planner and record templates.

use base::{ColumnId, IndexId, TableId};

use crate::{CollationId, SqlType, StorageHint};

/// Most bytes of the text of an expression in a definition, as information_schema shows it.
pub const EXPRESSION_BYTES_MAX: usize = 65_535;

/// The value of a column that an INSERT leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnDefault {
    /// No DEFAULT clause: error 1364 in strict mode when NOT NULL, else NULL.
    None,
    /// DROP DEFAULT of a column that may be NULL: error 1364 in strict mode all the same.
    Dropped,
    /// DEFAULT NULL.
    Null,
    /// A constant, as storage bytes of the column's type.
    Constant(Box<[u8]>),
    /// CURRENT_TIMESTAMP with the column's fractional digits.
    Now,
    /// An expression over the columns of the row, as SQL text that does not depend on any setting.
    Expression(Box<str>),
}

/// Properties that a newer server has given to a table, a column or an index, and that others may pass over:
/// they stay with the definition as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFields(pub Vec<UnknownField>);

/// One of [`UnknownFields`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// Its number in the dictionary.
    pub tag: u32,
    /// Its value.
    pub bytes: Box<[u8]>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDef {
    /// Stable id.
    pub id: ColumnId,
    /// Name as written.
    pub name: Box<str>,
    /// Type.
    pub ty: SqlType,
    /// Whether NULL may be stored.
    pub nullable: bool,
    /// Value when left out.
    pub default: ColumnDefault,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub on_update_now: bool,
    /// INVISIBLE: only statements that name it see it.
    pub invisible: bool,
    /// COMMENT.
    pub comment: Box<str>,
    /// CHARACTER SET or COLLATE was given. SHOW CREATE TABLE says them of these columns.
    pub names_collation: bool,
    /// What else a newer server says of it.
    pub unknown: Option<Box<UnknownFields>>,
}

impl ColumnDef {
    /// Whether an INSERT that leaves the column out has nothing for it.
    pub fn lacks_default(&self) -> bool {
        match self.default {
            ColumnDefault::None => !self.nullable,
            ColumnDefault::Dropped => true,
            _ => false,
        }
    }

    /// The text of the expression that is its default, if it is one.
    pub fn default_expression(&self) -> Option<&str> {
        match &self.default {
            ColumnDefault::Expression(text) => Some(text),
            _ => None,
        }
    }

    /// A column of which nothing but this is said.
    pub fn new(name: &str, ty: SqlType, nullable: bool) -> Self {
        ColumnDef {
            id: ColumnId(0),
            name: name.into(),
            ty,
            nullable,
            default: ColumnDefault::None,
            auto_increment: false,
            on_update_now: false,
            invisible: false,
            comment: "".into(),
            names_collation: false,
            unknown: None,
        }
    }
}

/// One column of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// Position of the column in [`TableDef::columns`].
    pub column: u16,
    /// Length of a prefix in characters (bytes for binary types); `None`: the whole column.
    pub prefix_len: Option<u16>,
    /// Descending.
    pub desc: bool,
}

/// The kind of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// The clustered index; its columns are NOT NULL.
    Primary,
    /// No two rows with equal, non-NULL keys.
    Unique,
    /// Neither.
    Secondary,
}

/// An index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDef {
    /// The tree.
    pub id: IndexId,
    /// Name; `PRIMARY` for the primary key.
    pub name: Box<str>,
    /// Promise.
    pub kind: IndexKind,
    /// Key columns as declared (the primary key's columns follow implicitly in secondary trees).
    pub parts: Vec<KeyPart>,
    /// COMMENT.
    pub comment: Box<str>,
    /// USING BTREE was given. All indexes are B-trees; SHOW CREATE TABLE says it of these.
    pub names_btree: bool,
    /// INVISIBLE: kept like the others, and no statement's rows are found by it.
    pub invisible: bool,
    /// What else a newer server says of it.
    pub unknown: Option<Box<UnknownFields>>,
}

impl IndexDef {
    /// An index on whole columns, ascending.
    pub fn new(name: &str, kind: IndexKind, columns: &[u16]) -> Self {
        let part = |&column: &u16| KeyPart { column, prefix_len: None, desc: false };
        IndexDef {
            id: IndexId(0),
            name: name.into(),
            kind,
            parts: columns.iter().map(part).collect(),
            comment: "".into(),
            names_btree: false,
            invisible: false,
            unknown: None,
        }
    }
}

/// A table. `indexes[0]` is always the clustered index: the primary key if declared, else the first UNIQUE
/// index whose columns are all NOT NULL (then `indexes[0].kind` is `Unique`), else a hidden row-id key
/// (`hidden_row_id`), whose `indexes[0]` has no parts and the reserved name `GEN_CLUST_INDEX`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDef {
    /// Stable id.
    pub id: TableId,
    /// Schema name.
    pub schema: Box<str>,
    /// Table name.
    pub name: Box<str>,
    /// Columns in order.
    pub columns: Vec<ColumnDef>,
    /// Indexes, the clustered one first.
    pub indexes: Vec<IndexDef>,
    /// The clustered key is an invisible 6-byte row id.
    pub hidden_row_id: bool,
    /// Default collation of the table.
    pub collation: CollationId,
    /// COMMENT.
    pub comment: Box<str>,
    /// Row format version: number of the record template, 1 for a table never altered.
    pub format_version: u16,
    /// AUTO_INCREMENT start value given at creation, 1 otherwise; the live counter is the engine's.
    pub auto_increment_start: u64,
    /// Seconds since 1970 of the last CREATE or ALTER.
    pub create_time: u64,
    /// Options that say how rows are stored, with their values, in order.
    pub hints: Box<[(StorageHint, u64)]>,
    /// What else a newer server says of it.
    pub unknown: Option<Box<UnknownFields>>,
}

impl TableDef {
    /// A table of which nothing but this is said. `indexes`: the clustered one first.
    pub fn new(schema: &str, name: &str, columns: Vec<ColumnDef>, indexes: Vec<IndexDef>) -> Self {
        TableDef {
            id: TableId(0),
            schema: schema.into(),
            name: name.into(),
            columns,
            indexes,
            hidden_row_id: false,
            collation: CollationId::UTF8MB4_0900_AI_CI,
            comment: "".into(),
            format_version: 1,
            auto_increment_start: 1,
            create_time: 0,
            hints: Box::default(),
            unknown: None,
        }
    }

    /// The clustered index.
    pub fn clustered(&self) -> &IndexDef {
        &self.indexes[0]
    }

    /// The parts of keys of the index at position `index`: those declared, and where it is not unique those
    /// of the clustered key after them.
    pub fn key_parts(&self, index: usize) -> impl Iterator<Item = &KeyPart> + Clone {
        let def = &self.indexes[index];
        let has_tail = index != 0 && def.kind == IndexKind::Secondary;
        let tail: &[KeyPart] = if has_tail { &self.clustered().parts } else { &[] };
        def.parts.iter().chain(tail)
    }

    /// Position of the column called `name`, without regard to case.
    pub fn find_column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name.eq_ignore_ascii_case(name))
    }

    /// Positions of the columns that are not INVISIBLE, in order.
    pub fn visible_columns(&self) -> impl Iterator<Item = u16> {
        let visible = self.columns.iter().enumerate().filter(|(_, column)| !column.invisible);
        visible.map(|(position, _)| position as u16)
    }

    /// The index called `name`, without regard to case.
    pub fn find_index(&self, name: &str) -> Option<&IndexDef> {
        self.indexes.iter().find(|i| i.name.eq_ignore_ascii_case(name))
    }

    /// The AUTO_INCREMENT column, if there is one.
    pub fn auto_increment_column(&self) -> Option<usize> {
        self.columns.iter().position(|c| c.auto_increment)
    }
}
