//! Orders that paths give for free, and whether they are the order wanted.

use expr::{ColumnRef, Expr, ExprKind};
use smallvec::SmallVec;

use crate::plan::{Path, SortKey};

/// Columns of an index: few have more.
type Columns = SmallVec<[ColumnRef; 4]>;

/// The order of a stream of rows; empty where nothing is known of it, or it does not matter.
#[derive(Clone, Debug, Default)]
pub(super) struct Ordering(Option<Box<KnownOrder>>);

/// What is known of an order.
#[derive(Clone, Debug, Default)]
struct KnownOrder {
    /// Columns, most significant first; `true`: descending.
    columns: SmallVec<[(ColumnRef, bool); 4]>,
    /// Columns with one value in all rows.
    constants: Columns,
    /// The relation of which there is at most one row.
    single: Option<u16>,
    /// Columns of a unique key, whose values determine those of all columns of their relation.
    keys: SmallVec<[Columns; 1]>,
}

/// How a stream must be read to be in the order wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// As it is.
    Forward,
    /// Last first.
    Backward,
}

impl Ordering {
    /// At most one row of `rel`.
    pub(super) fn one_row(rel: u16) -> Ordering {
        Ordering(Some(Box::new(KnownOrder { single: Some(rel), ..KnownOrder::default() })))
    }

    fn known_mut(&mut self) -> &mut KnownOrder {
        self.0.get_or_insert_default()
    }

    pub(super) fn add(&mut self, column: ColumnRef, desc: bool) {
        self.known_mut().columns.push((column, desc));
    }

    pub(super) fn add_constant(&mut self, column: ColumnRef) {
        self.known_mut().constants.push(column);
    }

    /// A unique key without NULLs.
    pub(super) fn add_key(&mut self, columns: impl Iterator<Item = ColumnRef>) {
        self.known_mut().keys.push(columns.collect());
    }

    /// How rows in this order must be read to be ordered by `keys`; `None` if they must be sorted.
    pub(super) fn reading(&self, keys: &[SortKey]) -> Option<Reading> {
        match &self.0 {
            Some(known) => known.reading(keys),
            None => KnownOrder::default().reading(keys),
        }
    }

    /// Whether equal values of `groups` are next to one another.
    pub(super) fn groups(&self, groups: &[Expr]) -> bool {
        match &self.0 {
            Some(known) => known.groups(groups),
            None => KnownOrder::default().groups(groups),
        }
    }

    /// The order of groups formed from rows in this order, in terms of the output relation's columns.
    pub(super) fn of_groups(&self, groups: &[Expr], rel: u16) -> Ordering {
        self.0.as_ref().map_or_else(Ordering::default, |known| known.of_groups(groups, rel))
    }
}

impl KnownOrder {
    fn is_constant(&self, column: ColumnRef) -> bool {
        self.constants.contains(&column) || self.single == Some(column.rel)
    }

    /// Whether `column` has one value among rows that agree in `fixed`.
    fn is_determined(&self, column: ColumnRef, fixed: &[ColumnRef]) -> bool {
        let is_fixed = |c: &ColumnRef| self.is_constant(*c) || fixed.contains(c);
        is_fixed(&column)
            || self.keys.iter().any(|key| key.iter().all(|c| c.rel == column.rel && is_fixed(c)))
    }

    /// See [`Ordering::reading`].
    fn reading(&self, keys: &[SortKey]) -> Option<Reading> {
        let mut reading = None;
        let mut fixed = Columns::new();
        let mut have = self.columns.iter().filter(|(column, _)| !self.is_constant(*column));
        for key in keys {
            let ExprKind::Column(column) = key.expr.kind else {
                if is_constant(&key.expr) {
                    continue;
                }
                return None;
            };
            if self.is_determined(column, &fixed) {
                continue;
            }
            let (next, desc) = have.next()?;
            if *next != column {
                return None;
            }
            fixed.push(column);
            let this = if *desc == key.desc { Reading::Forward } else { Reading::Backward };
            if *reading.get_or_insert(this) != this {
                return None;
            }
        }
        Some(reading.unwrap_or(Reading::Forward))
    }

    /// See [`Ordering::groups`].
    fn groups(&self, groups: &[Expr]) -> bool {
        let mut wanted = Columns::new();
        for group in groups {
            match group.kind {
                ExprKind::Column(column) if self.is_constant(column) => {}
                ExprKind::Column(column) => wanted.push(column),
                _ if is_constant(group) => {}
                _ => return false,
            }
        }
        let all = wanted.clone();
        let in_key = |c: &ColumnRef| self.keys.iter().any(|key| key.contains(c));
        wanted.retain(|c| {
            in_key(c) || !self.is_determined(*c, &all.iter().copied().filter(in_key).collect::<Columns>())
        });
        let leading = self.columns.iter().map(|(c, _)| *c).filter(|c| !self.is_constant(*c));
        let leading: Columns = leading.take(wanted.len()).collect();
        leading.len() == wanted.len() && wanted.iter().all(|c| leading.contains(c))
    }

    /// See [`Ordering::of_groups`].
    fn of_groups(&self, groups: &[Expr], rel: u16) -> Ordering {
        let mut order = Ordering::default();
        let place = |column: ColumnRef| {
            let at = groups.iter().position(|g| matches!(g.kind, ExprKind::Column(c) if c == column))?;
            Some(ColumnRef { rel, col: at as u16 })
        };
        for group in groups {
            if let ExprKind::Column(column) = group.kind
                && self.is_constant(column)
                && let Some(group) = place(column)
            {
                order.add_constant(group);
            }
        }
        for &(column, desc) in self.columns.iter().filter(|(c, _)| !self.is_constant(*c)) {
            match place(column) {
                Some(group) => order.add(group, desc),
                None => break,
            }
        }
        order
    }
}

/// Whether `expr` has one value in the whole query.
pub(super) fn is_constant(expr: &Expr) -> bool {
    let mut constant = true;
    expr.walk(&mut |e| {
        constant &= !matches!(
            e.kind,
            ExprKind::Column(_)
                | ExprKind::Subquery { .. }
                | ExprKind::AssignUserVar { .. }
                | ExprKind::Call { .. }
        );
    });
    constant
}

/// Makes `path` read last first; false, and nothing changed, if it cannot.
pub(super) fn reverse(path: &mut Path) -> bool {
    match path {
        Path::Scan { reverse, .. } | Path::Range { reverse, .. } | Path::Intervals { reverse, .. } => {
            *reverse = !*reverse;
            true
        }
        Path::Point { .. } => true,
        Path::Skip { .. } => false,
    }
}
