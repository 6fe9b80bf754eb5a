//! Text of a page: nothing that a name holds may become markup, or turn the text around it.

use crate::report::number::thousands;

/// A name or sentence as text of a page or value of an attribute. Characters that XML forbids, and those that
/// change the direction of what follows, are shown as U+FFFD.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().map(shown) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// The same for the name of a workload or operation: where there is too little room, its parts go to lines of
/// their own.
pub(super) fn breakable(name: &str) -> String {
    escape(name).replace('_', "_<wbr/>").replace('.', ".<wbr/>")
}

/// The character that stands for `c`.
pub(super) fn shown(c: char) -> char {
    match c {
        '\n' | '\t' | '\r' => ' ',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{fffe}'
        | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// At most `columns` columns of a fixed-width font, an ellipsis at the end of what is longer. Characters
/// beyond ASCII are taken as two columns wide: fonts fall back to others for them.
pub(super) fn shortened(text: &str, columns: usize) -> String {
    let width = |c: char| if c.is_ascii() { 1 } else { 2 };
    let text: String = text.chars().map(shown).collect();
    if text.chars().map(width).sum::<usize>() <= columns {
        return text;
    }
    let (mut out, mut used) = (String::new(), 2);
    for c in text.chars() {
        used += width(c);
        if used > columns {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// A number of three digits or more for a table; empty if it is not known.
pub(super) fn number(value: f64) -> String {
    match value {
        v if !v.is_finite() => String::new(),
        0.0 => "0".to_owned(),
        v if v.abs() < 0.0995 => format!("{v:.3}"),
        v if v.abs() < 9.95 => format!("{v:.2}"),
        v if v.abs() < 99.5 => format!("{v:.1}"),
        v => thousands(v),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_what_turns_text_around_are_text() {
        assert_eq!(
            escape("<a href='x'>&\"\u{0}\u{202e}"),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn long_names_end_in_an_ellipsis_and_fit() {
        assert_eq!(shortened("update-index", 12), "update-index");
        assert_eq!(shortened("update-index!", 12), "update-ind…");
        assert_eq!(shortened("漢漢漢", 5), "漢…");
    }

    #[test]
    fn numbers_have_three_digits_or_more() {
        let shown = [0.0, 0.0123, 1.234, 12.34, 123.4, 1_234_567.0, f64::NAN].map(number);
        assert_eq!(shown, ["0", "0.012", "1.23", "12.3", "123", "1,234,567", ""]);
    }
}
