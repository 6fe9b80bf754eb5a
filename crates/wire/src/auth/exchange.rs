//! The exchange of packets that proves a password.

use super::credential::Secret;
use super::sha2::{self, DIGEST_BYTES};
use super::{AuthPlugin, Credential, KeyError, MockCredential, Password, RsaKey, native};
use crate::OutBuffer;
use crate::greeting::NONCE_BYTES;

/// More data from the server follows.
const MORE_DATA: u8 = 0x01;
/// The client's plugin is to be exchanged for another.
const SWITCH: u8 = 0xfe;
/// The fast answer was right.
const FAST_ACCEPTED: u8 = 0x03;
/// The password itself is wanted.
const FULL_WANTED: u8 = 0x04;
/// The client asks for the public key (`sha256_password` clients send 1).
const PUBLIC_KEY_REQUESTS: [u8; 2] = [0x01, 0x02];

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send what was written, read a packet, call [`Exchange::resume`].
    Read,
    /// The password is right; OK is to follow. Holds what to cache for fast answers, after a full
    /// authentication.
    Accepted(Option<[u8; DIGEST_BYTES]>),
    /// The password is wrong.
    Denied,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// An answer to the challenge, made by the account's plugin.
    Answer,
    /// The password, clear or encrypted, or a request for the public key.
    Password,
}

/// The credentials and hashes that a client's answer is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Verifier<'a> {
    /// The account's credential; `None`: the client cannot get in.
    pub account: Option<&'a Credential>,
    /// The account's second password, which is as good as the first.
    pub second: Option<&'a Credential>,
    /// Some account has a second password: every check is of two.
    pub checks_two: bool,
    /// The client is refused with the right password too, and its cost must not show that it is right.
    pub is_refused: bool,
    /// Takes the account's place where there is none, or none with a password; has the plugin of the account.
    pub mock: &'a MockCredential,
    /// The hash that an earlier full authentication of the account cached.
    pub cached: Option<[u8; DIGEST_BYTES]>,
    /// As `cached`, of the second password.
    pub second_cached: Option<[u8; DIGEST_BYTES]>,
    /// Rounds of SHA-crypt to run for a password, if the account takes fewer.
    pub rounds: u32,
}

impl<'a> Verifier<'a> {
    /// What answers and passwords are compared with.
    fn credential(&self) -> &'a Credential {
        self.account.filter(|account| account.has_password()).unwrap_or(&self.mock.credential)
    }

    /// What is compared with beside it.
    fn second(&self) -> &'a Credential {
        self.second.filter(|_| self.is_guarded()).unwrap_or(&self.mock.credential)
    }

    /// Whether the second password may be right.
    fn has_second(&self) -> bool {
        self.second.is_some() && self.is_guarded()
    }

    /// Whether a client without a password gets in.
    fn is_open(&self) -> bool {
        self.account.is_some_and(|account| !account.has_password())
    }

    /// Whether a client with the password gets in.
    fn is_guarded(&self) -> bool {
        self.account.is_some_and(Credential::has_password)
    }
}

/// One authentication in progress.
#[derive(Debug)]
pub struct Exchange<'a> {
    tested: Verifier<'a>,
    nonce: &'a [u8; NONCE_BYTES],
    is_local: bool,
    key_sent: bool,
    used_password: bool,
    used_second: bool,
    rounds_run: u32,
    state: State,
}

impl<'a> Exchange<'a> {
    /// An exchange over `nonce`. `is_local`: the connection cannot be listened to (a Unix socket, loopback),
    /// so that a password may come in clear.
    pub fn new(tested: Verifier<'a>, nonce: &'a [u8; NONCE_BYTES], is_local: bool) -> Self {
        Exchange {
            tested,
            nonce,
            is_local,
            key_sent: false,
            used_password: false,
            used_second: false,
            rounds_run: 0,
            state: State::Answer,
        }
    }

    /// Begins with the client's plugin and answer as the handshake response or COM_CHANGE_USER carried them.
    pub fn start(&mut self, client_plugin: Option<&[u8]>, response: &[u8], out: &mut OutBuffer) -> Step {
        let plugin = match client_plugin {
            Some(name) => AuthPlugin::from_name(name),
            None => Some(AuthPlugin::Native),
        };
        self.used_password = !is_empty_answer(response);
        let wanted = self.tested.credential().plugin();
        if plugin == Some(wanted) {
            return self.take_answer(response, out);
        }
        if plugin.is_some() && !self.used_password && self.tested.is_open() {
            return Step::Accepted(None);
        }
        out.begin_packet();
        out.put_u8(SWITCH);
        out.put_nul_bytes(wanted.name().as_bytes());
        out.put_nul_bytes(self.nonce);
        out.end_packet();
        Step::Read
    }

    /// Goes on with the client's next packet. `key` gives the server's RSA key, which it may have to
    /// generate.
    ///
    /// # Errors
    /// When `key` fails.
    pub fn resume<'k>(
        &mut self,
        packet: &[u8],
        key: impl FnOnce() -> Result<&'k RsaKey, KeyError>,
        out: &mut OutBuffer,
    ) -> Result<Step, KeyError> {
        match self.state {
            State::Answer => {
                self.used_password = !is_empty_answer(packet);
                Ok(self.take_answer(packet, out))
            }
            State::Password => self.take_password(packet, key, out),
        }
    }

    /// Whether the client gave a password at all, for the text of error 1045.
    pub fn used_password(&self) -> bool {
        self.used_password
    }

    /// Whether the client was accepted by the second password.
    pub fn used_second(&self) -> bool {
        self.used_second
    }

    /// Rounds of SHA-crypt that have been run: the same for every name, with an account or not.
    pub fn rounds_run(&self) -> u32 {
        self.rounds_run
    }

    fn take_answer(&mut self, response: &[u8], out: &mut OutBuffer) -> Step {
        if is_empty_answer(response) {
            return accepted_if(self.tested.is_open());
        }
        match self.tested.credential().secret() {
            // A credential without a password is never tested: a mock credential takes its place.
            Secret::Empty | Secret::SystemUser(_) => Step::Denied,
            Secret::Native(hash) => {
                let right = native::accepts(hash, self.nonce, response);
                let second = match self.tested.second().secret() {
                    Secret::Native(hash) => native::accepts(hash, self.nonce, response),
                    _ => false,
                };
                self.used_second = second && self.tested.has_second() && !right;
                accepted_if(right && self.tested.is_guarded() || self.used_second)
            }
            Secret::Sha2 { .. } => self.take_fast_answer(response, out),
        }
    }

    /// A wrong fast answer is no proof of a wrong password: the cache may be older than the password.
    fn take_fast_answer(&mut self, response: &[u8], out: &mut OutBuffer) -> Step {
        let cached = self.tested.cached.as_ref();
        let second = self.tested.second_cached.as_ref();
        let accepts = |cached: Option<&[u8; DIGEST_BYTES]>| {
            sha2::accepts(cached.unwrap_or(&self.tested.mock.cached), self.nonce, response)
        };
        let (right, second_right) = (accepts(cached), accepts(second));
        self.used_second = second_right && second.is_some() && self.tested.has_second() && !right;
        if right && cached.is_some() && self.tested.is_guarded() || self.used_second {
            put_more_data(out, &[FAST_ACCEPTED]);
            return Step::Accepted(None);
        }
        put_more_data(out, &[FULL_WANTED]);
        self.state = State::Password;
        Step::Read
    }

    fn take_password<'k>(
        &mut self,
        packet: &[u8],
        key: impl FnOnce() -> Result<&'k RsaKey, KeyError>,
        out: &mut OutBuffer,
    ) -> Result<Step, KeyError> {
        if let [request] = packet
            && PUBLIC_KEY_REQUESTS.contains(request)
        {
            put_more_data(out, key()?.public_pem());
            self.key_sent = true;
            return Ok(Step::Read);
        }
        // Over TCP loopback some clients ask for the key and others send the password as it is, ended by a
        // NUL.
        if self.is_local && !self.key_sent && packet.ends_with(&[0]) {
            return Ok(self.finish(packet));
        }
        let Some(mut clear) = key()?.decrypt(packet) else {
            return Ok(Step::Denied);
        };
        for (byte, mask) in clear.iter_mut().zip(self.nonce.iter().cycle()) {
            *byte ^= mask;
        }
        Ok(self.finish(&clear))
    }

    fn finish(&mut self, clear: &[u8]) -> Step {
        // A password too long to be one is denied before anything is hashed.
        let Some(password) = Password::new(clear.strip_suffix(&[0]).unwrap_or(clear)) else {
            return Step::Denied;
        };
        let right = self.check(self.tested.credential(), password) && self.tested.is_guarded();
        if self.tested.checks_two && (!right || self.tested.is_refused) {
            let second = self.check(self.tested.second(), password) && self.tested.has_second();
            self.used_second = second && !right;
        }
        if right || self.used_second {
            Step::Accepted(Some(sha2::cached_hash(password)))
        } else {
            Step::Denied
        }
    }

    fn check(&mut self, credential: &Credential, password: Password<'_>) -> bool {
        self.rounds_run += self.tested.rounds.max(credential.rounds());
        credential.accepts_after(password, self.tested.rounds)
    }
}

/// Clients without a password answer with nothing, or with a single NUL.
fn is_empty_answer(response: &[u8]) -> bool {
    matches!(response, [] | [0])
}

fn accepted_if(right: bool) -> Step {
    if right { Step::Accepted(None) } else { Step::Denied }
}

fn put_more_data(out: &mut OutBuffer, data: &[u8]) {
    out.begin_packet();
    out.put_u8(MORE_DATA);
    out.put_bytes(data);
    out.end_packet();
}

#[cfg(test)]
mod tests;
