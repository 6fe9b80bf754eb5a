//! Memory of a connection that one command with a statement leaves to the next.

use bumpalo::Bump;
use sql::CacheKey;

use crate::plan_cache::SessionPlans;

/// Bytes of an arena, and of a cache key, kept between commands.
const KEPT_ARENA_BYTES_MAX: usize = 256 << 10;
/// Capacity kept for packets between commands.
const KEPT_PACKET_BYTES_MAX: usize = 1 << 20;

/// Memory of a command with a statement, reused by the next. A command takes it out of its session, so that
/// it can borrow the text and the plan from here while the statement runs on the session.
#[derive(Debug, Default)]
pub struct Workspace {
    /// The packet.
    pub packet: Vec<u8>,
    /// Arena for syntax trees and values of parameters.
    pub arena: Bump,
    /// Cache key of the current statement.
    pub key: CacheKey,
    /// Plans used lately.
    pub plans: SessionPlans,
}

impl Workspace {
    /// Gives what a long statement has made large to the allocator.
    pub fn trim(&mut self) {
        if self.arena.allocated_bytes() > KEPT_ARENA_BYTES_MAX {
            self.arena = Bump::new();
        }
        if self.key.heap_bytes() > KEPT_ARENA_BYTES_MAX {
            self.key = CacheKey::new();
        }
    }

    /// Forgets what the command had.
    #[inline]
    pub fn clear(&mut self) {
        self.arena.reset();
        if self.packet.capacity() > KEPT_PACKET_BYTES_MAX {
            self.packet = Vec::new();
        }
    }
}
