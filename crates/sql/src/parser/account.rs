//! Accounts, CREATE USER and related statements, GRANT and REVOKE.

use bumpalo::collections::String as BumpString;

use super::core::{Parser, Result};
use crate::ast::{
    Account, DropUser, Grant, GrantTarget, PasswordExpire, PasswordLockTime, Privilege, SecondPassword,
    Secret, Statement, TableName, UserAttribute, UserSpec, UserStatement,
};
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// `'user'@'host'`, `user`, `CURRENT_USER[()]`.
    pub(super) fn account(&mut self) -> Result<Account<'a>> {
        if self.eat_kw(Kw::CURRENT_USER) {
            if self.eat(Tok::LParen) {
                self.expect(Tok::RParen)?;
            }
            return Ok(Account::Current);
        }
        let user = self.name_or_string()?;
        let host = if self.at(Tok::UserVar) { Some(self.account_host()?) } else { None };
        Ok(Account::Named { user, host })
    }

    /// `@host`; the host may be apart from its `@`.
    fn account_host(&mut self) -> Result<&'a str> {
        if self.tok.end - self.tok.start > 1 {
            return self.user_var();
        }
        self.bump();
        self.name_or_string()
    }

    /// CREATE USER, ALTER USER, after those words.
    pub(super) fn user_statement(&mut self, alter: bool) -> Result<Statement<'a>> {
        let if_exists = if alter { self.if_exists()? } else { self.if_not_exists()? };
        if alter && self.at_kw(Kw::USER) && self.peek() == Tok::LParen {
            return self.alter_own_password(if_exists);
        }
        let users = self.list(|p| p.user_spec(alter))?;
        if let ([spec], Tok::Kw(Kw::DEFAULT)) = (users, self.tok.kind)
            && alter
            && spec.is_bare()
        {
            return self.alter_default_role(spec.account);
        }
        let mut user = UserStatement { if_exists, ..UserStatement::of(alter, users) };
        if !alter && self.eat_kw2(Kw::DEFAULT, Kw::ROLE) {
            user.default_roles = self.roles()?;
        }
        if self.eat_kw(Kw::REQUIRE) {
            user.require = Some(self.tls_requirement()?);
        }
        if self.eat_kw(Kw::WITH) {
            user.limits = self.resource_limits()?;
        }
        self.user_options(&mut user)?;
        Ok(Statement::User(self.alloc(user)))
    }

    /// `USER()` of ALTER USER and its password; no other account and no option follows.
    fn alter_own_password(&mut self, if_exists: bool) -> Result<Statement<'a>> {
        self.bump();
        self.expect(Tok::LParen)?;
        self.expect(Tok::RParen)?;
        let mut spec = UserSpec::of(Account::Current);
        if self.eat_kw(Kw::IDENTIFIED) {
            if !self.at_kw(Kw::BY) {
                return self.syntax();
            }
            spec.secret = self.secret()?;
        }
        self.former_passwords(&mut spec)?;
        if spec.is_bare() {
            return self.syntax();
        }
        let users = std::slice::from_ref(self.alloc(spec));
        Ok(Statement::User(self.alloc(UserStatement { if_exists, ..UserStatement::of(true, users) })))
    }

    /// An account and its password; `alter`: of ALTER USER, which may say more of the password.
    fn user_spec(&mut self, alter: bool) -> Result<UserSpec<'a>> {
        let mut spec = UserSpec::of(self.account()?);
        if self.eat_kw(Kw::IDENTIFIED) {
            if self.eat_kw(Kw::WITH) {
                spec.plugin = Some(self.name_or_string()?);
            }
            spec.secret = self.secret()?;
        }
        if alter {
            self.former_passwords(&mut spec)?;
        }
        while self.eat_kw(Kw::AND) {
            self.expect_kw(Kw::IDENTIFIED)?;
            if self.eat_kw(Kw::WITH) {
                self.name_or_string()?;
            }
            self.secret()?;
            spec.other_factors = true;
        }
        Ok(spec)
    }

    /// REPLACE, RETAIN CURRENT PASSWORD and DISCARD OLD PASSWORD, as far as they may follow `spec`.
    fn former_passwords(&mut self, spec: &mut UserSpec<'a>) -> Result<()> {
        let is_new = matches!(spec.secret, Secret::Password(_) | Secret::Random);
        if is_new && self.eat_kw(Kw::REPLACE) {
            spec.replace = Some(self.string()?);
        }
        let retains = spec.secret != Secret::None && self.eat_kw(Kw::RETAIN);
        let discards = spec.plugin.is_none() && spec.secret == Secret::None && self.eat_kw(Kw::DISCARD);
        if retains || discards {
            self.expect_kw(if retains { Kw::CURRENT } else { Kw::OLD })?;
            self.expect_kw(Kw::PASSWORD)?;
            spec.second = if retains { SecondPassword::Retain } else { SecondPassword::Discard };
        }
        Ok(())
    }

    fn secret(&mut self) -> Result<Secret<'a>> {
        if self.eat_kw(Kw::BY) {
            if self.eat_kw2(Kw::RANDOM, Kw::PASSWORD) {
                return Ok(Secret::Random);
            }
            return Ok(Secret::Password(self.string()?));
        }
        if self.eat_kw(Kw::AS) {
            return Ok(Secret::Hash(if self.at(Tok::Hex) { self.hex_text()? } else { self.string()? }));
        }
        Ok(Secret::None)
    }

    /// The text that a hexadecimal literal writes.
    fn hex_text(&mut self) -> Result<&'a str> {
        let offset = self.tok.start;
        let bytes = self.literal_bytes()?;
        self.utf8(bytes, offset)
    }

    fn user_options(&mut self, user: &mut UserStatement<'a>) -> Result<()> {
        while !matches!(self.tok.kind, Tok::Eof | Tok::Semicolon | Tok::Kw(Kw::COMMENT | Kw::ATTRIBUTE)) {
            if self.eat_kw(Kw::ACCOUNT) {
                let lock = self.eat_kw(Kw::LOCK);
                if !lock {
                    self.expect_kw(Kw::UNLOCK)?;
                }
                user.lock = Some(lock);
            } else if self.at_kw(Kw::PASSWORD) && self.peek() == Tok::Kw(Kw::EXPIRE) {
                self.bump();
                self.bump();
                user.password_expire = Some(self.password_expire()?);
            } else if self.eat_kw(Kw::FAILED_LOGIN_ATTEMPTS) {
                user.failed_login_attempts = Some(self.integer()?);
            } else if self.eat_kw(Kw::PASSWORD_LOCK_TIME) {
                let is_unbounded = self.eat_kw(Kw::UNBOUNDED);
                let days = if is_unbounded { None } else { Some(self.integer()?) };
                user.password_lock_time =
                    Some(days.map_or(PasswordLockTime::Unbounded, PasswordLockTime::Days));
            } else {
                self.other_user_option(user)?;
                user.other_options = true;
            }
        }
        // Nothing follows it.
        if self.eat_kw(Kw::COMMENT) {
            user.attribute = Some(UserAttribute::Comment(self.string()?));
        } else if self.eat_kw(Kw::ATTRIBUTE) {
            user.attribute = Some(UserAttribute::Attribute(self.string()?));
        }
        Ok(())
    }

    /// What follows PASSWORD EXPIRE.
    fn password_expire(&mut self) -> Result<PasswordExpire> {
        if self.eat_kw(Kw::NEVER) {
            return Ok(PasswordExpire::Never);
        }
        if self.eat_kw(Kw::DEFAULT) {
            return Ok(PasswordExpire::Default);
        }
        if !self.eat_kw(Kw::INTERVAL) {
            return Ok(PasswordExpire::Now);
        }
        Ok(PasswordExpire::Days(self.days()?))
    }

    /// What new passwords must be.
    fn other_user_option(&mut self, user: &mut UserStatement<'a>) -> Result<()> {
        self.expect_kw(Kw::PASSWORD)?;
        self.password_rule(&mut user.password_rules)
    }

    /// A number and DAY.
    pub(super) fn days(&mut self) -> Result<u64> {
        let days = self.integer()?;
        self.expect_kw(Kw::DAY)?;
        Ok(days)
    }

    /// DROP USER, DROP ROLE, after those words.
    pub(super) fn drop_user(&mut self, role: bool) -> Result<Statement<'a>> {
        let if_exists = self.if_exists()?;
        let users = if role { self.roles()? } else { self.list(Self::account)? };
        Ok(Statement::DropUser(self.alloc(DropUser { role, if_exists, users })))
    }

    /// RENAME USER, after those words.
    pub(super) fn rename_user(&mut self) -> Result<Statement<'a>> {
        let pairs = self.list(|p| {
            let from = p.account()?;
            p.expect_kw(Kw::TO)?;
            Ok((from, p.account()?))
        })?;
        Ok(Statement::RenameUser(pairs))
    }

    // GRANT and REVOKE.

    /// GRANT, at that word.
    pub(super) fn grant(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if self.at_granted_roles() {
            return self.grant_roles();
        }
        let mut grant = self.granted(false)?;
        self.expect_kw(Kw::TO)?;
        grant.users = self.list(Self::account)?;
        if self.eat_kw(Kw::WITH) {
            self.expect_kw(Kw::GRANT)?;
            self.expect_kw(Kw::OPTION)?;
            grant.grant_option = true;
        }
        if !matches!(grant.target, GrantTarget::Proxy(_)) && self.eat_kw(Kw::AS) {
            self.account()?;
            grant.is_as_other = true;
            if self.eat_kw2(Kw::WITH, Kw::ROLE) {
                self.skip_statement()?;
            }
        }
        Ok(Statement::Grant(self.alloc(grant)))
    }

    /// REVOKE, at that word.
    pub(super) fn revoke(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let if_exists = self.if_exists()?;
        if self.at_granted_roles() {
            return self.revoke_roles(if_exists);
        }
        let mut revoke = self.granted(true)?;
        self.expect_kw(Kw::FROM)?;
        revoke.users = self.list(Self::account)?;
        revoke.if_exists = if_exists;
        revoke.ignores_unknown = self.ignores_unknown_user()?;
        Ok(Statement::Revoke(self.alloc(revoke)))
    }

    pub(super) fn ignores_unknown_user(&mut self) -> Result<bool> {
        let ignores = self.eat_kw2(Kw::IGNORE, Kw::UNKNOWN);
        if ignores {
            self.expect_kw(Kw::USER)?;
        }
        Ok(ignores)
    }

    /// Privileges, and what they are on. `is_taken`: of REVOKE.
    fn granted(&mut self, is_taken: bool) -> Result<Grant<'a>> {
        let mut grant = Grant {
            privileges: &[],
            target: GrantTarget::Global,
            users: &[],
            grant_option: false,
            if_exists: false,
            ignores_unknown: false,
            is_as_other: false,
        };
        if self.eat_kw(Kw::PROXY) {
            self.expect_kw(Kw::ON)?;
            grant.target = GrantTarget::Proxy(self.account()?);
            return Ok(grant);
        }
        if self.eat_kw(Kw::ALL) {
            self.eat_kw(Kw::PRIVILEGES);
            if is_taken && self.eat(Tok::Comma) {
                self.expect_kw(Kw::GRANT)?;
                self.expect_kw(Kw::OPTION)?;
                grant.grant_option = true;
                return Ok(grant);
            }
        } else {
            grant.privileges = self.list(Self::privilege)?;
        }
        self.expect_kw(Kw::ON)?;
        grant.target = self.grant_target()?;
        Ok(grant)
    }

    /// Words up to `,`, `(`, ON, TO or FROM: a privilege.
    fn privilege(&mut self) -> Result<Privilege<'a>> {
        let mut name = BumpString::new_in(self.arena);
        loop {
            let word = match self.tok.kind {
                Tok::Kw(Kw::ON | Kw::TO | Kw::FROM) => break,
                Tok::Kw(_) | Tok::Word | Tok::Quoted => self.name_text(self.tok)?,
                Tok::Str(_) => {
                    name.push_str(self.string()?);
                    continue;
                }
                _ => break,
            };
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(word);
            self.bump();
        }
        if name.is_empty() {
            return self.syntax();
        }
        let has_columns = self.at(Tok::LParen) && may_have_columns(&name);
        let columns = if has_columns { self.paren_names()? } else { &[][..] };
        Ok(Privilege { name: name.into_bump_str(), columns })
    }

    fn grant_target(&mut self) -> Result<GrantTarget<'a>> {
        if self.eat_kw(Kw::PROCEDURE) || self.eat_kw(Kw::FUNCTION) {
            return Ok(GrantTarget::Routine(self.table_name()?));
        }
        self.eat_kw(Kw::TABLE);
        if self.eat(Tok::Star) {
            if self.eat(Tok::Dot) {
                self.expect(Tok::Star)?;
                return Ok(GrantTarget::Global);
            }
            return Ok(GrantTarget::CurrentSchema);
        }
        let pos = self.tok.start;
        let first = self.name()?;
        if !self.eat(Tok::Dot) {
            return Ok(GrantTarget::Table(TableName { schema: None, name: first, pos }));
        }
        if self.eat(Tok::Star) {
            return Ok(GrantTarget::Schema(first));
        }
        Ok(GrantTarget::Table(TableName { schema: Some(first), name: self.name()?, pos }))
    }
}

/// Whether a list of columns may follow a privilege of this name: after those that columns have, and after
/// what may be a dynamic one.
fn may_have_columns(name: &str) -> bool {
    let is_one_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let is_of_tables =
        is_one_of(&["USAGE", "DELETE", "CREATE", "DROP", "INDEX", "ALTER", "TRIGGER", "EVENT"]);
    let is_of_server = is_one_of(&["RELOAD", "SHUTDOWN", "PROCESS", "FILE", "SUPER", "EXECUTE"]);
    !(is_of_tables || is_of_server || name.contains(' '))
}
