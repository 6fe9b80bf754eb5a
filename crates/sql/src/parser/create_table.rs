//! CREATE TABLE: its elements and options.

use bumpalo::collections::Vec as BumpVec;

use super::core::{Parser, Result};
use types::StorageHint;

use crate::ast::{ColumnDefinition, Constraint, CreateTable, OnDuplicate, Statement, TableOption};
use crate::lexer::{Kw, Tok};
use crate::literal::{IntValue, parse_int};

impl<'a> Parser<'a, '_> {
    /// CREATE TABLE, after those words.
    pub(super) fn create_table(&mut self, temporary: bool) -> Result<Statement<'a>> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.table_name()?;
        let mut table = CreateTable {
            temporary,
            if_not_exists,
            name,
            like: None,
            columns: &[],
            constraints: &[],
            options: &[],
            partitioned: false,
            query: None,
            on_duplicate: OnDuplicate::Error,
        };
        let like_in_parens = self.at(Tok::LParen) && self.peek() == Tok::Kw(Kw::LIKE);
        if self.at_kw(Kw::LIKE) || like_in_parens {
            self.eat(Tok::LParen);
            self.bump();
            table.like = Some(self.table_name()?);
            if like_in_parens {
                self.expect(Tok::RParen)?;
            }
        } else {
            self.create_table_rest(&mut table)?;
        }
        Ok(Statement::CreateTable(self.alloc(table)))
    }

    fn create_table_rest(&mut self, table: &mut CreateTable<'a>) -> Result<()> {
        let query_in_parens =
            matches!(self.peek(), Tok::Kw(Kw::SELECT | Kw::WITH | Kw::TABLE | Kw::VALUES) | Tok::LParen);
        if self.at(Tok::LParen) && !query_in_parens {
            (table.columns, table.constraints) = self.paren_elements()?;
        }
        table.options = self.table_options()?;
        if self.at_kw(Kw::PARTITION) {
            self.skip_partition_by()?;
            table.partitioned = true;
        }
        table.on_duplicate = self.on_duplicate_word();
        self.eat_kw(Kw::AS);
        if self.at_query() || self.at(Tok::LParen) {
            table.query = Some(self.query()?);
        } else if table.columns.is_empty() || table.on_duplicate != OnDuplicate::Error {
            return self.syntax();
        }
        Ok(())
    }

    /// `(element, ..)` of CREATE TABLE and ALTER TABLE ADD.
    pub(super) fn paren_elements(&mut self) -> Result<(&'a [ColumnDefinition<'a>], &'a [Constraint<'a>])> {
        self.expect(Tok::LParen)?;
        let mut columns = BumpVec::new_in(self.arena);
        let mut constraints = BumpVec::new_in(self.arena);
        loop {
            match self.opt_constraint()? {
                Some(constraint) => constraints.push(constraint),
                None => columns.push(self.column_definition()?),
            }
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::RParen)?;
        Ok((columns.into_bump_slice(), constraints.into_bump_slice()))
    }

    /// `PARTITION BY ..`: recognised, balanced parentheses and all, up to what may follow it.
    pub(super) fn skip_partition_by(&mut self) -> Result<()> {
        self.expect_kw(Kw::PARTITION)?;
        self.expect_kw(Kw::BY)?;
        loop {
            match self.tok.kind {
                Tok::LParen => self.skip_parens()?,
                Tok::Eof
                | Tok::Semicolon
                | Tok::Comma
                | Tok::Kw(Kw::SELECT | Kw::AS | Kw::IGNORE | Kw::REPLACE | Kw::WITH) => return Ok(()),
                Tok::RParen | Tok::Bad => return self.syntax(),
                _ => {
                    self.bump();
                }
            }
        }
    }

    fn table_options(&mut self) -> Result<&'a [TableOption<'a>]> {
        let mut options = BumpVec::new_in(self.arena);
        while let Some(option) = self.opt_table_option()? {
            options.push(option);
            self.eat(Tok::Comma);
        }
        Ok(options.into_bump_slice())
    }

    /// One table option, if one begins here.
    pub(super) fn opt_table_option(&mut self) -> Result<Option<TableOption<'a>>> {
        let default = self.at_kw(Kw::DEFAULT)
            && matches!(self.peek(), Tok::Kw(Kw::CHARSET | Kw::CHARACTER | Kw::CHAR | Kw::COLLATE));
        if default {
            self.bump();
        }
        if self.eat_charset_words() {
            self.eat(Tok::Eq);
            let charset = if self.eat_kw(Kw::DEFAULT) { "DEFAULT" } else { self.charset_name()? };
            return Ok(Some(TableOption::Charset(charset)));
        }
        let Tok::Kw(kw) = self.tok.kind else {
            return Ok(None);
        };
        let option = match kw {
            Kw::COLLATE => TableOption::Collate(self.option_value(Self::charset_name)?),
            Kw::ENGINE => TableOption::Engine(self.option_value(Self::name_or_string)?),
            Kw::AUTO_INCREMENT => TableOption::AutoIncrement(self.option_value(Self::number)?),
            Kw::COMMENT => TableOption::Comment(self.option_value(Self::string)?),
            Kw::ROW_FORMAT => TableOption::RowFormat(
                self.option_value(|p| if p.eat_kw(Kw::DEFAULT) { Ok("DEFAULT") } else { p.name() })?,
            ),
            Kw::COMPRESSION => TableOption::Compression(self.option_value(Self::string)?),
            Kw::UNION => {
                self.option_value(Self::skip_parens)?;
                TableOption::Other("UNION")
            }
            Kw::START if self.peek() == Tok::Kw(Kw::TRANSACTION) => {
                self.bump();
                self.bump();
                TableOption::Other("START TRANSACTION")
            }
            Kw::DATA | Kw::INDEX if self.peek() == Tok::Kw(Kw::DIRECTORY) => {
                self.bump();
                let path = self.option_value(Self::string)?;
                if kw == Kw::DATA {
                    TableOption::DataDirectory(path)
                } else {
                    TableOption::IndexDirectory(path)
                }
            }
            _ if hint_of(kw).is_some() => self.storage_hint(kw)?,
            _ if is_other_option(kw) => {
                self.option_value(Self::skip_option_value)?;
                TableOption::Other(kw.as_str())
            }
            _ => return Ok(None),
        };
        Ok(Some(option))
    }

    /// An option that is a number. Those of statistics and keys may be DEFAULT.
    fn storage_hint(&mut self, kw: Kw) -> Result<TableOption<'a>> {
        use StorageHint::{PackKeys, StatsAutoRecalc, StatsPersistent, StatsSamplePages};
        let Some(hint) = hint_of(kw) else { return self.syntax() };
        let range = match hint {
            PackKeys | StatsAutoRecalc | StatsPersistent => 0..=1,
            StatsSamplePages => 1..=u64::from(u16::MAX),
            StorageHint::KeyBlockSize => 0..=u64::from(u16::MAX),
            StorageHint::AvgRowLength => 0..=u64::from(u32::MAX),
            _ => 0..=u64::MAX,
        };
        let has_default = matches!(hint, PackKeys | StatsAutoRecalc | StatsPersistent | StatsSamplePages);
        let value = self.option_value(|parser| {
            if has_default && parser.eat_kw(Kw::DEFAULT) {
                return Ok(None);
            }
            let number = match parser.tok.kind {
                Tok::Int => parse_int(parser.slice(parser.tok)),
                _ => return parser.syntax(),
            };
            let number = match number {
                IntValue::Signed(v) => v as u64,
                IntValue::Unsigned(v) => v,
                IntValue::Big => u64::MAX,
            };
            if !range.contains(&number) {
                return parser.syntax();
            }
            parser.bump();
            Ok(Some(number))
        })?;
        Ok(TableOption::Hint(hint, value))
    }

    /// The value after an option's word and its optional `=`.
    pub(super) fn option_value<T>(&mut self, value: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.after_word(|p| {
            p.eat(Tok::Eq);
            value(p)
        })
    }

    /// A value right after the current word.
    pub(super) fn after_word<T>(&mut self, value: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.bump();
        value(self)
    }

    /// Takes a value of no interest: a number, string, name or DEFAULT.
    fn skip_option_value(&mut self) -> Result<()> {
        match self.tok.kind {
            Tok::Int | Tok::Str(_) | Tok::Kw(Kw::DEFAULT) => {
                self.bump();
                Ok(())
            }
            _ => self.name().map(|_| ()),
        }
    }

    /// `IF NOT EXISTS`.
    pub(super) fn if_not_exists(&mut self) -> Result<bool> {
        if !self.eat_kw(Kw::IF) {
            return Ok(false);
        }
        self.expect_kw(Kw::NOT)?;
        self.expect_kw(Kw::EXISTS)?;
        Ok(true)
    }

    /// `IF EXISTS`.
    pub(super) fn if_exists(&mut self) -> Result<bool> {
        if !self.eat_kw(Kw::IF) {
            return Ok(false);
        }
        self.expect_kw(Kw::EXISTS)?;
        Ok(true)
    }
}

/// The storage hint of this word.
fn hint_of(kw: Kw) -> Option<StorageHint> {
    Some(match kw {
        Kw::AVG_ROW_LENGTH => StorageHint::AvgRowLength,
        Kw::CHECKSUM | Kw::TABLE_CHECKSUM => StorageHint::Checksum,
        Kw::DELAY_KEY_WRITE => StorageHint::DelayKeyWrite,
        Kw::KEY_BLOCK_SIZE => StorageHint::KeyBlockSize,
        Kw::MAX_ROWS => StorageHint::MaxRows,
        Kw::MIN_ROWS => StorageHint::MinRows,
        Kw::PACK_KEYS => StorageHint::PackKeys,
        Kw::STATS_AUTO_RECALC => StorageHint::StatsAutoRecalc,
        Kw::STATS_PERSISTENT => StorageHint::StatsPersistent,
        Kw::STATS_SAMPLE_PAGES => StorageHint::StatsSamplePages,
        _ => return None,
    })
}

/// Table options that have no meaning here; their values are read and dropped.
fn is_other_option(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::AUTOEXTEND_SIZE
            | Kw::CONNECTION
            | Kw::ENCRYPTION
            | Kw::ENGINE_ATTRIBUTE
            | Kw::INSERT_METHOD
            | Kw::PASSWORD
            | Kw::SECONDARY_ENGINE
            | Kw::SECONDARY_ENGINE_ATTRIBUTE
            | Kw::STORAGE
            | Kw::TABLESPACE
    )
}
