//! Where clients come from.

use std::net::IpAddr;

use crate::like::like;

/// Where a client comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A Unix socket.
    Local,
    /// An address.
    Remote(IpAddr),
}

impl Peer {
    /// Whether the client runs on this machine.
    pub(crate) fn is_loopback(self) -> bool {
        match self {
            Peer::Local => true,
            Peer::Remote(address) => address.to_canonical().is_loopback(),
        }
    }

    /// The host part of error messages and of USER().
    pub fn host(self) -> String {
        match self {
            Peer::Remote(address) if !self.is_loopback() => address.to_canonical().to_string(),
            _ => "localhost".to_owned(),
        }
    }
}

/// A client's address, ready to be compared with the hosts of accounts.
#[derive(Debug)]
pub(crate) struct PeerHost {
    is_loopback: bool,
    address: Option<(IpAddr, String)>,
}

impl From<Peer> for PeerHost {
    fn from(peer: Peer) -> Self {
        let address = match peer {
            Peer::Local => None,
            Peer::Remote(address) => Some((address.to_canonical(), address.to_canonical().to_string())),
        };
        PeerHost { is_loopback: peer.is_loopback(), address }
    }
}

impl PeerHost {
    /// Whether the client runs on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        self.is_loopback
    }

    /// Whether an account of host `pattern` is for this client.
    pub(crate) fn matches(&self, pattern: &str) -> bool {
        if self.is_loopback && like(pattern, "localhost") {
            return true;
        }
        let Some((address, text)) = &self.address else {
            return false;
        };
        match pattern.split_once('/') {
            Some((network, mask)) => in_network(*address, network, mask),
            None => like(pattern, text),
        }
    }
}

fn in_network(address: IpAddr, network: &str, mask: &str) -> bool {
    let (IpAddr::V4(address), Ok(IpAddr::V4(network))) = (address, network.parse()) else {
        return false;
    };
    let bits = match (mask.parse::<u32>(), mask.parse()) {
        (Ok(length @ 0..=32), _) => u32::MAX.checked_shl(32 - length).unwrap_or(0),
        (_, Ok(IpAddr::V4(mask))) => mask.to_bits(),
        _ => return false,
    };
    address.to_bits() & bits == network.to_bits() & bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_match() {
        let address = "192.168.3.4".parse().unwrap();
        assert!(
            in_network(address, "192.168.0.0", "255.255.0.0") && in_network(address, "192.168.3.0", "24")
        );
        assert!(!in_network(address, "192.168.4.0", "24") && !in_network(address, "192.168.4.0", "x"));
    }
}
