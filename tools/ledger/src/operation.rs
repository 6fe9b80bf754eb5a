//! The operations of the ledger: statements, how often they run, and what one unit of them is.

use std::sync::LazyLock;

use base::prng::Prng;

use crate::client::Param;
use crate::data::{Spread, c_text, pad_text};
use crate::tables::{ITEMS, ROWS, WAREHOUSES};

mod background;
mod whole_tables;

pub(crate) use background::{Work, settle};

/// Rows of one multi-row INSERT.
const BULK_ROWS: u64 = 500;

/// One line of the ledger.
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    /// Name of the line.
    pub(crate) name: &'static str,
    /// What is asked.
    pub(crate) request: Request,
    /// Executions that are counted.
    pub(crate) executions: u32,
    /// What the counts are divided by.
    pub(crate) unit: Unit,
    /// Statements, not counted, before each series of executions.
    pub(crate) before: &'static [&'static str],
    /// Statements, not counted, after it.
    pub(crate) after: &'static [&'static str],
    /// What is counted in place of the executions: work that they leave to background threads.
    pub(crate) work: Option<Work>,
}

/// A statement, with new values for each execution.
#[derive(Clone, Copy)]
pub(crate) enum Request {
    /// COM_PING: what every command costs.
    Ping,
    /// COM_QUERY.
    Text(fn(&mut Draw) -> String),
    /// COM_STMT_EXECUTE.
    Prepared(&'static str, fn(&mut Draw) -> Vec<Param>),
    /// COM_QUERY of a LOAD DATA LOCAL, and the file's text.
    Load(&'static str, fn(&mut Draw) -> String),
}

/// What a line's figures are per.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    /// Execution.
    Statement,
    /// Row of the answer.
    SentRow,
    /// Row of the answer to this query, which names the rows that are read.
    RowOf(&'static str),
    /// Rows per execution.
    Rows(u64),
    /// What the background work counts.
    Work,
}

/// The source of a statement's values: one for each operation.
pub(crate) struct Draw {
    prng: Prng,
    spread: Spread,
}

impl Draw {
    /// `seed` fixes all values.
    pub(crate) fn new(seed: u64) -> Self {
        Draw { prng: Prng::new(seed), spread: Spread::new(seed, ROWS) }
    }

    /// An id of `sbtest1`.
    fn id(&mut self) -> i32 {
        1 + self.prng.below(ROWS) as i32
    }

    /// The first of a hundred ids of `sbtest1`.
    fn range(&mut self) -> Vec<Param> {
        let first = 1 + self.prng.below(ROWS - 100) as i32;
        vec![Param::Int(first), Param::Int(first + 99)]
    }

    /// The first and the last of ten ids of `sbtest1`.
    fn short_range(&mut self) -> [Param; 2] {
        let first = 1 + self.prng.below(ROWS - 10) as i32;
        [Param::Int(first), Param::Int(first + 9)]
    }

    /// An id of `sbtest2` (even) that was not drawn before.
    fn taken_id(&mut self) -> i32 {
        2 + 2 * self.spread.next() as i32
    }

    /// An id that is free in `sbtest2` (odd) and was not drawn before.
    fn free_id(&mut self) -> i32 {
        1 + 2 * self.spread.next() as i32
    }

    /// A name that was not drawn before.
    fn alias(&mut self) -> String {
        format!("q{:07}", self.spread.next())
    }

    /// Warehouse and item of a row of `stock`.
    fn stock_key(&mut self) -> (u64, u64) {
        (1 + self.prng.below(WAREHOUSES), 1 + self.prng.below(ITEMS))
    }

    /// Leaves ids of `sbtest2` to others.
    pub(crate) fn skip(&mut self, ids: u32) {
        for _ in 0..ids {
            self.spread.next();
        }
    }
}

/// All operations of one connection, readers before writers, work in the background at last.
pub(crate) fn all() -> Vec<Operation> {
    let mut operations = points();
    operations.extend(ranges());
    operations.extend(scans());
    operations.extend(writes());
    operations.extend(lists());
    operations.extend(plans());
    operations.extend(whole_tables::all());
    operations.extend(background::all());
    operations
}

fn of(name: &'static str, executions: u32, unit: Unit, request: Request) -> Operation {
    Operation { name, request, executions, unit, before: &[], after: &[], work: None }
}

fn each(name: &'static str, executions: u32, request: Request) -> Operation {
    of(name, executions, Unit::Statement, request)
}

fn points() -> Vec<Operation> {
    const POINT: &str = "SELECT c FROM sbtest1 WHERE id=?";
    vec![
        each("ping", 5_000, Request::Ping),
        each("select_1", 5_000, Request::Text(|_| "SELECT 1".to_owned())),
        each("point_select_prepared", 10_000, Request::Prepared(POINT, |draw| vec![Param::Int(draw.id())])),
        each(
            "point_select_text",
            10_000,
            Request::Text(|draw| format!("SELECT c FROM sbtest1 WHERE id={}", draw.id())),
        ),
    ]
}

fn ranges() -> Vec<Operation> {
    const PLAIN: &str = "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?";
    const DESCENDING: &str = "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY id DESC";
    const SUM: &str = "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?";
    vec![
        each("range_100", 2_000, Request::Prepared(PLAIN, Draw::range)),
        each("range_100_desc", 2_000, Request::Prepared(DESCENDING, Draw::range)),
        each("range_100_sum", 2_000, Request::Prepared(SUM, Draw::range)),
    ]
}

/// `count` times `unit`, separated by `between`.
fn repeated(unit: &str, count: usize, between: &str) -> String {
    vec![unit; count].join(between)
}

static IN_LIST: LazyLock<String> =
    LazyLock::new(|| format!("SELECT c FROM sbtest1 WHERE id IN ({})", repeated("?", 100, ", ")));
static ROW_IN: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT quantity FROM stock WHERE (w, i) IN ({})", repeated("(?, ?)", 10, ", "))
});
static OR_RANGES: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT SUM(k) FROM sbtest1 WHERE {}", repeated("id BETWEEN ? AND ?", 10, " OR "))
});

/// Several keys or stretches of an index by one statement.
fn lists() -> Vec<Operation> {
    const LIKE: &str = "SELECT name FROM stock WHERE name LIKE ?";
    const SEMI_JOIN: &str =
        "SELECT SUM(k) FROM sbtest1 WHERE id IN (SELECT ref FROM probe WHERE id BETWEEN ? AND ?)";
    vec![
        of(
            "in_list_100_row",
            500,
            Unit::Rows(100),
            Request::Prepared(&IN_LIST, |draw| (0..100).map(|_| Param::Int(draw.id())).collect()),
        ),
        each("row_in_10_point", 2_000, Request::Prepared(&ROW_IN, stock_keys)),
        each(
            "or_ranges_10",
            2_000,
            Request::Prepared(&OR_RANGES, |draw| (0..10).flat_map(|_| draw.short_range()).collect()),
        ),
        of(
            "like_prefix_row",
            50,
            Unit::SentRow,
            Request::Prepared(LIKE, |_| vec![Param::Text("bace%".to_owned())]),
        ),
        of("semi_join_lookup_row", 500, Unit::Rows(100), Request::Prepared(SEMI_JOIN, Draw::range)),
    ]
}

/// Ten items of one warehouse.
fn stock_keys(draw: &mut Draw) -> Vec<Param> {
    let warehouse = 1 + draw.prng.below(WAREHOUSES) as i32;
    let mut item = || Param::Int(1 + draw.prng.below(ITEMS) as i32);
    (0..10).flat_map(|_| [Param::Int(warehouse), item()]).collect()
}

/// New statements, of a kind that clients send again and again: parsed, planned, kept and run once.
fn plans() -> Vec<Operation> {
    vec![
        each("plan_point_text", 2_000, Request::Text(new_point)),
        each("plan_row_in_10_text", 2_000, Request::Text(new_list)),
    ]
}

fn new_point(draw: &mut Draw) -> String {
    let alias = draw.alias();
    let (w, i) = draw.stock_key();
    format!("SELECT quantity {alias}, name FROM stock WHERE w = {w} AND i = {i} FOR UPDATE")
}

fn new_list(draw: &mut Draw) -> String {
    let alias = draw.alias();
    let keys: Vec<String> = (0..10).map(|_| draw.stock_key()).map(|(w, i)| format!("({w},{i})")).collect();
    let keys = keys.join(",");
    format!("SELECT quantity {alias}, name FROM stock WHERE (w, i) IN ({keys}) FOR UPDATE")
}

fn scans() -> Vec<Operation> {
    let once = |name, unit, request| of(name, 1, unit, request);
    vec![
        once("scan_agg_row", Unit::Rows(ROWS), Request::Text(|_| "SELECT SUM(ref) FROM probe".to_owned())),
        once("scan_send_row", Unit::SentRow, Request::Text(|_| "SELECT * FROM sbtest1".to_owned())),
        once(
            "left_join_send_row",
            Unit::SentRow,
            Request::Text(|_| {
                "SELECT * FROM employees AS e LEFT JOIN salaries AS s ON e.emp_no = s.emp_no LIMIT 200000"
                    .to_owned()
            }),
        ),
        once(
            "eq_ref_row",
            Unit::RowOf("SELECT salary FROM salaries WHERE emp_no <= 30000"),
            Request::Text(|_| {
                "SELECT COUNT(*), MAX(e.hire_date) FROM salaries s STRAIGHT_JOIN employees e ON e.emp_no=s.emp_no \
                 WHERE s.emp_no <= 30000"
                    .to_owned()
            }),
        ),
        once(
            "eq_ref_random_row",
            Unit::Rows(200_000),
            Request::Text(|_| {
                "SELECT COUNT(*), SUM(t.k) FROM probe p STRAIGHT_JOIN sbtest1 t ON t.id = p.ref \
                 WHERE p.id <= 200000"
                    .to_owned()
            }),
        ),
    ]
}

/// What many clients do at once: durable updates of single rows.
pub(crate) fn group_commit() -> Operation {
    each("commit_16_clients", 500, Request::Prepared(NONINDEX, nonindex_update))
}

const NONINDEX: &str = "UPDATE sbtest2 SET c=? WHERE id=?";

fn nonindex_update(draw: &mut Draw) -> Vec<Param> {
    vec![Param::Text(c_text(&mut draw.prng)), Param::Int(draw.taken_id())]
}

fn writes() -> Vec<Operation> {
    const INDEX: &str = "UPDATE sbtest2 SET k=k+1 WHERE id=?";
    const INSERT: &str = "INSERT INTO sbtest2 (id, k, c, pad) VALUES (?, ?, ?, ?)";
    const DELETE: &str = "DELETE FROM sbtest2 WHERE id=?";
    vec![
        each("update_nonindex", 5_000, Request::Prepared(NONINDEX, nonindex_update)),
        each("update_index", 5_000, Request::Prepared(INDEX, |draw| vec![Param::Int(draw.taken_id())])),
        each("insert_1idx", 5_000, Request::Prepared(INSERT, new_row)),
        each("delete", 5_000, Request::Prepared(DELETE, |draw| vec![Param::Int(draw.taken_id())])),
        of("insert_500_row", 40, Unit::Rows(BULK_ROWS), Request::Text(bulk_insert)),
    ]
}

fn new_row(draw: &mut Draw) -> Vec<Param> {
    let k = draw.id();
    let (c, pad) = (c_text(&mut draw.prng), pad_text(&mut draw.prng));
    vec![Param::Int(draw.free_id()), Param::Int(k), Param::Text(c), Param::Text(pad)]
}

/// Ids come from AUTO_INCREMENT.
fn bulk_insert(draw: &mut Draw) -> String {
    let mut text = "INSERT INTO sbtest2 (k, c, pad) VALUES ".to_owned();
    for i in 0..BULK_ROWS {
        if i > 0 {
            text.push(',');
        }
        let k = draw.id();
        let (c, pad) = (c_text(&mut draw.prng), pad_text(&mut draw.prng));
        text.push_str(&format!("({k},'{c}','{pad}')"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_draws_one_sequence_of_distinct_ids() {
        let ids = |seed| {
            let mut draw = Draw::new(seed);
            (0..1000).map(|_| draw.free_id()).collect::<Vec<_>>()
        };
        assert_eq!(ids(3), ids(3));
        let mut sorted = ids(3);
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 1000);
        assert!(sorted.iter().all(|id| id % 2 == 1));
    }

    #[test]
    fn a_bulk_insert_fits_a_packet_and_holds_its_rows() {
        let text = bulk_insert(&mut Draw::new(1));
        assert_eq!(text.matches("),(").count() as u64, BULK_ROWS - 1);
        assert!(text.len() < 1 << 20);
    }
}
