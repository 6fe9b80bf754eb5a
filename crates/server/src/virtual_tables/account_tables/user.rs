//! `mysql.user`: an account a row, with its privileges on everything.

use std::sync::LazyLock;

use types::value::Members;
use types::{CollationId, ColumnDef, LobSize, OwnedValue, SqlType, TypeKind};

use super::{
    Declared, EXACT, MYSQL, Row, Sources, VirtualTable, accounts, chars, defaulting, exact, flag, flag_value,
    host, host_value, member, members, of_members, optional, plain, text, user, zero,
};
use crate::account::Account;
use crate::privilege::{Privileges as P, Restrictions};
use crate::user_attributes::quoted;

const PLUGIN_CHARS: u32 = 64;
const DEFAULT_PLUGIN: &[u8] = b"caching_sha2_password";

pub(in super::super) const USER: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0, 1], secondary: None, comment: "Users and global privileges" },
    ..VirtualTable::new(MYSQL, "user", columns, rows)
};

/// The columns of privileges that follow the account's name.
static PRIVILEGES: [(&str, P); 29] = [
    ("Select_priv", P::SELECT),
    ("Insert_priv", P::INSERT),
    ("Update_priv", P::UPDATE),
    ("Delete_priv", P::DELETE),
    ("Create_priv", P::CREATE),
    ("Drop_priv", P::DROP),
    ("Reload_priv", P::RELOAD),
    ("Shutdown_priv", P::SHUTDOWN),
    ("Process_priv", P::PROCESS),
    ("File_priv", P::FILE),
    ("Grant_priv", P::GRANT_OPTION),
    ("References_priv", P::REFERENCES),
    ("Index_priv", P::INDEX),
    ("Alter_priv", P::ALTER),
    ("Show_db_priv", P::SHOW_DATABASES),
    ("Super_priv", P::SUPER),
    ("Create_tmp_table_priv", P::CREATE_TEMPORARY_TABLES),
    ("Lock_tables_priv", P::LOCK_TABLES),
    ("Execute_priv", P::EXECUTE),
    ("Repl_slave_priv", P::REPLICATION_SLAVE),
    ("Repl_client_priv", P::REPLICATION_CLIENT),
    ("Create_view_priv", P::CREATE_VIEW),
    ("Show_view_priv", P::SHOW_VIEW),
    ("Create_routine_priv", P::CREATE_ROUTINE),
    ("Alter_routine_priv", P::ALTER_ROUTINE),
    ("Create_user_priv", P::CREATE_USER),
    ("Event_priv", P::EVENT),
    ("Trigger_priv", P::TRIGGER),
    ("Create_tablespace_priv", P::CREATE_TABLESPACE),
];

/// Those that were added after everything else.
static ROLE_PRIVILEGES: [(&str, P); 2] =
    [("Create_role_priv", P::CREATE_ROLE), ("Drop_role_priv", P::DROP_ROLE)];

static TLS: LazyLock<Members> = LazyLock::new(|| members(&["", "ANY", "X509", "SPECIFIED"]));

fn columns() -> Vec<ColumnDef> {
    let blob = || SqlType::new(TypeKind::Blob(LobSize::Normal), 0);
    let unsigned = |kind, length| SqlType { unsigned: true, ..SqlType::new(kind, length) };
    let limit = |name| zero(name, unsigned(TypeKind::Int, 10));
    let number = |name| optional(name, unsigned(TypeKind::SmallInt, 5));
    let text = |size, collation| SqlType { collation, ..SqlType::new(TypeKind::Text(size), 0) };
    let tls = of_members(TypeKind::Enum, TLS.clone());
    let mut columns = vec![host("Host"), user("User")];
    columns.extend(PRIVILEGES.iter().map(|(name, _)| flag(name)));
    columns.extend([
        ColumnDef { names_collation: true, ..defaulting("ssl_type", tls, &[1]) },
        plain("ssl_cipher", blob()),
        plain("x509_issuer", blob()),
        plain("x509_subject", blob()),
        limit("max_questions"),
        limit("max_updates"),
        limit("max_connections"),
        limit("max_user_connections"),
        defaulting("plugin", chars(PLUGIN_CHARS, EXACT), DEFAULT_PLUGIN),
        ColumnDef::new("authentication_string", text(LobSize::Normal, EXACT), true),
        flag("password_expired"),
        optional("password_last_changed", SqlType::new(TypeKind::Timestamp, 19)),
        number("password_lifetime"),
        flag("account_locked"),
    ]);
    columns.extend(ROLE_PRIVILEGES.iter().map(|(name, _)| flag(name)));
    let requires_current = optional("Password_require_current", flag("").ty);
    columns.extend([
        number("Password_reuse_history"),
        number("Password_reuse_time"),
        ColumnDef { names_collation: true, ..requires_current },
        ColumnDef::new("User_attributes", text(LobSize::Long, CollationId::UTF8MB4_BIN), true),
    ]);
    columns
}

fn rows(sources: &Sources<'_>) -> Vec<Row> {
    accounts(sources).iter().map(|account| row(sources, account)).collect()
}

fn row(sources: &Sources<'_>, account: &Account) -> Row {
    let global = account.grants.global;
    let has = |&(_, privilege): &(&str, P)| flag_value(global.has(privilege));
    let requires = &account.requires;
    let number = |own: Option<u16>| own.map_or(OwnedValue::Null, |own| OwnedValue::UInt(own.into()));
    let zone = &sources.session.variables.hot.time_zone;
    let age = &account.password_age;
    let set_at = i64::try_from(age.set_at).ok().filter(|then| *then > 0);
    let changed = set_at.map(|then| OwnedValue::DateTime(zone.to_local(then, 0), 0));
    let mut row = vec![host_value(account), exact(&account.user)];
    row.extend(PRIVILEGES.iter().map(has));
    row.push(member(&TLS, requires.ssl_type()));
    row.extend(requires.texts().map(|said| text(said, CollationId::BINARY)));
    row.extend(account.limits.all().map(|limit| OwnedValue::UInt(limit.into())));
    row.extend([
        exact(account.credential.plugin().name()),
        text(account.credential.to_stored(), EXACT),
        flag_value(age.is_expired),
        changed.unwrap_or(OwnedValue::Null),
        number(age.lifetime.days()),
        flag_value(account.locked),
    ]);
    row.extend(ROLE_PRIVILEGES.iter().map(has));
    let said = account.attributes.as_deref().map(|json| format!("\"metadata\": {json}"));
    let lockout = account.lockout.is_set().then(|| account.lockout.to_json());
    let restrictions = restrictions_json(&account.grants.restrictions);
    let second = account.second_password.as_ref().map(|second| {
        let stored = quoted(&String::from_utf8_lossy(&second.to_stored()));
        format!("\"additional_password\": {stored}")
    });
    let members: Vec<String> = said.into_iter().chain(restrictions).chain(lockout).chain(second).collect();
    let attributes = (!members.is_empty()).then(|| format!("{{{}}}", members.join(", ")));
    let policy = account.password_policy;
    row.extend([number(policy.history), number(policy.reuse_days)]);
    row.push(policy.requires_current.map_or(OwnedValue::Null, flag_value));
    row.push(attributes.map_or(OwnedValue::Null, |json| text(json, CollationId::UTF8MB4_BIN)));
    row
}

/// The member of the attributes that has partial revokes; `None` if there are none.
fn restrictions_json(restrictions: &Restrictions) -> Option<String> {
    if restrictions.is_empty() {
        return None;
    }
    let one = |(schema, set): &(String, P)| {
        let names = set.names().map(|name| if name == "GRANT OPTION" { "GRANT" } else { name });
        let names: Vec<_> = names.map(|name| format!("\"{name}\"")).collect();
        let schema = schema.replace('\\', "\\\\").replace('"', "\\\"");
        format!("{{\"Database\": \"{schema}\", \"Privileges\": [{}]}}", names.join(", "))
    };
    let list: Vec<_> = restrictions.list().iter().map(one).collect();
    Some(format!("\"Restrictions\": [{}]", list.join(", ")))
}
