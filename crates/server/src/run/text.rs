//! Statements as texts: COM_QUERY, and COM_FIELD_LIST.

use std::sync::Arc;

use bumpalo::Bump;
use expr::Builder;
use sql::ast::Statement;
use sql::bind::Literals;
use sql::cache_key::CACHED_LITERALS_MAX;
use sql::{CacheKey, LexMode, Literal, ParseErrorKind, Parsed};
use types::Value;
use wire::Capabilities;

use super::compile::{self, Request, compile, planned_kind};
use super::literal_rows;
use super::params::{self, Strings};
use super::planned::{self, Failure};
use crate::answer::Answer;
use crate::client_io::ClientIo;
use crate::compiled::Compiled;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::inputs::Inputs;
use crate::item_names::ItemNames;
use crate::plan_cache::SessionPlans;
use crate::privilege::{self, Access, OnColumns, Want};
use crate::resource_use::CountedSession;
use crate::session::{CACHED_TEXT_BYTES_MAX, Session, Workspace};
use crate::status::{Com, HotCounter};
use crate::{bind_error, engine_error, parse_error, statement, statement_memory, virtual_tables};

/// Bytes of a text with more literals than the key of a kept plan has, at least.
const LITERAL_ROWS_BYTES_MIN: usize = 2 * CACHED_LITERALS_MAX;

/// A text, and where in it the current statement begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    pub(super) sql: &'a [u8],
    pub(super) start: usize,
    pub(super) mode: LexMode,
}

/// What of a [`Workspace`](crate::session::Workspace) a statement uses.
struct StatementBuffers<'w> {
    plans: &'w mut SessionPlans,
    key: &'w mut CacheKey,
    arena: &'w Bump,
}

/// COM_QUERY: runs every statement of the packet's text, up to the first that fails.
pub(crate) fn query(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    let mut work = session.workspace.take().unwrap_or_default();
    let result = if let Some(result) = run_known(session, io, &mut work) {
        result
    } else {
        let result = run_statements(session, io, &mut work);
        work.trim();
        result
    };
    work.clear();
    session.workspace = Some(work);
    if session.process.is_timed() {
        session.count_if_slow();
    }
    result
}

/// Runs a statement whose like, except for literals, was run before; `None` if there is no plan for it that
/// serves.
#[inline]
fn run_known(session: &mut Session, io: &mut ClientIo, work: &mut Workspace) -> Option<Result<(), SqlError>> {
    let Workspace { arena, key, plans, .. } = work;
    let (packet, mut answer) = io.packet_and_answer(false);
    let sql = packet.get(1..).unwrap_or_default();
    let environment = session.environment();
    let version = session.server.engine.catalog_version();
    let compiled = plans.find_text(environment, sql, key, version)?;
    let text = Text { sql, start: 0, mode: session.variables.hot.lex_mode };
    run_plan(session, &mut answer, text, compiled, key, arena)
}

/// Runs the statements of the packet one after the other.
#[inline(never)]
fn run_statements(session: &mut Session, io: &mut ClientIo, work: &mut Workspace) -> Result<(), SqlError> {
    let Workspace { packet, arena, key, plans } = work;
    io.reader.take_packet(packet);
    let sql = packet.get(1..).unwrap_or_default();
    let mut start = 0;
    loop {
        let text = Text { sql, start, mode: session.variables.hot.lex_mode };
        let buffers = StatementBuffers { plans: &mut *plans, key: &mut *key, arena };
        match one_statement(session, io, text, buffers)? {
            Some(end) => start = end,
            None => return Ok(()),
        }
        if session.process.is_timed() {
            session.count_if_slow();
        }
        arena.reset();
        session.process.begin_next();
        session.counters.add(HotCounter::Questions, 1);
    }
}

/// Runs the current statement; where the next one begins, if there is one.
fn one_statement(
    session: &mut Session,
    io: &mut ClientIo,
    text: Text<'_>,
    mut buffers: StatementBuffers<'_>,
) -> Result<Option<usize>, SqlError> {
    let key = &mut *buffers.key;
    let is_uncounted = text.sql.len() <= session.unparsed_bytes_max;
    let unparsed = is_uncounted || finds_plans_unparsed(session, text.sql.len());
    let cacheable = unparsed && read_key(key, text);
    if cacheable && text.sql[key.end()..].iter().all(u8::is_ascii_whitespace) {
        let mut answer = io.answer(false);
        // A text that leads to its plan by itself would not be counted once statements are.
        let keeps_text = is_uncounted && text.start == 0;
        if let Some(result) = run_cached(session, &mut answer, text, &mut buffers, keeps_text) {
            return result.map(|()| None);
        }
    }
    if !cacheable
        && text.sql.len() >= LITERAL_ROWS_BYTES_MIN
        && let Some(result) = literal_rows::run(session, io, text, buffers.arena)
    {
        return result.map(|()| None);
    }
    parse_and_run(session, io, text, cacheable, buffers)
}

/// Whether a plan of a statement of `bytes` bytes may be searched for before it is parsed, though the session
/// is counted: its statements are not.
#[cold]
fn finds_plans_unparsed(session: &Session, bytes: usize) -> bool {
    bytes <= CACHED_TEXT_BYTES_MAX && session.counted.as_ref().is_some_and(|it| !it.counts_statements())
}

/// Whether plans of the current statement are kept, if its text is not too long: under the key read.
#[inline(always)]
fn read_key(key: &mut CacheKey, text: Text<'_>) -> bool {
    key.read(text.sql, text.start, text.mode)
        && key.params() == 0
        && key.literals().len() <= CACHED_LITERALS_MAX
}

/// Runs the cached program for the key; `None` if there is none that serves. `keeps_text`: the next packet
/// with this text leads to the plan by itself.
fn run_cached(
    session: &mut Session,
    answer: &mut Answer<'_>,
    text: Text<'_>,
    buffers: &mut StatementBuffers<'_>,
    keeps_text: bool,
) -> Option<Result<(), SqlError>> {
    let environment = session.environment();
    let version = session.server.engine.catalog_version();
    let entry = buffers.plans.find(&session.server.plans, environment, buffers.key, version)?;
    if keeps_text {
        buffers.plans.keep_text(text.sql, buffers.key, &entry);
    }
    run_plan(session, answer, text, &entry.plan, buffers.key, buffers.arena)
}

/// Runs a plan with the literals that `key` lists; `None` if it does not serve them.
#[inline(always)]
fn run_plan(
    session: &mut Session,
    answer: &mut Answer<'_>,
    text: Text<'_>,
    compiled: &Compiled,
    key: &CacheKey,
    arena: &Bump,
) -> Option<Result<(), SqlError>> {
    let strings = Strings::new(&session.variables.hot);
    let params = params::literals(key.literals(), text.sql, text.mode, strings, arena)?;
    if !compile::serves(session, compiled, params) {
        return None;
    }
    session.diagnostics.clear();
    if let Err(error) = session.fail_if_killed() {
        return Some(Err(error));
    }
    let result = if compiled.names.is_empty() {
        planned::run(session, answer, compiled, params)
    } else {
        run_renamed(session, answer, text, compiled, key.literals(), params)
    };
    match result {
        Ok(()) => Some(Ok(())),
        Err(Failure::Error(error)) => Some(Err(error)),
        Err(Failure::Stale) => None,
    }
}

/// Runs a plan with columns that the text names, with `literals` in the names.
#[cold]
#[inline(never)]
fn run_renamed(
    session: &mut Session,
    answer: &mut Answer<'_>,
    text: Text<'_>,
    compiled: &Compiled,
    literals: &[Literal],
    params: &[Value<'_>],
) -> Result<(), Failure> {
    session.column_names = compiled.names.with(text.sql, literals);
    let result = planned::run(session, answer, compiled, params);
    session.column_names.clear();
    result
}

/// Parses and runs the current statement. `cacheable`: plans of its kind are kept, under the key read.
fn parse_and_run(
    session: &mut Session,
    io: &mut ClientIo,
    text: Text<'_>,
    cacheable: bool,
    mut buffers: StatementBuffers<'_>,
) -> Result<Option<usize>, SqlError> {
    let Text { sql, start, mode } = text;
    let is_counted = session.counted.as_ref().is_some_and(CountedSession::counts_statements);
    let cacheable =
        cacheable || is_counted && sql.len() <= CACHED_TEXT_BYTES_MAX && read_key(buffers.key, text);
    let key = cacheable.then_some(&*buffers.key);
    let tree_max = statement_memory::tree_bytes_max(session, sql.len());
    let parsed = sql::parse_numbered(sql, start, mode, buffers.arena, key, tree_max);
    let keeps = parsed.as_ref().is_ok_and(|parsed| statement::keeps_diagnostics(&parsed.statement));
    if !keeps {
        session.diagnostics.clear();
    }
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error) if is_comment_only(&error, text) => {
            session.counted.as_ref().map_or(Ok(()), |counted| counted.count(|| false))?;
            io.answer(false).plain_ok(session);
            return Ok(None);
        }
        Err(error) => {
            warn_of_national_texts(session, text, error.offset);
            return Err(statement_memory::parse_error(session, buffers.arena, &error));
        }
    };
    refuse_rest(session, &parsed, sql)?;
    if let Some(counted) = &session.counted {
        counted.count(|| statement::changes_data(&parsed.statement))?;
    }
    session.fail_if_killed()?;
    let _plan = statement_memory::charge_plan(session, buffers.arena)?;
    let mut answer = io.answer(parsed.more);
    if let Some(com) = planned_kind(&parsed.statement) {
        let numbered = cacheable && parsed.numbered;
        let result = if numbered && (parsed.more || is_counted) {
            run_cached(session, &mut answer, text, &mut buffers, false)
        } else {
            None
        };
        match result {
            Some(result) => result?,
            None => run_new(session, &mut answer, text, (&parsed.statement, com), numbered, buffers)?,
        }
    } else {
        let own = &sql[text.start..parsed.end.min(sql.len())];
        statement::run(session, &parsed.statement, own, Inputs { sql, params: &[] }, &mut answer)?;
    }
    Ok(parsed.more.then_some(parsed.end))
}

/// The error of a statement that `error` refuses.
#[cold]
fn refused(session: &mut Session, text: Text<'_>, error: SqlError) -> SqlError {
    if let Some(error) = bad_literal(session, text) {
        return error;
    }
    warn_of_national_texts(session, text, text.sql.len());
    error
}

/// Warns of the national texts up to the offset `end` that the session was not warned of: MySQL does when it
/// reads them, whatever is wrong with the statement.
#[cold]
fn warn_of_national_texts(session: &mut Session, text: Text<'_>, end: usize) {
    let conditions = session.diagnostics.conditions();
    let known = conditions.iter().filter(|known| known.code == error_map::DEPRECATED_NATIONAL.code).count();
    for _ in known..sql::national_texts(text.sql, text.start, end, text.mode) {
        session.warn(Severity::Warning, error_map::DEPRECATED_NATIONAL.bare());
    }
}

/// The error of an invalid date or time literal of the statement: it comes before all other errors.
#[cold]
fn bad_literal(session: &Session, text: Text<'_>) -> Option<SqlError> {
    let hot = &session.variables.hot;
    let build = Builder { collation: hot.collation_connection, modes: hot.sql_mode, ..Builder::default() };
    let error = sql::bad_literal(text.sql, text.start, text.mode, &build)?;
    Some(bind_error::sql_error(&error, session.database.as_deref()))
}

/// Whether the text is nothing but comments, such as one for another product's versions: that is no error.
#[cold]
fn is_comment_only(error: &sql::ParseError, text: Text<'_>) -> bool {
    let blank = |bytes: &[u8]| bytes.iter().all(|byte| byte.is_ascii_whitespace() || *byte == b';');
    matches!(error.kind, ParseErrorKind::Empty)
        && blank(&text.sql[error.offset..])
        && !blank(&text.sql[text.start..error.offset])
}

/// Errors for what COM_QUERY does not take: `?`, and a second statement unless the client may send several.
fn refuse_rest(session: &Session, parsed: &Parsed<'_>, sql: &[u8]) -> Result<(), SqlError> {
    if parsed.params > 0 {
        return Err(parse_error::syntax("?"));
    }
    if parsed.more && !session.capabilities.has(Capabilities::MULTI_STATEMENTS) {
        return Err(parse_error::more_than_one(sql, parsed.end));
    }
    Ok(())
}

/// Plans a statement, keeps the plan if it serves other texts too, and runs it. `numbered`: the key's
/// literals are the statement's.
fn run_new(
    session: &mut Session,
    answer: &mut Answer<'_>,
    text: Text<'_>,
    (statement, com): (&Statement<'_>, Com),
    numbered: bool,
    buffers: StatementBuffers<'_>,
) -> Result<(), SqlError> {
    let StatementBuffers { plans, key, arena } = buffers;
    let strings = Strings::new(&session.variables.hot);
    let literals = numbered.then(|| key.literals());
    let lifted = literals.and_then(|list| params::literals(list, text.sql, text.mode, strings, arena));
    let params: &[Value<'_>] = lifted.unwrap_or_default();
    let literals = if lifted.is_some() { Literals::Parameters { base: 0 } } else { Literals::Constants };
    let request = Request {
        sql: text.sql,
        param_types: &[],
        late_types: &[],
        param_count: params.len(),
        literals,
        params: Some(params),
    };
    loop {
        let (mut compiled, shareable) =
            compile(session, statement, com, &request).map_err(|error| refused(session, text, error))?;
        let names = lifted.and_then(|_| ItemNames::of(compiled.program.plan(), text.sql, key));
        let is_kept = shareable && names.is_some();
        compiled.names = names.unwrap_or_default();
        let compiled = Arc::new(compiled);
        if is_kept {
            let environment = session.environment();
            plans.insert(&session.server.plans, environment, key, &compiled);
        }
        match planned::run(session, answer, &compiled, params) {
            Ok(()) => return Ok(()),
            Err(Failure::Error(error)) => return Err(error),
            Err(Failure::Stale) => {}
        }
    }
}

/// COM_FIELD_LIST: the columns of a table. Patterns are left to the client.
pub(crate) fn field_list(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    let args = io.reader.packet().get(1..).unwrap_or_default();
    let table = String::from_utf8_lossy(args.split(|&b| b == 0).next().unwrap_or_default()).into_owned();
    let Some(database) = session.database.clone() else {
        return Err(error_map::NO_DB.bare());
    };
    if session.is_checked {
        let access =
            Access { schema: database.as_str().into(), table: table.as_str().into(), want: Want::Seen };
        privilege::ensure(session, &[access])?;
    }
    let def = if let Some(def) = virtual_tables::find(&database, &table) {
        def
    } else {
        let found = session.server.engine.table(&database, &table);
        Arc::clone(&found.map_err(|error| engine_error::plain(&error))?.def)
    };
    session.diagnostics.clear();
    let charset = session.variables.hot.results;
    let rights = OnColumns::new(session, &def);
    for column in def.columns.iter().filter(|column| !rights.of(&column.name).is_empty()) {
        let mut definition = wire::ColumnDefinition::of_column(&column.name, &column.ty, charset);
        definition.schema = &def.schema;
        definition.table = &def.name;
        definition.org_table = &def.name;
        definition.org_name = &column.name;
        definition.write_with_default(&mut io.out, None);
    }
    wire::reply::write_rows_end(&mut io.out, session.capabilities, session.status(), 0);
    Ok(())
}
