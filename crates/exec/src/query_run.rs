//! A running query: its statement, parameters and program.
//!
//! Operators run further queries: of derived tables, of the arms of a UNION, of subqueries. They do so by
//! [`QueryRun::rows`], which is with the making of operators (`operators.rs`); what expressions ask of
//! subqueries is in `subquery.rs`.

use std::cell::Cell;

use bumpalo::Bump;
use expr::EvalCtx;
use types::Value;

use crate::query::QueryProgram;
use crate::statement::Statement;
use crate::subquery_cache::SubqueryCache;

/// A running query, or the expressions of a statement that changes rows: its parameters and subqueries.
pub(crate) struct QueryRun<'r> {
    pub(crate) st: &'r Statement<'r>,
    pub(crate) params: &'r [Value<'r>],
    pub(crate) program: &'r QueryProgram,
    pub(crate) subqueries: SubqueryCache,
    /// Rows without the limit, once they are counted.
    pub(crate) found_rows: Cell<Option<u64>>,
}

impl<'r> QueryRun<'r> {
    pub(crate) fn new(st: &'r Statement<'r>, params: &'r [Value<'r>], program: &'r QueryProgram) -> Self {
        QueryRun { st, params, program, subqueries: SubqueryCache::default(), found_rows: Cell::new(None) }
    }

    /// A context whose computed strings live in `arena`.
    #[inline]
    pub(crate) fn ctx<'x>(&'x self, arena: &'x Bump) -> EvalCtx<'x> {
        EvalCtx { arena, params: self.params, session: self.st.session, subqueries: self }
    }
}
