//! The binder's state: the queries that enclose the point it has reached.

use expr::{ColumnRef, ComparedRows, Expr};
use types::CollationId;

use types::SqlType;

use super::block::{self, Source, SubBlock};
use super::deferred_error::DeferredError;
use super::deprecated::Noted;
use super::expansion::Expansion;
use super::scope::Scope;
use super::{BindContext, BindError, Clause, Deprecated, Literals, ParamUse, TextParam, open_param};
use crate::ast;
use crate::plan::{AggSpec, Column, OutputColumn};
use crate::planner::{Planner, Rule};

/// Relation of aggregates until GROUP BY is bound and their places are known.
pub(super) const AGG_PENDING: u16 = 0x7fff;

/// What an aggregate function means where the binder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggregates {
    /// Error 1111.
    Forbidden,
    /// Error 1111, as the arguments of another one are being bound.
    Nested,
    /// It is one of the query's aggregates.
    Allowed,
}

/// Whether items of the select list are names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aliases {
    /// No.
    Hidden,
    /// They and columns of GROUP BY are, and other columns are not: HAVING.
    First,
    /// After columns: inside ORDER BY expressions.
    Last,
}

/// What the rows of a query are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// For clients, a table or a change.
    Rows,
    /// The value of a subquery.
    Value,
    /// EXISTS.
    Exists,
    /// IN, ANY and ALL.
    Set,
}

/// A query being bound.
#[derive(Debug)]
pub(super) struct Level<'a> {
    /// Its FROM.
    pub(super) scope: Scope,
    /// Its relations.
    pub(super) rels: Vec<Source>,
    /// Subqueries found so far.
    pub(super) subqueries: Vec<SubBlock>,
    /// Aggregates found so far.
    pub(super) aggs: Vec<AggSpec>,
    /// Its rows are for this.
    pub(super) role: Role,
    /// Select list as written.
    pub(super) items: &'a [ast::SelectItem<'a>],
    /// How many of these are bound.
    pub(super) items_bound: usize,
    /// The alias of the item at work, if it is a column.
    pub(super) item_name: Option<&'a str>,
    /// Select list, as far as it is bound.
    pub(super) output: Vec<OutputColumn>,
    /// Number, and outer columns found so far, if it is a subquery and not a derived table or union operand.
    pub(super) sub: Option<(u16, Vec<ColumnRef>)>,
    /// A derived table of its FROM is being bound, which does not see it.
    pub(super) hidden: bool,
    /// The current clause.
    pub(super) clause: Clause,
    /// Aggregates in it.
    pub(super) aggregates: Aggregates,
    /// Aliases in it.
    pub(super) aliases: Aliases,
    /// Relation that VALUES(column) refers to.
    pub(super) values_rel: Option<u16>,
    /// HAVING, which is being bound, or ORDER BY after it aggregates.
    pub(super) aggregates_on: bool,
    /// GROUP BY, for HAVING.
    pub(super) groups: Vec<Expr>,
    /// Positions of the items of the select list that GROUP BY names, one for each of its expressions.
    pub(super) grouped_items: Vec<Option<usize>>,
}

impl<'a> Level<'a> {
    /// A query that has not begun.
    pub(super) fn new(role: Role) -> Level<'a> {
        Level {
            scope: Scope::default(),
            rels: Vec::new(),
            subqueries: Vec::new(),
            aggs: Vec::new(),
            role,
            items: &[],
            items_bound: 0,
            item_name: None,
            output: Vec::new(),
            sub: None,
            hidden: false,
            clause: Clause::FieldList,
            aggregates: Aggregates::Forbidden,
            aliases: Aliases::Hidden,
            values_rel: None,
            aggregates_on: false,
            groups: Vec::new(),
            grouped_items: Vec::new(),
        }
    }

    /// Whether it groups its rows, as far as that is known.
    pub(super) fn is_grouped(&self) -> bool {
        !self.grouped_items.is_empty() || !self.aggs.is_empty() || self.aggregates_on
    }
}

/// An ON condition, and the tables that it sees.
pub(super) type Condition<'a> = (&'a ast::Expr<'a>, Scope);

/// A common table expression in force.
#[derive(Clone, Copy, Debug)]
pub(super) struct CteEntry<'a> {
    /// Its definition.
    pub(super) cte: &'a ast::Cte<'a>,
    /// How many of the entries before it it sees.
    pub(super) visible: usize,
    /// How many enclosing queries there are whose columns it sees.
    pub(super) levels: usize,
}

/// Binds one statement. `'a` is the syntax tree's, `'c` its context's.
pub(super) struct Binder<'a, 'c> {
    /// The statement's context.
    pub(super) ctx: &'c BindContext<'c>,
    /// The planner's rules: [`crate::RULES`], or those of them that are to be applied.
    rules: &'c [Rule],
    /// Types expressions.
    pub(super) build: expr::Builder,
    /// Enclosing queries, the innermost last.
    pub(super) levels: Vec<Level<'a>>,
    /// Common table expressions, the innermost last.
    pub(super) ctes: Vec<CteEntry<'a>>,
    /// No literal's value and nothing of the session is part of the plan beyond what the cache key covers.
    pub(super) shareable: bool,
    /// Outer columns of all subqueries so far.
    pub(super) outer_columns: usize,
    /// The arguments of an aggregate are bound only to find out whose columns they are.
    pub(super) is_trial: bool,
    /// A name stood for an item of a select list.
    pub(super) names_item: bool,
    /// Variables that take fields of LOAD DATA, so strings whatever they are now.
    pub(super) field_variables: Vec<(&'a str, CollationId)>,
    /// Literals are constants of the plan though they have ordinals.
    pub(super) keeps_literals: bool,
    /// Whether what constants warn of is noted where MySQL reads them before any row: not while one is bound
    /// for that.
    pub(super) notes_constants: bool,
    /// What the `?` are taken for, as far as that is known, by number. Empty where literals are parameters.
    pub(super) param_uses: Vec<ParamUse>,
    /// The type of open parameters that are compared with each other, where rows of a list have one.
    pub(super) type_of_place: Option<SqlType>,
    /// The text implies the type of a `?` at least.
    pub(super) has_open_params: bool,
    /// Literals that have to be what they are beside.
    pub(super) text_params: Vec<TextParam>,
    /// Constructs to warn of, in text order.
    pub(super) deprecated: Vec<Deprecated>,
    /// Where in the text they are.
    pub(super) noted: Noted,
    /// What MySQL says of texts beside columns of numbers. It reads these when it optimizes the query: after
    /// all other constants, and not where LIMIT 0 wants no row.
    pub(super) read_last: Vec<String>,
    /// ON conditions of the FROM clauses at work, which are bound after WHERE.
    pub(super) conditions: Vec<Condition<'a>>,
    /// Errors that MySQL searches for once all names are known.
    pub(super) deferred: DeferredError,
    /// What it has come to so far.
    pub(super) expansion: Expansion,
    /// The statement changes rows; whether what is lost is an error then.
    pub(super) change: Option<bool>,
    /// Next subquery number.
    pub(super) next_sub: u16,
}

impl<'a, 'c> Binder<'a, 'c> {
    pub(super) fn new(ctx: &'c BindContext<'c>, rules: &'c [Rule]) -> Self {
        let build = expr::Builder {
            collation: ctx.collation,
            modes: ctx.modes,
            div_precision_increment: ctx.div_precision_increment,
            rows: ComparedRows::None,
            shifts_offsets: false,
            has_client_params: ctx.literals == Literals::Constants,
        };
        Binder {
            ctx,
            rules,
            build,
            levels: Vec::with_capacity(1),
            ctes: Vec::new(),
            shareable: true,
            outer_columns: 0,
            is_trial: false,
            names_item: false,
            field_variables: Vec::new(),
            keeps_literals: false,
            notes_constants: true,
            has_open_params: open_param::has_open(ctx),
            param_uses: open_param::given_uses(ctx),
            type_of_place: None,
            text_params: Vec::new(),
            deprecated: Vec::new(),
            noted: Noted::default(),
            read_last: Vec::new(),
            conditions: Vec::new(),
            deferred: DeferredError::default(),
            expansion: Expansion::new(ctx.sql.len()),
            change: None,
            next_sub: 0,
        }
    }

    /// Plans what is bound.
    pub(super) fn planner(&self) -> Planner<'c> {
        Planner::new(self.ctx, self.rules)
    }

    /// Notes that the statement changes rows; `ignore`: it says IGNORE.
    pub(super) fn note_change(&mut self, ignore: bool) {
        self.change = Some(self.ctx.modes.is_strict() && !ignore);
    }

    /// The current query.
    pub(super) fn level(&mut self) -> &mut Level<'a> {
        self.levels.last_mut().expect("a query is being bound")
    }

    /// A number for a subquery.
    pub(super) fn new_sub(&mut self) -> Result<u16, BindError> {
        if self.next_sub >= block::SUBQUERIES_MAX {
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

    /// Makes `expr` of level `at` usable at the innermost level, by passing each of its columns through the
    /// subquery that begins below `at`.
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
        // The planner numbers them after the statement's parameters; those of nested subqueries follow one
        // another.
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
            .map(|o| Column { name: (*o.name).into(), ty: o.expr.ty.clone(), nullable: o.expr.nullable })
            .collect()
    }
}
