//! Deadlocks in words: for SHOW ENGINE INNODB STATUS and, with `innodb_print_all_deadlocks`, the server's
//! log.

use std::fmt::Write as _;

use engine::Engine;
use trx::{ClientInfo, Deadlock, DeadlockMember};

use crate::lock_text::NamedLock;
use crate::server::Server;

/// Characters of a statement's text in reports.
const STATEMENT_CHARS: usize = 1024;

/// MySQL's paragraphs about a deadlock, where they apply here.
pub(crate) fn text(engine: &Engine, deadlock: &Deadlock) -> String {
    let mut text = String::new();
    for (number, member) in (1..).zip(&deadlock.members) {
        let _ = writeln!(text, "*** ({number}) TRANSACTION:");
        transaction(&mut text, member);
        if let Some(held) = &member.holds {
            let _ = write!(
                text,
                "\n*** ({number}) HOLDS THE LOCK(S):\n{}",
                NamedLock::new(engine, held).report()
            );
        }
        let wanted = NamedLock::new(engine, &member.wants).report();
        let _ = writeln!(text, "\n*** ({number}) WAITING FOR THIS LOCK TO BE GRANTED:\n{wanted}");
    }
    let _ = writeln!(text, "*** WE ROLL BACK TRANSACTION ({})", deadlock.victim + 1);
    text
}

fn transaction(text: &mut String, member: &DeadlockMember) {
    let DeadlockMember { trx, client, changes, row_locks, .. } = member;
    let active_s = client.as_ref().map_or(0, |client| client.active_s);
    let _ = writeln!(text, "TRANSACTION {}, ACTIVE {active_s} sec", trx.0);
    let _ = write!(text, "LOCK WAIT {row_locks} row lock(s)");
    undo_entries(text, *changes);
    if let Some(client) = client {
        session(text, client);
    }
}

/// Ends the line that counts a transaction's locks.
pub(crate) fn undo_entries(text: &mut String, changes: u64) {
    if changes > 0 {
        let _ = write!(text, ", undo log entries {changes}");
    }
    text.push('\n');
}

/// The lines on a transaction's session, and on the statement it has in progress.
pub(crate) fn session(text: &mut String, client: &ClientInfo) {
    let host = client.host.split_once(':').map_or(&client.host[..], |(host, _port)| host);
    let _ = writeln!(text, "MySQL thread id {}, {host} {}", client.connection, client.user);
    if !client.statement.is_empty() {
        text.push_str(short(&client.statement));
        text.push('\n');
    }
}

/// The part of a statement's text that reports show.
pub(crate) fn short(statement: &str) -> &str {
    let end = statement.char_indices().nth(STATEMENT_CHARS);
    &statement[..end.map_or(statement.len(), |(at, _)| at)]
}

/// Writes the deadlocks of late to the log, if that is asked for. Called when a statement has been its
/// victim.
#[cold]
pub(crate) fn log_new(server: &Server) {
    let new = server.engine.trx_system().take_deadlocks();
    if server.variables.read().named("innodb_print_all_deadlocks").as_bool() {
        for deadlock in new {
            server.log.note(&format!("Transactions deadlock detected.\n{}", text(&server.engine, &deadlock)));
        }
    }
}
