//! Stock sysbench prepares, runs and drops its tables: five workloads, one and eight threads, with and
//! without prepared statements, not one error.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use testkit::server::TestServer;
use testkit::tool;

const OLTP: &[&str] = &["--tables=2", "--table-size=2000"];

struct Sysbench {
    server: TestServer,
}

impl Sysbench {
    fn start() -> Self {
        let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
        let sysbench = Sysbench { server };
        let socket = format!("--socket={}", sysbench.server.socket.display());
        let args = ["--no-defaults", "--user=root", &socket, "--execute=CREATE DATABASE sbtest"];
        let outcome = tool::run("mariadb", &args, Path::new("/"), "").unwrap();
        assert!(outcome.success, "{}", outcome.output);
        sysbench
    }

    /// Runs one command of `workload`; its report, which must tell of no error.
    fn command(&self, workload: &str, command: &str, options: &[&str]) -> String {
        let socket = format!("--mysql-socket={}", self.server.socket.display());
        let fixed = ["--db-driver=mysql", "--mysql-user=root", "--mysql-db=sbtest", &socket];
        let args = [&[workload], options, &fixed, &[command]].concat();
        let outcome = tool::run("sysbench", &args, Path::new("/"), "").unwrap();
        assert!(
            outcome.success && !outcome.output.contains("FATAL") && !outcome.output.contains("ALERT"),
            "sysbench {} failed:\n{}",
            args.join(" "),
            outcome.output
        );
        outcome.output
    }

    /// Runs `workload` for a second and checks what it counted.
    fn run(&self, workload: &str, options: &[&str], threads: u32, prepared: bool) {
        let threads = format!("--threads={threads}");
        let mode = format!("--db-ps-mode={}", if prepared { "auto" } else { "disable" });
        let report = self.command(workload, "run", &[options, &["--time=1", &threads, &mode]].concat());
        let told =
            |counter: &str| count(&report, counter).unwrap_or_else(|| panic!("no {counter} in\n{report}"));
        assert!(told("queries:") > 0, "{report}");
        assert_eq!(told("reconnects:"), 0, "{workload} {threads} {mode}:\n{report}");
        // Transactions that change rows in any order deadlock now and then: those are begun again.
        let deadlocks = if workload == "oltp_read_write" && threads != "--threads=1" {
            told("transactions:") / 10
        } else {
            0
        };
        assert!(told("ignored errors:") <= deadlocks, "{workload} {threads} {mode}:\n{report}");
    }

    /// Prepares, runs in every way, and drops the tables.
    fn whole(&self, workload: &str, options: &[&str]) {
        self.command(workload, "prepare", options);
        for (threads, prepared) in [(1, true), (1, false), (8, true), (8, false)] {
            self.run(workload, options, threads, prepared);
        }
        self.command(workload, "cleanup", options);
    }
}

/// The number that is after `name` in a report.
fn count(report: &str, name: &str) -> Option<u64> {
    let line = report.lines().find(|line| line.trim_start().starts_with(name))?;
    line.trim_start()[name.len()..].split_whitespace().next()?.parse().ok()
}

#[test]
fn point_selects() {
    Sysbench::start().whole("oltp_point_select", OLTP);
}

#[test]
fn read_only_transactions() {
    Sysbench::start().whole("oltp_read_only", OLTP);
}

#[test]
fn read_write_transactions() {
    Sysbench::start().whole("oltp_read_write", OLTP);
}

#[test]
fn inserts() {
    Sysbench::start().whole("oltp_insert", OLTP);
}

/// Each thread fills a table of its own, which must be empty at the start of a run.
#[test]
fn bulk_inserts() {
    let sysbench = Sysbench::start();
    for (threads, prepared) in [(1, true), (1, false), (8, true), (8, false)] {
        let tables = format!("--threads={threads}");
        sysbench.command("bulk_insert", "prepare", &[&tables]);
        sysbench.run("bulk_insert", &[], threads, prepared);
        sysbench.command("bulk_insert", "cleanup", &[&tables]);
    }
}
