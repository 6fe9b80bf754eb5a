//! What tests of accounts do as clients.

use std::fmt::Debug;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};

/// Logs in over TCP as `user`, who has no password.
///
/// # Panics
/// If the login is refused.
pub fn log_in(port: u16, user: &str) -> Conn {
    let opts = OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(port);
    let conn = Conn::new(opts.prefer_socket(false).user(Some(user)));
    conn.unwrap_or_else(|error| panic!("{user}: {error}"))
}

/// Runs `statements` one after the other.
///
/// # Panics
/// If one fails.
pub fn run_all(conn: &mut Conn, statements: &[&str]) {
    for sql in statements {
        conn.query_drop(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// The number of the server's error.
///
/// # Panics
/// If there is none.
pub fn error_code<T: Debug>(result: mysql::Result<T>) -> u16 {
    match result {
        Err(mysql::Error::MySqlError(error)) => error.code,
        other => panic!("{other:?}"),
    }
}
