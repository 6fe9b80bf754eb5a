//! REQUIRE: how the clients of an account have to connect.

use std::fmt;

use sql::ast::{self, TlsParts};

use crate::error_map::{self, SqlError};
use crate::tls::TlsSession;

/// Longest subject, issuer or cipher in bytes: what a BLOB holds.
const TEXT_BYTES_MAX: usize = u16::MAX as usize;

/// An account's requirements on its clients' connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TlsRequirement {
    /// Nothing.
    #[default]
    None,
    /// TLS.
    Ssl,
    /// A certificate of an authority that the server knows.
    X509,
    /// A certificate or a cipher like this.
    Specified(Box<Specified>),
}

/// A certificate's subject and issuer as OpenSSL writes them in one line, and a cipher by OpenSSL's name;
/// `None`: any will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specified {
    subject: Option<Box<str>>,
    issuer: Option<Box<str>>,
    cipher: Option<Box<str>>,
}

impl TlsRequirement {
    /// The requirement as a statement writes it.
    ///
    /// # Errors
    /// 1406 for a text beyond 64 KiB.
    pub(crate) fn written(written: ast::TlsRequirement<'_>) -> Result<Self, SqlError> {
        Ok(match written {
            ast::TlsRequirement::None => TlsRequirement::None,
            ast::TlsRequirement::Ssl => TlsRequirement::Ssl,
            ast::TlsRequirement::X509 => TlsRequirement::X509,
            ast::TlsRequirement::Specified(TlsParts { subject, issuer, cipher }) => {
                let (subject, issuer) = (kept(subject, "x509_subject")?, kept(issuer, "x509_issuer")?);
                let cipher = kept(cipher, "ssl_cipher")?;
                TlsRequirement::Specified(Box::new(Specified { subject, issuer, cipher }))
            }
        })
    }

    /// Whether a connection is as required. `tls`: its TLS, if it has any.
    pub(crate) fn is_met(&self, tls: Option<&TlsSession>) -> bool {
        match self {
            TlsRequirement::None => true,
            TlsRequirement::Ssl => tls.is_some(),
            TlsRequirement::X509 => tls.is_some_and(TlsSession::has_certificate),
            TlsRequirement::Specified(specified) => tls.is_some_and(|tls| specified.is_met(tls)),
        }
    }

    /// The member of the column `ssl_type` of `mysql.user`, counted from 0.
    pub(crate) fn ssl_type(&self) -> u16 {
        match self {
            TlsRequirement::None => 0,
            TlsRequirement::Ssl => 1,
            TlsRequirement::X509 => 2,
            TlsRequirement::Specified(_) => 3,
        }
    }

    /// Cipher, issuer and subject, empty where there are none.
    pub(crate) fn texts(&self) -> [&str; 3] {
        match self {
            TlsRequirement::Specified(specified) => {
                let Specified { subject, issuer, cipher } = &**specified;
                [cipher, issuer, subject].map(|text| text.as_deref().unwrap_or_default())
            }
            _ => [""; 3],
        }
    }

    /// The requirement as bytes: its word, or for each specified text `S`, `I` or `C`, a little-endian u32
    /// length and the text. Empty for no requirement.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let specified = match self {
            TlsRequirement::None => return Vec::new(),
            TlsRequirement::Ssl => return b"ssl".to_vec(),
            TlsRequirement::X509 => return b"x509".to_vec(),
            TlsRequirement::Specified(specified) => specified,
        };
        let mut bytes = Vec::new();
        let Specified { subject, issuer, cipher } = &**specified;
        for (tag, text) in [(b'S', subject), (b'I', issuer), (b'C', cipher)] {
            if let Some(text) = text {
                bytes.push(tag);
                bytes.extend((text.len() as u32).to_le_bytes());
                bytes.extend(text.as_bytes());
            }
        }
        bytes
    }

    /// What [`TlsRequirement::encode`] wrote of a requirement of one word.
    pub(crate) fn decode_word(bytes: &[u8]) -> Option<Self> {
        match bytes {
            b"ssl" => Some(TlsRequirement::Ssl),
            b"x509" => Some(TlsRequirement::X509),
            _ => None,
        }
    }

    /// What [`TlsRequirement::encode`] wrote of specified texts.
    pub(crate) fn decode_specified(mut bytes: &[u8]) -> Option<Self> {
        let mut specified = Specified { subject: None, issuer: None, cipher: None };
        while let Some((tag, after)) = bytes.split_first() {
            let (length, after) = after.split_first_chunk()?;
            let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            let place = match tag {
                b'S' => &mut specified.subject,
                b'I' => &mut specified.issuer,
                b'C' => &mut specified.cipher,
                _ => return None,
            };
            *place = Some(std::str::from_utf8(text).ok()?.into());
            bytes = after;
        }
        Some(TlsRequirement::Specified(Box::new(specified)))
    }
}

impl Specified {
    fn is_met(&self, tls: &TlsSession) -> bool {
        let fits = |wanted: &Option<Box<str>>, text: &str| wanted.as_deref().is_none_or(|it| it == text);
        if !fits(&self.cipher, tls.cipher()) {
            return false;
        }
        if self.subject.is_none() && self.issuer.is_none() {
            return true;
        }
        let names = tls.certificate_names();
        names.is_some_and(|names| fits(&self.subject, &names.subject) && fits(&self.issuer, &names.issuer))
    }
}

/// The text after REQUIRE in SHOW CREATE USER. Quotes and backslashes are doubled, so that a text ends where
/// it ends when the statement is run. Under `NO_BACKSLASH_ESCAPES` backslashes stay doubled.
impl fmt::Display for TlsRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let specified = match self {
            TlsRequirement::None => return f.write_str("NONE"),
            TlsRequirement::Ssl => return f.write_str("SSL"),
            TlsRequirement::X509 => return f.write_str("X509"),
            TlsRequirement::Specified(specified) => specified,
        };
        let Specified { subject, issuer, cipher } = &**specified;
        let texts = [("SUBJECT", subject), ("ISSUER", issuer), ("CIPHER", cipher)];
        let mut gap = "";
        for (word, text) in texts {
            if let Some(text) = text {
                let text = text.replace('\\', "\\\\").replace('\'', "''");
                write!(f, "{gap}{word} '{text}'")?;
                gap = " ";
            }
        }
        Ok(())
    }
}

fn kept(text: Option<&str>, column: &str) -> Result<Option<Box<str>>, SqlError> {
    match text {
        Some(text) if text.len() > TEXT_BYTES_MAX => Err(error_map::DATA_TOO_LONG.with(&[&column, &1])),
        text => Ok(text.map(Box::from)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_where_they_end_in_show_create_user() {
        for (text, shown) in [
            ("/CN=a", "SUBJECT '/CN=a'"),
            ("it's", "SUBJECT 'it''s'"),
            ("\\' ACCOUNT UNLOCK; -- ", r"SUBJECT '\\'' ACCOUNT UNLOCK; -- '"),
            ("ends with \\", r"SUBJECT 'ends with \\'"),
        ] {
            let parts = TlsParts { subject: Some(text), ..TlsParts::default() };
            let requirement = TlsRequirement::written(ast::TlsRequirement::Specified(parts)).unwrap();
            assert_eq!(requirement.to_string(), shown);
        }
        let parts = TlsParts { subject: None, issuer: Some("'"), cipher: Some("'") };
        let requirement = TlsRequirement::written(ast::TlsRequirement::Specified(parts)).unwrap();
        assert_eq!(requirement.to_string(), "ISSUER '''' CIPHER ''''");
    }

    #[test]
    fn requirements_are_read_as_they_were_written() {
        for (subject, issuer, cipher) in
            [(Some("/CN=a"), None, None), (None, Some(""), Some("X")), (Some("s"), Some("i"), Some("c"))]
        {
            let parts = ast::TlsRequirement::Specified(TlsParts { subject, issuer, cipher });
            let requirement = TlsRequirement::written(parts).unwrap();
            assert_eq!(TlsRequirement::decode_specified(&requirement.encode()), Some(requirement));
        }
        for requirement in [TlsRequirement::Ssl, TlsRequirement::X509] {
            assert_eq!(TlsRequirement::decode_word(&requirement.encode()), Some(requirement));
        }
        for damaged in [&b"S\x02\0\0\0a"[..], b"Z\0\0\0\0", b"S", b"S\x01\0\0\0\xff"] {
            assert_eq!(TlsRequirement::decode_specified(damaged), None);
        }
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        let parts = TlsParts { subject: Some(&long), ..TlsParts::default() };
        let error = TlsRequirement::written(ast::TlsRequirement::Specified(parts)).unwrap_err();
        assert_eq!(error.message, "Data too long for column 'x509_subject' at row 1");
    }
}
