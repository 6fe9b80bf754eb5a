//! Every decoder of bytes from a client: framing, handshake, change of user, authentication, parameters.

use std::sync::LazyLock;

use wire::auth::{
    AuthPlugin, Credential, Exchange, MockCredential, MockCredentials, Password, RsaKey, Step, Verifier,
};
use wire::change_user::ChangeUser;
use wire::decode::Decoder;
use wire::execute::{Execute, LongData, Parameters, parse_set_option, parse_statement_id};
use wire::handshake::{HandshakeResponse, attributes};
use wire::{Capabilities, Command, OutBuffer, PacketReader};

use crate::Bytes;

/// Largest packet that the reader under test takes.
const PACKET_BYTES_MAX: usize = 1 << 16;

/// The first byte selects the decoder.
pub fn run(input: &[u8]) {
    let mut input = Bytes::new(input);
    match input.u8() % 6 {
        0 => frame(input),
        1 => greet(input),
        2 => change_user(input),
        3 => authenticate(input),
        4 => bind(input),
        _ => decode_small_commands(input.rest()),
    }
}

/// Receives the bytes in pieces and takes packets until an error.
fn frame(mut input: Bytes<'_>) {
    let mut reader = PacketReader::new(PACKET_BYTES_MAX);
    let piece = usize::from(input.u8()) * 16 + 1;
    loop {
        match reader.advance() {
            Err(_) => return,
            Ok(true) => {
                assert!(reader.packet().len() <= PACKET_BYTES_MAX, "a packet beyond the limit");
                if input.is_empty() {
                    return;
                }
            }
            Ok(false) => {
                let space = reader.space();
                assert!(!space.is_empty(), "no room to receive to");
                let bytes = input.take(piece.min(space.len()));
                if bytes.is_empty() {
                    return;
                }
                space[..bytes.len()].copy_from_slice(bytes);
                reader.filled(bytes.len());
            }
        }
    }
}

fn greet(input: Bytes<'_>) {
    if let Ok(response) = HandshakeResponse::parse(input.rest()) {
        attributes(response.attributes).for_each(drop);
    }
}

fn change_user(mut input: Bytes<'_>) {
    let capabilities = Capabilities(input.u32());
    if let Ok(change) = ChangeUser::parse(input.rest(), capabilities) {
        attributes(change.attributes).for_each(drop);
    }
}

/// What clients of [`authenticate`] are tested against.
struct Lock {
    key: RsaKey,
    /// Accounts, and what takes their place where there is none.
    accounts: [(Option<Credential>, MockCredential); 3],
}

impl Lock {
    fn new() -> Lock {
        let password = Password::new(b"known to no input").expect("a short password");
        let mocks = MockCredentials::new(&[1; 32]);
        let account = |plugin: Option<AuthPlugin>| {
            let credential = plugin.and_then(|plugin| Credential::from_password(plugin, password).ok());
            (credential, mocks.of(b"user", plugin, 1))
        };
        let accounts = [None, Some(AuthPlugin::Native), Some(AuthPlugin::CachingSha2)].map(account);
        Lock { key: RsaKey::generate().expect("a key"), accounts }
    }
}

/// Exchanges packets with accounts of every kind. A client who does not know the password is never let in.
fn authenticate(mut input: Bytes<'_>) {
    static LOCK: LazyLock<Lock> = LazyLock::new(Lock::new);
    let (account, mock) = &LOCK.accounts[usize::from(input.u8()) % LOCK.accounts.len()];
    let is_local = input.u8() & 1 != 0;
    let tested = Verifier {
        account: account.as_ref(),
        second: None,
        checks_two: false,
        is_refused: false,
        mock,
        cached: None,
        second_cached: None,
        rounds: 0,
    };
    let nonce = [7; 20];
    let mut out = OutBuffer::new();
    let mut exchange = Exchange::new(tested, &nonce, is_local);
    let plugins: [Option<&[u8]>; 4] =
        [None, Some(b"caching_sha2_password"), Some(b"mysql_native_password"), Some(b"sha256_password")];
    let plugin = plugins[usize::from(input.u8()) % plugins.len()];
    let mut step = exchange.start(plugin, input.until(b'\n'), &mut out);
    while step == Step::Read && !input.is_empty() {
        let resumed = exchange.resume(input.until(b'\n'), || Ok(&LOCK.key), &mut out);
        step = resumed.unwrap_or(Step::Denied);
    }
    assert!(!matches!(step, Step::Accepted(_)), "a client without the password is let in");
}

fn bind(mut input: Bytes<'_>) {
    let (count, mut types) = (usize::from(input.u8()), Vec::new());
    let execute = Execute::parse(input.rest());
    let bytes = execute.map_or(input.rest(), |execute| execute.params);
    if let Ok((mut parameters, _)) = Parameters::new(bytes, count, &mut types) {
        while let Ok(Some(_)) = parameters.next(false) {}
    }
}

fn decode_small_commands(bytes: &[u8]) {
    if let Some((_, args)) = Command::parse(bytes) {
        // Each of them returns a value or an error; which does not matter here.
        let _ = LongData::parse(args);
        let _ = parse_statement_id(args);
        let _ = parse_set_option(args);
    }
    let mut decoder = Decoder::new(bytes);
    while decoder.lenenc_bytes("string").is_ok() && !decoder.is_empty() {}
}
