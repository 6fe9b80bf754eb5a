//! The tables of the reference workloads' joins and GROUP BYs.

use crate::config::Run;
use crate::error::Result;
use crate::stats::Random;
use crate::workload::{Data, GROUP_BYTES};

/// Rows of one INSERT.
const ROWS_A_STATEMENT: usize = 1000;
/// Salaries an employee has at most; the least is one.
const SALARIES_MAX: usize = 18;

/// The statements that make a data set in the current database and fill it: one `salaries` row, and a quarter
/// of a row of each `group_N`, for each row of a sysbench table.
pub fn load(data: Data, run: &Run, execute: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    match data {
        Data::Sbtest => Ok(()),
        Data::Employees => load_employees(run, execute),
        Data::Groups => load_groups(run, execute),
    }
}

/// What all targets must answer alike.
pub fn queries(data: Data) -> Vec<String> {
    match data {
        Data::Sbtest => Vec::new(),
        Data::Employees => vec![
            "SELECT COUNT(*), SUM(s.salary), MIN(e.last_name), MAX(s.to_date) FROM employees AS e LEFT JOIN salaries AS s \
             ON e.emp_no = s.emp_no"
                .to_owned(),
        ],
        Data::Groups => GROUP_BYTES
            .iter()
            .map(|n| format!("SELECT COUNT(*), SUM(uniqe), COUNT(DISTINCT col1), SUM(LENGTH(col2)) FROM group_{n}"))
            .collect(),
    }
}

fn load_employees(run: &Run, execute: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    execute("DROP TABLE IF EXISTS salaries, employees")?;
    execute(
        "CREATE TABLE employees (emp_no INT NOT NULL PRIMARY KEY, birth_date DATE NOT NULL, first_name VARCHAR(14) NOT NULL, \
         last_name VARCHAR(16) NOT NULL, gender ENUM('M','F') NOT NULL, hire_date DATE NOT NULL) ENGINE = InnoDB",
    )?;
    execute(
        "CREATE TABLE salaries (emp_no INT NOT NULL, salary INT NOT NULL, from_date DATE NOT NULL, to_date DATE NOT NULL, \
         PRIMARY KEY (emp_no, from_date)) ENGINE = InnoDB",
    )?;
    let mut random = Random(run.seed ^ 0x5a1a);
    let (mut employees, mut salaries) = (Rows::into("employees"), Rows::into("salaries"));
    let mut left = run.table_rows;
    for number in 10_001.. {
        let mut year = 1985 + random.below(15);
        let gender = if random.below(5) < 3 { "M" } else { "F" };
        let (first, last, born) = (name(&mut random, 3), name(&mut random, 4), 1950 + random.below(15));
        let row = format!(
            "({number},'{born}-05-{:02}','{first}','{last}','{gender}','{year}-03-01')",
            number % 28 + 1
        );
        employees.add(&row, execute)?;
        let count = left.min(1 + random.below(SALARIES_MAX));
        let mut salary = 40_000 + random.below(60_000);
        for _ in 0..count {
            let row = format!("({number},{salary},'{year}-03-01','{}-03-01')", year + 1);
            salaries.add(&row, execute)?;
            (year, salary) = (year + 1, salary + random.below(4000));
        }
        left -= count;
        if left == 0 {
            break;
        }
    }
    employees.flush(execute)?;
    salaries.flush(execute)?;
    execute("ANALYZE TABLE employees, salaries")
}

fn load_groups(run: &Run, execute: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    for bytes in GROUP_BYTES {
        let table = format!("group_{bytes}");
        execute(&format!("DROP TABLE IF EXISTS {table}"))?;
        execute(&format!(
            "CREATE TABLE {table} (uniqe INT, col1 VARCHAR(10), col2 VARCHAR(2048)) ENGINE = InnoDB"
        ))?;
        let mut rows = Rows::into(&table);
        for number in 0..run.table_rows.div_ceil(4) {
            let letter = char::from(b'a' + (number % 26) as u8);
            rows.add(&format!("({number},'c{}',REPEAT('{letter}',{bytes}))", number % 1000), execute)?;
        }
        rows.flush(execute)?;
    }
    Ok(())
}

/// Rows on their way into a table.
struct Rows {
    text: String,
    head: String,
    count: usize,
}

impl Rows {
    fn into(table: &str) -> Rows {
        let head = format!("INSERT INTO {table} VALUES ");
        Rows { text: head.clone(), head, count: 0 }
    }

    fn add(&mut self, row: &str, execute: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        if self.count > 0 {
            self.text.push(',');
        }
        self.text.push_str(row);
        self.count += 1;
        if self.count == ROWS_A_STATEMENT { self.flush(execute) } else { Ok(()) }
    }

    fn flush(&mut self, execute: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        if self.count > 0 {
            execute(&self.text)?;
        }
        (self.text, self.count) = (self.head.clone(), 0);
        Ok(())
    }
}

/// A word of this number of two-letter syllables.
fn name(random: &mut Random, syllables: usize) -> String {
    let syllable = |random: &mut Random| {
        ["ba", "ce", "di", "fo", "gu", "ha", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu"][random.below(14)]
    };
    (0..syllables).map(|_| syllable(random)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_salary_for_each_row_of_a_sysbench_table_and_no_key_twice() {
        let run = Run { table_rows: 2500, ..Run::default() };
        let mut statements = Vec::new();
        let mut keep = |statement: &str| {
            statements.push(statement.to_owned());
            Ok(())
        };
        load(Data::Employees, &run, &mut keep).unwrap();
        let of = |table: &str| -> Vec<String> {
            let head = format!("INSERT INTO {table} VALUES (");
            let rows = statements.iter().filter_map(|s| s.strip_prefix(&head));
            rows.flat_map(|rows| rows.trim_end_matches(')').split("),(").map(str::to_owned)).collect()
        };
        let salaries = of("salaries");
        let keys: std::collections::BTreeSet<(&str, &str)> = salaries
            .iter()
            .map(|row| {
                let fields: Vec<&str> = row.split(',').collect();
                (fields[0], fields[2])
            })
            .collect();
        assert_eq!((salaries.len(), keys.len()), (2500, 2500));
        assert!((200..400).contains(&of("employees").len()));
        statements.clear();
    }
}
