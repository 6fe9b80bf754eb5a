//! A small catalog, and statements bound against it.

use std::cell::OnceCell;
use std::sync::Arc;

use base::{ColumnId, IndexId, TableId};
use bumpalo::Bump;
use types::{
    CollationId, ColumnDef, ColumnDefault, IndexDef, IndexKind, KeyPart, LobSize, SqlModes, SqlType,
    TableDef, TypeKind,
};

use crate::ast::Statement;
use crate::bind::binder::{Binder, Level, Role};
use crate::bind::block::Query;
use crate::bind::{
    BindContext, BindError, Catalog, CatalogError, Literals, Planned, SessionTypes, bind_and_plan,
};
use crate::bind::{RangeMemory, ReadsLock};
use crate::plan::explain;
use crate::{CacheKey, LexMode, parse, parse_numbered};

/// Tables `emp`, `dept`, `employees`, `salaries`, `many`, `log`, `stock`, `order_line` in schema `db`.
pub(crate) struct TestCatalog {
    tables: Vec<(Arc<TableDef>, u64)>,
}

impl Default for TestCatalog {
    fn default() -> Self {
        let emp = table(
            1,
            "emp",
            "id int!, name varchar!, dept int, salary decimal, hired date",
            &[("PRIMARY", "id"), ("d", "dept"), ("s", "salary")],
        );
        let dept = table(2, "dept", "id int!, name varchar", &[("PRIMARY", "id")]);
        let employees = table(
            3,
            "employees",
            "emp_no int!, birth_date date!, first_name varchar!, gender int!",
            &[("PRIMARY", "emp_no")],
        );
        let salaries = table(
            4,
            "salaries",
            "emp_no int!, salary int!, from_date date!, to_date date!",
            &[("PRIMARY", "emp_no,from_date")],
        );
        let many = table(
            5,
            "many",
            "id bigint!, a int, b int, c varchar, d datetime, x double, t text, y year",
            &[("PRIMARY", "id"), ("UNIQUE u", "c"), ("ab", "a,b"), ("di", "d"), ("xi", "x")],
        );
        let log = table(6, "log", "at datetime, line text", &[]);
        let stock = table(
            7,
            "stock",
            "w int!, i int!, quantity int!, name varchar",
            &[("PRIMARY", "w,i"), ("UNIQUE n", "name")],
        );
        let order_line = table(
            8,
            "order_line",
            "w int!, d int!, o int!, n int!, item int, amount decimal",
            &[("PRIMARY", "w,d,o,n"), ("item", "item,w")],
        );
        TestCatalog {
            tables: vec![
                (emp, 6),
                (dept, 3),
                (employees, 300_000),
                (salaries, 2_800_000),
                (many, 1_000_000),
                (log, 1000),
                (stock, 100_000),
                (order_line, 500_000),
            ],
        }
    }
}

/// A table from `name type` pairs, `!` for NOT NULL, and `name, columns` keys.
fn table(id: u32, name: &str, columns: &str, keys: &[(&str, &str)]) -> Arc<TableDef> {
    let columns: Vec<ColumnDef> =
        columns.split(", ").enumerate().map(|(at, text)| column(at as u16, text)).collect();
    let place = |name: &str| columns.iter().position(|c| *c.name == *name).unwrap() as u16;
    let index = |(at, (name, parts)): (usize, &(&str, &str))| {
        let (kind, name) = match *name {
            "PRIMARY" => (IndexKind::Primary, "PRIMARY"),
            name => {
                name.strip_prefix("UNIQUE ").map_or((IndexKind::Secondary, name), |n| (IndexKind::Unique, n))
            }
        };
        let part = |name: &str| KeyPart { column: place(name), prefix_len: None, desc: false };
        IndexDef {
            id: IndexId(u64::from(id) as u32 * 10 + at as u32),
            name: name.into(),
            kind,
            parts: parts.split(',').map(part).collect(),
            comment: "".into(),
            names_btree: false,
            invisible: false,
            unknown: None,
        }
    };
    let mut indexes: Vec<IndexDef> = keys.iter().enumerate().map(index).collect();
    let hidden_row_id = indexes.is_empty();
    if hidden_row_id {
        indexes.push(IndexDef {
            id: IndexId(id * 10),
            name: "GEN_CLUST_INDEX".into(),
            kind: IndexKind::Primary,
            parts: Vec::new(),
            comment: "".into(),
            names_btree: false,
            invisible: false,
            unknown: None,
        });
    }
    Arc::new(TableDef {
        id: TableId(id),
        schema: "db".into(),
        name: name.into(),
        columns,
        indexes,
        hidden_row_id,
        collation: CollationId::UTF8MB4_0900_AI_CI,
        comment: "".into(),
        format_version: 1,
        auto_increment_start: 1,
        create_time: 0,
        hints: Box::default(),
        unknown: None,
    })
}

fn column(at: u16, text: &str) -> ColumnDef {
    let (name, ty) = text.split_once(' ').unwrap();
    let nullable = !ty.ends_with('!');
    let collation = CollationId::UTF8MB4_0900_AI_CI;
    let ty = match ty.trim_end_matches('!') {
        "int" => SqlType::new(TypeKind::Int, 11),
        "bigint" => SqlType::bigint(),
        "decimal" => SqlType::decimal(10, 2),
        "date" => SqlType::new(TypeKind::Date, 10),
        "datetime" => SqlType::new(TypeKind::DateTime, 19),
        "double" => SqlType::double(),
        "year" => SqlType { unsigned: true, ..SqlType::new(TypeKind::Year, 4) },
        "text" => SqlType { collation, ..SqlType::new(TypeKind::Text(LobSize::Normal), 65_535) },
        _ => SqlType::varchar(20, collation),
    };
    ColumnDef {
        id: ColumnId(at),
        name: name.into(),
        ty,
        nullable,
        default: ColumnDefault::None,
        auto_increment: false,
        on_update_now: false,
        names_collation: false,
        unknown: None,
        invisible: false,
        comment: "".into(),
    }
}

impl Catalog for TestCatalog {
    fn virtual_table(&self, _schema: &str, _name: &str) -> Option<Arc<TableDef>> {
        None
    }

    fn version(&self) -> u64 {
        1
    }

    fn schema_exists(&self, schema: &str) -> bool {
        schema == "db"
    }

    fn table(&self, schema: &str, name: &str) -> Result<Option<Arc<TableDef>>, CatalogError> {
        let found = self.tables.iter().find(|(def, _)| *def.schema == *schema && *def.name == *name);
        Ok(found.map(|(def, _)| def.clone()))
    }

    fn statistics(&self, _table: &TableDef) -> Option<Arc<types::TableStatistics>> {
        None
    }

    fn rows_between(&self, _: &TableDef, _: usize, _: &[u8], _: Option<&[u8]>) -> Option<f64> {
        None
    }

    fn row_estimate(&self, table: &TableDef) -> u64 {
        self.tables.iter().find(|(def, _)| def.id == table.id).map_or(0, |(_, rows)| *rows)
    }
}

/// No variables but `@@autocommit`.
pub(crate) struct NoVariables;

impl SessionTypes for NoVariables {
    fn user_variable(&self, _name: &str) -> SqlType {
        SqlType::bigint()
    }

    fn system_variable(&self, _global: Option<bool>, name: &str) -> Option<SqlType> {
        name.eq_ignore_ascii_case("autocommit").then(SqlType::bigint)
    }
}

/// Binds `sql` in database `db` under the default modes.
pub(crate) fn bind(sql: &str) -> Result<Planned, BindError> {
    bind_under(sql, Some("db"), SqlModes::DEFAULT, &[])
}

/// Binds `sql` as for the plan cache: its numbered literals become parameters.
pub(crate) fn bind_shared(sql: &str) -> Result<Planned, BindError> {
    shared(sql, |statement, ctx| bind_and_plan(statement, ctx, crate::RULES).map_err(|refused| refused.error))
}

/// Calls `work` with the statement `sql` and its surroundings, as for the plan cache.
fn shared<T>(sql: &str, work: impl for<'a> FnOnce(&'a Statement<'a>, &BindContext<'_>) -> T) -> T {
    let mut key = CacheKey::new();
    assert!(key.read(sql.as_bytes(), 0, LexMode::NONE));
    let arena = Bump::new();
    let parsed = parse_numbered(sql.as_bytes(), 0, LexMode::NONE, &arena, Some(&key), usize::MAX).unwrap();
    let base = parsed.params as u16;
    let (catalog, once) = (TestCatalog::default(), Once::new());
    let ctx = BindContext {
        param_count: base + key.literals().len() as u16,
        literals: Literals::Parameters { base },
        ..context(sql, &catalog, &once)
    };
    work(&parsed.statement, &ctx)
}

/// As [`with_bound`], as for the plan cache.
pub(crate) fn with_bound_shared(sql: &str, take: impl FnOnce(Query, &BindContext<'_>)) {
    shared(sql, |statement, ctx| {
        let Statement::Query(query) = statement else { panic!("{sql}: no query") };
        let mut binder = Binder::new(ctx, crate::RULES);
        binder.levels.push(Level::new(Role::Rows));
        take(binder.query(query).unwrap(), ctx);
    });
}

/// Calls `take` with the query `sql` as it is bound, and its context.
pub(crate) fn with_bound(sql: &str, take: impl FnOnce(Query, &BindContext<'_>)) {
    let arena = Bump::new();
    let parsed = parse(sql.as_bytes(), 0, LexMode::NONE, &arena).unwrap();
    let Statement::Query(query) = &parsed.statement else { panic!("{sql}: no query") };
    let (catalog, once) = (TestCatalog::default(), Once::new());
    let ctx = context(sql, &catalog, &once);
    let mut binder = Binder::new(&ctx, crate::RULES);
    binder.levels.push(Level::new(Role::Rows));
    take(binder.query(query).unwrap(), &ctx);
}

/// What the context of one statement keeps.
struct Once {
    range_memory: RangeMemory,
    assigns_variables: OnceCell<bool>,
}

impl Once {
    fn new() -> Once {
        Once { range_memory: RangeMemory::new(0), assigns_variables: OnceCell::new() }
    }
}

/// Context in database `db`, under the default modes, without parameters.
fn context<'c>(sql: &'c str, catalog: &'c TestCatalog, once: &'c Once) -> BindContext<'c> {
    BindContext {
        catalog,
        session: &NoVariables,
        sql: sql.as_bytes(),
        database: Some("db"),
        modes: SqlModes::DEFAULT,
        collation: CollationId::UTF8MB4_0900_AI_CI,
        div_precision_increment: 4,
        param_types: &[],
        late_types: &[],
        param_count: 0,
        literals: Literals::Constants,
        range_memory: &once.range_memory,
        assigns_variables: &once.assigns_variables,
        reads_lock: ReadsLock::default(),
        column_uses: None,
        dives: None,
    }
}

/// Binds `sql` in a database, under modes, with parameters of these types.
pub(crate) fn bind_under(
    sql: &str,
    database: Option<&str>,
    modes: SqlModes,
    param_types: &[Option<SqlType>],
) -> Result<Planned, BindError> {
    let arena = Bump::new();
    let parsed = parse(sql.as_bytes(), 0, LexMode::NONE, &arena).unwrap();
    let (catalog, once) = (TestCatalog::default(), Once::new());
    let ctx = BindContext {
        database,
        modes,
        param_types,
        late_types: &[],
        param_count: parsed.params as u16,
        ..context(sql, &catalog, &once)
    };
    bind_and_plan(&parsed.statement, &ctx, crate::RULES).map_err(|refused| refused.error)
}

/// The error of binding `sql`, as text.
pub(crate) fn error(sql: &str) -> String {
    match bind(sql) {
        Ok(planned) => panic!("bound: {sql}\n{}", explain(&planned.plan)),
        Err(error) => error.to_string(),
    }
}

/// The plan of `sql` as text.
pub(crate) fn plan(sql: &str) -> String {
    match bind(sql) {
        Ok(planned) => explain(&planned.plan),
        Err(error) => panic!("{sql}: {error}"),
    }
}
