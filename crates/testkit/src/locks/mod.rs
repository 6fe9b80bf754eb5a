//! Footprints of locks: what a statement keeps other sessions from, compared with MySQL's.
//!
//! ```text
//! [setup] CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL DEFAULT 999, v INT, KEY k (k))
//! ----
//!
//! [setup] INSERT INTO t VALUES (10, 10, 0), (20, 20, 0)
//! ----
//!
//! [probes] t PRIMARY (id): 5 12 18 25
//! ----
//!
//! [probes] t k (k): 5 12 20@25
//! ----
//!
//! [each] t FORCE INDEX (k) WHERE k > 15
//! ----
//! RR FOR UPDATE [t.k]: t X 20; t.k gaps 12 20@25
//! ```
//! The format is that of [`crate::script`]. `[setup]` statements make the tables. `[probes]` names an index,
//! the columns of its key, and keys that another session tries to insert; `20@25` is the key 20 of a row at
//! position 25 of the clustered index. The first `[probes]` of a table is its clustered index, whose columns
//! name the rows. `[each]` stands for several statements that read the same rows ([`statement::Verb`]); an
//! entry without a mark is one statement. Each statement runs at REPEATABLE READ and at READ COMMITTED, on
//! tables made again.
//!
//! A line of the answer holds the level, the verb, the tables and indexes of the plan, and the footprint:
//!
//! | part | meaning |
//! |---|---|
//! | `t X 20 30` | no other session can lock these rows at all |
//! | `t S 40` | other sessions can lock these rows FOR SHARE alone |
//! | `t.k gaps 12 18` | an insert at these positions of the index waits; `*`: at all of them, or at all clustered positions |
//! | `t.k entries X 20` | the index's entries of these rows are locked, and not the rows |
//!
//! Comments name where this server may differ (`rule.rs`).
//!
//! The footprint is what other sessions experience, not what the server's tables of locks say: `probe.rs`
//! tries to lock every row through every index, and to insert at every position.

mod fixture;
mod footprint;
mod probe;
mod rule;
mod run;
pub mod statement;

pub use rule::RULES;
pub use run::{Tally, compare_file, record_file};
