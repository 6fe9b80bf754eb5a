//! The system variable `mandatory_roles`: a list of roles as statements write them, but in one text.

use super::name::RoleName;
use crate::error_map::{self, SqlError};
use crate::privilege::{DynamicSet, Privileges, ensure_one_of};
use crate::server::Server;
use crate::session::Session;
use crate::sysvars::{SetValue, Variables};

const NAME: &str = "mandatory_roles";

/// The roles of `text`, in order of the names, each once; `None` if it is no list of roles.
pub(crate) fn parsed(text: &str) -> Option<Vec<RoleName>> {
    let mut roles = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() || !roles.is_empty() {
        let user = take_name(&mut rest)?;
        if user.is_empty() {
            return None;
        }
        let host = if take(&mut rest, '@') { take_name(&mut rest)?.to_lowercase() } else { String::new() };
        let host = if host.is_empty() { "%".to_owned() } else { host };
        roles.push(RoleName { user, host });
        if rest.is_empty() {
            break;
        }
        if !take(&mut rest, ',') {
            return None;
        }
    }
    roles.sort();
    roles.dedup();
    Some(roles)
}

fn take(rest: &mut &str, what: char) -> bool {
    let after = rest.strip_prefix(what);
    *rest = after.unwrap_or(rest).trim_start();
    after.is_some()
}

/// A name in quotes, or everything up to a comma or `@`.
fn take_name(rest: &mut &str) -> Option<String> {
    let Some(quote) = rest.chars().next().filter(|c| matches!(c, '`' | '\'' | '"')) else {
        let end = rest.find([',', '@']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        *rest = after;
        return Some(name.trim_end().to_owned());
    };
    let mut name = String::new();
    loop {
        let inner = rest.get(1..)?;
        let end = inner.find(quote)?;
        name.push_str(&inner[..end]);
        *rest = &inner[end + 1..];
        if !rest.starts_with(quote) {
            *rest = rest.trim_start();
            return Some(name);
        }
        // A doubled quote is one.
        name.push(quote);
    }
}

/// Fails if the variable `name` may not be set so.
///
/// # Errors
/// 1227 without ROLE_ADMIN; 1231 for what is no list of roles, 3880 for a role with SYSTEM_USER.
pub(crate) fn refuse_setting(session: &Session, name: &str, set: &SetValue) -> Result<(), SqlError> {
    if name != NAME {
        return Ok(());
    }
    const WHAT: &str = "SYSTEM_VARIABLES_ADMIN or SUPER privileges, as well as the ROLE_ADMIN";
    ensure_one_of(session, Privileges::NONE, DynamicSet::ROLE_ADMIN, WHAT)?;
    let SetValue::Text(text) = set else { return Ok(()) };
    let roles = parsed(text).ok_or_else(|| error_map::WRONG_VALUE_FOR_VAR.with(&[&NAME, text]))?;
    let directory = session.server.accounts.directory();
    for role in &roles {
        let is_system = |grants: &crate::privilege::Grants| grants.dynamic.has(DynamicSet::SYSTEM_USER);
        if directory.role(role).is_some_and(|account| is_system(&account.grants)) {
            return Err(error_map::AUTHID_IS_SYSTEM_USER.with(&[&NAME, role, &"SYSTEM_USER"]));
        }
    }
    Ok(())
}

/// Grants the roles to everybody after the variable `name` has been set.
pub(crate) fn changed(server: &Server, variables: &Variables, name: &str) {
    if name == NAME {
        server.accounts.set_mandatory(parsed(variables.named(NAME).as_text()).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_roles_are_read() {
        let read = |text| parsed(text).map(|roles| super::super::listed(&roles));
        for (text, roles) in [
            ("", ""),
            ("  ", ""),
            ("a", "`a`@`%`"),
            (" b , a@LocalHost ", "`a`@`localhost`,`b`@`%`"),
            ("`a,b`@'%', \"c\"", "`a,b`@`%`,`c`@`%`"),
            ("`a``b` @ `h`", "`a``b`@`h`"),
            ("a,a,a@%", "`a`@`%`"),
            ("a@", "`a`@`%`"),
        ] {
            assert_eq!(read(text).as_deref(), Some(roles), "{text}");
        }
        for text in [",", "a,", "a,,b", "@", "@h", "`a", "'a'b", "''", "`a` `b`"] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
