//! The allocator's count of what the server process holds, and what the process gives back to the system.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use mysql::Conn;
use mysql::prelude::Queryable;

use support::{TestServer, eventually};

const MIB: u64 = 1 << 20;
/// Bytes of the user variable under test.
const VARIABLE: u64 = 32 * MIB;

fn connect(server: &TestServer) -> Conn {
    let options = mysql::OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(server.port)
        .user(Some("root"))
        .prefer_socket(false);
    Conn::new(options).unwrap()
}

fn heap(conn: &mut Conn) -> u64 {
    let row: (String, u64) =
        conn.query_first("SHOW GLOBAL STATUS LIKE 'Ratchet_heap_bytes'").unwrap().unwrap();
    row.1
}

/// Resident memory of the server, without pages of files.
fn resident(server: &TestServer) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn the_heap_grows_by_what_a_session_keeps_and_shrinks_by_it() {
    let server = TestServer::start(&["--max-allowed-packet=64M"]);
    let mut watcher = connect(&server);
    let mut client = connect(&server);
    let before = heap(&mut watcher);
    // The ring of the redo log is 64 MiB of it.
    assert!((MIB..128 * MIB).contains(&before), "an idle server holds {before} bytes");
    client.query_drop(format!("SET @kept = REPEAT('x', {VARIABLE})")).unwrap();
    let grown = heap(&mut watcher) - before;
    assert!((VARIABLE..VARIABLE + 4 * MIB).contains(&grown), "a variable of {VARIABLE} bytes adds {grown}");
    let kept = resident(&server);
    client.query_drop("SET @kept = NULL").unwrap();
    let left = heap(&mut watcher).saturating_sub(before);
    assert!(left < 4 * MIB, "{left} bytes are left of the variable");
    eventually("the return of its memory to the system", || resident(&server) < kept - VARIABLE * 3 / 4);
    client.query_drop(format!("SET @kept = REPEAT('x', {VARIABLE})")).unwrap();
    drop(client);
    eventually("the end of the session's memory", || heap(&mut watcher) < before + 4 * MIB);
}
