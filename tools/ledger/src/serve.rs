//! The server inside this process, with one connection.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use engine::{BeginOptions, Direction, Engine, EngineConfig, KeyRange, Scan};
use env::Disk;
use server::account::MemoryStore;
use server::connection;
use server::options::{Invocation, Options};
use server::server::Server;
use server::server_log::ServerLog;
use server::stream::Stream;

use crate::callgrind;
use crate::counters;
use crate::syscalls;
use crate::tables::SCHEMA;

/// Memory for pages: all tables fit.
const POOL_BYTES: usize = 1 << 30;

/// Memory for plans: new statements fill it while they warm up. From then on each takes the memory of plans
/// that are given up, and asks the system for none.
const PLAN_CACHE_BYTES: usize = 4 << 20;

/// Opens the server over a prepared data directory, all of which is in memory then; it listens nowhere. The
/// engine has no background threads: what they would do is not an operation's cost.
pub(crate) fn open(datadir: &Path, disk: Arc<dyn Disk>) -> Result<Arc<Server>, String> {
    let config =
        EngineConfig { pool_bytes: POOL_BYTES, background: false, ..EngineConfig::new(disk, datadir) };
    let engine = Engine::open(config).map_err(|e| e.to_string())?;
    read_everything(&engine).map_err(|e| e.to_string())?;
    let args = [
        format!("--datadir={}", datadir.display()),
        "--max-allowed-packet=64M".to_owned(),
        "--local-infile=ON".to_owned(),
        format!("--ratchet-plan-cache-size={PLAN_CACHE_BYTES}"),
    ];
    let options = match Options::parse(&args) {
        Ok(Invocation::Serve(options)) => *options,
        Ok(_) => return Err("the server's options ask for no server".to_owned()),
        Err(error) => return Err(error.0),
    };
    Server::new(options, engine, Box::new(MemoryStore), ServerLog::to_stderr()).map_err(|e| e.to_string())
}

/// Scans every index, so that no page has to be read later.
fn read_everything(engine: &Arc<Engine>) -> engine::Result<()> {
    let mut trx = engine.begin(BeginOptions::default());
    let view = trx.view();
    for table in engine.tables(SCHEMA)? {
        for position in 0..table.indexes.len() {
            let mut scan =
                Scan::open(engine, &table, position, view, KeyRange::all(), Direction::Forward)?.detached();
            while scan.next_batch()?.is_some() {}
        }
    }
    engine.commit(&mut trx)
}

/// How the serving thread is watched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watch {
    /// Instructions, by callgrind if the process runs under it.
    Instructions,
    /// System calls, which slows them down.
    SystemCalls,
    /// Not at all.
    Nothing,
}

/// Starts the thread that serves one connection, as the listener would, and returns the client's end of its
/// socket. That thread is the one whose work is counted, if any is.
pub(crate) fn connect(server: &Arc<Server>, watch: Watch) -> Result<UnixStream, String> {
    let (ours, theirs) = UnixStream::pair().map_err(|e| format!("cannot make a socket pair: {e}"))?;
    match watch {
        Watch::Instructions => callgrind::start_instrumentation(),
        Watch::SystemCalls => syscalls::start_counter().map_err(|e| format!("cannot start a thread: {e}"))?,
        Watch::Nothing => {}
    }
    let server = Arc::clone(server);
    let builder = thread::Builder::new().name("connection".to_owned()).stack_size(connection::STACK_BYTES);
    builder
        .spawn(move || {
            if watch != Watch::Nothing {
                counters::count_this_thread();
            }
            match watch {
                Watch::Instructions => callgrind::toggle_this_thread(),
                Watch::SystemCalls => {
                    if let Err(error) = syscalls::count_this_thread() {
                        eprintln!("ledger: system calls are not counted: {error}");
                    }
                }
                Watch::Nothing => {}
            }
            connection::serve(&server, Stream::from(ours));
        })
        .map_err(|e| format!("cannot start a thread: {e}"))?;
    Ok(theirs)
}
