//! Planned statements: from program to answer.

use std::time::Duration;

use engine::{Effect, Trx};
use exec::{Client, ExecCtx, ExecError, LoadSource, Outcome, Program, Protocol, Scratch, Summary};
use sql::LiteralRows;
use sql::plan::Plan;
use types::Value;
use wire::out_buffer::Mark;
use wire::{Capabilities, OkPacket, OutBuffer, ServerStatus, reply};

use super::compile::{deprecation, is_stale, range_memory_exceeded, severity};
use super::load_local::ClientFile;
use crate::answer::Answer;
use crate::compiled::Compiled;
use crate::deadlines::Armed;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::privilege;
use crate::process_list::Kill;
use crate::session::Session;
use crate::statement_context::StatementContext;
use crate::status::{Com, HotCounter};
use crate::{deadlock_report, exec_error, transaction};

/// Why a program did not run to its end. The transaction is as it must be.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A table is another than the program was made for; nothing has happened. Plan the statement again.
    Stale,
    /// The client's error.
    Error(SqlError),
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Failure::Error(error)
    }
}

/// Runs a program and writes its whole answer. `params`: the values of `?`, then those of lifted literals.
///
/// # Errors
/// [`Failure`]; whatever was written and not yet sent is gone then.
#[inline]
pub(super) fn run(
    session: &mut Session,
    answer: &mut Answer<'_>,
    compiled: &Compiled,
    params: &[Value<'_>],
) -> Result<(), Failure> {
    session.counters.count(compiled.com);
    if session.is_checked {
        check(session, compiled)?;
    }
    if compiled.warns {
        warn(session, compiled, answer.binary)?;
    }
    let mark = answer.out.mark();
    if compiled.is_constant && write_constants(session, answer, compiled) {
        finish_rows(session, answer, compiled, 1, mark);
        return Ok(());
    }
    let is_limited = u64::from(compiled.execution_ms) | session.variables.hot.max_execution_time != 0;
    if is_limited || compiled.com == Com::Load {
        return run_rarely(session, answer, compiled, params, mark);
    }
    run_body(session, answer, compiled, params, mark, Input::None)
}

/// Runs an INSERT of one row of literals with `rows` in its place.
///
/// # Errors
/// As [`run`].
#[cold]
#[inline(never)]
pub(super) fn run_literal_rows(
    session: &mut Session,
    answer: &mut Answer<'_>,
    compiled: &Compiled,
    rows: LiteralRows<'_>,
) -> Result<(), Failure> {
    session.counters.count(compiled.com);
    if session.is_checked {
        check(session, compiled)?;
    }
    let mark = answer.out.mark();
    run_body(session, answer, compiled, &[], mark, Input::Rows(rows))
}

/// What a statement reads beside its program and parameters.
enum Input<'i> {
    None,
    /// The file that it wants from the client.
    File(&'i str),
    /// Rows of its text.
    Rows(LiteralRows<'i>),
}

/// Checks before each execution: the account's privileges, and that the tables used are the locked ones.
///
/// # Errors
/// [`Failure::Stale`] if it is not known what the statement wants to do.
#[cold]
#[inline(never)]
fn check(session: &Session, compiled: &Compiled) -> Result<(), Failure> {
    if session.rights.is_limited() {
        privilege::ensure_wanted(session, compiled.wanted().ok_or(Failure::Stale)?)?;
    }
    match &session.table_locks {
        Some(locks) => Ok(locks.ensure_covers(compiled.program.plan())?),
        None => Ok(()),
    }
}

/// Runs a statement that has a time limit or reads a file of the client: apart, so that others pay nothing
/// for that.
#[cold]
#[inline(never)]
fn run_rarely(
    session: &mut Session,
    answer: &mut Answer<'_>,
    compiled: &Compiled,
    params: &[Value<'_>],
    mark: Mark,
) -> Result<(), Failure> {
    let file = if compiled.com == Com::Load { client_file(session, compiled, answer.binary)? } else { None };
    let file = file.map_or(Input::None, Input::File);
    let limit = if compiled.com == Com::Select { begin_limit(session, compiled) } else { None };
    let result = run_body(session, answer, compiled, params, mark, file);
    match limit {
        None => result,
        Some(armed) => end_limit(session, &armed, result),
    }
}

/// Begins the time limit of a SELECT: its own, else that of the session. `None` if that cannot be had.
fn begin_limit(session: &Session, compiled: &Compiled) -> Option<Armed> {
    let own_ms = u64::from(compiled.execution_ms);
    let limit_ms = if own_ms == 0 { session.variables.hot.max_execution_time } else { own_ms };
    let server = &session.server;
    let armed = server.deadlines.arm(&session.process, Duration::from_millis(limit_ms), &server.engine);
    let counter =
        if armed.is_some() { HotCounter::ExecutionTimeSet } else { HotCounter::ExecutionTimeSetFailed };
    session.counters.add(counter, 1);
    armed
}

/// The result of a SELECT that has run under a time limit.
fn end_limit(session: &Session, limit: &Armed, result: Result<(), Failure>) -> Result<(), Failure> {
    if !limit.has_passed() {
        return result;
    }
    session.counters.add(HotCounter::ExecutionTimeExceeded, 1);
    if result.is_ok() {
        // The delay counts for statements that fail.
        session.process.take_kill_delay_us();
    }
    result.map_err(|failure| match failure {
        Failure::Error(error) if error.code == error_map::QUERY_INTERRUPTED.code => {
            error_map::QUERY_TIMEOUT.bare().into()
        }
        other => other,
    })
}

/// Runs a statement and ends its answer.
#[inline(always)]
fn run_body(
    session: &mut Session,
    answer: &mut Answer<'_>,
    compiled: &Compiled,
    params: &[Value<'_>],
    mark: Mark,
    input: Input<'_>,
) -> Result<(), Failure> {
    let autocommit = transaction::is_autocommit(session);
    let mut trx = transaction::enter(session);
    let mut scratch = session.scratch.take().unwrap_or_default();
    let context = StatementContext::new(session);
    let run = Run { context: &context, session, compiled, params, autocommit };
    let mut upload = None;
    let outcome = match input {
        Input::None => run.drive(answer, &mut trx, &mut scratch, None),
        Input::File(file) => run.drive_with_file(answer, &mut trx, &mut scratch, file, &mut upload),
        Input::Rows(rows) => run.drive_with_rows(answer, &mut trx, &mut scratch, rows),
    };
    let effects = context.into_effects();
    session.scratch = Some(scratch);
    effects.apply(session);
    let failed = match &outcome {
        Ok(outcome) => match transaction::leave(session, trx, autocommit) {
            Ok(()) => {
                finish(session, answer, compiled, outcome, mark);
                return Ok(());
            }
            Err(error) => Failure::Error(error),
        },
        Err(error) => fail(session, trx, autocommit, error, compiled),
    };
    if let Some(upload) = upload {
        drain(session, answer, upload);
    }
    answer.out.rewind(mark);
    Err(failed)
}

/// Runs a query whose rows `take` gets, until that says that it has enough (false).
///
/// # Errors
/// [`Failure`]; where it is [`Failure::Stale`], `take` has got nothing.
pub(super) fn run_rows(
    session: &mut Session,
    compiled: &Compiled,
    params: &[Value<'_>],
    take: &mut dyn FnMut(&[Value<'_>]) -> bool,
) -> Result<(), Failure> {
    if session.is_checked {
        check(session, compiled)?;
    }
    if compiled.warns {
        warn(session, compiled, false)?;
    }
    let is_limited = compiled.com == Com::Select
        && (u64::from(compiled.execution_ms) | session.variables.hot.max_execution_time != 0);
    let limit = if is_limited { begin_limit(session, compiled) } else { None };
    let result = run_rows_body(session, compiled, params, take);
    match limit {
        None => result,
        Some(armed) => end_limit(session, &armed, result),
    }
}

fn run_rows_body(
    session: &mut Session,
    compiled: &Compiled,
    params: &[Value<'_>],
    take: &mut dyn FnMut(&[Value<'_>]) -> bool,
) -> Result<(), Failure> {
    let autocommit = transaction::is_autocommit(session);
    let mut trx = transaction::enter(session);
    let mut scratch = session.scratch.take().unwrap_or_default();
    let context = StatementContext::new(session);
    let (mut out, mut nothing) = (OutBuffer::new(), |_: &mut OutBuffer| Ok(()));
    let outcome = compiled.program.run_rows(
        &mut ExecCtx {
            engine: &session.server.engine,
            trx: &mut trx,
            session: &context,
            conditions: &context,
            params,
            client: Client {
                protocol: Protocol::Text,
                capabilities: session.capabilities,
                status: session.status(),
                charset: session.variables.hot.results,
                names: &[],
                out: &mut out,
                flush: &mut nothing,
            },
            memory: &session.statement_memory,
            rows_examined: session.counters.of(HotCounter::RowsExamined),
            scratch: &mut scratch,
            autocommit,
            load: None,
        },
        take,
    );
    let effects = context.into_effects();
    session.scratch = Some(scratch);
    effects.apply(session);
    match outcome {
        Ok(()) => Ok(transaction::leave(session, trx, autocommit)?),
        Err(error) => Err(fail(session, trx, autocommit, &error, compiled)),
    }
}

/// Reads the rest of the file of a statement that has failed: its client listens only when all of it is sent.
/// The statement is undone already, so that no other transaction waits for this client.
#[cold]
fn drain(session: &Session, answer: &mut Answer<'_>, mut upload: ClientFile<'_>) {
    match upload.drain() {
        Ok(next) => answer.out.set_sequence(next),
        Err(_) => session.process.kill_self(Kill::Connection),
    }
}

/// Answers a query of constants, except for what ends its rows; it uses no transaction. False: it is another
/// statement.
#[inline]
fn write_constants(session: &Session, answer: &mut Answer<'_>, compiled: &Compiled) -> bool {
    let mut nothing = |_: &mut OutBuffer| Ok(());
    compiled.program.write_constants(&mut Client {
        protocol: protocol(answer.binary),
        capabilities: session.capabilities,
        status: session.status().with(ServerStatus::MORE_RESULTS, answer.more_results),
        charset: session.variables.hot.results,
        names: &session.column_names,
        out: answer.out,
        flush: &mut nothing,
    })
}

fn protocol(binary: bool) -> Protocol {
    if binary { Protocol::Binary } else { Protocol::Text }
}

/// Warns of what a text has, unless it is a prepared one, for which that was done when it was prepared, and
/// of how it was planned.
///
/// # Errors
/// 1175: the change is not safe.
#[cold]
fn warn(session: &mut Session, compiled: &Compiled, is_prepared: bool) -> Result<(), SqlError> {
    if compiled.lacks_key {
        return Err(error_map::UPDATE_WITHOUT_KEY_IN_SAFE_MODE.with(&[&""]));
    }
    if let Some(bytes) = compiled.range_memory_exceeded {
        session.warn(Severity::Warning, range_memory_exceeded(bytes));
    }
    for one in compiled.deprecated.iter().filter(|_| !is_prepared) {
        session.warn(severity(one), deprecation(one));
    }
    Ok(())
}

/// A statement about to run.
struct Run<'r> {
    context: &'r StatementContext<'r>,
    session: &'r Session,
    compiled: &'r Compiled,
    params: &'r [Value<'r>],
    autocommit: bool,
}

impl Run<'_> {
    /// Runs the program; what its expressions did to the session is left in the context.
    #[inline]
    fn drive(
        &self,
        answer: &mut Answer<'_>,
        trx: &mut Trx,
        scratch: &mut Scratch,
        load: Option<&mut dyn LoadSource>,
    ) -> Result<Outcome, ExecError> {
        self.drive_as(answer, trx, scratch, load, Program::run)
    }

    /// [`Run::drive`] with rows of the text.
    #[cold]
    #[inline(never)]
    fn drive_with_rows(
        &self,
        answer: &mut Answer<'_>,
        trx: &mut Trx,
        scratch: &mut Scratch,
        rows: LiteralRows<'_>,
    ) -> Result<Outcome, ExecError> {
        self.drive_as(answer, trx, scratch, None, |program, ctx| program.run_literal_rows(rows, ctx))
    }

    #[inline(always)]
    fn drive_as(
        &self,
        answer: &mut Answer<'_>,
        trx: &mut Trx,
        scratch: &mut Scratch,
        load: Option<&mut dyn LoadSource>,
        run: impl FnOnce(&Program, &mut ExecCtx<'_>) -> Result<Outcome, ExecError>,
    ) -> Result<Outcome, ExecError> {
        let session = self.session;
        let socket = answer.socket;
        let mut flush = |out: &mut OutBuffer| socket.send(out);
        let ctx = &mut ExecCtx {
            engine: &session.server.engine,
            trx,
            session: self.context,
            conditions: self.context,
            params: self.params,
            client: Client {
                protocol: protocol(answer.binary),
                capabilities: session.capabilities,
                status: session.status().with(ServerStatus::MORE_RESULTS, answer.more_results),
                charset: session.variables.hot.results,
                names: &session.column_names,
                out: &mut *answer.out,
                flush: &mut flush,
            },
            memory: &session.statement_memory,
            rows_examined: session.counters.of(HotCounter::RowsExamined),
            scratch,
            autocommit: self.autocommit,
            load: load.map(|file| file as &mut dyn LoadSource),
        };
        run(&self.compiled.program, ctx)
    }

    /// Runs a program that reads the client's file of this name. After an error, what is left of the file is
    /// in `upload`.
    #[cold]
    fn drive_with_file<'a>(
        &self,
        answer: &mut Answer<'a>,
        trx: &mut Trx,
        scratch: &mut Scratch,
        name: &str,
        upload: &mut Option<ClientFile<'a>>,
    ) -> Result<Outcome, ExecError> {
        let Some(reader) = answer.reader.take() else {
            return Err(ExecError::NotSupported("a file in the place of a known statement"));
        };
        reply::write_local_infile_request(answer.out, name.as_bytes());
        let timeout_s = self.session.variables.hot.net_read_timeout;
        // The reader of the file notices when the client is gone.
        let _ = answer.socket.send(answer.out);
        let source = ClientFile::new(answer.socket, reader, answer.out.sequence(), timeout_s);
        let source = upload.insert(source);
        let outcome = self.drive(answer, trx, scratch, Some(&mut *source))?;
        let drained = source.drain().map(|next| answer.out.set_sequence(next));
        drained.map_err(ExecError::Send).and(Ok(outcome))
    }
}

/// The file that the statement wants from the client, if it may have one.
fn client_file<'c>(
    session: &Session,
    compiled: &'c Compiled,
    binary: bool,
) -> Result<Option<&'c str>, SqlError> {
    let Plan::Load(load) = &**compiled.program.plan() else {
        return Ok(None);
    };
    if binary {
        return Err(error_map::UNSUPPORTED_PS.bare());
    }
    if !load.local {
        return Err(error_map::OPTION_PREVENTS_STATEMENT.with(&[&"--secure-file-priv"]));
    }
    let allowed = session.server.variables.read().named("local_infile").as_bool();
    if !allowed || !session.capabilities.has(Capabilities::LOCAL_FILES) {
        return Err(error_map::CLIENT_LOCAL_FILES_DISABLED.bare());
    }
    Ok(Some(&load.file))
}

/// Ends the answer of a statement that has succeeded.
#[inline(always)]
fn finish(
    session: &mut Session,
    answer: &mut Answer<'_>,
    compiled: &Compiled,
    outcome: &Outcome,
    mark: Mark,
) {
    if let Some(id) = outcome.last_insert_id {
        session.last_insert_id = id;
    }
    if outcome.has_rows {
        finish_rows(session, answer, compiled, outcome.found_rows, mark);
    } else {
        session.row_count = outcome.affected as i64;
        finish_change(session, answer, outcome);
    }
}

/// Ends the rows of a query; those of DO are taken back.
#[inline]
fn finish_rows(
    session: &mut Session,
    answer: &mut Answer<'_>,
    compiled: &Compiled,
    found_rows: u64,
    mark: Mark,
) {
    if compiled.is_do {
        answer.out.rewind(mark);
        return answer.plain_ok(session);
    }
    session.row_count = -1;
    session.found_rows = found_rows;
    let status = session.status().with(ServerStatus::MORE_RESULTS, answer.more_results);
    let warnings = session.diagnostics.packet_count();
    reply::write_rows_end(answer.out, session.capabilities, status, warnings);
}

fn finish_change(session: &mut Session, answer: &mut Answer<'_>, outcome: &Outcome) {
    let mut ok = OkPacket {
        affected_rows: outcome.affected,
        last_insert_id: outcome.insert_id,
        ..OkPacket::default()
    };
    if outcome.summary == Summary::None {
        return answer.ok(session, &ok);
    }
    let info = outcome.summary.text(session.diagnostics.warning_count());
    ok.info = info.as_bytes();
    answer.ok(session, &ok);
}

/// Carries out what an error means for the transaction and the connection. A statement that met a damaged
/// page is undone and fails alone: the page's index is out of use from then on.
#[cold]
fn fail(
    session: &mut Session,
    trx: Box<Trx>,
    autocommit: bool,
    error: &ExecError,
    compiled: &Compiled,
) -> Failure {
    let effect = error.effect();
    if let (Effect::Server, ExecError::Engine(error)) = (effect, error) {
        session.server.fail(error);
    }
    let named = match error {
        ExecError::Engine(error) if error.is_corrupt_page() => {
            let tables = compiled.program.tables();
            Some(ExecError::Engine(session.server.engine.name_damage(error.clone(), tables)))
        }
        _ => None,
    };
    let error = named.as_ref().unwrap_or(error);
    let refused = matches!(error, ExecError::Engine(engine::Error::Lock(trx::Error::ReadOnlyTransaction)));
    transaction::leave_failed(session, trx, autocommit, effect, refused);
    if matches!(error, ExecError::Engine(engine::Error::Lock(trx::Error::Deadlock))) {
        deadlock_report::log_new(&session.server);
    }
    if is_stale(error) {
        session.diagnostics.clear();
        return Failure::Stale;
    }
    if effect == Effect::Connection {
        session.process.kill_self(Kill::Connection);
    }
    Failure::Error(exec_error::sql_error(error, &session.variables.hot.time_zone))
}
