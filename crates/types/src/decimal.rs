//! Exact decimal numbers: `DECIMAL(65,30)` and the somewhat wider values that arithmetic on them passes
//! through.
//!
//! A value is `(-1)^neg * mag / 10^scale` with a 256-bit magnitude (76 digits). Arithmetic follows MySQL's
//! rules for the scale of results. Values that fit 128 bits, nearly all in practice, never touch the wide
//! code.

mod arith;
mod convert;
mod text;
mod wide;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

pub use arith::{DIV_PRECISION_INCREMENT, DecimalOverflow};
pub use text::ParsedDecimal;
use wide::U256;

/// Most digits a DECIMAL column may have.
pub const PRECISION_MAX: u32 = 65;
/// Most fraction digits a DECIMAL column or expression may have.
pub const SCALE_MAX: u8 = 30;
/// Most digits a value holds between two operations.
const DIGITS_MAX: u32 = 76;

/// An exact decimal number. 40 bytes, `Copy`. `==`, `<` and hashing compare the number, so 1.0 equals 1.00;
/// [`Decimal::scale`] tells them apart. There is no negative zero.
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    /// Digits without point, below 10^76.
    mag: U256,
    neg: bool,
    /// Fraction digits: at most 30, or 65 in a literal as written.
    scale: u8,
}

const _: () = assert!(size_of::<Decimal>() <= 40);

impl Decimal {
    /// 0 with no fraction digits.
    pub const ZERO: Decimal = Decimal { mag: [0; 4], neg: false, scale: 0 };
    /// 1 with no fraction digits.
    pub const ONE: Decimal = Decimal { mag: [1, 0, 0, 0], neg: false, scale: 0 };

    /// `mag / 10^scale`, negated if `neg`; zero loses its sign.
    #[inline]
    fn from_parts(neg: bool, mag: U256, scale: u8) -> Decimal {
        debug_assert!(u32::from(scale) <= DIGITS_MAX, "scale out of range");
        Decimal { neg: neg && !wide::is_zero(&mag), mag, scale }
    }

    /// The largest value of DECIMAL(`precision`, `scale`): all nines.
    pub fn max_value(precision: u32, scale: u8) -> Decimal {
        let mag = wide::sub(&wide::pow10(precision.min(DIGITS_MAX)), &[1, 0, 0, 0]);
        Decimal { mag, neg: false, scale }
    }

    fn with_sign(self, neg: bool) -> Decimal {
        Decimal::from_parts(neg, self.mag, self.scale)
    }

    /// Fraction digits.
    #[inline]
    pub fn scale(&self) -> u8 {
        self.scale
    }

    /// Digits in all, at least one, at least `scale`: the smallest precision of a type that holds the value
    /// as written.
    pub fn precision(&self) -> u32 {
        wide::digit_count(&self.mag).max(u32::from(self.scale)).max(1)
    }

    /// Whether the value is 0.
    #[inline]
    pub fn is_zero(&self) -> bool {
        wide::is_zero(&self.mag)
    }

    /// Whether the value is below 0.
    #[inline]
    pub fn is_negative(&self) -> bool {
        self.neg
    }

    /// The value with the opposite sign.
    #[inline]
    pub fn negate(self) -> Decimal {
        self.with_sign(!self.neg)
    }

    /// The value without its sign.
    #[inline]
    pub fn abs(self) -> Decimal {
        Decimal { neg: false, ..self }
    }

    /// The same number with the fewest fraction digits: equal numbers have identical normal forms.
    pub(crate) fn normalize(self) -> Decimal {
        let mut out = self;
        while out.scale > 0 {
            let mut mag = out.mag;
            if wide::div_small(&mut mag, 10) != 0 {
                break;
            }
            out.mag = mag;
            out.scale -= 1;
        }
        out
    }

    fn cmp_magnitude(&self, other: &Decimal) -> Ordering {
        if self.scale == other.scale {
            return wide::cmp(&self.mag, &other.mag);
        }
        let (low, high) = if self.scale < other.scale { (self, other) } else { (other, self) };
        // A raised magnitude past 256 bits is above anything that was not raised.
        let order = match wide::mul(&low.mag, &wide::pow10(u32::from(high.scale - low.scale))) {
            Some(raised) => wide::cmp(&raised, &high.mag),
            None => Ordering::Greater,
        };
        if self.scale < other.scale { order } else { order.reverse() }
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        if let (Some(a), Some(b)) = (self.units_at(scale), other.units_at(scale)) {
            return a.cmp(&b);
        }
        match (self.neg, other.neg) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.cmp_magnitude(other),
            (true, true) => other.cmp_magnitude(self),
        }
    }
}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let normal = self.normalize();
        (normal.neg, normal.scale, normal.mag).hash(state);
    }
}

impl Default for Decimal {
    fn default() -> Self {
        Decimal::ZERO
    }
}

#[cfg(test)]
mod tests;
