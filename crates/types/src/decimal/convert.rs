//! DECIMAL from and to integers, doubles and storage bytes.

use super::{Decimal, wide};

impl From<i64> for Decimal {
    #[inline]
    fn from(value: i64) -> Self {
        Decimal::from_parts(value < 0, [value.unsigned_abs(), 0, 0, 0], 0)
    }
}

impl From<u64> for Decimal {
    #[inline]
    fn from(value: u64) -> Self {
        Decimal::from_parts(false, [value, 0, 0, 0], 0)
    }
}

/// Bytes of the digits of any value: 76 digits and a sign are less than 256 bits.
const WIDE_UNITS_BYTES: usize = 32;

impl Decimal {
    /// `units / 10^scale`. `scale` is at most 30.
    #[inline]
    pub fn from_i128(units: i128, scale: u8) -> Decimal {
        Decimal::from_parts(units < 0, wide::from_u128(units.unsigned_abs()), scale)
    }

    /// The digits without point, signed, if they fit 128 bits; with [`Decimal::scale`] the whole value.
    #[inline]
    pub fn to_i128_units(&self) -> Option<i128> {
        let mag = i128::try_from(wide::to_u128(&self.mag)?).ok()?;
        Some(if self.neg { -mag } else { mag })
    }

    /// The decimal that a double shows: its shortest digits that read back the same, as far as 30 fraction
    /// digits go. `None` for values that do not fit; NaN and infinities among them.
    pub fn from_f64(value: f64) -> Option<Decimal> {
        if !value.is_finite() {
            return None;
        }
        let mut buffer = ryu::Buffer::new();
        let parsed = Decimal::parse_prefix(buffer.format_finite(value).as_bytes());
        // The digits' own ".0" is not part of the number.
        (!parsed.overflow).then(|| parsed.value.normalize())
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        if self.scale <= 22
            && let Some(units) = wide::to_u128(&self.mag)
            && units < 1 << 53
        {
            // Both operands are exact, so one division rounds once.
            let value = units as f64 / 10f64.powi(i32::from(self.scale));
            return if self.neg { -value } else { value };
        }
        let mut text = Vec::with_capacity(84);
        self.write_to(&mut text);
        std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
    }

    /// Rounded half away from zero to an i64; `Err` holds the nearest i64 when out of range.
    pub fn to_i64(self) -> Result<i64, i64> {
        let limit = if self.neg { i64::MIN } else { i64::MAX };
        match self.round(0).to_i128_units() {
            Some(units) => i64::try_from(units).map_err(|_| limit),
            None => Err(limit),
        }
    }

    /// Rounded half away from zero to a u64; `Err` holds the nearest u64 when out of range.
    pub fn to_u64(self) -> Result<u64, u64> {
        let limit = if self.neg { 0 } else { u64::MAX };
        match self.round(0).to_i128_units() {
            Some(units) => u64::try_from(units).map_err(|_| limit),
            None => Err(limit),
        }
    }

    /// Whether the value has no fraction.
    pub fn is_integer(self) -> bool {
        self.truncate(0) == self
    }

    /// The digits without point as a two's complement little-endian integer of 32 bytes; with
    /// [`Decimal::scale`] the whole value, which [`Decimal::from_units_le`] gives back.
    pub fn wide_units(&self) -> Vec<u8> {
        let mut units = Vec::with_capacity(WIDE_UNITS_BYTES);
        self.push_units_le(WIDE_UNITS_BYTES, &mut units);
        units
    }

    /// Appends the digits as a two's complement little-endian integer of `width` bytes, which must hold them.
    pub(crate) fn push_units_le(&self, width: usize, out: &mut Vec<u8>) {
        let mut limbs = self.mag;
        if self.neg {
            let mut carry = true;
            for limb in &mut limbs {
                (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
            }
        }
        for i in 0..width {
            out.push((limbs[i / 8] >> (8 * (i % 8))) as u8);
        }
    }

    /// The value of a two's complement little-endian integer in `bytes` (1..=32 of them).
    pub fn from_units_le(bytes: &[u8], scale: u8) -> Decimal {
        let neg = bytes.last().is_some_and(|b| b & 0x80 != 0);
        let mut raw = [if neg { 0xff } else { 0 }; 32];
        raw[..bytes.len()].copy_from_slice(bytes);
        let mut mag: wide::U256 = std::array::from_fn(|i| base::codec::get_u64(&raw, 8 * i));
        if neg {
            let mut carry = true;
            for limb in &mut mag {
                (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
            }
        }
        Decimal::from_parts(neg, mag, scale)
    }
}
