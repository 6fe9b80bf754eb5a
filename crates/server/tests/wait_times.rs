//! How long threads have slept: who waits is counted, by what for and how long; who does not is not.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::thread;
use std::time::Duration;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use testkit::server::TestServer;

const PICOS_PER_MILLI: u64 = 1_000_000_000;

fn connect(server: &TestServer) -> Conn {
    let options =
        OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(server.port).user(Some("root"));
    Conn::new(options).unwrap()
}

fn start() -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = connect(&server);
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (a INT PRIMARY KEY, b INT)").unwrap();
    conn.query_drop("INSERT INTO d.t VALUES (1, 1)").unwrap();
    (server, conn)
}

/// Count, sum, shortest, mean and longest of an event's waits, times in picoseconds.
fn summary(conn: &mut Conn, event: &str) -> (u64, u64, u64, u64, u64) {
    let sql = format!(
        "SELECT COUNT_STAR, SUM_TIMER_WAIT, MIN_TIMER_WAIT, AVG_TIMER_WAIT, MAX_TIMER_WAIT \
         FROM performance_schema.events_waits_summary_global_by_event_name WHERE EVENT_NAME LIKE '%/{event}'"
    );
    conn.query_first(sql).unwrap().unwrap()
}

/// Waits of an event that were at least as long as a bucket that begins at `ms` or below it.
fn long_waits(conn: &mut Conn, event: &str, ms: u64) -> u64 {
    let sql = format!(
        "SELECT SUM(COUNT_BUCKET) FROM performance_schema.events_waits_histogram_by_event_name \
         WHERE EVENT_NAME LIKE '%/{event}' AND BUCKET_TIMER_HIGH > {}",
        ms * PICOS_PER_MILLI
    );
    conn.query_first(sql).unwrap().unwrap()
}

/// Lets `waiting` wait for what `holding` has until `release` has been run, 300 ms later.
fn wait_for(server: &TestServer, holding: &mut Conn, release: &str, waiting: &'static str) {
    let mut other = connect(server);
    let waits = thread::spawn(move || other.query_drop(waiting));
    thread::sleep(Duration::from_millis(300));
    holding.query_drop(release).unwrap();
    waits.join().unwrap().unwrap();
}

#[test]
fn a_wait_for_a_row_is_counted_with_its_length() {
    let (server, mut conn) = start();
    assert_eq!(summary(&mut conn, "row"), (0, 0, 0, 0, 0));
    let mut holding = connect(&server);
    holding.query_drop("BEGIN").unwrap();
    holding.query_drop("UPDATE d.t SET b = 2").unwrap();
    wait_for(&server, &mut holding, "COMMIT", "UPDATE d.t SET b = 3");
    let (count, sum, shortest, mean, longest) = summary(&mut conn, "row");
    assert_eq!(count, 1);
    assert!(longest > 100 * PICOS_PER_MILLI && longest < 60_000 * PICOS_PER_MILLI, "{longest}");
    assert_eq!((sum, shortest, mean), (longest, longest, longest));
    assert_eq!(long_waits(&mut conn, "row", 100), 1);
    assert_eq!(long_waits(&mut conn, "row", 60_000), 0);
    assert_eq!(summary(&mut conn, "table_use").0, 0);
}

#[test]
fn who_changes_a_table_waits_for_those_who_use_it_and_they_for_the_change() {
    let (server, mut conn) = start();
    let mut holding = connect(&server);
    holding.query_drop("BEGIN").unwrap();
    holding.query_drop("UPDATE d.t SET b = 2").unwrap();
    wait_for(&server, &mut holding, "COMMIT", "DROP TABLE d.t");
    assert_eq!((long_waits(&mut conn, "table_change", 100), summary(&mut conn, "table_use").0), (1, 0));
    conn.query_drop("CREATE TABLE d.t (a INT)").unwrap();
    holding.query_drop("LOCK TABLES d.t WRITE").unwrap();
    wait_for(&server, &mut holding, "UNLOCK TABLES", "SELECT * FROM d.t");
    assert_eq!((long_waits(&mut conn, "table_change", 100), long_waits(&mut conn, "table_use", 100)), (1, 1));
}

#[test]
fn the_buckets_of_an_event_are_its_waits() {
    let (_server, mut conn) = start();
    let rows: Vec<(String, u64, u64, u64, u64, u64)> = conn
        .query("SELECT * FROM performance_schema.events_waits_histogram_by_event_name ORDER BY 1, 2")
        .unwrap();
    let (mut high_before, mut below) = (0, 0);
    for (event, bucket, low, high, count, with_lower) in rows {
        if bucket == 0 {
            (high_before, below) = (0, 0);
        }
        assert_eq!(low, high_before, "{event} {bucket}");
        below += count;
        assert_eq!(with_lower, below, "{event} {bucket}");
        high_before = high;
    }
}
