//! Optimizer hints: of all that MySQL has, MAX_EXECUTION_TIME alone has an effect.

/// Milliseconds of the first `MAX_EXECUTION_TIME(n)` in `/*+ .. */`; 0 if there is none, or none with a
/// decimal number of 32 bits.
pub(super) fn max_execution_ms(hint: &[u8]) -> u32 {
    let inner = hint.strip_prefix(b"/*+").and_then(|rest| rest.strip_suffix(b"*/")).unwrap_or_default();
    let mut rest = inner;
    while let Some(open) = rest.iter().position(|&b| b == b'(') {
        let name = rest[..open].trim_ascii();
        let Some(len) = rest[open..].iter().position(|&b| b == b')') else { return 0 };
        let arguments = rest[open + 1..open + len].trim_ascii();
        if name.eq_ignore_ascii_case(b"MAX_EXECUTION_TIME") {
            return number(arguments);
        }
        rest = &rest[open + len + 1..];
    }
    0
}

fn number(digits: &[u8]) -> u32 {
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number);
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::max_execution_ms;

    #[test]
    fn the_first_limit_counts_wherever_it_stands() {
        for (hint, ms) in [
            ("MAX_EXECUTION_TIME(100)", 100),
            (" max_execution_time ( 7 ) ", 7),
            ("INDEX(t a) MAX_EXECUTION_TIME(5)", 5),
            ("MAX_EXECUTION_TIME(5) MAX_EXECUTION_TIME(9)", 5),
            ("MAX_EXECUTION_TIME(4294967295)", u32::MAX),
            ("MAX_EXECUTION_TIME(4294967296)", 0),
            ("MAX_EXECUTION_TIME(-1)", 0),
            ("MAX_EXECUTION_TIME('1')", 0),
            ("MAX_EXECUTION_TIME(0x10)", 0),
            ("MAX_EXECUTION_TIME()", 0),
            ("MAX_EXECUTION_TIME(5", 0),
            ("INDEX(t", 0),
            ("", 0),
        ] {
            assert_eq!(max_execution_ms(format!("/*+{hint}*/").as_bytes()), ms, "{hint}");
        }
    }
}
