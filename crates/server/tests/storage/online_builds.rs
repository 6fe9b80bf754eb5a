//! Indexes that are built while clients write, as the clients meet it.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::{TestServer, of_build};

pub(super) struct Shop {
    server: TestServer,
    pub(super) conn: Conn,
}

impl Shop {
    /// A server with a table of `1 << bits` rows, and one that has to do with nothing.
    pub(super) fn open(bits: u32) -> Self {
        let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
        let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
        conn.query_drop("CREATE DATABASE shop; USE shop").unwrap();
        conn.query_drop("CREATE TABLE other (id INT PRIMARY KEY)").unwrap();
        conn.query_drop("CREATE TABLE t (id INT PRIMARY KEY, k INT, c VARCHAR(100), x TEXT, KEY k (k))")
            .unwrap();
        conn.query_drop("INSERT INTO t VALUES (0, 0, 'c0', 'x0')").unwrap();
        for bit in 0..bits {
            let by = 1 << bit;
            let more = format!("INSERT INTO t SELECT id + {by}, k + {by}, CONCAT('c', id + {by}), x FROM t");
            conn.query_drop(more).unwrap();
        }
        Shop { server, conn }
    }

    pub(super) fn connect(&self) -> Conn {
        Target { port: self.server.port, user: "root".to_owned() }.connect(Some("shop")).unwrap()
    }

    /// A connection in a transaction that reads the table: no index is put in place before it ends.
    pub(super) fn reader(&self) -> Conn {
        let mut reader = self.connect();
        reader.query_drop("BEGIN").unwrap();
        reader.query_drop("SELECT COUNT(*) FROM t WHERE id = 1").unwrap();
        reader
    }

    /// A connection in a transaction that uses the other table: it need not wait behind who waits for the
    /// reader.
    pub(super) fn writer(&self) -> Conn {
        let mut writer = self.connect();
        writer.query_drop("BEGIN").unwrap();
        writer.query_drop("SELECT COUNT(*) FROM other").unwrap();
        writer
    }

    /// Whether the connection `id` waits for a table's metadata lock.
    fn waits_for_table(&mut self, id: u32) -> bool {
        let states: Vec<(u32, String)> = self
            .conn
            .query_map("SHOW PROCESSLIST", |row: mysql::Row| {
                (row.get("Id").unwrap(), row.get("State").unwrap())
            })
            .unwrap();
        states.contains(&(id, "Waiting for table metadata lock".to_owned()))
    }

    /// Runs `sql` beside, up to where it waits for readers; returns its connection's id.
    pub(super) fn alter(&mut self, sql: &str) -> (u32, JoinHandle<Result<(), String>>) {
        let mut altering = self.connect();
        altering.query_drop("SET lock_wait_timeout = 60").unwrap();
        let (id, sql) = (altering.connection_id(), sql.to_owned());
        let thread = thread::spawn(move || altering.query_drop(sql).map_err(|error| error.to_string()));
        while !self.waits_for_table(id) {
            assert!(!thread.is_finished(), "it does not wait for the reader");
            thread::yield_now();
        }
        (id, thread)
    }

    /// Changes rows of a table of `rows` rows until `sql` ends, and returns how often it did: an UPDATE, a
    /// DELETE and an INSERT each. `sql` does not end before it has noted thirty of them.
    pub(super) fn change_rows_during(&mut self, sql: &'static str, rows: u64) -> u64 {
        let (mut altering, mut reader) = (self.connect(), Some(self.reader()));
        let altered = thread::spawn(move || altering.query_drop(sql));
        let mut n = 0;
        while !altered.is_finished() {
            n += 1;
            let id = (n * 7919) % rows;
            for sql in [
                format!("UPDATE t SET c = 'new {n}', x = REPEAT('{n}', 20) WHERE id = {id}"),
                format!("DELETE FROM t WHERE id = {}", id + 1),
                format!("INSERT INTO t VALUES ({}, {n}, 'long {n}', REPEAT('long', 5000))", rows + n),
            ] {
                self.conn.query_drop(sql).unwrap();
            }
            if self.status("Ratchet_index_changes_noted") >= 30 {
                reader = None;
            }
        }
        assert!(reader.is_none(), "{sql}: it ended before its reader");
        altered.join().unwrap().unwrap();
        let (noted, applied) =
            (self.status("Ratchet_index_changes_noted"), self.status("Ratchet_index_changes_applied"));
        assert!(noted >= 30 && noted == applied, "{sql}: {noted} changes noted, {applied} applied");
        n
    }

    pub(super) fn status(&mut self, name: &str) -> u64 {
        let query = format!("SHOW GLOBAL STATUS LIKE '{name}'");
        self.conn.query_first::<(String, u64), _>(query).unwrap().unwrap().1
    }

    /// That the table is sound, and what keys it has.
    pub(super) fn keys(&mut self) -> Vec<String> {
        let report: (String, String, String, String) =
            self.conn.query_first("CHECK TABLE t EXTENDED").unwrap().unwrap();
        assert_eq!(report.3, "OK");
        let keys: Vec<mysql::Row> = self.conn.query("SHOW INDEX FROM t WHERE Seq_in_index = 1").unwrap();
        keys.iter().map(|key| key.get("Key_name").unwrap()).collect()
    }
}

/// Rows of a table, as a power of two, whose indexes take a while to build.
pub(super) fn long_bits() -> u32 {
    of_build(15, 18)
}

#[test]
fn statements_that_change_rows_end_while_an_index_is_built() {
    let mut shop = Shop::open(long_bits());
    shop.change_rows_during(
        "ALTER TABLE t ADD UNIQUE c (c), ADD INDEX kx (k, x(9)), ALGORITHM = INPLACE, LOCK = NONE",
        1 << long_bits(),
    );
    assert!(shop.status("Ratchet_index_keys_sorted") > 0);
    assert_eq!(shop.keys(), ["PRIMARY", "c", "k", "kx"]);
    for index in ["c", "kx"] {
        let query =
            |index| format!("SELECT COUNT(*) FROM t FORCE INDEX ({index}) WHERE c >= '' OR c IS NULL");
        let by: Option<u64> = shop.conn.query_first(query(index)).unwrap();
        assert_eq!(by, shop.conn.query_first(query("PRIMARY")).unwrap(), "{index}");
    }
}

#[test]
fn a_build_rests_as_it_is_told_to() {
    const SLOWEST: &str = "SET GLOBAL ratchet_ddl_throttle = 1";
    let mut shop = Shop::open(16);
    let rested = |shop: &mut Shop| shop.status("Ratchet_ddl_rested_microseconds");
    let start = |shop: &Shop, sql: &'static str| {
        let mut altering = shop.connect();
        let id = altering.connection_id();
        (id, thread::spawn(move || altering.query_drop(sql).map_err(|error| error.to_string())))
    };
    for sql in ["ALTER TABLE t ADD INDEX c (c)", "ALTER TABLE t FORCE"] {
        shop.conn.query_drop(sql).unwrap();
    }
    assert_eq!(rested(&mut shop), 0, "no statement changes rows beside it");
    // Changes rows all the time.
    shop.conn.query_drop("SET GLOBAL innodb_flush_log_at_trx_commit = 2").unwrap();
    let (ended, mut changing) = (Arc::new(AtomicBool::new(false)), shop.connect());
    let writer = thread::spawn({
        let ended = Arc::clone(&ended);
        move || {
            while !ended.load(Ordering::Relaxed) {
                changing.query_drop("UPDATE t SET k = k + 1 WHERE id = 6").unwrap();
            }
        }
    });
    for sql in ["ALTER TABLE t ADD INDEX d (c)", "ALTER TABLE t FORCE"] {
        shop.conn.query_drop(SLOWEST).unwrap();
        let before = rested(&mut shop);
        // Of a tenth of a second of work it would rest ten seconds. Statements go on, and KILL ends a rest.
        let (id, altered) = start(&shop, sql);
        while rested(&mut shop) == before {
            assert!(!altered.is_finished(), "{sql}: it did not rest");
            shop.conn.query_drop("UPDATE t SET k = k + 1 WHERE id = 5").unwrap();
        }
        shop.conn.query_drop(format!("KILL QUERY {id}")).unwrap();
        let error = altered.join().unwrap().unwrap_err();
        assert!(error.contains("1317"), "{sql}: {error}");
        // A new setting ends it, too.
        let before = rested(&mut shop);
        let (_, altered) = start(&shop, sql);
        while rested(&mut shop) == before {
            assert!(!altered.is_finished(), "{sql}: it did not rest");
            shop.conn.query_drop("UPDATE t SET k = k - 1 WHERE id = 5").unwrap();
        }
        shop.conn.query_drop("SET GLOBAL ratchet_ddl_throttle = 100").unwrap();
        assert_eq!(altered.join().unwrap(), Ok(()), "{sql}");
    }
    ended.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    assert_eq!(shop.keys(), ["PRIMARY", "k", "c", "d"]);
    // Where writers are kept out, they are not to wait for rests.
    shop.conn.query_drop(SLOWEST).unwrap();
    let before = rested(&mut shop);
    shop.conn.query_drop("ALTER TABLE t ADD INDEX e (c), LOCK = SHARED").unwrap();
    assert_eq!(rested(&mut shop), before);
    let warned = "SET GLOBAL ratchet_ddl_throttle = 0";
    shop.conn.query_drop(warned).unwrap();
    assert_eq!(shop.conn.query_first("SELECT @@ratchet_ddl_throttle").unwrap(), Some(1));
}

#[test]
fn of_keys_that_rows_get_meanwhile_those_that_stay_count() {
    let mut shop = Shop::open(8);
    let (mut reader, mut writer) = (shop.reader(), shop.writer());
    let (_, altered) = shop.alter("CREATE UNIQUE INDEX c ON t (c)");
    for sql in ["UPDATE t SET c = 'same'", "UPDATE t SET c = CONCAT('again ', id)", "COMMIT"] {
        writer.query_drop(sql).unwrap();
    }
    reader.query_drop("COMMIT").unwrap();
    assert_eq!(altered.join().unwrap(), Ok(()));
    assert_eq!(shop.keys(), ["PRIMARY", "c", "k"]);
    shop.conn.query_drop("DROP INDEX c ON t").unwrap();

    let (mut reader, mut writer) = (shop.reader(), shop.writer());
    let (_, altered) = shop.alter("ALTER TABLE t ADD UNIQUE u (c(3), k), ADD KEY x (x(3))");
    for sql in [
        "UPDATE t SET c = 'abcdef', k = 77 WHERE id = 3",
        "INSERT INTO t VALUES (999, 77, 'ABC', '')",
        "COMMIT",
    ] {
        writer.query_drop(sql).unwrap();
    }
    reader.query_drop("COMMIT").unwrap();
    let error = altered.join().unwrap().unwrap_err();
    assert!(error.contains("ERROR 1062 (23000): Duplicate entry 'ABC-77' for key 't.u'"), "{error}");
    assert_eq!(shop.keys(), ["PRIMARY", "k"]);
}

#[test]
fn a_build_that_ends_early_leaves_the_table_and_its_writers_alone() {
    let mut shop = Shop::open(10);
    shop.conn.query_drop("SET GLOBAL innodb_online_alter_log_max_size = 65536").unwrap();
    let (mut reader, mut writer) = (shop.reader(), shop.writer());
    let (_, altered) = shop.alter("ALTER TABLE t ADD INDEX c (c)");
    for n in 0..4 {
        writer.query_drop(format!("UPDATE t SET c = CONCAT(REPEAT('{n}', 50), id)")).unwrap();
    }
    writer.query_drop("COMMIT").unwrap();
    reader.query_drop("COMMIT").unwrap();
    let error = altered.join().unwrap().unwrap_err();
    let text = "ERROR 1799 (HY000): Creating index 'c' required more than 'innodb_online_alter_log_max_size' bytes \
                of modification log. Please try again.";
    assert!(error.contains(text), "{error}");
    assert_eq!(shop.keys(), ["PRIMARY", "k"]);

    let mut reader = shop.reader();
    let (id, altered) = shop.alter("ALTER TABLE t ADD INDEX c (c)");
    shop.conn.query_drop(format!("KILL QUERY {id}")).unwrap();
    let error = altered.join().unwrap().unwrap_err();
    assert!(error.contains("ERROR 1317 (70100)"), "{error}");
    let mut impatient = shop.connect();
    impatient.query_drop("SET lock_wait_timeout = 1").unwrap();
    let error = impatient.query_drop("ALTER TABLE t ADD INDEX c (c)").unwrap_err().to_string();
    assert!(error.contains("ERROR 1205 (HY000)"), "{error}");
    shop.conn.query_drop("UPDATE t SET c = 'after' WHERE id = 3").unwrap();
    reader.query_drop("COMMIT").unwrap();
    assert_eq!(shop.keys(), ["PRIMARY", "k"]);
    impatient.query_drop("ALTER TABLE t ADD INDEX c (c)").unwrap();
    assert_eq!(shop.keys(), ["PRIMARY", "k", "c"]);
}

#[test]
fn writers_wait_where_the_statement_asks_for_it() {
    let mut shop = Shop::open(8);
    let (mut reader, mut writer) = (shop.reader(), shop.writer());
    writer.query_drop("SET lock_wait_timeout = 1").unwrap();
    let (_, altered) = shop.alter("ALTER TABLE t ADD INDEX c (c), LOCK = SHARED");
    let error = writer.query_drop("UPDATE t SET k = 1 WHERE id = 1").unwrap_err().to_string();
    assert!(error.contains("ERROR 1205 (HY000)"), "{error}");
    reader.query_drop("COMMIT").unwrap();
    assert_eq!(altered.join().unwrap(), Ok(()));
    writer.query_drop("UPDATE t SET k = 1 WHERE id = 1").unwrap();
}

#[test]
fn statements_go_on_while_definition_changes_wait_for_an_idle_transaction() {
    let mut shop = Shop::open(8);
    let mut reader = shop.reader();
    let changes = ["ALTER TABLE t ADD INDEX c (c)", "ALTER TABLE t DROP INDEX k", "DROP TABLE t"];
    let altered = changes.map(|sql| shop.alter(sql).1);
    let mut writer = shop.connect();
    // Each statement begins a transaction, and so is a newcomer.
    writer.query_drop("SET lock_wait_timeout = 2").unwrap();
    for n in 0..30 {
        writer.query_drop(format!("UPDATE t SET k = {n} WHERE id = {n}")).unwrap();
        let k: Option<i32> = writer.query_first(format!("SELECT k FROM t WHERE id = {n}")).unwrap();
        assert_eq!(k, Some(n));
    }
    reader.query_drop("COMMIT").unwrap();
    for (altered, sql) in altered.into_iter().zip(changes) {
        let result = altered.join().unwrap();
        let is_gone = result.as_ref().is_err_and(|error| error.contains("ERROR 1146 (42S02)"));
        assert!(result.is_ok() || is_gone && !sql.starts_with("DROP"), "{sql}: {result:?}");
    }
}
