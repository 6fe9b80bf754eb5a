//! The tables and databases that definitions, maintenance and SHOW are about.

use sql::ast::{AlterAction, CreateTable, Maintain, MaintainKind, Show, ShowKind, Statement, TableName};

use super::{Gather, Want};
use crate::privilege::Privileges;

impl<'a> Gather<'_, 'a> {
    /// A statement that changes definitions.
    pub(super) fn definition(&mut self, statement: &Statement<'a>) {
        use Privileges as P;
        match *statement {
            Statement::CreateDatabase(create) => self.schema(Some(create.name), P::CREATE),
            Statement::AlterDatabase(alter) => self.schema(alter.name, P::ALTER),
            Statement::DropDatabase(drop) => self.schema(Some(drop.name), P::DROP),
            Statement::CreateTable(create) => self.create_table(create),
            Statement::AlterTable(alter) => self.alter_table(&alter.table, alter.actions),
            Statement::DropTable(drop) | Statement::DropView(drop) => {
                for table in drop.tables {
                    self.table(table, P::DROP);
                }
            }
            Statement::Truncate(ref table) => self.table(table, P::DROP),
            Statement::RenameTable(pairs) => {
                for (from, to) in pairs {
                    self.table(from, P::ALTER | P::DROP);
                    self.table(to, P::INSERT | P::CREATE);
                }
            }
            Statement::CreateIndex(create) => self.table(&create.table, P::INDEX),
            Statement::DropIndex(drop) => self.table(&drop.table, P::INDEX),
            _ => {}
        }
    }

    pub(super) fn create_table(&mut self, create: &CreateTable<'a>) {
        let wanted =
            if create.query.is_some() { Privileges::CREATE | Privileges::INSERT } else { Privileges::CREATE };
        self.table(&create.name, wanted);
        if let Some(source) = &create.like {
            self.reach(source, Privileges::SELECT);
        }
        if let Some(query) = create.query {
            self.query(query);
        }
    }

    pub(super) fn alter_table(&mut self, table: &TableName<'_>, actions: &[AlterAction<'_>]) {
        let renamed = actions.iter().rev().find_map(|action| match action {
            AlterAction::RenameTable(name) => Some(name),
            _ => None,
        });
        match renamed {
            None => self.table(table, Privileges::ALTER),
            Some(name) => {
                self.table(table, Privileges::ALTER | Privileges::DROP);
                self.table(name, Privileges::INSERT | Privileges::CREATE);
            }
        }
    }

    pub(super) fn maintain(&mut self, maintain: &Maintain<'_>) {
        for table in maintain.tables {
            match maintain.kind {
                MaintainKind::Check => self.want(table, Want::Seen),
                MaintainKind::Checksum => self.reach(table, Privileges::SELECT),
                MaintainKind::Analyze | MaintainKind::Optimize | MaintainKind::Repair => {
                    self.reach(table, Privileges::SELECT | Privileges::INSERT);
                }
            }
        }
    }

    pub(super) fn show(&mut self, show: &Show<'_>) {
        match &show.kind {
            ShowKind::Tables | ShowKind::TableStatus | ShowKind::OpenTables | ShowKind::Triggers => {
                if let Some(schema) = show.schema.or(self.database) {
                    self.push(schema, "", Want::Listed);
                }
            }
            ShowKind::Events => {
                if let Some(schema) = show.schema.or(self.database) {
                    self.push(schema, "", Want::OnSchema(Privileges::EVENT));
                }
            }
            ShowKind::Columns(name) | ShowKind::Index(name) => {
                // FROM schema wins over the schema written before the table's name.
                self.want(&TableName { schema: show.schema.or(name.schema), ..*name }, Want::Seen);
            }
            ShowKind::CreateTable(name) => self.want(name, Want::Shown),
            ShowKind::CreateView(name) => self.table(name, Privileges::SELECT),
            ShowKind::CreateDatabase(name, _) => self.push(name, "", Want::Described),
            // They show what everybody may see, or check what they ask for when they run.
            _ => {}
        }
    }
}
