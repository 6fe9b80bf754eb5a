//! The audit log: logins, changes of accounts and of definitions, as JSON lines; never a password.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use serde_json::Value;
use testkit::server::TestServer;

/// A server whose log is in a folder of its own.
fn start(options: &[&str]) -> (TestServer, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let log = format!("--audit-log-file={}", log_of(&folder).display());
    let options = [&[log.as_str()], options].concat();
    (TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &options).unwrap(), folder)
}

fn log_of(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("audit.log")
}

fn connect(server: &TestServer, user: &str, password: &str) -> mysql::Result<Conn> {
    let options = OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(server.port);
    Conn::new(options.user(Some(user)).pass(Some(password)).prefer_socket(false))
}

fn events(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// An event in short: what, who, what of, and the number of the error.
fn short(event: &Value) -> String {
    let text = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let status = |path: &str| event.pointer(path).and_then(Value::as_u64).unwrap_or_default();
    let kind = format!("{} {}", text("/event"), text("/account/user"));
    match text("/class").as_str() {
        "general" => format!(
            "{} {}: {} = {}",
            text("/account/user"),
            text("/general_data/sql_command"),
            text("/general_data/query"),
            status("/general_data/status")
        ),
        "connection" if event.pointer("/connection_data").is_some() => {
            format!("{kind} {} = {}", text("/connection_data/db"), status("/connection_data/status"))
        }
        _ => kind,
    }
}

#[test]
fn logins_and_changes_are_written_and_passwords_are_not() {
    let (mut server, folder) = start(&[]);
    let mut root = connect(&server, "root", "").unwrap();
    root.query_drop("CREATE DATABASE d").unwrap();
    root.query_drop("CREATE USER ada IDENTIFIED BY 'hush-1', bob IDENTIFIED BY \"hush-2\"").unwrap();
    root.query_drop("SELECT 1; ALTER USER ada IDENTIFIED BY 'hush-3'; SELECT 2").unwrap();
    root.query_drop("PREPARE p FROM 'GRANT SELECT ON d.* TO ada'; EXECUTE p").unwrap();
    root.exec_drop("SET PASSWORD FOR bob = 'hush-4'", ()).unwrap();
    root.query_drop("CREATE TABLE d.t (a VARCHAR(9) DEFAULT 'shown' COMMENT 'kept') told").unwrap_err();
    root.query_drop("CREATE TABLE d.t (a VARCHAR(9) DEFAULT 'shown' COMMENT 'kept') -- told").unwrap();
    root.query_drop("INSERT INTO d.t VALUES ('row'); BEGIN; COMMIT; SET @x = 1; SHOW TABLES FROM d").unwrap();
    connect(&server, "ada", "hush-wrong").unwrap_err();
    let mut ada = connect(&server, "ada", "hush-3").unwrap();
    ada.query_drop("DROP TABLE d.t").unwrap_err();
    ada.query_drop("USE d").unwrap();
    drop(ada);
    root.query_drop("CREATE ROLE r; GRANT r TO ada; SET ROLE NONE; REVOKE r FROM ada; DROP ROLE r").unwrap();
    root.query_drop("SET GLOBAL mandatory_roles = '', @x = 1; SET GLOBAL Audit_log_max_size = 0").unwrap();
    root.query_drop("ALTER USER bob IDENTIFIED BY 'hush-5' RETAIN CURRENT PASSWORD PASSWORD HISTORY 1")
        .unwrap();
    root.query_drop("SET PASSWORD FOR bob = 'hush-5' RETAIN CURRENT PASSWORD").unwrap_err();
    root.query_drop("INSTALL COMPONENT 'file://component_validate_password'").unwrap();
    root.query_drop("SET GLOBAL validate_password.length = 9").unwrap();
    root.query_drop("ALTER USER bob IDENTIFIED BY 'hush-6', ada DISCARD OLD PASSWORD").unwrap_err();
    root.query_drop("SELECT VALIDATE_PASSWORD_STRENGTH('hush-7')").unwrap();
    root.query_drop("UNINSTALL COMPONENT 'file://component_validate_password'").unwrap();
    root.query_drop("DROP USER bob").unwrap();
    let (written,): (u64,) = root
        .query_first("SHOW STATUS LIKE 'Audit_log_events_written'")
        .unwrap()
        .map(|(_, count): (String, u64)| (count,))
        .unwrap();
    drop(root);
    let log = log_of(&folder);
    server.shut_down().unwrap();

    let text = fs::read_to_string(&log).unwrap();
    assert!(!text.contains("hush"), "{text}");
    let events = events(&log);
    let found: Vec<String> =
        events.iter().map(short).filter(|line| !line.starts_with("disconnect")).collect();
    let expected = [
        "startup ",
        "connect root  = 0",
        "root create_db: CREATE DATABASE d = 0",
        "root create_user: CREATE USER ada IDENTIFIED BY <secret>, bob IDENTIFIED BY <secret> = 0",
        "root alter_user: ALTER USER ada IDENTIFIED BY <secret> = 0",
        "root grant: GRANT SELECT ON d.* TO ada = 0",
        "root set_password: SET PASSWORD FOR bob = <secret> = 0",
        "root create_table: CREATE TABLE d.t (a VARCHAR(9) DEFAULT 'shown' COMMENT 'kept') -- told = 0",
        "connect ada  = 1045",
        "connect ada  = 0",
        "ada drop_table: DROP TABLE d.t = 1142",
        "root create_role: CREATE ROLE r = 0",
        "root grant_roles: GRANT r TO ada = 0",
        "root revoke_roles: REVOKE r FROM ada = 0",
        "root drop_role: DROP ROLE r = 0",
        "root set_option: SET GLOBAL mandatory_roles = '', @x = 1 = 0",
        "root set_option: SET GLOBAL Audit_log_max_size = 0 = 0",
        "root alter_user: ALTER USER bob IDENTIFIED BY <secret> RETAIN CURRENT PASSWORD PASSWORD HISTORY 1 = 0",
        "root set_password: SET PASSWORD FOR bob = <secret> RETAIN CURRENT PASSWORD = 3638",
        "root install_component: INSTALL COMPONENT 'file://component_validate_password' = 0",
        "root set_option: SET GLOBAL validate_password.length = 9 = 0",
        "root alter_user: ALTER USER bob IDENTIFIED BY <secret>, ada DISCARD OLD PASSWORD = 1819",
        "root uninstall_component: UNINSTALL COMPONENT 'file://component_validate_password' = 0",
        "root drop_user: DROP USER bob = 0",
        "shutdown ",
    ];
    assert_eq!(found, expected);
    let gone =
        |user: &str| events.iter().filter(|event| short(event) == format!("disconnect {user}")).count();
    assert_eq!((gone("ada"), gone("root")), (1, 1));
    assert_eq!(written as usize, events.len() - 2, "except for the end of root and of the server");
    let first = &events[1];
    assert_eq!(first["connection_data"]["connection_type"], "tcp/ip");
    assert_eq!(
        (&first["login"]["ip"], &first["account"]["host"]),
        (&"127.0.0.1".into(), &"localhost".into())
    );
    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn logins_that_are_refused_are_written_as_such_alone() {
    let (mut server, folder) = start(&[]);
    let mut root = connect(&server, "root", "").unwrap();
    root.query_drop("CREATE USER ada, p IDENTIFIED WITH mysql_native_password").unwrap();
    let into = |user: &str, database: Option<&str>| {
        let options = OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(server.port);
        Conn::new(options.user(Some(user)).prefer_socket(false).db_name(database))
    };
    // After the password was right.
    into("ada", Some("missing")).unwrap_err();
    root.query_drop("ALTER USER ada WITH MAX_CONNECTIONS_PER_HOUR 1").unwrap();
    let mut ada = into("ada", None).unwrap();
    into("ada", None).unwrap_err();
    // Before it was asked for.
    root.query_drop("SET GLOBAL require_secure_transport = ON").unwrap();
    into("ada", Some("d")).unwrap_err();
    root.query_drop("SET GLOBAL require_secure_transport = OFF").unwrap();
    // A session that has become nobody's has ended, too.
    ada.change_user(mysql::ChangeUserOpts::default().with_user(Some("nobody".into()))).unwrap_err();
    drop(ada);
    root.query_drop("GRANT PROXY ON ada TO p").unwrap();
    root.query_drop("ALTER USER ada WITH MAX_CONNECTIONS_PER_HOUR 0").unwrap();
    for name in ["check_proxy_users", "mysql_native_password_proxy_users"] {
        root.query_drop(format!("SET GLOBAL {name} = ON")).unwrap();
    }
    drop(into("p", None).unwrap());
    drop(root);
    server.shut_down().unwrap();
    let events = events(&log_of(&folder));
    let of = |user: &str| -> Vec<String> {
        let lines = events.iter().map(short).filter(|line| line.split(' ').nth(1) == Some(user));
        lines.filter(|line| !line.contains(':')).collect()
    };
    let expected = [
        "connect ada missing = 1044",
        "connect ada  = 0",
        "connect ada  = 1226",
        "connect ada d = 3159",
        "disconnect ada",
    ];
    assert_eq!(of("ada"), expected);
    assert_eq!(of("nobody"), ["change_user nobody  = 1045"]);
    assert_eq!(of("p"), ["connect p  = 0", "disconnect p"]);
    let proxied = events.iter().filter(|event| event["login"]["proxy"] == "'p'@'%'").count();
    assert_eq!(proxied, 2, "the login and its end");
}

#[test]
fn the_process_list_shows_no_password() {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut root = connect(&server, "root", "").unwrap();
    // The text is the packet's until the next packet.
    let sql = "CREATE USER ada IDENTIFIED BY 'hush'; SHOW FULL PROCESSLIST";
    let mut results = root.query_iter(sql).unwrap();
    let mut shown = Vec::new();
    while let Some(rows) = results.iter() {
        shown.extend(rows.filter_map(|row| row.unwrap().get::<Option<String>, _>("Info").unwrap()));
    }
    assert_eq!(shown, ["CREATE USER ada IDENTIFIED BY <secret>; SHOW FULL PROCESSLIST"]);
    drop(results);
    // Before it is run, too, and within a text.
    let sql = "SHOW FULL PROCESSLIST; PREPARE p FROM 'ALTER USER ada IDENTIFIED BY \"hush\"'; SET PASSWORD := 'hush'";
    let mut results = root.query_iter(sql).unwrap();
    let info: Option<String> = results.iter().unwrap().next().unwrap().unwrap().get("Info");
    let expected = "SHOW FULL PROCESSLIST; PREPARE p FROM <secret>; SET PASSWORD := <secret>";
    assert_eq!(info.as_deref(), Some(expected));
}

#[test]
fn a_long_log_is_set_aside_and_so_much_is_kept() {
    let (server, folder) = start(&["--audit-log-rotate-on-size=2000"]);
    let mut root = connect(&server, "root", "").unwrap();
    (0..40).for_each(|_| root.query_drop("CREATE DATABASE IF NOT EXISTS d").unwrap());
    let files = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.collect::<Vec<_>>()
    };
    let before = files(folder.path());
    assert!(before.len() > 3, "{before:?}");
    let all: usize = before.iter().map(|file| events(file).len()).sum();
    assert_eq!(all, 42, "the start, a login, and every statement once");
    root.query_drop("SET GLOBAL audit_log_max_size = 5000").unwrap();
    root.query_drop("SET SESSION audit_log_max_size = 5000").unwrap_err();
    (0..20).for_each(|_| root.query_drop("CREATE DATABASE IF NOT EXISTS d").unwrap());
    let bytes: u64 = files(folder.path()).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert!((2000..7500).contains(&bytes), "{bytes}");
}

#[test]
fn a_log_that_cannot_be_written_stops_nobody_and_is_counted() {
    let binary = Path::new(env!("CARGO_BIN_EXE_ratchetd"));
    let server = TestServer::start(binary, &["--audit-log-file=/dev/full"]).unwrap();
    let mut root = connect(&server, "root", "").unwrap();
    root.query_drop("CREATE DATABASE d").unwrap();
    let lost: (String, u64) = root.query_first("SHOW STATUS LIKE 'Audit_log_events_lost'").unwrap().unwrap();
    assert_eq!(lost.1, 3, "the start, the login and the database");
    assert!(TestServer::start(binary, &["--audit-log-file=/no/such/folder/audit.log"]).is_err());
}
