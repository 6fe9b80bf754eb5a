//! TLS: certificates, versions, and the encrypted stream between a socket and its connection.
//!
//! A client asks for TLS in place of its answer to the greeting. A connection without TLS pays a load for
//! each read and write.

mod certificates;
mod session;

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::server_log::ServerLog;
use crate::sysvars::Variables;

pub(crate) use session::TlsSession;

/// What TLS is offered with.
#[derive(Debug)]
pub(crate) struct Offered {
    pub(crate) config: Arc<ServerConfig>,
    /// The variables that name files, with those that were not named.
    pub(crate) files: Vec<(&'static str, String)>,
}

/// What TLS is offered with; `None`: it is not. Certificates are made first if there are none and nothing
/// says where others are.
///
/// # Errors
/// A file that an option names, or a version that it asks for, is of no use. One line.
pub(crate) fn configure(
    variables: &Variables,
    datadir: &Path,
    log: &ServerLog,
) -> Result<Option<Offered>, String> {
    let path = |name: &'static str| {
        let text = variables.named(name).as_text();
        (!text.is_empty()).then(|| datadir.join(text))
    };
    let named = ["ssl_ca", "ssl_cert", "ssl_key"].map(path);
    let versions = versions(variables.named("tls_version").as_text())?;
    if versions.is_empty() {
        return Ok(None);
    }
    if named.iter().any(Option::is_some) {
        let [authority, certificate, key] = named;
        let certificate = certificate.unwrap_or_else(|| datadir.join(certificates::SERVER));
        let key = key.unwrap_or_else(|| datadir.join(certificates::SERVER_KEY));
        let config = build(&versions, authority.as_deref(), &certificate, &key)?;
        return Ok(Some(Offered { config, files: Vec::new() }));
    }
    if variables.named("auto_generate_certs").as_bool() {
        match certificates::generate(datadir) {
            Ok(true) => log.note("certificates for TLS are made"),
            Ok(false) => {}
            Err(error) => log.warning(&format!("certificates for TLS cannot be made: {error}")),
        }
    }
    match of_datadir(&versions, datadir) {
        Ok(offered) => Ok(Some(offered)),
        Err(error) => {
            log.warning(&format!("TLS is not offered: {error}"));
            Ok(None)
        }
    }
}

/// With the certificates in the data directory.
fn of_datadir(versions: &[&'static SupportedProtocolVersion], datadir: &Path) -> Result<Offered, String> {
    let authority = Some(datadir.join(certificates::CA)).filter(|path| path.exists());
    let (certificate, key) = (datadir.join(certificates::SERVER), datadir.join(certificates::SERVER_KEY));
    let config = build(versions, authority.as_deref(), &certificate, &key)?;
    let mut files = vec![("ssl_cert", certificates::SERVER), ("ssl_key", certificates::SERVER_KEY)];
    files.extend(authority.map(|_| ("ssl_ca", certificates::CA)));
    Ok(Offered { config, files: files.into_iter().map(|(name, file)| (name, file.to_owned())).collect() })
}

/// The protocol versions that `tls_version` lists.
fn versions(list: &str) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    names
        .map(|name| match name.to_ascii_uppercase().as_str() {
            "TLSV1.2" => Ok(&rustls::version::TLS12),
            "TLSV1.3" => Ok(&rustls::version::TLS13),
            _ => Err(format!("option '--tls-version': there is no '{name}', only TLSv1.2 and TLSv1.3")),
        })
        .collect()
}

fn build(
    versions: &[&'static SupportedProtocolVersion],
    authority: Option<&Path>,
    certificate: &Path,
    key: &Path,
) -> Result<Arc<ServerConfig>, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let chain = read_certificates(certificate)?;
    let key_file = key;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(key, &error))?;
    let verifier = authority.map(|path| verifier(path, &provider)).transpose()?;
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(|error| error.to_string())?;
    let builder = match verifier {
        Some(verifier) => builder.with_client_cert_verifier(verifier),
        None => builder.with_no_client_auth(),
    };
    let config = builder.with_single_cert(chain, key).map_err(|error| unusable(key_file, &error))?;
    Ok(Arc::new(config))
}

/// Asks clients for certificates, and takes those that the authorities in `path` have signed, and none.
fn verifier(path: &Path, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in read_certificates(path)? {
        roots.add(certificate).map_err(|error| unusable(path, &error))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .allow_unauthenticated()
        .build()
        .map_err(|error| unusable(path, &error))
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let all = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let all = all.map_err(|error| unusable(path, &error))?;
    if all.is_empty() { Err(format!("{}: there is no certificate in it", path.display())) } else { Ok(all) }
}

fn unusable(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

/// The ciphers that are offered, by OpenSSL's names.
pub(crate) fn cipher_list(config: &ServerConfig) -> String {
    let suites = config.crypto_provider().cipher_suites.iter();
    let names: Vec<_> = suites.map(|suite| session::cipher_name(&format!("{:?}", suite.suite()))).collect();
    names.join(":")
}
