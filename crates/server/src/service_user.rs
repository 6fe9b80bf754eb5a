//! `--user`: the account of the system that the server runs as. A server that root starts becomes it before
//! it opens a file or a socket.

use nix::unistd::{self, Uid, User};

/// Finds the account that `written` names, by name or number. `None`: the number is that of this process, and
/// the system has no name for it, as in many containers.
///
/// # Errors
/// The line that refuses the start.
pub(crate) fn find(written: &str) -> Result<Option<User>, String> {
    let is_own = written.parse() == Ok(unistd::geteuid().as_raw());
    let found = match written.parse() {
        Ok(number) => User::from_uid(Uid::from_raw(number)),
        Err(_) => User::from_name(written),
    };
    match found {
        Ok(Some(user)) => Ok(Some(user)),
        Ok(None) if is_own => Ok(None),
        Ok(None) => Err(format!("option '--user': there is no user '{written}' on this system")),
        Err(error) => Err(format!("option '--user': cannot look up '{written}': {error}")),
    }
}

/// Becomes `user`, with its groups, permanently and with every thread.
///
/// # Errors
/// The line that refuses the start: only root can become another.
pub(crate) fn become_user(user: &User) -> Result<(), String> {
    let own = unistd::geteuid();
    if own == user.uid && unistd::getuid() == own {
        return Ok(());
    }
    if !own.is_root() {
        return Err(format!("option '--user': only root can start the server as '{}'", user.name));
    }
    let failed = |error| format!("option '--user': cannot become '{}': {error}", user.name);
    let name = std::ffi::CString::new(user.name.as_str()).map_err(|error| failed(error.to_string()))?;
    // The user last: it may not change the groups.
    unistd::initgroups(&name, user.gid)
        .and_then(|()| unistd::setgid(user.gid))
        .and_then(|()| unistd::setuid(user.uid))
        .map_err(|error| failed(error.to_string()))?;
    if user.uid.is_root() || unistd::setuid(Uid::from_raw(0)).is_err() {
        return Ok(());
    }
    Err(failed("it could become root again".to_owned()))
}

/// Returns the warning for a server that runs as root without `--user`. `is_named`: `--user` names a user.
pub(crate) fn warning(is_named: bool) -> Option<&'static str> {
    let warns = !is_named && unistd::geteuid().is_root();
    warns.then_some("the server runs as root: start it with --user, as a user that owns nothing but the data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name_and_number() {
        let root = find("root").unwrap().unwrap();
        assert_eq!((root.uid.as_raw(), find("0").unwrap().unwrap().name), (0, root.name));
        assert!(find("no such user").unwrap_err().contains("there is no user"));
        assert!(find("4000000000").unwrap_err().contains("there is no user"));
    }

    #[test]
    fn becoming_who_one_is_changes_nothing() {
        let own = User::from_uid(unistd::geteuid()).unwrap().unwrap();
        assert_eq!(become_user(&own), Ok(()));
    }
}
