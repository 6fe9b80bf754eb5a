//! An engine in memory, a session without a server, plans by hand, rows read back from packets.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use base::memory::StatementAccount;
use engine::{BeginOptions, Engine, EngineConfig, Trx};
use expr::test_support::TestSession;
use expr::{CmpDomain, CmpOp, Expr, ExprKind};
use sql::plan::*;
use types::{CollationId, ColumnDef, IndexDef, IndexKind, OwnedValue, SqlType, TableDef, TypeKind, Value};
use wire::{Capabilities, OutBuffer, ResultCharset, ServerStatus};

use crate::*;

impl Conditions for TestSession {
    fn warn(&self, _level: Level, error: &ExecError) {
        self.conditions.borrow_mut().push(error.to_string());
    }
    fn warn_at(&self, place: u64, _level: Level, error: &ExecError) {
        self.conditions.borrow_mut().insert(place as usize, error.to_string());
    }
    fn count(&self) -> u64 {
        self.conditions.borrow().len() as u64
    }
    fn forget_after(&self, count: u64) {
        self.conditions.borrow_mut().truncate(count as usize);
    }
}

/// An engine with the schema `s` and one session.
pub(crate) struct Bench {
    pub(super) engine: Arc<Engine>,
    pub(super) trx: Trx,
    pub(super) session: TestSession,
    /// What statements are charged to.
    pub(crate) memory: Rc<StatementAccount>,
    pub(super) rows_examined: AtomicU64,
    pub(super) scratch: Scratch,
    /// Each statement is a transaction; else all are one.
    pub(super) autocommit: bool,
    pub(super) capabilities: Capabilities,
    /// Character set of the client.
    pub(super) charset: ResultCharset,
    /// Programs run for the first time; else as they do later.
    pub(super) is_first_run: bool,
}

/// A file in one piece.
struct Whole<'t>(Option<&'t [u8]>);

impl LoadSource for Whole<'_> {
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> std::io::Result<bool> {
        let text = self.0.take();
        chunk.extend_from_slice(text.unwrap_or(&[]));
        Ok(text.is_some())
    }
}

/// A row of text values, `NULL` for NULL.
pub(super) type Row = Vec<String>;

impl Bench {
    pub(crate) fn new() -> Self {
        let disk: Arc<dyn env::Disk> = Arc::new(env::SimDisk::new());
        let config =
            EngineConfig { pool_bytes: 32 << 20, background: false, ..EngineConfig::new(disk, "/data") };
        let engine = Engine::open(config).unwrap();
        engine.create_schema("s", CollationId::UTF8MB4_0900_AI_CI).unwrap();
        let trx = engine.begin(BeginOptions::default());
        let session = TestSession { collation: CollationId::UTF8MB4_0900_AI_CI, ..TestSession::default() };
        Bench {
            engine,
            trx,
            session,
            memory: StatementAccount::unlimited(),
            rows_examined: AtomicU64::new(0),
            scratch: Scratch::default(),
            autocommit: false,
            capabilities: Capabilities::DEPRECATE_EOF,
            charset: ResultCharset::UTF8MB4,
            is_first_run: false,
        }
    }

    pub(crate) fn create(&self, def: TableDef) -> Arc<TableDef> {
        Arc::clone(&self.engine.create_table(def).unwrap().def)
    }

    pub(crate) fn load(&mut self, sql: &str, text: &[u8]) -> Result<Outcome> {
        let plan = self.plan(sql);
        self.run_with(Protocol::Text, plan, &[], Some(&mut Whole(Some(text)))).0
    }

    pub(crate) fn run_as(
        &mut self,
        protocol: Protocol,
        plan: Plan,
        params: &[Value<'_>],
    ) -> (Result<Outcome>, Vec<u8>) {
        self.run_with(protocol, plan, params, None)
    }

    fn run_with(
        &mut self,
        protocol: Protocol,
        plan: Plan,
        params: &[Value<'_>],
        load: Option<&mut dyn LoadSource>,
    ) -> (Result<Outcome>, Vec<u8>) {
        let program = match compile(Arc::new(plan), &self.engine) {
            Ok(program) => program,
            Err(error) => return (Err(error), Vec::new()),
        };
        if !self.is_first_run {
            program.note_run();
        }
        let mut out = OutBuffer::new();
        out.begin_answer(wire::out_buffer::FIRST_SEQUENCE);
        let mut sent = Vec::new();
        let mut flush = |out: &mut OutBuffer| out.flush_to(&mut sent);
        let mut ctx = ExecCtx {
            engine: &self.engine,
            trx: &mut self.trx,
            session: &self.session,
            conditions: &self.session,
            params,
            client: Client {
                protocol,
                capabilities: self.capabilities,
                status: ServerStatus::AUTOCOMMIT,
                charset: self.charset,
                names: &[],
                out: &mut out,
                flush: &mut flush,
            },
            memory: &self.memory,
            rows_examined: &self.rows_examined,
            scratch: &mut self.scratch,
            autocommit: self.autocommit,
            load: match load {
                Some(source) => Some(source),
                None => None,
            },
        };
        let outcome = program.run(&mut ctx);
        out.flush_to(&mut sent).unwrap();
        if self.autocommit {
            match outcome {
                Ok(_) => self.engine.commit(&mut self.trx).unwrap(),
                Err(_) => self.engine.rollback(&mut self.trx).unwrap(),
            }
            let options = *self.trx.options();
            self.trx.restart(options);
        }
        (outcome, sent)
    }

    /// The answer of a query of constants without running it; `None` if it is no such query.
    pub(crate) fn constants(
        &self,
        protocol: Protocol,
        plan: Plan,
        charset: ResultCharset,
    ) -> Option<Vec<u8>> {
        let program = compile(Arc::new(plan), &self.engine).unwrap();
        let mut out = OutBuffer::new();
        out.begin_answer(wire::out_buffer::FIRST_SEQUENCE);
        let written = program.write_constants(&mut Client {
            protocol,
            capabilities: self.capabilities,
            status: ServerStatus::AUTOCOMMIT,
            charset,
            names: &[],
            out: &mut out,
            flush: &mut |_| Ok(()),
        });
        assert_eq!(written, !out.pending().is_empty());
        written.then(|| out.pending().to_vec())
    }

    /// Runs a query in the text protocol.
    pub(crate) fn query(&mut self, plan: QueryPlan, params: &[Value<'_>]) -> Vec<Row> {
        let columns = plan.output.len();
        let (outcome, bytes) = self.run_as(Protocol::Text, Plan::Query(plan), params);
        let outcome = outcome.unwrap();
        let packets = packets(&bytes);
        assert_eq!(packets[0], [columns as u8], "column count");
        let rows: Vec<_> = packets[1 + columns..].iter().map(|packet| text_row(packet)).collect();
        assert_eq!(outcome.rows_sent, rows.len() as u64);
        rows
    }

    pub(crate) fn insert(&mut self, def: &Arc<TableDef>, rows: &[&[Expr]]) -> Result<Outcome> {
        self.run_as(Protocol::Text, Plan::Insert(insert_plan(def, rows)), &[]).0
    }
}

/// Bodies of the packets in `bytes`.
pub(crate) fn packets(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while !bytes.is_empty() {
        let len = usize::from(bytes[0]) | usize::from(bytes[1]) << 8 | usize::from(bytes[2]) << 16;
        packets.push(bytes[4..4 + len].to_vec());
        bytes = &bytes[4 + len..];
    }
    packets
}

fn text_row(packet: &[u8]) -> Row {
    let mut decoder = wire::decode::Decoder::new(packet);
    let mut row = Vec::new();
    let mut rest = packet;
    while !rest.is_empty() {
        if rest[0] == 0xfb {
            row.push("NULL".to_owned());
            decoder.u8("null").unwrap();
        } else {
            let len = decoder.lenenc_int("length").unwrap() as usize;
            let bytes = &decoder.rest()[..len];
            row.push(String::from_utf8_lossy(bytes).into_owned());
            let left = decoder.rest().len() - len;
            decoder = wire::decode::Decoder::new(&packet[packet.len() - left..]);
        }
        rest = decoder.rest();
    }
    row
}

pub(crate) fn int_type() -> SqlType {
    SqlType::new(TypeKind::Int, 11)
}

pub(crate) fn text_type(chars: u32) -> SqlType {
    SqlType::varchar(chars, CollationId::UTF8MB4_0900_AI_CI)
}

/// (id INT PRIMARY KEY, k INT, c VARCHAR(60), KEY k (k)).
pub(crate) fn small_def(name: &str) -> TableDef {
    let columns = vec![
        ColumnDef::new("id", int_type(), false),
        ColumnDef::new("k", int_type(), true),
        ColumnDef::new("c", text_type(60), true),
    ];
    let indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
        IndexDef::new("k", IndexKind::Secondary, &[1]),
    ];
    TableDef::new("s", name, columns, indexes)
}

pub(crate) fn int(value: i64) -> Expr {
    Expr::constant(OwnedValue::Int(value), SqlType::bigint())
}

pub(crate) fn null() -> Expr {
    Expr::constant(OwnedValue::Null, SqlType::null())
}

pub(crate) fn text(value: &str) -> Expr {
    let collation = CollationId::UTF8MB4_0900_AI_CI;
    let data = value.as_bytes().into();
    Expr::constant(OwnedValue::Bytes { data, collation }, text_type(value.len() as u32))
}

pub(crate) fn compare(op: CmpOp, a: Expr, b: Expr) -> Expr {
    let kind = ExprKind::Compare { op, domain: CmpDomain::Integer, args: Box::new([a, b]) };
    Expr { kind, ty: SqlType::bigint(), nullable: true }
}

pub(crate) fn col(def: &TableDef, rel: u16, col: u16) -> Expr {
    let column = &def.columns[usize::from(col)];
    Expr::column(rel, col, column.ty.clone(), column.nullable)
}

pub(crate) fn relation(def: &Arc<TableDef>) -> Relation {
    let mut used = RelationColumns::default();
    (0..def.columns.len() as u16).for_each(|col| used.insert(col));
    Relation::Table { def: Arc::clone(def), alias: Alias::OfTable(Arc::clone(def)), used }
}

pub(crate) fn output(expr: Expr) -> OutputColumn {
    OutputColumn { name: "x".into(), expr, origin: None, text: None }
}

pub(crate) fn query_plan(relations: Vec<Relation>, root: Node, output_exprs: Vec<Expr>) -> QueryPlan {
    QueryPlan {
        relations: relations.into(),
        root,
        output: output_exprs.into_iter().map(output).collect(),
        subqueries: Vec::new(),
        locks: sql::plan::RowLocks::default(),
        count_found_rows: false,
        estimate: Estimate::default(),
        counted: None,
    }
}

/// SELECT * through `path`.
pub(crate) fn select_all(def: &Arc<TableDef>, path: Path, filter: Option<Expr>) -> QueryPlan {
    let root = Node::Access { rel: 0, path, filter, index_condition: None, covering: false };
    let columns = (0..def.columns.len() as u16).map(|i| col(def, 0, i)).collect();
    query_plan(vec![relation(def)], root, columns)
}

pub(crate) fn insert_plan(def: &Arc<TableDef>, rows: &[&[Expr]]) -> InsertPlan {
    let row = |row: &&[Expr]| row.iter().cloned().map(InsertCell::Expr).collect();
    InsertPlan {
        table: Arc::clone(def),
        columns: (0..def.columns.len() as u16).collect(),
        source: InsertSource::Rows(rows.iter().map(row).collect()),
        defaults: Vec::new(),
        mode: InsertMode::Insert,
        on_duplicate: Vec::new(),
        subqueries: Vec::new(),
    }
}

/// `count` rows (i, i % 10, "name i") in [`small_def`]'s table.
pub(crate) fn filled(bench: &mut Bench, name: &str, count: i64) -> Arc<TableDef> {
    let def = bench.create(small_def(name));
    let rows: Vec<_> = (0..count).map(|i| vec![int(i), int(i % 10), text(&format!("name {i}"))]).collect();
    let rows: Vec<_> = rows.iter().map(Vec::as_slice).collect();
    if !rows.is_empty() {
        assert_eq!(bench.insert(&def, &rows).unwrap().affected, count as u64);
    }
    def
}

pub(crate) fn rows(expected: &[&[&str]]) -> Vec<Row> {
    expected.iter().map(|row| row.iter().map(|value| (*value).to_owned()).collect()).collect()
}

/// The rows whose first part of the index is one of `values`.
pub(crate) fn points(index: usize, values: &[i64]) -> Path {
    let list = values.iter().map(|&value| int(value)).collect();
    let key_box = KeyBox { tests: [(0, PartTest::In(list))].into_iter().collect() };
    Path::Intervals { index, keys: Arc::new(KeySet::new(vec![key_box])), reverse: false }
}
