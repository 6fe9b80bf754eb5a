//! The list of logins that every driver makes.

use std::path::Path;

use super::place::Place;

/// The list, from the workspace root.
pub(super) const LIST: &str = "tests/clients/logins.tsv";

/// What a driver can do beyond TCP, TLS and passwords.
#[derive(Clone, Copy)]
pub(super) struct Abilities {
    /// It connects to Unix sockets.
    pub(super) has_sockets: bool,
    /// Without TLS it encrypts a password by the server's RSA key.
    pub(super) has_keys: bool,
    /// It can be limited to one version of TLS.
    pub(super) has_versions: bool,
}

/// One login.
pub(super) struct Login<'a> {
    pub(super) name: &'a str,
    pub(super) account: &'a str,
    pub(super) password: &'a str,
    pub(super) by_socket: bool,
    /// `no`, `yes`, or the one version to offer.
    pub(super) tls: &'a str,
    /// The certificate of the authority to check against.
    pub(super) authority: Option<&'a Path>,
    /// `in`, an error's number, or `refused`.
    pub(super) outcome: &'a str,
    /// `key`: the server's RSA key is needed; `later`: it was for an earlier login; `-`.
    key: &'a str,
}

impl<'a> Login<'a> {
    fn read(line: &'a str, place: &'a Place) -> Result<Self, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[name, account, password, over, tls, authority, outcome, key] = fields.as_slice() else {
            return Err(format!("{LIST}: not eight fields: {line}"));
        };
        let authority = match authority {
            "own" => Some(place.own_authority()),
            "other" => Some(place.other_authority()),
            _ => None,
        };
        Ok(Login { name, account, password, by_socket: over == "socket", tls, authority, outcome, key })
    }

    fn is_possible(&self, can: Abilities) -> bool {
        (can.has_sockets || !self.by_socket)
            && (can.has_keys || self.key == "-")
            && (can.has_versions || matches!(self.tls, "no" | "yes"))
    }

    /// The line that a driver's program reads.
    pub(super) fn line(&self, place: &Place) -> String {
        let socket = if self.by_socket { place.socket().display().to_string() } else { "-".to_owned() };
        let authority = self.authority.map_or_else(|| "-".to_owned(), |path| path.display().to_string());
        let fields =
            [self.name, self.account, self.password, &socket, self.tls, &authority, self.outcome, self.key];
        fields.join("\t") + "\n"
    }
}

/// The logins in `text` that a driver with these abilities makes.
pub(super) fn read<'a>(text: &'a str, place: &'a Place, can: Abilities) -> Result<Vec<Login<'a>>, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let all: Vec<Login> = lines.map(|line| Login::read(line, place)).collect::<Result<_, _>>()?;
    Ok(all.into_iter().filter(|login| login.is_possible(can)).collect())
}
