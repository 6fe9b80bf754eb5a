//! The activity of a connection: written by its thread with plain stores, read by others at any time.
//!
//! Every command writes here and reads are rare, so the writer takes no lock: it makes the version odd,
//! writes, and makes it even again; a reader copies and reads the version before and after. The text of a
//! short statement is kept in words that can be stored one by one; a long one is copied under a mutex that
//! only readers contend for.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::time::{ClockId, Timespec, clock_gettime};
use wire::Command;

/// Bytes of statement text kept for SHOW FULL PROCESSLIST.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Words for a short text.
const WORDS: usize = 32;
/// Bytes of a short text.
const SHORT_BYTES: usize = WORDS * 8;
/// No command: the connection waits for its client.
const SLEEP: u8 = 0;
/// No command yet: the client is logging in.
const CONNECT: u8 = 0xff;
/// Command code of a login that is delayed.
const DELAYED: u8 = 0xfe;

/// Whether the time of a statement is taken when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Timing {
    /// It is not.
    Off,
    /// That of the command in progress, which was seen at a look at all connections.
    Once,
    /// That of each statement.
    Always,
}

/// The phase of a command that the process list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Its work.
    Running,
    /// Undoing what it did.
    RollingBack,
    /// Waiting for a table's metadata lock.
    WaitingForTable,
}

impl Phase {
    /// The state of the process list.
    fn state(phase: u8) -> &'static str {
        match phase {
            // MySQL has no such state.
            _ if phase == Phase::RollingBack as u8 => "rolling back",
            _ if phase == Phase::WaitingForTable as u8 => "Waiting for table metadata lock",
            _ => "",
        }
    }
}

/// A connection's command in progress.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Odd while the other fields change.
    version: AtomicU32,
    /// When the statement in progress began: seconds and nanoseconds of the clock of [`coarse_time`].
    since_s: AtomicU32,
    since_ns: AtomicU32,
    /// Bytes of the statement's text, which is kept up to [`TEXT_BYTES_MAX`].
    text_len: AtomicU32,
    /// The command's code, [`SLEEP`], [`CONNECT`] or [`DELAYED`].
    command: AtomicU8,
    /// The [`Phase`] of the command in progress.
    phase: AtomicU8,
    /// A [`Timing`].
    timing: AtomicU8,
    /// When the open transaction began, as `since_s`; 0: none is known to be open.
    transaction_s: AtomicU32,
    /// A short text, 8 bytes a word. If its length is no multiple of 8, the last word holds its last 8 bytes;
    /// of a text of less than 8 bytes it holds all.
    words: [AtomicU64; WORDS],
    long: Mutex<Vec<u8>>,
}

/// A copy of an [`Activity`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ActivitySnapshot {
    /// Command in progress, `Sleep` or `Connect`.
    pub(crate) command: &'static str,
    /// Seconds since it began.
    pub(crate) seconds: u64,
    /// The state, in MySQL's words.
    pub(crate) state: &'static str,
    /// Statement text.
    pub(crate) text: Vec<u8>,
}

/// The time of a clock that is cheap to read and steps by some milliseconds.
#[inline]
fn coarse_time() -> Timespec {
    clock_gettime(ClockId::MonotonicCoarse)
}

fn coarse_seconds() -> u32 {
    coarse_time().tv_sec as u32
}

impl Activity {
    /// A client that is logging in.
    pub(crate) fn new() -> Self {
        Activity {
            version: AtomicU32::new(0),
            since_s: AtomicU32::new(coarse_seconds()),
            since_ns: AtomicU32::new(0),
            text_len: AtomicU32::new(0),
            command: AtomicU8::new(CONNECT),
            phase: AtomicU8::new(Phase::Running as u8),
            timing: AtomicU8::new(Timing::Off as u8),
            transaction_s: AtomicU32::new(0),
            words: std::array::from_fn(|_| AtomicU64::new(0)),
            long: Mutex::default(),
        }
    }

    /// A command begins, with its statement text if it has one. Called by the connection's thread alone.
    #[inline]
    pub(crate) fn begin(&self, command: Command, text: &[u8]) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        // Pairs with the acquire fence in `read`: a reader that sees a store below sees the odd version.
        fence(Ordering::Release);
        self.command.store(command as u8, Ordering::Relaxed);
        self.restart_time();
        self.text_len.store(text.len() as u32, Ordering::Relaxed);
        self.put_text(text);
        // Pairs with the first load in `read`.
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// A statement begins: the command's first, or a later one. Called by the connection's thread alone.
    #[inline]
    pub(crate) fn restart_time(&self) {
        let now = coarse_time();
        self.since_s.store(now.tv_sec as u32, Ordering::Relaxed);
        self.since_ns.store(now.tv_nsec as u32, Ordering::Relaxed);
    }

    /// Whether [`Activity::take_time`] is to be asked once the statement in progress ends.
    #[inline]
    pub(crate) fn is_timed(&self) -> bool {
        self.timing.load(Ordering::Relaxed) != Timing::Off as u8
    }

    /// How long the statement that ends has taken, to a few milliseconds.
    #[cold]
    pub(crate) fn take_time(&self) -> Duration {
        let (once, off) = (Timing::Once as u8, Timing::Off as u8);
        let _ = self.timing.compare_exchange(once, off, Ordering::Relaxed, Ordering::Relaxed);
        let now = coarse_time();
        let seconds = u64::from((now.tv_sec as u32).wrapping_sub(self.since_s.load(Ordering::Relaxed)));
        let nanos = now.tv_nsec as u64 + seconds * 1_000_000_000;
        Duration::from_nanos(nanos.saturating_sub(u64::from(self.since_ns.load(Ordering::Relaxed))))
    }

    /// Whether all statements of the session are timed from now on.
    pub(crate) fn time_statements(&self, always: bool) {
        let timing = if always { Timing::Always } else { Timing::Off };
        self.timing.store(timing as u8, Ordering::Relaxed);
    }

    /// Has the command in progress timed. If it ends meanwhile, the next one is.
    pub(crate) fn time_once(&self) {
        let (once, off) = (Timing::Once as u8, Timing::Off as u8);
        let _ = self.timing.compare_exchange(off, once, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The command is over.
    #[inline]
    pub(crate) fn end(&self) {
        self.command.store(SLEEP, Ordering::Relaxed);
    }

    /// The delay of a login begins, or ends. COM_CHANGE_USER stays the command in progress.
    pub(crate) fn delay_login(&self, delayed: bool) {
        let (from, to) = if delayed { (CONNECT, DELAYED) } else { (DELAYED, CONNECT) };
        // Fails for COM_CHANGE_USER; nothing else writes the command meanwhile.
        let _ = self.command.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }

    #[inline]
    fn put_text(&self, text: &[u8]) {
        if text.len() > SHORT_BYTES {
            return self.put_long_text(text);
        }
        let (whole, rest) = text.as_chunks::<8>();
        for (word, bytes) in self.words.iter().zip(whole) {
            word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
        if !rest.is_empty() {
            let last = match text.last_chunk::<8>() {
                Some(last) => u64::from_le_bytes(*last),
                None => text.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
            };
            self.words[whole.len()].store(last, Ordering::Relaxed);
        }
    }

    #[cold]
    fn put_long_text(&self, text: &[u8]) {
        let mut long = self.long.lock();
        long.clear();
        long.extend_from_slice(&text[..text.len().min(TEXT_BYTES_MAX)]);
    }

    /// While the connection waits for a command: a number that the next command changes.
    pub(crate) fn idle_mark(&self) -> Option<u32> {
        // Acquire pairs with the last store in `begin`: a command that is seen here is not confused with the
        // one before.
        let version = self.version.load(Ordering::Acquire);
        (self.command.load(Ordering::Relaxed) == SLEEP).then_some(version)
    }

    /// The transaction that the command in progress has begun outlasts it. Called by the connection's thread
    /// alone.
    pub(crate) fn begin_transaction(&self) {
        self.transaction_s.store(self.since_s.load(Ordering::Relaxed).max(1), Ordering::Relaxed);
    }

    /// That transaction is over.
    pub(crate) fn end_transaction(&self) {
        self.transaction_s.store(0, Ordering::Relaxed);
    }

    /// Sets the phase of the command in progress; before the command ends it is [`Phase::Running`] again.
    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// Whether there is such a transaction.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.transaction_s.load(Ordering::Relaxed) != 0
    }

    /// Seconds since the open transaction began: with the command in progress, if it has outlasted none.
    pub(crate) fn transaction_seconds(&self) -> u64 {
        let since_s = match self.transaction_s.load(Ordering::Relaxed) {
            0 => self.since_s.load(Ordering::Relaxed),
            since_s => since_s,
        };
        u64::from(coarse_seconds().saturating_sub(since_s))
    }

    /// Whether a command is in progress.
    pub(crate) fn is_running(&self) -> bool {
        !matches!(self.command.load(Ordering::Relaxed), SLEEP | CONNECT | DELAYED)
    }

    /// A consistent copy of the activity.
    pub(crate) fn read(&self) -> ActivitySnapshot {
        loop {
            // Pairs with the last store in `begin`.
            let before = self.version.load(Ordering::Acquire);
            let command = self.command.load(Ordering::Relaxed);
            let since_s = self.since_s.load(Ordering::Relaxed);
            let text = self.text(self.text_len.load(Ordering::Relaxed) as usize);
            // Pairs with the release fence in `begin`.
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == before {
                let mut snapshot = snapshot_of(command, since_s, text);
                let phase = self.phase.load(Ordering::Relaxed);
                if phase != Phase::Running as u8 {
                    snapshot.state = Phase::state(phase);
                }
                return snapshot;
            }
            std::thread::yield_now();
        }
    }

    fn text(&self, len: usize) -> Vec<u8> {
        if len > SHORT_BYTES {
            return self.long.lock().clone();
        }
        let mut text = Vec::with_capacity(len);
        for word in &self.words[..len.div_ceil(8)] {
            let bytes = word.load(Ordering::Relaxed).to_le_bytes();
            match len - text.len() {
                8.. => text.extend_from_slice(&bytes),
                rest if len < 8 => text.extend_from_slice(&bytes[..rest]),
                rest => text.extend_from_slice(&bytes[8 - rest..]),
            }
        }
        text
    }
}

fn snapshot_of(command: u8, since_s: u32, text: Vec<u8>) -> ActivitySnapshot {
    let seconds = u64::from(coarse_seconds().saturating_sub(since_s));
    let idle = |command, state| ActivitySnapshot { command, seconds, state, text: Vec::new() };
    match Command::parse(&[command]) {
        Some((command, _)) => ActivitySnapshot { command: command.name(), seconds, state: "", text },
        None if command == CONNECT => idle("Connect", "login"),
        None if command == DELAYED => idle("Connect", "Waiting in connection_control plugin"),
        None => idle("Sleep", ""),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn texts_of_every_length_are_read_as_they_were_written() {
        let activity = Activity::new();
        assert_eq!((activity.read().command, activity.read().state), ("Connect", "login"));
        let long: Vec<u8> = (0..TEXT_BYTES_MAX + 10).map(|i| i as u8).collect();
        for len in (0..600).chain([TEXT_BYTES_MAX - 1, TEXT_BYTES_MAX, TEXT_BYTES_MAX + 1]) {
            activity.begin(Command::Query, &long[..len]);
            let snapshot = activity.read();
            assert!(snapshot.text == long[..len.min(TEXT_BYTES_MAX)], "text of {len} bytes");
            assert_eq!((snapshot.command, activity.is_running()), ("Query", true));
        }
        activity.end();
        let snapshot = activity.read();
        assert_eq!((snapshot.command, snapshot.text.len(), activity.is_running()), ("Sleep", 0, false));
    }

    #[test]
    fn a_reader_never_sees_parts_of_two_commands() {
        let (activity, over) = (Activity::new(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let texts: Vec<Vec<u8>> =
                    (0..=255u8).map(|byte| vec![byte; usize::from(byte) * 2 + 1]).collect();
                for text in texts.iter().cycle().take(200_000) {
                    let command = if text[0] % 2 == 0 { Command::Query } else { Command::StmtPrepare };
                    activity.begin(command, text);
                }
                over.store(true, Ordering::Relaxed);
            });
            while !over.load(Ordering::Relaxed) {
                let snapshot = activity.read();
                let Some(&byte) = snapshot.text.first() else { continue };
                assert_eq!(snapshot.text, vec![byte; usize::from(byte) * 2 + 1]);
                assert_eq!(snapshot.command, if byte % 2 == 0 { "Query" } else { "Prepare" });
            }
        });
    }
}
