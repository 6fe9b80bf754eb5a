//! Dates and times to text: `YYYY-MM-DD`, `[-]hh:mm:ss[.frac]`, both joined by a space. No allocation beyond
//! the output.

use super::{Date, DateTime, Time};

const PAIRS: &[u8; 200] =
    b"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

#[inline]
fn pair(value: u32) -> [u8; 2] {
    let at = 2 * (value as usize % 100);
    [PAIRS[at], PAIRS[at + 1]]
}

#[inline]
fn date_bytes(date: Date) -> [u8; 10] {
    let year = u32::from(date.year());
    let ([a, b], [c, d]) = (pair(year / 100), pair(year));
    let ([e, f], [g, h]) = (pair(u32::from(date.month())), pair(u32::from(date.day())));
    [a, b, c, d, b'-', e, f, b'-', g, h]
}

#[inline]
fn clock_bytes(hour: u32, minute: u32, second: u32) -> [u8; 8] {
    let ([a, b], [c, d], [e, f]) = (pair(hour), pair(minute), pair(second));
    [a, b, b':', c, d, b':', e, f]
}

#[inline]
fn push_fraction(micro: u32, fsp: u8, out: &mut Vec<u8>) {
    if fsp > 0 {
        let ([a, b], [c, d], [e, f]) = (pair(micro / 10_000), pair(micro / 100), pair(micro));
        out.extend_from_slice(&[b'.', a, b, c, d, e, f][..=usize::from(fsp.min(6))]);
    }
}

impl Date {
    /// Appends `YYYY-MM-DD`.
    #[inline]
    pub fn write_to(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&date_bytes(self));
    }
}

impl Time {
    /// Appends `[-]hh:mm:ss` and `fsp` fraction digits; hours have two digits or three.
    pub fn write_to(self, fsp: u8, out: &mut Vec<u8>) {
        if self.is_negative() {
            out.push(b'-');
        }
        let hour = self.hour();
        if hour >= 100 {
            out.push(b'0' + (hour / 100) as u8);
        }
        out.extend_from_slice(&clock_bytes(hour, self.minute(), self.second()));
        push_fraction(self.micro(), fsp, out);
    }
}

impl DateTime {
    /// Appends `YYYY-MM-DD hh:mm:ss` and `fsp` fraction digits.
    pub fn write_to(self, fsp: u8, out: &mut Vec<u8>) {
        out.extend_from_slice(&date_bytes(self.date()));
        out.push(b' ');
        out.extend_from_slice(&clock_bytes(
            u32::from(self.hour()),
            u32::from(self.minute()),
            u32::from(self.second()),
        ));
        push_fraction(self.micro(), fsp, out);
    }
}

macro_rules! display {
    ($type:ty, $value:ident, $out:ident, $write:expr) => {
        impl std::fmt::Display for $type {
            /// Text with no more fraction digits than the value needs: none or six.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let ($value, mut text) = (*self, Vec::with_capacity(27));
                let $out = &mut text;
                $write;
                f.write_str(&String::from_utf8_lossy(&text))
            }
        }
    };
}

display!(Date, value, out, value.write_to(out));
display!(Time, value, out, value.write_to(if value.micro() == 0 { 0 } else { 6 }, out));
display!(DateTime, value, out, value.write_to(if value.micro() == 0 { 0 } else { 6 }, out));
