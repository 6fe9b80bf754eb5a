//! The session that changes definitions: indexes, columns, whole tables, schemas.

use std::time::Duration;

use engine::{Alteration, BuildOptions, Engine, Error};
use types::{CollationId, TableDef};

use super::coverage::Event;
use super::extra;
use super::model::{Definitions, MAIN, Pair, SIDE};
use super::notes::{Result, Stop, count, is_done, lock};
use super::tables::{self, NAMES, PAIR, PAIR_SCHEMA, SCHEMA};
use super::writer::Writer;

/// Definition changes in a round.
const DEFINITIONS: u64 = 14;

/// How long a DDL statement waits for its tables.
const LONG_WAIT: Duration = Duration::from_secs(1000);

/// The session that changes definitions.
pub(super) struct Definer {
    pub(super) writer: Writer,
}

impl Definer {
    pub(super) fn run(&mut self) -> Result<()> {
        for _ in 0..DEFINITIONS {
            if is_done(&self.writer.notes) {
                break;
            }
            match self.step() {
                // Another transaction has used the table beyond the timeout.
                Err(Stop::Refused(Error::Lock(_))) => lock(&self.writer.notes).model.defining = None,
                Err(Stop::Refused(error)) if error.is_full_disk() => {
                    let mut shared = lock(&self.writer.notes);
                    shared.model.defining = None;
                    shared.refused();
                }
                ended => ended?,
            }
            count(&self.writer.notes, Event::Operations, 1);
        }
        Ok(())
    }

    /// A DDL statement, or a transaction on the side table.
    fn step(&mut self) -> Result<()> {
        let defined = lock(&self.writer.notes).model.defined;
        match self.writer.prng.below(9) {
            0..2 => return self.index(!defined.index),
            2..4 => return self.pair(defined),
            4..7 => return self.columns(defined),
            _ => {}
        }
        if !defined.side {
            return self.create_side();
        }
        match self.writer.prng.below(4) {
            0 => self.empty_side(false),
            1 => self.empty_side(true),
            _ => self.fill_side(),
        }
    }

    /// Runs `change` of a definition.
    fn define(
        &mut self,
        event: Event,
        now: Definitions,
        change: impl FnOnce(&Engine) -> engine::Result<()>,
    ) -> Result<()> {
        lock(&self.writer.notes).model.defining = Some(now);
        change(&self.writer.engine)?;
        let mut shared = lock(&self.writer.notes);
        (shared.model.defined, shared.model.defining) = (now, None);
        shared.coverage.add(event, 1);
        Ok(())
    }

    /// Adds or drops the index on the long column, and says so in the comment, by one statement.
    fn index(&mut self, wanted: bool) -> Result<()> {
        let now = Definitions { index: wanted, ..lock(&self.writer.notes).model.defined };
        let event = if wanted { Event::IndexesCreated } else { Event::IndexesDropped };
        let rebuilds = self.writer.prng.below(3) == 0;
        let (event, in_order) =
            if rebuilds { (Event::TablesRebuilt, self.writer.prng.below(2) == 0) } else { (event, true) };
        self.define(event, now, |engine| {
            let old = engine.table(SCHEMA, NAMES[MAIN])?;
            let mut def = TableDef { comment: tables::comment(wanted).into(), ..(*old.def).clone() };
            if wanted {
                let index = tables::index_on_c(&def);
                def.indexes.push(index);
            } else {
                def.indexes.retain(|index| &*index.name != "c");
            }
            let alteration = Alteration { def, auto_increment: None };
            if rebuilds {
                return tables::rebuild(engine, &old, alteration, in_order, LONG_WAIT);
            }
            engine.alter_table(&old.def, alteration, &BuildOptions::default(), LONG_WAIT)
        })
    }

    /// Adds, drops or moves a column of the main table, whose rows stay.
    fn columns(&mut self, old: Definitions) -> Result<()> {
        let table = self.writer.engine.table(SCHEMA, NAMES[MAIN])?;
        let prng = &mut self.writer.prng;
        let step = extra::Step::draw(prng, old.columns, table.def.columns.len());
        let place = prng.below(8) as usize;
        let now = Definitions { columns: step.after(old.columns), ..old };
        self.define(step.event(), now, |engine| step.make(engine, &table, place, LONG_WAIT))
    }

    /// A statement on the pair of tables, or one that makes them.
    fn pair(&mut self, old: Definitions) -> Result<()> {
        let now = |pair| Definitions { pair, ..old };
        let create = |e: &Engine, at| e.create_table(tables::pair_definition(at)).map(drop);
        match (old.pair, self.writer.prng.below(4)) {
            (Pair::Missing, _) => self.define(Event::SchemasCreated, now(Pair::Empty), |e| {
                e.create_schema(PAIR_SCHEMA, CollationId::UTF8MB4_BIN)
            }),
            (Pair::Empty, _) => self.define(Event::TablesCreated, now(Pair::First), |e| create(e, 0)),
            (Pair::First, _) => {
                self.define(Event::TablesCreated, now(Pair::Both { swapped: false }), |e| create(e, 1))
            }
            (Pair::Both { .. }, 0) => self.define(Event::SchemasDropped, now(Pair::Missing), |e| {
                e.drop_schema(PAIR_SCHEMA, LONG_WAIT).map(drop)
            }),
            (Pair::Both { .. }, 1) => self.define(Event::TablesDroppedTogether, now(Pair::Empty), |e| {
                e.drop_tables(&PAIR.map(|name| (PAIR_SCHEMA, name)), LONG_WAIT)
            }),
            (Pair::Both { swapped }, _) => {
                let [left, right, between] = [PAIR[0], PAIR[1], "between"].map(|name| (PAIR_SCHEMA, name));
                let pairs = [(left, between), (right, left), (between, right)];
                self.define(Event::NamesSwapped, now(Pair::Both { swapped: !swapped }), |e| {
                    e.rename_tables(&pairs, LONG_WAIT)
                })
            }
        }
    }

    fn create_side(&mut self) -> Result<()> {
        let old = lock(&self.writer.notes).model.defined;
        let now = Definitions { side: true, epoch: old.epoch + 1, ..old };
        self.define(Event::TablesCreated, now, |e| e.create_table(tables::definition(SIDE)).map(drop))
    }

    fn empty_side(&mut self, stays: bool) -> Result<()> {
        let old = lock(&self.writer.notes).model.defined;
        let now = Definitions { side: stays, epoch: old.epoch + 1, ..old };
        if stays {
            self.define(Event::TablesTruncated, now, |e| e.truncate_table(SCHEMA, NAMES[SIDE], LONG_WAIT))
        } else {
            self.define(Event::TablesDropped, now, |e| e.drop_table(SCHEMA, NAMES[SIDE], LONG_WAIT))
        }
    }

    /// A transaction on the side table.
    fn fill_side(&mut self) -> Result<()> {
        self.writer.table = SIDE;
        self.writer.rows = lock(&self.writer.notes).model.newest(SIDE);
        let changes = 10 + self.writer.prng.below(40);
        self.writer.transaction(changes)
    }
}
