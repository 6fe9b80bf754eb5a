//! Finding out what a transaction keeps other sessions from: every row is locked, and every position inserted
//! at.

use std::collections::HashSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;

use super::fixture::{Position, ProbedIndex, ProbedTable};
use super::footprint::{Footprint, Mode, What};
use crate::runner::Target;

/// A statement that runs longer is searched for among those that wait.
const LOOK: Duration = Duration::from_millis(2);
/// No insert and no wait takes longer to come about.
const PATIENCE: Duration = Duration::from_secs(20);
/// ER_QUERY_INTERRUPTED
const INTERRUPTED: u16 = 1317;

/// Sessions that try what the transaction under test has left free.
pub(super) struct Prober {
    /// Locks rows without waiting.
    reader: mysql::Conn,
    /// Inserts, and may wait.
    inserter: Inserter,
    /// Looks at waits and ends them.
    control: mysql::Conn,
    schema: &'static str,
}

/// A connection whose statements may wait, and the thread that uses it.
struct Inserter {
    id: u32,
    statements: Sender<String>,
    outcomes: Receiver<Result<(), mysql::Error>>,
}

impl Inserter {
    fn start(mut conn: mysql::Conn) -> Self {
        let id = conn.connection_id();
        let (statements, work) = channel::<String>();
        let (done, outcomes) = channel();
        std::thread::spawn(move || {
            for sql in work {
                if done.send(conn.query_drop(sql)).is_err() {
                    return;
                }
            }
        });
        Inserter { id, statements, outcomes }
    }
}

/// The rows of a table that a probe could lock, by name.
type Names = HashSet<String>;

impl Prober {
    /// Opens the sessions. They work in `schema` at READ COMMITTED, where a probe locks no gap itself.
    pub(super) fn new(target: &Target, schema: &'static str) -> Result<Self, String> {
        let connect = || -> Result<mysql::Conn, String> {
            let mut conn = target.connect(Some(schema))?;
            run(&mut conn, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
            Ok(conn)
        };
        let mut inserting = connect()?;
        run(&mut inserting, "SET SESSION autocommit = 0")?;
        Ok(Prober { reader: connect()?, inserter: Inserter::start(inserting), control: connect()?, schema })
    }

    /// Returns the names of a table's rows while nothing is locked.
    pub(super) fn rows(&mut self, table: &ProbedTable) -> Result<Vec<String>, String> {
        let columns = table.indexes[0].columns.join(", ");
        let sql = format!("SELECT {columns} FROM {} USE INDEX () ORDER BY {columns}", table.name);
        self.names(&sql)
    }

    /// Adds what is locked of a table whose rows, before the transaction, were `rows`.
    pub(super) fn add_locks(
        &mut self,
        table: &ProbedTable,
        rows: &[String],
        footprint: &mut Footprint,
    ) -> Result<(), String> {
        let columns = table.indexes[0].columns.join(", ");
        let (to_share, to_update) =
            self.lockable(&format!("SELECT {columns} FROM {} USE INDEX ()", table.name))?;
        let row_mode = |name: &String| mode(&to_share, &to_update, name);
        for name in rows {
            if let Some(mode) = row_mode(name) {
                footprint.add(&table.name, What::Row, name, mode);
            }
        }
        for index in &table.indexes[1..] {
            let (place, first) = (format!("{}.{}", table.name, index.name), &index.columns[0]);
            let by_index = format!("SELECT {columns} FROM {} FORCE INDEX ({}) ", table.name, index.name);
            let (to_share, to_update) = self.lockable(&format!("{by_index}ORDER BY {first}"))?;
            for name in rows {
                let entry = mode(&to_share, &to_update, name);
                if let Some(mode) = entry.filter(|_| entry > row_mode(name)) {
                    footprint.add(&place, What::Entry, name, mode);
                }
            }
        }
        self.add_gaps(table, footprint)
    }

    /// Returns the rows of `query` that can be locked FOR SHARE, and those that can be locked FOR UPDATE.
    fn lockable(&mut self, query: &str) -> Result<(Names, Names), String> {
        let to_share = self.names(&format!("{query} FOR SHARE SKIP LOCKED"))?;
        let to_update = self.names(&format!("{query} FOR UPDATE SKIP LOCKED"))?;
        Ok((to_share.into_iter().collect(), to_update.into_iter().collect()))
    }

    fn names(&mut self, query: &str) -> Result<Vec<String>, String> {
        let rows: Vec<mysql::Row> = self.reader.query(query).map_err(|e| format!("{query}: {e}"))?;
        let name = |row: mysql::Row| {
            let cells = row.unwrap().into_iter().map(|value| value.as_sql(false).replace('\'', ""));
            cells.collect::<Vec<_>>().join(",")
        };
        Ok(rows.into_iter().map(name).collect())
    }

    fn add_gaps(&mut self, table: &ProbedTable, footprint: &mut Footprint) -> Result<(), String> {
        // The first free position of each index before the current one: its columns and values.
        let mut free: Vec<(&ProbedIndex, &Position)> = Vec::new();
        let mut free_clustered: Vec<&Position> = Vec::new();
        for (number, index) in table.indexes.iter().enumerate() {
            let place = format!("{}.{}", table.name, index.name);
            let mut first = None;
            for position in &index.positions {
                let row = match &position.clustered {
                    Some(name) => free_clustered.iter().copied().find(|free| free.name == *name),
                    None => free_clustered.first().copied(),
                };
                let is_reached = number == 0 || (row.is_some() && free.len() == number);
                let mut parts = free.clone();
                if let (Some(row), Some(clustered)) = (row, parts.first_mut()) {
                    clustered.1 = row;
                }
                parts.push((index, position));
                if is_reached && self.is_free(table, index, &parts)? {
                    first = first.or(Some(position).filter(|position| position.clustered.is_none()));
                    free_clustered.extend(Some(position).filter(|_| number == 0));
                } else {
                    footprint.add(&place, What::Gap, &position.name, Mode::Exclusive);
                }
            }
            free.extend(first.map(|position| (index, position)));
        }
        Ok(())
    }

    /// Whether an insert of a row with these keys passes `index`, the last one that has a key of its own.
    fn is_free(
        &mut self,
        table: &ProbedTable,
        index: &ProbedIndex,
        parts: &[(&ProbedIndex, &Position)],
    ) -> Result<bool, String> {
        let (mut columns, mut values): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        // A column of two indexes has the value that the last one asks for.
        for (index, position) in parts.iter().rev() {
            for (column, value) in index.columns.iter().zip(&position.values) {
                if !columns.contains(&column.as_str()) {
                    columns.push(column);
                    values.push(value);
                }
            }
        }
        let sql =
            format!("INSERT INTO {} ({}) VALUES ({})", table.name, columns.join(", "), values.join(", "));
        let waits_in = self.insert(&sql)?;
        self.inserter.statements.send("ROLLBACK".to_owned()).map_err(|e| e.to_string())?;
        self.outcome()?.map_err(|e| e.to_string())?;
        let is_own = |waits_in: &String| {
            let is_other = table.indexes.iter().any(|other| other.name == *waits_in && other != index);
            *waits_in == index.name || !is_other
        };
        Ok(!waits_in.as_ref().is_some_and(is_own))
    }

    /// Inserts; the index in which that waits, if it does. The wait is ended.
    fn insert(&mut self, sql: &str) -> Result<Option<String>, String> {
        self.inserter.statements.send(sql.to_owned()).map_err(|e| e.to_string())?;
        let begin = Instant::now();
        loop {
            match self.inserter.outcomes.recv_timeout(LOOK) {
                Ok(outcome) => return outcome.map(|()| None).map_err(|e| format!("{sql}: {e}")),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("the inserting thread has ended".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(index) = self.waits_in()? {
                run(&mut self.control, &format!("KILL QUERY {}", self.inserter.id))?;
                return match self.outcome()? {
                    Err(mysql::Error::MySqlError(e)) if e.code == INTERRUPTED => Ok(Some(index)),
                    other => Err(format!("{sql}: was killed while it waited, and came to {other:?}")),
                };
            }
            if begin.elapsed() > PATIENCE {
                return Err(format!("{sql}: neither waits for a lock nor ends"));
            }
        }
    }

    fn outcome(&self) -> Result<Result<(), mysql::Error>, String> {
        self.inserter.outcomes.recv_timeout(PATIENCE).map_err(|e| format!("an insert does not end: {e}"))
    }

    /// Returns the index for whose lock a session of the schema waits; empty where it has no name.
    fn waits_in(&mut self) -> Result<Option<String>, String> {
        let sql = format!(
            "SELECT INDEX_NAME FROM performance_schema.data_locks WHERE LOCK_STATUS = 'WAITING' \
             AND OBJECT_SCHEMA = '{}'",
            self.schema
        );
        let waiting: Option<Option<String>> = self.control.query_first(&sql).map_err(|e| e.to_string())?;
        Ok(waiting.map(Option::unwrap_or_default))
    }
}

/// Runs a statement whose rows are of no interest.
pub(super) fn run(conn: &mut mysql::Conn, sql: &str) -> Result<(), String> {
    conn.query_drop(sql).map_err(|e| format!("{sql}: {e}"))
}

/// How others are kept from a row that can be locked in these ways.
fn mode(to_share: &Names, to_update: &Names, name: &String) -> Option<Mode> {
    if !to_share.contains(name) {
        Some(Mode::Exclusive)
    } else if !to_update.contains(name) {
        Some(Mode::Shared)
    } else {
        None
    }
}
