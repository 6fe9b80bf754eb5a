//! The client's answer to the greeting (HandshakeResponse41).

use crate::decode::{Decoder, malformed};
use crate::{Capabilities, Error};

/// Bytes of an SSLRequest: a handshake response cut off before the user name.
const SSL_REQUEST_BYTES: usize = 32;
/// Most bytes of connection attributes, as in MySQL.
const ATTRIBUTE_BYTES_MAX: usize = 0xffff;

/// A client's answer to the greeting. Text is bytes in the client's character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeResponse<'a> {
    /// Flags that the client wants.
    pub capabilities: Capabilities,
    /// MariaDB's extended flags (0 from other clients); nothing in them is offered, so they have no effect.
    pub extended_capabilities: u32,
    /// Largest packet the client takes; 0: not said.
    pub max_packet: u32,
    /// Collation id; character sets above 255 cannot be named here.
    pub collation: u8,
    /// User name; empty for the anonymous user.
    pub user: &'a [u8],
    /// Answer to the challenge.
    pub auth_response: &'a [u8],
    /// Default database, if one was named.
    pub database: Option<&'a [u8]>,
    /// Plugin that made `auth_response`; `None` from clients without CLIENT_PLUGIN_AUTH.
    pub auth_plugin: Option<&'a [u8]>,
    /// Connection attributes, still encoded; see [`attributes`].
    pub attributes: &'a [u8],
    /// Level of the zstd compression that the client asks for, as it was sent; `None` from other clients.
    pub zstd_level: Option<u8>,
}

impl<'a> HandshakeResponse<'a> {
    /// Decodes `packet`.
    ///
    /// # Errors
    /// [`Error::TlsNotOffered`], [`Error::ProtocolTooOld`] and [`Error::Malformed`].
    pub fn parse(packet: &'a [u8]) -> Result<Self, Error> {
        let mut d = Decoder::new(packet);
        let low = Capabilities(u32::from(d.u16("capability flags")?));
        if !low.has(Capabilities::PROTOCOL_41) {
            return Err(Error::ProtocolTooOld);
        }
        let high = d.u16("capability flags")?;
        let capabilities = Capabilities(low.0 | u32::from(high) << 16);
        if asks_for_tls(packet) {
            return Err(Error::TlsNotOffered);
        }
        let max_packet = d.u32("max packet size")?;
        let collation = d.u8("collation")?;
        d.bytes(19, "filler")?;
        let extended = d.u32("filler")?;
        let is_mariadb = !capabilities.has(Capabilities::LONG_PASSWORD);
        let user = d.nul_bytes();
        let auth_response = auth_response(&mut d, capabilities)?;
        let database = capabilities.has(Capabilities::CONNECT_WITH_DB).then(|| d.nul_bytes());
        let auth_plugin = capabilities.has(Capabilities::PLUGIN_AUTH).then(|| d.nul_bytes());
        let attributes = attribute_block(&mut d, capabilities)?;
        let asks_for_level = capabilities.has(Capabilities::ZSTD) && !d.is_empty();
        let zstd_level = if asks_for_level { Some(d.u8("zstd level")?) } else { None };
        Ok(HandshakeResponse {
            capabilities,
            extended_capabilities: if is_mariadb { extended } else { 0 },
            max_packet,
            collation,
            user,
            auth_response,
            database: database.filter(|name| !name.is_empty()),
            auth_plugin: auth_plugin.filter(|name| !name.is_empty()),
            attributes,
            zstd_level,
        })
    }
}

/// Whether `packet`, in place of an answer to the greeting, asks for TLS: an answer follows in it.
pub fn asks_for_tls(packet: &[u8]) -> bool {
    let flags = packet.first_chunk().map_or(0, |flags| u32::from_le_bytes(*flags));
    let wanted = Capabilities(Capabilities::PROTOCOL_41.0 | Capabilities::SSL.0);
    packet.len() <= SSL_REQUEST_BYTES && Capabilities(flags).has(wanted)
}

fn auth_response<'a>(d: &mut Decoder<'a>, capabilities: Capabilities) -> Result<&'a [u8], Error> {
    if d.is_empty() {
        return Ok(&[]);
    }
    if capabilities.has(Capabilities::PLUGIN_AUTH_LENENC) {
        d.lenenc_bytes("authentication response")
    } else if capabilities.has(Capabilities::SECURE_CONNECTION) {
        let n = d.u8("authentication response")?;
        d.bytes(usize::from(n), "authentication response")
    } else {
        Ok(d.nul_bytes())
    }
}

/// The attribute block without its length; empty if absent.
pub(crate) fn attribute_block<'a>(
    d: &mut Decoder<'a>,
    capabilities: Capabilities,
) -> Result<&'a [u8], Error> {
    if d.is_empty() || !capabilities.has(Capabilities::CONNECT_ATTRS) {
        return Ok(&[]);
    }
    let block = d.lenenc_bytes("connection attributes")?;
    if block.len() > ATTRIBUTE_BYTES_MAX {
        return Err(malformed("connection attributes"));
    }
    Ok(block)
}

/// Name and value of every connection attribute in `block`; stops at the first one that is malformed.
pub fn attributes(block: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut d = Decoder::new(block);
    std::iter::from_fn(move || {
        if d.is_empty() {
            return None;
        }
        let name = d.lenenc_bytes("attribute name").ok()?;
        let value = d.lenenc_bytes("attribute value").ok()?;
        Some((name, value))
    })
}

#[cfg(test)]
mod tests;
