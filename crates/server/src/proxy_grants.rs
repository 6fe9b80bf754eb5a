//! PROXY: which accounts an account may act as.
//!
//! As in MySQL, an account may be granted PROXY on a name that has no account, and keeps it when that account
//! is dropped or renamed. On disk a grant is one byte, 1 for WITH GRANT OPTION, then user and host, each u16
//! bytes, little-endian, and its text.

use std::cmp::Reverse;

use crate::account::{Account, Accounts};
use crate::peer::{Peer, PeerHost};

/// Most bytes that the grants of one account may have.
const BYTES_MAX: usize = 1 << 16;

/// An account that another one may act as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyGrant {
    /// User; empty: any.
    pub user: String,
    /// Host, in lower case; empty: any.
    pub host: String,
    /// WITH GRANT OPTION: the account may grant it.
    pub with_grant: bool,
}

impl ProxyGrant {
    /// The proxy grant of the first root: it may grant PROXY on every account.
    pub(crate) fn on_everybody() -> Self {
        ProxyGrant { user: String::new(), host: String::new(), with_grant: true }
    }

    /// Whether it is for this client. As in MySQL the host is compared with the client's.
    fn serves(&self, client: &PeerHost) -> bool {
        matches(client, &self.host)
    }

    /// The order of SHOW GRANTS, and of grants that serve the same client: the most specific ones come first.
    fn order(&self) -> impl Ord + use<> {
        Reverse((specificity(&self.host), specificity(&self.user)))
    }
}

/// The grants of `account` in the order of SHOW GRANTS.
pub(crate) fn in_order(account: &Account) -> Vec<&ProxyGrant> {
    let mut grants: Vec<_> = account.proxies.iter().collect();
    grants.sort_by_key(|grant| grant.order());
    grants
}

/// Adds a grant, or changes whether it may be granted. False: the account would have too many.
pub(crate) fn add(account: &mut Account, new: ProxyGrant) -> bool {
    let is_same = |known: &&mut ProxyGrant| known.user == new.user && known.host == new.host;
    match account.proxies.iter_mut().find(is_same) {
        Some(known) => known.with_grant = new.with_grant,
        None => account.proxies.push(new),
    }
    account.proxies.iter().map(|grant| 5 + grant.user.len() + grant.host.len()).sum::<usize>() <= BYTES_MAX
}

/// Takes the grant on an account; whether there was one.
pub(crate) fn take(account: &mut Account, user: &str, host: &str) -> bool {
    let before = account.proxies.len();
    account.proxies.retain(|grant| (&*grant.user, &*grant.host) != (user, host));
    account.proxies.len() < before
}

/// Whether a client that calls itself `user` may grant PROXY on the account of user `proxied`, by a grant of
/// any account that is for this client.
pub(crate) fn may_grant(accounts: &Accounts, user: &str, peer: Peer, proxied: &str) -> bool {
    let client = PeerHost::from(peer);
    let may = |grant: &ProxyGrant| {
        grant.with_grant && grant.serves(&client) && (grant.user.is_empty() || grant.user == proxied)
    };
    let directory = accounts.directory();
    let mut grantees = directory.all().iter().filter(|account| is_for(account, user, &client));
    grantees.any(|account| account.proxies.iter().any(may))
}

/// User and host of the account that a client of the account of `user` acts as, if it is granted PROXY on
/// one: by the most specific grant.
pub(crate) fn acts_as(accounts: &Accounts, user: &str, peer: Peer) -> Option<(String, String)> {
    let client = PeerHost::from(peer);
    let directory = accounts.directory();
    let grantees = directory.all().iter().filter(|account| is_for(account, user, &client));
    let grants = grantees.flat_map(|account| {
        let of_grantee = Reverse((specificity(&account.host), specificity(&account.user)));
        account.proxies.iter().map(move |grant| (of_grantee, grant))
    });
    let usable = grants.filter(|(_, grant)| !grant.user.is_empty() && grant.serves(&client));
    let first = usable.min_by_key(|(of_grantee, grant)| (*of_grantee, grant.order()));
    first.map(|(_, grant)| (grant.user.clone(), grant.host.clone()))
}

/// Whether what is granted to `account` is granted to a client that calls itself `user`.
fn is_for(account: &Account, user: &str, client: &PeerHost) -> bool {
    (account.user.is_empty() || account.user == user) && matches(client, &account.host)
}

fn matches(client: &PeerHost, pattern: &str) -> bool {
    pattern.is_empty() || client.matches(pattern)
}

/// MySQL's measure of a name: 0 for none, the place of its first wildcard, most without one.
fn specificity(name: &str) -> usize {
    match name.find(['%', '_']) {
        Some(place) => (place + 1).min(127),
        None if name.is_empty() => 0,
        None => 128,
    }
}

/// The bytes of an account's grants.
pub(crate) fn encode(grants: &[ProxyGrant]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for grant in grants {
        bytes.push(u8::from(grant.with_grant));
        for text in [&grant.user, &grant.host] {
            bytes.extend((text.len() as u16).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
    }
    bytes
}

/// `None` if the bytes are not what [`encode`] makes.
pub(crate) fn decode(mut bytes: &[u8]) -> Option<Vec<ProxyGrant>> {
    let mut grants = Vec::new();
    while let Some((with_grant @ (0 | 1), rest)) = bytes.split_first() {
        bytes = rest;
        let (user, host) = (decode_text(&mut bytes)?, decode_text(&mut bytes)?);
        grants.push(ProxyGrant { user, host, with_grant: *with_grant == 1 });
    }
    bytes.is_empty().then_some(grants)
}

fn decode_text(bytes: &mut &[u8]) -> Option<String> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (text, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use wire::auth::{AuthPlugin, Credential};

    use super::*;
    use crate::account::MemoryStore;

    fn grant(user: &str, host: &str) -> ProxyGrant {
        ProxyGrant { user: user.to_owned(), host: host.to_owned(), with_grant: false }
    }

    fn account(user: &str, host: &str, proxies: Vec<ProxyGrant>) -> Account {
        let credential = Credential::empty(AuthPlugin::Native);
        Account { proxies, ..Account::new(user.to_owned(), host.to_owned(), credential) }
    }

    #[test]
    fn grants_are_read_as_they_were_written() {
        let grants = vec![grant("a", "%"), ProxyGrant::on_everybody(), grant("\u{e9}", "10.0.%")];
        let bytes = encode(&grants);
        assert_eq!(decode(&bytes), Some(grants));
        assert_eq!(decode(&bytes[..bytes.len() - 1]), None);
        assert_eq!(decode(b"\x02\0\0\0\0"), None);
    }

    #[test]
    fn the_most_specific_grant_says_who_a_client_acts_as() {
        let accounts = Accounts::open(Box::new(MemoryStore)).unwrap();
        accounts.put(account("p", "%", vec![grant("x", "%"), grant("", "")])).unwrap();
        let of = |user: &str, peer| acts_as(&accounts, user, peer).map(|(user, _)| user);
        assert_eq!(of("p", Peer::Local).as_deref(), Some("x"));
        assert_eq!(of("q", Peer::Local), None);
        assert_eq!(of("root", Peer::Local), None, "root's grant names nobody");
        accounts
            .put(account("p", "localhost", vec![grant("y", "10.0.0.1"), grant("z", "localhost")]))
            .unwrap();
        assert_eq!(of("p", Peer::Local).as_deref(), Some("z"));
        assert_eq!(of("p", Peer::Remote("10.0.0.1".parse().unwrap())).as_deref(), Some("x"));
    }

    #[test]
    fn an_account_has_a_bounded_number_of_grants() {
        let mut one = account("p", "%", Vec::new());
        let host = "h".repeat(255);
        let added = (0..1000).take_while(|n| add(&mut one, grant(&n.to_string(), &host))).count();
        assert!((200..1000).contains(&added), "{added}");
        let mut few = account("p", "%", one.proxies[..9].to_vec());
        assert!(add(&mut few, grant("0", &host)) && few.proxies.len() == 9, "it is there already");
        assert!(!add(&mut one, grant("0", &host)), "one too many are");
    }
}
