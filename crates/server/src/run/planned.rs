//! Planned statements: from syntax tree to program, from program to answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use bumpalo::Bump;
use engine::{Effect, Trx};
use exec::{Client, ExecCtx, ExecError, LoadSource, Outcome, Program, Protocol, Scratch, Summary};
use expr::EvalCtx;
use sql::ast::{InsertSource, QueryBody, Statement};
use sql::bind::{
    BindContext, BindError, Deprecated, Literals, ParamUse, Planned, RangeMemory, Refused, TextParam,
};
use sql::dive::{self, Dives, Recheck};
use sql::plan::Plan;
use types::{SqlType, Value};
use wire::out_buffer::Mark;
use wire::{Capabilities, OkPacket, OutBuffer, ServerStatus, reply};

use super::item_names::ItemNames;
use super::load_local::ClientFile;
use crate::answer::Answer;
use crate::catalog::EngineCatalog;
use crate::deadlines::Armed;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::process_list::Kill;
use crate::session::Session;
use crate::statement_context::{StatementContext, warning_condition};
use crate::status::{Com, Hot};
use crate::{bind_error, deadlock_report, exec_error, transaction, virtual_tables};

/// A program and what it was made under.
#[derive(Debug)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Version of the catalog that its names were looked up in.
    made_at: u64,
    /// Newest version under which they are known to be the same.
    current_at: AtomicU64,
    /// Number of its parameters, lifted literals included.
    pub params: u16,
    /// Counter of its statements.
    pub com: Com,
    /// DO: nobody reads the row.
    pub is_do: bool,
    /// Milliseconds of its hint MAX_EXECUTION_TIME; 0: none.
    pub execution_ms: u32,
    /// There is something to warn of each time, or it is refused.
    pub warns: bool,
    /// `sql_safe_updates` refuses it.
    pub lacks_key: bool,
    /// What it takes its `?` for.
    pub param_uses: Box<[ParamUse]>,
    /// What its text has that MySQL warns of.
    pub deprecated: Vec<Deprecated>,
    /// The limit on memory for keys if it was too low: each execution warns of it.
    pub range_memory_exceeded: Option<u64>,
    /// Names of its columns that follow from the literals.
    pub names: ItemNames,
    /// What its plan depends on beside the key.
    pub rechecks: Box<[Recheck]>,
    /// Literals that have to be what they are in it.
    text_params: Box<[TextParam]>,
    /// It has some of either.
    is_conditional: bool,
    /// Executions whose values it was not for.
    pub misses: AtomicU32,
}

impl Compiled {
    /// Whether it serves under catalog version `version`. Cost: a load, unless a definition has changed since it was last
    /// asked.
    #[inline]
    pub fn is_current(&self, version: u64) -> bool {
        self.was_current(version) || self.still_serves(version)
    }

    /// Whether [`Compiled::is_current`] was true under catalog version `version` when it was last asked.
    #[inline]
    pub fn was_current(&self, version: u64) -> bool {
        self.current_at.load(Ordering::Relaxed) == version
    }

    /// Columns of the rows of a query.
    pub fn columns(&self) -> usize {
        match &**self.program.plan() {
            Plan::Query(query) => query.output.len(),
            _ => 0,
        }
    }

    /// Asks the tables. The version was read before them, so that none of its changes is missed.
    #[cold]
    #[inline(never)]
    fn still_serves(&self, version: u64) -> bool {
        let serves = self.program.serves(self.made_at);
        if serves {
            self.current_at.fetch_max(version, Ordering::Relaxed);
        }
        serves
    }
}

/// Why a program did not run to its end. The transaction is as it must be.
#[derive(Debug)]
pub enum Failure {
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

/// What a statement is planned with, beside its session.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The text it was parsed from.
    pub sql: &'a [u8],
    /// Types given for its `?`; the text implies those of the others.
    pub param_types: &'a [Option<SqlType>],
    /// Number of its parameters, lifted literals included.
    pub param_count: usize,
    /// What becomes of numbered literals.
    pub literals: Literals,
    /// Values of the parameters, if the program is made to be run with them.
    pub params: Option<&'a [Value<'a>]>,
}

/// Executions with other values than a plan is for until one for theirs takes its place although it costs more.
const MISSES_MAX: u32 = 16;

impl Compiled {
    /// Whether the program is good for `params`. Cost: a load, unless dives had a say in its plan, or texts are numbers or dates.
    #[inline]
    pub fn serves(&self, session: &Session, params: &[Value<'_>]) -> bool {
        !self.is_conditional || self.holds(session, params)
    }

    #[inline(never)]
    fn holds(&self, session: &Session, params: &[Value<'_>]) -> bool {
        self.text_params.iter().all(|text| text.serves(params))
            && (self.rechecks.is_empty() || self.paths_hold(session, params))
    }

    #[cold]
    #[inline(never)]
    fn paths_hold(&self, session: &Session, params: &[Value<'_>]) -> bool {
        let (arena, values) = (Bump::new(), StatementContext::new(session));
        let ctx = EvalCtx::new(&arena, params, &values);
        let holds = dive::holds(&self.rechecks, &EngineCatalog::new(&session.server.engine), &ctx);
        self.misses.fetch_add(u32::from(!holds), Ordering::Relaxed);
        holds
    }

    /// Whether this program is to be kept rather than `other`, made for other values of the same statement: executions that read
    /// little suffer more from being planned than those that read much.
    pub fn outlasts(&self, other: &Compiled) -> bool {
        let cost = |compiled: &Compiled| compiled.rechecks.iter().map(Recheck::cost).sum::<f64>();
        !self.rechecks.is_empty()
            && self.is_current(other.made_at)
            && cost(self) <= cost(other)
            && self.misses.load(Ordering::Relaxed) < MISSES_MAX
    }
}

/// The kind of a statement that is planned and answers by itself; `None` for all others.
pub fn planned_kind(statement: &Statement<'_>) -> Option<Com> {
    Some(match statement {
        Statement::Query(query) if matches!(query.into, Some(sql::ast::Into::Vars(_))) => return None,
        Statement::Query(_) => Com::Select,
        Statement::Insert(insert) => {
            match (insert.replace, matches!(insert.source, InsertSource::Query(_))) {
                (false, false) => Com::Insert,
                (false, true) => Com::InsertSelect,
                (true, false) => Com::Replace,
                (true, true) => Com::ReplaceSelect,
            }
        }
        Statement::Update(_) => Com::Update,
        Statement::Delete(_) => Com::Delete,
        Statement::LoadData(_) => Com::Load,
        Statement::Do(_) => Com::Do,
        _ => return None,
    })
}

/// Binds, plans and compiles a statement of kind `com`. True with it: it serves every text of the same key.
///
/// # Errors
/// What MySQL refuses before it runs a statement.
pub fn compile(
    session: &mut Session,
    statement: &Statement<'_>,
    com: Com,
    request: &Request<'_>,
) -> Result<(Compiled, bool), SqlError> {
    let server = Arc::clone(&session.server);
    let engine = &server.engine;
    loop {
        // Read before any name is looked up: a change in between makes the program look older than it is.
        let catalog_version = engine.catalog_version();
        let planned = plan(session, statement, request)?;
        match exec::compile(Arc::new(planned.plan), engine) {
            Ok(program) => {
                session.server.plans.count_made();
                let is_do = com == Com::Do;
                let deprecated = planned.deprecated;
                let execution_ms = execution_ms(statement);
                let params = request.param_count as u16;
                let hot = &session.variables.hot;
                let range_bytes_max = hot.range_optimizer_max_mem_size;
                let lacks_key = hot.sql_safe_updates && program.plan().changes_without_key();
                let compiled = Compiled {
                    program,
                    made_at: catalog_version,
                    current_at: AtomicU64::new(catalog_version),
                    params,
                    com,
                    is_do,
                    execution_ms,
                    warns: planned.range_memory_exceeded || !deprecated.is_empty() || lacks_key,
                    lacks_key,
                    param_uses: planned.param_uses.into(),
                    deprecated,
                    range_memory_exceeded: planned.range_memory_exceeded.then_some(range_bytes_max),
                    names: ItemNames::default(),
                    is_conditional: !(planned.rechecks.is_empty() && planned.text_params.is_empty()),
                    rechecks: planned.rechecks.into(),
                    text_params: planned.text_params.into(),
                    misses: AtomicU32::new(0),
                };
                return Ok((compiled, planned.shareable));
            }
            Err(error) if is_stale(&error) => {}
            Err(error) => return Err(exec_error::sql_error(&error, &session.variables.hot.time_zone)),
        }
    }
}

/// The hint MAX_EXECUTION_TIME of a SELECT's first query block.
fn execution_ms(statement: &Statement<'_>) -> u32 {
    let Statement::Query(query) = statement else { return 0 };
    let mut body = query.body;
    loop {
        body = match body {
            QueryBody::Select(select) => return select.max_execution_ms,
            QueryBody::SetOp(set) => set.first,
            QueryBody::Nested(query) => query.body,
            QueryBody::Values(_) | QueryBody::Table(_) => return 0,
        };
    }
}

/// Binds and plans a statement. If that fails, the session gets the warnings that came before.
///
/// # Errors
/// What MySQL refuses before it runs a statement; 1235 for statements that are not planned.
pub fn plan(
    session: &mut Session,
    statement: &Statement<'_>,
    request: &Request<'_>,
) -> Result<Planned, SqlError> {
    virtual_tables::ensure_allowed(session, statement)?;
    let planned = bind_and_plan(session, statement, request)?;
    planned.map_err(|refused| {
        for one in &refused.deprecated {
            session.warn(Severity::Warning, deprecation(one));
        }
        bind_error(session, &refused.error)
    })
}

fn bind_and_plan(
    session: &Session,
    statement: &Statement<'_>,
    request: &Request<'_>,
) -> Result<Result<Planned, Refused>, SqlError> {
    let catalog = EngineCatalog::new(&session.server.engine);
    let hot = &session.variables.hot;
    let range_memory = RangeMemory::new(hot.range_optimizer_max_mem_size);
    let (arena, values) = (Bump::new(), StatementContext::new(session));
    let dive = |params| Dives::new(EvalCtx::new(&arena, params, &values), hot.eq_range_index_dive_limit);
    let dives = request.params.map(dive);
    let too_many = |_| error_map::NOT_SUPPORTED_YET.with(&[&"more than 65535 parameters"]);
    let context = BindContext {
        catalog: &catalog,
        session,
        sql: request.sql,
        database: session.database.as_deref(),
        modes: hot.sql_mode,
        collation: hot.collation_connection,
        div_precision_increment: hot.div_precision_increment as u8,
        param_types: request.param_types,
        param_count: u16::try_from(request.param_count).map_err(too_many)?,
        literals: request.literals,
        range_memory: &range_memory,
        reads_lock: transaction::reads_lock(hot.isolation),
        dives: dives.as_ref(),
    };
    Ok(sql::bind_and_plan(statement, &context))
}

/// With locked tables, one that is not there is one that is not locked.
#[cold]
fn bind_error(session: &Session, error: &BindError) -> SqlError {
    let known = match error {
        BindError::NoSuchTable { table, .. } if session.table_locks.is_some() => {
            Some(error_map::TABLE_NOT_LOCKED.with(&[table]))
        }
        // Either KILL or the time limit of the statement asked for it.
        BindError::Interrupted => session.fail_if_killed().err(),
        _ => None,
    };
    known.unwrap_or_else(|| bind_error::sql_error(error, session.database.as_deref()))
}

fn is_stale(error: &ExecError) -> bool {
    matches!(error, ExecError::Engine(engine::Error::TableChanged))
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
    if let Some(locks) = &session.table_locks {
        locks.ensure_covers(compiled.program.plan())?;
    }
    if compiled.warns {
        warn(session, compiled, answer.binary)?;
    }
    let mark = answer.out.mark();
    if write_constants(session, answer, compiled) {
        finish_rows(session, answer, compiled, 1, mark);
        return Ok(());
    }
    let is_limited = u64::from(compiled.execution_ms) | session.variables.hot.max_execution_time != 0;
    if is_limited || compiled.com == Com::Load {
        return run_rarely(session, answer, compiled, params, mark);
    }
    run_body(session, answer, compiled, params, mark, None)
}

/// Runs a statement that has a time limit or reads a file of the client: apart, so that others pay nothing for that.
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
    let counter = if armed.is_some() { Hot::ExecutionTimeSet } else { Hot::ExecutionTimeSetFailed };
    session.counters.add(counter, 1);
    armed
}

/// The result of a SELECT that has run under a time limit.
fn end_limit(session: &Session, limit: &Armed, result: Result<(), Failure>) -> Result<(), Failure> {
    if !limit.has_passed() {
        return result;
    }
    session.counters.add(Hot::ExecutionTimeExceeded, 1);
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

/// Runs a statement and ends its answer. `file`: what it wants from the client.
#[inline(always)]
fn run_body(
    session: &mut Session,
    answer: &mut Answer<'_>,
    compiled: &Compiled,
    params: &[Value<'_>],
    mark: Mark,
    file: Option<&str>,
) -> Result<(), Failure> {
    let autocommit = transaction::is_autocommit(session);
    let mut trx = transaction::enter(session);
    let mut scratch = session.scratch.take().unwrap_or_default();
    let context = StatementContext::new(session);
    let run = Run { context: &context, session, compiled, params, autocommit };
    let mut upload = None;
    let outcome = match file {
        None => run.drive(answer, &mut trx, &mut scratch, None),
        Some(file) => run.drive_with_file(answer, &mut trx, &mut scratch, file, &mut upload),
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
    if let Some(locks) = &session.table_locks {
        locks.ensure_covers(compiled.program.plan())?;
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
            rows_examined: session.counters.of(Hot::RowsExamined),
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

/// Reads the rest of the file of a statement that has failed: its client listens only when all of it is sent. The
/// statement is undone already, so that no other transaction waits for this client.
#[cold]
fn drain(session: &Session, answer: &mut Answer<'_>, mut upload: ClientFile<'_>) {
    match upload.drain() {
        Ok(next) => answer.out.set_sequence(next),
        Err(_) => session.process.kill_self(Kill::Connection),
    }
}

/// Answers a query of constants, but for what ends its rows; it uses no transaction. False: it is another statement.
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

/// Warns of what a text has, unless it is a prepared one, for which that was done when it was prepared, and of how it was planned.
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
        session.warn(Severity::Warning, deprecation(one));
    }
    Ok(())
}

/// The condition that warns of `one`.
#[cold]
fn deprecation(one: &Deprecated) -> SqlError {
    let kind = match one {
        Deprecated::Constant(warning) => return warning_condition(warning),
        Deprecated::Incorrect(_) => &error_map::TRUNCATED_WRONG_VALUE,
        Deprecated::NationalString => &error_map::DEPRECATED_NATIONAL,
        Deprecated::Ambiguous { .. } => &error_map::NON_UNIQ,
        Deprecated::Utf8Alias => &error_map::DEPRECATED_UTF8_ALIAS,
        Deprecated::Utf8mb3Collation(_) => &error_map::DEPRECATED_UTF8MB3_COLLATION,
        _ => &error_map::WARN_DEPRECATED_SYNTAX,
    };
    kind.saying(one.to_string())
}

/// MySQL's warning that indexes were left out.
pub fn range_memory_exceeded(bytes: u64) -> SqlError {
    let consequence = "Range optimization was not done for this query.";
    error_map::CAPACITY_EXCEEDED.with(&[&bytes, &"range_optimizer_max_mem_size", &consequence])
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
        let session = self.session;
        let socket = answer.socket;
        let mut flush = |out: &mut OutBuffer| socket.send(out);
        self.compiled.program.run(&mut ExecCtx {
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
            rows_examined: session.counters.of(Hot::RowsExamined),
            scratch,
            autocommit: self.autocommit,
            load: load.map(|file| file as &mut dyn LoadSource),
        })
    }

    /// Runs a program that reads the client's file of this name. After an error, what is left of the file is in `upload`.
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
        // A client that is gone is noticed by whoever reads the file.
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

/// Carries out what an error means for the transaction and the connection. A statement that met a damaged page is undone and
/// fails alone: the page's index is out of use from then on.
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
