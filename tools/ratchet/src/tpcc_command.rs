//! `ratchet lab tpcc`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use lab::config::TargetConfig;
use lab::tpcc::compare::{self, Plan};
use lab::tpcc::dialect::Dialect;
use lab::tpcc::report;
use lab::tpcc::scale::Scale;
use lab::{Error, Result};

#[derive(Args)]
pub(crate) struct TpccArguments {
    /// [NAME=]mysql://user:password@host:port[?socket=path] of each server.
    #[arg(required = true)]
    servers: Vec<String>,
    /// Warehouses, of about 100 MB each.
    #[arg(long, default_value_t = 10)]
    warehouses: usize,
    /// A hundredth of the specified rows: a trial, no measurement.
    #[arg(long)]
    tiny: bool,
    /// Numbers of terminals, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "16")]
    terminals: Vec<usize>,
    /// Threads of the client, which share the terminals; otherwise one for every four cores.
    #[arg(long)]
    client_threads: Option<usize>,
    /// Values of innodb_flush_log_at_trx_commit, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "1")]
    flush: Vec<u8>,
    /// How transactions are put into statements, separated by commas: batched (rows of a table by one
    /// statement) or rowwise (a statement per row).
    #[arg(long, value_delimiter = ',', default_value = "batched", value_parser = dialect)]
    dialects: Vec<Dialect>,
    /// Each transaction chooses a home warehouse; otherwise each terminal has one.
    #[arg(long)]
    uniform: bool,
    /// Seconds measured.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Seconds before them that do not count.
    #[arg(long, default_value_t = 5)]
    warmup: u64,
    /// Rounds.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Database that is dropped and made.
    #[arg(long, default_value = "tpcc")]
    database: String,
    /// Use tables of this scale that are there, as earlier runs left them.
    #[arg(long)]
    keep: bool,
    /// Of rows, terminals' choices and the order of servers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Client and servers in the round-robin real-time class, before all other work of the machine.
    #[arg(long)]
    realtime: bool,
    /// Output folder.
    #[arg(long, default_value = "lab-out")]
    out: PathBuf,
}

fn dialect(name: &str) -> std::result::Result<Dialect, String> {
    Dialect::of_name(name).ok_or_else(|| "batched or rowwise".to_owned())
}

pub(crate) fn run(arguments: &TpccArguments) -> Result<ExitCode> {
    let plan = plan(arguments);
    let results = compare::run(&plan)?;
    let text = report::markdown(&plan, &results);
    let path = plan.out.join("tpcc.md");
    std::fs::write(&path, &text).map_err(|source| Error::File { path, source })?;
    print!("{text}");
    Ok(ExitCode::from(u8::from(results.has_faults())))
}

fn plan(arguments: &TpccArguments) -> Plan {
    let warehouses = arguments.warehouses;
    Plan {
        targets: arguments.servers.iter().enumerate().map(target).collect(),
        scale: if arguments.tiny { Scale::tiny(warehouses) } else { Scale::full(warehouses) },
        terminals: arguments.terminals.clone(),
        client_threads: arguments.client_threads.unwrap_or_else(default_client_threads),
        flush: arguments.flush.clone(),
        dialects: arguments.dialects.clone(),
        is_bound: !arguments.uniform,
        warmup_seconds: arguments.warmup,
        seconds: arguments.seconds,
        rounds: arguments.rounds,
        database: arguments.database.clone(),
        keeps_tables: arguments.keep,
        seed: arguments.seed,
        realtime: arguments.realtime,
        out: arguments.out.clone(),
    }
}

/// One for every four cores, so that the server has most of them.
fn default_client_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 4).max(1))
}

/// A server without a name is called by its number.
fn target((at, server): (usize, &String)) -> TargetConfig {
    let (name, url) = match server.split_once('=') {
        Some((name, url)) if !name.contains(':') => (name.to_owned(), url),
        _ => ((at + 1).to_string(), &server[..]),
    };
    TargetConfig { name, url: url.to_owned(), start: None, stop: None, replays: None }
}
