//! Statements that are recognised by their first words only.

use super::core::{Parser, Result};
use crate::ast::{Statement, Unsupported};
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// The rest of a statement that is not parsed.
    pub(super) fn unsupported(&mut self, what: &'static str) -> Result<Statement<'a>> {
        self.skip_statement()?;
        Ok(Statement::Unsupported(Unsupported { what }))
    }

    /// The rest of a statement whose body may hold `;`: all that is left of the text.
    pub(super) fn unsupported_program(&mut self, what: &'static str) -> Result<Statement<'a>> {
        self.skip_all()?;
        Ok(Statement::Unsupported(Unsupported { what }))
    }

    /// What CREATE, ALTER or DROP is about, past DEFINER, ALGORITHM, SQL SECURITY and OR REPLACE. `names` are
    /// the statement names for VIEW, TRIGGER, PROCEDURE, FUNCTION, EVENT.
    pub(super) fn program_statement(&mut self, names: [&'static str; 5]) -> Result<Statement<'a>> {
        self.skip_definer_clauses()?;
        let what = match self.tok.kind {
            Tok::Kw(Kw::VIEW) => names[0],
            Tok::Kw(Kw::TRIGGER) => names[1],
            Tok::Kw(Kw::PROCEDURE) => names[2],
            Tok::Kw(Kw::FUNCTION) => names[3],
            Tok::Kw(Kw::EVENT) => names[4],
            _ => return self.syntax(),
        };
        self.bump();
        if !self.at_name() && !self.at_kw(Kw::IF) {
            return self.syntax();
        }
        self.unsupported_program(what)
    }

    fn skip_definer_clauses(&mut self) -> Result<()> {
        loop {
            if self.eat_kw2(Kw::OR, Kw::REPLACE) || self.eat_kw(Kw::AGGREGATE) {
            } else if self.eat_kw(Kw::DEFINER) {
                self.expect(Tok::Eq)?;
                self.account()?;
            } else if self.eat_kw(Kw::ALGORITHM) {
                self.expect(Tok::Eq)?;
                self.name()?;
            } else if self.eat_kw2(Kw::SQL, Kw::SECURITY) {
                self.name()?;
            } else {
                return Ok(());
            }
        }
    }

    /// Statements with nothing but their first word known; `None` if `kw` begins no such statement.
    pub(super) fn recognised(&mut self, kw: Kw) -> Result<Option<Statement<'a>>> {
        let what = match kw {
            Kw::HANDLER => "HANDLER",
            Kw::XA => "XA",
            Kw::BINLOG => "BINLOG",
            Kw::CHANGE => "CHANGE REPLICATION",
            Kw::CLONE => "CLONE",
            Kw::IMPORT => "IMPORT TABLE",
            Kw::PURGE => "PURGE BINARY LOGS",
            Kw::RESET => "RESET",
            Kw::RESTART => "RESTART",
            Kw::STOP => "STOP REPLICA",
            Kw::CACHE => "CACHE INDEX",
            Kw::HELP => "HELP",
            Kw::GET => "GET DIAGNOSTICS",
            Kw::SIGNAL => "SIGNAL",
            Kw::RESIGNAL => "RESIGNAL",
            _ => return Ok(None),
        };
        self.bump();
        if matches!(self.tok.kind, Tok::Eof | Tok::Semicolon) && !matches!(kw, Kw::RESTART | Kw::RESIGNAL) {
            return self.syntax();
        }
        self.unsupported(what).map(Some)
    }
}
