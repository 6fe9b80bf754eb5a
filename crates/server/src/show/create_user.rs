//! SHOW CREATE USER.

use sql::ast::Account as AccountName;
use sql::print::push_escaped;

use crate::account::Account;
use crate::answer::{Cell, Column, Table};
use crate::error_map::{self, SqlError};
use crate::password_age::{Lifetime, PasswordAge};
use crate::privilege::{Privileges, ensure_may_see_accounts, ensure_on_schema, grantee};
use crate::roles::listed;
use crate::session::Session;
use crate::sysvars::{VarLevel, VarValue};
use crate::user_statement::name_of;

/// Stands for a hash that the session may not see.
const HIDDEN: &str = "<secret>";

/// The statement that makes the account again.
///
/// # Errors
/// 1044 for others' without SELECT on the schema `mysql`; 1396 for a missing account.
pub(super) fn table(session: &Session, name: &AccountName<'_>) -> Result<Table, SqlError> {
    let (user, host) = name_of(session, name)?;
    if session.account_name() != (&user, &host) {
        ensure_on_schema(session, "mysql", Privileges::SELECT)?;
    }
    let found = session.server.accounts.find(&user, &host);
    let account = found
        .ok_or_else(|| error_map::CANNOT_USER.with(&[&"SHOW CREATE USER", &format!("'{user}'@'{host}'")]))?;
    let as_hex = session.read_variable(VarLevel::Default, "print_identified_with_as_hex")?;
    let sees_hash = ensure_may_see_accounts(session).is_ok();
    let text = statement(&account, sees_hash, as_hex == VarValue::Bool(true));
    let mut table = Table::new(vec![Column::text(format!("CREATE USER for {user}@{host}"), 1024)]);
    table.push(vec![Cell::Text(text)]);
    Ok(table)
}

fn statement(account: &Account, sees_hash: bool, as_hex: bool) -> String {
    let plugin = account.credential.plugin().name();
    let identified = match account.credential.to_stored() {
        hash if hash.is_empty() => String::new(),
        _ if !sees_hash => format!(" AS {HIDDEN}"),
        hash => format!(" AS {}", hash_literal(&hash, as_hex)),
    };
    let default_role = match &*account.default_roles {
        [] => String::new(),
        roles => format!(" DEFAULT ROLE {}", listed(roles)),
    };
    let requires = &account.requires;
    let expires = match account.password_age {
        PasswordAge { is_expired: true, .. } => String::new(),
        PasswordAge { lifetime: Lifetime::Default, .. } => " DEFAULT".to_owned(),
        PasswordAge { lifetime: Lifetime::Never, .. } => " NEVER".to_owned(),
        PasswordAge { lifetime: Lifetime::Days(days), .. } => format!(" INTERVAL {days} DAY"),
    };
    let lock = if account.locked { "LOCK" } else { "UNLOCK" };
    let attributes = account.attributes.as_deref();
    let attribute = attributes
        .map_or(String::new(), |json| format!(" ATTRIBUTE {}", literal(json.as_bytes(), &['\'', '\\'])));
    format!(
        "CREATE USER {} IDENTIFIED WITH '{plugin}'{identified}{default_role} REQUIRE {requires}{} \
         PASSWORD EXPIRE{expires} ACCOUNT {lock} {}{}{attribute}",
        grantee(account),
        account.limits,
        account.password_policy,
        account.lockout
    )
}

/// A literal for a hash; `as_hex`: a hexadecimal one if there is more in it than visible characters.
fn hash_literal(bytes: &[u8], as_hex: bool) -> String {
    if as_hex && !bytes.iter().all(u8::is_ascii_graphic) {
        return bytes.iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02X}"));
    }
    literal(bytes, &['\'', '"', '\\'])
}

/// A literal for `bytes`; `escaped`: characters that have a backslash before them.
fn literal(bytes: &[u8], escaped: &[char]) -> String {
    let mut text = "'".to_owned();
    push_escaped(&mut text, &String::from_utf8_lossy(bytes), escaped);
    text + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_written_as_the_parser_reads_them() {
        assert_eq!(hash_literal(b"a'b\\c\n\r\0\x1a\"", false), "'a\\'b\\\\c\\n\\r\\0\\Z\\\"'");
        assert_eq!(hash_literal(b"$A\n", true), "0x24410A");
        assert_eq!(hash_literal(b"$A'", true), "'$A\\''");
    }
}
