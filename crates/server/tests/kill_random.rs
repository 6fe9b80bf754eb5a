//! KILL QUERY at a random moment of statements of every kind: the statement stops its work in time and undoes
//! it, nothing is left behind, and its connection stays usable.

#![allow(clippy::unwrap_used, reason = "test code")]
#![allow(clippy::print_stdout, reason = "a failed test prints its seed")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use base::prng::Prng;
use mysql::prelude::Queryable;
use mysql::{Conn, LocalInfileHandler, Row};
use testkit::runner::Target;
use testkit::server::{TestServer, of_build};

// Statements without optimisation are some twenty times slower: fewer of them, over fewer rows, with more
// time to end.
fn statement_count() -> usize {
    of_build(120, 500)
}
fn row_count() -> u32 {
    of_build(6_000, 30_000)
}
/// Upper bound on the time that a statement works on after the request to end it, as the server measures it;
/// its rollback comes on top.
fn end_time() -> Duration {
    Duration::from_millis(of_build(500, 100))
}
/// A statement that ends late is killed again, up to so often: other work of the machine may have delayed it.
const TRIES: usize = 5;
/// Latest moment of a kill, after the statement's beginning.
fn delay_max() -> Duration {
    Duration::from_millis(of_build(120, 60))
}
/// No statement lasts longer, rollback included.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most that the server's heap may grow by from a third of the statements on, by its allocator's count.
const GROWTH_BYTES_MAX: u64 = 64 << 20;
const INTERRUPTED: u16 = 1317;

/// What becomes of a statement that is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Undo {
    /// It changes nothing.
    Nothing,
    /// It runs in a transaction that is rolled back.
    Transaction,
    /// This statement takes back what it did if it came to its end.
    Statement(&'static str),
}

struct Kind {
    sql: String,
    undo: Undo,
}

fn numbers(count: u32) -> String {
    let arms: Vec<String> = (1..=count).map(|n| format!("SELECT {n} AS n")).collect();
    arms.join(" UNION ALL ")
}

/// Statements that read tables.
fn queries() -> Vec<String> {
    [
        "SELECT COUNT(*) FROM big a, big b WHERE a.v + b.v < 0",
        "SELECT COUNT(*) FROM big a JOIN big b ON a.v = b.v + 1 - 1",
        "SELECT COUNT(*) FROM big a JOIN big b ON a.k = b.k JOIN big c ON b.k = c.k",
        "SELECT a.id FROM big a LEFT JOIN big b ON b.id > a.id AND b.c = 'none' ORDER BY a.c",
        "SELECT * FROM big ORDER BY c DESC, id",
        "SELECT c, id FROM big ORDER BY RAND() LIMIT 5000",
        "SELECT c, COUNT(*), SUM(v) FROM big GROUP BY c, id ORDER BY 2",
        "SELECT COUNT(DISTINCT c, id), GROUP_CONCAT(c ORDER BY c DESC) FROM big",
        "SELECT DISTINCT c, id FROM big a WHERE v = 0",
        "SELECT a.id, (SELECT COUNT(*) FROM big b WHERE b.v = a.v) FROM big a",
        "SELECT id FROM big a WHERE EXISTS (SELECT 1 FROM big b WHERE b.id > a.id AND b.c = 'none')",
        "SELECT id FROM big WHERE c NOT IN (SELECT CONCAT(c, id) FROM big)",
        "SELECT c FROM big UNION SELECT CONCAT(c, id) FROM big UNION ALL SELECT c FROM big",
        "SELECT * FROM (SELECT c, MAX(id) m FROM big GROUP BY c, id) d JOIN big b ON b.c = d.c ORDER BY d.m",
        "WITH w AS (SELECT c, id FROM big) SELECT COUNT(*) FROM w x JOIN w y ON x.c = y.c AND x.id <> y.id",
        "SELECT COUNT(*) FROM big a, big b WHERE CONCAT(a.c, b.c) LIKE '%no_such%text%'",
        "SELECT * FROM big",
        "SELECT id FROM big WHERE SHA2(REPEAT(c, 200), 512) = 'none' OR MD5(REPEAT(c, 500)) = 'none'",
        "SELECT id FROM big WHERE SLEEP(0.01)",
        "SELECT a.id FROM big a, big b FOR UPDATE",
        "SELECT SUM(a.v), MAX(b.id) FROM big a, big b, big c",
    ]
    .map(str::to_owned)
    .into()
}

/// Statements that touch no rows of tables.
fn constants() -> Vec<String> {
    let n = numbers(50);
    let text = "REPEAT('ab', 8000000)";
    let short = format!("REPEAT('ab', {})", of_build(100_000, 1_000_000));
    vec![
        format!("SELECT COUNT(*) FROM ({n}) a, ({n}) b, ({n}) c, ({n}) d, ({n}) e"),
        format!("SELECT a.n FROM ({n}) a, ({n}) b, ({n}) c, ({n}) d ORDER BY a.n * b.n, c.n, d.n"),
        format!("SELECT a.n + b.n, COUNT(*) FROM ({n}) a, ({n}) b, ({n}) c, ({n}) d GROUP BY 1"),
        format!("SELECT DISTINCT a.n, b.n, c.n, d.n FROM ({n}) a, ({n}) b, ({n}) c, ({n}) d"),
        format!(
            "SELECT COUNT(*) FROM ({n}) a LEFT JOIN ({n}) b ON a.n < b.n LEFT JOIN ({n}) c ON b.n = c.n, ({n}) d, ({n}) e"
        ),
        format!("SELECT {text} LIKE CONCAT('%', REPEAT('ab', 2000), 'c%')"),
        format!("SELECT LOCATE(CONCAT(REPEAT('ab', 2000), 'c'), {text})"),
        format!("SELECT REPLACE(REPLACE({short}, 'a', 'cd'), 'b', 'a') = UPPER({short}) FROM ({n}) a"),
        format!("SELECT HEX(REVERSE({short})) = LOWER({short}) FROM ({n}) a"),
        format!("SELECT SHA2({short}, 256), MD5({short}), CRC32({short}) FROM ({n}) a"),
        format!("SELECT 1 FROM ({n}) a WHERE BENCHMARK(1000000, SHA1(n)) > 0"),
        format!("SELECT SLEEP(0.02) FROM ({n}) a, ({n}) b"),
        "SELECT GET_LOCK('held', 100) FROM big".to_owned(),
    ]
}

/// Statements over one long value, and long statements.
fn long_values() -> Vec<String> {
    let ascii = format!("REPEAT('abcdefghij', {})", of_build(400_000, 1_000_000));
    let mixed = format!("REPEAT('a\u{e9}\u{20ac} ', {})", of_build(400_000, 1_000_000));
    let digits = format!("REPEAT('1234567890', {})", of_build(400_000, 1_000_000));
    let list = |item: &str, count: usize| vec![item; count].join(",");
    let calls = [
        "REVERSE(m)",
        "UPPER(m) = LOWER(m)",
        "SUBSTRING(m, 100000, 5) = RIGHT(m, 7)",
        "INSERT(m, 100000, 7, a)",
        "REPLACE(m, ' ', 'xy')",
        "SUBSTRING_INDEX(m, ' ', -300000)",
        "TRIM(TRAILING 'abcdefghij' FROM a)",
        "LPAD(a, LENGTH(a) + 1000000, 'xyz')",
        "QUOTE(m)",
        "UNHEX(HEX(a))",
        "FROM_BASE64(TO_BASE64(a))",
        "MD5(a)",
        "SHA2(a, 512)",
        "SOUNDEX(a)",
        "LOCATE('J A', a)",
        "LOCATE('x', m)",
        "FIND_IN_SET('x', REPLACE(a, 'j', ','))",
        "CONVERT(m USING latin1)",
        "STRCMP(CONCAT(m, 'a'), CONCAT(UPPER(m), 'B'))",
        "GREATEST(m, UPPER(m))",
        "m IN ('x', UPPER(m), a)",
        "m LIKE '%aa%'",
        "d + 0",
        "CAST(d AS SIGNED)",
        "BIT_COUNT(~CAST(a AS BINARY))",
        "DATE_FORMAT('2024-02-03', REPLACE(a, 'a', '%d'))",
    ];
    let values = format!("SELECT {ascii} a, {mixed} m, {digits} d UNION ALL SELECT 'a', 'm', 'd'");
    let mut statements: Vec<String> =
        calls.iter().map(|call| format!("SELECT LENGTH({call}) FROM ({values}) r")).collect();
    for query in ["SELECT LENGTH(MAX(m)) FROM", "SELECT LENGTH(a) FROM"] {
        statements.push(format!("{query} ({values}) r"));
    }
    let longer = format!(
        "SELECT REPEAT('abcdefghij', {n}) a, REPEAT('a\u{e9}\u{20ac} ', {n}) m UNION ALL SELECT 'a', 'm'",
        n = of_build(400_000, 6_000_000)
    );
    for query in [
        "SELECT COUNT(DISTINCT m, a) FROM",
        "SELECT LENGTH(GROUP_CONCAT(m ORDER BY a DESC, m)) FROM",
        "SELECT DISTINCT m, a, LENGTH(m) FROM",
    ] {
        statements.push(format!("{query} ({longer}) r"));
    }
    statements.push(format!("SELECT LENGTH(a) FROM ({longer}) r ORDER BY m DESC, a"));
    statements.push(format!("SELECT 1 IN ({})", list("1 + 1", of_build(20_000, 100_000))));
    statements
}

/// Statements that wait for locks that another connection has.
fn waits() -> Vec<(String, Undo)> {
    let nothing = |sql: &str| (sql.to_owned(), Undo::Nothing);
    vec![
        nothing("SELECT GET_LOCK('held', 100), 1 FROM big"),
        nothing("SELECT * FROM held WHERE id = 1 FOR SHARE"),
        nothing("UPDATE held SET v = 2"),
        nothing("DELETE FROM held WHERE id = 1"),
        nothing("INSERT INTO held VALUES (1, 1)"),
        nothing("DROP TABLE held"),
        nothing("TRUNCATE TABLE held"),
        nothing("ALTER TABLE held ADD INDEX (v)"),
        nothing("RENAME TABLE held TO let_go"),
        nothing("LOCK TABLES held WRITE"),
        nothing("CHECK TABLE held"),
    ]
}

/// Statements that change rows.
fn changes() -> Vec<(String, Undo)> {
    let values: Vec<String> = (0..row_count() / 2).map(|id| format!("({id}, 'row {id}', {id})")).collect();
    let values = values.join(",");
    let in_trx = |sql: &str| (sql.to_owned(), Undo::Transaction);
    let empty = Undo::Statement("TRUNCATE TABLE sink");
    let no_lob = Undo::Statement("TRUNCATE TABLE lob");
    vec![
        in_trx("UPDATE big SET v = v + 1, c = CONCAT(c, 'x')"),
        in_trx("UPDATE big SET v = v + 1 ORDER BY c DESC"),
        in_trx("UPDATE big a JOIN big b ON a.id = b.id SET a.v = b.v + 1"),
        in_trx("DELETE FROM big"),
        in_trx("DELETE a FROM big a JOIN big b ON a.k = b.k"),
        in_trx("INSERT INTO big (c, v, k) SELECT c, v, k FROM big"),
        in_trx("REPLACE INTO big SELECT id, CONCAT(c, 'y'), v, k FROM big"),
        in_trx("INSERT INTO big SELECT * FROM big ON DUPLICATE KEY UPDATE v = 5"),
        ("UPDATE big SET v = 1 - v".to_owned(), Undo::Nothing),
        ("INSERT INTO sink SELECT id, c, v FROM big".to_owned(), empty),
        (format!("INSERT INTO sink VALUES {values}"), empty),
        (format!("REPLACE INTO sink VALUES {values}"), empty),
        (format!("INSERT INTO lob SELECT 1, REPEAT('abcdefghij', {})", of_build(400_000, 1_000_000)), no_lob),
        ("LOAD DATA LOCAL INFILE 'line' INTO TABLE lob (v) SET id = 1".to_owned(), no_lob),
        ("LOAD DATA LOCAL INFILE 'rows' INTO TABLE sink".to_owned(), empty),
        ("LOAD DATA LOCAL INFILE 'rows' INTO TABLE sink (id, @c, v) SET c = SHA1(@c)".to_owned(), empty),
    ]
}

/// Statements about definitions and the server.
fn definitions() -> Vec<(String, Undo)> {
    let nothing = |sql: &str| (sql.to_owned(), Undo::Nothing);
    vec![
        ("CREATE INDEX made ON big (c, v)".to_owned(), Undo::Statement("DROP INDEX made ON big")),
        ("ALTER TABLE big ADD UNIQUE made (c, id)".to_owned(), Undo::Statement("DROP INDEX made ON big")),
        nothing("CHECK TABLE big"),
        nothing("CHECK TABLE big EXTENDED"),
        nothing("ANALYZE TABLE big"),
        nothing("SHOW TABLES"),
        nothing("SHOW TABLE STATUS"),
        nothing("SHOW VARIABLES"),
        nothing("SHOW STATUS"),
        nothing("SHOW ENGINE INNODB STATUS"),
    ]
}

fn kinds() -> Vec<Kind> {
    let read_only =
        queries().into_iter().chain(constants()).chain(long_values()).map(|sql| (sql, Undo::Nothing));
    let others = waits().into_iter().chain(changes()).chain(definitions());
    read_only.chain(others).map(|(sql, undo)| Kind { sql, undo }).collect()
}

/// What came of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It came to its end before the kill or in spite of it.
    Finished,
    /// It failed, and continued for so long after the kill.
    Killed(Duration),
}

struct House {
    target: Target,
    server: TestServer,
    watcher: Conn,
    /// The connection that is killed.
    conn: Conn,
    /// Has the locks that others wait for.
    _holder: Conn,
}

impl House {
    fn open() -> Self {
        let arguments = ["--local-infile=1", "--innodb-buffer-pool-size=128M"];
        let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &arguments).unwrap();
        let target = Target { port: server.port, user: "root".to_owned() };
        let mut watcher = target.connect(None).unwrap();
        watcher.query_drop("CREATE DATABASE d").unwrap();
        watcher.query_drop("USE d").unwrap();
        for sql in [
            "CREATE TABLE big (id INT PRIMARY KEY AUTO_INCREMENT, c VARCHAR(100), v INT, k INT, KEY (k))",
            "CREATE TABLE sink (id INT PRIMARY KEY, c VARCHAR(100), v INT, KEY (c))",
            "CREATE TABLE held (id INT PRIMARY KEY, v INT)",
            "CREATE TABLE lob (id INT PRIMARY KEY, v LONGTEXT)",
            "INSERT INTO held VALUES (1, 1)",
        ] {
            watcher.query_drop(sql).unwrap();
        }
        let rows: Vec<String> =
            (1..=row_count()).map(|i| format!("('row {}', 0, {})", i % 97, i % 501)).collect();
        for some in rows.chunks(5_000) {
            watcher.query_drop(format!("INSERT INTO big (c, v, k) VALUES {}", some.join(","))).unwrap();
        }
        for i in 0..60 {
            watcher.query_drop(format!("CREATE TABLE t{i} (a INT PRIMARY KEY, b INT, KEY (b))")).unwrap();
        }
        let mut holder = target.connect(Some("d")).unwrap();
        for sql in ["DO GET_LOCK('held', 0)", "BEGIN", "UPDATE held SET v = 3"] {
            holder.query_drop(sql).unwrap();
        }
        let mut conn = target.connect(Some("d")).unwrap();
        conn.set_local_infile_handler(Some(LocalInfileHandler::new(|name, out| {
            if name == b"line" {
                // One line.
                return (1..=row_count() * 20).try_for_each(|id| write!(out, "name {id} "));
            }
            (1..=row_count()).try_for_each(|id| writeln!(out, "{id}\tname {id}\t{id}"))
        })));
        House { target, server, watcher, conn, _holder: holder }
    }

    /// The killed statements so far, and the microseconds that they took to stop.
    fn counts(&mut self) -> (u64, u64) {
        let rows: Vec<(String, u64)> = self.watcher.query("SHOW STATUS LIKE 'Ratchet_kill%'").unwrap();
        let get = |name: &str| rows.iter().find(|(known, _)| known == name).unwrap().1;
        (get("Ratchet_killed_statements"), get("Ratchet_kill_delay_us"))
    }

    /// Runs `sql` and kills it once it has run for `delay`.
    fn kill(&mut self, sql: &str, delay: Duration) -> End {
        let before = self.counts();
        let House { conn, watcher, .. } = self;
        let id = conn.connection_id();
        let (sender, receiver) = mpsc::channel();
        let result = std::thread::scope(|scope| {
            scope.spawn(move || {
                let result = conn.query_drop(sql);
                sender.send(result).unwrap();
            });
            let deadline = Instant::now() + PATIENCE;
            loop {
                if let Ok(result) = receiver.try_recv() {
                    return result;
                }
                let list: Vec<Row> = watcher.query("SHOW PROCESSLIST").unwrap();
                let command = |row: &Row| row.get::<String, _>("Command").unwrap();
                if list.iter().any(|row| row.get::<u32, _>("Id") == Some(id) && command(row) == "Query") {
                    break;
                }
                assert!(Instant::now() < deadline, "it never began: {sql:.200}");
            }
            if let Ok(result) = receiver.recv_timeout(delay) {
                return result;
            }
            watcher.query_drop(format!("KILL QUERY {id}")).unwrap();
            match receiver.recv_timeout(PATIENCE) {
                Ok(result) => result,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("it did not end: {sql:.200}")
                }
            }
        });
        let after = self.counts();
        match result {
            Ok(()) => End::Finished,
            Err(mysql::Error::MySqlError(error)) if error.code == INTERRUPTED => {
                assert_eq!(after.0, before.0 + 1, "{sql:.200}");
                End::Killed(Duration::from_micros(after.1 - before.1))
            }
            Err(error) => panic!("{error}: {sql:.200}"),
        }
    }

    /// Kills a statement of `kind`, again if it ends late; whether the kill met it.
    fn check(&mut self, kind: &Kind, delay: Duration) -> bool {
        let mut times = Vec::new();
        while times.len() < TRIES {
            if kind.undo == Undo::Transaction {
                self.conn.query_drop("BEGIN").unwrap();
            }
            let end = self.kill(&kind.sql, delay);
            assert_eq!(self.conn.query_first::<u32, _>("SELECT 7").unwrap(), Some(7), "{:.200}", kind.sql);
            match kind.undo {
                Undo::Transaction => self.conn.query_drop("ROLLBACK").unwrap(),
                Undo::Statement(undo) if end == End::Finished => self.conn.query_drop(undo).unwrap(),
                _ => {}
            }
            match end {
                End::Finished => return !times.is_empty(),
                End::Killed(time) if time <= end_time() => return true,
                End::Killed(time) => times.push(time),
            }
        }
        panic!("{:.200} worked on for {times:?} after {delay:?}", kind.sql);
    }

    /// What killed statements did is undone, and they hold nothing.
    fn expect_nothing_left(&mut self) {
        let tmp = self.server.datadir.join("tmp");
        let left: Vec<_> = fs::read_dir(tmp).map_or_else(|_| Vec::new(), Iterator::collect);
        assert!(left.is_empty(), "{left:?}");
        let mut other = self.target.connect(Some("d")).unwrap();
        other.query_drop("SET innodb_lock_wait_timeout = 2, lock_wait_timeout = 2").unwrap();
        let sums = "SELECT COUNT(*), MIN(v) = MAX(v), MIN(id), SUM(LENGTH(c)) FROM big FOR UPDATE";
        let expected_bytes: usize = (1..=row_count()).map(|i| format!("row {}", i % 97).len()).sum();
        let expected = (row_count(), true, 1, expected_bytes);
        assert_eq!(other.query_first::<(u32, bool, u32, usize), _>(sums).unwrap(), Some(expected));
        assert_eq!(other.query_first::<u32, _>("SELECT COUNT(*) FROM sink FOR UPDATE").unwrap(), Some(0));
        assert_eq!(other.query_first::<u32, _>("SELECT COUNT(*) FROM lob FOR UPDATE").unwrap(), Some(0));
        let id = self.conn.connection_id();
        let list: Vec<Row> = other.query("SHOW PROCESSLIST").unwrap();
        let own = list.iter().find(|row| row.get::<u32, _>("Id") == Some(id)).unwrap();
        assert_eq!(own.get::<String, _>("Command").unwrap(), "Sleep");
        assert_eq!(own.get::<String, _>("State").unwrap_or_default(), "");
    }

    fn heap_bytes(&mut self) -> u64 {
        let sql = "SHOW GLOBAL STATUS LIKE 'Ratchet_heap_bytes'";
        self.watcher.query_first::<(String, u64), _>(sql).unwrap().unwrap().1
    }

    /// Undo is freed by purge, in the background: waits until the heap has at most `bytes`.
    fn expect_heap_below(&mut self, bytes: u64) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let heap = self.heap_bytes();
            if heap <= bytes {
                return;
            }
            assert!(Instant::now() < deadline, "the heap has {heap} bytes, expected at most {bytes}");
        }
    }
}

#[test]
fn statements_of_every_kind_end_when_they_are_killed() {
    let seed = std::env::var("KILL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        u64::from(now.subsec_nanos())
    });
    println!("KILL_SEED={seed}");
    let mut prng = Prng::new(seed);
    let kinds = kinds();
    let mut house = House::open();
    let (mut met, mut heap) = (0, 0);
    for i in 0..statement_count() {
        // Every kind comes first, then any.
        let kind = &kinds[if i < kinds.len() { i } else { prng.below(kinds.len() as u64) as usize }];
        let delay = Duration::from_micros(prng.below(delay_max().as_micros() as u64));
        met += usize::from(house.check(kind, delay));
        if i == statement_count() / 3 {
            house.expect_nothing_left();
            heap = house.heap_bytes();
        }
    }
    house.expect_nothing_left();
    house.expect_heap_below(heap + GROWTH_BYTES_MAX);
    let checked: Row = house.watcher.query_first("CHECK TABLE big, sink, lob").unwrap().unwrap();
    assert_eq!(checked.get::<String, _>("Msg_text").unwrap(), "OK");
    assert!(
        met * 2 >= statement_count(),
        "only {met} of {} statements were met by their kill",
        statement_count()
    );
}
