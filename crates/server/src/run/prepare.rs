//! COM_STMT_PREPARE and COM_STMT_EXECUTE.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::memory::Kept;
use bumpalo::Bump;
use sql::Parsed;
use sql::ast::Statement;
use sql::bind::Literals;
use sql::plan::Plan;
use types::{OwnedValue, SqlType, Value};
use wire::ColumnDefinition;
use wire::execute::Execute;
use wire::prepare::PreparedStatement;

use super::params::{self, Strings};
use super::{Compiled, Failure, Request, compile, more_than_one, planned, planned_kind};
use crate::answer::Answer;
use crate::client_io::ClientIo;
use crate::constant::Inputs;
use crate::error_map::{self, SqlError};
use crate::memory_limits;
use crate::plan_cache::plan_bytes;
use crate::plan_key::PreparedKey;
use crate::prepared::{Prepared, PreparedPlan};
use crate::session::Session;
use crate::statement;
use crate::status::{Com, bump};
use crate::user_variable::TEXT_CHARS;

/// Most parameters and most columns of a prepared statement: its description has 16 bits for their numbers.
const DESCRIBED_MAX: usize = u16::MAX as usize;

/// COM_STMT_PREPARE.
#[inline(never)]
pub fn prepare(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    session.counters.count(Com::StmtPrepare);
    session.diagnostics.clear();
    let text: Box<[u8]> = io.reader.packet().get(1..).unwrap_or_default().into();
    let (prepared, compiled) = new_statement(session, text)?;
    let charset = session.variables.hot.results;
    let types = param_types(session, prepared.params, compiled.as_deref());
    let params: Vec<ColumnDefinition<'_>> =
        types.iter().map(|ty| ColumnDefinition::of_value("?", ty, charset)).collect();
    let plan = compiled.as_ref().map(|compiled| compiled.program.plan());
    let columns: Vec<ColumnDefinition<'_>> = match plan.map(|plan| &**plan) {
        Some(Plan::Query(query)) if prepared.planned != Some(Com::Do) => {
            query.output.iter().map(|column| exec::prepared_column_definition(column, charset)).collect()
        }
        _ => Vec::new(),
    };
    let id = session.prepared.add(prepared);
    let warnings = session.diagnostics.packet_count();
    let status = session.status();
    let described = PreparedStatement { id, params: &params, columns: &columns, warnings, status };
    described.write(&mut io.out, session.capabilities);
    Ok(())
}

/// The types of a statement's parameters, as far as its text implies them; texts otherwise.
fn param_types<'c>(session: &Session, params: usize, compiled: Option<&'c Compiled>) -> Cow<'c, [SqlType]> {
    match compiled {
        Some(compiled) if compiled.param_types.len() == params => Cow::Borrowed(&compiled.param_types),
        _ => {
            let text = SqlType::varchar(TEXT_CHARS, session.variables.hot.collation_connection);
            Cow::Owned(vec![text; params])
        }
    }
}

/// A new prepared statement, counted, and its program, if it is of a planned kind. The types of its parameters are not
/// known yet, so the program only tells its columns and parameters.
///
/// # Errors
/// Those of parsing and planning, 1461, 1295 for what cannot be prepared, 1390 and 1117 for what cannot be described.
pub(super) fn new_statement(
    session: &mut Session,
    text: Box<[u8]>,
) -> Result<(Prepared, Option<Arc<Compiled>>), SqlError> {
    let limit = session.server.variables.read().named("max_prepared_stmt_count").as_u64();
    if session.server.status.prepared_statements.load(Ordering::Relaxed) >= limit {
        return Err(error_map::MAX_PREPARED_STMT_COUNT_REACHED.with(&[&limit]));
    }
    let (params, compiled) = described(session, &text)?;
    let plan = compiled.as_ref().map(|compiled| &**compiled.program.plan());
    if matches!(plan, Some(Plan::Query(query)) if query.output.len() > DESCRIBED_MAX) {
        return Err(error_map::TOO_MANY_FIELDS.bare());
    }
    let kept = Kept::new(&session.memory, plan_bytes(text.len()) + text.len() as u64);
    let kept = kept.map_err(|exceeded| memory_limits::refuse(session, exceeded))?;
    bump(&session.server.status.prepared_statements, 1);
    let planned = compiled.as_ref().map(|compiled| compiled.com);
    Ok((Prepared { text, params, planned, kept: Some(kept), ..Prepared::default() }, compiled))
}

/// The number of a text's parameters, and its program before their types are known, if it is of a planned kind.
fn described(session: &mut Session, text: &[u8]) -> Result<(usize, Option<Arc<Compiled>>), SqlError> {
    let key = PreparedKey::new(text, None);
    let environment = session.environment();
    let version = session.server.engine.catalog_version();
    if let Some(compiled) = session.server.plans.find_prepared(environment, &key, version) {
        return Ok((compiled.params.into(), Some(compiled)));
    }
    let arena = Bump::new();
    let parsed = parse(session, text, &arena)?;
    let _plan = memory_limits::charge_plan(session, &arena)?;
    refuse_unpreparable(&parsed.statement)?;
    let params = parsed.params as usize;
    if params > DESCRIBED_MAX {
        return Err(error_map::PS_MANY_PARAM.bare());
    }
    let Some(com) = planned_kind(&parsed.statement) else { return Ok((params, None)) };
    let request = Request {
        sql: text,
        param_types: &[],
        param_count: params,
        literals: Literals::Constants,
        params: None,
    };
    let compiled = compile_shared(session, &parsed.statement, com, &request, &key)?;
    Ok((params, Some(compiled)))
}

/// Compiles a prepared statement, and keeps the program for other sessions if it serves them.
fn compile_shared(
    session: &mut Session,
    statement: &Statement<'_>,
    com: Com,
    request: &Request<'_>,
    key: &PreparedKey,
) -> Result<Arc<Compiled>, SqlError> {
    let (compiled, is_shareable) = compile(session, statement, com, request)?;
    let compiled = Arc::new(compiled);
    if is_shareable {
        let environment = session.environment();
        session.server.plans.insert_prepared(environment, key, &compiled);
    }
    Ok(compiled)
}

fn parse<'a>(session: &Session, text: &'a [u8], arena: &'a Bump) -> Result<Parsed<'a>, SqlError> {
    let tree_max = memory_limits::tree_bytes_max(session, text.len());
    let parsed = sql::parse_numbered(text, 0, session.variables.hot.lex_mode, arena, &[], tree_max);
    let parsed = parsed.map_err(|error| memory_limits::parse_error(session, arena, &error))?;
    if parsed.more { Err(more_than_one(text, parsed.end)) } else { Ok(parsed) }
}

fn refuse_unpreparable(statement: &Statement<'_>) -> Result<(), SqlError> {
    let refused = matches!(
        statement,
        Statement::LoadData(_)
            | Statement::Prepare(_)
            | Statement::Execute(_)
            | Statement::Deallocate(_)
            | Statement::Use(_)
            | Statement::LockTables(_)
            | Statement::UnlockTables
    );
    if refused { Err(error_map::UNSUPPORTED_PS.bare()) } else { Ok(()) }
}

/// COM_STMT_EXECUTE. A client that asks for a cursor takes a plain result set as well.
pub fn execute(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    session.counters.count(Com::StmtExecute);
    let mut work = session.workspace.take().unwrap_or_default();
    let (packet, mut answer) = io.packet_and_answer(true);
    let result = execute_packet(session, &mut answer, packet.get(1..).unwrap_or_default(), &work.arena);
    work.clear();
    session.workspace = Some(work);
    result
}

fn execute_packet(
    session: &mut Session,
    answer: &mut Answer<'_>,
    args: &[u8],
    arena: &Bump,
) -> Result<(), SqlError> {
    let execute =
        Execute::parse(args).map_err(|_| error_map::WRONG_ARGUMENTS.with(&[&"mysqld_stmt_execute"]))?;
    let id = execute.statement_id;
    let Some(mut prepared) = session.prepared.lend(id) else {
        return Err(error_map::UNKNOWN_STMT_HANDLER.with(&[&id, &"mysqld_stmt_execute"]));
    };
    let result = match prepared.refused.take() {
        None => execute_prepared(session, answer, &mut prepared, execute.params, arena),
        Some(exceeded) => Err(memory_limits::refuse(session, exceeded)),
    };
    if prepared.long_kept.is_some() {
        prepared.forget_long_data();
    }
    session.prepared.give_back(id, prepared);
    result
}

fn execute_prepared(
    session: &mut Session,
    answer: &mut Answer<'_>,
    prepared: &mut Prepared,
    packet: &[u8],
    arena: &Bump,
) -> Result<(), SqlError> {
    let params = params::decode(packet, prepared, Strings::new(&session.variables.hot), arena)?;
    let Some(com) = prepared.planned else {
        return run_text(session, answer, &prepared.text, params);
    };
    session.diagnostics.clear();
    session.fail_if_killed()?;
    let environment = session.environment();
    let version = session.server.engine.catalog_version();
    if let Some(plan) = &prepared.plan
        && plan.environment == environment
        && plan.compiled.was_current(version)
        && plan.compiled.serves(session, params)
    {
        match planned::run(session, answer, &plan.compiled, params) {
            Err(Failure::Stale) => {}
            Err(Failure::Error(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
    }
    plan_and_run(session, answer, prepared, com, params)
}

/// Finds or makes the plan of a prepared statement for the types bound now, keeps it and runs it.
fn plan_and_run(
    session: &mut Session,
    answer: &mut Answer<'_>,
    prepared: &mut Prepared,
    com: Com,
    params: &[Value<'_>],
) -> Result<(), SqlError> {
    session.diagnostics.clear();
    let key = PreparedKey::new(&prepared.text, Some(&prepared.types));
    let environment = session.environment();
    let version = session.server.engine.catalog_version();
    let is_own = |plan: &&PreparedPlan| plan.environment == environment && plan.types == prepared.types;
    let own = prepared.plan.as_ref().filter(is_own);
    let own = own.map(|plan| Arc::clone(&plan.compiled)).filter(|compiled| compiled.is_current(version));
    let known = own.or_else(|| session.server.plans.find_prepared(environment, &key, version));
    if let Some(compiled) = known
        && compiled.serves(session, params)
    {
        match run_with(session, answer, prepared, compiled, params) {
            Err(Failure::Stale) => {}
            Err(Failure::Error(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
    }
    let collation = session.variables.hot.collation_connection;
    let param_types: Vec<SqlType> =
        prepared.types.iter().map(|&ty| params::param_type(ty, collation)).collect();
    let arena = Bump::new();
    let text = prepared.text.clone();
    let parsed = parse(session, &text, &arena)?;
    let _plan = memory_limits::charge_plan(session, &arena)?;
    let request = Request {
        sql: &text,
        param_types: &param_types,
        param_count: param_types.len(),
        literals: Literals::Constants,
        params: Some(params),
    };
    loop {
        let compiled = compile_shared(session, &parsed.statement, com, &request, &key)?;
        match run_with(session, answer, prepared, compiled, params) {
            Ok(()) => return Ok(()),
            Err(Failure::Error(error)) => return Err(error),
            Err(Failure::Stale) => {}
        }
    }
}

/// Runs a prepared statement by a new plan, which it keeps.
fn run_with(
    session: &mut Session,
    answer: &mut Answer<'_>,
    prepared: &mut Prepared,
    compiled: Arc<Compiled>,
    params: &[Value<'_>],
) -> Result<(), Failure> {
    let environment = session.environment();
    let plan = PreparedPlan { compiled, types: prepared.types.clone(), environment };
    planned::run(session, answer, &prepared.plan.insert(plan).compiled, params)
}

/// Parses and runs a prepared text with values for its `?`. A planned statement is planned for their types.
pub(super) fn run_text(
    session: &mut Session,
    answer: &mut Answer<'_>,
    text: &[u8],
    params: &[Value<'_>],
) -> Result<(), SqlError> {
    let arena = Bump::new();
    let parsed = parse(session, text, &arena)?;
    let _plan = memory_limits::charge_plan(session, &arena)?;
    if !statement::keeps_diagnostics(&parsed.statement) {
        session.diagnostics.clear();
    }
    session.fail_if_killed()?;
    let values: Vec<OwnedValue> = params.iter().map(Value::to_owned_value).collect();
    let Some(com) = planned_kind(&parsed.statement) else {
        let inputs = Inputs { sql: text, params: &values };
        return statement::run(session, &parsed.statement, inputs, answer);
    };
    let param_types: Vec<SqlType> = values.iter().map(crate::user_variable::type_of_value).collect();
    let request = Request {
        sql: text,
        param_types: &param_types,
        param_count: params.len(),
        literals: Literals::Constants,
        params: Some(params),
    };
    loop {
        let (compiled, _) = compile(session, &parsed.statement, com, &request)?;
        ensure_limits(compiled.program.plan(), params)?;
        match planned::run(session, answer, &compiled, params) {
            Ok(()) => return Ok(()),
            Err(Failure::Error(error)) => return Err(error),
            Err(Failure::Stale) => {}
        }
    }
}

/// Error 1690 for a negative number of rows among the values of EXECUTE .. USING, 1210 for one that is no integer.
fn ensure_limits(plan: &Plan, params: &[Value<'_>]) -> Result<(), SqlError> {
    let limits = match plan {
        Plan::Query(query) => query.limit_params(),
        Plan::Update(update) => update.query.limit_params(),
        Plan::Delete(delete) => delete.query.limit_params(),
        Plan::Insert(_) | Plan::Load(_) => return Ok(()),
    };
    for limit in limits {
        match params.get(usize::from(limit)) {
            Some(Value::Int(0..) | Value::UInt(_) | Value::Null) | None => {}
            Some(Value::Int(_)) => {
                return Err(error_map::DATA_OUT_OF_RANGE.with(&[&"unsigned integer", &"EXECUTE"]));
            }
            Some(_) => return Err(error_map::WRONG_ARGUMENTS.with(&[&"EXECUTE"])),
        }
    }
    Ok(())
}
