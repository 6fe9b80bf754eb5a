//! The session as a strict statement sees it: what expressions would warn of is an error.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use expr::{EvalError, SessionInfo, Warning};
use types::{CollationId, Locale, OwnedValue, SqlModes, TableDef, TimeZone};

/// A session that keeps the first warning for [`StrictSession::check`] instead of recording it.
pub(crate) struct StrictSession<'a> {
    session: &'a dyn SessionInfo,
    is_strict: bool,
    first: RefCell<Option<Warning>>,
    /// The argument of LAST_INSERT_ID(n) in the statement.
    pub(crate) said_insert_id: Cell<Option<u64>>,
}

impl<'a> StrictSession<'a> {
    /// `session` for a statement that changes rows; `ignore`: it says IGNORE.
    pub(crate) fn new(session: &'a dyn SessionInfo, ignore: bool) -> Self {
        StrictSession {
            session,
            is_strict: session.modes().is_strict() && !ignore,
            first: RefCell::new(None),
            said_insert_id: Cell::new(None),
        }
    }

    /// # Errors  The first thing lost.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Warning> {
        if self.first.borrow().is_none() { Ok(()) } else { self.take() }
    }

    #[cold]
    fn take(&self) -> Result<(), Warning> {
        self.first.borrow_mut().take().map_or(Ok(()), Err)
    }
}

/// Whether strict modes turn `warning` into an error.
fn is_refused(warning: &Warning) -> bool {
    !matches!(
        warning,
        Warning::ResultTooLong { .. }
            | Warning::CannotConvert { .. }
            | Warning::OddDelimiter { .. }
            | Warning::UnknownLocale { .. }
    )
}

impl SessionInfo for StrictSession<'_> {
    fn statement_time_micros(&self) -> i64 {
        self.session.statement_time_micros()
    }
    fn clock_micros(&self) -> i64 {
        self.session.clock_micros()
    }
    fn time_zone(&self) -> &TimeZone {
        self.session.time_zone()
    }
    fn modes(&self) -> SqlModes {
        self.session.modes()
    }
    fn connection_id(&self) -> u64 {
        self.session.connection_id()
    }
    fn virtual_rows(&self, table: &TableDef) -> Result<Vec<Vec<OwnedValue>>, EvalError> {
        self.session.virtual_rows(table)
    }
    fn user_lock(&self, request: expr::UserLock<'_>) -> Result<types::Value<'static>, expr::EvalError> {
        self.session.user_lock(request)
    }
    fn password_strength(&self, password: &str) -> u64 {
        self.session.password_strength(password)
    }
    fn user(&self) -> &str {
        self.session.user()
    }
    fn current_user(&self) -> &str {
        self.session.current_user()
    }
    fn current_role(&self) -> &str {
        self.session.current_role()
    }
    fn database(&self) -> Option<&str> {
        self.session.database()
    }
    fn last_insert_id(&self) -> u64 {
        self.session.last_insert_id()
    }
    fn set_last_insert_id(&self, id: u64) {
        self.said_insert_id.set(Some(id));
        self.session.set_last_insert_id(id);
    }
    fn row_count(&self) -> i64 {
        self.session.row_count()
    }
    fn found_rows(&self) -> u64 {
        self.session.found_rows()
    }
    fn user_variable(&self, name: &str) -> OwnedValue {
        self.session.user_variable(name)
    }
    fn set_user_variable(&self, name: &str, value: OwnedValue) -> Result<(), expr::EvalError> {
        self.session.set_user_variable(name, value)
    }
    fn system_variable(&self, global: Option<bool>, name: &str) -> Option<OwnedValue> {
        self.session.system_variable(global, name)
    }
    fn group_concat_max_len(&self) -> u64 {
        self.session.group_concat_max_len()
    }
    fn div_precision_increment(&self) -> u8 {
        self.session.div_precision_increment()
    }
    fn locale(&self) -> &'static Locale {
        self.session.locale()
    }
    fn max_allowed_packet(&self) -> u64 {
        self.session.max_allowed_packet()
    }
    fn version(&self) -> &str {
        self.session.version()
    }
    fn connection_collation(&self) -> CollationId {
        self.session.connection_collation()
    }
    fn warn(&self, warning: Warning) {
        if self.is_strict && is_refused(&warning) {
            self.first.borrow_mut().get_or_insert(warning);
        } else {
            self.session.warn(warning);
        }
    }
    fn warning_count(&self) -> u64 {
        self.session.warning_count()
    }
    fn repeat_warnings(&self, count: u64) {
        self.session.repeat_warnings(count);
    }
    fn sleep(&self, time: Duration) -> Option<bool> {
        self.session.sleep(time)
    }
    fn killed(&self) -> bool {
        self.session.killed()
    }
    fn rolling_back(&self, is_rolling_back: bool) {
        self.session.rolling_back(is_rolling_back);
    }
    fn next_seeded_random(&self, place: usize, seed: u32) -> Option<f64> {
        self.session.next_seeded_random(place, seed)
    }
    fn read_kept(&self, place: usize, read: &mut dyn FnMut(&OwnedValue)) -> bool {
        self.session.read_kept(place, read)
    }
    fn keep(&self, place: usize, value: OwnedValue) {
        self.session.keep(place, value);
    }
}
