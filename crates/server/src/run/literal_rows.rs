//! INSERT of more literals than a kept plan has, as dumps have: the statement with its first row alone is
//! planned, and runs with the rows as they are read from the text.

use bumpalo::Bump;
use sql::LiteralRows;
use sql::ast::Statement;
use sql::bind::Literals;

use super::compile::{Request, compile, planned_kind};
use super::planned::{self, Failure};
use super::text::Text;
use crate::client_io::ClientIo;
use crate::error_map::SqlError;
use crate::session::Session;

/// Runs the current statement, the last of its packet. `None`, with nothing done: it is another one, or is
/// refused before it runs, so that its whole text is to be parsed.
#[cold]
#[inline(never)]
pub(super) fn run(
    session: &mut Session,
    io: &mut ClientIo,
    text: Text<'_>,
    arena: &Bump,
) -> Option<Result<(), SqlError>> {
    let hot = &session.variables.hot;
    if session.counted.is_some() || hot.charset_client != hot.charset_connection {
        return None;
    }
    let rows = LiteralRows::find(text.sql, text.start, text.mode, hot.collation_connection)?;
    let head = rows.head();
    let parsed = sql::parse_numbered(head, text.start, text.mode, arena, None, usize::MAX).ok()?;
    if !matches!(&parsed.statement, Statement::Insert(_)) || parsed.params > 0 {
        return None;
    }
    let com = planned_kind(&parsed.statement)?;
    session.diagnostics.clear();
    if let Err(error) = session.fail_if_killed() {
        return Some(Err(error));
    }
    let request = Request {
        sql: head,
        param_types: &[],
        param_count: 0,
        literals: Literals::Constants,
        params: Some(&[]),
    };
    let mut answer = io.answer(false);
    let mut is_counted = false;
    loop {
        let (compiled, _) = compile(session, &parsed.statement, com, &request).ok()?;
        if compiled.warns {
            return None;
        }
        if !is_counted {
            session.server.plans.count_unparsed_insert();
            is_counted = true;
        }
        match planned::run_literal_rows(session, &mut answer, &compiled, rows.clone()) {
            Ok(()) => return Some(Ok(())),
            Err(Failure::Error(error)) => return Some(Err(error)),
            Err(Failure::Stale) => {}
        }
    }
}
