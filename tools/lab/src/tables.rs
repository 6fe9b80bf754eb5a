//! The tables: sysbench's, filled the same on every server.
//!
//! sysbench's own loader does not give the same rows twice, so that answers could not be compared.

use mysql::prelude::Queryable;

use crate::config::Run;
use crate::error::Result;
use crate::reference_workloads;
use crate::stats::Random;
use crate::target::Target;
use crate::workload::{Data, Workload};

/// Rows an INSERT statement carries.
const ROWS_A_STATEMENT: usize = 1000;

/// Drops and makes the database and sysbench's tables in it. `each` is told now and then how much of the rows
/// there are, in per cent; its error ends the load.
pub fn load(target: &Target, run: &Run, each: &mut dyn FnMut(usize) -> Result<()>) -> Result<()> {
    let database = &run.database;
    target.execute(&[
        format!("DROP DATABASE IF EXISTS {database}"),
        format!("CREATE DATABASE {database} CHARACTER SET utf8mb4"),
    ])?;
    reload(target, run, each)
}

/// Drops and makes sysbench's tables, fills them, makes their secondary indexes, and reads all of it once.
pub fn reload(target: &Target, run: &Run, each: &mut dyn FnMut(usize) -> Result<()>) -> Result<()> {
    let mut connection = target.connect()?;
    let mut execute = |statement: &str| connection.query_drop(statement).map_err(|e| target.refused(&e));
    execute(&format!("USE {}", run.database))?;
    for t in 1..=run.tables {
        execute(&format!("DROP TABLE IF EXISTS sbtest{t}"))?;
        execute(&format!(
            "CREATE TABLE sbtest{t} (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, \
             c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) ENGINE = InnoDB"
        ))?;
        let mut random = Random(run.seed.wrapping_mul(1000).wrapping_add(t as u64));
        let mut left = run.table_rows;
        while left > 0 {
            let count = left.min(ROWS_A_STATEMENT);
            execute(&insert(t, count, run.table_rows, &mut random))?;
            left -= count;
            each((t * run.table_rows - left) * 100 / (run.tables * run.table_rows))?;
        }
        execute(&format!("CREATE INDEX k_{t} ON sbtest{t} (k)"))?;
        execute(&format!("SELECT COUNT(*) FROM sbtest{t} WHERE pad = 'x'"))?;
        execute(&format!("SELECT SUM(k) FROM sbtest{t} WHERE k >= 0"))?;
    }
    Ok(())
}

/// Makes another data set in the database.
pub fn load_data(target: &Target, run: &Run, data: Data, each: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    let mut connection = target.connect()?;
    let mut execute = |statement: &str| {
        each()?;
        connection.query_drop(statement).map_err(|e| target.refused(&e))
    };
    execute(&format!("USE {}", run.database))?;
    reference_workloads::load(data, run, &mut execute)
}

/// What precedes a cell of this workload, on tables of this number.
pub fn before(workload: &Workload, run: &Run) -> Vec<String> {
    let of_tables = workload.before.iter().flat_map(|statement| {
        let tables = if statement.contains("{t}") { run.tables } else { 1 };
        (1..=tables).map(move |t| statement.replace("{t}", &t.to_string()))
    });
    std::iter::once(format!("USE {}", run.database)).chain(of_tables).collect()
}

/// The next rows of a table. `k` is uniform over the ids; texts are groups of digits, as sysbench's.
fn insert(table: usize, count: usize, rows: usize, random: &mut Random) -> String {
    let mut text = format!("INSERT INTO sbtest{table} (k, c, pad) VALUES ");
    for row in 0..count {
        if row > 0 {
            text.push(',');
        }
        let k = random.below(rows) + 1;
        text.push_str(&format!("({k},'{}','{}')", digits(10, random), digits(5, random)));
    }
    text
}

/// This number of groups of eleven digits, separated by hyphens.
fn digits(groups: usize, random: &mut Random) -> String {
    let group = |random: &mut Random| format!("{:011}", random.bits() % 100_000_000_000);
    (0..groups).map(|_| group(random)).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_rows() {
        let of = |seed| insert(1, 3, 100, &mut Random(seed));
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
        let text = of(7);
        assert_eq!((text.matches("),(").count(), digits(10, &mut Random(1)).len()), (2, 119));
        assert!(text.starts_with("INSERT INTO sbtest1 (k, c, pad) VALUES ("), "{text}");
    }
}
