//! Join order: from each possible first table the rest follows greedily; the cheapest whole wins.

use std::iter;

use expr::{CmpOp, Expr, ExprKind};
use smallvec::SmallVec;

use super::access::{self, Choice, Choices, Methods};
use super::cost;
use super::goal::Goal;
use super::join_list::{Item, JoinList};
use super::ordering::Ordering;
use super::relations::{RelKind, RelSet, Rels};

/// Allows the search to choose the order of tables; else it is the order written.
pub(super) fn allow(methods: &mut Methods) {
    methods.join_order = true;
}

/// Places in a join list.
type Positions = SmallVec<[usize; 8]>;

/// The order of items and how each is read.
#[derive(Clone, Debug)]
pub(super) struct JoinPlan {
    /// Items in the order in which they are joined.
    pub(super) steps: Vec<Step>,
    /// Rows that come out.
    pub(super) rows: f64,
    /// Cost of making them.
    pub(super) cost: f64,
    /// Their order.
    pub(super) order: Ordering,
    /// Relations outside that the paths' keys name.
    pub(super) needs: RelSet,
}

/// One item of a join plan.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Position in [`JoinList::items`].
    pub(super) item: usize,
    /// How it is read.
    pub(super) how: How,
    /// It is read once and joined by a hash table.
    pub(super) hash: bool,
    /// Rows that it gives in all, before conditions that its path does not ensure.
    pub(super) given: f64,
    /// Rows that come out.
    pub(super) rows: f64,
}

/// How an item is read.
#[derive(Clone, Debug)]
pub(super) enum How {
    /// A base table; [`Choice::ensured`] are positions in [`JoinList::conditions`].
    Access(Box<Choice>),
    /// A derived or virtual table.
    Derived,
    /// The inner side of a left join.
    Left(JoinPlan),
}

/// A step with its cost.
struct StepCandidate {
    step: Step,
    rows: f64,
    cost: f64,
    needs: RelSet,
    order: Ordering,
    /// Joined by a key, by a hash table, or no more than one row.
    connected: bool,
}

/// Finds the best join plan through `list`. Rows of `outside` are known while it runs.
pub(super) fn best(
    list: &JoinList,
    outside: RelSet,
    goal: Goal<'_>,
    (rels, methods): (&Rels, &Methods),
) -> JoinPlan {
    let search = Search::new(list, outside, (rels, methods));
    let mut best = Best { cost: f64::INFINITY, join_plan: None };
    for (at, item) in list.items.iter().enumerate() {
        if !item.needs().within(outside) || (search.is_ordered && at > 0) {
            continue;
        }
        search.begin(at, goal, &mut best);
        if best.cost <= search.least(goal) {
            break;
        }
    }
    best.join_plan.unwrap_or_else(|| JoinPlan {
        steps: Vec::new(),
        rows: 1.0,
        cost: 0.0,
        order: Ordering::default(),
        needs: RelSet::EMPTY,
    })
}

/// The best join plan so far, and its cost.
struct Best {
    cost: f64,
    join_plan: Option<JoinPlan>,
}

impl Best {
    /// Whether a join plan whose first step costs `cost` may be cheaper. Each step costs more, but a limit
    /// ends them early.
    fn may_be_beaten(&self, cost: f64, goal: Goal<'_>) -> bool {
        cost < self.cost || goal.limit.is_some() || self.join_plan.is_none()
    }

    fn consider(&mut self, join_plan: JoinPlan, goal: Goal<'_>) {
        let cost = cost_for_goal(&join_plan, goal);
        if cost < self.cost || self.join_plan.is_none() {
            *self = Best { cost, join_plan: Some(join_plan) };
        }
    }
}

/// Cost of a join plan and of what `goal` has still to do. A limit ends a join plan early if nothing must be
/// sorted.
pub(super) fn cost_for_goal(join_plan: &JoinPlan, goal: Goal<'_>) -> f64 {
    let is_met = goal.is_trivial() || goal.is_met(&join_plan.order);
    let rows = join_plan.rows.max(1.0);
    match (is_met, goal.limit) {
        (true, Some(limit)) if goal.groups.is_empty() => join_plan.cost * (limit / rows).min(1.0),
        (true, _) => join_plan.cost,
        (false, _) if goal.groups.is_empty() => join_plan.cost + cost::sort(rows),
        (false, _) => join_plan.cost + rows * cost::HASH_ROW,
    }
}

struct Search<'r> {
    list: &'r JoinList,
    outside: RelSet,
    /// The order of the items is that of the list.
    is_ordered: bool,
    rels: &'r Rels<'r>,
    methods: &'r Methods,
}

impl<'r> Search<'r> {
    fn new(list: &'r JoinList, outside: RelSet, (rels, methods): (&'r Rels<'r>, &'r Methods)) -> Self {
        let is_ordered = list.ordered || !methods.join_order;
        Search { list, outside, is_ordered, rels, methods }
    }

    /// The least that any join plan may cost, where that is known: each table is read for one row at least.
    fn least(&self, goal: Goal<'_>) -> f64 {
        let is_table = |item: &Item| match item {
            Item::Rel(rel) => matches!(self.rels.get(*rel).kind, RelKind::Table { .. }),
            Item::Left { .. } => false,
        };
        match goal.limit {
            None if self.list.items.iter().all(is_table) => self.list.items.len() as f64 * cost::LEAST,
            _ => 0.0,
        }
    }

    /// Considers the join plans that begin with item `at`: with the cheapest way to read it, and the cheapest
    /// that serves the goal.
    fn begin(&self, at: usize, goal: Goal<'_>, best: &mut Best) {
        let Item::Rel(rel) = self.list.items[at] else {
            return best.consider(self.complete(self.left(at, 1.0, self.outside)), goal);
        };
        if !matches!(self.rels.get(rel).kind, RelKind::Table { .. }) {
            return best.consider(self.complete(self.derived(at, rel, 1.0, self.outside)), goal);
        }
        let (positions, mut choices) = self.choices(rel, self.outside, goal);
        let mut ordered = None;
        if !goal.is_trivial() {
            let at = choices.iter().position(|c| goal.is_met(&c.order)).filter(|&at| at > 0);
            ordered = at.map(|at| choices.swap_remove(at));
        }
        for choice in iter::once(first(choices)).chain(ordered) {
            if best.may_be_beaten(choice.cost, goal) {
                let start = self.access(at, rel, 1.0, choice, &positions, false);
                best.consider(self.complete(start), goal);
            }
        }
    }

    /// Joins the other items after `first`, the most promising one each time.
    fn complete(&self, first: StepCandidate) -> JoinPlan {
        let mut bound = self.outside.with(self.list.items[first.step.item].rels());
        let count = self.list.items.len();
        let mut left: Positions = (0..count).filter(|&at| at != first.step.item).collect();
        let mut steps = Vec::with_capacity(count);
        steps.push(first.step);
        let mut join_plan =
            JoinPlan { steps, rows: first.rows, cost: first.cost, order: first.order, needs: first.needs };
        while !left.is_empty() {
            let ready = |at: &usize| self.list.items[*at].needs().within(bound);
            let candidates: Positions = if self.is_ordered {
                left.iter().copied().find(ready).into_iter().collect()
            } else {
                left.iter().copied().filter(ready).collect()
            };
            let steps = candidates.into_iter().map(|at| self.candidate(at, join_plan.rows, bound));
            let Some(next) = steps.min_by(|a, b| self.rank(a).total_cmp(&self.rank(b))) else { break };
            bound = bound.with(self.list.items[next.step.item].rels());
            left.retain(|at| *at != next.step.item);
            join_plan.rows = next.rows;
            join_plan.cost += next.cost;
            join_plan.needs = join_plan.needs.with(next.needs);
            join_plan.steps.push(next.step);
        }
        join_plan.needs = join_plan.needs.without(bound.without(self.outside));
        join_plan
    }

    /// Joined tables first, then left joins, then tables that nothing connects.
    fn rank(&self, offer: &StepCandidate) -> f64 {
        let is_left = matches!(self.list.items[offer.step.item], Item::Left { .. });
        let tier = match (is_left, offer.connected) {
            (false, true) => 0.0,
            (true, _) => 1e30,
            (false, false) => 1e60,
        };
        tier + offer.cost + offer.rows
    }

    /// The best way to join item `at` to `rows` rows of `bound`.
    fn candidate(&self, at: usize, rows: f64, bound: RelSet) -> StepCandidate {
        let Item::Rel(rel) = self.list.items[at] else { return self.left(at, rows, bound) };
        if !matches!(self.rels.get(rel).kind, RelKind::Table { .. }) {
            return self.derived(at, rel, rows, bound);
        }
        let (positions, choices) = self.choices(rel, bound, Goal::default());
        let best = first(choices);
        let ensures = |at: usize| best.ensured.iter().any(|&own| positions[own] == at);
        let may_hash =
            best.needs.is_empty() || self.reads_many(rel, &best, (RelSet::of(rel), bound), ensures);
        if rows > 1.0 && may_hash && best.rows > 1.0 && self.has_hash_key(RelSet::of(rel), bound) {
            let (positions, choices) = self.choices(rel, RelSet::EMPTY, Goal::default());
            let own = first(choices);
            if best.needs.is_empty() || hashing(&own, rows) < rows * best.cost {
                return self.access(at, rel, rows, own, &positions, true);
            }
        }
        self.access(at, rel, rows, best, &positions, false)
    }

    fn access(
        &self,
        item: usize,
        rel: u16,
        rows: f64,
        mut choice: Box<Choice>,
        positions: &[usize],
        hash: bool,
    ) -> StepCandidate {
        choice.ensured.iter_mut().for_each(|at| *at = positions[*at]);
        let mut share = 1.0;
        for &position in positions.iter().filter(|position| !choice.ensured.contains(position)) {
            let condition = &self.list.conditions[position];
            if !self.rels.subqueries.is_lead(condition) {
                share *= share_of(condition);
            }
        }
        if hash {
            share *= cost::EQUAL_SHARE;
        }
        let connected = hash || choice.rows <= 1.0 || !choice.needs.is_empty();
        let out = (rows * choice.rows * share).max(1.0);
        let total = if hash { hashing(&choice, rows) } else { rows * choice.cost };
        let (order, needs) = (std::mem::take(&mut choice.order), choice.needs.without(RelSet::of(rel)));
        // Subqueries are run for the rows that there are: the plan ends when a table of few rows has grown.
        let given = choice.rows * self.rels.get(rel).present * if hash { 1.0 } else { rows };
        let step = Step { item, how: How::Access(choice), hash, given, rows: out };
        StepCandidate { step, rows: out, cost: total, needs, order, connected }
    }

    fn derived(&self, item: usize, rel: u16, rows: f64, bound: RelSet) -> StepCandidate {
        let own = self.rels.get(rel).rows;
        let hash = self.has_hash_key(RelSet::of(rel), bound);
        let (total, out) = if hash {
            ((own + rows) * cost::HASH_ROW, rows * own * cost::EQUAL_SHARE)
        } else {
            (rows * own * cost::NEXT_ROW, rows * own)
        };
        let given = if hash { own } else { rows * own };
        let step = Step { item, how: How::Derived, hash, given, rows: out };
        StepCandidate {
            step,
            rows: out.max(1.0),
            cost: total,
            needs: RelSet::EMPTY,
            order: Ordering::default(),
            connected: hash,
        }
    }

    /// The inner side of a left join: nested loops if a key of it depends on the outer side, else hashing if
    /// there is an equality.
    fn left(&self, item: usize, rows: f64, bound: RelSet) -> StepCandidate {
        let Item::Left { list, rels, .. } = &self.list.items[item] else { unreachable!("a left join") };
        let nested = best(list, bound, Goal::default(), (self.rels, self.methods));
        let search = Search::new(list, RelSet::EMPTY, (self.rels, self.methods));
        let may_hash = nested.needs.is_empty() || search.begins_with_many(&nested, (*rels, bound));
        if rows > 1.0 && may_hash && nested.rows > 1.0 && search.has_hash_key(*rels, bound) {
            let own = best(list, RelSet::EMPTY, Goal::default(), (self.rels, self.methods));
            let total = own.cost + (own.rows + rows) * cost::HASH_ROW;
            if nested.needs.is_empty() || total < rows * nested.cost {
                let out = rows.max(rows * own.rows * cost::EQUAL_SHARE);
                let step = Step { item, how: How::Left(own), hash: true, given: out, rows: out };
                let (needs, order) = (RelSet::EMPTY, Ordering::default());
                return StepCandidate { step, rows: out, cost: total, needs, order, connected: true };
            }
        }
        let (total, out) = (rows * nested.cost, rows * nested.rows.max(1.0));
        let needs = nested.needs;
        let step = Step { item, how: How::Left(nested), hash: false, given: out, rows: out };
        StepCandidate { step, rows: out, cost: total, needs, order: Ordering::default(), connected: true }
    }

    /// Paths to table `rel` while `bound` are known, and the positions of the conditions that they may use.
    fn choices(&self, rel: u16, bound: RelSet, goal: Goal<'_>) -> (Positions, Choices) {
        let whole = bound.with(RelSet::of(rel));
        let named = &self.list.named;
        let is_told = |at: &usize| named[*at].has(rel) && named[*at].within(whole);
        let positions: Positions = (0..named.len()).filter(is_told).collect();
        let conditions: SmallVec<[&Expr; 8]> =
            positions.iter().map(|&at| &self.list.conditions[at]).collect();
        (positions, access::choices(rel, &conditions, bound, goal, (self.rels, self.methods)))
    }

    /// Whether the first item of `join_plan` reads many rows; see [`Search::reads_many`].
    fn begins_with_many(&self, join_plan: &JoinPlan, (inner, bound): (RelSet, RelSet)) -> bool {
        match join_plan.steps.first().map(|step| (&self.list.items[step.item], &step.how)) {
            Some((Item::Rel(rel), How::Access(choice))) => {
                self.reads_many(*rel, choice, (inner, bound), |at| choice.ensured.contains(&at))
            }
            Some(_) | None => true,
        }
    }

    /// Whether `choice` reads many rows of `rel` each time: a part of an index, or the rows of a value that
    /// many have, of which an equality of `inner` with `bound` leaves few. `ensures`: whether it ensures the
    /// condition at this position. Other lookups are not weighed against a hash table: they cost little,
    /// however few rows look something up. Nor are those of a table for which memory may not suffice.
    fn reads_many(
        &self,
        rel: u16,
        choice: &Choice,
        (inner, bound): (RelSet, RelSet),
        ensures: impl Fn(usize) -> bool,
    ) -> bool {
        let all = self.rels.get(rel).rows;
        let is_large = || choice.rows >= all * cost::LARGE_SHARE;
        let leaves_few = || self.hash_keys(inner, bound).any(|at| !ensures(at));
        all <= cost::HASHED_ROWS_MAX && (!choice.finds_values() || (is_large() && leaves_few()))
    }

    /// Whether an equality joins `inner` with `bound`.
    fn has_hash_key(&self, inner: RelSet, bound: RelSet) -> bool {
        self.methods.hash_join && self.hash_keys(inner, bound).next().is_some()
    }

    /// Positions of the equalities that join `inner` with `bound`.
    fn hash_keys(&self, inner: RelSet, bound: RelSet) -> impl Iterator<Item = usize> {
        let conditions = self.list.conditions.iter().enumerate();
        conditions.filter(move |(_, c)| hash_key(c, inner, bound, self.rels).is_some()).map(|(at, _)| at)
    }
}

/// Cost of reading a table by `choice` into a hash table, and of looking `rows` rows up in it.
fn hashing(choice: &Choice, rows: f64) -> f64 {
    choice.cost + (choice.rows + rows) * cost::HASH_ROW
}

/// The cheapest of `choices`: a table can always be scanned.
fn first(mut choices: Choices) -> Box<Choice> {
    choices.swap_remove(0)
}

/// The sides of an equality between `outer` and `inner`, in this order.
pub(super) fn hash_key<'e>(
    condition: &'e Expr,
    inner: RelSet,
    outer: RelSet,
    rels: &Rels,
) -> Option<(&'e Expr, &'e Expr)> {
    let ExprKind::Compare { op: CmpOp::Eq, args, .. } = &condition.kind else { return None };
    let sides = [(&args[0], &args[1]), (&args[1], &args[0])];
    sides.into_iter().find(|(a, b)| {
        let (a_rels, b_rels) = (rels.of(a), rels.of(b));
        !a_rels.is_empty() && !b_rels.is_empty() && a_rels.within(outer) && b_rels.within(inner)
    })
}

/// About what part of the rows passes `condition`.
fn share_of(condition: &Expr) -> f64 {
    match &condition.kind {
        ExprKind::Compare { op: CmpOp::Eq | CmpOp::NullSafeEq, .. } => cost::EQUAL_SHARE,
        _ => cost::CONDITION_SHARE,
    }
}
