//! Calls: functions by name, and those whose arguments have a syntax of their own.

use super::core::{Parser, Result};
use super::expr::power;
use crate::ast::{
    Cast, CastType, ConvertUsing, DateAdd, Expr, ExprKind, FunctionCall, Match, MatchMode, TimeUnit, Trim,
    TrimSide, TypeBase, UnitCall,
};
use crate::lexer::{Kw, Tok, Token};
use crate::mode::LexMode;

/// Names that are no reserved words and of whose calls blanks may nevertheless part the parenthesis.
fn is_call_behind_blanks(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::AVG | Kw::GET_FORMAT | Kw::JSON_VALUE | Kw::TIMESTAMPADD | Kw::TIMESTAMPDIFF | Kw::WEIGHT_STRING
    )
}

impl<'a> Parser<'a, '_> {
    /// An operand that begins with keyword `kw`: a function with special syntax, a plain function, or a name.
    pub(super) fn keyword_call(&mut self, kw: Kw) -> Result<Expr<'a>> {
        let token = self.tok;
        if let Some(name) = niladic_name(kw) {
            return self.niladic(token, name);
        }
        let takes_blanks = kw.is_reserved() || is_call_behind_blanks(kw);
        let special = self.paren_follows() || (takes_blanks && self.peek() == Tok::LParen);
        if special && let Some(call) = self.special_call(token, kw)? {
            return Ok(call);
        }
        if kw == Kw::MATCH {
            return self.match_against();
        }
        if kw.is_reserved() {
            return if is_function_word(kw) && self.peek() == Tok::LParen {
                self.bump();
                self.named_call(token, None, kw.as_str())
            } else {
                self.syntax()
            };
        }
        self.name_operand()
    }

    /// The functions whose arguments hold keywords; `None` (nothing taken) if `kw` is none of them.
    fn special_call(&mut self, token: Token, kw: Kw) -> Result<Option<Expr<'a>>> {
        if let Some(func) = super::aggregate::aggregate_fn(kw) {
            return self.aggregate(token, func).map(Some);
        }
        let call = match kw {
            Kw::CAST => self.cast(token)?,
            Kw::CONVERT => self.convert(token)?,
            Kw::EXTRACT => self.extract(token)?,
            Kw::POSITION => self.position(token)?,
            Kw::SUBSTRING | Kw::SUBSTR | Kw::MID => self.substring(token)?,
            Kw::TRIM => self.trim(token)?,
            Kw::DATE_ADD | Kw::ADDDATE => self.date_function(token, kw, false)?,
            Kw::DATE_SUB | Kw::SUBDATE => self.date_function(token, kw, true)?,
            Kw::TIMESTAMPADD => self.unit_call(token, false)?,
            Kw::TIMESTAMPDIFF => self.unit_call(token, true)?,
            Kw::VALUES => self.values_of(token)?,
            Kw::CHAR => self.char_call(token)?,
            Kw::GET_FORMAT => self.get_format(token)?,
            Kw::WEIGHT_STRING => self.weight_string(token)?,
            Kw::JSON_VALUE => self.json_value(token)?,
            _ => return Ok(None),
        };
        Ok(Some(call))
    }

    /// `CURRENT_DATE` and similar, with or without parentheses.
    fn niladic(&mut self, token: Token, name: &'static str) -> Result<Expr<'a>> {
        self.bump();
        if self.at(Tok::LParen) {
            return self.named_call(token, None, name);
        }
        Ok(Self::leaf(self.call_kind(name, &[]), token.start))
    }

    fn call_kind(&self, name: &'a str, args: &'a [Expr<'a>]) -> ExprKind<'a> {
        ExprKind::Call(self.alloc(FunctionCall {
            schema: None,
            name,
            spaced: false,
            args,
            using: None,
            returning: None,
        }))
    }

    /// A call node over `args`.
    fn call(&self, token: Token, name: &'a str, args: &'a [Expr<'a>]) -> Result<Expr<'a>> {
        let height = args.iter().map(|e| e.height).max().unwrap_or(0);
        self.node(self.call_kind(name, args), token.start, height)
    }

    /// `name(args)`, at the parenthesis.
    pub(super) fn named_call(
        &mut self,
        token: Token,
        schema: Option<&'a str>,
        name: &'a str,
    ) -> Result<Expr<'a>> {
        if schema.is_none() && name.eq_ignore_ascii_case("ANY_VALUE") {
            return self.aggregate_args(token, crate::ast::AggregateFn::AnyValue);
        }
        let spaced = self.tok.start != token.end
            && schema.is_none()
            && !is_reserved(token.kind)
            && !self.mode.has(LexMode::IGNORE_SPACE);
        self.expect(Tok::LParen)?;
        let counts = if schema.is_none() { super::fixed_call::counts(name) } else { None };
        let args = match counts {
            Some(counts) => self.fixed_args(name, counts)?,
            None if self.at(Tok::RParen) => &[][..],
            None => self.list(Self::expr)?,
        };
        self.expect(Tok::RParen)?;
        let height = args.iter().map(|e| e.height).max().unwrap_or(0);
        let call = FunctionCall { schema, name, spaced, args, using: None, returning: None };
        self.node(ExprKind::Call(self.alloc(call)), token.start, height)
    }

    /// Takes the name and its parenthesis.
    fn open_call(&mut self) -> Result<()> {
        self.bump();
        self.expect(Tok::LParen).map(|_| ())
    }

    fn cast(&mut self, token: Token) -> Result<Expr<'a>> {
        self.open_call()?;
        let expr = self.expr()?;
        self.expect_kw(Kw::AS)?;
        let ty = self.cast_type()?;
        let array = self.eat_kw(Kw::ARRAY);
        self.expect(Tok::RParen)?;
        self.node(ExprKind::Cast(self.alloc(Cast { expr, ty, array })), token.start, expr.height)
    }

    fn convert(&mut self, token: Token) -> Result<Expr<'a>> {
        self.open_call()?;
        let expr = self.expr()?;
        let kind = if self.eat_kw(Kw::USING) {
            let charset = self.charset_name()?;
            ExprKind::ConvertUsing(self.alloc(ConvertUsing { expr, charset }))
        } else {
            self.expect(Tok::Comma)?;
            let ty = self.cast_type()?;
            ExprKind::Cast(self.alloc(Cast { expr, ty, array: false }))
        };
        self.expect(Tok::RParen)?;
        self.node(kind, token.start, expr.height)
    }

    /// A character set's name: a word, a string, or BINARY.
    pub(super) fn charset_name(&mut self) -> Result<&'a str> {
        if self.eat_kw(Kw::BINARY) { Ok("binary") } else { self.name_or_string() }
    }

    /// Type after AS in CAST.
    fn cast_type(&mut self) -> Result<CastType<'a>> {
        let Tok::Kw(kw) = self.tok.kind else {
            return self.syntax();
        };
        self.bump();
        Ok(match kw {
            Kw::BINARY => CastType::Binary(self.opt_length()?),
            Kw::CHAR | Kw::CHARACTER | Kw::NCHAR => self.cast_char(kw == Kw::NCHAR)?,
            Kw::SIGNED | Kw::UNSIGNED => {
                let _ = self.eat_kw(Kw::INTEGER) || self.eat_kw(Kw::INT);
                if kw == Kw::SIGNED { CastType::Signed } else { CastType::Unsigned }
            }
            Kw::DATE => CastType::Date,
            Kw::TIME => CastType::Time(self.opt_length()?),
            Kw::DATETIME => CastType::DateTime(self.opt_length()?),
            Kw::YEAR => CastType::Year,
            Kw::DECIMAL | Kw::DEC | Kw::NUMERIC | Kw::FIXED => {
                let (precision, scale) = self.opt_precision()?;
                CastType::Decimal(precision, scale)
            }
            Kw::DOUBLE => {
                self.eat_kw(Kw::PRECISION);
                CastType::Double
            }
            Kw::REAL if self.mode.has(LexMode::REAL_AS_FLOAT) => CastType::Float(None),
            Kw::REAL => CastType::Double,
            Kw::FLOAT => CastType::Float(self.opt_length()?),
            Kw::JSON => CastType::Json,
            _ => match spatial_type(kw) {
                Some(base) => CastType::Spatial(base),
                None => return self.syntax(),
            },
        })
    }

    fn cast_char(&mut self, national: bool) -> Result<CastType<'a>> {
        let length = self.opt_length()?;
        let mut binary = false;
        let mut charset = national.then_some("utf8mb3");
        loop {
            if self.eat_kw(Kw::BINARY) {
                binary = true;
            } else if self.eat_kw(Kw::ASCII) {
                charset = Some("latin1");
            } else if self.eat_kw(Kw::UNICODE) {
                charset = Some("ucs2");
            } else if self.eat_charset_words() {
                charset = Some(self.charset_name()?);
            } else {
                return Ok(CastType::Char { length, charset, binary, national });
            }
        }
    }

    /// Takes `CHARACTER SET`, `CHAR SET` or `CHARSET`.
    pub(super) fn eat_charset_words(&mut self) -> bool {
        self.eat_kw(Kw::CHARSET) || self.eat_kw2(Kw::CHARACTER, Kw::SET) || self.eat_kw2(Kw::CHAR, Kw::SET)
    }

    fn extract(&mut self, token: Token) -> Result<Expr<'a>> {
        self.open_call()?;
        let unit = self.time_unit()?;
        self.expect_kw(Kw::FROM)?;
        let expr = self.expr()?;
        self.expect(Tok::RParen)?;
        self.node(ExprKind::Extract(unit, self.alloc(expr)), token.start, expr.height)
    }

    /// `POSITION(a IN b)` as `LOCATE(a, b)`.
    fn position(&mut self, token: Token) -> Result<Expr<'a>> {
        self.open_call()?;
        let needle = self.expr_above(power::BIT_OR)?;
        self.expect_kw(Kw::IN)?;
        let hay = self.expr()?;
        self.expect(Tok::RParen)?;
        self.call(token, "LOCATE", self.arena.alloc_slice_copy(&[needle, hay]))
    }

    /// `SUBSTRING(s FROM n [FOR m])` or with commas.
    fn substring(&mut self, token: Token) -> Result<Expr<'a>> {
        self.open_call()?;
        let mut args = self.vec();
        args.push(self.expr()?);
        let (from, length) =
            if self.eat_kw(Kw::FROM) { (true, Tok::Kw(Kw::FOR)) } else { (self.eat(Tok::Comma), Tok::Comma) };
        if !from {
            return self.syntax();
        }
        args.push(self.expr()?);
        if self.eat(length) {
            args.push(self.expr()?);
        }
        self.expect(Tok::RParen)?;
        self.call(token, "SUBSTRING", args.into_bump_slice())
    }

    fn trim(&mut self, token: Token) -> Result<Expr<'a>> {
        self.open_call()?;
        let side = match self.tok.kind {
            Tok::Kw(Kw::LEADING) => Some(TrimSide::Leading),
            Tok::Kw(Kw::TRAILING) => Some(TrimSide::Trailing),
            Tok::Kw(Kw::BOTH) => Some(TrimSide::Both),
            _ => None,
        };
        if side.is_some() {
            self.bump();
        }
        let first = if side.is_some() && self.at_kw(Kw::FROM) { None } else { Some(self.expr()?) };
        let (remove, expr) = match first {
            Some(first) if side.is_none() && !self.at_kw(Kw::FROM) => (None, first),
            first => {
                self.expect_kw(Kw::FROM)?;
                (first, self.expr()?)
            }
        };
        self.expect(Tok::RParen)?;
        let height = expr.height.max(remove.map_or(0, |e| e.height));
        let trim = Trim { side: side.unwrap_or(TrimSide::Both), remove, expr };
        self.node(ExprKind::Trim(self.alloc(trim)), token.start, height)
    }

    /// `DATE_ADD(d, INTERVAL n unit)`; ADDDATE and SUBDATE also take a number of days.
    fn date_function(&mut self, token: Token, kw: Kw, subtract: bool) -> Result<Expr<'a>> {
        self.open_call()?;
        let date = self.expr()?;
        self.expect(Tok::Comma)?;
        let days_allowed = matches!(kw, Kw::ADDDATE | Kw::SUBDATE);
        let (amount, unit) = if self.at_kw(Kw::INTERVAL) && !self.interval_is_function() {
            self.interval()?
        } else if days_allowed {
            (self.expr()?, TimeUnit::Day)
        } else {
            return self.syntax();
        };
        self.expect(Tok::RParen)?;
        let height = date.height.max(amount.height);
        let node = DateAdd { date, amount, unit, subtract };
        self.node(ExprKind::DateAdd(self.alloc(node)), token.start, height)
    }

    fn unit_call(&mut self, token: Token, diff: bool) -> Result<Expr<'a>> {
        self.open_call()?;
        let unit = self.time_unit()?;
        self.expect(Tok::Comma)?;
        let first = self.expr()?;
        self.expect(Tok::Comma)?;
        let second = self.expr()?;
        self.expect(Tok::RParen)?;
        let height = first.height.max(second.height);
        self.node(ExprKind::UnitCall(self.alloc(UnitCall { diff, unit, first, second })), token.start, height)
    }

    fn values_of(&mut self, token: Token) -> Result<Expr<'a>> {
        self.open_call()?;
        let column = self.column_ref()?;
        self.expect(Tok::RParen)?;
        Ok(Self::leaf(ExprKind::ValuesOf(self.alloc(column)), token.start))
    }

    /// `CHAR(n, .. [USING charset])`.
    fn char_call(&mut self, token: Token) -> Result<Expr<'a>> {
        self.open_call()?;
        let args = self.list(Self::expr)?;
        let using = if self.eat_kw(Kw::USING) { Some(self.charset_name()?) } else { None };
        self.expect(Tok::RParen)?;
        let height = args.iter().map(|e| e.height).max().unwrap_or(0);
        let call = FunctionCall { schema: None, name: "CHAR", spaced: false, args, using, returning: None };
        self.node(ExprKind::Call(self.alloc(call)), token.start, height)
    }

    /// `GET_FORMAT(DATE | TIME | DATETIME | TIMESTAMP, expr)`.
    fn get_format(&mut self, token: Token) -> Result<Expr<'a>> {
        self.open_call()?;
        let (Tok::Kw(kw @ (Kw::DATE | Kw::TIME | Kw::DATETIME | Kw::TIMESTAMP)), pos) =
            (self.tok.kind, self.tok.start)
        else {
            return self.syntax();
        };
        self.bump();
        self.expect(Tok::Comma)?;
        let format = self.expr()?;
        self.expect(Tok::RParen)?;
        let kind = Self::leaf(ExprKind::Keyword(kw.as_str()), pos);
        self.call(token, "GET_FORMAT", self.arena.alloc_slice_copy(&[kind, format]))
    }

    fn weight_string(&mut self, token: Token) -> Result<Expr<'a>> {
        self.open_call()?;
        let expr = self.expr()?;
        let returning = if self.eat_kw(Kw::AS) { Some(self.cast_type()?) } else { None };
        self.expect(Tok::RParen)?;
        let args = std::slice::from_ref(self.alloc(expr));
        let call =
            FunctionCall { schema: None, name: "WEIGHT_STRING", spaced: false, args, using: None, returning };
        self.node(ExprKind::Call(self.alloc(call)), token.start, expr.height)
    }

    /// `JSON_VALUE(doc, path [RETURNING type] [on empty] [on error])`; the ON clauses are recognised only.
    fn json_value(&mut self, token: Token) -> Result<Expr<'a>> {
        self.open_call()?;
        let args = self.list(Self::expr)?;
        let returning = if self.eat_kw(Kw::RETURNING) { Some(self.cast_type()?) } else { None };
        while self.at_kw(Kw::NULL) || self.at_kw(Kw::ERROR) || self.at_kw(Kw::DEFAULT) {
            if self.bump().kind == Tok::Kw(Kw::DEFAULT) {
                self.expr()?;
            }
            self.expect_kw(Kw::ON)?;
            if !self.eat_kw(Kw::EMPTY) {
                self.expect_kw(Kw::ERROR)?;
            }
        }
        self.expect(Tok::RParen)?;
        let height = args.iter().map(|e| e.height).max().unwrap_or(0);
        let call =
            FunctionCall { schema: None, name: "JSON_VALUE", spaced: false, args, using: None, returning };
        self.node(ExprKind::Call(self.alloc(call)), token.start, height)
    }

    /// `MATCH (columns) AGAINST (expr [mode])`; the first parentheses may be left out.
    fn match_against(&mut self) -> Result<Expr<'a>> {
        let pos = self.bump().start;
        let parens = self.eat(Tok::LParen);
        let columns = self.list(|p| {
            let at = p.tok.start;
            let column = p.column_ref()?;
            Ok(Self::leaf(ExprKind::Column(p.alloc(column)), at))
        })?;
        if parens {
            self.expect(Tok::RParen)?;
        }
        self.expect_kw(Kw::AGAINST)?;
        self.expect(Tok::LParen)?;
        let against = self.expr_above(power::BIT_OR)?;
        let mode = self.match_mode()?;
        self.expect(Tok::RParen)?;
        self.node(ExprKind::Match(self.alloc(Match { columns, against, mode })), pos, against.height)
    }

    fn match_mode(&mut self) -> Result<MatchMode> {
        let mut mode = MatchMode::Natural;
        if self.eat_kw(Kw::IN) {
            if self.eat_kw(Kw::BOOLEAN) {
                self.expect_kw(Kw::MODE)?;
                return Ok(MatchMode::Boolean);
            }
            self.expect_kw(Kw::NATURAL)?;
            self.expect_kw(Kw::LANGUAGE)?;
            self.expect_kw(Kw::MODE)?;
        }
        if self.eat_kw(Kw::WITH) {
            self.expect_kw(Kw::QUERY)?;
            self.expect_kw(Kw::EXPANSION)?;
            mode = MatchMode::Expansion;
        }
        Ok(mode)
    }
}

fn is_reserved(token: Tok) -> bool {
    matches!(token, Tok::Kw(kw) if kw.is_reserved())
}

/// Plain name of a function that may be called without parentheses.
fn niladic_name(kw: Kw) -> Option<&'static str> {
    Some(match kw {
        Kw::CURRENT_DATE => "CURDATE",
        Kw::CURRENT_TIME => "CURTIME",
        Kw::CURRENT_TIMESTAMP | Kw::LOCALTIME | Kw::LOCALTIMESTAMP => "NOW",
        Kw::CURRENT_USER => "CURRENT_USER",
        Kw::UTC_DATE => "UTC_DATE",
        Kw::UTC_TIME => "UTC_TIME",
        Kw::UTC_TIMESTAMP => "UTC_TIMESTAMP",
        _ => return None,
    })
}

/// Reserved words that are functions when a parenthesis follows.
fn is_function_word(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::DATABASE
            | Kw::SCHEMA
            | Kw::IF
            | Kw::INSERT
            | Kw::INTERVAL
            | Kw::LEFT
            | Kw::RIGHT
            | Kw::MOD
            | Kw::REPEAT
            | Kw::REPLACE
            | Kw::GROUPING
    )
}

/// Spatial types by keyword.
pub(super) fn spatial_type(kw: Kw) -> Option<TypeBase> {
    Some(match kw {
        Kw::GEOMETRY => TypeBase::Geometry,
        Kw::POINT => TypeBase::Point,
        Kw::LINESTRING => TypeBase::LineString,
        Kw::POLYGON => TypeBase::Polygon,
        Kw::MULTIPOINT => TypeBase::MultiPoint,
        Kw::MULTILINESTRING => TypeBase::MultiLineString,
        Kw::MULTIPOLYGON => TypeBase::MultiPolygon,
        Kw::GEOMETRYCOLLECTION | Kw::GEOMCOLLECTION => TypeBase::GeometryCollection,
        _ => return None,
    })
}
