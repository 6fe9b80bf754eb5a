//! A client that keeps what packets say, for text and for prepared statements.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::decode;
use super::parameter::Parameter;
use super::reply::{Column, Outcome, Prepared, Reply};
use crate::strict::Fields;

const SESSION_TRACK: u32 = 1 << 23;
const DEPRECATE_EOF: u32 = 1 << 24;
/// LONG_PASSWORD, LONG_FLAG, LOCAL_FILES, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, MULTI_RESULTS,
/// PS_MULTI_RESULTS, PLUGIN_AUTH.
const CAPABILITIES: u32 = 1 | 1 << 2 | 1 << 7 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 17 | 1 << 18 | 1 << 19;
/// `utf8mb4_0900_ai_ci`.
const COLLATION: u8 = 255;
const PACKET_BYTES_MAX: u32 = 1 << 30;
const PART_BYTES: usize = 0xff_ffff;
/// A statement that takes longer has hung.
const ANSWER_MAX: Duration = Duration::from_secs(30);

const COM_QUERY: u8 = 3;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_CLOSE: u8 = 0x19;
const COM_RESET_CONNECTION: u8 = 0x1f;

/// Begins the name of a file that is what follows in its name.
pub(crate) const FILE_TEXT: &str = "text:";

/// Begins the errors of a connection to MySQL.
pub(crate) const MYSQL: &str = "MySQL: ";

/// Where a server listens, and the account, which has no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Host name or number.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Account.
    pub user: String,
}

impl Address {
    /// Reads `mysql://user@host:port`.
    pub fn parse(url: &str) -> Result<Address, String> {
        let refuse = || format!("{url:?} is not mysql://user@host:port of an account without a password");
        let rest = url.strip_prefix("mysql://").ok_or_else(refuse)?.trim_end_matches('/');
        let (user, place) = rest.rsplit_once('@').unwrap_or(("root", rest));
        let (host, port) = place.rsplit_once(':').unwrap_or((place, "3306"));
        if user.is_empty() || user.contains(':') || host.is_empty() || host.contains('/') {
            return Err(refuse());
        }
        let port = port.parse().map_err(|_| refuse())?;
        Ok(Address { host: host.to_owned(), port, user: user.to_owned() })
    }
}

/// A connection.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<TcpStream>,
    next: u8,
    /// Version string of the greeting.
    pub version: String,
    /// Whether the server sends changes of the session's state.
    pub tracks: bool,
}

impl Client {
    /// Logs in.
    ///
    /// # Errors
    /// What failed, as a sentence.
    pub fn connect(address: &Address) -> Result<Client, String> {
        let stream = TcpStream::connect((address.host.as_str(), address.port))
            .map_err(|e| format!("cannot connect to {}:{}: {e}", address.host, address.port))?;
        stream.set_nodelay(true).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(ANSWER_MAX)).map_err(|e| e.to_string())?;
        let mut client =
            Client { stream: BufReader::new(stream), next: 0, version: String::new(), tracks: false };
        let offered = client.greeting()?;
        client.tracks = offered & SESSION_TRACK != 0;
        let wanted = CAPABILITIES | DEPRECATE_EOF | (offered & SESSION_TRACK);
        let mut body = wanted.to_le_bytes().to_vec();
        body.extend(PACKET_BYTES_MAX.to_le_bytes());
        body.push(COLLATION);
        body.extend([0; 23]);
        body.extend(address.user.as_bytes());
        body.extend(b"\0\0caching_sha2_password\0");
        client.send(&body)?;
        client.log_in()?;
        Ok(client)
    }

    /// Whether the server is a Ratchet.
    pub(crate) fn is_ratchet(&self) -> bool {
        self.version.contains("ratchet")
    }

    #[cold]
    fn error(&self, what: &str, error: &std::io::Error) -> String {
        let server = if self.is_ratchet() { "Ratchet: " } else { MYSQL };
        format!("{server}{what}: {error}")
    }

    /// Reads the greeting, and returns the capabilities that the server offers.
    fn greeting(&mut self) -> Result<u32, String> {
        let packet = self.packet()?;
        if packet.first() != Some(&10) {
            return Err(format!("no greeting: {}", String::from_utf8_lossy(&packet)));
        }
        let end = packet.iter().position(|&byte| byte == 0).unwrap_or(packet.len());
        self.version = String::from_utf8_lossy(&packet[1..end]).into_owned();
        let mut fields = Fields { rest: &packet[(end + 1).min(packet.len())..] };
        // Number of the connection, salt and filler.
        fields.bytes(13)?;
        let low = fields.number(2)?;
        // Collation and status.
        fields.bytes(3)?;
        Ok((low | fields.number(2)? << 16) as u32)
    }

    fn log_in(&mut self) -> Result<(), String> {
        loop {
            let packet = self.packet()?;
            match packet.first() {
                Some(0) => return Ok(()),
                // A request for another answer: there is no password.
                Some(0xfe) => self.send(&[])?,
                Some(1) => {}
                _ => return Err(format!("login: {}", String::from_utf8_lossy(&packet))),
            }
        }
    }

    fn send(&mut self, body: &[u8]) -> Result<(), String> {
        let mut rest = body;
        loop {
            let (part, after) = rest.split_at(rest.len().min(PART_BYTES));
            let mut packet = (part.len() as u32).to_le_bytes().to_vec();
            packet[3] = self.next;
            packet.extend(part);
            self.next = self.next.wrapping_add(1);
            self.stream.get_mut().write_all(&packet).map_err(|e| self.error("cannot send", &e))?;
            if part.len() < PART_BYTES {
                return Ok(());
            }
            rest = after;
        }
    }

    fn command(&mut self, code: u8, args: &[u8]) -> Result<(), String> {
        self.next = 0;
        self.send(&[&[code], args].concat())
    }

    fn packet(&mut self) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        loop {
            let mut header = [0; 4];
            self.stream.read_exact(&mut header).map_err(|e| self.error("no answer", &e))?;
            let [a, b, c, number] = header;
            self.next = number.wrapping_add(1);
            let n = u32::from_le_bytes([a, b, c, 0]) as usize;
            let start = body.len();
            body.resize(start + n, 0);
            self.stream.read_exact(&mut body[start..]).map_err(|e| self.error("half an answer", &e))?;
            if n < PART_BYTES {
                return Ok(body);
            }
        }
    }

    /// Sends a statement as text.
    ///
    /// # Errors
    /// The connection is broken; so for all that follow.
    pub(crate) fn send_query(&mut self, sql: &str) -> Result<(), String> {
        self.command(COM_QUERY, sql.as_bytes())
    }

    /// Sends a statement to be prepared.
    pub(crate) fn send_prepare(&mut self, sql: &str) -> Result<(), String> {
        self.command(COM_STMT_PREPARE, sql.as_bytes())
    }

    /// Sends an execution of a prepared statement.
    pub(crate) fn send_execute(&mut self, id: u32, values: &[Parameter]) -> Result<(), String> {
        let mut args = id.to_le_bytes().to_vec();
        args.extend([0, 1, 0, 0, 0]);
        Parameter::encode_all(values, &mut args);
        self.command(COM_STMT_EXECUTE, &args)
    }

    /// Gives a prepared statement up; the server does not answer.
    pub fn close(&mut self, id: u32) -> Result<(), String> {
        self.command(COM_STMT_CLOSE, &id.to_le_bytes())
    }

    /// Makes the session new.
    pub fn reset(&mut self) -> Result<(), String> {
        self.command(COM_RESET_CONNECTION, &[])?;
        self.read_reply(false).map(|_| ())
    }

    /// Runs a statement and returns its answer with its warnings.
    pub fn query(&mut self, sql: &str) -> Result<Reply, String> {
        self.send_query(sql)?;
        let mut reply = self.read_reply(false)?;
        if self.asks_for_warnings(&reply)? {
            self.read_warnings(&mut reply)?;
        }
        Ok(reply)
    }

    /// Sends SHOW WARNINGS if the answer has any.
    pub(crate) fn asks_for_warnings(&mut self, reply: &Reply) -> Result<bool, String> {
        let wanted = reply.warning_count > 0 || reply.error_number() != 0;
        if wanted {
            self.send_query("SHOW WARNINGS")?;
        }
        Ok(wanted)
    }

    /// Reads the answer to SHOW WARNINGS into `reply`.
    pub(crate) fn read_warnings(&mut self, reply: &mut Reply) -> Result<(), String> {
        if let Outcome::Rows { rows, .. } = self.read_reply(false)?.outcome {
            let is_error = reply.error_number() != 0;
            let lines = rows.iter().map(|row| match row.as_slice() {
                [Some(level), Some(number), Some(text)] => {
                    format!("{} {number}: {text}", level.to_lowercase())
                }
                _ => format!("{row:?}"),
            });
            // The error itself is the last of them; recorded answers do not repeat it.
            reply.warnings = lines.filter(|line| !is_error || !line.starts_with("error ")).collect();
        }
        Ok(())
    }

    /// Reads an answer, except for its warnings; `binary` if it is an execution's.
    pub(crate) fn read_reply(&mut self, binary: bool) -> Result<Reply, String> {
        let packet = self.packet()?;
        match packet.first() {
            Some(0) => decode::done(&packet),
            Some(0xff) => decode::error(&packet),
            Some(0xfb) => {
                // Files without a text in their names are empty.
                let text = packet[1..].strip_prefix(FILE_TEXT.as_bytes()).unwrap_or_default();
                if !text.is_empty() {
                    self.send(text)?;
                }
                self.send(&[])?;
                self.read_reply(binary)
            }
            Some(_) => self.read_rows(&packet, binary),
            None => Err("an empty packet".to_owned()),
        }
    }

    fn read_rows(&mut self, first: &[u8], binary: bool) -> Result<Reply, String> {
        let count = Fields { rest: first }.length()?;
        let columns = self.read_columns(count)?;
        let mut rows = Vec::new();
        loop {
            let packet = self.packet()?;
            match packet.first() {
                Some(0xff) => return decode::error(&packet),
                Some(0xfe) if packet.len() < PART_BYTES => {
                    let end = decode::done(&packet)?;
                    return Ok(Reply { outcome: Outcome::Rows { columns, rows }, ..end });
                }
                _ if binary => rows.push(decode::binary_row(&packet, &columns)?),
                _ => rows.push(decode::text_row(&packet, count)?),
            }
        }
    }

    fn read_columns(&mut self, count: usize) -> Result<Vec<Column>, String> {
        (0..count).map(|_| self.packet().and_then(|packet| decode::column(&packet))).collect()
    }

    /// Reads the answer to a preparation: the statement, or its error.
    pub(crate) fn read_prepared(&mut self) -> Result<Result<Prepared, Reply>, String> {
        let packet = self.packet()?;
        if packet.first() == Some(&0xff) {
            return decode::error(&packet).map(Err);
        }
        let mut fields = Fields { rest: &packet };
        fields.u8()?;
        let id = fields.number(4)? as u32;
        let (columns, parameters) = (fields.u16()?, fields.u16()?);
        let parameters = self.read_columns(usize::from(parameters))?;
        let columns = self.read_columns(usize::from(columns))?;
        Ok(Ok(Prepared { id, parameters, columns }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_no_password() {
        let address = |host: &str, port, user: &str| Address { host: host.into(), port, user: user.into() };
        assert_eq!(Address::parse("mysql://root@127.0.0.1:33097"), Ok(address("127.0.0.1", 33097, "root")));
        assert_eq!(Address::parse("mysql://host"), Ok(address("host", 3306, "root")));
        for url in ["host:3306", "mysql://a:b@host", "mysql://host:x", "mysql://@host", "mysql://a@host/db"] {
            assert!(Address::parse(url).is_err(), "{url}");
        }
    }
}
