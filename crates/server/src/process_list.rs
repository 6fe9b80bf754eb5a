//! The connections and their activity: SHOW PROCESSLIST and KILL.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use base::sync::park::Wake;
use base::sync::{Event, critical};
use parking_lot::Mutex;
use trx::{ClientInfo, ClientSettings};
use wire::Command;

use crate::activity::{Activity, Phase};
use crate::compression::{Algorithm, CompressedStream};
use crate::stream::Stream;
use crate::tls::TlsSession;

/// What KILL asks a session to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kill {
    /// Nothing.
    No = 0,
    /// End the statement: its `max_execution_time` is over.
    Timeout = 1,
    /// End the statement.
    Query = 2,
    /// End the connection.
    Connection = 3,
}

/// How a session's wait has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited<T> {
    /// With what it was for.
    For(T),
    /// By KILL.
    Killed,
    /// At the deadline.
    InVain,
}

/// One line of SHOW PROCESSLIST.
#[derive(Clone, Debug)]
pub struct ProcessInfo {
    /// Connection id.
    pub id: u32,
    /// User; `unauthenticated user` before the handshake is over.
    pub user: String,
    /// Host and port.
    pub host: String,
    /// Default database.
    pub database: Option<String>,
    /// Command in progress, or `Sleep`.
    pub command: &'static str,
    /// Seconds since `command` began.
    pub seconds: u64,
    /// The phase of the statement.
    pub state: &'static str,
    /// Statement text.
    pub info: Option<String>,
}

/// Least `long_query_time`, in seconds, at which the looks at all connections, one a second, find all
/// statements that may be slow.
const UNTIMED_S_MIN: f64 = 5.0;

/// A session that waits looks this often whether its client is still there.
const CLIENT_LOOK: Duration = Duration::from_millis(250);

/// The client.
#[derive(Debug)]
struct Client {
    user: String,
    database: Option<String>,
}

/// When a statement that was killed was asked to end, and when it stopped its work; microseconds since
/// [`Process::opened`], 0: not yet.
#[derive(Debug, Default)]
struct KillTimes {
    asked_us: AtomicU64,
    stopped_us: AtomicU64,
}

/// A connection as others see it.
#[derive(Debug)]
pub struct Process {
    id: u32,
    host: String,
    stream: Arc<Stream>,
    kill: AtomicU8,
    kill_times: KillTimes,
    opened: Instant,
    /// Set with `kill`: ends waits for locks and long loops below the session.
    interrupt: Arc<AtomicBool>,
    /// Told of a kill, and of what the session waits for beside locks of rows.
    wake: Event,
    /// Seconds that the client may be silent.
    idle_limit_s: AtomicU64,
    /// Seconds that a write to the socket may wait; 0: none has been set.
    write_timeout_s: AtomicU64,
    timed_out: AtomicBool,
    client: Mutex<Client>,
    settings: Mutex<ClientSettings>,
    activity: Activity,
}

impl Process {
    /// Connection id.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// A command begins, with its statement text if it has one. Called by the connection's thread alone.
    #[inline]
    pub fn begin(&self, command: Command, text: &[u8]) {
        self.forget_kill_query();
        self.activity.begin(command, text);
    }

    /// The command is over.
    #[inline]
    pub fn end(&self) {
        self.activity.end();
    }

    /// The next statement of the command in progress begins.
    pub(crate) fn begin_next(&self) {
        self.activity.restart_time();
    }

    /// Whether [`Process::take_time`] is to be asked once the statement in progress ends.
    #[inline]
    pub(crate) fn is_timed(&self) -> bool {
        self.activity.is_timed()
    }

    /// How long the statement that ends has taken, to a few milliseconds.
    #[cold]
    pub(crate) fn take_time(&self) -> Duration {
        self.activity.take_time()
    }

    /// Counts statements that take longer than `long_query_time`, in seconds. One of at least
    /// [`UNTIMED_S_MIN`] costs a statement that ends between two looks at all connections nothing.
    pub(crate) fn set_long_query_time(&self, seconds: f64) {
        self.activity.time_statements(seconds < UNTIMED_S_MIN);
    }

    /// The delay of a login begins, or ends.
    pub(crate) fn delay_login(&self, delayed: bool) {
        self.activity.delay_login(delayed);
    }

    /// How the session's transactions run from here on.
    pub(crate) fn set_settings(&self, settings: ClientSettings) {
        *self.settings.lock() = settings;
    }

    /// The transaction that the statement in progress has begun stays open after it.
    pub(crate) fn begin_transaction(&self) {
        self.activity.begin_transaction();
    }

    /// That transaction is over.
    pub(crate) fn end_transaction(&self) {
        self.activity.end_transaction();
    }

    /// A request to end a statement dies with it, and never meets the next one; one to end the connection
    /// stays.
    #[inline]
    fn forget_kill_query(&self) {
        if self.kill.load(Ordering::Relaxed) == Kill::Query as u8 {
            self.forget(Kill::Query);
            self.kill_times.asked_us.store(0, Ordering::Relaxed);
        }
    }

    /// A request of [`Kill::Timeout`] dies with the statement that it was for.
    #[cold]
    pub(crate) fn forget_timeout(&self) {
        self.forget(Kill::Timeout);
    }

    #[cold]
    fn forget(&self, what: Kill) {
        if self.kill.compare_exchange(what as u8, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.interrupt.store(false, Ordering::Relaxed);
            // A request of another session may have come in between.
            self.interrupt.store(self.kill_requested() != Kill::No, Ordering::Relaxed);
        }
    }

    fn now_us(&self) -> u64 {
        (self.opened.elapsed().as_micros() as u64).max(1)
    }

    /// The statement stops its work, to roll back what it did. SHOW PROCESSLIST shows the state until
    /// [`Process::end_rollback`].
    #[cold]
    pub(crate) fn begin_rollback(&self) {
        self.activity.set_phase(Phase::RollingBack);
        let stopped_us = &self.kill_times.stopped_us;
        let _ = stopped_us.compare_exchange(0, self.now_us(), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The rollback is over.
    #[cold]
    pub(crate) fn end_rollback(&self) {
        self.activity.set_phase(Phase::Running);
    }

    /// How long the statement that fails now worked on after it was asked to end, its rollback left out;
    /// `None` if it was not asked. Each request is returned once.
    #[cold]
    pub(crate) fn take_kill_delay_us(&self) -> Option<u64> {
        let asked = self.kill_times.asked_us.swap(0, Ordering::Relaxed);
        let stopped = self.kill_times.stopped_us.swap(0, Ordering::Relaxed);
        let stopped = if stopped == 0 { self.now_us() } else { stopped };
        (asked != 0).then(|| stopped.saturating_sub(asked))
    }

    /// The flag that ends the session's waits for locks; KILL wakes the waiters.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupt)
    }

    /// The user, once known.
    pub(crate) fn set_user(&self, user: &str) {
        user.clone_into(&mut self.client.lock().user);
    }

    /// The cipher of the connection.
    pub(crate) fn tls(&self) -> Option<&TlsSession> {
        self.stream.tls()
    }

    /// The connection's compression algorithm.
    pub(crate) fn compression(&self) -> Option<Algorithm> {
        self.stream.compression().map(CompressedStream::algorithm)
    }

    /// The default database.
    pub(crate) fn set_database(&self, database: Option<&str>) {
        self.client.lock().database = database.map(str::to_owned);
    }

    /// The request of KILL. Statements check it between batches of rows and while they wait.
    #[inline]
    pub(crate) fn kill_requested(&self) -> Kill {
        match self.kill.load(Ordering::Relaxed) {
            0 => Kill::No,
            1 => Kill::Timeout,
            2 => Kill::Query,
            _ => Kill::Connection,
        }
    }

    /// Asks the session to end its statement or connection, and wakes it if it waits for its client.
    pub fn kill(&self, what: Kill) {
        let asked_us = &self.kill_times.asked_us;
        if asked_us.compare_exchange(0, self.now_us(), Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.kill_times.stopped_us.store(0, Ordering::Relaxed);
        }
        self.kill.fetch_max(what as u8, Ordering::Relaxed);
        self.interrupt.store(true, Ordering::Relaxed);
        if what == Kill::Connection {
            self.stream.shut_down();
        }
        self.wake();
    }

    /// Makes the session check its wait in [`Process::wait_until`] again.
    pub fn wake(&self) {
        self.wake.notify_all();
    }

    /// Waits until `look` has an answer; it is asked again after each [`Process::wake`].
    pub(crate) fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        mut look: impl FnMut() -> Option<T>,
    ) -> Waited<T> {
        debug_assert_eq!(critical::depth(), 0, "a session waits with nothing latched");
        let mut wake = Wake::Stale;
        loop {
            let ticket = self.wake.ticket();
            if let Some(answer) = look() {
                return Waited::For(answer);
            }
            if self.kill_requested() != Kill::No {
                return Waited::Killed;
            }
            if wake == Wake::TimedOut {
                return Waited::InVain;
            }
            let look = env::deadline_in(CLIENT_LOOK);
            let next = deadline.map_or(look, |deadline| deadline.min(look));
            wake = self.wake.wait(ticket, Some(next));
            if wake == Wake::TimedOut && deadline != Some(next) {
                if self.stream.is_closed_by_peer() {
                    return Waited::Killed;
                }
                wake = Wake::Stale;
            }
        }
    }

    /// As [`Process::kill`] for the session's own connection, which ends itself once its answer is sent.
    pub(crate) fn kill_self(&self, what: Kill) {
        self.kill.fetch_max(what as u8, Ordering::Relaxed);
    }

    /// How long the client may be silent from now on.
    pub(crate) fn set_idle_limit(&self, seconds: u64) {
        self.idle_limit_s.store(seconds, Ordering::Relaxed);
    }

    /// How long a write to the client may make no progress from now on (`net_write_timeout`).
    pub(crate) fn set_write_timeout(&self, seconds: u64) {
        if self.write_timeout_s.swap(seconds, Ordering::Relaxed) != seconds {
            // A socket that is gone fails the next write.
            let _ = self.stream.set_write_timeout(seconds);
        }
    }

    /// While the connection waits for its client: a number that the next command changes, and how long it may
    /// wait.
    pub(crate) fn idle_mark(&self) -> Option<(u32, Duration)> {
        let limit = Duration::from_secs(self.idle_limit_s.load(Ordering::Relaxed));
        self.activity.idle_mark().map(|mark| (mark, limit))
    }

    /// Has the command in progress timed, if there is one.
    pub(crate) fn time_once(&self) {
        if self.activity.is_running() {
            self.activity.time_once();
        }
    }

    /// The client was silent for too long: its connection learns so when it reads on.
    pub(crate) fn time_out(&self) {
        self.timed_out.store(true, Ordering::Relaxed);
        self.stream.shut_down_read();
    }

    /// Whether the connection's end is one by [`Process::time_out`].
    pub(crate) fn is_timed_out(&self) -> bool {
        self.timed_out.load(Ordering::Relaxed)
    }

    /// The user, to decide who may kill whom.
    pub fn user(&self) -> String {
        self.client.lock().user.clone()
    }

    fn info(&self) -> ProcessInfo {
        let doing = self.activity.read();
        let text = sql::shown_text(&doing.text);
        let text = String::from_utf8_lossy(&text);
        let client = self.client.lock();
        let is_killed = self.kill_requested() == Kill::Connection;
        ProcessInfo {
            id: self.id,
            user: client.user.clone(),
            host: self.host.clone(),
            database: client.database.clone(),
            command: if is_killed { "Killed" } else { doing.command },
            seconds: doing.seconds,
            state: doing.state,
            info: Some(text.into_owned()).filter(|text| !text.is_empty()),
        }
    }
}

impl trx::Client for Process {
    fn describe(&self) -> ClientInfo {
        let ProcessInfo { id, user, host, info, .. } = self.info();
        let (statement, active_s) = (info.unwrap_or_default(), self.activity.transaction_seconds());
        let (settings, statement_only) = (*self.settings.lock(), !self.activity.is_in_transaction());
        ClientInfo { connection: id, user, host, statement, settings, statement_only, active_s }
    }

    fn is_gone(&self) -> bool {
        self.stream.is_closed_by_peer()
    }

    fn is_killed(&self) -> bool {
        self.kill_requested() != Kill::No
    }

    fn set_waits_for_table(&self, waits: bool) {
        self.activity.set_phase(if waits { Phase::WaitingForTable } else { Phase::Running });
    }
}

/// All connections, by id.
#[derive(Debug, Default)]
pub struct ProcessList {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    last_id: u32,
    open: BTreeMap<u32, Arc<Process>>,
}

impl ProcessList {
    /// Adds a connection from `host`; ids rise and skip those still in use.
    pub fn add(&self, host: String, stream: Arc<Stream>) -> Arc<Process> {
        let mut inner = self.inner.lock();
        let id = loop {
            inner.last_id = inner.last_id.wrapping_add(1).max(1);
            if !inner.open.contains_key(&inner.last_id) {
                break inner.last_id;
            }
        };
        let client = Client { user: "unauthenticated user".to_owned(), database: None };
        let process = Arc::new(Process {
            id,
            host,
            stream,
            kill: AtomicU8::new(0),
            kill_times: KillTimes::default(),
            opened: Instant::now(),
            interrupt: Arc::default(),
            wake: Event::new(),
            idle_limit_s: AtomicU64::new(u64::MAX),
            write_timeout_s: AtomicU64::new(0),
            timed_out: AtomicBool::new(false),
            client: Mutex::new(client),
            settings: Mutex::default(),
            activity: Activity::new(),
        });
        inner.open.insert(id, Arc::clone(&process));
        process
    }

    /// Removes a connection.
    pub fn remove(&self, id: u32) {
        self.inner.lock().open.remove(&id);
    }

    /// The connection `id`.
    pub fn find(&self, id: u32) -> Option<Arc<Process>> {
        self.inner.lock().open.get(&id).cloned()
    }

    /// Number of connections.
    pub fn count(&self) -> usize {
        self.inner.lock().open.len()
    }

    /// Number of connections that have a command in progress.
    pub fn running(&self) -> u64 {
        self.inner.lock().open.values().filter(|process| process.activity.is_running()).count() as u64
    }

    /// All connections, by id.
    pub fn all(&self) -> Vec<Arc<Process>> {
        self.inner.lock().open.values().cloned().collect()
    }

    /// A line for each connection, by id.
    pub fn list(&self) -> Vec<ProcessInfo> {
        self.all().iter().map(|process| process.info()).collect()
    }
}
