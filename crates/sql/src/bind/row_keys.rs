//! Keys of a query of one table, each a parameter for each part of the clustered key.

use expr::{Builder, CmpOp, Expr};
use smallvec::SmallVec;
use types::TableDef;

use crate::plan::int_param;

/// Parts of a key that need no allocation.
const INLINE_PARTS: usize = 4;

/// Columns, or numbers of the parameters of a key.
pub(super) type Parts = SmallVec<[u16; INLINE_PARTS]>;

/// A list of keys.
#[derive(Clone, Debug)]
pub(crate) struct RowKeys {
    /// The columns, those of the parts of the clustered key in any order. All are integers.
    pub(super) columns: Parts,
    /// Numbers of the parameters, one for each of `columns`, key by key.
    pub(super) numbers: Parts,
}

impl RowKeys {
    /// Number of keys.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len() / self.columns.len()
    }

    /// The numbers of the parameters of all keys, of each key in the order of the columns `parts`.
    pub(crate) fn in_order(self, parts: impl Iterator<Item = u16> + Clone) -> Box<[u16]> {
        if parts.clone().eq(self.columns.iter().copied()) {
            return self.numbers.into_boxed_slice();
        }
        let mut numbers = Vec::with_capacity(self.numbers.len());
        for key in self.numbers.chunks_exact(self.columns.len()) {
            numbers.extend(parts.clone().filter_map(|part| self.number(key, part)));
        }
        numbers.into()
    }

    /// The parameter that the first key has for `column`.
    pub(crate) fn first(&self, column: u16) -> Option<u16> {
        self.number(&self.numbers, column)
    }

    /// The keys as a condition on the columns of `def`.
    #[cold]
    #[inline(never)]
    pub(super) fn condition(&self, def: &TableDef, build: &Builder) -> Expr {
        let column = |col: u16| {
            let column = &def.columns[usize::from(col)];
            Expr::column(0, col, column.ty.clone(), column.nullable)
        };
        let mut any = Vec::with_capacity(self.len());
        for key in self.numbers.chunks_exact(self.columns.len()) {
            let terms = self.columns.iter().zip(key).map(|(col, number)| {
                let compared = build.compare(CmpOp::Eq, column(*col), int_param(*number));
                compared.expect("integers compare with integers")
            });
            any.push(build.and(terms.collect()));
        }
        build.or(any)
    }

    fn number(&self, key: &[u16], column: u16) -> Option<u16> {
        self.columns.iter().zip(key).find(|(known, _)| **known == column).map(|(_, number)| *number)
    }
}
