//! Simulated sessions, statement by statement, against a naive store that copies the whole table for every
//! snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::prng::Prng;
use page::RecordCopy;

use super::support::*;
use crate::*;

type Rows = BTreeMap<i32, Wide>;

const SESSIONS: usize = 4;

struct Session {
    trx: Trx,
    /// What was committed when the transaction's view was taken.
    snapshot: Option<Rows>,
    /// What the transaction has done: `None` = deleted.
    own: BTreeMap<i32, Option<Wide>>,
    savepoints: Vec<(String, BTreeMap<i32, Option<Wide>>)>,
    writes: bool,
}

impl Session {
    fn is_open(&self) -> bool {
        self.trx.is_open()
    }

    fn reset(&mut self) {
        self.snapshot = None;
        self.own.clear();
        self.savepoints.clear();
        self.writes = false;
    }
}

struct World {
    disk: Arc<env::SimDisk>,
    engine: Arc<Engine>,
    table: Arc<Table>,
    sessions: Vec<Session>,
    committed: Rows,
    prng: Prng,
    /// Rows have ids below this: few make clashes, many make leaves.
    ids: u64,
}

fn overlay(base: &Rows, own: &BTreeMap<i32, Option<Wide>>) -> Rows {
    let mut rows = base.clone();
    for (id, row) in own {
        match row {
            Some(row) => drop(rows.insert(*id, row.clone())),
            None => drop(rows.remove(id)),
        }
    }
    rows
}

impl World {
    fn new(seed: u64, ids: u64) -> Self {
        let (engine, disk) = engine();
        let table = engine.create_table(wide_def("t")).unwrap();
        let options = BeginOptions { lock_wait: Duration::ZERO, ..BeginOptions::default() };
        let session = |_| Session {
            trx: engine.begin(options),
            snapshot: None,
            own: BTreeMap::new(),
            savepoints: Vec::new(),
            writes: false,
        };
        let sessions = (0..SESSIONS).map(session).collect();
        World { disk, engine, table, sessions, committed: Rows::new(), prng: Prng::new(seed), ids }
    }

    fn step(&mut self) {
        let s = self.prng.below(SESSIONS as u64) as usize;
        if !self.sessions[s].is_open() {
            return self.begin(s);
        }
        match self.prng.below(100) {
            0..25 if self.prng.below(600) < 600_u64.min(14_400 / self.ids) => self.read(s),
            0..70 => self.write(s),
            70..72 => self.write_batch(s),
            72 => {
                self.sessions[s].trx.commit_with_change();
                self.write(s);
                self.commit(s);
            }
            73..75 => self.savepoint(s),
            75..78 => self.rollback_to(s),
            78..82 => self.failing_statement(s),
            82..90 => self.commit(s),
            90..93 => self.rollback(s),
            93..98 => drop(self.engine.purge_step(1 + self.prng.below(3) as usize).unwrap()),
            _ => assert_sound(&self.engine, &self.table),
        }
    }

    fn begin(&mut self, s: usize) {
        let isolation = match self.prng.below(4) {
            0 => Isolation::ReadCommitted,
            1 => Isolation::ReadUncommitted,
            _ => Isolation::RepeatableRead,
        };
        let options = BeginOptions { isolation, lock_wait: Duration::ZERO, ..BeginOptions::default() };
        self.sessions[s].trx.restart(options);
    }

    fn expected(&mut self, s: usize) -> Rows {
        let everything: BTreeMap<_, _> =
            self.sessions.iter().flat_map(|session| session.own.clone()).collect();
        let session = &mut self.sessions[s];
        match session.trx.isolation() {
            Isolation::ReadUncommitted => overlay(&self.committed, &everything),
            Isolation::ReadCommitted => overlay(&self.committed, &session.own),
            _ => overlay(session.snapshot.get_or_insert_with(|| self.committed.clone()), &session.own),
        }
    }

    fn read(&mut self, s: usize) {
        let expected = self.expected(s);
        let (engine, table) = (Arc::clone(&self.engine), Arc::clone(&self.table));
        let view = self.sessions[s].trx.view();
        assert_eq!(rows(&engine, &table, view), expected.values().cloned().collect::<Vec<_>>());
        let (from, to) = (self.prng.below(self.ids) as i32, self.prng.below(self.ids) as i32);
        let mut wanted: Vec<_> =
            expected.values().filter(|row| from <= row.id && row.id <= to).cloned().collect();
        wanted.reverse();
        assert_eq!(rows_in(&engine, &table, view, between(from, to), Direction::Backward), wanted);
        let mut prober = Prober::new(&engine, &table, 0, view).unwrap();
        let (mut in_place, mut copies) = (LeafProber::new(&engine, &table, 0, view).unwrap(), Vec::new());
        for _ in 0..6 {
            let id = self.prng.below(self.ids) as i32;
            let found = table.get(&engine, &view, &key(id), |row| Wide::read(&engine, &row)).unwrap();
            assert_eq!(found.as_ref(), expected.get(&id), "id {id}");
            let probed = prober.get(&key(id)).unwrap().map(|row| Wide::read(&engine, &row));
            assert_eq!(probed, found, "probe of id {id}");
            copies.clear();
            let copy = in_place.get(&key(id)).unwrap().map(|row| row.record().copy_to(&mut copies));
            in_place.release();
            let row = |copy: RecordCopy| RowRef::new(&table.indexes[0].format, copy.record(&copies));
            let probed = copy.map(|copy| Wide::read(&engine, &row(copy)));
            assert_eq!(probed, found, "probe in place of id {id}");
        }
        for index in 1..table.indexes.len() {
            let ids = ids_by_index(&engine, &table, index, view);
            let wanted: Vec<_> = expected.keys().copied().collect();
            assert_eq!(ids, wanted, "through {}", table.indexes[index].def.name);
        }
        self.read_by_k(view, &expected);
        self.sessions[s].trx.end_statement();
    }

    fn read_by_k(&mut self, view: ReadView, expected: &Rows) {
        let mut prober = Prober::new(&self.engine, &self.table, 1, view).unwrap();
        for _ in 0..4 {
            let k = self.prng.below(6) as i32;
            let prefix = [&[1][..], &key(k)].concat();
            prober.probe(&prefix);
            let mut ids = Vec::new();
            while let Some(batch) = prober.next_batch().unwrap() {
                for row in batch.rows() {
                    assert_eq!(value(&self.engine, &row, 1), Some(k.to_le_bytes().to_vec()));
                    ids.push(i32::from_le_bytes(value(&self.engine, &row, 0).unwrap().try_into().unwrap()));
                }
            }
            let wanted: Vec<_> = expected.values().filter(|row| row.k == Some(k)).map(|row| row.id).collect();
            assert_eq!(ids, wanted, "k = {k}");
            let release = self.prng.below(2) == 0;
            if !view.is_mixed() {
                assert_eq!(self.ids_in_place(view, &prefix, release), wanted, "k = {k}, in place");
            }
        }
    }

    /// Ids after the entries of `k`'s index that start with `prefix`; the leaf is let go after each batch if
    /// `release`.
    fn ids_in_place(&self, view: ReadView, prefix: &[u8], release: bool) -> Vec<i32> {
        let mut prober = LeafProber::new(&self.engine, &self.table, 1, view).unwrap();
        prober.probe(prefix);
        let mut ids = Vec::new();
        while let Some(batch) = prober.next_batch().unwrap() {
            let id = |row: RowRef<'_>| value(&self.engine, &row, 0).unwrap().try_into().unwrap();
            ids.extend(batch.rows().map(|row| i32::from_le_bytes(id(row))));
            if release {
                prober.release();
            }
        }
        ids
    }

    fn random_row(&mut self) -> Wide {
        let (prng, ids) = (&mut self.prng, self.ids);
        let n = prng.below(2 * ids);
        let c = if prng.below(2) == 0 { format!("name {n}") } else { format!("NAME {n}") };
        let body = match prng.below(8) {
            0 => None,
            1 => Some("x".repeat(6000 + prng.below(40_000) as usize)),
            2 => Some(String::new()),
            _ => Some(format!("text {}", prng.below(3)).repeat(1 + prng.below(20) as usize)),
        };
        Wide {
            id: prng.below(ids) as i32,
            k: (prng.below(6) != 0).then(|| prng.below(6) as i32),
            c: (prng.below(6) != 0).then_some(c),
            body,
        }
    }

    fn newest(&self, s: usize) -> Rows {
        overlay(&self.committed, &self.sessions[s].own)
    }

    fn others(&self, s: usize) -> impl Iterator<Item = &Session> {
        self.sessions.iter().enumerate().filter(move |&(i, _)| i != s).map(|(_, session)| session)
    }

    /// Whether another session has locks, of rows or gaps: then this one's write may time out.
    fn may_block(&self, s: usize) -> bool {
        self.others(s).any(|session| session.writes)
    }

    /// Whether another session has changed the row with this id and not ended: then a write of it times out.
    fn is_taken(&self, s: usize, id: i32) -> bool {
        self.others(s).any(|session| session.own.contains_key(&id))
    }

    /// Whether another session has given a row this name and not ended.
    fn is_name_taken(&self, s: usize, name: Option<&str>) -> bool {
        let Some(name) = name else { return false };
        let is_new = |(id, row): (&i32, &Option<Wide>)| {
            let now = row.as_ref().and_then(|row| row.c.as_deref());
            let before = self.committed.get(id).and_then(|row| row.c.as_deref());
            now != before && now.is_some_and(|now| now.eq_ignore_ascii_case(name))
        };
        self.others(s).any(|session| session.own.iter().any(is_new))
    }

    fn write(&mut self, s: usize) {
        let row = self.random_row();
        let id = self.prng.below(self.ids) as i32;
        let choice = self.prng.below(3);
        let columns = self.prng.below(16);
        let newest = self.newest(s);
        let may_block = self.may_block(s);
        let must_block = if choice == 0 {
            let is_there = newest.contains_key(&row.id);
            self.is_taken(s, row.id) || (!is_there && self.is_name_taken(s, row.c.as_deref()))
        } else {
            self.is_taken(s, id)
        };
        let is_timeout = |error: &Error| matches!(error, Error::Lock(trx::Error::LockWaitTimeout));
        let (engine, table) = (Arc::clone(&self.engine), Arc::clone(&self.table));
        let session = &mut self.sessions[s];
        assert!(engine.lock_table(&mut session.trx, &table, trx::TableUse::Write).unwrap());
        let clashes = |row: &Wide, but: Option<i32>| {
            let same = |c: &str, d: &str| c.eq_ignore_ascii_case(d);
            newest.values().filter(|other| Some(other.id) != but).any(|other| {
                other.id == row.id || matches!((&other.c, &row.c), (Some(a), Some(b)) if same(a, b))
            })
        };
        let done = match choice {
            0 => {
                let done = insert(&engine, &table, &mut session.trx, &row);
                if !done.as_ref().is_err_and(is_timeout) {
                    assert_eq!(done.is_err(), clashes(&row, None), "{done:?}");
                    if done.is_ok() {
                        session.own.insert(row.id, Some(row));
                    }
                }
                done.map(drop)
            }
            1 => {
                let done = delete(&engine, &table, &mut session.trx, id);
                if !done.as_ref().is_err_and(is_timeout) {
                    assert_eq!(done.as_ref().ok(), Some(&newest.contains_key(&id)));
                    if newest.contains_key(&id) {
                        session.own.insert(id, None);
                    }
                }
                done.map(drop)
            }
            _ => {
                let changed: ColumnSet = (0..4).filter(|bit| columns >> bit & 1 != 0).collect();
                let done = row.with(|row| table.update(&engine, &mut session.trx, &key(id), row, &changed));
                if !done.as_ref().is_err_and(is_timeout) {
                    let Some(old) = newest.get(&id) else {
                        assert_eq!((done.unwrap(), must_block), (UpdateOutcome::Missing, false));
                        session.writes = true;
                        return;
                    };
                    let pick = |i: usize| changed.contains(i);
                    let new = Wide {
                        id: if pick(0) { row.id } else { old.id },
                        k: if pick(1) { row.k } else { old.k },
                        c: if pick(2) { row.c.clone() } else { old.c.clone() },
                        body: if pick(3) { row.body.clone() } else { old.body.clone() },
                    };
                    assert_eq!(done.is_err(), clashes(&new, Some(id)), "{done:?}");
                    if matches!(done, Ok(UpdateOutcome::Updated)) {
                        session.own.insert(id, None);
                        session.own.insert(new.id, Some(new));
                    }
                }
                done.map(drop)
            }
        };
        session.writes = true;
        if done.as_ref().is_err_and(is_timeout) {
            assert!(may_block, "nobody stands in the way");
        } else {
            assert!(!must_block, "a change over another's: {done:?}");
            assert!(matches!(done, Ok(()) | Err(Error::DuplicateKey(_))), "{done:?}");
        }
    }

    /// A statement of many rows: those before the first clash are in.
    fn write_batch(&mut self, s: usize) {
        if self.may_block(s) {
            return;
        }
        let count = 1 + self.prng.below(1 + self.ids / 8);
        let mut batch: Vec<Wide> = (0..count).map(|_| self.random_row()).collect();
        if self.prng.below(2) == 0 {
            // No clash within the batch, so that some go through whole.
            batch.sort();
            batch.dedup_by_key(|row| row.id);
            for row in &mut batch {
                row.c = None;
            }
        }
        let mut newest = self.newest(s);
        let mut wanted = 0;
        for row in &batch {
            let same = |other: &Wide| match (&other.c, &row.c) {
                (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
                _ => false,
            };
            if newest.contains_key(&row.id) || newest.values().any(same) {
                break;
            }
            newest.insert(row.id, row.clone());
            wanted += 1;
        }
        let session = &mut self.sessions[s];
        assert!(self.engine.lock_table(&mut session.trx, &self.table, trx::TableUse::Write).unwrap());
        let (engine, table, trx) = (&self.engine, &self.table, &mut session.trx);
        let done = match Wide::with_all(&batch, |rows| table.insert_batch(engine, trx, rows)) {
            Ok(done) => done,
            Err((done, Error::DuplicateKey(_))) => done,
            Err((_, error)) => panic!("{error}"),
        };
        assert_eq!(done, wanted);
        session.writes = true;
        session.own.extend(batch.into_iter().take(done).map(|row| (row.id, Some(row))));
    }

    fn savepoint(&mut self, s: usize) {
        let name = format!("s{}", self.prng.below(3));
        let session = &mut self.sessions[s];
        session.trx.set_savepoint(&name);
        session.savepoints.retain(|(other, _)| *other != name);
        session.savepoints.push((name, session.own.clone()));
    }

    fn rollback_to(&mut self, s: usize) {
        let name = format!("s{}", self.prng.below(3));
        let session = &mut self.sessions[s];
        let at = session.savepoints.iter().position(|(other, _)| *other == name);
        let done = self.engine.rollback_to_savepoint(&mut session.trx, &name);
        assert_eq!(done.is_ok(), at.is_some());
        if let Some(at) = at {
            session.own = session.savepoints[at].1.clone();
            session.savepoints.truncate(at + 1);
        }
    }

    /// A statement of several rows that is taken back.
    fn failing_statement(&mut self, s: usize) {
        let before = self.sessions[s].own.clone();
        let mark = self.sessions[s].trx.mark();
        for _ in 0..4 {
            self.write(s);
        }
        self.engine.rollback_statement(&mut self.sessions[s].trx, mark).unwrap();
        self.sessions[s].own = before;
    }

    fn commit(&mut self, s: usize) {
        self.engine.commit(&mut self.sessions[s].trx).unwrap();
        self.committed = overlay(&self.committed, &self.sessions[s].own);
        self.sessions[s].reset();
    }

    fn rollback(&mut self, s: usize) {
        self.engine.rollback(&mut self.sessions[s].trx).unwrap();
        self.sessions[s].reset();
    }
}

fn run(seed: u64, ids: u64, steps: usize) {
    let mut world = World::new(seed, ids);
    for _ in 0..steps {
        world.step();
    }
    for s in 0..SESSIONS {
        if world.sessions[s].is_open() {
            world.commit(s);
        }
    }
    assert_eq!(
        rows(&world.engine, &world.table, ReadView::newest()),
        world.committed.values().cloned().collect::<Vec<_>>()
    );
    world.engine.purge_step(usize::MAX).unwrap();
    let report = world.table.check(&world.engine).unwrap();
    assert_eq!((report.leftovers, report.problems), (0, vec![]));
    assert_eq!(report.rows, world.committed.len() as u64);
    assert_eq!(world.table.row_count_estimate(), report.rows);
    let disk = Arc::clone(&world.disk);
    world.engine.shutdown().unwrap();
    drop(world);
    let found = look_at(&disk);
    assert_eq!((found.findings, found.rows), (vec![], report.rows));
}

#[test]
fn sessions_see_what_a_naive_store_of_whole_copies_shows() {
    for seed in 0..24 {
        eprintln!("seed {seed}");
        run(seed, 24, 600);
    }
}

#[test]
fn the_same_holds_over_many_leaves() {
    for seed in 100..104 {
        eprintln!("seed {seed}");
        run(seed, 3000, 6000);
    }
}
