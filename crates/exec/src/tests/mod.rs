//! Statements from hand-built plans to packets.

mod point;
mod scan;
mod support;
