//! The accounts: server, connection, statement.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Least step in which a connection takes memory from the server's account, bytes: shared counters change
/// this rarely.
const STEP_BYTES_MIN: u64 = 64 << 10;
/// Steps that a connection keeps beyond what it uses.
const SPARE_STEPS: u64 = 4;

/// What memory is needed for; decides the error's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Rows to be sorted.
    Sort,
    /// Anything else.
    #[default]
    Other,
}

/// The limit that a charge would have exceeded. Nothing was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitExceeded {
    /// That of one statement.
    Statement(Purpose),
    /// That of what a session keeps between its statements.
    Session,
    /// That of one connection.
    Connection {
        /// The limit, bytes.
        limit_bytes: u64,
        /// What the connection would use, bytes.
        used_bytes: u64,
    },
    /// That of all connections that are tracked.
    AllConnections {
        /// The limit, bytes.
        limit_bytes: u64,
        /// What they would use, bytes.
        used_bytes: u64,
    },
    /// That of the server, or the machine has no more.
    Server,
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitExceeded::Statement(_) => f.write_str("the statement's memory limit is reached"),
            LimitExceeded::Session => f.write_str("the session keeps as much memory as it may"),
            LimitExceeded::Connection { limit_bytes, .. } => {
                write!(f, "the connection's limit of {limit_bytes} bytes is reached")
            }
            LimitExceeded::AllConnections { limit_bytes, .. } => {
                write!(f, "the limit of {limit_bytes} bytes for all connections is reached")
            }
            LimitExceeded::Server => f.write_str("the server's memory limit is reached"),
        }
    }
}

impl std::error::Error for LimitExceeded {}

/// What all connections and shared caches hold together.
#[derive(Debug)]
pub struct ServerAccount {
    charged: AtomicU64,
    limit: AtomicU64,
    /// What of it belongs to connections that are tracked.
    tracked: AtomicU64,
    tracked_limit: AtomicU64,
}

impl Default for ServerAccount {
    fn default() -> Self {
        ServerAccount {
            charged: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
            tracked: AtomicU64::new(0),
            tracked_limit: AtomicU64::new(u64::MAX),
        }
    }
}

impl ServerAccount {
    /// Bytes charged: to connections in steps, and to shared caches.
    pub fn charged(&self) -> u64 {
        self.charged.load(Ordering::Relaxed)
    }

    /// Bytes charged to tracked connections.
    pub fn tracked(&self) -> u64 {
        self.tracked.load(Ordering::Relaxed)
    }

    /// Sets the limit of everything, bytes. What is charged already stays.
    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Sets the limit of all tracked connections, bytes.
    pub fn set_tracked_limit(&self, bytes: u64) {
        self.tracked_limit.store(bytes, Ordering::Relaxed);
    }

    /// Charges `bytes`.
    /// # Errors  [`LimitExceeded::Server`].
    pub fn charge(&self, bytes: u64) -> Result<(), LimitExceeded> {
        let charged = self.charged.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if charged <= self.limit.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.release(bytes);
        Err(LimitExceeded::Server)
    }

    /// Gives charged bytes back.
    pub fn release(&self, bytes: u64) {
        self.charged.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// As [`ServerAccount::charge`], for a connection: whether it is tracked, and whether the limit on
    /// tracked ones binds it.
    fn charge_connection(&self, bytes: u64, limits: &ConnectionLimits) -> Result<(), LimitExceeded> {
        self.charge(bytes)?;
        if !limits.tracked {
            return Ok(());
        }
        let used = self.tracked.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let limit = self.tracked_limit.load(Ordering::Relaxed);
        if used <= limit || limits.exempt {
            return Ok(());
        }
        self.release_connection(bytes, true);
        Err(LimitExceeded::AllConnections { limit_bytes: limit, used_bytes: used })
    }

    fn release_connection(&self, bytes: u64, tracked: bool) {
        self.release(bytes);
        if tracked {
            self.tracked.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

/// Memory limits of a connection.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Bytes of one statement; also of what the session keeps between statements.
    pub statement_bytes: u64,
    /// Bytes of the connection.
    pub connection_bytes: u64,
    /// Step in which the connection takes memory from the server's account, bytes.
    pub step_bytes: u64,
    /// The connection counts among the tracked ones.
    pub tracked: bool,
    /// The limits of the connection and of all tracked ones do not bind it: an administrator.
    pub exempt: bool,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits {
            statement_bytes: u64::MAX,
            connection_bytes: u64::MAX,
            step_bytes: 0,
            tracked: false,
            exempt: false,
        }
    }
}

/// The memory that one connection holds. Used by the connection's own thread; it takes memory from the
/// server's account in steps.
#[derive(Debug)]
pub struct ConnectionAccount {
    server: Arc<ServerAccount>,
    limits: Cell<ConnectionLimits>,
    used: Cell<u64>,
    /// Taken from the server's account.
    granted: Cell<u64>,
    /// What of `used` the session keeps between statements.
    kept: Cell<u64>,
}

impl ConnectionAccount {
    /// An account of `server` without limits of its own.
    pub fn new(server: Arc<ServerAccount>) -> Rc<Self> {
        Rc::new(ConnectionAccount {
            server,
            limits: Cell::default(),
            used: Cell::new(0),
            granted: Cell::new(0),
            kept: Cell::new(0),
        })
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used.get()
    }

    /// Sets what the connection may use from now on.
    pub fn set_limits(&self, limits: ConnectionLimits) {
        let was_tracked = self.limits.get().tracked;
        let granted = self.granted.get();
        if was_tracked && !limits.tracked {
            self.server.tracked.fetch_sub(granted, Ordering::Relaxed);
        } else if limits.tracked && !was_tracked {
            self.server.tracked.fetch_add(granted, Ordering::Relaxed);
        }
        self.limits.set(limits);
    }

    /// Charges `bytes`.
    /// # Errors  The limit that would be exceeded.
    pub fn charge(&self, bytes: u64) -> Result<(), LimitExceeded> {
        let used = self.used.get().saturating_add(bytes);
        let limits = self.limits.get();
        if used > limits.connection_bytes && !limits.exempt {
            return Err(LimitExceeded::Connection { limit_bytes: limits.connection_bytes, used_bytes: used });
        }
        if used > self.granted.get() {
            self.take(used - self.granted.get(), &limits)?;
        }
        self.used.set(used);
        Ok(())
    }

    /// Takes at least `bytes` from the server's account.
    #[cold]
    fn take(&self, bytes: u64, limits: &ConnectionLimits) -> Result<(), LimitExceeded> {
        let whole = bytes.checked_next_multiple_of(limits.step_bytes.max(STEP_BYTES_MIN)).unwrap_or(bytes);
        let taken = match self.server.charge_connection(whole, limits) {
            Ok(()) => whole,
            // The last of the server's memory is given out to the byte.
            Err(_) => self.server.charge_connection(bytes, limits).map(|()| bytes)?,
        };
        self.granted.set(self.granted.get() + taken);
        Ok(())
    }

    /// Gives charged bytes back.
    pub fn release(&self, bytes: u64) {
        debug_assert!(bytes <= self.used.get(), "{bytes} bytes were not charged");
        let used = self.used.get().saturating_sub(bytes);
        self.used.set(used);
        let limits = self.limits.get();
        let step = limits.step_bytes.max(STEP_BYTES_MIN);
        let spare = self.granted.get() - used;
        if spare > SPARE_STEPS * step {
            let back = spare - step;
            self.server.release_connection(back, limits.tracked);
            self.granted.set(self.granted.get() - back);
        }
    }

    /// Charges `bytes` that the session keeps after the statement.
    /// # Errors  The limit that would be exceeded.
    pub fn keep(&self, bytes: u64) -> Result<(), LimitExceeded> {
        let kept = self.kept.get().saturating_add(bytes);
        if kept > self.limits.get().statement_bytes {
            return Err(LimitExceeded::Session);
        }
        self.charge(bytes)?;
        self.kept.set(kept);
        Ok(())
    }

    /// Gives back bytes of [`ConnectionAccount::keep`].
    pub fn drop_kept(&self, bytes: u64) {
        debug_assert!(bytes <= self.kept.get(), "{bytes} bytes were not kept");
        self.kept.set(self.kept.get().saturating_sub(bytes));
        self.release(bytes);
    }
}

/// Bytes that a session keeps between statements, given back when this drops.
#[derive(Debug)]
pub struct KeptBytes {
    account: Rc<ConnectionAccount>,
    bytes: u64,
}

impl KeptBytes {
    /// Charges `bytes`.
    /// # Errors  The limit that would be exceeded.
    pub fn new(account: &Rc<ConnectionAccount>, bytes: u64) -> Result<Self, LimitExceeded> {
        account.keep(bytes)?;
        Ok(KeptBytes { account: Rc::clone(account), bytes })
    }

    /// Charges `bytes` more.
    /// # Errors  The limit that would be exceeded.
    pub fn add(&mut self, bytes: u64) -> Result<(), LimitExceeded> {
        self.account.keep(bytes)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for KeptBytes {
    fn drop(&mut self) {
        self.account.drop_kept(self.bytes);
    }
}

impl Drop for ConnectionAccount {
    fn drop(&mut self) {
        self.server.release_connection(self.granted.get(), self.limits.get().tracked);
    }
}

/// The memory that one statement holds. A connection uses one account for its statements one after the other;
/// a statement that another one runs has an account of its own.
#[derive(Debug)]
pub struct StatementAccount {
    /// `None`: no limits.
    connection: Option<Rc<ConnectionAccount>>,
    used: Cell<u64>,
}

impl StatementAccount {
    /// An account for statements of a connection.
    pub fn new(connection: Rc<ConnectionAccount>) -> Rc<Self> {
        Rc::new(StatementAccount { connection: Some(connection), used: Cell::new(0) })
    }

    /// An account without limits.
    pub fn unlimited() -> Rc<Self> {
        Rc::new(StatementAccount { connection: None, used: Cell::new(0) })
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used.get()
    }

    /// Bytes that a charge may have at most, as the limits and the other statements are now.
    pub fn available(&self) -> u64 {
        let Some(connection) = &self.connection else { return u64::MAX };
        let limits = connection.limits.get();
        let of_statement = limits.statement_bytes.saturating_sub(self.used.get());
        let of_connection = if limits.exempt { u64::MAX } else { limits.connection_bytes };
        let server = &connection.server;
        let of_server = server.limit.load(Ordering::Relaxed).saturating_sub(server.charged());
        let spare = connection.granted.get().saturating_sub(connection.used());
        of_statement.min(of_connection.saturating_sub(connection.used())).min(of_server.saturating_add(spare))
    }

    /// Charges `bytes` for `purpose`.
    /// # Errors  The limit that would be exceeded.
    pub fn charge(&self, bytes: usize, purpose: Purpose) -> Result<(), LimitExceeded> {
        let bytes = bytes as u64;
        let used = self.used.get().saturating_add(bytes);
        if let Some(connection) = &self.connection {
            if used > connection.limits.get().statement_bytes {
                return Err(LimitExceeded::Statement(purpose));
            }
            connection.charge(bytes)?;
        }
        self.used.set(used);
        Ok(())
    }

    /// Gives charged bytes back.
    pub fn release(&self, bytes: usize) {
        let bytes = (bytes as u64).min(self.used.get());
        self.used.set(self.used.get() - bytes);
        if let Some(connection) = &self.connection {
            connection.release(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn account(server: &Arc<ServerAccount>, limits: ConnectionLimits) -> Rc<ConnectionAccount> {
        let account = ConnectionAccount::new(Arc::clone(server));
        account.set_limits(limits);
        account
    }

    #[test]
    fn a_connection_takes_memory_in_steps_and_gives_it_back() {
        let server = Arc::new(ServerAccount::default());
        let connection =
            account(&server, ConnectionLimits { step_bytes: MIB, ..ConnectionLimits::default() });
        connection.charge(10).unwrap();
        assert_eq!((connection.used(), server.charged()), (10, MIB));
        connection.charge(20 * MIB).unwrap();
        assert_eq!(server.charged(), 21 * MIB);
        connection.release(20 * MIB);
        assert_eq!((connection.used(), server.charged()), (10, MIB + 10));
        connection.release(10);
        drop(connection);
        assert_eq!(server.charged(), 0);
    }

    #[test]
    fn each_limit_is_named_and_leaves_nothing_charged() {
        let server = Arc::new(ServerAccount::default());
        let limits = ConnectionLimits {
            statement_bytes: MIB,
            connection_bytes: 2 * MIB,
            ..ConnectionLimits::default()
        };
        let connection = account(&server, limits);
        let statement = StatementAccount::new(Rc::clone(&connection));
        statement.charge(MIB as usize, Purpose::Sort).unwrap();
        assert_eq!(statement.charge(1, Purpose::Sort), Err(LimitExceeded::Statement(Purpose::Sort)));
        assert_eq!(connection.keep(MIB + 1), Err(LimitExceeded::Session));
        connection.keep(MIB).unwrap();
        let over = LimitExceeded::Connection { limit_bytes: 2 * MIB, used_bytes: 2 * MIB + 1 };
        assert_eq!(connection.charge(1), Err(over));
        assert_eq!((statement.used(), connection.used()), (MIB, 2 * MIB));
        statement.release(MIB as usize);
        connection.drop_kept(MIB);
        assert_eq!(connection.used(), 0);
        server.set_limit(MIB);
        assert_eq!(connection.charge(MIB + MIB / 2), Err(LimitExceeded::Server));
        connection.charge(MIB).unwrap();
        assert_eq!(server.charged(), MIB);
    }

    #[test]
    fn the_limit_on_tracked_connections_binds_those_that_are_not_exempt() {
        let server = Arc::new(ServerAccount::default());
        server.set_tracked_limit(MIB);
        let tracked = ConnectionLimits { tracked: true, ..ConnectionLimits::default() };
        let bound = account(&server, tracked);
        let over = LimitExceeded::AllConnections { limit_bytes: MIB, used_bytes: 2 * MIB };
        assert_eq!(bound.charge(2 * MIB), Err(over));
        assert_eq!((server.tracked(), server.charged()), (0, 0));
        let free = account(&server, ConnectionLimits { exempt: true, ..tracked });
        free.charge(2 * MIB).unwrap();
        assert_eq!(server.tracked(), 2 * MIB);
        free.set_limits(ConnectionLimits::default());
        assert_eq!((server.tracked(), server.charged()), (0, 2 * MIB));
        drop((free, bound));
        assert_eq!((server.tracked(), server.charged()), (0, 0));
    }
}
