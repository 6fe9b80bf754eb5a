//! The tables that queries read.

use sql::ast::{
    Expr, JoinCondition, OrderItem, Part, Query, QueryBody, Select, SelectItem, TableName, TableRef, With,
};

use super::named::tables_of;
use super::{Access, Gather, Want};
use crate::privilege::Privileges;

impl<'a> Gather<'_, 'a> {
    pub(super) fn query(&mut self, query: &Query<'a>) {
        let known = self.ctes.len();
        self.with(query.with);
        let first = self.all.len();
        self.body(&query.body);
        self.orders(query.order_by);
        if let Some(limit) = query.limit {
            limit.offset.iter().for_each(|expr| self.expr(expr));
            self.expr(&limit.count);
        }
        self.ctes.truncate(known);
        if query.locks.iter().any(|lock| lock.exclusive) {
            self.lock_read(query, first);
        }
    }

    /// The tables of the query itself are locked, not those of its subqueries.
    pub(super) fn lock_read(&mut self, query: &Query<'a>, first: usize) {
        let mut tables = Vec::new();
        if let QueryBody::Select(select) = query.body {
            select.from.iter().for_each(|from| tables_of(from, &mut tables));
        }
        for table in &tables {
            let is_read = |access: &Access| *access.table == *table.name;
            if !self.is_cte_name(table) && self.all[first..].iter().any(is_read) {
                self.want(table, Want::Locked);
            }
        }
    }

    pub(super) fn with(&mut self, with: Option<&With<'a>>) {
        for cte in with.iter().flat_map(|with| with.ctes) {
            // A recursive one may name itself; another that names itself means a table, whose name decides.
            if with.is_some_and(|with| with.recursive) {
                self.ctes.push(cte.name);
            }
            self.query(cte.query);
            self.ctes.push(cte.name);
        }
    }

    /// Whether `table` means a common table expression.
    pub(super) fn is_cte_name(&self, table: &TableName<'_>) -> bool {
        table.schema.is_none() && self.ctes.contains(&table.name)
    }

    pub(super) fn body(&mut self, body: &QueryBody<'a>) {
        match body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::SetOp(set) => {
                self.body(&set.first);
                set.rest.iter().for_each(|branch| self.body(&branch.body));
            }
            QueryBody::Nested(query) => self.query(query),
            QueryBody::Values(rows) => rows.iter().for_each(|row| self.exprs(row)),
            QueryBody::Table(table) => self.read(table),
        }
    }

    pub(super) fn select(&mut self, select: &Select<'a>) {
        select.from.iter().for_each(|from| self.from(from));
        for item in select.items {
            if let SelectItem::Expr { expr, .. } = item {
                self.expr(expr);
            }
        }
        select.filter.iter().for_each(|expr| self.expr(expr));
        self.orders(select.group_by);
        select.having.iter().for_each(|expr| self.expr(expr));
        for (_, window) in select.windows {
            self.exprs(window.partition_by);
            self.orders(window.order_by);
        }
    }

    pub(super) fn read(&mut self, table: &TableName<'a>) {
        if !self.is_cte_name(table) {
            self.reach(table, Privileges::SELECT);
        }
    }

    pub(super) fn from(&mut self, from: &TableRef<'a>) {
        self.each_table(from, &mut |gather, table| gather.read(table));
    }

    /// The tables, subqueries and conditions of an item of FROM, in text order; `visit` gets its tables.
    pub(super) fn each_table(
        &mut self,
        from: &TableRef<'a>,
        visit: &mut dyn FnMut(&mut Self, &TableName<'a>),
    ) {
        match from {
            TableRef::Table(factor) => visit(self, &factor.name),
            TableRef::Derived(derived) => self.query(derived.query),
            TableRef::Join(join) => {
                self.each_table(&join.left, visit);
                self.each_table(&join.right, visit);
                if let JoinCondition::On(expr) = &join.condition {
                    self.expr(expr);
                }
            }
            TableRef::List(list) => list.iter().for_each(|from| self.each_table(from, visit)),
            TableRef::JsonTable => {}
        }
    }

    pub(super) fn orders(&mut self, items: &[OrderItem<'a>]) {
        for item in items {
            self.expr(&item.expr);
        }
    }

    pub(super) fn exprs(&mut self, list: &[Expr<'a>]) {
        for expr in list {
            self.expr(expr);
        }
    }

    /// The subqueries of an expression.
    pub(super) fn expr(&mut self, expr: &Expr<'a>) {
        expr.for_each_part(&mut |part| match part {
            Part::Expr(child) => self.expr(child),
            Part::Query(query) => self.query(query),
        });
    }
}
