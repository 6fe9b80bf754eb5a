//! Answers of statements that the server itself runs: OK, or a small table built in memory.

use types::SqlType;
use wire::row_binary::BinaryRow;
use wire::{ColumnDefinition, OkPacket, ResultCharset, ServerStatus, reply};

use crate::client_io::ClientIo;
use crate::commands;
use crate::session::Session;

/// Where a statement's answer goes.
#[derive(Debug)]
pub struct Answer<'a> {
    /// The connection.
    pub io: &'a mut ClientIo,
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
    /// Integer, in columns of type BIGINT.
    Int(i64),
}

/// A small result set.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(&'static str, SqlType)>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table of text columns, except those whose names begin with `#`, which hold integers.
    pub fn new(columns: &[&'static str]) -> Self {
        let column = |name: &&'static str| match name.strip_prefix('#') {
            Some(name) => (name, SqlType::bigint()),
            None => (*name, SqlType::varchar(1024, types::CollationId::UTF8MB4_0900_AI_CI)),
        };
        Table { columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row; its cells are those of the columns, in order.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "cells and columns differ");
        self.rows.push(row);
    }

    /// Keeps the rows that `keep` accepts by the text of their first column.
    pub fn retain_by_first(&mut self, keep: impl Fn(&str) -> bool) {
        self.rows.retain(|row| matches!(row.first(), Some(Cell::Text(text)) if keep(text)));
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
        commands::write_ok(session, &mut self.io.out, ok, self.more_results);
    }

    /// Answers OK with nothing to say.
    pub fn plain_ok(&mut self, session: &mut Session) {
        session.row_count = 0;
        self.ok(session, &OkPacket::default());
    }

    /// Answers with a table.
    pub fn table(&mut self, session: &mut Session, table: &Table) {
        let capabilities = session.capabilities;
        let status = session.status().with(ServerStatus::MORE_RESULTS, self.more_results);
        let warnings = session.diagnostics.packet_count();
        let charset = result_charset(session);
        let out = &mut self.io.out;
        reply::write_column_count(out, table.columns.len());
        for (name, ty) in &table.columns {
            ColumnDefinition::of_type(name, ty, charset).write(out);
        }
        reply::write_columns_end(out, capabilities, status, warnings);
        for row in &table.rows {
            if self.binary { write_binary_row(out, row) } else { write_text_row(out, row) }
        }
        reply::write_rows_end(out, capabilities, status, warnings);
        session.row_count = -1;
        session.found_rows = table.rows.len() as u64;
    }
}

/// What `character_set_results` asks for.
pub fn result_charset(session: &Session) -> ResultCharset {
    match session.variables.hot.charset_results {
        Some(charset) => ResultCharset {
            collation: Some(charset.default_collation().0),
            max_bytes: charset.max_char_bytes() as u8,
        },
        None => ResultCharset { collation: None, max_bytes: 4 },
    }
}

fn write_text_row(out: &mut wire::OutBuffer, row: &[Cell]) {
    out.begin_packet();
    for cell in row {
        match cell {
            Cell::Null => out.put_text_null(),
            Cell::Text(text) => out.put_lenenc_bytes(text.as_bytes()),
            Cell::Int(value) => out.put_text_i64(*value),
        }
    }
    out.end_packet();
}

fn write_binary_row(out: &mut wire::OutBuffer, row: &[Cell]) {
    let packet = BinaryRow::begin(out, row.len());
    for (column, cell) in row.iter().enumerate() {
        match cell {
            Cell::Null => packet.put_null(out, column),
            Cell::Text(text) => out.put_lenenc_bytes(text.as_bytes()),
            Cell::Int(value) => out.put_u64(*value as u64),
        }
    }
    packet.end(out);
}
