//! CREATE, ALTER, DROP and RENAME USER, SET PASSWORD.

use sql::ast::{
    self, DropUser, PasswordExpire, PasswordRules, SecondPassword, Secret, SetPassword, UserSpec,
    UserStatement,
};
use wire::auth::{AuthPlugin, Credential, CredentialError, PASSWORD_BYTES_MAX, Password};

use std::sync::Arc;

use crate::account::Account;
use crate::account_change::AccountChange;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::new_password::Generated;
use crate::password_age::PasswordAge;
use crate::password_history::Compared;
use crate::password_rules::{self, NewPassword, Setting};
use crate::password_strength::Check;
use crate::privilege::{DynamicSet, Privileges, ensure_on_schema, ensure_one_of};
use crate::roles;
use crate::second_password;
use crate::session::Session;
use crate::sysvars::{VarLevel, VarValue};
use crate::tls_requirement::TlsRequirement;
use crate::user_attributes;

/// Longest user and host names, in characters.
const USER_CHARS_MAX: usize = 32;
const HOST_CHARS_MAX: usize = 255;

/// User and host of an account named in a statement.
type Name = (String, String);

/// CREATE USER and ALTER USER, of all accounts or none.
///
/// # Errors
/// 1227 for who may not change accounts, unless its own password is all that changes; 1396, 1410 and 1524 for
/// what cannot be done, 3891 and 3893 for the current password; 1235 for what is not supported.
pub(crate) fn create_or_alter(
    session: &mut Session,
    statement: &UserStatement<'_>,
) -> Result<Generated, SqlError> {
    if is_own_password_only(session, statement)? {
        let names_second = statement.users.iter().any(|spec| spec.second != SecondPassword::Unsaid);
        ensure_second_password(session, names_second)?;
    } else {
        require_user_admin(session)?;
    }
    ensure_sets_own_password(session, statement)?;
    ensure_days(statement)?;
    refuse_unsupported(statement)?;
    let operation = operation(statement);
    refuse_long_passwords(session, operation, statement.users)?;
    refuse_weak_passwords(session, statement)?;
    let ahead = compare_ahead(session, statement)?;
    let server = Arc::clone(&session.server);
    let mut change = AccountChange::new(&server.accounts);
    let (mut failed, mut generated) = (Vec::new(), Generated::default());
    for (spec, ahead) in statement.users.iter().zip(&ahead) {
        // Each password takes milliseconds to hash.
        session.fail_if_killed()?;
        let (user, host) = name_of(session, &spec.account)?;
        let existing = change.find(&user, &host);
        existing.iter().try_for_each(|account| ensure_may_change(session, account))?;
        if existing.is_some() == statement.alter {
            existing.iter().try_for_each(|account| ensure_may_set(session, account, spec))?;
            let drawn = match spec.secret {
                Secret::Random => Some(generated.draw((&user, &host), random_chars(session)?)?),
                _ => None,
            };
            let new = NewPassword {
                text: text_of(spec),
                ahead: ahead.as_ref(),
                former_plugin: existing.as_ref().map(|account| account.credential.plugin()),
                is_second: existing.as_ref().is_some_and(|account| change.has_new_password(account)),
            };
            let mut account = build(existing, (user, host), (spec, drawn), statement)?;
            if spec.secret != Secret::None || spec.plugin.is_some() {
                by_rules(session, |setting| password_rules::renew_history(setting, &mut account, new))?;
            }
            roles::grant_defaults(session, &mut account, statement)?;
            change.put(account);
        } else if statement.if_exists {
            note_existence(session, statement, &quoted(&user, &host));
        } else {
            failed.push(quoted(&user, &host));
        }
    }
    if !failed.is_empty() {
        return Err(cannot_user(operation, &failed.join(",")));
    }
    change.commit()?;
    if statement.alter && statement.limits.is_any() {
        renew_limits(session, statement.users)?;
    }
    note_expiry(session, statement);
    Ok(generated)
}

/// Warns of an account that is there, or missing, under IF EXISTS or IF NOT EXISTS.
fn note_existence(session: &mut Session, statement: &UserStatement<'_>, name: &str) {
    let missing = &error_map::USER_DOES_NOT_EXIST;
    let kind = if statement.alter { missing } else { &error_map::USER_ALREADY_EXISTS };
    session.warn(Severity::Note, kind.with(&[&name]));
}

/// Applies changed limits to the open sessions of the accounts.
fn renew_limits(session: &Session, users: &[UserSpec<'_>]) -> Result<(), SqlError> {
    users.iter().try_for_each(|spec| {
        let (user, host) = name_of(session, &spec.account)?;
        session.server.resource_use.renew(&session.server.accounts, &user, &host);
        Ok(())
    })
}

/// What comparisons of the statement's passwords with former ones find, for each account that it names.
fn compare_ahead(
    session: &Session,
    statement: &UserStatement<'_>,
) -> Result<Vec<Option<Compared>>, SqlError> {
    let of = |spec: &UserSpec<'_>| {
        let account = name_of(session, &spec.account).ok();
        let account = account.and_then(|(user, host)| session.server.accounts.find(&user, &host));
        match (account, text_of(spec)) {
            (Some(account), Some(text)) if statement.alter && keeps_plugin(spec, &account) => {
                by_rules(session, |setting| {
                    password_rules::compare_ahead(setting, &account, text, &statement.password_rules)
                })
            }
            _ => Ok(None),
        }
    };
    statement.users.iter().map(of).collect()
}

/// Whether `account` keeps its plugin, and with it its former passwords.
fn keeps_plugin(spec: &UserSpec<'_>, account: &Account) -> bool {
    let plugin = account.credential.plugin();
    spec.plugin.is_none_or(|name| AuthPlugin::from_name(name.as_bytes()) == Some(plugin))
}

/// Runs `check` of a password with what it needs of the session.
fn by_rules<T>(session: &Session, check: impl FnOnce(&Setting<'_>) -> T) -> T {
    let go_on = || session.fail_if_killed();
    let variables = session.server.variables.read().clone();
    check(&Setting { variables, zone: &session.variables.hot.time_zone, go_on: &go_on })
}

/// The password that a statement sets, if it says it.
fn text_of<'a>(spec: &UserSpec<'a>) -> Option<&'a str> {
    if let Secret::Password(text) = spec.secret { Some(text) } else { None }
}

/// Error 1820 for a session whose password has expired, unless the statement sets another one.
fn ensure_sets_own_password(session: &Session, statement: &UserStatement<'_>) -> Result<(), SqlError> {
    if !session.rights.is_expired() || statement.users.iter().any(|spec| sets_own_password(session, spec)) {
        return Ok(());
    }
    Err(error_map::MUST_CHANGE_PASSWORD.bare())
}

fn sets_own_password(session: &Session, spec: &UserSpec<'_>) -> bool {
    spec.secret != Secret::None && names_own(session, &spec.account)
}

fn names_own(session: &Session, account: &ast::Account<'_>) -> bool {
    name_of(session, account).is_ok_and(|(user, host)| is_own(session, &user, &host))
}

/// Error 1525 for a password that is to last no day, or too many.
fn ensure_days(statement: &UserStatement<'_>) -> Result<(), SqlError> {
    match statement.password_expire {
        Some(PasswordExpire::Days(days)) if days == 0 || days > u64::from(u16::MAX) => {
            Err(error_map::WRONG_VALUE.with(&[&"DAY", &days]))
        }
        _ => Ok(()),
    }
}

/// The session may continue, or has to set a password, as the statement has left its own account.
fn note_expiry(session: &mut Session, statement: &UserStatement<'_>) {
    if !statement.users.iter().any(|spec| names_own(session, &spec.account)) {
        return;
    }
    if statement.password_expire == Some(PasswordExpire::Now) {
        session.set_expired(true);
    } else if statement.users.iter().any(|spec| sets_own_password(session, spec)) {
        session.set_expired(false);
    }
}

/// Whether `statement` changes nothing but the password of the session's account.
fn is_own_password_only(session: &Session, statement: &UserStatement<'_>) -> Result<bool, SqlError> {
    if !statement.alter || statement.has_options() {
        return Ok(false);
    }
    for spec in statement.users {
        let sets_password = matches!(spec.secret, Secret::Password(_) | Secret::Random)
            || spec.second == SecondPassword::Discard;
        let (user, host) = name_of(session, &spec.account)?;
        if !sets_password || spec.plugin.is_some() || !is_own(session, &user, &host) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn operation(statement: &UserStatement<'_>) -> &'static str {
    if statement.alter { "ALTER USER" } else { "CREATE USER" }
}

fn refuse_unsupported(statement: &UserStatement<'_>) -> Result<(), SqlError> {
    if statement.users.iter().any(|spec| spec.other_factors) {
        return Err(error_map::NOT_SUPPORTED_YET.with(&[&"multi-factor authentication"]));
    }
    Ok(())
}

/// Fails for the first password that is too long, before accounts are looked up or anything is hashed.
fn refuse_long_passwords(
    session: &Session,
    operation: &'static str,
    users: &[UserSpec<'_>],
) -> Result<(), SqlError> {
    users.iter().try_for_each(|spec| match spec.secret {
        Secret::Password(text) if Password::new(text.as_bytes()).is_none() => {
            let (user, host) = name_of(session, &spec.account)?;
            Err(cannot_user(operation, &quoted(&user, &host)))
        }
        _ => Ok(()),
    })
}

/// Fails for the first password that the component validate_password refuses, before accounts are looked up.
fn refuse_weak_passwords(session: &Session, statement: &UserStatement<'_>) -> Result<(), SqlError> {
    let Some(check) = password_check(session) else { return Ok(()) };
    let takes_none =
        |plugin: &str| AuthPlugin::from_name(plugin.as_bytes()).is_some_and(|p| !p.takes_passwords());
    statement.users.iter().try_for_each(|spec| match spec.secret {
        _ if spec.plugin.is_some_and(takes_none) => Ok(()),
        Secret::Password(text) => check.ensure_strong(text, session.user_names()),
        Secret::Hash("") if !statement.alter => check.ensure_strong("", session.user_names()),
        Secret::None if !statement.alter => check.ensure_strong("", session.user_names()),
        _ => Ok(()),
    })
}

/// How the component validate_password checks, if it is installed.
fn password_check(session: &Session) -> Option<Check> {
    session.server.components.password_check(&session.server.variables.read())
}

/// Error 4165 for a new password that has too many characters of the current one.
fn ensure_changed(session: &Session, current: Option<&str>, new: Option<&str>) -> Result<(), SqlError> {
    match (password_check(session), current, new) {
        (Some(check), Some(current), Some(new)) => check.ensure_changed(current, new),
        _ => Ok(()),
    }
}

#[cold]
fn cannot_user(operation: &'static str, names: &str) -> SqlError {
    error_map::CANNOT_USER.with(&[&operation, &names])
}

/// The account as it will be. `generated`: the password for IDENTIFIED BY RANDOM PASSWORD.
fn build(
    base: Option<Account>,
    (user, host): Name,
    (spec, generated): (&UserSpec<'_>, Option<&str>),
    statement: &UserStatement<'_>,
) -> Result<Account, SqlError> {
    let empty = || Credential::empty(AuthPlugin::CachingSha2);
    let former = base.as_ref().map(|account| account.credential.clone());
    let is_new = base.is_none();
    let mut account = base.unwrap_or_else(|| Account::new(user, host, empty()));
    let plugin = match spec.plugin {
        None => account.credential.plugin(),
        Some(name) => AuthPlugin::from_name(name.as_bytes())
            .ok_or_else(|| error_map::PLUGIN_IS_NOT_LOADED.with(&[&name]))?,
    };
    account.credential = match spec.secret {
        Secret::None if spec.plugin.is_none() => account.credential,
        Secret::None => Credential::empty(plugin),
        Secret::Password(text) => hash(operation(statement), &account, plugin, text)?,
        Secret::Hash(stored) => {
            let read = Credential::from_stored(plugin, stored.as_bytes());
            read.map_err(credential_error)?
        }
        Secret::Random => hash(operation(statement), &account, plugin, generated.unwrap_or_default())?,
    };
    if let Some(former) = former {
        second_password::follow(&mut account, &former, spec.second)?;
    }
    if !plugin.takes_passwords() && is_new {
        account.password_age = PasswordAge::default();
    } else if !plugin.takes_passwords() {
        account.password_age.is_expired = false;
    } else if spec.secret != Secret::None || spec.plugin.is_some() {
        account.password_age.renew();
        // An account that loses its password has to set one, which the policies check.
        account.password_age.is_expired = !is_new && spec.secret == Secret::None;
    }
    if let Some(expire) = statement.password_expire {
        ensure_expires(plugin, expire)?;
        account.password_age.apply(expire);
    }
    if let Some(written) = statement.require {
        account.requires = TlsRequirement::written(written)?;
    }
    account.limits = account.limits.with(statement.limits);
    account.password_policy = account.password_policy.with(&statement.password_rules);
    if let Some(said) = statement.attribute {
        account.attributes = Some(user_attributes::merged(account.attributes.as_deref(), said)?.into());
    }
    if statement.failed_login_attempts.is_some() || statement.password_lock_time.is_some() {
        account.lockout =
            account.lockout.with(statement.failed_login_attempts, statement.password_lock_time)?;
    }
    if statement.lock == Some(false) {
        account.lockout.forget();
    }
    account.locked = statement.lock.unwrap_or(account.locked);
    Ok(account)
}

/// Error 3671 for a password that is to expire, but does not exist.
fn ensure_expires(plugin: AuthPlugin, expire: PasswordExpire) -> Result<(), SqlError> {
    if plugin.takes_passwords() || matches!(expire, PasswordExpire::Default | PasswordExpire::Never) {
        return Ok(());
    }
    Err(error_map::PASSWORD_EXPIRATION_NOT_SUPPORTED.with(&[&plugin.name()]))
}

/// The credential of `account` under a new password. `operation` names the statement in the error for one too
/// long.
fn hash(
    operation: &'static str,
    account: &Account,
    plugin: AuthPlugin,
    text: &str,
) -> Result<Credential, SqlError> {
    let password = Password::new(text.as_bytes())
        .ok_or_else(|| cannot_user(operation, &quoted(&account.user, &account.host)))?;
    Credential::from_password(plugin, password).map_err(credential_error)
}

#[cold]
fn credential_error(error: CredentialError) -> SqlError {
    match error {
        CredentialError::BadHash => error_map::PASSWORD_FORMAT.bare(),
        _ => error_map::OUT_OF_RESOURCES.bare(),
    }
}

/// DROP USER, of all accounts or none.
pub fn drop(session: &mut Session, statement: &DropUser<'_>) -> Result<(), SqlError> {
    let (operation, allowed, what) = if statement.role {
        ("DROP ROLE", Privileges::CREATE_USER | Privileges::DROP_ROLE, "CREATE USER, DROP ROLE")
    } else {
        ("DROP USER", Privileges::CREATE_USER, "CREATE USER")
    };
    ensure_one_of(session, allowed, DynamicSet::default(), what)?;
    let server = Arc::clone(&session.server);
    let mut change = AccountChange::new(&server.accounts);
    let (mut missing, mut dropped) = (Vec::new(), Vec::new());
    for account in statement.users {
        let (user, host) = name_of(session, account)?;
        if let Some(account) = change.find(&user, &host) {
            ensure_may_change(session, &account)?;
            if !account.locked {
                // It is no role.
                require_user_admin(session)?;
            }
            dropped.push(account.role_name());
            change.remove(user, host);
        } else if statement.if_exists {
            let note = error_map::USER_DOES_NOT_EXIST.with(&[&quoted(&user, &host)]);
            session.warn(Severity::Note, note);
        } else {
            missing.push(quoted(&user, &host));
        }
    }
    if !missing.is_empty() {
        return Err(cannot_user(operation, &missing.join(",")));
    }
    roles::forget(&server.accounts, &mut change, &dropped)?;
    change.commit()?;
    for account in &dropped {
        server.resource_use.forget(&account.user, &account.host);
    }
    Ok(())
}

/// RENAME USER, of all accounts or none; each pair sees those before it.
pub fn rename(session: &mut Session, pairs: &[(ast::Account<'_>, ast::Account<'_>)]) -> Result<(), SqlError> {
    require_user_admin(session)?;
    let server = Arc::clone(&session.server);
    let mut change = AccountChange::new(&server.accounts);
    let (mut failed, mut former) = (Vec::new(), Vec::new());
    for (from, to) in pairs {
        let (user, host) = name_of(session, from)?;
        let (new_user, new_host) = name_of(session, to)?;
        match change.find(&user, &host).filter(|_| change.find(&new_user, &new_host).is_none()) {
            Some(account) => {
                ensure_may_change(session, &account)?;
                roles::ensure_renamable(&server.accounts.directory(), &user, &host)?;
                change.put(Account { user: new_user, host: new_host, ..account });
                change.remove(user.clone(), host.clone());
                former.push((user, host));
            }
            None => failed.push(quoted(&user, &host)),
        }
    }
    if !failed.is_empty() {
        return Err(cannot_user("RENAME USER", &failed.join(",")));
    }
    change.commit()?;
    for (user, host) in &former {
        server.resource_use.forget(user, host);
    }
    Ok(())
}

/// SET PASSWORD, for oneself or, with UPDATE on the schema `mysql`, for others.
///
/// # Errors
/// 1044 for others' without UPDATE, 1133 and 1396 for what cannot be done, 3891 and 3893 for the current
/// password; 1227, 3878 and 3895 for RETAIN.
pub(crate) fn set_password(session: &mut Session, set: &SetPassword<'_>) -> Result<Generated, SqlError> {
    let (user, host) = name_of(session, &set.account.unwrap_or(ast::Account::Current))?;
    let own = is_own(session, &user, &host);
    if !own && session.rights.is_expired() {
        return Err(error_map::MUST_CHANGE_PASSWORD.bare());
    }
    if own {
        ensure_second_password(session, set.retains)?;
    } else {
        ensure_on_schema(session, "mysql", Privileges::UPDATE)?;
    }
    let server = Arc::clone(&session.server);
    let ahead = match (server.accounts.find(&user, &host), set.password) {
        (Some(account), Some(text)) => {
            if let Some(check) = password_check(session) {
                check.ensure_strong(text, session.user_names())?;
            }
            by_rules(session, |setting| {
                password_rules::compare_ahead(setting, &account, text, &PasswordRules::default())
            })?
        }
        _ => None,
    };
    let mut change = AccountChange::new(&server.accounts);
    let account = change.find(&user, &host).ok_or_else(|| error_map::PASSWORD_NO_MATCH.bare())?;
    ensure_may_change(session, &account)?;
    ensure_current(session, &account, set.replace)?;
    ensure_changed(session, set.replace, set.password)?;
    let plugin = account.credential.plugin();
    if !plugin.takes_passwords() {
        return Err(error_map::SET_PASSWORD_AUTH_PLUGIN.with(&[&user, &host]));
    }
    let mut generated = Generated::default();
    let password = match set.password {
        Some(password) => password,
        None => generated.draw((&user, &host), random_chars(session)?)?,
    };
    let credential = hash("SET PASSWORD", &account, plugin, password)?;
    let (former, said) = (account.credential.clone(), set.second());
    let mut changed = Account { credential, ..account };
    second_password::follow(&mut changed, &former, said)?;
    changed.password_age.renew();
    let new = NewPassword {
        text: set.password,
        ahead: ahead.as_ref(),
        former_plugin: Some(plugin),
        is_second: false,
    };
    by_rules(session, |setting| password_rules::renew_history(setting, &mut changed, new))?;
    change.put(changed);
    change.commit()?;
    if own {
        session.set_expired(false);
    }
    Ok(generated)
}

/// Length of generated passwords.
fn random_chars(session: &Session) -> Result<usize, SqlError> {
    Ok(match session.read_variable(VarLevel::Default, "generated_random_password_length")? {
        VarValue::UInt(chars) => usize::try_from(chars).unwrap_or(PASSWORD_BYTES_MAX),
        _ => PASSWORD_BYTES_MAX,
    })
}

/// Whether the account `'user'@'host'` is the session's.
fn is_own(session: &Session, user: &str, host: &str) -> bool {
    session.account_name() == (user, host)
}

/// Fails unless the session may set the password that `spec` has for `account`.
///
/// # Errors
/// Those of [`ensure_current`].
fn ensure_may_set(session: &Session, account: &Account, spec: &UserSpec<'_>) -> Result<(), SqlError> {
    if spec.secret == Secret::None {
        return Ok(());
    }
    ensure_current(session, account, spec.replace)?;
    ensure_changed(session, spec.replace, text_of(spec))
}

/// Fails unless the current password of `account` is given as the account requires.
///
/// # Errors
/// 3891 for a wrong one, 3892 for none, 3893 for that of another's account.
fn ensure_current(session: &Session, account: &Account, current: Option<&str>) -> Result<(), SqlError> {
    match current {
        Some(current) => ensure_is_current(session, account, current),
        None if is_own(session, &account.user, &account.host) => ensure_may_omit_current(session, account),
        None => Ok(()),
    }
}

/// Error 3892 for a session that sets another password of its own `account` without giving the current one,
/// if the account requires it. Sessions that may set passwords of any account are exempt.
fn ensure_may_omit_current(session: &Session, account: &Account) -> Result<(), SqlError> {
    let by_default = || session.server.variables.read().named("password_require_current").as_bool();
    if !account.password_policy.requires_current.unwrap_or_else(by_default)
        || require_user_admin(session).is_ok()
        || ensure_on_schema(session, "mysql", Privileges::UPDATE).is_ok()
    {
        return Ok(());
    }
    Err(error_map::MISSING_CURRENT_PASSWORD.bare())
}

/// Fails unless `current` is the password of `account`, which is the session's.
///
/// # Errors
/// 3891; 3893 for another's account.
fn ensure_is_current(session: &Session, account: &Account, current: &str) -> Result<(), SqlError> {
    if !is_own(session, &account.user, &account.host) {
        return Err(error_map::CURRENT_PASSWORD_NOT_REQUIRED.bare());
    }
    match Password::new(current.as_bytes()) {
        Some(password) if account.credential.accepts_password(password) => Ok(()),
        _ => Err(error_map::INCORRECT_CURRENT_PASSWORD.bare()),
    }
}

/// User and host of the account that a statement names.
///
/// # Errors
/// 1470 for names that are too long, 1300 for those with a zero byte, 1131 if nobody is logged in.
pub(crate) fn name_of(session: &Session, account: &ast::Account<'_>) -> Result<Name, SqlError> {
    let (user, host) = match account {
        ast::Account::Current => {
            let current =
                session.account.as_ref().ok_or_else(|| error_map::PASSWORD_ANONYMOUS_USER.bare())?;
            (current.user.clone(), current.host.clone())
        }
        ast::Account::Named { user, host } => ((*user).to_owned(), host.unwrap_or("%").to_lowercase()),
    };
    for (text, what, limit) in [(&user, "user name", USER_CHARS_MAX), (&host, "host name", HOST_CHARS_MAX)] {
        if text.chars().count() > limit {
            return Err(error_map::WRONG_STRING_LENGTH.with(&[text, &what, &limit]));
        }
        if text.contains('\0') {
            // It parts user and host where accounts are kept.
            return Err(error_map::INVALID_CHARACTER_STRING.with(&[&"utf8mb3", text]));
        }
    }
    Ok((user, host))
}

/// Error 1227 unless the session may keep or discard a second password of its account, if a statement does.
fn ensure_second_password(session: &Session, is_named: bool) -> Result<(), SqlError> {
    if !is_named || ensure_on_schema(session, "mysql", Privileges::UPDATE).is_ok() {
        return Ok(());
    }
    let what = "CREATE USER or APPLICATION_PASSWORD_ADMIN";
    ensure_one_of(session, Privileges::CREATE_USER, DynamicSet::APPLICATION_PASSWORD_ADMIN, what)
}

/// Error 1227 unless the session may change accounts.
pub(crate) fn require_user_admin(session: &Session) -> Result<(), SqlError> {
    ensure_one_of(session, Privileges::CREATE_USER, DynamicSet::default(), "CREATE USER")
}

/// Error 1227 for an account with SYSTEM_USER, unless the session has it too, or is that account's own.
pub(crate) fn ensure_may_change(session: &Session, account: &Account) -> Result<(), SqlError> {
    if is_own(session, &account.user, &account.host) || !account.grants.dynamic.has(DynamicSet::SYSTEM_USER) {
        return Ok(());
    }
    ensure_one_of(session, Privileges::NONE, DynamicSet::SYSTEM_USER, "SYSTEM_USER")
}

fn quoted(user: &str, host: &str) -> String {
    format!("'{user}'@'{host}'")
}
