//! The output columns of a query, and the projections that send them.
//!
//! Rows in older row format versions are sent as they are on their pages: every version has a reader and a
//! projection of its own, made when its first page is met.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use expr::{Expr, ExprKind};
use smallvec::SmallVec;

use crate::encode::WireEncoder;
use crate::op::Op;
use crate::protocol::Protocol;
use crate::query::QueryProgram;
use crate::reader::TableReader;
use crate::record_projection::RecordProjection;
use crate::row_target::RowTarget;

/// Columns whose positions need no allocation.
const INLINE_COLUMNS: usize = 8;

/// One output column.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) value: OutputValue,
    pub(crate) encoder: WireEncoder,
}

/// Where an output column's value comes from.
#[derive(Debug)]
pub(crate) enum OutputValue {
    /// A relation's column as it is.
    Column { rel: u16, col: u16 },
    /// Anything else.
    Expr(Expr),
}

impl Output {
    pub(crate) fn new(expr: &Expr) -> Self {
        let value = match &expr.kind {
            ExprKind::Column(column) => OutputValue::Column { rel: column.rel, col: column.col },
            _ => OutputValue::Expr(expr.clone()),
        };
        Output { value, encoder: WireEncoder::new(&expr.ty) }
    }
}

/// Output columns that are all columns of one relation, as they are.
#[derive(Debug)]
pub(crate) struct PlainOutputs {
    pub(crate) rel: u16,
    /// Positions in the relation.
    columns: SmallVec<[u16; INLINE_COLUMNS]>,
    /// The program for each protocol, compiled by the first run that uses the protocol (most statements use
    /// one), or by the second one where a run is for one row.
    text: OnceLock<Option<RecordProjection>>,
    binary: OnceLock<Option<RecordProjection>>,
    /// The same for rows of older row format versions.
    older: OnceLock<Box<[OlderPrograms]>>,
    /// A run for one row was content without a program.
    has_run: AtomicBool,
}

/// The programs for rows of an older row format version.
#[derive(Debug, Default)]
struct OlderPrograms {
    text: OnceLock<Option<RecordProjection>>,
    binary: OnceLock<Option<RecordProjection>>,
}

impl PlainOutputs {
    /// `None` if not all are, or the records do not have all of them. `root` produces the rows.
    pub(crate) fn new(outputs: &[Output], root: &Op) -> Option<Self> {
        let column = |output: &Output| match output.value {
            OutputValue::Column { rel, col } => Some((rel, col)),
            OutputValue::Expr(_) => None,
        };
        let (rel, _) = column(outputs.first()?)?;
        root.find_access(rel).filter(|access| access.in_place)?;
        let mut columns = SmallVec::with_capacity(outputs.len());
        for output in outputs {
            columns.push(column(output).filter(|column| column.0 == rel)?.1);
        }
        let (text, binary, older) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Some(PlainOutputs { rel, columns, text, binary, older, has_run: AtomicBool::new(false) })
    }

    /// The program for a client of `query`, whose outputs these are; `None` if it wants text in another
    /// character set, or a column cannot be read from a record alone.
    pub(crate) fn projection(
        &self,
        query: &QueryProgram,
        target: &RowTarget<'_>,
    ) -> Option<&RecordProjection> {
        let projection = self.of_protocol(target.protocol);
        let projection = projection.get_or_init(|| self.compile(query, target.protocol)).as_ref()?;
        projection.serves(target.charset).then_some(projection)
    }

    /// As [`PlainOutputs::projection`], for rows that `reader` reads.
    pub(crate) fn projection_of(
        &self,
        query: &QueryProgram,
        reader: &TableReader,
        target: &RowTarget<'_>,
    ) -> Option<&RecordProjection> {
        if reader.older.is_none() {
            return self.projection(query, target);
        }
        let projection = self.older_projection(query, reader, target.protocol)?;
        projection.serves(target.charset).then_some(projection)
    }

    pub(crate) fn older_projection(
        &self,
        query: &QueryProgram,
        reader: &TableReader,
        protocol: Protocol,
    ) -> Option<&RecordProjection> {
        let versions = self.older.get_or_init(|| {
            let current = query.root.find_access(self.rel).map_or(0, |access| access.reader.older_versions());
            (0..current).map(|_| OlderPrograms::default()).collect()
        });
        let OlderPrograms { text, binary } = versions.get(reader.older?)?;
        let projection = if protocol == Protocol::Text { text } else { binary };
        projection.get_or_init(|| self.compile_for(query, reader, protocol)).as_ref()
    }

    /// As [`PlainOutputs::projection`], for a run of one row. The first such run gets none: it may be the
    /// only one, and the program would cost more than it saves.
    #[inline]
    pub(crate) fn projection_of_one(
        &self,
        query: &QueryProgram,
        target: &RowTarget<'_>,
    ) -> Option<&RecordProjection> {
        match self.of_protocol(target.protocol).get() {
            Some(projection) => projection.as_ref().filter(|projection| projection.serves(target.charset)),
            None => self.projection_of_next(query, target),
        }
    }

    #[cold]
    fn projection_of_next(&self, query: &QueryProgram, target: &RowTarget<'_>) -> Option<&RecordProjection> {
        if !self.has_run.load(Ordering::Relaxed) {
            self.has_run.store(true, Ordering::Relaxed);
            return None;
        }
        self.projection(query, target)
    }

    /// From now on, runs of one row compile a program, too.
    #[cfg(test)]
    pub(crate) fn note_run(&self) {
        self.has_run.store(true, Ordering::Relaxed);
    }

    #[inline]
    fn of_protocol(&self, protocol: Protocol) -> &OnceLock<Option<RecordProjection>> {
        match protocol {
            Protocol::Text => &self.text,
            Protocol::Binary => &self.binary,
        }
    }

    #[cold]
    fn compile(&self, query: &QueryProgram, protocol: Protocol) -> Option<RecordProjection> {
        self.compile_for(query, &query.root.find_access(self.rel)?.reader, protocol)
    }

    fn compile_for(
        &self,
        query: &QueryProgram,
        reader: &TableReader,
        protocol: Protocol,
    ) -> Option<RecordProjection> {
        let columns = self.columns.iter().zip(&query.outputs).map(|(&col, output)| (col, &output.encoder));
        RecordProjection::new(columns, 0, reader, protocol)
    }
}
