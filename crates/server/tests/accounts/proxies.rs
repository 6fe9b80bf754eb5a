//! Proxies: clients of one account that act as another, if the server is to search for one.

#![allow(clippy::unwrap_used, reason = "test code")]

use crate::support::{RawClient, TestServer, error};

const QUERY: u8 = 0x03;
const CHANGE_USER: u8 = 0x11;

/// Runs a statement that answers OK.
fn run(client: &mut RawClient, sql: &str) {
    let answer = client.command(QUERY, sql.as_bytes());
    assert_eq!(answer[0], 0, "{sql}: {}", String::from_utf8_lossy(&answer));
}

/// Logs in over TCP without a password; the number of the error that refuses the login.
fn login(server: &TestServer, user: &str) -> Result<RawClient, u16> {
    let mut client = server.raw();
    client.login(user, b"");
    let (_, answer) = client.read();
    if answer[0] == 0 { Ok(client) } else { Err(error(&answer).0) }
}

/// Who the client is: CURRENT_USER(), USER() and `@@proxy_user`.
fn identity(client: &mut RawClient) -> String {
    let sql = "SELECT CONCAT_WS(' ', CURRENT_USER(), USER(), IFNULL(@@proxy_user, '-'))";
    assert_eq!(client.command(QUERY, sql.as_bytes()), [1], "one column");
    let packets: Vec<_> = (0..4).map(|_| client.read().1).collect();
    String::from_utf8_lossy(&packets[2][1..]).into_owned()
}

fn start() -> (TestServer, RawClient) {
    let server = TestServer::start(&[]);
    let mut root = server.root();
    for sql in [
        "CREATE DATABASE d",
        "CREATE USER p IDENTIFIED WITH mysql_native_password",
        "CREATE USER q IDENTIFIED WITH mysql_native_password",
        "CREATE USER sha IDENTIFIED WITH caching_sha2_password",
        "CREATE USER boss ACCOUNT LOCK",
        "GRANT ALL ON d.* TO boss",
        "GRANT PROXY ON boss TO p, sha",
        "SET GLOBAL check_proxy_users = ON, GLOBAL mysql_native_password_proxy_users = ON",
    ] {
        run(&mut root, sql);
    }
    (server, root)
}

#[test]
fn a_client_acts_as_the_account_that_it_is_a_proxy_of() {
    let (server, mut root) = start();
    let mut client = login(&server, "p").unwrap();
    assert_eq!(identity(&mut client), "boss@% p@localhost 'p'@'%'");
    run(&mut client, "CREATE TABLE d.t (a INT)");
    assert_eq!(identity(&mut login(&server, "q").unwrap()), "q@% q@localhost -");
    assert_eq!(identity(&mut login(&server, "sha").unwrap()), "sha@% sha@localhost -", "another plugin");
    assert_eq!(login(&server, "boss").err(), Some(3118), "it is locked for itself alone");
    assert_eq!(identity(&mut root), "root@localhost root@localhost -");
    // COM_CHANGE_USER, away and back.
    let to = |user: &str| [user.as_bytes(), b"\0\0\0\x2d\0mysql_native_password\0"].concat();
    assert_eq!(client.command(CHANGE_USER, &to("q"))[0], 0);
    assert_eq!(identity(&mut client), "q@% q@localhost -");
    assert_eq!(client.command(CHANGE_USER, &to("p"))[0], 0);
    assert_eq!(identity(&mut client), "boss@% p@localhost 'p'@'%'");
}

#[test]
fn nobody_is_looked_for_unless_both_variables_say_so() {
    let (server, mut root) = start();
    for sql in [
        "SET GLOBAL check_proxy_users = OFF",
        "SET GLOBAL check_proxy_users = ON, GLOBAL mysql_native_password_proxy_users = OFF",
    ] {
        run(&mut root, sql);
        assert_eq!(identity(&mut login(&server, "p").unwrap()), "p@% p@localhost -", "{sql}");
    }
    run(&mut root, "SET GLOBAL mysql_native_password_proxy_users = ON");
    run(&mut root, "REVOKE PROXY ON boss FROM p");
    assert_eq!(identity(&mut login(&server, "p").unwrap()), "p@% p@localhost -");
    run(&mut root, "GRANT PROXY ON missing TO p");
    assert_eq!(login(&server, "p").err(), Some(1045), "there is no such account");
    run(&mut root, "GRANT PROXY ON boss@localhost TO p");
    assert_eq!(login(&server, "p").err(), Some(1045), "the more specific grant comes first");
    run(&mut root, "CREATE USER boss@localhost");
    assert_eq!(identity(&mut login(&server, "p").unwrap()), "boss@localhost p@localhost 'p'@'%'");
}

#[test]
fn grants_survive_a_restart_and_the_first_root_may_give_them() {
    let (mut server, mut root) = start();
    run(&mut root, "GRANT PROXY ON q TO p WITH GRANT OPTION");
    run(&mut root, "GRANT PROXY ON CURRENT_USER() TO q");
    run(&mut root, "REVOKE PROXY ON root@localhost FROM q");
    run(&mut root, "REVOKE PROXY ON ''@'' FROM root@localhost");
    let refused = |root: &mut RawClient| error(&root.command(QUERY, b"GRANT PROXY ON q TO sha")).0;
    assert_eq!(refused(&mut root), 1698);
    assert!(server.terminate());
    let server = TestServer::start_in(server.into_dir(), &["--check-proxy-users=1"]);
    assert_eq!(refused(&mut server.root()), 1698, "what was taken from root stays so");
    let mut client = login(&server, "p").unwrap();
    assert_eq!(identity(&mut client), "p@% p@localhost -");
    run(&mut client, "GRANT PROXY ON q TO sha");
    assert_eq!(error(&client.command(QUERY, b"GRANT PROXY ON boss TO sha")).0, 1698);
}

/// What SHOW GRANTS says of the client's account.
fn grants(client: &mut RawClient) -> Vec<String> {
    assert_eq!(client.command(QUERY, b"SHOW GRANTS"), [1], "one column");
    (0..2).for_each(|_| drop(client.read()));
    let rows = std::iter::from_fn(|| Some(client.read().1).filter(|packet| packet[0] != 0xfe));
    rows.map(|row| String::from_utf8_lossy(&row[1..]).into_owned()).collect()
}

#[test]
fn with_grant_option_grants_proxy_alone() {
    const USAGE: &str = "GRANT USAGE ON *.* TO `q`@`%`";
    let (server, mut root) = start();
    let mut client = login(&server, "q").unwrap();
    for proxied in ["q", "CURRENT_USER()"] {
        run(&mut client, &format!("GRANT PROXY ON {proxied} TO q WITH GRANT OPTION"));
        assert_eq!(grants(&mut client), [USAGE, "GRANT PROXY ON `q`@`%` TO `q`@`%` WITH GRANT OPTION"]);
    }
    run(&mut root, "GRANT SELECT ON d.* TO q");
    let refused = client.command(QUERY, b"GRANT SELECT ON d.* TO sha");
    assert_eq!(error(&refused).0, 1044, "what it has without GRANT OPTION is not its own to give");
    // What an account is granted WITH GRANT OPTION it may grant, and no other.
    run(&mut root, "GRANT PROXY ON boss TO q WITH GRANT OPTION");
    run(&mut client, "GRANT PROXY ON boss TO sha");
    assert_eq!(error(&client.command(QUERY, b"GRANT PROXY ON p TO sha")).0, 1698);
    run(&mut root, "GRANT PROXY ON ''@'' TO q WITH GRANT OPTION");
    run(&mut client, "GRANT PROXY ON p TO sha");
}

#[test]
fn a_proxy_is_refused_by_what_its_target_requires_and_while_its_own_password_has_expired() {
    /// The client knows how to set another password.
    const EXPIRED_PASSWORDS: u32 = 1 << 22;
    let (server, mut root) = start();
    let change = |server: &TestServer| {
        let mut client = login(server, "q").unwrap();
        error(&client.command(CHANGE_USER, b"p\0\0\0\x2d\0mysql_native_password\0")).0
    };
    run(&mut root, "ALTER USER boss REQUIRE X509");
    assert_eq!((login(&server, "p").err(), change(&server)), (Some(1045), 1045));
    run(&mut root, "ALTER USER boss REQUIRE NONE");
    run(&mut root, "ALTER USER p PASSWORD EXPIRE");
    assert_eq!((login(&server, "p").err(), change(&server)), (Some(1862), 1862));
    let able = RawClient::login_packet("p", b"mysql_native_password", b"", EXPIRED_PASSWORDS);
    let attempt = || {
        let mut client = server.raw();
        client.send(1, &able);
        (client.read().1, client)
    };
    assert_eq!(error(&attempt().0).0, 1862, "the password that it would set is another account's");
    run(&mut root, "SET GLOBAL check_proxy_users = OFF");
    let (answer, mut client) = attempt();
    assert_eq!(answer[0], 0, "for itself");
    run(&mut client, "ALTER USER USER() IDENTIFIED BY ''");
    run(&mut root, "SET GLOBAL check_proxy_users = ON");
    run(&mut root, "ALTER USER boss PASSWORD EXPIRE");
    assert_eq!(identity(&mut login(&server, "p").unwrap()), "boss@% p@localhost 'p'@'%'");
}
