//! The access-path suite: how many rows each query examines, beside the fewest that one key would take and
//! beside MySQL's.
//!
//! A file under `tests/access` has a schema, its data and queries ([`file`]). MySQL's answers and counts are
//! recorded by the `record` binary, plans and counts of this server by the test itself when asked to
//! ([`check`]). Each schema is made twice: the second time with its rows in another order and its keys
//! declared in the reverse order, which is to change no plan.
//!
//! *What counts as examined*: on this server `Ratchet_rows_examined`; on MySQL the sum of `Handler_read%`,
//! with index condition pushdown off, because entries that it refuses are read and not counted. The fewest
//! rows by one key are the least of what the query examines as it is and with `FORCE INDEX` of each index in
//! turn ([`hints`]).

pub mod check;
pub mod cpu;
pub mod file;
mod hints;
mod measure;
pub mod record;
mod schema;
