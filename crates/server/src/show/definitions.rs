//! How clients see the columns of SHOW and similar statements.
//!
//! MySQL answers most forms by queries of its dictionary's views, whose types, flags and tables clients see;
//! the definition at prepare time differs from that at execution. `definitions.txt` has what MySQL says, by
//! statement.

use std::collections::HashMap;
use std::sync::OnceLock;

use sql::ast::{MaintainKind, Show, ShowKind, Statement, VarScope};
use wire::ColumnType;

/// Blocks of lines: a statement after `=`, the columns that PREPARE names, then after `executed` those of its
/// rows. A line's fields are separated by tabs: type, length, decimals, `text` or `binary`, flags, schema,
/// table, original table and original name; `=` for one that is the column's.
const TEXT: &str = include_str!("definitions.txt");

/// The definition of a column beside its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    /// Type.
    pub column_type: ColumnType,
    /// Bytes of the longest value, characters of four bytes.
    pub length: u32,
    /// Digits after the point; 31: as many as needed.
    pub decimals: u8,
    /// Values are text.
    pub is_text: bool,
    /// Flags.
    pub flags: u16,
    /// Schema.
    pub schema: &'static str,
    /// Alias of the table.
    pub table: &'static str,
    /// Table.
    pub org_table: &'static str,
    /// Column; `None`: the name that clients see.
    pub org_name: Option<&'static str>,
}

/// The columns of one form of statement.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    /// Those that PREPARE names; none where it names none.
    pub prepared: Vec<Definition>,
    /// Those of the rows.
    pub executed: Vec<Definition>,
}

/// The column definitions that clients get for `statement`; `None`: what follows from their types.
pub(crate) fn find(statement: &Statement<'_>) -> Option<&'static Definitions> {
    static ALL: OnceLock<HashMap<&'static str, Definitions>> = OnceLock::new();
    ALL.get_or_init(|| parse(TEXT)).get(form(statement)?)
}

/// The form of a statement that has definitions.
fn form(statement: &Statement<'_>) -> Option<&'static str> {
    Some(match statement {
        Statement::Show(show) => return show_form(show),
        Statement::Describe(_) => "SHOW COLUMNS",
        Statement::Maintain(maintain) => match maintain.kind {
            MaintainKind::Check => "CHECK TABLE",
            MaintainKind::Checksum => "CHECKSUM TABLE",
            _ => "ANALYZE TABLE",
        },
        Statement::Explain(_) => "EXPLAIN",
        _ => return None,
    })
}

fn show_form(show: &Show<'_>) -> Option<&'static str> {
    Some(match (&show.kind, show.full) {
        (ShowKind::Databases, _) => "SHOW DATABASES",
        (ShowKind::Tables, false) => "SHOW TABLES",
        (ShowKind::Tables, true) => "SHOW FULL TABLES",
        (ShowKind::TableStatus, _) => "SHOW TABLE STATUS",
        (ShowKind::OpenTables, _) => "SHOW OPEN TABLES",
        (ShowKind::Triggers, _) => "SHOW TRIGGERS",
        (ShowKind::Events, _) => "SHOW EVENTS",
        (ShowKind::Columns(_), false) => "SHOW COLUMNS",
        (ShowKind::Columns(_), true) => "SHOW FULL COLUMNS",
        (ShowKind::Index(_), _) => "SHOW INDEX",
        (ShowKind::CreateTable(_), _) => "SHOW CREATE TABLE",
        (ShowKind::CreateDatabase(..), _) => "SHOW CREATE DATABASE",
        (ShowKind::Variables(VarScope::Global), _) => "SHOW GLOBAL VARIABLES",
        (ShowKind::Variables(_), _) => "SHOW VARIABLES",
        (ShowKind::Status(VarScope::Global), _) => "SHOW GLOBAL STATUS",
        (ShowKind::Status(_), _) => "SHOW STATUS",
        (ShowKind::ProcessList, false) => "SHOW PROCESSLIST",
        (ShowKind::ProcessList, true) => "SHOW FULL PROCESSLIST",
        (ShowKind::CountWarnings | ShowKind::CountErrors, _) => "SHOW COUNT",
        (ShowKind::Warnings | ShowKind::Errors, _) => "SHOW WARNINGS",
        (ShowKind::Engines, _) => "SHOW ENGINES",
        (ShowKind::Engine { .. }, _) => "SHOW ENGINE",
        (ShowKind::Charset, _) => "SHOW CHARACTER SET",
        (ShowKind::Collation, _) => "SHOW COLLATION",
        (ShowKind::Privileges, _) => "SHOW PRIVILEGES",
        (ShowKind::Plugins, _) => "SHOW PLUGINS",
        (ShowKind::Grants(..) | ShowKind::CreateUser(_), _) => "SHOW GRANTS",
        (ShowKind::ProcedureStatus | ShowKind::FunctionStatus, _) => "SHOW PROCEDURE STATUS",
        (ShowKind::Profiles, _) => "SHOW PROFILES",
        _ => return None,
    })
}

fn parse(text: &'static str) -> HashMap<&'static str, Definitions> {
    let mut all: HashMap<&'static str, Definitions> = HashMap::new();
    let (mut form, mut is_executed) = ("", false);
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(statement) = line.strip_prefix("= ") {
            (form, is_executed) = (statement, false);
        } else if line == "executed" {
            is_executed = true;
        } else {
            let block = all.entry(form).or_default();
            let columns = if is_executed { &mut block.executed } else { &mut block.prepared };
            columns.extend(definition(line));
        }
    }
    all
}

/// The definition that a line is; `None` if it is none, which a test excludes.
fn definition(line: &'static str) -> Option<Definition> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    let column_type = column_type(next()?)?;
    let (length, decimals) = (next()?.parse().ok()?, next()?.parse().ok()?);
    let is_text = next()? == "text";
    let flags = next()?.split('|').filter(|name| !name.is_empty()).map(flag).sum::<Option<u16>>()?;
    let (schema, table, org_table, org_name) = (next()?, next()?, next()?, next()?);
    let org_name = Some(org_name).filter(|&name| name != "=");
    Some(Definition { column_type, length, decimals, is_text, flags, schema, table, org_table, org_name })
}

fn column_type(name: &str) -> Option<ColumnType> {
    Some(match name {
        "LONG" => ColumnType::Long,
        "LONGLONG" => ColumnType::LongLong,
        "DOUBLE" => ColumnType::Double,
        "NULL" => ColumnType::Null,
        "TIMESTAMP" => ColumnType::Timestamp,
        "DATETIME" => ColumnType::DateTime,
        "VAR_STRING" => ColumnType::VarString,
        "STRING" => ColumnType::String,
        "MEDIUM_BLOB" => ColumnType::MediumBlob,
        "LONG_BLOB" => ColumnType::LongBlob,
        "BLOB" => ColumnType::Blob,
        _ => return None,
    })
}

fn flag(name: &str) -> Option<u16> {
    use wire::column::flags;
    Some(match name {
        "NOT_NULL" => flags::NOT_NULL,
        "PRI_KEY" => flags::PRIMARY_KEY,
        "UNIQUE_KEY" => flags::UNIQUE_KEY,
        "MULTIPLE_KEY" => flags::MULTIPLE_KEY,
        "BLOB" => flags::BLOB,
        "UNSIGNED" => flags::UNSIGNED,
        "BINARY" => flags::BINARY,
        "ENUM" => flags::ENUM,
        "SET" => flags::SET,
        "NO_DEFAULT_VALUE" => flags::NO_DEFAULT,
        "PART_KEY" => flags::PART_KEY,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_definition() {
        for line in TEXT.lines().filter(|line| line.contains('\t')) {
            assert!(definition(line).is_some(), "{line}");
        }
        assert!(parse(TEXT).values().all(|block| !block.executed.is_empty()));
    }

    #[test]
    fn a_definition_has_the_fields_of_its_line() {
        let line = "LONGLONG\t21\t0\tbinary\tUNSIGNED|BINARY\tshop\tt\titem\t=";
        let definition = definition(line).unwrap();
        assert_eq!((definition.column_type, definition.length), (ColumnType::LongLong, 21));
        assert_eq!(definition.flags, wire::column::flags::UNSIGNED | wire::column::flags::BINARY);
        assert_eq!((definition.org_table, definition.org_name), ("item", None));
    }
}
