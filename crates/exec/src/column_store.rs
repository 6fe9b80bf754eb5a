//! Storing values, defaults and NULL in a column.

use types::{ColumnDef, ColumnDefault, StoreContext, Value, storage};

use crate::conditions::{Conditions, Level};
use crate::error::{ExecError, Result};
use crate::row_build::{Report, push_implicit_default, push_zero, store_value};
use crate::statement::{OnceWarned, Statement};

/// The value of an AUTO_INCREMENT column for NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NullNumber {
    /// What any NOT NULL column gets: an error, or zero with a warning.
    Refused,
    /// NULL: the row gets a number in its place.
    Made,
    /// Zero, as ON DUPLICATE KEY UPDATE has it in MySQL.
    Zero,
}

/// How values become storage bytes in one statement. All functions append to `out` and say whether it is a
/// value (true) or NULL (false).
pub(crate) struct ColumnStore<'r> {
    pub(crate) st: &'r Statement<'r>,
    context: StoreContext<'r>,
    pub(crate) conditions: &'r dyn Conditions,
    /// NULL for a NOT NULL column is an error, not its default.
    pub(crate) refuse_null: bool,
    numbers: NullNumber,
    /// Each row is warned of NULL, not only the first.
    pub(crate) repeats_null: bool,
}

impl<'r> ColumnStore<'r> {
    /// `ignore`: the statement says IGNORE.
    pub(crate) fn new(st: &'r Statement<'r>, conditions: &'r dyn Conditions, ignore: bool) -> Self {
        let mut context = st.store_context();
        context.strict &= !ignore;
        let refuse_null = context.strict;
        ColumnStore {
            st,
            context,
            conditions,
            refuse_null,
            numbers: NullNumber::Refused,
            repeats_null: false,
        }
    }

    /// The same for rows that get numbers in the place of NULL.
    pub(crate) fn making_numbers(self) -> Self {
        ColumnStore { numbers: NullNumber::Made, ..self }
    }

    /// The same for the rows that ON DUPLICATE KEY UPDATE changes.
    pub(crate) fn for_duplicates(&self) -> Self {
        ColumnStore { numbers: NullNumber::Zero, ..*self }
    }

    /// Whether values that do not fit are refused.
    pub(crate) fn is_strict(&self) -> bool {
        self.context.strict
    }

    /// The settings that the assignment of `value` depends on.
    pub(crate) fn context_for(&self, value: &Value<'_>) -> StoreContext<'r> {
        self.st.store_context_for(self.context, value)
    }

    /// `value`, for row `row` of the statement.
    #[inline]
    pub(crate) fn value(
        &self,
        column: &ColumnDef,
        value: &Value<'_>,
        row: u64,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        if value.is_null() {
            return self.null(column, out);
        }
        if storage::store_plain(&column.ty, value, out) {
            return Ok(true);
        }
        self.converted(column, value, row, out)
    }

    /// `value` where it is not what the column holds.
    #[inline(never)]
    fn converted(&self, column: &ColumnDef, value: &Value<'_>, row: u64, out: &mut Vec<u8>) -> Result<bool> {
        let report = Report { column: &column.name, row, conditions: self.conditions };
        let context = self.st.store_context_for(self.context, value);
        store_value(&column.ty, value, &context, &report, out)?;
        Ok(true)
    }

    /// NULL.
    fn null(&self, column: &ColumnDef, out: &mut Vec<u8>) -> Result<bool> {
        if column.nullable || (column.auto_increment && self.numbers == NullNumber::Made) {
            return Ok(false);
        }
        if column.auto_increment && self.numbers == NullNumber::Zero {
            push_zero(&column.ty, out);
            return Ok(true);
        }
        let error = ExecError::ColumnNull { column: column.name.clone() };
        if self.refuse_null {
            return Err(error);
        }
        let repeats = self.repeats_null || self.numbers == NullNumber::Refused;
        if repeats || self.st.is_first_warning(column, OnceWarned::Null) {
            self.conditions.warn(Level::Warning, &error);
        }
        push_zero(&column.ty, out);
        Ok(true)
    }

    /// A field of LOAD DATA's file is NULL for a NOT NULL column.
    ///
    /// # Errors
    /// [`ExecError::NullToNotNull`] in strict modes.
    #[cold]
    pub(crate) fn complain_of_null(&self, column: &ColumnDef, row: u64) -> Result<()> {
        self.complain(ExecError::NullToNotNull { column: column.name.clone(), row })
    }

    /// SET gives a value to a column whose field is NULL: MySQL warns of that NULL.
    ///
    /// # Errors
    /// [`ExecError::ColumnNull`] in strict modes.
    #[cold]
    pub(crate) fn complain_of_replaced(&self, column: &ColumnDef) -> Result<()> {
        self.complain(ExecError::ColumnNull { column: column.name.clone() })
    }

    /// Refuses the statement in strict modes, and warns in others.
    #[cold]
    pub(crate) fn complain(&self, error: ExecError) -> Result<()> {
        if self.refuse_null {
            return Err(error);
        }
        self.conditions.warn(Level::Warning, &error);
        Ok(())
    }

    /// The column's default.
    pub(crate) fn default(&self, column: &ColumnDef, row: u64, out: &mut Vec<u8>) -> Result<bool> {
        match &column.default {
            ColumnDefault::Constant(bytes) => {
                out.extend_from_slice(bytes);
                Ok(true)
            }
            ColumnDefault::Now => self.now(column, row, out),
            ColumnDefault::None if !column.nullable && !column.auto_increment => self.implicit(column, out),
            ColumnDefault::None if column.auto_increment && self.numbers != NullNumber::Made => {
                push_zero(&column.ty, out);
                Ok(true)
            }
            ColumnDefault::Dropped if !column.nullable => self.implicit(column, out),
            ColumnDefault::Dropped if !column.auto_increment => {
                self.conditions.warn(Level::Warning, &self.no_default(column)?);
                Ok(false)
            }
            // It is computed when the others have their values.
            ColumnDefault::Expression(_) if !column.nullable => {
                push_implicit_default(&column.ty, out);
                Ok(true)
            }
            ColumnDefault::Null
            | ColumnDefault::None
            | ColumnDefault::Dropped
            | ColumnDefault::Expression(_) => Ok(false),
        }
    }

    /// CURRENT_TIMESTAMP with the column's digits.
    pub(crate) fn now(&self, column: &ColumnDef, row: u64, out: &mut Vec<u8>) -> Result<bool> {
        let micros = self.st.session.statement_time_micros();
        let fraction = micros.rem_euclid(1_000_000) as u32;
        let local = self.st.zone.to_local(micros.div_euclid(1_000_000), fraction);
        let fsp = column.ty.decimals;
        self.value(column, &Value::DateTime(local.truncate(fsp), fsp), row, out)
    }

    /// The initial value of a column: its default, in every mode.
    pub(crate) fn missing(&self, column: &ColumnDef, row: u64, out: &mut Vec<u8>) -> Result<bool> {
        if column.default == ColumnDefault::None && !column.nullable && !column.auto_increment {
            push_implicit_default(&column.ty, out);
            return Ok(true);
        }
        if column.default == ColumnDefault::Dropped {
            return Ok(false);
        }
        self.default(column, row, out)
    }

    /// A NOT NULL column without a default.
    fn implicit(&self, column: &ColumnDef, out: &mut Vec<u8>) -> Result<bool> {
        if needs_value(column) {
            self.conditions.warn(Level::Warning, &self.no_default(column)?);
        }
        push_implicit_default(&column.ty, out);
        Ok(true)
    }

    /// A column that needs a value was left out; a warning of that is one for all rows.
    ///
    /// # Errors
    /// [`ExecError::NoDefault`] in strict modes.
    #[cold]
    pub(crate) fn complain_of(&self, column: &ColumnDef) -> Result<()> {
        let error = self.no_default(column)?;
        if self.st.is_first_warning(column, OnceWarned::NoDefault) {
            self.conditions.warn(Level::Warning, &error);
        }
        Ok(())
    }

    /// The problem of a column that needs a value; an error in strict modes.
    #[cold]
    fn no_default(&self, column: &ColumnDef) -> Result<ExecError> {
        let error = ExecError::NoDefault { column: column.name.clone() };
        if self.context.strict { Err(error) } else { Ok(error) }
    }
}

/// Whether an INSERT has to give the column a value.
pub(crate) fn needs_value(column: &ColumnDef) -> bool {
    column.lacks_default() && !column.auto_increment && column.ty.kind != types::TypeKind::Enum
}
