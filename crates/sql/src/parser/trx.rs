//! Transactions.

use super::core::{Parser, Result};
use crate::ast::{Begin, Completion, Statement};
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// START TRANSACTION options, after those words.
    pub(super) fn start_transaction(&mut self) -> Result<Statement<'a>> {
        let mut begin = Begin::default();
        if matches!(self.tok.kind, Tok::Eof | Tok::Semicolon) {
            return Ok(Statement::Begin(begin));
        }
        loop {
            if self.eat_kw(Kw::WITH) {
                self.expect_kw(Kw::CONSISTENT)?;
                self.expect_kw(Kw::SNAPSHOT)?;
                begin.consistent_snapshot = true;
            } else {
                self.expect_kw(Kw::READ)?;
                begin.read_only = Some(self.access_mode()?);
            }
            if !self.eat(Tok::Comma) {
                return Ok(Statement::Begin(begin));
            }
        }
    }

    /// ONLY (true) or WRITE, after READ.
    pub(super) fn access_mode(&mut self) -> Result<bool> {
        let only = self.eat_kw(Kw::ONLY);
        if !only {
            self.expect_kw(Kw::WRITE)?;
        }
        Ok(only)
    }

    /// `[WORK] [AND [NO] CHAIN] [[NO] RELEASE]`.
    pub(super) fn completion(&mut self) -> Result<Completion> {
        self.eat_kw(Kw::WORK);
        let mut completion = Completion::default();
        if self.eat_kw(Kw::AND) {
            completion.chain = Some(!self.eat_kw(Kw::NO));
            self.expect_kw(Kw::CHAIN)?;
        }
        if self.at_kw(Kw::NO) || (self.at_kw(Kw::RELEASE) && completion.chain != Some(true)) {
            completion.release = Some(!self.eat_kw(Kw::NO));
            self.expect_kw(Kw::RELEASE)?;
        }
        Ok(completion)
    }

    /// ROLLBACK, at that word.
    pub(super) fn rollback(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let mut ahead = self.ahead();
        let to = self.at_kw(Kw::TO) || (self.at_kw(Kw::WORK) && ahead.next().kind == Tok::Kw(Kw::TO));
        if !to {
            return Ok(Statement::Rollback(self.completion()?));
        }
        self.eat_kw(Kw::WORK);
        self.bump();
        self.eat_kw(Kw::SAVEPOINT);
        Ok(Statement::RollbackTo(self.name()?))
    }
}
