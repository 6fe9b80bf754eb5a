//! Tests of the server: sessions beside each other.

mod engine_status;
mod isolation;
mod locks;
mod slow_queries;
mod snapshot_isolation;
mod table_locks;
mod transactions;
mod undo_limit;
mod user_locks;
