//! The accesses of a statement to tables and databases, by its text alone.

mod change;
mod definition;
mod file_use;
mod named;
mod query;

use sql::ast::{ExplainTarget, Flush, FlushTarget, SetItem, Statement, TableName};

use super::set::Privileges;
use crate::virtual_tables;

pub(crate) use file_use::{FileUse, file_use};

/// One thing that a statement does.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) schema: Box<str>,
    /// Empty for what is done to the database.
    pub(crate) table: Box<str>,
    pub(crate) want: Want,
}

/// The privileges required for it.
#[derive(Debug)]
pub(crate) enum Want {
    /// All of these, at any level.
    All(Privileges),
    /// All of these, at any level, if only on one column of the table. What statements do with each column
    /// is checked once they are bound, see [`super::column_check`].
    Reached(Privileges),
    /// SELECT, or any privilege on the table itself or on its columns.
    Seen,
    /// Any privilege that a table can have.
    Shown,
    /// UPDATE or SELECT.
    Joined,
    /// One of UPDATE, DELETE and LOCK TABLES.
    Locked,
    /// All of these, on the database.
    OnSchema(Privileges),
    /// Anything in the database, to make it the default one.
    Entered,
    /// Anything in the database, to list its tables.
    Listed,
    /// Anything in the database, to see how it is defined.
    Described,
}

/// Everything that `statement` wants, in the order in which it is checked. Statements that ask for privileges
/// on everything, or on something that is known only when they run, check those themselves.
pub(crate) fn of_statement(database: Option<&str>, statement: &Statement<'_>) -> Vec<Access> {
    let mut gather = Gather { database, all: Vec::new(), ctes: Vec::new() };
    gather.statement(statement);
    gather.all
}

struct Gather<'s, 'a> {
    database: Option<&'s str>,
    all: Vec<Access>,
    /// Names of the common table expressions in scope.
    ctes: Vec<&'a str>,
}

impl<'a> Gather<'_, 'a> {
    /// No form is left out: each says what it wants, or why it wants nothing.
    fn statement(&mut self, statement: &Statement<'a>) {
        match *statement {
            Statement::Query(query) => self.query(query),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            Statement::LoadData(load) => self.load(load),
            Statement::Do(list) => self.exprs(list),
            Statement::Set(items) => self.set(items),
            Statement::CreateDatabase(_)
            | Statement::AlterDatabase(_)
            | Statement::DropDatabase(_)
            | Statement::CreateTable(_)
            | Statement::AlterTable(_)
            | Statement::DropTable(_)
            | Statement::DropView(_)
            | Statement::Truncate(_)
            | Statement::RenameTable(_)
            | Statement::CreateIndex(_)
            | Statement::DropIndex(_) => self.definition(statement),
            Statement::Use(_)
            | Statement::Show(_)
            | Statement::Describe(_)
            | Statement::Explain(_)
            | Statement::Maintain(_)
            | Statement::LockTables(_)
            | Statement::Flush(_)
            | Statement::Component(_) => self.administration(statement),
            // They concern the session alone.
            Statement::Begin(_)
            | Statement::Commit(_)
            | Statement::Rollback(_)
            | Statement::Savepoint(_)
            | Statement::RollbackTo(_)
            | Statement::ReleaseSavepoint(_)
            | Statement::SetTransaction(_)
            | Statement::UnlockTables
            | Statement::Deallocate(_) => {}
            // The statements in them are checked themselves.
            Statement::Prepare(_) | Statement::Execute(_) => {}
            // They check what they ask for when they run.
            Statement::DropProgram(_)
            | Statement::SetPassword(_)
            | Statement::User(_)
            | Statement::DropUser(_)
            | Statement::RenameUser(_)
            | Statement::Grant(_)
            | Statement::Revoke(_)
            | Statement::Role(_)
            | Statement::Kill(_)
            | Statement::Call(_)
            | Statement::Shutdown
            | Statement::ReloadTls(_) => {}
            // Refused for every account.
            Statement::Unsupported(_) => {}
        }
    }

    /// Statements that show or look after what is there.
    fn administration(&mut self, statement: &Statement<'a>) {
        match *statement {
            Statement::Use(schema) => self.push(schema, "", Want::Entered),
            Statement::Show(show) => self.show(show),
            Statement::Describe(describe) => self.want(&describe.table, Want::Seen),
            Statement::Explain(explain) => {
                if let ExplainTarget::Statement(statement) = explain.target {
                    self.statement(statement);
                }
            }
            Statement::Maintain(maintain) => self.maintain(maintain),
            Statement::LockTables(tables) => {
                for lock in tables {
                    self.reach(&lock.table, Privileges::LOCK_TABLES | Privileges::SELECT);
                }
            }
            Statement::Flush(flush) => self.flush(flush),
            Statement::Component(component) => {
                let wanted = if component.install { Privileges::INSERT } else { Privileges::DELETE };
                self.push("mysql", "component", Want::All(wanted));
            }
            _ => {}
        }
    }

    fn set(&mut self, items: &[SetItem<'a>]) {
        for item in items {
            if let SetItem::User(_, expr) | SetItem::System(_, expr) = item {
                self.expr(expr);
            }
        }
    }

    fn flush(&mut self, flush: &Flush<'_>) {
        for target in flush.targets {
            if let FlushTarget::TablesWithReadLock(tables) | FlushTarget::TablesForExport(tables) = target {
                for table in *tables {
                    self.reach(table, Privileges::LOCK_TABLES | Privileges::SELECT);
                }
            }
        }
    }

    fn push(&mut self, schema: &str, table: &str, want: Want) {
        let schema = virtual_tables::schema(schema).unwrap_or(schema);
        self.all.push(Access { schema: schema.into(), table: table.into(), want });
    }

    /// Without a default database the statement fails for want of one.
    fn want(&mut self, table: &TableName<'_>, want: Want) {
        if let Some(schema) = table.schema.or(self.database) {
            self.push(schema, table.name, want);
        }
    }

    fn table(&mut self, table: &TableName<'_>, privileges: Privileges) {
        self.want(table, Want::All(privileges));
    }

    /// One column of the table is enough.
    fn reach(&mut self, table: &TableName<'_>, privileges: Privileges) {
        self.want(table, Want::Reached(privileges));
    }

    fn schema(&mut self, schema: Option<&str>, privileges: Privileges) {
        if let Some(schema) = schema.or(self.database) {
            self.push(schema, "", Want::OnSchema(privileges));
        }
    }
}
