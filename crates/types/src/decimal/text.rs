//! DECIMAL from and to text.

use super::{DIGITS_MAX, Decimal, PRECISION_MAX, SCALE_MAX, wide};
use crate::value::digits::{clipped_number, count_while, is_blank};

/// What happened while reading a number from text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedDecimal {
    /// The value; clipped to the largest when `overflow`.
    pub value: Decimal,
    /// Bytes read, leading white space included; 0 if no number is at the front.
    pub consumed: usize,
    /// Fraction digits were dropped because the number has more than fit.
    pub truncated: bool,
    /// The integer part has more than 65 digits.
    pub overflow: bool,
}

impl Decimal {
    /// Reads the longest number at the front of `text`: white space, sign, digits with a point, exponent.
    /// The scale is the number of fraction digits written (after applying the exponent), at most 30.
    /// Cost: no allocation.
    pub fn parse_prefix(text: &[u8]) -> ParsedDecimal {
        let scan = Scan::of(text);
        if scan.digits == 0 {
            return ParsedDecimal { value: Decimal::ZERO, consumed: 0, truncated: false, overflow: false };
        }
        scan.build(text, SCALE_MAX)
    }

    /// Reads all of `text` (surrounding white space allowed) as a literal, which keeps up to 65 fraction
    /// digits; `None` if it is not a number or does not fit.
    pub fn parse(text: &[u8]) -> Option<Decimal> {
        let scan = Scan::of(text);
        if scan.digits == 0 {
            return None;
        }
        let parsed = scan.build(text, PRECISION_MAX as u8);
        let clean = !parsed.overflow && is_blank(&text[parsed.consumed..]);
        clean.then_some(parsed.value)
    }

    /// Appends the value with its fraction digits.
    pub fn write_to(self, out: &mut Vec<u8>) {
        write_scaled(self.neg, self.mag, u32::from(self.scale), out);
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = Vec::with_capacity(84);
        self.write_to(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

impl std::str::FromStr for Decimal {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Decimal::parse(text.as_bytes()).ok_or(())
    }
}

/// Where the parts of a number are in its text.
struct Scan {
    neg: bool,
    /// First byte after the sign.
    start: usize,
    /// End of the digits and the point.
    end: usize,
    digits: usize,
    /// Fraction digits written.
    frac: usize,
    exponent: i64,
    consumed: usize,
}

impl Scan {
    fn of(text: &[u8]) -> Scan {
        let mut at = count_while(text, |b| b.is_ascii_whitespace());
        let neg = text.get(at) == Some(&b'-');
        if matches!(text.get(at), Some(b'-' | b'+')) {
            at += 1;
        }
        let start = at;
        let int = count_digits(&text[at..]);
        at += int;
        let mut frac = 0;
        if text.get(at) == Some(&b'.') {
            frac = count_digits(&text[at + 1..]);
            at += 1 + frac;
        }
        let mut scan = Scan { neg, start, end: at, digits: int + frac, frac, exponent: 0, consumed: at };
        scan.read_exponent(text);
        scan
    }

    fn read_exponent(&mut self, text: &[u8]) {
        let mut at = self.end;
        if !matches!(text.get(at), Some(b'e' | b'E')) {
            return;
        }
        at += 1;
        let neg = text.get(at) == Some(&b'-');
        if matches!(text.get(at), Some(b'-' | b'+')) {
            at += 1;
        }
        let count = count_digits(&text[at..]);
        if count == 0 {
            return;
        }
        let exponent = i64::from(clipped_number(&text[at..at + count]));
        self.exponent = if neg { -exponent } else { exponent };
        self.consumed = at + count;
    }

    /// The number with at most `max_scale` fraction digits.
    fn build(&self, text: &[u8], max_scale: u8) -> ParsedDecimal {
        let (mag, kept, dropped, dropped_nonzero) = gather_digits(&text[self.start..self.end]);
        let mut mag = mag;
        // value = mag * 10^-scale
        let mut scale = self.frac as i64 - self.exponent - dropped;
        let mut truncated = dropped_nonzero;
        if wide::is_zero(&mag) {
            let value = Decimal::from_parts(self.neg, mag, scale.clamp(0, i64::from(max_scale)) as u8);
            return ParsedDecimal { value, consumed: self.consumed, truncated, overflow: false };
        }
        if i64::from(kept) - scale > i64::from(PRECISION_MAX) {
            let value = Decimal::max_value(65, 0).with_sign(self.neg);
            return ParsedDecimal { value, consumed: self.consumed, truncated, overflow: true };
        }
        if scale < 0 {
            mag = wide::mul(&mag, &wide::pow10(-scale as u32)).unwrap_or(mag);
            scale = 0;
        }
        // Digits far behind the point vanish.
        let excess = scale - i64::from(max_scale);
        if excess > 0 {
            truncated = true;
            let cut = excess.min(i64::from(wide::POW10_MAX)) as u32;
            mag = wide::div_rem(&mag, &wide::pow10(cut)).0;
            scale -= excess;
        }
        let value = Decimal::from_parts(self.neg, mag, scale as u8);
        ParsedDecimal { value, consumed: self.consumed, truncated, overflow: false }
    }
}

/// The first 76 significant digits, how many those are, how many more there were and whether one of these is
/// not zero.
fn gather_digits(text: &[u8]) -> (wide::U256, u32, i64, bool) {
    let mut mag = wide::U256::default();
    let (mut kept, mut dropped, mut dropped_nonzero) = (0u32, 0i64, false);
    // Digits gather in one word, which is folded into the wide number before it can overflow.
    let (mut block, mut block_len) = (0u64, 0u32);
    let text = &text[count_while(text, |b| matches!(b, b'0' | b'.'))..];
    for (at, &b) in text.iter().enumerate().filter(|(_, b)| **b != b'.') {
        if kept >= DIGITS_MAX {
            let rest = &text[at..];
            dropped = rest.iter().map(|b| i64::from(*b != b'.')).sum();
            dropped_nonzero = count_while(rest, |b| matches!(b, b'0' | b'.')) < rest.len();
            break;
        }
        let digit = u64::from(b - b'0');
        kept += u32::from(kept > 0 || digit != 0);
        block = block * 10 + digit;
        block_len += 1;
        if block_len == 19 {
            mag = fold(&mag, block, block_len);
            (block, block_len) = (0, 0);
        }
    }
    (fold(&mag, block, block_len), kept, dropped, dropped_nonzero)
}

fn fold(mag: &wide::U256, block: u64, digits: u32) -> wide::U256 {
    if wide::is_zero(mag) {
        return [block, 0, 0, 0];
    }
    // 76 digits fit 256 bits.
    wide::mul_add_small(mag, wide::pow10_u64(digits), block).unwrap_or(*mag)
}

fn count_digits(text: &[u8]) -> usize {
    count_while(text, |b| b.is_ascii_digit())
}

/// Appends `mag / 10^scale` with exactly `scale` fraction digits and at least one integer digit.
pub(crate) fn write_scaled(neg: bool, mag: wide::U256, scale: u32, out: &mut Vec<u8>) {
    if neg {
        out.push(b'-');
    }
    let scale = scale as usize;
    let mut raw = [b'0'; 84];
    let at = raw.len() - write_digits(mag, &mut raw);
    let int_end = raw.len() - scale;
    if at < int_end {
        out.extend_from_slice(&raw[at..int_end]);
    } else {
        out.push(b'0');
    }
    if scale > 0 {
        out.push(b'.');
        out.extend_from_slice(&raw[int_end..]);
    }
}

/// Writes the digits at the end of `raw` (which is all `'0'`) and returns how many.
fn write_digits(mut mag: wide::U256, raw: &mut [u8; 84]) -> usize {
    let mut at = raw.len();
    while mag[1] | mag[2] | mag[3] != 0 {
        let block = wide::div_small(&mut mag, wide::pow10_u64(19));
        place(block, &mut raw[at - 19..at]);
        at -= 19;
    }
    let mut buffer = itoa::Buffer::new();
    let lead = if mag[0] == 0 { "" } else { buffer.format(mag[0]) };
    raw[at - lead.len()..at].copy_from_slice(lead.as_bytes());
    raw.len() - (at - lead.len())
}

fn place(block: u64, window: &mut [u8]) {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(block).as_bytes();
    let skip = window.len() - text.len();
    window[skip..].copy_from_slice(text);
}
