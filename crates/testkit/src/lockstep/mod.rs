//! Ratchet beside a live MySQL: both take the same statements, and every part of their answers is compared.
//!
//! ```text
//! files, generate ---> case ---> pair ---> compare ---> groups ---> shrink ---> report
//!                                 |                       ^
//!                            client x 2              explained
//! ```
//!
//! A [`case::Case`] is a list of statements for a session of its own; it comes from a script ([`files`]) or
//! from a seed ([`generate`]). [`pair::Pair`] sends each to both servers and [`compare`] names the
//! differences: rows, numbers, errors, warnings, names and types, and on demand whole column definitions and
//! changes of the session's state. [`run`] spreads cases over connections, [`groups`] collects differences of
//! one cause, and [`explained`] sets known ones aside.

pub mod case;
pub mod client;
pub mod compare;
mod decode;
pub mod explained;
pub mod files;
pub mod generate;
pub mod groups;
mod order;
pub mod pair;
pub mod parameter;
pub mod reply;
pub mod report;
pub mod run;
mod shrink;
mod tokens;
pub mod write;
