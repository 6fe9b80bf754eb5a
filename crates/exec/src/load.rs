//! LOAD DATA.

use std::io;
use std::sync::Arc;

use base::memory::{Charge, LimitExceeded, Purpose};
use engine::{Engine, Table};
use sql::plan::{InsertCell, InsertMode, LoadPlan, LoadTarget};
use types::storage::PlainKind;
use types::{OwnedValue, Value};

use crate::auto_numbers::RowOrigin;
use crate::build::RowBuild;
use crate::conditions::{Conditions, Level};
use crate::context::{ExecCtx, Outcome, Summary};
use crate::error::{ExecError, Result};
use crate::load_lines::{Fields, Line, LineReader};
use crate::op_compiler::{Tables, open_table};
use crate::query::QueryProgram;
use crate::query_run::QueryRun;
use crate::statement::Statement;
use crate::strict::StrictSession;
use crate::write_rows::{DuplicateRule, RowsWriter};

/// A compiled LOAD DATA.
#[derive(Debug)]
pub(crate) struct LoadProgram {
    table: Arc<Table>,
    /// Columns that no field and no SET gives a value.
    left_out: Box<[u16]>,
    rule: DuplicateRule,
    /// What of each target is stored as it is in the file; nothing for a variable.
    kinds: Box<[PlainKind]>,
    /// Subqueries of the SET clause.
    expressions: QueryProgram,
}

impl LoadProgram {
    pub(crate) fn compile(engine: &Engine, plan: &LoadPlan, tables: &mut Tables) -> Result<Self> {
        if plan.format.line_end.is_empty() || plan.format.field_end.is_empty() {
            return Err(ExecError::NotSupported("LOAD DATA with fields of fixed width"));
        }
        let table = open_table(engine, &plan.table, tables)?;
        let subqueries = QueryProgram::compile_subqueries(engine, &plan.subqueries, tables)?;
        let given = |col: u16| {
            let in_file = |target: &LoadTarget| matches!(target, LoadTarget::Column(c) if *c == col);
            plan.targets.iter().any(in_file) || plan.sets.iter().any(|(c, _)| *c == col)
        };
        let kind = |target: &LoadTarget| match target {
            LoadTarget::Column(col) => PlainKind::of(&table.def.columns[usize::from(*col)].ty),
            LoadTarget::UserVariable(_) => PlainKind::Nothing,
        };
        Ok(LoadProgram {
            kinds: plan.targets.iter().map(kind).collect(),
            left_out: (0..table.def.columns.len() as u16).filter(|&col| !given(col)).collect(),
            rule: DuplicateRule::new(&table, plan.mode, &[]),
            expressions: QueryProgram::expressions(subqueries, &plan.table),
            table,
        })
    }

    #[inline(never)]
    pub(crate) fn run(&self, plan: &LoadPlan, ctx: &mut ExecCtx<'_>) -> Result<Outcome> {
        let Some(source) = ctx.load.take() else {
            return Err(ExecError::NotSupported("LOAD DATA without a file"));
        };
        let ignore = plan.mode == InsertMode::Ignore;
        let session = StrictSession::new(ctx.session, ignore);
        let mut locks = None;
        let st = if self.expressions.subqueries.is_empty() {
            Statement::changing(ctx.engine, &session, ctx.memory, ctx.rows_examined)
        } else {
            Statement::finding(ctx.engine, &session, ctx.trx, ctx.memory, ctx.rows_examined, &mut locks)?
        };
        let run = QueryRun::new(&st, ctx.params, &self.expressions);
        let conditions = ctx.conditions;
        let mut build = RowBuild::new(&self.table, &run, conditions, ignore);
        build.store.repeats_null = true;
        let mut writer = RowsWriter::new(&self.rule, &[], (&self.table, RowOrigin::File), ctx);
        let mut lines = LineReader::new(source, &plan.format, Charge::new(st.memory, Purpose::Other));
        let mut line = Line::default();
        lines.skip_lines().map_err(read_error)?;
        while lines.next_line(plan.targets.len(), &mut line).map_err(read_error)? {
            let built = self.build_row(plan, lines.fields(&line), &mut build, conditions);
            writer.take(&mut build, built)?;
            if line.has_more {
                let error = ExecError::TooManyFields { row: build.number };
                lost_fields(error, &build, conditions).map_err(|error| writer.fail(&mut build, error))?;
            }
        }
        let records = build.number;
        let written = writer.finish(&mut build)?;
        Ok(Outcome {
            affected: written.affected,
            last_insert_id: written.first_generated,
            summary: Summary::Loaded { records, deleted: written.deleted, skipped: written.skipped },
            ..Outcome::default()
        })
    }

    fn build_row(
        &self,
        plan: &LoadPlan,
        line: Fields<'_>,
        build: &mut RowBuild<'_>,
        conditions: &dyn Conditions,
    ) -> Result<()> {
        build.begin()?;
        build.nulls.clear();
        self.left_out.iter().try_for_each(|&col| build.set_default(col))?;
        for (i, (target, kind)) in plan.targets.iter().zip(&self.kinds).enumerate() {
            let value = if i < line.len() { line.field(i) } else { None };
            if let (Some(text), LoadTarget::Column(col)) = (value, target)
                && let Some(bytes) = kind.bytes_of_text(text, &mut [0; 8])
            {
                build.rows.set(usize::from(*col), Some(bytes));
                continue;
            }
            let value = value.map_or(Value::Null, |data| Value::Bytes { data, collation: plan.collation });
            match target {
                LoadTarget::UserVariable(name) => {
                    let value = value.to_owned_value();
                    debug_assert!(matches!(value, OwnedValue::Null | OwnedValue::Bytes { .. }));
                    build.run.st.session.set_user_variable(name, value)?;
                }
                LoadTarget::Column(col) if i >= line.len() => {
                    build.set_no_field(*col)?;
                    lost_fields(ExecError::TooFewFields { row: build.number }, build, conditions)?;
                }
                LoadTarget::Column(col) if value.is_null() => build.set_null_field(*col)?,
                LoadTarget::Column(col) => build.set_value(*col, &value)?,
            }
        }
        for (col, cell) in &plan.sets {
            match cell {
                InsertCell::Default | InsertCell::Computed => build.set_default(*col)?,
                InsertCell::Expr(expr) | InsertCell::Kept(expr) => build.set_expr(*col, expr)?,
            }
            build.complain_of_replaced(*col)?;
        }
        build.complain_of_nulls()?;
        build.finish();
        Ok(())
    }
}

/// A file that cannot be read, a wait for it that KILL has ended, or a line that is too long for the memory
/// that the statement may have.
#[cold]
fn read_error(error: io::Error) -> ExecError {
    match error.kind() {
        io::ErrorKind::Interrupted => return ExecError::Killed,
        // The client is gone, or as good as gone: the connection ends with the statement.
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock | io::ErrorKind::UnexpectedEof => {
            return ExecError::Send(error);
        }
        _ => {}
    }
    error.downcast::<LimitExceeded>().map_or_else(ExecError::LoadFile, ExecError::Memory)
}

/// A line of another length is an error in strict modes, a warning else.
#[cold]
fn lost_fields(error: ExecError, build: &RowBuild<'_>, conditions: &dyn Conditions) -> Result<()> {
    if build.store.is_strict() {
        return Err(error);
    }
    conditions.warn(Level::Warning, &error);
    Ok(())
}
