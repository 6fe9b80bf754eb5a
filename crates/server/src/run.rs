//! Statements: from text or prepared id to the packets of an answer.
//!
//! ```text
//! COM_QUERY (text) -> text known -------------------> planned::run
//!         \-> cache key -> plan cache ----hit--------/
//!                  \-> miss: parse -> compile -------/
//!                              \-> any other statement: statement::run
//! COM_STMT_PREPARE, COM_STMT_EXECUTE: prepare;  PREPARE, EXECUTE: named
//! ```

mod actual_param;
pub(crate) mod compile;
pub(crate) mod expression;
mod literal_rows;
mod load_local;
pub(crate) mod named;
mod param_class;
mod param_conversion;
mod param_fit;
pub(crate) mod params;
mod planned;
pub(crate) mod prepare;
pub(crate) mod take_rows;
pub(crate) mod text;
