//! The data directory that is measured: made once, natively, through the storage API.

use std::path::Path;
use std::sync::Arc;

use base::prng::Prng;
use engine::{BeginOptions, Engine, EngineConfig, Table};
use env::RealDisk;
use types::{CollationId, TableDef};

use crate::data;
use crate::tables::{self, EMPLOYEES, ITEMS, ROWS, SALARIES_EACH, SCHEMA, WAREHOUSES};

/// Rows of one transaction.
const BATCH_ROWS: u64 = 5_000;
/// Seed of all values; a change makes every line of the ledger incomparable.
const SEED: u64 = 120_414;

/// Makes all tables in the empty or missing folder `datadir`.
pub(crate) fn run(datadir: &Path) -> Result<(), String> {
    let disk = Arc::new(RealDisk);
    let config = EngineConfig { pool_bytes: 2 << 30, ..EngineConfig::new(disk, datadir) };
    let engine = Engine::open(config).map_err(|e| e.to_string())?;
    fill_all(&engine).map_err(|e| e.to_string())?;
    engine.shutdown().map_err(|e| e.to_string())
}

fn fill_all(engine: &Arc<Engine>) -> engine::Result<()> {
    engine.create_schema(SCHEMA, CollationId::UTF8MB4_0900_AI_CI)?;
    fill_sbtest(engine, "sbtest1", 1)?;
    fill_sbtest(engine, "sbtest2", 2)?;
    fill_probe(engine)?;
    fill_stock(engine)?;
    fill_employees(engine)
}

/// Ids are multiples of `step`, so that a step above 1 leaves ids free everywhere.
fn fill_sbtest(engine: &Arc<Engine>, name: &str, step: u64) -> engine::Result<()> {
    let mut prng = Prng::new(SEED + step);
    let mut loader = Loader::new(engine, tables::sbtest(name))?;
    for i in 1..=ROWS {
        let id = ((i * step) as i32).to_le_bytes();
        let k = (1 + prng.below(ROWS) as i32).to_le_bytes();
        let (c, pad) = (data::c_text(&mut prng), data::pad_text(&mut prng));
        loader.add(&[&id, &k, c.as_bytes(), pad.as_bytes()])?;
    }
    loader.finish()?;
    engine.table(SCHEMA, name)?.advance_auto_increment(engine, ROWS * step)
}

fn fill_probe(engine: &Arc<Engine>) -> engine::Result<()> {
    let mut prng = Prng::new(SEED);
    let mut loader = Loader::new(engine, tables::probe())?;
    for id in 1..=ROWS as i32 {
        let target = 1 + prng.below(ROWS) as i32;
        loader.add(&[&id.to_le_bytes(), &target.to_le_bytes()])?;
    }
    loader.finish()
}

fn fill_stock(engine: &Arc<Engine>) -> engine::Result<()> {
    let mut prng = Prng::new(SEED);
    let mut loader = Loader::new(engine, tables::stock())?;
    for warehouse in 1..=WAREHOUSES as i32 {
        for item in 1..=ITEMS as i32 {
            let name = data::name(&mut prng, 24);
            let quantity = 10 + prng.below(91) as i32;
            loader.add(&[
                &warehouse.to_le_bytes(),
                &item.to_le_bytes(),
                name.as_bytes(),
                &quantity.to_le_bytes(),
            ])?;
        }
    }
    loader.finish()
}

/// Employees with gaps between the blocks of their numbers, and one to seventeen salaries each.
fn fill_employees(engine: &Arc<Engine>) -> engine::Result<()> {
    let mut prng = Prng::new(SEED);
    let mut employees = Loader::new(engine, tables::employees())?;
    let mut hired = Vec::with_capacity(EMPLOYEES as usize);
    for i in 0..EMPLOYEES {
        let (birth, hire) = (prng.below(336 * 15), 336 * 35 + prng.below(336 * 15));
        let (first, last) = (data::name(&mut prng, 14), data::name(&mut prng, 16));
        let gender = [1 + u8::from(prng.below(10) >= 6)];
        employees.add(&[
            &employee_number(i),
            &data::date(birth),
            first.as_bytes(),
            last.as_bytes(),
            &gender,
            &data::date(hire),
        ])?;
        hired.push(hire);
    }
    employees.finish()?;
    let mut salaries = Loader::new(engine, tables::salaries())?;
    for (i, &hire) in (0..).zip(&hired) {
        let count = 1 + prng.below(2 * SALARIES_EACH - 1);
        let mut salary = 40_000 + prng.below(40_000);
        for year in 0..count {
            let until = if year + 1 < count { data::date(hire + 336 * (year + 1)) } else { data::forever() };
            let from = data::date(hire + 336 * year);
            salaries.add(&[&employee_number(i), &(salary as i32).to_le_bytes(), &from, &until])?;
            salary = salary + prng.below(5_000) - 1_000;
        }
    }
    salaries.finish()
}

fn employee_number(i: u64) -> [u8; 4] {
    ((10_001 + i / 100_000 * 200_000 + i % 100_000) as i32).to_le_bytes()
}

/// Inserts rows in batches, one transaction each.
struct Loader<'a> {
    engine: &'a Arc<Engine>,
    table: Arc<Table>,
    columns: usize,
    /// Values of the waiting rows, one after another.
    bytes: Vec<u8>,
    /// Where each value ends.
    ends: Vec<usize>,
}

impl<'a> Loader<'a> {
    fn new(engine: &'a Arc<Engine>, def: TableDef) -> engine::Result<Self> {
        let columns = def.columns.len();
        let table = engine.create_table(def)?;
        Ok(Loader { engine, table, columns, bytes: Vec::new(), ends: Vec::new() })
    }

    /// `row`: storage bytes in column order.
    fn add(&mut self, row: &[&[u8]]) -> engine::Result<()> {
        for value in row {
            self.bytes.extend_from_slice(value);
            self.ends.push(self.bytes.len());
        }
        if self.ends.len() as u64 >= BATCH_ROWS * self.columns as u64 {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> engine::Result<()> {
        let mut start = 0;
        let values: Vec<Option<&[u8]>> =
            self.ends.iter().map(|&end| Some(&self.bytes[std::mem::replace(&mut start, end)..end])).collect();
        let rows: Vec<&[Option<&[u8]>]> = values.chunks(self.columns).collect();
        let mut trx = self.engine.begin(BeginOptions::default());
        self.table.insert_batch(self.engine, &mut trx, &rows).map_err(|(_, error)| error)?;
        self.engine.commit(&mut trx)?;
        self.bytes.clear();
        self.ends.clear();
        Ok(())
    }

    fn finish(mut self) -> engine::Result<()> {
        self.flush()
    }
}
