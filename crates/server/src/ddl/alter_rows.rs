//! ALTER TABLE that rewrites all rows.

use std::sync::Arc;

use engine::{Engine, InitialValues, NewColumns, PutRow, RowOrder, Table};
use exec::{CopyCtx, ExecError, TableCopy};
use sql::ast::LockOption;

use super::alter_kind::Kind;
use super::alter_plan::Planned;
use super::build_options;
use crate::session::Session;
use crate::statement_context::StatementContext;
use crate::status::HotCounter;
use crate::table_locks::lock_wait;

/// What rows show in the columns that `planned` adds, by position, if the table can take them without a look
/// at its rows.
///
/// # Errors
/// Those of the default values.
pub(super) fn initial_values(
    session: &mut Session,
    engine: &Arc<Engine>,
    old: &Arc<Table>,
    planned: &Planned,
) -> Result<Option<InitialValues>, ExecError> {
    let Planned { alteration, old_columns, .. } = planned;
    let copy = TableCopy {
        old: &old.def,
        old_columns,
        first_number: 1,
        copies: false,
        refuses_null: true,
        defaults: &[],
    };
    let context = StatementContext::new(session);
    let ctx = copy_ctx(engine, session, &context);
    let initial = copy.initial_values(&alteration.def, &ctx);
    context.into_effects().apply(session);
    Ok(initial?
        .filter(|initial| old.can_change_columns(&alteration.def, NewColumns { kept: old_columns, initial })))
}

/// Makes the table again; returns how many rows MySQL counts as copied. Warnings go to the session's
/// diagnostics area. `defaults`: of new columns that are expressions.
///
/// # Errors
/// [`engine::Error::TableChanged`] if `old` is not the table's newest version; those of values that do not
/// fit.
pub(super) fn rebuild(
    session: &mut Session,
    engine: &Arc<Engine>,
    old: &Arc<Table>,
    planned: Planned,
    (kind, lock): (Kind, Option<LockOption>),
    defaults: &[(u16, expr::Expr)],
) -> Result<u64, ExecError> {
    let Planned { alteration, old_columns, order, .. } = planned;
    let first_number = match alteration.auto_increment {
        Some(number) => number,
        None => old.next_auto_increment(engine)?.unwrap_or(1),
    };
    let copies = kind.copies.is_some();
    let copy = TableCopy {
        old: &old.def,
        old_columns: &old_columns,
        first_number,
        copies,
        refuses_null: !copies,
        defaults,
    };
    let (wait, mut options) = (lock_wait(session), build_options(session, lock));
    options.lets_writers_on &= kind.lets_writers_on;
    let context = StatementContext::new(session);
    let ctx = copy_ctx(engine, session, &context);
    let kept = copy.kept_columns(&alteration.def, ctx.session.modes());
    let new = alteration.def.clone();
    let of = &copy;
    let rebuilt = copy.with_copier(&new, &ctx, |copier| {
        let copy = |row: &[Option<&[u8]>], put: &mut PutRow<'_>| copier.copy(row, put);
        let zone = ctx.session.time_zone();
        let append = |row: &[Option<&[u8]>], out: &mut Vec<u8>| of.append_order(&order, zone, row, out);
        let row_order: Option<&RowOrder<'_>> = if order.is_empty() { None } else { Some(&append) };
        engine.rebuild_table_in_order(&old.def, alteration, &kept, (&options, row_order), wait, copy)
    });
    context.into_effects().apply(session);
    let copied = rebuilt.map_err(|error| match error {
        ExecError::Engine(error) => engine.name_damage(error, std::slice::from_ref(old)).into(),
        error => error,
    })?;
    Ok(if copies { copied } else { 0 })
}

fn copy_ctx<'a>(engine: &'a Engine, session: &'a Session, context: &'a StatementContext<'_>) -> CopyCtx<'a> {
    CopyCtx {
        engine,
        session: context,
        conditions: context,
        memory: &session.statement_memory,
        rows_examined: session.counters.of(HotCounter::RowsExamined),
    }
}
