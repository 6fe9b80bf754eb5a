//! Databases, indexes, DROP, RENAME, TRUNCATE.

use bumpalo::collections::Vec as BumpVec;

use super::core::{Parser, Result};
use crate::ast::{
    AlterDatabase, CreateDatabase, CreateIndex, DatabaseOption, DropDatabase, DropIndex, DropProgram,
    DropTable, KeyKind, KeyOptions, ProgramKind, Statement,
};
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// CREATE DATABASE, after those words.
    pub(super) fn create_database(&mut self) -> Result<Statement<'a>> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.name()?;
        let options = self.database_options()?;
        Ok(Statement::CreateDatabase(self.alloc(CreateDatabase { name, if_not_exists, options })))
    }

    /// ALTER DATABASE, after those words.
    pub(super) fn alter_database(&mut self) -> Result<Statement<'a>> {
        let begins_option = matches!(
            self.tok.kind,
            Tok::Kw(Kw::CHARSET | Kw::CHARACTER | Kw::COLLATE | Kw::DEFAULT | Kw::ENCRYPTION | Kw::READ)
        );
        let name = if begins_option { None } else { Some(self.name()?) };
        let options = self.database_options()?;
        if options.is_empty() {
            return self.syntax();
        }
        Ok(Statement::AlterDatabase(self.alloc(AlterDatabase { name, options })))
    }

    fn database_options(&mut self) -> Result<&'a [DatabaseOption<'a>]> {
        let mut options = BumpVec::new_in(self.arena);
        while !matches!(self.tok.kind, Tok::Eof | Tok::Semicolon) {
            self.eat_kw(Kw::DEFAULT);
            let option = if self.eat_charset_words() {
                self.eat(Tok::Eq);
                DatabaseOption::Charset(self.charset_name()?)
            } else if self.at_kw(Kw::COLLATE) {
                DatabaseOption::Collate(self.option_value(Self::charset_name)?)
            } else if self.at_kw(Kw::ENCRYPTION) {
                DatabaseOption::Encryption(self.option_value(Self::string)?)
            } else if self.eat_kw(Kw::READ) {
                self.expect_kw(Kw::ONLY)?;
                self.eat(Tok::Eq);
                let value = if self.eat_kw(Kw::DEFAULT) { None } else { Some(self.number()? != 0) };
                DatabaseOption::ReadOnly(value)
            } else {
                return self.syntax();
            };
            options.push(option);
        }
        Ok(options.into_bump_slice())
    }

    /// DROP DATABASE, after those words.
    pub(super) fn drop_database(&mut self) -> Result<Statement<'a>> {
        let if_exists = self.if_exists()?;
        let name = self.name()?;
        Ok(Statement::DropDatabase(self.alloc(DropDatabase { name, if_exists })))
    }

    /// Tables of DROP TABLE or DROP VIEW, after those words.
    pub(super) fn drop_tables(&mut self, temporary: bool) -> Result<&'a DropTable<'a>> {
        let if_exists = self.if_exists()?;
        let tables = self.list(Self::table_name)?;
        let _ = self.eat_kw(Kw::RESTRICT) || self.eat_kw(Kw::CASCADE);
        Ok(self.alloc(DropTable { temporary, if_exists, tables }))
    }

    /// DROP of a stored program, after those words.
    pub(super) fn drop_program(&mut self, kind: ProgramKind) -> Result<Statement<'a>> {
        let if_exists = self.if_exists()?;
        let name = self.table_name()?;
        Ok(Statement::DropProgram(self.alloc(DropProgram { kind, if_exists, name })))
    }

    /// RENAME TABLE, after those words.
    pub(super) fn rename_table(&mut self) -> Result<Statement<'a>> {
        let pairs = self.list(|p| {
            let from = p.table_name()?;
            p.expect_kw(Kw::TO)?;
            Ok((from, p.table_name()?))
        })?;
        Ok(Statement::RenameTable(pairs))
    }

    /// TRUNCATE, at that word.
    pub(super) fn truncate(&mut self) -> Result<Statement<'a>> {
        self.bump();
        self.eat_kw(Kw::TABLE);
        Ok(Statement::Truncate(self.table_name()?))
    }

    /// CREATE [kind] INDEX, after INDEX.
    pub(super) fn create_index(&mut self, kind: KeyKind) -> Result<Statement<'a>> {
        let name = self.name()?;
        let mut options = KeyOptions::default();
        self.opt_index_type(&mut options)?;
        self.expect_kw(Kw::ON)?;
        let table = self.table_name()?;
        let parts = self.key_parts()?;
        self.key_options(&mut options)?;
        let (mut algorithm, mut lock) = (None, None);
        while self.opt_algorithm_or_lock(&mut algorithm, &mut lock)? {}
        let index = CreateIndex { kind, name, table, parts, options, algorithm, lock };
        Ok(Statement::CreateIndex(self.alloc(index)))
    }

    /// DROP INDEX, after those words.
    pub(super) fn drop_index(&mut self) -> Result<Statement<'a>> {
        let name = self.key_name()?;
        self.expect_kw(Kw::ON)?;
        let table = self.table_name()?;
        let (mut algorithm, mut lock) = (None, None);
        while self.opt_algorithm_or_lock(&mut algorithm, &mut lock)? {}
        Ok(Statement::DropIndex(self.alloc(DropIndex { name, table, algorithm, lock })))
    }
}
