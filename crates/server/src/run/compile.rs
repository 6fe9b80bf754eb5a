//! From syntax tree to program: what a statement is planned with, and the catalog version and settings its
//! program depends on.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use bumpalo::Bump;
use exec::ExecError;
use expr::EvalCtx;
use sql::ast::{InsertSource, QueryBody, Statement};
use sql::bind::{
    BindContext, BindError, ColumnUses, Deprecated, Literals, PlanFailure, Planned, RangeMemory,
};
use sql::dive::{self, Dives};
use types::{SqlType, Value};

use crate::catalog::EngineCatalog;
use crate::compiled::Compiled;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::item_names::ItemNames;
use crate::privilege::{self, RequiredPrivileges};
use crate::session::Session;
use crate::statement_context::StatementContext;
use crate::status::Com;
use crate::{bind_error, exec_error, virtual_tables};

/// The inputs of planning a statement, beside its session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The text it was parsed from.
    pub sql: &'a [u8],
    /// Types given for its `?`; the text implies those of the others.
    pub param_types: &'a [Option<SqlType>],
    /// Types that texts of `?` are converted to each time that they are read.
    pub late_types: &'a [Option<SqlType>],
    /// Number of its parameters, lifted literals included.
    pub param_count: usize,
    /// What becomes of numbered literals.
    pub literals: Literals,
    /// Values of the parameters, if the program is made to be run with them.
    pub params: Option<&'a [Value<'a>]>,
}

/// Whether the program is good for `params`. Cost: a load, unless dives had a say in its plan, or texts are
/// numbers or dates.
#[inline]
pub(super) fn serves(session: &Session, compiled: &Compiled, params: &[Value<'_>]) -> bool {
    !compiled.is_conditional || holds(session, compiled, params)
}

#[inline(never)]
fn holds(session: &Session, compiled: &Compiled, params: &[Value<'_>]) -> bool {
    compiled.text_params.iter().all(|text| text.serves(params))
        && (compiled.rechecks.is_empty() || paths_hold(session, compiled, params))
}

#[cold]
#[inline(never)]
fn paths_hold(session: &Session, compiled: &Compiled, params: &[Value<'_>]) -> bool {
    let (arena, values) = (Bump::new(), StatementContext::to_plan_with(session));
    let ctx = EvalCtx::new(&arena, params, &values);
    let holds = dive::holds(&compiled.rechecks, &EngineCatalog::new(&session.server.engine), &ctx);
    compiled.misses.fetch_add(u32::from(!holds), Ordering::Relaxed);
    holds
}

/// The kind of a statement that is planned and answers by itself; `None` for all others.
pub(crate) fn planned_kind(statement: &Statement<'_>) -> Option<Com> {
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
pub(crate) fn compile(
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
        let (planned, wanted) = plan_noting(session, statement, request)?;
        match exec::compile(planned.plan, engine) {
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
                    is_constant: program.is_constant(),
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
                    wanted,
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

/// Binds and plans a statement that the session may run. If that fails, the session gets the warnings that
/// came before.
///
/// # Errors
/// What MySQL refuses before it runs a statement; 1235 for statements that are not planned.
pub(crate) fn plan(
    session: &mut Session,
    statement: &Statement<'_>,
    request: &Request<'_>,
) -> Result<Planned, SqlError> {
    plan_noting(session, statement, request).map(|(planned, _)| planned)
}

/// As [`plan`], with what the statement wants if what the session may do is limited.
fn plan_noting(
    session: &mut Session,
    statement: &Statement<'_>,
    request: &Request<'_>,
) -> Result<(Planned, Option<Box<RequiredPrivileges>>), SqlError> {
    privilege::ensure_files(session, statement)?;
    privilege::ensure_statement(session, statement)?;
    virtual_tables::ensure_allowed(session, statement)?;
    let uses = session.rights.is_limited().then(RefCell::default);
    let planned = bind_and_plan(session, statement, request, uses.as_ref())?;
    let wanted = uses.map(|uses| {
        Box::new(RequiredPrivileges::new(session.database.as_deref(), statement, uses.into_inner()))
    });
    if let Some(wanted) = &wanted {
        // A column that may not be used comes before the error of what follows it.
        privilege::ensure_wanted(session, wanted)?;
    }
    match planned {
        Ok(planned) => Ok((planned, wanted)),
        Err(refused) => {
            for one in &refused.deprecated {
                session.warn(severity(one), deprecation(one));
            }
            Err(bind_error(session, &refused.error))
        }
    }
}

fn bind_and_plan(
    session: &Session,
    statement: &Statement<'_>,
    request: &Request<'_>,
    column_uses: Option<&RefCell<ColumnUses>>,
) -> Result<Result<Planned, PlanFailure>, SqlError> {
    let catalog = EngineCatalog::new(&session.server.engine);
    let hot = &session.variables.hot;
    let range_memory = RangeMemory::new(hot.range_optimizer_max_mem_size);
    let (arena, values) = (Bump::new(), StatementContext::to_plan_with(session));
    let dive = |params| Dives::new(EvalCtx::new(&arena, params, &values), hot.eq_range_index_dive_limit);
    let dives = request.params.map(dive);
    let too_many = |_| error_map::NOT_SUPPORTED_YET.with(&[&"more than 65535 parameters"]);
    let assigns_variables = OnceCell::new();
    let context = BindContext {
        param_types: request.param_types,
        late_types: request.late_types,
        param_count: u16::try_from(request.param_count).map_err(too_many)?,
        literals: request.literals,
        column_uses,
        dives: dives.as_ref(),
        ..bind_context(session, request.sql, &catalog, (&range_memory, &assigns_variables))
    };
    Ok(sql::bind_and_plan(statement, &context, session.server.options.planner_rules))
}

/// What the session's settings mean for binding `sql`, which has no parameters.
#[inline(always)]
pub(crate) fn bind_context<'a>(
    session: &'a Session,
    sql: &'a [u8],
    catalog: &'a EngineCatalog<'a>,
    (range_memory, assigns_variables): (&'a RangeMemory, &'a OnceCell<bool>),
) -> BindContext<'a> {
    let hot = &session.variables.hot;
    BindContext {
        catalog,
        session,
        sql,
        database: session.database.as_deref(),
        modes: hot.sql_mode,
        collation: hot.collation_connection,
        div_precision_increment: hot.div_precision_increment as u8,
        param_types: &[],
        late_types: &[],
        param_count: 0,
        literals: Literals::Constants,
        range_memory,
        assigns_variables,
        reads_lock: hot.reads_lock(),
        column_uses: None,
        dives: None,
    }
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

pub(super) fn is_stale(error: &ExecError) -> bool {
    matches!(error, ExecError::Engine(engine::Error::TableChanged))
}

pub(crate) fn severity(one: &Deprecated) -> Severity {
    if matches!(one, Deprecated::LostTime(_)) { Severity::Note } else { Severity::Warning }
}

/// The condition that warns of `one`.
#[cold]
pub(crate) fn deprecation(one: &Deprecated) -> SqlError {
    let kind = match one {
        Deprecated::Constant(warning) => return exec_error::warning_condition(warning),
        Deprecated::Incorrect(_) | Deprecated::LostTime(_) => &error_map::TRUNCATED_WRONG_VALUE,
        Deprecated::NationalString => &error_map::DEPRECATED_NATIONAL,
        Deprecated::Ambiguous { .. } => &error_map::NON_UNIQ,
        Deprecated::Utf8Alias => &error_map::DEPRECATED_UTF8_ALIAS,
        Deprecated::Utf8mb3Collation(_) => &error_map::DEPRECATED_UTF8MB3_COLLATION,
        _ => &error_map::WARN_DEPRECATED_SYNTAX,
    };
    kind.with_message(one.to_string())
}

/// MySQL's warning that indexes were left out.
pub(crate) fn range_memory_exceeded(bytes: u64) -> SqlError {
    let consequence = "Range optimization was not done for this query.";
    error_map::CAPACITY_EXCEEDED.with(&[&bytes, &"range_optimizer_max_mem_size", &consequence])
}
