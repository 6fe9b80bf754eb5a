//! The client's end: just enough of the MySQL protocol to ask and to find the end of the answer.

use std::io::{Read, Write};
use std::ops::Range;
use std::os::unix::net::UnixStream;

use crate::answers::Answers;

/// LONG_PASSWORD, LONG_FLAG, CONNECT_WITH_DB, LOCAL_FILES, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION,
/// PLUGIN_AUTH, DEPRECATE_EOF.
const CAPABILITIES: u32 = 1 | 1 << 2 | 1 << 3 | 1 << 7 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19 | 1 << 24;
/// No packet is longer.
const BUFFER_BYTES: usize = 1 << 18;
/// A packet of a file that the server loads.
const FILE_PART_BYTES: usize = 1 << 16;
const UTF8MB4_GENERAL_CI: u8 = 45;
const COM_QUERY: u8 = 0x03;
const COM_PING: u8 = 0x0e;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;

/// A parameter's value.
#[derive(Clone, Debug)]
pub(crate) enum Param {
    /// Sent as LONG.
    Int(i32),
    /// Sent as VAR_STRING.
    Text(String),
}

/// A prepared statement.
#[derive(Debug)]
pub(crate) struct Prepared {
    id: u32,
    /// Parameter types are sent with the first execution only.
    types_sent: bool,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Client {
    socket: UnixStream,
    /// Received bytes that are not yet looked at are `buffer[at..end]`.
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    packet: Vec<u8>,
    /// Answers since they were last taken.
    answers: Answers,
}

impl Client {
    /// Logs in as root without a password.
    pub(crate) fn connect(socket: UnixStream, database: &str) -> Result<Self, String> {
        let mut client = Client {
            socket,
            buffer: vec![0; BUFFER_BYTES],
            at: 0,
            end: 0,
            packet: Vec::new(),
            answers: Answers::default(),
        };
        client.receive()?;
        let mut hello = CAPABILITIES.to_le_bytes().to_vec();
        hello.extend((1u32 << 30).to_le_bytes());
        hello.push(UTF8MB4_GENERAL_CI);
        hello.extend([0; 23]);
        hello.extend(b"root\0\0");
        hello.extend(database.as_bytes());
        hello.extend(b"\0mysql_native_password\0");
        client.send(&hello, 1)?;
        let mut sequence = 3;
        loop {
            let answer = client.receive()?;
            match answer.first() {
                Some(0) => return Ok(client),
                Some(0xff) => return Err(error_text(answer)),
                // Another plugin: the answer to any challenge is empty without a password.
                Some(0xfe) => client.send(&[], sequence)?,
                _ => {}
            }
            sequence += 2;
        }
    }

    /// The answers since the last call.
    pub(crate) fn take_answers(&mut self) -> Answers {
        std::mem::take(&mut self.answers)
    }

    /// Asks for a sign of life.
    pub(crate) fn ping(&mut self) -> Result<u64, String> {
        self.send(&[COM_PING], 0)?;
        self.count_rows()
    }

    /// Runs a statement; the number of rows in its answer.
    pub(crate) fn query(&mut self, text: &str) -> Result<u64, String> {
        let mut command = vec![COM_QUERY];
        command.extend(text.as_bytes());
        self.send(&command, 0)?;
        self.count_rows()
    }

    /// Runs a LOAD DATA LOCAL and sends `file` when it is asked for.
    pub(crate) fn load(&mut self, text: &str, file: &str) -> Result<u64, String> {
        let mut command = vec![COM_QUERY];
        command.extend(text.as_bytes());
        self.send(&command, 0)?;
        let asked = self.receive()?;
        if asked.first() != Some(&0xfb) {
            return Err(error_text(asked));
        }
        let mut sequence = 2;
        for part in file.as_bytes().chunks(FILE_PART_BYTES).chain([&[][..]]) {
            self.send(part, sequence)?;
            sequence = sequence.wrapping_add(1);
        }
        self.count_rows()
    }

    /// Prepares a statement.
    pub(crate) fn prepare(&mut self, text: &str) -> Result<Prepared, String> {
        let mut command = vec![COM_STMT_PREPARE];
        command.extend(text.as_bytes());
        self.send(&command, 0)?;
        let answer = self.receive()?;
        if answer.first() == Some(&0xff) {
            return Err(error_text(answer));
        }
        let &[_, a, b, c, d, columns, columns_high, params, params_high, ..] = answer else {
            return Err("a short answer to PREPARE".to_owned());
        };
        let id = u32::from_le_bytes([a, b, c, d]);
        let definitions =
            u16::from_le_bytes([columns, columns_high]) + u16::from_le_bytes([params, params_high]);
        for _ in 0..definitions {
            self.receive()?;
        }
        Ok(Prepared { id, types_sent: false })
    }

    /// Executes a prepared statement; the number of rows in its answer.
    pub(crate) fn execute(&mut self, statement: &mut Prepared, params: &[Param]) -> Result<u64, String> {
        let mut command = vec![COM_STMT_EXECUTE];
        command.extend(statement.id.to_le_bytes());
        command.extend([0, 1, 0, 0, 0]);
        if !params.is_empty() {
            command.extend(vec![0; params.len().div_ceil(8)]);
            command.push(u8::from(!statement.types_sent));
            if !statement.types_sent {
                command.extend(params.iter().flat_map(|param| match param {
                    Param::Int(_) => [3, 0],
                    Param::Text(_) => [253, 0],
                }));
                statement.types_sent = true;
            }
            for param in params {
                append_value(param, &mut command);
            }
        }
        self.send(&command, 0)?;
        self.count_rows()
    }

    fn send(&mut self, payload: &[u8], sequence: u8) -> Result<(), String> {
        self.packet.clear();
        self.packet.extend(&(payload.len() as u32).to_le_bytes()[..3]);
        self.packet.push(sequence);
        self.packet.extend(payload);
        self.socket.write_all(&self.packet).map_err(|e| format!("cannot send: {e}"))
    }

    /// The next packet's payload.
    fn receive(&mut self) -> Result<&[u8], String> {
        let packet = self.receive_range()?;
        Ok(&self.buffer[packet])
    }

    /// Where the next packet's payload is in the buffer.
    fn receive_range(&mut self) -> Result<Range<usize>, String> {
        loop {
            let waiting = &self.buffer[self.at..self.end];
            if let Some(header) = waiting.first_chunk::<4>() {
                let n = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
                if waiting.len() >= 4 + n {
                    let from = self.at + 4;
                    self.at = from + n;
                    return Ok(from..from + n);
                }
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> Result<(), String> {
        self.buffer.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        let space = &mut self.buffer[self.end..];
        if space.is_empty() {
            return Err("a packet longer than the client's buffer".to_owned());
        }
        let n = self.socket.read(space).map_err(|e| format!("cannot receive: {e}"))?;
        self.end += n;
        if n == 0 { Err("the server closed the connection".to_owned()) } else { Ok(()) }
    }

    fn count_rows(&mut self) -> Result<u64, String> {
        let first = self.receive_range()?;
        let first = &self.buffer[first];
        match first.first() {
            Some(0) => {
                self.answers.add_ok(first);
                return Ok(0);
            }
            Some(0xff) => return Err(error_text(first)),
            _ => {}
        }
        for _ in 0..first[0] {
            self.receive()?;
        }
        let mut rows = 0;
        loop {
            let packet = self.receive_range()?;
            let packet = &self.buffer[packet];
            match packet.first() {
                Some(0xfe) => return Ok(rows),
                Some(0xff) => return Err(error_text(packet)),
                _ => self.answers.add_row(packet),
            }
            rows += 1;
        }
    }
}

fn append_value(param: &Param, command: &mut Vec<u8>) {
    match param {
        Param::Int(value) => command.extend(value.to_le_bytes()),
        Param::Text(text) => {
            debug_assert!(text.len() < 251, "lengths of one byte");
            command.push(text.len() as u8);
            command.extend(text.as_bytes());
        }
    }
}

/// `1064 (42000): text` of an ERR packet.
fn error_text(packet: &[u8]) -> String {
    let number = packet.get(1..3).map_or(0, |n| u16::from_le_bytes([n[0], n[1]]));
    let text = String::from_utf8_lossy(packet.get(9..).unwrap_or_default());
    format!("error {number}: {text}")
}
