//! The employees database, generated: its shapes, its row counts, no data of its own.

use std::io::{self, Write};

use base::prng::Prng;

/// Rows of `employees`.
pub(super) const EMPLOYEES: usize = 300_024;
/// Rows of `salaries`.
pub(super) const SALARIES: usize = 2_844_047;
/// Most salaries of one employee.
const SALARIES_MAX: u64 = 18;
/// A year of twelve months of 28 days: every such date exists.
const YEAR_DAYS: u64 = 336;

/// CREATE TABLE statements.
pub(super) const SCHEMA: &str = "
CREATE TABLE employees (emp_no INT NOT NULL PRIMARY KEY, birth_date DATE NOT NULL, first_name VARCHAR(14) NOT NULL,
    last_name VARCHAR(16) NOT NULL, gender ENUM('M','F') NOT NULL, hire_date DATE NOT NULL);
CREATE TABLE salaries (emp_no INT NOT NULL, salary INT NOT NULL, from_date DATE NOT NULL, to_date DATE NOT NULL,
    PRIMARY KEY (emp_no, from_date))";

/// What both files have in common.
pub(super) struct Staff {
    hired: Vec<u64>,
}

impl Staff {
    /// The same staff every time.
    pub(super) fn generate() -> Self {
        let mut prng = Prng::new(1985);
        let hired = (0..EMPLOYEES).map(|_| YEAR_DAYS * 35 + prng.below(YEAR_DAYS * 15)).collect();
        Staff { hired }
    }

    /// Tab-separated rows of `employees`, by number.
    pub(super) fn write_employees(&self, out: &mut impl Write) -> io::Result<()> {
        let mut prng = Prng::new(1);
        let (first, last) = (names(2, 1275, 14), names(3, 1637, 16));
        for (number, &hired) in numbers().zip(&self.hired) {
            let born = Date(prng.below(YEAR_DAYS * 15));
            let first = &first[prng.below(first.len() as u64) as usize];
            let last = &last[prng.below(last.len() as u64) as usize];
            let gender = if prng.below(10) < 6 { 'M' } else { 'F' };
            writeln!(out, "{number}\t{born}\t{first}\t{last}\t{gender}\t{}", Date(hired))?;
        }
        Ok(())
    }

    /// Tab-separated rows of `salaries`, by number and date: a salary a year, the last one without end.
    pub(super) fn write_salaries(&self, out: &mut impl Write) -> io::Result<()> {
        let mut prng = Prng::new(4);
        for ((number, &hired), count) in numbers().zip(&self.hired).zip(salary_counts()) {
            let share = prng.unit();
            let mut salary = 40_000 + (share * share * 60_000.0) as u64;
            for year in 0..count {
                let (from, to) = (hired + YEAR_DAYS * year, hired + YEAR_DAYS * (year + 1));
                write!(out, "{number}\t{salary}\t{}\t", Date(from))?;
                if year + 1 < count {
                    writeln!(out, "{}", Date(to))?;
                } else {
                    writeln!(out, "9999-01-01")?;
                }
                salary = salary + prng.below(5_000) - 1_000;
            }
        }
        Ok(())
    }
}

/// Employee numbers, with the gaps of the employees database.
fn numbers() -> impl Iterator<Item = u32> {
    (10_001..110_025).chain(200_000..300_000).chain(400_000..500_000)
}

/// Salaries of each employee, [`SALARIES`] in all.
fn salary_counts() -> Vec<u64> {
    let mut prng = Prng::new(18);
    let mut counts: Vec<u64> = (0..EMPLOYEES).map(|_| 1 + prng.below(SALARIES_MAX)).collect();
    let mut total = counts.iter().sum::<u64>();
    let mut at = 0;
    while total != SALARIES as u64 {
        let count = &mut counts[at];
        if total > SALARIES as u64 && *count > 1 {
            *count -= 1;
            total -= 1;
        } else if total < SALARIES as u64 && *count < SALARIES_MAX {
            *count += 1;
            total += 1;
        }
        at = (at + 7919) % EMPLOYEES;
    }
    counts
}

fn names(seed: u64, count: usize, chars_max: usize) -> Vec<String> {
    const SYLLABLES: [&str; 24] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "we",
        "xi", "yo", "zu", "sh", "ar", "en", "or",
    ];
    let mut prng = Prng::new(seed);
    let mut name = || {
        let mut name = String::new();
        for _ in 0..2 + prng.below(5) {
            name.push_str(SYLLABLES[prng.below(24) as usize]);
        }
        name.truncate(chars_max);
        name[..1].make_ascii_uppercase();
        name
    };
    (0..count).map(|_| name()).collect()
}

/// Days since 1950-01-01 in years of [`YEAR_DAYS`].
struct Date(u64);

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (year, day) = (1950 + self.0 / YEAR_DAYS, self.0 % YEAR_DAYS);
        write!(f, "{year}-{:02}-{:02}", 1 + day / 28, 1 + day % 28)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_are_those_of_the_employees_database() {
        assert_eq!(numbers().count(), EMPLOYEES);
        let counts = salary_counts();
        assert_eq!(counts.iter().sum::<u64>(), SALARIES as u64);
        assert!(counts.iter().all(|count| (1..=SALARIES_MAX).contains(count)));
    }

    #[test]
    fn rows_look_like_rows() {
        let mut out = Vec::new();
        Staff::generate().write_employees(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let fields: Vec<_> = text.lines().next().unwrap().split('\t').collect();
        assert_eq!((fields[0], fields.len(), text.lines().count()), ("10001", 6, EMPLOYEES));
        assert_eq!(Date(337).to_string(), "1951-01-02");
    }
}
