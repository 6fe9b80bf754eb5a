//! Columns that a change reads: SELECT on their table is wanted for them, and only for them.

use sql::ast::{ColumnRef, Expr, ExprKind, JoinCondition, Part, QueryBody, SelectItem, TableName, TableRef};

use super::{Gather, Want};
use crate::privilege::Privileges;

/// A table that the names of columns may mean.
pub(super) struct Named<'a> {
    pub(super) alias: &'a str,
    /// `None` for a derived table.
    pub(super) table: Option<TableName<'a>>,
}

impl<'a> Gather<'_, 'a> {
    /// The conditions of joins.
    pub(super) fn conditions(&mut self, list: &[TableRef<'a>], names: &[Named<'a>]) {
        for from in list {
            match from {
                TableRef::Join(join) => {
                    self.conditions(&[join.left, join.right], names);
                    if let JoinCondition::On(expr) = &join.condition {
                        self.reads(expr, names);
                    }
                }
                TableRef::List(list) => self.conditions(list, names),
                _ => {}
            }
        }
    }

    pub(super) fn reads(&mut self, expr: &Expr<'a>, names: &[Named<'a>]) {
        if let ExprKind::Column(column) | ExprKind::ValuesOf(column) | ExprKind::DefaultOf(column) = expr.kind
        {
            self.column(column, Privileges::SELECT, names);
        }
        expr.for_each_part(&mut |part| match part {
            Part::Expr(child) => self.reads(child, names),
            Part::Query(query) => self.reads_of_query(&query.body, names),
        });
    }

    /// The columns of `names` that a subquery reads.
    pub(super) fn reads_of_query(&mut self, body: &QueryBody<'a>, names: &[Named<'a>]) {
        match body {
            QueryBody::Select(select) => {
                let mut inner = Vec::new();
                select.from.iter().for_each(|from| named(from, &mut inner));
                let items = select.items.iter().filter_map(|item| match item {
                    SelectItem::Expr { expr, .. } => Some(expr),
                    _ => None,
                });
                let orders = select.group_by.iter().map(|item| &item.expr);
                for expr in items.chain(&select.filter).chain(orders).chain(&select.having) {
                    self.reads_each_tablein(expr, &inner, names);
                }
            }
            QueryBody::SetOp(set) => {
                self.reads_of_query(&set.first, names);
                set.rest.iter().for_each(|branch| self.reads_of_query(&branch.body, names));
            }
            QueryBody::Nested(query) => self.reads_of_query(&query.body, names),
            QueryBody::Values(_) | QueryBody::Table(_) => {}
        }
    }

    pub(super) fn reads_each_tablein(&mut self, expr: &Expr<'a>, inner: &[Named<'a>], names: &[Named<'a>]) {
        if let ExprKind::Column(column) = expr.kind {
            let is_inner = match column.table {
                Some(table) => inner.iter().any(|named| named.alias == table),
                None => {
                    inner.iter().any(|named| named.table.is_some_and(|t| self.has_column(&t, column.column)))
                }
            };
            let is_outer = || match column.table {
                Some(table) => names.iter().any(|named| named.alias == table),
                None => {
                    names.iter().any(|named| named.table.is_some_and(|t| self.has_column(&t, column.column)))
                }
            };
            if !is_inner && is_outer() {
                self.column(column, Privileges::SELECT, names);
            }
        }
        expr.for_each_part(&mut |part| match part {
            Part::Expr(child) => self.reads_each_tablein(child, inner, names),
            Part::Query(query) => self.reads_of_query(&query.body, names),
        });
    }

    pub(super) fn has_column(&self, table: &TableName<'_>, column: &str) -> bool {
        let Some(schema) = table.schema.or(self.database) else { return false };
        let found = self.engine.table(schema, table.name);
        found.is_ok_and(|table| table.def.columns.iter().any(|known| known.name.eq_ignore_ascii_case(column)))
    }

    /// One column of a table is enough, because a table's columns have no privileges of their own.
    pub(super) fn is_noted(&self, table: &TableName<'_>, privilege: Privileges) -> bool {
        self.all.iter().any(|access| match access.want {
            Want::Column(noted, _) => {
                noted == privilege
                    && *access.table == *table.name
                    && table.schema.or(self.database) == Some(&*access.schema)
            }
            _ => false,
        })
    }

    /// A column means the one table that has it; with one table, a column that is not there means it, too.
    pub(super) fn column(&mut self, column: &ColumnRef<'_>, privilege: Privileges, names: &[Named<'a>]) {
        let meant = match (column.table, names) {
            (Some(alias), _) => names.iter().find(|named| named.alias == alias),
            (None, [only]) => Some(only),
            (None, _) => {
                names.iter().find(|named| named.table.is_some_and(|t| self.has_column(&t, column.column)))
            }
        };
        let is_new = |table: &TableName<'a>| !self.is_cte_name(table) && !self.is_noted(table, privilege);
        if let Some(table) = meant.and_then(|named| named.table).filter(is_new) {
            self.want(&table, Want::Column(privilege, column.column.into()));
        }
    }
}

/// The tables of an item of FROM, with the names that columns call them by.
pub(super) fn named<'a>(from: &TableRef<'a>, names: &mut Vec<Named<'a>>) {
    match from {
        TableRef::Table(factor) => {
            let alias = factor.alias.unwrap_or(factor.name.name);
            names.push(Named { alias, table: Some(factor.name) });
        }
        TableRef::Derived(derived) => {
            names.extend(derived.alias.map(|alias| Named { alias, table: None }));
        }
        TableRef::Join(join) => {
            named(&join.left, names);
            named(&join.right, names);
        }
        TableRef::List(list) => list.iter().for_each(|from| named(from, names)),
        TableRef::JsonTable => {}
    }
}
