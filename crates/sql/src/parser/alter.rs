//! ALTER TABLE.

use bumpalo::collections::Vec as BumpVec;

use super::core::{Parser, Result};
use crate::ast::{Algorithm, AlterAction, AlterTable, ColumnPosition, LockOption, Statement};
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// ALTER TABLE, after those words.
    pub(super) fn alter_table(&mut self) -> Result<Statement<'a>> {
        let table = self.table_name()?;
        let mut actions = BumpVec::new_in(self.arena);
        let (mut algorithm, mut lock) = (None, None);
        while !matches!(self.tok.kind, Tok::Eof | Tok::Semicolon) {
            if !self.opt_algorithm_or_lock(&mut algorithm, &mut lock)? {
                actions.push(self.alter_action()?);
            }
            let is_option = matches!(actions.last(), Some(AlterAction::Option(_)));
            if !self.eat(Tok::Comma) && !self.at_uncommaed_action(is_option) {
                break;
            }
        }
        let actions = actions.into_bump_slice();
        Ok(Statement::AlterTable(self.alloc(AlterTable { table, actions, algorithm, lock })))
    }

    /// Whether an action begins without a comma before it: a table option after another, or PARTITION BY.
    fn at_uncommaed_action(&self, is_after_option: bool) -> bool {
        let option = matches!(
            self.tok.kind,
            Tok::Kw(
                Kw::ENGINE
                    | Kw::AUTO_INCREMENT
                    | Kw::COMMENT
                    | Kw::ROW_FORMAT
                    | Kw::DEFAULT
                    | Kw::CHARSET
                    | Kw::CHARACTER
                    | Kw::COLLATE
                    | Kw::KEY_BLOCK_SIZE
                    | Kw::STATS_PERSISTENT
                    | Kw::STATS_AUTO_RECALC
                    | Kw::STATS_SAMPLE_PAGES
                    | Kw::MAX_ROWS
                    | Kw::MIN_ROWS
            )
        );
        let is_partitioning = matches!(self.tok.kind, Tok::Kw(Kw::PARTITION | Kw::REMOVE));
        (option && is_after_option || is_partitioning) && self.prev_end < self.tok.start
    }

    /// `ALGORITHM [=] x` or `LOCK [=] x`, if one begins here.
    pub(super) fn opt_algorithm_or_lock(
        &mut self,
        algorithm: &mut Option<Algorithm>,
        lock: &mut Option<LockOption>,
    ) -> Result<bool> {
        if self.eat_kw(Kw::ALGORITHM) {
            self.eat(Tok::Eq);
            *algorithm = Some(self.algorithm()?);
        } else if self.eat_kw(Kw::LOCK) {
            self.eat(Tok::Eq);
            *lock = Some(self.lock_option()?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn algorithm(&mut self) -> Result<Algorithm> {
        let words = [
            ("DEFAULT", Algorithm::Default),
            ("INSTANT", Algorithm::Instant),
            ("INPLACE", Algorithm::Inplace),
            ("COPY", Algorithm::Copy),
        ];
        for (word, algorithm) in words {
            if self.eat_word(word) {
                return Ok(algorithm);
            }
        }
        self.syntax()
    }

    fn lock_option(&mut self) -> Result<LockOption> {
        let words = [
            ("DEFAULT", LockOption::Default),
            ("NONE", LockOption::None),
            ("SHARED", LockOption::Shared),
            ("EXCLUSIVE", LockOption::Exclusive),
        ];
        for (word, lock) in words {
            if self.eat_word(word) {
                return Ok(lock);
            }
        }
        self.syntax()
    }

    /// ORDER BY, after which no other action can be.
    fn alter_order(&mut self) -> Result<AlterAction<'a>> {
        self.bump();
        self.expect_kw(Kw::BY)?;
        let columns = self.list(|parser| {
            let column = parser.column_ref()?;
            let is_descending = parser.eat_kw(Kw::DESC);
            if !is_descending {
                parser.eat_kw(Kw::ASC);
            }
            Ok((column, is_descending))
        })?;
        Ok(AlterAction::OrderBy(columns))
    }

    fn alter_action(&mut self) -> Result<AlterAction<'a>> {
        if let Some(option) = self.opt_table_option()? {
            return Ok(AlterAction::Option(option));
        }
        let Tok::Kw(kw) = self.tok.kind else {
            return self.partition_action();
        };
        match kw {
            Kw::ADD => self.alter_add(),
            Kw::DROP => self.alter_drop(),
            Kw::MODIFY => {
                self.bump();
                self.eat_kw(Kw::COLUMN);
                let column = self.column_definition()?;
                Ok(AlterAction::ModifyColumn(column, self.column_position()?))
            }
            Kw::CHANGE => {
                self.bump();
                self.eat_kw(Kw::COLUMN);
                let old = self.name()?;
                let column = self.column_definition()?;
                Ok(AlterAction::ChangeColumn(old, column, self.column_position()?))
            }
            Kw::RENAME => self.alter_rename(),
            Kw::ALTER => self.alter_alter(),
            Kw::CONVERT => self.alter_convert(),
            Kw::ORDER => self.alter_order(),
            Kw::FORCE => {
                self.bump();
                Ok(AlterAction::Force)
            }
            Kw::ENABLE | Kw::DISABLE => {
                self.bump();
                self.expect_kw(Kw::KEYS)?;
                Ok(AlterAction::EnableKeys(kw == Kw::ENABLE))
            }
            Kw::WITH | Kw::WITHOUT => {
                self.bump();
                self.expect_kw(Kw::VALIDATION)?;
                Ok(AlterAction::Validation(kw == Kw::WITH))
            }
            Kw::DISCARD | Kw::IMPORT if self.peek() == Tok::Kw(Kw::TABLESPACE) => {
                self.bump();
                self.bump();
                Ok(AlterAction::Tablespace(kw == Kw::DISCARD))
            }
            _ => self.partition_action(),
        }
    }

    fn alter_add(&mut self) -> Result<AlterAction<'a>> {
        self.bump();
        if self.at_kw(Kw::PARTITION) {
            return self.partition_action();
        }
        if let Some(constraint) = self.opt_constraint()? {
            return Ok(AlterAction::AddConstraint(constraint));
        }
        self.eat_kw(Kw::COLUMN);
        if self.at(Tok::LParen) {
            let (columns, constraints) = self.paren_elements()?;
            return Ok(AlterAction::AddElements(columns, constraints));
        }
        let column = self.column_definition()?;
        Ok(AlterAction::AddColumn(column, self.column_position()?))
    }

    fn column_position(&mut self) -> Result<ColumnPosition<'a>> {
        if self.eat_kw(Kw::FIRST) {
            return Ok(ColumnPosition::First);
        }
        if self.eat_kw(Kw::AFTER) {
            return Ok(ColumnPosition::After(self.name()?));
        }
        Ok(ColumnPosition::Unchanged)
    }

    fn alter_drop(&mut self) -> Result<AlterAction<'a>> {
        self.bump();
        let Tok::Kw(kw) = self.tok.kind else {
            return Ok(AlterAction::DropColumn(self.name()?));
        };
        Ok(match kw {
            Kw::PRIMARY => {
                self.bump();
                self.expect_kw(Kw::KEY)?;
                AlterAction::DropPrimaryKey
            }
            Kw::KEY | Kw::INDEX => {
                self.bump();
                AlterAction::DropKey(self.key_name()?)
            }
            Kw::FOREIGN => {
                self.bump();
                self.expect_kw(Kw::KEY)?;
                AlterAction::DropForeignKey(self.name()?)
            }
            Kw::CHECK => {
                self.bump();
                AlterAction::DropCheck(self.name()?)
            }
            Kw::CONSTRAINT => {
                self.bump();
                AlterAction::DropConstraint(self.key_name()?)
            }
            Kw::PARTITION => return self.partition_action(),
            _ => {
                self.eat_kw(Kw::COLUMN);
                let name = self.name()?;
                let _ = self.eat_kw(Kw::RESTRICT) || self.eat_kw(Kw::CASCADE);
                AlterAction::DropColumn(name)
            }
        })
    }

    fn alter_rename(&mut self) -> Result<AlterAction<'a>> {
        self.bump();
        let column = self.eat_kw(Kw::COLUMN);
        if column || self.eat_kw(Kw::KEY) || self.eat_kw(Kw::INDEX) {
            let from = if column { self.name()? } else { self.key_name()? };
            self.expect_kw(Kw::TO)?;
            let to = self.name()?;
            return Ok(if column {
                AlterAction::RenameColumn(from, to)
            } else {
                AlterAction::RenameKey(from, to)
            });
        }
        let _ = self.eat_kw(Kw::TO) || self.eat_kw(Kw::AS) || self.eat(Tok::Eq);
        Ok(AlterAction::RenameTable(self.table_name()?))
    }

    /// ALTER [COLUMN] c .., ALTER INDEX i .., ALTER CHECK c ..
    fn alter_alter(&mut self) -> Result<AlterAction<'a>> {
        self.bump();
        if self.eat_kw(Kw::INDEX) {
            let name = self.key_name()?;
            return Ok(AlterAction::SetKeyVisible(name, self.visibility()?));
        }
        if self.eat_kw(Kw::CHECK) || self.eat_kw(Kw::CONSTRAINT) {
            let name = self.name()?;
            return match self.opt_enforced() {
                Some(enforced) => Ok(AlterAction::SetEnforced(name, enforced)),
                None => self.syntax(),
            };
        }
        self.eat_kw(Kw::COLUMN);
        let name = self.name()?;
        if self.eat_kw2(Kw::DROP, Kw::DEFAULT) {
            return Ok(AlterAction::DropDefault(name));
        }
        self.expect_kw(Kw::SET)?;
        if !self.eat_kw(Kw::DEFAULT) {
            return Ok(AlterAction::SetColumnVisible(name, self.visibility()?));
        }
        // Other than in a column's definition, CURRENT_TIMESTAMP is no default here.
        if let Tok::Kw(Kw::CURRENT_TIMESTAMP | Kw::LOCALTIME | Kw::LOCALTIMESTAMP | Kw::NOW) = self.tok.kind {
            return self.syntax();
        }
        let (value, parenthesised) = self.default_value()?;
        Ok(AlterAction::SetDefault(name, value, parenthesised))
    }

    fn visibility(&mut self) -> Result<bool> {
        let visible = self.eat_kw(Kw::VISIBLE);
        if !visible {
            self.expect_kw(Kw::INVISIBLE)?;
        }
        Ok(visible)
    }

    fn alter_convert(&mut self) -> Result<AlterAction<'a>> {
        self.bump();
        self.expect_kw(Kw::TO)?;
        if !self.eat_charset_words() {
            return self.syntax();
        }
        let charset = if self.eat_kw(Kw::DEFAULT) { None } else { Some(self.charset_name()?) };
        let collation = if self.eat_kw(Kw::COLLATE) {
            self.eat(Tok::Eq);
            Some(self.charset_name()?)
        } else {
            None
        };
        Ok(AlterAction::ConvertTo(charset, collation))
    }

    /// An action on partitions: recognised by its first word, and skipped to the end of the statement.
    fn partition_action(&mut self) -> Result<AlterAction<'a>> {
        let known = matches!(
            self.tok.kind,
            Tok::Kw(
                Kw::PARTITION
                    | Kw::REMOVE
                    | Kw::TRUNCATE
                    | Kw::REORGANIZE
                    | Kw::EXCHANGE
                    | Kw::ANALYZE
                    | Kw::CHECK
                    | Kw::OPTIMIZE
                    | Kw::REBUILD
                    | Kw::REPAIR
                    | Kw::DISCARD
                    | Kw::IMPORT
                    | Kw::SECONDARY_LOAD
                    | Kw::SECONDARY_UNLOAD
            )
        );
        if !known && !self.at_word("COALESCE") {
            return self.syntax();
        }
        self.skip_statement()?;
        Ok(AlterAction::Partition)
    }
}
