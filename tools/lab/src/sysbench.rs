//! Running sysbench, and reading what it prints while it runs.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::target::Address;
use crate::workload::Workload;

/// The lab's own script, for shapes that sysbench's do not cover.
const MICRO_LUA: &str = include_str!("../../../benches/peers/lua/micro.lua");

/// Errors that a transaction meets by rights and that sysbench tries again: deadlock, lock wait, changed
/// record.
const RETRIED: &str = "1213,1020,1205";

/// Seconds after a run's end that a statement may still take: a server that does not answer any more is not
/// waited for.
const OVERTIME_MAX: u64 = 120;

/// Says whether it is there.
pub fn look_for() -> Result<()> {
    let tried =
        Command::new("sysbench").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    tried.map_err(missing).map(|_| ())
}

/// How a cell is run.
#[derive(Clone, Debug)]
pub struct Load<'a> {
    /// The server.
    pub address: &'a Address,
    /// Database of the tables.
    pub database: &'a str,
    /// Number of tables.
    pub tables: usize,
    /// Rows a table.
    pub rows: usize,
    /// Client threads.
    pub threads: usize,
    /// Program and arguments that sysbench is started by: pinned, in a scheduling class.
    pub prefix: &'a [String],
}

/// What sysbench says of a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// Queries in it.
    pub queries: f64,
    /// Errors that were tried again.
    pub errors: f64,
}

/// Latencies of events, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latency {
    /// Half are shorter.
    pub p50: f64,
    /// 95 of 100 are shorter.
    pub p95: f64,
    /// 99 of 100 are shorter.
    pub p99: f64,
}

/// What sysbench says at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Queries in all.
    pub queries: f64,
    /// Queries a second of the whole run, up to the last one's end.
    pub queries_per_second: f64,
    /// Of all events.
    pub latency: Latency,
}

/// The lab's script as a file.
#[derive(Debug)]
pub struct Scripts {
    micro: PathBuf,
}

impl Scripts {
    /// Writes it out below `folder`.
    pub fn write_below(folder: &std::path::Path) -> Result<Scripts> {
        let micro = folder.join("micro.lua");
        std::fs::write(&micro, MICRO_LUA).map_err(Error::file(&micro))?;
        Ok(Scripts { micro })
    }

    fn script(&self, workload: &Workload) -> String {
        workload.stock.map_or_else(|| self.micro.display().to_string(), str::to_owned)
    }
}

impl Load<'_> {
    fn command(&self) -> Command {
        let mut words = self.prefix.iter().cloned().chain(["sysbench".to_owned()]);
        let mut command = Command::new(words.next().unwrap_or_default());
        let address = self.address;
        command.args(words).args([
            "--db-driver=mysql",
            &format!("--mysql-host={}", address.host),
            &format!("--mysql-port={}", address.port),
            &format!("--mysql-user={}", address.user),
            &format!("--mysql-password={}", address.password),
            &format!("--mysql-db={}", self.database),
            &format!("--tables={}", self.tables),
            &format!("--table-size={}", self.rows),
            &format!("--threads={}", self.threads),
        ]);
        if let Some(socket) = &address.socket {
            command.arg(format!("--mysql-socket={socket}"));
        }
        command
    }

    /// Runs a workload for `seconds` seconds and calls `each` at the end of every second. `each` returns
    /// false to end the run early.
    pub fn run(
        &self,
        scripts: &Scripts,
        workload: &Workload,
        seconds: u64,
        each: &mut dyn FnMut(Second) -> bool,
    ) -> Result<Report> {
        let mut command = self.command();
        // The workload's options come last and win.
        command.args(["--events=0", "--report-interval=1", "--histogram=on", &format!("--time={seconds}")]);
        command.arg(format!("--forced-shutdown={OVERTIME_MAX}"));
        command.arg(format!("--mysql-ignore-errors={RETRIED}")).args(&workload.options);
        // Ctrl-C is the lab's to act on.
        command.process_group(0);
        command.args([&scripts.script(workload), "run"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(missing)?;
        let mut stderr = child.stderr.take().ok_or_else(|| failed("no standard error".to_owned()))?;
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            // What cannot be read is not shown; the exit status tells.
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let stdout = child.stdout.take().ok_or_else(|| failed("no standard output".to_owned()))?;
        let (mut text, mut goes_on) = (String::new(), true);
        for line in BufReader::new(stdout).lines().map_while(std::result::Result::ok) {
            if let Some(second) = parse_second(&line)
                && goes_on
                && !each(second)
            {
                goes_on = false;
                // Ended or not, it is waited for below.
                let _ = child.kill();
            }
            text.push_str(&line);
            text.push('\n');
        }
        let status = child.wait().map_err(|e| failed(e.to_string()))?;
        text.push_str(&errors.join().unwrap_or_default());
        if !goes_on {
            return Err(Error::Interrupted);
        }
        match fatal(&text) {
            None if status.success() => Ok(parse_report(&text)),
            said => Err(failed(said.unwrap_or_else(|| format!("{status}")))),
        }
    }
}

fn missing(error: std::io::Error) -> Error {
    failed(format!("{error} (is sysbench installed?)"))
}

fn failed(what: String) -> Error {
    Error::Program { program: "sysbench".to_owned(), what }
}

/// What went wrong, in sysbench's words.
fn fatal(text: &str) -> Option<String> {
    // Each thread says the same, first what it did, then the server's error.
    let mut said: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| line.contains("FATAL")) {
        let words = line.replace("FATAL: ", "").trim().to_owned();
        if said.len() < 2 && !said.contains(&words) {
            said.push(words);
        }
    }
    (!said.is_empty()).then(|| said.join("; "))
}

/// `[ 1s ] thds: 4 tps: 20.00 qps: 20.00 (r/w/o: ...) lat (ms,95%): 0.06 err/s: 0.00 reconn/s: 0.00`
fn parse_second(line: &str) -> Option<Second> {
    let behind = |name: &str| line.split_once(name)?.1.split_whitespace().next()?.parse().ok();
    line.starts_with("[ ").then_some(())?;
    Some(Second { queries: behind(" qps: ")?, errors: behind(" err/s: ")? })
}

/// `    queries:                             5000   (999.12 per sec.)`, and the histogram.
fn parse_report(text: &str) -> Report {
    let behind = text.lines().find_map(|line| line.trim_start().strip_prefix("queries:")).unwrap_or_default();
    let numbers: Vec<f64> = behind.split(['(', ' ']).flat_map(str::parse).collect();
    let number = |at: usize| numbers.get(at).copied().unwrap_or(0.0);
    Report { queries: number(0), queries_per_second: number(1), latency: parse_histogram(text) }
}

/// Lines `  0.123 |*****   42`: a latency and how many events had it.
fn parse_histogram(text: &str) -> Latency {
    let of_line = |line: &str| {
        let (latency, rest) = line.split_once('|')?;
        Some((latency.trim().parse().ok()?, rest.split_whitespace().last()?.parse().ok()?))
    };
    let counts: Vec<(f64, u64)> = text.lines().filter_map(of_line).collect();
    let total: u64 = counts.iter().map(|c| c.1).sum();
    let quantile = |percent: u64| {
        let mut below = 0;
        let reached = counts.iter().find(|(_, count)| {
            below += count;
            below * 100 >= total * percent
        });
        reached.map_or(0.0, |&(latency, _)| latency)
    };
    Latency { p50: quantile(50), p95: quantile(95), p99: quantile(99) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_quantiles_are_read() {
        let line = "[ 3s ] thds: 4 tps: 12.50 qps: 250.25 (r/w/o: 1/2/3) lat (ms,95%): 1.25 err/s: 2.00 reconn/s: 0.00";
        assert_eq!(parse_second(line), Some(Second { queries: 250.25, errors: 2.0 }));
        assert_eq!(parse_second("Threads started!"), None);
        let text = "Latency histogram (values are in milliseconds)\n       value  ------------- distribution ------------- count\n\
                    \x20      0.050 |**                                       50\n       0.100 |*** 45\n       9.000 |* 5\n";
        assert_eq!(parse_histogram(text), Latency { p50: 0.05, p95: 0.1, p99: 9.0 });
        let report = parse_report("    queries:                             5000   (999.12 per sec.)\n");
        assert_eq!((report.queries, report.queries_per_second), (5000.0, 999.12));
        assert_eq!(
            fatal("a\nFATAL: mysql_drv_query() returned error 1064\n").unwrap(),
            "mysql_drv_query() returned error 1064"
        );
    }
}
