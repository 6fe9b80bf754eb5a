//! The tables that INSERT, UPDATE, DELETE and LOAD DATA change.

use sql::ast::{
    Assignment, Cell, Delete, Expr, Insert, InsertSource, LoadData, OnDuplicate, TableName, TableRef, Update,
};

use super::{Gather, Want};
use crate::privilege::Privileges;
use sql::bind::{DeleteTarget, DeleteTargets, TargetMatch};

impl<'a> Gather<'_, 'a> {
    pub(super) fn insert(&mut self, insert: &Insert<'a>) {
        let mut wanted = Privileges::INSERT;
        if insert.replace {
            wanted = wanted | Privileges::DELETE;
        }
        if !insert.on_duplicate.is_empty() {
            wanted = wanted | Privileges::UPDATE;
        }
        self.reach(&insert.table, wanted);
        match insert.source {
            InsertSource::Values(list) => {
                let exprs = list.cells.iter().filter_map(|cell| as_expr(cell));
                exprs.for_each(|expr| self.expr(expr));
            }
            InsertSource::Set(set) => self.assigned(set),
            InsertSource::Query(query) => self.query(query),
        }
        self.assigned(insert.on_duplicate);
    }

    pub(super) fn assigned(&mut self, set: &[Assignment<'a>]) {
        for one in set {
            self.expr(&one.value);
        }
    }

    pub(super) fn update(&mut self, update: &Update<'a>) {
        let known = self.ctes.len();
        self.with(update.with);
        let is_joined = !matches!(update.tables, [TableRef::Table(_)]);
        let mut visit = |gather: &mut Self, table: &TableName<'a>| {
            if gather.is_cte_name(table) {
                return;
            }
            let want = if is_joined { Want::Joined } else { Want::Reached(Privileges::UPDATE) };
            gather.want(table, want);
        };
        update.tables.iter().for_each(|from| self.each_table(from, &mut visit));
        self.assigned(update.set);
        update.filter.iter().for_each(|expr| self.expr(expr));
        self.orders(update.order_by);
        self.ctes.truncate(known);
    }

    pub(super) fn delete(&mut self, delete: &Delete<'a>) {
        if self.database.is_none() && delete.targets.iter().any(|target| target.schema.is_none()) {
            // Names without a database mean none then, whatever the tables read are called.
            return;
        }
        let known = self.ctes.len();
        self.with(delete.with);
        if delete.targets.is_empty() {
            let mut visit = |gather: &mut Self, table: &TableName<'a>| {
                gather.table(table, Privileges::DELETE);
            };
            delete.from.iter().for_each(|from| self.each_table(from, &mut visit));
        } else {
            delete.from.iter().for_each(|from| self.from(from));
            let items = DeleteTargets::new(delete.from, self.database);
            for target in delete.targets {
                // The binder refuses names that mean no table, or several.
                if let TargetMatch::One(DeleteTarget { table: Some(table), .. }) = items.find(target) {
                    self.table(&table, Privileges::DELETE);
                }
            }
        }
        delete.filter.iter().for_each(|expr| self.expr(expr));
        self.orders(delete.order_by);
        self.ctes.truncate(known);
    }

    pub(super) fn load(&mut self, load: &LoadData<'a>) {
        let replaces = load.on_duplicate == OnDuplicate::Replace;
        let wanted = if replaces { Privileges::INSERT | Privileges::DELETE } else { Privileges::INSERT };
        self.reach(&load.table, wanted);
        self.assigned(load.set);
    }
}

fn as_expr<'a>(cell: &Cell<'a>) -> Option<&'a Expr<'a>> {
    match cell {
        Cell::Expr(expr) => Some(expr),
        _ => None,
    }
}
