//! Conditions of WHERE by chance: every operator that an index serves, beside constants of the column's kind
//! and of others, in trees of AND, OR and NOT.

use base::prng::Prng;

/// What the constants beside a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Small integers.
    Integer,
    /// Numbers with a digit after the point.
    Number,
    /// Short texts of few letters.
    Text,
    /// Dates and moments.
    Time,
}

/// A column: name, type and attributes, constants.
pub type Column = (&'static str, &'static str, Kind);

/// Draws conditions, and rows for them.
#[derive(Debug)]
pub struct Dice(Prng);

impl Dice {
    /// All that is drawn follows from `seed`.
    pub fn new(seed: u64) -> Self {
        Dice(Prng::new(seed))
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Any of `list`.
    pub fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }

    fn text(&mut self) -> String {
        const LETTERS: [&str; 9] = ["a", "A", "b", "á", "ß", " ", "z", "\u{1}", "ab"];
        (0..self.below(4)).map(|_| *self.pick(&LETTERS)).collect()
    }

    fn time(&mut self) -> String {
        let date = format!("20{:02}-0{}-{:02}", self.below(2), 1 + self.below(2), 1 + self.below(3));
        if self.one_in(2) { date } else { format!("{date} 0{}:00:00", self.below(2)) }
    }

    /// A value that is stored.
    pub fn stored(&mut self, kind: Kind) -> String {
        match kind {
            Kind::Integer => (self.below(9)).to_string(),
            Kind::Number => format!("{}.{}", self.below(7), 5 * self.below(2)),
            Kind::Text => format!("'{}'", self.text()),
            Kind::Time => format!("'{}'", self.time()),
        }
    }

    /// A constant beside a column: mostly of its kind, now and then NULL, another kind, or beyond what the
    /// column holds.
    fn constant(&mut self, kind: Kind) -> String {
        match self.below(16) {
            0 => "NULL".to_owned(),
            1 if kind != Kind::Time => format!("{}.25", self.below(7)),
            2 if kind == Kind::Integer => {
                ["-1", "100000", "99999999999", "'3'", "'3x'"][self.below(5)].to_owned()
            }
            3 if kind == Kind::Text => format!("'{0}{0}{0}{0}'", self.text()),
            4 if kind == Kind::Number => ["-1", "1e9", "'2.5'", "3.14159"][self.below(4)].to_owned(),
            5 if kind == Kind::Time => "'2000-01-02 00:00:00.5'".to_owned(),
            _ => self.stored(kind),
        }
    }

    fn pattern(&mut self) -> String {
        const PIECES: [&str; 8] = ["a", "A", "b", "%", "_", "z", "\\\\%", " "];
        let text: String = (0..=self.below(4)).map(|_| *self.pick(&PIECES)).collect();
        format!("'{text}'")
    }

    fn constants(&mut self, kind: Kind) -> String {
        let count = 1 + self.below(5);
        (0..count).map(|_| self.constant(kind)).collect::<Vec<_>>().join(", ")
    }

    /// A condition on one or several of `columns`.
    fn leaf(&mut self, columns: &[Column]) -> String {
        const OPERATORS: [&str; 7] = ["=", "=", "<", "<=", ">", ">=", "<>"];
        let &(name, _, kind) = self.pick(columns);
        let not = if self.one_in(3) { "NOT " } else { "" };
        match self.below(12) {
            0 => format!("{name} IS {not}NULL"),
            1 => format!("{name} <=> {}", self.constant(kind)),
            2 | 3 => format!("{name} {not}IN ({})", self.constants(kind)),
            4 => format!("{name} {not}BETWEEN {} AND {}", self.constant(kind), self.constant(kind)),
            5 if kind == Kind::Text => format!("{name} {not}LIKE {}", self.pattern()),
            6 => format!("({name} {} {}) IS TRUE", self.pick(&OPERATORS), self.constant(kind)),
            7 => format!("{} {} {name}", self.constant(kind), self.pick(&OPERATORS)),
            8 | 9 => self.rows(columns),
            _ => format!("{name} {} {}", self.pick(&OPERATORS), self.constant(kind)),
        }
    }

    /// A comparison of rows of two columns.
    fn rows(&mut self, columns: &[Column]) -> String {
        const OPERATORS: [&str; 6] = ["=", "<", "<=", ">", ">=", "<>"];
        let (&(first, _, x), &(second, _, y)) = (self.pick(columns), self.pick(columns));
        let mut row = || format!("({}, {})", self.constant(x), self.constant(y));
        let rows = [row(), row(), row()];
        match self.below(3) {
            0 => format!("({first}, {second}) {} {}", self.pick(&OPERATORS), rows[0]),
            1 => format!("({first}, {second}) NOT IN ({}, {})", rows[0], rows[1]),
            _ => format!("({first}, {second}) IN ({})", rows.join(", ")),
        }
    }

    /// A tree of AND, OR and NOT over conditions on `columns`, at most `depth` high.
    pub fn condition(&mut self, columns: &[Column], depth: usize) -> String {
        if depth == 0 || self.one_in(3) {
            return self.leaf(columns);
        }
        let operator = if self.one_in(2) { " AND " } else { " OR " };
        let terms: Vec<String> = (0..2 + self.below(2)).map(|_| self.condition(columns, depth - 1)).collect();
        let not = if self.one_in(6) { "NOT " } else { "" };
        format!("{not}({})", terms.join(operator))
    }

    /// The cells of a row of `columns`, each with a comma after it.
    pub fn cells(&mut self, columns: &[Column]) -> String {
        let mut cells = String::new();
        for (_, ty, kind) in columns {
            let null = !ty.contains("NOT NULL") && self.one_in(8);
            cells += &if null { "NULL".to_owned() } else { self.stored(*kind) };
            cells += ", ";
        }
        cells
    }

    /// Those of `columns` that a key over `parts` has, and now and then another.
    pub fn columns_for(&mut self, parts: &str, columns: &[Column]) -> Vec<Column> {
        let named = |name: &str| parts.split(", ").any(|part| part.split([' ', '(']).next() == Some(name));
        let mut chosen: Vec<Column> = columns.iter().copied().filter(|(name, ..)| named(name)).collect();
        if self.one_in(3) {
            chosen.push(*self.pick(columns));
        }
        chosen
    }
}
