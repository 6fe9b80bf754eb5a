//! Old protocols and weak ciphers are refused, byte by byte: no TLS library still offers them.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::io::{Read as _, Write as _};

use crate::support::TestServer;

/// A client's wish for TLS: PROTOCOL_41, SSL, SECURE_CONNECTION and PLUGIN_AUTH.
const CAPABILITIES: u32 = 0x0008_aa05;

const TLS_1_0: u16 = 0x0301;
const TLS_1_1: u16 = 0x0302;
const TLS_1_2: u16 = 0x0303;
/// TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: one that is taken.
const STRONG: u16 = 0xc02b;
/// Record types.
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
/// Fatal alerts.
const HANDSHAKE_FAILURE: u8 = 40;
const PROTOCOL_VERSION: u8 = 70;

/// Bytes with their length in front, in `width` bytes.
fn prefixed(width: usize, bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u32).to_be_bytes();
    [&length[4 - width..], bytes].concat()
}

fn extension(kind: u16, body: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &prefixed(2, body)].concat()
}

/// A ClientHello that offers up to `version` and `suites`.
fn hello(version: u16, suites: &[u16]) -> Vec<u8> {
    let suites: Vec<u8> = suites.iter().flat_map(|suite| suite.to_be_bytes()).collect();
    let extensions = [
        // The curves P-256 and X25519, uncompressed points, ECDSA and RSA with SHA-256 and SHA-1.
        extension(10, &prefixed(2, &[0, 0x17, 0, 0x1d])),
        extension(11, &prefixed(1, &[0])),
        extension(13, &prefixed(2, &[4, 3, 4, 1, 2, 3, 2, 1])),
        extension(23, &[]),
    ]
    .concat();
    let body = [
        &version.to_be_bytes()[..],
        &[7; 32],
        &prefixed(1, &[]),
        &prefixed(2, &suites),
        &prefixed(1, &[0]),
        &prefixed(2, &extensions),
    ]
    .concat();
    let message = [&[1][..], &prefixed(3, &body)].concat();
    [&[HANDSHAKE, 3, 1][..], &prefixed(2, &message)].concat()
}

/// The first record that the server answers a hello with: its type and its body.
fn answer(server: &TestServer, hello: &[u8]) -> (u8, Vec<u8>) {
    let mut client = server.raw();
    let mut wish = vec![32, 0, 0, 1];
    wish.extend(CAPABILITIES.to_le_bytes());
    wish.extend([0, 0, 0, 1, 45]);
    wish.extend([0; 23]);
    client.send_bytes(&wish);
    let mut socket = client.another();
    socket.write_all(hello).unwrap();
    let mut header = [0; 5];
    socket.read_exact(&mut header).unwrap();
    let mut body = vec![0; usize::from(u16::from_be_bytes([header[3], header[4]]))];
    socket.read_exact(&mut body).unwrap();
    (header[0], body)
}

#[test]
fn old_protocols_are_refused() {
    let server = TestServer::start(&[]);
    for version in [0x0300, TLS_1_0, TLS_1_1] {
        // The suites of the time beside one that would be taken.
        let (kind, body) = answer(&server, &hello(version, &[0xc009, 0xc013, 0x002f, STRONG]));
        assert_eq!((kind, body[0], body[1]), (ALERT, 2, PROTOCOL_VERSION), "{version:x}");
    }
    assert_eq!(answer(&server, &hello(TLS_1_2, &[STRONG])).0, HANDSHAKE);
}

#[test]
fn weak_ciphers_are_refused_and_passed_over() {
    let server = TestServer::start(&[]);
    let weak: [(&str, &[u16]); 8] = [
        ("without encryption", &[0x0000, 0x0001, 0x0002, 0x003b, 0xc006, 0xc010, 0xc015]),
        ("for export", &[0x0003, 0x0006, 0x0008, 0x000b, 0x0011, 0x0014, 0x0019, 0x0062, 0x0064]),
        ("RC4", &[0x0004, 0x0005, 0x0018, 0xc002, 0xc007, 0xc00c, 0xc011, 0xc016]),
        ("DES and 3DES", &[0x0009, 0x000a, 0x0015, 0x0016, 0x001a, 0xc003, 0xc008, 0xc00d, 0xc012]),
        ("without authentication", &[0x0018, 0x001b, 0x0034, 0x003a, 0xc018, 0xc019]),
        ("CBC", &[0x002f, 0x0035, 0x003c, 0x003d, 0xc009, 0xc00a, 0xc013, 0xc014, 0xc023, 0xc024, 0xc027]),
        ("without forward secrecy", &[0x009c, 0x009d, 0xc02d, 0xc02e, 0xc031, 0xc032]),
        ("CCM", &[0xc09c, 0xc0ac, 0xc0ae]),
    ];
    for (name, suites) in weak {
        let (kind, body) = answer(&server, &hello(TLS_1_2, suites));
        assert_eq!((kind, body[0], body[1]), (ALERT, 2, HANDSHAKE_FAILURE), "{name}");
        let (kind, body) = answer(&server, &hello(TLS_1_2, &[suites, &[STRONG]].concat()));
        // A ServerHello: type, length, version, random, a session's id, the suite.
        assert_eq!((kind, body[0]), (HANDSHAKE, 2), "{name}");
        let id_length = usize::from(body[38]);
        assert_eq!(body[39 + id_length..][..2], STRONG.to_be_bytes(), "{name}");
    }
}
