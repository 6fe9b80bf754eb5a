//! The workloads by name: what sysbench runs for each.
//!
//! Names and shapes are those of the "Small Datum" articles. Those with `.pre` run on freshly loaded tables,
//! before any row is written; the same shapes run again after the writes. All use prepared statements.

/// Whether a workload changes rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only reads.
    Read,
    /// Writes; measured at each of the configured durability settings.
    Write,
    /// Writes that use the tables up (deletes) or make them grow: tables are loaded again before each cell,
    /// so that all targets meet the same ones.
    Consume,
}

/// Tables beside sysbench's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Data {
    /// None.
    Sbtest,
    /// `employees` and `salaries`.
    Employees,
    /// `group_1`, `group_1024` and `group_2048`: a VARCHAR(2048) of which this number of bytes is used.
    Groups,
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
    /// Tables beside sysbench's own that it reads.
    pub data: Data,
    /// What is done to freshly loaded tables before each cell; `{t}` stands for the number of each table in
    /// turn.
    pub before: Vec<&'static str>,
}

impl Workload {
    fn stock(name: &str, kind: Kind, script: &'static str, options: &[&str]) -> Self {
        let options =
            std::iter::once("--rand-type=uniform").chain(options.iter().copied()).map(String::from).collect();
        Workload {
            name: name.to_owned(),
            kind,
            stock: Some(script),
            options,
            data: Data::Sbtest,
            before: Vec::new(),
        }
    }

    fn micro(name: &str, kind: Kind, options: &[&str]) -> Self {
        Workload { stock: None, ..Workload::stock(name, kind, "", options) }
    }

    fn statement(name: &str, kind: Kind, sql: &str, options: &[&str]) -> Self {
        let sql = format!("--sql={sql}");
        let all: Vec<&str> = ["--shape=statement", &sql].into_iter().chain(options.iter().copied()).collect();
        Workload::micro(name, kind, &all)
    }

    /// Whether it reads sysbench's tables as the writes have left them.
    pub fn reads_written_tables(&self) -> bool {
        self.kind == Kind::Read && self.data == Data::Sbtest && !self.name.contains(".pre")
    }

    fn of(self, data: Data) -> Self {
        Workload { data, ..self }
    }

    fn after(self, before: Vec<&'static str>) -> Self {
        Workload { before, ..self }
    }
}

/// All workloads, in the order in which they are run: reads of loaded tables, writes, reads again, what uses
/// tables up.
pub fn catalogue() -> Vec<Workload> {
    let mut all = reads(".pre");
    all.extend(writes());
    all.extend(reads(""));
    all.push(Workload::micro("scan", Kind::Read, &["--shape=scan"]));
    all.push(Workload::micro("hot-points", Kind::Read, &["--shape=points", "--hot=on"]));
    all.push(Workload::stock("delete", Kind::Consume, "oltp_delete", &[]));
    all.push(Workload::stock("insert", Kind::Consume, "oltp_insert", &[]));
    all.extend(reference_workloads());
    all
}

/// The reference workloads: those of the reports of regressions that this project began with.
pub fn reference_workloads() -> Vec<Workload> {
    let mut all = vec![
        Workload::statement("employees-join", Kind::Read, EMPLOYEES_JOIN, &[]).of(Data::Employees),
        Workload::statement("employees-sum", Kind::Read, EMPLOYEES_SUM, &[]).of(Data::Employees),
        Workload::statement(
            "index-build",
            Kind::Consume,
            "ALTER TABLE sbtest{table} ADD INDEX c_{thread} (c)",
            &["--undo=ALTER TABLE sbtest{table} DROP INDEX c_{thread}"],
        ),
        Workload::statement("clustered-rebuild", Kind::Consume, "ALTER TABLE sbtest{table} FORCE", &[]),
        Workload::micro("insert-rows_n=1000", Kind::Consume, &["--shape=insert-rows", "--n=1000"])
            .after(vec!["DROP TABLE IF EXISTS bulk", CREATE_BULK]),
    ];
    for bytes in GROUP_BYTES {
        let name = format!("group-by_bytes={bytes}");
        let query = format!("SELECT col1 FROM group_{bytes} GROUP BY col2, uniqe LIMIT 1");
        // Rows are grouped by more than is selected.
        let all_modes_off = "--init=SET SESSION sql_mode = ''";
        all.push(Workload::statement(&name, Kind::Read, &query, &[all_modes_off]).of(Data::Groups));
    }
    all.push(Workload::micro("join", Kind::Consume, &["--shape=join"]));
    for (change, statement) in [
        ("add-column", "ALTER TABLE sbtest{t} ADD COLUMN x INT DEFAULT 7"),
        ("drop-column", "ALTER TABLE sbtest{t} DROP COLUMN pad"),
    ] {
        let name = |what: &str| format!("{what}_after={change}");
        for shape in ["scan", "join"] {
            let options = [&format!("--shape={shape}")[..]];
            all.push(Workload::micro(&name(shape), Kind::Consume, &options).after(vec![statement]));
        }
        let update = Workload::stock(&name("update-index"), Kind::Consume, "oltp_update_index", &[]);
        all.push(update.after(vec![statement]));
    }
    all
}

/// Bytes used of `group_N.col2`.
pub const GROUP_BYTES: [usize; 3] = [1, 1024, 2048];

const EMPLOYEES_JOIN: &str =
    "SELECT * FROM employees AS e LEFT JOIN salaries AS s ON e.emp_no = s.emp_no LIMIT 1000000";
const EMPLOYEES_SUM: &str =
    "SELECT COUNT(*), SUM(s.salary) FROM employees AS e JOIN salaries AS s ON e.emp_no = s.emp_no";
const CREATE_BULK: &str = "CREATE TABLE bulk (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL DEFAULT 0, \
     c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', KEY k (k))";

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
    fn the_articles_42_workloads_and_the_reference_ones_are_there_once() {
        let mut names: Vec<String> = catalogue().into_iter().map(|w| w.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!((names.len(), count), (57, 57));
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
