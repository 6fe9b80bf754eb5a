//! Errors of the binder, names and types of what it binds.

mod errors;
pub(crate) mod fixture;
mod output;
mod recorded;
