//! Nodes as lines.

use std::fmt::Write;

use expr::Expr;
use types::{KeyPart, TableDef};

use super::keys::key_set;
use super::print::Printer;
use crate::plan::{AggSpec, JoinKind, Node, Path, QueryPlan, Relation, Skip, SortKey, SubPlan, Take};

/// The lines so far.
#[derive(Debug, Default)]
pub(super) struct Tree {
    text: String,
}

impl Tree {
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// A node's line, `depth` levels below the root.
    pub(super) fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{:indent$}-> {text}", "", indent = depth * 4);
    }

    /// A query and its subqueries.
    pub(super) fn query(&mut self, query: &QueryPlan, depth: usize) {
        self.node(&query.root, &Printer::new(query), query, depth);
        self.subplans(&query.subqueries, depth);
    }

    /// Subqueries, counted from 2.
    pub(super) fn subplans(&mut self, subqueries: &[SubPlan], depth: usize) {
        for (at, sub) in subqueries.iter().enumerate() {
            let when = if sub.outer.is_empty() { "run only once" } else { "dependent" };
            self.line(depth, &format!("Select #{} (subquery; {when})", at + 2));
            self.query(&sub.query, depth + 1);
        }
    }

    fn derived(&mut self, query: &QueryPlan, depth: usize) {
        self.line(depth, "Table scan on <derived>");
        self.line(depth + 1, "Materialize");
        self.query(query, depth + 2);
    }

    fn union(&mut self, arms: &[QueryPlan], is_distinct: bool, depth: usize) {
        self.line(depth, if is_distinct { "Union materialize with deduplication" } else { "Append" });
        for arm in arms {
            self.query(arm, depth + 1);
        }
    }

    fn access(&mut self, node: &Node, print: &Printer<'_>, query: &QueryPlan, mut depth: usize) {
        let Node::Access { rel, path, filter, index_condition, covering } = node else { return };
        if let Some(filter) = filter {
            self.line(depth, &format!("Filter: {}", print.expr(filter)));
            depth += 1;
        }
        if let Some(Relation::Table { def, .. }) = query.relations.get(usize::from(*rel)) {
            let found = access(print, *rel, def, path, *covering);
            self.line(depth, &(found + &tested(print, index_condition.as_deref())));
        }
    }

    fn node(&mut self, node: &Node, print: &Printer<'_>, query: &QueryPlan, depth: usize) {
        match node {
            Node::Dual => self.line(depth, "Rows fetched before execution"),
            Node::Empty => self.line(depth, "Zero rows (Impossible WHERE)"),
            Node::Access { .. } => self.access(node, print, query, depth),
            Node::Merge { arms } => {
                self.line(depth, "Index merge");
                for arm in arms {
                    self.node(arm, print, query, depth + 1);
                }
            }
            Node::Intersect { first, second } => {
                self.over_both("Index intersection", [first, second], print, query, depth);
            }
            Node::Join { kind, outer, inner, on, .. } => {
                let title = nested_loop(print, *kind, on.as_ref());
                self.over_both(&title, [outer, inner], print, query, depth);
            }
            Node::HashJoin { kind, outer, inner, keys, on, .. } => {
                self.line(depth, &hash_join(print, *kind, keys, on.as_ref()));
                self.node(outer, print, query, depth + 1);
                self.line(depth + 1, "Hash");
                self.node(inner, print, query, depth + 2);
            }
            Node::HashLookup { each, hashed, after } => {
                let title = format!("Alternative plans, the second once {after} rows were read");
                self.over_both(&title, [each, hashed], print, query, depth);
            }
            Node::Filter { input, cond } => {
                self.over(&format!("Filter: {}", print.expr(cond)), input, print, query, depth);
            }
            Node::Compute { input, .. } => self.node(input, print, query, depth),
            Node::Aggregate { input, groups, aggs, sorted, .. } => {
                self.over(&aggregate(print, groups, aggs, *sorted), input, print, query, depth);
            }
            Node::Sort { input, keys, limit, .. } => {
                self.over(&sort(print, keys, limit.as_ref()), input, print, query, depth);
            }
            Node::Distinct { input, .. } => {
                self.over("Temporary table with deduplication", input, print, query, depth);
            }
            Node::Limit { input, offset, count } => {
                self.over(&limit(print, offset.as_ref(), count.as_ref()), input, print, query, depth);
            }
            Node::Virtual { def, .. } => {
                self.line(depth, &format!("Table scan on {}", def.name));
                self.line(depth + 1, &format!("Fill table {}.{}", def.schema, def.name));
            }
            Node::Derived { query: inner, .. } => self.derived(inner, depth),
            Node::Union { arms, distinct_after, .. } => self.union(arms, distinct_after.is_some(), depth),
        }
    }

    /// An operator with two inputs.
    fn over_both(
        &mut self,
        text: &str,
        inputs: [&Node; 2],
        print: &Printer<'_>,
        query: &QueryPlan,
        depth: usize,
    ) {
        self.line(depth, text);
        for input in inputs {
            self.node(input, print, query, depth + 1);
        }
    }

    /// An operator with one input.
    fn over(&mut self, text: &str, input: &Node, print: &Printer<'_>, query: &QueryPlan, depth: usize) {
        self.line(depth, text);
        self.node(input, print, query, depth + 1);
    }
}

fn sort(print: &Printer<'_>, keys: &[SortKey], limit: Option<&Expr>) -> String {
    let limit = limit
        .map_or_else(String::new, |limit| format!(", limit input to {} row(s) per chunk", print.expr(limit)));
    format!("Sort: {}{limit}", sort_keys(print, keys))
}

/// What entries of an index are tested for, after the path.
fn tested(print: &Printer<'_>, index_condition: Option<&Expr>) -> String {
    index_condition.map_or_else(String::new, |cond| format!(", with index condition: {}", print.expr(cond)))
}

fn nested_loop(print: &Printer<'_>, kind: JoinKind, on: Option<&Expr>) -> String {
    let name = match kind {
        JoinKind::Inner => "Nested loop inner join",
        JoinKind::Left => "Nested loop left join",
        JoinKind::Anti => "Nested loop antijoin",
    };
    let on = on.map_or_else(String::new, |on| format!("  {}", print.expr(on)));
    format!("{name}{on}")
}

fn aggregate(print: &Printer<'_>, groups: &[Expr], aggs: &[AggSpec], sorted: bool) -> String {
    let mut shown: Vec<String> = groups.iter().map(|g| print.expr(g)).collect();
    shown.extend(aggs.iter().map(|spec| print.aggregate(spec)));
    let name = match (groups.is_empty(), sorted) {
        (true, _) => "Aggregate",
        (false, true) => "Group aggregate",
        (false, false) => "Aggregate using temporary table",
    };
    format!("{name}: {}", shown.join(", "))
}

fn hash_join(
    print: &Printer<'_>,
    kind: JoinKind,
    keys: &[(Expr, Expr, expr::CmpDomain)],
    on: Option<&Expr>,
) -> String {
    let name = match kind {
        JoinKind::Inner => "Inner hash join",
        JoinKind::Left => "Left hash join",
        JoinKind::Anti => "Hash antijoin",
    };
    let keys: Vec<String> =
        keys.iter().map(|(a, b, _)| format!("({} = {})", print.expr(a), print.expr(b))).collect();
    let extra = on.map_or_else(String::new, |on| format!(", extra conditions: {}", print.expr(on)));
    format!("{name} {}{extra}", keys.join(", "))
}

fn sort_keys(print: &Printer<'_>, keys: &[SortKey]) -> String {
    let key = |key: &SortKey| format!("{}{}", print.expr(&key.expr), if key.desc { " DESC" } else { "" });
    keys.iter().map(key).collect::<Vec<_>>().join(", ")
}

fn limit(print: &Printer<'_>, offset: Option<&Expr>, count: Option<&Expr>) -> String {
    let count = count.map_or_else(String::new, |e| print.expr(e));
    match offset {
        Some(offset) => format!("Limit/Offset: {count}/{} row(s)", print.expr(offset)),
        None => format!("Limit: {count} row(s)"),
    }
}

/// A path in MySQL's words.
fn access(print: &Printer<'_>, rel: u16, def: &TableDef, path: &Path, covering: bool) -> String {
    let table = print.rel(rel);
    let index = |at: &usize| &def.indexes[*at];
    let reversed = |reverse: bool| if reverse { " (reverse)" } else { "" };
    let (upper, lower) = if covering { ("Covering index", "covering index") } else { ("Index", "index") };
    match path {
        Path::Scan { index: 0, reverse: false } => format!("Table scan on {table}"),
        Path::Scan { index: at, reverse } => {
            format!("{upper} scan on {table} using {}{}", index(at).name, reversed(*reverse))
        }
        Path::Point { index: at, key } => {
            let keys = equalities(print, def, *at, key, &[]);
            format!("Single-row {lower} lookup on {table} using {} ({keys})", index(at).name)
        }
        Path::Intervals { index: at, keys, reverse } => {
            let shown = key_set(print, def, *at, keys);
            let tail = reversed(*reverse);
            format!("{upper} range scan on {table} using {} over {shown}{tail}", index(at).name)
        }
        Path::Skip { index: at, skip } => {
            format!("{upper} {}", skipping(print, table, def, *at, skip))
        }
        Path::Range { index: at, eq, null_safe, lower: None, upper: None, reverse } => {
            let keys = equalities(print, def, *at, eq, null_safe);
            let tail = reversed(*reverse);
            format!("{upper} lookup on {table} using {} ({keys}){tail}", index(at).name)
        }
        Path::Range { index: at, eq, null_safe, lower, upper: most, reverse } => {
            let part = def.key_parts(*at).nth(eq.len());
            let part = part.map_or("", |part| &*def.columns[usize::from(part.column)].name);
            let low = lower.as_deref().map_or_else(String::new, |(e, included)| {
                format!("{} {} ", print.expr(e), if *included { "<=" } else { "<" })
            });
            let high = most.as_deref().map_or_else(String::new, |(e, included)| {
                format!(" {} {}", if *included { "<=" } else { "<" }, print.expr(e))
            });
            let keys = equalities(print, def, *at, eq, null_safe);
            let and = if eq.is_empty() { "" } else { " AND " };
            let tail = reversed(*reverse);
            format!(
                "{upper} range scan on {table} using {} over ({keys}{and}{low}{part}{high}){tail}",
                index(at).name
            )
        }
    }
}

/// `skip scan for grouping on t using ab over a=1 AND 5 < c`
fn skipping(print: &Printer<'_>, table: &str, def: &TableDef, at: usize, skip: &Skip) -> String {
    let index = &def.indexes[at];
    let purpose = if skip.take == Take::All { "" } else { " for grouping" };
    let name = |at: usize| &def.columns[usize::from(index.parts[at].column)].name;
    let behind = skip.lead.len() + skip.skipped;
    let equal = skip.lead.iter().enumerate().chain((behind..).zip(&skip.eq));
    let equal = equal.zip(&skip.null_safe).map(|((at, value), null_safe)| {
        let operator = if *null_safe { "<=>" } else { "=" };
        format!("{}{operator}{}", name(at), print.expr(value))
    });
    let mut shown: Vec<String> = equal.collect();
    if let Some(keys) = &skip.within {
        let keys = key_set(print, def, at, keys);
        let is_one = !keys.contains(" OR ") || !skip.has_stretch();
        shown.insert(0, if is_one { keys } else { format!("({keys})") });
    }
    let bounded = behind + skip.eq.len();
    let sign = |included: bool| if included { "<=" } else { "<" };
    if let Some((value, included)) = &skip.lower {
        shown.push(format!("{} {} {}", print.expr(value), sign(*included), name(bounded)));
    }
    if let Some((value, included)) = &skip.upper {
        shown.push(format!("{} {} {}", name(bounded), sign(*included), print.expr(value)));
    }
    let over = if shown.is_empty() { String::new() } else { format!(" over {}", shown.join(" AND ")) };
    format!("skip scan{purpose} on {table} using {}{over}", index.name)
}

/// `a=1, b=t.c`
fn equalities(
    print: &Printer<'_>,
    def: &TableDef,
    index: usize,
    values: &[Expr],
    null_safe: &[bool],
) -> String {
    let one = |(at, (part, value)): (usize, (&KeyPart, &Expr))| {
        let name = &def.columns[usize::from(part.column)].name;
        let operator = if null_safe.get(at) == Some(&true) { "<=>" } else { "=" };
        format!("{name}{operator}{}", print.expr(value))
    };
    def.key_parts(index).zip(values).enumerate().map(one).collect::<Vec<_>>().join(", ")
}
