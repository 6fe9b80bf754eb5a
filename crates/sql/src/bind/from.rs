//! FROM: tables, derived tables and joins.

use std::sync::Arc;

use expr::{CmpOp, ColumnRef, Expr, ExprKind};
use types::{SqlType, TableDef};

use super::binder::{Aggregates, Aliases, Binder, Condition, CteEntry, Level, Role};
use super::block::{HintedIndexes, JoinTree, Kind, Query, Source};
use super::scope::{Scope, ScopeColumns, ScopeTable, Visible};
use super::{BindError, Clause, temp_table_columns};
use crate::ast::{self, IndexHintAction, JoinCondition, TableRef};
use crate::plan::{Alias, Column};

/// The schema whose tables are missed with an error of its own.
const INFORMATION_SCHEMA: &str = "information_schema";
/// Most tables of one query.
const TABLES_MAX: usize = 61;

/// Relation of ON conditions, by number, until they are bound.
const ON: u16 = 0x7ffd;

/// A bound part of FROM.
type Bound = (JoinTree, Scope);

impl<'a> Binder<'a, '_> {
    /// Binds FROM and makes it the scope of the current query.
    pub(super) fn from(&mut self, tables: &'a [TableRef<'a>]) -> Result<JoinTree, BindError> {
        let (tree, scope) = self.table_list(tables)?;
        if scope.tables.len() > TABLES_MAX {
            return Err(BindError::TooManyTables);
        }
        self.level().scope = scope;
        Ok(tree)
    }

    /// A comma list: a cross join.
    fn table_list(&mut self, tables: &'a [TableRef<'a>]) -> Result<Bound, BindError> {
        let mut parts = tables.iter();
        let Some(first) = parts.next() else { return Ok((JoinTree::Dual, Scope::default())) };
        let mut bound = self.table_ref(first)?;
        for part in parts {
            let right = self.table_ref(part)?;
            bound = cross(bound, right)?;
        }
        Ok(bound)
    }

    fn table_ref(&mut self, table: &'a TableRef<'a>) -> Result<Bound, BindError> {
        if self.level().rels.len() > TABLES_MAX {
            return Err(BindError::TooManyTables);
        }
        self.descend(1)?;
        let bound = match table {
            TableRef::Table(factor) => self.table(factor),
            TableRef::Derived(derived) => self.derived(derived),
            TableRef::Join(join) => self.join(join),
            TableRef::List(list) => self.table_list(list),
            TableRef::JsonTable => Err(BindError::NotSupported("JSON_TABLE")),
        };
        self.ascend(1);
        bound
    }

    fn table(&mut self, factor: &'a ast::TableFactor<'a>) -> Result<Bound, BindError> {
        if !factor.partitions.is_empty() {
            return Err(BindError::PartitionOfPlainTable);
        }
        let alias = factor.alias.unwrap_or(factor.name.name);
        if factor.name.schema.is_none()
            && let Some(at) = self.find_cte(factor.name.name)
        {
            return self.cte(at, alias);
        }
        if let Some(def) = self.lookup_virtual(&factor.name) {
            return Ok(self.virtual_table(def, alias));
        }
        let def = self.lookup(&factor.name)?;
        let indexes = hinted_indexes(&def, factor.hints)?;
        Ok(self.base_table(def, alias, indexes))
    }

    /// A base table as a relation.
    pub(super) fn base_table(
        &mut self,
        def: Arc<TableDef>,
        alias: &str,
        indexes: Option<HintedIndexes>,
    ) -> Bound {
        let indexes = usable(self.ctx.catalog.damaged_indexes(&def), &def, indexes);
        self.note_table(&def);
        let alias = Alias::of_table(&def, alias);
        let source = Source::Table { def: Arc::clone(&def), alias: alias.clone(), indexes };
        self.relation(alias, ScopeColumns::Defined(def), source)
    }

    /// A table whose rows the session makes as a relation.
    pub(super) fn virtual_table(&mut self, def: Arc<TableDef>, alias: &str) -> Bound {
        self.note_table(&def);
        let source = Source::Virtual { def: Arc::clone(&def) };
        self.relation(alias.into(), ScopeColumns::Defined(def), source)
    }

    fn relation(&mut self, alias: Alias, columns: ScopeColumns, source: Source) -> Bound {
        let rel = self.add_rel(source);
        let scope = Scope::of_table(ScopeTable::new(rel, alias, columns));
        (JoinTree::Rel(rel), scope)
    }

    /// The table that `name` names, if the session makes its rows.
    pub(super) fn lookup_virtual(&self, name: &ast::TableName<'_>) -> Option<Arc<TableDef>> {
        self.ctx.catalog.virtual_table(name.schema.or(self.ctx.database)?, name.name)
    }

    /// The table that `name` names.
    pub(super) fn lookup(&self, name: &ast::TableName<'_>) -> Result<Arc<TableDef>, BindError> {
        let schema = name.schema.or(self.ctx.database).ok_or(BindError::NoDatabase)?;
        if let Some(def) = self.ctx.catalog.table(schema, name.name).map_err(BindError::Catalog)? {
            return Ok(def);
        }
        if schema.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
            return Err(BindError::UnknownTable {
                table: name.name.to_uppercase(),
                clause: INFORMATION_SCHEMA,
            });
        }
        if !self.ctx.catalog.schema_exists(schema) {
            return Err(BindError::UnknownDatabase(schema.to_owned()));
        }
        Err(BindError::NoSuchTable { schema: schema.to_owned(), table: name.name.to_owned() })
    }

    fn find_cte(&self, name: &str) -> Option<usize> {
        self.ctes.iter().rposition(|entry| entry.cte.name == name)
    }

    /// A reference to a common table expression: its query as a derived table.
    fn cte(&mut self, at: usize, alias: &str) -> Result<Bound, BindError> {
        self.note_cte_reference()?;
        let CteEntry { cte, visible, levels } = self.ctes[at];
        let later = self.ctes.split_off(visible);
        let seen: Vec<bool> = self.levels[levels..]
            .iter_mut()
            .map(|level| std::mem::replace(&mut level.hidden, true))
            .collect();
        let bound = self.derived_query(cte.query, alias, cte.columns);
        for (level, hidden) in self.levels[levels..].iter_mut().zip(seen) {
            level.hidden = hidden;
        }
        self.ctes.extend(later);
        bound
    }

    fn derived(&mut self, derived: &'a ast::Derived<'a>) -> Result<Bound, BindError> {
        if derived.lateral {
            return Err(BindError::NotSupported("LATERAL"));
        }
        let alias = derived.alias.ok_or(BindError::DerivedAlias)?;
        self.derived_query(derived.query, alias, derived.columns)
    }

    fn derived_query(
        &mut self,
        query: &'a ast::Query<'a>,
        alias: &str,
        names: &[&str],
    ) -> Result<Bound, BindError> {
        self.enter_select()?;
        let bound = self.query_in_from(query)?;
        self.leave_select();
        let mut columns = Self::columns_of(bound.output());
        let mut origins: Vec<_> = bound.output().iter().map(|column| column.origin.clone()).collect();
        if !bound.is_merged_by_mysql() {
            temp_table_columns::keep(&mut columns, &mut origins, &bound);
        }
        rename(&mut columns, names)?;
        let named = ScopeColumns::Named(columns.clone());
        let source = Source::Query { query: Some(bound), columns, origins };
        Ok(self.relation(alias.into(), named, source))
    }

    /// A query in FROM: it sees the queries around the current one, but not the current one.
    pub(super) fn query_in_from(&mut self, query: &'a ast::Query<'a>) -> Result<Query, BindError> {
        self.query_and_tables(query).map(|(query, _)| query)
    }

    /// As [`Binder::query_in_from`], with the tables of its FROM; none for a set operation.
    pub(super) fn query_and_tables(
        &mut self,
        query: &'a ast::Query<'a>,
    ) -> Result<(Query, Scope), BindError> {
        let was_hidden = std::mem::replace(&mut self.level().hidden, true);
        self.levels.push(Level::new(Role::Rows));
        let bound = self.within(|binder| binder.query(query));
        let level = self.levels.pop().expect("pushed above");
        self.level().hidden = was_hidden;
        Ok((bound?, level.scope))
    }

    fn join(&mut self, join: &'a ast::Join<'a>) -> Result<Bound, BindError> {
        let (left_tree, left) = self.table_ref(&join.left)?;
        let (right_tree, right) = self.table_ref(&join.right)?;
        let common = match join.condition {
            JoinCondition::Natural => natural_names(&left, &right),
            JoinCondition::Using(names) => names.iter().map(|&n| n.into()).collect(),
            JoinCondition::On(_) | JoinCondition::None => Vec::new(),
        };
        let mut on = self.using(&common, &left, &right)?;
        let right_first = join.kind == ast::JoinKind::Right;
        let (mut left, mut right) = (left, right);
        let left_width = left.tables.len();
        let merged = merged(&left, &right, &common, right_first);
        let scope_before_nulls = concat(left.clone(), right.clone(), merged.clone())?;
        if let JoinCondition::On(condition) = &join.condition {
            on.push(Expr::column(ON, self.conditions.len() as u16, SqlType::bigint(), true));
            self.conditions.push((condition, scope_before_nulls));
        }
        match join.kind {
            ast::JoinKind::Left => make_nullable(&mut right),
            ast::JoinKind::Right => make_nullable(&mut left),
            ast::JoinKind::Inner | ast::JoinKind::Straight => {}
        }
        debug_assert_eq!(left.tables.len(), left_width);
        let scope = concat(left, right, merged)?;
        let (kind, outer, inner) = match join.kind {
            ast::JoinKind::Inner => (Kind::Inner, left_tree, right_tree),
            ast::JoinKind::Straight => (Kind::Straight, left_tree, right_tree),
            ast::JoinKind::Left => (Kind::Left, left_tree, right_tree),
            ast::JoinKind::Right => (Kind::Left, right_tree, left_tree),
        };
        Ok((JoinTree::Join { kind, left: Box::new(outer), right: Box::new(inner), on }, scope))
    }

    /// Binds the ON conditions of `tree` from number `first` on, and puts each in its place.
    pub(super) fn join_conditions(&mut self, first: usize, tree: &mut JoinTree) -> Result<(), BindError> {
        if self.conditions.len() == first {
            return Ok(());
        }
        let mut written: Vec<_> = self.conditions.split_off(first).into_iter().map(Some).collect();
        self.put_conditions(tree, &mut |number| written.get_mut(number.checked_sub(first)?)?.take())
    }

    /// Binds what `written` has for their numbers in the place of the ON conditions of `tree`, in MySQL's
    /// order: those inside the inner side of a join, its own one, those inside the outer side.
    fn put_conditions(
        &mut self,
        tree: &mut JoinTree,
        written: &mut dyn FnMut(usize) -> Option<Condition<'a>>,
    ) -> Result<(), BindError> {
        let JoinTree::Join { left, right, on, .. } = tree else { return Ok(()) };
        self.put_conditions(right, written)?;
        if let Some(Expr { kind: ExprKind::Column(ColumnRef { rel: ON, col }), .. }) = on.last() {
            let number = usize::from(*col);
            on.pop();
            if let Some((condition, scope)) = written(number) {
                super::conjuncts::split(self.join_condition(condition, scope)?, on);
            }
        }
        self.put_conditions(left, written)
    }

    /// Binds an ON condition, which sees the two operands only.
    fn join_condition(&mut self, condition: &'a ast::Expr<'a>, scope: Scope) -> Result<Expr, BindError> {
        let whole = std::mem::replace(&mut self.level().scope, scope);
        self.enter(Clause::On, Aggregates::Forbidden, Aliases::Hidden);
        let bound = self.condition(condition);
        self.level().scope = whole;
        bound
    }

    /// The equalities of NATURAL and USING.
    fn using(&self, names: &[Box<str>], left: &Scope, right: &Scope) -> Result<Vec<Expr>, BindError> {
        let mut equalities = Vec::with_capacity(names.len());
        for name in names {
            let column = ast::ColumnRef { schema: None, table: None, column: name };
            let side = |scope: &Scope| {
                let found = scope.find(&column, Clause::From)?;
                let found = found.ok_or_else(|| BindError::UnknownColumn {
                    name: name.to_string(),
                    clause: Clause::From,
                })?;
                self.note_read(scope, found.column);
                Ok::<_, BindError>(found)
            };
            let [a, b] = [side(left)?, side(right)?]
                .map(|f| Expr::column(f.column.rel, f.column.col, f.ty, f.nullable));
            equalities.push(self.build.compare(CmpOp::Eq, a, b)?);
        }
        Ok(equalities)
    }
}

/// Two parts without a condition.
fn cross(left: Bound, right: Bound) -> Result<Bound, BindError> {
    let merged = merged(&left.1, &right.1, &[], false);
    let scope = concat(left.1, right.1, merged)?;
    let tree = JoinTree::Join {
        kind: Kind::Inner,
        left: Box::new(left.0),
        right: Box::new(right.0),
        on: Vec::new(),
    };
    Ok((tree, scope))
}

/// Both scopes' tables, the right ones after the left ones. Two tables of one name are error 1066.
fn concat(mut left: Scope, right: Scope, merged: Option<Vec<Visible>>) -> Result<Scope, BindError> {
    for table in right.tables {
        if left.tables.iter().any(|t| *t.alias == *table.alias && t.schema() == table.schema()) {
            return Err(BindError::DuplicateAlias(table.alias.to_string()));
        }
        left.tables.push(table);
    }
    left.merged = merged;
    Ok(left)
}

/// What `*` shows of a join: the common columns once and first, in the preserved side's order, then the rest
/// of the left side, then of the right side. RIGHT JOIN is a LEFT JOIN with its sides exchanged. `None`: the
/// columns of all tables, one after the other.
fn merged(left: &Scope, right: &Scope, common: &[Box<str>], right_first: bool) -> Option<Vec<Visible>> {
    if common.is_empty() && left.merged.is_none() && right.merged.is_none() {
        return None;
    }
    let width = left.tables.len() as u16;
    let of_left = |v: Visible| (v, left.name(v));
    let of_right = |v: Visible| (Visible { table: v.table + width, ..v }, right.name(v));
    let left = left.visible().map(of_left);
    let right = right.visible().map(of_right);
    if common.is_empty() {
        return Some(left.chain(right).map(|(visible, _)| visible).collect());
    }
    let (first, second): (Vec<_>, Vec<_>) =
        if right_first { (right.collect(), left.collect()) } else { (left.collect(), right.collect()) };
    let is_common = |(_, of): &(Visible, &str)| common.iter().any(|name| name.eq_ignore_ascii_case(of));
    let (mut visible, rest): (Vec<_>, Vec<_>) = first.into_iter().partition(is_common);
    for (visible, _) in &mut visible {
        visible.shown = true;
    }
    visible.extend(rest);
    visible.extend(second.into_iter().filter(|v| !is_common(v)));
    Some(visible.into_iter().map(|(visible, _)| visible).collect())
}

/// Names that `*` shows of both sides.
fn natural_names(left: &Scope, right: &Scope) -> Vec<Box<str>> {
    let is_shared = |name: &&str| right.shown().any(|other| right.name(other).eq_ignore_ascii_case(name));
    left.shown().map(|v| left.name(v)).filter(is_shared).map(Into::into).collect()
}

fn make_nullable(scope: &mut Scope) {
    scope.tables.iter_mut().for_each(|table| table.optional = true);
}

/// Gives a derived table's columns the names after its alias, and refuses two of one name.
fn rename(columns: &mut [Column], names: &[&str]) -> Result<(), BindError> {
    if !names.is_empty() && names.len() != columns.len() {
        return Err(BindError::ViewColumns);
    }
    for (column, name) in columns.iter_mut().zip(names) {
        column.name = (*name).into();
    }
    for (at, column) in columns.iter().enumerate() {
        if columns[..at].iter().any(|c| c.name.eq_ignore_ascii_case(&column.name)) {
            return Err(BindError::DuplicateColumnName(column.name.to_string()));
        }
    }
    Ok(())
}

/// What is left of the indexes that hints leave (`None`: all) without those that are damaged or invisible.
#[inline]
fn usable(damaged: Vec<usize>, def: &TableDef, indexes: Option<HintedIndexes>) -> Option<HintedIndexes> {
    if damaged.is_empty() && !def.indexes.iter().any(|index| index.invisible) {
        return indexes;
    }
    let all = || HintedIndexes { left: (0..def.indexes.len()).collect(), forced: false };
    let mut hinted = indexes.unwrap_or_else(all);
    hinted.left.retain(|&index| !damaged.contains(&index) && !def.indexes[index].invisible);
    Some(hinted)
}

/// Positions of the indexes that USE, FORCE and IGNORE INDEX leave. Hints for ORDER BY and GROUP BY alone are
/// checked and have no effect.
fn hinted_indexes(def: &TableDef, hints: &[ast::IndexHint<'_>]) -> Result<Option<HintedIndexes>, BindError> {
    let mut forced = false;
    let mut wanted: Option<Vec<usize>> = None;
    let mut ignored = Vec::new();
    for hint in hints {
        let mut named = Vec::with_capacity(hint.indexes.len());
        for name in hint.indexes {
            let at = def.indexes.iter().position(|i| !i.invisible && i.name.eq_ignore_ascii_case(name));
            named.push(at.ok_or_else(|| BindError::NoSuchIndex {
                index: (*name).to_owned(),
                table: def.name.to_string(),
            })?);
        }
        match (hint.action, hint.scope) {
            (_, Some(ast::IndexHintScope::OrderBy | ast::IndexHintScope::GroupBy)) => {}
            (IndexHintAction::Ignore, _) => ignored.extend(named),
            (action @ (IndexHintAction::Use | IndexHintAction::Force), _) => {
                forced |= action == IndexHintAction::Force;
                wanted.get_or_insert_default().extend(named);
            }
        }
    }
    if wanted.is_none() && ignored.is_empty() {
        return Ok(None);
    }
    let mut left = wanted.unwrap_or_else(|| (0..def.indexes.len()).collect());
    left.retain(|index| !ignored.contains(index));
    Ok(Some(HintedIndexes { left, forced }))
}
