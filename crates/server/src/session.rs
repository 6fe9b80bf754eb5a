//! A session: everything that belongs to one connection beside its socket.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::memory::{ConnectionAccount, StatementAccount};
use bumpalo::Bump;
use exec::Scratch;
use sql::CacheKey;
use trx::ClientSettings;
use types::OwnedValue;
use wire::greeting::NONCE_BYTES;
use wire::{Capabilities, ServerStatus};

use crate::account::{Account, Peer};
use crate::audit::Who;
use crate::diagnostics::{Diagnostics, Severity};
use crate::engine_error;
use crate::error_map::{self, ErrorKind, SqlError};
use crate::failed_logins;
use crate::lock_settings;
use crate::memory_limits;
use crate::places::Place;
use crate::plan_cache::{Environment, EnvironmentId, SessionPlans};
use crate::prepared::PreparedStatements;
use crate::privilege::{self, DynamicSet, Grants, OnEverything, Privileges, Rights, ensure_one_of};
use crate::process_list::{Kill, Process};
use crate::redo_log;
use crate::resource_use::Counted;
use crate::roles::{self, RoleName};
use crate::server::Server;
use crate::status::Counters;
use crate::sysvars::{
    ALL, Access, Assigned, Scope, SetValue, VarDef, VarValue, Variables, find, sql_mode_warnings,
};
use crate::table_locks::{self, TableLocks};
use crate::transaction::{self, TransactionState};
use crate::undo_settings;
use crate::user_variable::{kept_bytes, kept_bytes_of};

/// Bytes of an arena, and of a cache key, kept between commands.
const KEEP_ARENA_BYTES: usize = 256 << 10;
/// Capacity kept for packets between commands.
const KEEP_PACKET_BYTES: usize = 1 << 20;

/// Longest text whose plan is kept, bytes: it bounds the key. Running a longer one takes far longer than
/// planning it.
pub(crate) const CACHED_TEXT_BYTES_MAX: usize = 1 << 20;

/// Which value of a system variable is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `GLOBAL`.
    Global,
    /// `SESSION`, `LOCAL`.
    Session,
    /// Nothing said: the session's if there is one (and to read, else the global one).
    Default,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    /// What all sessions share.
    pub server: Arc<Server>,
    /// This session in the process list.
    pub process: Arc<Process>,
    /// Its place among the connections; `None` for one that no limit counts.
    pub place: Option<Place>,
    /// What the session counts.
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
    /// What the account may do here.
    pub(crate) rights: Rights,
    /// Counts what the session does, if its account has limits.
    pub(crate) counted: Option<Counted>,
    /// Longest text that plans are looked for before it is parsed, in bytes; 0: `counted` says.
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
    /// What the connection's memory is charged to.
    pub memory: Rc<ConnectionAccount>,
    /// What the memory of its statements is charged to.
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

/// What a command with a statement works with, reused by the next. A command takes it out of its session, so
/// that it can borrow the text and the plan from here while the statement runs on the session.
#[derive(Debug, Default)]
pub struct Workspace {
    /// The packet.
    pub packet: Vec<u8>,
    /// Arena for syntax trees and values of parameters.
    pub arena: Bump,
    /// Cache key of the statement at hand.
    pub key: CacheKey,
    /// Plans used lately.
    pub plans: SessionPlans,
}

impl Workspace {
    /// Gives what a long statement has made large to the allocator.
    pub fn trim(&mut self) {
        if self.arena.allocated_bytes() > KEEP_ARENA_BYTES {
            self.arena = Bump::new();
        }
        if self.key.heap_bytes() > KEEP_ARENA_BYTES {
            self.key = CacheKey::new();
        }
    }

    /// Forgets what the command had.
    #[inline]
    pub fn clear(&mut self) {
        self.arena.reset();
        if self.packet.capacity() > KEEP_PACKET_BYTES {
            self.packet = Vec::new();
        }
    }
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
            place: None,
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
        session.tell_settings();
        session
    }

    /// Back to the state of a new connection of the same user (COM_RESET_CONNECTION, COM_CHANGE_USER).
    pub fn reset(&mut self) {
        transaction::rollback(self);
        table_locks::release(self);
        self.server.user_locks.release_all(self.process.id());
        let forgotten = self.prepared.clear() as u64;
        self.server.status.prepared_statements.fetch_sub(forgotten, Ordering::Relaxed);
        self.variables = self.server.variables.read().clone();
        self.environment = None;
        self.tell_settings();
        self.named_statements.clear();
        let variables = std::mem::take(&mut self.user_variables);
        self.memory.drop_kept(variables.iter().map(|(name, value)| kept_bytes(name, value)).sum());
        self.set_memory_limits();
        self.diagnostics.clear();
        (self.last_insert_id, self.row_count, self.found_rows) = (0, 0, 0);
        self.changes = StateChanges::default();
    }

    /// Lets the account know what the session may use: at its start, once its account is known, after a
    /// change.
    pub fn set_memory_limits(&self) {
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
        kept.map_err(|exceeded| memory_limits::refuse(self, exceeded))?;
        self.put_user_variable(name, value);
        Ok(())
    }

    /// As [`Session::set_user_variable`], of a value that is charged already.
    pub fn put_user_variable(&mut self, name: String, value: OwnedValue) {
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
            reads_lock: transaction::reads_lock(hot.isolation),
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

    /// Lets others know them, and the socket how long it may wait.
    pub fn tell_settings(&self) {
        self.process.set_settings(self.settings());
        self.process.set_write_timeout(self.variables.hot.net_write_timeout);
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
    pub fn use_database(&mut self, database: Option<String>) {
        self.process.set_database(database.as_deref());
        self.database = database;
        self.note_default_schema();
        self.environment = None;
        self.changes.schema = true;
    }

    /// Takes over what is granted on the default database by now.
    fn note_default_schema(&mut self) {
        if self.rights.is_limited() {
            let by = self.server.accounts.schema_names();
            let granted = self.database.as_deref().map(|schema| self.current_grants().on_schema(schema, by));
            self.rights.set_default_schema(granted.unwrap_or_default());
        }
    }

    /// Makes `roles` the active ones; they are in order of their names.
    pub(crate) fn activate_roles(&mut self, roles: Vec<RoleName>) {
        let (user, host) = self.account_name();
        let account = self.server.accounts.find(user, host);
        self.rights
            .activate(roles, &account.map_or_else(Arc::default, |account| Arc::clone(&account.grants)));
        self.note_default_schema();
        self.note_checks();
        self.set_memory_limits();
    }

    /// The session is `account`'s from now on; `None`: nobody's yet.
    pub fn become_account(&mut self, account: Option<Arc<Account>>) {
        self.rights = account.as_deref().map(Rights::of).unwrap_or_default();
        self.account = account;
        self.note_checks();
    }

    /// From now on `counted` counts what the session does.
    pub(crate) fn be_counted(&mut self, counted: Option<Counted>) {
        if counted.is_some() {
            // It has plans of texts, which would be run before they are counted.
            self.workspace = None;
        }
        self.unparsed_bytes_max = if counted.is_some() { 0 } else { CACHED_TEXT_BYTES_MAX };
        self.counted = counted;
    }

    /// Whether the session has to set another password before it may do anything else.
    pub(crate) fn set_expired(&mut self, is_expired: bool) {
        self.rights.set_expired(is_expired);
        self.note_checks();
    }

    /// Notes whether statements are checked, after a change of what that depends on.
    pub fn note_checks(&mut self) {
        self.is_checked = self.table_locks.is_some() || self.rights.is_limited();
    }

    /// Privileges on everything and on `schema` together. `grants`: what [`Session::current_grants`] returns.
    pub(crate) fn on_schema(&self, grants: &Grants, schema: &str) -> Privileges {
        let by = self.server.accounts.schema_names();
        self.rights.on_schema(grants, schema, self.database.as_deref(), by)
    }

    /// What has been granted to the account by now.
    pub(crate) fn current_grants(&self) -> Arc<Grants> {
        let of = |account: &Arc<Account>| self.rights.current(&self.server.accounts, account);
        self.account.as_ref().map(of).unwrap_or_default()
    }

    /// Privileges on everything, of the account and its active roles.
    pub(crate) fn on_everything(&self) -> OnEverything {
        self.rights.settled().unwrap_or_else(|| OnEverything::from(&*self.current_grants()))
    }

    /// CURRENT_ROLE().
    pub(crate) fn current_role(&self) -> String {
        let active = self.rights.roles();
        if active.is_empty() { "NONE".to_owned() } else { roles::listed(active) }
    }

    /// User and host of the account; empty before a login.
    pub(crate) fn account_name(&self) -> (&str, &str) {
        self.account.as_deref().map_or(("", ""), |account| (&account.user, &account.host))
    }

    /// CURRENT_USER().
    pub fn current_user(&self) -> String {
        self.account.as_ref().map_or_else(String::new, |account| format!("{}@{}", account.user, account.host))
    }

    /// The session's client, for audit events.
    pub(crate) fn who(&self) -> Who<'_> {
        let proxy = self.proxy_user.as_deref().unwrap_or_default();
        Who { connection_id: self.process.id(), user: &self.user, peer: self.peer, proxy }
    }

    /// USER().
    pub fn client_user(&self) -> String {
        format!("{}@{}", self.user, self.peer.host())
    }

    /// What the user calls itself, and what its account is called.
    pub(crate) fn user_names(&self) -> [&str; 2] {
        [&self.user, self.account_name().0]
    }

    /// The value of system variable `name`, as `@@name` or SHOW VARIABLES read it.
    ///
    /// # Errors
    /// 1193 and 1238.
    pub fn read_variable(&self, level: Level, name: &str) -> Result<VarValue, SqlError> {
        let number = self.find_variable(name)?;
        let def = &ALL[number];
        match (level, def.scope) {
            (Level::Global, Scope::Session) => Err(scope_error(def, "SESSION")),
            (Level::Session, Scope::Global) => Err(scope_error(def, "GLOBAL")),
            (Level::Global, _) | (Level::Default, Scope::Global) => {
                Ok(self.server.variables.read().get(number).clone())
            }
            _ => Ok(self.computed(def.name).unwrap_or_else(|| self.variables.get(number).clone())),
        }
    }

    /// Number of the variable called `name`, in any case.
    ///
    /// # Errors
    /// 1193, also for a variable of a component that is not installed.
    fn find_variable(&self, name: &str) -> Result<usize, SqlError> {
        let found = find(name).filter(|number| self.server.components.has_variable(ALL[*number].name));
        found.ok_or_else(|| unknown_variable(name))
    }

    /// Variables whose value is found elsewhere in the session.
    fn computed(&self, name: &str) -> Option<VarValue> {
        Some(match name {
            "error_count" => VarValue::UInt(self.diagnostics.earlier().errors),
            "warning_count" => VarValue::UInt(self.diagnostics.earlier().warnings),
            "last_insert_id" | "identity" => VarValue::UInt(self.last_insert_id),
            "max_user_connections" => self.user_connections_max(),
            "proxy_user" => VarValue::Text(self.proxy_user.clone()?.into()),
            "pseudo_thread_id" => VarValue::UInt(u64::from(self.process.id())),
            _ => return None,
        })
    }

    /// How many connections the account may have at the same time.
    fn user_connections_max(&self) -> VarValue {
        match self.counted.as_ref().map_or(0, Counted::user_connections_max) {
            0 => self.server.variables.read().named("max_user_connections").clone(),
            own => VarValue::UInt(own.into()),
        }
    }

    /// Every variable with its value at `level`, by name: SHOW VARIABLES.
    pub fn list_variables(&self, level: Level) -> Vec<(&'static str, VarValue)> {
        let wanted = |def: &&VarDef| level != Level::Global || def.scope != Scope::Session;
        let value = |def: &VarDef| {
            let level = if level == Level::Global { level } else { Level::Default };
            self.read_variable(level, def.name).ok().map(|value| (def.name, value))
        };
        ALL.iter().filter(wanted).filter_map(value).collect()
    }

    /// SET of a system variable.
    ///
    /// # Errors
    /// 1193, 1228, 1229, 1238, 1568 and those of [`Variables::assign`].
    pub fn assign_variable(&mut self, level: Level, name: &str, set: &SetValue) -> Result<(), SqlError> {
        let number = self.find_variable(name)?;
        let def = &ALL[number];
        may_assign(def, level)?;
        let assigned = if level == Level::Global {
            self.assign_global(number, set)?
        } else {
            self.assign_local(number, set)?
        };
        if let Some(warning) = assigned.warning {
            self.warn(Severity::Warning, warning);
        }
        if def.name == "sql_mode" {
            self.warn_of_modes(level);
        }
        Ok(())
    }

    #[cold]
    fn warn_of_modes(&mut self, level: Level) {
        let modes = match level {
            Level::Global => self.server.variables.read().hot.sql_mode,
            _ => self.variables.hot.sql_mode,
        };
        for warning in sql_mode_warnings(modes) {
            self.warn(Severity::Warning, warning);
        }
    }

    fn assign_global(&mut self, number: usize, set: &SetValue) -> Result<Assigned, SqlError> {
        self.require_variables_admin()?;
        let default = self.server.options.variables.get(number).clone();
        roles::refuse_setting(self, ALL[number].name, set)?;
        privilege::refuse_partial_revokes(self, ALL[number].name, set)?;
        let mut variables = self.server.variables.write();
        failed_logins::refuse_setting(&variables, ALL[number].name, set)?;
        let assigned = variables.assign(number, set, &default)?;
        redo_log::changed(&self.server.engine, &variables, ALL[number].name)
            .map_err(|error| engine_error::plain(&error))?;
        lock_settings::changed(&self.server.engine, &variables, ALL[number].name);
        memory_limits::changed(&self.server, &mut variables, ALL[number].name);
        undo_settings::changed(&self.server.engine, &variables, ALL[number].name);
        roles::mandatory_changed(&self.server, &variables, ALL[number].name);
        privilege::partial_revokes_changed(&self.server.accounts, &variables, ALL[number].name);
        failed_logins::changed(&self.server, ALL[number].name);
        self.server.hosts.changed(ALL[number].name);
        drop(variables);
        if let Err(line) = self.server.components.changed(&self.server.variables, ALL[number].name) {
            self.server.log.warning(&line);
        }
        Ok(assigned)
    }

    fn assign_local(&mut self, number: usize, set: &SetValue) -> Result<Assigned, SqlError> {
        let name = ALL[number].name;
        let default = match ALL[number].scope {
            Scope::Session => ALL[number].default_value(),
            _ => self.server.variables.read().get(number).clone(),
        };
        if memory_limits::is_limit(name) {
            self.may_limit_memory(number, set, &default)?;
        }
        let had_autocommit = self.variables.hot.autocommit;
        let assigned = self.variables.assign(number, set, &default)?;
        self.environment = None;
        self.tell_settings();
        match name {
            "autocommit" if self.variables.hot.autocommit && !had_autocommit => transaction::commit(self)?,
            "innodb_lock_wait_timeout" | "lock_wait_timeout" => transaction::take_lock_waits(self),
            "last_insert_id" | "identity" => self.last_insert_id = self.variables.get(number).as_u64(),
            _ if memory_limits::is_limit(name) => self.set_memory_limits(),
            _ => {}
        }
        if self.is_tracked(name) {
            self.changes.variables.push(name);
        }
        Ok(assigned)
    }

    /// Error 1227 unless the account may give a session this limit: one that is no administrator may lower
    /// what its statements use, and nothing else.
    fn may_limit_memory(&self, number: usize, set: &SetValue, default: &VarValue) -> Result<(), SqlError> {
        if self.require_variables_admin().is_ok() {
            return Ok(());
        }
        let mut tried = self.variables.clone();
        tried.assign(number, set, default)?;
        let most = self.server.variables.read().get(number).as_u64();
        if ALL[number].name == "ratchet_statement_memory_limit" && tried.get(number).as_u64() <= most {
            return Ok(());
        }
        self.require_variables_admin()
    }

    /// Whether the client wants to hear of changes of variable `name`.
    fn is_tracked(&self, name: &str) -> bool {
        let tracked = self.variables.named("session_track_system_variables").as_text();
        tracked == "*" || tracked.split(',').any(|one| one.trim().eq_ignore_ascii_case(name))
    }

    /// Error 1227 unless the account may set global variables.
    fn require_variables_admin(&self) -> Result<(), SqlError> {
        let what = "SUPER or SYSTEM_VARIABLES_ADMIN";
        ensure_one_of(self, Privileges::SUPER, DynamicSet::SYSTEM_VARIABLES_ADMIN, what)
    }

    /// Whether limits on connections and their memory are not for the account, and it may end others'.
    pub fn is_connection_admin(&self) -> bool {
        let own = self.on_everything();
        own.dynamic.has(DynamicSet::CONNECTION_ADMIN) || own.privileges.has(Privileges::SUPER)
    }
}

/// Error 3061 if no user variable of this name may be set.
///
/// # Errors
/// See above.
pub fn ensure_variable_name(name: &str) -> Result<(), SqlError> {
    /// Most characters.
    const CHARS_MAX: usize = 64;
    if name.len() > CHARS_MAX && name.chars().count() > CHARS_MAX {
        return Err(error_map::ILLEGAL_USER_VAR.with(&[&name]));
    }
    Ok(())
}

fn may_assign(def: &VarDef, level: Level) -> Result<(), SqlError> {
    match (def.access, def.scope, level) {
        (Access::Fixed | Access::Startup, ..) => Err(scope_error(def, "read only")),
        (_, Scope::Session, Level::Global) => Err(error_map::LOCAL_VARIABLE.with(&[&def.name])),
        (_, Scope::Global, Level::Session | Level::Default) => {
            Err(error_map::GLOBAL_VARIABLE.with(&[&def.name]))
        }
        (Access::GlobalOnly, Scope::Both, Level::Session | Level::Default) => Err(session_read_only(def)),
        _ => Ok(()),
    }
}

#[cold]
fn unknown_variable(name: &str) -> SqlError {
    error_map::UNKNOWN_SYSTEM_VARIABLE.with(&[&name])
}

#[cold]
fn scope_error(def: &VarDef, what: &str) -> SqlError {
    error_map::INCORRECT_GLOBAL_LOCAL_VAR.with(&[&def.name, &what])
}

#[cold]
fn session_read_only(def: &VarDef) -> SqlError {
    let kind: &ErrorKind = &error_map::VARIABLE_IS_READONLY;
    kind.with(&[&"SESSION", &def.name, &"GLOBAL"])
}
