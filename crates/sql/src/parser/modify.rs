//! UPDATE, DELETE, LOAD DATA.

use super::core::{Parser, Result};
use crate::ast::{
    Delete, Limit, LoadData, LoadField, OnDuplicate, OrderItem, Priority, Statement, TableFactor, TableName,
    TableRef, Update, With,
};
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// UPDATE, at that word.
    pub(super) fn update(&mut self, with: Option<&'a With<'a>>) -> Result<Statement<'a>> {
        self.bump();
        let low_priority = self.eat_kw(Kw::LOW_PRIORITY);
        let ignore = self.eat_kw(Kw::IGNORE);
        let tables = self.list(Self::table_ref)?;
        self.expect_kw(Kw::SET)?;
        let set = self.list(Self::assignment)?;
        let filter = self.opt_where()?;
        let (order_by, limit) = match tables {
            [TableRef::Table(_)] => self.row_order_and_limit()?,
            _ => (&[][..], None),
        };
        let update = Update { with, low_priority, ignore, tables, set, filter, order_by, limit };
        Ok(Statement::Update(self.alloc(update)))
    }

    /// ORDER BY and `LIMIT n` of single-table UPDATE and DELETE.
    fn row_order_and_limit(&mut self) -> Result<(&'a [OrderItem<'a>], Option<&'a Limit<'a>>)> {
        let order_by = self.opt_order_by()?;
        let limit = if self.eat_kw(Kw::LIMIT) {
            let count = self.limit_value()?;
            Some(self.alloc(Limit { offset: None, count }))
        } else {
            None
        };
        Ok((order_by, limit))
    }

    /// DELETE, at that word: `FROM t ..`, `a, b FROM ..`, `FROM a, b USING ..`.
    pub(super) fn delete(&mut self, with: Option<&'a With<'a>>) -> Result<Statement<'a>> {
        self.bump();
        let mut delete = Delete {
            with,
            low_priority: false,
            quick: false,
            ignore: false,
            targets: &[],
            from: &[],
            filter: None,
            order_by: &[],
            limit: None,
        };
        loop {
            let flag = match self.tok.kind {
                Tok::Kw(Kw::LOW_PRIORITY) => &mut delete.low_priority,
                Tok::Kw(Kw::QUICK) => &mut delete.quick,
                Tok::Kw(Kw::IGNORE) => &mut delete.ignore,
                _ => break,
            };
            *flag = true;
            self.bump();
        }
        if self.eat_kw(Kw::FROM) {
            self.delete_from(&mut delete)?;
        } else {
            delete.targets = self.list(Self::delete_target)?;
            self.expect_kw(Kw::FROM)?;
            delete.from = self.list(Self::table_ref)?;
            delete.filter = self.opt_where()?;
        }
        Ok(Statement::Delete(self.alloc(delete)))
    }

    /// After DELETE FROM.
    fn delete_from(&mut self, delete: &mut Delete<'a>) -> Result<()> {
        let start = self.tok.start;
        let names = self.list(Self::delete_target)?;
        if self.eat_kw(Kw::USING) {
            delete.targets = names;
            delete.from = self.list(Self::table_ref)?;
            delete.filter = self.opt_where()?;
            return Ok(());
        }
        let written = &self.text[start as usize..self.prev_end as usize];
        let [name] = *names else {
            return self.syntax();
        };
        if written.ends_with(b"*") {
            return self.syntax();
        }
        let alias = self.opt_table_alias()?;
        let partitions = self.opt_partitions()?;
        let table = TableFactor { name, partitions, alias, hints: &[] };
        delete.from = std::slice::from_ref(self.alloc(TableRef::Table(self.alloc(table))));
        delete.filter = self.opt_where()?;
        (delete.order_by, delete.limit) = self.row_order_and_limit()?;
        Ok(())
    }

    /// LOAD DATA or LOAD XML, at LOAD.
    pub(super) fn load_data(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let xml = self.eat_kw(Kw::XML);
        if !xml {
            self.expect_kw(Kw::DATA)?;
        }
        let priority = if self.eat_kw(Kw::LOW_PRIORITY) {
            Priority::Low
        } else {
            self.eat_kw(Kw::CONCURRENT);
            Priority::Normal
        };
        let local = self.eat_kw(Kw::LOCAL);
        self.expect_kw(Kw::INFILE)?;
        let path = self.string()?;
        let on_duplicate = self.on_duplicate_word();
        self.expect_kw(Kw::INTO)?;
        self.expect_kw(Kw::TABLE)?;
        let table = self.table_name()?;
        let mut load = empty_load(path, table);
        (load.xml, load.local, load.priority, load.on_duplicate) = (xml, local, priority, on_duplicate);
        load.partitions = self.opt_partitions()?;
        self.load_options(&mut load)?;
        Ok(Statement::LoadData(self.alloc(load)))
    }

    /// IGNORE or REPLACE, if given.
    pub(super) fn on_duplicate_word(&mut self) -> OnDuplicate {
        if self.eat_kw(Kw::REPLACE) {
            OnDuplicate::Replace
        } else if self.eat_kw(Kw::IGNORE) {
            OnDuplicate::Ignore
        } else {
            OnDuplicate::Error
        }
    }

    fn load_options(&mut self, load: &mut LoadData<'a>) -> Result<()> {
        if self.eat_charset_words() {
            load.charset = Some(self.charset_name()?);
        }
        if load.xml && self.eat_kw(Kw::ROWS) {
            self.expect_kw(Kw::IDENTIFIED)?;
            self.expect_kw(Kw::BY)?;
            self.string()?;
        }
        load.format = self.text_format()?;
        if self.eat_kw(Kw::IGNORE) {
            load.skip_lines = self.number()?;
            if !self.eat_kw(Kw::LINES) {
                self.expect_kw(Kw::ROWS)?;
            }
        }
        if self.at(Tok::LParen) && self.peek() == Tok::RParen {
            self.bump();
            self.bump();
        } else if self.at(Tok::LParen) {
            load.fields = self.paren_list(|p| {
                if p.at(Tok::UserVar) {
                    return Ok(LoadField::UserVar(p.user_var()?));
                }
                Ok(LoadField::Column(p.column_ref()?))
            })?;
        }
        if self.eat_kw(Kw::SET) {
            load.set = self.list(Self::assignment)?;
        }
        Ok(())
    }
}

fn empty_load<'a>(path: &'a str, table: TableName<'a>) -> LoadData<'a> {
    LoadData {
        xml: false,
        local: false,
        priority: Priority::Normal,
        path,
        on_duplicate: OnDuplicate::Error,
        table,
        partitions: &[],
        charset: None,
        format: crate::ast::TextFormat::default(),
        skip_lines: 0,
        fields: &[],
        set: &[],
    }
}
