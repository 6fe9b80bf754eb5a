//! Whether a history of transactions is one that its isolation level permits, after the method of Elle
//! (Kingsbury and Alvaro).
//!
//! ```text
//!  workload.rs: sessions --> history.rs: what was done and answered --> versions.rs: the order of each key's versions
//!                                                                              |
//!                  anomaly.rs: which level permits what <-- judge.rs <-- graph.rs: cycles of ww, wr, rw and time
//! ```
//! Values are unique, so that a read shows whose write it saw; lists, and numbers beside the registers, tell
//! the order of the writes. Nothing about the server is trusted but its answers.

pub mod anomaly;
pub mod client;
pub mod graph;
pub mod history;
pub mod judge;
#[cfg(test)]
mod tests;
mod versions;
pub mod workload;
