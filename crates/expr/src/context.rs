//! What evaluation sees of the world: the row, the session, the statement.

use std::time::Duration;

use bumpalo::Bump;
use types::temporal::MICROS_PER_SECOND;
use types::{Date, DateTime, Locale, OwnedValue, TableDef, TimeZone, Value};

use crate::{EvalError, Expr, PatternMemo, Warning};

/// Values up to this size are not charged: an expression has few of them beside its text.
const SMALL_VALUE_BYTES: usize = 1024;

/// Bytes of a text whose functions take long enough to check whether the statement was killed.
pub(crate) const LONG_TEXT_BYTES: usize = 16 * 1024;

/// The current row of every relation of the query.
pub trait RowSource {
    /// The value of a column; NULL for every column of a relation that an outer join left without a match.
    fn column(&self, rel: u16, col: u16) -> Value<'_>;

    /// The value that [`crate::ExprKind::Held`] stands for.
    fn held(&self) -> Value<'_> {
        Value::Null
    }
}

/// No relations: for constants, parameters and `SELECT 1`.
impl RowSource for () {
    fn column(&self, _rel: u16, _col: u16) -> Value<'_> {
        Value::Null
    }
}

/// The session as expressions see it. Implementations use interior mutability where they record something.
pub trait SessionInfo {
    /// Start of the statement, microseconds since 1970 UTC; NOW() is the same in the whole statement.
    fn statement_time_micros(&self) -> i64;
    /// The clock now, for SYSDATE().
    fn clock_micros(&self) -> i64;
    /// Session time zone.
    fn time_zone(&self) -> &TimeZone;
    /// `sql_mode` flags that change evaluation.
    fn modes(&self) -> types::SqlModes;
    /// Connection id.
    fn connection_id(&self) -> u64;
    /// USER().
    fn user(&self) -> &str;
    /// CURRENT_USER().
    fn current_user(&self) -> &str;
    /// CURRENT_ROLE().
    fn current_role(&self) -> &str;
    /// DATABASE().
    fn database(&self) -> Option<&str>;
    /// LAST_INSERT_ID().
    fn last_insert_id(&self) -> u64;
    /// LAST_INSERT_ID(n).
    fn set_last_insert_id(&self, id: u64);
    /// ROW_COUNT().
    fn row_count(&self) -> i64;
    /// FOUND_ROWS().
    fn found_rows(&self) -> u64;
    /// `@name`; NULL if never set.
    fn user_variable(&self, name: &str) -> OwnedValue;
    /// `@name := value`.
    /// # Errors  [`EvalError::Memory`].
    fn set_user_variable(&self, name: &str, value: OwnedValue) -> Result<(), EvalError>;
    /// `@@name`; `None` if there is none of this name and scope.
    fn system_variable(&self, global: Option<bool>, name: &str) -> Option<OwnedValue>;
    /// `group_concat_max_len`, bytes.
    fn group_concat_max_len(&self) -> u64;
    /// Whether parameters stand for `?`, which messages show, and not for literals.
    fn hides_parameters(&self) -> bool {
        false
    }
    /// `div_precision_increment`.
    fn div_precision_increment(&self) -> u8;
    /// `lc_time_names`.
    fn locale(&self) -> &'static Locale {
        Locale::english()
    }
    /// `max_allowed_packet`, bytes.
    fn max_allowed_packet(&self) -> u64;
    /// VERSION().
    fn version(&self) -> &str;
    /// Collation of strings that arise from numbers and literals.
    fn connection_collation(&self) -> types::CollationId;
    /// Records a warning.
    fn warn(&self, warning: Warning);
    /// Warnings recorded since the session looks at the statement.
    fn warning_count(&self) -> u64;
    /// Records once more each warning after the first `count`.
    fn repeat_warnings(&self, count: u64);
    /// The rows, as they are now, of a table that the session makes: values by column.
    /// # Errors  [`EvalError::Denied`]: the user may not see them.
    fn virtual_rows(&self, _table: &TableDef) -> Result<Vec<Vec<OwnedValue>>, EvalError> {
        Err(EvalError::NotSupported("a table of another session"))
    }
    /// Whether KILL was asked for.
    fn killed(&self) -> bool;
    /// The statement has failed and undoes what it did, or (false) has done so.
    fn rolling_back(&self, _is_rolling_back: bool) {}
    /// Answers a function of user-level locks.
    fn user_lock(&self, _request: UserLock<'_>) -> Result<Value<'static>, EvalError> {
        Err(EvalError::NotSupported("a user-level lock in a constant"))
    }
    /// How strong `password` is, by the component validate_password: 0 to 100; 0 without it.
    fn password_strength(&self, _password: &str) -> u64 {
        0
    }
    /// Waits for SLEEP(); false if KILL ended the wait. `None` if the session cannot wait.
    fn sleep(&self, _time: Duration) -> Option<bool> {
        None
    }
    /// The next number of RAND(`seed`) with a constant seed, for the call at `place`: the sequence continues
    /// through the statement. `None` if the session keeps no sequences, so that each call yields the first
    /// number.
    fn next_seeded_random(&self, _place: usize, _seed: u32) -> Option<f64> {
        None
    }
    /// Calls `read` with the value that the statement keeps for the operation at `place`. False: it keeps
    /// none.
    fn read_kept(&self, _place: usize, _read: &mut dyn FnMut(&OwnedValue)) -> bool {
        false
    }
    /// Keeps the value of the operation at `place` for the rest of the statement.
    fn keep(&self, _place: usize, _value: OwnedValue) {}
}

/// User-level locks as functions see them; names are in lower case.
#[derive(Clone, Copy, Debug)]
pub enum UserLock<'a> {
    /// GET_LOCK
    Get {
        /// Name.
        name: &'a str,
        /// How long to wait; `None` for ever.
        timeout: Option<Duration>,
    },
    /// RELEASE_LOCK
    Release(&'a str),
    /// RELEASE_ALL_LOCKS
    ReleaseAll,
    /// IS_FREE_LOCK
    IsFree(&'a str),
    /// IS_USED_LOCK
    Owner(&'a str),
}

/// The query as expressions see it: subqueries, names. The executor implements it.
pub trait SubqueryRunner {
    /// A column as errors quote it, "`schema`.`table`.`column`", if that is known.
    fn column_name(&self, _column: crate::ColumnRef) -> Option<String> {
        None
    }

    /// Charges the statement for `bytes` that evaluation is about to take, most of them in `arena`.
    fn reserve(&self, _arena: &Bump, _bytes: usize) -> Result<(), EvalError> {
        Ok(())
    }

    /// Where patterns of LIKE that are no constants are kept compiled; `None`: nowhere.
    fn patterns(&self) -> Option<&PatternMemo> {
        None
    }

    /// The value of the subquery expression `expr` (an [`crate::ExprKind::Subquery`]) for the row `outer`.
    fn run<'v>(
        &'v self,
        expr: &'v Expr,
        outer: &'v dyn RowSource,
        ctx: &'v EvalCtx<'v>,
    ) -> Result<Value<'v>, EvalError>;
}

/// For statements without subqueries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoSubqueries;

impl SubqueryRunner for NoSubqueries {
    fn run<'v>(
        &'v self,
        _expr: &'v Expr,
        _outer: &'v dyn RowSource,
        _ctx: &'v EvalCtx<'v>,
    ) -> Result<Value<'v>, EvalError> {
        Err(EvalError::NotSupported("a subquery in a constant"))
    }
}

/// Everything an evaluation needs beside the row. Lives as long as the values it yields.
#[derive(Clone, Copy)]
pub struct EvalCtx<'v> {
    /// Home of computed strings; reset by the caller between rows or batches.
    pub arena: &'v Bump,
    /// Statement parameters.
    pub params: &'v [Value<'v>],
    /// The session.
    pub session: &'v dyn SessionInfo,
    /// Subqueries.
    pub subqueries: &'v dyn SubqueryRunner,
}

impl<'v> EvalCtx<'v> {
    /// A context for a statement without subqueries.
    pub fn new(arena: &'v Bump, params: &'v [Value<'v>], session: &'v dyn SessionInfo) -> Self {
        EvalCtx { arena, params, session, subqueries: &NoSubqueries }
    }

    /// Charges the statement for a value of `bytes` bytes before it is made; small ones are free. The charge
    /// lasts as long as the arena has memory for the value.
    /// # Errors  [`EvalError::Memory`].
    #[inline]
    pub fn reserve(&self, bytes: usize) -> Result<(), EvalError> {
        if bytes <= SMALL_VALUE_BYTES { Ok(()) } else { self.subqueries.reserve(self.arena, bytes) }
    }

    /// Ends a statement that was killed, before or after work on a long `text`. Cost: a comparison for a
    /// short one.
    /// # Errors  [`EvalError::Killed`].
    #[inline]
    pub(crate) fn fail_if_killed_over(&self, text: &[u8]) -> Result<(), EvalError> {
        if text.len() >= LONG_TEXT_BYTES && self.session.killed() { Err(EvalError::Killed) } else { Ok(()) }
    }

    /// The day of the statement in the session's zone.
    pub fn today(&self) -> Date {
        self.now().date()
    }

    /// The second of the statement in the session's zone.
    pub(crate) fn now(&self) -> DateTime {
        let seconds = self.session.statement_time_micros().div_euclid(MICROS_PER_SECOND);
        self.session.time_zone().to_local(seconds, 0)
    }
}

/// A value that does not live as long as the evaluation, its bytes copied to the arena. Members of ENUM and
/// SET become their texts.
pub fn in_arena<'v>(value: &OwnedValue, arena: &'v Bump) -> Value<'v> {
    match value.as_value() {
        Value::Bytes { data, collation } => Value::Bytes { data: arena.alloc_slice_copy(data), collation },
        value @ (Value::Enum { collation, .. } | Value::Set { collation, .. }) => {
            let text = arena.alloc_slice_copy(value.as_text(&mut Vec::new()));
            Value::Bytes { data: text, collation }
        }
        Value::Null => Value::Null,
        Value::Int(v) => Value::Int(v),
        Value::UInt(v) => Value::UInt(v),
        Value::Double(v) => Value::Double(v),
        Value::Float(v) => Value::Float(v),
        Value::Decimal(v) => Value::Decimal(v),
        Value::Date(v) => Value::Date(v),
        Value::Time(v, fsp) => Value::Time(v, fsp),
        Value::DateTime(v, fsp) => Value::DateTime(v, fsp),
        Value::Year(v) => Value::Year(v),
        Value::Bit { value, bytes } => Value::Bit { value, bytes },
    }
}
