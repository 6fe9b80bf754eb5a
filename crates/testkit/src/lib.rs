//! Test support: SQL scripts with recorded answers, a server under test, the formatting that makes answers
//! comparable.
//!
//! Scripts live in `tests/sql`. Their expected answers are recorded from a real MySQL server by the `record`
//! binary and compared with this server's by `cargo test`; see [`script`] for the format.

pub mod access;
pub mod answer;
pub mod client;
pub mod conditions;
pub mod differential;
pub mod elle;
pub mod flags;
pub mod isolation;
pub mod kill9;
pub mod locks;
pub mod lockstep;
pub mod metadata;
mod recording;
pub mod recovery_speed;
pub mod runner;
pub mod script;
mod script_tests;
pub mod semantics;
pub mod server;
pub mod sim;
pub mod strict;
pub mod tool;

/// Whether the workspace is compiled with optimisation.
pub const IS_OPTIMISED: bool = cfg!(optimised);
