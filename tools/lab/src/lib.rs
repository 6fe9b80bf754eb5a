//! The performance lab: two or more MySQL-protocol servers, one matrix of workloads, a verdict per row.
//!
//! ```text
//!  Config ──> Matrix: rows (workload x threads x setting), rounds, targets in random order
//!                │ per cell: pause the other targets, pin, set, run sysbench, read /proc meanwhile
//!                v
//!             Journal: one JSON line per cell, so that a run continues where it ended
//!                v
//!             Verdicts (paired log ratios, variance shared among rows, correction for many rows) ──> report
//! ```
//! # Invariants
//! 1. A cell is in the journal with a number only if the server answered throughout; else with what went
//!    wrong.
//! 2. Targets of a row are measured in one round, one right after the other, so that a slow minute of the
//!    machine hits all.
//! 3. Targets that answer differently have no number in that row.
//! 4. Nothing here knows the engine: any server that speaks the protocol is measured by the same means.
//!
//! # Failure
//! A target that is down, refuses or dies loses its cells; the run continues with the others.

pub mod bisect;
pub mod cell;
pub mod compare;
pub mod config;
pub mod error;
pub mod hot;
pub mod journal;
mod json_lines;
pub mod ledger;
pub mod machine;
pub mod process;
pub mod progress;
pub mod reference_workloads;
pub mod report;
pub mod sample;
pub mod stats;
pub mod sysbench;
pub mod tables;
pub mod target;
pub mod tpcc;
pub mod verify;
pub mod workload;

pub use error::{Error, Result};
