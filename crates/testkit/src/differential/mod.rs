//! Two servers, the same random statements: what they answer differently is wrong in one of them.
//!
//! A round has a seed, a schema of its own with a few small tables ([`schema`]), a phase of data changes
//! ([`changes`]) after each of which every table is read through every index, and a phase of queries
//! ([`query`] over [`expr`]). Value domains are tiny, so that rows match, groups have members and unique keys
//! collide. The same seed gives the same statements; [`compare`] sends them and sorts the differences into
//! classes.

pub mod changes;
pub mod compare;
pub mod dice;
pub mod expr;
pub mod query;
pub mod schema;
