//! DECIMAL arithmetic and rounding.
//!
//! Results that do not fit give `None`; the caller reports "DECIMAL value is out of range".

use super::wide::{self, U256};
use super::{Decimal, MAX_DIGITS, MAX_SCALE};

/// Extra fraction digits of a quotient: MySQL's default of `div_precision_increment`.
pub const DIV_PRECISION_INCREMENT: u8 = 4;

impl Decimal {
    /// The same number with `scale` fraction digits where that only adds zeros; `None` if it does not fit.
    fn raise(&self, scale: u8) -> Option<U256> {
        let by = u32::from(scale - self.scale);
        if by == 0 {
            return Some(self.mag);
        }
        if by < 20
            && let Some(narrow) = wide::to_u128(&self.mag)
            && let Some(raised) = narrow.checked_mul(u128::from(wide::pow10_u64(by)))
        {
            return Some(wide::from_u128(raised));
        }
        wide::mul(&self.mag, &wide::pow10(by))
    }

    /// The signed digits at `scale`, not below the value's own, if that is cheap to tell and they fit 128
    /// bits.
    #[inline]
    pub(super) fn units_at(&self, scale: u8) -> Option<i128> {
        let by = u32::from(scale - self.scale);
        let units = self.to_i128_units()?;
        match by {
            0 => Some(units),
            1..=18 => units.checked_mul(i128::from(wide::pow10_u64(by))),
            _ => None,
        }
    }

    /// The number with at most 30 fraction digits: literals have more, which may be too many to compute with.
    #[inline]
    fn narrow(self) -> Decimal {
        if self.scale <= MAX_SCALE { self } else { self.round(i32::from(MAX_SCALE)) }
    }

    fn checked(neg: bool, mag: U256, scale: u8) -> Option<Decimal> {
        let fits = wide::to_u128(&mag).is_some() || wide::cmp(&mag, &wide::pow10(MAX_DIGITS)).is_lt();
        fits.then(|| Decimal::from_parts(neg, mag, scale))
    }

    /// `self + rhs`; scale is the larger one. Cost: 5 ns while both fit 128 bits.
    #[inline]
    pub fn checked_add(self, rhs: Decimal) -> Option<Decimal> {
        let scale = self.scale.max(rhs.scale);
        if let (Some(a), Some(b)) = (self.units_at(scale), rhs.units_at(scale))
            && let Some(sum) = a.checked_add(b)
        {
            return Some(Decimal::from_i128(sum, scale));
        }
        let sum = self.add_at(rhs, scale);
        // Literals may have more fraction digits than fit beside the other's whole ones.
        if sum.is_none() && scale > MAX_SCALE { self.narrow().checked_add(rhs.narrow()) } else { sum }
    }

    /// `self + rhs` with `scale` fraction digits, the larger number of both.
    fn add_at(self, rhs: Decimal, scale: u8) -> Option<Decimal> {
        let (a, b) = (self.raise(scale)?, rhs.raise(scale)?);
        if self.neg == rhs.neg {
            return Decimal::checked(self.neg, wide::add(&a, &b)?, scale);
        }
        if wide::cmp(&a, &b).is_ge() {
            Some(Decimal::from_parts(self.neg, wide::sub(&a, &b), scale))
        } else {
            Some(Decimal::from_parts(rhs.neg, wide::sub(&b, &a), scale))
        }
    }

    /// `self - rhs`; scale is the larger one.
    #[inline]
    pub fn checked_sub(self, rhs: Decimal) -> Option<Decimal> {
        self.checked_add(rhs.negate())
    }

    /// `self * rhs`; scale is the sum, digits past 30 are rounded away half up.
    #[inline]
    pub fn checked_mul(self, rhs: Decimal) -> Option<Decimal> {
        let scale = self.scale + rhs.scale;
        let neg = self.neg != rhs.neg;
        if scale <= MAX_SCALE {
            if let (Some(a), Some(b)) = (wide::to_u128(&self.mag), wide::to_u128(&rhs.mag))
                && let Some(product) = a.checked_mul(b)
            {
                return Some(Decimal::from_parts(neg, wide::from_u128(product), scale));
            }
            return Decimal::checked(neg, wide::mul(&self.mag, &rhs.mag)?, scale);
        }
        let is_long = u32::from(scale - MAX_SCALE) > wide::MAX_POW10;
        let (a, b) = if is_long { (self.narrow(), rhs.narrow()) } else { (self, rhs) };
        let drop = u32::from(a.scale + b.scale - MAX_SCALE);
        let (quotient, remainder) = wide::mul_div_pow10(&a.mag, &b.mag, drop)?;
        let mag = round_up_if(quotient, reaches_half(&remainder, &wide::pow10(drop)))?;
        Decimal::checked(neg, mag, MAX_SCALE)
    }

    /// `self / rhs` with `increment` more fraction digits than `self` (at most 30), rounded half away from
    /// zero. `Ok(None)` when `rhs` is 0.
    pub fn checked_div(self, rhs: Decimal, increment: u8) -> Result<Option<Decimal>, DecimalOverflow> {
        if rhs.is_zero() {
            return Ok(None);
        }
        if self.scale > MAX_SCALE {
            return self.narrow().checked_div(rhs, increment);
        }
        let scale = self.scale.saturating_add(increment).min(MAX_SCALE);
        // self.mag / 10^s1 / (rhs.mag / 10^s2) * 10^scale
        let shift = u32::from(scale) + u32::from(rhs.scale) - u32::from(self.scale);
        if shift > wide::MAX_POW10 {
            return self.checked_div(rhs.narrow(), increment);
        }
        let (quotient, remainder) = divide(&self.mag, shift, &rhs.mag).ok_or(DecimalOverflow)?;
        let mag = round_up_if(quotient, reaches_half(&remainder, &rhs.mag)).ok_or(DecimalOverflow)?;
        Decimal::checked(self.neg != rhs.neg, mag, scale).map(Some).ok_or(DecimalOverflow)
    }

    /// Integer part of `self / rhs` (`DIV`), toward zero; `Ok(None)` when `rhs` is 0.
    pub fn checked_div_int(self, rhs: Decimal) -> Result<Option<Decimal>, DecimalOverflow> {
        if rhs.is_zero() {
            return Ok(None);
        }
        let neg = self.neg != rhs.neg;
        let quotient = if rhs.scale >= self.scale {
            divide(&self.mag, u32::from(rhs.scale - self.scale), &rhs.mag).ok_or(DecimalOverflow)?.0
        } else {
            match rhs.raise(self.scale) {
                Some(raised) => wide::div_rem(&self.mag, &raised).0,
                None => U256::default(),
            }
        };
        Decimal::checked(neg, quotient, 0).map(Some).ok_or(DecimalOverflow)
    }

    /// `self % rhs` with the sign of `self`; scale is the larger one. `Ok(None)` when `rhs` is 0.
    pub fn checked_rem(self, rhs: Decimal) -> Result<Option<Decimal>, DecimalOverflow> {
        if rhs.is_zero() {
            return Ok(None);
        }
        let scale = self.scale.max(rhs.scale);
        if scale > MAX_SCALE && (self.raise(scale).is_none() || rhs.raise(scale).is_none()) {
            return self.narrow().checked_rem(rhs.narrow());
        }
        let divisor = match rhs.raise(scale) {
            Some(raised) => raised,
            // The divisor, raised to a scale `self` already has, is past every value.
            None if self.scale == scale => return Ok(Some(self)),
            None => return Err(DecimalOverflow),
        };
        let dividend = self.raise(scale).ok_or(DecimalOverflow)?;
        Ok(Some(Decimal::from_parts(self.neg, wide::div_rem(&dividend, &divisor).1, scale)))
    }

    /// Rounds half away from zero to `digits` fraction digits; negative `digits` round before the point.
    /// The result's scale is `min(scale, max(digits, 0))`.
    pub fn round(self, digits: i32) -> Decimal {
        self.cut(digits, true)
    }

    /// Cuts toward zero to `digits` fraction digits; negative `digits` cut before the point.
    pub fn truncate(self, digits: i32) -> Decimal {
        self.cut(digits, false)
    }

    /// Largest integer not above the value.
    pub fn floor(self) -> Decimal {
        let cut = self.truncate(0);
        if self.neg && cut != self { cut.checked_sub(Decimal::ONE).unwrap_or(cut) } else { cut }
    }

    /// Smallest integer not below the value.
    pub fn ceil(self) -> Decimal {
        self.negate().floor().negate()
    }

    /// The value with exactly `scale` fraction digits: rounded half away from zero, or zeros added (`None` if
    /// those do not fit).
    pub fn rescale(self, scale: u8) -> Option<Decimal> {
        if scale <= self.scale {
            return Some(self.round(i32::from(scale)));
        }
        Decimal::checked(self.neg, self.raise(scale)?, scale)
    }

    fn cut(self, digits: i32, half_up: bool) -> Decimal {
        if digits >= i32::from(self.scale) {
            return self;
        }
        let scale = digits.max(0) as u8;
        let drop = i32::from(self.scale).saturating_sub(digits);
        if drop > wide::MAX_POW10 as i32 {
            return Decimal::from_parts(false, U256::default(), scale);
        }
        let unit = wide::pow10(drop as u32);
        let (quotient, remainder) = wide::div_rem(&self.mag, &unit);
        let mut mag = round_up_if(quotient, half_up && reaches_half(&remainder, &unit)).unwrap_or(quotient);
        if digits < 0 {
            mag = wide::mul(&mag, &wide::pow10(digits.unsigned_abs())).unwrap_or(self.mag);
        }
        Decimal::from_parts(self.neg, mag, scale)
    }
}

/// A result has more digits than a DECIMAL value can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecimalOverflow;

/// `a * 10^shift / b` and the remainder.
fn divide(a: &U256, shift: u32, b: &U256) -> Option<(U256, U256)> {
    if shift < 20
        && let (Some(x), Some(y)) = (wide::to_u128(a), wide::to_u128(b))
        && let Some(x) = x.checked_mul(u128::from(wide::pow10_u64(shift)))
    {
        return Some((wide::from_u128(x / y), wide::from_u128(x % y)));
    }
    wide::mul_pow10_div(a, shift, b)
}

/// Whether `remainder` is at least half of `divisor`, which is above it.
fn reaches_half(remainder: &U256, divisor: &U256) -> bool {
    wide::cmp(remainder, &wide::sub(divisor, remainder)).is_ge()
}

fn round_up_if(value: U256, up: bool) -> Option<U256> {
    if up { wide::add(&value, &[1, 0, 0, 0]) } else { Some(value) }
}
