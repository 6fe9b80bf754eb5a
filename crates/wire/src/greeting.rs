//! The server's first packet (protocol version 10).

use crate::{Capabilities, OutBuffer, ServerStatus};

/// Bytes of the random challenge.
pub const NONCE_BYTES: usize = 20;

/// The contents of the greeting.
#[derive(Clone, Copy, Debug)]
pub struct Greeting<'a> {
    /// Server version as clients parse it.
    pub version: &'a str,
    /// Connection id.
    pub connection_id: u32,
    /// Challenge; must hold no NUL byte.
    pub nonce: &'a [u8; NONCE_BYTES],
    /// Flags offered.
    pub capabilities: Capabilities,
    /// Default collation of the server; only its low byte is sent.
    pub collation: u16,
    /// Status flags.
    pub status: ServerStatus,
    /// Authentication plugin that the nonce is meant for.
    pub auth_plugin: &'a str,
}

impl Greeting<'_> {
    /// Writes the packet.
    pub fn write(&self, out: &mut OutBuffer) {
        let (first, second) = self.nonce.split_at(8);
        let flags = self.capabilities.0;
        out.begin_packet();
        out.put_u8(10);
        out.put_nul_bytes(self.version.as_bytes());
        out.put_u32(self.connection_id);
        out.put_nul_bytes(first);
        out.put_u16(flags as u16);
        out.put_u8(self.collation as u8);
        out.put_u16(self.status.0);
        out.put_u16((flags >> 16) as u16);
        out.put_u8(NONCE_BYTES as u8 + 1);
        out.put_bytes(&[0; 10]);
        out.put_nul_bytes(second);
        out.put_nul_bytes(self.auth_plugin.as_bytes());
        out.end_packet();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greeting_has_its_documented_layout() {
        let nonce = *b"abcdefghijklmnopqrst";
        let mut out = OutBuffer::new();
        Greeting {
            version: "8.4.6-x",
            connection_id: 0x0102_0304,
            nonce: &nonce,
            capabilities: Capabilities(0xaabb_ccdd),
            collation: 255,
            status: ServerStatus::AUTOCOMMIT,
            auth_plugin: "caching_sha2_password",
        }
        .write(&mut out);
        let expected: &[u8] =
            b"\x4b\0\0\0\x0a8.4.6-x\0\x04\x03\x02\x01abcdefgh\0\xdd\xcc\xff\x02\0\xbb\xaa\x15\
            \0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0caching_sha2_password\0";
        assert_eq!(out.pending(), expected);
    }
}
