//! Conditions that entries of a secondary index decide: they are tested before the row of an entry is
//! read.

use expr::{Expr, ExprKind};
use types::{IndexDef, TableDef};

use super::access::{Choice, Methods};
use super::relations::Rels;
use crate::bind::rewrite;
use crate::bind::volatile::is_volatile;
use crate::plan::RelationColumns;

/// Allows conditions to be tested on entries.
pub(super) fn allow(methods: &mut Methods) {
    methods.index_condition = true;
}

/// Takes from `conditions` those that the entries of the path's index decide; these, and the rest. None where
/// the path reads rows, or only entries.
pub(super) fn split(rel: u16, choice: &Choice, conditions: Vec<Expr>, rels: &Rels) -> (Vec<Expr>, Vec<Expr>) {
    let index = choice.path.index();
    let Some(def) = rels.table(rel).filter(|_| index != 0 && !choice.covering) else {
        return (Vec::new(), conditions);
    };
    let have = entry_columns(def, &def.indexes[index]);
    conditions.into_iter().partition(|condition| is_decided(condition, rel, &have))
}

/// Columns whose values entries of `index` hold: its parts and those of the clustered key, where they are
/// whole.
pub(super) fn entry_columns(def: &TableDef, index: &IndexDef) -> RelationColumns {
    let mut columns = RelationColumns::default();
    let parts = index.parts.iter().chain(&def.clustered().parts);
    parts.filter(|part| part.prefix_len.is_none()).for_each(|part| columns.insert(part.column));
    columns
}

/// Whether `condition` names of `rel` only columns of `have`, and may be tested on more rows than the others
/// leave.
fn is_decided(condition: &Expr, rel: u16, have: &RelationColumns) -> bool {
    let (mut names_rel, mut names_others) = (false, false);
    condition.walk(&mut |e| {
        if let ExprKind::Column(column) = e.kind
            && column.rel == rel
        {
            names_rel = true;
            names_others |= !have.contains(column.col);
        }
    });
    names_rel && !names_others && !rewrite::has_subquery(condition) && !is_volatile(condition)
}
