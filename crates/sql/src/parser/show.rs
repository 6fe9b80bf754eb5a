//! SHOW, DESCRIBE, EXPLAIN.

use super::core::{Parser, Result};
use crate::ast::{
    Describe, Explain, ExplainFormat, ExplainTarget, Show, ShowFilter, ShowKind, Statement, TableName,
    VarScope,
};
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// SHOW, at that word.
    pub(super) fn show(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let extended = self.eat_kw(Kw::EXTENDED);
        let full = self.eat_kw(Kw::FULL);
        let scope = match self.tok.kind {
            Tok::Kw(Kw::GLOBAL) => Some(VarScope::Global),
            Tok::Kw(Kw::SESSION | Kw::LOCAL) => Some(VarScope::Session),
            _ => None,
        };
        if scope.is_some() {
            self.bump();
        }
        let mut show = Show {
            kind: ShowKind::Tables,
            full,
            extended,
            schema: None,
            filter: ShowFilter::None,
            limit: None,
        };
        show.kind = self.show_kind(&mut show, scope.unwrap_or(VarScope::Unspecified))?;
        if scope.is_some() && !matches!(show.kind, ShowKind::Variables(_) | ShowKind::Status(_)) {
            return self.syntax();
        }
        Ok(Statement::Show(self.alloc(show)))
    }

    fn show_kind(&mut self, show: &mut Show<'a>, scope: VarScope) -> Result<ShowKind<'a>> {
        let Tok::Kw(kw) = self.tok.kind else {
            return self.syntax();
        };
        self.bump();
        let kind = match kw {
            Kw::DATABASES | Kw::SCHEMAS => self.filtered(show, ShowKind::Databases)?,
            Kw::TABLES => self.in_schema(show, ShowKind::Tables)?,
            Kw::TRIGGERS => self.in_schema(show, ShowKind::Triggers)?,
            Kw::EVENTS => self.in_schema(show, ShowKind::Events)?,
            Kw::TABLE => {
                self.expect_kw(Kw::STATUS)?;
                self.in_schema(show, ShowKind::TableStatus)?
            }
            Kw::OPEN => {
                self.expect_kw(Kw::TABLES)?;
                self.in_schema(show, ShowKind::OpenTables)?
            }
            Kw::COLUMNS | Kw::FIELDS => {
                let table = self.of_table()?;
                self.filtered(show, ShowKind::Columns(table))?
            }
            Kw::INDEX | Kw::INDEXES | Kw::KEYS => {
                let table = self.of_table()?;
                self.filtered(show, ShowKind::Index(table))?
            }
            Kw::VARIABLES => self.filtered(show, ShowKind::Variables(scope))?,
            Kw::STATUS => self.filtered(show, ShowKind::Status(scope))?,
            Kw::PROCESSLIST => ShowKind::ProcessList,
            Kw::CREATE => self.show_create()?,
            Kw::WARNINGS | Kw::ERRORS => {
                show.limit = self.opt_limit()?;
                if kw == Kw::WARNINGS { ShowKind::Warnings } else { ShowKind::Errors }
            }
            Kw::COUNT => self.show_count()?,
            Kw::STORAGE => {
                self.expect_kw(Kw::ENGINES)?;
                ShowKind::Engines
            }
            Kw::ENGINES => ShowKind::Engines,
            Kw::ENGINE => self.show_engine()?,
            Kw::CHARSET => self.filtered(show, ShowKind::Charset)?,
            Kw::CHARACTER | Kw::CHAR => {
                self.expect_kw(Kw::SET)?;
                self.filtered(show, ShowKind::Charset)?
            }
            Kw::COLLATION => self.filtered(show, ShowKind::Collation)?,
            _ => self.show_server(show, kw)?,
        };
        Ok(kind)
    }

    /// SHOW of server-wide things, after its first word `kw`.
    fn show_server(&mut self, show: &mut Show<'a>, kw: Kw) -> Result<ShowKind<'a>> {
        Ok(match kw {
            Kw::PRIVILEGES => ShowKind::Privileges,
            Kw::PLUGINS => ShowKind::Plugins,
            Kw::PROFILES => ShowKind::Profiles,
            Kw::GRANTS => self.show_grants()?,
            Kw::PROCEDURE | Kw::FUNCTION => self.show_programs(show, kw)?,
            Kw::BINARY if self.eat_kw2(Kw::LOG, Kw::STATUS) => ShowKind::BinaryLogStatus,
            Kw::BINARY | Kw::MASTER if self.eat_kw(Kw::LOGS) => ShowKind::BinaryLogs,
            Kw::MASTER if self.eat_kw(Kw::STATUS) => ShowKind::BinaryLogStatus,
            Kw::BINLOG | Kw::RELAYLOG if self.eat_kw(Kw::EVENTS) => self.skipped(ShowKind::BinlogEvents)?,
            Kw::REPLICA | Kw::SLAVE if self.eat_kw(Kw::STATUS) => self.skipped(ShowKind::ReplicaStatus)?,
            Kw::SLAVE if self.eat_kw(Kw::HOSTS) => ShowKind::Replicas,
            Kw::REPLICAS => ShowKind::Replicas,
            Kw::PROFILE => self.skipped(ShowKind::Profile)?,
            _ => return self.syntax(),
        })
    }

    fn skipped(&mut self, kind: ShowKind<'a>) -> Result<ShowKind<'a>> {
        self.skip_statement()?;
        Ok(kind)
    }

    /// LIKE or WHERE.
    fn filtered(&mut self, show: &mut Show<'a>, kind: ShowKind<'a>) -> Result<ShowKind<'a>> {
        if self.eat_kw(Kw::LIKE) {
            show.filter = ShowFilter::Like(self.string()?);
        } else if self.eat_kw(Kw::WHERE) {
            show.filter = ShowFilter::Where(self.expr()?);
        }
        Ok(kind)
    }

    /// FROM schema, then LIKE or WHERE.
    fn in_schema(&mut self, show: &mut Show<'a>, kind: ShowKind<'a>) -> Result<ShowKind<'a>> {
        if self.eat_kw(Kw::FROM) || self.eat_kw(Kw::IN) {
            show.schema = Some(self.name()?);
        }
        self.filtered(show, kind)
    }

    /// `FROM table [FROM schema]`.
    fn of_table(&mut self) -> Result<TableName<'a>> {
        if !self.eat_kw(Kw::FROM) {
            self.expect_kw(Kw::IN)?;
        }
        let mut table = self.table_name()?;
        if self.eat_kw(Kw::FROM) || self.eat_kw(Kw::IN) {
            table.schema = Some(self.name()?);
        }
        Ok(table)
    }

    fn show_create(&mut self) -> Result<ShowKind<'a>> {
        let Tok::Kw(kw) = self.bump().kind else {
            return self.syntax();
        };
        Ok(match kw {
            Kw::TABLE => ShowKind::CreateTable(self.table_name()?),
            Kw::DATABASE | Kw::SCHEMA => {
                let if_not_exists = self.if_not_exists()?;
                ShowKind::CreateDatabase(self.name()?, if_not_exists)
            }
            Kw::VIEW => ShowKind::CreateView(self.table_name()?),
            Kw::PROCEDURE | Kw::FUNCTION | Kw::TRIGGER | Kw::EVENT => {
                ShowKind::CreateProgram(kw.as_str(), self.table_name()?)
            }
            Kw::USER => ShowKind::CreateUser(self.account()?),
            _ => return self.syntax(),
        })
    }

    /// `COUNT(*) WARNINGS` or `COUNT(*) ERRORS`, after COUNT.
    fn show_count(&mut self) -> Result<ShowKind<'a>> {
        self.expect(Tok::LParen)?;
        self.expect(Tok::Star)?;
        self.expect(Tok::RParen)?;
        if self.eat_kw(Kw::WARNINGS) {
            return Ok(ShowKind::CountWarnings);
        }
        self.expect_kw(Kw::ERRORS)?;
        Ok(ShowKind::CountErrors)
    }

    fn show_engine(&mut self) -> Result<ShowKind<'a>> {
        let name = if self.eat_kw(Kw::ALL) { "ALL" } else { self.name_or_string()? };
        let Tok::Kw(kw @ (Kw::STATUS | Kw::LOGS | Kw::MUTEX)) = self.tok.kind else {
            return self.syntax();
        };
        self.bump();
        Ok(ShowKind::Engine { name, what: kw.as_str() })
    }

    fn show_grants(&mut self) -> Result<ShowKind<'a>> {
        if !self.eat_kw(Kw::FOR) {
            return Ok(ShowKind::Grants(None, &[]));
        }
        let account = self.account()?;
        let roles = if self.eat_kw(Kw::USING) { self.roles()? } else { &[] };
        Ok(ShowKind::Grants(Some(account), roles))
    }

    fn show_programs(&mut self, show: &mut Show<'a>, kw: Kw) -> Result<ShowKind<'a>> {
        if self.eat_kw(Kw::CODE) {
            return Ok(ShowKind::ProgramCode(self.table_name()?));
        }
        self.expect_kw(Kw::STATUS)?;
        let kind = if kw == Kw::PROCEDURE { ShowKind::ProcedureStatus } else { ShowKind::FunctionStatus };
        self.filtered(show, kind)
    }

    // DESCRIBE and EXPLAIN.

    /// DESCRIBE, DESC or EXPLAIN, at that word: they mean the same.
    pub(super) fn describe(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let explains = self.at_query()
            || matches!(
                self.tok.kind,
                Tok::LParen
                    | Tok::Kw(
                        Kw::INSERT
                            | Kw::REPLACE
                            | Kw::UPDATE
                            | Kw::DELETE
                            | Kw::ANALYZE
                            | Kw::FOR
                            | Kw::VALUES
                    )
            )
            || (self.at_kw(Kw::FORMAT) && self.peek() == Tok::Eq)
            || (self.at_kw(Kw::EXTENDED) && matches!(self.peek(), Tok::Kw(Kw::SELECT)));
        if explains {
            return self.explain();
        }
        let table = self.table_name()?;
        let column = match self.tok.kind {
            Tok::Eof | Tok::Semicolon => None,
            _ => Some(self.name_or_string()?),
        };
        Ok(Statement::Describe(self.alloc(Describe { table, column })))
    }

    fn explain(&mut self) -> Result<Statement<'a>> {
        let analyze = self.eat_kw(Kw::ANALYZE);
        let mut format = ExplainFormat::Default;
        if self.eat_kw(Kw::FORMAT) {
            self.expect(Tok::Eq)?;
            format = self.explain_format()?;
        }
        if self.eat_kw(Kw::INTO) {
            self.user_var()?;
        }
        let target = if self.eat_kw2(Kw::FOR, Kw::CONNECTION) {
            ExplainTarget::Connection(self.number()?)
        } else {
            let explainable = matches!(
                self.tok.kind,
                Tok::LParen | Tok::Kw(Kw::INSERT | Kw::REPLACE | Kw::UPDATE | Kw::DELETE | Kw::VALUES)
            );
            if !explainable && !self.at_query() {
                return self.syntax();
            }
            let statement = self.statement()?;
            ExplainTarget::Statement(self.alloc(statement))
        };
        Ok(Statement::Explain(self.alloc(Explain { format, analyze, target })))
    }

    fn explain_format(&mut self) -> Result<ExplainFormat> {
        let at = self.tok;
        let word = self.name_or_string()?;
        let formats = [
            ("TRADITIONAL", ExplainFormat::Traditional),
            ("JSON", ExplainFormat::Json),
            ("TREE", ExplainFormat::Tree),
        ];
        match formats.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
            Some(&(_, format)) => Ok(format),
            None => Err(super::core::Fail { kind: crate::ParseErrorKind::Syntax, offset: at.start }),
        }
    }
}
