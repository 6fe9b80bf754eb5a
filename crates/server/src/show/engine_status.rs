//! SHOW ENGINE: what the storage engine is doing, in MySQL's words where they apply here.

use std::fmt::Write as _;

use engine::Engine;
use trx::TrxInfo;

use super::not_yet;
use crate::answer::{Cell, Column, Table};
use crate::deadlock_report::{self, session, undo_entries};
use crate::error_map::{self, SqlError};
use crate::lock_text::NamedLock;
use crate::privilege::{DynamicSet, Privileges, ensure_one_of};
use crate::session::Session;

/// The answer to SHOW ENGINE `name` `what`.
///
/// # Errors
/// 1227 for who has not PROCESS, 1286 for engines there are none of, 1235 for LOGS.
pub(super) fn table(session: &Session, engine: &Engine, name: &str, what: &str) -> Result<Table, SqlError> {
    ensure_one_of(session, Privileges::PROCESS, DynamicSet::default(), "PROCESS")?;
    let is_all = name == "ALL";
    if !is_all && !name.eq_ignore_ascii_case("innodb") {
        return Err(error_map::UNKNOWN_STORAGE_ENGINE.with(&[&name]));
    }
    let mut table =
        Table::new(vec![Column::text("Type", 10), Column::text("Name", 512), Column::text("Status", 10)]);
    match what {
        "STATUS" => {
            let status = Cell::Text(status(engine));
            table.push(vec![Cell::text("InnoDB"), Cell::text(""), status]);
        }
        // Waits for mutexes are not counted.
        "MUTEX" => {}
        _ => return Err(not_yet("SHOW ENGINE LOGS")),
    }
    Ok(table)
}

fn status(engine: &Engine) -> String {
    let now = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S");
    let rule = "=".repeat(37);
    let mut text = format!("\n{rule}\n{now} INNODB MONITOR OUTPUT\n{rule}\n");
    latest_deadlock(&mut text, engine);
    transactions(&mut text, engine);
    log(&mut text, engine);
    buffer_pool(&mut text, engine);
    let end = "END OF INNODB MONITOR OUTPUT";
    let _ = writeln!(text, "{}\n{end}\n{}", "-".repeat(end.len()), "=".repeat(end.len()));
    text
}

fn heading(text: &mut String, title: &str) {
    let rule = "-".repeat(title.len());
    let _ = writeln!(text, "{rule}\n{title}\n{rule}");
}

fn latest_deadlock(text: &mut String, engine: &Engine) {
    let Some(deadlock) = engine.trx_system().latest_deadlock() else { return };
    heading(text, "LATEST DETECTED DEADLOCK");
    if let Ok(found) = jiff::Timestamp::from_second(deadlock.found.seconds) {
        let found = found.to_zoned(jiff::tz::TimeZone::system());
        let _ = writeln!(text, "{}", found.strftime("%Y-%m-%d %H:%M:%S"));
    }
    text.push_str(&deadlock_report::text(engine, &deadlock));
}

fn transactions(text: &mut String, engine: &Engine) {
    let system = engine.trx_system();
    heading(text, "TRANSACTIONS");
    let _ = writeln!(text, "Trx id counter {}", system.next_id().0);
    let _ = writeln!(text, "History list length {}", system.purge_pending());
    text.push_str("LIST OF TRANSACTIONS FOR EACH SESSION:\n");
    for trx in system.transactions() {
        transaction(text, engine, &trx);
    }
}

fn transaction(text: &mut String, engine: &Engine, trx: &TrxInfo) {
    let id = trx.id.map_or("(no id)".to_owned(), |id| id.0.to_string());
    if !trx.is_active() {
        let _ = writeln!(text, "---TRANSACTION {id}, not started");
        let _ = writeln!(text, "0 row lock(s)");
        return;
    }
    let _ = write!(text, "---TRANSACTION {id}, ACTIVE {} sec", trx.client.active_s);
    text.push_str(if trx.is_unfinished { " recovered trx\nROLLING BACK " } else { "\n" });
    if trx.locks.waits_s.is_some() {
        text.push_str("LOCK WAIT ");
    }
    let _ = write!(text, "{} row lock(s), {} gap lock(s)", trx.locks.rows, trx.locks.gaps);
    undo_entries(text, trx.changes.unwrap_or_default());
    if !trx.is_unfinished {
        session(text, &trx.client);
    }
    if let (Some(seconds), Some(wanted)) = (trx.locks.waits_s, &trx.locks.wants) {
        let _ = writeln!(text, "------- TRX HAS BEEN WAITING {seconds} SEC FOR THIS LOCK TO BE GRANTED:");
        text.push_str(&NamedLock::new(engine, wanted).report());
        text.push_str("------------------\n");
    }
}

fn log(text: &mut String, engine: &Engine) {
    let log = engine.store().log();
    let stats = log.stats();
    heading(text, "LOG");
    let lines = [
        ("Log capacity", log.file_bytes().1),
        ("Log sequence number", log.current().0),
        ("Log flushed up to", log.durable().0),
        ("Last checkpoint at", log.last_checkpoint().redo_lsn.0),
    ];
    for (name, value) in lines {
        let _ = writeln!(text, "{name:<28} {value}");
    }
    let _ = writeln!(text, "{} log i/o's done, {} syncs", stats.writes, stats.syncs);
}

fn buffer_pool(text: &mut String, engine: &Engine) {
    let stats = engine.store().pool().stats();
    heading(text, "BUFFER POOL AND MEMORY");
    let lines = [
        ("Buffer pool size", u64::from(stats.frames)),
        ("Free buffers", u64::from(stats.frames_free)),
        ("Database pages", u64::from(stats.frames - stats.frames_free)),
        ("Modified db pages", u64::from(stats.pages_dirty)),
    ];
    for (name, value) in lines {
        let _ = writeln!(text, "{name:<18} {value}");
    }
    let _ = writeln!(text, "Pages read {}, written {}", stats.page_reads, stats.page_writes);
}
