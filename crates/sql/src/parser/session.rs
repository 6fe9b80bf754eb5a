//! SET, and prepared statements.

use super::core::{Parser, Result};
use crate::ast::{
    Execute, Expr, ExprKind, IsolationLevel, Prepare, PrepareSource, SetItem, SetPassword, SetTransaction,
    Statement, SystemVar, VarScope,
};
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// SET, at that word.
    pub(super) fn set(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let scope = self.peek_scope();
        let transaction = match scope {
            Some(_) => self.peek() == Tok::Kw(Kw::TRANSACTION),
            None => self.at_kw(Kw::TRANSACTION),
        };
        if transaction {
            if scope.is_some() {
                self.bump();
            }
            self.bump();
            return self.set_transaction(scope.unwrap_or(VarScope::Unspecified));
        }
        match self.tok.kind {
            Tok::Kw(Kw::PASSWORD) if self.password_follows() => self.set_password(),
            Tok::Kw(Kw::ROLE) if !matches!(self.peek(), Tok::Eq | Tok::Assign) => self.set_role(),
            Tok::Kw(Kw::DEFAULT) => self.set_default_role(),
            Tok::Kw(Kw::RESOURCE) if self.peek() == Tok::Kw(Kw::GROUP) => {
                self.unsupported("SET RESOURCE GROUP")
            }
            _ => {
                // A scope is that of the items after it, too.
                let mut scope = VarScope::Unspecified;
                Ok(Statement::Set(self.list(|p| p.set_item(&mut scope))?))
            }
        }
    }

    /// The scope word at the current token.
    fn peek_scope(&self) -> Option<VarScope> {
        match self.tok.kind {
            Tok::Kw(Kw::GLOBAL) => Some(VarScope::Global),
            Tok::Kw(Kw::SESSION | Kw::LOCAL) => Some(VarScope::Session),
            Tok::Kw(Kw::PERSIST) => Some(VarScope::Persist),
            Tok::Kw(Kw::PERSIST_ONLY) => Some(VarScope::PersistOnly),
            _ => None,
        }
    }

    /// An item; `latest`: the scope of those before it.
    fn set_item(&mut self, latest: &mut VarScope) -> Result<SetItem<'a>> {
        match self.tok.kind {
            Tok::UserVar => {
                let name = self.user_var()?;
                self.assign_sign()?;
                return Ok(SetItem::User(name, self.expr()?));
            }
            Tok::AtAt => {
                self.bump();
                let var = self.system_var_name()?;
                return self.system_item(var);
            }
            Tok::Kw(Kw::NAMES) if !matches!(self.peek(), Tok::Eq | Tok::Assign) => return self.set_names(),
            _ => {}
        }
        let charset_value = self.at_kw(Kw::CHARSET) && !matches!(self.peek(), Tok::Eq | Tok::Assign);
        if (charset_value || !self.at_kw(Kw::CHARSET)) && self.eat_charset_words() {
            let charset = if self.eat_kw(Kw::DEFAULT) { None } else { Some(self.charset_name()?) };
            return Ok(SetItem::Charset(charset));
        }
        if let Some(scope) = self.peek_scope()
            && !matches!(self.peek(), Tok::Eq | Tok::Assign | Tok::Dot)
        {
            self.bump();
            *latest = scope;
        }
        let scope = *latest;
        let first = self.name()?;
        let var = if self.eat(Tok::Dot) {
            let name = self.name()?;
            self.prefixed_variable(scope, first, name)
        } else {
            SystemVar { scope, prefix: None, name: first }
        };
        self.system_item(var)
    }

    fn system_item(&mut self, var: SystemVar<'a>) -> Result<SetItem<'a>> {
        self.assign_sign()?;
        Ok(SetItem::System(var, self.set_value()?))
    }

    fn assign_sign(&mut self) -> Result<()> {
        if self.eat(Tok::Eq) {
            return Ok(());
        }
        self.expect(Tok::Assign).map(|_| ())
    }

    /// A value: an expression, or a word that is reserved elsewhere (ON, ALL, BINARY, ROW, SYSTEM).
    fn set_value(&mut self) -> Result<Expr<'a>> {
        if let Tok::Kw(kw @ (Kw::ON | Kw::ALL | Kw::BINARY | Kw::ROW | Kw::SYSTEM)) = self.tok.kind
            && matches!(self.peek(), Tok::Comma | Tok::Eof | Tok::Semicolon)
        {
            let pos = self.bump().start;
            return Ok(Self::leaf(ExprKind::Keyword(kw.as_str()), pos));
        }
        self.value_or_default()
    }

    /// `NAMES charset [COLLATE collation]` or `NAMES DEFAULT`.
    fn set_names(&mut self) -> Result<SetItem<'a>> {
        self.bump();
        if self.eat_kw(Kw::DEFAULT) {
            return Ok(SetItem::Names(None, None));
        }
        let charset = self.charset_name()?;
        let collation = if self.eat_kw(Kw::COLLATE) { Some(self.charset_name()?) } else { None };
        Ok(SetItem::Names(Some(charset), collation))
    }

    /// Characteristics after SET TRANSACTION.
    fn set_transaction(&mut self, scope: VarScope) -> Result<Statement<'a>> {
        let mut set = SetTransaction { scope, isolation: None, read_only: None };
        loop {
            if self.eat_kw(Kw::ISOLATION) && set.isolation.is_none() {
                self.expect_kw(Kw::LEVEL)?;
                set.isolation = Some(self.isolation_level()?);
            } else if self.at_kw(Kw::READ) && set.read_only.is_none() {
                self.bump();
                set.read_only = Some(self.access_mode()?);
            } else {
                return self.syntax();
            }
            if !self.eat(Tok::Comma) {
                return Ok(Statement::SetTransaction(set));
            }
        }
    }

    fn isolation_level(&mut self) -> Result<IsolationLevel> {
        if self.eat_kw(Kw::SERIALIZABLE) {
            return Ok(IsolationLevel::Serializable);
        }
        if self.eat_kw2(Kw::REPEATABLE, Kw::READ) {
            return Ok(IsolationLevel::RepeatableRead);
        }
        self.expect_kw(Kw::READ)?;
        if self.eat_kw(Kw::COMMITTED) {
            return Ok(IsolationLevel::ReadCommitted);
        }
        self.expect_kw(Kw::UNCOMMITTED)?;
        Ok(IsolationLevel::ReadUncommitted)
    }

    fn password_follows(&self) -> bool {
        matches!(self.peek(), Tok::Eq | Tok::Assign | Tok::Kw(Kw::FOR | Kw::TO))
    }

    fn set_password(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let account = if self.eat_kw(Kw::FOR) { Some(self.account()?) } else { None };
        let password = if self.eat_kw(Kw::TO) {
            if !self.eat_word("RANDOM") {
                return self.syntax();
            }
            None
        } else {
            self.assign_sign()?;
            Some(self.string()?)
        };
        let replace = if self.eat_kw(Kw::REPLACE) { Some(self.string()?) } else { None };
        let retains = self.eat_kw(Kw::RETAIN);
        if retains {
            self.expect_kw(Kw::CURRENT)?;
            self.expect_kw(Kw::PASSWORD)?;
        }
        Ok(Statement::SetPassword(self.alloc(SetPassword { account, password, replace, retains })))
    }

    // Prepared statements.

    /// PREPARE, at that word.
    pub(super) fn prepare(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let name = self.name()?;
        self.expect_kw(Kw::FROM)?;
        let source = if self.at(Tok::UserVar) {
            PrepareSource::UserVar(self.user_var()?)
        } else {
            PrepareSource::Text(self.string()?)
        };
        Ok(Statement::Prepare(self.alloc(Prepare { name, source })))
    }

    /// EXECUTE, at that word.
    pub(super) fn execute(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let name = self.name()?;
        let using = if self.eat_kw(Kw::USING) { self.list(Self::user_var)? } else { &[][..] };
        Ok(Statement::Execute(self.alloc(Execute { name, using })))
    }
}
