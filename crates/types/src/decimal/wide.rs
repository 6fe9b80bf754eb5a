//! Unsigned integers of 256 and 512 bits, little-endian limbs of 64 bits: just what DECIMAL arithmetic needs.
//!
//! All functions are total over their input; overflow is returned, never wrapped silently.

/// 256 bits, least significant limb first.
pub(super) type U256 = [u64; 4];
/// 512 bits, the product of two [`U256`].
type U512 = [u64; 8];

/// Largest power of ten below 2^256.
pub(super) const POW10_MAX: u32 = 77;

const POW10_U64: [u64; 20] = {
    let mut table = [1u64; 20];
    let mut i = 1;
    while i < 20 {
        table[i] = table[i - 1] * 10;
        i += 1;
    }
    table
};

const POW10_WIDE: [U256; 78] = {
    let mut table = [[1u64, 0, 0, 0]; 78];
    let mut i = 1;
    while i < 78 {
        table[i] = const_mul10(table[i - 1]);
        i += 1;
    }
    table
};

const fn const_mul10(value: U256) -> U256 {
    let mut out = [0u64; 4];
    let mut carry = 0u128;
    let mut i = 0;
    while i < 4 {
        let limb = value[i] as u128 * 10 + carry;
        out[i] = limb as u64;
        carry = limb >> 64;
        i += 1;
    }
    out
}

/// 10^n, `n` at most [`POW10_MAX`].
#[inline]
pub(super) fn pow10(n: u32) -> U256 {
    POW10_WIDE[n as usize]
}

/// 10^n, `n` at most 19.
#[inline]
pub(super) fn pow10_u64(n: u32) -> u64 {
    POW10_U64[n as usize]
}

/// `value` widened.
#[inline]
pub(super) fn from_u128(value: u128) -> U256 {
    [value as u64, (value >> 64) as u64, 0, 0]
}

/// The value if it fits 128 bits.
#[inline]
pub(super) fn to_u128(value: &U256) -> Option<u128> {
    (value[2] | value[3] == 0).then(|| u128::from(value[0]) | u128::from(value[1]) << 64)
}

/// Whether all limbs are 0.
#[inline]
pub(super) fn is_zero(value: &U256) -> bool {
    value[0] | value[1] | value[2] | value[3] == 0
}

/// Numeric order.
#[inline]
pub(super) fn cmp(a: &U256, b: &U256) -> std::cmp::Ordering {
    a.iter().rev().cmp(b.iter().rev())
}

/// `a + b`, `None` past 256 bits.
#[inline]
pub(super) fn add(a: &U256, b: &U256) -> Option<U256> {
    let mut out = [0u64; 4];
    let mut carry = false;
    for i in 0..4 {
        let (sum, c1) = a[i].overflowing_add(b[i]);
        let (sum, c2) = sum.overflowing_add(u64::from(carry));
        out[i] = sum;
        carry = c1 | c2;
    }
    (!carry).then_some(out)
}

/// `a - b`, `a >= b`.
#[inline]
pub(super) fn sub(a: &U256, b: &U256) -> U256 {
    let mut out = [0u64; 4];
    let mut borrow = false;
    for i in 0..4 {
        let (diff, b1) = a[i].overflowing_sub(b[i]);
        let (diff, b2) = diff.overflowing_sub(u64::from(borrow));
        out[i] = diff;
        borrow = b1 | b2;
    }
    debug_assert!(!borrow, "subtraction below zero");
    out
}

fn mul_full(a: &U256, b: &U256) -> U512 {
    let mut out = [0u64; 8];
    for i in 0..4 {
        let mut carry = 0u128;
        for j in 0..4 {
            let limb = u128::from(a[i]) * u128::from(b[j]) + u128::from(out[i + j]) + carry;
            out[i + j] = limb as u64;
            carry = limb >> 64;
        }
        out[i + 4] = carry as u64;
    }
    out
}

/// `a * b`, `None` past 256 bits.
pub(super) fn mul(a: &U256, b: &U256) -> Option<U256> {
    let full = mul_full(a, b);
    narrow(&full)
}

fn narrow(full: &U512) -> Option<U256> {
    (full[4] | full[5] | full[6] | full[7] == 0).then(|| [full[0], full[1], full[2], full[3]])
}

/// `a * b / 10^drop` and the remainder, `None` if the quotient is past 256 bits. `drop` is at most
/// [`POW10_MAX`].
pub(super) fn mul_div_pow10(a: &U256, b: &U256, drop: u32) -> Option<(U256, U256)> {
    let full = mul_full(a, b);
    let (quotient, remainder) = div_full(&full, &pow10(drop));
    Some((narrow(&quotient)?, remainder))
}

/// `a * 10^shift / b` and the remainder, `b` not 0, `shift` at most [`POW10_MAX`]; `None` if the quotient is
/// past 256 bits.
pub(super) fn mul_pow10_div(a: &U256, shift: u32, b: &U256) -> Option<(U256, U256)> {
    let full = mul_full(a, &pow10(shift));
    let (quotient, remainder) = div_full(&full, b);
    Some((narrow(&quotient)?, remainder))
}

/// `a / b` and the remainder, `b` not 0.
#[inline]
pub(super) fn div_rem(a: &U256, b: &U256) -> (U256, U256) {
    if let (Some(x), Some(y)) = (to_u128(a), to_u128(b)) {
        return (from_u128(x / y), from_u128(x % y));
    }
    let wide = [a[0], a[1], a[2], a[3], 0, 0, 0, 0];
    let (q, r) = div_full(&wide, b);
    ([q[0], q[1], q[2], q[3]], r)
}

/// `value / divisor` in place, returning the remainder.
pub(super) fn div_small(value: &mut U256, divisor: u64) -> u64 {
    let mut rem = 0u128;
    for limb in value.iter_mut().rev() {
        let cur = rem << 64 | u128::from(*limb);
        *limb = (cur / u128::from(divisor)) as u64;
        rem = cur % u128::from(divisor);
    }
    rem as u64
}

/// `value * factor + addend`; `None` past 256 bits.
pub(super) fn mul_add_small(value: &U256, factor: u64, addend: u64) -> Option<U256> {
    let mut out = [0u64; 4];
    let mut carry = u128::from(addend);
    for i in 0..4 {
        let limb = u128::from(value[i]) * u128::from(factor) + carry;
        out[i] = limb as u64;
        carry = limb >> 64;
    }
    (carry == 0).then_some(out)
}

/// Schoolbook division with 32-bit digits.
///
/// # Source
/// Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D.
fn div_full(num: &U512, den: &U256) -> (U512, U256) {
    let mut v = [0u32; 8];
    split(den, &mut v);
    let n = significant(&v);
    debug_assert!(n > 0, "division by zero");
    let mut u = [0u32; 17];
    split(num, &mut u);
    let m = significant(&u);
    let mut quotient = [0u32; 16];
    if n == 1 {
        let mut rem = 0u64;
        for i in (0..m).rev() {
            let cur = rem << 32 | u64::from(u[i]);
            quotient[i] = (cur / u64::from(v[0])) as u32;
            rem = cur % u64::from(v[0]);
        }
        return (join8(&quotient), [rem, 0, 0, 0]);
    }
    let shift = v[n - 1].leading_zeros();
    shift_left(&mut v[..n], shift);
    shift_left(&mut u[..=m], shift);
    for j in (0..(m + 1).saturating_sub(n)).rev() {
        quotient[j] = divide_step(&mut u[j..=j + n], &v[..n]);
    }
    let mut rem = [0u32; 8];
    for i in 0..n {
        let high = if i + 1 < n { u[i + 1] } else { 0 };
        rem[i] = ((u64::from(high) << 32 | u64::from(u[i])) >> shift) as u32;
    }
    (
        join8(&quotient),
        [join(rem[0], rem[1]), join(rem[2], rem[3]), join(rem[4], rem[5]), join(rem[6], rem[7])],
    )
}

/// One quotient digit: estimates it from the leading digits, then multiplies and subtracts `v` from the
/// window `u`.
fn divide_step(u: &mut [u32], v: &[u32]) -> u32 {
    let n = v.len();
    let top = u64::from(u[n]) << 32 | u64::from(u[n - 1]);
    let lead = u64::from(v[n - 1]);
    let mut qhat = top / lead;
    let mut rhat = top % lead;
    while qhat >> 32 != 0 || qhat * u64::from(v[n - 2]) > (rhat << 32 | u64::from(u[n - 2])) {
        qhat -= 1;
        rhat += lead;
        if rhat >> 32 != 0 {
            break;
        }
    }
    let mut borrow = 0i64;
    let mut carry = 0u64;
    for i in 0..n {
        let product = qhat * u64::from(v[i]) + carry;
        carry = product >> 32;
        let diff = i64::from(u[i]) - borrow - i64::from(product as u32);
        u[i] = diff as u32;
        borrow = i64::from(diff < 0);
    }
    let diff = i64::from(u[n]) - borrow - carry as i64;
    u[n] = diff as u32;
    if diff < 0 {
        qhat -= 1;
        let mut carry = 0u64;
        for i in 0..n {
            let sum = u64::from(u[i]) + u64::from(v[i]) + carry;
            u[i] = sum as u32;
            carry = sum >> 32;
        }
        u[n] = u[n].wrapping_add(carry as u32);
    }
    qhat as u32
}

fn split(limbs: &[u64], out: &mut [u32]) {
    for (i, limb) in limbs.iter().enumerate() {
        out[2 * i] = *limb as u32;
        out[2 * i + 1] = (limb >> 32) as u32;
    }
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn join8(digits: &[u32; 16]) -> U512 {
    std::array::from_fn(|i| join(digits[2 * i], digits[2 * i + 1]))
}

fn significant(digits: &[u32]) -> usize {
    digits.iter().rposition(|&d| d != 0).map_or(0, |i| i + 1)
}

fn shift_left(digits: &mut [u32], shift: u32) {
    let mut carry = 0u64;
    for digit in digits {
        let cur = u64::from(*digit) << shift | carry;
        *digit = cur as u32;
        carry = cur >> 32;
    }
}

/// Number of decimal digits, 0 for 0.
pub(super) fn digit_count(value: &U256) -> u32 {
    let bits = match value.iter().rposition(|&limb| limb != 0) {
        None => return 0,
        Some(i) => 64 * (i as u32 + 1) - value[i].leading_zeros(),
    };
    // log10(2) as a fraction; the estimate is the count or one below it.
    let estimate = (bits * 1233) >> 12;
    if estimate <= POW10_MAX && cmp(value, &pow10(estimate)).is_ge() { estimate + 1 } else { estimate }
}
