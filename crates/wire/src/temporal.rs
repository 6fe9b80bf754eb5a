//! Dates and times in the binary protocol: trailing zero parts are left out.

use crate::decode::{Decoder, malformed};
use crate::{Error, OutBuffer};

/// A DATE, DATETIME or TIMESTAMP. Parts are not checked against the calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BinaryDateTime {
    /// Year.
    pub year: u16,
    /// Month, 0 in zero dates.
    pub month: u8,
    /// Day, 0 in zero dates.
    pub day: u8,
    /// Hour.
    pub hour: u8,
    /// Minute.
    pub minute: u8,
    /// Second.
    pub second: u8,
    /// Microseconds.
    pub micros: u32,
}

/// A TIME.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BinaryTime {
    /// Below zero.
    pub negative: bool,
    /// Whole days.
    pub days: u32,
    /// Hour of the day.
    pub hour: u8,
    /// Minute.
    pub minute: u8,
    /// Second.
    pub second: u8,
    /// Microseconds.
    pub micros: u32,
}

impl BinaryDateTime {
    /// Decodes length byte and parts: 0, 4, 7 or 11 bytes.
    pub fn decode(d: &mut Decoder<'_>) -> Result<Self, Error> {
        let n = d.u8("date length")?;
        let mut value = BinaryDateTime::default();
        if !matches!(n, 0 | 4 | 7 | 11) {
            return Err(malformed("date length"));
        }
        if n >= 4 {
            value.year = d.u16("date")?;
            [value.month, value.day] = d.array("date")?;
        }
        if n >= 7 {
            [value.hour, value.minute, value.second] = d.array("time of day")?;
        }
        if n == 11 {
            value.micros = d.u32("microseconds")?;
        }
        Ok(value)
    }

    /// Appends the value as a DATETIME.
    pub fn put(&self, out: &mut OutBuffer) {
        let has_time = (self.hour, self.minute, self.second) != (0, 0, 0);
        let has_date = self.year != 0 || self.month != 0 || self.day != 0;
        let n = match (self.micros != 0, has_time, has_date) {
            (true, ..) => 11,
            (_, true, _) => 7,
            (.., true) => 4,
            _ => 0,
        };
        out.put_u8(n);
        if n >= 4 {
            out.put_u16(self.year);
            out.put_bytes(&[self.month, self.day]);
        }
        if n >= 7 {
            out.put_bytes(&[self.hour, self.minute, self.second]);
        }
        if n == 11 {
            out.put_u32(self.micros);
        }
    }
}

impl BinaryTime {
    /// Decodes length byte and parts: 0, 8 or 12 bytes.
    pub fn decode(d: &mut Decoder<'_>) -> Result<Self, Error> {
        let n = d.u8("time length")?;
        let mut value = BinaryTime::default();
        if !matches!(n, 0 | 8 | 12) {
            return Err(malformed("time length"));
        }
        if n >= 8 {
            value.negative = d.u8("time sign")? != 0;
            value.days = d.u32("time days")?;
            [value.hour, value.minute, value.second] = d.array("time")?;
        }
        if n == 12 {
            value.micros = d.u32("microseconds")?;
        }
        Ok(value)
    }

    /// Appends the value.
    pub fn put(&self, out: &mut OutBuffer) {
        let is_zero = self.days == 0 && (self.hour, self.minute, self.second) == (0, 0, 0);
        let n = match (self.micros != 0, is_zero) {
            (true, _) => 12,
            (false, false) => 8,
            (false, true) => 0,
        };
        out.put_u8(n);
        if n >= 8 {
            out.put_u8(u8::from(self.negative));
            out.put_u32(self.days);
            out.put_bytes(&[self.hour, self.minute, self.second]);
        }
        if n == 12 {
            out.put_u32(self.micros);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn trailing_zero_parts_are_left_out() {
        let mut out = OutBuffer::new();
        BinaryDateTime::default().put(&mut out);
        BinaryDateTime { year: 2024, month: 2, day: 29, ..Default::default() }.put(&mut out);
        BinaryTime { negative: true, days: 1, hour: 2, ..Default::default() }.put(&mut out);
        BinaryTime::default().put(&mut out);
        assert_eq!(out.pending(), b"\0\x04\xe8\x07\x02\x1d\x08\x01\x01\0\0\0\x02\0\0\0".as_slice());
    }

    #[test]
    fn odd_lengths_are_refused() {
        assert!(BinaryDateTime::decode(&mut Decoder::new(&[5, 1, 1, 1, 1, 1])).is_err());
        assert!(BinaryTime::decode(&mut Decoder::new(&[4, 1, 1, 1, 1])).is_err());
        assert!(BinaryTime::decode(&mut Decoder::new(&[8, 1, 1])).is_err());
    }

    proptest! {
        #[test]
        fn datetimes_round_trip(year: u16, month: u8, day: u8, hour: u8, minute: u8, second: u8, micros: u32) {
            let value = BinaryDateTime { year, month, day, hour, minute, second, micros };
            let mut out = OutBuffer::new();
            value.put(&mut out);
            prop_assert_eq!(BinaryDateTime::decode(&mut Decoder::new(out.pending())), Ok(value));
        }

        #[test]
        fn times_round_trip(days in 1u32..40, hour: u8, minute: u8, second: u8, micros: u32, negative: bool) {
            let value = BinaryTime { negative, days, hour, minute, second, micros };
            let mut out = OutBuffer::new();
            value.put(&mut out);
            prop_assert_eq!(BinaryTime::decode(&mut Decoder::new(out.pending())), Ok(value));
        }
    }
}
