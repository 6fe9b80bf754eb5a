//! A join plan as plan nodes, each condition at the earliest place where all that it names is known. A
//! condition that calls a volatile function is computed for each joined row: its place is after all joins,
//! unless it is the key of one.

use expr::{CmpDomain, CmpOp, Expr, ExprKind};
use smallvec::{SmallVec, smallvec};

use super::access::{Arm, Choice, Methods};
use super::dive;
use super::draft::{Chosen, Draft};
use super::hash_lookup::{self, Lookup};
use super::index_condition;
use super::index_intersect;
use super::index_merge;
use super::join_list::{Item, JoinList};
use super::join_order::{self, How, JoinPlan, Step, hash_key};
use super::known_equalities::KnownEqualities;
use super::ordering::Ordering;
use super::relations::{RelKind, RelSet, Rels};
use crate::bind::rewrite;
use crate::bind::volatile::calls_volatile;
use crate::plan::{Estimate, JoinKind, Node};

/// Builds the nodes of the draft's join plan.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let Some(mut join_plan) = draft.join_plan.take() else { return };
    let (list, rels) = (&draft.list, &draft.rels);
    if let Some(dives) = rels.dives {
        dive::note_join_plan(&join_plan, dives);
    }
    let mut estimate = Estimate::new(join_plan.rows, cost_of_run(&join_plan, draft));
    let counted = dive::counted(&join_plan).filter(|_| draft.block.aggregation.is_none());
    let read = index_intersect::columns_read(list, &join_plan);
    let mut order = std::mem::take(&mut join_plan.order);
    let lookup = hash_lookup::find(&join_plan, estimate.cost, draft);
    if let Some(lookup) = &lookup {
        (estimate.shared, order) = (lookup.cost, Ordering::default());
    }
    let mut builder = NodeBuilder::new(list, (rels, &draft.methods), RelSet::EMPTY, unplaced(list));
    builder.lookup = lookup;
    let Built { node, by_row, in_paths } = builder.build(join_plan);
    draft.chosen = Chosen { by_row, in_paths, counted, read };
    draft.set_rows(node, order, estimate);
}

/// What a run of the join plan costs. A subquery that wants the first rows alone reads all where there are
/// none, which half of its runs are taken to find: how many rows its conditions leave is a guess as a rule,
/// and a list of all its values costs a single run. What a key finds is no guess.
fn cost_of_run(join_plan: &JoinPlan, draft: &Draft<'_>) -> f64 {
    let goal = draft.goal();
    let cost = join_order::cost_for_goal(join_plan, goal);
    if goal.limit.is_none() || !draft.params.is_inside() {
        return cost;
    }
    let in_vain = (join_plan.cost - join_plan.rows).max(0.0);
    cost + in_vain / 2.0
}

/// The nodes of a join plan.
struct Built {
    node: Node,
    /// Ordinals of the subqueries that are run for each row instead of making a list.
    by_row: Vec<u16>,
    /// Ordinals of the subqueries whose values a path takes.
    in_paths: Vec<u16>,
}

/// A flag for each condition.
type Placed = SmallVec<[bool; 16]>;

/// No condition of `list` has found its place.
fn unplaced(list: &JoinList) -> Placed {
    smallvec![false; list.conditions.len()]
}

struct NodeBuilder<'r> {
    list: &'r JoinList,
    rels: &'r Rels<'r>,
    methods: &'r Methods,
    /// Relations whose rows are known.
    known: RelSet,
    /// Equalities that hold for the rows so far.
    equal: KnownEqualities<'r>,
    /// Which conditions have found their place.
    is_placed: Placed,
    /// Which conditions are for joined rows alone; empty where there is nothing to join.
    is_of_joined: Placed,
    /// How the rows of the first item are found in many runs.
    lookup: Option<Box<Lookup>>,
    /// Rows of all items are known.
    is_joined: bool,
    /// Rows on which conditions are tested here.
    rows: f64,
    by_row: Vec<u16>,
    /// Ordinals of the subqueries whose values a path takes.
    in_paths: Vec<u16>,
}

impl<'r> NodeBuilder<'r> {
    fn new(
        list: &'r JoinList,
        (rels, methods): (&'r Rels<'r>, &'r Methods),
        known: RelSet,
        is_placed: Placed,
    ) -> Self {
        let equal = KnownEqualities::default();
        let joined = if list.items.len() > 1 { &list.conditions[..] } else { &[] };
        NodeBuilder {
            list,
            rels,
            methods,
            known,
            equal,
            is_placed,
            is_of_joined: joined.iter().map(|condition| is_of_joined(condition, rels)).collect(),
            lookup: None,
            is_joined: false,
            rows: 1.0,
            by_row: Vec::new(),
            in_paths: Vec::new(),
        }
    }

    fn build(mut self, join_plan: JoinPlan) -> Built {
        let mut node = None;
        for step in join_plan.steps {
            node = Some(self.step(node, step));
        }
        let rest = self.take(|_| true);
        let node = filter(node.unwrap_or(Node::Dual), rest, self.rels);
        Built { node, by_row: self.by_row, in_paths: self.in_paths }
    }

    fn step(&mut self, outer: Option<Node>, step: Step) -> Node {
        let item = &self.list.items[step.item];
        let before = self.known;
        self.known = before.with(item.rels());
        self.rows = step.given;
        let node = match (item, step.how) {
            (Item::Left { list, .. }, How::Left(join_plan)) => {
                self.left(outer, list, join_plan, item.rels(), before, step.hash)
            }
            (Item::Rel(rel), how) if step.hash => self.hashed(outer, *rel, how, before),
            (Item::Rel(rel), how) => self.nested(outer, *rel, how),
            (Item::Left { .. }, _) => unreachable!("a left join has a join plan"),
        };
        self.rows = step.rows;
        self.is_joined = self.list.items.iter().all(|item| item.rels().within(self.known));
        let rest = self.take_known();
        match item {
            Item::Left { list, .. } => self.without_partner(node, list, rest),
            Item::Rel(_) => filter(node, rest, self.rels),
        }
    }

    /// Conditions that can be tested now.
    fn take_known(&mut self) -> Vec<Expr> {
        let known = self.known;
        self.take(|named| named.within(known))
    }

    /// Takes the conditions whose relations satisfy `wanted`; conditions that follow from others are left
    /// out.
    fn take(&mut self, wanted: impl Fn(RelSet) -> bool) -> Vec<Expr> {
        let mut taken = Vec::new();
        for (at, condition) in self.list.conditions.iter().enumerate() {
            if self.is_placed[at] || !wanted(self.list.named[at]) {
                continue;
            }
            if !self.is_joined && self.is_of_joined.get(at) == Some(&true) {
                continue;
            }
            self.is_placed[at] = true;
            let follows = self.methods.known && self.equal.implies(condition);
            if !follows && !self.rels.subqueries.is_lead(condition) {
                self.equal.add(condition);
                taken.push(self.cheaper(condition));
            }
        }
        taken
    }

    /// `condition`, or its other form if that is cheaper here.
    fn cheaper(&mut self, condition: &Expr) -> Expr {
        match self.rels.subqueries.cheaper_by_row(condition, self.rows) {
            Some((subquery, other)) if !self.in_paths.contains(&subquery) => {
                self.by_row.push(subquery);
                other.clone()
            }
            _ => condition.clone(),
        }
    }

    /// Notes the conditions that a path ensures.
    fn ensure(&mut self, how: &How) {
        let How::Access(choice) = how else { return };
        if !self.rels.subqueries.is_empty() {
            self.in_paths.extend(choice.path.subqueries());
        }
        for &at in &choice.ensured {
            self.is_placed[at] = true;
            self.equal.add(&self.list.conditions[at]);
        }
    }

    /// A relation read for each row of `outer`.
    fn nested(&mut self, outer: Option<Node>, rel: u16, how: How) -> Node {
        self.ensure(&how);
        let conditions = self.take_known();
        let lookup = self.lookup.take();
        let of_subqueries = lookup.as_ref().map(|_| hash_lookup::with_subqueries(&conditions));
        let inner = self.read(rel, how, conditions);
        match (outer, lookup) {
            (None, Some(lookup)) => self.looked_up(inner, rel, *lookup, of_subqueries.unwrap_or_default()),
            (None, None) => inner,
            (Some(outer), _) => join(JoinKind::Inner, outer, inner, RelSet::of(rel)),
        }
    }

    /// The first relation, read by `each` or found in a hash table that runs share.
    fn looked_up(&self, each: Node, rel: u16, lookup: Lookup, of_subqueries: Vec<Expr>) -> Node {
        let Lookup { how, own, keys, mut on, after, .. } = lookup;
        on.extend(of_subqueries);
        let hashed = Node::HashJoin {
            kind: JoinKind::Inner,
            outer: Box::new(Node::Dual),
            inner: Box::new(self.read(rel, how, own)),
            keys,
            on: all(on, self.rels),
            inner_rels: vec![rel],
        };
        match after {
            Some(after) => Node::HashLookup { each: Box::new(each), hashed: Box::new(hashed), after },
            None => hashed,
        }
    }

    /// A relation read once into a hash table.
    fn hashed(&mut self, outer: Option<Node>, rel: u16, how: How, before: RelSet) -> Node {
        self.ensure(&how);
        let own = self.take(|named| named.within(RelSet::of(rel)) && !named.is_empty());
        let inner = self.read(rel, how, own);
        let (keys, rest) = hash_keys(self.take_known(), RelSet::of(rel), before, self.rels);
        Node::HashJoin {
            kind: JoinKind::Inner,
            outer: Box::new(outer.unwrap_or(Node::Dual)),
            inner: Box::new(inner),
            keys,
            on: all(rest, self.rels),
            inner_rels: vec![rel],
        }
    }

    fn left(
        &self,
        outer: Option<Node>,
        list: &JoinList,
        join_plan: JoinPlan,
        inner_rels: RelSet,
        before: RelSet,
        hash: bool,
    ) -> Node {
        let outer = outer.unwrap_or(Node::Dual);
        if !hash {
            let of = (self.rels, self.methods);
            let inner = NodeBuilder::new(list, of, before, unplaced(list)).build(join_plan).node;
            return join(JoinKind::Left, outer, inner, inner_rels);
        }
        let is_own =
            |at: usize| list.named[at].within(inner_rels) && !is_of_joined(&list.conditions[at], self.rels);
        let (own, between): (Vec<usize>, Vec<usize>) = (0..list.conditions.len()).partition(|&at| is_own(at));
        let inner = self.own_part(list, join_plan, &own);
        let between = between.into_iter().map(|at| list.conditions[at].clone()).collect();
        let (keys, rest) = hash_keys(between, inner_rels, before, self.rels);
        Node::HashJoin {
            kind: JoinKind::Left,
            outer: Box::new(outer),
            inner: Box::new(inner),
            keys,
            on: all(rest, self.rels),
            inner_rels: inner_rels.iter().collect(),
        }
    }

    /// The rows of a left join with `list` that satisfy `conditions`. Where one of them asks for NULL in a
    /// column of `list` that holds none, they are the rows without a partner: an antijoin.
    fn without_partner(&self, mut left: Node, list: &JoinList, mut conditions: Vec<Expr>) -> Node {
        if let Some(at) = conditions.iter().position(|condition| self.is_absent(condition, list))
            && let Node::Join { kind, .. } | Node::HashJoin { kind, .. } = &mut left
        {
            *kind = JoinKind::Anti;
            conditions.remove(at);
        }
        filter(left, conditions, self.rels)
    }

    /// Whether `condition` asks for NULL in a column that all rows of a table of `list` have a value in.
    fn is_absent(&self, condition: &Expr, list: &JoinList) -> bool {
        let ExprKind::IsNull { arg, negated: false } = &condition.kind else { return false };
        let ExprKind::Column(column) = arg.kind else { return false };
        let is_joined = |item: &Item| matches!(item, Item::Rel(rel) if *rel == column.rel);
        let def = self.rels.table(column.rel).filter(|_| list.items.iter().any(is_joined));
        def.is_some_and(|def| !def.columns[usize::from(column.col)].nullable)
    }

    /// The inner side alone, with those of its conditions that name nothing else.
    fn own_part(&self, list: &JoinList, join_plan: JoinPlan, own: &[usize]) -> Node {
        let is_placed = (0..list.conditions.len()).map(|at| !own.contains(&at)).collect();
        NodeBuilder::new(list, (self.rels, self.methods), RelSet::EMPTY, is_placed).build(join_plan).node
    }

    /// The node that reads a relation and tests `conditions`.
    fn read(&self, rel: u16, how: How, conditions: Vec<Expr>) -> Node {
        match (how, &self.rels.get(rel).kind) {
            (How::Access(mut choice), _) if choice.arms.is_empty() => {
                let also = choice.also.take();
                let first = self.access(rel, choice, conditions);
                match also {
                    None => first,
                    Some(also) => {
                        let second = self.access(rel, Box::new(also.choice), Vec::new());
                        Node::Intersect { first: Box::new(first), second: Box::new(second) }
                    }
                }
            }
            (How::Access(choice), _) => {
                let arms = choice.arms.into_iter();
                let arms =
                    arms.map(|Arm { choice, filter }| self.access(rel, Box::new(choice), filter)).collect();
                filter(index_merge::node(rel, arms, self.rels), conditions, self.rels)
            }
            (_, RelKind::Virtual { def }) => {
                filter(Node::Virtual { rel, def: def.clone() }, conditions, self.rels)
            }
            (_, RelKind::Derived { plan: Some(plan), .. }) => {
                filter(Node::Derived { rel, query: plan.clone() }, conditions, self.rels)
            }
            _ => Node::Empty,
        }
    }
}

impl NodeBuilder<'_> {
    /// The node that reads a table by `choice` and tests `conditions`.
    fn access(&self, rel: u16, choice: Box<Choice>, conditions: Vec<Expr>) -> Node {
        let (of_index, rest) = if self.methods.index_condition {
            index_condition::split(rel, &choice, conditions, self.rels)
        } else {
            (Vec::new(), conditions)
        };
        Node::Access {
            rel,
            path: choice.path,
            filter: all(rest, self.rels),
            index_condition: all(of_index, self.rels).map(Box::new),
            covering: choice.covering,
        }
    }
}

/// Whether `condition` calls a volatile function, and is no equality between relations that may be the key of
/// a join.
fn is_of_joined(condition: &Expr, rels: &Rels) -> bool {
    if is_plain_comparison(condition) || !calls_volatile(condition) {
        return false;
    }
    let ExprKind::Compare { op: CmpOp::Eq, args, .. } = &condition.kind else { return true };
    let (left, right) = (rels.of(&args[0]), rels.of(&args[1]));
    left.is_empty() || right.is_empty() || left.meets(right)
}

fn is_plain_comparison(condition: &Expr) -> bool {
    let is_plain = |e: &Expr| matches!(e.kind, ExprKind::Column(_) | ExprKind::Param(_) | ExprKind::Const(_));
    matches!(&condition.kind, ExprKind::Compare { args, .. } if args.iter().all(is_plain))
}

fn join(kind: JoinKind, outer: Node, inner: Node, inner_rels: RelSet) -> Node {
    Node::Join {
        kind,
        outer: Box::new(outer),
        inner: Box::new(inner),
        on: None,
        inner_rels: inner_rels.iter().collect(),
    }
}

/// Splits conditions into the keys of a hash join and the rest.
fn hash_keys(
    conditions: Vec<Expr>,
    inner: RelSet,
    outer: RelSet,
    rels: &Rels,
) -> (Vec<(Expr, Expr, CmpDomain)>, Vec<Expr>) {
    let (mut keys, mut rest) = (Vec::new(), Vec::new());
    for condition in conditions {
        let key = hash_key(&condition, inner, outer, rels);
        match (&condition.kind, key) {
            (ExprKind::Compare { domain, .. }, Some((a, b))) => keys.push((a.clone(), b.clone(), *domain)),
            _ => rest.push(condition),
        }
    }
    (keys, rest)
}

/// The rows of `node` that satisfy `conditions`.
pub(super) fn filter(node: Node, conditions: Vec<Expr>, rels: &Rels) -> Node {
    match all(conditions, rels) {
        Some(cond) => Node::Filter { input: Box::new(node), cond },
        None => node,
    }
}

/// The conjunction of `conditions`; those with subqueries are tested last.
pub(super) fn all(mut conditions: Vec<Expr>, rels: &Rels) -> Option<Expr> {
    conditions.sort_by_key(rewrite::has_subquery);
    (!conditions.is_empty()).then(|| rels.build.and(conditions))
}
