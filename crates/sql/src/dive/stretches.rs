//! The stretches of an index that a path reads, as key bytes: good enough to count rows in them, not to find
//! rows by. A value that its column cannot hold stands for its neighbour, and single values that a test takes
//! away are left in.

use bumpalo::Bump;
use expr::{EvalCtx, Expr, ExprKind};
use types::collation::LikePattern;
use types::key::successor;
use types::{KeyColumn, KeyEncoder, SqlType, StoreContext, TableDef, Value, storage};

use crate::plan::{KeyBox, PartTest, Path};

/// Most stretches of one path that are made. The second: where a client wants dives for lists of any length.
const STRETCHES_MAX: [usize; 2] = [32, 4096];

/// How many stretches of a path are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Paths of as many single keys are not.
    points_max: usize,
    stretches_max: usize,
}

impl Limits {
    /// Those under `eq_range_index_dive_limit` = `points_max`.
    pub(crate) fn new(points_max: u64) -> Self {
        let is_unlimited = points_max == 0;
        let points_max =
            if is_unlimited { usize::MAX } else { usize::try_from(points_max).unwrap_or(usize::MAX) };
        Limits { points_max, stretches_max: STRETCHES_MAX[usize::from(is_unlimited)] }
    }
}

/// Keys from `from` on and below `to`; `None`: to the end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyStretch {
    pub(super) from: Vec<u8>,
    pub(super) to: Option<Vec<u8>>,
}

/// The stretches of `path` with the values in `ctx`; `None`: they are not known, or too many.
pub(super) fn of(
    table: &TableDef,
    path: &Path,
    ctx: &EvalCtx<'_>,
    limits: Limits,
) -> Option<Vec<KeyStretch>> {
    if points(path) >= limits.points_max {
        return None;
    }
    let maker = Maker::new(table, path.index(), ctx, limits.stretches_max);
    let mut made = Vec::new();
    match path {
        Path::Range { eq, null_safe, lower, upper, .. } => {
            let mut prefix = Vec::new();
            for (at, value) in eq.iter().enumerate() {
                let is_null_safe = null_safe.get(at) == Some(&true);
                if !maker.append(at, value, is_null_safe, &mut prefix)? {
                    return Some(made);
                }
            }
            let lower = lower.iter().map(|bound| PartTest::Lower(bound.0.clone(), bound.1));
            let upper = upper.iter().map(|bound| PartTest::Upper(bound.0.clone(), bound.1));
            let bounds: Vec<PartTest> = lower.chain(upper).collect();
            maker.add_bounded(&prefix, eq.len(), &bounds.iter().collect::<Vec<_>>(), &mut made)?;
        }
        Path::Intervals { keys, .. } => {
            for key_box in keys.boxes() {
                maker.add_box(key_box, &mut made)?;
            }
        }
        Path::Point { .. } | Path::Scan { .. } | Path::Skip { .. } => return None,
    }
    made.sort_unstable();
    made.dedup();
    Some(made)
}

/// Single keys that `path` looks up.
fn points(path: &Path) -> usize {
    match path {
        Path::Range { lower: None, upper: None, .. } => 1,
        Path::Intervals { keys, .. } => {
            keys.boxes().iter().map(KeyBox::points).fold(0, usize::saturating_add)
        }
        _ => 0,
    }
}

/// A part of the index.
struct Part<'t> {
    encoder: KeyEncoder,
    ty: &'t SqlType,
    nullable: bool,
    desc: bool,
    /// Only the first characters are in the key.
    prefix: bool,
}

struct Maker<'m> {
    parts: Vec<Part<'m>>,
    stretches_max: usize,
    ctx: &'m EvalCtx<'m>,
    store: StoreContext<'m>,
}

impl<'m> Maker<'m> {
    fn new(table: &'m TableDef, index: usize, ctx: &'m EvalCtx<'m>, stretches_max: usize) -> Self {
        let part = |part: &types::KeyPart| {
            let column = &table.columns[usize::from(part.column)];
            let (nullable, desc, prefix_len) = (column.nullable, part.desc, part.prefix_len);
            let encoder = KeyColumn { ty: column.ty.clone(), nullable, desc, prefix_len }.encoder()?;
            Some(Part { encoder, ty: &column.ty, nullable, desc, prefix: prefix_len.is_some() })
        };
        let parts = table.indexes[index].parts.iter().map_while(part).collect();
        let store = StoreContext::new(ctx.session.modes(), ctx.session.time_zone(), ctx.today());
        Maker { parts, stretches_max, ctx, store: StoreContext { strict: false, ..store } }
    }

    /// Appends the part for the value of `expr`; false: nothing equals it.
    fn append(&self, at: usize, expr: &Expr, null_safe: bool, out: &mut Vec<u8>) -> Option<bool> {
        let part = self.parts.get(at)?;
        let arena = Bump::new();
        let ctx = EvalCtx { arena: &arena, ..*self.ctx };
        let value = known_value(expr, &ctx)?;
        if value.is_null() {
            if null_safe && part.nullable {
                part.encoder.append(None, out);
            }
            return Some(null_safe && part.nullable);
        }
        let mut stored = Vec::new();
        storage::store(part.ty, &value, &self.store, &mut stored).ok()?;
        part.encoder.append(Some(&stored), out);
        Some(true)
    }

    /// Appends the stretches of a box.
    fn add_box(&self, key_box: &KeyBox, made: &mut Vec<KeyStretch>) -> Option<()> {
        let mut prefixes = vec![Vec::new()];
        for at in 0..key_box.parts() {
            let tests: Vec<&PartTest> = key_box.on(at as u16).collect();
            let Some(point) = tests.iter().find(|test| test.is_point()) else {
                for prefix in &prefixes {
                    self.add_bounded(prefix, at, &tests, made)?;
                }
                return (made.len() <= self.stretches_max).then_some(());
            };
            let mut longer = Vec::new();
            for prefix in &prefixes {
                self.add_points(prefix, at, point, &mut longer)?;
            }
            prefixes = longer;
        }
        for from in prefixes {
            let to = above(from.clone());
            made.push(KeyStretch { from, to });
        }
        (made.len() <= self.stretches_max).then_some(())
    }

    /// Appends `prefix` with each value that `test` leaves of a part.
    fn add_points(&self, prefix: &[u8], at: usize, test: &PartTest, out: &mut Vec<Vec<u8>>) -> Option<()> {
        let null_safe = matches!(test, PartTest::NullSafeEq(_));
        if out.len() + test.exprs().len() > self.stretches_max || matches!(test, PartTest::InSubquery(_)) {
            return None;
        }
        for value in test.exprs() {
            let mut key = prefix.to_vec();
            if self.append(at, value, null_safe, &mut key)? {
                out.push(key);
            }
        }
        let part = self.parts.get(at)?;
        if matches!(test, PartTest::IsNull) && part.nullable {
            let mut key = prefix.to_vec();
            part.encoder.append(None, &mut key);
            out.push(key);
        }
        Some(())
    }

    /// Appends what `tests`, none of which leaves single values, leave of the keys that start with `prefix`.
    fn add_bounded(
        &self,
        prefix: &[u8],
        at: usize,
        tests: &[&PartTest],
        made: &mut Vec<KeyStretch>,
    ) -> Option<()> {
        let mut stretch = KeyStretch { from: prefix.to_vec(), to: above(prefix.to_vec()) };
        if tests.is_empty() {
            made.push(stretch);
            return Some(());
        }
        let part = self.parts.get(at)?;
        if part.nullable {
            let mut null = prefix.to_vec();
            part.encoder.append(None, &mut null);
            if part.desc { stretch.end_at(Some(null)) } else { stretch.begin_at(above(null)) }
        }
        for test in tests {
            let (value, included, is_lower) = match test {
                PartTest::Lower(value, included) => (value, *included || part.prefix, true),
                PartTest::Upper(value, included) => (value, *included || part.prefix, false),
                PartTest::Like { pattern, escape } => {
                    let key = self.like(prefix, part, pattern, *escape)?;
                    stretch.end_at(above(key.clone()));
                    stretch.begin_at(Some(key));
                    continue;
                }
                _ => continue,
            };
            let mut key = prefix.to_vec();
            if !self.append(at, value, false, &mut key)? {
                return Some(());
            }
            // Descending parts have their greatest value first.
            let is_from = is_lower != part.desc;
            let cut = if included == is_from { Some(key) } else { above(key) };
            if is_from { stretch.begin_at(cut) } else { stretch.end_at(cut) }
        }
        let is_empty = stretch.to.as_ref().is_some_and(|to| *to <= stretch.from);
        if !is_empty {
            made.push(stretch);
        }
        Some(())
    }

    /// What all keys start with whose part starts as `pattern` does up to its first wildcard.
    fn like(&self, prefix: &[u8], part: &Part<'_>, pattern: &Expr, escape: Option<char>) -> Option<Vec<u8>> {
        let collation = part.ty.collation.collation()?;
        let Value::Bytes { data, .. } = known_value(pattern, self.ctx)? else { return None };
        let mut text = Vec::new();
        LikePattern::literal_prefix(data, escape.map(u32::from), collation.charset, &mut text);
        let mut key = prefix.to_vec();
        if !text.is_empty() {
            part.encoder.append_prefix(&text, &mut key);
        }
        Some(key)
    }
}

impl KeyStretch {
    /// Leaves out what is below `from`; `None`: all keys are.
    fn begin_at(&mut self, from: Option<Vec<u8>>) {
        match from {
            Some(from) if from > self.from => self.from = from,
            Some(_) => {}
            None => self.to = Some(Vec::new()),
        }
    }

    /// Leaves out what is not below `to`; `None`: all keys are.
    fn end_at(&mut self, to: Option<Vec<u8>>) {
        if let Some(to) = to
            && self.to.as_ref().is_none_or(|old| to < *old)
        {
            self.to = Some(to);
        }
    }
}

/// The first key above all that start with `key`; `None`: there is none.
fn above(mut key: Vec<u8>) -> Option<Vec<u8>> {
    successor(&mut key).then_some(key)
}

/// The value of `expr`, if it is known before any row is read.
fn known_value<'v>(expr: &'v Expr, ctx: &'v EvalCtx<'v>) -> Option<Value<'v>> {
    let mut is_known = true;
    expr.walk(&mut |e| {
        is_known &= match &e.kind {
            ExprKind::Column(_) | ExprKind::Subquery { .. } => false,
            ExprKind::Param(number) => usize::from(*number) < ctx.params.len(),
            _ => true,
        };
    });
    if is_known { expr.eval(&(), ctx).ok() } else { None }
}
