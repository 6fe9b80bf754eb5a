//! How the rows of one table are found: the cheapest path that its indexes offer.

use expr::{ColumnRef, Expr};
use types::{IndexDef, IndexKind, TableDef};

use super::relations::{RelKind, RelSet, Rels};
use super::sarg::{self, Sarg, Test};
use super::{cost, ordering::Ordering};
use crate::plan::{ColumnSet, Path};

/// Longest IN list that becomes separate keys.
const MAX_POINTS: usize = 1000;

/// A way to read a table.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// The path.
    pub(super) path: Path,
    /// The index has every column used.
    pub(super) covering: bool,
    /// Positions of conditions that the path ensures.
    pub(super) ensured: Vec<usize>,
    /// Rows that the path gives, each time.
    pub(super) rows: f64,
    /// Cost of giving them.
    pub(super) cost: f64,
    /// Relations that the path's keys name.
    pub(super) needs: RelSet,
    /// Order of the rows.
    pub(super) order: Ordering,
}

/// All ways to read table `rel` that are worth a thought, the cheapest first. `conditions` may name `bound` and `rel`.
pub(super) fn choices(rel: u16, conditions: &[&Expr], bound: RelSet, rels: &Rels) -> Vec<Choice> {
    let RelKind::Table { def, indexes, .. } = &rels.get(rel).kind else { return Vec::new() };
    let sargs: Vec<Sarg> =
        conditions.iter().enumerate().filter_map(|(at, c)| sarg::of(c, at, rel, bound, rels)).collect();
    let table = Table { rel, def, rels };
    let mut found: Vec<Choice> = indexes.iter().filter_map(|&index| table.keyed(index, &sargs)).collect();
    found.extend(indexes.iter().filter(|&&index| index != 0).filter_map(|&index| table.scan(index)));
    found.extend(table.scan(0));
    found.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    found
}

struct Table<'r> {
    rel: u16,
    def: &'r TableDef,
    rels: &'r Rels,
}

/// The keys of a path as they are put together.
#[derive(Default)]
struct Keys {
    eq: Vec<Expr>,
    null_safe: Vec<bool>,
    list: Option<Vec<Expr>>,
    lower: Option<(Expr, bool)>,
    upper: Option<(Expr, bool)>,
    used: Vec<(usize, bool)>,
}

impl Table<'_> {
    /// All rows in the order of `index`.
    fn scan(&self, index: usize) -> Option<Choice> {
        let def = self.def.indexes.get(index)?;
        if index != 0 && !is_whole(def) {
            return None;
        }
        let covering = index == 0 || self.covers(def);
        let rows = self.rels.get(self.rel).rows;
        let width = if index != 0 && covering { 0.75 } else { 1.0 };
        let lookups = if covering { 0.0 } else { rows * cost::LOOKUP };
        Some(Choice {
            path: Path::Scan { index, reverse: false },
            covering: index != 0 && covering,
            ensured: Vec::new(),
            rows,
            cost: cost::DESCENT + rows * cost::NEXT_ROW * width + lookups,
            needs: RelSet::EMPTY,
            order: self.order(def, 0),
        })
    }

    /// The rows that `sargs` leave, by keys of `index`.
    fn keyed(&self, index: usize, sargs: &[Sarg]) -> Option<Choice> {
        let def = &self.def.indexes[index];
        let keys = self.keys(def, sargs);
        if keys.eq.is_empty() && keys.list.is_none() && keys.lower.is_none() && keys.upper.is_none() {
            return None;
        }
        let covering = index != 0 && self.covers(def);
        let rows = self.estimate(def, &keys);
        let lookups = if index == 0 || covering { 0.0 } else { rows * cost::LOOKUP };
        let descents = keys.list.as_ref().map_or(1.0, |list| list.len() as f64) * cost::DESCENT;
        let order = self.order(def, keys.eq.len());
        let ensured = keys.used.iter().filter(|(_, exact)| *exact).map(|(at, _)| *at).collect();
        let values = keys.eq.iter().chain(keys.list.iter().flatten());
        let bounds = keys.lower.iter().chain(&keys.upper).map(|(e, _)| e);
        let needs = values.chain(bounds).fold(RelSet::EMPTY, |set, e| set.with(self.rels.of(e)));
        let is_unique = def.kind != IndexKind::Secondary
            && is_whole(def)
            && keys.eq.len() == def.parts.len()
            && !keys.null_safe.contains(&true);
        let order = if is_unique { Ordering::one_row(self.rel) } else { order };
        let path = path_of(index, keys, is_unique);
        Some(Choice {
            path,
            covering,
            ensured,
            rows,
            cost: descents + rows * cost::NEXT_ROW + lookups,
            needs,
            order,
        })
    }

    /// Keys for the leading parts of `index`: equalities, then a list or bounds.
    fn keys(&self, index: &IndexDef, sargs: &[Sarg]) -> Keys {
        let mut keys = Keys::default();
        for part in &index.parts {
            let is_whole = part.prefix_len.is_none();
            let on_part = || sargs.iter().filter(|s| s.col == part.column);
            let nullable = self.def.columns[usize::from(part.column)].nullable;
            let constant =
                |s: &&Sarg| equality(s).is_some_and(|(_, value, _)| self.rels.of(&value).is_empty());
            let equal = on_part().find(constant).and_then(equality);
            if let Some((sarg, value, null_safe)) = equal.or_else(|| on_part().find_map(equality)) {
                keys.eq.push(value);
                keys.null_safe.push(null_safe && nullable);
                keys.used.push((sarg.condition, sarg.exact && is_whole));
                if is_whole {
                    continue;
                }
                break;
            }
            if let Some((sarg, list)) = on_part().find_map(list) {
                if !keys.null_safe.contains(&true) {
                    keys.list = Some(list);
                    keys.used.push((sarg.condition, sarg.exact && is_whole));
                }
                break;
            }
            on_part().for_each(|sarg| keys.bound(sarg, is_whole));
            break;
        }
        keys
    }

    fn estimate(&self, index: &IndexDef, keys: &Keys) -> f64 {
        let all = self.rels.get(self.rel).rows;
        let is_unique = index.kind != IndexKind::Secondary;
        let values = keys.list.as_ref().map_or(1.0, |list| list.len() as f64);
        let parts = keys.eq.len() + usize::from(keys.list.is_some());
        let per_key = match parts {
            0 => all,
            n if is_unique && n == index.parts.len() => 1.0,
            _ => cost::rows_per_key(all),
        };
        let share = match (&keys.lower, &keys.upper) {
            (None, None) => 1.0,
            (Some(_), Some(_)) => cost::BETWEEN_SHARE,
            _ => cost::RANGE_SHARE,
        };
        (per_key * values * share).max(1.0).min(all.max(1.0))
    }

    /// Order of rows that agree in the first `equal` parts of `index`. Within equal keys of a secondary index rows are
    /// in the order of the clustered key.
    fn order(&self, index: &IndexDef, equal: usize) -> Ordering {
        let clustered = self.def.clustered();
        let is_clustered = std::ptr::eq(index, clustered);
        let tail: &[types::KeyPart] = if is_clustered { &[] } else { &clustered.parts };
        let mut order = Ordering::default();
        for (at, part) in index.parts.iter().chain(tail).enumerate() {
            let column = ColumnRef { rel: self.rel, col: part.column };
            if at < equal {
                order.add_constant(column);
            } else if part.prefix_len.is_some() {
                break;
            } else {
                order.add(column, part.desc);
            }
        }
        if is_clustered && self.def.hidden_row_id {
            return Ordering::default();
        }
        for key in self.def.indexes.iter().filter(|i| self.is_key(i)) {
            let columns = key.parts.iter().map(|part| ColumnRef { rel: self.rel, col: part.column });
            order.add_key(columns.collect());
        }
        order
    }

    /// Whether `index` tells rows apart: unique, whole columns, no NULLs.
    fn is_key(&self, index: &IndexDef) -> bool {
        let is_plain = |part: &types::KeyPart| {
            part.prefix_len.is_none() && !self.def.columns[usize::from(part.column)].nullable
        };
        index.kind != IndexKind::Secondary && !index.parts.is_empty() && index.parts.iter().all(is_plain)
    }

    /// Whether every column used is in `index` or in the clustered key.
    fn covers(&self, index: &IndexDef) -> bool {
        let mut have = ColumnSet::default();
        let parts = index.parts.iter().chain(&self.def.clustered().parts);
        parts.filter(|part| part.prefix_len.is_none()).for_each(|part| have.insert(part.column));
        let covers = self.rels.get(self.rel).used.iter().all(|col| have.contains(col));
        covers && !self.rels.locked
    }
}

impl Keys {
    /// Narrows the range by `sarg`, if that end is still open.
    fn bound(&mut self, sarg: &Sarg, is_whole: bool) {
        let used = match &sarg.test {
            Test::Lower(value, included) if self.lower.is_none() => {
                self.lower = Some((value.clone(), *included));
                true
            }
            Test::Upper(value, included) if self.upper.is_none() => {
                self.upper = Some((value.clone(), *included));
                true
            }
            Test::Between(low, high) if self.lower.is_none() && self.upper.is_none() => {
                self.lower = Some((low.clone(), true));
                self.upper = Some((high.clone(), true));
                true
            }
            _ => false,
        };
        if used {
            self.used.push((sarg.condition, sarg.exact && is_whole));
        }
    }
}

/// The path that `keys` of `index` make.
fn path_of(index: usize, keys: Keys, is_unique: bool) -> Path {
    if is_unique {
        return Path::Point { index, key: keys.eq };
    }
    if let Some(list) = keys.list {
        let key = |last| keys.eq.iter().cloned().chain([last]).collect();
        return Path::Points { index, keys: list.into_iter().map(key).collect() };
    }
    Path::Range {
        index,
        eq: keys.eq,
        null_safe: keys.null_safe,
        lower: keys.lower,
        upper: keys.upper,
        reverse: false,
    }
}

fn equality(sarg: &Sarg) -> Option<(&Sarg, Expr, bool)> {
    match &sarg.test {
        Test::Eq(value) => Some((sarg, value.clone(), false)),
        Test::NullSafeEq(value) => Some((sarg, value.clone(), true)),
        _ => None,
    }
}

fn list(sarg: &Sarg) -> Option<(&Sarg, Vec<Expr>)> {
    match &sarg.test {
        Test::In(values) if values.len() <= MAX_POINTS => Some((sarg, values.clone())),
        _ => None,
    }
}

/// Whether every row has an entry that orders it: all parts are whole columns.
fn is_whole(index: &IndexDef) -> bool {
    index.parts.iter().all(|part| part.prefix_len.is_none())
}
