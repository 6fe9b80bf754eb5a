//! SHOW of the server's own state: variables, counters, conditions, connections, character sets.

use std::sync::atomic::Ordering;

use engine::{Engine, SideLogTotals, SortTotals, TableCounts};
use sql::ast::{Show, ShowKind, VarScope};
use types::collation::{Charset, Collation};

use crate::answer::{Cell, Column, Table};
use crate::compression::Algorithm;
use crate::constant::level;
use crate::diagnostics::{Condition, Severity};
use crate::error_map::SqlError;
use crate::privilege::Privileges;
use crate::process_list::ProcessInfo;
use crate::redo_log;
use crate::server::Server;
use crate::session::Session;
use crate::status::{HotCounter, ROWS_EXAMINED, SLOW_QUERIES};
use crate::tls::cipher_list;

/// Characters of a statement in SHOW PROCESSLIST without FULL.
const SHORT_INFO_CHARS: usize = 100;

/// The table that `kind` asks for; `None` if what it shows is not known here.
///
/// # Errors
/// 1235 for SHOW of persisted variables.
pub(super) fn table(session: &Session, show: &Show<'_>) -> Result<Option<Table>, SqlError> {
    Ok(Some(match show.kind {
        ShowKind::Variables(scope) => variables(session, scope)?,
        ShowKind::Status(scope) => counters(session, scope),
        ShowKind::Warnings => conditions(session.diagnostics.conditions().iter()),
        ShowKind::Errors => {
            let all = session.diagnostics.conditions().iter();
            conditions(all.filter(|condition| condition.severity == Severity::Error))
        }
        ShowKind::CountWarnings => count("@@session.warning_count", session.diagnostics.warning_count()),
        ShowKind::CountErrors => count("@@session.error_count", session.diagnostics.error_count()),
        ShowKind::ProcessList => processes(session, show.full),
        ShowKind::Engines => engines(),
        ShowKind::Charset => charsets(),
        ShowKind::Collation => collations(),
        ShowKind::Plugins => plugins(),
        _ => return Ok(None),
    }))
}

fn variables(session: &Session, scope: VarScope) -> Result<Table, SqlError> {
    let mut table = Table::new(vec![Column::name("Variable_name"), Column::text("Value", 1024)]);
    for (name, value) in session.list_variables(level(scope)?) {
        table.push(vec![Cell::text(name), Cell::Text(value.show().unwrap_or_default())]);
    }
    Ok(table)
}

fn counters(session: &Session, scope: VarScope) -> Table {
    let mut table = Table::new(vec![Column::name("Variable_name"), Column::text("Value", 1024)]);
    let mut counters = session.server.status.list(session.server.processes.running());
    counters.extend(redo_log::counters(&session.server.engine));
    counters.extend(memory(&session.server));
    counters.extend(index_sorts(session.server.engine.index_sort_totals()));
    counters.extend(rebuilds(&session.server.engine));
    let TableCounts { open, opened } = session.server.engine.table_counts();
    counters.extend([("Open_tables", open), ("Opened_tables", opened)]);
    if scope != VarScope::Global {
        for (name, value) in &mut counters {
            let own = match *name {
                ROWS_EXAMINED => HotCounter::RowsExamined,
                SLOW_QUERIES => HotCounter::SlowQueries,
                _ => continue,
            };
            *value = session.counters.of(own).load(Ordering::Relaxed);
        }
    }
    let mut counters: Vec<_> = counters.into_iter().map(|(name, value)| (name, value.to_string())).collect();
    counters.extend(tls_status(session));
    counters.extend(compression_status(session));
    counters.sort_unstable_by_key(|&(name, _)| name.to_ascii_lowercase());
    for (name, value) in counters {
        table.push(vec![Cell::text(name), Cell::Text(value)]);
    }
    table
}

/// Memory charged and plans kept. The bytes of the heap come from the allocator where it has them.
fn memory(server: &Server) -> impl Iterator<Item = (&'static str, u64)> {
    let heap = server.heap_bytes().map(|bytes| ("Ratchet_heap_bytes", bytes));
    let charged = [
        ("Global_connection_memory", server.memory.tracked()),
        ("Ratchet_memory_charged", server.memory.charged()),
        ("Ratchet_plan_cache_bytes", server.plans.bytes()),
        ("Ratchet_plan_cache_environments", server.plans.environments()),
        ("Ratchet_plans_made", server.plans.made()),
        ("Ratchet_unparsed_inserts", server.plans.unparsed_inserts()),
    ];
    charged.into_iter().chain(heap)
}

/// How the entries of new indexes were sorted.
fn index_sorts(totals: SortTotals) -> [(&'static str, u64); 4] {
    let SortTotals { keys, sorts, runs, merge_passes } = totals;
    [
        ("Ratchet_index_keys_sorted", keys),
        ("Ratchet_index_sorts", sorts),
        ("Ratchet_index_sort_runs", runs),
        ("Ratchet_index_sort_merge_passes", merge_passes),
    ]
}

fn rebuilds(engine: &Engine) -> [(&'static str, u64); 6] {
    let SideLogTotals { noted, applied, copied, blocks } = engine.side_log_totals();
    [
        ("Ratchet_ddl_rested_microseconds", engine.ddl_rested_micros()),
        ("Ratchet_index_changes_noted", noted),
        ("Ratchet_index_changes_applied", applied),
        ("Ratchet_index_change_blocks", blocks),
        ("Ratchet_rebuild_records_kept", engine.records_kept()),
        ("Ratchet_rebuild_rows_copied_again", copied),
    ]
}

/// The connection's cipher, and the available ones.
fn tls_status(session: &Session) -> [(&'static str, String); 3] {
    let tls = session.process.tls();
    let cipher = tls.map_or_else(String::new, |tls| tls.cipher().to_owned());
    let version = tls.map_or("", |tls| tls.version()).to_owned();
    let offered = session.server.tls.load();
    let all = offered.as_deref().filter(|_| tls.is_some()).map_or_else(String::new, cipher_list);
    [("Ssl_cipher", cipher), ("Ssl_cipher_list", all), ("Ssl_version", version)]
}

/// The connection's compression algorithm. As in MySQL, SHOW GLOBAL STATUS shows that of its own connection.
fn compression_status(session: &Session) -> [(&'static str, String); 3] {
    let algorithm = session.process.compression();
    let is_on = if algorithm.is_some() { "ON" } else { "OFF" };
    let name = algorithm.map_or("", Algorithm::name);
    let level = algorithm.map_or(0, Algorithm::level);
    [
        ("Compression", is_on.to_owned()),
        ("Compression_algorithm", name.to_owned()),
        ("Compression_level", level.to_string()),
    ]
}

fn conditions<'a>(conditions: impl Iterator<Item = &'a Condition>) -> Table {
    let mut table =
        Table::new(vec![Column::text("Level", 7), Column::int("Code"), Column::text("Message", 512)]);
    for condition in conditions {
        let code = Cell::Int(i64::from(condition.code));
        table.push(vec![Cell::text(condition.severity.name()), code, Cell::text(&condition.message)]);
    }
    table
}

fn count(column: &'static str, value: u64) -> Table {
    let mut table = Table::new(vec![Column::bigint(column)]);
    table.push(vec![Cell::Int(value as i64)]);
    table
}

/// Accounts with PROCESS see all connections, others their own.
fn processes(session: &Session, full: bool) -> Table {
    let mut table = Table::new(vec![
        Column::bigint("Id"),
        Column::text("User", 32),
        Column::text("Host", 255),
        Column::name("db"),
        Column::text("Command", 16),
        Column::int("Time"),
        Column::text("State", 30),
        Column::text("Info", if full { u32::from(u16::MAX) } else { SHORT_INFO_CHARS as u32 }),
    ]);
    let sees_all = session.on_everything().privileges.has(Privileges::PROCESS);
    let visible = |info: &ProcessInfo| sees_all || info.user == session.user;
    for info in session.server.processes.list().into_iter().filter(visible) {
        let statement =
            info.info.map(|text| if full { text } else { text.chars().take(SHORT_INFO_CHARS).collect() });
        table.push(vec![
            Cell::Int(i64::from(info.id)),
            Cell::Text(info.user),
            Cell::Text(info.host),
            info.database.map_or(Cell::Null, Cell::Text),
            Cell::text(info.command),
            Cell::Int(info.seconds as i64),
            Cell::text(info.state),
            statement.map_or(Cell::Null, Cell::Text),
        ]);
    }
    table
}

fn engines() -> Table {
    let mut table = Table::new(vec![
        Column::name("Engine"),
        Column::text("Support", 8),
        Column::text("Comment", 80),
        Column::text("Transactions", 3),
        Column::text("XA", 3),
        Column::text("Savepoints", 3),
    ]);
    let comment = "Supports transactions and row-level locking";
    table.push(["InnoDB", "DEFAULT", comment, "YES", "NO", "YES"].map(Cell::text).to_vec());
    table
}

fn charsets() -> Table {
    let mut table = Table::new(vec![
        Column::name("Charset"),
        Column::text("Description", 2048),
        Column::name("Default collation"),
        Column::int("Maxlen"),
    ]);
    let mut all = Charset::ALL;
    all.sort_by_key(|charset| charset.name());
    for charset in all {
        let collation = charset.default_collation().collation().map_or("", |collation| collation.name);
        let longest = Cell::Int(charset.max_char_bytes() as i64);
        table.push(vec![
            Cell::text(charset.name()),
            Cell::text(charset.description()),
            Cell::text(collation),
            longest,
        ]);
    }
    table
}

fn collations() -> Table {
    let mut table = Table::new(vec![
        Column::name("Collation"),
        Column::name("Charset"),
        Column::bigint_unsigned("Id"),
        Column::text("Default", 3),
        Column::text("Compiled", 3),
        Column::int("Sortlen"),
        Column::word("Pad_attribute", 9),
    ]);
    let mut all: Vec<_> = Collation::all().iter().collect();
    all.sort_by_key(|collation| collation.name);
    for collation in all {
        table.push(vec![
            Cell::text(collation.name),
            Cell::text(collation.charset.name()),
            Cell::Int(i64::from(collation.id.0)),
            Cell::text(if collation.is_default { "Yes" } else { "" }),
            Cell::text("Yes"),
            Cell::Int(i64::from(collation.sort_length())),
            Cell::text(collation.pad.name()),
        ]);
    }
    table
}

fn plugins() -> Table {
    let mut table = Table::new(vec![
        Column::name("Name"),
        Column::text("Status", 10),
        Column::text("Type", 80),
        Column::name("Library"),
        Column::text("License", 80),
    ]);
    let kinds = [
        ("mysql_native_password", "AUTHENTICATION"),
        ("caching_sha2_password", "AUTHENTICATION"),
        ("auth_socket", "AUTHENTICATION"),
        ("InnoDB", "STORAGE ENGINE"),
    ];
    for (name, kind) in kinds {
        table.push(vec![
            Cell::text(name),
            Cell::text("ACTIVE"),
            Cell::text(kind),
            Cell::Null,
            Cell::text("Apache-2.0"),
        ]);
    }
    table
}
