//! Memory that clients make the server hold, counted by the allocator of this process, in which the server
//! runs.
//!
//! The tests run one after the other: they share the counter. They take minutes where code is not optimised.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::{Engine, EngineConfig};
use env::{RealDisk, SimDisk};
use server::account::MemoryStore;
use server::connection;
use server::options::{Invocation, Options};
use server::plan_cache::{Environment, PlanCache};
use server::server::Server;
use server::server_log::ServerLog;
use server::stream::Stream;
use tempfile::TempDir;

const MIB: isize = 1 << 20;

/// Bytes allocated, and the most there have been since the last reset.
static LIVE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

/// The system's allocator, counting.
struct Counting;

fn count(bytes: isize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: every call is passed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are the callee's demands.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // Both blocks are there while the contents move.
        count(bytes as isize);
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, bytes) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn live() -> isize {
    LIVE.load(Ordering::Relaxed)
}

/// What `work` gives, and the most bytes it had allocated at once.
fn peak<T>(work: impl FnOnce() -> T) -> (T, isize) {
    let before = live();
    PEAK.store(before, Ordering::Relaxed);
    let done = work();
    (done, PEAK.load(Ordering::Relaxed) - before)
}

/// A server whose files are in memory, and counted.
fn start() -> Arc<Server> {
    start_on(EngineConfig::new(Arc::new(SimDisk::new()), "data"))
}

/// A server whose files are in a folder, so that the counter has what the server holds and nothing else.
fn start_on_files() -> (Arc<Server>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let server = start_on(EngineConfig::new(Arc::new(RealDisk), folder.path().join("data")));
    (server, folder)
}

fn start_on(config: EngineConfig) -> Arc<Server> {
    let Ok(Invocation::Serve(options)) = Options::parse(&[]) else {
        panic!("no options are right");
    };
    let config = EngineConfig { pool_bytes: 64 << 20, background: false, ..config };
    let engine = Engine::open(config).unwrap();
    Server::new(*options, engine, Box::new(MemoryStore), ServerLog::to_stderr()).unwrap()
}

/// A client of a server in this process.
struct Client {
    socket: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Client {
    fn connect(server: &Arc<Server>, user: &str) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let server = Arc::clone(server);
        let builder = std::thread::Builder::new().stack_size(connection::STACK_BYTES);
        let thread = builder.spawn(move || connection::serve(&server, Stream::from(ours))).unwrap();
        let mut client = Client { socket: theirs, thread: Some(thread) };
        client.read().unwrap();
        // PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH and the usual ones.
        let mut hello = 0x0008_a205u32.to_le_bytes().to_vec();
        hello.extend((1u32 << 30).to_le_bytes());
        hello.push(45);
        hello.extend([0; 23]);
        hello.extend(user.as_bytes());
        hello.extend([0, 0]);
        hello.extend(b"mysql_native_password\0");
        client.send(1, &hello);
        let mut answer = client.read().unwrap();
        while answer[0] == 0xfe || answer[0] == 1 {
            if answer[0] == 0xfe {
                client.send(3, b"");
            }
            answer = client.read().unwrap();
        }
        assert_eq!(answer[0], 0, "{user} was not let in: {}", String::from_utf8_lossy(&answer));
        client
    }

    fn send(&mut self, sequence: u8, body: &[u8]) {
        let mut header = (body.len() as u32).to_le_bytes();
        header[3] = sequence;
        self.socket.write_all(&[&header[..], body].concat()).unwrap();
    }

    /// One packet; `None` at the end of the connection.
    fn read(&mut self) -> Option<Vec<u8>> {
        let mut header = [0; 4];
        self.socket.read_exact(&mut header).ok()?;
        header[3] = 0;
        let mut body = vec![0; u32::from_le_bytes(header) as usize];
        self.socket.read_exact(&mut body).ok()?;
        Some(body)
    }

    /// Number of rows, and the first column of the last one; the number of an error.
    fn query(&mut self, sql: &str) -> Result<(usize, String), u16> {
        self.send(0, &[b"\x03", sql.as_bytes()].concat());
        self.answer()
    }

    fn answer(&mut self) -> Result<(usize, String), u16> {
        let first = self.read().unwrap();
        let error = |packet: &[u8]| u16::from_le_bytes([packet[1], packet[2]]);
        match first[0] {
            0xff => return Err(error(&first)),
            0 => return Ok((0, String::new())),
            columns => (0..=columns).for_each(|_| drop(self.read().unwrap())),
        }
        let (mut rows, mut last) = (0, String::new());
        loop {
            let packet = self.read().unwrap();
            match packet[0] {
                0xff => return Err(error(&packet)),
                0xfe if packet.len() < 9 => return Ok((rows, last)),
                0xfb => {}
                _ => {
                    let text = &packet[1..packet.len().min(1 + usize::from(packet[0]))];
                    last = String::from_utf8_lossy(text).into_owned();
                }
            }
            rows += 1;
        }
    }

    fn run(&mut self, sql: &str) -> String {
        let done = self.query(sql);
        done.unwrap_or_else(|code| panic!("error {code}: {}", &sql[..sql.len().min(200)])).1
    }

    /// A value of SHOW STATUS or SHOW VARIABLES.
    fn shown(&mut self, statement: &str) -> u64 {
        self.send(0, &[b"\x03", statement.as_bytes()].concat());
        let columns = self.read().unwrap()[0];
        (0..=columns).for_each(|_| drop(self.read().unwrap()));
        let row = self.read().unwrap();
        self.read().unwrap();
        let value = &row[2 + usize::from(row[0])..];
        String::from_utf8_lossy(value).parse().unwrap()
    }

    fn leave(mut self) {
        self.send(0, b"\x01");
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A table of 220 rows, whose square is 48,400.
fn fill(client: &mut Client) {
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client.run("CREATE TABLE n (id INT PRIMARY KEY, s LONGBLOB)");
    let rows: Vec<String> = (0..220).map(|i| format!("({i}, 'row {i}')")).collect();
    client.run(&format!("INSERT INTO n VALUES {}", rows.join(",")));
}

/// A value of 8,000 bytes for each pair of rows of `n a, n b`.
const LONG: &str = "CAST(CONCAT(a.id, '-', b.id, REPEAT('x', 8000)) AS BINARY)";

/// Statements that hold up to 390 MB, each by another operator.
fn holders() -> Vec<(&'static str, String)> {
    let rows = format!("(SELECT {LONG} p FROM n a, n b)");
    let texts = vec!["v"; 100].join(", ");
    vec![
        ("sort", format!("SELECT COUNT(*) FROM (SELECT {LONG} p FROM n a, n b ORDER BY p LIMIT 90000) d")),
        ("distinct", format!("SELECT COUNT(*) FROM (SELECT DISTINCT {LONG} p FROM n a, n b) d")),
        ("groups", format!("SELECT COUNT(*) FROM (SELECT {LONG} p, SUM(a.id) FROM n a, n b GROUP BY p) d")),
        ("extremes", "SELECT COUNT(*) FROM (SELECT a.id, b.id x, MAX(REPEAT('x', 8000)) m FROM n a, n b GROUP BY a.id, b.id) d".to_owned()),
        ("count distinct", format!("SELECT COUNT(DISTINCT {LONG}) FROM n a, n b")),
        ("group_concat", format!("SELECT LENGTH(GROUP_CONCAT({LONG} SEPARATOR '')) FROM n a, n b")),
        ("group_concat by order", format!("SELECT LENGTH(GROUP_CONCAT({LONG} ORDER BY b.id DESC)) FROM n a, n b")),
        ("union", format!("SELECT COUNT(*) FROM (SELECT {LONG} p FROM n a, n b UNION SELECT {LONG} FROM n a, n b) d")),
        ("in", format!("SELECT COUNT(*) FROM n WHERE s IN (SELECT {LONG} FROM n a, n b)")),
        ("hash join", format!("SELECT COUNT(*) FROM {rows} x JOIN {rows} y ON x.p = y.p")),
        ("kept rows", format!("SELECT COUNT(*) FROM n c LEFT JOIN {rows} d ON LENGTH(d.p) < c.id")),
        ("values", "SELECT LENGTH(CONCAT(REPEAT('a', 20000000), UPPER(REPEAT('b', 20000000))))".to_owned()),
        ("update", "UPDATE n SET s = REPEAT('y', 500000)".to_owned()),
        ("insert", "INSERT INTO n SELECT id + 1000, REPEAT('z', 500000) FROM n WHERE id < 220".to_owned()),
        // Their undo is 18 MB each.
        ("update of rows in pages", "UPDATE filled SET s = REPEAT('f', 4000)".to_owned()),
        ("insert that updates", "INSERT INTO filled SELECT a.id * 30 + b.id, '' FROM n a, n b WHERE a.id < 150 AND b.id < 30 \
            ON DUPLICATE KEY UPDATE s = REPEAT('g', 4000)".to_owned()),
        ("delete", "DELETE FROM filled".to_owned()),
        ("variable", "SET @long = REPEAT('v', 30000000)".to_owned()),
        // 12 MB of texts of one leaf.
        ("texts in keys", format!("SELECT {texts} FROM starts FORCE INDEX (v) LIMIT 160")),
        ("texts in keys by columns", format!("SELECT {texts}, v + 1 FROM starts FORCE INDEX (v) LIMIT 160")),
        ("texts in keys that pass", format!("SELECT {texts} FROM starts FORCE INDEX (v) WHERE LENGTH(v) > 1 LIMIT 160")),
    ]
}

#[test]
fn every_operator_stays_within_its_limit() {
    let _alone = alone();
    let (server, _folder) = start_on_files();
    let mut client = Client::connect(&server, "root");
    fill(&mut client);
    client.run("SET GLOBAL max_allowed_packet = 67108864");
    client.run("SET group_concat_max_len = 1000000000");
    client.run("CREATE TABLE filled (id INT PRIMARY KEY, s VARCHAR(5000))");
    client.run(
        "INSERT INTO filled SELECT a.id * 30 + b.id, REPEAT('e', 4000) FROM n a, n b WHERE a.id < 150 AND b.id < 30",
    );
    client.run("CREATE TABLE starts (id INT PRIMARY KEY, v VARCHAR(760), KEY v (v))");
    client.run(
        "INSERT INTO starts SELECT a.id * 30 + b.id, CONCAT(REPEAT('x', 750), LPAD(a.id * 30 + b.id, 6, '0')) \
         FROM n a, n b WHERE a.id < 12 AND b.id < 30",
    );
    // Undo has a limit of its own, beyond which it goes to a file.
    client.run("SET GLOBAL ratchet_undo_memory_size = 4194304");
    for limit_mib in [2, 16, 256] {
        client.run(&format!("SET ratchet_statement_memory_limit = {}", limit_mib << 20));
        for (name, sql) in holders() {
            client.run("START TRANSACTION");
            let (answer, most) = peak(|| client.query(&sql));
            assert!(
                matches!(answer, Ok(_) | Err(1038 | 1041)),
                "{name} at {limit_mib} MiB ends with {answer:?}"
            );
            let allowed = limit_mib * MIB + limit_mib * MIB / 10 + 8 * MIB;
            assert!(most <= allowed, "{name} at {limit_mib} MiB held {} KiB", most >> 10);
            client.run("ROLLBACK");
            client.run("SET @long = NULL");
            assert_eq!(client.run("SELECT 1"), "1", "the session goes on");
        }
    }
    client.leave();
    assert_eq!(server.memory.charged(), server.plans.bytes(), "what was charged is released");
}

#[test]
fn repetitions_leave_the_heap_flat() {
    let _alone = alone();
    let server = start();
    let mut client = Client::connect(&server, "root");
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client.run("CREATE TABLE t (id INT PRIMARY KEY, k INT, s VARCHAR(40))");
    client.run("INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 2, 'c')");
    let round = |client: &mut Client, i: usize| {
        client.run(
            "SELECT k, COUNT(DISTINCT s), GROUP_CONCAT(s ORDER BY s DESC) FROM t \
             WHERE k IN (SELECT k FROM t u WHERE u.id < t.id + 10) GROUP BY k ORDER BY 3",
        );
        if i.is_multiple_of(10) {
            client.run(&format!("SET @v{} = REPEAT('x', {})", i % 7, i % 100));
            client.run("PREPARE p FROM 'SELECT ? + 1'");
            client.run("EXECUTE p USING @v0");
            client.run("DEALLOCATE PREPARE p");
            assert_eq!(client.query("SELECT nothing FROM t"), Err(1054));
            assert_eq!(client.query("SELECT (SELECT id FROM t)"), Err(1242));
        }
    };
    (0..500).for_each(|i| round(&mut client, i));
    let before = live();
    (0..10_000).for_each(|i| round(&mut client, i));
    let grown = live() - before;
    assert!(grown < MIB, "10,000 repetitions left {grown} bytes");
    client.leave();
}

#[test]
fn memory_is_back_once_the_client_is_gone() {
    let _alone = alone();
    let server = start();
    let mut root = Client::connect(&server, "root");
    fill(&mut root);
    let before = live();
    let mut client = Client::connect(&server, "root");
    client.run("USE d");
    client.run("SET group_concat_max_len = 1000000000");
    assert_eq!(
        client.query(&format!("SELECT LENGTH(GROUP_CONCAT({LONG} ORDER BY 1)) FROM n a, n b, n c")),
        Err(1041)
    );
    // The session keeps as much as one statement may have, and no more.
    client.run("SET ratchet_statement_memory_limit = 100000000");
    let kept = (0..100).find(|i| client.query(&format!("SET @v{i} = REPEAT('x', 5000000)")).is_err());
    assert!(matches!(kept, Some(15..20)), "{kept:?} variables of 5 MB in 100 MB");
    for i in 0..3000 {
        client.run(&format!("SET div_precision_increment = {}", i % 31));
        client.run(&format!("SET sql_mode = '{}'", if i % 2 == 0 { "ANSI_QUOTES" } else { "" }));
        client.run(&format!("SELECT id + {i} AS c{i} FROM n WHERE id = {i}"));
    }
    let prepared = (0..100_000).find(|i| client.query(&format!("PREPARE s{i} FROM 'SELECT {i}'")).is_err());
    assert!(prepared.is_some(), "prepared statements end at a limit");
    client.leave();
    let left = live() - before;
    assert!(left < 64 * MIB, "{left} bytes are left");
    let plans = root.shown("SHOW STATUS LIKE 'Ratchet_plan_cache_bytes'");
    assert!(plans <= 64 << 20, "{plans} bytes of plans");
    root.run("SET GLOBAL ratchet_plan_cache_size = 1048576");
    (0..2000).for_each(|i| drop(root.run(&format!("SELECT id AS d{i} FROM n WHERE id = 1"))));
    let plans = root.shown("SHOW STATUS LIKE 'Ratchet_plan_cache_bytes'");
    assert!((1..=1 << 20).contains(&plans), "{plans} bytes of plans in 1 MiB");
    root.leave();
}

#[test]
fn a_connection_beyond_its_limit_is_closed_and_others_go_on() {
    let _alone = alone();
    let server = start();
    let mut root = Client::connect(&server, "root");
    fill(&mut root);
    root.run("CREATE USER u@localhost IDENTIFIED WITH mysql_native_password");
    root.run("GRANT SELECT ON d.* TO u@localhost");
    root.run("SET GLOBAL connection_memory_limit = 4194304");
    let sorts = format!("SELECT COUNT(*) FROM (SELECT {LONG} p FROM d.n a, d.n b ORDER BY p LIMIT 9000) d");
    let mut client = Client::connect(&server, "u");
    assert_eq!(client.query("SET connection_memory_limit = 100000000"), Err(1227));
    assert_eq!(client.query("SET ratchet_statement_memory_limit = 2000000000"), Err(1227));
    assert_eq!(client.query(&sorts), Err(4082));
    assert!(client.read().is_none(), "the connection is closed");
    assert_eq!(root.run(&sorts), "9000", "who has CONNECTION_ADMIN is exempt");
    root.run("SET GLOBAL connection_memory_limit = DEFAULT");
    root.run("SET GLOBAL global_connection_memory_tracking = ON");
    root.run("SET GLOBAL global_connection_memory_limit = 16777216");
    let mut client = Client::connect(&server, "u");
    assert_eq!(client.query(&sorts), Err(4081));
    assert!(client.read().is_none(), "the connection is closed");
    root.run("SET GLOBAL global_connection_memory_limit = DEFAULT");
    root.run("SET GLOBAL ratchet_memory_limit = 33554432");
    let mut client = Client::connect(&server, "u");
    assert_eq!(client.query(&sorts), Err(1041), "the server's limit");
    assert_eq!(client.run("SELECT 1"), "1", "the session goes on");
    assert!(root.shown("SHOW STATUS LIKE 'Ratchet_memory_charged'") < 32 << 20);
    assert!(root.shown("SHOW GLOBAL STATUS LIKE 'Global_connection_memory'") < 16 << 20);
    client.leave();
    root.leave();
}

#[test]
fn rows_that_fan_out_do_not_gather_in_the_servers_buffer() {
    let _alone = alone();
    let server = start();
    let mut client = Client::connect(&server, "root");
    fill(&mut client);
    let two = "(SELECT id, 1 AS one FROM n UNION SELECT id, 1 FROM n)";
    let kept = format!("SELECT REPEAT('x', 1000) FROM {two} a, {two} b");
    let hashed = format!("SELECT REPEAT('x', 1000) FROM {two} a JOIN {two} b ON a.one = b.one");
    for sql in [kept, hashed] {
        let (answer, most) = peak(|| client.query(&sql));
        assert_eq!(answer.unwrap().0, 220 * 220);
        assert!(most < 4 * MIB, "{} KiB for rows of 46 MiB", most >> 10);
    }
    client.leave();
}

#[test]
fn a_correlated_subquery_reads_what_does_not_change_once_and_releases_the_rest() {
    let _alone = alone();
    let server = start();
    let mut client = Client::connect(&server, "root");
    fill(&mut client);
    client.run("SET ratchet_statement_memory_limit = 4194304");
    let started = Instant::now();
    let list = format!("(SELECT {LONG} FROM n a, n b WHERE a.id < 2 AND b.id < 40)");
    let nested = format!(
        "SELECT COUNT(*) FROM n o WHERE EXISTS (SELECT 1 FROM n i WHERE i.id = o.id AND i.s NOT IN {list})"
    );
    assert_eq!(client.run(&nested), "220");
    let changing = "SELECT COUNT(*) FROM n o WHERE 0 < (SELECT COUNT(DISTINCT REPEAT(i.id, 2000)) FROM n i WHERE i.id <= o.id)";
    assert_eq!(client.run(changing), "220");
    assert!(started.elapsed() < Duration::from_secs(60));
    client.leave();
}

#[test]
fn numbers_of_environments_are_bounded_and_never_given_twice() {
    let _alone = alone();
    let cache = PlanCache::new(0, &Arc::default());
    let environment = |i: u64| Environment {
        database: Some(format!("db{i}").into()),
        modes: types::SqlModes::default(),
        lex_mode: sql::LexMode::NONE,
        collation: types::CollationId::UTF8MB4_0900_AI_CI,
        div_precision_increment: i,
        range_bytes_max: 0,
        auto_is_null: false,
        select_limit: u64::MAX,
        safe_updates: false,
        dive_points_max: 0,
        reads_lock: sql::bind::ReadsLock::default(),
    };
    let mut seen = std::collections::HashSet::new();
    assert!((0..20_000).all(|i| seen.insert(cache.environment(environment(i)))));
    assert!(cache.environments() <= 4096);
    assert_eq!(cache.environment(environment(19_999)), cache.environment(environment(19_999)));
    assert!(!seen.insert(cache.environment(environment(19_999))));
}

#[test]
fn plans_of_long_texts_are_charged_before_they_are_made() {
    let _alone = alone();
    let server = start();
    let mut client = Client::connect(&server, "root");
    fill(&mut client);
    client.run("CREATE TABLE t (k INT)");
    let many = |item: &str| vec![item; 200_000].join(",");
    let texts = [
        format!("SELECT COUNT(*) FROM n WHERE id IN ({})", many("1")),
        format!("INSERT INTO t VALUES (1+0),{}", many("(1)")),
        format!("SELECT COUNT(*) FROM n WHERE id = 1 {}", "OR id = 2 ".repeat(80_000)),
    ];
    for sql in &texts {
        let before = live();
        client.run("SET ratchet_statement_memory_limit = DEFAULT");
        assert!(client.query(sql).is_ok(), "the usual limit suffices for {}", &sql[..40]);
        client.run(&format!("SET ratchet_statement_memory_limit = {}", 32 << 20));
        let (answer, most) = peak(|| client.query(sql));
        assert_eq!(answer, Err(1041), "{}", &sql[..40]);
        assert!(most < 44 * MIB, "{} MiB for {}", most >> 20, &sql[..40]);
        // Rows stay in the tables.
        let rows = if sql.starts_with("INSERT") { 64 * MIB } else { 0 };
        assert!(live() - before < 4 * MIB + rows, "{} KiB are left", (live() - before) >> 10);
    }
    client.leave();
}

#[test]
fn rows_of_literals_need_no_memory_but_their_text() {
    let _alone = alone();
    let (server, _folder) = start_on_files();
    let mut client = Client::connect(&server, "root");
    fill(&mut client);
    client.run("CREATE TABLE t (k INT, v VARCHAR(40))");
    client.run("SET GLOBAL max_allowed_packet = 67108864");
    client.run(&format!("SET ratchet_statement_memory_limit = {}", 4 << 20));
    let rows = |pairs: usize| {
        let pair = r"(-12,'it''s a text of\nsome bytes'),(NULL,'and another')";
        format!("INSERT INTO t VALUES {}", vec![pair; pairs].join(","))
    };
    let (count, parts) = (100_000, 100);
    let part = rows(count / parts);
    client.run("BEGIN");
    let ((), in_parts) = peak(|| (0..parts).for_each(|_| assert!(client.query(&part).is_ok())));
    client.run("COMMIT");
    client.run("TRUNCATE t");
    let sql = rows(count);
    let (answer, most) = peak(|| client.query(&sql));
    assert!(answer.is_ok(), "{answer:?}");
    // This client and the connection have two copies of the text each.
    let texts = 4 * sql.len() as isize;
    assert!(most < in_parts + texts + MIB, "{} KiB, in parts {}", most >> 10, in_parts >> 10);
    let expected = "200000 -1200000 it's a text of\nsome bytes";
    assert_eq!(client.run("SELECT CONCAT_WS(' ', COUNT(*), SUM(k), MAX(v)) FROM t"), expected);
    client.leave();
}

#[test]
fn a_syntax_tree_grows_no_further_than_its_statement_may() {
    let _alone = alone();
    let server = start();
    let mut client = Client::connect(&server, "root");
    fill(&mut client);
    client.run("CREATE TABLE t (k INT)");
    client.run("SET GLOBAL max_allowed_packet = 67108864");
    client.run(&format!("SET ratchet_statement_memory_limit = {}", 32 << 20));
    const BYTES: usize = 16_000_000;
    let many = |item: &str| vec![item; BYTES / (item.len() + 1)].join(",");
    let texts = [
        format!("SELECT COUNT(*) FROM n WHERE id IN ({})", many("1")),
        format!("INSERT INTO t VALUES (1+0),{}", many("(1)")),
        format!("INSERT INTO t VALUES ({})", many("1")),
        format!("INSERT INTO t VALUES ({0}),({0})", &many("1")[..BYTES / 2 - 1]),
        format!("SELECT COALESCE({})", many("f()")),
        format!("PREPARE p FROM 'SELECT COALESCE({})'", many("f()")),
    ];
    for sql in &texts {
        let (answer, most) = peak(|| client.query(sql));
        assert_eq!(answer, Err(1041), "{}", &sql[..40]);
        // This client and the connection have two copies of the text each.
        let allowed = (32 + 4 + 8) * MIB + 4 * sql.len() as isize;
        assert!(most < allowed, "{} MiB for {}", most >> 20, &sql[..40]);
        assert_eq!(client.run("SELECT 1"), "1", "the session goes on");
    }
    client.leave();
}
