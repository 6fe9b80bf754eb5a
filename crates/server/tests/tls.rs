//! TLS: clients that use it, accounts and servers that require it, and clients that send anything else.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use support::{RawClient, TestServer, error, eventually};

/// PROTOCOL_41, SSL, SECURE_CONNECTION and PLUGIN_AUTH, and what else a login needs.
const CAPABILITIES: u32 = 0x0008_a205 | SSL;
const SSL: u32 = 0x800;

/// Takes every certificate: these tests are about the server's side.
#[derive(Debug)]
struct Trusting;

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        aws_lc_rs::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

fn client_connection() -> ClientConnection {
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Trusting))
        .with_no_client_auth();
    ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap()
}

/// A packet that asks for TLS.
fn wish() -> Vec<u8> {
    let mut packet = vec![32, 0, 0, 1];
    packet.extend(CAPABILITIES.to_le_bytes());
    packet.extend([0, 0, 0, 1, 45]);
    packet.extend([0; 23]);
    packet
}

/// A connection logged in through TLS, byte by byte.
struct TlsClient(StreamOwned<ClientConnection, TcpStream>);

impl TlsClient {
    /// `together`: the wish and the first bytes of TLS leave with one send.
    fn connect(server: &TestServer, user: &str, together: bool) -> (Self, Vec<u8>) {
        let mut raw = server.raw();
        let mut tls = client_connection();
        let mut first = wish();
        if together {
            tls.write_tls(&mut first).unwrap();
        }
        raw.send_bytes(&first);
        let mut client = TlsClient(StreamOwned::new(tls, raw.another()));
        client.send(2, &RawClient::login_packet(user, b"mysql_native_password", b"", SSL));
        let (sequence, answer) = client.read().unwrap();
        assert_eq!(sequence, 3);
        (client, answer)
    }

    fn send(&mut self, sequence: u8, body: &[u8]) {
        let mut packet = (body.len() as u32).to_le_bytes();
        packet[3] = sequence;
        self.0.write_all(&[&packet[..], body].concat()).unwrap();
        self.0.flush().unwrap();
    }

    fn read(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut header = [0; 4];
        self.0.read_exact(&mut header).ok()?;
        let sequence = std::mem::take(&mut header[3]);
        let mut body = vec![0; u32::from_le_bytes(header) as usize];
        self.0.read_exact(&mut body).ok()?;
        Some((sequence, body))
    }

    /// The single value of a query's single row.
    fn value(&mut self, sql: &str) -> Vec<u8> {
        self.send(0, &[b"\x03", sql.as_bytes()].concat());
        let packets: Vec<_> = (0..5).map(|_| self.read().unwrap().1).collect();
        assert_eq!(packets[0], [1], "one column");
        let row = &packets[3];
        let length = match row[0] {
            0xfc => 3,
            0xfd => 4,
            _ => 1,
        };
        row[length..].to_vec()
    }
}

/// The stock client, over TCP.
fn stock(server: &TestServer, user: &str, args: &[&str], sql: &str) -> Output {
    Command::new("mariadb")
        .args(["--no-defaults", "--batch", "--skip-column-names", "--host=127.0.0.1"])
        .args([format!("--port={}", server.port), format!("--user={user}"), format!("--execute={sql}")])
        .args(args)
        .output()
        .expect("the mariadb client must be installed to run this test")
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn complaint(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn datadir(server: &TestServer) -> PathBuf {
    server.pid_file().parent().unwrap().to_owned()
}

fn status(server: &TestServer, name: &str) -> u64 {
    let sql = format!("SHOW GLOBAL STATUS LIKE '{name}'");
    said(&stock(server, "root", &["--skip-ssl"], &sql)).trim().rsplit('\t').next().unwrap().parse().unwrap()
}

#[test]
fn the_stock_client_speaks_both_versions() {
    let server = TestServer::start(&[]);
    let version = |args: &[&str]| said(&stock(&server, "root", args, "SHOW STATUS LIKE 'Ssl_version'"));
    let authority = format!("--ssl-ca={}", datadir(&server).join("ca.pem").display());
    assert_eq!(version(&["--ssl"]), "Ssl_version\tTLSv1.3\n");
    assert_eq!(version(&["--ssl", "--tls-version=TLSv1.2"]), "Ssl_version\tTLSv1.2\n");
    assert_eq!(version(&[&authority]), "Ssl_version\tTLSv1.3\n", "the certificate is the authority's");
    let named = ["--ssl-verify-server-cert", authority.as_str()];
    assert_eq!(version(&named), "Ssl_version\tTLSv1.3\n", "it names 127.0.0.1");
    assert_eq!(
        version(&[&named[..], &["--host=localhost", "--protocol=tcp"]].concat()),
        "Ssl_version\tTLSv1.3\n"
    );
    assert_eq!(version(&["--skip-ssl"]), "Ssl_version\t\n");
    let cipher = said(&stock(&server, "root", &["--ssl"], "SHOW STATUS LIKE 'Ssl_cipher'"));
    assert_eq!(cipher, "Ssl_cipher\tTLS_AES_256_GCM_SHA384\n");
    let socket = format!("--socket={}", server.socket().display());
    let by_socket = Command::new("mariadb")
        .args(["--no-defaults", "--batch", "--user=root", "--ssl", &socket])
        .arg("--execute=SHOW STATUS LIKE 'Ssl_version'")
        .output()
        .unwrap();
    assert!(said(&by_socket).contains("TLSv1.3"));
    let refused = TestServer::start(&["--tls-version=TLSv1.3"]);
    let old = stock(&refused, "root", &["--ssl", "--tls-version=TLSv1.2"], "DO 1");
    assert!(complaint(&old).contains("2026"), "{old:?}");
    assert_eq!((status(&refused, "Ssl_accepts"), status(&refused, "Ssl_finished_accepts")), (1, 0));
}

#[test]
fn a_password_travels_in_clear_inside_of_tls_alone() {
    let server = TestServer::start(&[]);
    said(&stock(&server, "root", &[], "CREATE USER s IDENTIFIED BY 'sha2'"));
    for args in [["--ssl", "--password=sha2"], ["--ssl", "--password=sha2"]] {
        assert_eq!(said(&stock(&server, "s", &args, "SELECT CURRENT_USER()")), "s@%\n");
    }
    assert!(complaint(&stock(&server, "s", &["--ssl", "--password=wrong"], "DO 1")).contains("1045"));
}

#[test]
fn long_results_and_statements_pass() {
    let server = TestServer::start(&["--max-allowed-packet=64M"]);
    for together in [false, true] {
        let (mut client, answer) = TlsClient::connect(&server, "root", together);
        assert_eq!(answer[0], 0, "{}", String::from_utf8_lossy(&answer));
        assert_eq!(client.value("SELECT REPEAT('abc', 1000000)"), b"abc".repeat(1_000_000));
        let long = "x".repeat(5_000_000);
        assert_eq!(client.value(&format!("SELECT LENGTH('{long}')")), b"5000000");
        for n in 0..100 {
            assert_eq!(client.value(&format!("SELECT {n} + 1")), (n + 1).to_string().into_bytes());
        }
        assert_eq!(client.value("SELECT VARIABLE_VALUE FROM (SELECT 'TLS' AS VARIABLE_VALUE) d"), b"TLS");
    }
}

#[test]
fn accounts_and_servers_require_tls() {
    let server = TestServer::start(&[]);
    let root = |sql: &str| said(&stock(&server, "root", &[], sql));
    for sql in ["CREATE USER plain REQUIRE NONE", "CREATE USER s REQUIRE SSL", "CREATE USER x REQUIRE X509"] {
        root(sql);
    }
    let login = |user: &str, args: &[&str]| stock(&server, user, args, "SELECT 1");
    let file = |name: &str| datadir(&server).join(name).display().to_string();
    let certificate =
        [format!("--ssl-cert={}", file("client-cert.pem")), format!("--ssl-key={}", file("client-key.pem"))];
    let certificate: Vec<&str> = certificate.iter().map(String::as_str).collect();
    assert!(complaint(&login("s", &["--skip-ssl"])).contains("1045"));
    assert_eq!(said(&login("s", &["--ssl"])), "1\n");
    assert!(complaint(&login("x", &["--skip-ssl"])).contains("1045"));
    assert!(complaint(&login("x", &["--ssl"])).contains("1045"));
    assert_eq!(said(&login("x", &certificate)), "1\n");
    assert_eq!(said(&login("plain", &["--skip-ssl"])), "1\n");
    root("ALTER USER s ACCOUNT UNLOCK");
    assert!(complaint(&login("s", &["--skip-ssl"])).contains("1045"), "what is not named stays");
    root("ALTER USER s REQUIRE NONE");
    assert_eq!(said(&login("s", &["--skip-ssl"])), "1\n");
    root("SET GLOBAL require_secure_transport = ON");
    assert!(complaint(&login("plain", &["--skip-ssl"])).contains("3159"));
    assert_eq!(said(&login("plain", &["--ssl"])), "1\n");
    // A certificate of other authorities ends the handshake.
    let other = TestServer::start(&[]);
    let stranger = stock(&other, "root", &certificate, "DO 1");
    assert!(complaint(&stranger).contains("20"), "2026 or 2013: {stranger:?}");
}

#[test]
fn accounts_require_certificates_and_ciphers_by_name() {
    const SUBJECT: &str = "/CN=Ratchet_Auto_Generated_Client_Certificate";
    const ISSUER: &str = "/CN=Ratchet_Auto_Generated_CA_Certificate";
    const CIPHER: &str = "TLS_AES_256_GCM_SHA384";
    let server = TestServer::start(&[]);
    let file = |name: &str| datadir(&server).join(name).display().to_string();
    let certificate =
        [format!("--ssl-cert={}", file("client-cert.pem")), format!("--ssl-key={}", file("client-key.pem"))];
    let certificate: Vec<&str> = certificate.iter().map(String::as_str).collect();
    said(&stock(&server, "root", &[], "CREATE USER u"));
    // Whether a client gets in without TLS, with it, and with a certificate.
    let lets_in = |requirement: &str| {
        said(&stock(&server, "root", &[], &format!("ALTER USER u REQUIRE {requirement}")));
        [&["--skip-ssl"][..], &["--ssl"], &certificate].map(|args| {
            let output = stock(&server, "u", args, "SELECT 1");
            let is_in = output.status.success();
            assert!(is_in || complaint(&output).contains("1045"), "{output:?}");
            is_in
        })
    };
    let (plain, tls, known) = ([true; 3], [false, true, true], [false, false, true]);
    for (requirement, expected) in [
        (format!("SUBJECT '{SUBJECT}'"), known),
        (format!("ISSUER '{ISSUER}'"), known),
        (format!("CIPHER '{CIPHER}'"), tls),
        (format!("SUBJECT '{SUBJECT}' AND ISSUER '{ISSUER}' AND CIPHER '{CIPHER}'"), known),
        (format!("SUBJECT '{ISSUER}'"), [false; 3]),
        (format!("SUBJECT '{SUBJECT}' ISSUER '{SUBJECT}'"), [false; 3]),
        (format!("CIPHER 'DHE-RSA-AES256-SHA' SUBJECT '{SUBJECT}'"), [false; 3]),
        (format!("ISSUER '{}'", ISSUER.to_lowercase()), [false; 3]),
        ("NONE".to_owned(), plain),
    ] {
        assert_eq!(lets_in(&requirement), expected, "{requirement}");
    }
    let old = [&certificate[..], &["--tls-version=TLSv1.2"]].concat();
    said(&stock(&server, "root", &[], "ALTER USER u REQUIRE CIPHER 'ECDHE-ECDSA-AES256-GCM-SHA384'"));
    let cipher = stock(&server, "u", &old, "SHOW STATUS LIKE 'Ssl_cipher'");
    assert_eq!(said(&cipher), "Ssl_cipher\tECDHE-ECDSA-AES256-GCM-SHA384\n");
}

#[test]
fn a_proxy_meets_what_the_account_that_it_acts_as_requires() {
    const SUBJECT: &str = "SUBJECT '/CN=Ratchet_Auto_Generated_Client_Certificate'";
    let server = TestServer::start(&["--check-proxy-users=1", "--mysql-native-password-proxy-users=1"]);
    let file = |name: &str| datadir(&server).join(name).display().to_string();
    let root = |sql: &str| said(&stock(&server, "root", &["--skip-ssl"], sql));
    root("CREATE USER p IDENTIFIED WITH mysql_native_password; CREATE USER boss; GRANT PROXY ON boss TO p");
    let certificate =
        [format!("--ssl-cert={}", file("client-cert.pem")), format!("--ssl-key={}", file("client-key.pem"))];
    let certificate: Vec<&str> = certificate.iter().map(String::as_str).collect();
    let socket = format!("--socket={}", server.socket().display());
    let by_socket = ["--skip-ssl", "--protocol=socket", "--host=localhost", &socket];
    for (requirement, expected) in [
        ("NONE", [true; 4]),
        ("SSL", [false, true, true, false]),
        ("X509", [false, false, true, false]),
        (SUBJECT, [false, false, true, false]),
        ("SUBJECT '/CN=another'", [false; 4]),
    ] {
        root(&format!("ALTER USER boss REQUIRE {requirement}"));
        let let_in = [&["--skip-ssl"][..], &["--ssl"], &certificate, &by_socket].map(|args| {
            let output = stock(&server, "p", args, "SELECT CURRENT_USER()");
            let is_in = output.status.success();
            if is_in {
                assert_eq!(said(&output), "boss@%\n", "{requirement}");
            } else {
                assert!(complaint(&output).contains("1045"), "{output:?}");
            }
            is_in
        });
        assert_eq!(let_in, expected, "{requirement}: TCP, TLS, with a certificate, the socket");
    }
}

#[test]
fn tls_is_offered_as_the_options_say() {
    let plain = TestServer::start(&["--skip-ssl"]);
    let mut client = plain.raw();
    client.send_bytes(&wish());
    assert_eq!(error(&client.read().1).0, 1043);
    assert!(!datadir(&plain).join("ca.pem").exists());
    for (args, part) in [
        (&["--ssl-cert=/nowhere/cert.pem", "--ssl-key=/nowhere/key.pem"][..], "/nowhere/cert.pem"),
        (&["--tls-version=TLSv1.1"], "TLSv1.1"),
    ] {
        let said = TestServer::refuse(args);
        assert!(said.contains(part), "{said}");
    }
    let without = TestServer::start(&["--auto-generate-certs=OFF"]);
    assert!(
        complaint(&stock(&without, "root", &["--ssl", "--ssl-verify-server-cert"], "DO 1")).contains("2026")
    );
    assert_eq!(said(&stock(&without, "root", &["--skip-ssl"], "SELECT 1")), "1\n");
}

#[test]
fn certificates_are_read_again() {
    let server = TestServer::start(&[]);
    let root = |sql: &str| stock(&server, "root", &["--skip-ssl"], sql);
    let authority = format!("--ssl-ca={}", datadir(&server).join("ca.pem").display());
    let trusts = || stock(&server, "root", &[&authority], "SELECT 1").status.success();
    assert!(trusts());
    let other = TestServer::start(&[]);
    for name in ["server-cert.pem", "server-key.pem"] {
        std::fs::copy(datadir(&other).join(name), datadir(&server).join(name)).unwrap();
    }
    assert!(trusts(), "files that changed are not read by themselves");
    said(&root("ALTER INSTANCE RELOAD TLS"));
    assert!(!trusts(), "the new certificate is of another authority");
    std::fs::write(datadir(&server).join("server-cert.pem"), "nothing").unwrap();
    assert!(complaint(&root("ALTER INSTANCE RELOAD TLS")).contains("3888"));
    assert_eq!(said(&stock(&server, "root", &["--ssl"], "SELECT 1")), "1\n", "what was offered still is");
    said(&root("CREATE USER u"));
    assert!(complaint(&stock(&server, "u", &[], "ALTER INSTANCE RELOAD TLS")).contains("1227"));
    said(&root("ALTER INSTANCE RELOAD TLS FOR CHANNEL mysql_main NO ROLLBACK ON ERROR"));
    assert_eq!(said(&stock(&server, "root", &[], "SHOW STATUS LIKE 'Ssl_version'")), "Ssl_version\t\n");
}

#[test]
fn what_is_no_tls_ends_its_connection_and_nothing_else() {
    let server = TestServer::start(&["--connect-timeout=2"]);
    let (mut good, _) = TlsClient::connect(&server, "root", false);
    let garbage: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0; 600],
        &[0x16, 3, 1, 0xff, 0xff],
        &[0x16, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff],
        &[0x15, 3, 3, 0, 2, 2, 40],
        b"\x21\0\0\x02\x05\xa2\x08\0\0\0\0\0\x2d",
    ];
    for round in 0..200 {
        let mut client = server.raw();
        client.send_bytes(&wish());
        let _ = client.another().write_all(garbage[round % garbage.len()]);
        client.half_close();
        // An alert may come, a packet may not.
        let mut rest = Vec::new();
        let _ = client.another().read_to_end(&mut rest);
        assert!(rest.is_empty() || rest[0] == 0x15, "{rest:?}");
    }
    // Silence in the middle of a handshake lasts no longer than the handshake may.
    let begun = Instant::now();
    let mut silent = server.raw();
    silent.send_bytes(&wish());
    silent.send_bytes(&[0x16, 3, 1, 0x02, 0x00, 1]);
    assert!(silent.try_read().is_none());
    assert!((1..10).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    // Bytes that were not encrypted, after a login that was.
    let (mut broken, _) = TlsClient::connect(&server, "root", false);
    broken.0.sock.write_all(b"\x09\0\0\0\x03SELECT 1").unwrap();
    assert!(broken.read().is_none());
    // A record that is cut off.
    let (cut, _) = TlsClient::connect(&server, "root", false);
    (&cut.0.sock).write_all(&[0x17, 3, 3, 0, 100, 1, 2, 3]).unwrap();
    drop(cut);
    assert_eq!(good.value("SELECT 42"), b"42");
    good.send(0, b"\x01");
    eventually("the end of all others", || status(&server, "Threads_connected") == 1);
    assert_eq!(status(&server, "Ssl_finished_accepts"), 3);
}

#[test]
fn an_idle_connection_takes_little_memory() {
    const CONNECTIONS: u64 = 200;
    let server = TestServer::start(&["--max-connections=300"]);
    let heap = || status(&server, "Ratchet_heap_bytes");
    let (first, _) = TlsClient::connect(&server, "root", false);
    let before = heap();
    let tls: Vec<_> = (0..CONNECTIONS).map(|_| TlsClient::connect(&server, "root", false).0).collect();
    let with_tls = heap();
    let of_tls = (with_tls - before) / CONNECTIONS;
    assert!(of_tls < 100_000, "{of_tls} bytes a connection");
    drop((first, tls));
    eventually("the end of all", || status(&server, "Threads_connected") == 1);
    let left = heap().saturating_sub(before);
    assert!(left < 4 << 20, "{left} bytes are left");
}

#[test]
fn a_connection_is_killed_and_times_out_as_without_tls() {
    let server = TestServer::start(&[]);
    let (mut idle, _) = TlsClient::connect(&server, "root", false);
    let id = String::from_utf8(idle.value("SELECT CONNECTION_ID()")).unwrap();
    let begun = Instant::now();
    let killer = stock(&server, "root", &[], &format!("KILL {id}"));
    said(&killer);
    assert!(idle.read().is_none());
    assert!(begun.elapsed() < Duration::from_secs(5));
    let (mut waiting, _) = TlsClient::connect(&server, "root", false);
    let id = String::from_utf8(waiting.value("SELECT CONNECTION_ID()")).unwrap();
    waiting.send(0, b"\x03SELECT SLEEP(30)");
    eventually("the end of the statement", || {
        stock(&server, "root", &[], &format!("KILL QUERY {id}"));
        waiting.0.sock.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        waiting.read().is_some()
    });
    let (mut silent, _) = TlsClient::connect(&server, "root", false);
    silent.send(0, b"\x03SET wait_timeout = 1");
    assert_eq!(silent.read().unwrap().1[0], 0);
    let (_, farewell) = silent.read().unwrap();
    assert_eq!(error(&farewell).0, 4031);
}

/// Frames of the compressed protocol travel inside of TLS.
#[test]
fn a_connection_is_compressed_above_tls() {
    let server = TestServer::start(&[]);
    let args = ["--ssl", "--compress"];
    let sql = "SHOW STATUS LIKE 'Compression'; SHOW STATUS LIKE 'Ssl_version'; SELECT REPEAT('abc', 1000000)";
    let expected = format!("Compression\tON\nSsl_version\tTLSv1.3\n{}\n", "abc".repeat(1_000_000));
    assert_eq!(said(&stock(&server, "root", &args, sql)), expected);
    let long = format!("SELECT LENGTH('{}')", "0123456789".repeat(10_000));
    for args in [&args[..], &["--skip-ssl", "--compress"]] {
        assert_eq!(said(&stock(&server, "root", args, &long)), "100000\n");
    }
}
