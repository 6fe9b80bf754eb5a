//! The planner's rules are a list, of which the optional ones may be left out: the answers stay the same. An
//! answer that changes names the rule that broke it.
//!
//! The servers are in this process, all over one engine: each plans by another list.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "test code that prints its counts")]

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use engine::{Engine, EngineConfig};
use env::SimDisk;
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use server::account::MemoryStore;
use server::connection;
use server::options::{Invocation, Options};
use server::server::Server;
use server::server_log::ServerLog;
use server::stream::Stream;
use sql::{RULES, Rule};
use testkit::access::file;
use testkit::differential::dice::{Dice, as_text};
use testkit::differential::query;
use testkit::differential::schema::Table;
use testkit::server::of_build;

const DATADIR: &str = "/data";
/// Rows of the largest tables: enough that the planner asks for statistics, few enough for joins by nested
/// scans.
const ROWS: u32 = 1_200;
/// What joins without rules would need long for is left out.
const STATEMENT_MS_MAX: u32 = 400;
/// The error of a statement that takes too long.
const TIMEOUT: u16 = 3024;
/// Errors of expressions: the order in which tables are joined decides whether they are evaluated.
const EVALUATED: [u16; 2] = [1242, 1690];
/// Rules whose work a plan does not show: what they compute is computed once.
const UNSEEN: [&str; 1] = ["keep"];

/// Queries for which rules change the plan that change none of the access suite's.
const AT_WORK: [&str; 16] = [
    "SELECT id FROM t WHERE 1 + 1 = 2 AND a = 5 AND c = 5",
    "SELECT id FROM t WHERE a = 5 AND b < 3 ORDER BY 7 + 1, id LIMIT 4",
    "SELECT id, c FROM u ORDER BY NULL, c, id",
    "SELECT * FROM (SELECT a, c, COUNT(*) FROM t GROUP BY a, c) AS d WHERE d.a = 5",
    "SELECT c, id FROM t FORCE INDEX (a) WHERE a > 0",
    "SELECT t.id, u.id FROM t JOIN u ON t.c = u.c WHERE t.id < 200",
    "SELECT id FROM t WHERE a = 5 OR a = 7",
    "SELECT c FROM t WHERE a > 9 AND b BETWEEN 3 AND 5",
    "SELECT c FROM t WHERE a = 5 AND b = 7",
    "SELECT t.id FROM u LEFT JOIN t ON t.id = u.a WHERE t.b > 5",
    "SELECT a, COUNT(*) FROM t GROUP BY a HAVING MAX(b) > (SELECT MIN(c) FROM u) AND COUNT(*) > 1",
    "SELECT d FROM t WHERE c = 7 AND b IN (SELECT x.b + 1 FROM t AS x WHERE x.d = 3)",
    "SELECT c FROM t WHERE b IN (SELECT id FROM u WHERE id < 2) AND a IN (SELECT id FROM u WHERE id < 20)",
    "SELECT c FROM t WHERE d IN (SELECT c FROM u WHERE u.a = t.a) AND id < 50",
    "SELECT c FROM w WHERE (a, b) IN ((3, 1), (3, 7), (90, 4), (3, 1)) ORDER BY c",
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.c = t.c AND u.a <> t.a)",
];

fn open() -> Arc<Engine> {
    let config =
        EngineConfig { pool_bytes: 64 << 20, ..EngineConfig::new(Arc::new(SimDisk::new()), DATADIR) };
    Engine::open(config).unwrap()
}

/// A connection to a server over `engine` that plans by `rules`.
fn connect(engine: &Arc<Engine>, rules: Vec<Rule>) -> Conn {
    let Ok(Invocation::Serve(mut options)) = Options::parse(&[format!("--datadir={DATADIR}")]) else {
        panic!("no options to serve with");
    };
    options.planner_rules = rules.leak();
    let log = ServerLog::to_stderr();
    let server = Server::new(*options, Arc::clone(engine), Box::new(MemoryStore), log).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let builder = thread::Builder::new().stack_size(connection::STACK_BYTES);
    let serve = move || connection::serve(&server, Stream::from(listener.accept().unwrap().0));
    builder.spawn(serve).unwrap();
    let opts = OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(port);
    let mut conn = Conn::new(opts.prefer_socket(false).user(Some("root"))).unwrap();
    conn.query_drop(format!("SET max_execution_time = {STATEMENT_MS_MAX}")).unwrap();
    conn
}

fn is_optional(rule: &&Rule) -> bool {
    rule.is_optional()
}

/// The first `count` optional rules and all that are needed.
fn first(count: usize) -> Vec<Rule> {
    let last = RULES.iter().filter(is_optional).nth(count).map_or("", Rule::name);
    let stop = RULES.iter().position(|rule| rule.name() == last).unwrap_or(RULES.len());
    let (before, behind) = RULES.split_at(stop);
    before.iter().chain(behind.iter().filter(|rule| !rule.is_optional())).copied().collect()
}

/// All rules but `left_out`.
fn without(left_out: &Rule) -> Vec<Rule> {
    RULES.iter().filter(|rule| rule.name() != left_out.name()).copied().collect()
}

/// A server, and the list of rules that it plans by.
struct Planner {
    /// The rule that the one before has not; where all but one are in the list, that one.
    rule: &'static str,
    /// What is in the list, in words.
    list: String,
    conn: Conn,
}

/// Servers with ever more rules, and others.
struct Steps {
    planners: Vec<Planner>,
    /// Rules without which some plan was another one.
    seen: BTreeSet<&'static str>,
    compared: usize,
    /// Answers that took too long.
    slow: usize,
}

/// The rows of an answer in the order of their texts, or the error; `None`: it takes too long.
fn answer(conn: &mut Conn, sql: &str) -> Option<Vec<String>> {
    match conn.query::<mysql::Row, _>(sql) {
        Ok(rows) => {
            let mut rows: Vec<String> = rows.into_iter().map(|row| format!("{:?}", row.unwrap())).collect();
            rows.sort_unstable();
            Some(rows)
        }
        Err(mysql::Error::MySqlError(error))
            if [TIMEOUT].iter().chain(&EVALUATED).any(|code| *code == error.code) =>
        {
            None
        }
        Err(error) => Some(vec![error.to_string()]),
    }
}

/// A query without its last LIMIT, if that is the whole query's.
fn without_limit(sql: &str) -> Option<&str> {
    sql.rsplit_once(" LIMIT ").filter(|(_, tail)| !tail.contains(')')).map(|(whole, _)| whole)
}

/// Whether `all` has the sorted rows `some`, each as often.
fn is_part(some: &[String], all: &[String]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|row| rest.any(|other| other == row))
}

impl Steps {
    fn new(engine: &Arc<Engine>) -> Steps {
        let optional: Vec<&Rule> = RULES.iter().filter(is_optional).collect();
        let planner = |count: usize| {
            let rule = if count == 0 { "" } else { optional[count - 1].name() };
            let list = format!("the rules up to {rule:?} give another answer than those before");
            Planner { rule, list, conn: connect(engine, first(count)) }
        };
        let planners = (0..=optional.len()).map(planner).collect();
        Steps { planners, seen: BTreeSet::new(), compared: 0, slow: 0 }
    }

    /// Adds servers that plan by all rules but one.
    fn add_without(&mut self, engine: &Arc<Engine>) {
        for rule in RULES.iter().filter(is_optional) {
            let list = format!("all rules but {} give another answer than all", rule.name());
            self.planners.push(Planner { rule: rule.name(), list, conn: connect(engine, without(rule)) });
        }
    }

    fn go_to(&mut self, schema: &str) {
        for planner in &mut self.planners {
            planner.conn.query_drop(format!("USE {schema}")).unwrap();
        }
    }

    /// Has every server answer `sql`.
    ///
    /// # Panics
    /// If an answer is not the one before: says by which list of rules.
    fn compare(&mut self, sql: &str) {
        let (mut known, mut plan_before) = (None, None);
        for Planner { rule, list, conn } in &mut self.planners {
            let plan: Vec<String> = conn.query(format!("EXPLAIN FORMAT=TREE {sql}")).unwrap_or_default();
            if plan_before.as_ref().is_some_and(|before| *before != plan) {
                self.seen.insert(rule);
            }
            plan_before = Some(plan);
            let Some(answer) = answer(conn, sql) else {
                self.slow += 1;
                continue;
            };
            self.compared += 1;
            let known = known.get_or_insert_with(|| answer.clone());
            if *known != answer
                && let Some(whole) = without_limit(sql)
            {
                // Rows with equal ORDER BY keys may come in any order, so LIMIT may choose any of them.
                let all = self::answer(conn, whole).unwrap_or_default();
                let are_rows = answer.len() == known.len() && is_part(&answer, &all) && is_part(known, &all);
                assert!(are_rows, "{list}: {sql}\n{answer:?} and {known:?} of {all:?}\n{plan_before:#?}");
                continue;
            }
            assert_eq!(*known, answer, "{list}: {sql}\n{plan_before:#?}");
        }
    }
}

/// Makes the schema of the access suite's file `name`, with at most [`ROWS`] rows a table, and returns its
/// queries.
fn load(conn: &mut Conn, path: &Path) -> (String, Vec<String>) {
    let parsed = file::parse(&fs::read_to_string(path).unwrap()).unwrap();
    let schema = format!("rules_{}", path.file_stem().unwrap().to_str().unwrap());
    conn.query_drop(format!("CREATE DATABASE {schema}")).unwrap();
    conn.query_drop(format!("USE {schema}")).unwrap();
    for sql in parsed.setup.iter().filter(|sql| !sql.starts_with('#')) {
        conn.query_drop(sql.replace("FROM numbers", "FROM rules.numbers"))
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let queries = parsed.queries.into_iter().map(|query| query.sql).filter(|sql| sql.starts_with("SELECT"));
    (schema, queries.collect())
}

fn make_numbers(conn: &mut Conn) {
    let numbers: Vec<String> = (0..ROWS).map(|n| format!("({n})")).collect();
    for sql in [
        "CREATE DATABASE rules".to_owned(),
        "CREATE TABLE rules.numbers (n INT PRIMARY KEY)".to_owned(),
        format!("INSERT INTO rules.numbers VALUES {}", numbers.join(",")),
    ] {
        conn.query_drop(sql).unwrap();
    }
}

/// Tables that are larger, for rules that are for these alone.
fn make_more(conn: &mut Conn) {
    for sql in [
        "CREATE TABLE rules.t (id INT PRIMARY KEY, a INT, b INT NOT NULL, c INT, d INT, KEY a (a), KEY b (b), KEY cb (c, b))",
        "CREATE TABLE rules.u (id INT PRIMARY KEY, a INT, c INT)",
        "INSERT INTO rules.t SELECT x.n * 5 + y.n, x.n % 12, (x.n * 5 + y.n) * 7 % 13, x.n % 50, y.n \
         FROM rules.numbers x, rules.numbers y WHERE y.n < 5",
        "INSERT INTO rules.u SELECT n, n % 40, n % 7 FROM rules.numbers WHERE n < 80",
        "CREATE TABLE rules.w (a INT, b INT, c INT, PRIMARY KEY (a, b))",
        "INSERT INTO rules.w SELECT id DIV 9, id % 9, c FROM rules.t",
    ] {
        conn.query_drop(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

#[test]
fn no_rule_changes_an_answer_of_the_access_suite() {
    let engine = open();
    let mut steps = Steps::new(&engine);
    let mut conn = connect(&engine, RULES.to_vec());
    make_numbers(&mut conn);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/access");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut queries_run = 0;
    for path in paths {
        let (schema, queries) = load(&mut conn, &path);
        steps.go_to(&schema);
        for sql in queries.iter().skip(queries_run % 3).step_by(of_build(3, 1)) {
            steps.compare(sql);
            queries_run += 1;
        }
    }
    make_more(&mut conn);
    steps.go_to("rules");
    for sql in AT_WORK {
        steps.compare(sql);
    }
    println!("{queries_run} queries, {} answers, {} too slow", steps.compared, steps.slow);
    assert!(steps.slow * 10 < steps.compared);
    let all = RULES.iter().filter(is_optional).map(Rule::name);
    let unseen: Vec<&str> = all.filter(|name| !steps.seen.contains(name)).collect();
    assert_eq!(unseen, UNSEEN, "rules that were at work in no plan");
}

#[test]
fn no_rule_changes_an_answer_of_a_random_query() {
    let engine = open();
    let mut steps = Steps::new(&engine);
    steps.add_without(&engine);
    let mut conn = connect(&engine, RULES.to_vec());
    for seed in 0..of_build(10, 60) {
        let dice = &mut Dice::new(seed as u64);
        let schema = format!("rules_{seed}");
        conn.query_drop(format!("CREATE DATABASE {schema}")).unwrap();
        conn.query_drop(format!("USE {schema}")).unwrap();
        let tables: Vec<Table> = (0..3).map(|at| Table::random(dice, format!("t{at}"))).collect();
        let made = |table: &Table| conn.query_drop(as_text(table.create())).is_ok();
        let tables: Vec<Table> = tables.into_iter().filter(made).collect();
        for table in &tables {
            for _ in 0..12 {
                let sql = format!("INSERT IGNORE INTO {} VALUES {}", table.name, table.row(dice));
                conn.query_drop(as_text(&sql)).unwrap_or_default();
            }
        }
        steps.go_to(&schema);
        for _ in 0..if tables.is_empty() { 0 } else { 30 } {
            steps.compare(&as_text(&query::random(dice, &tables).sql));
        }
    }
    println!("{} answers, {} too slow", steps.compared, steps.slow);
}
