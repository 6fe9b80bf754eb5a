//! The workloads by name: what sysbench runs for each.
//!
//! Names and shapes are those of the "Small Datum" articles. Those with `.pre` run on freshly loaded tables, before any
//! row is written; the same shapes run again after the writes. All use prepared statements.

/// Whether a workload changes rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only reads.
    Read,
    /// Writes; measured at each of the configured durability settings.
    Write,
    /// Writes that use the tables up (deletes) or make them grow: tables are loaded anew before each cell, so that all
    /// targets meet the same ones.
    Consume,
}

/// A sysbench script and its options.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name in configuration, journal and report.
    pub name: String,
    /// What it does to the tables.
    pub kind: Kind,
    /// One of sysbench's own scripts, or none for the lab's.
    pub stock: Option<&'static str>,
    /// Options for the script.
    pub options: Vec<String>,
}

impl Workload {
    fn stock(name: &str, kind: Kind, script: &'static str, options: &[&str]) -> Self {
        let options =
            std::iter::once("--rand-type=uniform").chain(options.iter().copied()).map(String::from).collect();
        Workload { name: name.to_owned(), kind, stock: Some(script), options }
    }

    fn micro(name: &str, kind: Kind, options: &[&str]) -> Self {
        Workload { stock: None, ..Workload::stock(name, kind, "", options) }
    }
}

/// All workloads, in the order in which they are run: reads of loaded tables, writes, reads again, what uses tables up.
pub fn catalogue() -> Vec<Workload> {
    let mut all = reads(".pre");
    all.extend(writes());
    all.extend(reads(""));
    all.push(Workload::micro("scan", Kind::Read, &["--shape=scan"]));
    all.push(Workload::micro("hot-points", Kind::Read, &["--shape=points", "--hot=on"]));
    all.push(Workload::stock("delete", Kind::Consume, "oltp_delete", &[]));
    all.push(Workload::stock("insert", Kind::Consume, "oltp_insert", &[]));
    all
}

fn reads(suffix: &str) -> Vec<Workload> {
    let mut all =
        vec![Workload::stock(&format!("point-query{suffix}"), Kind::Read, "oltp_point_select", &[])];
    for n in [10, 100, 1000] {
        let options = ["--shape=points", &format!("--n={n}")];
        all.push(Workload::micro(&format!("random-points{suffix}_range={n}"), Kind::Read, &options));
    }
    for n in [10, 100, 10000] {
        let name = format!("read-only{suffix}_range={n}");
        all.push(Workload::stock(&name, Kind::Read, "oltp_read_only", &[&format!("--range-size={n}")]));
    }
    for shape in ["points", "range"] {
        for (column, index) in [("id", "pk"), ("k", "si")] {
            for (covered, columns) in [("covered", column.to_owned()), ("notcovered", format!("{column},c"))]
            {
                let name = format!("{shape}-{covered}-{index}{suffix}");
                let options = [
                    &format!("--shape={shape}")[..],
                    &format!("--column={column}"),
                    &format!("--cols={columns}"),
                ];
                all.push(Workload::micro(&name, Kind::Read, &options));
            }
        }
    }
    all
}

fn writes() -> Vec<Workload> {
    let write = |name, script, options: &[&str]| Workload::stock(name, Kind::Write, script, options);
    vec![
        Workload::micro("update-inlist", Kind::Write, &["--shape=update-inlist", "--n=100"]),
        write("update-index", "oltp_update_index", &[]),
        write("update-nonindex", "oltp_update_non_index", &[]),
        write("update-one", "oltp_update_non_index", &["--table-size=1"]),
        Workload::micro("update-zipf", Kind::Write, &["--shape=update-inlist", "--n=1", "--zipf=0.8"]),
        write("write-only_range=10000", "oltp_write_only", &[]),
        write("read-write_range=10", "oltp_read_write", &["--range-size=10"]),
        write("read-write_range=100", "oltp_read_write", &["--range-size=100"]),
    ]
}

/// Whether a name is meant by a pattern, in which `*` stands for any text.
pub fn is_meant(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| {
            (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| is_meant(&rest[at..], tail))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_articles_42_workloads_are_there_once() {
        let mut names: Vec<String> = catalogue().into_iter().map(|w| w.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!((names.len(), count), (42, 42));
    }

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(
            is_meant("update-index", "update-*") && is_meant("update-index", "*") && is_meant("scan", "scan")
        );
        assert!(
            is_meant("points-covered-si.pre", "points-*-si*")
                && !is_meant("points-covered-pk", "points-*-si*")
        );
        assert!(!is_meant("scan", "sca") && !is_meant("insert", "update-*"));
    }
}
