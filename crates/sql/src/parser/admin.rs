//! KILL, FLUSH, table maintenance, LOCK TABLES, CALL.

use super::core::{Parser, Result};
use crate::ast::{
    Call, Flush, FlushTarget, Kill, LockTable, Maintain, MaintainKind, MaintainOptions, Statement,
};
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// KILL, at that word.
    pub(super) fn kill(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let query = self.eat_kw(Kw::QUERY);
        if !query {
            self.eat_kw(Kw::CONNECTION);
        }
        let id = self.expr()?;
        Ok(Statement::Kill(self.alloc(Kill { query, id })))
    }

    /// FLUSH, at that word.
    pub(super) fn flush(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let _ = self.eat_kw(Kw::LOCAL) || self.eat_kw(Kw::NO_WRITE_TO_BINLOG);
        let targets = if self.at_kw(Kw::TABLES) || self.at_kw(Kw::TABLE) {
            let target = self.flush_tables()?;
            std::slice::from_ref(self.alloc(target))
        } else {
            self.list(Self::flush_target)?
        };
        Ok(Statement::Flush(self.alloc(Flush { targets })))
    }

    fn flush_tables(&mut self) -> Result<FlushTarget<'a>> {
        self.bump();
        let tables = if self.at_name() { self.list(Self::table_name)? } else { &[][..] };
        if self.eat_kw(Kw::WITH) {
            self.expect_kw(Kw::READ)?;
            self.expect_kw(Kw::LOCK)?;
            return Ok(FlushTarget::TablesWithReadLock(tables));
        }
        if !tables.is_empty() && self.eat_kw(Kw::FOR) {
            self.expect_kw(Kw::EXPORT)?;
            return Ok(FlushTarget::TablesForExport(tables));
        }
        Ok(FlushTarget::Tables(tables))
    }

    fn flush_target(&mut self) -> Result<FlushTarget<'a>> {
        let Tok::Kw(kw) = self.tok.kind else {
            return self.syntax();
        };
        self.bump();
        Ok(match kw {
            Kw::PRIVILEGES => FlushTarget::Privileges,
            Kw::STATUS => FlushTarget::Status,
            Kw::LOGS => FlushTarget::Logs,
            Kw::BINARY | Kw::ENGINE | Kw::ERROR | Kw::GENERAL | Kw::SLOW | Kw::RELAY => {
                self.expect_kw(Kw::LOGS)?;
                FlushTarget::Logs
            }
            Kw::HOSTS => FlushTarget::Hosts,
            Kw::USER_RESOURCES => FlushTarget::UserResources,
            Kw::OPTIMIZER_COSTS => FlushTarget::OptimizerCosts,
            _ => return self.syntax(),
        })
    }

    /// ANALYZE, CHECK, OPTIMIZE, REPAIR or CHECKSUM TABLE, at the first word.
    pub(super) fn maintain(&mut self, kind: MaintainKind) -> Result<Statement<'a>> {
        self.bump();
        let _ = self.eat_kw(Kw::LOCAL) || self.eat_kw(Kw::NO_WRITE_TO_BINLOG);
        if !self.eat_kw(Kw::TABLES) {
            self.expect_kw(Kw::TABLE)?;
        }
        let tables = self.list(Self::table_name)?;
        let mut options = MaintainOptions::default();
        let mut histogram = false;
        if kind == MaintainKind::Analyze && (self.at_kw(Kw::UPDATE) || self.at_kw(Kw::DROP)) {
            self.bump();
            self.expect_kw(Kw::HISTOGRAM)?;
            self.skip_statement()?;
            histogram = true;
        }
        while let Tok::Kw(kw) = self.tok.kind {
            let flag = match kw {
                Kw::QUICK => &mut options.quick,
                Kw::FAST => &mut options.fast,
                Kw::MEDIUM => &mut options.medium,
                Kw::EXTENDED => &mut options.extended,
                Kw::CHANGED => &mut options.changed,
                Kw::USE_FRM => &mut options.use_frm,
                Kw::FOR if self.peek() == Tok::Kw(Kw::UPGRADE) => {
                    self.bump();
                    &mut options.for_upgrade
                }
                _ => break,
            };
            *flag = true;
            self.bump();
        }
        Ok(Statement::Maintain(self.alloc(Maintain { kind, tables, options, histogram })))
    }

    /// ALTER INSTANCE, at INSTANCE: RELOAD TLS for the server's own clients.
    pub(super) fn alter_instance(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if !self.eat_kw2(Kw::RELOAD, Kw::TLS) {
            return self.unsupported("ALTER INSTANCE");
        }
        if self.eat_kw2(Kw::FOR, Kw::CHANNEL) && self.name()? != "mysql_main" {
            return self.unsupported("ALTER INSTANCE for a channel");
        }
        let keeps_errors = self.eat_kw2(Kw::NO, Kw::ROLLBACK);
        if keeps_errors {
            self.expect_kw(Kw::ON)?;
            self.expect_kw(Kw::ERROR)?;
        }
        Ok(Statement::ReloadTls(keeps_errors))
    }

    /// LOCK TABLES, LOCK INSTANCE, at LOCK.
    pub(super) fn lock(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if self.at_kw(Kw::INSTANCE) {
            return self.unsupported("LOCK INSTANCE");
        }
        if !self.eat_kw(Kw::TABLES) {
            self.expect_kw(Kw::TABLE)?;
        }
        let tables = self.list(|p| {
            let table = p.table_name()?;
            let alias = p.opt_table_alias()?;
            if p.eat_kw(Kw::READ) {
                let relaxed = p.eat_kw(Kw::LOCAL);
                return Ok(LockTable { table, alias, write: false, relaxed });
            }
            let relaxed = p.eat_kw(Kw::LOW_PRIORITY);
            p.expect_kw(Kw::WRITE)?;
            Ok(LockTable { table, alias, write: true, relaxed })
        })?;
        Ok(Statement::LockTables(tables))
    }

    /// UNLOCK TABLES, UNLOCK INSTANCE, at UNLOCK.
    pub(super) fn unlock(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if self.at_kw(Kw::INSTANCE) {
            return self.unsupported("UNLOCK INSTANCE");
        }
        if !self.eat_kw(Kw::TABLES) {
            self.expect_kw(Kw::TABLE)?;
        }
        Ok(Statement::UnlockTables)
    }

    /// CALL, at that word.
    pub(super) fn call_procedure(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let procedure = self.table_name()?;
        let mut args: &[_] = &[];
        if self.eat(Tok::LParen) {
            if !self.at(Tok::RParen) {
                args = self.list(Self::expr)?;
            }
            self.expect(Tok::RParen)?;
        }
        Ok(Statement::Call(self.alloc(Call { procedure, args })))
    }
}
