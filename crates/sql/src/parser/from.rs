//! FROM: tables, derived tables, joins.

use super::core::{Parser, Result};
use crate::ast::{
    Derived, IndexHint, IndexHintAction, IndexHintScope, Join, JoinCondition, JoinKind, Query, TableFactor,
    TableRef,
};
use crate::error::ParseErrorKind;
use crate::lexer::{Kw, Tok};

/// Joins one statement may have: MySQL joins at most 61 tables, and readers of the tree recurse over joins.
const JOINS_MAX: u16 = 500;

/// What parentheses in FROM hold.
enum ParenTable<'a> {
    Query(&'a Query<'a>),
    Table(TableRef<'a>),
}

impl<'a> Parser<'a, '_> {
    /// Comma list after FROM; DUAL is no table.
    pub(super) fn table_list(&mut self) -> Result<&'a [TableRef<'a>]> {
        if self.eat_kw(Kw::DUAL) {
            return Ok(&[]);
        }
        self.list(Self::table_ref)
    }

    /// Tables joined without commas.
    pub(super) fn table_ref(&mut self) -> Result<TableRef<'a>> {
        self.enter()?;
        let first = self.table_factor()?;
        let joined = self.joins(first)?;
        self.leave();
        Ok(joined)
    }

    fn joins(&mut self, mut left: TableRef<'a>) -> Result<TableRef<'a>> {
        loop {
            if self.at_condition() {
                left = self.late_condition(left)?;
            } else if self.at_join() {
                left = self.join(left)?;
            } else {
                return Ok(left);
            }
        }
    }

    fn at_join(&self) -> bool {
        matches!(
            self.tok.kind,
            Tok::Kw(
                Kw::JOIN | Kw::INNER | Kw::CROSS | Kw::LEFT | Kw::RIGHT | Kw::NATURAL | Kw::STRAIGHT_JOIN
            )
        )
    }

    /// Whether a join condition begins here: ON, but not `ON DUPLICATE KEY` of INSERT .. SELECT, or USING.
    fn at_condition(&self) -> bool {
        match self.tok.kind {
            Tok::Kw(Kw::USING) => true,
            Tok::Kw(Kw::ON) => {
                let mut lexer = self.ahead();
                lexer.next().kind != Tok::Kw(Kw::DUPLICATE) || lexer.next().kind != Tok::Kw(Kw::KEY)
            }
            _ => false,
        }
    }

    /// A second ON: in `a JOIN b JOIN c ON x ON y` the last one joins `a` with the join of `b` and `c`.
    fn late_condition(&mut self, tree: TableRef<'a>) -> Result<TableRef<'a>> {
        if let TableRef::Join(outer) = tree
            && let TableRef::Join(inner) = outer.left
            && matches!(inner.condition, JoinCondition::None)
        {
            let right = TableRef::Join(self.alloc(Join { left: inner.right, ..*outer }));
            let condition = self.join_condition()?;
            return Ok(TableRef::Join(self.alloc(Join { right, condition, ..*inner })));
        }
        self.syntax()
    }

    /// One join onto `left`.
    fn join(&mut self, left: TableRef<'a>) -> Result<TableRef<'a>> {
        self.join_count += 1;
        self.note_join();
        if self.join_count > JOINS_MAX {
            return Err(self.fail(ParseErrorKind::TooDeep));
        }
        let natural = self.eat_kw(Kw::NATURAL);
        let kind = self.join_kind(natural)?;
        let mut right = self.table_factor()?;
        let condition = if natural {
            JoinCondition::Natural
        } else if matches!(kind, JoinKind::Left | JoinKind::Right) {
            while self.at_join() {
                self.enter()?;
                right = self.join(right)?;
                self.leave();
            }
            if !self.at_condition() {
                return self.syntax();
            }
            self.join_condition()?
        } else if self.at_condition() {
            self.join_condition()?
        } else {
            JoinCondition::None
        };
        Ok(TableRef::Join(self.alloc(Join { kind, left, right, condition })))
    }

    fn join_kind(&mut self, natural: bool) -> Result<JoinKind> {
        let Tok::Kw(kw) = self.bump().kind else {
            return self.syntax();
        };
        let kind = match kw {
            Kw::JOIN => return Ok(JoinKind::Inner),
            Kw::STRAIGHT_JOIN if !natural => return Ok(JoinKind::Straight),
            Kw::INNER => JoinKind::Inner,
            Kw::CROSS if !natural => JoinKind::Inner,
            Kw::LEFT => JoinKind::Left,
            Kw::RIGHT => JoinKind::Right,
            _ => return self.syntax(),
        };
        if kind != JoinKind::Inner {
            self.eat_kw(Kw::OUTER);
        }
        self.expect_kw(Kw::JOIN)?;
        Ok(kind)
    }

    /// ON or USING.
    fn join_condition(&mut self) -> Result<JoinCondition<'a>> {
        if self.eat_kw(Kw::ON) {
            return Ok(JoinCondition::On(self.expr()?));
        }
        self.expect_kw(Kw::USING)?;
        Ok(JoinCondition::Using(self.paren_names()?))
    }

    fn table_factor(&mut self) -> Result<TableRef<'a>> {
        match self.tok.kind {
            Tok::LParen => match self.paren_table()? {
                ParenTable::Query(query) => self.derived(query, false),
                ParenTable::Table(table) => Ok(table),
            },
            Tok::Kw(Kw::LATERAL) => {
                self.bump();
                let query = self.paren_query()?;
                self.derived(query, true)
            }
            Tok::Kw(Kw::JSON_TABLE) => {
                self.bump();
                self.skip_parens()?;
                self.opt_table_alias()?;
                Ok(TableRef::JsonTable)
            }
            Tok::LBrace => {
                self.bump();
                self.expect_kw(Kw::OJ)?;
                let table = self.table_ref()?;
                self.expect(Tok::RBrace)?;
                Ok(table)
            }
            _ => self.named_table(),
        }
    }

    /// A query or joined tables in parentheses; a query that is itself in parentheses may continue as a
    /// union.
    fn paren_table(&mut self) -> Result<ParenTable<'a>> {
        self.enter()?;
        self.expect(Tok::LParen)?;
        let content = if self.at_query() {
            ParenTable::Query(self.inner_query()?)
        } else if self.at(Tok::LParen) {
            self.nested_paren_table()?
        } else {
            ParenTable::Table(self.paren_list_rest(None)?)
        };
        self.expect(Tok::RParen)?;
        self.leave();
        Ok(content)
    }

    fn nested_paren_table(&mut self) -> Result<ParenTable<'a>> {
        let first = match self.paren_table()? {
            ParenTable::Query(query) if self.at(Tok::RParen) => return Ok(ParenTable::Query(query)),
            ParenTable::Query(query) if self.at_query_tail() => {
                return Ok(ParenTable::Query(self.query_after_nested(query)?));
            }
            ParenTable::Query(query) => self.derived(query, false)?,
            ParenTable::Table(table) => table,
        };
        Ok(ParenTable::Table(self.paren_list_rest(Some(first))?))
    }

    /// Joined tables and comma lists up to a `)`, from a first factor that may have been read.
    fn paren_list_rest(&mut self, first: Option<TableRef<'a>>) -> Result<TableRef<'a>> {
        let first = match first {
            Some(first) => self.joins(first)?,
            None => self.table_ref()?,
        };
        if !self.at(Tok::Comma) {
            return Ok(first);
        }
        let mut tables = self.vec();
        tables.push(first);
        while self.eat(Tok::Comma) {
            tables.push(self.table_ref()?);
        }
        Ok(TableRef::List(tables.into_bump_slice()))
    }

    fn derived(&mut self, query: &'a Query<'a>, lateral: bool) -> Result<TableRef<'a>> {
        let alias = self.opt_table_alias()?;
        let columns = if alias.is_some() && self.at(Tok::LParen) { self.paren_names()? } else { &[][..] };
        Ok(TableRef::Derived(self.alloc(Derived { query, lateral, alias, columns })))
    }

    fn named_table(&mut self) -> Result<TableRef<'a>> {
        let name = self.table_name()?;
        let partitions = self.opt_partitions()?;
        let alias = self.opt_table_alias()?;
        let hints = self.index_hints()?;
        Ok(TableRef::Table(self.alloc(TableFactor { name, partitions, alias, hints })))
    }

    /// `PARTITION (names)`.
    pub(super) fn opt_partitions(&mut self) -> Result<&'a [&'a str]> {
        if self.eat_kw(Kw::PARTITION) { self.paren_names() } else { Ok(&[]) }
    }

    /// `[AS] alias`.
    pub(super) fn opt_table_alias(&mut self) -> Result<Option<&'a str>> {
        if self.eat_kw(Kw::AS) || self.at_name() { self.name().map(Some) } else { Ok(None) }
    }

    fn index_hints(&mut self) -> Result<&'a [IndexHint<'a>]> {
        if !matches!(self.tok.kind, Tok::Kw(Kw::USE | Kw::FORCE | Kw::IGNORE)) {
            return Ok(&[]);
        }
        let mut hints = self.vec();
        loop {
            let action = match self.tok.kind {
                Tok::Kw(Kw::USE) => IndexHintAction::Use,
                Tok::Kw(Kw::FORCE) => IndexHintAction::Force,
                Tok::Kw(Kw::IGNORE) => IndexHintAction::Ignore,
                _ => return Ok(hints.into_bump_slice()),
            };
            self.bump();
            hints.push(self.index_hint(action)?);
        }
    }

    fn index_hint(&mut self, action: IndexHintAction) -> Result<IndexHint<'a>> {
        if !self.eat_kw(Kw::INDEX) {
            self.expect_kw(Kw::KEY)?;
        }
        let scope = if !self.eat_kw(Kw::FOR) {
            None
        } else if self.eat_kw(Kw::JOIN) {
            Some(IndexHintScope::Join)
        } else if self.eat_kw2(Kw::ORDER, Kw::BY) {
            Some(IndexHintScope::OrderBy)
        } else if self.eat_kw2(Kw::GROUP, Kw::BY) {
            Some(IndexHintScope::GroupBy)
        } else {
            return self.syntax();
        };
        let empty = action == IndexHintAction::Use && self.at(Tok::LParen) && self.peek() == Tok::RParen;
        let indexes = if empty {
            self.bump();
            self.bump();
            &[][..]
        } else {
            self.paren_list(Self::key_name)?
        };
        Ok(IndexHint { action, scope, indexes })
    }

    /// An index's name, or PRIMARY.
    pub(super) fn key_name(&mut self) -> Result<&'a str> {
        if self.eat_kw(Kw::PRIMARY) { Ok("PRIMARY") } else { self.name() }
    }
}
