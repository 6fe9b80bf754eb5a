//! A table beside a map of its rows: changes are made to both, and every way to read the table is compared
//! with the map.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use base::prng::Prng;
use env::SimDisk;
use types::{CollationId, ColumnDef, SqlType, TableDef, TypeKind};

use super::SHORT;
use crate::tests::support::*;
use crate::*;

/// A value by the column's name.
pub(super) type Row = BTreeMap<String, Option<Vec<u8>>>;

/// A table, and a map of the rows that it has to hold.
pub(super) struct MirroredTable {
    pub(super) engine: Arc<Engine>,
    pub(super) disk: Arc<SimDisk>,
    pub(super) rows: BTreeMap<i32, Row>,
    /// Columns that were added so far.
    added: u32,
    /// Columns that got wider.
    pub(super) widened: u32,
    /// Rows that were read in older versions.
    pub(super) read_older: Cell<usize>,
}

/// (id INT PRIMARY KEY, k INT, c VARCHAR(60), body LONGTEXT, KEY k (k)).
pub(super) fn def() -> TableDef {
    let mut def = wide_def("t");
    def.indexes.truncate(2);
    def
}

impl MirroredTable {
    pub(super) fn new(seed: u64) -> MirroredTable {
        let disk = Arc::new(SimDisk::seeded(seed));
        let engine = Engine::open(config(&disk)).unwrap();
        engine.create_schema("s", CollationId::UTF8MB4_0900_AI_CI).unwrap();
        engine.create_table(def()).unwrap();
        MirroredTable { engine, disk, rows: BTreeMap::new(), added: 0, widened: 0, read_older: Cell::new(0) }
    }

    pub(super) fn table(&self) -> Arc<Table> {
        self.engine.table("s", "t").unwrap()
    }

    /// Writes a row that is there, or a new one, in a transaction of its own, which may be rolled back.
    pub(super) fn write(&mut self, id: i32, row: Row, is_kept: bool) {
        let mut trx = self.engine.begin(BeginOptions::default());
        let table = self.engine.open_table(&mut trx, "s", "t").unwrap();
        let values: Vec<Option<&[u8]>> =
            table.def.columns.iter().map(|column| row[&*column.name].as_deref()).collect();
        if self.rows.contains_key(&id) {
            table.update(&self.engine, &mut trx, &key(id), &values, &ColumnSet::ALL).unwrap();
        } else {
            table.insert(&self.engine, &mut trx, &values).unwrap();
        }
        if is_kept {
            self.engine.commit(&mut trx).unwrap();
            self.rows.insert(id, row);
        } else {
            self.engine.rollback(&mut trx).unwrap();
        }
    }

    pub(super) fn delete(&mut self, id: i32, is_kept: bool) {
        let mut trx = self.engine.begin(BeginOptions::default());
        let table = self.engine.open_table(&mut trx, "s", "t").unwrap();
        let was_there = table.delete(&self.engine, &mut trx, &key(id)).unwrap();
        assert_eq!(was_there, self.rows.contains_key(&id));
        if is_kept {
            self.engine.commit(&mut trx).unwrap();
            self.rows.remove(&id);
        } else {
            self.engine.rollback(&mut trx).unwrap();
        }
    }

    /// A row of the columns that there are.
    pub(super) fn random_row(&self, prng: &mut Prng, id: i32) -> Row {
        let column = |column: &ColumnDef| {
            let value = match &*column.name {
                "id" => Some(id.to_le_bytes().to_vec()),
                _ if column.nullable && prng.below(4) == 0 => None,
                "body" if prng.below(3) > 0 => Some(vec![b'b'; prng.below(9000) as usize]),
                _ => Some(random_value(prng, &column.ty)),
            };
            (column.name.to_string(), value)
        };
        self.table().def.columns.iter().map(column).collect()
    }

    /// Changes the columns in place: `change` gets the definition, the old places of its columns and the
    /// values that older rows show.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Columns)) {
        let table = self.table();
        let mut columns = Columns::of(&table.def);
        change(&mut columns);
        let Columns { list, .. } = columns;
        let mut new = (*table.def).clone();
        let kept: Vec<Option<u16>> = list.iter().map(|(_, at, _)| *at).collect();
        let initial: InitialValues = list.iter().map(|(_, _, value)| value.clone()).collect();
        for part in new.indexes.iter_mut().flat_map(|index| &mut index.parts) {
            part.column = kept.iter().position(|at| *at == Some(part.column)).unwrap() as u16;
        }
        new.columns = list.iter().map(|(column, ..)| column.clone()).collect();
        let names = |old: &str| {
            let at = table.def.find_column(old).map(|at| at as u16);
            list.iter().find(|(_, kept, _)| *kept == at).map(|(column, ..)| column.name.to_string())
        };
        for row in self.rows.values_mut() {
            let kept = std::mem::take(row).into_iter();
            *row = kept.filter_map(|(name, value)| Some((names(&name)?, value))).collect();
            for (column, at, initial) in &list {
                if at.is_none() {
                    row.insert(column.name.to_string(), initial.as_deref().map(<[u8]>::to_vec));
                }
            }
        }
        let columns = NewColumns { kept: &kept, initial: &initial };
        assert!(table.can_change_columns(&new, columns));
        let alteration = Alteration { def: new, auto_increment: None };
        self.engine.change_columns(&table.def, alteration, columns, SHORT).unwrap();
    }

    pub(super) fn add(&mut self, place: usize, ty: SqlType, initial: Option<&[u8]>) {
        self.added += 1;
        let column = ColumnDef::new(&format!("a{}", self.added), ty, initial.is_none());
        let initial = initial.map(Into::into);
        self.change(|columns| columns.list.insert(place, (column, None, initial)));
    }

    pub(super) fn drop_column(&mut self, name: &str) {
        self.change(|columns| columns.list.retain(|(column, ..)| &*column.name != name));
    }

    pub(super) fn random_change(&mut self, prng: &mut Prng) {
        let count = self.table().def.columns.len();
        let place = prng.below(count as u64 + 1) as usize;
        let droppable: Vec<String> = {
            let table = self.table();
            let names = table.def.columns.iter().map(|column| column.name.to_string());
            names.filter(|name| !["id", "k"].contains(&&**name)).collect()
        };
        match prng.below(6) {
            0 | 1 => {
                let ty = match prng.below(6) {
                    0 => int(),
                    1 => SqlType::bigint(),
                    4 => SqlType::new(TypeKind::TinyInt, 0),
                    5 => SqlType { unsigned: true, ..SqlType::new(TypeKind::SmallInt, 0) },
                    2 => text(),
                    _ => SqlType::varchar(40, CollationId::UTF8MB4_0900_AI_CI),
                };
                let initial = (prng.below(2) == 0).then(|| random_value(prng, &ty));
                self.add(place, ty, initial.as_deref());
            }
            2 if !droppable.is_empty() => {
                let name = droppable[prng.below(droppable.len() as u64) as usize].clone();
                self.drop_column(&name);
            }
            3 => self.change(|columns| {
                let moved = columns.list.remove(place % count);
                columns.list.insert(prng.below(count as u64) as usize, moved);
            }),
            4 => self.widen(prng),
            _ => self.change(|columns| {
                let closed = columns
                    .list
                    .iter_mut()
                    .find(|(column, ..)| !column.nullable && column.name.starts_with('a'));
                if let Some((column, ..)) = closed {
                    column.nullable = true;
                }
            }),
        }
    }

    /// Gives an integer column a wider type, if there is one.
    pub(super) fn widen(&mut self, prng: &mut Prng) {
        let wider = |ty: &SqlType| {
            let kinds = [TypeKind::SmallInt, TypeKind::MediumInt, TypeKind::Int, TypeKind::BigInt];
            let kinds = kinds.map(|kind| SqlType { kind, ..ty.clone() });
            kinds.into_iter().filter(|wide| types::storage::is_widened(ty, wide)).collect::<Vec<_>>()
        };
        let table = self.table();
        let found = table.def.columns.iter().filter(|column| column.name.starts_with('a'));
        let found: Vec<_> =
            found.map(|column| (column, wider(&column.ty))).filter(|found| !found.1.is_empty()).collect();
        let Some((column, wider)) = found.get(prng.below(found.len().max(1) as u64) as usize) else { return };
        let (name, wide) = (&*column.name, &wider[prng.below(wider.len() as u64) as usize]);
        let width = types::storage::fixed_width(wide).unwrap();
        self.change(|columns| {
            let (column, ..) = columns.list.iter_mut().find(|(column, ..)| &*column.name == name).unwrap();
            column.ty = wide.clone();
        });
        for value in self.rows.values_mut().filter_map(|row| row.get_mut(name).unwrap().as_mut()) {
            let is_negative = !wide.unsigned && value.last().unwrap() >> 7 == 1;
            value.resize(width, if is_negative { 0xff } else { 0 });
        }
        self.widened += 1;
    }

    pub(super) fn assert_sound(&self) {
        let report = self.engine.check_table("s", "t", SHORT, check::Depth::Full).unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
    }

    pub(super) fn read(&self, table: &Table, row: &RowRef<'_>) -> Row {
        let columns = table.def.columns.iter().enumerate();
        columns.map(|(at, column)| (column.name.to_string(), value(&self.engine, row, at))).collect()
    }

    /// As [`MirroredTable::read`], of a row that may have an older version.
    pub(super) fn read_versioned(
        &self,
        table: &Table,
        row: &RowRef<'_>,
        older: Option<&OlderVersion>,
    ) -> Row {
        let Some(older) = older else { return self.read(table, row) };
        self.read_older.set(self.read_older.get() + 1);
        let value = |at| {
            let is_lacking = !older.seen().covers(at);
            if is_lacking {
                return older.initial(at).map(<[u8]>::to_vec);
            }
            let (found, ty) = (value(&self.engine, row, at)?, &table.def.columns[at].ty);
            Some(match types::storage::fixed_width(ty).filter(|&width| width > found.len()) {
                Some(width) => types::storage::widened(&found, !ty.unsigned)[..width].to_vec(),
                None => found,
            })
        };
        let columns = table.def.columns.iter().enumerate();
        columns.map(|(at, column)| (column.name.to_string(), value(at))).collect()
    }

    /// All rows by scans that hand out older versions as they are.
    pub(super) fn assert_versioned_rows(&self) {
        let (engine, table, view) = (&self.engine, self.table(), ReadView::newest());
        for (direction, is_detached) in [(Direction::Forward, false), (Direction::Backward, true)] {
            let scan = Scan::open(engine, &table, 0, view, KeyRange::all(), direction).unwrap().versioned();
            let mut scan = if is_detached { scan.detached() } else { scan };
            let mut found = Vec::new();
            while let Some((batch, older)) = scan.next_versioned_batch().unwrap() {
                found.extend(batch.rows().map(|row| self.read_versioned(&table, &row, older)));
            }
            if direction == Direction::Backward {
                found.reverse();
            }
            assert!(found.iter().eq(self.rows.values()), "{direction:?} as it is, detached {is_detached}");
        }
        let mut leaf_prober = LeafProber::new(engine, &table, 0, view).unwrap().versioned();
        for (&id, row) in &self.rows {
            let found = leaf_prober.get_versioned(&key(id)).unwrap();
            let found = found.map(|(found, older)| self.read_versioned(&table, &found, older));
            assert_eq!(found.as_ref(), Some(row), "leaf prober as it is");
            leaf_prober.probe(&key(id));
            let found = leaf_prober.next_versioned_batch().unwrap();
            let found = found.map(|(batch, older)| self.read_versioned(&table, &batch.row(0), older));
            leaf_prober.release();
            assert_eq!(found.as_ref(), Some(row), "batch of the leaf prober as it is");
        }
    }

    /// All rows by scans in both directions, latched and not, and each row by every lookup.
    pub(super) fn assert_rows(&self) {
        self.assert_versioned_rows();
        let (engine, table, view) = (&self.engine, self.table(), ReadView::newest());
        let all: Vec<&Row> = self.rows.values().collect();
        for direction in [Direction::Forward, Direction::Backward] {
            for is_detached in [false, true] {
                let scan = Scan::open(engine, &table, 0, view, KeyRange::all(), direction).unwrap();
                let mut scan = if is_detached { scan.detached() } else { scan };
                let mut found = Vec::new();
                while let Some(batch) = scan.next_batch().unwrap() {
                    let rows: Vec<RowRef<'_>> = batch.rows().collect();
                    let mut cells = 0;
                    batch.for_each_cell(|cell| {
                        assert!(cell.body().starts_with(rows[cells].body()));
                        cells += 1;
                    });
                    assert_eq!(cells, rows.len());
                    found.extend(rows.iter().map(|row| self.read(&table, row)));
                }
                if direction == Direction::Backward {
                    found.reverse();
                }
                assert_eq!(found.iter().collect::<Vec<_>>(), all, "{direction:?}, detached {is_detached}");
            }
        }
        let mut leaf_prober = LeafProber::new(engine, &table, 0, view).unwrap();
        let mut prober = Prober::new(engine, &table, 0, view).unwrap();
        let mut trx = engine.begin(BeginOptions::default());
        engine.open_table(&mut trx, "s", "t").unwrap();
        let locks = trx.lock_read(LockMode::Shared, WaitPolicy::Wait).unwrap();
        let mut scan = LockingScan::new(engine, &table, 0, &locks, Direction::Forward);
        scan.restart(false, |range| *range = KeyRange::all());
        let mut found = Vec::new();
        while let Some(row) = scan.next_row().unwrap() {
            found.push(self.read(&table, &row.row));
        }
        assert_eq!(found.iter().collect::<Vec<_>>(), all, "locking scan");
        for (&id, row) in &self.rows {
            let found = table.get(engine, &view, &key(id), |row| self.read(&table, &row)).unwrap();
            assert_eq!(found.as_ref(), Some(row), "get");
            let found = leaf_prober.get(&key(id)).unwrap().map(|found| self.read(&table, &found));
            leaf_prober.release();
            assert_eq!(found.as_ref(), Some(row), "leaf prober");
            let found = prober.get(&key(id)).unwrap().map(|found| self.read(&table, &found));
            assert_eq!(found.as_ref(), Some(row), "prober");
            let read = |row: RowRef<'_>| self.read(&table, &row);
            let found = table.lock_and_get(engine, &locks, &key(id), read).unwrap();
            assert_eq!(found.as_ref(), Some(row), "locking get");
        }
        let ids: Vec<i32> = self.rows.keys().copied().collect();
        assert_eq!(ids_by_index(engine, &table, 1, view), ids);
    }

    /// Leaves of the table that have an older version.
    pub(super) fn older_leaves(&self) -> usize {
        let table = self.table();
        let tree = &table.clustered().tree;
        let mut cursor = tree.seek(&self.engine.store, &[], btree::Seek::First).unwrap();
        let mut older = 0;
        while let Some(at) = &mut cursor {
            older += usize::from(!tree.is_current(at.page()));
            if !at.to_next_leaf().unwrap() {
                cursor = None;
            }
        }
        older
    }

    pub(super) fn convert_all(&self) {
        while self.engine.conversion_step().unwrap() {}
    }

    pub(super) fn reopened(self, disk: Arc<SimDisk>) -> MirroredTable {
        let MirroredTable { engine, rows, added, widened, read_older, .. } = self;
        drop(engine);
        let engine = Engine::open(config(&disk)).unwrap();
        MirroredTable { engine, disk, rows, added, widened, read_older }
    }
}

/// A column of a table to be: definition, old place, what older rows show.
pub(super) type NewColumn = (ColumnDef, Option<u16>, Option<Box<[u8]>>);

/// The columns of a table to be.
pub(super) struct Columns {
    pub(super) list: Vec<NewColumn>,
}

impl Columns {
    pub(super) fn of(def: &TableDef) -> Self {
        let column = |(at, column): (usize, &ColumnDef)| (column.clone(), Some(at as u16), None);
        Columns { list: def.columns.iter().enumerate().map(column).collect() }
    }
}

pub(super) fn random_value(prng: &mut Prng, ty: &SqlType) -> Vec<u8> {
    match types::storage::fixed_width(ty) {
        Some(width) => prng.below(u64::MAX).to_le_bytes()[..width].to_vec(),
        None => vec![b'a' + prng.below(20) as u8; prng.below(40) as usize],
    }
}

pub(super) fn pages_used(engine: &Engine) -> u64 {
    engine.store().space_report().pages_used
}
