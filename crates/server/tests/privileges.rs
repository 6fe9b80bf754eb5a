//! Runs every script of `tests/privileges` against a server of its own and compares with the recorded
//! answers: who may run which statement.

#![allow(clippy::unwrap_used, reason = "test code")]

testkit::script_tests!("privileges", testkit::runner::run_file;
    account_tables,
    active_roles,
    auth_socket,
    default_roles,
    expired,
    failed_login_attempts,
    grant_statements,
    mandatory_roles,
    on_databases,
    on_everything,
    on_tables,
    own_account,
    password_current,
    password_history,
    revoked,
    role_accounts,
    role_grants,
    role_privileges,
    roles,
    second_passwords,
    show_create_user,
    show_privileges,
    user_attributes,
    validate_password,
);
