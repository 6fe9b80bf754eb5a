//! What a server answered, as it was sent: definitions of columns, rows, warnings, changes of the session's
//! state.

use mysql::consts::ColumnType;

/// Definition of a result column or a parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Database of the table.
    pub schema: String,
    /// Alias of the table.
    pub table: String,
    /// Name of the table.
    pub original_table: String,
    /// Name that the statement gives the column.
    pub name: String,
    /// Name of the column in its table.
    pub original_name: String,
    /// Number of the collation.
    pub collation: u16,
    /// Longest value in bytes.
    pub length: u32,
    /// Code of the type.
    pub code: u8,
    /// NOT_NULL, UNSIGNED and their kin.
    pub flags: u16,
    /// Digits after the point.
    pub decimals: u8,
}

/// A row; `None` is NULL. Bytes that are no text are hexadecimal.
pub type Row = Vec<Option<String>>;

/// How a statement ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A result set.
    Rows {
        /// Definitions of its columns.
        columns: Vec<Column>,
        /// Its rows, in the order in which they were sent.
        rows: Vec<Row>,
    },
    /// An OK packet.
    Done {
        /// Affected rows.
        affected: u64,
        /// The first generated number.
        insert_id: u64,
        /// What the server says of the change.
        info: String,
    },
    /// An error packet.
    Error {
        /// MySQL's number.
        number: u16,
        /// SQLSTATE.
        state: String,
        /// Its text.
        text: String,
    },
}

/// An answer to one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// How it ended.
    pub outcome: Outcome,
    /// Number of warnings that the last packet names.
    pub warning_count: u16,
    /// Rows of SHOW WARNINGS: level, number and text in one line.
    pub warnings: Vec<String>,
    /// Changes of the session's state, one a line.
    pub tracked: Vec<String>,
}

/// An answer to a preparation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The statement's number on its connection.
    pub id: u32,
    /// Definitions of the parameters.
    pub parameters: Vec<Column>,
    /// Definitions of the result's columns.
    pub columns: Vec<Column>,
}

impl Reply {
    /// The number of its error; 0 for any other answer.
    pub(crate) fn error_number(&self) -> u16 {
        match self.outcome {
            Outcome::Error { number, .. } => number,
            _ => 0,
        }
    }

    /// What an OK packet says of a change; empty for any other answer.
    pub fn info(&self) -> &str {
        match &self.outcome {
            Outcome::Done { info, .. } => info,
            _ => "",
        }
    }

    /// The answer in the form of recorded scripts.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = match &self.outcome {
            Outcome::Error { number, state, text } => vec![format!("error {number} ({state}): {text}")],
            Outcome::Done { affected, insert_id: 0, .. } => vec![format!("ok {affected} rows")],
            Outcome::Done { affected, insert_id, .. } => vec![format!("ok {affected} rows, id {insert_id}")],
            Outcome::Rows { columns, rows } => {
                let header: Vec<String> = columns.iter().map(Column::header).collect();
                std::iter::once(header.join("\t")).chain(rows.iter().map(row_line)).collect()
            }
        };
        lines.extend(self.warnings.iter().cloned());
        lines
    }

    /// The definitions of its columns, one a line.
    pub fn definitions(&self) -> Vec<String> {
        match &self.outcome {
            Outcome::Rows { columns, .. } => columns.iter().map(Column::definition).collect(),
            _ => Vec::new(),
        }
    }
}

impl Prepared {
    /// The definitions of its parameters and columns, one a line.
    pub fn definitions(&self) -> Vec<String> {
        let parameters = self.parameters.iter().map(|column| format!("parameter {}", column.definition()));
        parameters.chain(self.columns.iter().map(Column::definition)).collect()
    }
}

impl Column {
    /// Name and type, as recorded scripts show them.
    fn header(&self) -> String {
        format!("{}:{}", self.name, type_name(self.code))
    }

    /// All of it in one line.
    fn definition(&self) -> String {
        let Column {
            schema, table, original_table, original_name, collation, length, flags, decimals, ..
        } = self;
        format!(
            "{} length {length} decimals {decimals} flags {flags:#06x} collation {collation} of \
             {schema}.{original_table} {table}.{original_name}",
            self.header()
        )
    }
}

/// One line for a row.
pub(crate) fn row_line(row: &Row) -> String {
    let cells: Vec<&str> = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL")).collect();
    cells.join("\t").replace('\n', "\\n")
}

/// The name of a type's code.
pub(crate) fn type_name(code: u8) -> String {
    ColumnType::try_from(code).map_or_else(
        |_| format!("type {code}"),
        |t| format!("{t:?}").trim_start_matches("MYSQL_TYPE_").to_owned(),
    )
}
