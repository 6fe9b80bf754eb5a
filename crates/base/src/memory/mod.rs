//! Memory that clients make the server hold: charged to accounts before it is taken.
//!
//! ```text
//! ServerAccount <-- ConnectionAccount <-- StatementAccount <-- Charge: ChargedVec, ByteStore, ...
//!   atomics          steps of memory       the limit of          an operator's or a buffer's
//!   one server       one thread            one statement         part, released when it drops
//! ```
//!
//! A container charges what its next allocation takes before it makes it; while contents move, both the old
//! and the new allocation are charged. Rows cost nothing: the capacity check of a growing buffer is the only
//! check, and it exists without an account too. A statement that grows no buffer touches no account.

mod account;
mod byte_store;
mod charge;
mod pieces;

pub use account::{
    ConnectionAccount, ConnectionLimits, KeptBytes, LimitExceeded, Purpose, ServerAccount, StatementAccount,
};
pub use byte_store::{ByteStore, Place};
pub use charge::{Charge, ChargedVec};
pub use pieces::append_in_pieces;

/// Approximate overhead of an allocation, bytes.
pub const ALLOCATION_OVERHEAD_BYTES: usize = 16;
