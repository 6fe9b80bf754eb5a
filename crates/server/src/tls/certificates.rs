//! Certificates that a server makes for itself at its first start.
//!
//! | file | what |
//! |---|---|
//! | ca.pem, ca-key.pem | an authority of its own |
//! | server-cert.pem, server-key.pem | signed by it: the server's |
//! | client-cert.pem, client-key.pem | signed by it: for a client of an account with REQUIRE X509 |
//!
//! The server's certificate names this machine by its loopback names: a client that checks names can check it
//! here, and drivers that refuse a certificate without names take it. Keys are on the curve P-256.
//! Certificates are valid for ten years, as MySQL's.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose, SanType,
};

/// The authority's certificate.
pub(super) const CA: &str = "ca.pem";
const CA_KEY: &str = "ca-key.pem";
/// The server's certificate and key.
pub(super) const SERVER: &str = "server-cert.pem";
pub(super) const SERVER_KEY: &str = "server-key.pem";
const CLIENT: &str = "client-cert.pem";
const CLIENT_KEY: &str = "client-key.pem";

/// Modes of certificates and of keys.
const PUBLIC: u32 = 0o640;
const PRIVATE: u32 = 0o600;

/// Makes all of them in `folder`, unless one of them is there already; whether it did.
///
/// # Errors
/// Why one could not be made.
pub(super) fn generate(folder: &Path) -> io::Result<bool> {
    let all = [CA, CA_KEY, SERVER, SERVER_KEY, CLIENT, CLIENT_KEY];
    if all.iter().any(|name| folder.join(name).exists()) {
        return Ok(false);
    }
    make(folder).map_err(io::Error::other)?;
    Ok(true)
}

fn make(folder: &Path) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut authority = named("Ratchet_Auto_Generated_CA_Certificate");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let issuer = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
    write(&folder.join(CA), PUBLIC, &issuer.pem())?;
    write(&folder.join(CA_KEY), PRIVATE, &issuer.key().serialize_pem())?;
    for (name, certificate, key_file) in [
        ("Ratchet_Auto_Generated_Client_Certificate", CLIENT, CLIENT_KEY),
        ("Ratchet_Auto_Generated_Server_Certificate", SERVER, SERVER_KEY),
    ] {
        let key = KeyPair::generate()?;
        write(&folder.join(key_file), PRIVATE, &key.serialize_pem())?;
        // Last, because a certificate without its key is of no use.
        let mut params = named(name);
        if certificate == SERVER {
            params.subject_alt_names = loopback_names()?;
        }
        let signed = params.signed_by(&key, &issuer)?;
        write(&folder.join(certificate), PUBLIC, &signed.pem())?;
    }
    Ok(())
}

fn loopback_names() -> Result<Vec<SanType>, rcgen::Error> {
    let addresses = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    let name = SanType::DnsName("localhost".try_into()?);
    Ok(addresses.into_iter().map(SanType::IpAddress).chain([name]).collect())
}

fn named(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    let now = jiff::Zoned::now();
    let day = |year: i16| rcgen::date_time_ymd(i32::from(year), now.month() as u8, 1);
    (params.not_before, params.not_after) = (day(now.year()), day(now.year() + 10));
    params
}

/// Writes a new file, whatever the umask is.
fn write(path: &Path, mode: u32, text: &str) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_made_once() {
        let folder = tempfile::tempdir().unwrap();
        assert!(generate(folder.path()).unwrap());
        let before = std::fs::read(folder.path().join(SERVER)).unwrap();
        assert!(!generate(folder.path()).unwrap());
        assert_eq!(std::fs::read(folder.path().join(SERVER)).unwrap(), before);
        assert!(generate(&folder.path().join("missing")).is_err());
    }
}
