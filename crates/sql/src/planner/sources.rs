//! The tables, derived tables and made rows that a query reads.

use expr::ColumnRef;

use super::draft::{Draft, Extra};
use super::limit::row_limit;
use super::relations::Rels;
use crate::bind::block::{Block, Query, Source};

/// Takes the relations of the block, and notes which of their columns are read.
pub(super) fn apply(draft: &mut Draft<'_>) {
    draft.row_limit = row_limit(draft.block);
    let rels = &mut draft.rels;
    rels.dives = draft.ctx.dives.filter(|_| draft.row_limit.is_none());
    rels.is_counted = draft.params.is_inside();
    rels.has_limit = draft.row_limit.is_some();
    draft.derived = push_sources(draft.block, rels);
    for column in draft.subqueries.iter().flat_map(|sub| &sub.outer) {
        rels.note_column(*column);
    }
    note_used(draft.block, draft.extra, rels);
}

/// Moves the relations of `block` to `rels`; returns the queries that make some of them.
fn push_sources(block: &mut Block, rels: &mut Rels<'_>) -> Vec<(u16, Query)> {
    let mut derived = Vec::new();
    rels.list.reserve_exact(block.rels.len());
    for mut source in std::mem::take(&mut block.rels) {
        if let Source::Query { query, .. } = &mut source {
            derived.extend(query.take().map(|query| (rels.list.len() as u16, query)));
        }
        rels.push(source);
    }
    derived
}

fn note_used(block: &mut Block, extra: &Extra<'_>, rels: &mut Rels<'_>) {
    let filter = std::mem::take(&mut block.filter);
    block.for_each_expr(&mut |expr| rels.note_used(expr));
    extra.read.iter().for_each(|expr| rels.note_used(expr));
    for &rel in extra.whole {
        let columns = rels.table(rel).map_or(0, |def| def.columns.len() as u16);
        (0..columns).for_each(|col| rels.note_column(ColumnRef { rel, col }));
    }
    rels.note_shown();
    for expr in &filter {
        rels.note_used(expr);
    }
    block.filter = filter;
}
