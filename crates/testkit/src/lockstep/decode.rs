//! Packets of answers, decoded.

use super::reply::{Column, Outcome, Reply, Row};
use crate::strict::Fields;

const STATE_CHANGED: u16 = 0x4000;
const UNSIGNED: u16 = 32;

/// Decodes an OK packet, or the one that ends rows.
pub(crate) fn done(packet: &[u8]) -> Result<Reply, String> {
    let mut fields = Fields { rest: packet };
    fields.u8()?;
    let (affected, insert_id) = (length(&mut fields)?, length(&mut fields)?);
    let (status, warning_count) = (fields.u16()?, fields.u16()?);
    let mut info = String::new();
    let mut tracked = Vec::new();
    if !fields.rest.is_empty() {
        info = text(fields.string()?);
    }
    if status & STATE_CHANGED != 0 && !fields.rest.is_empty() {
        tracked = state_changes(fields.string()?)?;
    }
    let outcome = Outcome::Done { affected, insert_id, info };
    Ok(Reply { outcome, warning_count, warnings: Vec::new(), tracked })
}

/// Decodes an error packet.
pub(crate) fn error(packet: &[u8]) -> Result<Reply, String> {
    let mut fields = Fields { rest: packet };
    fields.u8()?;
    let number = fields.u16()?;
    let state = text(fields.bytes(6)?).trim_start_matches('#').to_owned();
    let outcome = Outcome::Error { number, state, text: text(fields.rest).replace('\n', "\\n") };
    Ok(Reply { outcome, warning_count: 0, warnings: Vec::new(), tracked: Vec::new() })
}

/// Reads a length-encoded number that may need more than 32 bits.
fn length(fields: &mut Fields<'_>) -> Result<u64, String> {
    Ok(fields.length()? as u64)
}

fn state_changes(block: &[u8]) -> Result<Vec<String>, String> {
    let mut changes = Fields { rest: block };
    let mut found = Vec::new();
    while !changes.rest.is_empty() {
        let kind = changes.u8()?;
        let mut data = Fields { rest: changes.string()? };
        found.push(match kind {
            0 => format!("variable {}={}", text(data.string()?), text(data.string()?)),
            1 => format!("schema {}", text(data.string()?)),
            _ => format!("{kind} {}", text(data.rest)),
        });
    }
    Ok(found)
}

/// Decodes a column definition.
pub(crate) fn column(packet: &[u8]) -> Result<Column, String> {
    let mut fields = Fields { rest: packet };
    fields.string()?;
    let schema = text(fields.string()?);
    let table = text(fields.string()?);
    let original_table = text(fields.string()?);
    let name = text(fields.string()?).replace('\n', "\\n").replace('\t', "\\t");
    let original_name = text(fields.string()?);
    fields.length()?;
    Ok(Column {
        schema,
        table,
        original_table,
        name,
        original_name,
        collation: fields.u16()?,
        length: fields.number(4)? as u32,
        code: fields.u8()?,
        flags: fields.u16()?,
        decimals: fields.u8()?,
    })
}

/// Decodes a row of the text protocol.
pub(crate) fn text_row(packet: &[u8], columns: usize) -> Result<Row, String> {
    let mut fields = Fields { rest: packet };
    let row = (0..columns).map(|_| {
        if fields.rest.first() == Some(&0xfb) {
            fields.u8()?;
            return Ok(None);
        }
        Ok(Some(text(fields.string()?)))
    });
    row.collect()
}

/// Decodes a row of the binary protocol.
pub(crate) fn binary_row(packet: &[u8], columns: &[Column]) -> Result<Row, String> {
    let mut fields = Fields { rest: packet };
    fields.u8()?;
    let nulls = fields.bytes((columns.len() + 9) / 8)?;
    let row = columns.iter().enumerate().map(|(at, column)| {
        let bit = at + 2;
        if nulls[bit / 8] & 1 << (bit % 8) != 0 { Ok(None) } else { value(&mut fields, column).map(Some) }
    });
    row.collect()
}

/// One value of the binary protocol, as text.
fn value(fields: &mut Fields<'_>, column: &Column) -> Result<String, String> {
    let is_unsigned = column.flags & UNSIGNED != 0;
    Ok(match column.code {
        1 => integer(fields.number(1)?, 8, is_unsigned),
        2 | 13 => integer(fields.number(2)?, 16, is_unsigned),
        3 | 9 => integer(fields.number(4)?, 32, is_unsigned),
        8 => integer(fields.number(8)?, 64, is_unsigned),
        4 => f32::from_bits(fields.number(4)? as u32).to_string(),
        5 => f64::from_bits(fields.number(8)?).to_string(),
        7 | 10 | 12 => moment(fields, column.code == 10)?,
        11 => time(fields)?,
        _ => text(fields.string()?),
    })
}

fn integer(bits: u64, width: u32, is_unsigned: bool) -> String {
    let shift = 64 - width;
    if is_unsigned { bits.to_string() } else { (((bits << shift) as i64) >> shift).to_string() }
}

fn moment(fields: &mut Fields<'_>, is_date: bool) -> Result<String, String> {
    let bytes = fields.u8()?;
    let part = |fields: &mut Fields<'_>, from: u8, width: usize| {
        if bytes >= from { fields.number(width) } else { Ok(0) }
    };
    let (year, month, day) = (part(fields, 4, 2)?, part(fields, 4, 1)?, part(fields, 4, 1)?);
    let (hour, minute, second) = (part(fields, 7, 1)?, part(fields, 7, 1)?, part(fields, 7, 1)?);
    let micros = part(fields, 11, 4)?;
    let date = format!("{year:04}-{month:02}-{day:02}");
    Ok(if is_date { date } else { format!("{date} {hour:02}:{minute:02}:{second:02}.{micros:06}") })
}

fn time(fields: &mut Fields<'_>) -> Result<String, String> {
    let bytes = fields.u8()?;
    if bytes == 0 {
        return Ok("00:00:00.000000".to_owned());
    }
    let sign = if fields.u8()? == 0 { "" } else { "-" };
    let hours = fields.number(4)? * 24 + fields.number(1)?;
    let (minute, second) = (fields.number(1)?, fields.number(1)?);
    let micros = if bytes > 8 { fields.number(4)? } else { 0 };
    Ok(format!("{sign}{hours:02}:{minute:02}:{second:02}.{micros:06}"))
}

/// Bytes as text, or hexadecimal where they are none.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(|c| c.is_control() && c != '\n') => text.to_owned(),
        _ => format!("0x{}", bytes.iter().map(|b| format!("{b:02X}")).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_their_sign_and_width() {
        assert_eq!(integer(0xff, 8, false), "-1");
        assert_eq!(integer(0xff, 8, true), "255");
        assert_eq!(integer(u64::MAX, 64, true), "18446744073709551615");
        assert_eq!(integer(0x7fff_ffff, 32, false), "2147483647");
    }

    #[test]
    fn dates_and_times_have_the_parts_that_were_sent() {
        let read = |bytes: &[u8], is_date| moment(&mut Fields { rest: bytes }, is_date).unwrap();
        assert_eq!(read(&[0], true), "0000-00-00");
        assert_eq!(read(&[4, 0xe8, 7, 2, 29], true), "2024-02-29");
        assert_eq!(read(&[7, 0xe8, 7, 2, 29, 1, 2, 3], false), "2024-02-29 01:02:03.000000");
        let negative = [8, 1, 1, 0, 0, 0, 2, 3, 4];
        assert_eq!(time(&mut Fields { rest: &negative }).unwrap(), "-26:03:04.000000");
    }

    #[test]
    fn a_broken_packet_is_an_error() {
        assert!(column(&[3, b'd']).is_err() && text_row(&[5, b'a'], 1).is_err() && done(&[0]).is_err());
    }
}
