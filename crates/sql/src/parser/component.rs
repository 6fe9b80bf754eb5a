//! INSTALL COMPONENT, UNINSTALL COMPONENT, and the names of components' variables.

use super::core::{Parser, Result};
use crate::ast::{ComponentStatement, Statement, SystemVar, VarScope};
use crate::lexer::{Kw, Tok};

/// Components whose variables have their name before a point.
const PREFIXES: [&str; 1] = ["validate_password"];

impl<'a> Parser<'a, '_> {
    /// INSTALL (if `install`) and UNINSTALL, at that word.
    pub(super) fn component(&mut self, install: bool) -> Result<Statement<'a>> {
        self.bump();
        if matches!(self.tok.kind, Tok::Eof | Tok::Semicolon) {
            return self.syntax();
        }
        if !self.eat_kw(Kw::COMPONENT) {
            return self.unsupported(if install { "INSTALL PLUGIN" } else { "UNINSTALL PLUGIN" });
        }
        let urns = self.list(Self::string)?;
        if install && self.at_kw(Kw::SET) {
            return self.unsupported("INSTALL COMPONENT .. SET");
        }
        Ok(Statement::Component(self.alloc(ComponentStatement { install, urns })))
    }

    /// `prefix.name`: a variable of a component, which has the point in its name, or one of a structure.
    pub(super) fn prefixed_variable(&self, scope: VarScope, prefix: &'a str, name: &'a str) -> SystemVar<'a> {
        if !PREFIXES.iter().any(|known| known.eq_ignore_ascii_case(prefix)) {
            return SystemVar { scope, prefix: Some(prefix), name };
        }
        SystemVar {
            scope,
            prefix: None,
            name: bumpalo::format!(in self.arena, "{}.{}", prefix, name).into_bump_str(),
        }
    }
}
