//! The lab on servers of this build.

#![allow(clippy::unwrap_used, reason = "test code")]

mod comparisons;
mod tpcc;
