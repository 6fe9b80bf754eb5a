//! Rows in older row format versions, read as they are on their pages, against rows that the engine converts.

use std::time::Duration;

use base::prng::Prng;
use engine::{Alteration, BeginOptions, InitialValues, NewColumns, ReadView};
use types::storage::is_widened;
use types::{ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

use super::projection::{Drawn, create, kinds};
use super::support::*;
use crate::Protocol;
use crate::op::NEVER_VERSIONED;
use crate::reader::OLDER_READS;

const ROWS: u64 = 150;

/// A table `t` whose columns change, and `u`, which refers to its rows.
struct Changing {
    bench: Bench,
    prng: Prng,
    added: usize,
    widened: usize,
}

impl Changing {
    fn new(seed: u64) -> Self {
        let (mut bench, mut prng) = (Bench::new(), Prng::new(seed));
        create(&mut bench, &mut prng, "t", ROWS);
        let t = std::sync::Arc::clone(&bench.engine.table("s", "t").unwrap().def);
        let columns = vec![
            ColumnDef::new("id", int_type(), false),
            ColumnDef::new("a", t.columns[0].ty.clone(), false),
            ColumnDef::new("k", t.columns[1].ty.clone(), true),
        ];
        bench.create(TableDef::new(
            "s",
            "u",
            columns,
            vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])],
        ));
        let keys = bench.select("SELECT a, b FROM t");
        let mut changing = Changing { bench, prng, added: 0, widened: 0 };
        for (i, key) in keys.split(',').enumerate() {
            let (a, b) = key.split_once(' ').unwrap();
            let b = if i % 5 == 0 { "5000" } else { b };
            changing.bench.run(&format!("INSERT INTO u VALUES ({i}, {a}, {b})"));
        }
        changing.commit();
        changing
    }

    fn commit(&mut self) {
        let bench = &mut self.bench;
        bench.engine.commit(&mut bench.trx).unwrap();
        bench.trx = bench.engine.begin(BeginOptions::default());
    }

    fn columns(&self) -> Vec<ColumnDef> {
        self.bench.engine.table("s", "t").unwrap().def.columns.clone()
    }

    /// Storage bytes of a random value of the type.
    fn stored(&mut self, (ty, draw): &Drawn) -> Box<[u8]> {
        self.added += 1;
        let (name, literal) = (format!("x{}", self.added), draw(&mut self.prng));
        let mut def = small_def(&name);
        def.columns[1] = ColumnDef::new("v", ty.clone(), false);
        def.indexes.truncate(1);
        self.bench.create(def);
        self.bench.run(&format!("INSERT IGNORE INTO {name} (id, v) VALUES (1, {literal})"));
        self.commit();
        let (engine, table) = (&self.bench.engine, self.bench.engine.table("s", &name).unwrap());
        let key = [0x80, 0, 0, 1];
        let read = |row: engine::RowRef<'_>| row.column(1, &mut Vec::new()).map(Box::from);
        table.get(engine, &ReadView::newest(), &key, read).unwrap().flatten().unwrap()
    }

    /// Adds a column, drops one, moves one, lets one be NULL, or gives an integer a wider type.
    fn change(&mut self) {
        let mut list: Vec<_> =
            (0..).zip(self.columns()).map(|(at, column)| (column, Some(at), None)).collect();
        let place = self.prng.below(list.len() as u64 + 1) as usize;
        let behind_key = 2 + self.prng.below(list.len() as u64) as usize;
        match self.prng.below(8) {
            0..=2 => {
                let kinds = kinds();
                let drawn = &kinds[self.prng.below(kinds.len() as u64) as usize];
                let initial = (self.prng.below(3) > 0).then(|| self.stored(drawn));
                let is_nullable = initial.is_none() || self.prng.below(2) == 0;
                self.added += 1;
                let column = ColumnDef::new(&format!("n{}", self.added), drawn.0.clone(), is_nullable);
                list.insert(place, (column, None, initial));
            }
            3 if list.len() > 4 => {
                let dropped = list.iter().rposition(|(column, ..)| !["a", "b"].contains(&&*column.name));
                let first = list.iter().position(|(column, ..)| !["a", "b"].contains(&&*column.name));
                list.remove(if place.is_multiple_of(2) { first.unwrap() } else { dropped.unwrap() });
            }
            4 => {
                let moved = list.remove(place % list.len());
                list.insert(behind_key % (list.len() + 1), moved);
            }
            5..=6 => {
                let others = list.iter_mut().filter(|(column, ..)| !["a", "b"].contains(&&*column.name));
                let kinds = [TypeKind::SmallInt, TypeKind::MediumInt, TypeKind::Int, TypeKind::BigInt];
                let kind = kinds[self.prng.below(4) as usize];
                let wide = |ty: &SqlType| SqlType { kind, ..ty.clone() };
                for (column, ..) in others.filter(|(column, ..)| is_widened(&column.ty, &wide(&column.ty))) {
                    column.ty = wide(&column.ty);
                    self.widened += 1;
                }
            }
            _ => {
                let mut others = list.iter_mut().filter(|(column, ..)| !["a", "b"].contains(&&*column.name));
                if let Some((column, ..)) = others.nth(behind_key % 3) {
                    column.nullable = true;
                }
            }
        }
        self.commit();
        let table = self.bench.engine.table("s", "t").unwrap();
        let mut new = (*table.def).clone();
        let kept: Vec<Option<u16>> = list.iter().map(|(_, at, _)| *at).collect();
        let initial: InitialValues = list.iter().map(|(_, _, initial)| initial.clone()).collect();
        for part in new.indexes.iter_mut().flat_map(|index| &mut index.parts) {
            part.column = kept.iter().position(|at| *at == Some(part.column)).unwrap() as u16;
        }
        new.columns = list.into_iter().map(|(column, ..)| column).collect();
        let alteration = Alteration { def: new, auto_increment: None };
        let columns = NewColumns { kept: &kept, initial: &initial };
        let changed =
            self.bench.engine.change_columns(&table.def, alteration, columns, Duration::from_secs(1));
        changed.unwrap();
    }

    /// Writes some rows, whose pages come to the current version.
    fn write(&mut self) {
        let column = self.columns().iter().find(|column| column.ty.kind == TypeKind::Int).cloned();
        let name = column.filter(|column| &*column.name != "b").map(|column| column.name);
        let (a, name) = (self.prng.below(ROWS), name.unwrap_or_else(|| "a".into()));
        match self.prng.below(3) {
            0 => drop(self.bench.try_run(&format!("DELETE FROM t WHERE a = {a}"))),
            _ => drop(self.bench.try_run(&format!("UPDATE t SET {name} = {name} WHERE a = {a}"))),
        }
        drop(self.bench.try_run(&format!("INSERT IGNORE INTO t (a, b) VALUES ({}, 7)", 5000 + a)));
        self.commit();
    }

    /// Statements that read rows in every way there is.
    fn statements(&mut self) -> Vec<String> {
        let columns = self.columns();
        let any = |prng: &mut Prng| columns[prng.below(columns.len() as u64) as usize].clone();
        let (prng, mut statements) = (&mut self.prng, Vec::new());
        let some: Vec<String> = (0..=prng.below(7)).map(|_| any(prng).name.to_string()).collect();
        let of_t: Vec<String> = some.iter().map(|name| format!("t.{name}")).collect();
        let (list, list_of_t) = (some.join(","), of_t.join(","));
        for list in ["*", &list] {
            let order = ["", " ORDER BY a DESC, b DESC"][prng.below(2) as usize];
            for filter in ["", " WHERE a < 4000", " WHERE b > 100", " WHERE a + 0 > 300", " WHERE a = 17"] {
                statements.push(format!("SELECT {list} FROM t{filter}{order}"));
            }
        }
        let numbers = |column: &&ColumnDef| column.ty.is_integer() || column.ty.kind == TypeKind::Date;
        let aggregates: Vec<String> = columns
            .iter()
            .filter(numbers)
            .flat_map(|ColumnDef { name, .. }| ["COUNT", "MIN", "MAX"].map(|f| format!("{f}(t.{name})")))
            .collect();
        let mut aggregates = aggregates.join(",");
        for column in columns.iter().filter(|column| column.ty.is_integer()) {
            aggregates.push_str(&format!(",SUM(t.{})", column.name));
        }
        statements.push(format!("SELECT {aggregates} FROM t"));
        statements.push(format!("SELECT {aggregates} FROM t WHERE a BETWEEN 3 AND 100000"));
        statements.push(format!("SELECT {aggregates} FROM t WHERE b > 0"));
        let counts: Vec<String> = columns.iter().map(|column| format!("COUNT({})", column.name)).collect();
        statements.push(format!("SELECT {} FROM t", counts.join(",")));
        let grouped = any(prng).name;
        statements.push(format!("SELECT {grouped}, COUNT(*) FROM t GROUP BY {grouped}"));
        statements.push(format!("SELECT {list} FROM t ORDER BY {grouped}, a, b LIMIT 20"));
        let text = columns.iter().find(|column| column.ty.kind == TypeKind::VarChar);
        if let Some(ColumnDef { name, .. }) = text {
            statements.push(format!("SELECT {list} FROM t WHERE {name} LIKE 'a%' OR {name} = 'x'"));
            statements.push(format!("SELECT {list} FROM t WHERE {name} LIKE '%b'"));
        }
        for what in [&aggregates, &list_of_t, "u.id, t.*"] {
            for on in ["t.a = u.a AND t.b = u.k", "t.a = u.a"] {
                for filter in ["", " WHERE t.b > 0"] {
                    statements.push(format!("SELECT {what} FROM u STRAIGHT_JOIN t ON {on}{filter}"));
                }
            }
        }
        let of_ints: Vec<_> = columns.iter().filter(|column| column.ty.is_integer()).collect();
        let key = &of_ints[prng.below(of_ints.len() as u64) as usize].name;
        for what in ["COUNT(*), SUM(u.k), MAX(u.id)", &format!("u.id, {list_of_t}")] {
            statements.push(format!("SELECT {what} FROM t STRAIGHT_JOIN u ON u.id = t.{key}"));
            statements.push(format!("SELECT {what} FROM t LEFT JOIN u ON u.id = t.{key} WHERE t.a < 9000"));
        }
        statements
    }

    /// Reads of rows by their whole keys.
    fn points(&mut self) -> Vec<String> {
        let (keys, columns) = (self.bench.select("SELECT a, b FROM t"), self.columns());
        let keys: Vec<&str> = keys.split(',').collect();
        let prng = &mut self.prng;
        let mut statements = Vec::new();
        for _ in 0..4 {
            let (a, b) = keys[prng.below(keys.len() as u64) as usize].split_once(' ').unwrap();
            let name = &columns[prng.below(columns.len() as u64) as usize].name;
            for list in ["*", name] {
                statements.push(format!("SELECT {list} FROM t WHERE a = {a} AND b = {b}"));
                statements.push(format!("SELECT {list} FROM t WHERE a = {a} AND b = {b} FOR UPDATE"));
                let others: Vec<String> =
                    keys.iter().step_by(7).map(|key| format!("({})", key.replace(' ', ","))).collect();
                let list_of = others.join(",");
                statements.push(format!("SELECT {list} FROM t WHERE (a, b) IN (({a}, {b}), {list_of})"));
            }
        }
        statements
    }

    /// The answers in both protocols, and how many reads met rows in older versions.
    fn answers(&mut self, statements: &[String]) -> (Vec<Vec<u8>>, usize) {
        let before = OLDER_READS.get();
        let mut answers = Vec::new();
        for statement in statements {
            for protocol in [Protocol::Text, Protocol::Binary] {
                let plan = self.bench.plan(statement);
                let (outcome, packets) = self.bench.run_as(protocol, plan, &[]);
                outcome.unwrap_or_else(|error| panic!("{statement}: {error:?}"));
                answers.push(packets);
            }
        }
        self.commit();
        (answers, OLDER_READS.get() - before)
    }

    /// Asserts that `statements` find the same in rows that are read as they are and in converted ones; how
    /// many reads met rows in older versions.
    fn compare(&mut self, statements: &[String]) -> usize {
        let (answers, older) = self.answers(statements);
        NEVER_VERSIONED.set(true);
        // Point reads take rows as they are all the same: the converted table is their oracle.
        let (converted, _) = self.answers(statements);
        NEVER_VERSIONED.set(false);
        for (i, (answer, oracle)) in answers.iter().zip(&converted).enumerate() {
            assert!(answer == oracle, "{}", statements[i / 2]);
        }
        older
    }
}

#[test]
fn rows_of_older_versions_are_read_as_converted_ones() {
    let (mut scans, mut points, mut widened) = (0, 0, 0);
    for seed in 0..9 {
        let mut changing = Changing::new(seed);
        for _ in 0..5 {
            for _ in 0..=changing.prng.below(2) {
                changing.change();
            }
            let (statements, lookups) = (changing.statements(), changing.points());
            scans += changing.compare(&statements);
            points += changing.compare(&lookups);
            if changing.prng.below(2) == 0 {
                changing.write();
            }
        }
        let mut statements = changing.statements();
        statements.extend(changing.points());
        let (answers, _) = changing.answers(&statements);
        while changing.bench.engine.conversion_step().unwrap() {}
        let (converted, older) = changing.answers(&statements);
        widened += changing.widened;
        assert_eq!(older, 0, "rows of older versions in a converted table");
        for (i, (answer, oracle)) in answers.iter().zip(&converted).enumerate() {
            assert!(answer == oracle, "{}", statements[i / 2]);
        }
    }
    assert!(widened > 10, "{widened} columns got wider");
    assert!(scans > 1000 && points > 500, "{scans} leaves and rows, {points} by their keys");
}

/// How often `statement` reads rows in older versions.
fn older_reads(changing: &mut Changing, statement: &str) -> usize {
    changing.answers(&[statement.to_owned()]).1
}

#[test]
fn every_way_to_read_meets_rows_of_older_versions_as_they_are() {
    let mut changing = Changing::new(3);
    changing.change();
    while changing.bench.engine.table("s", "t").unwrap().older_versions() == 0 {
        changing.change();
    }
    let key = changing.bench.select("SELECT a, b FROM t WHERE a > 20 LIMIT 1");
    let (a, b) = key.split_once(' ').unwrap();
    for statement in [
        "SELECT * FROM t",
        "SELECT SUM(b) FROM t",
        "SELECT * FROM t WHERE a BETWEEN 3 AND 90",
        "SELECT SUM(b) FROM t WHERE a BETWEEN 3 AND 90",
        "SELECT * FROM t WHERE b > 100",
        "SELECT b, COUNT(*) FROM t GROUP BY b",
        "SELECT COUNT(*), SUM(t.b) FROM u STRAIGHT_JOIN t ON t.a = u.a AND t.b = u.k",
        "SELECT * FROM u STRAIGHT_JOIN t ON t.a = u.a",
        &format!("SELECT * FROM t WHERE a = {a} AND b = {b}"),
        &format!("SELECT * FROM t WHERE a = {a} AND b = {b} FOR UPDATE"),
        &format!("SELECT * FROM t WHERE (a, b) IN (({a}, {b}), (1, 1))"),
    ] {
        assert!(older_reads(&mut changing, statement) > 0, "{statement}");
    }
}
