//! A client that accepts no packet but a well-formed one, and runs scripts to see them.
//!
//! It decodes every answer to its last byte: packet numbers, column definitions, rows in text and binary
//! form, and the packets that end them. What it finds wrong is an error; what statements answer is compared
//! elsewhere.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use crate::runner::Target;
use crate::script;

const PROTOCOL_41: u32 = 1 << 9;
const LOCAL_FILES: u32 = 1 << 7;
const MULTI_RESULTS: u32 = 1 << 17;
const SESSION_TRACK: u32 = 1 << 23;
const DEPRECATE_EOF: u32 = 1 << 24;
/// LONG_PASSWORD, LONG_FLAG, TRANSACTIONS, SECURE_CONNECTION, PS_MULTI_RESULTS, PLUGIN_AUTH.
const ALWAYS: u32 =
    1 | 1 << 2 | 1 << 13 | 1 << 15 | 1 << 18 | 1 << 19 | PROTOCOL_41 | MULTI_RESULTS | LOCAL_FILES;

const MORE_RESULTS: u16 = 8;
const STATE_CHANGED: u16 = 0x4000;
const KNOWN_STATUS: u16 = 0x7fff;
const PART_BYTES: usize = 0xff_ffff;
const MESSAGE_BYTES_MAX: usize = 511;
/// Most digits of a DECIMAL, all of which a literal may have after the point.
const DECIMALS_MAX: u8 = 65;

/// What is wrong with a packet.
pub type Result<T> = std::result::Result<T, String>;

/// A column of a result set, as far as its values need it.
#[derive(Clone, Copy, Debug)]
struct Column {
    code: u8,
}

/// A connection to `root` without a password.
#[derive(Debug)]
pub struct StrictClient {
    socket: TcpStream,
    next: u8,
    deprecate_eof: bool,
    session_track: bool,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// OK, or the end of rows.
    Done,
    /// An error of this number.
    Error(u16),
    /// A request for a file.
    File,
}

/// Bytes of a packet that have not been read yet.
pub(crate) struct Fields<'p> {
    pub(crate) rest: &'p [u8],
}

impl<'p> Fields<'p> {
    pub(crate) fn bytes(&mut self, n: usize) -> Result<&'p [u8]> {
        let (head, rest) = self.rest.split_at_checked(n).ok_or_else(|| format!("{n} bytes are missing"))?;
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn number(&mut self, width: usize) -> Result<u64> {
        Ok(self.bytes(width)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(self.bytes(1)?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        Ok(self.number(2)? as u16)
    }

    /// A length-encoded integer, in its shortest form.
    pub(crate) fn length(&mut self) -> Result<usize> {
        let (width, least) = match self.u8()? {
            first @ 0..=0xfa => return Ok(usize::from(first)),
            0xfc => (2, 0xfb),
            0xfd => (3, 0x1_0000),
            0xfe => (8, 0x100_0000),
            first => return Err(format!("{first:#x} begins no length")),
        };
        let number = self.number(width)?;
        if number < least { Err(format!("{number} takes {width} bytes")) } else { Ok(number as usize) }
    }

    pub(crate) fn string(&mut self) -> Result<&'p [u8]> {
        let n = self.length()?;
        self.bytes(n)
    }

    pub(crate) fn end(&self, what: &str) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(format!("{what}: {} bytes too many", self.rest.len())) }
    }
}

impl StrictClient {
    /// Logs in at `port`; the client understands the newer of two forms of each packet, or the older.
    ///
    /// # Errors
    /// What failed.
    pub fn connect(port: u16, newer: bool) -> Result<Self> {
        let socket = TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.to_string())?;
        // A packet's head and body are written apart: the second would wait for the first to be acknowledged.
        socket.set_nodelay(true).map_err(|e| e.to_string())?;
        socket.set_read_timeout(Some(Duration::from_secs(60))).map_err(|e| e.to_string())?;
        let mut client = StrictClient { socket, next: 0, deprecate_eof: newer, session_track: newer };
        client.packet()?;
        let newer = if newer { DEPRECATE_EOF | SESSION_TRACK } else { 0 };
        let mut body = (ALWAYS | newer).to_le_bytes().to_vec();
        body.extend((1u32 << 30).to_le_bytes());
        body.push(255);
        body.extend([0; 23]);
        body.extend(b"root\0\0caching_sha2_password\0");
        client.send(&body)?;
        loop {
            let packet = client.packet()?;
            match packet.first() {
                Some(0) => return client.ok(&packet, 0).map(|_| client),
                // A request for more or another answer: there is no password.
                Some(1 | 0xfe) => client.send(&[])?,
                _ => return Err(format!("login: {packet:?}")),
            }
        }
    }

    fn send(&mut self, body: &[u8]) -> Result<()> {
        let mut packet = (body.len() as u32).to_le_bytes().to_vec();
        packet[3] = self.next;
        packet.extend(body);
        self.next = self.next.wrapping_add(1);
        self.socket.write_all(&packet).map_err(|e| e.to_string())
    }

    /// Sends a command.
    fn command(&mut self, code: u8, args: &[u8]) -> Result<()> {
        self.next = 0;
        self.send(&[&[code], args].concat())
    }

    /// Reads a packet with all its parts.
    fn packet(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut header = [0; 4];
            self.socket.read_exact(&mut header).map_err(|e| format!("a packet's header: {e}"))?;
            let [a, b, c, number] = header;
            if number != self.next {
                return Err(format!("packet number {number} instead of {}", self.next));
            }
            self.next = self.next.wrapping_add(1);
            let n = u32::from_le_bytes([a, b, c, 0]) as usize;
            let start = body.len();
            body.resize(start + n, 0);
            self.socket.read_exact(&mut body[start..]).map_err(|e| format!("a packet of {n} bytes: {e}"))?;
            if n < PART_BYTES {
                return Ok(body);
            }
        }
    }

    /// Runs a statement and decodes its answers to the last.
    ///
    /// # Errors
    /// A packet is malformed.
    pub fn query(&mut self, sql: &[u8]) -> Result<Answer> {
        self.command(3, sql)?;
        self.answers(false)
    }

    /// Runs a statement without parameters prepared. An error of its preparation is an answer.
    ///
    /// # Errors
    /// A packet is malformed.
    pub fn prepared(&mut self, sql: &[u8]) -> Result<Answer> {
        self.command(0x16, sql)?;
        let packet = self.packet()?;
        if packet.first() == Some(&0xff) {
            return error(&packet).map(Answer::Error);
        }
        let mut fields = Fields { rest: &packet };
        let status = fields.u8()?;
        let id = fields.bytes(4)?.to_vec();
        let (columns, params) = (fields.u16()?, fields.u16()?);
        let (filler, _warnings) = (fields.u8()?, fields.u16()?);
        fields.end("the answer to a preparation")?;
        if (status, filler) != (0, 0) {
            return Err(format!("the answer to a preparation: {packet:?}"));
        }
        for count in [params, columns] {
            self.columns(usize::from(count))?;
        }
        let answer = if params == 0 {
            self.command(0x17, &[&id[..], &[0, 1, 0, 0, 0]].concat())?;
            self.answers(true)?
        } else {
            Answer::Done
        };
        self.command(0x19, &id)?;
        Ok(answer)
    }

    fn answers(&mut self, binary: bool) -> Result<Answer> {
        loop {
            let packet = self.packet()?;
            let status = match packet.first() {
                None => return Err("an empty packet begins an answer".to_owned()),
                Some(0xff) => return error(&packet).map(Answer::Error),
                Some(0xfb) => {
                    self.send(&[])?;
                    return match self.answers(binary)? {
                        Answer::Done => Ok(Answer::File),
                        other => Ok(other),
                    };
                }
                Some(0) => self.ok(&packet, 0)?,
                Some(_) => match self.rows(&packet, binary)? {
                    Ok(status) => status,
                    Err(code) => return Ok(Answer::Error(code)),
                },
            };
            if status & MORE_RESULTS == 0 {
                return Ok(Answer::Done);
            }
        }
    }

    /// Reads column definitions and what ends them.
    fn columns(&mut self, count: usize) -> Result<Vec<Column>> {
        let columns: Vec<Column> =
            (0..count).map(|_| self.packet().and_then(|packet| column(&packet))).collect::<Result<_>>()?;
        if count > 0 && !self.deprecate_eof {
            let packet = self.packet()?;
            eof(&packet)?;
        }
        Ok(columns)
    }

    /// Reads a result set from its number of columns on; its status or error number.
    fn rows(&mut self, first: &[u8], binary: bool) -> Result<std::result::Result<u16, u16>> {
        let mut fields = Fields { rest: first };
        let count = fields.length()?;
        fields.end("a number of columns")?;
        if count == 0 {
            return Err("a result set without columns".to_owned());
        }
        let columns = self.columns(count)?;
        loop {
            let packet = self.packet()?;
            match packet.first() {
                Some(0xff) => return error(&packet).map(Err),
                Some(0xfe)
                    if self.deprecate_eof && packet.len() < PART_BYTES && !starts_long_value(&packet) =>
                {
                    return self.ok(&packet, 0xfe).map(Ok);
                }
                Some(0xfe) if !self.deprecate_eof && packet.len() < 9 => return eof(&packet).map(Ok),
                _ if binary => binary_row(&packet, &columns)?,
                _ => text_row(&packet, count)?,
            }
        }
    }

    /// Decodes an OK packet that begins with `header`; its status.
    fn ok(&self, packet: &[u8], header: u8) -> Result<u16> {
        let mut fields = Fields { rest: packet };
        if fields.u8()? != header {
            return Err(format!("no OK packet: {packet:?}"));
        }
        fields.length()?;
        fields.length()?;
        let status = fields.u16()?;
        let _warnings = fields.u16()?;
        if status & !KNOWN_STATUS != 0 {
            return Err(format!("status {status:#x}"));
        }
        if self.session_track && (status & STATE_CHANGED != 0 || !fields.rest.is_empty()) {
            text(fields.string()?, "a message")?;
            if status & STATE_CHANGED != 0 {
                state_changes(fields.string()?)?;
            }
        } else if status & STATE_CHANGED != 0 {
            return Err("state changes that were not asked for".to_owned());
        } else if !fields.rest.is_empty() {
            text(fields.string()?, "a message")?;
        }
        fields.end("an OK packet")?;
        Ok(status)
    }
}

/// Whether a packet of 0xFE is a text row whose first value is of 16 MB or more.
fn starts_long_value(packet: &[u8]) -> bool {
    packet.len() >= PART_BYTES
}

fn text(bytes: &[u8], what: &str) -> Result<()> {
    std::str::from_utf8(bytes).map(|_| ()).map_err(|e| format!("{what}: {e}"))
}

fn error(packet: &[u8]) -> Result<u16> {
    let mut fields = Fields { rest: packet };
    fields.u8()?;
    let (code, state) = (fields.u16()?, fields.bytes(6)?);
    let is_state =
        state[0] == b'#' && state[1..].iter().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    let message = fields.rest;
    text(message, "the text of an error")?;
    if code == 0 || !is_state || message.is_empty() || message.len() > MESSAGE_BYTES_MAX {
        return Err(format!("error {code}, {} bytes: {:?}", message.len(), String::from_utf8_lossy(state)));
    }
    Ok(code)
}

fn eof(packet: &[u8]) -> Result<u16> {
    match packet {
        [0xfe, _, _, low, high] => Ok(u16::from_le_bytes([*low, *high])),
        _ => Err(format!("no EOF packet: {packet:?}")),
    }
}

fn state_changes(block: &[u8]) -> Result<()> {
    let mut changes = Fields { rest: block };
    while !changes.rest.is_empty() {
        let kind = changes.u8()?;
        let mut data = Fields { rest: changes.string()? };
        for _ in 0..if kind == 0 { 2 } else { 1 } {
            text(data.string()?, "a state change")?;
        }
        data.end("a state change")?;
    }
    Ok(())
}

fn column(packet: &[u8]) -> Result<Column> {
    let mut fields = Fields { rest: packet };
    if fields.string()? != b"def" {
        return Err("a column of another catalog".to_owned());
    }
    for what in ["schema", "table", "original table", "name", "original name"] {
        text(fields.string()?, what)?;
    }
    let (fixed, _collation, _length) = (fields.length()?, fields.u16()?, fields.number(4)?);
    let (code, _flags, decimals, filler) = (fields.u8()?, fields.u16()?, fields.u8()?, fields.u16()?);
    fields.end("a column definition")?;
    if fixed != 0x0c || filler != 0 || decimals > DECIMALS_MAX {
        return Err(format!("a column definition: {packet:?}"));
    }
    Ok(Column { code })
}

fn text_row(packet: &[u8], columns: usize) -> Result<()> {
    let mut fields = Fields { rest: packet };
    for _ in 0..columns {
        if fields.rest.first() == Some(&0xfb) {
            fields.u8()?;
        } else {
            fields.string()?;
        }
    }
    fields.end("a text row")
}

fn binary_row(packet: &[u8], columns: &[Column]) -> Result<()> {
    let mut fields = Fields { rest: packet };
    if fields.u8()? != 0 {
        return Err("a binary row does not begin with 0".to_owned());
    }
    let nulls = fields.bytes((columns.len() + 9) / 8)?;
    for (at, column) in columns.iter().enumerate() {
        let bit = at + 2;
        if nulls[bit / 8] & 1 << (bit % 8) == 0 {
            binary_value(&mut fields, column.code)?;
        }
    }
    fields.end("a binary row")
}

fn binary_value(fields: &mut Fields<'_>, code: u8) -> Result<()> {
    let lengths: &[u8] = match code {
        1 => return fields.bytes(1).map(|_| ()),
        2 | 13 => return fields.bytes(2).map(|_| ()),
        3 | 4 | 9 => return fields.bytes(4).map(|_| ()),
        5 | 8 => return fields.bytes(8).map(|_| ()),
        6 => return Err("a value of type NULL".to_owned()),
        7 | 10 | 12 => &[0, 4, 7, 11],
        11 => &[0, 8, 12],
        _ => return fields.string().map(|_| ()),
    };
    let n = fields.u8()?;
    if !lengths.contains(&n) {
        return Err(format!("a date or time of {n} bytes"));
    }
    fields.bytes(usize::from(n)).map(|_| ())
}

/// Runs the statements of a script as text, by clients of newer and older forms, and prepared, and returns
/// what was malformed.
///
/// # Errors
/// The script cannot be read, or the server not be reached.
pub fn run_file(path: &Path, target: &Target, _: bool) -> Result<Vec<String>> {
    let source = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let entries = script::parse(&source).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut malformed = Vec::new();
    for newer in [true, false] {
        let mut client = StrictClient::connect(target.port, newer)?;
        for sql in ["DROP DATABASE IF EXISTS strict", "CREATE DATABASE strict", "USE strict"] {
            client.query(sql.as_bytes())?;
        }
        // The statements of other connections of a script would wait for its first.
        for entry in entries.iter().filter(|entry| entry.connection.is_empty()) {
            let sql = entry.sql.as_bytes();
            let outcome = client.query(sql);
            let outcome = if newer { outcome.and_then(|_| client.prepared(sql)) } else { outcome };
            if let Err(error) = outcome {
                malformed.push(format!("{}:{}: {}\n  {error}", path.display(), entry.line, entry.sql));
                client = StrictClient::connect(target.port, newer)?;
                client.query(b"USE strict")?;
            }
        }
    }
    Ok(malformed)
}
