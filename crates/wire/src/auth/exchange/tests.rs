use std::sync::OnceLock;

use proptest::prelude::*;

use super::*;
use crate::auth::{DEFAULT_ROUNDS, MockCredentials, PASSWORD_BYTES_MAX};

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

/// An exchange with `account`; `None`: with a mock credential.
fn exchange(
    account: Option<&Credential>,
    cached: Option<[u8; DIGEST_BYTES]>,
    is_local: bool,
) -> Exchange<'_> {
    exchange_as(account, account.map_or(AuthPlugin::CachingSha2, Credential::plugin), cached, is_local)
}

fn exchange_as(
    account: Option<&Credential>,
    plugin: AuthPlugin,
    cached: Option<[u8; DIGEST_BYTES]>,
    is_local: bool,
) -> Exchange<'_> {
    static STAND_INS: OnceLock<[MockCredential; 2]> = OnceLock::new();
    let [native, sha2] = STAND_INS.get_or_init(|| {
        let all = MockCredentials::new(&[1; DIGEST_BYTES]);
        [AuthPlugin::Native, AuthPlugin::CachingSha2]
            .map(|plugin| all.of(b"bob", Some(plugin), DEFAULT_ROUNDS))
    });
    let mock = if plugin == AuthPlugin::Native { native } else { sha2 };
    let (second, second_cached, checks_two) = (None, None, false);
    let rounds = DEFAULT_ROUNDS;
    let is_refused = false;
    let tested = Verifier { account, second, checks_two, is_refused, mock, cached, second_cached, rounds };
    Exchange::new(tested, &NONCE, is_local)
}

/// An exchange in which some account has a second password, perhaps this one.
fn exchange_of_two<'a>(account: Option<&'a Credential>, second: Option<&'a Credential>) -> Exchange<'a> {
    let mut exchange = exchange(account, None, true);
    (exchange.tested.second, exchange.tested.checks_two) = (second, true);
    exchange
}

#[test]
fn either_password_is_right() {
    let plugin = AuthPlugin::CachingSha2;
    let first = account(plugin);
    let second = Credential::from_password(plugin, password("old")).unwrap();
    let full = |second: Option<&Credential>, account: Option<&Credential>, text: &[u8]| {
        let mut out = OutBuffer::new();
        let mut exchange = exchange_of_two(account, second);
        let answer = sha2::answer(text, &NONCE);
        assert_eq!(exchange.start(Some(b"caching_sha2_password"), &answer, &mut out), Step::Read);
        let step = exchange.resume(&[text, b"\0"].concat(), key, &mut out).unwrap();
        (matches!(step, Step::Accepted(Some(_))), exchange.used_second(), exchange.rounds_run())
    };
    let (one, two) = (DEFAULT_ROUNDS, 2 * DEFAULT_ROUNDS);
    assert_eq!(full(Some(&second), Some(&first), b"secret"), (true, false, one));
    assert_eq!(full(Some(&second), Some(&first), b"old"), (true, true, two));
    // A wrong password takes as long for every name.
    assert_eq!(full(Some(&second), Some(&first), b"wrong"), (false, false, two));
    assert_eq!(full(None, Some(&first), b"old"), (false, false, two));
    assert_eq!(full(None, None, b"old"), (false, false, two));

    let cached = |cached, second_cached, text: &[u8]| {
        let mut out = OutBuffer::new();
        let mut exchange = exchange_of_two(Some(&first), Some(&second));
        (exchange.tested.cached, exchange.tested.second_cached) = (cached, second_cached);
        let step = exchange.start(Some(b"caching_sha2_password"), &sha2::answer(text, &NONCE), &mut out);
        (step == Step::Accepted(None), exchange.used_second())
    };
    let of = |text| Some(sha2::cached_hash(password(text)));
    assert_eq!(cached(of("secret"), of("old"), b"secret"), (true, false));
    assert_eq!(cached(of("secret"), of("old"), b"old"), (true, true));
    assert_eq!(cached(None, of("old"), b"old"), (true, true));
    assert_eq!(cached(None, of("old"), b"secret"), (false, false));
    assert_eq!(cached(of("secret"), None, b"old"), (false, false));
}

#[test]
fn a_refused_client_costs_the_same_with_any_password() {
    let plugin = AuthPlugin::CachingSha2;
    let first = account(plugin);
    let second = Credential::from_password(plugin, password("old")).unwrap();
    for (second, text, accepted, used_second) in [
        (Some(&second), &b"secret"[..], true, false),
        (Some(&second), b"old", true, true),
        (Some(&second), b"wrong", false, false),
        (None, b"secret", true, false),
        (None, b"wrong", false, false),
        (Some(&first), b"secret", true, false),
    ] {
        let mut out = OutBuffer::new();
        let mut exchange = exchange_of_two(Some(&first), second);
        exchange.tested.is_refused = true;
        let answer = sha2::answer(text, &NONCE);
        assert_eq!(exchange.start(Some(b"caching_sha2_password"), &answer, &mut out), Step::Read);
        let step = exchange.resume(&[text, b"\0"].concat(), key, &mut out).unwrap();
        assert_eq!(matches!(step, Step::Accepted(Some(_))), accepted);
        assert_eq!((exchange.used_second(), exchange.rounds_run()), (used_second, 2 * DEFAULT_ROUNDS));
    }
}

#[test]
fn either_native_password_is_right() {
    let first = account(AuthPlugin::Native);
    let second = Credential::from_password(AuthPlugin::Native, password("old")).unwrap();
    for (second, text, expected) in [
        (Some(&second), "secret", Step::Accepted(None)),
        (Some(&second), "old", Step::Accepted(None)),
        (Some(&second), "wrong", Step::Denied),
        (None, "old", Step::Denied),
    ] {
        let mut out = OutBuffer::new();
        let mut exchange = exchange_of_two(Some(&first), second);
        let answer = native::answer(text.as_bytes(), &NONCE);
        assert_eq!(exchange.start(Some(b"mysql_native_password"), &answer, &mut out), expected, "{text}");
    }
}

#[test]
fn a_native_answer_needs_no_further_packet() {
    let credential = account(AuthPlugin::Native);
    let mut out = OutBuffer::new();
    let mut exchange = exchange(Some(&credential), None, false);
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
    let mut exchange = exchange(Some(&credential), None, false);
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
    let mut exchange = exchange(Some(&credential), None, false);
    for plugin in [&b"caching_sha2_password"[..], b"mysql_native_password"] {
        assert_eq!(exchange.start(Some(plugin), b"", &mut out), Step::Accepted(None));
        assert!(!exchange.used_password());
    }
    assert_eq!(exchange.start(Some(b"caching_sha2_password"), &[1; 32], &mut out), Step::Read);
    assert_eq!(exchange.resume(b"\0", key, &mut out), Ok(Step::Denied));
    assert_eq!(exchange.start(Some(b"dialog"), b"", &mut out), Step::Read);
}

#[test]
fn the_fast_answer_works_once_cached() {
    let credential = account(AuthPlugin::CachingSha2);
    let mut out = OutBuffer::new();
    let answer = sha2::answer(b"secret", &NONCE);
    let mut local = exchange(Some(&credential), None, true);
    assert_eq!(local.start(Some(b"caching_sha2_password"), &answer, &mut out), Step::Read);
    assert_eq!(out.pending(), [2, 0, 0, 0, 1, 4]);
    let Ok(Step::Accepted(cached @ Some(_))) = local.resume(b"secret\0", key, &mut out) else {
        panic!("password in clear over a local socket was refused");
    };
    let mut out = OutBuffer::new();
    let mut fast = exchange(Some(&credential), cached, false);
    assert_eq!(fast.start(Some(b"caching_sha2_password"), &answer, &mut out), Step::Accepted(None));
    assert_eq!(out.pending(), [2, 0, 0, 0, 1, 3]);
}

#[test]
fn a_stale_cache_leads_to_full_authentication() {
    let credential = account(AuthPlugin::CachingSha2);
    let cached = Some(sha2::cached_hash(password("old password")));
    let mut exchange = exchange(Some(&credential), cached, true);
    let answer = sha2::answer(b"secret", &NONCE);
    assert_eq!(exchange.start(Some(b"caching_sha2_password"), &answer, &mut OutBuffer::new()), Step::Read);
}

#[test]
fn a_password_of_256_bytes_is_accepted_and_a_longer_one_is_denied() {
    let longest = "x".repeat(PASSWORD_BYTES_MAX);
    let credential = Credential::from_password(AuthPlugin::CachingSha2, password(&longest)).unwrap();
    for (sent, accepted) in [(longest.clone(), true), (longest + "x", false), ("x".repeat(1 << 20), false)] {
        let mut exchange = exchange(Some(&credential), None, true);
        exchange.start(Some(b"caching_sha2_password"), &[1; 32], &mut OutBuffer::new());
        let step = exchange.resume(&[sent.as_bytes(), &[0]].concat(), key, &mut OutBuffer::new());
        assert_eq!(matches!(step, Ok(Step::Accepted(Some(_)))), accepted, "{} bytes", sent.len());
    }
}

#[test]
fn a_clear_password_over_tcp_is_refused() {
    let credential = account(AuthPlugin::CachingSha2);
    let mut out = OutBuffer::new();
    let mut exchange = exchange(Some(&credential), None, false);
    exchange.start(Some(b"caching_sha2_password"), &[1; 32], &mut out);
    assert_eq!(exchange.resume(b"secret\0", key, &mut out), Ok(Step::Denied));
}

#[test]
fn the_public_key_is_sent_on_request() {
    let credential = account(AuthPlugin::CachingSha2);
    let mut exchange = exchange(Some(&credential), None, false);
    exchange.start(Some(b"caching_sha2_password"), &[1; 32], &mut OutBuffer::new());
    let mut out = OutBuffer::new();
    assert_eq!(exchange.resume(&[2], key, &mut out), Ok(Step::Read));
    assert!(out.pending().get(4..).unwrap().starts_with(b"\x01-----BEGIN PUBLIC KEY-----\n"));
}

#[test]
fn nobody_gets_in_without_an_account() {
    let mut out = OutBuffer::new();
    let mut sha2 = exchange(None, None, true);
    assert_eq!(sha2.start(Some(b"mysql_native_password"), &[1; 20], &mut out), Step::Read);
    assert_eq!(sha2.resume(&[1; 32], key, &mut out), Ok(Step::Read));
    assert_eq!(sha2.resume(b"secret\0", key, &mut out), Ok(Step::Denied));
    assert_eq!(sha2.start(Some(b"caching_sha2_password"), b"", &mut out), Step::Denied);
    let mut native = exchange_as(None, AuthPlugin::Native, None, true);
    assert_eq!(native.start(Some(b"mysql_native_password"), &[1; 20], &mut out), Step::Denied);
    assert_eq!(native.start(Some(b"mysql_native_password"), b"", &mut out), Step::Denied);
}

const SHA2: Option<&[u8]> = Some(b"caching_sha2_password");

/// The packets that a client without the password receives, and the rounds run for it.
fn probe(mut exchange: Exchange<'_>, plugin: Option<&[u8]>, answer: &[u8]) -> (Vec<u8>, u32) {
    let mut out = OutBuffer::new();
    let mut step = exchange.start(plugin, answer, &mut out);
    while step == Step::Read {
        let wants_password = out.pending().ends_with(&[MORE_DATA, FULL_WANTED]);
        let packet = if wants_password { b"wrong\0" } else { &[1; 32][..] };
        step = exchange.resume(packet, key, &mut out).unwrap();
    }
    assert_eq!(step, Step::Denied);
    let used_password = exchange.used_password();
    ([out.pending(), &[u8::from(used_password)]].concat(), exchange.rounds_run())
}

#[test]
fn names_with_and_without_an_account_look_alike() {
    for plugin in [AuthPlugin::Native, AuthPlugin::CachingSha2] {
        let (guarded, open) = (account(plugin), Credential::empty(plugin));
        let cached = (plugin == AuthPlugin::CachingSha2).then(|| sha2::cached_hash(password("secret")));
        for client in
            [None, Some(&b"mysql_native_password"[..]), Some(b"caching_sha2_password"), Some(b"dialog")]
        {
            for answer in [&b""[..], &[0], &[1; 20], &[1; 32], &[1; 255]] {
                let missing = probe(exchange_as(None, plugin, None, true), client, answer);
                let there = probe(exchange(Some(&guarded), None, true), client, answer);
                assert_eq!(missing, there, "{plugin:?} {client:?} {answer:?}");
                let hashed =
                    plugin == AuthPlugin::CachingSha2 && !(is_empty_answer(answer) && client == SHA2);
                assert_eq!(missing.1, if hashed { DEFAULT_ROUNDS } else { 0 });
                let cached = probe(exchange(Some(&guarded), cached, true), client, answer);
                assert_eq!(missing, cached, "cached, {plugin:?} {client:?} {answer:?}");
                if !is_empty_answer(answer) {
                    let open = probe(exchange(Some(&open), None, true), client, answer);
                    assert_eq!(missing, open, "without a password, {plugin:?} {client:?} {answer:?}");
                }
            }
        }
    }
}

#[test]
fn accounts_with_fewer_rounds_cost_as_many() {
    let few = [b"$A$001$", &[b'x'; 20][..], &[b'.'; 43]].concat();
    let few = Credential::from_stored(AuthPlugin::CachingSha2, &few).unwrap();
    assert_eq!(few.rounds(), 1000);
    let (packets, rounds) = probe(exchange(Some(&few), None, true), Some(b"caching_sha2_password"), &[1; 32]);
    assert_eq!((packets.is_empty(), rounds), (false, DEFAULT_ROUNDS));
}

#[test]
fn the_plugin_of_a_name_is_fixed_and_both_occur() {
    let mocks = MockCredentials::new(&[1; DIGEST_BYTES]);
    let plugin = |name: &str| mocks.of(name.as_bytes(), None, DEFAULT_ROUNDS).credential.plugin();
    let names: Vec<String> = (0..200).map(|i| format!("user{i}")).collect();
    let natives = names.iter().filter(|name| plugin(name) == AuthPlugin::Native).count();
    assert!((50..150).contains(&natives), "{natives} of 200");
    assert!(names.iter().all(|name| plugin(name) == plugin(name)));
}

proptest! {
    #[test]
    fn random_packets_never_panic_and_never_pass(
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..4),
    ) {
        let credential = account(AuthPlugin::Native);
        let mut out = OutBuffer::new();
        let mut exchange = exchange(Some(&credential), None, false);
        let mut step = exchange.start(Some(b"caching_sha2_password"), &packets[0], &mut out);
        for packet in &packets {
            prop_assert!(!matches!(step, Step::Accepted(_)));
            if step == Step::Read {
                step = exchange.resume(packet, key, &mut out).unwrap();
            }
        }
    }
}
