//! EXPLAIN: a plan as text, in the manner of MySQL's FORMAT=TREE, without costs.

mod keys;
mod print;
mod tree;

use super::{InsertSource, Plan, QueryPlan, Relation};
use tree::Tree;

/// The plan as an indented tree, one line a node, each line ended by a newline.
pub fn explain(plan: &Plan) -> String {
    let mut tree = Tree::default();
    match plan {
        Plan::Query(query) => tree.query(query, 0),
        Plan::Insert(insert) => {
            tree.line(0, &format!("Insert into {}", insert.table.name));
            match &insert.source {
                InsertSource::Query(query) => tree.query(query, 1),
                InsertSource::Rows(_) => {}
            }
            tree.subplans(&insert.subqueries, 1);
        }
        Plan::Update(update) => {
            tree.line(0, &format!("Update {}", names(&update.query, &update.targets)));
            tree.query(&update.query, 1);
        }
        Plan::Delete(delete) => {
            tree.line(0, &format!("Delete from {}", names(&delete.query, &delete.targets)));
            tree.query(&delete.query, 1);
        }
        Plan::Load(load) => tree.line(0, &format!("Load data into {}", load.table.name)),
    }
    tree.into_text()
}

/// Aliases of relations.
fn names(query: &QueryPlan, rels: &[u16]) -> String {
    let name = |rel: &u16| match &query.relations[usize::from(*rel)] {
        Relation::Table { alias, .. } => alias.to_string(),
        Relation::Rows { .. } => "<derived>".to_owned(),
    };
    rels.iter().map(name).collect::<Vec<_>>().join(", ")
}
