//! Answers of statements that the server itself runs: OK, or a small table built in memory.

use std::borrow::Cow;

use types::{CollationId, DateTime, LobSize, SqlType, TypeKind};
use wire::row_binary::BinaryRow;
use wire::{
    BinaryDateTime, ColumnDefinition, ColumnType, OkPacket, OutBuffer, PacketReader, ResultCharset,
    ServerStatus, reply,
};

use crate::response;
use crate::session::Session;
use crate::show::definitions::Definition;
use crate::socket::Socket;

/// Where a statement's answer goes.
#[derive(Debug)]
pub struct Answer<'a> {
    /// Takes its packets.
    pub out: &'a mut OutBuffer,
    /// Where they are sent.
    pub socket: Socket<'a>,
    /// Reads what the client sends after the command; `None` where the packet of the command is still in use.
    pub reader: Option<&'a mut PacketReader>,
    /// Another statement's answer follows in the same packet train.
    pub more_results: bool,
    /// Rows in binary form (COM_STMT_EXECUTE).
    pub binary: bool,
}

/// A value of a [`Table`].
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// NULL.
    Null,
    /// Text.
    Text(String),
    /// Integer, in columns of an integer type.
    Int(i64),
    /// Date and time of day, in columns of type DATETIME and TIMESTAMP.
    DateTime(DateTime),
}

impl Cell {
    /// Text.
    pub fn text(value: impl Into<String>) -> Self {
        Cell::Text(value.into())
    }
}

/// A column of a [`Table`].
#[derive(Clone, Debug)]
pub struct Column {
    /// Name.
    pub name: Cow<'static, str>,
    /// Type.
    pub ty: SqlType,
    /// Type that is sent to the client.
    pub column_type: ColumnType,
    /// The definition that is sent in place of the column's own, where MySQL has another one.
    definition: Option<&'static Definition>,
}

impl Column {
    fn new(name: impl Into<Cow<'static, str>>, ty: SqlType) -> Self {
        let column_type = ColumnType::of(ty.kind);
        Column { name: name.into(), ty, column_type, definition: None }
    }

    fn of_text(name: impl Into<Cow<'static, str>>, kind: TypeKind, length: u32) -> Self {
        let collation = CollationId::UTF8MB4_0900_AI_CI;
        Column::new(name, SqlType { collation, ..SqlType::new(kind, length) })
    }

    /// VARCHAR of up to `chars` characters.
    pub fn text(name: impl Into<Cow<'static, str>>, chars: u32) -> Self {
        Column::of_text(name, TypeKind::VarChar, chars)
    }

    /// A name of a schema, table, column or the like.
    pub fn name(name: impl Into<Cow<'static, str>>) -> Self {
        Column::text(name, 64)
    }

    /// A name that differs from others by the case of its letters.
    pub(crate) fn exact_name(name: impl Into<Cow<'static, str>>) -> Self {
        let mut column = Column::name(name);
        column.ty.collation = CollationId::UTF8MB4_BIN;
        column
    }

    /// Text of any length that no table holds: clients get its length class.
    pub(crate) fn computed_text(name: &'static str) -> Self {
        Column { column_type: ColumnType::MediumBlob, ..Column::long_text(name) }
    }

    /// TEXT.
    pub(crate) fn long_text(name: &'static str) -> Self {
        Column::of_text(name, TypeKind::Text(LobSize::Medium), 0)
    }

    /// CHAR, for what MySQL declares as ENUM or SET.
    pub fn word(name: &'static str, chars: u32) -> Self {
        Column::of_text(name, TypeKind::Char, chars)
    }

    /// INT.
    pub fn int(name: &'static str) -> Self {
        Column::new(name, SqlType::new(TypeKind::Int, 11))
    }

    /// BIGINT.
    pub fn bigint(name: &'static str) -> Self {
        Column::new(name, SqlType::bigint())
    }

    /// BIGINT UNSIGNED.
    pub fn bigint_unsigned(name: &'static str) -> Self {
        Column::new(name, SqlType::bigint_unsigned())
    }

    /// DOUBLE.
    pub fn double(name: &'static str) -> Self {
        Column::new(name, SqlType::double())
    }

    /// DATETIME.
    pub fn datetime(name: &'static str) -> Self {
        Column::new(name, SqlType::new(TypeKind::DateTime, 19))
    }

    /// TIMESTAMP.
    pub fn timestamp(name: &'static str) -> Self {
        Column::new(name, SqlType::new(TypeKind::Timestamp, 19))
    }

    /// The definition that clients get, in a result set or in the answer to PREPARE.
    fn described(&self, charset: ResultCharset) -> ColumnDefinition<'_> {
        let own = ColumnDefinition::of_column(&self.name, &self.ty, charset);
        let Some(known) = self.definition else {
            return ColumnDefinition { column_type: self.column_type, ..own };
        };
        let text_collation = charset.collation.unwrap_or(CollationId::UTF8MB4_0900_AI_CI.0);
        let is_converted = known.is_text && u32::from(charset.max_bytes) != LISTED_CHAR_BYTES;
        let chars = known.length / LISTED_CHAR_BYTES;
        let length = if is_converted { chars * u32::from(charset.max_bytes) } else { known.length };
        let has_table = !known.table.is_empty();
        ColumnDefinition {
            schema: known.schema,
            table: known.table,
            org_table: known.org_table,
            name: &self.name,
            org_name: known.org_name.unwrap_or(if has_table { &self.name } else { "" }),
            collation: if known.is_text { text_collation } else { CollationId::BINARY.0 },
            length: if known.length == 0 { own.length } else { length },
            column_type: known.column_type,
            flags: known.flags,
            decimals: known.decimals,
        }
    }

    /// Whether values are sent in four bytes by the binary protocol.
    fn is_int(&self) -> bool {
        self.definition.map_or(self.ty.kind == TypeKind::Int, |known| known.column_type == ColumnType::Long)
    }

    /// A column of NULLs.
    pub fn null(name: &'static str) -> Self {
        Column::new(name, SqlType::null())
    }
}

/// Bytes of a character in the lengths of [`Definition`].
const LISTED_CHAR_BYTES: u32 = 4;

/// A small result set.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table.
    pub fn new(columns: Vec<Column>) -> Self {
        Table { columns, rows: Vec::new() }
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Sends clients `definitions`, by column.
    pub(crate) fn define(&mut self, definitions: &'static [Definition]) {
        for (column, definition) in self.columns.iter_mut().zip(definitions) {
            column.definition = Some(definition);
        }
    }

    /// The column definitions sent to clients.
    pub fn described(&self, charset: ResultCharset) -> Vec<ColumnDefinition<'_>> {
        self.columns.iter().map(|column| column.described(charset)).collect()
    }

    /// Adds a row; its cells are those of the columns, in order.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "cells and columns differ");
        self.rows.push(row);
    }

    /// Keeps the rows that `keep` accepts by the text of the column at `position`.
    pub(crate) fn retain_by(&mut self, position: usize, keep: impl Fn(&str) -> bool) {
        self.rows.retain(|row| matches!(row.get(position), Some(Cell::Text(text)) if keep(text)));
    }

    /// Keeps the rows that `keep` accepts, up to its first error.
    pub(crate) fn try_retain<E>(
        &mut self,
        mut keep: impl FnMut(&[Cell]) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut failed = None;
        self.rows.retain(|row| {
            failed.is_some()
                || keep(row).unwrap_or_else(|error| {
                    failed = Some(error);
                    false
                })
        });
        failed.map_or(Ok(()), Err)
    }

    /// Keeps `count` rows from row `offset` on.
    pub fn limit(&mut self, offset: usize, count: usize) {
        self.rows.drain(..offset.min(self.rows.len()));
        self.rows.truncate(count);
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }
}

impl Answer<'_> {
    /// Answers OK.
    pub fn ok(&mut self, session: &mut Session, ok: &OkPacket<'_>) {
        response::write_ok(session, self.out, ok, self.more_results);
    }

    /// Answers OK with nothing to say.
    pub(crate) fn plain_ok(&mut self, session: &mut Session) {
        session.row_count = 0;
        self.ok(session, &OkPacket::default());
    }

    /// Answers with a table; `warnings`: how many conditions the statement itself raised.
    pub fn table(&mut self, session: &mut Session, table: &Table, warnings: u16) {
        let capabilities = session.capabilities;
        let status = session.status().with(ServerStatus::MORE_RESULTS, self.more_results);
        let charset = session.variables.hot.results;
        let out = &mut *self.out;
        reply::write_column_count(out, table.columns.len());
        for column in &table.columns {
            column.described(charset).write(out);
        }
        reply::write_columns_end(out, capabilities, status, warnings);
        for row in &table.rows {
            if self.binary { write_binary_row(out, &table.columns, row) } else { write_text_row(out, row) }
        }
        reply::write_rows_end(out, capabilities, status, warnings);
        session.row_count = -1;
        session.found_rows = table.rows.len() as u64;
    }
}

fn write_text_row(out: &mut OutBuffer, row: &[Cell]) {
    out.begin_packet();
    for cell in row {
        match cell {
            Cell::Null => out.put_text_null(),
            Cell::Text(text) => out.put_lenenc_bytes(text.as_bytes()),
            Cell::Int(value) => out.put_text_i64(*value),
            Cell::DateTime(value) => {
                let mut text = Vec::new();
                value.write_to(0, &mut text);
                out.put_lenenc_bytes(&text);
            }
        }
    }
    out.end_packet();
}

fn write_binary_row(out: &mut OutBuffer, columns: &[Column], row: &[Cell]) {
    let packet = BinaryRow::begin(out, row.len());
    for (number, (cell, column)) in row.iter().zip(columns).enumerate() {
        match cell {
            Cell::Null => packet.put_null(out, number),
            Cell::Text(text) => out.put_lenenc_bytes(text.as_bytes()),
            Cell::Int(value) if column.is_int() => out.put_u32(*value as u32),
            Cell::Int(value) => out.put_u64(*value as u64),
            Cell::DateTime(value) => binary_datetime(*value).put(out),
        }
    }
    packet.end(out);
}

fn binary_datetime(value: DateTime) -> BinaryDateTime {
    let date = value.date();
    BinaryDateTime {
        year: date.year(),
        month: date.month(),
        day: date.day(),
        hour: value.hour(),
        minute: value.minute(),
        second: value.second(),
        micros: value.micro(),
    }
}
