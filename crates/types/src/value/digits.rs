//! Reading digits of texts of any length: a value may be one number of a hundred million digits.

/// Bytes that are tested at once.
const BLOCK: usize = 64;

/// Bytes at the front of `text` that are as wanted. Cost: of long runs, a vector instruction per 16 bytes.
#[inline]
pub(crate) fn count_while(text: &[u8], is_wanted: impl Fn(u8) -> bool) -> usize {
    let mut rest = text;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
        if !block.iter().fold(true, |all, b| all & is_wanted(*b)) {
            break;
        }
        rest = after;
    }
    text.len() - rest.len() + rest.iter().take_while(|b| is_wanted(**b)).count()
}

/// Whether `text` is white space.
#[inline]
pub(crate) fn is_blank(text: &[u8]) -> bool {
    count_while(text, |b| b.is_ascii_whitespace()) == text.len()
}

/// The number that `digits` are, or a million if it is larger.
pub(crate) fn clipped_number(digits: &[u8]) -> u32 {
    const MOST: u32 = 1_000_000;
    let zeros = count_while(digits, |b| b == b'0');
    digits[zeros..].iter().take(8).fold(0u32, |acc, b| (acc * 10 + u32::from(b - b'0')).min(MOST))
}

/// The double that is nearest to a decimal number with a sign, digits and a point, and an exponent.
pub(crate) fn parse_double(text: &[u8]) -> f64 {
    /// Texts that the standard library reads in no time.
    const SHORT_BYTES_MAX: usize = 2048;
    let short = if text.len() <= SHORT_BYTES_MAX { None } else { Some(shortened(text)) };
    let text = short.as_deref().unwrap_or(text);
    std::str::from_utf8(text).ok().and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0)
}

/// A short text of the same double: of the digits after the first 800, which are more than any double is
/// distinguished by, only matters whether one is not zero.
#[cold]
fn shortened(text: &[u8]) -> Vec<u8> {
    const KEPT_DIGITS: usize = 800;
    let is_negative = text.first() == Some(&b'-');
    let text = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let number = &text[..count_while(text, |b| b.is_ascii_digit() || b == b'.')];
    let exponent = text.get(number.len() + 1..).unwrap_or_default();
    let digits = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
    let clipped = i64::from(clipped_number(digits));
    let exponent = if exponent.first() == Some(&b'-') { -clipped } else { clipped };

    let whole = count_while(number, |b| b != b'.');
    let zeros = count_while(number, |b| matches!(b, b'0' | b'.'));
    let significant = &number[zeros..];
    // The number is 0.SIGNIFICANT * 10^magnitude.
    let magnitude = whole.saturating_sub(zeros) as i64 - zeros.saturating_sub(whole + 1) as i64;
    let mut out = if is_negative { b"-0.".to_vec() } else { b"0.".to_vec() };
    let (kept, rest) = significant.split_at(significant.len().min(KEPT_DIGITS + 1));
    out.extend(kept.iter().filter(|b| **b != b'.'));
    out.push(if count_while(rest, |b| matches!(b, b'0' | b'.')) < rest.len() { b'1' } else { b'0' });
    out.push(b'e');
    out.extend_from_slice(itoa::Buffer::new().format(magnitude + exponent).as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_read_as_the_standard_library_reads_them() {
        let zeros = "0".repeat(3000);
        let digits = "1234567890".repeat(300);
        for text in [
            format!("{digits}e-2990"),
            format!("-{digits}.{digits}e-2800"),
            format!("+0.{zeros}{digits}E+3005"),
            format!("{zeros}{digits}e-2700"),
            format!("{zeros}.{zeros}e5"),
            format!("1.{zeros}1"),
            format!("9007199254740993.{zeros}1"),
            format!("9007199254740993.{zeros}"),
            format!(".5{zeros}e00000000000000000000000001"),
            format!("5{zeros}.e-3000"),
            format!("1{zeros}e-{zeros}2990"),
            format!("1{zeros}e-{digits}"),
            digits.clone(),
        ] {
            let shown = &text[..40];
            assert_eq!(
                parse_double(text.as_bytes()).to_bits(),
                text.parse::<f64>().unwrap().to_bits(),
                "{shown}"
            );
        }
    }

    #[test]
    fn runs_are_counted_across_blocks() {
        for count in [0, 1, 63, 64, 65, 200] {
            let mut text = vec![b'7'; count];
            assert_eq!(count_while(&text, |b| b.is_ascii_digit()), count);
            text.extend_from_slice(
                b"x7777777777777777777777777777777777777777777777777777777777777777777777777",
            );
            assert_eq!(count_while(&text, |b| b.is_ascii_digit()), count);
        }
        assert_eq!((clipped_number(b"00000000000000012"), clipped_number(b"12345678901")), (12, 1_000_000));
    }
}
