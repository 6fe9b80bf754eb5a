//! TLS: certificates, versions, and the encrypted stream between a socket and its connection.
//!
//! A client asks for TLS in place of its answer to the greeting. A connection without TLS pays a load for
//! each read and write.

mod certificates;
mod distinguished_name;
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

/// The variables that name files, and what the files are called otherwise.
const FILES: [(&str, &str); 3] =
    [("ssl_ca", certificates::CA), ("ssl_cert", certificates::SERVER), ("ssl_key", certificates::SERVER_KEY)];

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
    if versions(variables)?.is_empty() {
        return Ok(None);
    }
    if !names_files(variables) && variables.named("auto_generate_certs").as_bool() {
        match certificates::generate(datadir) {
            Ok(true) => log.note("certificates for TLS are made"),
            Ok(false) => {}
            Err(error) => log.warning(&format!("certificates for TLS cannot be made: {error}")),
        }
    }
    match load(variables, datadir) {
        Ok(offered) => Ok(Some(offered)),
        Err(error) if names_files(variables) => Err(error),
        Err(error) => {
            log.warning(&format!("TLS is not offered: {error}"));
            Ok(None)
        }
    }
}

/// Whether an option says where certificates are; else they are in the data directory.
fn names_files(variables: &Variables) -> bool {
    FILES.iter().any(|&(name, _)| !variables.named(name).as_text().is_empty())
}

/// Reads the certificates.
///
/// # Errors
/// One is of no use. One line.
pub(crate) fn load(variables: &Variables, datadir: &Path) -> Result<Offered, String> {
    let is_named = names_files(variables);
    let [authority, certificate, key] = FILES.map(|(name, usual)| {
        let text = variables.named(name).as_text();
        datadir.join(if text.is_empty() { usual } else { text })
    });
    let has_authority =
        if is_named { !variables.named("ssl_ca").as_text().is_empty() } else { authority.exists() };
    let authority = Some(authority).filter(|_| has_authority);
    let config = build(&versions(variables)?, authority.as_deref(), &certificate, &key)?;
    let found = FILES.into_iter().filter(|&(name, _)| !is_named && (name != "ssl_ca" || has_authority));
    Ok(Offered { config, files: found.map(|(name, usual)| (name, usual.to_owned())).collect() })
}

/// The protocol versions that `tls_version` lists.
fn versions(variables: &Variables) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    let list = variables.named("tls_version").as_text();
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
