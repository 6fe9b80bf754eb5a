//! System variables as a session reads and sets them: `@@name`, SHOW VARIABLES, SET.

use super::Session;
use crate::diagnostics::Severity;
use crate::engine_error;
use crate::engine_settings;
use crate::error_map::{self, ErrorKind, SqlError};
use crate::failed_logins;
use crate::memory_limits;
use crate::privilege::{self, DynamicSet, Privileges, ensure_one_of};
use crate::redo_log;
use crate::resource_use::CountedSession;
use crate::roles;
use crate::sysvars::{
    ALL, Access, Assigned, Scope, SetValue, VarDef, VarLevel, VarValue, find, sql_mode_warnings,
};
use crate::transaction;
use crate::undo_settings;

impl Session {
    /// The value of system variable `name`, as `@@name` or SHOW VARIABLES read it.
    ///
    /// # Errors
    /// 1193 and 1238.
    pub(crate) fn read_variable(&self, level: VarLevel, name: &str) -> Result<VarValue, SqlError> {
        let number = self.find_variable(name)?;
        let def = &ALL[number];
        match (level, def.scope) {
            (VarLevel::Global, Scope::Session) => Err(scope_error(def, "SESSION")),
            (VarLevel::Session, Scope::Global) => Err(scope_error(def, "GLOBAL")),
            (VarLevel::Global, _) | (VarLevel::Default, Scope::Global) => {
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
        match self.counted.as_ref().map_or(0, CountedSession::user_connections_max) {
            0 => self.server.variables.read().named("max_user_connections").clone(),
            own => VarValue::UInt(own.into()),
        }
    }

    /// Every variable with its value at `level`, by name: SHOW VARIABLES.
    pub(crate) fn list_variables(&self, level: VarLevel) -> Vec<(&'static str, VarValue)> {
        let wanted = |def: &&VarDef| level != VarLevel::Global || def.scope != Scope::Session;
        let value = |def: &VarDef| {
            let level = if level == VarLevel::Global { level } else { VarLevel::Default };
            self.read_variable(level, def.name).ok().map(|value| (def.name, value))
        };
        ALL.iter().filter(wanted).filter_map(value).collect()
    }

    /// SET of a system variable.
    ///
    /// # Errors
    /// 1193, 1228, 1229, 1238, 1568 and those of [`crate::sysvars::Variables::assign`].
    pub(crate) fn assign_variable(
        &mut self,
        level: VarLevel,
        name: &str,
        set: &SetValue,
    ) -> Result<(), SqlError> {
        let number = self.find_variable(name)?;
        let def = &ALL[number];
        may_assign(def, level)?;
        let assigned = if level == VarLevel::Global {
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
    fn warn_of_modes(&mut self, level: VarLevel) {
        let modes = match level {
            VarLevel::Global => self.server.variables.read().hot.sql_mode,
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
        privilege::refuse_partial_revokes(&self.server.accounts, ALL[number].name, set)?;
        let mut variables = self.server.variables.write();
        failed_logins::refuse_setting(&variables, ALL[number].name, set)?;
        let assigned = variables.assign(number, set, &default)?;
        redo_log::changed(&self.server.engine, &variables, ALL[number].name)
            .map_err(|error| engine_error::plain(&error))?;
        engine_settings::changed(&self.server.engine, &variables, ALL[number].name);
        memory_limits::changed(&self.server.memory, &self.server.plans, &mut variables, ALL[number].name);
        undo_settings::changed(&self.server.engine, &variables, ALL[number].name);
        roles::mandatory_changed(&self.server, &variables, ALL[number].name);
        privilege::partial_revokes_changed(&self.server.accounts, &variables, ALL[number].name);
        self.server.failed_logins.changed(&self.server.status, ALL[number].name);
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
        self.publish_settings();
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

    /// Whether the client tracks changes of variable `name`.
    fn is_tracked(&self, name: &str) -> bool {
        let tracked = self.variables.named("session_track_system_variables").as_text();
        tracked == "*" || tracked.split(',').any(|one| one.trim().eq_ignore_ascii_case(name))
    }

    /// Error 1227 unless the account may set global variables.
    fn require_variables_admin(&self) -> Result<(), SqlError> {
        let what = "SUPER or SYSTEM_VARIABLES_ADMIN";
        ensure_one_of(self, Privileges::SUPER, DynamicSet::SYSTEM_VARIABLES_ADMIN, what)
    }
}

fn may_assign(def: &VarDef, level: VarLevel) -> Result<(), SqlError> {
    match (def.access, def.scope, level) {
        (Access::Fixed | Access::Startup, ..) => Err(scope_error(def, "read only")),
        (_, Scope::Session, VarLevel::Global) => Err(error_map::LOCAL_VARIABLE.with(&[&def.name])),
        (_, Scope::Global, VarLevel::Session | VarLevel::Default) => {
            Err(error_map::GLOBAL_VARIABLE.with(&[&def.name]))
        }
        (Access::GlobalOnly, Scope::Both, VarLevel::Session | VarLevel::Default) => {
            Err(session_read_only(def))
        }
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
