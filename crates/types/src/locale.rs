//! Locales: the names of months and days, and how the digits of numbers are grouped.
//!
//! # Source
//! `locale/names.tsv` holds what MySQL 9.7 answers for each of its locales, in the order of their numbers:
//! name, months, short months, days from Monday on, short days, decimal point, separator of digit groups,
//! lengths of these groups from the point on. Names within a column are parted by `|`.

use std::sync::LazyLock;

/// Columns of the table.
const COLUMNS: usize = 8;

/// Every locale by its number.
static ALL: LazyLock<Box<[Locale]>> = LazyLock::new(read_all);

#[cold]
#[inline(never)]
fn read_all() -> Box<[Locale]> {
    include_str!("locale/names.tsv").lines().filter_map(Locale::read).collect()
}

/// Texts in a language, UTF-8.
#[derive(Debug)]
pub struct Locale {
    name: &'static str,
    months: [&'static str; 12],
    short_months: [&'static str; 12],
    days: [&'static str; 7],
    short_days: [&'static str; 7],
    point: &'static str,
    separator: &'static str,
    groups: &'static str,
}

impl Locale {
    /// English as in the USA.
    pub fn english() -> &'static Locale {
        &ALL[0]
    }

    /// The locale of this name, without regard to case.
    pub fn find(name: &str) -> Option<&'static Locale> {
        ALL.iter().find(|locale| locale.name.eq_ignore_ascii_case(name))
    }

    /// The locale of this number.
    pub fn numbered(number: usize) -> Option<&'static Locale> {
        ALL.get(number)
    }

    fn read(line: &'static str) -> Option<Locale> {
        let mut columns = [""; COLUMNS];
        let mut parts = line.split('\t');
        columns.fill_with(|| parts.next().unwrap_or_default());
        let [name, months, short_months, days, short_days, point, separator, groups] = columns;
        Some(Locale {
            name,
            months: names(months)?,
            short_months: names(short_months)?,
            days: names(days)?,
            short_days: names(short_days)?,
            point,
            // Some locales part groups by a NUL.
            separator: if separator == "\\0" { "\0" } else { separator },
            groups,
        })
    }

    /// Name, as `de_DE`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The names of the months, or their short names.
    pub fn months(&self, is_short: bool) -> &[&'static str; 12] {
        if is_short { &self.short_months } else { &self.months }
    }

    /// The names of the days of the week from Monday on, or their short names.
    pub fn days(&self, is_short: bool) -> &[&'static str; 7] {
        if is_short { &self.short_days } else { &self.days }
    }

    /// Appends `plain`, the ASCII text of a number, with its digits in groups.
    pub fn write_grouped(&self, plain: &[u8], out: &mut Vec<u8>) {
        let (sign, number) = plain.split_at(usize::from(plain.first() == Some(&b'-')));
        let point = number.iter().position(|b| *b == b'.').unwrap_or(number.len());
        let (whole, fraction) = number.split_at(point);
        out.extend_from_slice(sign);
        for (at, digit) in whole.iter().enumerate() {
            if at > 0 && self.begins_group(whole.len() - at) {
                out.extend_from_slice(self.separator.as_bytes());
            }
            out.push(*digit);
        }
        if let [_, digits @ ..] = fraction {
            out.extend_from_slice(self.point.as_bytes());
            out.extend_from_slice(digits);
        }
    }

    /// Whether a group begins `left` digits before the point. The last length repeats.
    fn begins_group(&self, left: usize) -> bool {
        let mut left = left;
        let mut lengths = self.groups.bytes().map(|digit| usize::from(digit.wrapping_sub(b'0')));
        let mut length = lengths.next().unwrap_or(0);
        while length > 0 && left >= length {
            left -= length;
            if left == 0 {
                return true;
            }
            length = lengths.next().unwrap_or(length);
        }
        false
    }
}

fn names<const N: usize>(column: &'static str) -> Option<[&'static str; N]> {
    column.split('|').collect::<Vec<_>>().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_locale() {
        assert_eq!(ALL.len(), include_str!("locale/names.tsv").lines().count());
        assert_eq!(Locale::english().name(), "en_US");
        assert_eq!(Locale::find("DE_de").map(Locale::name), Some("de_DE"));
    }

    #[test]
    fn digits_are_grouped_from_the_point_on() {
        let grouped = |name: &str, text: &str| {
            let mut out = Vec::new();
            Locale::find(name).unwrap().write_grouped(text.as_bytes(), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(grouped("en_US", "-1234567.50"), "-1,234,567.50");
        assert_eq!(grouped("de_DE", "1234567.50"), "1.234.567,50");
        assert_eq!(grouped("ta_IN", "1234567.50"), "12,34,567.50");
        assert_eq!(grouped("en_US", "123"), "123");
    }
}
