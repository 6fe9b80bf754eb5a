//! Writing built rows, and what becomes of those whose keys are taken.

mod batches;

use std::sync::Arc;

use base::memory::{ALLOCATION_OVERHEAD_BYTES, Charge};
use bumpalo::Bump;
use engine::{Engine, Error, ReadView, RowRef, Table, Trx, UpdateOutcome};
use expr::RowSource;
use sql::plan::{InsertCell, InsertMode};
use types::{OwnedValue, Value, storage};
use wire::Capabilities;

use crate::assign::{AssignedColumns, Assigner, NewValues, with_full_row};
use crate::auto_numbers::{AutoNumbers, RowNumber, RowOrigin};
use crate::build::RowBuild;
use crate::conditions::{Conditions, Level};
use crate::context::ExecCtx;
use crate::error::{ExecError, Result};
use crate::index_layout;
use crate::reader::{RowEnv, TableReader};
use crate::row_build::RowBuffer;
use crate::statement::Statement;

/// Rows built, and bytes of them, at which they are written.
const BATCH_ROWS: usize = 1024;
const BATCH_BYTES: usize = 256 * 1024;

#[cfg(test)]
thread_local! {
    /// Rows of INSERT IGNORE are written one by one on this thread.
    pub(crate) static NEVER_BATCHED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Rows inserted in batches.
    pub(crate) static BATCHED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The compiled action of a statement on duplicate rows.
#[derive(Debug)]
pub(crate) enum DuplicateRule {
    /// An error.
    Refuse,
    /// The new row is left out.
    Ignore,
    /// The old rows go.
    Replace(OldRow),
    /// The old row gets new values; `ignore`: it stays as it is where they are another row's.
    Update { old: OldRow, columns: AssignedColumns, ignore: bool },
}

/// How the duplicate row is read.
#[derive(Debug)]
pub(crate) struct OldRow {
    reader: Arc<TableReader>,
}

impl DuplicateRule {
    pub(crate) fn new(table: &Arc<Table>, mode: InsertMode, on_duplicate: &[(u16, InsertCell)]) -> Self {
        let old = || OldRow { reader: index_layout::reader(table, 0) };
        match mode {
            InsertMode::Replace => DuplicateRule::Replace(old()),
            _ if !on_duplicate.is_empty() => {
                let assigned = on_duplicate.iter().map(|&(col, _)| col);
                let columns = AssignedColumns::new(0, Arc::clone(table), assigned);
                DuplicateRule::Update { old: old(), columns, ignore: mode == InsertMode::Ignore }
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
    /// Rows inserted, or changed in the place of new ones.
    copied: u64,
    /// Rows changed in the place of new ones.
    updated: u64,
    /// Rows replaced.
    pub(crate) deleted: u64,
    /// Rows left out.
    pub(crate) skipped: u64,
    /// First AUTO_INCREMENT number that was made for a row which was inserted.
    pub(crate) first_generated: Option<u64>,
    /// AUTO_INCREMENT number of the last row, inserted or not.
    last_number: u64,
}

impl Written {
    /// The number that the OK packet reports; `said`: what the statement said with LAST_INSERT_ID(n);
    /// `updates_of_query`: the rows are a query's, and ON DUPLICATE KEY UPDATE says what duplicates become.
    pub(crate) fn insert_id(&self, said: Option<u64>, updates_of_query: bool) -> u64 {
        let last = if self.copied > 0 && !updates_of_query { self.last_number } else { 0 };
        self.first_generated.or(said).unwrap_or(last)
    }

    /// The duplicates that the OK packet's message counts among `records` rows: with IGNORE, all that are not
    /// in the table.
    pub(crate) fn duplicates(&self, records: u64, ignore: bool) -> u64 {
        if ignore { records - self.copied } else { self.deleted + self.updated }
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
    numbers: Option<AutoNumbers>,
    /// The counter passes the numbers of rows that are not inserted, too.
    passes_duplicates: bool,
    /// Warnings of rows that have been written.
    warnings: u64,
    /// Rows to come that are written one by one, as one of a batch was left out: batches of many such rows
    /// cost more than the rows. Twice as many each time.
    singly: usize,
    singly_next: usize,
    written: Written,
}

impl<'w, 'c> RowsWriter<'w, 'c> {
    pub(crate) fn new(
        rule: &'w DuplicateRule,
        on_duplicate: &'w [(u16, InsertCell)],
        (table, origin): (&Table, RowOrigin),
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
            numbers: AutoNumbers::of(table, origin),
            passes_duplicates: origin == RowOrigin::Query || matches!(rule, DuplicateRule::Replace(_)),
            warnings: ctx.conditions.count(),
            singly: 0,
            singly_next: BATCH_ROWS,
            written: Written::default(),
        }
    }

    /// While held back, rows are only gathered.
    pub(crate) fn hold_back(&mut self, held_back: bool) {
        self.held_back = held_back;
        self.warnings = self.conditions.count();
    }

    /// The error that the statement fails with when its query came to `error`.
    #[cold]
    pub(crate) fn fail_query(&mut self, build: &mut RowBuild<'_>, error: ExecError) -> ExecError {
        if self.held_back { error } else { self.fail(build, error) }
    }

    /// The next row is all that the transaction does.
    pub(crate) fn end_with_row(&mut self) {
        self.ends = true;
    }

    /// Keeps `values`, what ON DUPLICATE KEY UPDATE reads of the query's row of which the next row to be
    /// taken is made.
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
            build.rows.abandon_row();
            return Err(self.fail(build, error));
        }
        if self.held_back {
            return Ok(());
        }
        if self.conditions.count() != self.warnings {
            self.write_before_warned(build)?;
        }
        let single = match self.rule {
            DuplicateRule::Refuse => false,
            #[cfg(test)]
            DuplicateRule::Ignore if NEVER_BATCHED.get() => true,
            DuplicateRule::Ignore => self.singly > 0,
            _ => true,
        };
        self.singly = self.singly.saturating_sub(1);
        let is_full = build.rows.len() >= BATCH_ROWS || build.rows.byte_len() >= BATCH_BYTES;
        if single || is_full { self.write(build, build.rows.len()) } else { Ok(()) }
    }

    /// Writes the rows before the last one, which was warned of: if one of them is refused, nothing was.
    #[cold]
    fn write_before_warned(&mut self, build: &mut RowBuild<'_>) -> Result<()> {
        self.write(build, build.rows.len() - 1)?;
        self.warnings = self.conditions.count();
        Ok(())
    }

    /// The error that the statement fails with when the next row came to `error`: that of a row before it
    /// comes first.
    #[cold]
    pub(crate) fn fail(&mut self, build: &mut RowBuild<'_>, error: ExecError) -> ExecError {
        let earlier = self.write(build, build.rows.len());
        earlier.err().unwrap_or(error)
    }

    /// Writes what is left.
    pub(crate) fn finish(&mut self, build: &mut RowBuild<'_>) -> Result<Written> {
        self.write(build, build.rows.len())?;
        Ok(self.written)
    }

    /// Writes the first `count` rows of the buffer and drops them.
    fn write(&mut self, build: &mut RowBuild<'_>, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let rows = std::mem::take(&mut build.rows);
        let result = match self.rule {
            DuplicateRule::Refuse | DuplicateRule::Ignore if count > 1 => {
                self.write_batches(&rows, count, build)
            }
            _ => (0..count).try_for_each(|row| self.write_one(&rows, row, build)),
        };
        build.rows = rows;
        if result.is_ok() {
            build.rows.drop_first(count);
            self.read.drain(..count.min(self.read.len()));
        } else {
            build.rows.clear();
            self.read.clear();
            self.abandon(build);
        }
        result
    }

    /// A row is refused: those after it have not been warned of, and LAST_INSERT_ID() is the number of the
    /// first one, as if it stayed.
    #[cold]
    fn abandon(&self, build: &RowBuild<'_>) {
        if matches!(self.rule, DuplicateRule::Refuse | DuplicateRule::Ignore) {
            self.conditions.forget_after(self.warnings);
        }
        if let Some(number) = self.written.first_generated {
            build.run.st.session.set_last_insert_id(number);
        }
    }

    /// Rows with these numbers are in the table.
    fn note_numbers(&mut self, numbers: &[RowNumber], build: &RowBuild<'_>) -> Result<()> {
        let Some(auto) = &self.numbers else { return Ok(()) };
        let mut greatest = 0;
        for &number in numbers {
            self.written.last_number = number.value();
            match number {
                RowNumber::Given(number) if auto.counts(number) => greatest = number.max(greatest),
                RowNumber::Given(_) => {}
                RowNumber::Taken(number) => {
                    self.written.first_generated.get_or_insert(number);
                }
            }
        }
        if greatest > 0 {
            build.table.advance_auto_increment(self.engine, greatest)?;
        }
        Ok(())
    }

    /// A row with this number was refused.
    #[cold]
    fn note_duplicate(&self, error: &Error, number: Option<RowNumber>, build: &RowBuild<'_>) -> Result<()> {
        if matches!(error, Error::DuplicateKey(_)) { self.pass_duplicate(number, build) } else { Ok(()) }
    }

    fn pass_duplicate(&self, number: Option<RowNumber>, build: &RowBuild<'_>) -> Result<()> {
        let number = self.counted(number);
        if self.passes_duplicates && number > 0 {
            build.table.advance_auto_increment(self.engine, number)?;
        }
        Ok(())
    }

    /// Writes one row of the buffer.
    fn write_one(&mut self, rows: &RowBuffer, row: usize, build: &RowBuild<'_>) -> Result<()> {
        let number = match &mut self.numbers {
            Some(auto) => Some(auto.of_row(self.engine, build.table, rows, row)?),
            None => None,
        };
        // Behind the commit nothing may fail.
        if self.ends && build.table.has_auto_increment_room(self.counted(number)) {
            self.trx.commit_with_change();
        }
        let room = number.map_or(0, RowNumber::value).to_le_bytes();
        // What is read of a row's query serves the row alone.
        let read = self.read.get_mut(row).map(std::mem::take).unwrap_or_default();
        rows.with_row(row, |values| {
            if let Some(auto) = &self.numbers {
                values[auto.column].get_or_insert(&room[..auto.width]);
            }
            self.write_row((values, &read), number, build)
        })
    }

    /// The number that the counter has to pass when the row is in the table; 0: none.
    fn counted(&self, number: Option<RowNumber>) -> u64 {
        match (&self.numbers, number) {
            (Some(auto), Some(RowNumber::Given(number))) if auto.counts(number) => number,
            _ => 0,
        }
    }

    fn write_row(
        &mut self,
        (row, read): (&[Option<&[u8]>], &[OwnedValue]),
        number: Option<RowNumber>,
        build: &RowBuild<'_>,
    ) -> Result<()> {
        match self.rule {
            DuplicateRule::Refuse | DuplicateRule::Ignore => {
                let ignore = matches!(self.rule, DuplicateRule::Ignore);
                match build.table.insert(self.engine, self.trx, row) {
                    Ok(_) => self.note_inserted(number, build),
                    Err(error @ Error::DuplicateKey(_)) if ignore => self.leave_out(error, number, build),
                    Err(error) => {
                        self.note_duplicate(&error, number, build)?;
                        Err(error.into())
                    }
                }
            }
            DuplicateRule::Replace(old) => self.replace(row, number, old, build),
            DuplicateRule::Update { old, columns, .. } => loop {
                if let Some(found) = build.table.find_duplicate(self.engine, self.trx, row)? {
                    self.refuse_row(number, build)?;
                    return self.update((row, read), number, &found.clustered_key, old, columns, build);
                }
                if self.insert_unless_taken(row, build)? {
                    return self.note_inserted(number, build);
                }
            },
        }
    }

    /// A row is in the table.
    #[inline]
    fn note_inserted(&mut self, number: Option<RowNumber>, build: &RowBuild<'_>) -> Result<()> {
        self.written.affected += 1;
        self.written.copied += 1;
        match number {
            Some(number) => self.note_numbers(&[number], build),
            None => Ok(()),
        }
    }

    /// A row is not inserted: its number is the next one's.
    fn refuse_row(&mut self, number: Option<RowNumber>, build: &RowBuild<'_>) -> Result<()> {
        if let (Some(auto), Some(number)) = (&mut self.numbers, number) {
            auto.give_back(number);
            self.written.last_number = number.value();
        }
        self.pass_duplicate(number, build)
    }

    #[cold]
    fn leave_out(&mut self, error: Error, number: Option<RowNumber>, build: &RowBuild<'_>) -> Result<()> {
        // What is beyond are the warnings of rows after it.
        self.conditions.warn_at(self.warnings, Level::Warning, &ExecError::Engine(error));
        self.warnings += 1;
        self.written.skipped += 1;
        self.refuse_row(number, build)
    }

    /// REPLACE: duplicate rows are deleted; one that is the same stays, if no other key can clash.
    fn replace(
        &mut self,
        row: &[Option<&[u8]>],
        number: Option<RowNumber>,
        old: &OldRow,
        build: &RowBuild<'_>,
    ) -> Result<()> {
        let table = build.table;
        loop {
            let Some(found) = table.find_duplicate(self.engine, self.trx, row)? else {
                if self.insert_unless_taken(row, build)? {
                    return self.note_inserted(number, build);
                }
                continue;
            };
            if self.is_made_key(number, found.index) {
                // A number that was made replaces no row: the insert says which.
                table.insert(self.engine, self.trx, row)?;
                return self.note_inserted(number, build);
            }
            let is_last = !table.indexes[found.index + 1..].iter().any(engine::Index::is_unique);
            if is_last && old.is_same(table, &found.clustered_key, row, build.run.st)? {
                return self.note_inserted(number, build);
            }
            table.delete(self.engine, self.trx, &found.clustered_key)?;
            self.written.affected += 1;
            self.written.deleted += 1;
            if let (Some(auto), false) = (&mut self.numbers, is_last) {
                auto.count_write();
            }
        }
    }

    /// Whether the index at this position has the number, and the row came without it.
    fn is_made_key(&self, number: Option<RowNumber>, index: usize) -> bool {
        let is_made = number.is_some_and(|number| number.taken().is_some());
        is_made && self.numbers.as_ref().is_some_and(|auto| auto.index == Some(index))
    }

    /// Inserts a row without duplicates. False: another transaction has put something there since.
    fn insert_unless_taken(&mut self, row: &[Option<&[u8]>], build: &RowBuild<'_>) -> Result<bool> {
        match build.table.insert(self.engine, self.trx, row) {
            Ok(_) => Ok(true),
            Err(Error::DuplicateKey(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// ON DUPLICATE KEY UPDATE of the row with `key`, instead of `row`, whose number is `taken`; `read` is
    /// what is read of the query's row.
    fn update(
        &mut self,
        (row, read): (&[Option<&[u8]>], &[OwnedValue]),
        taken: Option<RowNumber>,
        key: &[u8],
        old: &OldRow,
        columns: &AssignedColumns,
        build: &RowBuild<'_>,
    ) -> Result<()> {
        let st = build.run.st;
        let arena = Bump::new();
        let mut targets = [NewValues::new(columns)];
        targets[0].begin();
        let mut copy = Vec::new();
        let Some(record) = old.read(build.table, st.engine, key, &mut copy)? else { return Ok(()) };
        let env = RowEnv { st, arena: &arena };
        let pair = OldAndNew { table: build.table, reader: &old.reader, old: record, new: row, read, env };
        let (mut memory, mut cell) = (Bump::new(), Vec::new());
        let store = build.store.for_duplicates();
        let mut assigner = Assigner { run: build.run, store: &store, arena: &mut memory, scratch: &mut cell };
        let old_bytes = |col: u16| old.reader.bytes(&record, usize::from(col), env);
        for (col, cell) in self.on_duplicate {
            assigner.assign(&mut targets, 0, *col, cell, (&pair, old_bytes), build.number)?;
        }
        let differs = targets[0].finish(old_bytes, &store, build.number)?;
        st.check()?;
        self.written.affected += u64::from(self.count_found);
        let number = match &mut self.numbers {
            Some(auto) => {
                let col = auto.column as u16;
                let assigned = targets[0].columns.cols.contains(&col).then(|| targets[0].stored(col));
                let number =
                    assigned.unwrap_or_else(|| old_bytes(col)).map_or(0, |bytes| auto.number_in(bytes));
                if let (Some(_), Some(taken)) = (assigned, taken) {
                    auto.assign(taken, number)?;
                }
                number
            }
            None => 0,
        };
        let is_changed = differs && self.write_update(key, columns, &targets[0], build)?;
        let Some(auto) = &self.numbers else { return Ok(()) };
        self.written.last_number = number;
        if is_changed && auto.counts(number) {
            build.table.advance_auto_increment(self.engine, number)?;
        }
        Ok(())
    }

    /// Writes the new values of the row with `key`. False: it stays as it is.
    fn write_update(
        &mut self,
        key: &[u8],
        columns: &AssignedColumns,
        new: &NewValues<'_>,
        build: &RowBuild<'_>,
    ) -> Result<bool> {
        let outcome = with_full_row(columns, &new.values, 0, |values| {
            build.table.update(self.engine, self.trx, key, values, &columns.changed)
        });
        match outcome {
            Ok(UpdateOutcome::Updated) => {}
            Ok(UpdateOutcome::Unchanged | UpdateOutcome::Missing) => return Ok(false),
            Err(error @ Error::DuplicateKey(_))
                if matches!(self.rule, DuplicateRule::Update { ignore: true, .. }) =>
            {
                self.conditions.warn(Level::Warning, &ExecError::Engine(error));
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        self.written.affected += if self.count_found { 1 } else { 2 };
        self.written.copied += 1;
        self.written.updated += 1;
        Ok(true)
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

/// The row in the table (relation 0), the one that should have been inserted (relation 1), and what is read
/// of the query's row of which that is made (relation 2).
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
