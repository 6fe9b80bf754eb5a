//! TPC-C: order entry by many terminals, after the specification of the Transaction Processing Performance
//! Council (revision 5.11).
//!
//! ```text
//!  Plan ──> load: tables of a number of warehouses, the same rows on every server
//!    │
//!    └────> rounds: per server a Run: crews of terminals ── decks of transactions ──> statements of a dialect ──> links
//!                                        │
//!                                        └── latencies, retries ──> Figures ──> report
//!                     then the consistency conditions of clause 3.3.2
//! ```
//! # Where it departs from the specification
//! Keying and think times are zero, and a terminal runs Delivery itself instead of queueing it. A result is
//! therefore no tpmC that may be published as TPC-C; it serves to compare servers.

mod answer;
pub mod check;
pub mod compare;
mod crew;
mod delivery;
pub mod dialect;
mod link;
mod load;
pub mod measure;
mod mix;
mod new_order;
mod order_status;
mod payment;
pub mod random;
pub mod report;
pub mod scale;
mod schema;
mod session;
mod stock_level;
mod terminal;

pub use load::load;
pub use mix::Kind;
