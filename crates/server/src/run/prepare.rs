//! COM_STMT_PREPARE and COM_STMT_EXECUTE.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::memory::KeptBytes;
use bumpalo::Bump;
use sql::Parsed;
use sql::ast::{DropUser, RoleStatement, Statement};
use sql::bind::{Literals, ParamRole};
use sql::plan::{InsertMode, Plan};
use types::{OwnedValue, SqlType, Value};
use wire::ColumnDefinition;
use wire::execute::Execute;
use wire::prepare::PreparedStatement;

use super::actual_param::actual_values;
use super::compile::{Request, compile, planned_kind, serves};
use super::params::{self, Strings};
use super::planned::Failure;
use super::{param_fit, planned};
use crate::answer::{Answer, Table};
use crate::client_io::ClientIo;
use crate::compiled::Compiled;
use crate::error_map::{self, SqlError};
use crate::given_type::GivenType;
use crate::inputs::Inputs;
use crate::memory_limits;
use crate::parse_error::more_than_one;
use crate::plan_cache::plan_bytes;
use crate::plan_key::{PreparedKey, Purpose};
use crate::prepared::{ParamTypes, Prepared, PreparedPlan};
use crate::privilege;
use crate::session::Session;
use crate::show;
use crate::statement;
use crate::statement_memory;
use crate::status::{Com, bump};
use crate::user_variable::TEXT_CHARS;

/// What MySQL's errors call COM_STMT_EXECUTE.
const BINARY_COMMAND: &str = "mysqld_stmt_execute";

/// Most parameters and most columns of a prepared statement: its description has 16 bits for their numbers.
const DESCRIBED_MAX: usize = u16::MAX as usize;

/// COM_STMT_PREPARE.
#[inline(never)]
pub(crate) fn prepare(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    session.counters.count(Com::StmtPrepare);
    session.diagnostics.clear();
    let text: Box<[u8]> = io.reader.packet().get(1..).unwrap_or_default().into();
    let (prepared, compiled) = new_statement(session, text)?;
    let charset = session.variables.hot.results;
    let text = SqlType::varchar(TEXT_CHARS, session.variables.hot.collation_connection);
    let params: Vec<ColumnDefinition<'_>> = (0..prepared.params)
        .map(|n| {
            let used = compiled.as_ref().and_then(|compiled| compiled.param_uses.get(n));
            ColumnDefinition::of_value("?", used.map_or(&text, |used| &used.described), charset)
        })
        .collect();
    let plan = compiled.as_ref().map(|compiled| compiled.program.plan());
    let shown = if plan.is_none() { shown_columns(session, &prepared.text) } else { None };
    let columns: Vec<ColumnDefinition<'_>> = match plan.map(|plan| &**plan) {
        Some(Plan::Query(query)) if prepared.planned != Some(Com::Do) => {
            query.output.iter().map(|column| exec::prepared_column_definition(column, charset)).collect()
        }
        _ => shown.as_ref().map_or_else(Vec::new, |table| table.described(charset)),
    };
    let id = session.prepared.add(prepared);
    let warnings = session.diagnostics.packet_count();
    let status = session.status();
    let described = PreparedStatement { id, params: &params, columns: &columns, warnings, status };
    described.write(&mut io.out, session.capabilities);
    Ok(())
}

/// The columns of a SHOW that is prepared; `None` for statements without.
fn shown_columns(session: &Session, text: &[u8]) -> Option<Table> {
    let arena = Bump::new();
    let parsed = parse(session, text, &arena).ok()?;
    show::prepared(session, &session.server.engine, &parsed.statement)
}

/// A new prepared statement, counted, and its program, if it is of a planned kind. The types of its
/// parameters are not known yet, so the program only describes its columns and parameters.
///
/// # Errors
/// Those of parsing and planning, 1461, 1295 for what cannot be prepared, 1390 and 1117 for what cannot be
/// described.
pub(super) fn new_statement(
    session: &mut Session,
    text: Box<[u8]>,
) -> Result<(Prepared, Option<Arc<Compiled>>), SqlError> {
    let limit = session.server.variables.read().named("max_prepared_stmt_count").as_u64();
    if session.server.status.prepared_statements.load(Ordering::Relaxed) >= limit {
        return Err(error_map::MAX_PREPARED_STMT_COUNT_REACHED.with(&[&limit]));
    }
    let version = session.server.engine.catalog_version();
    let (params, compiled) = described(session, &text, &[])?;
    let plan = compiled.as_ref().map(|compiled| &**compiled.program.plan());
    if matches!(plan, Some(Plan::Query(query)) if query.output.len() > DESCRIBED_MAX) {
        return Err(error_map::TOO_MANY_FIELDS.bare());
    }
    let kept = KeptBytes::new(&session.memory, plan_bytes(text.len()) + text.len() as u64);
    let kept = kept.map_err(|exceeded| memory_limits::refuse(&session.process, exceeded))?;
    bump(&session.server.status.prepared_statements, 1);
    let planned = compiled.as_ref().map(|compiled| compiled.com);
    let param_types = compiled.as_ref().map(|compiled| derived_types(session, compiled, version));
    let kept = Some(kept);
    Ok((Prepared { text, params, planned, param_types, kept, ..Prepared::default() }, compiled))
}

/// The number of a text's parameters, and its program before their values are known, if it is of a planned
/// kind. `given`: types of some parameters; the text implies the others.
fn described(
    session: &mut Session,
    text: &[u8],
    given: &[Option<GivenType>],
) -> Result<(usize, Option<Arc<Compiled>>), SqlError> {
    let key = PreparedKey::new(text, Purpose::Description, given);
    let environment = session.environment();
    let version = session.server.engine.catalog_version();
    if let Some(compiled) = session.server.plans.find_prepared(environment, &key, version)
        && compiled.can_be_checked(&session.rights)
    {
        if session.is_checked
            && let Some(wanted) = compiled.wanted()
        {
            privilege::ensure_wanted(session, wanted)?;
        }
        return Ok((compiled.params.into(), Some(compiled)));
    }
    let arena = Bump::new();
    let parsed = parse(session, text, &arena)?;
    let _plan = statement_memory::charge_plan(session, &arena)?;
    refuse_unpreparable(&parsed.statement)?;
    let params = parsed.params as usize;
    if params > DESCRIBED_MAX {
        return Err(error_map::PS_MANY_PARAM.bare());
    }
    let Some(com) = planned_kind(&parsed.statement) else { return Ok((params, None)) };
    let param_types = types_of(session, given);
    let request = Request {
        sql: text,
        param_types: &param_types,
        late_types: &[],
        param_count: params,
        literals: Literals::Constants,
        params: None,
    };
    let compiled = compile_shared(session, &parsed.statement, com, &request, &key)?;
    Ok((params, Some(compiled)))
}

/// The types of values that are bound with `types`.
fn types_of(session: &Session, types: &[Option<GivenType>]) -> Vec<Option<SqlType>> {
    let collation = session.variables.hot.collation_connection;
    types.iter().map(|ty| ty.map(|ty| ty.sql_type(collation))).collect()
}

/// The types to which texts are converted late; empty if none is.
fn late_types(session: &Session, types: &[Option<GivenType>]) -> Vec<Option<SqlType>> {
    let collation = session.variables.hot.collation_connection;
    let late = |ty: &Option<GivenType>| ty.and_then(|ty| ty.late_type(collation));
    if types.iter().any(|ty| late(ty).is_some()) { types.iter().map(late).collect() } else { Vec::new() }
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
    let tree_max = statement_memory::tree_bytes_max(session, text.len());
    let parsed = sql::parse_numbered(text, 0, session.variables.hot.lex_mode, arena, None, tree_max);
    let parsed = parsed.map_err(|error| statement_memory::parse_error(session, arena, &error))?;
    if parsed.more { Err(more_than_one(text, parsed.end)) } else { Ok(parsed) }
}

fn refuse_unpreparable(statement: &Statement<'_>) -> Result<(), SqlError> {
    let refused = matches!(
        statement,
        Statement::DropUser(DropUser { role: true, .. })
            | Statement::Role(RoleStatement::Create { .. })
            | Statement::LoadData(_)
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
pub(crate) fn execute(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    session.counters.count(Com::StmtExecute);
    let mut work = session.workspace.take().unwrap_or_default();
    let (packet, mut answer) = io.packet_and_answer(true);
    let result = execute_packet(session, &mut answer, packet.get(1..).unwrap_or_default(), &work.arena);
    work.clear();
    session.workspace = Some(work);
    if session.process.is_timed() {
        session.count_if_slow();
    }
    result
}

fn execute_packet(
    session: &mut Session,
    answer: &mut Answer<'_>,
    args: &[u8],
    arena: &Bump,
) -> Result<(), SqlError> {
    let execute = Execute::parse(args).map_err(|_| error_map::WRONG_ARGUMENTS.with(&[&BINARY_COMMAND]))?;
    let id = execute.statement_id;
    let Some(mut prepared) = session.prepared.lend(id) else {
        return Err(error_map::UNKNOWN_STMT_HANDLER.with(&[&id, &BINARY_COMMAND]));
    };
    let result = match prepared.refused.take() {
        None => execute_prepared(session, answer, &mut prepared, execute.params, arena),
        Some(exceeded) => Err(memory_limits::refuse(&session.process, exceeded)),
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
    let environment = session.environment();
    let version = session.server.engine.catalog_version();
    if let Some(plan) = &prepared.plan
        && plan.environment == environment
        && plan.takes(params)
        && plan.compiled.was_current(version)
        && serves(session, &plan.compiled, params)
    {
        session.diagnostics.clear();
        session.fail_if_killed()?;
        match planned::run(session, answer, &plan.compiled, params) {
            Err(Failure::Stale) => {}
            Err(Failure::Error(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
    }
    fit_and_run(session, answer, prepared, (com, BINARY_COMMAND, packet), params, arena)
}

/// Runs a prepared statement whose plan is yet to be found, or whose values are converted: derives their
/// types, then finds or makes the plan for these.
#[cold]
#[inline(never)]
fn fit_and_run(
    session: &mut Session,
    answer: &mut Answer<'_>,
    prepared: &mut Prepared,
    (com, command, packet): (Com, &str, &[u8]),
    params: &[Value<'_>],
    arena: &Bump,
) -> Result<(), SqlError> {
    if let Some(types) = &prepared.param_types {
        let bad_decimals = |last| params::bad_decimals(packet, &prepared.types, last);
        param_fit::ensure_row_counts(session, &types.uses, params, command, bad_decimals)?;
    }
    session.diagnostics.clear();
    session.fail_if_killed()?;
    ensure_types(session, prepared)?;
    let Some(types) = &prepared.param_types else { return Ok(()) };
    let mut actual = actual_values(&types.uses, params);
    param_fit::forget_cast_charsets(&types.uses, &mut actual);
    param_fit::read_charsets(&types.uses, &prepared.types, &mut actual, arena)?;
    fit(session, prepared, &mut actual)?;
    let Some(types) = &prepared.param_types else { return Ok(()) };
    let planned_types = param_fit::planned_types(types, &prepared.types, &actual);
    let suits = |plan: &&PreparedPlan| plan.planned_types == planned_types;
    let mut known = prepared.plan.as_ref().filter(suits).map(|plan| Arc::clone(&plan.compiled));
    loop {
        let Some(types) = &prepared.param_types else { return Ok(()) };
        let strictness = (types.refuses_loss, command);
        let places = (&types.uses[..], &planned_types[..], &prepared.types[..]);
        let values = param_fit::convert(session, places, &actual, strictness, arena)?;
        let compiled = find_or_make(session, prepared, com, (&planned_types, values), known.take())?;
        match run_with(session, answer, prepared, (compiled, &planned_types), values) {
            Ok(()) => return Ok(()),
            Err(Failure::Error(error)) => return Err(error),
            Err(Failure::Stale) => {}
        }
    }
}

/// Finds out what a statement takes its parameters for, unless that is known under what holds now.
fn ensure_types(session: &mut Session, prepared: &mut Prepared) -> Result<(), SqlError> {
    let environment = session.environment();
    let version = session.server.engine.catalog_version();
    let is_current = |types: &ParamTypes| types.environment == environment && types.version == version;
    if !prepared.param_types.as_ref().is_some_and(is_current) {
        let (_, compiled) = described(session, &prepared.text, &[])?;
        prepared.param_types = compiled.map(|compiled| derived_types(session, &compiled, version));
    }
    Ok(())
}

/// The types that the text of a statement implies for its parameters.
fn derived_types(session: &mut Session, compiled: &Compiled, version: u64) -> ParamTypes {
    let ignores = match &**compiled.program.plan() {
        Plan::Query(_) | Plan::Load(_) => true,
        Plan::Insert(insert) => insert.mode == InsertMode::Ignore,
        Plan::Update(update) => update.ignore,
        Plan::Delete(delete) => delete.ignore,
    };
    ParamTypes {
        uses: compiled.param_uses.clone(),
        given: vec![None; compiled.param_uses.len()],
        reads_late: matches!(&**compiled.program.plan(), Plan::Query(_)),
        refuses_loss: !ignores && session.variables.hot.sql_mode.is_strict(),
        environment: session.environment(),
        version,
    }
}

/// Gives the statement the types of `params` if one of them does not fit.
fn fit(session: &mut Session, prepared: &mut Prepared, actual: &mut [Value<'_>]) -> Result<(), SqlError> {
    let Some(types) = &mut prepared.param_types else { return Ok(()) };
    if !types.uses.iter().zip(&*actual).any(|(used, value)| param_fit::is_misfit(used, value)) {
        return Ok(());
    }
    param_fit::forget_charsets(&types.uses, actual);
    let connection = session.variables.hot.collation_connection;
    let given = types.uses.iter().zip(prepared.types.iter().zip(&*actual));
    types.given = given
        .map(|(used, (&bound, value))| param_fit::type_to_give(used, bound, value, connection))
        .collect();
    if let (_, Some(compiled)) = described(session, &prepared.text, &types.given)? {
        types.uses.clone_from(&compiled.param_uses);
    }
    Ok(())
}

/// The plan of a prepared statement for `planned_types`: `known`, one of another session or a new one.
fn find_or_make(
    session: &mut Session,
    prepared: &Prepared,
    com: Com,
    (planned_types, values): (&[Option<GivenType>], &[Value<'_>]),
    known: Option<Arc<Compiled>>,
) -> Result<Arc<Compiled>, SqlError> {
    let version = session.server.engine.catalog_version();
    let environment = session.environment();
    let own = prepared.plan.as_ref().is_some_and(|plan| plan.environment == environment);
    let usable = |compiled: &Arc<Compiled>| {
        compiled.is_current(version)
            && serves(session, compiled, values)
            && compiled.can_be_checked(&session.rights)
    };
    if let Some(compiled) = known.filter(|_| own).filter(usable) {
        return Ok(compiled);
    }
    let key = PreparedKey::new(&prepared.text, Purpose::Execution, planned_types);
    let shared = session.server.plans.find_prepared(environment, &key, version);
    if let Some(compiled) = shared.filter(usable) {
        return Ok(compiled);
    }
    let param_types = types_of(session, planned_types);
    let late_types = late_types(session, planned_types);
    let arena = Bump::new();
    let parsed = parse(session, &prepared.text, &arena)?;
    let _plan = statement_memory::charge_plan(session, &arena)?;
    let request = Request {
        sql: &prepared.text,
        param_types: &param_types,
        late_types: &late_types,
        param_count: param_types.len(),
        literals: Literals::Constants,
        params: Some(values),
    };
    compile_shared(session, &parsed.statement, com, &request, &key)
}

/// Runs a prepared statement by a plan for `planned_types`, which it keeps.
fn run_with(
    session: &mut Session,
    answer: &mut Answer<'_>,
    prepared: &mut Prepared,
    (compiled, planned_types): (Arc<Compiled>, &[Option<GivenType>]),
    params: &[Value<'_>],
) -> Result<(), Failure> {
    let environment = session.environment();
    let (planned_types, types) = (planned_types.to_vec(), prepared.types.clone());
    let uses = prepared.param_types.iter().flat_map(|types| &types.uses);
    let connection = session.variables.hot.collation_connection;
    let is_direct =
        uses.clone().zip(&types).all(|(used, &bound)| param_fit::is_direct(used, bound, connection));
    let row_counts = uses.enumerate().filter(|(_, used)| used.role == ParamRole::RowCount);
    let row_counts = row_counts.map(|(n, _)| n).collect();
    let plan = PreparedPlan { compiled, types, planned_types, environment, is_direct, row_counts };
    planned::run(session, answer, &prepared.plan.insert(plan).compiled, params)
}

/// Runs a prepared statement with the values of variables, which are bound with the types `prepared` has.
pub(super) fn execute_values(
    session: &mut Session,
    answer: &mut Answer<'_>,
    prepared: &mut Prepared,
    params: &[Value<'_>],
) -> Result<(), SqlError> {
    let arena = Bump::new();
    match prepared.planned {
        Some(com) => fit_and_run(session, answer, prepared, (com, "EXECUTE", &[]), params, &arena),
        None => run_text(session, answer, &prepared.text, params),
    }
}

/// Parses and runs the text of a statement that is not planned, with values for its `?`.
fn run_text(
    session: &mut Session,
    answer: &mut Answer<'_>,
    text: &[u8],
    params: &[Value<'_>],
) -> Result<(), SqlError> {
    let arena = Bump::new();
    let parsed = parse(session, text, &arena)?;
    let _plan = statement_memory::charge_plan(session, &arena)?;
    if !statement::keeps_diagnostics(&parsed.statement) {
        session.diagnostics.clear();
    }
    session.fail_if_killed()?;
    let values: Vec<OwnedValue> = params.iter().map(Value::to_owned_value).collect();
    let inputs = Inputs { sql: text, params: &values };
    statement::run(session, &parsed.statement, text, inputs, answer)
}
