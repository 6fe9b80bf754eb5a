//! The referent of a column's name. The rules are MySQL's:
//!
//! - in the select list, WHERE and ON: a column of the query's tables;
//! - inside the expressions of GROUP BY and ORDER BY, and inside aggregates of HAVING and ORDER BY: a column
//!   of the tables, else an item of the select list;
//! - in HAVING: an item of the select list or a column of GROUP BY, never another column of the tables;
//! - what is found in none of these is searched for in the enclosing queries, the innermost first: their
//!   tables, and, from a subquery in their select list, GROUP BY, HAVING or ORDER BY, their items.
//!
//! The whole items of GROUP BY and ORDER BY have rules of their own (`order.rs`).

use expr::{ColumnRef, Expr, ExprKind};

use super::binder::{AGG_PENDING, Aggregates, Aliases, Binder, Level};
use super::block::outer_id;
use super::padded::stored;
use super::scope::{Found, written};
use super::{BindError, Clause, Deprecated, aggregate, rewrite, same, volatile};
use crate::ast::{self, SelectItem};

/// The target of a name.
pub(super) enum FoundName {
    /// A column of a table.
    Column(Found),
    /// The value of an item of the select list, or of GROUP BY.
    Item(Expr),
}

/// An item of the select list that a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The item at this position of the bound select list, by the name that clients see.
    Named(usize),
    /// As that, by the name of the column that it shows under another name or with its table.
    Shows(usize),
    /// An item that is not bound yet.
    Later,
}

/// A column that an item of the select list is, and its name.
#[derive(Clone, Copy)]
struct Shown<'n> {
    /// The column; `None`: the item is not bound yet.
    of: Option<ColumnRef>,
    schema: Option<&'n str>,
    table: Option<&'n str>,
    column: &'n str,
    /// It is calculated, in a derived table that MySQL makes part of the query.
    is_value: bool,
}

impl Shown<'_> {
    /// Whether `name` names it with its table.
    fn is_qualified_by(&self, name: &ast::ColumnRef<'_>) -> bool {
        self.column.eq_ignore_ascii_case(name.column)
            && self.table == name.table
            && (name.schema.is_none() || self.schema.is_none() || self.schema == name.schema)
    }

    /// Whether both are one column, as far as their names say.
    fn is_same(&self, other: &Shown<'_>) -> bool {
        if let (Some(a), Some(b)) = (self.of, other.of) {
            return a == b;
        }
        let is_one_table = self.table.is_none() || other.table.is_none() || self.table == other.table;
        is_one_table && self.column.eq_ignore_ascii_case(other.column)
    }
}

impl<'a> Binder<'a, '_> {
    /// A column by name, in this query or an enclosing one.
    pub(super) fn column(&mut self, name: &ast::ColumnRef<'_>) -> Result<Expr, BindError> {
        let own = self.levels.last().expect("a query is being bound");
        if own.aliases != Aliases::First
            && let Some(found) = own.scope.find(name, own.clause)?
        {
            self.note_read(&own.scope, found.column);
            return self.shown(Expr::column(found.column.rel, found.column.col, found.ty, found.nullable));
        }
        self.column_elsewhere(name)
    }

    /// As [`Binder::column`], of a name that is no column of the query's tables, or is in HAVING.
    #[inline(never)]
    fn column_elsewhere(&mut self, name: &ast::ColumnRef<'_>) -> Result<Expr, BindError> {
        let top = self.levels.len() - 1;
        let Level { clause, aliases, .. } = self.levels[top];
        let is_of_having = aliases == Aliases::First;
        let of_own_items = match aliases {
            Aliases::Hidden => None,
            Aliases::First => self.selected_or_grouped(top, name, clause)?,
            Aliases::Last => {
                let item = self.find_item(top, name, clause)?;
                self.item_value(top, item, name)?
            }
        };
        if let Some(found) = of_own_items {
            return self.reach(top, found);
        }
        for at in (0..top).rev() {
            let level = &self.levels[at];
            if level.hidden {
                continue;
            }
            let place = level.clause;
            let sees_items =
                matches!(place, Clause::FieldList | Clause::Group | Clause::Having | Clause::Order);
            if is_of_having
                && sees_items
                && let Some(found) = self.selected_or_grouped(at, name, clause)?
            {
                return self.reach(at, found);
            }
            // A column in HAVING sees what HAVING around it sees.
            let is_grouped = place == Clause::Having && self.levels[at].is_grouped();
            if !(is_of_having && is_grouped)
                && let Some(found) = self.levels[at].scope.find(name, clause)?
            {
                self.note_read(&self.levels[at].scope, found.column);
                return self.reach(at, FoundName::Column(found));
            }
            if !is_of_having
                && sees_items
                && let Some(found) = self.selected_or_grouped(at, name, clause)?
            {
                return self.reach(at, found);
            }
        }
        self.note_missing(name, clause);
        Err(BindError::UnknownColumn { name: written(name), clause })
    }

    /// The item of the select list of the query at `at` that `name` names, or, in its HAVING, the column of
    /// GROUP BY, which wins if the two differ. Names with a table name items of the current query only.
    fn selected_or_grouped(
        &mut self,
        at: usize,
        name: &ast::ColumnRef<'_>,
        clause: Clause,
    ) -> Result<Option<FoundName>, BindError> {
        if at + 1 < self.levels.len() && name.table.is_some() {
            return Ok(None);
        }
        let item = self.find_item(at, name, clause)?;
        if self.levels[at].clause == Clause::Having
            && let Some(grouped) = self.find_grouped(at, name, clause)?
        {
            let is_same = |place: usize| same::same(&self.levels[at].output[place].expr, &grouped);
            match item {
                Some(Item::Named(place) | Item::Shows(place)) if is_same(place) => {}
                Some(_) => {
                    self.deprecated.push(Deprecated::Ambiguous { name: written(name).into(), clause });
                    return Ok(Some(FoundName::Item(grouped)));
                }
                None => return Ok(Some(FoundName::Item(grouped))),
            }
        }
        self.item_value(at, item, name)
    }

    /// `item` of the query at `at` as what `name` stands for.
    fn item_value(
        &mut self,
        at: usize,
        item: Option<Item>,
        name: &ast::ColumnRef<'_>,
    ) -> Result<Option<FoundName>, BindError> {
        let illegal = |name: &str, why| BindError::IllegalReference { name: name.to_owned(), why };
        let place = match item {
            None => return Ok(None),
            Some(Item::Later) => {
                let own_name = self.level().item_name.unwrap_or(name.column);
                return Err(illegal(own_name, "forward reference in item list"));
            }
            Some(Item::Named(place) | Item::Shows(place)) => place,
        };
        let is_inside = at + 1 < self.levels.len();
        let is_in_having = self.level().aliases == Aliases::First;
        let level = &self.levels[at];
        if aggregate::has_pending(&level.output[place].expr) {
            // Inside a subquery of its query, an aggregate is not known yet but in HAVING.
            if is_inside && !is_in_having {
                return Err(illegal(name.column, "reference to group function"));
            }
            if level.aggregates != Aggregates::Allowed && level.clause != Clause::Group {
                return Err(BindError::InvalidGroupFunction);
            }
        }
        let expr = &level.output[place].expr;
        let value = if is_inside && rewrite::has_subquery(expr) {
            self.ensure_shown_alone(at, expr)?;
            volatile::shown(expr, place)
        } else {
            volatile::item(&level.output, place)
        };
        Ok(Some(FoundName::Item(value)))
    }

    /// The value of an item that holds subqueries is computed once for others that name it; but such an item
    /// must name no other one.
    fn ensure_shown_alone(&self, at: usize, expr: &Expr) -> Result<(), BindError> {
        let mut names_items = false;
        expr.walk(&mut |e| {
            if let ExprKind::Subquery { plan, .. } = e.kind {
                let subquery = &self.levels[at].subqueries[usize::from(plan)];
                names_items |= subquery.outer.iter().any(|column| volatile::is_item(*column));
            }
        });
        if names_items { Err(BindError::NotSupported("a subquery in an outer alias")) } else { Ok(()) }
    }

    /// The expression for something found at level `at`: itself, or an outer column of the subquery that
    /// leads there.
    fn reach(&mut self, at: usize, found: FoundName) -> Result<Expr, BindError> {
        let expr = match found {
            FoundName::Item(expr) => {
                self.note_copy(&expr)?;
                self.names_item = true;
                expr
            }
            FoundName::Column(found) => {
                self.shown(Expr::column(found.column.rel, found.column.col, found.ty, found.nullable))?
            }
        };
        self.import(at, expr)
    }

    /// The column that `expr`, an item of the query at `at` called `name`, is.
    fn shown_by<'n>(&'n self, at: usize, expr: &Expr, name: &'n str) -> Option<Shown<'n>> {
        let ExprKind::Column(column) = stored(expr).kind else { return None };
        if column.rel == AGG_PENDING || volatile::is_item(column) {
            return None;
        }
        let shown = Shown { of: Some(column), schema: None, table: None, column: name, is_value: false };
        let Some((of, own)) = self.owner_of(at, column) else { return Some(shown) };
        let scope = &self.levels[of].scope;
        // Columns of a UNION have no table.
        let Some(table) = scope.table_of(own.rel) else { return Some(shown) };
        let source = self.levels[of].rels.get(usize::from(own.rel));
        let is_value = source.is_some_and(|source| source.merges_value(own.col));
        let column = table.columns.name(own.col);
        if of != at && self.levels[of].clause == Clause::Having && self.levels[of].is_grouped() {
            // It is reached through the groups, which have no table.
            return Some(Shown { column, ..shown });
        }
        Some(Shown { schema: table.schema(), table: Some(&table.alias), column, is_value, ..shown })
    }

    /// The query whose FROM `column`, as the query at `at` sees it, comes from, and the column there.
    fn owner_of(&self, at: usize, column: ColumnRef) -> Option<(usize, ColumnRef)> {
        let (mut at, mut column) = (at, column);
        while let Some(id) = outer_id(column.rel) {
            let is_its = |level: &Level<'_>| matches!(&level.sub, Some((own, _)) if *own == id);
            let below = self.levels[..=at].iter().rposition(is_its)?;
            let (_, outer) = self.levels[below].sub.as_ref()?;
            column = *outer.get(usize::from(column.col))?;
            at = below.checked_sub(1)?;
        }
        Some((at, column))
    }

    /// The item of the select list of the query at `at` that `name` names. The name that clients see counts
    /// before the name of the column that an item shows; an item that is no column counts before all columns.
    /// Two different columns of one name are error 1052.
    pub(super) fn find_item(
        &self,
        at: usize,
        name: &ast::ColumnRef<'_>,
        clause: Clause,
    ) -> Result<Option<Item>, BindError> {
        let level = &self.levels[at];
        let own_name = self.levels.last().and_then(|own| own.item_name).unwrap_or(name.column);
        let mut search = Search { name, own_name, named: None, shows: None, is_shown_twice: false };
        let bound = level.output.iter().enumerate().map(|(place, item)| {
            (Item::Named(place), Some(&*item.name), self.shown_by(at, &item.expr, &item.name))
        });
        let ambiguous = |Ambiguous| BindError::AmbiguousColumn { name: written(name), clause };
        for (item, shown_name, column) in bound {
            if let Some(found) = search.take(item, shown_name, column).map_err(ambiguous)? {
                return Ok(Some(found));
            }
        }
        // Items that are not bound have no table yet.
        if name.table.is_none() {
            for item in &level.items[level.items_bound..] {
                if let Some(found) = self.take_unbound(level, item, &mut search).map_err(ambiguous)? {
                    return Ok(Some(found));
                }
            }
        }
        search.end().map_err(ambiguous)
    }

    /// Lets `search` check an item of `level` that is not bound.
    #[cold]
    fn take_unbound<'s>(
        &'s self,
        level: &'s Level<'a>,
        item: &'a SelectItem<'a>,
        search: &mut Search<'s, '_>,
    ) -> Result<Option<Item>, Ambiguous> {
        let shown = |column: &'s str| Shown { of: None, schema: None, table: None, column, is_value: false };
        match item {
            SelectItem::Expr { expr, alias, text } => match expr.kind {
                ast::ExprKind::Column(ast::ColumnRef { table, column, .. }) => {
                    let known = Shown { table: *table, ..shown(column) };
                    search.take(Item::Later, Some(alias.unwrap_or(column)), Some(known))
                }
                _ => match alias {
                    Some(alias) => search.take(Item::Later, Some(alias), None),
                    None => search.take(Item::Later, Some(&self.item_name(expr, text)), None),
                },
            },
            SelectItem::Star => level.scope.shown().try_fold(None, |found, visible| {
                let name = level.scope.name(visible);
                Ok(found.or(search.take(Item::Later, Some(name), Some(shown(name)))?))
            }),
            SelectItem::TableStar(name) => {
                let table = level.scope.find_table(name).map(|at| &level.scope.tables[at]);
                let columns = table.map_or(0, |table| table.columns.len() as u16);
                let columns =
                    (0..columns).filter(|&col| table.is_some_and(|table| table.columns.is_shown(col)));
                let mut names = columns.filter_map(|col| Some(table?.columns.name(col)));
                names.try_fold(None, |found, name| {
                    let known = Shown { table: table.map(|table| &*table.alias), ..shown(name) };
                    Ok(found.or(search.take(Item::Later, Some(name), Some(known))?))
                })
            }
        }
    }

    /// The column of GROUP BY of the query at `at` that `name` names. A name with a table names none if
    /// another table's column of the name comes before.
    fn find_grouped(
        &self,
        at: usize,
        name: &ast::ColumnRef<'_>,
        clause: Clause,
    ) -> Result<Option<Expr>, BindError> {
        let mut best: Option<(u8, &Expr)> = None;
        for group in &self.levels[at].groups {
            let Some(column) = self.shown_by(at, group, "") else { continue };
            if column.is_value || !column.column.eq_ignore_ascii_case(name.column) {
                continue;
            }
            let degree = match name.table {
                None => 1,
                Some(_) if column.is_qualified_by(name) => 2,
                Some(_) => return Ok(None),
            };
            match best {
                Some((known, other)) if known == degree && !same::same(other, group) => {
                    return Err(BindError::AmbiguousColumn { name: written(name), clause });
                }
                Some((known, _)) if known >= degree => {}
                _ => best = Some((degree, group)),
            }
        }
        Ok(best.map(|(_, group)| group.clone()))
    }
}

/// Two columns of one name.
struct Ambiguous;

/// The search for an item of a select list.
struct Search<'s, 'n> {
    name: &'s ast::ColumnRef<'n>,
    /// The name under which clients see what it is searched for: an item that is no column must have that
    /// name. So does MySQL.
    own_name: &'s str,
    /// The column that clients see under the name.
    named: Option<(Item, Shown<'s>)>,
    /// The column of that name, which clients see under another one, or that has the table.
    shows: Option<(Item, Shown<'s>)>,
    is_shown_twice: bool,
}

impl<'s> Search<'s, '_> {
    /// Looks at `item`, which clients see as `shown_name` and which is `column`. Something: the search is
    /// over.
    fn take(
        &mut self,
        item: Item,
        shown_name: Option<&str>,
        column: Option<Shown<'s>>,
    ) -> Result<Option<Item>, Ambiguous> {
        let has_name = |wanted: &str| {
            self.name.table.is_none() && shown_name.is_some_and(|known| known.eq_ignore_ascii_case(wanted))
        };
        let column = match column {
            Some(column) if !column.is_value || self.name.table.is_some() => column,
            _ => return Ok(has_name(self.own_name).then_some(item)),
        };
        let is_named = has_name(self.name.column);
        if is_named {
            match &self.named {
                Some((_, known)) if !known.is_same(&column) => return Err(Ambiguous),
                Some(_) => {}
                None => self.named = Some((item, column)),
            }
            return Ok(None);
        }
        let shows = match self.name.table {
            Some(_) => column.is_qualified_by(self.name),
            None => column.column.eq_ignore_ascii_case(self.name.column),
        };
        match &self.shows {
            _ if !shows => {}
            // Two that are not bound and have other names are not known to be one, as in MySQL.
            Some((_, known)) if known.is_same(&column) && (known.of.is_some() || column.of.is_some()) => {}
            Some(_) if self.name.table.is_some() => return Err(Ambiguous),
            Some(_) => self.is_shown_twice = true,
            None => self.shows = Some((item, column)),
        }
        Ok(None)
    }

    /// What all items come to.
    fn end(self) -> Result<Option<Item>, Ambiguous> {
        if let Some((item, _)) = self.named {
            return Ok(Some(item));
        }
        if self.is_shown_twice {
            return Err(Ambiguous);
        }
        Ok(self.shows.map(|(item, _)| match item {
            Item::Named(place) => Item::Shows(place),
            item => item,
        }))
    }
}
