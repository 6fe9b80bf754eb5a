//! What a session may do.

use std::cell::RefCell;
use std::sync::Arc;

use super::dynamic::DynamicSet;
use super::grants::Grants;
use super::set::Privileges;
use crate::account::{Account, Accounts};

/// Privileges of a session's account, as far as they are in force for the session.
#[derive(Debug, Default)]
pub(crate) struct Rights {
    /// On everything, since the login.
    global: Privileges,
    dynamic: DynamicSet,
    dynamic_grantable: DynamicSet,
    /// On the default database, since it is that.
    default_schema: Privileges,
    /// The account's grants, and the epoch of the accounts they were read in.
    current: RefCell<(u64, Arc<Grants>)>,
    /// The password has expired: nothing but setting another one is allowed.
    is_expired: bool,
}

impl Rights {
    /// Those of a session that has just logged in.
    pub(crate) fn of(account: &Account) -> Self {
        let grants = &account.grants;
        Rights {
            global: grants.global,
            dynamic: grants.dynamic,
            dynamic_grantable: grants.dynamic_grantable,
            default_schema: Privileges::NONE,
            // Epochs begin at 1: it is looked up when it is first needed.
            current: RefCell::new((0, Arc::clone(grants))),
            is_expired: false,
        }
    }

    pub(crate) fn global(&self) -> Privileges {
        self.global
    }

    pub(crate) fn dynamic(&self) -> DynamicSet {
        self.dynamic
    }

    pub(crate) fn dynamic_grantable(&self) -> DynamicSet {
        self.dynamic_grantable
    }

    /// Whether there are tables that the session may not do everything with.
    pub(crate) fn is_limited(&self) -> bool {
        self.is_expired || !self.global.has(Privileges::OF_SCHEMA)
    }

    /// Whether the session has to set another password before anything else.
    pub(crate) fn is_expired(&self) -> bool {
        self.is_expired
    }

    pub(crate) fn set_expired(&mut self, is_expired: bool) {
        self.is_expired = is_expired;
    }

    /// The default database is another one.
    pub(crate) fn set_default_schema(&mut self, privileges: Privileges) {
        self.default_schema = privileges;
    }

    /// What is granted to `account` now. Cost: a load, unless some account has changed since the last call.
    pub(crate) fn current(&self, accounts: &Accounts, account: &Account) -> Arc<Grants> {
        let mut current = self.current.borrow_mut();
        let epoch = accounts.epoch();
        if current.0 != epoch {
            let found = accounts.find(&account.user, &account.host);
            *current = (epoch, found.map_or_else(Arc::default, |account| Arc::clone(&account.grants)));
        }
        Arc::clone(&current.1)
    }

    /// Privileges on everything and on `schema` together.
    pub(crate) fn on_schema(&self, grants: &Grants, schema: &str, default: Option<&str>) -> Privileges {
        let own = if default == Some(schema) { self.default_schema } else { grants.on_schema(schema) };
        self.global | own
    }
}
