//! Queries: SELECT, set operations, WITH, and the clauses after them.

use super::core::{Parser, Result};
use super::hint;
use crate::ParseErrorKind;
use crate::ast::{
    ColumnRef, Cte, Expr, ExprKind, Into, Limit, LockClause, LockWait, OrderItem, Outfile, Query, QueryBody,
    Select, SelectItem, SelectModifiers, SetBranch, SetOp, SetOperator, TextFormat, With,
};
use crate::lexer::{Kw, Tok};
use crate::mode::LexMode;

impl<'a> Parser<'a, '_> {
    /// Whether a query begins here, parentheses aside. `VALUES (` is a function call, `VALUES ROW` a query.
    pub(super) fn at_query(&self) -> bool {
        match self.tok.kind {
            Tok::Kw(Kw::SELECT | Kw::WITH | Kw::TABLE) => true,
            Tok::Kw(Kw::VALUES) => self.peek() == Tok::Kw(Kw::ROW),
            _ => false,
        }
    }

    /// Whether a query in parentheses continues here.
    pub(super) fn at_query_tail(&self) -> bool {
        matches!(self.tok.kind, Tok::Kw(Kw::UNION | Kw::EXCEPT | Kw::INTERSECT | Kw::ORDER | Kw::LIMIT))
    }

    /// `( query )` inside another query.
    pub(super) fn paren_query(&mut self) -> Result<&'a Query<'a>> {
        self.expect(Tok::LParen)?;
        let query = self.inner_query()?;
        self.expect(Tok::RParen)?;
        Ok(query)
    }

    /// A query with everything that belongs to it.
    pub(super) fn query(&mut self) -> Result<&'a Query<'a>> {
        let with = self.opt_with()?;
        self.query_with(with)
    }

    /// The query after its WITH.
    pub(super) fn query_with(&mut self, with: Option<&'a With<'a>>) -> Result<&'a Query<'a>> {
        self.enter()?;
        let enclosing = self.begin_query();
        let first = self.query_operand()?;
        let query = self.query_rest(with, first)?;
        self.end_query(query, enclosing);
        self.leave();
        Ok(query)
    }

    /// A query whose first operand, in parentheses, has been read.
    pub(super) fn query_after_nested(&mut self, nested: &'a Query<'a>) -> Result<&'a Query<'a>> {
        let enclosing = self.begin_query();
        self.note_height(nested.height);
        let query = self.query_rest(None, Self::nested_body(nested))?;
        self.end_query(query, enclosing);
        Ok(query)
    }

    fn query_rest(&mut self, with: Option<&'a With<'a>>, first: QueryBody<'a>) -> Result<&'a Query<'a>> {
        if matches!(self.tok.kind, Tok::Eof | Tok::Semicolon | Tok::RParen) {
            let (into, height) = (self.into.take(), self.query_height()?);
            let query = Query { with, body: first, order_by: &[], limit: None, into, locks: &[], height };
            return Ok(self.alloc(query));
        }
        let first = self.intersect_rest(first)?;
        let body = self.union_rest(first)?;
        let order_by = self.opt_order_by()?;
        let limit = self.opt_limit()?;
        let mut locks = self.vec();
        loop {
            if self.at_kw(Kw::INTO) {
                self.select_into()?;
            } else if let Some(lock) = self.opt_lock_clause()? {
                locks.push(lock);
            } else {
                break;
            }
        }
        let (into, height) = (self.into.take(), self.query_height()?);
        let locks = locks.into_bump_slice();
        Ok(self.alloc(Query { with, body, order_by, limit, into, locks, height }))
    }

    pub(super) fn opt_with(&mut self) -> Result<Option<&'a With<'a>>> {
        if !self.eat_kw(Kw::WITH) {
            return Ok(None);
        }
        let recursive = self.eat_kw(Kw::RECURSIVE);
        let ctes = self.list(|p| {
            let name = p.name()?;
            let columns = if p.at(Tok::LParen) { p.paren_names()? } else { &[][..] };
            p.expect_kw(Kw::AS)?;
            Ok(Cte { name, columns, query: p.paren_query()? })
        })?;
        Ok(Some(self.alloc(With { recursive, ctes })))
    }

    // Set operations.

    fn union_rest(&mut self, first: QueryBody<'a>) -> Result<QueryBody<'a>> {
        let mut rest = self.vec();
        loop {
            let op = match self.tok.kind {
                Tok::Kw(Kw::UNION) => SetOperator::Union,
                Tok::Kw(Kw::EXCEPT) => SetOperator::Except,
                _ => break,
            };
            let all = self.set_quantifier();
            let operand = self.query_operand()?;
            let body = self.intersect_rest(operand)?;
            rest.push(SetBranch { op, all, body });
        }
        Ok(self.set_op(first, rest.into_bump_slice()))
    }

    fn intersect_rest(&mut self, first: QueryBody<'a>) -> Result<QueryBody<'a>> {
        let mut rest = self.vec();
        while self.at_kw(Kw::INTERSECT) {
            let all = self.set_quantifier();
            let body = self.query_operand()?;
            rest.push(SetBranch { op: SetOperator::Intersect, all, body });
        }
        Ok(self.set_op(first, rest.into_bump_slice()))
    }

    fn set_op(&self, first: QueryBody<'a>, rest: &'a [SetBranch<'a>]) -> QueryBody<'a> {
        if rest.is_empty() { first } else { QueryBody::SetOp(self.alloc(SetOp { first, rest })) }
    }

    /// Takes the operator and ALL or DISTINCT; true for ALL.
    fn set_quantifier(&mut self) -> bool {
        self.bump();
        let all = self.eat_kw(Kw::ALL);
        if !all {
            self.eat_kw(Kw::DISTINCT);
        }
        all
    }

    fn query_operand(&mut self) -> Result<QueryBody<'a>> {
        match self.tok.kind {
            Tok::Kw(Kw::SELECT) => Ok(QueryBody::Select(self.select()?)),
            Tok::Kw(Kw::TABLE) => {
                self.bump();
                Ok(QueryBody::Table(self.table_name()?))
            }
            Tok::Kw(Kw::VALUES) => {
                self.bump();
                let rows = self.list(|p| {
                    p.expect_kw(Kw::ROW)?;
                    if p.peek() == Tok::RParen {
                        p.bump();
                        p.bump();
                        return Ok(&[][..]);
                    }
                    p.paren_list(Self::value_or_default)
                })?;
                Ok(QueryBody::Values(rows))
            }
            Tok::LParen => {
                self.bump();
                let query = self.query()?;
                self.expect(Tok::RParen)?;
                Ok(Self::nested_body(query))
            }
            _ => self.syntax(),
        }
    }

    /// A query in parentheses as an operand: its body alone if it has no clauses of its own.
    fn nested_body(query: &'a Query<'a>) -> QueryBody<'a> {
        let bare = query.with.is_none()
            && query.order_by.is_empty()
            && query.limit.is_none()
            && query.into.is_none()
            && query.locks.is_empty();
        if bare { query.body } else { QueryBody::Nested(query) }
    }

    // SELECT.

    fn select(&mut self) -> Result<&'a Select<'a>> {
        self.hint = None;
        self.bump();
        let hint = self.hint.take().map(|hint| &self.text[hint.start as usize..hint.end as usize]);
        let max_execution_ms = hint.map_or(0, hint::max_execution_ms);
        let modifiers = self.select_modifiers()?;
        let mut is_first = true;
        let items = self.list(|p| p.select_item(std::mem::replace(&mut is_first, false)))?;
        if self.at_kw(Kw::INTO) {
            self.select_into()?;
        }
        let from = if self.eat_kw(Kw::FROM) { self.table_list()? } else { &[][..] };
        let filter = self.opt_where()?;
        let mut rollup = false;
        let mut group_by: &[OrderItem<'_>] = &[];
        if self.eat_kw(Kw::GROUP) {
            self.expect_kw(Kw::BY)?;
            group_by = self.group_items(&mut rollup)?;
        }
        let having = if self.eat_kw(Kw::HAVING) { Some(self.expr()?) } else { None };
        let windows = if self.eat_kw(Kw::WINDOW) {
            self.list(|p| {
                let name = p.name()?;
                p.expect_kw(Kw::AS)?;
                Ok((name, p.window_spec()?))
            })?
        } else {
            &[]
        };
        let select =
            Select { max_execution_ms, modifiers, items, from, filter, group_by, rollup, having, windows };
        Ok(self.alloc(select))
    }

    fn group_items(&mut self, rollup: &mut bool) -> Result<&'a [OrderItem<'a>]> {
        if self.at_kw(Kw::ROLLUP) && self.peek() == Tok::LParen {
            self.bump();
            *rollup = true;
            return self.paren_list(Self::group_item);
        }
        let items = self.list(Self::group_item)?;
        *rollup = self.eat_kw2(Kw::WITH, Kw::ROLLUP);
        Ok(items)
    }

    /// An expression; groups have no direction.
    fn group_item(&mut self) -> Result<OrderItem<'a>> {
        Ok(OrderItem { expr: self.expr()?, descending: false })
    }

    fn select_modifiers(&mut self) -> Result<SelectModifiers> {
        let mut m = SelectModifiers::default();
        while let Tok::Kw(kw) = self.tok.kind {
            let flag = match kw {
                Kw::DISTINCT | Kw::DISTINCTROW => &mut m.distinct,
                Kw::ALL => &mut m.all,
                Kw::STRAIGHT_JOIN => &mut m.straight_join,
                Kw::SQL_CALC_FOUND_ROWS => &mut m.calc_found_rows,
                Kw::HIGH_PRIORITY => &mut m.high_priority,
                Kw::SQL_SMALL_RESULT => &mut m.small_result,
                Kw::SQL_BIG_RESULT => &mut m.big_result,
                Kw::SQL_BUFFER_RESULT => &mut m.buffer_result,
                Kw::SQL_NO_CACHE => &mut m.no_cache,
                _ => break,
            };
            *flag = true;
            self.bump();
        }
        if m.distinct && m.all {
            return self.syntax();
        }
        Ok(m)
    }

    /// An item of the select list; only the first may be `*` without a table.
    fn select_item(&mut self, is_first: bool) -> Result<SelectItem<'a>> {
        if is_first && self.eat(Tok::Star) {
            return Ok(SelectItem::Star);
        }
        let start = self.tok.start;
        self.item_start = start;
        let expr = self.expr()?;
        self.item_start = u32::MAX;
        if let Some(table) = self.table_star.take() {
            return if matches!(expr.kind, ExprKind::Star) {
                Ok(SelectItem::TableStar(table))
            } else {
                self.syntax()
            };
        }
        let mut end = self.prev_end as usize;
        if self.mode.has(LexMode::IGNORE_SPACE) {
            end += super::item_text::blanks_after_word(self.text, end);
        }
        let text = &self.text[start as usize..end];
        let text = super::item_text::without_version_marks(text, self.mode, self.arena);
        let alias = self.opt_select_alias()?;
        Ok(SelectItem::Expr { expr, alias, text })
    }

    fn opt_select_alias(&mut self) -> Result<Option<&'a str>> {
        match self.tok.kind {
            Tok::Comma | Tok::Kw(Kw::FROM) | Tok::Eof | Tok::RParen => Ok(None),
            Tok::Kw(Kw::AS) => {
                self.bump();
                self.name_or_string().map(Some)
            }
            _ if self.at_name() || self.at_string() => self.name_or_string().map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn opt_where(&mut self) -> Result<Option<Expr<'a>>> {
        if self.eat_kw(Kw::WHERE) { self.expr().map(Some) } else { Ok(None) }
    }

    // Clauses after the body.

    pub(super) fn opt_order_by(&mut self) -> Result<&'a [OrderItem<'a>]> {
        if !self.eat_kw(Kw::ORDER) {
            return Ok(&[]);
        }
        self.expect_kw(Kw::BY)?;
        self.list(Self::order_item)
    }

    pub(super) fn order_item(&mut self) -> Result<OrderItem<'a>> {
        let expr = self.expr()?;
        let descending = self.eat_kw(Kw::DESC);
        if !descending {
            self.eat_kw(Kw::ASC);
        }
        Ok(OrderItem { expr, descending })
    }

    /// `LIMIT n`, `LIMIT offset, n`, `LIMIT n OFFSET offset`.
    pub(super) fn opt_limit(&mut self) -> Result<Option<&'a Limit<'a>>> {
        if !self.eat_kw(Kw::LIMIT) {
            return Ok(None);
        }
        let first = self.limit_value()?;
        let limit = if self.eat(Tok::Comma) {
            Limit { offset: Some(first), count: self.limit_value()? }
        } else if self.eat_kw(Kw::OFFSET) {
            Limit { offset: Some(self.limit_value()?), count: first }
        } else {
            Limit { offset: None, count: first }
        };
        Ok(Some(self.alloc(limit)))
    }

    /// A number of rows. A name would be a variable of a stored program.
    pub(super) fn limit_value(&mut self) -> Result<Expr<'a>> {
        match self.tok.kind {
            Tok::Int | Tok::Param | Tok::Hex | Tok::Bit => self.primary(),
            _ => {
                let pos = self.tok.start;
                let column = self.name()?;
                let name = self.alloc(ColumnRef { schema: None, table: None, column });
                Ok(Self::leaf(ExprKind::Column(name), pos))
            }
        }
    }

    fn opt_lock_clause(&mut self) -> Result<Option<LockClause<'a>>> {
        if self.eat_kw(Kw::LOCK) {
            self.expect_kw(Kw::IN)?;
            self.expect_kw(Kw::SHARE)?;
            self.expect_kw(Kw::MODE)?;
            return Ok(Some(LockClause { exclusive: false, of: &[], wait: LockWait::Wait }));
        }
        if !self.eat_kw(Kw::FOR) {
            return Ok(None);
        }
        let exclusive = self.eat_kw(Kw::UPDATE);
        if !exclusive {
            self.expect_kw(Kw::SHARE)?;
        }
        let of = if self.eat_kw(Kw::OF) { self.list(Self::table_name)? } else { &[][..] };
        let wait = if self.eat_kw(Kw::NOWAIT) {
            LockWait::NoWait
        } else if self.eat_kw2(Kw::SKIP, Kw::LOCKED) {
            LockWait::SkipLocked
        } else {
            LockWait::Wait
        };
        Ok(Some(LockClause { exclusive, of, wait }))
    }

    // INTO.

    /// INTO clause; a second one is an error.
    fn select_into(&mut self) -> Result<()> {
        if self.into.is_some() {
            return self.syntax();
        }
        self.bump();
        let into = if self.eat_kw(Kw::OUTFILE) {
            let path = self.string()?;
            let charset = if self.eat_charset_words() { Some(self.charset_name()?) } else { None };
            let format = self.text_format()?;
            Into::Outfile(self.alloc(Outfile { path, charset, format }))
        } else if self.eat_kw(Kw::DUMPFILE) {
            Into::Dumpfile(self.string()?)
        } else {
            Into::Vars(self.list(Self::target_var)?)
        };
        self.into = Some(self.alloc(into));
        Ok(())
    }

    /// A variable that INTO sets. A name would be a variable of a stored program.
    fn target_var(&mut self) -> Result<&'a str> {
        if self.at(Tok::UserVar) {
            return self.user_var();
        }
        let error = self.fail(ParseErrorKind::UndeclaredVariable);
        self.name()?;
        if self.at(Tok::Dot) { self.syntax() } else { Err(error) }
    }

    /// FIELDS and LINES clauses.
    pub(super) fn text_format(&mut self) -> Result<TextFormat<'a>> {
        let mut format = TextFormat::default();
        if self.eat_kw(Kw::FIELDS) || self.eat_kw(Kw::COLUMNS) {
            self.field_options(&mut format)?;
        }
        if self.eat_kw(Kw::LINES) {
            loop {
                if self.eat_kw(Kw::STARTING) {
                    format.line_start = Some(self.by_text()?);
                } else if self.eat_kw(Kw::TERMINATED) {
                    format.line_end = Some(self.by_text()?);
                } else {
                    break;
                }
            }
        }
        Ok(format)
    }

    fn field_options(&mut self, format: &mut TextFormat<'a>) -> Result<()> {
        loop {
            if self.eat_kw(Kw::TERMINATED) {
                format.field_end = Some(self.by_text()?);
            } else if self.eat_kw(Kw::ESCAPED) {
                format.escaped_by = Some(self.by_text()?);
            } else if self.at_kw(Kw::OPTIONALLY) || self.at_kw(Kw::ENCLOSED) {
                format.optionally_enclosed = self.eat_kw(Kw::OPTIONALLY);
                self.expect_kw(Kw::ENCLOSED)?;
                format.enclosed_by = Some(self.by_text()?);
            } else {
                return Ok(());
            }
        }
    }

    /// `BY text`: a string or a hex or bit literal.
    fn by_text(&mut self) -> Result<&'a [u8]> {
        self.expect_kw(Kw::BY)?;
        if self.at_string() { self.string_bytes() } else { self.literal_bytes() }
    }

    /// The bytes of a hex or bit literal.
    pub(super) fn literal_bytes(&mut self) -> Result<&'a [u8]> {
        if !matches!(self.tok.kind, Tok::Hex | Tok::Bit) {
            return self.syntax();
        }
        let ExprKind::Literal(literal) = self.primary()?.kind else {
            return self.syntax();
        };
        let mut out = Vec::new();
        if literal.kind == crate::literal::LiteralKind::Hex {
            literal.hex_value(self.text, &mut out);
        } else {
            literal.bit_value(self.text, &mut out);
        }
        Ok(self.arena.alloc_slice_copy(&out))
    }
}
