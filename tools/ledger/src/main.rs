//! The ledger's driver: prepares the data, runs every operation against a server inside this process, and
//! prints what it cost.
//!
//! `cargo xtask ledger` runs it under callgrind, which counts instructions and system calls, and natively
//! with the library that counts copies; see tools/ledger/README.md.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

mod answers;
mod callgrind;
mod client;
mod counters;
mod data;
mod group_commit;
mod measure;
mod operation;
mod prepare;
mod serve;
mod slow_sync;
mod syscalls;
mod tables;

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use client::Client;
use env::RealDisk;
use measure::Measured;
use operation::Operation;
use serve::Watch;

const USAGE: &str = "usage: ledger prepare DATADIR
       ledger run DATADIR [NAME ..]
       ledger count DATADIR [NAME ..]
              every operation, or those named; `count` watches system calls, for which it stops them:
              name<TAB>units<TAB>bytes copied<TAB>allocations<TAB>system calls<TAB>log bytes<TAB>syncs<TAB>nanoseconds<TAB>answers
       ledger group_commit DATADIR
              the operation that many clients do at once
       ledger client SOCKET NAME PASSES
              one operation so many times over against another server
       ledger size NAME
              executions of an operation in one pass";

#[global_allocator]
static ALLOCATOR: counters::CountingAllocator = counters::CountingAllocator;

/// Seed of the statements' values.
const SEED: u64 = 10_001;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["prepare", datadir] => prepare::run(Path::new(datadir)),
        ["run", datadir, names @ ..] => run(Path::new(datadir), names, Watch::Instructions),
        ["count", datadir, names @ ..] => run(Path::new(datadir), names, Watch::SystemCalls),
        ["group_commit", datadir] => group_commit(Path::new(datadir)),
        ["client", socket, name, passes] => ask(socket, name, passes),
        ["size", name] => find(name).map(|operation| println!("{}", operation.executions)),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("ledger: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Operations that the server refuses are reported on standard error and left out.
fn run(datadir: &Path, names: &[&str], watch: Watch) -> Result<(), String> {
    if watch == Watch::Instructions && !callgrind::is_running() {
        eprintln!("ledger: not under callgrind: instructions are not counted");
    }
    let server = serve::open(datadir, Arc::new(RealDisk))?;
    let mut client = Client::connect(serve::connect(&server, watch)?, tables::SCHEMA)?;
    for operation in selected(names)? {
        match measure::measure(&mut client, &operation, SEED, &server.engine) {
            Ok(measured) => println!("{}", line(&operation, &measured)),
            Err(refusal) => eprintln!("ledger: {} left out: {refusal}", operation.name),
        }
    }
    // Whatever the operations changed is not worth writing: the directory is a copy.
    std::process::exit(0);
}

fn group_commit(datadir: &Path) -> Result<(), String> {
    let operation = operation::group_commit();
    let measured = group_commit::measure(datadir, &operation, SEED)?;
    println!("{}", line(&operation, &measured));
    // The directory is a copy.
    std::process::exit(0);
}

/// What was not counted is a dash.
fn line(operation: &Operation, measured: &Measured) -> String {
    let counted = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    format!(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
        operation.name,
        measured.units,
        counted(measured.copied_bytes),
        counted(measured.allocations),
        counted(measured.syscalls),
        measured.log_bytes,
        measured.syncs,
        measured.elapsed.as_nanos(),
        measured.answers
    )
}

fn selected(names: &[&str]) -> Result<Vec<Operation>, String> {
    if names.is_empty() {
        return Ok(operation::all());
    }
    names.iter().map(|name| find(name)).collect()
}

fn find(name: &str) -> Result<Operation, String> {
    operation::all()
        .into_iter()
        .find(|operation| operation.name == name)
        .ok_or_else(|| format!("no operation is called {name}"))
}

fn ask(socket: &str, name: &str, passes: &str) -> Result<(), String> {
    let passes = passes.parse().map_err(|_| format!("not a number of passes: {passes}"))?;
    let socket = UnixStream::connect(socket).map_err(|e| format!("cannot connect to {socket}: {e}"))?;
    let mut client = Client::connect(socket, tables::SCHEMA)?;
    measure::repeat(&mut client, &find(name)?, SEED, passes)
}
