//! Errors that MySQL finds while it reads the text, before it reads any name's meaning: two tables of one
//! name (1066), a table's name in ORDER BY of a set operation (1250), and a name in LIMIT (1327). The binder
//! comes to them later, so that a statement that fails is looked through for them.

use super::{BindContext, BindError};
use crate::ast::{
    Cte, Expr, ExprKind, InsertSource, JoinCondition, Limit, OrderItem, Part, Query, QueryBody, Select,
    SelectItem, Statement, TableRef,
};

/// The first such error of `statement`.
#[cold]
#[inline(never)]
pub(super) fn first(statement: &Statement<'_>, ctx: &BindContext<'_>) -> Option<BindError> {
    let mut reader = Reader { database: ctx.database, ctes: Vec::new(), found: None };
    match statement {
        Statement::Query(query) => reader.query(query),
        Statement::Insert(insert) => {
            if let InsertSource::Query(query) = insert.source {
                reader.query(query);
            }
        }
        Statement::Update(update) => {
            reader.tables(update.tables);
            update.set.iter().for_each(|assignment| reader.expr(&assignment.value));
            update.filter.iter().for_each(|e| reader.expr(e));
            reader.limit(update.limit);
        }
        Statement::Delete(delete) => {
            reader.tables(delete.from);
            delete.filter.iter().for_each(|e| reader.expr(e));
            reader.limit(delete.limit);
        }
        _ => {}
    }
    reader.found
}

/// The table's name in `expr`, an expression of ORDER BY of a set operation.
pub(super) fn table_in_order(expr: &Expr<'_>) -> Option<BindError> {
    if let ExprKind::Column(name) = expr.kind {
        return name.table.map(|table| BindError::TableInUnionOrder(table.to_owned()));
    }
    let mut found = None;
    expr.for_each_part(&mut |part| {
        if let (None, Part::Expr(child)) = (&found, part) {
            found = table_in_order(child);
        }
    });
    found
}

/// The error for `count`, a number of rows, if it is a name.
pub(super) fn undeclared(count: &Expr<'_>) -> Option<BindError> {
    let ExprKind::Column(name) = count.kind else { return None };
    Some(BindError::UndeclaredVariable(name.column.to_owned()))
}

struct Reader<'a> {
    database: Option<&'a str>,
    /// The common table expressions in force. Their texts are read where their names are, once.
    ctes: Vec<(&'a Cte<'a>, bool)>,
    found: Option<BindError>,
}

impl<'a> Reader<'a> {
    fn query(&mut self, query: &'a Query<'a>) {
        let known = self.ctes.len();
        self.ctes.extend(query.with.iter().flat_map(|with| with.ctes).map(|cte| (cte, false)));
        self.body(query.body);
        let is_set_operation = matches!(query.body, QueryBody::SetOp(_));
        self.order(query.order_by, is_set_operation);
        self.limit(query.limit);
        self.ctes.truncate(known);
    }

    fn limit(&mut self, limit: Option<&'a Limit<'a>>) {
        let Some(limit) = limit else { return };
        let mut counts = limit.offset.iter().chain([&limit.count]);
        if self.found.is_none() {
            self.found = counts.find_map(undeclared);
        }
    }

    fn order(&mut self, items: &'a [OrderItem<'a>], is_of_set_operation: bool) {
        for OrderItem { expr, .. } in items {
            self.expr(expr);
            if is_of_set_operation && self.found.is_none() {
                self.found = table_in_order(expr);
            }
        }
    }

    fn body(&mut self, body: QueryBody<'a>) {
        match body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::SetOp(set) => {
                self.body(set.first);
                set.rest.iter().for_each(|branch| self.body(branch.body));
            }
            QueryBody::Nested(query) => self.query(query),
            QueryBody::Values(rows) => rows.iter().copied().flatten().for_each(|e| self.expr(e)),
            QueryBody::Table(_) => {}
        }
    }

    fn select(&mut self, select: &'a Select<'a>) {
        for item in select.items {
            if let SelectItem::Expr { expr, .. } = item {
                self.expr(expr);
            }
        }
        self.tables(select.from);
        select.filter.iter().for_each(|e| self.expr(e));
        self.order(select.group_by, false);
        select.having.iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, expr: &'a Expr<'a>) {
        if self.found.is_some() {
            return;
        }
        expr.for_each_part(&mut |part| match part {
            Part::Expr(child) => self.expr(child),
            Part::Query(query) => self.query(query),
        });
    }

    /// Reads the common table expression `name`, if there is one.
    fn cte(&mut self, name: &str) -> bool {
        let Some(at) = self.ctes.iter().rposition(|(cte, _)| cte.name == name) else { return false };
        if !std::mem::replace(&mut self.ctes[at].1, true) {
            let later = self.ctes.split_off(at);
            self.query(later[0].0.query);
            self.ctes.extend(later);
        }
        true
    }

    /// FROM of one query.
    fn tables(&mut self, tables: &'a [TableRef<'a>]) {
        let mut names = Vec::new();
        for table in tables {
            self.table(table, &mut names);
        }
    }

    /// Adds the tables in `table` to `names`, the schemas and names of those before them.
    fn table(&mut self, table: &'a TableRef<'a>, names: &mut Vec<(Option<&'a str>, &'a str)>) {
        let own = match table {
            TableRef::Table(factor) => {
                let is_cte = factor.name.schema.is_none() && self.cte(factor.name.name);
                let schema = if is_cte { None } else { factor.name.schema.or(self.database) };
                (schema, factor.alias.unwrap_or(factor.name.name))
            }
            TableRef::Derived(derived) => {
                self.query(derived.query);
                let Some(alias) = derived.alias else { return };
                (None, alias)
            }
            TableRef::Join(join) => {
                self.table(&join.left, names);
                self.table(&join.right, names);
                if let JoinCondition::On(condition) = &join.condition {
                    self.expr(condition);
                }
                return;
            }
            TableRef::List(list) => return list.iter().for_each(|table| self.table(table, names)),
            TableRef::JsonTable => return,
        };
        if names.contains(&own) && self.found.is_none() {
            self.found = Some(BindError::DuplicateAlias(own.1.to_owned()));
        }
        names.push(own);
    }
}
