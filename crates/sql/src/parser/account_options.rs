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
        match self.tok.kind {
            Tok::Int | Tok::Decimal | Tok::Float => {
                let number = digits(self.slice(self.tok)).unwrap_or(u64::MAX);
                self.bump();
                Ok(number)
            }
            _ => self.hex_number(),
        }
    }

    /// An integer, which may be hexadecimal. Numbers of other kinds have an error of their own.
    pub(super) fn integer(&mut self) -> Result<u64> {
        match (self.tok.kind, digits(self.slice(self.tok))) {
            (Tok::Int, Some(number)) => {
                self.bump();
                Ok(number)
            }
            (Tok::Int | Tok::Decimal | Tok::Float, _) => Err(self.fail(ParseErrorKind::OnlyIntegers)),
            _ => self.hex_number(),
        }
    }

    /// A hexadecimal literal; the largest signed number if it is too large.
    fn hex_number(&mut self) -> Result<u64> {
        if !self.at(Tok::Hex) {
            return self.syntax();
        }
        let bytes = self.literal_bytes()?;
        let add = |value: u64, &byte: &u8| value.checked_mul(256)?.checked_add(byte.into());
        Ok(bytes.iter().try_fold(0, add).unwrap_or(u64::MAX).min(i64::MAX as u64))
    }
}

/// The number of the digits that `text` begins with; `None` if it does not fit.
fn digits(text: &[u8]) -> Option<u64> {
    let digits = text.iter().map_while(|&digit| char::from(digit).to_digit(10));
    let add = |value: u64, digit: u32| value.checked_mul(10)?.checked_add(digit.into());
    digits.into_iter().try_fold(0, add)
}
