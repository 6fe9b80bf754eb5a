//! Statements from hand-built plans to packets.

mod answer_memo;
mod changes;
mod column_definitions;
mod dives;
mod grouped;
mod hash_lookups;
mod int_points;
mod joins;
mod kernels;
mod like_filter;
mod page_filters;
mod point;
mod projection;
mod query;
mod ranges;
mod scan;
mod statements;
pub(crate) mod support;
mod versions;
