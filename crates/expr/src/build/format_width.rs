//! How long a text a date format makes.

use types::SqlType;

use super::{Builder, string_type};
use crate::func::Func;
use crate::{Expr, ExprKind};

/// Characters that a format not known yet is taken to make of each of its own.
const CHARS_PER_FORMAT_CHAR: u32 = 10;
/// Room for a day's or month's name in any language.
const LONG_NAME: u32 = 64;
/// Room for a short one.
const SHORT_NAME: u32 = 32;

/// DATE_FORMAT, TIME_FORMAT, FROM_UNIXTIME with a format.
pub(crate) fn formatted_time(builder: &Builder, _: Func, args: &[Expr]) -> SqlType {
    let chars = match &args[1].kind {
        ExprKind::Const(format) if args[1].ty.is_string() && !format.is_null() => {
            format_width(format.as_value().as_text(&mut Vec::new()))
        }
        _ => super::shown_chars(&args[1].ty).saturating_mul(CHARS_PER_FORMAT_CHAR),
    };
    string_type(chars, builder.collation)
}

/// Most characters that `format` makes: MySQL's widths of its specifiers.
fn format_width(format: &[u8]) -> u32 {
    let mut width = 0;
    let mut bytes = format.iter();
    while let Some(&byte) = bytes.next() {
        width += match (byte, if byte == b'%' { bytes.next() } else { None }) {
            (b'%', Some(specifier)) => specifier_width(*specifier),
            _ => 1,
        };
    }
    width
}

fn specifier_width(specifier: u8) -> u32 {
    match specifier {
        b'M' | b'W' => LONG_NAME,
        b'a' | b'b' => SHORT_NAME,
        b'D' | b'Y' | b'x' | b'X' => 4,
        b'j' => 3,
        b'U' | b'u' | b'V' | b'v' | b'y' | b'm' | b'd' | b'h' | b'i' | b'I' | b'l' | b'p' | b'S' | b's'
        | b'c' | b'e' => 2,
        b'k' | b'H' => 7,
        b'r' => 11,
        b'T' => 8,
        b'f' => 6,
        _ => 1,
    }
}
