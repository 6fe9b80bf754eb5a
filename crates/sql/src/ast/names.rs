//! What messages call statements and expressions.

use super::{ExprKind, RoleStatement, Statement};

impl Statement<'_> {
    /// The statement's first words, as error 1235 names it.
    #[cold]
    pub fn name(&self) -> &'static str {
        match self {
            Statement::Query(_) => "SELECT",
            Statement::Insert(_) => "INSERT",
            Statement::Update(_) => "UPDATE",
            Statement::Delete(_) => "DELETE",
            Statement::LoadData(_) => "LOAD DATA",
            Statement::Do(_) => "DO",
            Statement::Begin(_) => "START TRANSACTION",
            Statement::Commit(_) => "COMMIT",
            Statement::Rollback(_) => "ROLLBACK",
            Statement::Savepoint(_) => "SAVEPOINT",
            Statement::RollbackTo(_) => "ROLLBACK TO SAVEPOINT",
            Statement::ReleaseSavepoint(_) => "RELEASE SAVEPOINT",
            Statement::Use(_) => "USE",
            Statement::Prepare(_) => "PREPARE",
            Statement::Execute(_) => "EXECUTE",
            Statement::Deallocate(_) => "DEALLOCATE PREPARE",
            Statement::Show(_) => "SHOW",
            Statement::Describe(_) => "DESCRIBE",
            Statement::Explain(_) => "EXPLAIN",
            Statement::Maintain(_) => "table maintenance",
            Statement::LockTables(_) => "LOCK TABLES",
            Statement::UnlockTables => "UNLOCK TABLES",
            Statement::Call(_) => "CALL",
            Statement::Unsupported(unsupported) => unsupported.what,
            _ => self.definition_name().or_else(|| self.account_name()).unwrap_or("SET"),
        }
    }

    fn definition_name(&self) -> Option<&'static str> {
        Some(match self {
            Statement::CreateDatabase(_) => "CREATE DATABASE",
            Statement::AlterDatabase(_) => "ALTER DATABASE",
            Statement::DropDatabase(_) => "DROP DATABASE",
            Statement::CreateTable(_) => "CREATE TABLE",
            Statement::AlterTable(_) => "ALTER TABLE",
            Statement::DropTable(_) => "DROP TABLE",
            Statement::DropView(_) => "DROP VIEW",
            Statement::DropProgram(_) => "DROP of a stored program",
            Statement::Truncate(_) => "TRUNCATE TABLE",
            Statement::RenameTable(_) => "RENAME TABLE",
            Statement::CreateIndex(_) => "CREATE INDEX",
            Statement::DropIndex(_) => "DROP INDEX",
            _ => return None,
        })
    }

    fn account_name(&self) -> Option<&'static str> {
        Some(match self {
            Statement::SetPassword(_) => "SET PASSWORD",
            Statement::User(user) if user.alter => "ALTER USER",
            Statement::User(_) => "CREATE USER",
            Statement::DropUser(drop) if drop.role => "DROP ROLE",
            Statement::DropUser(_) => "DROP USER",
            Statement::RenameUser(_) => "RENAME USER",
            Statement::Grant(_) | Statement::Role(RoleStatement::Grant { .. }) => "GRANT",
            Statement::Revoke(_) | Statement::Role(RoleStatement::Revoke { .. }) => "REVOKE",
            Statement::Role(RoleStatement::Create { .. }) => "CREATE ROLE",
            Statement::Role(RoleStatement::Set(_)) => "SET ROLE",
            Statement::Role(RoleStatement::SetDefault { .. }) => "SET DEFAULT ROLE",
            Statement::Kill(_) => "KILL",
            Statement::Flush(_) => "FLUSH",
            Statement::Component(_) => "INSTALL COMPONENT",
            Statement::Shutdown => "SHUTDOWN",
            Statement::ReloadTls(_) => "ALTER INSTANCE",
            _ => return None,
        })
    }
}

impl ExprKind<'_> {
    /// The expression's form, as error 1235 names it.
    #[cold]
    pub fn name(&self) -> &'static str {
        match self {
            ExprKind::Null | ExprKind::Bool(_) | ExprKind::Literal(_) | ExprKind::Keyword(_) => "a literal",
            ExprKind::Default | ExprKind::DefaultOf(_) => "DEFAULT",
            ExprKind::Star => "*",
            ExprKind::Param(_) => "a parameter",
            ExprKind::Column(_) => "a column",
            ExprKind::UserVar(_) | ExprKind::SystemVar(_) | ExprKind::Assign(_) => "a variable",
            ExprKind::Unary(..) | ExprKind::Binary(..) => "an operator",
            ExprKind::And(..) => "AND",
            ExprKind::Or(..) => "OR",
            ExprKind::Row(_) => "a row",
            ExprKind::Is(..) => "IS",
            ExprKind::Between(_) => "BETWEEN",
            ExprKind::InList(_) => "IN",
            ExprKind::Like(_) => "LIKE",
            ExprKind::InSubquery(_)
            | ExprKind::Quantified(_)
            | ExprKind::Exists(_)
            | ExprKind::Subquery(_) => "a subquery",
            ExprKind::Case(_) => "CASE",
            ExprKind::Cast(_) => "CAST",
            ExprKind::ConvertUsing(_) => "CONVERT ... USING",
            ExprKind::Collate(_) => "COLLATE",
            ExprKind::Call(_) => "a function",
            ExprKind::Aggregate(_) => "an aggregate function",
            ExprKind::DateAdd(_) => "an interval",
            ExprKind::Extract(..) => "EXTRACT",
            ExprKind::UnitCall(_) => "TIMESTAMPADD",
            ExprKind::Trim(_) => "TRIM",
            ExprKind::ValuesOf(_) => "VALUES()",
            ExprKind::Match(_) => "MATCH",
        }
    }
}
