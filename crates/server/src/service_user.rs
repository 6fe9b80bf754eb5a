//! `--user`: which account of the system the server is to run as.
//!
//! MySQL starts as root and becomes that user. This server stays who it was started as, so it makes sure that
//! this is the one.

use std::fs;

/// Succeeds if this process runs as `user`, a name of `/etc/passwd` or a number.
///
/// # Errors
/// The line that refuses the start.
pub(crate) fn ensure_is(user: &str) -> Result<(), String> {
    let unreadable = |error| format!("option '--user': cannot read /etc/passwd: {error}");
    let wanted = match user.parse() {
        Ok(uid) => Some(uid),
        Err(_) => uid_of(user, &fs::read_to_string("/etc/passwd").map_err(unreadable)?),
    };
    let own = rustix::process::geteuid().as_raw();
    match wanted {
        Some(uid) if uid == own => Ok(()),
        Some(_) => Err(format!("option '--user': the server does not change its user, start it as '{user}'")),
        None => Err(format!("option '--user': there is no user '{user}' in /etc/passwd; give its number")),
    }
}

fn uid_of(user: &str, accounts: &str) -> Option<u32> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(user)).then(|| fields.nth(1)?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_starts_as_the_named_user_or_not_at_all() {
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(ensure_is(&own.to_string()), Ok(()));
        assert!(ensure_is(&(own + 1).to_string()).unwrap_err().contains("does not change its user"));
        assert!(ensure_is("no such user").unwrap_err().contains("there is no user"));
    }

    #[test]
    fn users_are_found_by_name() {
        let accounts =
            "root:x:0:0:root:/root:/bin/sh\nmysql:x:27:27::/var/lib/mysql:/bin/false\n:\nodd:x:y\n";
        assert_eq!((uid_of("mysql", accounts), uid_of("root", accounts)), (Some(27), Some(0)));
        assert_eq!((uid_of("odd", accounts), uid_of("my", accounts)), (None, None));
    }
}
