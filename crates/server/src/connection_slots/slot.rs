//! The slot that a connection holds while it lives.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::Kind;
use crate::server::Server;
use crate::status::bump;
use crate::stream::Stream;

/// A connection's slot; given back when dropped.
#[derive(Debug)]
pub struct ConnectionSlot {
    server: Arc<Server>,
    kind: Kind,
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
        let Some(begun) = server.connection_slots.begin_handshake(stream, limit, now) else {
            bump(&status.refused_at_limit, 1);
            return None;
        };
        status.threads_connected.fetch_add(1, Ordering::Relaxed);
        status.max_used_connections.fetch_max(begun.held.min(limit + 1), Ordering::Relaxed);
        Some(ConnectionSlot { server: Arc::clone(server), kind: Kind::Handshake { ticket: begun.ticket } })
    }

    /// Exchanges the handshake's slot for a session's, unless it is one. False: `max_connections` sessions
    /// are open, and the one beyond is for an administrator.
    pub fn admit(&mut self, is_admin: bool) -> bool {
        if self.kind == Kind::Session {
            return true;
        }
        let limit = sessions_max(&self.server).saturating_add(u64::from(is_admin));
        if !self.server.connection_slots.admit(self.kind, limit) {
            bump(&self.server.status.refused_at_limit, 1);
            return false;
        }
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
        self.server.connection_slots.give_back(self.kind);
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

    use super::super::HANDSHAKE_GRACE;
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
