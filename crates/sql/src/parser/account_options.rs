//! Options of accounts: REQUIRE and WITH.

use super::core::{Parser, Result};
use crate::ast::{ResourceLimits, TlsPart, TlsParts, TlsRequirement};
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

    /// What follows WITH: one limit at least.
    pub(super) fn resource_limits(&mut self) -> Result<ResourceLimits> {
        let mut limits = ResourceLimits::default();
        loop {
            let place = match self.tok.kind {
                Tok::Kw(Kw::MAX_QUERIES_PER_HOUR) => &mut limits.queries,
                Tok::Kw(Kw::MAX_UPDATES_PER_HOUR) => &mut limits.updates,
                Tok::Kw(Kw::MAX_CONNECTIONS_PER_HOUR) => &mut limits.connections,
                Tok::Kw(Kw::MAX_USER_CONNECTIONS) => &mut limits.user_connections,
                _ if !limits.is_any() => return self.syntax(),
                _ => return Ok(limits),
            };
            self.bump();
            // MySQL keeps the lowest 32 bits.
            *place = Some(self.whole_part()? as u32);
        }
    }

    /// A number of any kind without its fraction and exponent; the largest one if it is too large.
    fn whole_part(&mut self) -> Result<u64> {
        let text = self.slice(self.tok);
        let (digits, radix) = match self.tok.kind {
            Tok::Int | Tok::Decimal | Tok::Float => (text, 10),
            Tok::Hex if text.starts_with(b"0x") => (&text[2..], 16),
            _ => return self.syntax(),
        };
        self.bump();
        let digits = digits.iter().map_while(|&digit| char::from(digit).to_digit(radix));
        let add = |value: u64, digit: u32| value.checked_mul(radix.into())?.checked_add(digit.into());
        Ok(digits.into_iter().try_fold(0, add).unwrap_or(u64::MAX))
    }
}
