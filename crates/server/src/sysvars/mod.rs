//! System variables: what they are called, what they may hold, who may set them.
//!
//! [`table`] lists them; a [`Variables`] holds one value for each of them, the server's (global) or one
//! session's. A session begins with the server's values shared, and copies them at its first SET. Values that
//! statements need all the time are typed in [`HotVariables`] beside them.

mod definition;
mod hot;
mod only_default;
mod sql_mode;
mod table;
mod value;
mod variables;

pub use definition::{Access, Scope, VarDef, VarKind, VarLevel, find};
pub use hot::{HotVariables, Isolation};
pub(crate) use sql_mode::warnings as sql_mode_warnings;
pub use table::ALL;
pub(crate) use value::parse_switch;
pub use value::{SetValue, VarValue};
pub use variables::{Assigned, Variables};
