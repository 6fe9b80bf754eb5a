//! Options of accounts: REQUIRE.

use super::core::{Parser, Result};
use crate::ast::{TlsPart, TlsParts, TlsRequirement};
use crate::error::ParseErrorKind;
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// What follows REQUIRE.
    pub(super) fn tls_requirement(&mut self) -> Result<TlsRequirement<'a>> {
        let plain = match self.tok.kind {
            Tok::Kw(Kw::NONE) => TlsRequirement::None,
            Tok::Kw(Kw::SSL) => TlsRequirement::Ssl,
            Tok::Kw(Kw::X509) => TlsRequirement::X509,
            _ => return Ok(TlsRequirement::Specified(self.tls_parts()?)),
        };
        self.bump();
        Ok(plain)
    }

    /// SUBJECT, ISSUER and CIPHER in any order, with AND between them or nothing.
    fn tls_parts(&mut self) -> Result<TlsParts<'a>> {
        let mut parts = TlsParts::default();
        loop {
            let (part, place) = match self.tok.kind {
                Tok::Kw(Kw::SUBJECT) => (TlsPart::Subject, &mut parts.subject),
                Tok::Kw(Kw::ISSUER) => (TlsPart::Issuer, &mut parts.issuer),
                Tok::Kw(Kw::CIPHER) => (TlsPart::Cipher, &mut parts.cipher),
                _ => return self.syntax(),
            };
            self.bump();
            let text = self.string()?;
            if place.replace(text).is_some() {
                return Err(self.fail(ParseErrorKind::OptionTwice(part)));
            }
            let goes_on = self.eat_kw(Kw::AND)
                || matches!(self.tok.kind, Tok::Kw(Kw::SUBJECT | Kw::ISSUER | Kw::CIPHER));
            if !goes_on {
                return Ok(parts);
            }
        }
    }
}
