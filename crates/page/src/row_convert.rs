//! Clustered records of one row format version as records of another.

use base::ROW_HEADER_BYTES;
use base::codec::put_u16;
use types::storage::widened;

use crate::overflow::OverflowRef;
use crate::row::RowRef;
use crate::template::{MARK, NullBit, Place, RowFormat};

/// Turns records of one row format version into another's. Made once per pair of versions; what both have in
/// common is copied in as few pieces as there are.
#[derive(Clone, Debug)]
pub struct RowConverter {
    /// The new body up to its variable columns, where the old one has nothing for it.
    start: Box<[u8]>,
    runs: Box<[Run]>,
    /// Integers that have more bytes in the new body.
    widenings: Box<[Widening]>,
    /// Bits of the old body, and what they are in the new one.
    nulls: Box<[(NullBit, NullBit)]>,
    /// Variable columns in the order of the new version.
    vars: Box<[VarSource]>,
    /// Old ordinals of variable columns that the new version has no more.
    dropped: Box<[u16]>,
    growth_max: usize,
}

/// Which values of variable columns a converted record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptValues {
    /// All of them.
    All,
    /// Those that it had. For records that are marked as deleted: the others are not read.
    Own,
    /// Those that are off page: purge frees them.
    OffPage,
}

/// Bytes before the variable columns that are copied.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: usize,
    to: usize,
    len: usize,
}

/// An integer before the variable columns that the new version has in a wider type.
#[derive(Clone, Copy, Debug)]
struct Widening {
    from: usize,
    len: usize,
    to: usize,
    wide: usize,
    signed: bool,
}

/// Where a variable column's bytes come from.
#[derive(Clone, Debug)]
enum VarSource {
    /// The old body, at this ordinal.
    Old(u16),
    /// It was added since.
    Added(Box<[u8]>),
}

impl RowConverter {
    /// A converter from `old` to `new`, both of the clustered index. `initial` gives the storage bytes that
    /// rows written before the column at a new position was added show in it; `None` = NULL. `is_signed`:
    /// whether the column there, whose width may have changed, is a signed integer.
    pub fn new<'i>(
        old: &RowFormat,
        new: &RowFormat,
        initial: impl Fn(usize) -> Option<&'i [u8]>,
        is_signed: impl Fn(usize) -> bool,
    ) -> RowConverter {
        debug_assert!(old.is_clustered() && new.is_clustered(), "entries stay as they are");
        let old_of = |id| old.columns().iter().find(|column| column.id == id);
        let mut start = vec![0; new.var_from()];
        let mut runs = vec![Run { from: 0, to: 0, len: ROW_HEADER_BYTES }];
        let (mut widenings, mut nulls) = (Vec::new(), Vec::new());
        for &position in new.not_var_columns().iter().chain(new.var_columns()) {
            let position = usize::from(position);
            let column = &new.columns()[position];
            match (old_of(column.id), column.null) {
                (Some(old), Some(bit)) => nulls.extend(old.null.map(|old| (old, bit))),
                (None, Some(bit)) if initial(position).is_none() => start[usize::from(bit.byte)] |= bit.mask,
                _ => {}
            }
            let Place::Fixed { offset, width } = column.place else { continue };
            let (to, len) = (usize::from(offset), usize::from(width));
            match old_of(column.id).map(|old| old.place) {
                Some(Place::Fixed { offset, width: before }) if before == width => {
                    push_run(&mut runs, Run { from: usize::from(offset), to, len });
                }
                Some(Place::Fixed { offset, width: before }) => {
                    debug_assert!(before < width && len <= 8, "integers alone change their width, and grow");
                    let (from, signed) = (usize::from(offset), is_signed(position));
                    widenings.push(Widening { from, len: before.into(), to, wide: len, signed });
                }
                _ => {
                    if let Some(bytes) = initial(position) {
                        start[to..to + len].copy_from_slice(bytes);
                    }
                }
            }
        }
        let source = |&position: &u16| {
            let position = usize::from(position);
            match old_of(new.columns()[position].id).map(|old| old.place) {
                Some(Place::Var { ordinal }) => VarSource::Old(ordinal),
                _ => VarSource::Added(initial(position).unwrap_or(&[]).into()),
            }
        };
        let vars: Box<[VarSource]> = new.var_columns().iter().map(source).collect();
        let is_kept = |ordinal: &u16| {
            let id = old.columns()[usize::from(old.var_columns()[usize::from(*ordinal)])].id;
            new.columns().iter().any(|column| column.id == id)
        };
        let dropped = (0..old.var_columns().len() as u16).filter(|ordinal| !is_kept(ordinal)).collect();
        let added_bytes = |var: &VarSource| if let VarSource::Added(bytes) = var { bytes.len() } else { 0 };
        let growth_max =
            new.var_from().saturating_sub(old.var_from()) + vars.iter().map(added_bytes).sum::<usize>();
        let (start, runs, nulls) = (start.into(), runs.into(), nulls.into());
        RowConverter { start, runs, widenings: widenings.into(), nulls, vars, dropped, growth_max }
    }

    /// Most bytes by which a payload grows.
    pub fn growth_max(&self) -> usize {
        self.growth_max
    }

    /// Appends the payload of `row` under the new version to `out`; key and marks of the record stay as they
    /// are. Off-page values stay where they are, and variable columns that are not `kept` are empty. Cost:
    /// about a copy for each variable column and each run of others; no allocation beyond `out`.
    pub fn convert(&self, row: &RowRef<'_>, kept: KeptValues, out: &mut Vec<u8>) {
        let (body, start) = (row.body(), out.len());
        out.extend_from_slice(&self.start);
        let fixed = &mut out[start..];
        for &Run { from, to, len } in &self.runs {
            fixed[to..to + len].copy_from_slice(&body[from..from + len]);
        }
        for &Widening { from, len, to, wide, signed } in &self.widenings {
            fixed[to..to + wide].copy_from_slice(&widened(&body[from..from + len], signed)[..wide]);
        }
        for (old, new) in &self.nulls {
            if row.null_bit(*old) {
                fixed[usize::from(new.byte)] |= new.mask;
            }
        }
        let mut end_at = start + self.start.len() - 2 * self.vars.len();
        for var in &self.vars {
            let (bytes, is_off_page) = match var {
                VarSource::Old(ordinal) => match row.var(*ordinal) {
                    (_, false) if kept == KeptValues::OffPage => (&[][..], false),
                    value => value,
                },
                VarSource::Added(bytes) if kept == KeptValues::All => (&bytes[..], false),
                VarSource::Added(_) => (&[][..], false),
            };
            out.extend_from_slice(bytes);
            debug_assert!(out.len() - start < usize::from(MARK), "a body with {} bytes", out.len() - start);
            let end = (out.len() - start) as u16 | if is_off_page { MARK } else { 0 };
            put_u16(out, end_at, end);
            end_at += 2;
        }
    }

    /// The off-page values of columns of `row` that the new version has no more.
    pub fn dropped_values<'r>(&'r self, row: &'r RowRef<'_>) -> impl Iterator<Item = OverflowRef> + 'r {
        self.dropped.iter().filter_map(|&ordinal| match row.var(ordinal) {
            (bytes, true) => Some(OverflowRef::decode(bytes)),
            (_, false) => None,
        })
    }
}

/// Adds a run, joined with the one before if nothing lies between them on either side.
fn push_run(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if last.from + last.len == run.from && last.to + last.len == run.to => last.len += run.len,
        _ => runs.push(run),
    }
}
