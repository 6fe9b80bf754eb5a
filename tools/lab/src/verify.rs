//! Do all targets hold the same tables and answer the same?

use crate::error::Result;
use crate::reference_workloads;
use crate::target::Target;
use crate::workload::{Data, Kind, Workload};

/// Queries whose answers must agree before a workload's numbers are worth anything: what the tables hold, and
/// one of the shape that the workload asks, at keys spread over the table.
pub fn queries(workload: &Workload, tables: usize, rows: usize) -> Vec<String> {
    let mut all: Vec<String> = (1..=tables)
        .map(|t| format!("SELECT COUNT(*), SUM(id), SUM(k), MIN(c), MAX(pad), SUM(LENGTH(c)) FROM sbtest{t}"))
        .collect();
    all.extend(reference_workloads::queries(workload.data));
    if workload.kind != Kind::Read || workload.data != Data::Sbtest {
        return all;
    }
    let keys = [1, rows / 3 + 1, rows / 2 + 1, rows];
    let option = |name: &str| {
        let prefix = format!("--{name}=");
        workload.options.iter().find_map(|o| o.strip_prefix(&prefix)).map(str::to_owned)
    };
    let column = option("column").unwrap_or_else(|| "id".to_owned());
    let columns = option("cols").unwrap_or_else(|| "c".to_owned());
    let width: usize =
        option("n").or_else(|| option("range-size")).and_then(|n| n.parse().ok()).unwrap_or(100);
    for key in keys {
        let list = (0..10).map(|i| (key + i * 7).to_string()).collect::<Vec<_>>().join(",");
        all.push(format!("SELECT {columns} FROM sbtest1 WHERE {column} IN ({list}) ORDER BY id"));
        let upto = key + width;
        all.push(format!(
            "SELECT {columns} FROM sbtest1 WHERE {column} BETWEEN {key} AND {upto} ORDER BY id"
        ));
        all.push(format!("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN {key} AND {upto}"));
        all.push(format!("SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN {key} AND {upto} ORDER BY c"));
    }
    all
}

/// Asks all targets; tells of each that answers otherwise than the first which answers (the base, if it
/// does), or not at all, why.
pub fn differences(targets: &[&Target], database: &str, queries: &[String]) -> Vec<(String, String)> {
    let answers: Vec<Result<Vec<String>>> = targets.iter().map(|t| t.answers(database, queries)).collect();
    let expected = targets.iter().zip(&answers).find_map(|(target, got)| Some((target, got.as_ref().ok()?)));
    let why = |got: &Result<Vec<String>>| match (got, expected) {
        (Err(error), _) => Some(error.to_string()),
        (Ok(got), Some((first, expected))) => expected
            .iter()
            .zip(got)
            .position(|(e, g)| e != g)
            .map(|at| format!("answers otherwise than {}: {}", first.config.name, queries[at])),
        (Ok(_), None) => None,
    };
    targets
        .iter()
        .zip(&answers)
        .filter_map(|(target, got)| Some((target.config.name.clone(), why(got)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::catalogue;

    #[test]
    fn a_read_is_asked_in_its_own_shape() {
        let all = catalogue();
        let of = |name: &str| queries(all.iter().find(|w| w.name == name).unwrap(), 2, 1000);
        let asked = of("range-notcovered-si");
        assert!(
            asked.iter().any(|q| q == "SELECT k,c FROM sbtest1 WHERE k BETWEEN 334 AND 434 ORDER BY id"),
            "{asked:?}"
        );
        assert_eq!(of("update-index").len(), 2);
        assert!(of("employees-join")[2].contains("salaries"));
    }
}
