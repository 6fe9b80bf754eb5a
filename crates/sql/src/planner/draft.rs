//! A plan in the making: what the rules have made of a block so far.

use expr::{Builder, ComparedRows, Expr};
use smallvec::SmallVec;

use super::access::Methods;
use super::goal::Goal;
use super::join_list::{Item, JoinList};
use super::join_order::JoinPlan;
use super::key_list::KeyList;
use super::ordering::Ordering;
use super::outer::Params;
use super::relations::Rels;
use super::rule::Rule;
use super::subquery_forms::SubqueryForms;
use super::whole_key::WholeKey;
use crate::bind::block::{Block, Query};
use crate::bind::{BindContext, Literals};
use crate::dive::Candidate;
use crate::plan::{Estimate, Node, RelationColumns, SubPlan};

/// What a statement reads beyond its query's own expressions.
#[derive(Debug, Default)]
pub(super) struct Extra<'e> {
    /// Relations all of whose columns are read.
    pub(super) whole: &'e [u16],
    /// Further expressions.
    pub(super) read: Vec<&'e Expr>,
    /// The query is not part of another one, whose plan depends on what this one is expected to give.
    pub(super) is_statement: bool,
}

/// Relations: most queries have few.
pub(super) type RelList = SmallVec<[u16; 8]>;

/// Rows on their way through the plan.
pub(super) struct Stream {
    pub(super) node: Node,
    pub(super) order: Ordering,
    /// Relations whose columns the rows have.
    pub(super) rels: RelList,
    pub(super) estimate: Estimate,
}

/// How subqueries are used, and what else the paths decide.
#[derive(Default)]
pub(super) struct Chosen {
    /// Ordinals of those that are run for each row instead of making a list.
    pub(super) by_row: Vec<u16>,
    /// Ordinals of those whose values a path takes.
    pub(super) in_paths: Vec<u16>,
    /// See [`crate::plan::QueryPlan::counted`].
    pub(super) counted: Option<Candidate>,
    /// The columns that are read of a relation, if they are fewer than the query names.
    pub(super) read: Option<(u16, RelationColumns)>,
}

/// A block that is to be planned.
pub(super) struct PlanInput<'d> {
    /// Rules take of it what the plan holds.
    pub(super) block: &'d mut Block,
    pub(super) extra: &'d Extra<'d>,
    pub(super) ctx: &'d BindContext<'d>,
    pub(super) params: &'d Params,
    /// The key of its only row, or those of its few rows, as the rules find them.
    pub(super) key: Option<WholeKey>,
    pub(super) keys: Option<KeyList>,
}

impl<'d> PlanInput<'d> {
    /// That of `block`, with nothing found.
    pub(super) fn new(
        block: &'d mut Block,
        extra: &'d Extra<'d>,
        ctx: &'d BindContext<'d>,
        params: &'d Params,
    ) -> PlanInput<'d> {
        PlanInput { block, extra, ctx, params, key: None, keys: None }
    }
}

/// A block and its plan as far as it is made. Parts that no rule has filled yet are empty.
pub(super) struct Draft<'d> {
    /// What is planned. Rules take what the plan holds.
    pub(super) block: &'d mut Block,
    pub(super) extra: &'d Extra<'d>,
    pub(super) ctx: &'d BindContext<'d>,
    pub(super) params: &'d Params,
    /// The statement's rules, for the queries within this one.
    pub(super) rules: &'d [Rule],
    /// Subqueries in a second form.
    pub(super) subquery_forms: SubqueryForms,
    pub(super) subqueries: Vec<SubPlan>,
    pub(super) rels: Rels<'d>,
    pub(super) methods: Methods,
    /// The queries of derived tables.
    pub(super) derived: Vec<(u16, Query)>,
    /// How many joined rows LIMIT needs.
    pub(super) row_limit: Option<f64>,
    /// FROM and WHERE.
    pub(super) list: JoinList,
    /// Relations of FROM.
    pub(super) names: RelList,
    /// HAVING.
    pub(super) having: Vec<Expr>,
    /// The rows of each group come one after the other.
    pub(super) are_groups_together: bool,
    /// No row satisfies HAVING.
    pub(super) is_having_false: bool,
    pub(super) join_plan: Option<JoinPlan>,
    pub(super) stream: Option<Stream>,
    pub(super) chosen: Chosen,
}

impl<'d> Draft<'d> {
    /// That of the block of `input`, with nothing done.
    pub(super) fn new(input: PlanInput<'d>, rules: &'d [Rule]) -> Draft<'d> {
        let PlanInput { block, extra, ctx, params, .. } = input;
        let build = builder(ctx);
        Draft {
            extra,
            params,
            subquery_forms: SubqueryForms::default(),
            subqueries: Vec::new(),
            rels: Rels::new(!block.locks.is_none(), build, ctx),
            methods: Methods::default(),
            derived: Vec::new(),
            row_limit: None,
            list: JoinList::default(),
            names: RelList::new(),
            having: Vec::new(),
            are_groups_together: false,
            is_having_false: false,
            join_plan: None,
            stream: None,
            chosen: Chosen::default(),
            block,
            ctx,
            rules,
        }
    }

    /// What order of the joined rows would save work.
    pub(super) fn goal(&self) -> Goal<'_> {
        match &self.block.aggregation {
            Some(aggregation) => Goal { order: &[], groups: &aggregation.groups, limit: None },
            None => Goal { order: &self.block.order, groups: &[], limit: self.row_limit },
        }
    }

    /// Calls `change` with the conditions of each join list and with those of HAVING.
    pub(super) fn for_each_conditions(&mut self, change: &mut dyn FnMut(&mut Vec<Expr>)) {
        for_each_conditions(&mut self.list, change);
        if !self.having.is_empty() {
            change(&mut self.having);
        }
    }

    /// The joined rows are those of `node`.
    pub(super) fn set_rows(&mut self, node: Node, order: Ordering, estimate: Estimate) {
        self.stream = Some(Stream { node, order, rels: std::mem::take(&mut self.names), estimate });
    }
}

/// What types expressions that the planner makes.
pub(super) fn builder(ctx: &BindContext<'_>) -> Builder {
    Builder {
        collation: ctx.collation,
        modes: ctx.modes,
        div_precision_increment: ctx.div_precision_increment,
        rows: ComparedRows::None,
        shifts_offsets: false,
        has_client_params: ctx.literals == Literals::Constants,
    }
}

/// Calls `change` with the conditions of `list` and of its left joins.
pub(super) fn for_each_conditions(list: &mut JoinList, change: &mut dyn FnMut(&mut Vec<Expr>)) {
    if !list.conditions.is_empty() {
        change(&mut list.conditions);
    }
    for item in &mut list.items {
        if let Item::Left { list: inner, .. } = item {
            for_each_conditions(inner, change);
        }
    }
}
