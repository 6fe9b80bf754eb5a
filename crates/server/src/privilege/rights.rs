//! The privileges of a session.

use std::cell::RefCell;
use std::sync::Arc;

use super::dynamic::DynamicSet;
use super::grants::{Grants, SchemaNames};
use super::restrictions::Restrictions;
use super::set::Privileges;
use crate::account::{Account, Accounts};
use crate::roles::RoleName;

/// Privileges on everything.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OnEverything {
    /// Static ones.
    pub(crate) privileges: Privileges,
    pub(crate) dynamic: DynamicSet,
    /// Those of the dynamic ones that may be granted.
    pub(crate) dynamic_grantable: DynamicSet,
}

impl From<&Grants> for OnEverything {
    fn from(grants: &Grants) -> Self {
        let Grants { global, dynamic, dynamic_grantable, .. } = *grants;
        OnEverything { privileges: global, dynamic, dynamic_grantable }
    }
}

/// Privileges of a session's account, as far as they are in force for the session.
#[derive(Debug, Default)]
pub(crate) struct Rights {
    /// On everything, since the login or the last SET ROLE; in force while no role is active.
    own: OnEverything,
    /// Where the static ones of `own` do not hold, since the same moment.
    own_restrictions: Restrictions,
    /// On the default database, since it is that.
    default_schema: Privileges,
    /// The active roles, in order of their names. Some may not be granted any more.
    roles: Box<[RoleName]>,
    /// The grants of the account and its active roles, and the epoch of the accounts in which they were read.
    current: RefCell<(u64, Arc<Grants>)>,
    /// The password has expired: nothing but setting another one is allowed.
    is_expired: bool,
}

impl Rights {
    /// Those of a session that has just logged in.
    pub(crate) fn of(account: &Account) -> Self {
        let grants = &account.grants;
        Rights {
            own: OnEverything::from(&**grants),
            own_restrictions: grants.restrictions.clone(),
            default_schema: Privileges::NONE,
            roles: Box::default(),
            // Epochs begin at 1: it is looked up when it is first needed.
            current: RefCell::new((0, Arc::clone(grants))),
            is_expired: false,
        }
    }

    /// Privileges on everything, unless roles are active: what these give and take is in force at once.
    pub(crate) fn settled(&self) -> Option<OnEverything> {
        self.roles.is_empty().then_some(self.own)
    }

    /// Privileges on everything. `grants`: what [`Rights::current`] returns.
    pub(crate) fn on_everything(&self, grants: &Grants) -> OnEverything {
        self.settled().unwrap_or_else(|| OnEverything::from(grants))
    }

    /// Whether there are tables that the session may not do everything with, or may not any time: what active
    /// roles give may be taken.
    pub(crate) fn is_limited(&self) -> bool {
        self.is_expired
            || !self.roles.is_empty()
            || !self.own.privileges.has(Privileges::OF_SCHEMA)
            || !self.own_restrictions.is_empty()
    }

    /// The active roles, in order of their names.
    pub(crate) fn roles(&self) -> &[RoleName] {
        &self.roles
    }

    /// Activates `roles` instead of those that are; they are in order of their names. `grants`: what is
    /// granted to the account itself by now, which is in force from now on.
    pub(crate) fn activate(&mut self, roles: Vec<RoleName>, grants: &Grants) {
        self.own = OnEverything::from(grants);
        self.own_restrictions = grants.restrictions.clone();
        self.roles = roles.into();
        self.current.get_mut().0 = 0;
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

    /// The current grants of `account`. Cost: a load, unless some account has changed since the last call.
    pub(crate) fn current(&self, accounts: &Accounts, account: &Account) -> Arc<Grants> {
        let mut current = self.current.borrow_mut();
        let epoch = accounts.epoch();
        if current.0 != epoch {
            *current = (epoch, self.read(accounts, account, epoch));
        }
        Arc::clone(&current.1)
    }

    #[cold]
    fn read(&self, accounts: &Accounts, account: &Account, epoch: u64) -> Arc<Grants> {
        if !self.roles.is_empty() {
            return accounts.image((account.role_name(), self.roles.clone()), epoch);
        }
        let found = accounts.find(&account.user, &account.host);
        found.map_or_else(Arc::default, |account| Arc::clone(&account.grants))
    }

    /// Privileges on everything and on `schema` together.
    pub(crate) fn on_schema(
        &self,
        grants: &Grants,
        schema: &str,
        default: Option<&str>,
        names: SchemaNames,
    ) -> Privileges {
        let is_default = default == Some(schema);
        let own = if is_default { self.default_schema } else { grants.on_schema(schema, names) };
        self.in_schema(grants, schema) | own
    }

    /// Those privileges on everything that hold in `schema`.
    pub(crate) fn in_schema(&self, grants: &Grants, schema: &str) -> Privileges {
        self.on_everything(grants).privileges - self.restrictions(grants).on(schema)
    }

    /// Where privileges on everything do not hold.
    pub(crate) fn restrictions<'g>(&'g self, grants: &'g Grants) -> &'g Restrictions {
        if self.roles.is_empty() { &self.own_restrictions } else { &grants.restrictions }
    }
}
