//! Dispatch on a statement's first words.

use super::core::{Parser, Result};
use crate::ast::{KeyKind, MaintainKind, ProgramKind, Statement};
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// One statement, without its `;`.
    pub(super) fn statement(&mut self) -> Result<Statement<'a>> {
        let kw = match self.tok.kind {
            Tok::Kw(kw) => kw,
            Tok::LParen => return Ok(Statement::Query(self.query()?)),
            _ => return self.syntax(),
        };
        match kw {
            Kw::SELECT | Kw::VALUES | Kw::TABLE => Ok(Statement::Query(self.query()?)),
            Kw::INSERT | Kw::REPLACE => self.insert(),
            Kw::UPDATE => self.update(None),
            Kw::DELETE => self.delete(None),
            Kw::WITH => self.with_statement(),
            Kw::LOAD => self.load(),
            Kw::CREATE => self.create(),
            Kw::ALTER => self.alter(),
            Kw::DROP => self.drop(),
            Kw::TRUNCATE => self.truncate(),
            Kw::RENAME => self.rename(),
            Kw::DO => {
                self.bump();
                Ok(Statement::Do(self.list(Self::expr)?))
            }
            Kw::SET => self.set(),
            Kw::SHOW => self.show(),
            Kw::DESCRIBE | Kw::DESC | Kw::EXPLAIN => self.describe(),
            Kw::GRANT => self.grant(),
            Kw::REVOKE => self.revoke(),
            Kw::CALL => self.call_procedure(),
            Kw::ANALYZE => self.maintain(MaintainKind::Analyze),
            Kw::CHECK => self.maintain(MaintainKind::Check),
            Kw::OPTIMIZE => self.maintain(MaintainKind::Optimize),
            Kw::REPAIR => self.maintain(MaintainKind::Repair),
            Kw::CHECKSUM => self.maintain(MaintainKind::Checksum),
            _ => self.session_statement(kw),
        }
    }

    fn session_statement(&mut self, kw: Kw) -> Result<Statement<'a>> {
        match kw {
            Kw::BEGIN => {
                self.bump();
                self.eat_kw(Kw::WORK);
                Ok(Statement::Begin(crate::ast::Begin::default()))
            }
            Kw::START => self.start(),
            Kw::COMMIT => {
                self.bump();
                Ok(Statement::Commit(self.completion()?))
            }
            Kw::ROLLBACK => self.rollback(),
            Kw::SAVEPOINT => {
                self.bump();
                Ok(Statement::Savepoint(self.name()?))
            }
            Kw::RELEASE => {
                self.bump();
                self.expect_kw(Kw::SAVEPOINT)?;
                Ok(Statement::ReleaseSavepoint(self.name()?))
            }
            Kw::USE => {
                self.bump();
                Ok(Statement::Use(self.name()?))
            }
            Kw::PREPARE => self.prepare(),
            Kw::EXECUTE => self.execute(),
            Kw::DEALLOCATE => {
                self.bump();
                self.expect_kw(Kw::PREPARE)?;
                Ok(Statement::Deallocate(self.name()?))
            }
            Kw::KILL => self.kill(),
            Kw::FLUSH => self.flush(),
            Kw::LOCK => self.lock(),
            Kw::UNLOCK => self.unlock(),
            Kw::INSTALL => self.component(true),
            Kw::UNINSTALL => self.component(false),
            Kw::SHUTDOWN => {
                self.bump();
                Ok(Statement::Shutdown)
            }
            _ => match self.recognised(kw)? {
                Some(statement) => Ok(statement),
                None => self.syntax(),
            },
        }
    }

    /// WITH before SELECT, UPDATE or DELETE.
    fn with_statement(&mut self) -> Result<Statement<'a>> {
        let with = self.opt_with()?;
        match self.tok.kind {
            Tok::Kw(Kw::UPDATE) => self.update(with),
            Tok::Kw(Kw::DELETE) => self.delete(with),
            _ => Ok(Statement::Query(self.query_with(with)?)),
        }
    }

    fn start(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if self.eat_kw(Kw::TRANSACTION) {
            return self.start_transaction();
        }
        match self.tok.kind {
            Tok::Kw(Kw::REPLICA | Kw::GROUP_REPLICATION) => self.unsupported("START REPLICA"),
            _ => self.syntax(),
        }
    }

    fn load(&mut self) -> Result<Statement<'a>> {
        if self.peek() == Tok::Kw(Kw::INDEX) {
            self.bump();
            return self.unsupported("LOAD INDEX INTO CACHE");
        }
        self.load_data()
    }

    fn rename(&mut self) -> Result<Statement<'a>> {
        self.bump();
        if self.eat_kw(Kw::USER) {
            return self.rename_user();
        }
        if !self.eat_kw(Kw::TABLE) {
            self.expect_kw(Kw::TABLES)?;
        }
        self.rename_table()
    }

    fn create(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let Tok::Kw(kw) = self.tok.kind else {
            return self.syntax();
        };
        match kw {
            Kw::TABLE => {
                self.bump();
                self.create_table(false)
            }
            Kw::TEMPORARY => {
                self.bump();
                self.expect_kw(Kw::TABLE)?;
                self.create_table(true)
            }
            Kw::DATABASE | Kw::SCHEMA => {
                self.bump();
                self.create_database()
            }
            Kw::INDEX => self.create_index_kind(KeyKind::Plain, false),
            Kw::UNIQUE => self.create_index_kind(KeyKind::Unique, true),
            Kw::FULLTEXT => self.create_index_kind(KeyKind::FullText, true),
            Kw::SPATIAL if self.peek() == Tok::Kw(Kw::INDEX) => {
                self.create_index_kind(KeyKind::Spatial, true)
            }
            Kw::USER => {
                self.bump();
                self.user_statement(false)
            }
            Kw::ROLE => {
                self.bump();
                self.create_role()
            }
            Kw::SERVER => self.unsupported("CREATE SERVER"),
            Kw::TABLESPACE | Kw::UNDO => self.unsupported("CREATE TABLESPACE"),
            Kw::LOGFILE => self.unsupported("CREATE LOGFILE GROUP"),
            Kw::RESOURCE => self.unsupported("CREATE RESOURCE GROUP"),
            Kw::SPATIAL => self.unsupported("CREATE SPATIAL REFERENCE SYSTEM"),
            _ => self.program_statement([
                "CREATE VIEW",
                "CREATE TRIGGER",
                "CREATE PROCEDURE",
                "CREATE FUNCTION",
                "CREATE EVENT",
            ]),
        }
    }

    fn create_index_kind(&mut self, kind: KeyKind, has_word: bool) -> Result<Statement<'a>> {
        if has_word {
            self.bump();
        }
        self.expect_kw(Kw::INDEX)?;
        self.create_index(kind)
    }

    fn alter(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let Tok::Kw(kw) = self.tok.kind else {
            return self.syntax();
        };
        match kw {
            Kw::TABLE => {
                self.bump();
                self.alter_table()
            }
            Kw::DATABASE | Kw::SCHEMA => {
                self.bump();
                self.alter_database()
            }
            Kw::USER => {
                self.bump();
                self.user_statement(true)
            }
            Kw::SERVER => self.unsupported("ALTER SERVER"),
            Kw::TABLESPACE | Kw::UNDO => self.unsupported("ALTER TABLESPACE"),
            Kw::LOGFILE => self.unsupported("ALTER LOGFILE GROUP"),
            Kw::RESOURCE => self.unsupported("ALTER RESOURCE GROUP"),
            Kw::INSTANCE => self.alter_instance(),
            _ => self.program_statement([
                "ALTER VIEW",
                "ALTER TRIGGER",
                "ALTER PROCEDURE",
                "ALTER FUNCTION",
                "ALTER EVENT",
            ]),
        }
    }

    fn drop(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let Tok::Kw(kw) = self.bump().kind else {
            return self.syntax();
        };
        match kw {
            Kw::TABLE | Kw::TABLES => Ok(Statement::DropTable(self.drop_tables(false)?)),
            Kw::TEMPORARY => {
                if !self.eat_kw(Kw::TABLES) {
                    self.expect_kw(Kw::TABLE)?;
                }
                Ok(Statement::DropTable(self.drop_tables(true)?))
            }
            Kw::VIEW => Ok(Statement::DropView(self.drop_tables(false)?)),
            Kw::DATABASE | Kw::SCHEMA => self.drop_database(),
            Kw::INDEX => self.drop_index(),
            Kw::USER | Kw::ROLE => self.drop_user(kw == Kw::ROLE),
            Kw::PREPARE => Ok(Statement::Deallocate(self.name()?)),
            Kw::TRIGGER => self.drop_program(ProgramKind::Trigger),
            Kw::PROCEDURE => self.drop_program(ProgramKind::Procedure),
            Kw::FUNCTION => self.drop_program(ProgramKind::Function),
            Kw::EVENT => self.drop_program(ProgramKind::Event),
            Kw::SERVER => self.unsupported("DROP SERVER"),
            Kw::TABLESPACE | Kw::UNDO => self.unsupported("DROP TABLESPACE"),
            Kw::LOGFILE => self.unsupported("DROP LOGFILE GROUP"),
            Kw::RESOURCE => self.unsupported("DROP RESOURCE GROUP"),
            Kw::SPATIAL => self.unsupported("DROP SPATIAL REFERENCE SYSTEM"),
            _ => self.syntax(),
        }
    }
}
