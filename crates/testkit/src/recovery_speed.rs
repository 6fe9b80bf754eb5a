//! How fast a server applies its log after a kill.
//!
//! Clients update rows of a table that fits the buffer pool, drawn at random, until the log has the size
//! wanted; the server is killed, and started on copies of what it left. The figures are those that it logs
//! itself. The log is in the kernel's page cache, as it was written just before.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use base::prng::Prng;
use mysql::prelude::Queryable;

use crate::runner::Target;
use crate::server::TestServer;

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan<'p> {
    /// The server.
    pub binary: &'p Path,
    /// A new folder for data directories.
    pub folder: &'p Path,
    /// Log to apply.
    pub megabytes: u64,
    /// Starts that are timed.
    pub starts: u64,
    /// Rows of the table, 220 bytes each.
    pub rows: u64,
}

/// Enough for the table, and for a log without a checkpoint.
const OPTIONS: [&str; 3] =
    ["--innodb-buffer-pool-size=1G", "--innodb-redo-log-capacity=16G", "--innodb-flush-log-at-trx-commit=2"];
const CLIENTS: u64 = 2;
/// Rows of one INSERT.
const INSERT_ROWS: u64 = 1000;
/// Rows of one UPDATE.
const UPDATE_ROWS: u64 = 40;

/// Runs the plan. Returns what the server logged about recovery, of every start.
///
/// # Errors
/// A server that does not start, or does not do what it is asked.
pub fn run(plan: &Plan<'_>) -> Result<Vec<Vec<String>>, String> {
    let left = plan.folder.join("left");
    let server = TestServer::start_on(plan.binary, &left, &OPTIONS)?;
    work(&server, plan)?;
    server.kill()?;
    (0..plan.starts)
        .map(|number| {
            let copy = plan.folder.join(format!("copy{number}"));
            copy_folder(&left, &copy)?;
            let mut server = TestServer::start_on(plan.binary, &copy, &OPTIONS)?;
            let recovery = |line: &&String| line.contains("recovery: ");
            let mut told: Vec<String> = server.startup_log.iter().filter(recovery).cloned().collect();
            told.push(format!("{:.2} s of processors until it was ready", processor_seconds(server.pid())?));
            server.shut_down()?;
            std::fs::remove_dir_all(&copy).map_err(|e| format!("{}: {e}", copy.display()))?;
            Ok(told)
        })
        .collect()
}

/// Makes the table, and as much log as is wanted.
fn work(server: &TestServer, plan: &Plan<'_>) -> Result<(), String> {
    let mut conn = connect(server)?;
    let mut ask = |sql: &str| conn.query_drop(sql).map_err(|e| format!("{e}: {sql:.60}"));
    ask("CREATE DATABASE speed")?;
    ask("CREATE TABLE speed.t (id INT PRIMARY KEY, k INT, c CHAR(120), pad CHAR(60), KEY k (k))")?;
    for first in (0..plan.rows).step_by(INSERT_ROWS as usize) {
        let rows = first..(first + INSERT_ROWS).min(plan.rows);
        let values: Vec<String> = rows
            .map(|id| format!("({id},{},REPEAT('c{id}',15),REPEAT('p',59))", id * 7 % plan.rows))
            .collect();
        ask(&format!("INSERT INTO speed.t VALUES {}", values.join(",")))?;
    }
    let full = AtomicBool::new(false);
    let update = &|seed| update_until(server, plan, seed, &full);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=CLIENTS).map(|seed| scope.spawn(move || update(seed))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a client panicked".to_owned())?)
    })
}

/// One client: updates rows at random until somebody finds the log long enough.
fn update_until(server: &TestServer, plan: &Plan<'_>, seed: u64, full: &AtomicBool) -> Result<(), String> {
    let mut conn = connect(server)?;
    let mut prng = Prng::new(seed);
    for round in 0u64.. {
        if full.load(Ordering::Relaxed) {
            break;
        }
        let ids: Vec<String> = (0..UPDATE_ROWS).map(|_| prng.below(plan.rows).to_string()).collect();
        let change = if round % 3 == 0 { "k = k + 1" } else { "c = REPEAT(k + id, 15)" };
        // Two clients may want the same rows in another order.
        let _ = conn.query_drop(format!("UPDATE speed.t SET {change} WHERE id IN ({})", ids.join(",")));
        if round % 100 == 0 && log_bytes(&mut conn)? >= plan.megabytes << 20 {
            full.store(true, Ordering::Relaxed);
        }
    }
    Ok(())
}

fn log_bytes(conn: &mut mysql::Conn) -> Result<u64, String> {
    let sql = "SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'";
    let row: Option<(String, u64)> = conn.query_first(sql).map_err(|e| e.to_string())?;
    row.map(|(_, bytes)| bytes).ok_or_else(|| "the server does not count its log".to_owned())
}

fn connect(server: &TestServer) -> Result<mysql::Conn, String> {
    Target { port: server.port, user: "root".to_owned() }.connect(None)
}

/// What a process has used so far; the kernel counts hundredths. Says more than the clock where others are at
/// work.
fn processor_seconds(pid: u32) -> Result<f64, String> {
    let path = format!("/proc/{pid}/stat");
    let stat = std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    // The second field is a name in parentheses; user and system time are the 14th and 15th.
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = behind_name.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    let sum: f64 = ticks.sum::<Result<f64, _>>().map_err(|e| format!("{path}: {e}"))?;
    Ok(sum / 100.0)
}

fn copy_folder(from: &Path, to: &PathBuf) -> Result<(), String> {
    let status =
        Command::new("cp").arg("-r").arg(from).arg(to).status().map_err(|e| format!("cannot run cp: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("cannot copy {}", from.display())) }
}
