//! Making a data directory, and first logins with a password that has expired.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::sync::Arc;

use crate::support::TestServer;
use engine::{Engine, EngineConfig};
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};

fn opts(server: &TestServer, user: &str, password: &str) -> OptsBuilder {
    OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(server.port)
        .prefer_socket(false)
        .user(Some(user))
        .pass(Some(password))
        // Nothing is asked of the server at the login.
        .max_allowed_packet(Some(1 << 20))
}

fn connect(server: &TestServer, user: &str, password: &str) -> Result<Conn, mysql::Error> {
    Conn::new(opts(server, user, password))
}

/// Code of the server's error.
fn code<T: std::fmt::Debug>(result: Result<T, mysql::Error>) -> u16 {
    match result.unwrap_err() {
        mysql::Error::MySqlError(error) => error.code,
        error => panic!("{error}"),
    }
}

#[test]
fn a_new_directory_has_a_root_whose_random_password_has_to_be_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (status, said) = TestServer::run_to_end(&dir, &["--initialize"]);
    assert_eq!(status, Some(0), "{said}");
    let (_, password) = said.split_once("A temporary password is generated for root@localhost: ").unwrap();
    let password = password.lines().next().unwrap();
    assert_eq!(password.len(), 20);
    let (status, said) = TestServer::run_to_end(&dir, &["--initialize-insecure"]);
    assert!(status == Some(1) && said.contains("has files in it"), "{said}");

    let server = TestServer::start_in(dir, &["--disconnect-on-expired-password=OFF"]);
    assert_eq!(code(connect(&server, "root", "")), 1045);
    let mut root = connect(&server, "root", password).unwrap();
    assert_eq!(code(root.query_drop("SELECT 1")), 1820);
    assert_eq!(code(root.query_drop("CREATE DATABASE d")), 1820);
    assert_eq!(code(root.exec_drop("SELECT ?", (1,))), 1820);
    assert_eq!(code(root.select_db("mysql")), 1820);
    root.query_drop("ALTER USER CURRENT_USER() IDENTIFIED BY 'mine'").unwrap();
    assert_eq!(root.query_first("SELECT 1").unwrap(), Some(1));
    assert_eq!(code(connect(&server, "root", password)), 1045);
    let mut root = connect(&server, "root", "mine").unwrap();
    assert_eq!(root.query_first("SELECT 1").unwrap(), Some(1));
}

#[test]
fn a_new_directory_without_a_password_serves_root() {
    let dir = tempfile::tempdir().unwrap();
    let (status, said) = TestServer::run_to_end(&dir, &["--initialize-insecure"]);
    assert!(status == Some(0) && said.contains("root@localhost has no password"), "{said}");
    let server = TestServer::start_in(dir, &[]);
    assert_eq!(connect(&server, "root", "").unwrap().query_first("SELECT 1").unwrap(), Some(1));
}

#[test]
fn an_expired_password_is_for_clients_that_can_change_it() {
    const EXPIRED_PASSWORDS: u32 = 1 << 22;
    let server = TestServer::start(&[]);
    let mut root = connect(&server, "root", "").unwrap();
    root.query_drop("CREATE USER z IDENTIFIED WITH mysql_native_password PASSWORD EXPIRE").unwrap();
    assert_eq!(code(connect(&server, "z", "")), 1862);
    let mut can = server.raw();
    let login =
        crate::support::RawClient::login_packet("z", b"mysql_native_password", b"", EXPIRED_PASSWORDS);
    can.send(1, &login);
    assert_eq!(can.read().1[0], 0);
    let is = |answer: &[u8], code: u16| answer[0] == 0xff && answer[1..3] == code.to_le_bytes();
    assert!(is(&can.command(3, b"SELECT 1"), 1820));
    assert!(is(&can.command(2, b"mysql"), 1820), "COM_INIT_DB");
    assert!(is(&can.command(22, b"SELECT 1"), 1820), "COM_STMT_PREPARE");
    assert_eq!(can.command(14, b"")[0], 0, "COM_PING");
    assert_eq!(can.command(31, b"")[0], 0, "COM_RESET_CONNECTION");
    assert!(is(&can.command(3, b"SELECT 1"), 1820));
    assert_eq!(can.command(3, b"SET PASSWORD = ''")[0], 0);
    assert_eq!(can.command(3, b"SELECT 1")[0], 1);
    connect(&server, "z", "").unwrap();
}

/// Makes the password of account `z` two days older than it is, in a data directory that nobody uses.
fn age_password(dir: &tempfile::TempDir) {
    let disk = Arc::new(env::RealDisk);
    let engine = Engine::open(EngineConfig::new(disk, dir.path().join("data"))).unwrap();
    let mut account = engine.get_object("account", "z\0%").unwrap().unwrap();
    let field = account.windows(5).position(|bytes| bytes[0] == b'E' && bytes[2..] == [0, 0, 0]).unwrap();
    let set_at = &mut account[field + 5..field + 13];
    let seconds = u64::from_le_bytes(set_at.try_into().unwrap());
    assert!(seconds > 1_700_000_000, "{seconds}");
    set_at.copy_from_slice(&(seconds - 2 * 86_400).to_le_bytes());
    engine.put_object("account", "z\0%", &account).unwrap();
    engine.shutdown().unwrap();
}

#[test]
fn passwords_expire_by_age() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = TestServer::start_in(dir, &[]);
    let mut root = connect(&server, "root", "").unwrap();
    root.query_drop("CREATE USER z").unwrap();
    assert!(server.terminate());
    let dir = server.into_dir();
    age_password(&dir);

    let mut server = TestServer::start_in(dir, &["--default-password-lifetime=2"]);
    assert_eq!(code(connect(&server, "z", "")), 1862);
    let mut root = connect(&server, "root", "").unwrap();
    root.query_drop("SET GLOBAL default_password_lifetime = 3").unwrap();
    connect(&server, "z", "").unwrap();
    root.query_drop("ALTER USER z PASSWORD EXPIRE INTERVAL 2 DAY").unwrap();
    assert_eq!(code(connect(&server, "z", "")), 1862);
    root.query_drop("ALTER USER z PASSWORD EXPIRE NEVER").unwrap();
    root.query_drop("SET GLOBAL default_password_lifetime = 1").unwrap();
    connect(&server, "z", "").unwrap();
    root.query_drop("ALTER USER z PASSWORD EXPIRE DEFAULT").unwrap();
    assert_eq!(code(connect(&server, "z", "")), 1862);
    root.query_drop("ALTER USER z IDENTIFIED BY 'new'").unwrap();
    connect(&server, "z", "new").unwrap();
    assert!(server.terminate());
}
