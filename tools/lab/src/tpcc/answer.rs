//! Answers of the binary protocol, decoded where they lie.

use crate::tpcc::link::HEADER_BYTES;
use crate::tpcc::session::{Failure, Outcome};

const OK: u8 = 0;
const ERROR: u8 = 0xff;
const END: u8 = 0xfe;
/// An EOF packet of the older form is shorter.
const EOF_BYTES_MAX: usize = 9;

/// Column types that are no strings of bytes, as the protocol numbers them.
const TINY: u8 = 1;
const SHORT: u8 = 2;
const LONG: u8 = 3;
const FLOAT: u8 = 4;
const DOUBLE: u8 = 5;
const TIMESTAMP: u8 = 7;
const LONGLONG: u8 = 8;
const INT24: u8 = 9;
const DATE: u8 = 10;
const TIME: u8 = 11;
const DATETIME: u8 = 12;
const YEAR: u8 = 13;

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// The preparation of a statement.
    Prepare,
    /// A statement.
    Execute,
}

/// Bytes with the packets of one answer, perhaps not all of them.
struct Packets<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Packets<'a> {
    type Item = &'a [u8];

    /// Returns the next packet's body; None: it has not arrived.
    fn next(&mut self) -> Option<&'a [u8]> {
        let &[a, b, c, _] = self.rest.first_chunk::<HEADER_BYTES>()?;
        let end = HEADER_BYTES + u32::from_le_bytes([a, b, c, 0]) as usize;
        let body = self.rest.get(HEADER_BYTES..end)?;
        self.rest = &self.rest[end..];
        Some(body)
    }
}

/// Returns whether the whole answer has arrived.
pub(super) fn is_complete(bytes: &[u8], request: Request, deprecates_eof: bool) -> bool {
    walk(bytes, request, deprecates_eof).is_some()
}

/// Walks to the answer's end; None: more is to come.
fn walk(bytes: &[u8], request: Request, deprecates_eof: bool) -> Option<()> {
    let mut packets = Packets { rest: bytes };
    let first = packets.next()?;
    let eof = usize::from(!deprecates_eof);
    match (first.first(), request) {
        (Some(&ERROR) | None, _) | (Some(&OK), Request::Execute) => Some(()),
        (_, Request::Prepare) => {
            let count = |at: usize| {
                first.get(at..at + 2).map_or(0, |n| usize::from(u16::from_le_bytes([n[0], n[1]])))
            };
            let with_eof = |n: usize| if n == 0 { 0 } else { n + eof };
            (0..with_eof(count(5)) + with_eof(count(7))).try_for_each(|_| packets.next().map(drop))
        }
        (Some(&columns), Request::Execute) => {
            (0..usize::from(columns) + eof).try_for_each(|_| packets.next().map(drop))?;
            packets.find(|body| is_end(body, deprecates_eof)).map(drop)
        }
    }
}

fn is_end(body: &[u8], deprecates_eof: bool) -> bool {
    match body.first() {
        Some(&END) => deprecates_eof || body.len() < EOF_BYTES_MAX,
        Some(&ERROR) | None => true,
        _ => false,
    }
}

/// Returns the number of a statement that was prepared.
pub(super) fn statement_id(bytes: &[u8]) -> Outcome<u32> {
    let body = Packets { rest: bytes }.next().unwrap_or_default();
    match *body {
        [OK, a, b, c, d, ..] => Ok(u32::from_le_bytes([a, b, c, d])),
        _ => Err(Failure::of_error_packet(body)),
    }
}

/// Returns what `read` makes of each row.
pub(super) fn rows<T>(
    bytes: &[u8],
    deprecates_eof: bool,
    mut read: impl FnMut(&Row<'_>) -> T,
) -> Outcome<Vec<T>> {
    let mut packets = Packets { rest: bytes };
    let first = packets.next().unwrap_or_default();
    let columns = match first.first() {
        Some(&OK) => return Ok(Vec::new()),
        Some(&ERROR) | None => return Err(Failure::of_error_packet(first)),
        Some(&columns) => usize::from(columns),
    };
    let types: Vec<u8> = packets.by_ref().take(columns).map(type_of_column).collect();
    if !deprecates_eof {
        packets.next();
    }
    let (mut read_rows, mut row) = (Vec::new(), Row { fields: Vec::with_capacity(columns) });
    for body in packets {
        match body.first() {
            Some(&ERROR) => return Err(Failure::of_error_packet(body)),
            _ if is_end(body, deprecates_eof) => break,
            _ => {}
        }
        row.decode(body, &types).ok_or(Failure::Protocol("a row is malformed"))?;
        read_rows.push(read(&row));
    }
    Ok(read_rows)
}

/// Reads the type from a column's definition: six texts, then a length, character set and display width come
/// before it.
fn type_of_column(body: &[u8]) -> u8 {
    let mut bytes = Bytes { rest: body };
    let skipped = (0..6).try_for_each(|_| bytes.string().map(drop));
    skipped.and_then(|()| bytes.take(7)).and_then(|_| bytes.take(1)).map_or(0, |code| code[0])
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Field<'a> {
    Null,
    Int(i64),
    Text(&'a [u8]),
    /// Fractions, dates and times, which no transaction reads.
    Other,
}

/// A row.
pub(super) struct Row<'a> {
    fields: Vec<Field<'a>>,
}

impl<'a> Row<'a> {
    fn decode(&mut self, body: &'a [u8], types: &[u8]) -> Option<()> {
        self.fields.clear();
        let mut bytes = Bytes { rest: body };
        bytes.take(1)?;
        let nulls = bytes.take((types.len() + 9) / 8)?;
        for (at, &code) in types.iter().enumerate() {
            let bit = at + 2;
            let is_null = nulls[bit / 8] & (1 << (bit % 8)) != 0;
            self.fields.push(if is_null { Field::Null } else { bytes.field(code)? });
        }
        Some(())
    }

    /// Returns the number in this column; None: it is NULL, or no integer.
    pub(super) fn int(&self, column: usize) -> Option<i64> {
        match self.fields.get(column) {
            Some(&Field::Int(number)) => Some(number),
            _ => None,
        }
    }

    /// Returns the text in this column, empty if there is none.
    pub(super) fn text(&self, column: usize) -> String {
        match self.fields.get(column) {
            Some(Field::Text(text)) => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        }
    }
}

struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(head)
    }

    fn number(&mut self, width: usize) -> Option<u64> {
        Some(self.take(width)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        let length = match self.number(1)? {
            0xfc => self.number(2)?,
            0xfd => self.number(3)?,
            0xfe => self.number(8)?,
            short => short,
        };
        self.take(usize::try_from(length).ok()?)
    }

    fn field(&mut self, code: u8) -> Option<Field<'a>> {
        Some(match code {
            TINY => Field::Int(i64::from(self.number(1)? as i8)),
            SHORT | YEAR => Field::Int(i64::from(self.number(2)? as i16)),
            LONG | INT24 => Field::Int(i64::from(self.number(4)? as i32)),
            LONGLONG => Field::Int(self.number(8)? as i64),
            FLOAT => self.take(4).map(|_| Field::Other)?,
            DOUBLE => self.take(8).map(|_| Field::Other)?,
            DATE | TIME | DATETIME | TIMESTAMP => {
                let length = self.number(1)?;
                self.take(length as usize).map(|_| Field::Other)?
            }
            _ => Field::Text(self.string()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(bodies: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (number, body) in bodies.iter().enumerate() {
            bytes.extend([body.len() as u8, 0, 0, number as u8]);
            bytes.extend_from_slice(body);
        }
        bytes
    }

    fn column(code: u8) -> Vec<u8> {
        let mut body = b"\x03def\x01d\x01t\x01t\x01c\x01c\x0c\xff\0\x0b\0\0\0".to_vec();
        body.extend([code, 0, 0, 0, 0, 0]);
        body
    }

    #[test]
    fn answers_are_complete_with_their_last_byte_in_both_forms() {
        let (int, text) = (column(LONG), column(253));
        let row: &[u8] = &[0, 0, 7, 0, 0, 0, 2, b'h', b'i'];
        let null: &[u8] = &[0, 0b1000, 9, 0, 0, 0];
        let newer = packets(&[&[2], &int, &text, row, null, &[END, 0, 0, 2, 0, 0, 0]]);
        let older = packets(&[&[2], &int, &text, &[END, 0, 0, 2, 0], row, null, &[END, 0, 0, 2, 0]]);
        for (bytes, deprecates_eof) in [(newer, true), (older, false)] {
            for end in 0..bytes.len() {
                assert!(!is_complete(&bytes[..end], Request::Execute, deprecates_eof), "{end}");
            }
            assert!(is_complete(&bytes, Request::Execute, deprecates_eof));
            let read = rows(&bytes, deprecates_eof, |row| (row.int(0), row.text(1))).unwrap();
            assert_eq!(read, [(Some(7), "hi".to_owned()), (Some(9), String::new())]);
        }
    }

    #[test]
    fn prepared_statements_are_known_by_their_number_and_errors_by_theirs() {
        let bytes = packets(&[&[OK, 5, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0], &column(LONG), &column(LONG)]);
        assert!(!is_complete(&bytes[..bytes.len() - 1], Request::Prepare, true));
        assert!(is_complete(&bytes, Request::Prepare, true));
        assert!(!is_complete(&bytes, Request::Prepare, false), "two EOF packets are missing");
        assert_eq!(statement_id(&bytes).unwrap(), 261);
        let error = packets(&[b"\xff\xbd\x04#40001Deadlock"]);
        assert!(is_complete(&error, Request::Execute, true));
        let failure = rows(&error, true, |_| ()).unwrap_err();
        assert_eq!(failure.to_string(), "1213: Deadlock");
    }
}
