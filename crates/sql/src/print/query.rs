//! Queries.

use std::fmt;

use super::Printer;
use crate::ast::{
    IndexHint, IndexHintAction, IndexHintScope, Into, JoinCondition, JoinKind, LockClause, LockWait, Query,
    QueryBody, Select, SelectItem, SetOperator, TableRef,
};

impl Printer<'_> {
    pub(super) fn paren_query(&mut self, query: &Query<'_>) -> fmt::Result {
        self.put("(")?;
        self.query(query)?;
        self.put(")")
    }

    pub(super) fn query(&mut self, query: &Query<'_>) -> fmt::Result {
        if let Some(with) = query.with {
            self.put(if with.recursive { "WITH RECURSIVE " } else { "WITH " })?;
            self.list(with.ctes, |p, cte| {
                p.name(cte.name)?;
                p.column_names(cte.columns)?;
                p.put(" AS ")?;
                p.paren_query(cte.query)
            })?;
            self.put(" ")?;
        }
        self.body(query.body)?;
        self.order_by(query.order_by)?;
        if let Some(limit) = query.limit {
            self.opt(" LIMIT ", Some(&limit.count))?;
            self.opt(" OFFSET ", limit.offset.as_ref())?;
        }
        if let Some(Into::Vars(vars)) = query.into {
            self.put(" INTO ")?;
            self.list(vars, |p, name| {
                p.put("@")?;
                p.name(name)
            })?;
        }
        for lock in query.locks {
            self.lock(lock)?;
        }
        Ok(())
    }

    fn lock(&mut self, lock: &LockClause<'_>) -> fmt::Result {
        self.put(if lock.exclusive { " FOR UPDATE" } else { " FOR SHARE" })?;
        if !lock.of.is_empty() {
            self.put(" OF ")?;
            self.list(lock.of, |p, table| p.path(&[table.schema, Some(table.name)]))?;
        }
        self.put(match lock.wait {
            LockWait::Wait => "",
            LockWait::NoWait => " NOWAIT",
            LockWait::SkipLocked => " SKIP LOCKED",
        })
    }

    fn body(&mut self, body: QueryBody<'_>) -> fmt::Result {
        match body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::Nested(query) => self.paren_query(query),
            QueryBody::Values(rows) => {
                self.put("VALUES ")?;
                self.list(rows, |p, row| {
                    p.put("ROW")?;
                    p.args(row)
                })
            }
            QueryBody::Table(table) => {
                self.put("TABLE ")?;
                self.path(&[table.schema, Some(table.name)])
            }
            QueryBody::SetOp(set) => {
                self.operand(set.first)?;
                for branch in set.rest {
                    self.put(match branch.op {
                        SetOperator::Union => " UNION ",
                        SetOperator::Except => " EXCEPT ",
                        SetOperator::Intersect => " INTERSECT ",
                    })?;
                    self.put(if branch.all { "ALL " } else { "" })?;
                    self.operand(branch.body)?;
                }
                Ok(())
            }
        }
    }

    /// An operand of a set operation, in parentheses unless it has its own.
    fn operand(&mut self, body: QueryBody<'_>) -> fmt::Result {
        if matches!(body, QueryBody::Nested(_)) {
            return self.body(body);
        }
        self.put("(")?;
        self.body(body)?;
        self.put(")")
    }

    fn select(&mut self, select: &Select<'_>) -> fmt::Result {
        let m = select.modifiers;
        self.put("SELECT ")?;
        let words = [
            (m.all, "ALL "),
            (m.distinct, "DISTINCT "),
            (m.high_priority, "HIGH_PRIORITY "),
            (m.straight_join, "STRAIGHT_JOIN "),
            (m.small_result, "SQL_SMALL_RESULT "),
            (m.big_result, "SQL_BIG_RESULT "),
            (m.buffer_result, "SQL_BUFFER_RESULT "),
            (m.no_cache, "SQL_NO_CACHE "),
            (m.calc_found_rows, "SQL_CALC_FOUND_ROWS "),
        ];
        for (_, word) in words.iter().filter(|(set, _)| *set) {
            self.put(word)?;
        }
        self.list(select.items, Self::item)?;
        if !select.from.is_empty() {
            self.put(" FROM ")?;
            self.list(select.from, |p, table| p.table(*table))?;
        }
        self.opt(" WHERE ", select.filter.as_ref())?;
        if !select.group_by.is_empty() {
            self.put(" GROUP BY ")?;
            self.list(select.group_by, Self::order_item)?;
            self.put(if select.rollup { " WITH ROLLUP" } else { "" })?;
        }
        self.opt(" HAVING ", select.having.as_ref())?;
        if !select.windows.is_empty() {
            self.put(" WINDOW ")?;
            self.list(select.windows, |p, (name, spec)| {
                p.name(name)?;
                p.put(" AS ")?;
                p.window(spec)
            })?;
        }
        Ok(())
    }

    fn item(&mut self, item: &SelectItem<'_>) -> fmt::Result {
        match item {
            SelectItem::Star => self.put("*"),
            SelectItem::TableStar(table) => {
                self.path(&[table.schema, Some(table.name)])?;
                self.put(".*")
            }
            SelectItem::Expr { expr, alias, .. } => {
                self.expr(expr)?;
                self.alias(*alias)
            }
        }
    }

    fn alias(&mut self, alias: Option<&str>) -> fmt::Result {
        let Some(alias) = alias else {
            return Ok(());
        };
        self.put(" AS ")?;
        self.name(alias)
    }

    fn column_names(&mut self, names: &[&str]) -> fmt::Result {
        if names.is_empty() {
            return Ok(());
        }
        self.put(" (")?;
        self.list(names, |p, name| p.name(name))?;
        self.put(")")
    }

    fn table(&mut self, table: TableRef<'_>) -> fmt::Result {
        match table {
            TableRef::Table(factor) => {
                self.path(&[factor.name.schema, Some(factor.name.name)])?;
                if !factor.partitions.is_empty() {
                    self.put(" PARTITION")?;
                    self.column_names(factor.partitions)?;
                }
                self.alias(factor.alias)?;
                factor.hints.iter().try_for_each(|hint| self.hint(hint))
            }
            TableRef::Derived(derived) => {
                self.put(if derived.lateral { "LATERAL " } else { "" })?;
                self.paren_query(derived.query)?;
                self.alias(derived.alias)?;
                self.column_names(derived.columns)
            }
            TableRef::List(tables) => {
                self.put("(")?;
                self.list(tables, |p, table| p.table(*table))?;
                self.put(")")
            }
            TableRef::Join(join) => {
                self.put("(")?;
                self.table(join.left)?;
                self.put(if matches!(join.condition, JoinCondition::Natural) { " NATURAL" } else { "" })?;
                self.put(match join.kind {
                    JoinKind::Inner => " JOIN ",
                    JoinKind::Left => " LEFT JOIN ",
                    JoinKind::Right => " RIGHT JOIN ",
                    JoinKind::Straight => " STRAIGHT_JOIN ",
                })?;
                self.table(join.right)?;
                match &join.condition {
                    JoinCondition::On(condition) => self.opt(" ON ", Some(condition))?,
                    JoinCondition::Using(columns) => {
                        self.put(" USING")?;
                        self.column_names(columns)?;
                    }
                    JoinCondition::None | JoinCondition::Natural => {}
                }
                self.put(")")
            }
            TableRef::JsonTable => self.put("JSON_TABLE() AS j"),
        }
    }

    fn hint(&mut self, hint: &IndexHint<'_>) -> fmt::Result {
        self.put(match hint.action {
            IndexHintAction::Use => " USE INDEX",
            IndexHintAction::Force => " FORCE INDEX",
            IndexHintAction::Ignore => " IGNORE INDEX",
        })?;
        self.put(match hint.scope {
            None => "",
            Some(IndexHintScope::Join) => " FOR JOIN",
            Some(IndexHintScope::OrderBy) => " FOR ORDER BY",
            Some(IndexHintScope::GroupBy) => " FOR GROUP BY",
        })?;
        if hint.indexes.is_empty() { self.put(" ()") } else { self.column_names(hint.indexes) }
    }
}
