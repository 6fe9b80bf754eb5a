//! GRANT PROXY and REVOKE PROXY.

use std::sync::Arc;

use sql::ast::{self, Grant};

use crate::account_change::AccountChange;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::proxy_grants::{self, ProxyGrant};
use crate::session::Session;
use crate::user_statement::{ensure_may_change, name_of};

/// GRANT PROXY, to all accounts or none. WITH GRANT OPTION concerns PROXY alone: accounts may grant PROXY on
/// themselves, so anything more would be theirs for the asking.
///
/// # Errors
/// 1698 without the right to; 1410 for a missing account; 1041 beyond the limit of grants.
pub(super) fn grant(
    session: &mut Session,
    grant: &Grant<'_>,
    proxied: &ast::Account<'_>,
) -> Result<(), SqlError> {
    let (user, host) = to_act_as(session, proxied)?;
    let server = Arc::clone(&session.server);
    let mut change = AccountChange::new(&server.accounts);
    for written in grant.users {
        let (to_user, to_host) = name_of(session, written)?;
        let found = change.find(&to_user, &to_host);
        let mut account = found.ok_or_else(|| error_map::CANT_CREATE_USER_WITH_GRANT.bare())?;
        ensure_may_change(session, &account)?;
        let with_grant = grant.grant_option;
        if !proxy_grants::add(&mut account, ProxyGrant { user: user.clone(), host: host.clone(), with_grant })
        {
            return Err(error_map::OUT_OF_RESOURCES.bare());
        }
        change.put(account);
    }
    change.commit()
}

/// REVOKE PROXY, from all accounts or none.
///
/// # Errors
/// 1698 without the right to; 1141 for what has not been granted.
pub(super) fn revoke(
    session: &mut Session,
    revoke: &Grant<'_>,
    proxied: &ast::Account<'_>,
) -> Result<(), SqlError> {
    let (user, host) = to_act_as(session, proxied)?;
    let server = Arc::clone(&session.server);
    let mut change = AccountChange::new(&server.accounts);
    for written in revoke.users {
        let (from_user, from_host) = name_of(session, written)?;
        let missing = || error_map::NONEXISTING_GRANT.with(&[&from_user, &from_host]);
        let Some(mut account) = change.find(&from_user, &from_host) else {
            if !revoke.ignores_unknown {
                return Err(missing());
            }
            session.warn(Severity::Warning, error_map::USER_DOES_NOT_EXIST.with(&[&from_user]));
            continue;
        };
        ensure_may_change(session, &account)?;
        if proxy_grants::take(&mut account, &user, &host) {
            change.put(account);
        } else if revoke.if_exists {
            session.warn(Severity::Warning, missing());
        } else {
            return Err(missing());
        }
    }
    change.commit()
}

/// User and host of the account that a statement is about, on which the session may grant PROXY.
fn to_act_as(session: &Session, proxied: &ast::Account<'_>) -> Result<(String, String), SqlError> {
    let (user, host) = name_of(session, proxied)?;
    ensure_may_grant(session, &user, &host)?;
    Ok((user, host))
}

/// Error 1698 unless the session's client may grant PROXY on this account: its own, or one that it is granted
/// WITH GRANT OPTION.
fn ensure_may_grant(session: &Session, user: &str, host: &str) -> Result<(), SqlError> {
    let may = session.account_name() == (user, host)
        || proxy_grants::may_grant(&session.server.accounts, &session.user, session.peer, user);
    if may {
        return Ok(());
    }
    Err(error_map::ACCESS_DENIED_NO_PASSWORD.with(&[&session.user, &session.peer.host()]))
}
