//! Statements about one row by its whole clustered key: one key, one record, one row, as straight functions.

use std::sync::Arc;

use bumpalo::Bump;
use engine::{Engine, FoundCell, LeafHint, OlderVersion, RowRef, Table};
use expr::{Expr, ExprKind};
use types::Value;

use crate::access::push_parts;
use crate::context::Scratch;
use crate::error::Result;
use crate::key_part::KeyPart;
use crate::op::{Op, PathOp};
use crate::project::{older_projection, put_row};
use crate::query::QueryProgram;
use crate::query_run::QueryRun;
use crate::reader::{RowEnv, TableReader, may_read_off_page};
use crate::record_projection::{ClientFormat, put_cell};
use crate::row_target::RowTarget;
use crate::statement::{RowUse, Statement};

/// The values of a whole clustered key.
#[derive(Debug)]
pub(crate) struct PointKey {
    parts: Arc<[KeyPart]>,
    exprs: Arc<[Expr]>,
}

impl PointKey {
    /// The key of the one row that `query` finds; `None` if it is not about one row by its key alone.
    pub(crate) fn of_query(query: &QueryProgram) -> Option<Self> {
        let Op::Access(access) = &query.root else { return None };
        let PathOp::Point { key } = &access.path else { return None };
        let simple = access.whole_clustered_key && access.filter.is_none();
        simple.then(|| PointKey { parts: access.key.of_whole_keys(), exprs: Arc::clone(key) })
    }

    /// Makes the key's bytes; false: no row can have it.
    #[inline]
    pub(crate) fn make(&self, run: &QueryRun<'_>, arena: &Bump, key: &mut Vec<u8>) -> Result<bool> {
        if self.make_of_integers(run.params, key) {
            return Ok(true);
        }
        key.clear();
        push_parts(run, &self.parts, &self.exprs, &[], None, key, arena)
    }
}

impl PointKey {
    /// [`PointKey::make`] where every value is an integer parameter that its column can hold; false: it is
    /// not so.
    #[inline]
    fn make_of_integers(&self, params: &[Value<'_>], key: &mut Vec<u8>) -> bool {
        key.clear();
        for (part, expr) in self.parts.iter().zip(&self.exprs[..]) {
            let ExprKind::Param(number) = expr.kind else { return false };
            let Some(&Value::Int(value)) = params.get(usize::from(number)) else { return false };
            if !part.push_column_int(value, key) {
                return false;
            }
        }
        true
    }
}

/// `SELECT columns FROM t WHERE primary key = values`.
#[derive(Debug)]
pub(crate) struct PointGet {
    table: Arc<Table>,
    key: PointKey,
    reader: Arc<TableReader>,
}

impl PointGet {
    /// The point read that `query` is; `None` if it is more than that.
    pub(crate) fn of_query(query: &QueryProgram) -> Option<Self> {
        let key = PointKey::of_query(query)?;
        let Op::Access(access) = &query.root else { return None };
        let simple = query.is_plain() && !may_read_off_page(&access.table, &access.used);
        simple.then(|| PointGet { key, reader: Arc::clone(&access.reader), table: Arc::clone(&access.table) })
    }

    /// Makes the key and prefetches its leaf, while the statement begins. `None`: the key takes more than
    /// that, and [`PointGet::run`] makes it.
    #[inline]
    pub(crate) fn prefetch_leaf(
        &self,
        engine: &Engine,
        params: &[Value<'_>],
        key: &mut Vec<u8>,
    ) -> Option<LeafHint<'_>> {
        self.key.make_of_integers(params, key).then(|| self.table.prefetch_leaf(engine, key))
    }

    /// Sends the row if there is one; how many rows were sent. `hint`: what [`PointGet::prefetch_leaf`]
    /// returned for this execution. Cost: one descent, and about 40 instructions and a copy a column; no
    /// allocation.
    #[inline]
    pub(crate) fn run(
        &self,
        st: &Statement<'_>,
        params: &[Value<'_>],
        query: &QueryProgram,
        target: &mut RowTarget<'_>,
        scratch: &mut Scratch,
        hint: Option<LeafHint<'_>>,
    ) -> Result<u64> {
        let Scratch { arena, key, projection: state, .. } = scratch;
        if hint.is_none() && !self.key.make(&QueryRun::new(st, params, query), arena, key)? {
            return Ok(0);
        }
        let found = match query.plain.as_ref().and_then(|plain| plain.projection_of_one(query, target)) {
            Some(projection) => {
                let format = ClientFormat { zone: st.zone, charset: target.charset };
                let put = |found: FoundCell<'_>, older: Option<&OlderVersion>| {
                    let older = older.map(|older| older_projection(query, projection, older));
                    put_cell(older.unwrap_or(projection), state, format, &found, target.out);
                };
                let hint = hint.unwrap_or_else(|| self.table.prefetch_leaf(st.engine, key));
                self.table.get_cell(st.engine, &st.view, key, hint, put)?
            }
            None => self.put_columns(st, query, target, arena, key)?,
        };
        Ok(u64::from(found.is_some()))
    }

    /// Sends the row column by column, as any client wants it.
    #[inline(never)]
    fn put_columns(
        &self,
        st: &Statement<'_>,
        query: &QueryProgram,
        target: &mut RowTarget<'_>,
        arena: &Bump,
        key: &[u8],
    ) -> Result<Option<()>> {
        let env = RowEnv { st, arena };
        let put = |row: RowRef<'_>| put_row(&query.outputs, target, &self.reader, &row, env);
        Ok(self.table.get(st.engine, &st.view, key, put)?)
    }
}

#[cfg(test)]
thread_local! {
    /// Locking reads of whole keys take the general way on this thread.
    pub(crate) static NEVER_LOCKS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Rows that they have sent without.
    pub(crate) static LOCKED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// `SELECT columns FROM t WHERE primary key = values FOR UPDATE`, or FOR SHARE.
#[derive(Debug)]
pub(crate) struct PointLock {
    point: PointGet,
    row_use: RowUse,
}

impl PointLock {
    /// The locking point read that `query` is, whose tables are read for `uses`; `None` if it is more than
    /// that.
    pub(crate) fn of_query(query: &QueryProgram, uses: &[RowUse]) -> Option<Self> {
        let &[row_use] = uses else { return None };
        PointGet::of_query(query).map(|point| PointLock { point, row_use })
    }

    /// Locks the row and sends it. Returns false, with nothing sent, if there is no row or the general path
    /// has to decide. Cost: that of [`PointGet::run`] and one lock request.
    pub(crate) fn run(
        &self,
        run: &QueryRun<'_>,
        target: &mut RowTarget<'_>,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        #[cfg(test)]
        if NEVER_LOCKS.get() {
            return Ok(false);
        }
        let (PointGet { table, key: point_key, reader }, st, query) = (&self.point, run.st, run.program);
        let Scratch { arena, key, projection: state, .. } = scratch;
        let Some(locks) = st.locks(self.row_use) else { return Ok(false) };
        if !point_key.make(run, arena, key)? {
            return Ok(false);
        }
        let projection = query.plain.as_ref().and_then(|plain| plain.projection_of_one(query, target));
        let found = if let Some(projection) = projection {
            let format = ClientFormat { zone: st.zone, charset: target.charset };
            let put = |found: FoundCell<'_>, older: Option<&OlderVersion>| {
                let older = older.map(|older| older_projection(query, projection, older));
                put_cell(older.unwrap_or(projection), state, format, &found, target.out);
            };
            table.lock_and_get_cell(st.engine, locks, key, put)?
        } else {
            let env = RowEnv { st, arena };
            let put = |row: RowRef<'_>| put_row(&query.outputs, target, reader, &row, env);
            table.lock_and_get(st.engine, locks, key, put)?
        };
        st.count_examined(usize::from(found.is_some()));
        #[cfg(test)]
        LOCKED.set(LOCKED.get() + u64::from(found.is_some()));
        Ok(found.is_some())
    }
}
