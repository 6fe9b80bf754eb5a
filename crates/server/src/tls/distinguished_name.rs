//! Names in certificates, as OpenSSL writes them in one line (`X509_NAME_oneline`), which MySQL compares.
//!
//! ```text
//! Certificate ::= SEQUENCE { tbs SEQUENCE {
//!     [0] version OPTIONAL, serial, signature, issuer Name, validity, subject Name, .. }, .. }
//! Name ::= SEQUENCE OF SET OF SEQUENCE { OBJECT IDENTIFIER, value }
//! ```
//! Each pair is `/type=value`; further pairs of one SET have `+` in place of the slash. A type is OpenSSL's
//! short name or, if it has none, the digits of its identifier. Bytes of a value beyond visible ASCII are
//! `\xHH`, a slash or plus has a backslash before it.

use std::fmt::Write as _;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_IDENTIFIER: u8 = 0x06;
/// A string of four bytes a character, which OpenSSL cuts to the last one if the others are zero.
const GENERAL_STRING: u8 = 0x1b;
/// The tag of the version, which certificates of version 1 lack.
const VERSION: u8 = 0xa0;

/// OpenSSL's short names of types, by the bytes of their identifiers.
const SHORT_NAMES: [(&[u8], &str); 31] = [
    (b"\x55\x04\x03", "CN"),
    (b"\x55\x04\x04", "SN"),
    (b"\x55\x04\x05", "serialNumber"),
    (b"\x55\x04\x06", "C"),
    (b"\x55\x04\x07", "L"),
    (b"\x55\x04\x08", "ST"),
    (b"\x55\x04\x09", "street"),
    (b"\x55\x04\x0a", "O"),
    (b"\x55\x04\x0b", "OU"),
    (b"\x55\x04\x0c", "title"),
    (b"\x55\x04\x0d", "description"),
    (b"\x55\x04\x0f", "businessCategory"),
    (b"\x55\x04\x11", "postalCode"),
    (b"\x55\x04\x12", "postOfficeBox"),
    (b"\x55\x04\x14", "telephoneNumber"),
    (b"\x55\x04\x29", "name"),
    (b"\x55\x04\x2a", "GN"),
    (b"\x55\x04\x2b", "initials"),
    (b"\x55\x04\x2c", "generationQualifier"),
    (b"\x55\x04\x2e", "dnQualifier"),
    (b"\x55\x04\x41", "pseudonym"),
    (b"\x55\x04\x48", "role"),
    (b"\x55\x04\x61", "organizationIdentifier"),
    (b"\x09\x92\x26\x89\x93\xf2\x2c\x64\x01\x01", "UID"),
    (b"\x09\x92\x26\x89\x93\xf2\x2c\x64\x01\x03", "mail"),
    (b"\x09\x92\x26\x89\x93\xf2\x2c\x64\x01\x19", "DC"),
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01", "emailAddress"),
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x02", "unstructuredName"),
    (b"\x2b\x06\x01\x04\x01\x82\x37\x3c\x02\x01\x01", "jurisdictionL"),
    (b"\x2b\x06\x01\x04\x01\x82\x37\x3c\x02\x01\x02", "jurisdictionST"),
    (b"\x2b\x06\x01\x04\x01\x82\x37\x3c\x02\x01\x03", "jurisdictionC"),
];

/// Subject and issuer of a certificate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CertificateNames {
    pub(crate) subject: String,
    pub(crate) issuer: String,
}

impl CertificateNames {
    /// The names in a certificate in DER; `None` if it is none.
    pub(super) fn read(certificate: &[u8]) -> Option<Self> {
        let (mut outer, _) = expect(certificate, SEQUENCE)?;
        let mut tbs = take(&mut outer, SEQUENCE)?;
        if tbs.first() == Some(&VERSION) {
            take(&mut tbs, VERSION)?;
        }
        next(&mut tbs)?;
        take(&mut tbs, SEQUENCE)?;
        let issuer = one_line(take(&mut tbs, SEQUENCE)?)?;
        take(&mut tbs, SEQUENCE)?;
        let subject = one_line(take(&mut tbs, SEQUENCE)?)?;
        Some(CertificateNames { subject, issuer })
    }
}

/// The content of a Name as text.
fn one_line(mut name: &[u8]) -> Option<String> {
    let mut text = String::new();
    while !name.is_empty() {
        let mut set = take(&mut name, SET)?;
        let mut sign = '/';
        while !set.is_empty() {
            let mut pair = take(&mut set, SEQUENCE)?;
            let kind = take(&mut pair, OBJECT_IDENTIFIER)?;
            let (tag, value) = next(&mut pair)?;
            text.push(sign);
            push_type(kind, &mut text);
            text.push('=');
            push_value(tag, value, &mut text);
            sign = '+';
        }
    }
    Some(text)
}

fn push_type(kind: &[u8], text: &mut String) {
    if let Some((_, name)) = SHORT_NAMES.iter().find(|(bytes, _)| *bytes == kind) {
        text.push_str(name);
        return;
    }
    let mut number: u128 = 0;
    let mut is_first = true;
    for byte in kind {
        number = (number << 7) | u128::from(byte & 0x7f);
        if byte & 0x80 != 0 {
            continue;
        }
        // A String takes everything.
        if is_first {
            let top = (number / 40).min(2);
            let _ = write!(text, "{top}.{}", number - 40 * top);
        } else {
            let _ = write!(text, ".{number}");
        }
        (number, is_first) = (0, false);
    }
}

fn push_value(tag: u8, value: &[u8], text: &mut String) {
    let is_cut = tag == GENERAL_STRING
        && value.len().is_multiple_of(4)
        && value.chunks_exact(4).all(|character| character[..3] == [0; 3]);
    for byte in value.iter().skip(if is_cut { 3 } else { 0 }).step_by(if is_cut { 4 } else { 1 }) {
        match byte {
            b'/' | b'+' => text.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => drop(write!(text, "\\x{byte:02X}")),
        }
    }
}

/// Takes one element with this tag off the front of `bytes`; its content.
fn take<'a>(bytes: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (content, rest) = expect(bytes, tag)?;
    *bytes = rest;
    Some(content)
}

/// Takes any element off the front of `bytes`; its tag and content.
fn next<'a>(bytes: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let tag = *bytes.first()?;
    Some((tag, take(bytes, tag)?))
}

/// The content of the element with this tag at the front of `bytes`, and what follows it.
fn expect(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (_, rest) = bytes.split_first().filter(|(first, _)| **first == tag)?;
    let (&length, rest) = rest.split_first()?;
    if length < 0x80 {
        return rest.split_at_checked(length.into());
    }
    let (digits, rest) = rest.split_at_checked((length & 0x7f).into()).filter(|_| length <= 0x84)?;
    let length = digits.iter().fold(0, |length: usize, digit| (length << 8) | usize::from(*digit));
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, CertifiedIssuer, DnType, KeyPair};

    use super::*;

    /// The subject of a certificate that OpenSSL has made, as hexadecimal digits.
    const OF_OPENSSL: &str = "308188310b30090603550406130255533111300f06035504080c084e657720596f726b310e300c0\
        6035504070c05612f622b633110300e060355040a0c074772c3b6c39f65310a3008060355040b0c0178310a3008060355040b0\
        c0179310b3009060253040c036f776e311f300906035504030c026d65301206092a864886f70d01090116056140622e63";

    fn bytes(digits: &str) -> Vec<u8> {
        let pairs = digits.as_bytes().chunks(2);
        pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    #[test]
    fn names_are_written_as_openssl_writes_them() {
        let name = bytes(OF_OPENSSL);
        let (content, rest) = expect(&name, SEQUENCE).unwrap();
        assert!(rest.is_empty());
        // openssl x509 -noout -subject -nameopt compat
        let line = "/C=US/ST=New York/L=a\\/b\\+c/O=Gr\\xC3\\xB6\\xC3\\x9Fe/OU=x/OU=y/2.3.4=own\
            /CN=me+emailAddress=a@b.c";
        assert_eq!(one_line(content).as_deref(), Some(line));
        for end in 0..name.len() {
            assert_eq!(expect(&name[..end], SEQUENCE), None);
        }
        for cut in 1..content.len() {
            // A text that is cut off ends in the middle of a pair, or after one.
            let _ = one_line(&content[..cut]);
        }
    }

    #[test]
    fn long_characters_are_cut_if_they_may() {
        let mut text = String::new();
        push_value(GENERAL_STRING, b"\0\0\0a\0\0\0b", &mut text);
        push_value(GENERAL_STRING, b"abcd", &mut text);
        assert_eq!(text, "ababcd");
    }

    #[test]
    fn a_certificate_has_a_subject_and_an_issuer() {
        let named = |names: &[(DnType, &str)]| {
            let mut params = CertificateParams::default();
            params.distinguished_name = rcgen::DistinguishedName::new();
            for (kind, name) in names {
                params.distinguished_name.push(kind.clone(), *name);
            }
            params
        };
        let key = || KeyPair::generate().unwrap();
        let authority = named(&[(DnType::CountryName, "CH"), (DnType::CommonName, "The authority")]);
        let authority = CertifiedIssuer::self_signed(authority, key()).unwrap();
        let client = named(&[(DnType::OrganizationName, "o"), (DnType::CommonName, "c")]);
        let certificate = client.signed_by(&key(), &authority).unwrap();
        let names = CertificateNames::read(certificate.der()).unwrap();
        assert_eq!((&*names.subject, &*names.issuer), ("/O=o/CN=c", "/C=CH/CN=The authority"));
        let nameless = named(&[]).signed_by(&key(), &authority).unwrap();
        assert_eq!(CertificateNames::read(nameless.der()).unwrap().subject, "");
        for end in 0..certificate.der().len() {
            assert_eq!(CertificateNames::read(&certificate.der()[..end]), None);
        }
    }
}
