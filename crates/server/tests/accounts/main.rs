//! Tests of the server: who gets in, and may do what.

mod account_tables;
mod audit_log;
mod auth_socket;
mod column_privileges;
mod hostile_logins;
mod limited_accounts;
mod new_passwords;
mod partial_revokes;
mod password_policies;
mod privileges;
mod proxies;
mod resource_limits;
mod roles;
mod service_user;
#[path = "../support/mod.rs"]
mod support;
mod validate_password;
