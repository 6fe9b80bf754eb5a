//! Accounts of `auth_socket`: a user of the system gets in over the Unix socket, without a password, and
//! nobody else does.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::process::Command;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use testkit::server::TestServer;

/// The number of the error, or who got in.
fn login(options: OptsBuilder) -> Result<String, u16> {
    match Conn::new(options) {
        Ok(mut conn) => Ok(conn.query_first("SELECT CURRENT_USER()").unwrap().unwrap()),
        Err(mysql::Error::MySqlError(error)) => Err(error.code),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn a_user_of_the_system_gets_in_over_the_socket_alone() {
    let own = Command::new("id").arg("-un").output().unwrap().stdout;
    let own = String::from_utf8(own).unwrap().trim().to_owned();
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let socket = || OptsBuilder::new().socket(Some(server.socket.to_str().unwrap()));
    let tcp =
        || OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(server.port).prefer_socket(false);
    let mut root = Conn::new(tcp().user(Some("root"))).unwrap();
    for sql in [
        "CREATE USER named@localhost IDENTIFIED WITH auth_socket".replace("named", &format!("'{own}-'")),
        format!("CREATE USER other@localhost IDENTIFIED WITH auth_socket AS '{own}'"),
        "CREATE USER stranger IDENTIFIED WITH auth_socket AS 'nobody-here'".to_owned(),
        "CREATE USER everywhere IDENTIFIED WITH auth_socket".to_owned(),
        format!("RENAME USER everywhere TO '{own}'@'%'"),
    ] {
        root.query_drop(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    assert_eq!(login(socket().user(Some("other"))), Ok("other@localhost".to_owned()));
    assert_eq!(login(socket().user(Some("other")).pass(Some("any"))), Ok("other@localhost".to_owned()));
    for (options, why) in [
        (tcp().user(Some("other")), "not over TCP"),
        (tcp().user(Some("other")).pass(Some(own.as_str())), "the name is no password"),
        (socket().user(Some("stranger")), "another user"),
        (socket().user(Some("stranger")).pass(Some("nobody-here")), "the name is no password"),
        (socket().user(Some(format!("{own}-"))), "the account has another name"),
    ] {
        assert_eq!(login(options), Err(1045), "{why}");
    }
    if own != "root" {
        assert_eq!(login(socket().user(Some(own.clone()))), Ok(format!("{own}@%")));
    }
    root.query_drop("ALTER USER other@localhost ACCOUNT LOCK").unwrap();
    assert_eq!(login(socket().user(Some("other"))), Err(3118));
    root.query_drop("ALTER USER other@localhost ACCOUNT UNLOCK IDENTIFIED WITH caching_sha2_password BY 'p'")
        .unwrap_err();
    root.query_drop("ALTER USER other@localhost IDENTIFIED WITH caching_sha2_password BY 'p' ACCOUNT UNLOCK")
        .unwrap();
    assert_eq!(login(socket().user(Some("other"))), Err(1045));
    assert_eq!(login(tcp().user(Some("other")).pass(Some("p"))), Ok("other@localhost".to_owned()));
}
