//! A session: everything that belongs to one connection, except its socket.

mod account;
pub(crate) mod locked_tables;
mod system_variables;
pub(crate) mod transaction_state;
mod workspace;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::memory::{ConnectionAccount, StatementAccount};
use exec::Scratch;
use trx::ClientSettings;
use types::OwnedValue;
use wire::greeting::NONCE_BYTES;
use wire::{Capabilities, ServerStatus};

use crate::account::Account;
use crate::connection_slots::slot::ConnectionSlot;
use crate::diagnostics::{Diagnostics, Severity};
use crate::error_map::{self, SqlError};
use crate::memory_limits;
use crate::peer::Peer;
use crate::plan_cache::{Environment, EnvironmentId};
use crate::prepared::PreparedStatements;
use crate::privilege::Rights;
use crate::process_list::{Kill, Process};
use crate::resource_use::CountedSession;
use crate::server::Server;
use crate::status::{Counters, HotCounter};
use crate::sysvars::Variables;
use crate::user_variable::{kept_bytes, kept_bytes_of};

use locked_tables::TableLocks;
use transaction_state::TransactionState;
pub use workspace::Workspace;

/// Longest text whose plan is kept, bytes: it bounds the key. Running a longer one takes far longer than
/// planning it.
pub(crate) const CACHED_TEXT_BYTES_MAX: usize = 1 << 20;

/// A session.
#[derive(Debug)]
pub struct Session {
    /// The state that all sessions share.
    pub server: Arc<Server>,
    /// This session in the process list.
    pub process: Arc<Process>,
    /// Its connection slot; `None` for one that no limit counts.
    pub slot: Option<ConnectionSlot>,
    /// The counters of the session.
    pub counters: Arc<Counters>,
    /// Flags agreed with the client.
    pub capabilities: Capabilities,
    /// Challenge of the greeting.
    pub nonce: [u8; NONCE_BYTES],
    /// Where the client is.
    pub peer: Peer,
    /// Name that the client gave.
    pub user: String,
    /// Account that it got.
    pub account: Option<Arc<Account>>,
    /// The account that the client has proved to be, `'user'@'host'`, if it acts as another one.
    pub(crate) proxy_user: Option<String>,
    /// The account's privileges in this session.
    pub(crate) rights: Rights,
    /// Counts what the session does, if its account has limits.
    pub(crate) counted: Option<CountedSession>,
    /// Longest text that plans are searched for before it is parsed, in bytes; 0: `counted` says.
    pub(crate) unparsed_bytes_max: usize,
    /// Statements are checked before they run: the account may not do everything, or tables are locked.
    pub is_checked: bool,
    /// Connection attributes.
    pub attributes: Vec<(String, String)>,
    /// Default database.
    pub database: Option<String>,
    /// System variables.
    pub variables: Variables,
    /// User variables, by name in lower case.
    pub user_variables: HashMap<String, OwnedValue>,
    /// Conditions of the last statement.
    pub diagnostics: Diagnostics,
    /// Prepared statements.
    pub prepared: PreparedStatements,
    /// Transaction.
    pub transaction: TransactionState,
    /// Tables locked by LOCK TABLES.
    pub table_locks: Option<Box<TableLocks>>,
    /// What SET TRANSACTION said of the next transaction.
    pub next_transaction: NextTransaction,
    /// LAST_INSERT_ID().
    pub last_insert_id: u64,
    /// ROW_COUNT().
    pub row_count: i64,
    /// FOUND_ROWS().
    pub found_rows: u64,
    /// State changes to send with the next OK packet.
    pub changes: StateChanges,
    /// Where commands with statements work; `None` before the first and while one has it.
    pub workspace: Option<Box<Workspace>>,
    /// The account of the connection's memory.
    pub memory: Rc<ConnectionAccount>,
    /// The account of its statements' memory.
    pub statement_memory: Rc<StatementAccount>,
    /// Memory of statements that run, reused; `None` before the first and while one has it.
    pub scratch: Option<Box<Scratch>>,
    /// Number of what decides the meaning of statements; `None` after a change.
    environment: Option<EnvironmentId>,
    /// SHUTDOWN was run: the server ends with the connection.
    pub ends_server: bool,
    /// Names of columns of the running query that differ from its plan's.
    pub column_names: Vec<(usize, String)>,
    /// Statements of PREPARE, by name in lower case.
    pub named_statements: HashMap<String, u32>,
}

/// Properties of the next transaction alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextTransaction {
    /// Isolation level.
    pub isolation: Option<trx::Isolation>,
    /// READ ONLY (true) or READ WRITE.
    pub read_only: Option<bool>,
}

/// State changes that the client has not got yet.
#[derive(Debug, Default)]
pub struct StateChanges {
    /// The default database changed.
    pub schema: bool,
    /// Variables that changed.
    pub variables: Vec<&'static str>,
}

impl StateChanges {
    /// Whether nothing changed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.schema && self.variables.is_empty()
    }
}

impl Session {
    /// A session of a client that has not said who it is.
    pub fn new(
        server: Arc<Server>,
        process: Arc<Process>,
        counters: Arc<Counters>,
        peer: Peer,
        nonce: [u8; NONCE_BYTES],
    ) -> Self {
        let variables = server.variables.read().clone();
        let memory = ConnectionAccount::new(Arc::clone(&server.memory));
        memory.set_limits(memory_limits::of_session(&variables, false));
        let session = Session {
            server,
            process,
            slot: None,
            counters,
            capabilities: Capabilities::PROTOCOL_41,
            nonce,
            peer,
            user: String::new(),
            account: None,
            proxy_user: None,
            rights: Rights::default(),
            counted: None,
            unparsed_bytes_max: CACHED_TEXT_BYTES_MAX,
            is_checked: true,
            attributes: Vec::new(),
            database: None,
            variables,
            user_variables: HashMap::new(),
            diagnostics: Diagnostics::default(),
            prepared: PreparedStatements::default(),
            transaction: TransactionState::default(),
            table_locks: None,
            next_transaction: NextTransaction::default(),
            last_insert_id: 0,
            row_count: 0,
            found_rows: 0,
            changes: StateChanges::default(),
            workspace: None,
            statement_memory: StatementAccount::new(Rc::clone(&memory)),
            memory,
            scratch: None,
            environment: None,
            ends_server: false,
            column_names: Vec::new(),
            named_statements: HashMap::new(),
        };
        session.publish_settings();
        session
    }

    /// Forgets what a new connection does not have: prepared statements, variables and conditions. The
    /// transaction has ended, and all locks are released.
    pub(crate) fn begin_anew(&mut self) {
        let forgotten = self.prepared.clear() as u64;
        self.server.status.prepared_statements.fetch_sub(forgotten, Ordering::Relaxed);
        self.variables = self.server.variables.read().clone();
        self.environment = None;
        self.publish_settings();
        self.named_statements.clear();
        let variables = std::mem::take(&mut self.user_variables);
        self.memory.drop_kept(variables.iter().map(|(name, value)| kept_bytes(name, value)).sum());
        self.set_memory_limits();
        self.diagnostics.clear();
        (self.last_insert_id, self.row_count, self.found_rows) = (0, 0, 0);
        self.changes = StateChanges::default();
    }

    /// The session has locked tables by LOCK TABLES, or gives them back (`None`).
    pub(crate) fn set_table_locks(&mut self, locks: Option<Box<TableLocks>>) {
        self.table_locks = locks;
        self.note_checks();
        let (id, has_locks) = (u64::from(self.process.id()), self.table_locks.is_some());
        if let Some(trx) = &mut self.transaction.trx {
            trx.set_session(id, has_locks);
        }
    }

    /// Gives back what LOCK TABLES has locked.
    pub(crate) fn release_table_locks(&mut self) {
        if self.table_locks.is_some() {
            self.set_table_locks(None);
        }
    }

    /// Sets the memory limits of the session: at its start, once its account is known, after a change.
    pub(crate) fn set_memory_limits(&self) {
        self.memory.set_limits(memory_limits::of_session(&self.variables, self.is_connection_admin()));
    }

    /// `SET @name = value`.
    ///
    /// # Errors
    /// 3061 for too long a name; 1041, 4081, 4082: the session keeps as much as it may.
    pub fn set_user_variable(&mut self, name: &str, value: OwnedValue) -> Result<(), SqlError> {
        ensure_variable_name(name)?;
        let name = name.to_lowercase();
        let kept = self.memory.keep(kept_bytes(&name, &value));
        kept.map_err(|exceeded| memory_limits::refuse(&self.process, exceeded))?;
        self.put_user_variable(name, value);
        Ok(())
    }

    /// As [`Session::set_user_variable`], of a value that is charged already.
    pub(crate) fn put_user_variable(&mut self, name: String, value: OwnedValue) {
        let name_bytes = name.len();
        if let Some(old) = self.user_variables.insert(name, value) {
            self.memory.drop_kept(kept_bytes_of(name_bytes, &old));
        }
    }

    /// The number of what decides the meaning of statements beside their text.
    #[inline]
    pub fn environment(&mut self) -> EnvironmentId {
        match self.environment {
            Some(environment) => environment,
            None => self.find_environment(),
        }
    }

    #[cold]
    fn find_environment(&mut self) -> EnvironmentId {
        let hot = &self.variables.hot;
        let id = self.server.plans.environment(Environment {
            database: self.database.as_deref().map(Box::from),
            modes: hot.sql_mode,
            lex_mode: hot.lex_mode,
            collation: hot.collation_connection,
            div_precision_increment: hot.div_precision_increment,
            range_bytes_max: hot.range_optimizer_max_mem_size,
            auto_is_null: hot.sql_auto_is_null,
            select_limit: hot.sql_select_limit,
            safe_updates: hot.sql_safe_updates,
            dive_points_max: hot.eq_range_index_dive_limit,
            reads_lock: hot.reads_lock(),
        });
        self.environment = Some(id);
        id
    }

    /// How transactions run that say nothing else.
    pub fn settings(&self) -> ClientSettings {
        let hot = &self.variables.hot;
        ClientSettings {
            isolation: hot.isolation,
            read_only: hot.transaction_read_only,
            unique_checks: hot.unique_checks,
            foreign_key_checks: hot.foreign_key_checks,
        }
    }

    /// Publishes the settings to other threads, and sets the socket's write timeout.
    pub(crate) fn publish_settings(&self) {
        self.process.set_settings(self.settings());
        self.process.set_write_timeout(self.variables.hot.net_write_timeout);
        self.process.set_long_query_time(self.variables.hot.long_query_time);
    }

    /// Counts the statement that ends if it took longer than `long_query_time`.
    #[cold]
    #[inline(never)]
    pub(crate) fn count_if_slow(&self) {
        let limit = self.variables.hot.long_query_time;
        let taken = self.process.take_time();
        // The clock has not moved since a short statement began.
        if taken.as_secs_f64() > limit || limit == 0.0 {
            self.counters.add(HotCounter::SlowQueries, 1);
        }
    }

    /// Status flags for OK and EOF packets.
    #[inline]
    pub fn status(&self) -> ServerStatus {
        let status = self.variables.hot.status;
        if !self.transaction.open {
            return status;
        }
        status
            .with(ServerStatus::IN_TRANS, true)
            .with(ServerStatus::IN_TRANS_READONLY, self.transaction.read_only)
    }

    /// Adds a condition to the diagnostics area.
    #[cold]
    pub fn warn(&mut self, severity: Severity, error: SqlError) {
        let hot = &self.variables.hot;
        if severity != Severity::Note || hot.sql_notes {
            self.diagnostics.push(severity, error, hot.max_error_count);
        }
    }

    /// Error 1317 or 3169 if KILL asked for it.
    #[inline]
    pub fn fail_if_killed(&self) -> Result<(), SqlError> {
        match self.process.kill_requested() {
            Kill::No => Ok(()),
            Kill::Timeout => Err(error_map::QUERY_TIMEOUT.bare()),
            Kill::Query | Kill::Connection => Err(error_map::QUERY_INTERRUPTED.bare()),
        }
    }

    /// Makes `database` the default database.
    pub(crate) fn use_database(&mut self, database: Option<String>) {
        self.process.set_database(database.as_deref());
        self.database = database;
        self.note_default_schema();
        self.environment = None;
        self.changes.schema = true;
    }
}

/// Error 3061 if no user variable of this name may be set.
///
/// # Errors
/// See above.
pub(crate) fn ensure_variable_name(name: &str) -> Result<(), SqlError> {
    /// Most characters.
    const CHARS_MAX: usize = 64;
    if name.len() > CHARS_MAX && name.chars().count() > CHARS_MAX {
        return Err(error_map::ILLEGAL_USER_VAR.with(&[&name]));
    }
    Ok(())
}
