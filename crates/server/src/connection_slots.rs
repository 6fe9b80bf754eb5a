//! Slots of connections: `max_connections` for sessions, one more for an administrator, and a bounded number
//! of handshakes.
//!
//! ```text
//! accept -> handshake --admit--> session -> end
//!                    \-release-> no slot (a login that waits for its refusal)
//!                    \-evicted by a newer handshake, or out of time
//! ```
//! A client that has not logged in holds a handshake's slot, never a session's. When the handshakes are
//! full, a new client takes the slot of the oldest one that has had [`HANDSHAKE_GRACE`]. So clients that are
//! slow to log in cannot keep others out, not even with `max_connections` sessions open.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::server::Server;
use crate::status::bump;
use crate::stream::Stream;

/// Handshakes that may be in progress while sessions have all other slots.
const HANDSHAKES_BEYOND: usize = 32;

/// How long a handshake keeps its slot against newer ones.
const HANDSHAKE_GRACE: Duration = Duration::from_millis(500);

/// How much later than its own thread the server ends a handshake.
const OVERDUE: Duration = Duration::from_secs(1);

/// The slots in use.
#[derive(Debug, Default)]
pub struct ConnectionSlots {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    sessions: u64,
    last_ticket: u64,
    /// Handshakes in progress by ticket, the oldest first.
    handshakes: BTreeMap<u64, Handshake>,
}

#[derive(Debug)]
struct Handshake {
    since: Instant,
    stream: Arc<Stream>,
}

impl Inner {
    /// Makes room for one more handshake; false if there is none.
    fn make_room(&mut self, sessions_max: u64, now: Instant) -> bool {
        let held = self.sessions.saturating_add(self.handshakes.len() as u64);
        if held <= sessions_max || self.handshakes.len() < HANDSHAKES_BEYOND {
            return true;
        }
        let Some(oldest) = self.handshakes.first_entry() else { return false };
        if now.saturating_duration_since(oldest.get().since) < HANDSHAKE_GRACE {
            return false;
        }
        // Its own thread finds the socket closed and ends.
        oldest.remove().stream.shut_down();
        true
    }
}

impl ConnectionSlots {
    /// Ends handshakes that have taken longer than `connect_timeout`, whatever their threads wait for. Those
    /// that wait for their clients have ended by themselves.
    pub(crate) fn end_overdue(&self, connect_timeout: Duration, now: Instant) {
        let inner = self.inner.lock();
        let is_overdue = |handshake: &&Handshake| {
            now.saturating_duration_since(handshake.since) > connect_timeout + OVERDUE
        };
        inner.handshakes.values().take_while(is_overdue).for_each(|handshake| handshake.stream.shut_down());
    }
}

/// A connection's slot; given back when dropped.
#[derive(Debug)]
pub struct ConnectionSlot {
    server: Arc<Server>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Handshake { ticket: u64 },
    Session,
    None,
}

impl ConnectionSlot {
    /// Gives a client that has just connected a slot for its handshake. `None`: it is one too many.
    pub fn enter(server: &Arc<Server>, stream: &Arc<Stream>) -> Option<Self> {
        ConnectionSlot::enter_at(server, stream, Instant::now())
    }

    fn enter_at(server: &Arc<Server>, stream: &Arc<Stream>, now: Instant) -> Option<Self> {
        let status = &server.status;
        bump(&status.connections, 1);
        let limit = sessions_max(server);
        let mut inner = server.connection_slots.inner.lock();
        if !inner.make_room(limit, now) {
            bump(&status.refused_at_limit, 1);
            return None;
        }
        inner.last_ticket += 1;
        let ticket = inner.last_ticket;
        inner.handshakes.insert(ticket, Handshake { since: now, stream: Arc::clone(stream) });
        let held = inner.sessions + inner.handshakes.len() as u64;
        drop(inner);
        status.threads_connected.fetch_add(1, Ordering::Relaxed);
        status.max_used_connections.fetch_max(held.min(limit + 1), Ordering::Relaxed);
        Some(ConnectionSlot { server: Arc::clone(server), kind: Kind::Handshake { ticket } })
    }

    /// Exchanges the handshake's slot for a session's, unless it is one. False: `max_connections` sessions
    /// are open, and the one beyond is for an administrator.
    pub fn admit(&mut self, is_admin: bool) -> bool {
        if self.kind == Kind::Session {
            return true;
        }
        let limit = sessions_max(&self.server).saturating_add(u64::from(is_admin));
        let mut inner = self.server.connection_slots.inner.lock();
        if inner.sessions >= limit {
            bump(&self.server.status.refused_at_limit, 1);
            return false;
        }
        if let Kind::Handshake { ticket } = self.kind {
            inner.handshakes.remove(&ticket);
        }
        inner.sessions += 1;
        drop(inner);
        self.kind = Kind::Session;
        true
    }

    /// Gives the handshake's slot to others while the connection stays open. [`ConnectionSlot::admit`] still
    /// works.
    pub fn release(&mut self) {
        self.give_back();
        self.kind = Kind::None;
    }

    fn give_back(&self) {
        let mut inner = self.server.connection_slots.inner.lock();
        match self.kind {
            // Absent where a newer handshake has taken the slot.
            Kind::Handshake { ticket } => drop(inner.handshakes.remove(&ticket)),
            Kind::Session => inner.sessions -= 1,
            Kind::None => {}
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.give_back();
        self.server.status.threads_connected.fetch_sub(1, Ordering::Relaxed);
    }
}

fn sessions_max(server: &Server) -> u64 {
    server.variables.read().named("max_connections").as_u64()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use engine::{Engine, EngineConfig};
    use env::SimDisk;

    use super::*;
    use crate::account::MemoryStore;
    use crate::options::{Invocation, Options};
    use crate::server_log::ServerLog;

    fn server(max_connections: u64) -> Arc<Server> {
        let args = [format!("--max-connections={max_connections}")];
        let Ok(Invocation::Serve(options)) = Options::parse(&args) else {
            panic!("right arguments");
        };
        let config =
            EngineConfig { pool_bytes: 8 << 20, ..EngineConfig::new(Arc::new(SimDisk::new()), "data") };
        let engine = Engine::open(config).unwrap();
        Server::new(*options, engine, Box::new(MemoryStore), ServerLog::to_stderr()).unwrap()
    }

    fn knock(server: &Arc<Server>, now: Instant) -> (Option<ConnectionSlot>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (ConnectionSlot::enter_at(server, &Arc::new(Stream::from(ours)), now), theirs)
    }

    #[test]
    fn the_last_slot_is_an_administrators() {
        let server = server(2);
        let mut slots: Vec<ConnectionSlot> =
            (0..4).map(|_| knock(&server, Instant::now()).0.unwrap()).collect();
        let admitted: Vec<bool> = [false, false, false, true]
            .into_iter()
            .zip(&mut slots)
            .map(|(admin, p)| p.admit(admin))
            .collect();
        assert_eq!(admitted, [true, true, false, true]);
        let mut second_admin = knock(&server, Instant::now()).0.unwrap();
        assert!(!second_admin.admit(true), "there is one such slot");
        assert_eq!(server.status.threads_connected.load(Ordering::Relaxed), 5);
        slots.clear();
        assert!(second_admin.admit(false));
    }

    #[test]
    fn a_new_handshake_takes_the_slot_of_one_that_had_its_time() {
        let server = server(40);
        let start = Instant::now();
        let held: Vec<_> = (0..41).map(|_| knock(&server, start)).collect();
        assert!(held.iter().all(|(slot, _)| slot.is_some()));
        assert!(knock(&server, start + HANDSHAKE_GRACE / 2).0.is_none(), "all are young");
        let (slot, _theirs) = knock(&server, start + HANDSHAKE_GRACE);
        assert!(slot.is_some());
        let is_closed = |theirs: &UnixStream| {
            theirs.set_nonblocking(true).unwrap();
            matches!(std::io::Read::read(&mut &*theirs, &mut [0]), Ok(0))
        };
        assert!(is_closed(&held[0].1), "the oldest has been ended");
        assert!(held[1..].iter().all(|(_, theirs)| !is_closed(theirs)));
        drop(held);
        assert_eq!(server.connection_slots.inner.lock().handshakes.len(), 1);
    }

    #[test]
    fn a_released_slot_is_free_and_its_connection_may_still_be_admitted() {
        let server = server(1);
        let mut first = knock(&server, Instant::now()).0.unwrap();
        first.release();
        assert_eq!(server.connection_slots.inner.lock().handshakes.len(), 0);
        assert!(first.admit(false));
        let mut second = knock(&server, Instant::now()).0.unwrap();
        second.release();
        assert!(!second.admit(false));
        drop((first, second));
        assert_eq!(server.connection_slots.inner.lock().sessions, 0);
    }
}
