//! Operands: literals, names, variables, prefix operators, parentheses, CASE.

use super::core::{Fail, Parser, Result};
use super::expr::power;
use crate::ast::{
    Assign, BinaryOp, Case, Cast, CastType, ColumnRef, DateAdd, Expr, ExprKind, Query, SystemVar, TableName,
    TimeUnit, UnaryOp, VarScope,
};
use crate::charset::Introducer;
use crate::error::ParseErrorKind;
use crate::lexer::{Kw, Tok, Token};
use crate::literal::LiteralKind;
use crate::mode::LexMode;

/// What is between parentheses.
pub(super) enum ParenContent<'a> {
    /// A query, itself perhaps in more parentheses.
    Query(&'a Query<'a>),
    /// An expression; a comma may follow.
    Expr(Expr<'a>),
}

impl<'a> Parser<'a, '_> {
    /// An operand with its prefix operators.
    #[inline(always)]
    pub(super) fn primary(&mut self) -> Result<Expr<'a>> {
        let token = self.tok;
        match token.kind {
            Tok::Word | Tok::Quoted => self.name_operand(),
            Tok::Int => Ok(self.literal_operand(LiteralKind::Int)),
            Tok::Str(_) => Ok(self.literal_operand(LiteralKind::String)),
            Tok::Param => Ok(self.param()),
            Tok::Decimal => Ok(self.literal_operand(LiteralKind::Decimal)),
            Tok::Float => Ok(self.literal_operand(LiteralKind::Float)),
            Tok::Hex => Ok(self.literal_operand(LiteralKind::Hex)),
            Tok::Bit => Ok(self.literal_operand(LiteralKind::Bit)),
            Tok::NationalStr(_) => {
                self.bump();
                let literal = self.literal(token, LiteralKind::String, Introducer::NATIONAL);
                Ok(Self::leaf(ExprKind::Literal(literal), token.start))
            }
            Tok::Introducer(charset) => self.introduced(charset),
            Tok::LParen => self.paren(),
            Tok::Minus => self.prefix(UnaryOp::Neg),
            Tok::Plus => self.prefix(UnaryOp::Plus),
            Tok::Tilde => self.prefix(UnaryOp::BitNot),
            Tok::Bang => self.prefix(UnaryOp::Not),
            Tok::UserVar => self.user_variable(),
            Tok::AtAt => self.system_variable(),
            Tok::LBrace => self.odbc_escape(),
            Tok::Kw(kw) => self.keyword_operand(kw),
            _ => self.syntax(),
        }
    }

    #[inline(always)]
    fn literal_operand(&mut self, kind: LiteralKind) -> Expr<'a> {
        let token = self.bump();
        let literal = self.literal(token, kind, Introducer::NONE);
        Self::leaf(ExprKind::Literal(literal), token.start)
    }

    pub(super) fn param(&mut self) -> Expr<'a> {
        let pos = self.bump().start;
        let index = self.params;
        self.params += 1;
        Self::leaf(ExprKind::Param(index), pos)
    }

    fn introduced(&mut self, charset: Introducer) -> Result<Expr<'a>> {
        let pos = self.bump().start;
        let kind = match self.tok.kind {
            Tok::Str(_) => LiteralKind::String,
            Tok::Hex => LiteralKind::Hex,
            Tok::Bit => LiteralKind::Bit,
            _ => return self.syntax(),
        };
        let token = self.bump();
        Ok(Self::leaf(ExprKind::Literal(self.literal(token, kind, charset)), pos))
    }

    pub(super) fn prefix(&mut self, op: UnaryOp) -> Result<Expr<'a>> {
        let pos = self.bump().start;
        let operand = self.expr_above(power::PREFIX)?;
        self.node(ExprKind::Unary(op, self.alloc(operand)), pos, operand.height)
    }

    /// A column, or a function if a parenthesis follows.
    #[inline(always)]
    pub(super) fn name_operand(&mut self) -> Result<Expr<'a>> {
        let token = self.bump();
        let name = self.name_text(token)?;
        match self.tok.kind {
            Tok::Dot => self.dotted_operand(token, name),
            Tok::LParen => self.named_call(token, None, name),
            _ => self.column_operand(token.start, ColumnRef { schema: None, table: None, column: name }),
        }
    }

    fn dotted_operand(&mut self, token: Token, first: &'a str) -> Result<Expr<'a>> {
        self.bump();
        if self.at(Tok::Star) {
            return self.star_operand(token, None, first);
        }
        let second = self.name()?;
        if self.at(Tok::LParen) {
            return self.named_call(token, Some(first), second);
        }
        if self.at(Tok::Dot) && self.peek() == Tok::Star {
            self.bump();
            return self.star_operand(token, Some(first), second);
        }
        let column = if self.eat(Tok::Dot) {
            ColumnRef { schema: Some(first), table: Some(second), column: self.name()? }
        } else {
            ColumnRef { schema: None, table: Some(first), column: second }
        };
        self.column_operand(token.start, column)
    }

    /// `t.*`, at the star: only as a whole select item.
    fn star_operand(&mut self, token: Token, schema: Option<&'a str>, name: &'a str) -> Result<Expr<'a>> {
        if self.item_start != token.start {
            return self.syntax();
        }
        self.bump();
        self.table_star = Some(TableName { schema, name, pos: token.start });
        Ok(Self::leaf(ExprKind::Star, token.start))
    }

    /// `column`, `column -> path`, `column ->> path`.
    #[inline(always)]
    fn column_operand(&mut self, pos: u32, column: ColumnRef<'a>) -> Result<Expr<'a>> {
        let column = Self::leaf(ExprKind::Column(self.alloc(column)), pos);
        let op = match self.tok.kind {
            Tok::Arrow => BinaryOp::JsonExtract,
            Tok::ArrowText => BinaryOp::JsonExtractText,
            _ => return Ok(column),
        };
        self.bump();
        if !matches!(self.tok.kind, Tok::Str(_)) {
            return self.syntax();
        }
        let path = self.literal_operand(LiteralKind::String);
        self.node(ExprKind::Binary(op, self.alloc(column), self.alloc(path)), pos, 1)
    }

    /// `[schema.][table.]column` where nothing else may be.
    pub(super) fn column_ref(&mut self) -> Result<ColumnRef<'a>> {
        let first = self.name()?;
        if !self.eat(Tok::Dot) {
            return Ok(ColumnRef { schema: None, table: None, column: first });
        }
        let second = self.name()?;
        if !self.eat(Tok::Dot) {
            return Ok(ColumnRef { schema: None, table: Some(first), column: second });
        }
        Ok(ColumnRef { schema: Some(first), table: Some(second), column: self.name()? })
    }

    fn user_variable(&mut self) -> Result<Expr<'a>> {
        let pos = self.tok.start;
        let name = self.user_var()?;
        if !self.eat(Tok::Assign) {
            return Ok(Self::leaf(ExprKind::UserVar(name), pos));
        }
        let value = self.expr()?;
        self.node(ExprKind::Assign(self.alloc(Assign { name, value })), pos, value.height)
    }

    fn system_variable(&mut self) -> Result<Expr<'a>> {
        let pos = self.bump().start;
        let var = self.system_var_name()?;
        Ok(Self::leaf(ExprKind::SystemVar(self.alloc(var)), pos))
    }

    /// `[scope.][prefix.]name` after `@@`.
    pub(super) fn system_var_name(&mut self) -> Result<SystemVar<'a>> {
        if self.tok.start != self.prev_end {
            return Err(Fail { kind: ParseErrorKind::Syntax, offset: self.prev_end });
        }
        let first = self.name()?;
        let scope = match first.to_ascii_uppercase().as_str() {
            _ if !self.at(Tok::Dot) => VarScope::Unspecified,
            "GLOBAL" => VarScope::Global,
            "SESSION" | "LOCAL" => VarScope::Session,
            "PERSIST" => VarScope::Persist,
            "PERSIST_ONLY" => VarScope::PersistOnly,
            _ => VarScope::Unspecified,
        };
        let first = if scope == VarScope::Unspecified {
            first
        } else {
            self.bump();
            self.name()?
        };
        if self.eat(Tok::Dot) {
            let name = self.name()?;
            return Ok(self.prefixed_variable(scope, first, name));
        }
        Ok(SystemVar { scope, prefix: None, name: first })
    }

    /// `{d '..'}`, `{t '..'}`, `{ts '..'}`, `{fn expr}` and `{anything expr}`.
    fn odbc_escape(&mut self) -> Result<Expr<'a>> {
        let pos = self.bump().start;
        let word = self.name()?;
        let kind = match word {
            "d" | "D" => Some(LiteralKind::Date),
            "t" | "T" => Some(LiteralKind::Time),
            "ts" | "TS" => Some(LiteralKind::Timestamp),
            _ => None,
        };
        let expr = match kind {
            Some(kind) if matches!(self.tok.kind, Tok::Str(_)) => self.literal_operand(kind),
            _ => self.expr()?,
        };
        self.expect(Tok::RBrace)?;
        Ok(Expr { pos, ..expr })
    }

    // Parentheses.

    /// `( .. )` as an operand: a value, a row, or a subquery.
    pub(super) fn paren(&mut self) -> Result<Expr<'a>> {
        let pos = self.tok.start;
        if let Some(row) = self.row_of_literals()? {
            return Ok(row);
        }
        self.expect(Tok::LParen)?;
        let first = match self.paren_content()? {
            ParenContent::Query(query) => {
                self.expect(Tok::RParen)?;
                return self.query_node(ExprKind::Subquery(query), pos, query);
            }
            ParenContent::Expr(first) => first,
        };
        if self.eat(Tok::RParen) {
            return Ok(first);
        }
        let mut items = self.vec();
        items.push(first);
        while self.eat(Tok::Comma) {
            items.push(self.expr()?);
        }
        self.expect(Tok::RParen)?;
        self.row(items.into_bump_slice(), pos)
    }

    /// A row of a few literals, if the current token begins one.
    #[inline]
    pub(super) fn row_of_literals(&mut self) -> Result<Option<Expr<'a>>> {
        let pos = self.tok.start;
        if !self.at(Tok::LParen) {
            return Ok(None);
        }
        let Some(literals) = self.literal_row() else { return Ok(None) };
        self.node(ExprKind::Row(literals), pos, 1).map(Some)
    }

    pub(super) fn row(&self, items: &'a [Expr<'a>], pos: u32) -> Result<Expr<'a>> {
        let height = items.iter().map(|e| e.height).max().unwrap_or(0);
        self.node(ExprKind::Row(items), pos, height)
    }

    /// What follows a `(` up to its `)` or a comma. A query in parentheses of its own may continue as a union
    /// or get an ORDER BY here, or may turn out to be the first operand of an expression.
    pub(super) fn paren_content(&mut self) -> Result<ParenContent<'a>> {
        if self.at_query() {
            return Ok(ParenContent::Query(self.inner_query()?));
        }
        if !self.at(Tok::LParen) {
            return Ok(ParenContent::Expr(self.expr()?));
        }
        self.enter()?;
        let inner = self.paren()?;
        self.leave();
        if let ExprKind::Subquery(query) = inner.kind {
            if self.at(Tok::RParen) {
                return Ok(ParenContent::Query(query));
            }
            if self.at_query_tail() {
                return Ok(ParenContent::Query(self.query_after_nested(query)?));
            }
        }
        self.pending = Some(inner);
        Ok(ParenContent::Expr(self.expr()?))
    }

    // Operands that begin with a keyword.

    fn keyword_operand(&mut self, kw: Kw) -> Result<Expr<'a>> {
        let token = self.tok;
        match kw {
            Kw::NULL => Ok(self.keyword_leaf(ExprKind::Null)),
            Kw::TRUE => Ok(self.keyword_leaf(ExprKind::Bool(true))),
            Kw::FALSE => Ok(self.keyword_leaf(ExprKind::Bool(false))),
            Kw::NOT if self.mode.has(LexMode::HIGH_NOT_PRECEDENCE) => self.prefix(UnaryOp::Not),
            Kw::DEFAULT => self.default_operand(),
            Kw::CASE => self.case(),
            Kw::EXISTS => self.exists(),
            Kw::BINARY => self.binary_prefix(),
            Kw::INTERVAL => self.interval_operand(),
            Kw::ROW => {
                self.bump();
                let items = self.paren_list(Self::expr)?;
                if items.len() < 2 {
                    return self.syntax();
                }
                self.row(items, token.start)
            }
            Kw::DATE => self.typed_literal(LiteralKind::Date),
            Kw::TIME => self.typed_literal(LiteralKind::Time),
            Kw::TIMESTAMP => self.typed_literal(LiteralKind::Timestamp),
            _ => self.keyword_call(kw),
        }
    }

    fn keyword_leaf(&mut self, kind: ExprKind<'a>) -> Expr<'a> {
        let pos = self.bump().start;
        Self::leaf(kind, pos)
    }

    /// A value that may be DEFAULT as a whole.
    pub(super) fn value_or_default(&mut self) -> Result<Expr<'a>> {
        if self.at_kw(Kw::DEFAULT) && self.peek() != Tok::LParen {
            return Ok(self.keyword_leaf(ExprKind::Default));
        }
        self.expr()
    }

    /// `DEFAULT(column)`.
    fn default_operand(&mut self) -> Result<Expr<'a>> {
        let pos = self.bump().start;
        self.expect(Tok::LParen)?;
        let column = self.column_ref()?;
        self.expect(Tok::RParen)?;
        Ok(Self::leaf(ExprKind::DefaultOf(self.alloc(column)), pos))
    }

    /// `DATE'..'`; otherwise the word is a name or a function.
    fn typed_literal(&mut self, kind: LiteralKind) -> Result<Expr<'a>> {
        if !matches!(self.peek(), Tok::Str(_)) {
            return self.name_operand();
        }
        let pos = self.bump().start;
        let literal = self.literal_operand(kind);
        Ok(Expr { pos, ..literal })
    }

    fn case(&mut self) -> Result<Expr<'a>> {
        let pos = self.bump().start;
        let operand = if self.at_kw(Kw::WHEN) { None } else { Some(self.expr()?) };
        let mut height = operand.map_or(0, |e| e.height);
        let mut arms = self.vec();
        while self.eat_kw(Kw::WHEN) {
            let when = self.expr()?;
            self.expect_kw(Kw::THEN)?;
            let then = self.expr()?;
            height = height.max(when.height).max(then.height);
            arms.push((when, then));
        }
        if arms.is_empty() {
            return self.syntax();
        }
        let otherwise = if self.eat_kw(Kw::ELSE) { Some(self.expr()?) } else { None };
        self.expect_kw(Kw::END)?;
        height = height.max(otherwise.map_or(0, |e| e.height));
        let case = Case { operand, arms: arms.into_bump_slice(), otherwise };
        self.node(ExprKind::Case(self.alloc(case)), pos, height)
    }

    fn exists(&mut self) -> Result<Expr<'a>> {
        let pos = self.bump().start;
        let query = self.paren_query()?;
        self.query_node(ExprKind::Exists(query), pos, query)
    }

    /// `BINARY expr`: a cast to the binary character set.
    fn binary_prefix(&mut self) -> Result<Expr<'a>> {
        let pos = self.bump().start;
        let expr = self.expr_above(power::PREFIX)?;
        let cast = Cast { expr, ty: CastType::Binary(None), array: false };
        self.node(ExprKind::Cast(self.alloc(cast)), pos, expr.height)
    }

    // INTERVAL.

    /// At INTERVAL: whether it is the function `INTERVAL(a, b, ..)`, recognised by a comma between its own
    /// parentheses.
    pub(super) fn interval_is_function(&self) -> bool {
        let mut lexer = self.ahead();
        if lexer.next().kind != Tok::LParen {
            return false;
        }
        let mut open = 1u32;
        let mut first = true;
        loop {
            match lexer.next().kind {
                Tok::Kw(Kw::SELECT | Kw::WITH) if first => return false,
                Tok::LParen => open += 1,
                Tok::RParen if open == 1 => return false,
                Tok::RParen => open -= 1,
                Tok::Comma if open == 1 => return true,
                Tok::Eof | Tok::Bad => return false,
                _ => {}
            }
            first = false;
        }
    }

    /// `INTERVAL amount unit`, at INTERVAL.
    pub(super) fn interval(&mut self) -> Result<(Expr<'a>, TimeUnit)> {
        self.expect_kw(Kw::INTERVAL)?;
        let amount = self.expr()?;
        Ok((amount, self.time_unit()?))
    }

    /// `INTERVAL(a, b, ..)` or `INTERVAL amount unit + date`.
    fn interval_operand(&mut self) -> Result<Expr<'a>> {
        let token = self.tok;
        if self.interval_is_function() {
            self.bump();
            return self.named_call(token, None, "INTERVAL");
        }
        let (amount, unit) = self.interval()?;
        self.expect(Tok::Plus)?;
        let date = self.expr_above(power::PREFIX)?;
        let height = amount.height.max(date.height);
        let node = DateAdd { date, amount, unit, subtract: false };
        self.node(ExprKind::DateAdd(self.alloc(node)), token.start, height)
    }

    /// A unit of time.
    pub(super) fn time_unit(&mut self) -> Result<TimeUnit> {
        let Tok::Kw(kw) = self.tok.kind else {
            return self.sql_tsi_unit();
        };
        let unit = match kw {
            Kw::MICROSECOND => TimeUnit::Microsecond,
            Kw::SECOND => TimeUnit::Second,
            Kw::MINUTE => TimeUnit::Minute,
            Kw::HOUR => TimeUnit::Hour,
            Kw::DAY => TimeUnit::Day,
            Kw::WEEK => TimeUnit::Week,
            Kw::MONTH => TimeUnit::Month,
            Kw::QUARTER => TimeUnit::Quarter,
            Kw::YEAR => TimeUnit::Year,
            Kw::SECOND_MICROSECOND => TimeUnit::SecondMicrosecond,
            Kw::MINUTE_MICROSECOND => TimeUnit::MinuteMicrosecond,
            Kw::MINUTE_SECOND => TimeUnit::MinuteSecond,
            Kw::HOUR_MICROSECOND => TimeUnit::HourMicrosecond,
            Kw::HOUR_SECOND => TimeUnit::HourSecond,
            Kw::HOUR_MINUTE => TimeUnit::HourMinute,
            Kw::DAY_MICROSECOND => TimeUnit::DayMicrosecond,
            Kw::DAY_SECOND => TimeUnit::DaySecond,
            Kw::DAY_MINUTE => TimeUnit::DayMinute,
            Kw::DAY_HOUR => TimeUnit::DayHour,
            Kw::YEAR_MONTH => TimeUnit::YearMonth,
            _ => return self.syntax(),
        };
        self.bump();
        Ok(unit)
    }

    /// `SQL_TSI_DAY` and similar units.
    fn sql_tsi_unit(&mut self) -> Result<TimeUnit> {
        use TimeUnit as U;
        let units = [
            ("SQL_TSI_SECOND", U::Second),
            ("SQL_TSI_MINUTE", U::Minute),
            ("SQL_TSI_HOUR", U::Hour),
            ("SQL_TSI_DAY", U::Day),
            ("SQL_TSI_WEEK", U::Week),
            ("SQL_TSI_MONTH", U::Month),
            ("SQL_TSI_QUARTER", U::Quarter),
            ("SQL_TSI_YEAR", U::Year),
        ];
        for (word, unit) in units {
            if self.eat_word(word) {
                return Ok(unit);
            }
        }
        self.syntax()
    }
}
