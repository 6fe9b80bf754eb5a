//! Random transactions at each isolation level, and whether what they were answered is what the level
//! permits.
//!
//! The server is in this process, over a disk in memory; each session has a socket and a thread, as a
//! client's has.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "test code that tells what it did")]

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use engine::{Engine, EngineConfig};
use env::SimDisk;
use server::account::MemoryStore;
use server::connection;
use server::options::{Invocation, Options};
use server::server::Server;
use server::server_log::ServerLog;
use server::stream::Stream;
use testkit::elle::anomaly::Level;
use testkit::elle::client::Client;
use testkit::elle::history::Objects;
use testkit::elle::judge::{forbidden, judge};
use testkit::elle::workload::{Plan, run};

/// Transactions of each level with each kind of objects; without optimisation only a taste.
fn transactions() -> u64 {
    if testkit::IS_OPTIMISED { 50_000 } else { 2_000 }
}
const SESSIONS: u64 = 8;
const DATADIR: &str = "/data";

fn open() -> Arc<Server> {
    let config =
        EngineConfig { pool_bytes: 32 << 20, ..EngineConfig::new(Arc::new(SimDisk::new()), DATADIR) };
    let engine = Engine::open(config).unwrap();
    let Ok(Invocation::Serve(options)) = Options::parse(&[format!("--datadir={DATADIR}")]) else {
        panic!("no options to serve with");
    };
    Server::new(*options, engine, Box::new(MemoryStore), ServerLog::to_stderr()).unwrap()
}

fn connect(server: &Arc<Server>) -> Result<Client, String> {
    let (ours, theirs) = UnixStream::pair().map_err(|e| e.to_string())?;
    let server = Arc::clone(server);
    let builder = thread::Builder::new().stack_size(connection::STACK_BYTES);
    builder.spawn(move || connection::serve(&server, Stream::from(ours))).map_err(|e| e.to_string())?;
    Client::login(theirs)
}

fn test(objects: Objects, level: Level) {
    let server = open();
    let plan = Plan { objects, level, transactions: transactions(), sessions: SESSIONS, seed: 1 };
    let begun = Instant::now();
    let (history, counts) = run(plan, || connect(&server)).unwrap();
    let ran = begun.elapsed();
    let judging = Instant::now();
    let report = judge(&history, level);
    println!("{objects:?}, {level:?}: {counts:?}, run {ran:?}, judged {:?}", judging.elapsed());
    for (anomaly, (count, first)) in &report {
        println!("  {anomaly}: {count}, as {first:.200}");
    }
    let wrong = forbidden(&report, level);
    assert!(wrong.is_empty(), "{objects:?} at {level:?}: {}", wrong.join("\n"));
    let missing: Vec<_> = level.shows().iter().filter(|shown| !report.contains_key(shown)).collect();
    assert!(missing.is_empty(), "never came to {missing:?}");
    assert!(counts.deadlocks > 0 && counts.rollbacks > 0, "{counts:?}");
}

#[test]
fn read_uncommitted() {
    test(Objects::Lists, Level::ReadUncommitted);
    test(Objects::Registers, Level::ReadUncommitted);
}

#[test]
fn read_committed() {
    test(Objects::Lists, Level::ReadCommitted);
    test(Objects::Registers, Level::ReadCommitted);
}

#[test]
fn repeatable_read() {
    test(Objects::Lists, Level::RepeatableRead);
    test(Objects::Registers, Level::RepeatableRead);
}

#[test]
fn repeatable_read_with_snapshot_isolation() {
    test(Objects::Lists, Level::Snapshot);
    test(Objects::Registers, Level::Snapshot);
}

#[test]
fn serializable() {
    test(Objects::Lists, Level::Serializable);
    test(Objects::Registers, Level::Serializable);
}
