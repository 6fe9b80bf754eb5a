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

pub mod slot;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

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

/// What a connection holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Handshake { ticket: u64 },
    Session,
    None,
}

/// A handshake that has begun.
#[derive(Clone, Copy, Debug)]
struct Begun {
    ticket: u64,
    /// Slots held, with its own.
    held: u64,
}

impl ConnectionSlots {
    /// Gives a handshake a slot while at most `sessions_max` sessions may be open; `None` if there is none.
    fn begin_handshake(&self, stream: &Arc<Stream>, sessions_max: u64, now: Instant) -> Option<Begun> {
        let mut inner = self.inner.lock();
        if !inner.make_room(sessions_max, now) {
            return None;
        }
        inner.last_ticket += 1;
        let ticket = inner.last_ticket;
        inner.handshakes.insert(ticket, Handshake { since: now, stream: Arc::clone(stream) });
        Some(Begun { ticket, held: inner.sessions + inner.handshakes.len() as u64 })
    }

    /// Exchanges what a connection holds, which is no session's slot, for that of one of at most
    /// `sessions_max` sessions. False: there is none, and nothing has changed.
    fn admit(&self, held: Kind, sessions_max: u64) -> bool {
        let mut inner = self.inner.lock();
        if inner.sessions >= sessions_max {
            return false;
        }
        if let Kind::Handshake { ticket } = held {
            inner.handshakes.remove(&ticket);
        }
        inner.sessions += 1;
        true
    }

    fn give_back(&self, held: Kind) {
        let mut inner = self.inner.lock();
        match held {
            // Absent where a newer handshake has taken the slot.
            Kind::Handshake { ticket } => drop(inner.handshakes.remove(&ticket)),
            Kind::Session => inner.sessions -= 1,
            Kind::None => {}
        }
    }

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
