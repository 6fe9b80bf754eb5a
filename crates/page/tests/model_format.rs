//! The written formats carry transactions: a small engine over real pages, payloads and log frames, one page
//! per tree, against a naive oracle. Begin, commit, rollback, savepoints, views, purge, row version changes,
//! crashes that lose memory, unwritten pages and the unsynced end of the log, and crashes within recovery.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "model_format/database.rs"]
mod database;
#[path = "model_format/log.rs"]
mod log;
#[path = "model_format/recovery.rs"]
mod recovery;
#[path = "model_format/rows.rs"]
mod rows;

use std::collections::BTreeMap;

use base::prng::Prng;

use database::{Database, View};
use rows::{N, Row, V};

const IDS: u64 = 12;
const WORDS: [&str; 6] = ["a", "A", "b", "B", "c", ""];

/// What a transaction has done, and its savepoints: undo records before each, and the changes then.
#[derive(Default)]
struct Intent {
    changes: BTreeMap<i32, Option<Row>>,
    savepoints: Vec<(usize, BTreeMap<i32, Option<Row>>)>,
}

/// The oracle: committed rows, each transaction's own changes, each view's copy.
struct Model {
    db: Database,
    rows: BTreeMap<i32, Row>,
    open: BTreeMap<u64, Intent>,
    views: Vec<(View, BTreeMap<i32, Row>)>,
    prng: Prng,
}

impl Model {
    fn new(seed: u64) -> Model {
        Model {
            db: Database::new(),
            rows: BTreeMap::new(),
            open: BTreeMap::new(),
            views: Vec::new(),
            prng: Prng::new(seed),
        }
    }

    fn step(&mut self) {
        match self.prng.below(100) {
            0..=11 if self.open.len() < 4 => {
                let trx = self.db.begin();
                self.open.insert(trx, Intent::default());
            }
            0..=64 => self.change(),
            65..=70 => self.commit(),
            71..=74 => self.roll_back(),
            75..=80 => self.savepoint(),
            81..=84 if self.views.len() < 3 => {
                self.views.push((self.db.view(None), self.rows.clone()));
            }
            81..=86 => {
                self.views.pop();
            }
            87..=89 if self.views.is_empty() => self.db.purge(),
            90..=93 => self.db.write_page(self.prng.below(2) as usize),
            94..=95 if self.open.is_empty() => self.alter(),
            96 => self.crash(),
            _ => self.compare(),
        }
    }

    fn pick(&mut self) -> Option<u64> {
        let count = self.open.len() as u64;
        (count > 0).then(|| *self.open.keys().nth(self.prng.below(count) as usize).unwrap())
    }

    /// One row change by one transaction, unless another has changed the row and is still open.
    fn change(&mut self) {
        if self.db.is_crowded() {
            self.views.clear();
            self.db.purge();
        }
        let Some(trx) = self.pick() else { return };
        let id = self.prng.below(IDS) as i32;
        if self.open.iter().any(|(other, intent)| *other != trx && intent.changes.contains_key(&id)) {
            return;
        }
        let now = self.open[&trx].changes.get(&id).cloned().unwrap_or_else(|| self.rows.get(&id).cloned());
        let next = match (&now, self.prng.below(4)) {
            (Some(_), 0) => None,
            (Some(row), _) => Some(self.changed(row.clone())),
            (None, _) => Some(self.changed(self.db.new_row(id))),
        };
        match (&now, &next) {
            (None, Some(row)) => self.db.insert(trx, row),
            (Some(old), Some(row)) => self.db.update(trx, old, row),
            (Some(old), None) => self.db.delete(trx, old),
            (None, None) => return,
        }
        self.open.get_mut(&trx).unwrap().changes.insert(id, next);
    }

    fn changed(&mut self, mut row: Row) -> Row {
        if self.prng.below(3) > 0 {
            let word = WORDS[self.prng.below(6) as usize];
            row.insert(V, (!word.is_empty()).then(|| word.as_bytes().to_vec()));
        }
        let columns: Vec<u16> = row.keys().copied().filter(|&id| id >= N).collect();
        for id in columns {
            if self.prng.below(2) == 0 {
                row.insert(id, Some((self.prng.below(9) as i32).to_le_bytes().to_vec()));
            }
        }
        row
    }

    fn commit(&mut self) {
        let Some(trx) = self.pick() else { return };
        self.db.commit(trx);
        for (id, row) in self.open.remove(&trx).unwrap().changes {
            match row {
                Some(row) => self.rows.insert(id, row),
                None => self.rows.remove(&id),
            };
        }
    }

    fn roll_back(&mut self) {
        let Some(trx) = self.pick() else { return };
        self.db.roll_back_to(trx, 0);
        self.db.end_rollback(trx);
        self.open.remove(&trx);
    }

    fn savepoint(&mut self) {
        let Some(trx) = self.pick() else { return };
        let take = self.prng.below(2) == 0;
        let intent = self.open.get_mut(&trx).unwrap();
        if take {
            intent.savepoints.push((self.db.undo_count(trx), intent.changes.clone()));
        } else if let Some((undo, changes)) = intent.savepoints.pop() {
            intent.changes = changes;
            self.db.roll_back_to(trx, undo);
        }
    }

    /// ADD COLUMN, with views open; DROP COLUMN, for which a real server would refuse older views.
    fn alter(&mut self) {
        if self.prng.below(2) == 0 {
            let (id, default) = self.db.add_column(&mut self.prng);
            let views = self.views.iter_mut().flat_map(|(_, rows)| rows.values_mut());
            for row in self.rows.values_mut().chain(views) {
                row.insert(id, default.clone());
            }
        } else if let Some(id) = self.db.drop_column() {
            self.views.clear();
            for row in self.rows.values_mut() {
                row.remove(&id);
            }
        }
    }

    fn crash(&mut self) {
        // Two recoveries that may crash in the middle, then one that gets through.
        for steps in [self.prng.below(30) as usize, self.prng.below(30) as usize, usize::MAX] {
            let cut = self.prng.next_u64();
            self.db.crash(cut);
            if self.db.recover(steps) {
                break;
            }
        }
        self.open.clear();
        self.views.clear();
        self.compare();
    }

    /// Every view, and every transaction's own sight, reads what the oracle holds, by both trees.
    fn compare(&self) {
        self.db.check();
        let now = (self.db.view(None), self.rows.clone());
        for (view, rows) in self.views.iter().chain([&now]) {
            assert_eq!(&self.db.read_clustered(view), rows);
            self.compare_secondary(view, rows);
        }
        for (&trx, intent) in &self.open {
            let mut rows = self.rows.clone();
            for (&id, row) in &intent.changes {
                match row {
                    Some(row) => rows.insert(id, row.clone()),
                    None => rows.remove(&id),
                };
            }
            let view = self.db.view(Some(trx));
            assert_eq!(self.db.read_clustered(&view), rows);
            self.compare_secondary(&view, &rows);
        }
    }

    fn compare_secondary(&self, view: &View, rows: &BTreeMap<i32, Row>) {
        let mut want: Vec<_> = rows.iter().map(|(&id, row)| (id, row[&V].clone())).collect();
        want.sort();
        assert_eq!(self.db.read_secondary(view), want);
    }
}

#[test]
fn the_formats_carry_transactions_versions_and_recovery() {
    for seed in 0..12 {
        let mut model = Model::new(seed);
        for _ in 0..2500 {
            model.step();
        }
        model.crash();
    }
}
