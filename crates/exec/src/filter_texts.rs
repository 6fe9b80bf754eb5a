//! Strings of a column beside strings that are known before rows are read, decided on page bytes.

use std::cmp::Ordering;
use std::rc::Rc;

use base::memory::{Charge, Purpose, StatementAccount};
use engine::{RowRef, Table};
use expr::{CmpDomain, CmpOp, EvalCtx, Expr, RowSource};
use sql::plan::RelationColumns;
use types::collation::Collation;
use types::{CollationId, SqlType, TypeKind, Value};

use crate::column_term::{Beside, ColumnTerm, Known, is_outer};
use crate::reader::{RowEnv, TableReader, may_read_off_page};

/// Longest string that a test keeps, bytes.
const TEXT_BYTES_MAX: usize = 4096;

/// A column beside constants.
#[derive(Debug)]
pub(crate) struct TextTest {
    col: u16,
    collation: &'static Collation,
    beside: Beside<Expr>,
}

/// A test whose constants are known.
#[derive(Debug)]
pub(crate) struct BoundTexts {
    col: u16,
    collation: &'static Collation,
    /// A list is ascending.
    beside: Beside<Box<[u8]>>,
    /// What the texts take.
    _charge: Charge,
}

impl TextTest {
    /// The test that `term` is on relation `rel`, which is `table`, if it is one whose strings are in the
    /// records.
    pub(crate) fn of_term(rel: u16, table: &Table, term: &Expr, known: Known) -> Option<Self> {
        let term = ColumnTerm::of(rel, term, known)?;
        let CmpDomain::String(collation) = term.domain else { return None };
        let collation = collation.collation()?;
        if !is_text_in_record(term.col, term.ty, table, collation) {
            return None;
        }
        Some(TextTest { col: term.col, collation, beside: term.beside.to_owned()? })
    }

    /// Whether the column is compared with columns of other relations than `rel`.
    pub(crate) fn names_outer(&self, rel: u16) -> bool {
        self.beside.any(|expr| is_outer(rel, expr))
    }

    /// The test with its constants, or what they are for the row `outer`; `None`: one of them is too long, or
    /// no string of the column's character set, or there is no memory for them.
    pub(crate) fn bind(
        &self,
        memory: &Rc<StatementAccount>,
        outer: &dyn RowSource,
        ctx: &EvalCtx<'_>,
    ) -> Option<BoundTexts> {
        let charge = Charge::new(memory, Purpose::Other);
        let mut beside = self.beside.try_map(|constant| match constant.eval(outer, ctx).ok()? {
            Value::Bytes { data, collation: id }
                if data.len() <= TEXT_BYTES_MAX && has_charset_of(id, self.collation) =>
            {
                charge.add(size_of::<Box<[u8]>>() + data.len()).ok()?;
                Some(Box::from(data))
            }
            _ => None,
        })?;
        if let Beside::List { list, .. } = &mut beside {
            // These texts are too short for the comparison to end early after a kill.
            list.sort_unstable_by(|a, b| self.collation.compare(a, b));
        }
        Some(BoundTexts { col: self.col, collation: self.collation, beside, _charge: charge })
    }
}

impl BoundTexts {
    /// Whether the test holds; NULL never passes.
    #[inline(never)]
    pub(crate) fn passes(&self, row: &RowRef<'_>, reader: &TableReader, env: RowEnv<'_>) -> bool {
        let Some(text) = reader.bytes(row, usize::from(self.col), env) else { return false };
        let order = |other: &[u8]| self.collation.compare(text, other);
        match &self.beside {
            Beside::Value(CmpOp::Eq, other) => self.collation.equals(text, other),
            Beside::Value(CmpOp::Ne, other) => !self.collation.equals(text, other),
            Beside::Value(op, other) => op.accepts(order(other)),
            Beside::Ends { negated, low, high } => {
                (order(low) != Ordering::Less && order(high) != Ordering::Greater) != *negated
            }
            Beside::List { negated, list } => {
                list.binary_search_by(|other| order(other).reverse()).is_ok() != *negated
            }
        }
    }
}

/// Whether column `col` of `table`, a string in the character set of `collation`, is in the table's records.
pub(crate) fn is_text_in_record(col: u16, ty: &SqlType, table: &Table, collation: &Collation) -> bool {
    let mut used = RelationColumns::default();
    used.insert(col);
    matches!(ty.kind, TypeKind::Char | TypeKind::VarChar)
        && has_charset_of(ty.collation, collation)
        && !may_read_off_page(table, &used)
}

/// Whether strings of collation `id` are in the character set of `collation`.
pub(crate) fn has_charset_of(id: CollationId, collation: &Collation) -> bool {
    id.collation().is_some_and(|other| other.charset == collation.charset)
}
