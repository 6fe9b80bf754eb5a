//! SQL types and values, DECIMAL, dates and times, collations, storage encodings, normalised keys, table
//! definitions.
//!
//! Knows nothing of pages, packets or statements. Three forms of a value meet here:
//! - [`Value`]: what the interpreter computes with;
//! - *storage bytes* ([`storage`]): what a record holds for one column, fixed width or used bytes only;
//! - *normalised key bytes* ([`key`]): order-preserving under `memcmp`, what B-trees compare.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod collation;
pub mod decimal;
pub mod def;
pub mod key;
pub mod locale;
pub mod row_history;
pub mod sql_mode;
pub mod sql_type;
pub mod statistics;
pub mod storage;
pub mod storage_hint;
pub mod temporal;
pub mod text;
pub mod value;

pub use collation::{Charset, Collation, CollationId};
pub use decimal::Decimal;
pub use def::{
    ColumnDef, ColumnDefault, EXPRESSION_BYTES_MAX, IndexDef, IndexKind, KeyPart, TableDef, UnknownField,
    UnknownFields,
};
pub use key::{KeyColumn, KeyEncoder};
pub use locale::Locale;
pub use row_history::{AddedColumn, PastColumn, RowHistory};
pub use sql_mode::SqlModes;
pub use sql_type::{LobSize, SqlType, TypeKind};
pub use statistics::{KeyStatistics, TableStatistics};
pub use storage::{Problem, StoreContext, StoreError, StoreNote};
pub use storage_hint::StorageHint;
pub use temporal::{Date, DateTime, Time, TimeZone};
pub use text::TextEncoder;
pub use value::{OwnedValue, Value};
