//! Power failures: what was committed is there, what was not is gone, indexes and space agree.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::prng::Prng;
use env::{Disk, FaultKind, SimDisk};
use log::LogConfig;
use types::{CollationId, IndexDef, IndexKind};

use super::support::*;
use crate::check::check_datadir;
use crate::*;

type Rows = BTreeMap<i32, Wide>;

/// A small pool and small log files, so that a run evicts pages and fills several files.
fn crash_config(disk: &Arc<SimDisk>) -> EngineConfig {
    let log = LogConfig { capacity_bytes: 4 << 20, buffer_bytes: 64 << 10, file_bytes_min: 64 << 10 };
    EngineConfig { pool_bytes: 40 * page::PAGE_SIZE, log, ..config(disk) }
}

/// A session at work, and what the table holds according to it.
struct Run {
    engine: Arc<Engine>,
    disk: Arc<SimDisk>,
    prng: Prng,
    /// After the last commit that was answered.
    committed: Rows,
    /// After the commit that was asked for and not answered.
    asked: Option<Rows>,
    /// The highest AUTO_INCREMENT number given out.
    highest: u64,
}

fn wait() -> Duration {
    Duration::from_secs(10)
}

fn auto_def() -> types::TableDef {
    let mut def = wide_def("t");
    def.columns[0].auto_increment = true;
    def
}

impl Run {
    fn new(seed: u64) -> Run {
        let disk = Arc::new(SimDisk::seeded(seed));
        let engine = Engine::open(crash_config(&disk)).unwrap();
        engine.create_schema("s", CollationId::UTF8MB4_0900_AI_CI).unwrap();
        engine.create_table(auto_def()).unwrap();
        let prng = Prng::new(seed);
        Run { engine, disk, prng, committed: Rows::new(), asked: None, highest: 0 }
    }

    fn row(&mut self, id: i32) -> Wide {
        let body = match self.prng.below(12) {
            0 => Some("long ".repeat(1 + self.prng.below(9000) as usize)),
            1 => Some("short".to_owned()),
            _ => None,
        };
        let c = (self.prng.below(5) > 0).then(|| format!("c{}", self.prng.below(400)));
        Wide { id, k: Some(self.prng.below(20) as i32), c, body }
    }

    /// One change of one row, in the transaction and in `rows`.
    fn change(&mut self, table: &Table, trx: &mut Trx, rows: &mut Rows) -> Result<()> {
        let id = self.prng.below(300) as i32 + 1;
        let row = self.row(id);
        let done = match self.prng.below(10) {
            0..4 => insert(&self.engine, table, trx, &row).map(|()| drop(rows.insert(id, row))),
            4 => {
                let id = table.reserve_auto_increment(&self.engine, 1, 1000)?;
                self.highest = self.highest.max(id);
                let row = Wide { id: id as i32, ..row };
                insert(&self.engine, table, trx, &row).map(|()| drop(rows.insert(row.id, row)))
            }
            5..8 => update(&self.engine, table, trx, id, &row).map(|outcome| {
                if outcome != UpdateOutcome::Missing && rows.contains_key(&id) {
                    rows.insert(id, row);
                }
            }),
            _ => delete(&self.engine, table, trx, id).map(|_| drop(rows.remove(&id))),
        };
        match done {
            Err(Error::DuplicateKey(_)) => Ok(()),
            other => other,
        }
    }

    fn transaction(&mut self) -> Result<()> {
        let engine = Arc::clone(&self.engine);
        let table = engine.table("s", "t")?;
        let mut trx = engine.begin(BeginOptions::default());
        engine.lock_table(&mut trx, &table, trx::TableUse::Write)?;
        let mut rows = self.committed.clone();
        let mut savepoint = None;
        for _ in 0..=self.prng.below(12) {
            self.change(&table, &mut trx, &mut rows)?;
            match self.prng.below(14) {
                2 => engine.checkpoint()?,
                0 => {
                    trx.set_savepoint("here");
                    savepoint = Some(rows.clone());
                }
                1 => {
                    if let Some(before) = savepoint.take() {
                        engine.rollback_to_savepoint(&mut trx, "here")?;
                        rows = before;
                    }
                }
                _ => {}
            }
        }
        if self.prng.below(5) == 0 {
            return engine.rollback(&mut trx);
        }
        self.asked = Some(rows.clone());
        engine.commit(&mut trx)?;
        (self.committed, self.asked) = (rows, None);
        Ok(())
    }

    /// Other tables and indexes come and go.
    fn definition(&mut self) -> Result<()> {
        let engine = &self.engine;
        let other = engine.table("s", "other").ok();
        match self.prng.below(6) {
            0 | 1 if other.is_none() => drop(engine.create_table(wide_def("other"))?),
            0 => engine.drop_table("s", "other", wait())?,
            1 => engine.truncate_table("s", "other", wait())?,
            2 => {
                if let Some(other) = other {
                    let mut trx = engine.begin(BeginOptions::default());
                    engine.lock_table(&mut trx, &other, trx::TableUse::Write)?;
                    for id in 0..100 {
                        let row =
                            Wide { body: Some("b".repeat(500)), ..Wide::new(id, id % 5, &format!("c{id}")) };
                        match insert(engine, &other, &mut trx, &row) {
                            Ok(()) | Err(Error::DuplicateKey(_)) => {}
                            Err(error) => return Err(error),
                        }
                    }
                    engine.commit(&mut trx)?;
                }
            }
            _ => {
                let index = IndexDef::new("kc", IndexKind::Secondary, &[1, 2]);
                if engine.table("s", "t")?.find_index("kc").is_some() {
                    engine.drop_index("s", "t", "kc", wait())?;
                } else {
                    engine.create_index("s", "t", index, wait())?;
                }
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        match self.prng.below(30) {
            0 => self.definition(),
            1 | 3 => self.engine.purge_step(usize::MAX).map(drop),
            2 => self.engine.checkpoint(),
            4 => self.engine.sweep_step().map(drop),
            _ => self.transaction(),
        }
    }

    /// What a startup finds on `disk` is right.
    fn assert_recovered(&self, disk: SimDisk) {
        let disk = Arc::new(disk);
        let engine = Engine::open(crash_config(&disk)).unwrap();
        let table = engine.table("s", "t").unwrap();
        let found: Rows =
            rows(&engine, &table, ReadView::newest()).into_iter().map(|row| (row.id, row)).collect();
        assert!(
            found == self.committed || Some(&found) == self.asked.as_ref(),
            "rows are not those committed"
        );
        while engine.sweep_step().unwrap().is_some() {}
        for table in engine.tables("s").unwrap() {
            let report = table.check(&engine).unwrap();
            assert_eq!((report.leftovers, report.problems), (0, vec![]), "{}", table.def.name);
        }
        assert!(table.reserve_auto_increment(&engine, 1, 0).unwrap() > self.highest);
        let mut trx = engine.begin(BeginOptions::default());
        insert(&engine, &table, &mut trx, &Wide::new(900, 1, "after")).unwrap();
        engine.commit(&mut trx).unwrap();
        drop((trx, table));
        engine.shutdown().unwrap();
        drop(engine);
        assert_file_sound(&disk);
    }
}

/// The file agrees with itself: every page has one owner.
fn assert_file_sound(disk: &Arc<SimDisk>) {
    let disk: Arc<dyn Disk> = Arc::clone(disk) as _;
    let report = check_datadir(disk, Path::new("/data"), 8 << 20, &mut |_| {}).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn after_a_power_failure_committed_rows_are_there_and_nothing_else() {
    for seed in 0..25 {
        eprintln!("seed {seed}");
        let mut run = Run::new(seed);
        let at = 1 + run.prng.below(1500);
        run.disk.schedule(None, at, FaultKind::PowerOff);
        for _ in 0..400 {
            if run.step().is_err() {
                break;
            }
        }
        let crashed = run.disk.crash();
        run.assert_recovered(crashed);
    }
}

#[test]
fn recovery_that_is_cut_short_is_begun_again() {
    for seed in 0..4 {
        eprintln!("seed {seed}");
        let mut run = Run::new(seed);
        for _ in 0..60 {
            run.step().unwrap();
        }
        // A transaction with all kinds of undo is open; part of it is rolled back.
        let engine = Arc::clone(&run.engine);
        let table = engine.table("s", "t").unwrap();
        let mut trx = engine.begin(BeginOptions::default());
        let mut ignored = run.committed.clone();
        for n in 0..60 {
            run.change(&table, &mut trx, &mut ignored).unwrap();
            match n {
                30 => trx.set_savepoint("half"),
                45 => engine.rollback_to_savepoint(&mut trx, "half").unwrap(),
                _ => {}
            }
        }
        engine.store().log().flush().unwrap();
        let crashed = run.disk.crash();
        let mut at = 1;
        loop {
            let disk = Arc::new(crashed.crash_keeping(|_, _| true));
            disk.schedule(None, at, FaultKind::PowerOff);
            if Engine::open(crash_config(&disk)).is_ok() && !disk.is_powered_off() {
                break;
            }
            let again = Arc::new(disk.crash());
            again.schedule(None, 1 + run.prng.below(200), FaultKind::PowerOff);
            drop(Engine::open(crash_config(&again)));
            run.assert_recovered(again.crash());
            at += 1 + run.prng.below(9);
        }
        assert!(at > 30, "{at} operations");
    }
}

#[test]
fn a_rollback_that_fails_is_not_taken_for_done_by_the_next_attempt() {
    let disk = Arc::new(SimDisk::seeded(1));
    let startup_lines = Arc::new(StartupLines::default());
    let startup_log = Arc::clone(&startup_lines) as Arc<dyn StartupLog>;
    let engine = Engine::open(EngineConfig { startup_log, ..config(&disk) }).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_BIN).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(1, 1, "kept")).unwrap();
    engine.commit(&mut trx).unwrap();
    trx.restart(BeginOptions::default());
    update(&engine, &table, &mut trx, 1, &Wide::new(1, 2, "lost")).unwrap();
    // A page write that fails: no page can be changed any more, and the log continues.
    disk.schedule(Some(env::IoOp::Write), 2, env::FaultKind::Error(std::io::ErrorKind::Other));
    engine.checkpoint().unwrap_err();
    for _ in 0..8 {
        engine.rollback(&mut trx).unwrap_err();
    }
    assert!(startup_lines.0.lock().unwrap().is_empty());
    drop(trx);
    let lines = startup_lines.0.lock().unwrap().clone();
    assert!(lines.len() == 1 && lines[0].contains("is not rolled back"), "{lines:?}");
    assert_eq!(
        rows(&engine, &table, engine.begin(BeginOptions::default()).view()),
        [Wide::new(1, 1, "kept")]
    );
    engine.store().log().flush().unwrap();
    let disk = Arc::new(disk.crash());
    let engine = Engine::open(config(&disk)).unwrap();
    let table = engine.table("s", "t").unwrap();
    assert_eq!(rows(&engine, &table, ReadView::newest()), [Wide::new(1, 1, "kept")]);
    assert_sound(&engine, &table);
}

#[test]
fn a_purge_that_is_cut_short_leaves_no_row_without_its_value() {
    let disk = Arc::new(SimDisk::seeded(3));
    let log = LogConfig { capacity_bytes: 512 << 10, buffer_bytes: 1 << 20, file_bytes_min: 512 << 10 };
    let short = |disk: &Arc<SimDisk>| EngineConfig { log, ..config(disk) };
    let engine = Engine::open(short(&disk)).unwrap();
    engine.create_schema("s", CollationId::UTF8MB4_BIN).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    let mut fill = |ids: std::ops::Range<i32>, gone: bool| {
        for id in ids.clone() {
            let row = Wide { body: Some("b".repeat(9000)), ..Wide::new(id, id, &format!("c{id}")) };
            insert(&engine, &table, &mut trx, &row).unwrap();
        }
        engine.commit(&mut trx).unwrap();
        trx.restart(BeginOptions::default());
        for id in ids.filter(|_| gone) {
            delete(&engine, &table, &mut trx, id).unwrap();
        }
        engine.commit(&mut trx).unwrap();
        trx.restart(BeginOptions::default());
    };
    fill(0..30, true);
    // So much that the log does not keep what is left to purge.
    fill(100..125, false);
    drop(trx);
    engine.checkpoint().unwrap();
    engine.purge_step(usize::MAX).unwrap();
    let log = engine.store().log();
    log.written_up_to(log.current()).unwrap();
    let is_redo = |path: &Path| path.extension().is_some_and(|ending| ending == "redo");
    let mut sectors = Vec::new();
    let _ = disk.crash_keeping(|path, sector| {
        sectors.extend(is_redo(path).then_some(sector));
        true
    });
    assert!(sectors.len() > 5, "{} sectors of log", sectors.len());
    for cut in sectors {
        let disk = Arc::new(disk.crash_keeping(|path, sector| !is_redo(path) || sector < cut));
        let engine = Engine::open(short(&disk)).unwrap();
        let table = engine.table("s", "t").unwrap();
        assert_eq!(rows(&engine, &table, ReadView::newest()).len(), 25, "cut at {cut}");
        assert_sound(&engine, &table);
    }
}
