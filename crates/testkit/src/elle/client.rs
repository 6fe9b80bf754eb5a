//! A client over a socket: just enough of the protocol for texts of statements and rows of numbers and short
//! texts.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// LONG_PASSWORD, FOUND_ROWS, LONG_FLAG, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH,
/// DEPRECATE_EOF.
const CAPABILITIES: u32 = 1 | 1 << 1 | 1 << 2 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19 | 1 << 24;
const UTF8MB4_GENERAL_CI: u8 = 45;
const COM_QUERY: u8 = 0x03;

/// What a statement came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Rows matched, and the insert id.
    Done {
        /// Rows.
        matched: u64,
        /// LAST_INSERT_ID.
        insert_id: u64,
    },
    /// Rows of columns; NULL is empty.
    Rows(Vec<Vec<String>>),
    /// An error's number and text.
    Error(u16, String),
}

/// A connection of root, without a password.
#[derive(Debug)]
pub struct Client {
    socket: UnixStream,
    /// Received bytes; those before `at` are done with.
    buffer: Vec<u8>,
    at: usize,
    out: Vec<u8>,
}

impl Client {
    /// Logs in.
    ///
    /// # Errors
    /// The connection is closed, or refused.
    pub fn login(socket: UnixStream) -> Result<Self, String> {
        let mut client = Client { socket, buffer: Vec::new(), at: 0, out: Vec::new() };
        client.packet()?;
        let mut hello = CAPABILITIES.to_le_bytes().to_vec();
        hello.extend((1u32 << 24).to_le_bytes());
        hello.push(UTF8MB4_GENERAL_CI);
        hello.extend([0; 23]);
        hello.extend(b"root\0\0mysql_native_password\0");
        client.append(&hello, 1);
        let mut sequence = 3;
        loop {
            client.send()?;
            let answer = client.packet()?;
            match answer.first() {
                Some(0) => return Ok(client),
                Some(0xff) => return Err(format!("{:?}", error(&answer))),
                // Another plugin: the answer to any challenge is empty without a password.
                Some(0xfe) => client.append(&[], sequence),
                _ => {}
            }
            sequence += 2;
        }
    }

    /// Runs statements, all of which are sent at once.
    ///
    /// # Errors
    /// The connection is closed.
    pub(crate) fn ask_all(&mut self, statements: &[&str]) -> Result<Vec<Answer>, String> {
        for text in statements {
            let command = [&[COM_QUERY], text.as_bytes()].concat();
            self.append(&command, 0);
        }
        self.send()?;
        statements.iter().map(|_| self.answer()).collect()
    }

    /// Runs a statement.
    ///
    /// # Errors
    /// The connection is closed.
    pub fn ask(&mut self, statement: &str) -> Result<Answer, String> {
        let mut answers = self.ask_all(&[statement])?;
        answers.pop().ok_or_else(|| "no answer".to_owned())
    }

    fn append(&mut self, payload: &[u8], sequence: u8) {
        self.out.extend(&(payload.len() as u32).to_le_bytes()[..3]);
        self.out.push(sequence);
        self.out.extend(payload);
    }

    fn send(&mut self) -> Result<(), String> {
        self.socket.write_all(&self.out).map_err(|e| format!("cannot send: {e}"))?;
        self.out.clear();
        Ok(())
    }

    /// The next packet's payload.
    fn packet(&mut self) -> Result<Vec<u8>, String> {
        loop {
            let waiting = &self.buffer[self.at..];
            if let Some(header) = waiting.first_chunk::<4>() {
                let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
                if let Some(payload) = waiting.get(4..4 + len) {
                    let payload = payload.to_vec();
                    self.at += 4 + len;
                    return Ok(payload);
                }
            }
            self.buffer.drain(..self.at);
            self.at = 0;
            let mut more = [0; 16 << 10];
            let read = self.socket.read(&mut more).map_err(|e| format!("cannot receive: {e}"))?;
            if read == 0 {
                return Err("the server closed the connection".to_owned());
            }
            self.buffer.extend(&more[..read]);
        }
    }

    fn answer(&mut self) -> Result<Answer, String> {
        let first = self.packet()?;
        match first.first() {
            Some(0) => {
                let mut at = 1;
                let matched = integer(&first, &mut at);
                return Ok(Answer::Done { matched, insert_id: integer(&first, &mut at) });
            }
            Some(0xff) => return Ok(error(&first)),
            _ => {}
        }
        let columns = integer(&first, &mut 0);
        for _ in 0..columns {
            self.packet()?;
        }
        let mut rows = Vec::new();
        loop {
            let packet = self.packet()?;
            match packet.first() {
                Some(0xfe) => return Ok(Answer::Rows(rows)),
                Some(0xff) => return Ok(error(&packet)),
                _ => rows.push(cells(&packet)),
            }
        }
    }
}

/// `Error` of an ERR packet.
fn error(packet: &[u8]) -> Answer {
    let number = packet.get(1..3).map_or(0, |n| u16::from_le_bytes([n[0], n[1]]));
    Answer::Error(number, String::from_utf8_lossy(packet.get(9..).unwrap_or_default()).into_owned())
}

/// A length-encoded integer.
fn integer(packet: &[u8], at: &mut usize) -> u64 {
    let first = packet[*at];
    let bytes = match first {
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        _ => 0,
    };
    let from = *at + 1;
    *at = from + bytes;
    if bytes == 0 {
        return u64::from(first);
    }
    packet[from..from + bytes].iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte))
}

/// The cells of a row.
fn cells(packet: &[u8]) -> Vec<String> {
    let (mut at, mut cells) = (0, Vec::new());
    while at < packet.len() {
        if packet[at] == 0xfb {
            at += 1;
            cells.push(String::new());
            continue;
        }
        let len = integer(packet, &mut at) as usize;
        cells.push(String::from_utf8_lossy(&packet[at..at + len]).into_owned());
        at += len;
    }
    cells
}
