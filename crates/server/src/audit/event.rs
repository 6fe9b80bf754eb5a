//! Events as lines.

use std::borrow::Cow;

use serde::Serialize;

use crate::peer::Peer;

/// Longest user or database name that is written, in characters: accounts and databases have shorter ones.
const NAME_CHARS_MAX: usize = 128;
/// Longest text of a statement that is written, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// The client of an event: connection, user name as given, address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventClient<'a> {
    pub(crate) connection_id: u32,
    pub(crate) user: &'a str,
    pub(crate) peer: Peer,
    /// The account that it has proved to be, if it acts as another one.
    pub(crate) proxy: &'a str,
}

/// A client's attempt, and the error with which it ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt<'a> {
    /// `connect` or `change_user`.
    pub(crate) name: &'static str,
    /// The default database that the client asks for.
    pub(crate) database: Option<&'a str>,
    pub(crate) has_tls: bool,
    /// Number of the error that it got; 0: none.
    pub(crate) status: u16,
}

/// One event. What does not belong to its class is left out.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Event<'a> {
    /// UTC.
    pub(super) timestamp: String,
    /// Number among the events of the same second.
    pub(super) id: u64,
    class: &'static str,
    #[serde(rename = "event")]
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection_id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<Account<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    login: Option<Login<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection_data: Option<ConnectionData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    general_data: Option<GeneralData<'a>>,
}

/// The account that acts.
#[derive(Debug, Serialize)]
struct Account<'a> {
    user: &'a str,
    host: String,
}

/// How the client came in. There are no users of an operating system.
#[derive(Debug, Serialize)]
struct Login<'a> {
    user: &'a str,
    os: &'static str,
    ip: String,
    proxy: &'a str,
}

/// Fields of a connection event.
#[derive(Debug, Serialize)]
struct ConnectionData<'a> {
    connection_type: Transport,
    /// Number of the error that the client got; 0: none.
    status: u16,
    db: &'a str,
}

/// The transport of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
enum Transport {
    #[serde(rename = "tcp/ip")]
    Tcp,
    #[serde(rename = "ssl")]
    Tls,
    #[serde(rename = "socket")]
    Socket,
}

impl Transport {
    fn of(peer: Peer, has_tls: bool) -> Self {
        match peer {
            _ if has_tls => Transport::Tls,
            Peer::Local => Transport::Socket,
            Peer::Remote(_) => Transport::Tcp,
        }
    }
}

/// Fields of a statement event.
#[derive(Debug, Serialize)]
struct GeneralData<'a> {
    command: &'static str,
    sql_command: &'static str,
    /// Its text, without passwords.
    query: Cow<'a, str>,
    /// Number of the error that it ended with; 0: none.
    status: u16,
}

impl<'a> Event<'a> {
    /// The server has started, or ends.
    pub(crate) fn server(name: &'static str) -> Self {
        Event { class: "audit", name, ..Event::default() }
    }

    /// A client has logged in, or was not let in.
    pub(crate) fn login(who: EventClient<'a>, attempt: Attempt<'a>) -> Self {
        let Attempt { name, database, has_tls, status } = attempt;
        let connection_type = Transport::of(who.peer, has_tls);
        let connection = ConnectionData { connection_type, status, db: cut(database.unwrap_or_default()) };
        Event { class: "connection", name, connection_data: Some(connection), ..Event::of(who) }
    }

    /// A client that had logged in is gone.
    pub(crate) fn disconnect(who: EventClient<'a>) -> Self {
        Event { class: "connection", name: "disconnect", ..Event::of(who) }
    }

    /// A statement has ended that MySQL calls `sql_command`, with the error of number `status`. `text` has no
    /// passwords.
    pub(crate) fn statement(
        who: EventClient<'a>,
        sql_command: &'static str,
        text: &'a [u8],
        status: u16,
    ) -> Self {
        let query = String::from_utf8_lossy(&text[..text.len().min(TEXT_BYTES_MAX)]);
        let general = GeneralData { command: "Query", sql_command, query, status };
        Event { class: "general", name: "status", general_data: Some(general), ..Event::of(who) }
    }

    fn of(who: EventClient<'a>) -> Self {
        let EventClient { connection_id, user, peer, proxy } = who;
        let ip = match peer {
            Peer::Local => String::new(),
            Peer::Remote(address) => address.to_canonical().to_string(),
        };
        Event {
            connection_id: Some(connection_id),
            account: Some(Account { user: cut(user), host: peer.host() }),
            login: Some(Login { user: cut(user), os: "", ip, proxy }),
            ..Event::default()
        }
    }

    /// The event as a JSON object and a line feed.
    pub(super) fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("texts and numbers have a form in JSON");
        line.push(b'\n');
        line
    }
}

/// The first characters of a name.
fn cut(name: &str) -> &str {
    name.char_indices().nth(NAME_CHARS_MAX).map_or(name, |(end, _)| &name[..end])
}
