use proptest::prelude::*;

use super::*;
use crate::out_buffer::push_lenenc_int;

/// Builds a response the way a client with `flags` does.
fn response(flags: Capabilities, auth: &[u8]) -> Vec<u8> {
    let mut p = flags.0.to_le_bytes().to_vec();
    p.extend_from_slice(&0u32.to_le_bytes());
    p.push(45);
    p.extend_from_slice(&[0; 23]);
    p.extend_from_slice(b"root\0");
    if flags.has(Capabilities::PLUGIN_AUTH_LENENC) || flags.has(Capabilities::SECURE_CONNECTION) {
        push_lenenc_int(&mut p, auth.len() as u64);
        p.extend_from_slice(auth);
    } else {
        p.extend_from_slice(auth);
        p.push(0);
    }
    if flags.has(Capabilities::CONNECT_WITH_DB) {
        p.extend_from_slice(b"test\0");
    }
    if flags.has(Capabilities::PLUGIN_AUTH) {
        p.extend_from_slice(b"mysql_native_password\0");
    }
    if flags.has(Capabilities::CONNECT_ATTRS) {
        p.extend_from_slice(b"\x0a\x04_pid\x045678");
    }
    p
}

#[test]
fn the_full_response_of_a_current_client_is_read() {
    // Connector/J 9.4 as captured, max_packet and attributes included.
    let packet = response(Capabilities(0x013e_a20f), &[7; 20]);
    let r = HandshakeResponse::parse(&packet).unwrap();
    assert_eq!(r.user, b"root");
    assert_eq!(r.auth_response, [7; 20]);
    assert_eq!(r.database, Some(&b"test"[..]));
    assert_eq!(r.auth_plugin, Some(&b"mysql_native_password"[..]));
    assert_eq!((r.max_packet, r.collation, r.extended_capabilities), (0, 45, 0));
    let attrs: Vec<_> = attributes(r.attributes).collect();
    assert_eq!(attrs, [(&b"_pid"[..], &b"5678"[..])]);
}

#[test]
fn a_client_without_plugins_is_read() {
    let flags = Capabilities::PROTOCOL_41 | Capabilities::LONG_PASSWORD | Capabilities::SECURE_CONNECTION;
    let packet = response(flags, &[]);
    let r = HandshakeResponse::parse(&packet).unwrap();
    assert_eq!((r.user, r.auth_response, r.auth_plugin), (&b"root"[..], &[][..], None));
    assert_eq!((r.database, r.attributes), (None, &[][..]));
}

#[test]
fn mariadb_extended_bits_are_kept_apart() {
    let mut packet = response(Capabilities(0xe0be_a284), &[7; 20]);
    packet[28] = 5;
    let r = HandshakeResponse::parse(&packet).unwrap();
    assert_eq!((r.user, r.extended_capabilities), (&b"root"[..], 5));
}

#[test]
fn the_level_of_zstd_is_the_last_byte() {
    let flags = Capabilities(0x013e_a20f) | Capabilities::ZSTD;
    let mut packet = response(flags, &[7; 20]);
    assert_eq!(HandshakeResponse::parse(&packet).unwrap().zstd_level, None);
    packet.push(22);
    assert_eq!(HandshakeResponse::parse(&packet).unwrap().zstd_level, Some(22));
    let mut packet = response(Capabilities(0x013e_a20f), &[7; 20]);
    packet.push(22);
    assert_eq!(HandshakeResponse::parse(&packet).unwrap().zstd_level, None);
}

#[test]
fn a_tls_request_is_told_from_a_response() {
    let flags = Capabilities::PROTOCOL_41 | Capabilities::SSL;
    let packet = response(flags, &[]);
    assert_eq!(HandshakeResponse::parse(&packet[..32]), Err(Error::TlsNotOffered));
}

#[test]
fn a_client_of_before_4_1_is_named_so() {
    assert_eq!(HandshakeResponse::parse(&[0x85, 0, 0, 0, 0, b'u', 0]), Err(Error::ProtocolTooOld));
}

#[test]
fn a_cut_response_is_an_error_or_an_empty_tail() {
    let packet = response(Capabilities(0x013e_a20f), &[7; 20]);
    for n in 0..packet.len() {
        if let Ok(r) = HandshakeResponse::parse(&packet[..n]) {
            assert!(n >= 32, "accepted {n} bytes: {r:?}");
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(r) = HandshakeResponse::parse(&bytes) {
            let _ = attributes(r.attributes).count();
        }
    }

    #[test]
    fn flipped_bytes_never_panic(at in 0usize..100, value: u8) {
        let mut packet = response(Capabilities(0x013e_a20f), &[7; 20]);
        let n = packet.len();
        packet[at % n] = value;
        if let Ok(r) = HandshakeResponse::parse(&packet) {
            let _ = attributes(r.attributes).count();
        }
    }
}
