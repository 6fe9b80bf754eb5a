//! MIN and MAX over one table that indexes lead to: the first row in the order of the column is enough for
//! each.

use expr::{AggFunc, ColumnRef, Expr, ExprKind};

use super::access::{self, Choice, Methods};
use super::cost;
use super::draft::Draft;
use super::goal::Goal;
use super::hash_lookup;
use super::join_list::{Item, JoinList};
use super::join_node;
use super::ordering::{self, Ordering, Reading};
use super::relations::{RelSet, Rels};
use crate::bind::block::Block;
use crate::bind::rewrite;
use crate::bind::volatile::is_volatile;
use crate::plan::{AggSpec, Estimate, Node, Path, SortKey};

/// Plans the ends of columns, if that is all that the query asks for.
pub(super) fn apply(draft: &mut Draft<'_>) {
    if draft.stream.is_none()
        && let Some(node) = plan(draft.block, &draft.list, (&draft.rels, &draft.methods))
    {
        let one = Estimate::new(1.0, cost::DESCENT);
        draft.set_rows(node, Ordering::default(), one);
    }
}

/// The rows that hold the MINs and MAXs of a query over one table, one each, if that is all that the query
/// asks for and indexes lead to all of them. They are rows of the query, so what it asks of all its rows it
/// may ask of these.
fn plan(block: &Block, list: &JoinList, (rels, methods): (&Rels, &Methods)) -> Option<Node> {
    let aggregation = block.aggregation.as_ref()?;
    let ([Item::Rel(rel)], []) = (&list.items[..], &aggregation.groups[..]) else { return None };
    if !aggregation.aggs.iter().all(|spec| matches!(spec.func, AggFunc::Min | AggFunc::Max)) {
        return None;
    }
    let ends = Ends { rel: *rel, conditions: list.conditions.iter().collect(), rels, methods };
    let rows: Option<Vec<Node>> = aggregation.aggs.iter().map(|spec| ends.row(spec)).collect();
    let mut rows = rows?;
    if rows.len() > 1 { Some(Node::Merge { arms: rows }) } else { rows.pop() }
}

/// Where the ends of a table's columns are searched for.
struct Ends<'r> {
    rel: u16,
    conditions: Vec<&'r Expr>,
    rels: &'r Rels<'r>,
    methods: &'r Methods,
}

impl Ends<'_> {
    /// The row that holds the MIN or MAX that `spec` asks for.
    fn row(&self, spec: &AggSpec) -> Option<Node> {
        let desc = match spec.func {
            AggFunc::Min => false,
            AggFunc::Max => true,
            _ => return None,
        };
        let [arg] = &spec.args[..] else { return None };
        let ExprKind::Column(ColumnRef { rel: of, .. }) = arg.kind else { return None };
        if of != self.rel {
            return None;
        }
        let keys = [SortKey { expr: arg.clone(), desc }];
        let goal = Goal { order: &keys, ..Goal::default() };
        let choices =
            access::choices(self.rel, &self.conditions, RelSet::EMPTY, goal, (self.rels, self.methods));
        let (reading, mut choice) = choices.into_iter().enumerate().find_map(|(at, choice)| {
            let reading = choice.order.reading(&keys)?;
            let is_plain = !matches!(choice.path, Path::Skip { .. }) && choice.also.is_none();
            (is_plain && self.serves(at, &choice)).then_some((reading, choice))
        })?;
        if reading == Reading::Backward {
            ordering::reverse(&mut choice.path);
        }
        let mut tested = self.untested(&choice);
        if arg.nullable && !desc {
            // NULLs come first in an index and do not count in MIN.
            tested.push(self.rels.build.is_null(arg.clone(), true));
        }
        let access = Node::Access {
            rel: self.rel,
            path: choice.path,
            filter: join_node::all(tested, self.rels),
            index_condition: None,
            covering: choice.covering,
        };
        Some(Node::Limit { input: Box::new(access), offset: None, count: Some(self.rels.build.int(1)) })
    }

    /// Whether the first row that `choice`, which is at position `at`, finds is worth a search. Where rows
    /// are tested, many may fail before one passes: no more than the cheapest choice would have to read
    /// anyway, unless many runs share a hash table.
    fn serves(&self, at: usize, choice: &Choice) -> bool {
        let is_key = |condition: &Expr| hash_lookup::is_key(condition, self.rel, self.rels, self.methods);
        let is_simple = |condition: &&Expr| {
            !rewrite::has_subquery(condition) && !is_volatile(condition) && !is_key(condition)
        };
        choice.ensured.len() == self.conditions.len()
            || (at == 0 && choice.arms.is_empty() && self.conditions.iter().all(is_simple))
    }

    /// The conditions that the path of `choice` does not ensure.
    fn untested(&self, choice: &Choice) -> Vec<Expr> {
        let all = self.conditions.iter().enumerate();
        all.filter(|(at, _)| !choice.ensured.contains(at))
            .map(|(_, condition)| (*condition).clone())
            .collect()
    }
}
