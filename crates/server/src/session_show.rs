//! SHOW of what the server itself knows: variables, counters, conditions, connections, character sets.

use sql::ast::{Show, ShowFilter, ShowKind, VarScope};
use types::collation::{Charset, Collation};

use crate::answer::{Cell, Table};
use crate::constant::level;
use crate::diagnostics::{Condition, Severity};
use crate::error_map::{self, SqlError};
use crate::like::like;
use crate::process_list::ProcessInfo;
use crate::session::Session;

/// Characters of a statement in SHOW PROCESSLIST without FULL.
const SHORT_INFO_CHARS: usize = 100;

/// The table that `show` asks for; `None` if what it shows is not known here.
///
/// # Errors
/// 1235 for WHERE, and for SHOW of persisted variables.
pub fn run(session: &Session, show: &Show<'_>) -> Result<Option<Table>, SqlError> {
    let mut table = match show.kind {
        ShowKind::Variables(scope) => variables(session, scope)?,
        ShowKind::Status(_) => counters(session),
        ShowKind::Warnings => conditions(session.diagnostics.conditions().iter()),
        ShowKind::Errors => {
            let all = session.diagnostics.conditions().iter();
            conditions(all.filter(|condition| condition.severity == Severity::Error))
        }
        ShowKind::CountWarnings => count("#@@session.warning_count", session.diagnostics.warning_count()),
        ShowKind::CountErrors => count("#@@session.error_count", session.diagnostics.error_count()),
        ShowKind::ProcessList => processes(session, show.full),
        ShowKind::Engines => engines(),
        ShowKind::Charset => charsets(),
        ShowKind::Collation => collations(),
        ShowKind::Plugins => plugins(),
        _ => return Ok(None),
    };
    match show.filter {
        ShowFilter::None => {}
        ShowFilter::Like(pattern) => table.retain_by_first(|text| like(pattern, text)),
        ShowFilter::Where(_) => return Err(error_map::NOT_SUPPORTED_YET.with(&[&"SHOW ... WHERE here"])),
    }
    Ok(Some(table))
}

fn text(value: &str) -> Cell {
    Cell::Text(value.to_owned())
}

fn variables(session: &Session, scope: VarScope) -> Result<Table, SqlError> {
    let mut table = Table::new(&["Variable_name", "Value"]);
    for (name, value) in session.list_variables(level(scope)?) {
        table.push(vec![text(name), Cell::Text(value.show().unwrap_or_default())]);
    }
    Ok(table)
}

fn counters(session: &Session) -> Table {
    let mut table = Table::new(&["Variable_name", "Value"]);
    for (name, value) in session.server.status.list() {
        table.push(vec![text(name), Cell::Text(value.to_string())]);
    }
    table
}

fn conditions<'a>(conditions: impl Iterator<Item = &'a Condition>) -> Table {
    let mut table = Table::new(&["Level", "#Code", "Message"]);
    for condition in conditions {
        let code = Cell::Int(i64::from(condition.code));
        table.push(vec![text(condition.severity.name()), code, text(&condition.message)]);
    }
    table
}

fn count(column: &'static str, value: u64) -> Table {
    let mut table = Table::new(&[column]);
    table.push(vec![Cell::Int(value as i64)]);
    table
}

/// Administrators see all connections, others their own.
fn processes(session: &Session, full: bool) -> Table {
    let mut table = Table::new(&["#Id", "User", "Host", "db", "Command", "#Time", "State", "Info"]);
    let visible = |info: &ProcessInfo| session.is_admin() || info.user == session.user;
    for info in session.server.processes.list().into_iter().filter(visible) {
        let statement =
            info.info.map(|text| if full { text } else { text.chars().take(SHORT_INFO_CHARS).collect() });
        table.push(vec![
            Cell::Int(i64::from(info.id)),
            Cell::Text(info.user),
            Cell::Text(info.host),
            info.database.map_or(Cell::Null, Cell::Text),
            text(info.command),
            Cell::Int(info.seconds as i64),
            text(info.state),
            statement.map_or(Cell::Null, Cell::Text),
        ]);
    }
    table
}

fn engines() -> Table {
    let mut table = Table::new(&["Engine", "Support", "Comment", "Transactions", "XA", "Savepoints"]);
    let comment = "Supports transactions, row-level locking, and foreign keys";
    table.push(["InnoDB", "DEFAULT", comment, "YES", "NO", "YES"].map(text).to_vec());
    table
}

fn charsets() -> Table {
    let mut table = Table::new(&["Charset", "Description", "Default collation", "#Maxlen"]);
    let mut all = Charset::ALL;
    all.sort_by_key(|charset| charset.name());
    for charset in all {
        let collation = charset.default_collation().collation().map_or("", |collation| collation.name);
        let longest = Cell::Int(charset.max_char_bytes() as i64);
        table.push(vec![text(charset.name()), text(charset.description()), text(collation), longest]);
    }
    table
}

fn collations() -> Table {
    let columns = ["Collation", "Charset", "#Id", "Default", "Compiled", "#Sortlen", "Pad_attribute"];
    let mut table = Table::new(&columns);
    let mut all: Vec<_> = Collation::all().iter().collect();
    all.sort_by_key(|collation| collation.name);
    for collation in all {
        table.push(vec![
            text(collation.name),
            text(collation.charset.name()),
            Cell::Int(i64::from(collation.id.0)),
            text(if collation.is_default { "Yes" } else { "" }),
            text("Yes"),
            Cell::Int(i64::from(collation.sort_length())),
            text(collation.pad.name()),
        ]);
    }
    table
}

fn plugins() -> Table {
    let mut table = Table::new(&["Name", "Status", "Type", "Library", "License"]);
    let kinds = [
        ("mysql_native_password", "AUTHENTICATION"),
        ("caching_sha2_password", "AUTHENTICATION"),
        ("InnoDB", "STORAGE ENGINE"),
    ];
    for (name, kind) in kinds {
        table.push(vec![text(name), text("ACTIVE"), text(kind), Cell::Null, text("Apache-2.0")]);
    }
    table
}
