//! INSERT, REPLACE and VALUES lists.

use bumpalo::collections::Vec as BumpVec;

use super::core::{Parser, Result};
use crate::ast::{
    Assignment, Cell, ColumnRef, Expr, ExprKind, Insert, InsertSource, Priority, RowAlias, Statement,
    TableName, UnaryOp, ValuesList,
};
use crate::charset::Introducer;
use crate::lexer::{Kw, Tok};
use crate::literal::LiteralKind;

/// Rows for which space is set aside by a guess.
const MOST_ROWS_RESERVED: usize = 4096;
/// Rows between two checks whether the statement is to end. Rows of literals pass no single tokens.
const ROWS_BETWEEN_LOOKS: u32 = 1024;

impl<'a> Parser<'a, '_> {
    /// INSERT or REPLACE, at that word.
    pub(super) fn insert(&mut self) -> Result<Statement<'a>> {
        let replace = self.bump().kind == Tok::Kw(Kw::REPLACE);
        let priority = match self.tok.kind {
            Tok::Kw(Kw::LOW_PRIORITY) => Priority::Low,
            Tok::Kw(Kw::DELAYED) => Priority::Delayed,
            Tok::Kw(Kw::HIGH_PRIORITY) if !replace => Priority::High,
            _ => Priority::Normal,
        };
        if priority != Priority::Normal {
            self.bump();
        }
        let ignore = !replace && self.eat_kw(Kw::IGNORE);
        self.eat_kw(Kw::INTO);
        let table = self.table_name()?;
        let partitions = self.opt_partitions()?;
        let columns = self.insert_columns()?;
        let source = self.insert_source(columns.is_some())?;
        let row_alias = self.opt_row_alias(source)?;
        let on_duplicate = if replace { &[][..] } else { self.opt_on_duplicate()? };
        let insert =
            Insert { replace, ignore, priority, table, partitions, columns, source, row_alias, on_duplicate };
        Ok(Statement::Insert(self.alloc(insert)))
    }

    /// Column list in parentheses; a parenthesis may also open a query.
    fn insert_columns(&mut self) -> Result<Option<&'a [ColumnRef<'a>]>> {
        if !self.at(Tok::LParen)
            || matches!(self.peek(), Tok::LParen | Tok::Kw(Kw::SELECT | Kw::WITH | Kw::TABLE))
        {
            return Ok(None);
        }
        if self.peek() == Tok::RParen {
            self.bump();
            self.bump();
            return Ok(Some(&[]));
        }
        self.paren_list(Self::column_ref).map(Some)
    }

    fn insert_source(&mut self, has_columns: bool) -> Result<InsertSource<'a>> {
        match self.tok.kind {
            Tok::Kw(Kw::VALUES) if self.peek() == Tok::Kw(Kw::ROW) => Ok(InsertSource::Query(self.query()?)),
            Tok::Kw(Kw::VALUES | Kw::VALUE) => {
                self.bump();
                Ok(InsertSource::Values(self.values_list()?))
            }
            Tok::Kw(Kw::SET) if !has_columns => {
                self.bump();
                Ok(InsertSource::Set(self.list(Self::assignment)?))
            }
            _ => Ok(InsertSource::Query(self.query()?)),
        }
    }

    /// `AS name [(columns)]` after VALUES and SET.
    fn opt_row_alias(&mut self, source: InsertSource<'a>) -> Result<Option<RowAlias<'a>>> {
        if matches!(source, InsertSource::Query(_)) || !self.eat_kw(Kw::AS) {
            return Ok(None);
        }
        let name = self.name()?;
        let columns = if self.at(Tok::LParen) { self.paren_names()? } else { &[][..] };
        Ok(Some(RowAlias { name, columns }))
    }

    fn opt_on_duplicate(&mut self) -> Result<&'a [Assignment<'a>]> {
        if !self.eat_kw(Kw::ON) {
            return Ok(&[]);
        }
        self.expect_kw(Kw::DUPLICATE)?;
        self.expect_kw(Kw::KEY)?;
        self.expect_kw(Kw::UPDATE)?;
        self.list(Self::assignment)
    }

    /// `column = value`.
    pub(super) fn assignment(&mut self) -> Result<Assignment<'a>> {
        let column = self.column_ref()?;
        if !self.eat(Tok::Eq) {
            self.expect(Tok::Assign)?;
        }
        Ok(Assignment { column, value: self.value_or_default()? })
    }

    // VALUES lists.

    fn values_list(&mut self) -> Result<ValuesList<'a>> {
        let mut cells = BumpVec::with_capacity_in(8, self.arena);
        let start = self.tok.start;
        let mut list = ValuesList { cells: &[], columns: 0, rows: 0, uneven_row: None };
        loop {
            let before = cells.len();
            if !self.at(Tok::LParen) {
                return self.syntax();
            }
            self.values_row(&mut cells)?;
            list.rows += 1;
            count_row(&mut list, &mut cells, before);
            if list.rows == 1 {
                // Rows are about as long as the first one: growing the list would leave its old copies in the
                // arena.
                let (first, rest) = self.text_around(start);
                cells.reserve((rest / first.max(1)).min(MOST_ROWS_RESERVED) * cells.len());
            }
            if list.rows.is_multiple_of(ROWS_BETWEEN_LOOKS) {
                self.look();
            }
            // The current token is still the first parenthesis of the row, the lexer is after the last.
            if self.next_row() {
                continue;
            }
            self.advance();
            if !self.eat(Tok::Comma) {
                list.cells = cells.into_bump_slice();
                return Ok(list);
            }
        }
    }

    /// `(cell, ..)` or `()`, at the first parenthesis; leaves the parser at the last one or before it, with
    /// the next token being the one after the row and the current one a parenthesis.
    #[inline]
    fn values_row(&mut self, cells: &mut BumpVec<'a, Cell<'a>>) -> Result<()> {
        let open = self.tok;
        let before = cells.len();
        loop {
            if let Some((literal, last)) = self.literal_cell() {
                // A row of any length passes no single tokens.
                if cells.len() == cells.capacity() {
                    self.look();
                }
                cells.push(Cell::Literal(literal, false));
                if last {
                    break;
                }
                continue;
            }
            self.advance();
            if self.at(Tok::RParen) && cells.len() == before {
                break;
            }
            let cell = self.cell()?;
            cells.push(cell);
            match self.tok.kind {
                Tok::Comma => {}
                Tok::RParen => break,
                _ => return self.syntax(),
            }
        }
        self.tok.kind = open.kind;
        Ok(())
    }

    /// One cell: literals are taken as they are if the cell ends after them.
    #[inline]
    fn cell(&mut self) -> Result<Cell<'a>> {
        let kind = match self.tok.kind {
            Tok::Int => LiteralKind::Int,
            Tok::Str(_) => LiteralKind::String,
            Tok::Decimal => LiteralKind::Decimal,
            Tok::Float => LiteralKind::Float,
            Tok::Hex => LiteralKind::Hex,
            Tok::Bit => LiteralKind::Bit,
            Tok::Minus => return self.negative_cell(),
            _ => return self.other_cell(),
        };
        let token = self.bump();
        let literal = self.literal(token, kind, Introducer::NONE);
        if self.at_cell_end() {
            return Ok(Cell::Literal(literal, false));
        }
        self.cell_from(Self::leaf(ExprKind::Literal(literal), token.start))
    }

    #[inline]
    fn at_cell_end(&self) -> bool {
        matches!(self.tok.kind, Tok::Comma | Tok::RParen)
    }

    fn negative_cell(&mut self) -> Result<Cell<'a>> {
        let kind = match self.peek() {
            Tok::Int => LiteralKind::Int,
            Tok::Decimal => LiteralKind::Decimal,
            Tok::Float => LiteralKind::Float,
            _ => return self.other_cell(),
        };
        let pos = self.bump().start;
        let token = self.bump();
        let literal = self.literal(token, kind, Introducer::NONE);
        if self.at_cell_end() {
            return Ok(Cell::Literal(literal, true));
        }
        let operand = Self::leaf(ExprKind::Literal(literal), token.start);
        if self.at_kw(Kw::COLLATE) {
            return self.syntax();
        }
        let negated = self.node(ExprKind::Unary(UnaryOp::Neg, self.alloc(operand)), pos, operand.height)?;
        self.cell_from(negated)
    }

    /// The cell whose first operand has been read.
    fn cell_from(&mut self, operand: Expr<'a>) -> Result<Cell<'a>> {
        self.pending = Some(operand);
        let expr = self.expr()?;
        Ok(Cell::Expr(self.alloc(expr)))
    }

    fn other_cell(&mut self) -> Result<Cell<'a>> {
        let expr = self.value_or_default()?;
        Ok(match expr.kind {
            ExprKind::Null => Cell::Null,
            ExprKind::Default => Cell::Default,
            ExprKind::Bool(value) => Cell::Bool(value),
            ExprKind::Param(index) => Cell::Param(index),
            ExprKind::Literal(literal) => Cell::Literal(literal, false),
            _ => Cell::Expr(self.alloc(expr)),
        })
    }

    /// `[schema.]table` with MySQL's `.*` suffix of multi-table DELETE allowed.
    pub(super) fn delete_target(&mut self) -> Result<TableName<'a>> {
        let pos = self.tok.start;
        let first = self.name()?;
        if !self.eat(Tok::Dot) {
            return Ok(TableName { schema: None, name: first, pos });
        }
        if self.eat(Tok::Star) {
            return Ok(TableName { schema: None, name: first, pos });
        }
        let name = self.name()?;
        if self.eat(Tok::Dot) {
            self.expect(Tok::Star)?;
        }
        Ok(TableName { schema: Some(first), name, pos })
    }
}

/// Counts the row whose cells begin at `before`; rows from the first uneven one on are dropped.
#[inline]
fn count_row(list: &mut ValuesList<'_>, cells: &mut BumpVec<'_, Cell<'_>>, before: usize) {
    let width = (cells.len() - before) as u32;
    if list.rows == 1 {
        list.columns = width;
    } else if list.uneven_row.is_some() {
        cells.truncate(before);
    } else if width != list.columns {
        list.uneven_row = Some(list.rows);
        cells.truncate(before);
    }
}
