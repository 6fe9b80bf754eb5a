//! Statements from hand-built plans to packets.

mod point;
mod query;
mod scan;
mod support;
