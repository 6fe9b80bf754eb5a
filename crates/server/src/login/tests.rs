use wire::OutBuffer;
use wire::auth::{Credential, Exchange, Password, Step};

use super::*;
use crate::account::{Accounts, MemoryStore};

const CLIENTS: [Option<&[u8]>; 4] =
    [None, Some(b"mysql_native_password"), Some(b"caching_sha2_password"), Some(b"dialog")];

fn credential(plugin: AuthPlugin, password: &str) -> Credential {
    Credential::from_password(plugin, Password::new(password.as_bytes()).unwrap()).unwrap()
}

/// Accounts named by kind, for each of `plugins`; root has a password and the first of them.
fn accounts(plugins: &[AuthPlugin]) -> Accounts {
    let accounts = Accounts::open(Box::new(MemoryStore)).unwrap();
    let put = |user: String, host: &str, credential: &Credential, locked: bool| {
        let account = Account::new(user, host.to_owned(), credential.clone());
        accounts.put(Account { locked, ..account }).unwrap();
    };
    put("root".to_owned(), "localhost", &credential(plugins[0], "secret"), false);
    for &plugin in plugins {
        let (guarded, open) = (credential(plugin, "secret"), Credential::empty(plugin));
        for (kind, host, credential, locked) in [
            ("guarded", "%", &guarded, false),
            ("locked", "%", &guarded, true),
            ("elsewhere", "192.0.2.1", &guarded, false),
            ("open", "%", &open, false),
            ("open_locked", "%", &open, true),
            ("open_elsewhere", "192.0.2.1", &open, false),
        ] {
            put(format!("{kind}_{}", plugin.name()), host, credential, locked);
        }
        put(format!("cached_{}", plugin.name()), "%", &guarded, false);
        let of_two = Account::new(format!("two_{}", plugin.name()), "%".to_owned(), guarded.clone());
        accounts.put(Account { second_password: Some(credential(plugin, "old")), ..of_two }).unwrap();
        let cached = accounts.find(&format!("cached_{}", plugin.name()), "%").unwrap();
        accounts.cache_hash(&cached, [1; 32], false);
    }
    accounts
}

/// The packets that a client without the password receives, the outcome, and the rounds run: `None` if it is
/// admitted.
fn probe(login: &Login, local: bool, client: Option<&[u8]>, answer: &[u8]) -> Option<(Vec<u8>, bool, u32)> {
    let mut out = OutBuffer::new();
    let mut exchange = Exchange::new(login.tested(), &[b'n'; 20], local);
    let mut step = exchange.start(client, answer, &mut out);
    while step == Step::Read {
        let wants_password = out.pending().ends_with(&[1, 4]);
        if wants_password && !local {
            // The key pair takes long to generate, and what follows is the same for every login.
            break;
        }
        let packet = if wants_password { b"wrong\0" } else { &[1; 32][..] };
        let no_key = || unreachable!("the password comes in clear");
        step = exchange.resume(packet, no_key, &mut out).unwrap();
    }
    let seen = (out.pending().to_vec(), exchange.used_password(), exchange.rounds_run());
    (!matches!(step, Step::Accepted(_))).then_some(seen)
}

/// Everything that a client can find out about `user` without a password.
fn profile(accounts: &Accounts, user: &str, peer: Peer) -> Vec<Option<(Vec<u8>, bool, u32)>> {
    let login = accounts.login(user, peer);
    let answers = [&b""[..], &[0], &[1; 20], &[1; 32]];
    let local = peer.is_loopback();
    CLIENTS.iter().flat_map(|client| answers.map(|answer| probe(&login, local, *client, answer))).collect()
}

/// The accounts that a client without a password can tell from names that do not exist.
fn told_apart(plugins: &[AuthPlugin], peer: Peer) -> Vec<String> {
    let accounts = accounts(plugins);
    let missing: Vec<_> = (0..20).map(|i| profile(&accounts, &format!("missing{i}"), peer)).collect();
    let all = accounts.all();
    let known = all.iter().filter(|account| !missing.contains(&profile(&accounts, &account.user, peer)));
    known.map(|account| account.user.clone()).collect()
}

const SETS: [&[AuthPlugin]; 3] =
    [&[AuthPlugin::Native], &[AuthPlugin::CachingSha2], &[AuthPlugin::Native, AuthPlugin::CachingSha2]];

#[test]
fn from_elsewhere_no_account_can_be_told_from_a_missing_one() {
    for plugins in SETS {
        assert_eq!(told_apart(plugins, Peer::Remote("10.0.0.1".parse().unwrap())), [""; 0], "{plugins:?}");
    }
}

#[test]
fn on_this_machine_only_accounts_without_a_password_show_themselves_by_letting_the_client_in() {
    for plugins in SETS {
        let mut expected: Vec<String> = plugins
            .iter()
            .flat_map(|plugin| ["open", "open_locked"].map(|kind| format!("{kind}_{}", plugin.name())))
            .collect();
        let mut told = told_apart(plugins, Peer::Local);
        expected.sort();
        told.sort();
        assert_eq!(told, expected, "{plugins:?}");
    }
}

#[test]
fn an_account_without_a_password_answers_a_password_as_others_do() {
    let accounts = accounts(SETS[2]);
    let with_password = |user: &str| {
        let login = accounts.login(user, Peer::Local);
        CLIENTS.map(|client| probe(&login, true, client, &[1; 32]))
    };
    for plugin in ["mysql_native_password", "caching_sha2_password"] {
        let guarded = with_password(&format!("guarded_{plugin}"));
        assert!(guarded.iter().all(Option::is_some));
        assert_eq!(with_password(&format!("open_{plugin}")), guarded);
        assert_eq!(with_password(&format!("open_locked_{plugin}")), guarded);
    }
}

#[test]
fn all_logins_run_the_rounds_of_the_slowest_account_up_to_a_bound() {
    let accounts = accounts(&[AuthPlugin::CachingSha2]);
    let two = accounts.find("two_caching_sha2_password", "%").unwrap();
    let rounds = |user: &str| {
        let login = accounts.login(user, Peer::Local);
        probe(&login, true, CLIENTS[2], &[1; 32]).unwrap().2
    };
    let users = ["guarded_caching_sha2_password", "open_caching_sha2_password", "root", "missing"];
    assert_eq!(users.map(rounds), [2 * DEFAULT_ROUNDS; 4], "an account has a second password");
    accounts.put(Account { second_password: None, ..Account::clone(&two) }).unwrap();
    assert_eq!(users.map(rounds), [DEFAULT_ROUNDS; 4]);
    let mut imported = Account::clone(&accounts.find("root", "localhost").unwrap());
    for (digits, own, others) in [("008", 8000, 8000), ("00A", 10_000, 10_000), ("010", 16_000, 10_000)] {
        let stored = [format!("$A${digits}$").as_bytes(), &[b's'; 20], &[b'.'; 43]].concat();
        imported.credential = Credential::from_stored(AuthPlugin::CachingSha2, &stored).unwrap();
        accounts.put(imported.clone()).unwrap();
        assert_eq!(users.map(rounds), [others, others, own, others]);
    }
}

#[test]
fn a_name_keeps_its_plugin_from_hosts_that_its_account_is_not_for() {
    let accounts = accounts(SETS[2]);
    for plugin in SETS[2] {
        let user = format!("elsewhere_{}", plugin.name());
        let all = accounts.all();
        for host in ["192.0.2.1", "192.0.2.2"] {
            let scan = AccountScan::of(&all, &user, Peer::Remote(host.parse().unwrap()));
            assert_eq!((scan.plugin(), scan.found.is_some()), (Some(*plugin), host == "192.0.2.1"));
        }
    }
}

#[test]
fn a_refused_login_has_no_cached_hash_and_always_two_checks() {
    let accounts = accounts(&[AuthPlugin::CachingSha2]);
    let two = accounts.find("two_caching_sha2_password", "%").unwrap();
    for is_second in [false, true] {
        accounts.cache_hash(&two, [1; 32], is_second);
    }
    let login = accounts.login(&two.user, Peer::Local);
    let (usual, refused) = (login.tested(), login.tested_refused());
    assert_eq!((usual.cached, usual.second_cached), (Some([1; 32]), Some([1; 32])));
    assert_eq!((refused.cached, refused.second_cached), (None, None));
    assert!(refused.is_refused && refused.checks_two && !usual.is_refused);
}
