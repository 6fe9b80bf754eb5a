//! Writing built rows, and what becomes of those whose keys are taken.

use std::sync::Arc;

use base::memory::{ALLOCATION_OVERHEAD_BYTES, Charge};
use bumpalo::Bump;
use engine::{Engine, Error, ReadView, RowRef, Table, Trx, UpdateOutcome};
use expr::RowSource;
use sql::plan::{InsertCell, InsertMode};
use types::{OwnedValue, Value, storage};
use wire::Capabilities;

use crate::assign::{AssignedColumns, Assigner, NewValues, with_full_row};
use crate::build::RowBuild;
use crate::context::{Conditions, ExecCtx, Level};
use crate::error::{ExecError, Result};
use crate::kept_index;
use crate::reader::{RowEnv, TableReader};
use crate::row_build::RowBuffer;
use crate::statement::Statement;

/// Rows are written when so many are built, or so many bytes.
const BATCH_ROWS: usize = 1024;
const BATCH_BYTES: usize = 256 * 1024;

/// What a statement does about rows in the way, compiled.
#[derive(Debug)]
pub(crate) enum DuplicateRule {
    /// An error.
    Refuse,
    /// The new row is left out.
    Ignore,
    /// The old rows go.
    Replace(OldRow),
    /// The old row gets new values.
    Update { old: OldRow, columns: AssignedColumns },
}

/// How the row in the way is read.
#[derive(Debug)]
pub(crate) struct OldRow {
    reader: Arc<TableReader>,
}

impl DuplicateRule {
    pub(crate) fn new(table: &Arc<Table>, mode: InsertMode, on_duplicate: &[(u16, InsertCell)]) -> Self {
        let old = || OldRow { reader: kept_index::reader(table, 0) };
        match mode {
            InsertMode::Replace => DuplicateRule::Replace(old()),
            _ if !on_duplicate.is_empty() => {
                let assigned = on_duplicate.iter().map(|&(col, _)| col);
                let columns = AssignedColumns::new(0, Arc::clone(table), assigned);
                DuplicateRule::Update { old: old(), columns }
            }
            InsertMode::Ignore => DuplicateRule::Ignore,
            InsertMode::Insert => DuplicateRule::Refuse,
        }
    }
}

/// What has been written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    /// Rows as the OK packet counts them: a replaced or updated row counts twice.
    pub(crate) affected: u64,
    /// Rows that were in the way.
    pub(crate) duplicates: u64,
    /// Rows replaced.
    pub(crate) deleted: u64,
    /// Rows left out.
    pub(crate) skipped: u64,
    /// First AUTO_INCREMENT number taken.
    pub(crate) first_generated: Option<u64>,
    /// AUTO_INCREMENT number of the last row that came with one.
    last_given: u64,
}

impl Written {
    /// The number that the OK packet reports; `said`: what the statement said with LAST_INSERT_ID(n).
    pub(crate) fn insert_id(&self, said: Option<u64>) -> u64 {
        self.first_generated.or(said).unwrap_or(self.last_given)
    }
}

/// Writes the rows that a [`RowBuild`] makes.
pub(crate) struct RowsWriter<'w, 'c> {
    rule: &'w DuplicateRule,
    on_duplicate: &'w [(u16, InsertCell)],
    engine: &'c Engine,
    trx: &'w mut Trx,
    conditions: &'c dyn Conditions,
    /// CLIENT_FOUND_ROWS: a row updated to what it was counts.
    count_found: bool,
    held_back: bool,
    /// The one row of the statement ends the transaction.
    ends: bool,
    /// What ON DUPLICATE KEY UPDATE reads of the query's rows, for each row gathered, if it reads something.
    read: Vec<Box<[OwnedValue]>>,
    written: Written,
}

impl<'w, 'c> RowsWriter<'w, 'c> {
    pub(crate) fn new(
        rule: &'w DuplicateRule,
        on_duplicate: &'w [(u16, InsertCell)],
        ctx: &'w mut ExecCtx<'c>,
    ) -> Self {
        RowsWriter {
            rule,
            on_duplicate,
            engine: ctx.engine,
            trx: &mut *ctx.trx,
            conditions: ctx.conditions,
            count_found: ctx.client.capabilities.has(Capabilities::FOUND_ROWS),
            held_back: false,
            ends: false,
            read: Vec::new(),
            written: Written::default(),
        }
    }

    /// While held back, rows are only gathered.
    pub(crate) fn hold_back(&mut self, held_back: bool) {
        self.held_back = held_back;
    }

    /// The next row is all that the transaction does.
    pub(crate) fn end_with_row(&mut self) {
        self.ends = true;
    }

    /// Keeps `values`, what ON DUPLICATE KEY UPDATE reads of the query's row of which the next row to be taken is made.
    pub(crate) fn keep_read(&mut self, values: &[Value<'_>], charge: &Charge) -> Result<()> {
        let values: Box<[OwnedValue]> = values.iter().map(Value::to_owned_value).collect();
        let heap_bytes = |value: &OwnedValue| value.as_value().heap_bytes() + ALLOCATION_OVERHEAD_BYTES;
        if self.held_back {
            charge.add(size_of_val(&*values) + values.iter().map(heap_bytes).sum::<usize>())?;
        }
        self.read.push(values);
        Ok(())
    }

    /// Takes the row just built, or the error that building it came to.
    pub(crate) fn take(&mut self, build: &mut RowBuild<'_>, built: Result<()>) -> Result<()> {
        if let Err(error) = built {
            // An error of a row before this one comes first.
            build.rows.abandon_row();
            self.write(build)?;
            return Err(error);
        }
        if let Some(number) = build.generated {
            self.written.first_generated.get_or_insert(number);
        }
        if self.held_back {
            return Ok(());
        }
        let single = !matches!(self.rule, DuplicateRule::Refuse);
        let is_full = build.rows.len() >= BATCH_ROWS || build.rows.byte_len() >= BATCH_BYTES;
        if single || is_full { self.write(build) } else { Ok(()) }
    }

    /// Writes what is left.
    pub(crate) fn finish(&mut self, build: &mut RowBuild<'_>) -> Result<Written> {
        self.write(build)?;
        Ok(self.written)
    }

    /// Writes the rows built and empties the buffer.
    fn write(&mut self, build: &mut RowBuild<'_>) -> Result<()> {
        if build.rows.len() == 0 {
            return Ok(());
        }
        // Behind the commit nothing may fail.
        if self.ends && build.table.has_auto_increment_room(build.greatest_given) {
            self.trx.end_with_change();
        }
        let rows = std::mem::take(&mut build.rows);
        let result = self.write_rows(&rows, build);
        build.rows = rows;
        build.rows.clear();
        self.read.clear();
        let updated = result?;
        self.written.last_given = updated.unwrap_or(build.given);
        if build.greatest_given != 0 {
            build.table.advance_auto_increment(self.engine, build.greatest_given)?;
            build.greatest_given = 0;
        }
        Ok(())
    }

    /// The AUTO_INCREMENT number of a row that was updated in place of the last one, if one was.
    fn write_rows(&mut self, rows: &RowBuffer, build: &RowBuild<'_>) -> Result<Option<u64>> {
        let (count, mut updated) = (rows.len(), None);
        if let (DuplicateRule::Refuse, 2..) = (self.rule, count) {
            let all = rows.all();
            let each: Vec<_> = all.chunks_exact(all.len() / count).collect();
            let done = build.table.insert_batch(self.engine, self.trx, &each).map_err(|(_, error)| error)?;
            self.written.affected += done as u64;
            return Ok(None);
        }
        let read = std::mem::take(&mut self.read);
        for i in 0..count {
            let read = read.get(i).map_or(&[][..], |values| values);
            updated = rows.with_row(i, |row| self.write_row(row, read, build))?;
        }
        Ok(updated)
    }

    fn write_row(
        &mut self,
        row: &[Option<&[u8]>],
        read: &[OwnedValue],
        build: &RowBuild<'_>,
    ) -> Result<Option<u64>> {
        let table = build.table;
        match self.rule {
            DuplicateRule::Refuse | DuplicateRule::Ignore => {
                let ignore = matches!(self.rule, DuplicateRule::Ignore);
                match table.insert(self.engine, self.trx, row) {
                    Ok(_) => self.written.affected += 1,
                    Err(error @ Error::DuplicateKey(_)) if ignore => self.leave_out(error, build),
                    Err(error) => return Err(error.into()),
                }
                Ok(None)
            }
            DuplicateRule::Replace(old) => self.replace(row, old, build).map(|()| None),
            DuplicateRule::Update { old, columns } => loop {
                if let Some(found) = table.find_duplicate(self.engine, self.trx, row)? {
                    return self.update((row, read), &found.clustered_key, old, columns, build).map(Some);
                }
                if self.insert_unless_taken(row, build)? {
                    return Ok(None);
                }
            },
        }
    }

    #[cold]
    fn leave_out(&mut self, error: Error, build: &RowBuild<'_>) {
        self.conditions.warn(Level::Warning, &ExecError::Engine(error));
        self.written.duplicates += 1;
        self.written.skipped += 1;
        if build.generated.is_some() && self.written.first_generated == build.generated {
            self.written.first_generated = None;
        }
    }

    /// REPLACE: rows in the way are deleted; one that is the same stays, if no other key can clash.
    fn replace(&mut self, row: &[Option<&[u8]>], old: &OldRow, build: &RowBuild<'_>) -> Result<()> {
        let table = build.table;
        loop {
            let Some(found) = table.find_duplicate(self.engine, self.trx, row)? else {
                if self.insert_unless_taken(row, build)? {
                    return Ok(());
                }
                continue;
            };
            let is_last = !table.indexes[found.index + 1..].iter().any(engine::Index::is_unique);
            if is_last && old.is_same(table, &found.clustered_key, row, build.run.st)? {
                self.written.affected += 1;
                return Ok(());
            }
            table.delete(self.engine, self.trx, &found.clustered_key)?;
            self.written.affected += 1;
            self.written.duplicates += 1;
            self.written.deleted += 1;
        }
    }

    /// Inserts a row that nothing stood in the way of. False: another transaction has put something there since.
    fn insert_unless_taken(&mut self, row: &[Option<&[u8]>], build: &RowBuild<'_>) -> Result<bool> {
        match build.table.insert(self.engine, self.trx, row) {
            Ok(_) => {
                self.written.affected += 1;
                Ok(true)
            }
            Err(Error::DuplicateKey(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// ON DUPLICATE KEY UPDATE of the row with `key`: the row's AUTO_INCREMENT number, 0 if it stays as it is. `new` is the row that
    /// should have been inserted, and what is read of the query's row.
    fn update(
        &mut self,
        (row, read): (&[Option<&[u8]>], &[OwnedValue]),
        key: &[u8],
        old: &OldRow,
        columns: &AssignedColumns,
        build: &RowBuild<'_>,
    ) -> Result<u64> {
        let st = build.run.st;
        if self.written.first_generated == build.generated {
            self.written.first_generated = None;
        }
        let arena = Bump::new();
        let mut targets = [NewValues::new(columns)];
        targets[0].begin();
        let mut copy = Vec::new();
        let Some(record) = old.read(build.table, st.engine, key, &mut copy)? else { return Ok(0) };
        let env = RowEnv { st, arena: &arena };
        let pair = OldAndNew { table: build.table, reader: &old.reader, old: record, new: row, read, env };
        let (mut memory, mut cell) = (Bump::new(), Vec::new());
        let store = build.store.for_duplicates();
        let mut assigner = Assigner { run: build.run, store: &store, arena: &mut memory, scratch: &mut cell };
        for (col, cell) in self.on_duplicate {
            assigner.assign(&mut targets, 0, *col, cell, &pair, build.number)?;
        }
        let old_bytes = |col: u16| old.reader.bytes(&record, usize::from(col), env);
        let differs = targets[0].finish(old_bytes, &store, build.number)?;
        st.check()?;
        if !differs {
            self.written.affected += u64::from(self.count_found);
            return Ok(0);
        }
        let outcome = with_full_row(columns, &targets[0].values, 0, |values| {
            build.table.update(self.engine, self.trx, key, values, &columns.changed)
        })?;
        self.written.duplicates += 1;
        if outcome == UpdateOutcome::Updated {
            self.written.affected += 2;
        }
        let Some(col) = build.table.def.auto_increment_column() else { return Ok(0) };
        let number =
            targets[0].value(col as u16, st.zone).unwrap_or_else(|| old.reader.value(&record, col, env));
        Ok(number.to_u64().value)
    }
}

impl OldRow {
    /// The newest version of the row with `key`, copied to `copy`.
    fn read<'b>(
        &'b self,
        table: &Table,
        engine: &Engine,
        key: &[u8],
        copy: &'b mut Vec<u8>,
    ) -> Result<Option<RowRef<'b>>> {
        let place = table.get(engine, &ReadView::newest(), key, |row| row.record().copy_to(copy))?;
        Ok(place.map(|place| RowRef::new(&self.reader.format, place.record(copy))))
    }

    /// Whether the row with `key` has exactly the values of `row`.
    fn is_same(&self, table: &Table, key: &[u8], row: &[Option<&[u8]>], st: &Statement<'_>) -> Result<bool> {
        let (mut copy, arena) = (Vec::new(), Bump::new());
        let Some(record) = self.read(table, st.engine, key, &mut copy)? else { return Ok(false) };
        let env = RowEnv { st, arena: &arena };
        let all = (0..row.len()).all(|col| self.reader.bytes(&record, col, env) == row[col]);
        st.check()?;
        Ok(all)
    }
}

/// The row in the table (relation 0), the one that should have been inserted (relation 1), and what is read of the query's row
/// of which that is made (relation 2).
struct OldAndNew<'x> {
    table: &'x Table,
    reader: &'x TableReader,
    old: RowRef<'x>,
    new: &'x [Option<&'x [u8]>],
    read: &'x [OwnedValue],
    env: RowEnv<'x>,
}

impl RowSource for OldAndNew<'_> {
    fn column(&self, rel: u16, col: u16) -> Value<'_> {
        let position = usize::from(col);
        if rel == 0 {
            return self.reader.value(&self.old, position, self.env);
        }
        if rel == 2 {
            return self.read.get(position).map_or(Value::Null, OwnedValue::as_value);
        }
        let ty = &self.table.def.columns[position].ty;
        self.new[position].map_or(Value::Null, |bytes| storage::read(ty, bytes, self.env.st.zone))
    }
}
