//! Statements: from text or prepared id to the packets of an answer.

use bumpalo::Bump;
use sql::ParseErrorKind;
use types::decimal::Decimal;
use types::temporal::{Date, DateTime, Time};
use types::{CollationId, OwnedValue};
use wire::execute::{Execute, ParamType, ParamValue, Parameters};
use wire::prepare::PreparedStatement;
use wire::{BinaryDateTime, BinaryTime, Capabilities};

use crate::answer::Answer;
use crate::authenticate::protocol_error;
use crate::client_io::ClientIo;
use crate::constant::{Inputs, lex_mode};
use crate::error_map::{self, ErrorKind, SqlError};
use crate::prepared::Prepared;
use crate::session::Session;
use crate::statement;
use crate::status::{Com, bump};

/// Capacity kept for statement texts between commands.
const KEEP_TEXT_BYTES: usize = 1 << 20;

/// COM_QUERY: runs every statement of the packet's text, up to the first that fails. Text and arena are reused from
/// one command to the next.
pub fn query(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    let mut packet = std::mem::take(&mut session.statement_text);
    let mut arena = std::mem::take(&mut session.arena);
    io.reader.take_packet(&mut packet);
    let text = packet.get(1..).unwrap_or_default();
    let mut start = 0;
    let result = loop {
        match one_statement(session, io, text, start, &arena) {
            Ok(Some(end)) => start = end,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
        arena.reset();
        bump(&session.server.status.questions, 1);
    };
    arena.reset();
    session.arena = arena;
    packet.shrink_to(KEEP_TEXT_BYTES);
    session.statement_text = packet;
    result
}

/// Runs the statement that begins at `start`; where the next one begins, if there is one.
fn one_statement(
    session: &mut Session,
    io: &mut ClientIo,
    text: &[u8],
    start: usize,
    arena: &Bump,
) -> Result<Option<usize>, SqlError> {
    let parsed = sql::parse(text, start, lex_mode(session.variables.hot.sql_mode), arena);
    let keeps = parsed.as_ref().is_ok_and(|parsed| statement::keeps_diagnostics(&parsed.statement));
    if !keeps {
        session.diagnostics.clear();
    }
    let parsed = parsed.map_err(|error| parse_error(&error))?;
    if parsed.params > 0 {
        return Err(error_map::PARSE.with(&[&SYNTAX, &"?", &1]));
    }
    let allowed = session.capabilities.has(Capabilities::MULTI_STATEMENTS);
    if parsed.more && !allowed {
        let rest = text.get(parsed.end..).unwrap_or_default();
        let near = String::from_utf8_lossy(rest).trim_start().to_owned();
        return Err(error_map::PARSE.with(&[&SYNTAX, &near, &1]));
    }
    session.fail_if_killed()?;
    let mut answer = Answer { io, more_results: parsed.more, binary: false };
    statement::run(session, &parsed.statement, Inputs { sql: text, params: &[] }, &mut answer)?;
    Ok(parsed.more.then_some(parsed.end))
}

const SYNTAX: &str = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server \
    version for the right syntax to use";

/// The MySQL error for a text that cannot be parsed.
#[cold]
pub fn parse_error(error: &sql::ParseError) -> SqlError {
    let kind: &ErrorKind = match error.kind {
        ParseErrorKind::Empty => &error_map::EMPTY_QUERY,
        ParseErrorKind::TooDeep => &error_map::STACK_OVERRUN_NEED_MORE,
        ParseErrorKind::InvalidUtf8 => &error_map::INVALID_CHARACTER_STRING,
        ParseErrorKind::TooLong => &error_map::NET_PACKET_TOO_LARGE,
        _ => &error_map::PARSE,
    };
    kind.saying(error.to_string())
}

/// COM_STMT_PREPARE.
pub fn prepare(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    session.server.status.count(Com::StmtPrepare);
    session.diagnostics.clear();
    let text: Box<[u8]> = io.reader.packet().get(1..).unwrap_or_default().into();
    let limit = session.server.variables.read().named("max_prepared_stmt_count").as_u64();
    let count = &session.server.status.prepared_statements;
    if count.load(std::sync::atomic::Ordering::Relaxed) >= limit {
        return Err(error_map::MAX_PREPARED_STMT_COUNT_REACHED.with(&[&limit]));
    }
    let arena = Bump::new();
    let parsed = sql::parse(&text, 0, lex_mode(session.variables.hot.sql_mode), &arena);
    let parsed = parsed.map_err(|error| parse_error(&error))?;
    let params = parsed.params;
    if parsed.more {
        let near = String::from_utf8_lossy(text.get(parsed.end..).unwrap_or_default()).into_owned();
        return Err(error_map::PARSE.with(&[&SYNTAX, &near, &1]));
    }
    let Ok(params) = u16::try_from(params) else {
        return Err(error_map::NOT_SUPPORTED_YET.with(&[&"more than 65535 parameters"]));
    };
    bump(count, 1);
    let id = session.prepared.add(Prepared { text, params: usize::from(params), ..Prepared::default() });
    let status = session.status();
    let described = PreparedStatement { id, params, columns: &[], warnings: 0, status };
    described.write(&mut io.out, session.capabilities);
    Ok(())
}

/// COM_STMT_EXECUTE of a statement that exists.
pub fn execute(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    let collation = session.variables.hot.collation_connection;
    let args = io.reader.packet().get(1..).unwrap_or_default();
    let execute = Execute::parse(args).map_err(|e| protocol_error(&e))?;
    let Some(prepared) = session.prepared.get_mut(execute.statement_id) else {
        return Err(error_map::UNKNOWN_STMT_HANDLER.with(&[&execute.statement_id, &"mysqld_stmt_execute"]));
    };
    let params = decode_params(execute.params, prepared, collation)?;
    let text = prepared.text.clone();
    let arena = Bump::new();
    let parsed = sql::parse(&text, 0, lex_mode(session.variables.hot.sql_mode), &arena);
    let parsed = parsed.map_err(|error| parse_error(&error))?;
    if !statement::keeps_diagnostics(&parsed.statement) {
        session.diagnostics.clear();
    }
    let mut answer = Answer { io, more_results: false, binary: true };
    statement::run(session, &parsed.statement, Inputs { sql: &text, params: &params }, &mut answer)
}

/// The values of an execution's parameters; values sent in pieces are used up.
fn decode_params(
    packet: &[u8],
    prepared: &mut Prepared,
    collation: CollationId,
) -> Result<Vec<OwnedValue>, SqlError> {
    let mut long_data = std::mem::take(&mut prepared.long_data);
    let types: &mut Vec<ParamType> = &mut prepared.types;
    let mut decoder = Parameters::new(packet, prepared.params, types).map_err(|e| protocol_error(&e))?;
    let mut values = Vec::with_capacity(prepared.params);
    for at in 0..prepared.params {
        let sent = long_data.get_mut(at).and_then(Option::take);
        let value = decoder.next(sent.is_some()).map_err(|e| protocol_error(&e))?;
        values.push(match (sent, value) {
            (Some(data), _) => OwnedValue::Bytes { data: data.into(), collation },
            (None, Some(value)) => param_value(value, collation)?,
            (None, None) => OwnedValue::Null,
        });
    }
    Ok(values)
}

fn param_value(value: ParamValue<'_>, collation: CollationId) -> Result<OwnedValue, SqlError> {
    let wrong = || error_map::WRONG_ARGUMENTS.with(&[&"mysqld_stmt_execute"]);
    Ok(match value {
        ParamValue::Null | ParamValue::LongData => OwnedValue::Null,
        ParamValue::Int(value) => OwnedValue::Int(value),
        ParamValue::UInt(value) => OwnedValue::UInt(value),
        ParamValue::Float(value) => OwnedValue::Float(value),
        ParamValue::Double(value) => OwnedValue::Double(value),
        ParamValue::Decimal(text) => OwnedValue::Decimal(Decimal::parse(text).ok_or_else(wrong)?),
        ParamValue::Text(text) => OwnedValue::Bytes { data: text.into(), collation },
        ParamValue::Bytes(bytes) => OwnedValue::Bytes { data: bytes.into(), collation: CollationId::BINARY },
        ParamValue::Date(parts) => OwnedValue::Date(date(parts).ok_or_else(wrong)?),
        ParamValue::DateTime(parts) => {
            OwnedValue::DateTime(datetime(parts).ok_or_else(wrong)?, fsp(parts.micros))
        }
        ParamValue::Time(parts) => OwnedValue::Time(time(parts).ok_or_else(wrong)?, fsp(parts.micros)),
    })
}

/// Fractional digits of a parameter: all or none.
fn fsp(micros: u32) -> u8 {
    if micros == 0 { 0 } else { 6 }
}

fn date(parts: BinaryDateTime) -> Option<Date> {
    let fits = parts.year <= 9999 && parts.month <= 12 && parts.day <= 31;
    fits.then(|| Date::new(parts.year, parts.month, parts.day))
}

fn datetime(parts: BinaryDateTime) -> Option<DateTime> {
    let fits = parts.hour < 24 && parts.minute < 60 && parts.second < 60 && parts.micros < 1_000_000;
    let date = date(parts).filter(|_| fits)?;
    Some(DateTime::new(date, parts.hour, parts.minute, parts.second, parts.micros))
}

fn time(parts: BinaryTime) -> Option<Time> {
    let fits = parts.hour < 24 && parts.minute < 60 && parts.second < 60 && parts.micros < 1_000_000;
    let hours = i64::from(parts.days) * 24 + i64::from(parts.hour);
    let seconds = hours * 3600 + i64::from(parts.minute) * 60 + i64::from(parts.second);
    let micros = seconds * 1_000_000 + i64::from(parts.micros);
    let signed = if parts.negative { -micros } else { micros };
    fits.then(|| Time::from_micros_clipped(signed))
}

/// COM_FIELD_LIST: needs the dictionary; without a table there is nothing to list.
pub fn field_list(session: &mut Session, io: &mut ClientIo) -> Result<(), SqlError> {
    let args = io.reader.packet().get(1..).unwrap_or_default();
    let table = args.split(|&b| b == 0).next().unwrap_or_default();
    let Some(database) = &session.database else {
        return Err(error_map::NO_DB.bare());
    };
    Err(error_map::NO_SUCH_TABLE.with(&[database, &String::from_utf8_lossy(table)]))
}

/// USE and COM_INIT_DB.
pub fn use_database(session: &mut Session, name: &str) -> Result<(), SqlError> {
    if name.is_empty() {
        return Err(error_map::NO_DB.bare());
    }
    session.use_database(Some(name.to_owned()));
    Ok(())
}
