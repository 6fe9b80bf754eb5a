//! What MySQL still takes, with a warning.

use std::collections::HashSet;
use std::fmt;
use std::mem::Discriminant;

use base::hash::{self, HashState};
use types::Charset;
use types::collation::Collation;

use super::Clause;
use super::binder::Binder;
use crate::ast::{self, ExprKind, UnaryOp};
use crate::charset::Introducer;
use crate::literal::Literal;

/// A construct that MySQL warns of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deprecated {
    /// SQL_CALC_FOUND_ROWS.
    CalcFoundRows,
    /// FOUND_ROWS().
    FoundRows,
    /// `@name := value` within an expression.
    AssignVariable,
    /// VALUES(column).
    ValuesFunction,
    /// `a || b` for `a OR b`.
    Pipes,
    /// `a && b`.
    Ampersands,
    /// `!value`.
    Bang,
    /// `BINARY value`.
    BinaryPrefix,
    /// `N'text'` and `CAST(.. AS NCHAR)`; the number is 3720.
    NationalString,
    /// A name that is an item of the select list and another column; its number is 1052.
    Ambiguous {
        /// As written.
        name: Box<str>,
        /// Where.
        clause: Clause,
    },
    /// The character set `utf8`; its number is 3719.
    Utf8Alias,
    /// The character set `utf8mb3`.
    Utf8mb3,
    /// A collation of utf8mb3; its number is 3778.
    Utf8mb3Collation(&'static str),
    /// A constant that is not what its place asks for, by MySQL's text; its number is 1292.
    Incorrect(String),
    /// As [`Deprecated::Incorrect`], of a number whose time of day a DATE does not keep: a note.
    LostTime(String),
    /// What the value of a constant warns of, which MySQL reads before any row.
    Constant(expr::Warning),
}

/// The warning for a character set that is written as `name`.
fn charset(name: &str) -> Option<Deprecated> {
    if name.eq_ignore_ascii_case("utf8") {
        return Some(Deprecated::Utf8Alias);
    }
    name.eq_ignore_ascii_case("utf8mb3").then_some(Deprecated::Utf8mb3)
}

fn collation(name: &str) -> Option<Deprecated> {
    let found = Collation::find(name).filter(|collation| collation.charset == Charset::Utf8mb3)?;
    Some(Deprecated::Utf8mb3Collation(found.name))
}

impl fmt::Display for Deprecated {
    /// MySQL's text of the warning.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Deprecated::Ambiguous { name, clause } => {
                return write!(f, "Column '{name}' in {clause} is ambiguous");
            }
            Deprecated::Incorrect(text) | Deprecated::LostTime(text) => text,
            Deprecated::Constant(warning) => return write!(f, "{warning:?}"),
            Deprecated::CalcFoundRows => {
                "SQL_CALC_FOUND_ROWS is deprecated and will be removed in a future release. Consider using two separate \
                 queries instead."
            }
            Deprecated::FoundRows => {
                "FOUND_ROWS() is deprecated and will be removed in a future release. Consider using COUNT(*) instead."
            }
            Deprecated::AssignVariable => {
                "Setting user variables within expressions is deprecated and will be removed in a future release. \
                 Consider alternatives: 'SET variable=expression, ...', or 'SELECT expression(s) INTO variables(s)'."
            }
            Deprecated::ValuesFunction => {
                "'VALUES function' is deprecated and will be removed in a future release. Please use an alias (INSERT \
                 INTO ... VALUES (...) AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE clause with \
                 alias.col instead"
            }
            Deprecated::Pipes => {
                "'|| as a synonym for OR' is deprecated and will be removed in a future release. Please use OR instead"
            }
            Deprecated::Ampersands => {
                "'&&' is deprecated and will be removed in a future release. Please use AND instead"
            }
            Deprecated::Bang => "'!' is deprecated and will be removed in a future release. Please use NOT instead",
            Deprecated::BinaryPrefix => {
                "'BINARY expr' is deprecated and will be removed in a future release. Please use CAST instead"
            }
            Deprecated::NationalString => {
                "NATIONAL/NCHAR/NVARCHAR implies the character set UTF8MB3, which will be replaced by UTF8MB4 in a \
                 future release. Please consider using CHAR(x) CHARACTER SET UTF8MB4 in order to be unambiguous."
            }
            Deprecated::Utf8Alias => {
                "'utf8' is currently an alias for the character set UTF8MB3, but will be an alias for UTF8MB4 in a \
                 future release. Please consider using UTF8MB4 in order to be unambiguous."
            }
            Deprecated::Utf8mb3 => {
                "'utf8mb3' is deprecated and will be removed in a future release. Please use utf8mb4 instead"
            }
            Deprecated::Utf8mb3Collation(name) => {
                return write!(
                    f,
                    "'{name}' is a collation of the deprecated character set UTF8MB3. Please consider using UTF8MB4 \
                     with an appropriate collation instead."
                );
            }
        })
    }
}

impl Binder<'_, '_> {
    /// Notes an expression that MySQL warns of.
    #[inline]
    pub(super) fn note_deprecated(&mut self, e: &ast::Expr<'_>) {
        let is_plain = match e.kind {
            ExprKind::Column(_) | ExprKind::Param(_) | ExprKind::Binary(..) | ExprKind::And(_, 0) => true,
            ExprKind::Literal(literal) => literal.charset == Introducer::NONE,
            _ => false,
        };
        if !is_plain {
            self.note_construct(e);
        }
    }

    /// Notes a text that names its character set.
    #[cold]
    pub(super) fn note_introducer(&mut self, literal: &Literal) {
        let first = self.ctx.sql.get(literal.offset as usize).copied().unwrap_or_default();
        let found = match literal.charset {
            Introducer::NATIONAL if first.eq_ignore_ascii_case(&b'n') => Some(Deprecated::NationalString),
            named => named.name().and_then(charset),
        };
        self.deprecated.extend(found);
    }

    fn note_construct(&mut self, e: &ast::Expr<'_>) {
        let written = self.ctx.sql.get(e.pos as usize..).unwrap_or_default();
        let begins = |word: &[u8]| written.get(..word.len()).is_some_and(|w| w.eq_ignore_ascii_case(word));
        let found = match e.kind {
            ExprKind::Or(_, pipes) => return self.note_symbols(e, Deprecated::Pipes, pipes),
            ExprKind::And(_, ampersands) => return self.note_symbols(e, Deprecated::Ampersands, ampersands),
            ExprKind::Assign(_) => Deprecated::AssignVariable,
            ExprKind::ValuesOf(_) => Deprecated::ValuesFunction,
            ExprKind::Call(call) if call.name.eq_ignore_ascii_case("found_rows") && call.args.is_empty() => {
                Deprecated::FoundRows
            }
            ExprKind::Unary(UnaryOp::Not, _) if begins(b"!") => Deprecated::Bang,
            ExprKind::Literal(literal) if literal.charset != Introducer::NONE => {
                return self.note_introducer(&literal);
            }
            ExprKind::Cast(_) if begins(b"binary") => Deprecated::BinaryPrefix,
            _ => match names_utf8mb3(e) {
                Some(found) => found,
                None => return,
            },
        };
        if self.is_first_look(e, &found) {
            self.deprecated.push(found);
        }
    }

    /// Notes the `count` symbols between the operands of `e`.
    fn note_symbols(&mut self, e: &ast::Expr<'_>, found: Deprecated, count: u32) {
        if self.is_first_look(e, &found) {
            self.deprecated.extend((0..count).map(|_| found.clone()));
        }
    }

    /// Whether `e`, of which MySQL warns when it reads the text, is bound for the first time: an operand of a
    /// comparison of rows is bound for each row that it is compared with.
    fn is_first_look(&mut self, e: &ast::Expr<'_>, warning: &Deprecated) -> bool {
        self.noted.insert((e.pos, std::mem::discriminant(warning)))
    }
}

/// A place in the text, and what MySQL warns of there.
type Look = (u32, Discriminant<Deprecated>);

/// The places that were visited. No allocation while there is none.
#[derive(Debug)]
pub(super) struct Noted {
    in_order: Vec<Look>,
    known: HashSet<Look, HashState>,
}

impl Default for Noted {
    fn default() -> Self {
        Noted { in_order: Vec::new(), known: HashSet::with_hasher(hash::state()) }
    }
}

impl Noted {
    /// Number of places.
    pub(super) fn len(&self) -> usize {
        self.in_order.len()
    }

    /// Adds a place; false if it is known.
    #[cold]
    fn insert(&mut self, look: Look) -> bool {
        let is_new = self.known.insert(look);
        if is_new {
            self.in_order.push(look);
        }
        is_new
    }

    /// Forgets all places but the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        for look in self.in_order.drain(len..) {
            self.known.remove(&look);
        }
    }
}

/// The warning for an expression other than a literal that names utf8mb3.
fn names_utf8mb3(e: &ast::Expr<'_>) -> Option<Deprecated> {
    match e.kind {
        ExprKind::ConvertUsing(convert) => charset(convert.charset),
        ExprKind::Collate(collate) => collation(collate.collation),
        ExprKind::Cast(ast::Cast { ty: ast::CastType::Char { national: true, .. }, .. }) => {
            Some(Deprecated::NationalString)
        }
        ExprKind::Cast(ast::Cast { ty: ast::CastType::Char { charset: Some(name), .. }, .. }) => {
            charset(name)
        }
        _ => None,
    }
}
