//! What a change of a password asks for and answers: the current password, and random new ones.

use wire::auth::{MAX_PASSWORD_BYTES, Password, random_password};

use crate::account::Account;
use crate::answer::{Cell, Column, Table};
use crate::error_map::{self, SqlError};
use crate::session::{Level, Session};
use crate::sysvars::VarValue;

/// The factor of logins that passwords are: there is no other.
const AUTH_FACTOR: i64 = 1;

/// Passwords that a statement has generated, with the accounts they are for.
#[derive(Default)]
pub(crate) struct Generated(Vec<GeneratedPassword>);

struct GeneratedPassword {
    user: String,
    host: String,
    password: String,
}

impl Generated {
    /// A new password for the account if `is_wanted`, of `generated_random_password_length` characters.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub(crate) fn draw(
        &mut self,
        session: &Session,
        (user, host): (&str, &str),
        is_wanted: bool,
    ) -> Result<Option<&str>, SqlError> {
        if !is_wanted {
            return Ok(None);
        }
        let chars = match session.read_variable(Level::Default, "generated_random_password_length")? {
            VarValue::UInt(chars) => usize::try_from(chars).unwrap_or(MAX_PASSWORD_BYTES),
            _ => MAX_PASSWORD_BYTES,
        };
        let password = random_password(chars).map_err(|_| error_map::OUT_OF_RESOURCES.bare())?;
        let (user, host) = (user.to_owned(), host.to_owned());
        self.0.push(GeneratedPassword { user, host, password });
        Ok(self.0.last().map(|drawn| drawn.password.as_str()))
    }

    /// What the client gets of them; `None` if there are none.
    pub(crate) fn table(&self) -> Option<Table> {
        if self.0.is_empty() {
            return None;
        }
        let names = ["user", "host", "generated password"].map(Column::name);
        let mut table = Table::new([&names[..], &[Column::int("auth_factor")]].concat());
        for one in &self.0 {
            let texts = [&one.user, &one.host, &one.password].map(Cell::text);
            table.push([&texts[..], &[Cell::Int(AUTH_FACTOR)]].concat());
        }
        Some(table)
    }
}

/// Whether the account `'user'@'host'` is the session's.
pub(crate) fn is_own(session: &Session, user: &str, host: &str) -> bool {
    session.account_name() == (user, host)
}

/// Fails unless `current` is the password of `account`, which is the session's.
///
/// # Errors
/// 3891; 3893 for another's account.
pub(crate) fn ensure_is_current(session: &Session, account: &Account, current: &str) -> Result<(), SqlError> {
    if !is_own(session, &account.user, &account.host) {
        return Err(error_map::CURRENT_PASSWORD_NOT_REQUIRED.bare());
    }
    match Password::new(current.as_bytes()) {
        Some(password) if account.credential.accepts_password(password) => Ok(()),
        _ => Err(error_map::INCORRECT_CURRENT_PASSWORD.bare()),
    }
}
