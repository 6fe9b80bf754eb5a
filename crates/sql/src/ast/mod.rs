//! Syntax tree: what the text says, before any name is looked up.
//!
//! Every node is `Copy` and borrows the arena and the statement text for `'a`. Names are text without quotes;
//! option strings are unescaped; literals in expressions stay [`Literal`](crate::Literal)s. `pos` fields are
//! byte offsets in the text. Keyword order that does not matter to meaning is not kept.

pub mod account;
pub mod account_options;
pub mod admin;
pub mod create_table;
pub mod ddl;
pub mod dml;
pub mod expr;
mod names;
pub mod password_rules;
pub mod query;
pub mod role;
pub mod session;
pub mod show;
pub mod table_name;
pub mod type_name;
pub mod walk;

pub use account::*;
pub use account_options::*;
pub use admin::*;
pub use create_table::*;
pub use ddl::*;
pub use dml::*;
pub use expr::*;
pub use password_rules::*;
pub use query::*;
pub use role::*;
pub use session::*;
pub use show::*;
pub use table_name::*;
pub use type_name::*;
pub use walk::*;

/// One statement.
#[derive(Clone, Copy, Debug)]
pub enum Statement<'a> {
    /// SELECT, VALUES, TABLE, and their unions, with or without parentheses and WITH.
    Query(&'a Query<'a>),
    /// INSERT and REPLACE.
    Insert(&'a Insert<'a>),
    /// UPDATE.
    Update(&'a Update<'a>),
    /// DELETE.
    Delete(&'a Delete<'a>),
    /// LOAD DATA.
    LoadData(&'a LoadData<'a>),
    /// DO.
    Do(&'a [Expr<'a>]),
    /// CREATE DATABASE.
    CreateDatabase(&'a CreateDatabase<'a>),
    /// ALTER DATABASE.
    AlterDatabase(&'a AlterDatabase<'a>),
    /// DROP DATABASE.
    DropDatabase(&'a DropDatabase<'a>),
    /// CREATE TABLE.
    CreateTable(&'a CreateTable<'a>),
    /// ALTER TABLE.
    AlterTable(&'a AlterTable<'a>),
    /// DROP TABLE.
    DropTable(&'a DropTable<'a>),
    /// DROP VIEW.
    DropView(&'a DropTable<'a>),
    /// DROP PROCEDURE, FUNCTION, TRIGGER, EVENT.
    DropProgram(&'a DropProgram<'a>),
    /// TRUNCATE.
    Truncate(TableName<'a>),
    /// RENAME TABLE: (from, to) pairs, done in order.
    RenameTable(&'a [(TableName<'a>, TableName<'a>)]),
    /// CREATE INDEX.
    CreateIndex(&'a CreateIndex<'a>),
    /// DROP INDEX.
    DropIndex(&'a DropIndex<'a>),
    /// BEGIN, START TRANSACTION.
    Begin(Begin),
    /// COMMIT.
    Commit(Completion),
    /// ROLLBACK.
    Rollback(Completion),
    /// SAVEPOINT.
    Savepoint(&'a str),
    /// ROLLBACK TO SAVEPOINT.
    RollbackTo(&'a str),
    /// RELEASE SAVEPOINT.
    ReleaseSavepoint(&'a str),
    /// SET of variables, in order.
    Set(&'a [SetItem<'a>]),
    /// SET TRANSACTION.
    SetTransaction(SetTransaction),
    /// SET PASSWORD.
    SetPassword(&'a SetPassword<'a>),
    /// USE.
    Use(&'a str),
    /// PREPARE.
    Prepare(&'a Prepare<'a>),
    /// EXECUTE name USING variables.
    Execute(&'a Execute<'a>),
    /// DEALLOCATE PREPARE.
    Deallocate(&'a str),
    /// SHOW.
    Show(&'a Show<'a>),
    /// DESCRIBE table.
    Describe(&'a Describe<'a>),
    /// EXPLAIN statement.
    Explain(&'a Explain<'a>),
    /// CREATE USER, ALTER USER.
    User(&'a UserStatement<'a>),
    /// DROP USER, DROP ROLE.
    DropUser(&'a DropUser<'a>),
    /// RENAME USER: (from, to) pairs.
    RenameUser(&'a [(Account<'a>, Account<'a>)]),
    /// GRANT.
    Grant(&'a Grant<'a>),
    /// REVOKE.
    Revoke(&'a Grant<'a>),
    /// CREATE, GRANT, REVOKE, SET ROLE.
    Role(&'a RoleStatement<'a>),
    /// KILL.
    Kill(&'a Kill<'a>),
    /// FLUSH.
    Flush(&'a Flush<'a>),
    /// ANALYZE, CHECK, OPTIMIZE, REPAIR, CHECKSUM TABLE.
    Maintain(&'a Maintain<'a>),
    /// LOCK TABLES.
    LockTables(&'a [LockTable<'a>]),
    /// UNLOCK TABLES.
    UnlockTables,
    /// CALL procedure(arguments).
    Call(&'a Call<'a>),
    /// INSTALL COMPONENT, UNINSTALL COMPONENT.
    Component(&'a ComponentStatement<'a>),
    /// SHUTDOWN.
    Shutdown,
    /// ALTER INSTANCE RELOAD TLS; NO ROLLBACK ON ERROR is the flag.
    ReloadTls(bool),
    /// A statement that MySQL has and this grammar only recognises by its first words.
    Unsupported(Unsupported),
}
