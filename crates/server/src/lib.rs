//! The server: options, listeners, sessions, variables, accounts, statements' way from packet to answer.
//!
//! ```text
//! main -> daemon -> listener --(thread per connection)--> connection -> authenticate
//!                                                              \-> commands -> run -> parser, planner, exec
//! ```
//!
//! Invariants:
//! 1. MySQL error numbers are known to [`error_map`] alone; other layers' errors are mapped here.
//! 2. A statement costs one receive and one send: its whole answer is in the connection's output buffer when
//!    its command returns, unless it is longer than the buffer's flush threshold.
//! 3. Input never panics. A panic outside critical sections costs its own client statement, transaction and
//!    connection (`connection`); one inside ends the process.
//! 4. No lock of this crate is held while a statement runs or a socket is waited for.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod account;
mod account_change;
mod account_directory;
mod activity;
pub mod answer;
mod audit;
pub mod authenticate;
pub mod bind_error;
pub mod catalog;
pub mod client_io;
pub mod commands;
pub mod compiled;
mod components;
mod compression;
pub mod connection;
pub mod connection_slots;
pub mod constant;
pub mod daemon;
pub mod ddl;
mod deadlines;
mod deadlock_report;
mod default_database;
pub mod diagnostics;
mod engine_accounts;
pub mod engine_error;
mod engine_settings;
pub mod error_map;
pub mod exec_error;
pub mod failed_logins;
mod full_name;
mod given_type;
mod host_cache;
mod idle_watch;
mod initialize;
pub mod inputs;
pub mod item_names;
mod kill;
mod like;
pub mod listener;
mod lock_text;
mod lockout;
mod log_file;
pub mod login;
mod login_delay;
mod memory_error;
mod memory_limits;
mod new_password;
mod option_file;
pub mod options;
mod parse_error;
mod password_age;
mod password_history;
mod password_policy;
mod password_rules;
mod password_strength;
pub mod peer;
pub mod plan_cache;
pub mod plan_key;
pub mod prepared;
pub mod privilege;
pub mod process_list;
mod proxy_grants;
mod redo_log;
pub mod refusal;
mod reset;
pub mod resource_limits;
pub mod resource_use;
pub mod response;
pub mod roles;
pub mod run;
mod second_password;
pub mod server;
pub mod server_log;
mod service_user;
pub mod session;
pub mod set_statement;
pub mod show;
pub mod socket;
pub mod stack;
pub mod statement;
pub mod statement_context;
mod statement_memory;
pub mod status;
pub mod stream;
pub mod sysvars;
pub mod table_locks;
mod tls;
pub mod tls_requirement;
pub mod transaction;
mod undo_settings;
mod user_attributes;
mod user_locks;
pub mod user_statement;
mod user_variable;
pub mod version;
mod virtual_tables;
