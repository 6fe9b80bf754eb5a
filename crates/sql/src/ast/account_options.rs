//! Options of accounts: how their clients have to connect, and how much they may do.

use std::fmt;

/// TLS an account requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsRequirement<'a> {
    /// NONE
    None,
    /// SSL
    Ssl,
    /// X509
    X509,
    /// One at least of SUBJECT, ISSUER and CIPHER
    Specified(TlsParts<'a>),
}

/// SUBJECT, ISSUER and CIPHER of REQUIRE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsParts<'a> {
    /// Subject of the client's certificate.
    pub subject: Option<&'a str>,
    /// Issuer of the client's certificate.
    pub issuer: Option<&'a str>,
    /// OpenSSL's name of the connection's cipher.
    pub cipher: Option<&'a str>,
}

/// One of the parts that REQUIRE specifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsPart {
    /// SUBJECT
    Subject,
    /// ISSUER
    Issuer,
    /// CIPHER
    Cipher,
}

impl fmt::Display for TlsPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TlsPart::Subject => "SUBJECT",
            TlsPart::Issuer => "ISSUER",
            TlsPart::Cipher => "CIPHER",
        })
    }
}

/// What follows WITH; `None`: not named. The last one of a name counts; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceLimits {
    /// MAX_QUERIES_PER_HOUR
    pub queries: Option<u32>,
    /// MAX_UPDATES_PER_HOUR
    pub updates: Option<u32>,
    /// MAX_CONNECTIONS_PER_HOUR
    pub connections: Option<u32>,
    /// MAX_USER_CONNECTIONS
    pub user_connections: Option<u32>,
}

impl ResourceLimits {
    /// Whether one is named.
    pub fn is_any(&self) -> bool {
        *self != ResourceLimits::default()
    }
}
