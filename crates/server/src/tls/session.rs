//! TLS between a socket and what reads and writes it.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use rustls::{ProtocolVersion, ServerConfig, ServerConnection};

use super::distinguished_name::CertificateNames;
use crate::stream::{RawSocket, Stream};

/// Most bytes that wait to be encrypted and sent: they are sent at once, so that more would only take memory.
const BUFFER_BYTES_MAX: usize = 64 << 10;

/// An encrypted connection. The lock is for the connection's own thread alone: KILL closes the socket.
#[derive(Debug)]
pub(crate) struct TlsSession {
    connection: Mutex<ServerConnection>,
    version: &'static str,
    cipher: String,
    has_certificate: bool,
}

impl TlsSession {
    /// Shakes hands over the socket of `stream`, until `deadline` at the latest. `early`: what the client has
    /// sent already.
    ///
    /// # Errors
    /// The client has no protocol version or cipher in common, has sent no TLS, is gone, or was too slow
    /// (`TimedOut`).
    pub(crate) fn accept(
        stream: &Stream,
        config: &Arc<ServerConfig>,
        mut early: &[u8],
        deadline: Instant,
    ) -> io::Result<Self> {
        let mut connection = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        connection.set_buffer_limit(Some(BUFFER_BYTES_MAX));
        let mut socket = stream.raw(false);
        while connection.is_handshaking() || !early.is_empty() {
            let received = if early.is_empty() {
                receive(&mut connection, stream, deadline)?
            } else {
                connection.read_tls(&mut early)?
            };
            if received == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            decrypt(&mut connection, &mut socket)?;
        }
        let version = connection.protocol_version().map_or("", version_name);
        let suite = connection.negotiated_cipher_suite();
        let cipher = suite.map_or_else(String::new, |suite| cipher_name(&format!("{:?}", suite.suite())));
        let has_certificate = connection.peer_certificates().is_some_and(|chain| !chain.is_empty());
        Ok(TlsSession { connection: Mutex::new(connection), version, cipher, has_certificate })
    }

    /// `TLSv1.2` or `TLSv1.3`.
    pub(crate) fn version(&self) -> &'static str {
        self.version
    }

    /// The cipher, by OpenSSL's name.
    pub(crate) fn cipher(&self) -> &str {
        &self.cipher
    }

    /// Whether the client has shown a certificate. One that the server's authorities did not sign has ended
    /// the handshake.
    pub(crate) fn has_certificate(&self) -> bool {
        self.has_certificate
    }

    /// The names in the client's certificate, if it has shown one.
    pub(crate) fn certificate_names(&self) -> Option<CertificateNames> {
        CertificateNames::read(self.connection.lock().peer_certificates()?.first()?)
    }

    /// Reads what the client has sent, at least one byte; 0: it sends no more.
    ///
    /// # Errors
    /// Those of the socket; `InvalidData` for what is no TLS, after which the connection is lost.
    #[cold]
    #[inline(never)]
    pub(crate) fn read(&self, mut socket: RawSocket<'_>, buf: &mut [u8]) -> io::Result<usize> {
        let mut connection = self.connection.lock();
        loop {
            match connection.reader().read(buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // A client that is gone without saying so: packets say themselves where they end.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            if connection.read_tls(&mut socket)? == 0 {
                return Ok(0);
            }
            decrypt(&mut connection, &mut socket)?;
        }
    }

    /// Encrypts and sends a part of `buf`; how long it was.
    ///
    /// # Errors
    /// Those of the socket; the connection is lost then.
    #[cold]
    #[inline(never)]
    pub(crate) fn write(&self, mut socket: RawSocket<'_>, buf: &[u8]) -> io::Result<usize> {
        let mut connection = self.connection.lock();
        let written = connection.writer().write(buf)?;
        send(&mut connection, &mut socket)?;
        Ok(written)
    }

    /// Tells the client that nothing more comes, if the socket takes that at once.
    pub(crate) fn send_close_notify(&self, mut socket: RawSocket<'_>) {
        let mut connection = self.connection.lock();
        connection.send_close_notify();
        // A client that does not read has no use for it.
        let _ = send(&mut connection, &mut socket);
    }
}

/// Receives something, until `deadline` at the latest; 0: the client is gone.
fn receive(connection: &mut ServerConnection, stream: &Stream, deadline: Instant) -> io::Result<usize> {
    loop {
        match connection.read_tls(&mut stream.raw(false)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() || !stream.wait_readable(left)? {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            received => return received,
        }
    }
}

/// Decrypts what was received, and sends what the protocol itself answers to it.
fn decrypt(connection: &mut ServerConnection, socket: &mut RawSocket<'_>) -> io::Result<()> {
    let state = connection.process_new_packets();
    let sent = send(connection, socket);
    match state {
        Ok(_) => sent,
        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
    }
}

fn send(connection: &mut ServerConnection, socket: &mut RawSocket<'_>) -> io::Result<()> {
    while connection.wants_write() {
        connection.write_tls(socket)?;
    }
    Ok(())
}

fn version_name(version: ProtocolVersion) -> &'static str {
    match version {
        ProtocolVersion::TLSv1_2 => "TLSv1.2",
        _ => "TLSv1.3",
    }
}

/// OpenSSL's name of a cipher suite, which MySQL shows.
pub(super) fn cipher_name(suite: &str) -> String {
    if let Some(rest) = suite.strip_prefix("TLS13_") {
        return format!("TLS_{rest}");
    }
    let rest = suite.strip_prefix("TLS_").unwrap_or(suite).replace("_WITH", "").replace("AES_", "AES");
    rest.replace('_', "-").replace("POLY1305-SHA256", "POLY1305")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ciphers_have_openssls_names() {
        for (suite, name) in [
            ("TLS13_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
            ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"),
            ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
        ] {
            assert_eq!(cipher_name(suite), name);
        }
    }
}
