//! Making a data directory (`--initialize`, `--initialize-insecure`).

use std::path::Path;
use std::{fs, io};

use wire::auth::{AuthPlugin, Credential, Password, random_password};

use crate::account::{Account, Accounts};
use crate::options::FirstPassword;
use crate::server_log::ServerLog;

/// Length of a random password.
const RANDOM_CHARS: usize = 20;

/// # Errors
/// One line, if there is something in the directory.
pub(crate) fn ensure_empty(datadir: &Path) -> Result<(), String> {
    let first = match fs::read_dir(datadir) {
        Ok(mut entries) => entries.next(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(format!("cannot read the data directory {}: {error}", datadir.display())),
    };
    match first {
        None => Ok(()),
        Some(_) => Err(format!(
            "--initialize was given, but the data directory {} has files in it",
            datadir.display()
        )),
    }
}

/// Gives `root@localhost` its first password, and says in the log what it is.
///
/// # Errors
/// One line.
pub(crate) fn set_first_password(
    accounts: &Accounts,
    password: FirstPassword,
    log: &ServerLog,
) -> Result<(), String> {
    match password {
        FirstPassword::Random => {
            let text = random_password(RANDOM_CHARS)
                .map_err(|error| format!("no random bytes for a password: {error}"))?;
            set(accounts, &text)?;
            log.note(&format!("A temporary password is generated for root@localhost: {text}"));
        }
        FirstPassword::Empty => log
            .warning("root@localhost has no password: set one, or make the data directory with --initialize"),
    }
    Ok(())
}

fn set(accounts: &Accounts, text: &str) -> Result<(), String> {
    let root = accounts.find("root", "localhost").ok_or("there is no root@localhost")?;
    let password = Password::new(text.as_bytes()).ok_or("the password is too long")?;
    let credential = Credential::from_password(AuthPlugin::CachingSha2, password)
        .map_err(|error| format!("cannot hash the password: {error}"))?;
    let mut account = Account { credential, ..(*root).clone() };
    account.password_age.renew();
    account.password_age.is_expired = true;
    accounts.put(account).map_err(|error| error.message)
}
