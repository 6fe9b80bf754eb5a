//! Tables whose rows the server makes: who may see them, that nothing changes them, where they are listed.
//! What they show: `tests/isolation/lock_tables_shown.test`.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use testkit::server::TestServer;

fn connect(server: &TestServer, user: &str) -> Conn {
    let options = OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(server.port).user(Some(user));
    Conn::new(options).unwrap()
}

fn start() -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let conn = connect(&server, "root");
    (server, conn)
}

fn error(conn: &mut Conn, sql: &str) -> (u16, String) {
    match conn.query_drop(sql) {
        Err(mysql::Error::MySqlError(error)) => (error.code, error.message),
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn information_schema_is_not_changed() {
    let (_server, mut conn) = start();
    let account: String = conn.query_first("SELECT CURRENT_USER()").unwrap().unwrap();
    let account = account.replace('@', "'@'");
    for sql in [
        "INSERT INTO information_schema.innodb_trx (trx_id) VALUES (1)",
        "REPLACE information_schema.innodb_trx (trx_id) VALUES (1)",
        "UPDATE information_schema.innodb_trx SET trx_id = 1",
        "DELETE FROM information_schema.innodb_trx",
        "TRUNCATE INFORMATION_SCHEMA.innodb_trx",
        "DROP TABLE information_schema.innodb_trx",
        "CREATE TABLE information_schema.x (a INT)",
        "ALTER TABLE information_schema.innodb_trx ADD a INT",
        "CREATE INDEX i ON information_schema.innodb_trx (trx_id)",
        "CREATE DATABASE information_schema",
        "CREATE DATABASE IF NOT EXISTS information_schema",
        "DROP DATABASE information_schema",
        "ALTER DATABASE information_schema CHARACTER SET latin1",
    ] {
        let said = format!("Access denied for user '{account}' to database 'information_schema'");
        assert_eq!(error(&mut conn, sql), (1044, said), "{sql}");
    }
    let said = format!("Access denied for user '{account}' to database 'performance_schema'");
    for sql in ["CREATE TABLE performance_schema.x (a INT)", "DROP DATABASE performance_schema"] {
        assert_eq!(error(&mut conn, sql), (1044, said.clone()), "{sql}");
    }
}

#[test]
fn privileges_decide_who_sees_what_others_do() {
    let (server, mut conn) = start();
    conn.query_drop("CREATE USER u").unwrap();
    let mut user = connect(&server, "u");
    for (table, code) in [
        ("information_schema.innodb_trx", 1227),
        ("performance_schema.data_locks", 1142),
        ("performance_schema.data_lock_waits", 1142),
    ] {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        assert_eq!(conn.query_first::<u64, _>(&sql).unwrap(), Some(0));
        // The plan that the administrator has left behind does not open it.
        assert_eq!(error(&mut user, &sql).0, code, "{table}");
    }
    conn.query_drop("GRANT PROCESS ON *.* TO u").unwrap();
    conn.query_drop("GRANT SELECT ON performance_schema.data_locks TO u").unwrap();
    let mut user = connect(&server, "u");
    for table in ["information_schema.innodb_trx", "performance_schema.data_locks"] {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        assert_eq!(user.query_first::<u64, _>(&sql).unwrap(), Some(0), "{table}");
    }
    assert_eq!(error(&mut user, "SELECT COUNT(*) FROM performance_schema.data_lock_waits").0, 1142);
}

#[test]
fn they_are_listed_and_described() {
    let (_server, mut conn) = start();
    let names = |conn: &mut Conn, sql: &str| conn.query::<String, _>(sql).unwrap();
    assert_eq!(names(&mut conn, "SHOW DATABASES"), ["information_schema", "mysql", "performance_schema"]);
    let of_roles = [
        [
            "ADMINISTRABLE_ROLE_AUTHORIZATIONS",
            "APPLICABLE_ROLES",
            "ENABLED_ROLES",
            "INNODB_COLUMNS",
            "INNODB_INDEXES",
            "INNODB_TABLES",
            "INNODB_TRX",
        ]
        .as_slice(),
        &["ROLE_COLUMN_GRANTS", "ROLE_ROUTINE_GRANTS", "ROLE_TABLE_GRANTS"],
    ];
    assert_eq!(names(&mut conn, "SHOW TABLES FROM Information_Schema"), of_roles.concat());
    let of_waits = ["events_waits_histogram_by_event_name", "events_waits_summary_global_by_event_name"];
    assert_eq!(
        names(&mut conn, "SHOW TABLES FROM performance_schema"),
        [["data_lock_waits", "data_locks"], of_waits].concat()
    );
    type Field = (String, String, String);
    let fields: Vec<(String, String, String, String, Option<String>, String)> =
        conn.query("DESCRIBE information_schema.innodb_trx").unwrap();
    let fields: Vec<Field> = fields.into_iter().map(|f| (f.0, f.1, f.2)).collect();
    assert_eq!(fields.len(), 25);
    assert_eq!(fields[0], ("trx_id".to_owned(), "bigint unsigned".to_owned(), "NO".to_owned()));
    assert_eq!(fields[7], ("trx_query".to_owned(), "varchar(1024)".to_owned(), "YES".to_owned()));
}

#[test]
fn reading_them_opens_no_snapshot() {
    let (server, mut conn) = start();
    let mut other = connect(&server, "root");
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (a INT)").unwrap();
    conn.query_drop("BEGIN").unwrap();
    conn.query_drop("SELECT * FROM information_schema.innodb_trx").unwrap();
    other.query_drop("INSERT INTO d.t VALUES (1)").unwrap();
    assert_eq!(conn.query_first::<u64, _>("SELECT COUNT(*) FROM d.t").unwrap(), Some(1));
    // Prepared, and with other values later.
    for (rows, state) in [(1_u64, "RUNNING"), (0, "LOCK WAIT")] {
        let sql = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = ?";
        assert_eq!(other.exec_first::<u64, _, _>(sql, (state,)).unwrap(), Some(rows));
    }
}

/// What InnoDB's dictionary tables say of two tables, and of one whose columns change while its rows stay.
#[test]
fn dictionary_tables_tell_how_rows_are_kept() {
    let (_server, mut conn) = start();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.p (id INT PRIMARY KEY, a VARCHAR(10), UNIQUE KEY (a))").unwrap();
    conn.query_drop("CREATE TABLE d.q (a INT, b TEXT NOT NULL)").unwrap();
    let of = |table: &str| {
        format!("(SELECT TABLE_ID FROM information_schema.INNODB_TABLES WHERE NAME = 'd/{table}')")
    };
    let tables =
        "SELECT NAME, N_COLS, TOTAL_ROW_VERSIONS FROM information_schema.INNODB_TABLES ORDER BY NAME";
    let found: Vec<(String, u64, u64)> = conn.query(tables).unwrap();
    assert_eq!(found, [("d/p".to_owned(), 5, 0), ("d/q".to_owned(), 5, 0)]);
    type Index = (String, u64, u64);
    let indexes: Vec<Index> = conn
        .query("SELECT NAME, TYPE, N_FIELDS FROM information_schema.INNODB_INDEXES ORDER BY NAME")
        .unwrap();
    let wanted = [("a", 2, 2), ("GEN_CLUST_INDEX", 1, 5), ("PRIMARY", 3, 4)];
    assert_eq!(indexes, wanted.map(|(name, kind, fields)| (name.to_owned(), kind, fields)));
    let columns = |conn: &mut Conn, table: &str| -> Vec<(String, u64, u64, u64, u64, Option<String>)> {
        let sql = "SELECT NAME, MTYPE, PRTYPE, LEN, HAS_DEFAULT, DEFAULT_VALUE FROM information_schema.INNODB_COLUMNS";
        conn.query(format!("{sql} WHERE TABLE_ID = {} ORDER BY POS", of(table))).unwrap()
    };
    // As MySQL has them.
    let id = ("id".to_owned(), 6, 1283, 4, 0, None);
    let a = ("a".to_owned(), 12, 16_711_695, 40, 0, None);
    assert_eq!(columns(&mut conn, "p"), [id.clone(), a.clone()]);
    let text = ("b".to_owned(), 5, 16_711_932 + 256, 10, 0, None);
    assert_eq!(columns(&mut conn, "q"), [("a".to_owned(), 6, 1027, 4, 0, None), text]);

    conn.query_drop("INSERT INTO d.p VALUES (1, 'x'), (2, 'y')").unwrap();
    conn.query_drop("ALTER TABLE d.p ADD COLUMN n INT DEFAULT 258").unwrap();
    let n = ("n".to_owned(), 6, 1027, 4);
    let shown = columns(&mut conn, "p");
    let shows = |has, value: Option<&str>| (n.0.clone(), n.1, n.2, n.3, has, value.map(ToOwned::to_owned));
    // While a page has rows without it.
    assert!(shown == [id.clone(), a.clone(), shows(1, Some("02010000"))] || shown == [id, a, shows(0, None)]);
    let versions = format!(
        "SELECT TOTAL_ROW_VERSIONS FROM information_schema.INNODB_TABLES WHERE TABLE_ID = {}",
        of("p")
    );
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while conn.query_first::<u64, _>(&versions).unwrap() != Some(0) {
        assert!(std::time::Instant::now() < deadline, "the pages are converted in the background");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(conn.query_first::<u64, _>("SELECT SUM(n) FROM d.p").unwrap(), Some(516));
}
