//! Names of roles, and how accounts keep them.
//!
//! On disk a role is one byte, 1 for WITH ADMIN OPTION, then user and host; a default role has no such byte.
//! A name is u16 bytes, little-endian, and its text.

use std::fmt;

use crate::show::definition_text::quoted;

/// User and host of an account that is used as a role.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleName {
    /// User.
    pub user: String,
    /// Host, in lower case.
    pub host: String,
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", quoted(&self.user), quoted(&self.host))
    }
}

/// A role that an account is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedRole {
    /// The role.
    pub role: RoleName,
    /// WITH ADMIN OPTION: the account may grant it.
    pub with_admin: bool,
}

/// The names as statements print them.
pub(crate) fn listed<'r>(roles: impl IntoIterator<Item = &'r RoleName>) -> String {
    roles.into_iter().map(RoleName::to_string).collect::<Vec<_>>().join(",")
}

fn encode(bytes: &mut Vec<u8>, role: &RoleName) {
    for text in [&role.user, &role.host] {
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
}

/// The bytes of the roles that an account is granted.
pub(crate) fn encode_granted(roles: &[GrantedRole]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for granted in roles {
        bytes.push(u8::from(granted.with_admin));
        encode(&mut bytes, &granted.role);
    }
    bytes
}

/// The bytes of an account's default roles.
pub(crate) fn encode_names(roles: &[RoleName]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for role in roles {
        encode(&mut bytes, role);
    }
    bytes
}

/// `None` if the bytes are not what [`encode_granted`] makes.
pub(crate) fn decode_granted(mut bytes: &[u8]) -> Option<Vec<GrantedRole>> {
    let mut roles = Vec::new();
    while let Some((flag, rest)) = bytes.split_first() {
        bytes = rest;
        let with_admin = match flag {
            0 => false,
            1 => true,
            _ => return None,
        };
        roles.push(GrantedRole { role: take(&mut bytes)?, with_admin });
    }
    Some(roles)
}

/// `None` if the bytes are not what [`encode_names`] makes.
pub(crate) fn decode_names(mut bytes: &[u8]) -> Option<Vec<RoleName>> {
    let mut roles = Vec::new();
    while !bytes.is_empty() {
        roles.push(take(&mut bytes)?);
    }
    Some(roles)
}

fn take(bytes: &mut &[u8]) -> Option<RoleName> {
    let mut text = || {
        let (length, rest) = bytes.split_first_chunk()?;
        let (text, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        *bytes = rest;
        String::from_utf8(text.to_vec()).ok()
    };
    Some(RoleName { user: text()?, host: text()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(user: &str) -> RoleName {
        RoleName { user: user.to_owned(), host: "%".to_owned() }
    }

    #[test]
    fn roles_survive_being_stored() {
        let granted = vec![
            GrantedRole { role: role(""), with_admin: true },
            GrantedRole { role: role("é`'"), with_admin: false },
        ];
        let bytes = encode_granted(&granted);
        assert_eq!(decode_granted(&bytes), Some(granted));
        let names = vec![role("a"), role("b")];
        let name_bytes = encode_names(&names);
        assert_eq!(decode_names(&name_bytes), Some(names));
        assert_eq!((decode_granted(&[]), decode_names(&[])), (Some(Vec::new()), Some(Vec::new())));
        for cut in 1..bytes.len() {
            assert!(decode_granted(&bytes[..cut]).is_none_or(|some| some.len() == 1), "cut at {cut}");
        }
        assert_eq!(decode_granted(&[2, 0, 0, 0, 0]), None);
    }

    #[test]
    fn names_are_quoted() {
        assert_eq!(listed(&[role("a`b"), role("c'd")]), "`a``b`@`%`,`c'd`@`%`");
    }
}
