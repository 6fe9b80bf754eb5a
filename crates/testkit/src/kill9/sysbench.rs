//! Stock sysbench as one more client: oltp_read_write by several threads, each transaction counted.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use mysql::prelude::Queryable;
use tempfile::TempDir;

use crate::server::TestServer;

const SCHEMA: &str = "sbtest";
const TABLES: u32 = 4;
const ROWS: u64 = 5000;

/// What runs, beside what sysbench has.
const SCRIPT: &str = include_str!("counted_read_write.lua");

/// Its tables, and what its threads were told.
#[derive(Debug)]
pub(super) struct Sysbench {
    folder: TempDir,
    threads: u32,
    /// Runs so far.
    runs: u32,
    pub(super) acknowledged: u64,
}

/// A run under way.
pub(super) struct Run(Child);

impl Sysbench {
    /// Makes the tables.
    pub(super) fn prepare(
        server: &TestServer,
        conn: &mut mysql::Conn,
        threads: u32,
    ) -> Result<Sysbench, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        fs::write(folder.path().join("counted_read_write.lua"), SCRIPT).map_err(|e| e.to_string())?;
        let sysbench = Sysbench { folder, threads, runs: 0, acknowledged: 0 };
        for sql in [
            format!("CREATE DATABASE {SCHEMA}"),
            format!(
                "CREATE TABLE {SCHEMA}.counted (run INT, thread INT, number INT, PRIMARY KEY (run, thread, number))"
            ),
        ] {
            conn.query_drop(&sql).map_err(|e| format!("{sql}: {e}"))?;
        }
        let mut child = sysbench.command(server, "prepare")?;
        let status = child.wait().map_err(|e| e.to_string())?;
        if status.success() { Ok(sysbench) } else { Err(sysbench.failed("prepare")) }
    }

    fn command(&self, server: &TestServer, command: &str) -> Result<Child, String> {
        let folder = self.folder.path();
        let output = File::create(self.output()).map_err(|e| e.to_string())?;
        let errors = output.try_clone().map_err(|e| e.to_string())?;
        Command::new("sysbench")
            .arg(folder.join("counted_read_write.lua"))
            .args(["--db-driver=mysql", "--mysql-user=root", "--time=0", "--events=0"])
            .arg(format!("--mysql-db={SCHEMA}"))
            .arg(format!("--mysql-socket={}", server.socket.display()))
            .args([format!("--tables={TABLES}"), format!("--table-size={ROWS}")])
            .arg(format!("--threads={}", self.threads))
            .arg(command)
            .env("KILL9_RUN", self.runs.to_string())
            .env("KILL9_NOTES", folder)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(|e| format!("cannot run sysbench: {e}"))
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("output")
    }

    fn failed(&self, command: &str) -> String {
        let output = fs::read_to_string(self.output()).unwrap_or_default();
        format!("sysbench {command} has ended:\n{output}")
    }

    /// Starts to work, until the server is gone.
    pub(super) fn start(&mut self, server: &TestServer) -> Result<Run, String> {
        self.runs += 1;
        self.command(server, "run").map(Run)
    }

    /// To be called before the server is killed: nothing else may have ended the run.
    pub(super) fn ensure_works(&self, run: &mut Run) -> Result<(), String> {
        let ended = run.0.try_wait().map_err(|e| e.to_string())?;
        if ended.is_none() { Ok(()) } else { Err(self.failed("run")) }
    }

    /// What was answered in the last run is there, and of each thread one transaction more at most; the
    /// tables are as long as they were, and agree with their indexes.
    pub(super) fn verify(&mut self, conn: &mut mysql::Conn) -> Result<u64, String> {
        let run = self.runs;
        let mut unanswered = 0;
        for thread in 0..self.threads {
            let path = self.folder.path().join(format!("{run}.{thread}"));
            let notes = fs::read_to_string(&path).unwrap_or_default();
            // The process has ended, not the machine: all lines are whole.
            let answered: BTreeSet<u32> = notes.lines().filter_map(|line| line.parse().ok()).collect();
            let sql = format!("SELECT number FROM {SCHEMA}.counted WHERE run = {run} AND thread = {thread}");
            let found: Vec<u32> = conn.query(sql).map_err(|e| e.to_string())?;
            let found: BTreeSet<u32> = found.into_iter().collect();
            if let Some(lost) = answered.difference(&found).next() {
                return Err(format!(
                    "sysbench run {run}, thread {thread}: transaction {lost} was answered and is gone"
                ));
            }
            let more = found.difference(&answered).count();
            if more > 1 {
                return Err(format!(
                    "sysbench run {run}, thread {thread}: {more} transactions nobody was told of"
                ));
            }
            unanswered += more as u64;
            self.acknowledged += answered.len() as u64;
        }
        for table in 1..=TABLES {
            let sql = format!("SELECT COUNT(*) FROM {SCHEMA}.sbtest{table}");
            let rows: Option<u64> = conn.query_first(sql).map_err(|e| e.to_string())?;
            if rows != Some(ROWS) {
                return Err(format!("sbtest{table} has {rows:?} rows"));
            }
            super::check_table(conn, &format!("{SCHEMA}.sbtest{table}"))?;
        }
        super::check_table(conn, &format!("{SCHEMA}.counted")).map(|()| unanswered)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // It may wait for a server that is gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
