//! The server process from start to stop.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::low_level::pipe;

use engine::{DataDirError, Engine, EngineConfig, ForceRecovery, ShutdownMode, StartupLog};
use env::RealDisk;

use crate::account::Accounts;
use crate::audit;
use crate::engine_accounts::EngineAccounts;
use crate::initialize;
use crate::listener::Listeners;
use crate::options::Options;
use crate::redo_log;
use crate::server::{Allocator, Server};
use crate::server_log::ServerLog;
use crate::service_user;

/// Runs a server until SIGTERM or SIGINT ends it cleanly. `allocator` is the process's.
///
/// # Errors
/// One line saying why the server could not start or continue.
pub fn run(options: Options, allocator: Allocator) -> Result<(), String> {
    if let Some(user) = &options.user {
        service_user::become_user(user)?;
    }
    seed_hashes(&options)?;
    if options.initialize.is_some() {
        initialize::ensure_empty(&options.datadir())?;
    }
    let engine = open_engine(&options)?;
    let log = open_log(&options)?;
    if let Some(password) = options.initialize {
        let accounts = Accounts::open(Box::new(EngineAccounts(Arc::clone(&engine))));
        initialize::set_first_password(&accounts.map_err(|e| e.message)?, password, &log)?;
        return engine.shut_down(ShutdownMode::Fast).map_err(|e| cannot_close(&e));
    }
    for warning in
        options.warnings.iter().map(String::as_str).chain(service_user::warning(options.user.is_some()))
    {
        log.warning(warning);
    }
    log_force_recovery(&options, &log);
    let (stop, _hold) = watch_signals().map_err(|e| format!("cannot watch signals: {e}"))?;
    let server = Server::new(options, Arc::clone(&engine), Box::new(EngineAccounts(engine)), log)
        .map_err(|e| e.to_string())?;
    server.set_allocator(allocator);
    server.offer_tls()?;
    let listeners = Listeners::bind(&server)?;
    let pid_file = PidFile::write(Path::new(server.variables.read().named("pid_file").as_text()))?;
    announce(&server, &listeners);
    server.audit(|| audit::Event::server("startup"));
    let served = listeners.run(&server, &stop).map_err(|e| format!("cannot wait for connections: {e}"));
    server.audit(|| audit::Event::server("shutdown"));
    let closed = server.engine.shut_down(shutdown_mode(&server)).map_err(|e| cannot_close(&e));
    drop(pid_file);
    closed?;
    server.log.note("shutdown complete");
    served
}

fn cannot_close(error: &engine::Error) -> String {
    format!("cannot close the data directory: {error}")
}

/// Says in the log that a level of `innodb_force_recovery` is in force, and which one it acts as.
fn log_force_recovery(options: &Options, log: &ServerLog) {
    let level = options.variables.named("innodb_force_recovery").as_u64();
    if level == 0 {
        return;
    }
    let force = ForceRecovery::new(u8::try_from(level).unwrap_or(u8::MAX));
    let acts = force.acts_as().map_or(String::new(), |other| format!(", which acts as {other}"));
    log.warning(&format!(
        "innodb_force_recovery is {level}{acts}: damage is passed over, and rows cannot be changed"
    ));
}

/// How much the engine does at the end (`innodb_fast_shutdown`).
fn shutdown_mode(server: &Server) -> ShutdownMode {
    match server.variables.read().named("innodb_fast_shutdown").as_u64() {
        0 => ShutdownMode::Slow,
        1 => ShutdownMode::Fast,
        _ => ShutdownMode::Abrupt,
    }
}

/// Seeds the hash tables over what clients send, so that no client can choose keys that collide.
fn seed_hashes(options: &Options) -> Result<(), String> {
    let mut seed = options.variables.named("ratchet_hash_seed").as_u64();
    if seed == 0 {
        let mut bytes = [0; 8];
        env::random_bytes(&mut bytes).map_err(|e| format!("no random bytes for a seed: {e}"))?;
        seed = u64::from_le_bytes(bytes);
    }
    base::hash::set_seed(seed);
    Ok(())
}

/// Opens the data directory. First of all, so that a directory that is refused has not been touched.
fn open_engine(options: &Options) -> Result<Arc<Engine>, String> {
    let config = engine_config(options)?;
    let opened = wait_for_directory(DIRECTORY_WAIT, || Engine::open(config.clone()));
    opened.map_err(|error| refused_start(&error, options))
}

/// The line that says why a start was refused, and what would serve the rest of the data.
fn refused_start(error: &engine::Error, options: &Options) -> String {
    let force = options.variables.named("innodb_force_recovery").as_u64();
    match error.force_recovery_level().filter(|level| u64::from(*level) > force) {
        Some(level) => format!(
            "{error}; restore the data directory from a backup, or start with --innodb-force-recovery={level} to read what can \
             be read"
        ),
        None => error.to_string(),
    }
}

/// A server that was killed holds its directory until the kernel has closed its files.
const DIRECTORY_WAIT: Duration = Duration::from_secs(10);
/// Time between two looks.
const DIRECTORY_LOOK: Duration = Duration::from_millis(20);

/// Repeats `open` for so long while another server uses the directory.
fn wait_for_directory<T>(
    longest: Duration,
    mut open: impl FnMut() -> engine::Result<T>,
) -> engine::Result<T> {
    let deadline = Instant::now() + longest;
    loop {
        match open() {
            Err(engine::Error::DataDir(error))
                if matches!(*error, DataDirError::InUse(_)) && Instant::now() < deadline =>
            {
                std::thread::sleep(DIRECTORY_LOOK);
            }
            opened => return opened,
        }
    }
}

/// The engine's configuration, from the options.
fn engine_config(options: &Options) -> Result<EngineConfig, String> {
    let variables = &options.variables;
    let bytes = |name: &'static str| usize::try_from(variables.named(name).as_u64());
    Ok(EngineConfig {
        pool_bytes: bytes("innodb_buffer_pool_size")
            .map_err(|_| "the buffer pool is too large".to_owned())?,
        undo_memory_bytes: bytes("ratchet_undo_memory_size").unwrap_or(usize::MAX),
        direct: bypasses_page_cache(variables.named("innodb_flush_method").as_text()),
        force_recovery: ForceRecovery::new(
            u8::try_from(variables.named("innodb_force_recovery").as_u64()).unwrap_or(u8::MAX),
        ),
        doublewrite: makes_page_copies(variables.named("innodb_doublewrite").as_text()),
        log: redo_log::config(variables),
        startup_log: Arc::new(StartLines { target: log_target(options).to_owned(), log: OnceLock::new() }),
        ..EngineConfig::new(Arc::new(RealDisk), options.datadir())
    })
}

/// Whether this value of `innodb_flush_method` asks for direct access to data.pages. All others mean the page
/// cache.
fn bypasses_page_cache(flush_method: &str) -> bool {
    let is = |name: &str| flush_method.eq_ignore_ascii_case(name);
    is("O_DIRECT") || is("O_DIRECT_NO_FSYNC")
}

/// Whether this value of `innodb_doublewrite` asks for copies of pages.
fn makes_page_copies(doublewrite: &str) -> bool {
    matches!(doublewrite, "ON" | "DETECT_AND_RECOVER")
}

/// Lines of recovery, in the server's log. It is opened for the first of them: a directory that is refused
/// before has not been touched.
#[derive(Debug)]
struct StartLines {
    target: String,
    log: OnceLock<ServerLog>,
}

impl StartupLog for StartLines {
    fn note(&self, line: &str) {
        // A log that cannot be opened ends the start later.
        self.log.get_or_init(|| log_at(&self.target).unwrap_or_else(|_| ServerLog::to_stderr())).note(line);
    }
}

fn open_log(options: &Options) -> Result<ServerLog, String> {
    log_at(log_target(options))
}

fn log_target(options: &Options) -> &str {
    options.variables.named("log_error").as_text()
}

fn log_at(target: &str) -> Result<ServerLog, String> {
    if target == "stderr" || target.is_empty() {
        return Ok(ServerLog::to_stderr());
    }
    ServerLog::to_file(Path::new(target)).map_err(|e| format!("cannot open the log {target}: {e}"))
}

/// A socket that becomes readable when the process is asked to end. SIGHUP is taken and ignored; so is
/// SIGXFSZ, so that a file at the limit of its size is an error of the write.
fn watch_signals() -> std::io::Result<(UnixStream, UnixStream)> {
    let (stop, write) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT] {
        pipe::register(signal, write.try_clone()?)?;
    }
    let (ignored, hangup) = UnixStream::pair()?;
    pipe::register(SIGHUP, hangup.try_clone()?)?;
    pipe::register(SIGXFSZ, hangup)?;
    Ok((stop, ignored))
}

/// The line on stderr that reports that the server is ready, wherever the log goes.
fn announce(server: &Server, listeners: &Listeners) {
    let port = listeners.port();
    server.variables.write().put_named("port", crate::sysvars::VarValue::UInt(u64::from(port)));
    let socket = listeners.socket();
    server.log.note(&format!("version {} started", crate::version::VERSION));
    let line = format!("ratchetd: ready for connections. port: {port} socket: {socket}\n");
    // There may be no listener; the server runs all the same.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Mode of the pid file, whatever the umask says.
const PID_MODE: u32 = 0o640;

/// The file that holds the process id; removed when dropped.
struct PidFile(PathBuf);

impl PidFile {
    fn write(path: &Path) -> Result<Self, String> {
        let written = || {
            let mut file =
                fs::OpenOptions::new().write(true).create(true).truncate(true).mode(PID_MODE).open(path)?;
            file.set_permissions(fs::Permissions::from_mode(PID_MODE))?;
            writeln!(file, "{}", std::process::id())
        };
        written().map_err(|e| format!("cannot write the pid file {}: {e}", path.display()))?;
        Ok(PidFile(path.to_owned()))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // A pid file that was already removed is not an error.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_waits_for_the_directory_of_a_server_that_is_ending() {
        let refuse = |error| engine::Error::DataDir(Box::new(error));
        let in_use = || refuse(DataDirError::InUse("/data".into()));
        let mut looks = 0;
        let opened = wait_for_directory(DIRECTORY_WAIT, || {
            looks += 1;
            if looks < 3 { Err(in_use()) } else { Ok(()) }
        });
        assert!(opened.is_ok() && looks == 3, "{opened:?} after {looks} looks");
        let given_up = wait_for_directory::<()>(Duration::ZERO, || Err(in_use())).unwrap_err();
        assert_eq!(given_up.to_string(), in_use().to_string());
        looks = 0;
        let refused = wait_for_directory::<()>(DIRECTORY_WAIT, || {
            looks += 1;
            Err(refuse(DataDirError::Missing("/data".into())))
        });
        assert!(refused.is_err() && looks == 1, "other errors end the start at once");
    }
}
