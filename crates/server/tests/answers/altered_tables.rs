//! ALTER TABLE over restarts, among other sessions, and when it is killed.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

const BINARY: &str = env!("CARGO_BIN_EXE_ratchetd");

fn connect(server: &TestServer) -> Conn {
    Target { port: server.port, user: "root".to_owned() }.connect(Some("shop")).unwrap()
}

/// A server with a table of many rows, some of them long.
fn start(datadir: &Path) -> (TestServer, Conn) {
    let server = TestServer::start_on(Path::new(BINARY), datadir, &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let create =
        "CREATE TABLE shop.item (id INT AUTO_INCREMENT PRIMARY KEY, n INT, c VARCHAR(20), x TEXT, KEY n (n))";
    for sql in ["CREATE DATABASE shop", create] {
        conn.query_drop(sql).unwrap();
    }
    for at in 0..20 {
        let rows: Vec<String> = (0..50)
            .map(|n| format!("({}, 'c{n}', REPEAT('{n}', {}))", 50 * at + n, if n == 7 { 9000 } else { 3 }))
            .collect();
        conn.query_drop(format!("INSERT INTO shop.item (n, c, x) VALUES {}", rows.join(", "))).unwrap();
    }
    let conn = connect(&server);
    (server, conn)
}

/// The definition, rows by two indexes, and the report of CHECK TABLE.
fn content(conn: &mut Conn) -> (String, Vec<mysql::Row>, u64, String) {
    let (_, definition): (String, String) = conn.query_first("SHOW CREATE TABLE item").unwrap().unwrap();
    let rows = conn.query("SELECT * FROM item ORDER BY id").unwrap();
    let by_index = conn.query_first("SELECT COUNT(*) FROM item FORCE INDEX (n) WHERE n >= 0").unwrap();
    let check: (String, String, String, String) = conn.query_first("CHECK TABLE item").unwrap().unwrap();
    (definition, rows, by_index.unwrap(), check.3)
}

#[test]
fn every_kind_of_change_survives_a_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let (mut server, mut conn) = start(&datadir);
    for actions in [
        "ADD COLUMN d DATE NOT NULL DEFAULT '2024-02-29' AFTER id, DROP COLUMN c",
        "MODIFY n BIGINT NOT NULL, MODIFY x MEDIUMTEXT, ADD KEY x (x(10))",
        "DROP PRIMARY KEY, ADD PRIMARY KEY (n), ADD KEY (id)",
        "CONVERT TO CHARACTER SET latin1, AUTO_INCREMENT = 5000",
        "ADD e ENUM('a') NOT NULL, ADD v VARCHAR(10) DEFAULT 'v'",
        "MODIFY e ENUM('a', 'b') NOT NULL, MODIFY v VARCHAR(30) DEFAULT 'v', ALTER d DROP DEFAULT",
        "FORCE",
    ] {
        conn.query_drop(format!("ALTER TABLE item {actions}")).unwrap_or_else(|e| panic!("{actions}: {e}"));
        conn.query_drop("INSERT INTO item (n, d) SELECT MAX(n) + 1, '2020-01-01' FROM item").unwrap();
        let before = content(&mut conn);
        assert_eq!((before.1.len(), &*before.3), (before.2 as usize, "OK"), "{actions}");
        drop(conn);
        server.shut_down().unwrap();
        let disk = std::sync::Arc::new(env::RealDisk);
        let report = engine::check::check_datadir(disk, &datadir, 16 << 20, &mut |_| {}).unwrap();
        assert_eq!(report.findings, [], "{actions}");
        server = TestServer::start_on(Path::new(BINARY), &datadir, &[]).unwrap();
        conn = connect(&server);
        assert_eq!(content(&mut conn), before, "{actions}");
    }
    let greatest: Option<u32> = conn.query_first("SELECT MAX(id) FROM item").unwrap();
    assert!(greatest.is_some_and(|id| id >= 5003), "{greatest:?}");
}

#[test]
fn snapshots_from_before_and_prepared_statements_meet_the_new_table() {
    let folder = tempfile::tempdir().unwrap();
    let (server, mut conn) = start(&folder.path().join("data"));
    conn.query_drop("CREATE TABLE other (a INT)").unwrap();
    let mut old = connect(&server);
    old.query_drop("START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
    let kept = conn.prep("SELECT * FROM item WHERE id = ?").unwrap();
    let row: Option<mysql::Row> = conn.exec_first(&kept, (3,)).unwrap();
    assert_eq!(row.map(|row| row.len()), Some(4));
    conn.query_drop("ALTER TABLE item ADD COLUMN y INT DEFAULT 9 FIRST").unwrap();
    let row: Option<mysql::Row> = conn.exec_first(&kept, (3,)).unwrap();
    let row = row.unwrap();
    assert_eq!((row.len(), row.get::<i32, _>(0)), (5, Some(9)));
    let error = old.query_drop("SELECT * FROM item").unwrap_err().to_string();
    assert!(error.contains("1412"), "{error}");
    old.query_drop("COMMIT").unwrap();
    let rows: Option<u64> = old.query_first("SELECT COUNT(*) FROM item WHERE y = 9").unwrap();
    assert_eq!(rows, Some(1000));
}

#[test]
fn a_change_that_waits_for_a_writer_ends_with_its_time_and_leaves_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let (server, mut conn) = start(&folder.path().join("data"));
    let mut writer = connect(&server);
    writer.query_drop("BEGIN").unwrap();
    writer.query_drop("UPDATE item SET n = n + 1 WHERE id = 1").unwrap();
    conn.query_drop("SET lock_wait_timeout = 1").unwrap();
    let error = conn.query_drop("ALTER TABLE item ADD COLUMN y INT").unwrap_err().to_string();
    assert!(error.contains("1205"), "{error}");
    writer.query_drop("COMMIT").unwrap();
    let mut altering = connect(&server);
    let id: u32 = altering.query_first("SELECT CONNECTION_ID()").unwrap().unwrap();
    writer.query_drop("BEGIN").unwrap();
    writer.query_drop("UPDATE item SET n = n + 1 WHERE id = 1").unwrap();
    let altered = std::thread::spawn(move || altering.query_drop("ALTER TABLE item ADD COLUMN y INT"));
    conn.query_drop(format!("KILL {id}")).unwrap();
    assert!(altered.join().unwrap().is_err());
    writer.query_drop("COMMIT").unwrap();
    let columns: Vec<mysql::Row> = conn.query("SHOW COLUMNS FROM item").unwrap();
    assert_eq!(columns.len(), 4);
    writer.query_drop("UPDATE item SET n = n + 1 WHERE id = 1").unwrap();
}

#[test]
fn a_transaction_that_a_change_waits_for_is_the_victim_of_their_deadlock() {
    let folder = tempfile::tempdir().unwrap();
    let (server, mut conn) = start(&folder.path().join("data"));
    let mut reader = connect(&server);
    reader.query_drop("BEGIN").unwrap();
    reader.query_drop("SELECT COUNT(*) FROM item").unwrap();
    let mut altering = connect(&server);
    let altered = std::thread::spawn(move || {
        altering.query_drop("ALTER TABLE item ADD COLUMN y INT, FORCE, LOCK = SHARED")
    });
    // Writers wait once rows are being copied.
    conn.query_drop("SET lock_wait_timeout = 1").unwrap();
    while conn.query_drop("UPDATE item SET n = 1 WHERE id = 1").is_ok() {}
    let error = reader.query_drop("UPDATE item SET n = 2 WHERE id = 1").unwrap_err().to_string();
    assert!(error.contains("1213"), "{error}");
    altered.join().unwrap().unwrap();
    let columns: Vec<mysql::Row> = conn.query("SHOW COLUMNS FROM item").unwrap();
    assert_eq!(columns.len(), 5);
}

/// Runs `sql` beside; returns once the server is at it.
fn begin(server: &TestServer, sql: &'static str) -> std::thread::JoinHandle<mysql::Result<()>> {
    let (mut other, mut looking) = (connect(server), connect(server));
    let id: u32 = other.query_first("SELECT CONNECTION_ID()").unwrap().unwrap();
    let thread = std::thread::spawn(move || other.query_drop(sql));
    let is_running = |row: &mysql::Row| {
        row.get::<u32, _>("Id") == Some(id)
            && row.get::<Option<String>, _>("Info").flatten().as_deref() == Some(sql)
    };
    while !looking.query::<mysql::Row, _>("SHOW FULL PROCESSLIST").unwrap().iter().any(is_running) {
        std::thread::yield_now();
    }
    thread
}

#[test]
fn the_session_that_has_a_table_locked_rebuilds_it_while_others_wait_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let (server, mut conn) = start(&folder.path().join("data"));
    conn.query_drop("SET lock_wait_timeout = 5").unwrap();
    conn.query_drop("LOCK TABLES item WRITE").unwrap();
    let waiting = [
        "SELECT * FROM item",
        "UPDATE item SET n = n + 1 WHERE id = 1",
        "ALTER TABLE item ADD COLUMN z INT",
        "ALTER TABLE item ADD KEY z (x(5))",
        "OPTIMIZE TABLE item",
        "LOCK TABLES item WRITE",
    ]
    .map(|sql| begin(&server, sql));
    conn.query_drop("ALTER TABLE item ADD COLUMN y INT").unwrap();
    conn.query_drop("UPDATE item SET y = 1").unwrap();
    conn.query_drop("ALTER TABLE item MODIFY y BIGINT, ADD KEY y (y)").unwrap();
    conn.query_drop("UNLOCK TABLES").unwrap();
    for thread in waiting {
        thread.join().unwrap().unwrap();
    }
    let columns: Vec<mysql::Row> = conn.query("SHOW COLUMNS FROM item").unwrap();
    assert_eq!(columns.len(), 6);
}

#[test]
fn of_two_transactions_that_two_changes_lead_in_a_cycle_one_is_the_victim() {
    let folder = tempfile::tempdir().unwrap();
    let (server, mut conn) = start(&folder.path().join("data"));
    conn.query_drop("CREATE TABLE other LIKE item").unwrap();
    conn.query_drop("INSERT INTO other SELECT * FROM item").unwrap();
    let transactions = [("item", "other"), ("other", "item")].map(|(read, written)| {
        let mut conn = connect(&server);
        conn.query_drop("BEGIN").unwrap();
        conn.query_drop(format!("SELECT COUNT(*) FROM {read}")).unwrap();
        (conn, format!("UPDATE {written} SET n = 1 WHERE id = 1"))
    });
    let changes = ["item", "other"].map(|table| {
        let mut altering = connect(&server);
        std::thread::spawn(move || {
            altering.query_drop(format!("ALTER TABLE {table} ADD COLUMN y INT, FORCE, LOCK = SHARED"))
        })
    });
    // Writers wait once rows are being copied.
    conn.query_drop("SET lock_wait_timeout = 1").unwrap();
    for table in ["item", "other"] {
        while conn.query_drop(format!("UPDATE {table} SET n = 1 WHERE id = 1")).is_ok() {}
    }
    let threads = transactions.map(|(mut conn, sql)| {
        std::thread::spawn(move || {
            let written = conn.query_drop(sql).map_err(|error| error.to_string());
            conn.query_drop("COMMIT").unwrap();
            written
        })
    });
    let ends = threads.map(|thread| thread.join().unwrap());
    let victims: Vec<_> = ends.iter().filter_map(|end| end.as_ref().err()).collect();
    assert!(matches!(victims[..], [error] if error.contains("1213")), "{ends:?}");
    for change in changes {
        change.join().unwrap().unwrap();
    }
    let columns: Vec<mysql::Row> = conn.query("SHOW COLUMNS FROM other").unwrap();
    assert_eq!(columns.len(), 5);
}

#[test]
fn a_moment_of_a_repeated_hour_stays_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, mut conn) = start(&folder.path().join("data"));
    for sql in [
        "CREATE TABLE m (id INT PRIMARY KEY, v INT, ts TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP)",
        "SET time_zone = '+00:00'",
        "INSERT INTO m VALUES (1, 1, '2024-10-27 00:30:00'), (2, 1, '2024-10-27 01:30:00')",
        "SET time_zone = 'Europe/Berlin'",
        "UPDATE m SET v = 2, ts = ts",
        "INSERT INTO m (id, v) VALUES (2, 9) ON DUPLICATE KEY UPDATE v = 10, ts = ts",
        "ALTER TABLE m MODIFY v BIGINT, ALGORITHM = COPY",
        "SET time_zone = '+00:00'",
    ] {
        conn.query_drop(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
    let rows: Vec<(u32, u32, String)> = conn.query("SELECT id, v, ts FROM m").unwrap();
    let row = |id, v, ts: &str| (id, v, ts.to_owned());
    assert_eq!(rows, [row(1, 2, "2024-10-27 00:30:00"), row(2, 10, "2024-10-27 01:30:00")]);
}

#[test]
fn a_member_stays_itself_where_the_new_collation_has_an_equal_one() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, mut conn) = start(&folder.path().join("data"));
    for sql in [
        "CREATE TABLE e (e ENUM('a', 'ä') CHARACTER SET latin1 COLLATE latin1_bin)",
        "INSERT INTO e VALUES ('ä'), ('a')",
        "ALTER TABLE e CONVERT TO CHARACTER SET utf8mb4",
    ] {
        conn.query_drop(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
    assert_eq!(
        conn.query::<(u32, String), _>("SELECT e + 0, e FROM e").unwrap(),
        [(2, "ä".to_owned()), (1, "a".to_owned())]
    );
}

#[test]
fn numbers_that_rows_get_meet_those_that_rows_have() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, mut conn) = start(&folder.path().join("data"));
    conn.query_drop("CREATE TABLE taken (id INT PRIMARY KEY)").unwrap();
    conn.query_drop("INSERT INTO taken VALUES (0), (1), (100)").unwrap();
    let change = "ALTER TABLE taken MODIFY id INT NOT NULL AUTO_INCREMENT, AUTO_INCREMENT = 100";
    assert_eq!(error_code(&mut conn, change), 1062);
    assert_eq!(conn.query::<u32, _>("SELECT id FROM taken").unwrap(), [0, 1, 100]);
    let renamed = "ALTER TABLE taken RENAME TO information_schema.taken";
    assert_eq!(error_code(&mut conn, renamed), 1044);
}

#[test]
fn more_columns_and_keys_than_any_table_has_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, mut conn) = start(&folder.path().join("data"));
    let list =
        |count: usize, one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<Vec<_>>().join(", ");
    let columns = list(100_000, &|n| format!("a{n} INT"));
    assert_eq!(error_code(&mut conn, &format!("CREATE TABLE wide ({columns})")), 1117);
    assert_eq!(error_code(&mut conn, &format!("ALTER TABLE item ADD ({columns})")), 1117);
    let keys = list(50_000, &|n| format!("ADD KEY k{n} (n, id)"));
    assert_eq!(error_code(&mut conn, &format!("ALTER TABLE item {keys}")), 1069);
    let drops = list(50_000, &|n| format!("DROP COLUMN d{n}"));
    assert_eq!(error_code(&mut conn, &format!("ALTER TABLE item {drops}")), 1091);
}

#[test]
fn tables_that_are_rebuilt_again_and_again_leave_the_heap_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, mut conn) = start(&folder.path().join("data"));
    let mut heap_after = |rebuilds: usize| -> u64 {
        for _ in 0..rebuilds {
            conn.query_drop("OPTIMIZE TABLE item").unwrap();
        }
        let shown: (String, u64) =
            conn.query_first("SHOW GLOBAL STATUS LIKE 'Ratchet_heap_bytes'").unwrap().unwrap();
        shown.1
    };
    let before = heap_after(20);
    let after = heap_after(200);
    assert!(after < before + (2 << 20), "{before} bytes became {after}");
}

fn error_code(conn: &mut Conn, sql: &str) -> u16 {
    match conn.query_drop(sql) {
        Err(mysql::Error::MySqlError(error)) => error.code,
        other => panic!("{}: {other:?}", &sql[..60]),
    }
}

/// MySQL asks for INPLACE in these.
#[test]
fn changes_that_leave_the_rows_alone_take_instant() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let (mut server, mut conn) = start(&datadir);
    let sums = "SELECT SUM(id), SUM(n), SUM(LENGTH(x)), COUNT(*) FROM item";
    let before: (u64, u64, u64, u64) = conn.query_first(sums).unwrap().unwrap();
    for actions in [
        "MODIFY c VARCHAR(20) FIRST, MODIFY n INT AFTER x",
        "ADD COLUMN m INT NOT NULL DEFAULT 7 AFTER c, ALTER n SET DEFAULT 3",
        "MODIFY m INT NULL DEFAULT 8",
        "ADD COLUMN k INT, RENAME INDEX n TO on_n, COMMENT 'other'",
        "MODIFY c VARCHAR(60) AFTER id, DROP COLUMN k",
        "ADD COLUMN l TEXT FIRST",
        "RENAME INDEX on_n TO n, DROP COLUMN c, ADD COLUMN c VARCHAR(20) DEFAULT 'again'",
    ] {
        conn.query_drop(format!("ALTER TABLE item {actions}, ALGORITHM = INSTANT"))
            .unwrap_or_else(|error| panic!("{actions}: {error}"));
        assert_eq!(conn.info_str(), "Records: 0  Duplicates: 0  Warnings: 0", "{actions}");
        assert_eq!(conn.query_first(sums).unwrap(), Some(before), "{actions}");
    }
    let shown = "SELECT SUM(m), COUNT(DISTINCT c), MAX(c), COUNT(l) FROM item";
    let wanted = Some((7 * before.3, 1_u64, "again".to_owned(), 0_u64));
    assert_eq!(conn.query_first(shown).unwrap(), wanted);
    // More than the 64 row versions that MySQL keeps.
    for at in 0..70 {
        conn.query_drop(format!("ALTER TABLE item ADD COLUMN z{at} INT DEFAULT {at}, ALGORITHM = INSTANT"))
            .unwrap();
    }
    let added: Option<(u64, u64)> = conn.query_first("SELECT SUM(z0), SUM(z69) FROM item").unwrap();
    assert_eq!(added, Some((0, 69 * before.3)));
    // A key of this column alone leaves with it.
    conn.query_drop("ALTER TABLE item DROP COLUMN n, ALGORITHM = INSTANT").unwrap();
    assert_eq!(conn.query_first(shown).unwrap(), wanted);
    drop(conn);
    server.shut_down().unwrap();
    let server = TestServer::start_on(Path::new(BINARY), &datadir, &[]).unwrap();
    let mut conn = connect(&server);
    assert_eq!(conn.query_first(shown).unwrap(), wanted);
    let check: (String, String, String, String) = conn.query_first("CHECK TABLE item").unwrap().unwrap();
    assert_eq!(check.3, "OK");
}

#[test]
fn prepared_and_cached_statements_follow_the_columns() {
    let folder = tempfile::tempdir().unwrap();
    let (server, mut conn) = start(&folder.path().join("data"));
    let mut other = connect(&server);
    let read = conn.prep("SELECT * FROM item WHERE id = ?").unwrap();
    let write = conn.prep("UPDATE item SET n = n + ? WHERE id = ?").unwrap();
    let sum = conn.prep("SELECT SUM(n) FROM item").unwrap();
    let text = "SELECT n, c FROM item WHERE id = 5";
    let names = |row: &mysql::Row| -> Vec<String> {
        row.columns_ref().iter().map(|column| column.name_str().into_owned()).collect()
    };
    let total: u64 = conn.exec_first(&sum, ()).unwrap().unwrap();
    let mut added = 0;
    for (actions, wanted) in [
        ("ADD COLUMN a INT DEFAULT 1 FIRST", ["a", "id", "n", "c", "x"].as_slice()),
        ("MODIFY n INT FIRST", &["n", "a", "id", "c", "x"]),
        ("DROP COLUMN a, ADD COLUMN b VARCHAR(9) NOT NULL DEFAULT 'b' AFTER n", &["n", "b", "id", "c", "x"]),
        ("DROP COLUMN x", &["n", "b", "id", "c"]),
    ] {
        other.query_drop(format!("ALTER TABLE item {actions}, ALGORITHM = INSTANT")).unwrap();
        conn.exec_drop(&write, (10, 5)).unwrap();
        added += 10;
        let row: mysql::Row = conn.exec_first(&read, (5,)).unwrap().unwrap();
        assert_eq!(names(&row), wanted, "{actions}");
        assert_eq!(row.get::<i64, _>("n"), Some(4 + added), "{actions}");
        assert_eq!(row.get::<u64, _>("id"), Some(5));
        assert_eq!(conn.query_first(text).unwrap(), Some((4 + added, "c4".to_owned())), "{actions}");
        assert_eq!(conn.exec_first(&sum, ()).unwrap(), Some(total + added as u64), "{actions}");
    }
}

#[test]
fn rows_change_while_columns_come_and_go() {
    const CHANGES: i64 = 150;
    let folder = tempfile::tempdir().unwrap();
    let (server, mut conn) = start(&folder.path().join("data"));
    let total: i64 = conn.query_first("SELECT SUM(n) FROM item").unwrap().unwrap();
    let writers: Vec<_> = (0..3)
        .map(|writer| {
            let mut conn = connect(&server);
            std::thread::spawn(move || {
                let write = conn.prep("UPDATE item SET n = n + 1 WHERE id = ?").unwrap();
                for at in 0..CHANGES {
                    conn.exec_drop(&write, (1 + (at * 7 + writer * 331) % 1000,)).unwrap();
                    if at % 10 == 0 {
                        conn.query_drop("BEGIN").unwrap();
                        conn.query_drop("INSERT INTO item (n, c) VALUES (0, 'new')").unwrap();
                        let id: u64 = conn.last_insert_id();
                        conn.query_drop(format!("DELETE FROM item WHERE id = {id}")).unwrap();
                        conn.query_drop(if at % 20 == 0 { "ROLLBACK" } else { "COMMIT" }).unwrap();
                    }
                }
            })
        })
        .collect();
    let mut changes = 0;
    while !writers.iter().all(std::thread::JoinHandle::is_finished) {
        for actions in [
            "ADD COLUMN a BIGINT NOT NULL DEFAULT 9 FIRST",
            "MODIFY c VARCHAR(20) FIRST, ADD COLUMN b TEXT",
            "DROP COLUMN a, MODIFY c VARCHAR(20) AFTER n",
            "DROP COLUMN b",
        ] {
            conn.query_drop(format!("ALTER TABLE item {actions}, ALGORITHM = INSTANT")).unwrap();
            changes += 1;
        }
    }
    for writer in writers {
        writer.join().unwrap();
    }
    assert!(changes >= 4, "{changes} changes while others wrote");
    let found: (i64, i64) = conn.query_first("SELECT SUM(n), COUNT(*) FROM item").unwrap().unwrap();
    assert_eq!(found, (total + 3 * CHANGES, 1000));
    assert_eq!(content(&mut conn).3, "OK");
}

/// Both tables by some statements, in both protocols.
fn numbers(conn: &mut Conn, table: &str) -> Vec<Vec<Vec<mysql::Value>>> {
    let selects = [
        "SELECT * FROM @ ORDER BY id",
        "SELECT id, t, z FROM @ WHERE t < 0 OR i = 2147483647 ORDER BY id",
        "SELECT COUNT(t), MIN(t), MAX(s), SUM(m), SUM(i), MIN(z) FROM @",
        "SELECT t, COUNT(*) FROM @ GROUP BY t ORDER BY t",
        "SELECT i, z + 1, -m, CAST(t AS CHAR) FROM @ ORDER BY i DESC, id LIMIT 40",
        "SELECT COUNT(*) FROM @ AS a JOIN @ AS b ON a.id = b.m WHERE a.i > b.t",
    ];
    let mut answers = Vec::new();
    for select in selects.map(|select| select.replace('@', table)) {
        let (by_text, prepared): (Vec<mysql::Row>, _) =
            (conn.query(&select).unwrap(), conn.exec(&select, ()).unwrap());
        for rows in [by_text, prepared] {
            answers.push(rows.into_iter().map(mysql::Row::unwrap).collect());
        }
    }
    answers
}

#[test]
fn integers_get_wider_at_once_and_hold_what_copied_ones_do() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let (mut server, mut conn) = start(&datadir);
    conn.query_drop(
        "CREATE TABLE narrow (id INT AUTO_INCREMENT PRIMARY KEY, t TINYINT, s SMALLINT UNSIGNED NOT NULL, \
         m MEDIUMINT NOT NULL DEFAULT -3, i INT, z INT(5) ZEROFILL, c VARCHAR(200))",
    )
    .unwrap();
    conn.query_drop(
        "INSERT INTO narrow VALUES (1, -128, 0, -8388608, -2147483648, 0, ''), \
         (2, 127, 65535, 8388607, 2147483647, 4294967295, 'x'), (3, NULL, 1, 0, NULL, NULL, NULL)",
    )
    .unwrap();
    for _ in 0..9 {
        conn.query_drop(
            "INSERT INTO narrow (t, s, m, i, z, c) \
             SELECT t, s, id, i - m, z, REPEAT('c', id % 90) FROM narrow WHERE i - m < 2147483647 OR i IS NULL",
        )
        .unwrap();
    }
    conn.query_drop("CREATE TABLE copied LIKE narrow").unwrap();
    conn.query_drop("INSERT INTO copied SELECT * FROM narrow").unwrap();
    let wider = "MODIFY t BIGINT, MODIFY s MEDIUMINT UNSIGNED NOT NULL, MODIFY m INT NOT NULL DEFAULT -3 FIRST, \
                 MODIFY i BIGINT AFTER c, MODIFY z BIGINT(7) ZEROFILL";
    for (table, algorithm) in [("narrow", "INSTANT"), ("copied", "COPY")] {
        conn.query_drop(format!("ALTER TABLE {table} {wider}, ALGORITHM = {algorithm}")).unwrap();
    }
    assert!(numbers(&mut conn, "narrow") == numbers(&mut conn, "copied"));
    for table in ["narrow", "copied"] {
        for change in [
            "INSERT INTO @ (id, t, s, i) VALUES (100000, -9000000000, 70000, 9000000000)",
            "UPDATE @ SET t = t * 1000, i = i - 5000000000 WHERE id % 50 = 1",
            "DELETE FROM @ WHERE id % 7 = 0",
        ] {
            conn.query_drop(change.replace('@', table)).unwrap();
        }
    }
    let answers = numbers(&mut conn, "narrow");
    assert!(answers == numbers(&mut conn, "copied"));
    // A second time, so that rows of two older types are there.
    conn.query_drop("ALTER TABLE narrow MODIFY s INT UNSIGNED NOT NULL, ALGORITHM = INSTANT").unwrap();
    drop(conn);
    server.shut_down().unwrap();
    server = TestServer::start_on(Path::new(BINARY), &datadir, &[]).unwrap();
    conn = connect(&server);
    assert!(numbers(&mut conn, "narrow") == answers);
    let check: (String, String, String, String) = conn.query_first("CHECK TABLE narrow").unwrap().unwrap();
    assert_eq!(check.3, "OK");
    conn.query_drop("ALTER TABLE narrow ADD KEY (s)").unwrap();
    for (change, why) in [
        ("MODIFY id BIGINT AUTO_INCREMENT", "a column of the key"),
        ("MODIFY s BIGINT UNSIGNED NOT NULL", "a column of another key"),
        ("MODIFY s BIGINT NOT NULL", "another sign"),
        ("MODIFY i INT", "less room"),
        ("MODIFY m BIGINT", "NULL where there was none is no obstacle"),
    ] {
        let altered = conn.query_drop(format!("ALTER TABLE narrow {change}, ALGORITHM = INSTANT"));
        assert_eq!(altered.is_ok(), change == "MODIFY m BIGINT", "{why}");
    }
}
