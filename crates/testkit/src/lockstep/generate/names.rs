//! Queries in which a name may mean an alias, a column of this query or of an outer one, or nothing.

use crate::differential::dice::Dice;
use crate::lockstep::case::{Case, Step};

/// Queries in a case.
const QUERIES: usize = 40;

/// Statements that make the tables of all queries.
pub(super) fn tables() -> Vec<String> {
    [
        "CREATE TABLE n1 (a INT PRIMARY KEY, b INT, c VARCHAR(10))",
        "CREATE TABLE n2 (a INT PRIMARY KEY, b INT NOT NULL, d DECIMAL(6,2), KEY (b))",
        "CREATE TABLE n3 (b INT, e INT, x INT, UNIQUE KEY (e))",
        "INSERT INTO n1 VALUES (1, 10, 'p'), (2, 20, 'q'), (3, 10, 'r'), (4, NULL, NULL)",
        "INSERT INTO n2 VALUES (1, 10, 1.50), (2, 30, 2.25), (3, 20, NULL), (5, 10, -1)",
        "INSERT INTO n3 VALUES (10, 1, 7), (20, 2, 8), (10, 3, NULL), (NULL, NULL, 9)",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Queries in the default sql_mode, or in one with other rules for names. All modes have ONLY_FULL_GROUP_BY:
/// without it, which row's value is beside an aggregate is each server's own affair.
pub(super) fn case(dice: &mut Dice) -> Case {
    let mut steps = Vec::new();
    if dice.percent(15) {
        steps.push(Step::text(
            "sql_mode",
            format!("SET sql_mode = '{}'", dice.pick(&["ANSI", "ONLY_FULL_GROUP_BY"])),
        ));
    }
    steps.extend((0..QUERIES).map(|_| {
        let mut generator = Query { dice: &mut *dice, topic: "select", scope: Vec::new(), keys: Vec::new() };
        let sql = generator.statement();
        Step::text(generator.topic, sql)
    }));
    Case { before: Vec::new(), steps, independent: true }
}

/// Names that stand for columns and aliases alike.
const NAMES: &[&str] = &["a", "b", "c", "d", "e", "x", "y", "a", "b", "x", "A", "`b`"];
const QUALIFIED: &[&str] =
    &["n1.a", "n1.b", "n2.a", "n2.b", "n3.b", "t.a", "t.b", "t.x", "n1.x", "N1.a", "n2.nosuch"];
const ALIASES: &[&str] = &["a", "b", "c", "d", "x", "y", "n1", "t", "`a b`", "'q'", "sum"];

struct Query<'d> {
    dice: &'d mut Dice,
    topic: &'static str,
    /// Names of the columns that the query at work has, and those of the queries around it.
    scope: Vec<String>,
    /// What the query at work is grouped by.
    keys: Vec<String>,
}

impl Query<'_> {
    fn statement(&mut self) -> String {
        match self.dice.below(12) {
            0 => {
                self.topic = "union";
                let first = self.block(1, 2);
                self.scope.clear();
                let second = self.block(1, 2);
                let order = self.order_by();
                format!("{first} {} {second}{order}", self.dice.pick(&["UNION", "UNION ALL"]))
            }
            1 => {
                self.topic = "with";
                let (inner, width) = (self.nested(2), 2);
                let columns = if self.dice.percent(40) { " (x, y)" } else { "" };
                let outer = self.block(1, width);
                let name = self.dice.pick(&["n1", "t", "n2"]);
                format!("WITH {name}{columns} AS ({inner}) {outer}")
            }
            _ => {
                let width = 1 + self.dice.below(3);
                let block = self.block(2, width);
                format!("{block}{}", self.order_by())
            }
        }
    }

    /// A query of `width` columns without ORDER BY; `depth` bounds its subqueries.
    fn block(&mut self, depth: usize, width: usize) -> String {
        let from = self.from(depth);
        self.scope.extend(columns_of(&from));
        let grouped = self.dice.percent(35);
        let outer = std::mem::take(&mut self.keys);
        if grouped {
            self.keys = (0..=self.dice.below(2)).map(|_| self.name()).collect();
        }
        let aggregates = self.dice.percent(if grouped { 40 } else { 8 });
        let item = |query: &mut Self| if aggregates { query.aggregate_item() } else { query.item(depth) };
        let mut items: Vec<String> = (0..width).map(|_| item(self)).collect();
        if self.dice.percent(4) {
            "*".clone_into(&mut items[0]);
        }
        let distinct = if self.dice.percent(8) { "DISTINCT " } else { "" };
        let mut sql = format!("SELECT {distinct}{} FROM {from}", items.join(", "));
        if self.dice.percent(35) {
            sql.push_str(&format!(" WHERE {}", self.condition(depth, false)));
        }
        let keys = std::mem::replace(&mut self.keys, outer);
        if grouped {
            let keys = if self.dice.percent(80) { keys } else { vec![self.key()] };
            sql.push_str(&format!(" GROUP BY {}", keys.join(", ")));
        }
        if self.dice.percent(if grouped { 45 } else { 12 }) {
            sql.push_str(&format!(" HAVING {}", self.condition(depth, true)));
        }
        sql
    }

    fn item(&mut self, depth: usize) -> String {
        let value = match self.dice.below(80) {
            0 => return self.dice.pick(&["n1.*", "t.*", "n2.*"]).to_owned(),
            1 | 2 => self.aggregate(),
            _ if !self.keys.is_empty() && self.dice.percent(85) => {
                self.keys[self.dice.below(self.keys.len())].clone()
            }
            _ => self.value(depth),
        };
        self.aliased(value)
    }

    fn aggregate_item(&mut self) -> String {
        let value = self.aggregate();
        self.aliased(value)
    }

    fn aliased(&mut self, value: String) -> String {
        match self.dice.below(5) {
            0..=2 => format!("{value} AS {}", self.dice.pick(ALIASES)),
            3 => format!("{value} {}", self.dice.pick(ALIASES)),
            _ => value,
        }
    }

    /// As [`Query::block`], within another query.
    fn nested(&mut self, width: usize) -> String {
        let outer = self.scope.len();
        let block = self.block(0, width);
        self.scope.truncate(outer);
        block
    }

    /// Mostly a column that there is, of this query rather than of those around it.
    fn name(&mut self) -> String {
        if !self.scope.is_empty() && self.dice.percent(96) {
            let near = self.scope.len().min(8);
            let from = if self.dice.percent(75) { self.scope.len() - near } else { 0 };
            let at = from + self.dice.below(self.scope.len() - from);
            let (name, after) = (&self.scope[at], self.scope.get(at + 1));
            let is_ambiguous = self.scope.iter().filter(|other| *other == name).count() > 1;
            // A column's name with its table follows its name alone.
            return match after.filter(|after| is_ambiguous && after.contains('.')) {
                Some(qualified) if self.dice.percent(80) => qualified.clone(),
                _ => name.clone(),
            };
        }
        let pool = if self.dice.percent(70) { NAMES } else { QUALIFIED };
        self.dice.pick(pool).to_owned()
    }

    fn value(&mut self, depth: usize) -> String {
        match self.dice.below(16) {
            0..=8 => self.name(),
            9 => format!("{} + 1", self.name()),
            10 => format!("-{}", self.name()),
            11 => format!("COALESCE({}, {})", self.name(), self.name()),
            12 => self.dice.pick(&["1", "'a'", "NULL", "2.5"]).to_owned(),
            _ if depth > 0 => self.scalar(depth - 1),
            _ => self.name(),
        }
    }

    fn aggregate(&mut self) -> String {
        let function = self.dice.pick(&["SUM", "COUNT", "MIN", "MAX"]);
        format!("{function}({})", self.name())
    }

    fn scalar(&mut self, depth: usize) -> String {
        self.topic = "subquery";
        let outer = self.scope.len();
        let from = self.dice.pick(&["n1", "n2", "n3", "n1 AS t", "n2 AS n1", "(SELECT 1 AS a, 2 AS b) AS t"]);
        self.scope.extend(columns_of(from));
        let is_one_row = self.dice.percent(60);
        let value = if is_one_row { self.aggregate() } else { self.name() };
        let condition = self.condition(depth, false);
        let end = match self.dice.below(4) {
            // The value decides among rows that the key does not distinguish.
            0 => format!(" ORDER BY {}, {value} LIMIT 1", self.key()),
            // The first of several rows is each server's own affair.
            1 if is_one_row => " LIMIT 1".to_owned(),
            2 => format!(" HAVING {}", self.condition(0, true)),
            _ => String::new(),
        };
        self.scope.truncate(outer);
        format!("(SELECT {value} FROM {from} WHERE {condition}{end})")
    }

    fn condition(&mut self, depth: usize, with_aggregates: bool) -> String {
        let left = if with_aggregates && self.dice.percent(40) { self.aggregate() } else { self.name() };
        match self.dice.below(10) {
            0..=3 => format!("{left} {} {}", self.dice.pick(&["=", "<", ">", "<>"]), self.name()),
            4..=6 => format!(
                "{left} {} {}",
                self.dice.pick(&["=", "<", ">"]),
                self.dice.pick(&["1", "10", "0", "'p'"])
            ),
            7 => format!("{left} IS NOT NULL"),
            8 if depth > 0 => {
                let block = self.nested(1);
                format!("{left} {} ({block})", self.dice.pick(&["IN", "NOT IN", "= ANY", "> ALL"]))
            }
            9 if depth > 0 => format!("EXISTS ({})", self.nested(1)),
            _ => format!("{left} = {}", self.name()),
        }
    }

    fn from(&mut self, depth: usize) -> String {
        match self.dice.below(14) {
            0..=3 => self.dice.pick(&["n1", "n2", "n3", "n1 AS t", "n1 x", "n2 AS n1"]).to_owned(),
            4 => self
                .dice
                .pick(&["n1, n2", "n1, n3", "n2 AS t, n3", "n1 AS a, n2 AS b", "n1, n1", "n1 t, n1"])
                .to_owned(),
            5 => self
                .dice
                .pick(&["n1 NATURAL JOIN n2", "n1 NATURAL LEFT JOIN n2", "n2 NATURAL JOIN n3"])
                .to_owned(),
            6 => format!("n1 JOIN n2 USING ({})", self.dice.pick(&["a", "b", "a, b", "a", "A"])),
            7 => format!("n1 LEFT JOIN n2 USING ({}) JOIN n3 USING (b)", self.dice.pick(&["a", "b", "a, b"])),
            8 | 9 => {
                let condition = self.join_condition();
                format!("n1 {} n2 ON {condition}", self.dice.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]))
            }
            10 => {
                let condition = self.join_condition();
                format!("n1 AS t JOIN n2 ON t.a = n2.a JOIN n3 ON {condition}")
            }
            11 if depth > 0 => format!("n1 JOIN ({}) AS t ON n1.a = t.a", self.derived()),
            12 if depth > 0 => format!("({}) AS t", self.derived()),
            13 if depth > 0 => format!("({}) AS t (x, y)", self.derived()),
            _ => "n1".to_owned(),
        }
    }

    fn join_condition(&mut self) -> String {
        match self.dice.below(5) {
            0 => self.condition(0, false),
            _ => self
                .dice
                .pick(&["n1.a = n2.a", "n1.b = n2.b", "n1.a < n2.b", "n2.a > 1", "a = n2.b", "c > d"])
                .to_owned(),
        }
    }

    fn derived(&mut self) -> String {
        self.topic = "derived";
        self.nested(2)
    }

    /// What may be in GROUP BY and ORDER BY.
    fn key(&mut self) -> String {
        match self.dice.below(10) {
            0 | 1 => self.dice.pick(&["1", "2", "3", "0", "-1"]).to_owned(),
            2 => format!("{} + 0", self.name()),
            3 => self.aggregate(),
            _ => self.name(),
        }
    }

    fn order_by(&mut self) -> String {
        if self.dice.percent(55) {
            return String::new();
        }
        let keys: Vec<String> = (0..=self.dice.below(2)).map(|_| self.key()).collect();
        format!(" ORDER BY {}{}", keys.join(", "), self.dice.pick(&["", " DESC"]))
    }
}

/// Columns of the tables in a FROM clause, by their names alone and with their table.
fn columns_of(from: &str) -> Vec<String> {
    const TABLES: [(&str, &[&str]); 3] =
        [("n1", &["a", "b", "c"]), ("n2", &["a", "b", "d"]), ("n3", &["b", "e", "x"])];
    let outside = without_parentheses(from);
    let words: Vec<&str> = outside.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some((_, columns)) = TABLES.iter().find(|(table, _)| table == word) else { continue };
        let alias = match words.get(at + 1..) {
            Some(["AS", alias, ..]) => alias,
            Some([alias @ ("t" | "x"), ..]) => alias,
            _ => word,
        };
        found.extend(columns.iter().flat_map(|column| [(*column).to_owned(), format!("{alias}.{column}")]));
    }
    if from.contains(") AS t") {
        found.extend(["a", "b", "x", "y", "t.a", "t.x"].map(str::to_owned));
    }
    found
}

/// The text that is in no parentheses.
fn without_parentheses(text: &str) -> String {
    let mut depth = 0usize;
    let outside = text.chars().filter(|&c| {
        depth = if c == ')' { depth.saturating_sub(1) } else { depth + usize::from(c == '(') };
        depth == 0 && c != ')'
    });
    outside.collect()
}
