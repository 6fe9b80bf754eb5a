//! Running plans: operators over leaf batches, point operations as straight functions, row changes.
//!
//! ```text
//!  Plan --compile--> Program (shared)            Program::run(ExecCtx)
//!                     |- SelectProgram             Source -> Sink -> ... -> RowSender -> OutBuffer
//!                     |- InsertProgram ...         RowBuild -> storage bytes -> Table::insert_batch
//! ```
//!
//! Rows are pushed: a [source](source::Source) calls its [sink](source::Sink) with a chain of frames, one
//! link for each relation that has a current row. Records are read in place; only operators that must keep
//! rows copy them, as compact [temporary rows](temp_row). A leaf's rows travel as one batch where no operator
//! needs them one by one: also those of a join, with one fixed row from the other input. Output columns go
//! from page bytes straight into the connection's buffer.
//!
//! # Invariants
//! 1. No I/O to the client and no change of rows while a leaf is latched: a scan is suspended before its sink
//!    pauses, and a scan whose rows make others read pages is detached. A join's outer rows are copies, and
//!    its inner leaf is let go before the outer side continues.
//! 2. A frame is valid during one call of a sink; a sink that keeps a row copies it.
//! 3. A statement that fails with an effect on itself alone has undone its changes.
//! 4. A program is immutable; what a run needs lives in the run.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod access;
mod aggregate;
mod aggregate_hashed;
mod aggregate_ints;
mod aggregate_sorted;
mod answer;
mod answer_memo;
mod assign;
mod auto_numbers;
mod build;
mod build_side;
mod changed_row;
mod column_definitions;
mod column_store;
mod column_term;
mod columns;
mod compute;
mod conditions;
mod constant;
mod context;
mod delete;
mod derived;
mod distinct;
mod domain_key;
mod encode;
mod error;
mod filter;
mod filter_like;
mod filter_numbers;
mod filter_texts;
mod frame;
mod give_rows;
mod hash_lookup;
mod index_layout;
mod insert;
mod int_code;
mod int_key;
mod int_points;
mod int_spans;
mod int_sum;
mod intersect;
mod intervals;
mod join_hash;
mod join_ints;
mod join_key;
mod join_lookup;
mod join_nested;
mod joined_rows;
mod keep;
mod kept_rows;
mod key;
mod key_part;
mod key_runs;
mod key_values;
mod leaf_scan;
mod limit;
mod load;
mod load_lines;
mod op;
mod op_compiler;
mod operators;
mod outputs;
mod pair_sink;
mod plain_insert;
#[cfg(feature = "planted-validator")]
mod planted;
mod point;
mod point_update;
mod program;
mod project;
mod protocol;
mod quantified;
mod query;
mod query_run;
mod query_values;
mod range_bugs;
mod reader;
mod record_projection;
mod row_build;
mod row_expression;
mod row_target;
mod sort;
mod source;
mod statement;
mod statement_cache;
mod strict;
mod subquery;
mod subquery_cache;
mod table_copy;
mod table_filter;
mod temp_row;
mod union;
mod update;
mod virtual_table;
mod write_rows;

pub use columns::prepared_column_definition;
pub use conditions::{Conditions, Level};
pub use context::{Client, ExecCtx, LoadSource, Outcome, Scratch, Summary, SummaryText};
pub use error::{ExecError, Result};
pub use program::{Program, compile};
pub use protocol::Protocol;
pub use table_copy::{Copier, CopyCtx, TableCopy};

#[cfg(test)]
mod tests;
