//! Commands: one arm for each COM_*.

use engine::TableCounts;
use wire::execute::{LongData, parse_set_option, parse_statement_id};
use wire::reply::StateChange;
use wire::{Capabilities, Command, OkPacket, OutBuffer, ServerStatus, reply};

use crate::authenticate::{self, Refusal, protocol_error};
use crate::client_io::ClientIo;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::process_list::Kill;
use crate::run;
use crate::session::Session;
use crate::status::{Com, HotCounter};

/// What follows a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The next command.
    Continue,
    /// The client took its leave.
    Quit,
    /// The connection must be closed once the answer is sent.
    Close,
}

/// Runs the command in the reader's packet and writes its answer.
pub fn run(session: &mut Session, io: &mut ClientIo) -> After {
    let Some((command, args)) = Command::parse(io.reader.packet()) else {
        fail(session, io, error_map::UNKNOWN_COM.bare());
        return After::Continue;
    };
    let text = if matches!(command, Command::Query | Command::StmtPrepare) { args } else { &[] };
    session.process.begin(command, text);
    if !matches!(command, Command::Ping | Command::Statistics) {
        session.counters.add(HotCounter::Questions, 1);
    }
    let after = dispatch(session, io, command);
    session.process.end();
    after
}

fn dispatch(session: &mut Session, io: &mut ClientIo, command: Command) -> After {
    let result = match command {
        Command::Quit => return After::Quit,
        Command::Query => run::query(session, io),
        Command::StmtExecute => run::execute(session, io),
        Command::StmtPrepare => run::prepare(session, io),
        Command::StmtClose => return close_statement(session, io),
        Command::StmtSendLongData => return send_long_data(session, io),
        Command::StmtReset => reset_statement(session, io),
        Command::StmtFetch => fetch(io),
        Command::InitDb => init_db(session, io),
        Command::FieldList => run::field_list(session, io),
        Command::Statistics => {
            statistics(session, &mut io.out);
            Ok(())
        }
        Command::Ping => {
            done(session, io);
            Ok(())
        }
        Command::SetOption => set_option(session, io),
        Command::ResetConnection => {
            session.reset();
            done(session, io);
            Ok(())
        }
        Command::ChangeUser => return change_user(session, io),
        Command::ProcessKill => process_kill(session, io),
        Command::ProcessInfo | Command::Debug => Err(error_map::UNKNOWN_COM.bare()),
    };
    if let Err(error) = result {
        fail(session, io, error);
    }
    After::Continue
}

/// Writes the error of a failed command and keeps it for SHOW WARNINGS.
#[cold]
fn fail(session: &mut Session, io: &mut ClientIo, mut error: SqlError) {
    note_kill(session);
    write_error(&mut io.out, &error);
    session.row_count = -1;
    if let Some(warning) = error.warning.take() {
        session.warn(Severity::Warning, *warning);
    }
    session.warn(Severity::Error, error);
}

/// Counts a statement that failed because it was killed.
fn note_kill(session: &Session) {
    if let Some(delay_us) = session.process.take_kill_delay_us() {
        session.counters.add(HotCounter::KilledStatements, 1);
        session.counters.add(HotCounter::KillDelayUs, delay_us);
    }
}

/// Writes an ERR packet.
#[cold]
pub fn write_error(out: &mut OutBuffer, error: &SqlError) {
    reply::write_error(out, error.code, error.sqlstate, &error.message);
}

/// Writes an OK packet with nothing but the session's status.
pub(crate) fn write_plain_ok(session: &mut Session, out: &mut OutBuffer) {
    write_ok(session, out, &OkPacket::default(), false);
}

/// Writes an OK packet: `ok` completed by the session's status, warnings and state changes.
#[inline]
pub fn write_ok(session: &mut Session, out: &mut OutBuffer, ok: &OkPacket<'_>, more_results: bool) {
    let status = session.status().with(ServerStatus::MORE_RESULTS, more_results);
    let warnings = session.diagnostics.packet_count();
    let plain = OkPacket { status, warnings, ..*ok };
    if session.changes.is_empty() {
        return reply::write_ok(out, session.capabilities, &plain);
    }
    write_changes(session, out, &plain);
}

/// Writes an OK packet with the session's state changes, if the client asked for that.
#[cold]
fn write_changes(session: &mut Session, out: &mut OutBuffer, plain: &OkPacket<'_>) {
    let pending = std::mem::take(&mut session.changes);
    if !session.capabilities.has(Capabilities::SESSION_TRACK) {
        return reply::write_ok(out, session.capabilities, plain);
    }
    let values: Vec<_> = pending
        .variables
        .iter()
        .map(|&name| (name, session.variables.named(name).show().unwrap_or_default()))
        .collect();
    let mut changes: Vec<_> =
        values.iter().map(|(name, value)| StateChange::Variable { name, value }).collect();
    if pending.schema && session.variables.named("session_track_schema").as_bool() {
        changes.push(StateChange::Schema(session.database.as_deref().unwrap_or_default()));
    }
    reply::write_ok(out, session.capabilities, &OkPacket { changes: &changes, ..*plain });
}

/// Answers a command that did what it was told. The warnings of the statement before it remain readable.
fn done(session: &mut Session, io: &mut ClientIo) {
    write_plain_ok(session, &mut io.out);
}

fn args(io: &ClientIo) -> &[u8] {
    io.reader.packet().get(1..).unwrap_or_default()
}

fn init_db(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    session.counters.count(Com::ChangeDb);
    let name = String::from_utf8_lossy(args(io)).into_owned();
    run::use_database(session, &name)?;
    done(session, io);
    Ok(())
}

fn set_option(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    let on = parse_set_option(args(io)).map_err(|_| error_map::UNKNOWN_COM.bare())?;
    session.capabilities = session.capabilities.with(Capabilities::MULTI_STATEMENTS, on);
    let warnings = session.diagnostics.packet_count();
    reply::write_rows_end(&mut io.out, session.capabilities, session.status(), warnings);
    Ok(())
}

/// The one-line summary of `mysqladmin status`.
fn statistics(session: &Session, out: &mut OutBuffer) {
    let status = &session.server.status;
    let get = |counter: &std::sync::atomic::AtomicU64| counter.load(std::sync::atomic::Ordering::Relaxed);
    let (uptime, questions) = (status.uptime_s(), status.get(HotCounter::Questions));
    let TableCounts { open, opened } = session.server.engine.table_counts();
    let per_second = questions as f64 / uptime.max(1) as f64;
    let line = format!(
        "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: {opened}  Flush tables: 0  \
         Open tables: {open}  Queries per second avg: {per_second:.3}",
        get(&status.threads_connected),
        status.get(HotCounter::SlowQueries),
    );
    out.begin_packet();
    out.put_bytes(line.as_bytes());
    out.end_packet();
}

fn change_user(session: &mut Session, io: &mut ClientIo) -> After {
    match authenticate::change_user(session, io) {
        Ok(()) => After::Continue,
        Err(Refusal::Lost) => After::Close,
        Err(Refusal::Error(error)) => {
            write_error(&mut io.out, &error);
            After::Close
        }
    }
}

fn process_kill(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    let id = parse_statement_id(args(io)).map_err(|e| protocol_error(&e))?;
    kill(session, u64::from(id), Kill::Connection)?;
    done(session, io);
    Ok(())
}

/// KILL: an account may kill its own connections, and all with CONNECTION_ADMIN.
pub fn kill(session: &mut Session, id: u64, what: Kill) -> Result<(), SqlError> {
    let process = u32::try_from(id).ok().and_then(|id| session.server.processes.find(id));
    let Some(process) = process else {
        return Err(error_map::NO_SUCH_THREAD.with(&[&id]));
    };
    if !session.is_connection_admin() && process.user() != session.user {
        return Err(error_map::KILL_DENIED.with(&[&id]));
    }
    if process.id() == session.process.id() {
        // The answer must still reach the client, so the socket stays open until it is sent.
        session.process.kill_self(what);
        return Err(error_map::QUERY_INTERRUPTED.bare());
    }
    process.kill(what);
    session.server.engine.trx_system().wake_waiters();
    Ok(())
}

/// No answer, not even to a wrong id.
fn close_statement(session: &mut Session, io: &ClientIo) -> After {
    session.counters.count(Com::StmtClose);
    if let Ok(id) = parse_statement_id(args(io))
        && session.prepared.remove(id)
    {
        session.server.status.prepared_statements.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
    After::Continue
}

/// No answer; what cannot be kept is reported by the execution.
fn send_long_data(session: &mut Session, io: &ClientIo) -> After {
    session.counters.count(Com::StmtSendLongData);
    let limit = session.variables.hot.max_allowed_packet as usize;
    if let Ok(piece) = LongData::parse(args(io))
        && let Some(statement) = session.prepared.get_mut(piece.statement_id)
        && statement.long_data_bytes() + piece.data.len() <= limit
        && statement.charge_long_data(&session.memory, piece.data.len())
    {
        statement.append_long_data(usize::from(piece.param), piece.data);
    }
    After::Continue
}

fn reset_statement(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    session.counters.count(Com::StmtReset);
    let id = parse_statement_id(args(io)).map_err(|e| protocol_error(&e))?;
    let statement = session.prepared.get_mut(id).ok_or_else(|| unknown_statement(id, "mysqld_stmt_reset"))?;
    statement.forget_long_data();
    done(session, io);
    Ok(())
}

fn fetch(io: &ClientIo) -> Result<(), SqlError> {
    let id = parse_statement_id(args(io)).map_err(|e| protocol_error(&e))?;
    Err(error_map::STMT_HAS_NO_OPEN_CURSOR.with(&[&id]))
}

#[cold]
fn unknown_statement(id: u32, command: &str) -> SqlError {
    error_map::UNKNOWN_STMT_HANDLER.with(&[&id, &command])
}
