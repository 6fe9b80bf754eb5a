//! Column definitions of a result set, built once per plan.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use engine::Table;
use expr::{Expr, ExprKind};
use smallvec::SmallVec;
use sql::plan::{ColumnTraits, ItemName, OutputColumn};
use types::{OwnedValue, SqlType, TypeKind};
use wire::column::flags;
use wire::out_buffer::{FIRST_SEQUENCE, HEADER_BYTES};
use wire::{ColumnDefinition, ColumnType, OutBuffer, ResultCharset, reply};

use crate::column_definitions::ColumnDefinitions;
use crate::context::Client;
use crate::index_layout;

/// The packets before the rows: column count and definitions, as the first packets of an answer in the usual
/// character set. The second such answer keeps them: many a plan serves one.
#[derive(Debug)]
pub(crate) struct ColumnPackets {
    packets: OnceLock<Box<[u8]>>,
    /// There was such an answer.
    was_written: AtomicBool,
    /// The definitions that are kept with the tables of the query.
    kept: SmallVec<[Arc<ColumnDefinitions>; 1]>,
    /// How many they are; 0: too many for their numbers, or with names that follow from literals.
    count: u8,
}

impl ColumnPackets {
    pub(crate) fn new(output: &[OutputColumn], tables: &[Arc<Table>]) -> Self {
        let has_own_names = output.iter().all(|column| column.text.is_none());
        let count = u8::try_from(output.len() + 1).ok().filter(|_| has_own_names).unwrap_or(0);
        let is_named = |column: &OutputColumn| matches!(column.name, ItemName::OfColumn(..));
        let tables = if output.iter().any(is_named) { tables } else { &[] };
        let kept = tables.iter().filter_map(|table| index_layout::columns(table)).collect();
        ColumnPackets { packets: OnceLock::new(), was_written: AtomicBool::new(false), kept, count }
    }

    /// Writes everything that is before the rows. Cost: one copy for the first result of an answer, but
    /// for the plan's first two.
    #[inline]
    pub(crate) fn write(&self, output: &[OutputColumn], client: &mut Client<'_>) {
        let out = &mut *client.out;
        let usual = client.charset == ResultCharset::UTF8MB4 && out.sequence() == FIRST_SEQUENCE;
        match self.packets.get() {
            Some(packets) if usual => out.put_first_packets(packets, self.count),
            _ => self.write_new(output, client, usual),
        }
        reply::write_columns_end(client.out, client.capabilities, client.status, 0);
    }

    /// Writes the definitions one by one, and keeps what it has written for later answers if this is not the
    /// first.
    #[cold]
    fn write_new(&self, output: &[OutputColumn], client: &mut Client<'_>, usual: bool) {
        let before = client.out.pending().len();
        let kept = if client.charset == ResultCharset::UTF8MB4 { &self.kept[..] } else { &[] };
        write_each(output, client.charset, client.names, kept, client.out);
        if !usual || self.count == 0 {
            return;
        }
        if self.was_written.load(Ordering::Relaxed) {
            // Another session may have been faster: it has written the same.
            let _ = self.packets.set(client.out.pending()[before..].into());
        } else {
            self.was_written.store(true, Ordering::Relaxed);
        }
    }
}

fn write_each(
    output: &[OutputColumn],
    charset: ResultCharset,
    names: &[(usize, String)],
    kept: &[Arc<ColumnDefinitions>],
    out: &mut OutBuffer,
) {
    reply::write_column_count(out, output.len());
    for (at, column) in output.iter().enumerate() {
        let place = kept.iter().find_map(|definitions| definitions.place(column));
        if let Some(body) = place.and_then(|place| place.get()) {
            out.put_packet_with([0; HEADER_BYTES], body);
            continue;
        }
        let mut definition = definition(column, charset, true);
        if let Some((_, name)) = names.iter().find(|(column, _)| *column == at) {
            definition.name = name;
        }
        let before = out.pending().len();
        definition.write(out);
        if let Some(place) = place {
            // Another session may have been faster: it has made the same.
            let _ = place.set(out.pending()[before + HEADER_BYTES..].into());
        }
    }
}

/// As [`definition`], before the statement runs: MySQL has not made its temporary tables then, and takes what
/// they will hold for calculated values and columns of base tables.
pub fn prepared_column_definition(column: &OutputColumn, charset: ResultCharset) -> ColumnDefinition<'_> {
    let definition = definition(column, charset, false);
    match &column.origin {
        Some(origin) if origin.table().is_empty() => match origin.kept {
            Some(kept) => {
                let ty = SqlType { kind: kept.prepared, ..column.expr.ty.clone() };
                typed_value_definition(column, &ty, charset)
            }
            None => value_definition(column, charset),
        },
        Some(origin) => {
            ColumnDefinition { flags: definition.flags | key_flags(origin.traits()), ..definition }
        }
        None => definition,
    }
}

/// The definition of one output column, as a client with this character set gets it when the statement runs
/// (`is_run`) or before.
fn definition(column: &OutputColumn, charset: ResultCharset, is_run: bool) -> ColumnDefinition<'_> {
    let Some(origin) = &column.origin else { return value_definition(column, charset) };
    let ty = &column.expr.ty;
    let is_gathered = is_run && origin.is_gathered;
    let mut definition = if origin.is_value && !is_gathered {
        ColumnDefinition::of_value(&column.name, ty, charset)
    } else {
        ColumnDefinition::of_column(&column.name, ty, charset)
    };
    let traits = origin.traits();
    let key_flags = if is_gathered { 0 } else { key_flags(traits) };
    // A column of a derived table becomes one of the table that gathers it.
    let is_renamed = is_gathered && origin.is_of_merged();
    definition.schema = if is_renamed { "" } else { origin.schema() };
    definition.table = origin.table();
    definition.org_table = if is_renamed { origin.table_name() } else { origin.org_table() };
    definition.org_name = if is_renamed { &column.name } else { origin.org_name() };
    definition.flags |= not_null_flag(column) | key_flags | default_flags(traits);
    definition
}

fn value_definition(column: &OutputColumn, charset: ResultCharset) -> ColumnDefinition<'_> {
    typed_value_definition(column, &column.expr.ty, charset)
}

/// The definition of a calculated value of type `ty`.
fn typed_value_definition<'c>(
    column: &'c OutputColumn,
    ty: &SqlType,
    charset: ResultCharset,
) -> ColumnDefinition<'c> {
    let definition = ColumnDefinition::of_value(&column.name, ty, charset);
    let decimals = if is_bit_literal(&column.expr) { 0 } else { definition.decimals };
    let column_type = chosen_member_type(&column.expr).unwrap_or(definition.column_type);
    ColumnDefinition { flags: definition.flags | not_null_flag(column), decimals, column_type, ..definition }
}

/// The type of a member of ENUM or SET that CASE or a function chooses. Clients see those of tables as CHAR.
fn chosen_member_type(expr: &Expr) -> Option<ColumnType> {
    match (&expr.kind, expr.ty.kind) {
        (ExprKind::Call { .. } | ExprKind::Case { .. }, TypeKind::Enum) => Some(ColumnType::Enum),
        (ExprKind::Call { .. } | ExprKind::Case { .. }, TypeKind::Set) => Some(ColumnType::Set),
        _ => None,
    }
}

fn not_null_flag(column: &OutputColumn) -> u16 {
    if column.expr.nullable { 0 } else { flags::NOT_NULL }
}

/// Whether `expr` is written as x'..' or b'..': a text that may be a number.
fn is_bit_literal(expr: &Expr) -> bool {
    let is_bits = matches!(expr.kind, ExprKind::Const(OwnedValue::Bit { .. }));
    is_bits || (expr.ty.is_string() && expr.ty.unsigned)
}

fn flag(is: bool, flag: u16) -> u16 {
    if is { flag } else { 0 }
}

fn key_flags(column: ColumnTraits) -> u16 {
    flag(column.primary_key, flags::PRIMARY_KEY)
        | flag(column.unique_key, flags::UNIQUE_KEY)
        | flag(column.multiple_key, flags::MULTIPLE_KEY)
        | flag(column.part_of_key, flags::PART_KEY)
        | flag(column.auto_increment, flags::AUTO_INCREMENT)
}

fn default_flags(column: ColumnTraits) -> u16 {
    flag(column.no_default, flags::NO_DEFAULT)
        | flag(column.set_by_clock, flags::TIMESTAMP)
        | flag(column.on_update_now, flags::ON_UPDATE_NOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;
    use crate::tests::support::{int, null, query_plan, text};
    use sql::plan::Node;
    use wire::{Capabilities, ServerStatus};

    #[test]
    fn packets_kept_are_those_written_one_by_one() {
        let plan = query_plan(Vec::new(), Node::Dual, vec![int(1), text("a"), null()]);
        let packets = ColumnPackets::new(&plan.output, &[]);
        let plain = Capabilities::default();
        for (first, capabilities, is_kept) in [
            (9, plain, false),
            (1, plain, false),
            (1, plain, true),
            (1, Capabilities::DEPRECATE_EOF, true),
            (9, plain, true),
        ] {
            let (mut out, mut expected) = (OutBuffer::new(), OutBuffer::new());
            out.set_sequence(first);
            expected.set_sequence(first);
            packets.write(
                &plan.output,
                &mut Client {
                    protocol: Protocol::Text,
                    capabilities,
                    status: ServerStatus::AUTOCOMMIT,
                    charset: ResultCharset::UTF8MB4,
                    names: &[],
                    out: &mut out,
                    flush: &mut |_| Ok(()),
                },
            );
            write_each(&plan.output, ResultCharset::UTF8MB4, &[], &[], &mut expected);
            reply::write_columns_end(&mut expected, capabilities, ServerStatus::AUTOCOMMIT, 0);
            assert_eq!(out.pending(), expected.pending());
            assert_eq!(out.sequence(), expected.sequence());
            assert_eq!(packets.packets.get().is_some(), is_kept);
        }
    }

    #[test]
    fn more_columns_than_packet_numbers_are_written_one_by_one() {
        let plan = query_plan(Vec::new(), Node::Dual, (0..300).map(int).collect());
        assert_eq!(ColumnPackets::new(&plan.output, &[]).count, 0);
    }
}
