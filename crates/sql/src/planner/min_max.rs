//! MIN and MAX of an index's first free part: one row is enough.

use expr::{AggFunc, ColumnRef, ExprKind};

use super::access;
use super::join_list::{Item, JoinList};
use super::ordering::{self, Reading};
use super::relations::{RelSet, Rels};
use crate::bind::block::Block;
use crate::plan::{Node, SortKey};

/// The row that holds the only MIN or MAX of a query over one table, if an index leads to it.
pub(super) fn plan(block: &Block, list: &JoinList, rels: &Rels) -> Option<Node> {
    let aggregation = block.aggregation.as_ref()?;
    let ([Item::Rel(rel)], [spec], []) = (&list.items[..], &aggregation.aggs[..], &aggregation.groups[..])
    else {
        return None;
    };
    let desc = match spec.func {
        AggFunc::Min => false,
        AggFunc::Max => true,
        _ => return None,
    };
    let [arg] = &spec.args[..] else { return None };
    let ExprKind::Column(ColumnRef { rel: of, .. }) = arg.kind else { return None };
    if of != *rel {
        return None;
    }
    let keys = [SortKey { expr: arg.clone(), desc }];
    let conditions: Vec<&expr::Expr> = list.conditions.iter().collect();
    let choices = access::choices(*rel, &conditions, RelSet::EMPTY, rels);
    let (reading, mut choice) = choices.into_iter().find_map(|choice| {
        let ensures_all = choice.ensured.len() == conditions.len();
        let reading = choice.order.reading(&keys).filter(|_| ensures_all)?;
        Some((reading, choice))
    })?;
    if reading == Reading::Backward {
        ordering::reverse(&mut choice.path);
    }
    // NULLs come first in an index and do not count in MIN.
    let filter = (arg.nullable && !desc).then(|| rels.build.is_null(arg.clone(), true));
    let access = Node::Access {
        rel: *rel,
        path: choice.path,
        filter,
        index_condition: None,
        covering: choice.covering,
    };
    Some(Node::Limit { input: Box::new(access), offset: None, count: Some(rels.build.int(1)) })
}
