use std::sync::OnceLock;

use proptest::prelude::*;

use super::*;
use crate::auth::MAX_PASSWORD_BYTES;

const NONCE: [u8; NONCE_BYTES] = *b"abcdefghijklmnopqrst";

#[expect(clippy::unnecessary_wraps, reason = "the shape that resume takes")]
fn key() -> Result<&'static RsaKey, KeyError> {
    static KEY: OnceLock<RsaKey> = OnceLock::new();
    Ok(KEY.get_or_init(|| RsaKey::generate().unwrap()))
}

fn password(text: &str) -> Password<'_> {
    Password::new(text.as_bytes()).unwrap()
}

fn account(plugin: AuthPlugin) -> Credential {
    Credential::from_password(plugin, password("secret")).unwrap()
}

#[test]
fn a_native_answer_needs_no_further_packet() {
    let credential = account(AuthPlugin::Native);
    let mut out = OutBuffer::new();
    let mut exchange = Exchange::new(&credential, &NONCE, None, false);
    let right = native::answer(b"secret", &NONCE);
    assert_eq!(exchange.start(Some(b"mysql_native_password"), &right, &mut out), Step::Accepted(None));
    assert!(exchange.used_password());
    let wrong = native::answer(b"wrong", &NONCE);
    assert_eq!(exchange.start(None, &wrong, &mut out), Step::Denied);
    assert!(out.pending().is_empty());
}

#[test]
fn a_client_with_another_plugin_is_switched() {
    let credential = account(AuthPlugin::Native);
    let mut out = OutBuffer::new();
    let mut exchange = Exchange::new(&credential, &NONCE, None, false);
    let first = sha2::answer(b"secret", &NONCE);
    assert_eq!(exchange.start(Some(b"caching_sha2_password"), &first, &mut out), Step::Read);
    assert_eq!(out.pending(), b"\x2c\0\0\0\xfemysql_native_password\0abcdefghijklmnopqrst\0".as_slice());
    let second = native::answer(b"secret", &NONCE);
    assert_eq!(exchange.resume(&second, key, &mut out), Ok(Step::Accepted(None)));
}

#[test]
fn an_account_without_password_takes_only_an_empty_answer() {
    let credential = Credential::empty(AuthPlugin::CachingSha2);
    let mut out = OutBuffer::new();
    let mut exchange = Exchange::new(&credential, &NONCE, None, false);
    for plugin in [&b"caching_sha2_password"[..], b"mysql_native_password"] {
        assert_eq!(exchange.start(Some(plugin), b"", &mut out), Step::Accepted(None));
        assert!(!exchange.used_password());
    }
    assert_eq!(exchange.start(Some(b"caching_sha2_password"), &[1; 32], &mut out), Step::Denied);
    assert_eq!(exchange.start(Some(b"dialog"), b"", &mut out), Step::Read);
}

#[test]
fn the_fast_answer_works_once_cached() {
    let credential = account(AuthPlugin::CachingSha2);
    let mut out = OutBuffer::new();
    let answer = sha2::answer(b"secret", &NONCE);
    let mut local = Exchange::new(&credential, &NONCE, None, true);
    assert_eq!(local.start(Some(b"caching_sha2_password"), &answer, &mut out), Step::Read);
    assert_eq!(out.pending(), [2, 0, 0, 0, 1, 4]);
    let Ok(Step::Accepted(cached @ Some(_))) = local.resume(b"secret\0", key, &mut out) else {
        panic!("password in clear over a local socket was refused");
    };
    let mut out = OutBuffer::new();
    let mut fast = Exchange::new(&credential, &NONCE, cached, false);
    assert_eq!(fast.start(Some(b"caching_sha2_password"), &answer, &mut out), Step::Accepted(None));
    assert_eq!(out.pending(), [2, 0, 0, 0, 1, 3]);
}

#[test]
fn a_stale_cache_leads_to_full_authentication() {
    let credential = account(AuthPlugin::CachingSha2);
    let cached = Some(sha2::cached_hash(password("old password")));
    let mut exchange = Exchange::new(&credential, &NONCE, cached, true);
    let answer = sha2::answer(b"secret", &NONCE);
    assert_eq!(exchange.start(Some(b"caching_sha2_password"), &answer, &mut OutBuffer::new()), Step::Read);
}

#[test]
fn a_password_of_256_bytes_is_accepted_and_a_longer_one_is_denied() {
    let longest = "x".repeat(MAX_PASSWORD_BYTES);
    let credential = Credential::from_password(AuthPlugin::CachingSha2, password(&longest)).unwrap();
    for (sent, accepted) in [(longest.clone(), true), (longest + "x", false), ("x".repeat(1 << 20), false)] {
        let mut exchange = Exchange::new(&credential, &NONCE, None, true);
        exchange.start(Some(b"caching_sha2_password"), &[1; 32], &mut OutBuffer::new());
        let step = exchange.resume(&[sent.as_bytes(), &[0]].concat(), key, &mut OutBuffer::new());
        assert_eq!(matches!(step, Ok(Step::Accepted(Some(_)))), accepted, "{} bytes", sent.len());
    }
}

#[test]
fn a_clear_password_over_tcp_is_refused() {
    let credential = account(AuthPlugin::CachingSha2);
    let mut out = OutBuffer::new();
    let mut exchange = Exchange::new(&credential, &NONCE, None, false);
    exchange.start(Some(b"caching_sha2_password"), &[1; 32], &mut out);
    assert_eq!(exchange.resume(b"secret\0", key, &mut out), Ok(Step::Denied));
}

#[test]
fn the_public_key_is_sent_on_request() {
    let credential = account(AuthPlugin::CachingSha2);
    let mut exchange = Exchange::new(&credential, &NONCE, None, false);
    exchange.start(Some(b"caching_sha2_password"), &[1; 32], &mut OutBuffer::new());
    let mut out = OutBuffer::new();
    assert_eq!(exchange.resume(&[2], key, &mut out), Ok(Step::Read));
    assert!(out.pending().get(4..).unwrap().starts_with(b"\x01-----BEGIN PUBLIC KEY-----\n"));
}

#[test]
fn a_decoy_goes_through_the_motions_and_denies() {
    let decoy = Credential::decoy();
    let mut out = OutBuffer::new();
    let mut exchange = Exchange::new(&decoy, &NONCE, None, true);
    assert_eq!(exchange.start(Some(b"mysql_native_password"), &[1; 20], &mut out), Step::Read);
    assert_eq!(exchange.resume(&[1; 32], key, &mut out), Ok(Step::Read));
    assert_eq!(exchange.resume(b"secret\0", key, &mut out), Ok(Step::Denied));
    assert_eq!(exchange.resume(b"secret", key, &mut out), Ok(Step::Denied));
    assert_eq!(exchange.start(Some(b"caching_sha2_password"), b"", &mut out), Step::Denied);
}

proptest! {
    #[test]
    fn random_packets_never_panic_and_never_pass(
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..4),
    ) {
        let credential = account(AuthPlugin::Native);
        let mut out = OutBuffer::new();
        let mut exchange = Exchange::new(&credential, &NONCE, None, false);
        let mut step = exchange.start(Some(b"caching_sha2_password"), &packets[0], &mut out);
        for packet in &packets {
            prop_assert!(!matches!(step, Step::Accepted(_)));
            if step == Step::Read {
                step = exchange.resume(packet, key, &mut out).unwrap();
            }
        }
    }
}
