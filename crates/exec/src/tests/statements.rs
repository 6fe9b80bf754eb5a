//! SQL text through parser, binder and planner.

use std::cell::{Cell, OnceCell};
use std::ops::Bound;
use std::sync::Arc;

use bumpalo::Bump;
use engine::KeyRange;
use sql::bind::{CatalogError, RangeMemory, ReadsLock};
use sql::dive::Dives;
use sql::{BindContext, Catalog, LexMode, Literals, SessionTypes};
use types::{CollationId, SqlType, TableDef};

use super::support::*;
use crate::*;

/// An engine's dictionary, and the dives into its indexes.
pub(super) struct EngineCatalog<'e> {
    pub(super) engine: &'e engine::Engine,
    pub(super) dives: Cell<u32>,
}

impl<'e> EngineCatalog<'e> {
    pub(super) fn new(engine: &'e engine::Engine) -> Self {
        EngineCatalog { engine, dives: Cell::new(0) }
    }
}

impl Catalog for EngineCatalog<'_> {
    fn virtual_table(&self, _schema: &str, _name: &str) -> Option<Arc<TableDef>> {
        None
    }

    fn version(&self) -> u64 {
        self.engine.catalog_version()
    }
    fn schema_exists(&self, schema: &str) -> bool {
        self.engine.schema(schema).is_ok()
    }
    fn table(&self, schema: &str, name: &str) -> std::result::Result<Option<Arc<TableDef>>, CatalogError> {
        Ok(self.engine.table(schema, name).ok().map(|table| Arc::clone(&table.def)))
    }
    fn statistics(&self, table: &TableDef) -> Option<Arc<types::TableStatistics>> {
        self.engine.table(&table.schema, &table.name).ok()?.statistics(self.engine)
    }
    fn rows_between(&self, table: &TableDef, index: usize, from: &[u8], to: Option<&[u8]>) -> Option<f64> {
        self.dives.set(self.dives.get() + 1);
        let range = KeyRange::new(Bound::Included(from), to.map_or(Bound::Unbounded, Bound::Excluded));
        self.engine.table(&table.schema, &table.name).ok()?.rows_between(self.engine, index, &range)
    }
    fn row_estimate(&self, table: &TableDef) -> u64 {
        self.engine.table(&table.schema, &table.name).map_or(0, |table| table.row_count_estimate())
    }
}

/// No variables have a type.
struct NoVariables;

impl SessionTypes for NoVariables {
    fn user_variable(&self, _name: &str) -> SqlType {
        SqlType::null()
    }
    fn system_variable(&self, _global: Option<bool>, _name: &str) -> Option<SqlType> {
        None
    }
}

impl Bench {
    pub(super) fn plan(&self, sql: &str) -> sql::plan::Plan {
        Arc::unwrap_or_clone(self.planned(sql, &EngineCatalog::new(&self.engine), None).plan)
    }

    /// The plan of `sql`, made with `dives`.
    pub(super) fn planned(
        &self,
        sql: &str,
        catalog: &EngineCatalog<'_>,
        dives: Option<&Dives<'_>>,
    ) -> sql::Planned {
        let arena = Bump::new();
        let parsed = sql::parse(sql.as_bytes(), 0, LexMode::default(), &arena)
            .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let ctx = BindContext {
            catalog,
            session: &NoVariables,
            sql: sql.as_bytes(),
            database: Some("s"),
            modes: self.session.modes,
            collation: CollationId::UTF8MB4_0900_AI_CI,
            div_precision_increment: 4,
            param_types: &[],
            late_types: &[],
            param_count: 0,
            literals: Literals::Constants,
            range_memory: &RangeMemory::new(0),
            assigns_variables: &OnceCell::new(),
            reads_lock: ReadsLock::default(),
            column_uses: None,
            dives,
        };
        sql::bind_and_plan(&parsed.statement, &ctx, sql::RULES)
            .unwrap_or_else(|error| panic!("{sql}: {error:?}"))
    }

    /// The rows of a query, columns parted by blanks and rows by commas.
    pub(super) fn select(&mut self, sql: &str) -> String {
        let sql::plan::Plan::Query(plan) = self.plan(sql) else { panic!("{sql} is no query") };
        let rows: Vec<_> = self.query(plan, &[]).iter().map(|row| row.join(" ")).collect();
        rows.join(",")
    }

    pub(super) fn try_run(&mut self, sql: &str) -> Result<Outcome> {
        let plan = self.plan(sql);
        self.run_as(Protocol::Text, plan, &[]).0
    }

    pub(super) fn run(&mut self, sql: &str) -> Outcome {
        self.try_run(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"))
    }

    pub(super) fn take_warnings(&self) -> Vec<String> {
        self.session.conditions.take()
    }
}
