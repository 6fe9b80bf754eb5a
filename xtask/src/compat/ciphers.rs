//! Handshakes by `openssl s_client`: which protocols and ciphers the server takes, and which it refuses.
//!
//! An `openssl` is built without the weakest ciphers (RC4, 3DES, EXPORT):
//! `crates/server/tests/traffic/weak_tls.rs` offers them byte by byte.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::Finding;
use super::place::Place;

/// How they are asked for.
pub(super) const NAME: &str = "openssl";

/// What a handshake must come to.
#[derive(Clone, Copy)]
enum Wanted {
    /// The server agrees on this cipher.
    Cipher(&'static str),
    /// It answers by an alert.
    Alert,
    /// It agrees, and then refuses to negotiate again.
    OnlyOnce,
}

/// Name, the options of `s_client`, and what is wanted.
const HANDSHAKES: [(&str, &str, Wanted); 17] = [
    ("tls 1.3", "-tls1_3", Wanted::Cipher("TLS_AES_256_GCM_SHA384")),
    (
        "tls 1.3, aes 128",
        "-tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256",
        Wanted::Cipher("TLS_AES_128_GCM_SHA256"),
    ),
    (
        "tls 1.3, chacha20",
        "-tls1_3 -ciphersuites TLS_CHACHA20_POLY1305_SHA256",
        Wanted::Cipher("TLS_CHACHA20_POLY1305_SHA256"),
    ),
    ("tls 1.2", "-tls1_2", Wanted::Cipher("ECDHE-ECDSA-AES256-GCM-SHA384")),
    (
        "tls 1.2, aes 128",
        "-tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256",
        Wanted::Cipher("ECDHE-ECDSA-AES128-GCM-SHA256"),
    ),
    (
        "tls 1.2, chacha20",
        "-tls1_2 -cipher ECDHE-ECDSA-CHACHA20-POLY1305",
        Wanted::Cipher("ECDHE-ECDSA-CHACHA20-POLY1305"),
    ),
    ("tls 1.1", "-tls1_1 -cipher ALL:@SECLEVEL=0", Wanted::Alert),
    ("tls 1.0", "-tls1 -cipher ALL:@SECLEVEL=0", Wanted::Alert),
    ("no encryption", "-tls1_2 -cipher eNULL:@SECLEVEL=0", Wanted::Alert),
    ("no authentication", "-tls1_2 -cipher aNULL:@SECLEVEL=0", Wanted::Alert),
    ("sha 1", "-tls1_2 -cipher SHA1:@SECLEVEL=0", Wanted::Alert),
    (
        "cbc alone",
        "-tls1_2 -cipher ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384:ECDHE-ECDSA-AES128-SHA256:@SECLEVEL=0",
        Wanted::Alert,
    ),
    ("no forward secrecy", "-tls1_2 -cipher kRSA:@SECLEVEL=0", Wanted::Alert),
    ("finite-field diffie-hellman", "-tls1_2 -cipher kDHE:@SECLEVEL=0", Wanted::Alert),
    ("camellia, aria, seed", "-tls1_2 -cipher CAMELLIA:ARIA:SEED:@SECLEVEL=0", Wanted::Alert),
    ("a secret shared before", "-tls1_2 -cipher PSK:@SECLEVEL=0 -psk 00112233", Wanted::Alert),
    ("renegotiation", "-tls1_2", Wanted::OnlyOnce),
];

/// Makes all handshakes.
pub(super) fn shake_hands(place: &Place) -> Result<Vec<Finding>, String> {
    HANDSHAKES
        .iter()
        .map(|&(name, options, wanted)| {
            let said = shake(place.port, options)?;
            Ok(Finding { name: name.to_owned(), wrong: judge(wanted, &said) })
        })
        .collect()
}

/// Connects, asks for another negotiation on the same connection, and leaves; what `openssl` said.
fn shake(port: u16, options: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("openssl: {error}");
    let mut child = Command::new("timeout")
        .args(["30", "openssl", "s_client", "-starttls", "mysql", "-connect"])
        .arg(format!("127.0.0.1:{port}"))
        .args(options.split(' '))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut stdin = child.stdin.take().ok_or("a child without its standard input")?;
    // After a refused handshake nothing is read.
    let _ = stdin.write_all(b"R\n");
    drop(stdin);
    let out = child.wait_with_output().map_err(failed)?;
    Ok(String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned())
}

/// Why it is not as wanted, if so.
fn judge(wanted: Wanted, said: &str) -> Option<String> {
    let right = match wanted {
        Wanted::Cipher(cipher) => said.contains(&format!("Cipher is {cipher}\n")),
        Wanted::Alert => said.contains("Cipher is (NONE)\n") && said.contains("SSL alert number"),
        Wanted::OnlyOnce => said.contains("RENEGOTIATING") && said.contains("no renegotiation"),
    };
    let telling = |line: &&str| line.contains("error:") || line.contains("Cipher is");
    (!right).then(|| said.lines().filter(telling).collect::<Vec<_>>().join("; "))
}
