//! How deep a statement is nested, counted while it is read.
//!
//! Two numbers are bounded. `depth` counts the constructs that are open at the current token: it bounds the
//! parser's own recursion. `height` of an expression or query counts the levels of the finished tree below
//! it, through subqueries and derived tables: it bounds the recursion of every later pass.

use std::cell::Cell;

use super::core::{Parser, Result};
use super::{HEIGHT_MAX, NESTING_MAX, QUERY_HEIGHT, SELECT_NESTING_MAX};
use crate::ast::{Expr, ExprKind, Into, Query};
use crate::error::ParseErrorKind;

/// The counters.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    /// Open constructs.
    depth: u16,
    /// Subqueries, derived tables and common table expressions that enclose the current token.
    selects: u16,
    /// Joins of the query being read.
    joins: u16,
    /// Greatest height of the expressions and queries completed in the query being read.
    tallest: Cell<u16>,
}

/// What the enclosing query needs back once a query in it has been read.
pub(super) struct Enclosing<'a> {
    joins: u16,
    tallest: u16,
    into: Option<&'a Into<'a>>,
}

impl<'a> Parser<'a, '_> {
    /// Counts one open construct; [`Parser::leave`] takes it back.
    #[inline]
    pub(super) fn enter(&mut self) -> Result<()> {
        self.nesting.depth += 1;
        if self.nesting.depth > NESTING_MAX {
            return Err(self.fail(ParseErrorKind::TooDeep));
        }
        Ok(())
    }

    #[inline]
    pub(super) fn leave(&mut self) {
        self.nesting.depth -= 1;
    }

    /// An expression over operands of at most `height`.
    #[inline]
    pub(super) fn node(&self, kind: ExprKind<'a>, pos: u32, height: u16) -> Result<Expr<'a>> {
        if height >= HEIGHT_MAX {
            return Err(self.fail(ParseErrorKind::TooDeep));
        }
        let height = height + 1;
        self.note_height(height);
        Ok(Expr { kind, pos, height })
    }

    /// An expression that is a subquery.
    pub(super) fn query_node(&self, kind: ExprKind<'a>, pos: u32, query: &Query<'a>) -> Result<Expr<'a>> {
        self.node(kind, pos, query.height)
    }

    /// Notes an expression or query that is part of the query being read.
    #[inline]
    pub(super) fn note_height(&self, height: u16) {
        if height > self.nesting.tallest.get() {
            self.nesting.tallest.set(height);
        }
    }

    /// Counts one join of the query being read.
    pub(super) fn note_join(&mut self) {
        self.nesting.joins += 1;
    }

    /// Begins a query; its INTO, joins and heights are its own.
    pub(super) fn begin_query(&mut self) -> Enclosing<'a> {
        let nesting = &mut self.nesting;
        Enclosing {
            joins: std::mem::take(&mut nesting.joins),
            tallest: nesting.tallest.take(),
            into: self.into.take(),
        }
    }

    /// Height of the query being read.
    pub(super) fn query_height(&self) -> Result<u16> {
        let nesting = &self.nesting;
        let height = nesting.tallest.get() + nesting.joins + QUERY_HEIGHT;
        if height > HEIGHT_MAX { Err(self.fail(ParseErrorKind::TooDeep)) } else { Ok(height) }
    }

    /// Goes back to the query around `query`.
    pub(super) fn end_query(&mut self, query: &Query<'a>, enclosing: Enclosing<'a>) {
        self.nesting.joins = enclosing.joins;
        self.nesting.tallest.set(enclosing.tallest.max(query.height));
        self.into = enclosing.into;
    }

    /// A query inside another one: a subquery, a derived table or a common table expression.
    pub(super) fn inner_query(&mut self) -> Result<&'a Query<'a>> {
        self.nesting.selects += 1;
        if self.nesting.selects > SELECT_NESTING_MAX {
            return Err(self.fail(ParseErrorKind::TooManySelects));
        }
        let query = self.query()?;
        self.nesting.selects -= 1;
        Ok(query)
    }
}
