//! A session for tests of this crate and of crates above.

use std::cell::{Cell, RefCell};

use types::{CollationId, OwnedValue, SqlModes, TimeZone};

use crate::{EvalError, SessionInfo, Warning};

/// 2023-11-14 22:13:20.123456 UTC.
const NOW_MICROS: i64 = 1_700_000_000_123_456;

/// A session that keeps its warnings. Its default is in UTC, under the default mode.
#[derive(Debug)]
pub struct TestSession {
    /// `time_zone`.
    pub zone: TimeZone,
    /// `sql_mode`.
    pub modes: SqlModes,
    /// `collation_connection`.
    pub collation: CollationId,
    /// `group_concat_max_len`.
    pub concat_limit: u64,
    /// What [`SessionInfo::warn`] got.
    pub warnings: RefCell<Vec<Warning>>,
    /// The same in words; a layer above may add its own.
    pub conditions: RefCell<Vec<String>>,
    /// KILL has asked the statement to end.
    pub killed: Cell<bool>,
}

impl Default for TestSession {
    fn default() -> Self {
        TestSession {
            zone: TimeZone::utc(),
            modes: SqlModes::DEFAULT,
            collation: CollationId::UTF8MB4_GENERAL_CI,
            concat_limit: 1024,
            warnings: RefCell::default(),
            conditions: RefCell::default(),
            killed: Cell::new(false),
        }
    }
}

impl SessionInfo for TestSession {
    fn statement_time_micros(&self) -> i64 {
        NOW_MICROS
    }
    fn clock_micros(&self) -> i64 {
        NOW_MICROS
    }
    fn time_zone(&self) -> &TimeZone {
        &self.zone
    }
    fn modes(&self) -> SqlModes {
        self.modes
    }
    fn connection_id(&self) -> u64 {
        7
    }
    fn user(&self) -> &'static str {
        "root@localhost"
    }
    fn current_user(&self) -> &'static str {
        "root@%"
    }
    fn current_role(&self) -> &'static str {
        "NONE"
    }
    fn database(&self) -> Option<&str> {
        Some("db")
    }
    fn last_insert_id(&self) -> u64 {
        42
    }
    fn set_last_insert_id(&self, _: u64) {}
    fn row_count(&self) -> i64 {
        -1
    }
    fn found_rows(&self) -> u64 {
        1
    }
    fn user_variable(&self, _: &str) -> OwnedValue {
        OwnedValue::Null
    }
    fn set_user_variable(&self, _: &str, _: OwnedValue) -> Result<(), EvalError> {
        Ok(())
    }
    fn system_variable(&self, _: Option<bool>, _: &str) -> Option<OwnedValue> {
        None
    }
    fn group_concat_max_len(&self) -> u64 {
        self.concat_limit
    }
    fn div_precision_increment(&self) -> u8 {
        4
    }
    fn max_allowed_packet(&self) -> u64 {
        64 << 20
    }
    fn version(&self) -> &'static str {
        "8.4.6"
    }
    fn connection_collation(&self) -> CollationId {
        self.collation
    }
    fn warn(&self, warning: Warning) {
        self.conditions.borrow_mut().push(format!("{warning:?}"));
        self.warnings.borrow_mut().push(warning);
    }
    fn warning_count(&self) -> u64 {
        self.warnings.borrow().len() as u64
    }
    fn repeat_warnings(&self, count: u64) {
        let repeated = self.warnings.borrow()[count as usize..].to_vec();
        for warning in repeated {
            self.warn(warning);
        }
    }
    fn killed(&self) -> bool {
        self.killed.get()
    }
}
