//! Which tables a plan uses, and what for.

use types::TableDef;

use super::{InsertSource, Node, Plan, QueryPlan, Relation, SubPlan};

/// A table where a plan uses it.
#[derive(Clone, Copy, Debug)]
pub struct TableUsed<'p> {
    /// Its definition.
    pub def: &'p TableDef,
    /// Its name there.
    pub alias: &'p str,
    /// Its rows are changed, or locked to be.
    pub writes: bool,
}

impl Plan {
    /// Calls `visit` for every use of a table.
    pub fn for_each_table<'p>(&'p self, visit: &mut dyn FnMut(TableUsed<'p>)) {
        match self {
            Plan::Query(plan) => query(plan, &[], visit),
            Plan::Insert(plan) => {
                visit(TableUsed { def: &plan.table, alias: &plan.table.name, writes: true });
                if let InsertSource::Query(source) = &plan.source {
                    query(source, &[], visit);
                }
                subqueries(&plan.subqueries, visit);
            }
            Plan::Update(plan) => query(&plan.query, &plan.targets, visit),
            Plan::Delete(plan) => query(&plan.query, &plan.targets, visit),
            Plan::Load(plan) => {
                visit(TableUsed { def: &plan.table, alias: &plan.table.name, writes: true });
                subqueries(&plan.subqueries, visit);
            }
        }
    }
}

impl QueryPlan {
    /// Calls `visit` with the query and with every query inside it: its subqueries, and those that are nodes.
    pub fn for_each_query<'p>(&'p self, visit: &mut dyn FnMut(&'p QueryPlan)) {
        visit(self);
        for_each_query_below(&self.root, visit);
        self.subqueries.iter().for_each(|sub| sub.query.for_each_query(visit));
    }
}

fn for_each_query_below<'p>(at: &'p Node, visit: &mut dyn FnMut(&'p QueryPlan)) {
    at.inputs().into_iter().for_each(|input| for_each_query_below(input, visit));
    at.queries().iter().for_each(|inner| inner.for_each_query(visit));
}

/// The tables of a query; rows of the relations `targets` are changed.
fn query<'p>(plan: &'p QueryPlan, targets: &[u16], visit: &mut dyn FnMut(TableUsed<'p>)) {
    for (rel, relation) in (0..).zip(plan.relations.iter()) {
        if let Relation::Table { def, alias, .. } = relation {
            let locks = plan.locks.of_rel(rel).is_some_and(|lock| lock.exclusive);
            visit(TableUsed { def, alias, writes: locks || targets.contains(&rel) });
        }
    }
    node(&plan.root, visit);
    subqueries(&plan.subqueries, visit);
}

fn subqueries<'p>(plans: &'p [SubPlan], visit: &mut dyn FnMut(TableUsed<'p>)) {
    for plan in plans {
        query(&plan.query, &[], visit);
    }
}

/// The queries that are nodes at or below `at`.
fn node<'p>(at: &'p Node, visit: &mut dyn FnMut(TableUsed<'p>)) {
    at.inputs().into_iter().for_each(|input| node(input, visit));
    at.queries().iter().for_each(|inner| query(inner, &[], visit));
}
