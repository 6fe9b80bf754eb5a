//! What expressions see of their session, and what they do to it.
//!
//! A statement reads the session through a shared reference; what it changes (warnings, variables,
//! LAST_INSERT_ID) is kept aside and applied when the statement is over.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

use exec::{Conditions, ExecError};
use expr::{EvalError, SeededRandom, SessionInfo, Warning};
use types::{CollationId, Locale, OwnedValue, SqlModes, TableDef, TimeZone};

use crate::diagnostics::{Diagnostics, Severity};
use crate::error_map::SqlError;
use crate::exec_error;
use crate::process_list::{Kill, Waited};
use crate::session::Session;
use crate::sysvars::{VarLevel, VarValue};
use crate::user_variable::as_variable;
use crate::user_variable::kept_bytes;
use crate::virtual_tables::{self, LockRows, Sources};

/// A session as one statement's expressions see it.
#[derive(Debug)]
pub(crate) struct StatementContext<'s> {
    session: &'s Session,
    started_micros: OnceCell<i64>,
    users: OnceCell<Box<Users>>,
    effects: RefCell<Effects>,
    /// Values of constant operations are kept by their places.
    keeps_values: bool,
}

/// The client's account.
#[derive(Debug)]
struct Users {
    /// USER().
    client: String,
    /// CURRENT_USER().
    current: String,
    /// CURRENT_ROLE().
    role: String,
}

/// Constant operations whose values a statement keeps: each lookup goes through them all.
const KEPT_MAX: usize = 32;

/// Effects of a statement's expressions on their session.
#[derive(Debug, Default)]
pub struct Effects(Option<Box<Changes>>);

#[derive(Debug, Default)]
struct Changes {
    last_insert_id: Option<u64>,
    user_variables: Vec<(String, OwnedValue)>,
    diagnostics: Diagnostics,
    /// The locks that the statement's tables show.
    locks: Option<Arc<LockRows>>,
    /// Where the calls of RAND(seed) have come in their sequences, by their places.
    sequences: Vec<(usize, SeededRandom)>,
    /// Values of constant operations, by their places; [`KEPT_MAX`] at most.
    kept: Vec<(usize, OwnedValue)>,
}

impl<'s> StatementContext<'s> {
    /// A statement of `session` that begins now. No allocation, and the clock is read on demand only.
    #[inline]
    pub(crate) fn new(session: &'s Session) -> Self {
        StatementContext {
            session,
            started_micros: OnceCell::new(),
            users: OnceCell::new(),
            effects: RefCell::default(),
            keeps_values: true,
        }
    }

    /// As [`StatementContext::new`], for planning. It keeps no value by the place of its expression: the
    /// expressions of a plan in the making move, and others take their places.
    pub(crate) fn to_plan_with(session: &'s Session) -> Self {
        StatementContext { keeps_values: false, ..StatementContext::new(session) }
    }

    /// The effects, to be applied with [`Effects::apply`].
    #[inline]
    pub(crate) fn into_effects(self) -> Effects {
        self.effects.into_inner()
    }

    #[cold]
    fn change(&self, change: impl FnOnce(&mut Changes)) {
        change(self.effects.borrow_mut().0.get_or_insert_default());
    }

    /// The locks as they were when the statement first asked for them.
    fn locks(&self) -> Arc<LockRows> {
        let mut effects = self.effects.borrow_mut();
        let changes = effects.0.get_or_insert_default();
        let make = || Arc::new(LockRows::new(&self.session.server.engine));
        Arc::clone(changes.locks.get_or_insert_with(make))
    }

    fn users(&self) -> &Users {
        self.users.get_or_init(|| {
            Box::new(Users {
                client: self.session.client_user(),
                current: self.session.current_user(),
                role: self.session.current_role(),
            })
        })
    }

    fn add(&self, severity: Severity, condition: SqlError) {
        self.add_at(u64::MAX, severity, condition);
    }

    /// Inserts a condition after the first `place` ones.
    #[cold]
    fn add_at(&self, place: u64, severity: Severity, condition: SqlError) {
        let hot = &self.session.variables.hot;
        if severity != Severity::Note || hot.sql_notes {
            self.change(|changes| {
                changes.diagnostics.insert(place, severity, condition, hot.max_error_count);
            });
        }
    }

    /// `SET timestamp`, or the clock.
    fn start_micros(&self) -> i64 {
        match *self.session.variables.named("timestamp") {
            VarValue::Double(seconds) if seconds != 0.0 => (seconds * 1e6) as i64,
            _ => clock_micros(),
        }
    }
}

impl Effects {
    /// Applies what the statement did.
    #[inline]
    pub fn apply(self, session: &mut Session) {
        if let Some(changes) = self.0 {
            changes.apply(session);
        }
    }
}

impl Changes {
    #[cold]
    fn apply(self, session: &mut Session) {
        if let Some(id) = self.last_insert_id {
            session.last_insert_id = id;
        }
        for (name, value) in self.user_variables {
            session.put_user_variable(name, value);
        }
        if self.diagnostics.warning_count() > 0 {
            let limit = session.variables.hot.max_error_count;
            session.diagnostics.absorb(self.diagnostics, limit);
        }
    }
}

/// The clock, microseconds since 1970 UTC.
pub fn clock_micros() -> i64 {
    jiff::Timestamp::now().as_microsecond()
}

impl SessionInfo for StatementContext<'_> {
    fn statement_time_micros(&self) -> i64 {
        *self.started_micros.get_or_init(|| self.start_micros())
    }
    fn clock_micros(&self) -> i64 {
        clock_micros()
    }
    fn time_zone(&self) -> &TimeZone {
        &self.session.variables.hot.time_zone
    }
    fn modes(&self) -> SqlModes {
        self.session.variables.hot.sql_mode
    }
    fn connection_id(&self) -> u64 {
        u64::from(self.session.process.id())
    }
    fn hides_parameters(&self) -> bool {
        self.session.prepared.is_lending()
    }
    fn virtual_rows(&self, table: &TableDef) -> Result<Vec<Vec<OwnedValue>>, EvalError> {
        virtual_tables::rows(table, &Sources { session: self.session, locks: &|| self.locks() })
    }
    fn user_lock(&self, request: expr::UserLock<'_>) -> Result<types::Value<'static>, expr::EvalError> {
        self.session.server.user_locks.answer(&self.session.process, request)
    }
    fn password_strength(&self, password: &str) -> u64 {
        let server = &self.session.server;
        let check = server.components.password_check(&server.variables.read());
        check.map_or(0, |check| check.strength(password, self.session.user_names()))
    }
    fn user(&self) -> &str {
        &self.users().client
    }
    fn current_user(&self) -> &str {
        &self.users().current
    }
    fn current_role(&self) -> &str {
        &self.users().role
    }
    fn database(&self) -> Option<&str> {
        self.session.database.as_deref()
    }
    fn last_insert_id(&self) -> u64 {
        self.session.last_insert_id
    }
    fn set_last_insert_id(&self, id: u64) {
        self.change(|changes| changes.last_insert_id = Some(id));
    }
    fn row_count(&self) -> i64 {
        self.session.row_count
    }
    fn found_rows(&self) -> u64 {
        self.session.found_rows
    }
    fn user_variable(&self, name: &str) -> OwnedValue {
        let name = name.to_lowercase();
        let effects = self.effects.borrow();
        let assigned = effects.0.as_ref().map_or(&[][..], |changes| &changes.user_variables[..]);
        let latest = assigned.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value);
        latest.or_else(|| self.session.user_variables.get(&name)).cloned().unwrap_or(OwnedValue::Null)
    }
    fn set_user_variable(&self, name: &str, value: OwnedValue) -> Result<(), EvalError> {
        let (name, value) = (name.to_lowercase(), as_variable(value));
        let memory = &self.session.memory;
        memory.keep(kept_bytes(&name, &value))?;
        self.change(|changes| {
            let assigned = &mut changes.user_variables;
            match assigned.iter_mut().find(|(known, _)| *known == name) {
                Some((_, old)) => {
                    memory.drop_kept(kept_bytes(&name, old));
                    *old = value;
                }
                None => assigned.push((name, value)),
            }
        });
        Ok(())
    }
    fn system_variable(&self, global: Option<bool>, name: &str) -> Option<OwnedValue> {
        let level = match global {
            None => VarLevel::Default,
            Some(true) => VarLevel::Global,
            Some(false) => VarLevel::Session,
        };
        self.session.read_variable(level, name).ok().map(VarValue::into_owned_value)
    }
    fn group_concat_max_len(&self) -> u64 {
        self.session.variables.hot.group_concat_max_len
    }
    fn div_precision_increment(&self) -> u8 {
        self.session.variables.hot.div_precision_increment as u8
    }
    fn locale(&self) -> &'static Locale {
        self.session.variables.hot.lc_time_names
    }
    fn max_allowed_packet(&self) -> u64 {
        self.session.variables.hot.max_allowed_packet
    }
    fn version(&self) -> &str {
        crate::version::VERSION
    }
    fn connection_collation(&self) -> CollationId {
        self.session.variables.hot.collation_connection
    }
    fn warn(&self, warning: Warning) {
        self.add(Severity::Warning, exec_error::warning_condition(&warning));
    }
    fn warning_count(&self) -> u64 {
        self.count()
    }
    #[cold]
    fn repeat_warnings(&self, count: u64) {
        let conditions_max = self.session.variables.hot.max_error_count;
        self.change(|changes| changes.diagnostics.repeat_after(count, conditions_max));
    }
    fn sleep(&self, time: Duration) -> Option<bool> {
        let deadline = Instant::now().checked_add(time);
        let waited = self.session.process.wait_until(deadline, || None::<()>);
        Some(waited == Waited::InVain)
    }
    fn killed(&self) -> bool {
        self.session.process.kill_requested() != Kill::No
    }
    fn rolling_back(&self, is_rolling_back: bool) {
        let process = &self.session.process;
        if is_rolling_back { process.begin_rollback() } else { process.end_rollback() }
    }
    fn next_seeded_random(&self, place: usize, seed: u32) -> Option<f64> {
        let mut effects = self.effects.borrow_mut();
        let sequences = &mut effects.0.get_or_insert_default().sequences;
        let at = sequences.iter().position(|(known, _)| *known == place).unwrap_or_else(|| {
            sequences.push((place, SeededRandom::new(seed)));
            sequences.len() - 1
        });
        Some(sequences[at].1.next_number())
    }
    fn read_kept(&self, place: usize, read: &mut dyn FnMut(&OwnedValue)) -> bool {
        let effects = self.effects.borrow();
        let kept =
            effects.0.as_ref().and_then(|effects| effects.kept.iter().find(|(known, _)| *known == place));
        kept.inspect(|(_, value)| read(value)).is_some()
    }
    fn keep(&self, place: usize, value: OwnedValue) {
        if !self.keeps_values {
            return;
        }
        let mut effects = self.effects.borrow_mut();
        let kept = &mut effects.0.get_or_insert_default().kept;
        if kept.len() < KEPT_MAX {
            kept.push((place, value));
        }
    }
}

impl Conditions for StatementContext<'_> {
    #[cold]
    fn warn(&self, level: exec::Level, error: &ExecError) {
        self.warn_at(u64::MAX, level, error);
    }

    #[cold]
    fn warn_at(&self, place: u64, level: exec::Level, error: &ExecError) {
        let severity = match level {
            exec::Level::Note => Severity::Note,
            exec::Level::Warning => Severity::Warning,
        };
        self.add_at(place, severity, exec_error::sql_error(error, &self.session.variables.hot.time_zone));
    }

    #[inline]
    fn count(&self) -> u64 {
        self.effects.borrow().0.as_ref().map_or(0, |changes| changes.diagnostics.warning_count())
    }

    #[cold]
    fn forget_after(&self, count: u64) {
        self.change(|changes| changes.diagnostics.truncate(count));
    }
}
