//! DOUBLE and FLOAT as text: as many digits as are needed to read the number back (FLOAT: at most 6), plain
//! notation while the point stands within 15 places, else `1.5e16`.

use std::io::Write;

/// Plain notation for values whose leading digit is at 10^(decpt-1) with `decpt` in this range.
const PLAIN_RANGE: std::ops::RangeInclusive<i32> = -14..=15;

/// Appends a DOUBLE without a fixed scale. Cost: 40 ns, no allocation beyond the output.
pub fn write_double(value: f64, out: &mut Vec<u8>) {
    if !value.is_finite() {
        // No expression yields one; NaN and infinities cannot be stored.
        out.push(b'0');
        return;
    }
    if value == value.trunc() && value.abs() < 1e15 && (value != 0.0 || value.is_sign_positive()) {
        out.extend_from_slice(itoa::Buffer::new().format(value as i64).as_bytes());
        return;
    }
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(value);
    write_digits(&Digits::of(text.as_bytes()), out);
}

/// Rooms of fewer characters than this get digits of the exact value, which a subnormal number has more of
/// than it needs.
const SHORTEST_ROOM_MIN: usize = 15;

/// Appends a DOUBLE with as many digits as fit `room` characters, in the notation that shows more of them.
/// Returns false if not one digit fits; the text may be too long then. A fraction that is rounded is no loss.
pub fn write_double_within(value: f64, room: usize, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let digits_room = room - usize::from(value.is_sign_negative()).min(room);
    write_double(value, out);
    if out.len() - start <= room && (digits_room >= SHORTEST_ROOM_MIN || !value.is_subnormal()) {
        return true;
    }
    out.truncate(start);
    if value == 0.0 {
        out.push(b'0');
        return room > 0;
    }
    let number = rounded(value, digits_room);
    if is_plain_within(&number, digits_room as i32) {
        write_plain_within(value, &number, digits_room as i32, out)
    } else {
        write_exponent_within(value, number, digits_room as i32, out)
    }
}

/// At most `count` significant digits of `value`, and at least one.
fn rounded(value: f64, count: usize) -> Digits {
    if count >= SHORTEST_ROOM_MIN {
        let shortest = Digits::of(ryu::Buffer::new().format_finite(value).as_bytes());
        if shortest.count <= count {
            return shortest;
        }
    }
    let mut exact = [0u8; 40];
    Digits::of(write_exact(value, count.clamp(1, 17) - 1, &mut exact))
}

/// Whether plain notation within `room` characters, without the sign, shows at least as many digits of
/// `number` as the exponent form.
fn is_plain_within(number: &Digits, room: i32) -> bool {
    if !is_plain(number) {
        return false;
    }
    // `1e-3` shows a digit in four characters, `0.00` none.
    let is_shown = number.decpt >= -1 || number.decpt == -2 && room != 4;
    plain_len(number) <= room || number.decpt <= room && is_shown && PLAIN_RANGE.contains(&number.decpt)
}

/// Characters of plain notation without the sign.
fn plain_len(number: &Digits) -> i32 {
    let count = number.count as i32;
    match number.decpt {
        decpt if decpt <= 0 => count - decpt + 2,
        decpt if decpt < count => count + 1,
        decpt => decpt,
    }
}

/// Appends `value`, whose digits are `number`, in plain notation with the fraction digits that fit.
fn write_plain_within(value: f64, number: &Digits, room: i32, out: &mut Vec<u8>) -> bool {
    if plain_len(number) <= room {
        write_plain(number, out);
        return true;
    }
    let before = if number.decpt <= 0 { 2 - number.decpt } else { 1 };
    let fraction = room - before - number.decpt;
    let mut exact = [0u8; 40];
    let text = write_exact_plain(value, fraction.max(0) as usize, &mut exact);
    write_plain(&Digits::of(text), out);
    fraction >= 0
}

/// Appends `value`, whose digits are `number`, in exponent form with the digits that fit, or one.
fn write_exponent_within(value: f64, number: Digits, room: i32, out: &mut Vec<u8>) -> bool {
    let exponent = number.decpt - 1;
    let exponent_len = 1 + i32::from(exponent < 0) + (exponent.unsigned_abs().max(1).ilog10() as i32 + 1);
    let fits = room - exponent_len - i32::from(number.count > 1);
    let number = if fits < number.count as i32 { rounded(value, fits.max(1) as usize) } else { number };
    out.extend_from_slice(if number.neg { b"-" } else { b"" });
    write_exponent_form(&number.ascii[..number.count], number.decpt - 1, out);
    fits > 0
}

/// `d.ddde[-]dd` with `digits` fraction digits, rounded once.
fn write_exact(value: f64, digits: usize, buffer: &mut [u8; 40]) -> &[u8] {
    let mut rest = &mut buffer[..];
    let room = rest.len();
    // 17 digits and an exponent fit.
    let _ = write!(rest, "{value:.digits$e}");
    let left = rest.len();
    &buffer[..room - left]
}

/// `[-]ddd.ddd` with `digits` fraction digits, rounded once; `value` has at most 16 digits before the point.
fn write_exact_plain(value: f64, digits: usize, buffer: &mut [u8; 40]) -> &[u8] {
    let mut rest = &mut buffer[..];
    let room = rest.len();
    let _ = write!(rest, "{value:.digits$}");
    let left = rest.len();
    &buffer[..room - left]
}

/// Appends a FLOAT without a fixed scale: 6 significant digits.
pub(crate) fn write_float(value: f32, out: &mut Vec<u8>) {
    if !value.is_finite() {
        out.push(b'0');
        return;
    }
    if value == value.trunc() && value.abs() < 1e6 && (value != 0.0 || value.is_sign_positive()) {
        out.extend_from_slice(itoa::Buffer::new().format(value as i32).as_bytes());
        return;
    }
    let mut buffer = ryu::Buffer::new();
    let digits = Digits::of(buffer.format_finite(value).as_bytes());
    if digits.count <= 6 {
        return write_digits(&digits, out);
    }
    // Rounding the shortest digits could round twice; the exact value is rounded once.
    let mut exact = [0u8; 40];
    write_digits(&Digits::of(write_exact(f64::from(value), 5, &mut exact)), out);
}

/// Appends a FLOAT or DOUBLE with a fixed number of fraction digits: the fewest digits that read back the
/// same, and zeros after them; where these have more fraction digits, the exact value is rounded.
pub fn write_double_fixed(value: f64, decimals: u8, out: &mut Vec<u8>) {
    let value = if value.is_finite() { value } else { 0.0 };
    let mut buffer = ryu::Buffer::new();
    let digits = Digits::of(buffer.format_finite(value).as_bytes());
    if digits.count as i32 - digits.decpt <= i32::from(decimals) {
        return write_padded(&digits, usize::from(decimals), out);
    }
    // Writing to a Vec cannot fail.
    let _ = write!(out, "{value:.*}", usize::from(decimals));
}

/// Appends a number in plain notation with zeros up to `decimals` fraction digits, which are at least its
/// own.
fn write_padded(number: &Digits, decimals: usize, out: &mut Vec<u8>) {
    let digits = &number.ascii[..number.count];
    let whole = if digits.is_empty() { 0 } else { number.decpt.max(0) as usize };
    let leading = if digits.is_empty() { 0 } else { number.decpt.min(0).unsigned_abs() as usize };
    let split = digits.len().min(whole);
    if number.neg {
        out.push(b'-');
    }
    out.extend_from_slice(if whole == 0 { &b"0"[..] } else { &digits[..split] });
    out.resize(out.len() + whole - split, b'0');
    if decimals > 0 {
        out.push(b'.');
        let end = out.len() + decimals;
        out.resize(out.len() + leading, b'0');
        out.extend_from_slice(&digits[split..]);
        out.resize(end, b'0');
    }
}

/// Significant digits of a number and the place of its point.
struct Digits {
    neg: bool,
    ascii: [u8; 20],
    count: usize,
    /// The number is 0.DIGITS * 10^decpt.
    decpt: i32,
}

impl Digits {
    /// Takes apart `[-]d.ddd[e[-]dd]`, `[-]0.00ddd` or `[-]dddd.0`.
    fn of(text: &[u8]) -> Digits {
        let mut out = Digits { neg: text[0] == b'-', ascii: [b'0'; 20], count: 0, decpt: 0 };
        let (mut point_seen, mut exponent) = (false, 0i32);
        for (i, b) in text.iter().enumerate().skip(usize::from(out.neg)) {
            match b {
                b'.' => point_seen = true,
                b'e' => {
                    exponent = read_exponent(&text[i + 1..]);
                    break;
                }
                // A leading zero only moves the point.
                b'0' if out.count == 0 => out.decpt -= i32::from(point_seen),
                _ => {
                    if out.count < out.ascii.len() {
                        out.ascii[out.count] = *b;
                        out.count += 1;
                    }
                    out.decpt += i32::from(!point_seen);
                }
            }
        }
        while out.count > 0 && out.ascii[out.count - 1] == b'0' {
            out.count -= 1;
        }
        out.decpt += exponent;
        out
    }
}

fn read_exponent(text: &[u8]) -> i32 {
    let neg = text.first() == Some(&b'-');
    let value = text[usize::from(neg)..].iter().fold(0, |acc, b| acc * 10 + i32::from(b - b'0'));
    if neg { -value } else { value }
}

/// Whether a number has plain notation: one with a fraction has it up to its last digit.
fn is_plain(number: &Digits) -> bool {
    PLAIN_RANGE.contains(&number.decpt) || (number.decpt > 0 && number.count as i32 > number.decpt)
}

fn write_digits(number: &Digits, out: &mut Vec<u8>) {
    if is_plain(number) || number.count == 0 {
        if number.neg && number.count == 0 {
            out.push(b'-');
        }
        return write_plain(number, out);
    }
    out.extend_from_slice(if number.neg { b"-" } else { b"" });
    write_exponent_form(&number.ascii[..number.count], number.decpt - 1, out);
}

/// Appends a number in plain notation; one without digits is `0`.
fn write_plain(number: &Digits, out: &mut Vec<u8>) {
    let digits = &number.ascii[..number.count];
    if digits.is_empty() {
        return out.push(b'0');
    }
    out.extend_from_slice(if number.neg { b"-" } else { b"" });
    if number.decpt <= 0 {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + number.decpt.unsigned_abs() as usize, b'0');
        out.extend_from_slice(digits);
    } else {
        let point = number.decpt as usize;
        let whole = digits.len().min(point);
        out.extend_from_slice(&digits[..whole]);
        out.resize(out.len() + point - whole, b'0');
        if digits.len() > point {
            out.push(b'.');
            out.extend_from_slice(&digits[point..]);
        }
    }
}

fn write_exponent_form(digits: &[u8], exponent: i32, out: &mut Vec<u8>) {
    out.push(digits[0]);
    if digits.len() > 1 {
        out.push(b'.');
        out.extend_from_slice(&digits[1..]);
    }
    out.push(b'e');
    out.extend_from_slice(itoa::Buffer::new().format(exponent).as_bytes());
}
