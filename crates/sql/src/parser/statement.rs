//! Dispatch on a statement's first words.

use super::core::{Parser, Result};
use crate::ast::Statement;
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// One statement, without its `;`.
    pub(super) fn statement(&mut self) -> Result<Statement<'a>> {
        let kw = match self.tok.kind {
            Tok::Kw(kw) => kw,
            Tok::LParen => return Ok(Statement::Query(self.query()?)),
            _ => return self.syntax(),
        };
        match kw {
            Kw::SELECT | Kw::WITH | Kw::VALUES | Kw::TABLE => Ok(Statement::Query(self.query()?)),
            _ => self.syntax(),
        }
    }
}
