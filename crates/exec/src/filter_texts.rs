//! Strings of a column beside strings that are known before rows are read, decided on page bytes.

use std::cmp::Ordering;
use std::sync::Arc;

use engine::{RowRef, Table};
use expr::{CmpDomain, CmpOp, EvalCtx, Expr, ExprKind, eval};
use sql::plan::RelationColumns;
use types::collation::Collation;
use types::{CollationId, SqlType, TypeKind, Value};

use crate::column_term::{Beside, ColumnTerm};
use crate::reader::{RowEnv, TableReader, may_read_off_page};

/// Longest string that a test keeps, bytes.
const TEXT_BYTES_MAX: usize = 4096;

/// A column beside constants.
#[derive(Debug)]
pub(crate) struct TextTest {
    col: u16,
    collation: &'static Collation,
    beside: Beside<Expr>,
    /// With constants that are the same in each run.
    known: Option<BoundTexts>,
}

/// A test whose constants are known.
#[derive(Clone, Debug)]
pub(crate) struct BoundTexts {
    col: u16,
    collation: &'static Collation,
    /// A list is ascending.
    beside: Arc<Beside<Box<[u8]>>>,
}

impl TextTest {
    /// The test that `term` is on relation `rel`, which is `table`, if it is one whose strings are in the
    /// records.
    pub(crate) fn of_term(rel: u16, table: &Table, term: &Expr) -> Option<Self> {
        let term = ColumnTerm::of(rel, term)?;
        let CmpDomain::String(collation) = term.domain else { return None };
        let collation = collation.collation()?;
        if !is_text_in_record(term.col, term.ty, table, collation) {
            return None;
        }
        let mut test = TextTest { col: term.col, collation, beside: term.beside(), known: None };
        test.known = test.bound(|constant| match &constant.kind {
            ExprKind::Const(value) => text_of(&value.as_value(), collation),
            _ => None,
        });
        Some(test)
    }

    /// The test with its constants; `None`: one of them is too long, or no string of the column's character
    /// set.
    pub(crate) fn bind(&self, ctx: &EvalCtx<'_>) -> Option<BoundTexts> {
        if let Some(known) = &self.known {
            return Some(known.clone());
        }
        self.bound(|constant| {
            let value = eval(constant, &(), ctx).ok()?;
            ctx.reserve(size_of::<Box<[u8]>>() + value.heap_bytes()).ok()?;
            text_of(&value, self.collation)
        })
    }

    fn bound(&self, text: impl Fn(&Expr) -> Option<Box<[u8]>>) -> Option<BoundTexts> {
        let mut beside = self.beside.try_map(text)?;
        if let Beside::List { list, .. } = &mut beside {
            list.sort_unstable_by(|a, b| self.collation.compare(a, b));
        }
        Some(BoundTexts { col: self.col, collation: self.collation, beside: Arc::new(beside) })
    }
}

impl BoundTexts {
    /// Whether the test holds; NULL never passes.
    #[inline(never)]
    pub(crate) fn passes(&self, row: &RowRef<'_>, reader: &TableReader, env: RowEnv<'_>) -> bool {
        let Some(text) = reader.bytes(row, usize::from(self.col), env) else { return false };
        let order = |other: &[u8]| self.collation.compare(text, other);
        match &*self.beside {
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

fn text_of(value: &Value<'_>, collation: &Collation) -> Option<Box<[u8]>> {
    match *value {
        Value::Bytes { data, collation: id }
            if data.len() <= TEXT_BYTES_MAX && has_charset_of(id, collation) =>
        {
            Some(data.into())
        }
        _ => None,
    }
}
