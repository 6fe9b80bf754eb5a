//! Passwords that a statement generates.

use wire::auth::random_password;

use crate::error_map::{self, SqlError};

/// Passwords that a statement has generated, with the accounts they are for.
#[derive(Default)]
pub(crate) struct Generated(Vec<GeneratedPassword>);

/// One of them.
pub(crate) struct GeneratedPassword {
    pub(crate) user: String,
    pub(crate) host: String,
    pub(crate) password: String,
}

impl Generated {
    /// A new password for the account.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub(crate) fn draw(&mut self, (user, host): (&str, &str), chars: usize) -> Result<&str, SqlError> {
        let password = random_password(chars).map_err(|_| error_map::OUT_OF_RESOURCES.bare())?;
        let (user, host) = (user.to_owned(), host.to_owned());
        self.0.push(GeneratedPassword { user, host, password });
        Ok(self.0.last().map_or("", |drawn| &drawn.password))
    }

    /// All of them, in the order of the statement's accounts.
    pub(crate) fn all(&self) -> &[GeneratedPassword] {
        &self.0
    }
}
