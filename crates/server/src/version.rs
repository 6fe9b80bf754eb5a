//! The server's name and version.

/// The MySQL version whose syntax, variables and errors are honoured.
pub(crate) const MYSQL_VERSION: &str = "8.4.6";
/// Version string of the greeting and of `@@version`: clients take it for MySQL 8.4. As MySQL's own, a build
/// with debug assertions says so at the end: its speed says nothing.
pub const VERSION: &str = if cfg!(debug_assertions) {
    concat!("8.4.6-ratchet-", env!("CARGO_PKG_VERSION"), "-debug")
} else {
    concat!("8.4.6-ratchet-", env!("CARGO_PKG_VERSION"))
};
/// `@@version_comment`.
pub const COMMENT: &str = "Ratchet";
