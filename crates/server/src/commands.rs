//! Commands: one arm for each COM_*.

use engine::TableCounts;
use wire::execute::{LongData, parse_set_option, parse_statement_id};
use wire::{Capabilities, Command, OutBuffer, reply};

use crate::authenticate;
use crate::client_io::ClientIo;
use crate::default_database::use_database;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::kill::kill;
use crate::process_list::Kill;
use crate::refusal::{Refusal, protocol_error};
use crate::reset::reset;
use crate::response::{write_error, write_plain_ok};
use crate::run::{prepare, text};
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
// Apart from the loop of the connection, and with the commands of most clients in it.
#[inline(never)]
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

#[inline(always)]
fn dispatch(session: &mut Session, io: &mut ClientIo, command: Command) -> After {
    let result = match command {
        Command::Quit => return After::Quit,
        Command::Query => text::query(session, io),
        Command::StmtExecute => prepare::execute(session, io),
        Command::StmtPrepare => prepare::prepare(session, io),
        Command::StmtClose => return close_statement(session, io),
        Command::StmtSendLongData => return send_long_data(session, io),
        Command::StmtReset => reset_statement(session, io),
        Command::StmtFetch => fetch(io),
        Command::InitDb => init_db(session, io),
        Command::FieldList => text::field_list(session, io),
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
            reset(session);
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
    use_database(session, &name)?;
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
