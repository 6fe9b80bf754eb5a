//! The binder's state: the queries that enclose the point it has reached.

use expr::{ColumnRef, Expr, ExprKind};
use types::CollationId;

use super::block::{self, Source, SubBlock};
use super::expansion::Expansion;
use super::scope::{Found, Scope, written};
use super::{BindContext, BindError, Clause, Deprecated, same, volatile};
use crate::ast;
use crate::plan::{AggSpec, Column, OutputColumn};

/// Relation of aggregates until GROUP BY is bound and their places are known.
pub(super) const AGG_PENDING: u16 = 0x7fff;

/// What an aggregate function means where the binder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggregates {
    /// Error 1111.
    Forbidden,
    /// It is one of the query's aggregates.
    Allowed,
}

/// Whether select-list aliases are names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aliases {
    /// No.
    Hidden,
    /// Before columns: HAVING.
    First,
    /// After columns: inside ORDER BY expressions.
    Last,
}

/// A query being bound.
#[derive(Debug)]
pub(super) struct Level {
    /// Its FROM.
    pub(super) scope: Scope,
    /// Its relations.
    pub(super) rels: Vec<Source>,
    /// Subqueries found so far.
    pub(super) subqueries: Vec<SubBlock>,
    /// Aggregates found so far.
    pub(super) aggs: Vec<AggSpec>,
    /// Select list, once bound.
    pub(super) output: Vec<OutputColumn>,
    /// Number, and outer columns found so far, if it is a subquery and not a derived table or union operand.
    pub(super) sub: Option<(u16, Vec<ColumnRef>)>,
    /// A derived table of its FROM is being bound, which does not see it.
    pub(super) hidden: bool,
    /// Clause at hand.
    pub(super) clause: Clause,
    /// Aggregates in it.
    pub(super) aggregates: Aggregates,
    /// Aliases in it.
    pub(super) aliases: Aliases,
    /// Relation that VALUES(column) refers to.
    pub(super) values_rel: Option<u16>,
    /// Columns of HAVING that are neither selected nor grouped are unknown.
    pub(super) having_columns: Option<Vec<ColumnRef>>,
    /// Columns of GROUP BY, which HAVING prefers to aliases of the same name.
    pub(super) grouped: Vec<ColumnRef>,
}

impl Level {
    /// A query that has not begun.
    pub(super) fn new() -> Level {
        Level {
            scope: Scope::default(),
            rels: Vec::new(),
            subqueries: Vec::new(),
            aggs: Vec::new(),
            output: Vec::new(),
            sub: None,
            hidden: false,
            clause: Clause::FieldList,
            aggregates: Aggregates::Forbidden,
            aliases: Aliases::Hidden,
            values_rel: None,
            having_columns: None,
            grouped: Vec::new(),
        }
    }
}

/// A common table expression in force.
#[derive(Clone, Copy, Debug)]
pub(super) struct CteEntry<'a> {
    /// Its definition.
    pub(super) cte: &'a ast::Cte<'a>,
    /// How many of the entries before it it sees.
    pub(super) visible: usize,
}

/// Binds one statement. `'a` is the syntax tree's, `'c` the surroundings'.
pub(super) struct Binder<'a, 'c> {
    /// Surroundings.
    pub(super) ctx: &'c BindContext<'c>,
    /// Types expressions.
    pub(super) build: expr::Builder,
    /// Enclosing queries, the innermost last.
    pub(super) levels: Vec<Level>,
    /// Common table expressions, the innermost last.
    pub(super) ctes: Vec<CteEntry<'a>>,
    /// No literal's value and nothing of the session is part of the plan beyond what the cache key tells.
    pub(super) shareable: bool,
    /// Outer columns of all subqueries so far.
    pub(super) outer_columns: usize,
    /// The arguments of an aggregate are bound only to find out whose columns they are.
    pub(super) is_trial: bool,
    /// Variables that take fields of LOAD DATA, so strings whatever they are now.
    pub(super) field_variables: Vec<(&'a str, CollationId)>,
    /// Literals are constants of the plan though they have ordinals.
    pub(super) keeps_literals: bool,
    /// Types of the open parameters so far, by number.
    pub(super) open_params: Vec<types::SqlType>,
    /// Constructs to warn of, in text order.
    pub(super) deprecated: Vec<Deprecated>,
    /// What it has come to so far.
    pub(super) expansion: Expansion,
    /// The statement changes rows; whether what is lost is an error then.
    pub(super) change: Option<bool>,
    /// Next subquery number.
    pub(super) next_sub: u16,
}

impl<'a, 'c> Binder<'a, 'c> {
    pub(super) fn new(ctx: &'c BindContext<'c>) -> Self {
        let build = expr::Builder {
            collation: ctx.collation,
            modes: ctx.modes,
            div_precision_increment: ctx.div_precision_increment,
        };
        Binder {
            ctx,
            build,
            levels: Vec::with_capacity(1),
            ctes: Vec::new(),
            shareable: true,
            outer_columns: 0,
            is_trial: false,
            field_variables: Vec::new(),
            keeps_literals: false,
            open_params: Vec::new(),
            deprecated: Vec::new(),
            expansion: Expansion::new(ctx.sql.len()),
            change: None,
            next_sub: 0,
        }
    }

    /// Notes that the statement changes rows; `ignore`: it says IGNORE.
    pub(super) fn note_change(&mut self, ignore: bool) {
        self.change = Some(self.ctx.modes.is_strict() && !ignore);
    }

    /// The query at hand.
    pub(super) fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("a query is being bound")
    }

    /// A number for a subquery.
    pub(super) fn new_sub(&mut self) -> Result<u16, BindError> {
        if self.next_sub >= block::MAX_SUBQUERIES {
            return Err(BindError::TooDeep);
        }
        self.next_sub += 1;
        Ok(self.next_sub - 1)
    }

    /// Sets the rules for the clause that comes next.
    pub(super) fn enter(&mut self, clause: Clause, aggregates: Aggregates, aliases: Aliases) {
        let level = self.level();
        level.clause = clause;
        level.aggregates = aggregates;
        level.aliases = aliases;
    }

    /// Adds a relation.
    pub(super) fn add_rel(&mut self, source: Source) -> u16 {
        let level = self.level();
        level.rels.push(source);
        (level.rels.len() - 1) as u16
    }

    /// A column by name, in this query or an enclosing one.
    pub(super) fn column(&mut self, name: &ast::ColumnRef<'_>) -> Result<Expr, BindError> {
        let clause = self.level().clause;
        for at in (0..self.levels.len()).rev() {
            if self.levels[at].hidden {
                continue;
            }
            if let Some(found) = self.find_at(at, name, clause)? {
                return self.reach(at, found);
            }
        }
        Err(BindError::UnknownColumn { name: written(name), clause })
    }

    /// Looks `name` up in the query at `at` by the rules of its current clause.
    fn find_at(
        &mut self,
        at: usize,
        name: &ast::ColumnRef<'_>,
        clause: Clause,
    ) -> Result<Option<FoundName>, BindError> {
        let level = &self.levels[at];
        let is_outside = at + 1 < self.levels.len();
        if level.aliases == Aliases::First
            && let Some(alias) = find_alias(level, name, clause)?
        {
            let Some(grouped) = find_grouped(level, name, clause, &alias) else {
                return usable_alias(alias, name, is_outside).map(Some);
            };
            self.deprecated.push(Deprecated::AmbiguousHaving(written(name).into()));
            return Ok(Some(FoundName::Column(grouped)));
        }
        let found = level.scope.find(name, clause)?;
        if let (Some(found), Some(known)) = (&found, &level.having_columns)
            && level.aliases == Aliases::First
            && !known.contains(&found.column)
        {
            return Ok(None);
        }
        // A subquery of the select list sees the items before it.
        let sees_aliases =
            level.aliases == Aliases::Last || (is_outside && level.clause == Clause::FieldList);
        if found.is_none()
            && sees_aliases
            && let Some(alias) = find_alias(level, name, clause)?
        {
            return usable_alias(alias, name, is_outside).map(Some);
        }
        Ok(found.map(FoundName::Column))
    }

    /// The expression for something found at level `at`: itself, or an outer column of the subquery that leads there.
    fn reach(&mut self, at: usize, found: FoundName) -> Result<Expr, BindError> {
        let expr = match found {
            FoundName::Alias(expr) => {
                self.note_copy(&expr)?;
                expr
            }
            FoundName::Column(found) => {
                self.shown(Expr::column(found.column.rel, found.column.col, found.ty, found.nullable))?
            }
        };
        self.import(at, expr)
    }

    /// Makes `expr` of level `at` usable at the innermost level, by passing each of its columns through the subquery
    /// that begins below `at`.
    pub(super) fn import(&mut self, at: usize, mut expr: Expr) -> Result<Expr, BindError> {
        let Some((id, outer)) = self.levels[at + 1..].iter_mut().find_map(|l| l.sub.as_mut()) else {
            return Ok(expr);
        };
        if super::rewrite::has_subquery(&expr) {
            return Err(BindError::NotSupported("a subquery in an outer alias"));
        }
        let before = outer.len();
        super::rewrite::columns(&mut expr, &mut |column| {
            let place = outer.iter().position(|c| *c == *column).unwrap_or_else(|| {
                outer.push(*column);
                outer.len() - 1
            });
            *column = ColumnRef { rel: block::outer_rel(*id), col: place as u16 };
        });
        // The planner numbers them after the statement's parameters; those of nested subqueries follow one another.
        self.outer_columns += outer.len() - before;
        if usize::from(self.ctx.param_count) + self.outer_columns > usize::from(u16::MAX) {
            return Err(BindError::TooManyParameters);
        }
        Ok(expr)
    }

    /// The output relation of a query's columns, as a scope or a plan describes it.
    pub(super) fn columns_of(output: &[OutputColumn]) -> Vec<Column> {
        output
            .iter()
            .map(|o| Column { name: o.name.clone(), ty: o.expr.ty.clone(), nullable: o.expr.nullable })
            .collect()
    }
}

/// What a name stands for.
enum FoundName {
    Column(Found),
    Alias(Expr),
}

/// The column of GROUP BY that `name` names, if the item of the select list of this name is something else.
fn find_grouped(level: &Level, name: &ast::ColumnRef<'_>, clause: Clause, alias: &Expr) -> Option<Found> {
    if level.grouped.is_empty() {
        return None;
    }
    let found = level.scope.find(name, clause).ok()??;
    let is_alias =
        matches!(super::padded::stored(alias).kind, ExprKind::Column(column) if column == found.column);
    (level.grouped.contains(&found.column) && !is_alias).then_some(found)
}

/// `alias` as what `name` stands for. Inside a subquery of its query, aggregates are not known yet.
fn usable_alias(alias: Expr, name: &ast::ColumnRef<'_>, is_outside: bool) -> Result<FoundName, BindError> {
    if is_outside && super::aggregate::has_pending(&alias) {
        let why = "reference to group function";
        return Err(BindError::IllegalReference { name: name.column.to_owned(), why });
    }
    Ok(FoundName::Alias(alias))
}

/// The select item that `name` names: by alias, or as the column that it shows. Several that differ are error 1052.
pub(super) fn find_alias(
    level: &Level,
    name: &ast::ColumnRef<'_>,
    clause: Clause,
) -> Result<Option<Expr>, BindError> {
    if name.table.is_some() {
        return Ok(None);
    }
    let is_named = |at: &usize| level.output[*at].name.eq_ignore_ascii_case(name.column);
    let mut matches = (0..level.output.len()).filter(is_named);
    let Some(first) = matches.next() else { return Ok(None) };
    if matches.any(|other| !same::same(&level.output[other].expr, &level.output[first].expr)) {
        return Err(BindError::AmbiguousColumn { name: written(name), clause });
    }
    Ok(Some(volatile::item(&level.output, first)))
}
