//! Hosts whose clients break off handshakes: `max_connect_errors` of them in a row, and the host is blocked
//! (error 1129).
//!
//! Wrong passwords do not count, they are [`crate::failed_logins`]'s. As in MySQL clients on 127.0.0.1, ::1
//! and the Unix socket are not counted. Addresses are not resolved, so a host is its address.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use parking_lot::Mutex;

use crate::peer::Peer;
use crate::sysvars::Variables;

/// Broken handshakes by address, of the addresses that broke one last.
#[derive(Debug, Default)]
pub(crate) struct HostCache {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    hosts: HashMap<IpAddr, Host>,
    /// Address by [`Host::last`].
    by_age: BTreeMap<u64, IpAddr>,
    last: u64,
}

#[derive(Clone, Copy, Debug)]
struct Host {
    /// Broken handshakes since the last one that went well.
    errors: u64,
    /// Number of the last one: unique, rising.
    last: u64,
}

/// How much the cache holds, and how much of it a host may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// `host_cache_size`; 0: no cache, and no host is blocked.
    pub(crate) hosts_max: usize,
    /// `max_connect_errors`.
    pub(crate) errors_max: u64,
}

impl Limits {
    /// Those in force.
    pub(crate) fn of(variables: &Variables) -> Self {
        Limits {
            hosts_max: variables.named("host_cache_size").as_u64() as usize,
            errors_max: variables.named("max_connect_errors").as_u64(),
        }
    }
}

/// The address of a client whose errors count.
pub(crate) fn counted_address(peer: Peer) -> Option<IpAddr> {
    let Peer::Remote(address) = peer else { return None };
    let address = address.to_canonical();
    let is_exempt = address == Ipv4Addr::LOCALHOST || address == Ipv6Addr::LOCALHOST;
    (!is_exempt).then_some(address)
}

impl HostCache {
    /// Whether clients from `address` are turned away.
    pub(crate) fn is_blocked(&self, address: IpAddr, limits: Limits) -> bool {
        let inner = self.inner.lock();
        inner.hosts.get(&address).is_some_and(|host| host.errors >= limits.errors_max)
    }

    /// Counts a broken handshake. A host that broke one longest ago is forgotten where there are too many.
    pub(crate) fn count_error(&self, address: IpAddr, limits: Limits) {
        if limits.hosts_max == 0 {
            return;
        }
        let inner = &mut *self.inner.lock();
        inner.last += 1;
        let last = inner.last;
        let host = inner.hosts.entry(address).or_insert(Host { errors: 0, last });
        inner.by_age.remove(&host.last);
        *host = Host { errors: host.errors.saturating_add(1), last };
        inner.by_age.insert(last, address);
        while inner.hosts.len() > limits.hosts_max
            && let Some((_, oldest)) = inner.by_age.pop_first()
        {
            inner.hosts.remove(&oldest);
        }
    }

    /// A handshake from `address` went well: earlier ones count no more.
    pub(crate) fn forgive(&self, address: IpAddr) {
        let inner = &mut *self.inner.lock();
        if let Some(host) = inner.hosts.remove(&address) {
            inner.by_age.remove(&host.last);
        }
    }

    /// A new size of the cache empties it, as in MySQL; other variables than `host_cache_size` do nothing.
    pub(crate) fn changed(&self, name: &str) {
        if name == "host_cache_size" {
            self.clear();
        }
    }

    /// Forgets all hosts: FLUSH HOSTS.
    pub(crate) fn clear(&self) {
        *self.inner.lock() = Inner::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn loopback_and_the_unix_socket_are_exempt() {
        for exempt in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(counted_address(Peer::Remote(exempt.parse().unwrap())), None, "{exempt}");
        }
        assert_eq!(counted_address(Peer::Local), None);
        for (counted, canonical) in
            [("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("127.0.0.2", "127.0.0.2")]
        {
            let peer = Peer::Remote(counted.parse().unwrap());
            assert_eq!(counted_address(peer), Some(canonical.parse().unwrap()));
        }
    }

    #[test]
    fn a_host_is_blocked_by_errors_in_a_row_until_it_is_forgiven() {
        let limits = Limits { hosts_max: 10, errors_max: 3 };
        let cache = HostCache::default();
        let (bad, good) = (address(1), address(2));
        cache.count_error(bad, limits);
        cache.count_error(bad, limits);
        cache.forgive(bad);
        for _ in 0..3 {
            assert!(!cache.is_blocked(bad, limits));
            cache.count_error(bad, limits);
        }
        assert!(cache.is_blocked(bad, limits) && !cache.is_blocked(good, limits));
        assert!(!cache.is_blocked(bad, Limits { errors_max: 4, ..limits }), "the limit in force counts");
        cache.clear();
        assert!(!cache.is_blocked(bad, limits));
    }

    #[test]
    fn the_cache_keeps_the_hosts_that_erred_last() {
        let limits = Limits { hosts_max: 2, errors_max: 1 };
        let cache = HostCache::default();
        for host in [1, 2, 1, 3] {
            cache.count_error(address(host), limits);
        }
        let blocked = |host| cache.is_blocked(address(host), limits);
        assert!(blocked(1) && !blocked(2) && blocked(3));
        let kept = {
            let inner = cache.inner.lock();
            (inner.hosts.len(), inner.by_age.len())
        };
        assert_eq!(kept, (2, 2));
        cache.count_error(address(4), Limits { hosts_max: 0, ..limits });
        assert!(!blocked(4), "without a cache no host is counted");
    }
}
