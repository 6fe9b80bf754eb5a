//! Roles: CREATE ROLE, GRANT and REVOKE of roles, SET ROLE.

use super::core::{Parser, Result};
use crate::ast::{Account, RoleChoice, RoleStatement, Statement};
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// `role[@host]`. Words that are privileges, too, name a role in quotes only.
    fn role(&mut self) -> Result<Account<'a>> {
        let is_word = self.at_privilege()
            || matches!(self.tok.kind, Tok::Kw(Kw::CURRENT_USER | Kw::NONE | Kw::RESOURCE | Kw::RESTART));
        if is_word { self.syntax() } else { self.account() }
    }

    /// Whether the current token is a privilege, or begins one.
    fn at_privilege(&self) -> bool {
        matches!(
            self.tok.kind,
            Tok::Kw(
                Kw::ALTER
                    | Kw::CREATE
                    | Kw::DELETE
                    | Kw::DROP
                    | Kw::EVENT
                    | Kw::EXECUTE
                    | Kw::FILE
                    | Kw::GRANT
                    | Kw::INDEX
                    | Kw::INSERT
                    | Kw::LOCK
                    | Kw::PROCESS
                    | Kw::PROXY
                    | Kw::REFERENCES
                    | Kw::RELOAD
                    | Kw::REPLICATION
                    | Kw::SELECT
                    | Kw::SHOW
                    | Kw::SHUTDOWN
                    | Kw::SUPER
                    | Kw::TRIGGER
                    | Kw::UPDATE
                    | Kw::USAGE
            )
        )
    }

    /// A list of roles.
    pub(super) fn roles(&mut self) -> Result<&'a [Account<'a>]> {
        self.list(Self::role)
    }

    fn role_statement(&self, statement: RoleStatement<'a>) -> Statement<'a> {
        Statement::Role(self.alloc(statement))
    }

    /// CREATE ROLE, after those words.
    pub(super) fn create_role(&mut self) -> Result<Statement<'a>> {
        let if_not_exists = self.if_not_exists()?;
        let roles = self.roles()?;
        Ok(self.role_statement(RoleStatement::Create { if_not_exists, roles }))
    }

    /// Whether GRANT or REVOKE, after that word, is about roles: there is no ON before TO or FROM.
    pub(super) fn at_granted_roles(&self) -> bool {
        if self.at_kw(Kw::ALL) || self.at_kw(Kw::PROXY) {
            return false;
        }
        let mut lexer = self.ahead();
        let mut kind = self.tok.kind;
        loop {
            match kind {
                Tok::Kw(Kw::TO | Kw::FROM) => return true,
                Tok::Kw(Kw::ON) | Tok::Eof | Tok::Semicolon | Tok::Bad => return false,
                _ => kind = lexer.next().kind,
            }
        }
    }

    /// Roles in the place of privileges.
    fn granted_roles(&mut self) -> Result<&'a [Account<'a>]> {
        self.list(|p| if p.at_privilege() { p.illegal_authorization() } else { p.role() })
    }

    /// GRANT of roles, after that word.
    pub(super) fn grant_roles(&mut self) -> Result<Statement<'a>> {
        let roles = self.granted_roles()?;
        self.expect_kw(Kw::TO)?;
        let users = self.list(Self::account)?;
        let with_admin = self.eat_kw(Kw::WITH);
        if with_admin {
            self.expect_kw(Kw::ADMIN)?;
            self.expect_kw(Kw::OPTION)?;
        }
        Ok(self.role_statement(RoleStatement::Grant { roles, users, with_admin }))
    }

    /// REVOKE of roles, after that word and IF EXISTS.
    pub(super) fn revoke_roles(&mut self, if_exists: bool) -> Result<Statement<'a>> {
        let roles = self.granted_roles()?;
        self.expect_kw(Kw::FROM)?;
        let users = self.list(Self::account)?;
        let ignores_unknown = self.ignores_unknown_user()?;
        Ok(self.role_statement(RoleStatement::Revoke { if_exists, roles, users, ignores_unknown }))
    }

    /// SET ROLE, at the word ROLE.
    pub(super) fn set_role(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let choice = if self.eat_kw(Kw::DEFAULT) {
            RoleChoice::Default
        } else if self.eat_kw(Kw::ALL) {
            RoleChoice::All(if self.eat_kw(Kw::EXCEPT) { self.roles()? } else { &[] })
        } else {
            self.default_choice()?
        };
        Ok(self.role_statement(RoleStatement::Set(choice)))
    }

    /// SET DEFAULT ROLE, at the word DEFAULT.
    pub(super) fn set_default_role(&mut self) -> Result<Statement<'a>> {
        self.bump();
        self.expect_kw(Kw::ROLE)?;
        let roles = self.default_choice()?;
        self.expect_kw(Kw::TO)?;
        let users = self.roles()?;
        Ok(self.role_statement(RoleStatement::SetDefault { roles, users }))
    }

    /// ALTER USER .. DEFAULT ROLE, after the account.
    pub(super) fn alter_default_role(&mut self, account: Account<'a>) -> Result<Statement<'a>> {
        self.bump();
        self.expect_kw(Kw::ROLE)?;
        let roles = self.default_choice()?;
        let users = std::slice::from_ref(self.alloc(account));
        Ok(self.role_statement(RoleStatement::SetDefault { roles, users }))
    }

    /// NONE, ALL or roles.
    fn default_choice(&mut self) -> Result<RoleChoice<'a>> {
        if self.eat_kw(Kw::NONE) {
            return Ok(RoleChoice::None);
        }
        if self.eat_kw(Kw::ALL) {
            return Ok(RoleChoice::All(&[]));
        }
        Ok(RoleChoice::These(self.roles()?))
    }
}
