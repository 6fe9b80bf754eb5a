//! The tables of a script, how they are made, and where inserts are tried.

use crate::script::Entry;

/// A position where an insert is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// As written in the script.
    pub(super) name: String,
    /// SQL literals of the key's columns.
    pub(super) values: Vec<String>,
    /// The position of the clustered index that the row must have; `None`: any.
    pub(super) clustered: Option<String>,
}

/// An index and its positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProbedIndex {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    pub(super) positions: Vec<Position>,
}

/// A table, made again for each statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProbedTable {
    pub(super) name: String,
    /// Statements that make and fill the table.
    pub(super) setup: Vec<String>,
    /// The clustered index first.
    pub(super) indexes: Vec<ProbedIndex>,
}

/// All tables of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fixture {
    pub(super) tables: Vec<ProbedTable>,
}

impl Fixture {
    /// Returns the tables that the `[setup]` and `[probes]` entries of a script describe.
    pub(super) fn of(entries: &[Entry]) -> Result<Self, String> {
        let mut fixture = Fixture::default();
        for entry in entries {
            let added = match entry.connection.as_str() {
                "setup" => fixture.add_setup(&entry.sql),
                "probes" => fixture.add_probes(&entry.sql),
                _ => Some(()),
            };
            added.ok_or_else(|| format!("line {}: cannot read {:?}", entry.line, entry.sql))?;
        }
        Ok(fixture)
    }

    fn add_setup(&mut self, sql: &str) -> Option<()> {
        let name = sql.split_whitespace().nth(2)?;
        if !self.tables.iter().any(|table| table.name == name) {
            self.tables.push(ProbedTable { name: name.to_owned(), setup: Vec::new(), indexes: Vec::new() });
        }
        self.table_mut(name)?.setup.push(sql.to_owned());
        Some(())
    }

    fn add_probes(&mut self, text: &str) -> Option<()> {
        let (head, positions) = text.split_once("):")?;
        let (names, columns) = head.split_once('(')?;
        let (table, index) = names.trim().split_once(' ')?;
        let columns = columns.split(',').map(|column| column.trim().to_owned()).collect();
        let positions = positions.split_whitespace().map(position).collect();
        self.table_mut(table)?.indexes.push(ProbedIndex { name: index.to_owned(), columns, positions });
        Some(())
    }

    fn table_mut(&mut self, name: &str) -> Option<&mut ProbedTable> {
        self.tables.iter_mut().find(|table| table.name == name)
    }

    /// Returns the tables that a statement names and that have positions.
    pub(super) fn tables_of(&self, sql: &str) -> Vec<&ProbedTable> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let words: Vec<&str> = sql.split(|c| !is_word(c)).collect();
        let is_named = |table: &&ProbedTable| words.contains(&table.name.as_str());
        self.tables.iter().filter(is_named).filter(|table| !table.indexes.is_empty()).collect()
    }

    /// Returns the names of all positions of `place`, which is `TABLE.INDEX`.
    pub(super) fn positions(&self, place: &str) -> Option<Vec<&str>> {
        let (table, index) = place.split_once('.')?;
        let table = self.tables.iter().find(|probed| probed.name == table)?;
        let index = table.indexes.iter().find(|probed| probed.name == index)?;
        Some(index.positions.iter().map(|position| position.name.as_str()).collect())
    }
}

fn position(name: &str) -> Position {
    let (key, clustered) = match name.split_once('@') {
        Some((key, clustered)) => (key, Some(clustered.to_owned())),
        None => (name, None),
    };
    Position { name: name.to_owned(), values: key.split(',').map(str::to_owned).collect(), clustered }
}
