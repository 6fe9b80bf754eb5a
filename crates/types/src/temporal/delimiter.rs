//! Delimiters in texts of dates and times that MySQL takes, and deprecates.

use super::Time;
use crate::value::digits::count_while;

/// Shorter texts are no date and time where a time is read.
pub(crate) const MOMENT_BYTES_MIN: usize = 12;

/// A delimiter that is not the standard one of its place, or one too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OddDelimiter {
    /// The delimiter.
    pub delimiter: u8,
    /// Its place in the text, in bytes.
    pub position: usize,
    /// The delimiter that belongs there; `None` for one too many.
    pub standard: Option<u8>,
}

impl OddDelimiter {
    fn at(text: &[u8], position: usize, standard: Option<u8>) -> OddDelimiter {
        OddDelimiter { delimiter: text[position], position, standard }
    }

    /// The first odd delimiter of a date, or of a date and time, as far as `text` is read as one. Cost: a few
    /// comparisons for a text in the standard form.
    #[inline]
    pub fn of_date(text: &[u8]) -> Option<OddDelimiter> {
        if is_standard_shape(text) { None } else { scan(text) }
    }

    /// The first odd delimiter of what is a time, or a date and time.
    #[inline]
    pub fn of_clock(text: &[u8]) -> Option<OddDelimiter> {
        let is_moment =
            || text.len() >= MOMENT_BYTES_MIN && Time::parse(text).is_some_and(|parsed| parsed.date_dropped);
        if is_standard_shape(text) {
            None
        } else if is_moment() {
            scan(text)
        } else {
            OddDelimiter::of_time(text)
        }
    }

    /// The first odd delimiter of a time: blanks before and after it, and one too many after its days.
    #[inline]
    fn of_time(text: &[u8]) -> Option<OddDelimiter> {
        if text.iter().any(u8::is_ascii_whitespace) { scan_time(text) } else { None }
    }
}

fn scan_time(text: &[u8]) -> Option<OddDelimiter> {
    let start = usize::from(text.first() == Some(&b'-'));
    if text.get(start).is_some_and(u8::is_ascii_whitespace) {
        return Some(OddDelimiter::at(text, start, None));
    }
    let (end, blanks) = clock_and_blanks(text, start);
    let is_day = text[start..end].iter().all(u8::is_ascii_digit);
    let goes_on = is_day && text.get(end + blanks).is_some_and(u8::is_ascii_digit);
    let (end, blanks) = if blanks == 1 && goes_on { clock_and_blanks(text, end + 1) } else { (end, blanks) };
    (blanks > 0 && end > start).then(|| OddDelimiter::at(text, end, None))
}

/// Where a clock that begins at `start` ends, and how many blanks follow.
fn clock_and_blanks(text: &[u8], start: usize) -> (usize, usize) {
    let is_part = |b: u8| b.is_ascii_digit() || matches!(b, b':' | b'.');
    let end = start + count_while(&text[start..], is_part);
    (end, count_while(&text[end..], |b| b.is_ascii_whitespace()))
}

/// Whether `text` looks like `YYYY-MM-DD` or `YYYY-MM-DD hh:mm:ss`, in which every delimiter is in its place.
#[inline]
fn is_standard_shape(text: &[u8]) -> bool {
    match text {
        [_, _, _, _, b'-', _, _, b'-', rest @ .., last] => {
            last.is_ascii_digit()
                && (rest.len() == 1 || matches!(rest, [_, _, b' ', _, _, b':', _, _, b':', _]))
        }
        _ => false,
    }
}

/// Places of a date's parts: what follows the day is a blank or `T`.
const DAY: usize = 2;
const SECOND: usize = 5;

fn scan(text: &[u8]) -> Option<OddDelimiter> {
    if text.first().is_some_and(u8::is_ascii_whitespace) {
        return Some(OddDelimiter::at(text, 0, None));
    }
    let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let run = count_while(text, |b| b.is_ascii_digit() || b == b'T');
    let is_compact = matches!(text.get(run), None | Some(b'.'));
    // A year of one digit before a point ends the parts of fixed widths: MySQL takes any delimiter within a
    // date or time then.
    let takes_any = run == 1 && is_compact;
    // Without a delimiter in front of the rest the parts have fixed widths.
    let year_width = if matches!(run, 4 | 8) || run >= 14 { 4 } else { 2 };
    let width_of = |part: usize| match part {
        _ if !is_compact => usize::MAX,
        0 => year_width,
        _ => 2,
    };
    let (mut at, mut part) = (0, 0);
    while is_digit(at) && part <= SECOND {
        at += count_while(&text[at..], |b| b.is_ascii_digit()).min(width_of(part));
        if part == DAY && text.get(at) == Some(&b'T') {
            at += 1;
        } else if part < SECOND && !(is_compact && part == DAY && text.get(at) == Some(&b'.')) {
            let marks = count_while(&text[at..], |b| b.is_ascii_punctuation() || b.is_ascii_whitespace());
            if let Some(odd) = odd_among(text, at, marks, part)
                && !(takes_any && odd.standard.is_some_and(|standard| standard != b' '))
            {
                return Some(odd);
            }
            if takes_any && marks > 1 {
                return Some(OddDelimiter::at(text, at + 1, None));
            }
            at += marks;
            if marks > 0 && at == text.len() {
                // A blank after the day awaits a time.
                return (part == DAY).then(|| OddDelimiter::at(text, at - 1, None));
            }
        }
        part += 1;
    }
    if part > SECOND { trailing_blank(text, at) } else { None }
}

/// The first odd one of the `marks` delimiters at `at`, which follow the part of this number.
fn odd_among(text: &[u8], at: usize, marks: usize, part: usize) -> Option<OddDelimiter> {
    if marks == 0 {
        return None;
    }
    let standard = match part {
        0 | 1 => b'-',
        DAY => b' ',
        _ => b':',
    };
    if text[at] != standard {
        return Some(OddDelimiter::at(text, at, Some(standard)));
    }
    (marks > 1).then(|| OddDelimiter::at(text, at + 1, None))
}

/// A blank after what is read: the fraction and its point are passed over.
fn trailing_blank(text: &[u8], mut at: usize) -> Option<OddDelimiter> {
    if text.get(at) == Some(&b'.') {
        at += 1 + count_while(&text[at + 1..], |b| b.is_ascii_digit());
    }
    let rest = text.get(at..)?;
    let blank = rest.first().is_some_and(u8::is_ascii_whitespace);
    blank.then(|| OddDelimiter::at(text, at, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Option<(usize, char, Option<char>)> {
        OddDelimiter::of_date(text.as_bytes())
            .map(|odd| (odd.position, char::from(odd.delimiter), odd.standard.map(char::from)))
    }

    #[test]
    fn standard_delimiters_are_not_odd() {
        for text in [
            "2024-02-29",
            "2024-2-9",
            "2024-02-29 10:11:12",
            "2024-02-29T10:11:12.5",
            "20240229101112.5",
            "20240229.5",
            "240229",
            "2024-02-29 10:11:12+02:00",
            "2024-02-29x",
            "2024-02-29 x",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn after_a_year_of_one_digit_any_delimiter_is_taken() {
        for text in ["1.5.5", "1.5-5", "1.5:5", "0.0.0.1", "1.5.5 10.11.12", "1.5.5T10:11:12", "1.5.5 1"] {
            assert_eq!(date(text), None, "{text}");
        }
        assert_eq!(date("1..5.5"), Some((2, '.', None)));
        assert_eq!(date("1.5.5-10"), Some((5, '-', Some(' '))));
        assert_eq!(date("1.5.5 "), Some((5, ' ', None)));
        assert_eq!(date("1.5.5  10:11"), Some((6, ' ', None)));
        assert_eq!(date("1/5.5"), Some((1, '/', Some('-'))));
    }

    #[test]
    fn the_first_odd_delimiter_is_found() {
        assert_eq!(date("2024/02/29"), Some((4, '/', Some('-'))));
        assert_eq!(date("10:11:12"), Some((2, ':', Some('-'))));
        assert_eq!(date("2024.02.29"), Some((4, '.', Some('-'))));
        assert_eq!(date("255.255.255.256"), Some((3, '.', Some('-'))));
        assert_eq!(date("12.5.5"), Some((2, '.', Some('-'))));
        assert_eq!(date("2024-02-29-"), Some((10, '-', Some(' '))));
        assert_eq!(date("2024-02-29\t10:11:12"), Some((10, '\t', Some(' '))));
        assert_eq!(date("2024-02-29 10-11-12"), Some((13, '-', Some(':'))));
        assert_eq!(date("2024--02-29"), Some((5, '-', None)));
        assert_eq!(date("2024-02-29 "), Some((10, ' ', None)));
        assert_eq!(date("2024-02-29  10:11:12"), Some((11, ' ', None)));
        assert_eq!(date("2024-02-29 10:11:12.5 x"), Some((21, ' ', None)));
        assert_eq!(date(" 2024-02-29"), Some((0, ' ', None)));
    }

    #[test]
    fn blanks_around_a_time_are_odd() {
        let time = |text: &str| OddDelimiter::of_time(text.as_bytes()).map(|odd| odd.position);
        assert_eq!(time("10:11:12"), None);
        assert_eq!(time("1 10:11:12"), None);
        assert_eq!(time("a "), None);
        assert_eq!(time(" 10:11:12"), Some(0));
        assert_eq!(time("-  10:11:12"), Some(1));
        assert_eq!(time("10:11:12  x"), Some(8));
        assert_eq!(time("1  10:11:12"), Some(1));
        assert_eq!(time("101112 "), Some(6));
    }
}
