//! COM_CHANGE_USER.

use crate::decode::Decoder;
use crate::handshake::attribute_block;
use crate::{Capabilities, Error};

/// Arguments of COM_CHANGE_USER. Text is bytes in the client's character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeUser<'a> {
    /// User name.
    pub user: &'a [u8],
    /// Answer to the challenge of the greeting.
    pub auth_response: &'a [u8],
    /// Default database; `None`: none.
    pub database: Option<&'a [u8]>,
    /// Collation id; `None`: leave the server's default.
    pub collation: Option<u16>,
    /// Plugin that made `auth_response`.
    pub auth_plugin: Option<&'a [u8]>,
    /// Connection attributes, still encoded.
    pub attributes: &'a [u8],
}

impl<'a> ChangeUser<'a> {
    /// Decodes `args`, the packet without its command byte.
    pub fn parse(args: &'a [u8], capabilities: Capabilities) -> Result<Self, Error> {
        let mut d = Decoder::new(args);
        let user = d.nul_bytes();
        let n = d.u8("authentication response")?;
        let auth_response = d.bytes(usize::from(n), "authentication response")?;
        let database = d.nul_bytes();
        let collation = if d.is_empty() { None } else { Some(d.u16("collation")?) };
        let has_plugin = capabilities.has(Capabilities::PLUGIN_AUTH) && !d.is_empty();
        let auth_plugin = has_plugin.then(|| d.nul_bytes());
        let attributes = attribute_block(&mut d, capabilities)?;
        Ok(ChangeUser {
            user,
            auth_response,
            database: Some(database).filter(|name| !name.is_empty()),
            collation,
            auth_plugin: auth_plugin.filter(|name| !name.is_empty()),
            attributes,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_full_packet_is_read() {
        let args = b"bob\0\x03xyztest\0\x2d\0mysql_native_password\0";
        let c = ChangeUser::parse(args, Capabilities::OFFERED).unwrap();
        assert_eq!((c.user, c.auth_response), (&b"bob"[..], &b"xyz"[..]));
        assert_eq!((c.database, c.collation), (Some(&b"test"[..]), Some(45)));
        assert_eq!(c.auth_plugin, Some(&b"mysql_native_password"[..]));
    }

    #[test]
    fn the_short_form_of_old_clients_is_read() {
        let c = ChangeUser::parse(b"bob\0\0\0", Capabilities::OFFERED).unwrap();
        assert_eq!((c.database, c.collation, c.auth_plugin), (None, None, None));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), flags: u32) {
            let _ = ChangeUser::parse(&bytes, Capabilities(flags));
        }
    }
}
