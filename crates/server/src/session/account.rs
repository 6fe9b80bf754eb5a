//! Whose a session is: its account, active roles and privileges.

use std::sync::Arc;

use super::{CACHED_TEXT_BYTES_MAX, Session};
use crate::account::Account;
use crate::audit::EventClient;
use crate::privilege::{DynamicSet, Grants, OnEverything, Privileges, Rights};
use crate::resource_use::CountedSession;
use crate::roles::{self, RoleName};

impl Session {
    /// Takes over what is granted on the default database by now.
    pub(super) fn note_default_schema(&mut self) {
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

    /// The session is `account`'s from now on; `None`: before the login.
    pub(crate) fn become_account(&mut self, account: Option<Arc<Account>>) {
        self.rights = account.as_deref().map(Rights::of).unwrap_or_default();
        self.account = account;
        self.note_checks();
    }

    /// From now on `counted` counts what the session does.
    pub(crate) fn set_counted(&mut self, counted: Option<CountedSession>) {
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
    pub(crate) fn note_checks(&mut self) {
        self.is_checked = self.table_locks.is_some() || self.rights.is_limited();
    }

    /// Privileges on everything and on `schema` together. `grants`: what [`Session::current_grants`] returns.
    pub(crate) fn on_schema(&self, grants: &Grants, schema: &str) -> Privileges {
        let by = self.server.accounts.schema_names();
        self.rights.on_schema(grants, schema, self.database.as_deref(), by)
    }

    /// The current grants of the account.
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
    pub(crate) fn who(&self) -> EventClient<'_> {
        let proxy = self.proxy_user.as_deref().unwrap_or_default();
        EventClient { connection_id: self.process.id(), user: &self.user, peer: self.peer, proxy }
    }

    /// USER().
    pub(crate) fn client_user(&self) -> String {
        format!("{}@{}", self.user, self.peer.host())
    }

    /// The user name as given by the client, and that of its account.
    pub(crate) fn user_names(&self) -> [&str; 2] {
        [&self.user, self.account_name().0]
    }

    /// Whether limits on connections and their memory are not for the account, and it may end others'.
    pub(crate) fn is_connection_admin(&self) -> bool {
        let own = self.on_everything();
        own.dynamic.has(DynamicSet::CONNECTION_ADMIN) || own.privileges.has(Privileges::SUPER)
    }
}
