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
use crate::statement_memory;

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
    let tree_max = statement_memory::tree_bytes_max(session, head.len());
    let parsed = sql::parse_numbered(head, text.start, text.mode, arena, None, tree_max).ok()?;
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
        late_types: &[],
        param_count: 0,
        literals: Literals::Constants,
        params: Some(&[]),
    };
    let _plan = statement_memory::charge_plan(session, arena).ok()?;
    let mut answer = io.answer(false);
    loop {
        let (compiled, _) = compile(session, &parsed.statement, com, &request).ok()?;
        if compiled.warns || !compiled.program.takes_literal_rows(&rows) {
            return None;
        }
        let result = match planned::run_literal_rows(session, &mut answer, &compiled, rows.clone()) {
            Ok(()) => Ok(()),
            Err(Failure::Error(error)) => Err(error),
            Err(Failure::Stale) => continue,
        };
        session.server.plans.count_unparsed_insert();
        return Some(result);
    }
}
