//! Column definitions of a result set, built once per plan.

use sql::plan::{ColumnTraits, OutputColumn};
use types::{LobSize, TypeKind};
use wire::column::flags;
use wire::out_buffer::FIRST_SEQUENCE;
use wire::{ColumnDefinition, ColumnType, OutBuffer, ResultCharset, reply};

use crate::context::Client;

/// Bytes of the definition of a column, about.
const DEFINITION_BYTES: usize = 96;

/// The packets before the rows: column count and definitions, as the first packets of an answer in the usual character
/// set.
#[derive(Debug)]
pub(crate) struct ColumnPackets {
    packets: Box<[u8]>,
    /// How many they are; 0: too many for their numbers.
    count: u8,
}

impl ColumnPackets {
    pub(crate) fn new(output: &[OutputColumn]) -> Self {
        let mut buffer = OutBuffer::with_room((output.len() + 1) * DEFINITION_BYTES);
        buffer.set_sequence(FIRST_SEQUENCE);
        write_each(output, ResultCharset::UTF8MB4, &mut buffer);
        let count = u8::try_from(output.len() + 1).unwrap_or(0);
        ColumnPackets { packets: buffer.pending().into(), count }
    }

    /// Writes everything that stands before the rows. Cost: one copy for the first result of an answer.
    #[inline]
    pub(crate) fn write(&self, output: &[OutputColumn], client: &mut Client<'_>) {
        let out = &mut *client.out;
        let usual = client.charset == ResultCharset::UTF8MB4 && out.sequence() == FIRST_SEQUENCE;
        if usual && self.count != 0 {
            out.put_first_packets(&self.packets, self.count);
        } else {
            write_each(output, client.charset, out);
        }
        reply::write_columns_end(out, client.capabilities, client.status, 0);
    }
}

#[cold]
fn write_each(output: &[OutputColumn], charset: ResultCharset, out: &mut OutBuffer) {
    reply::write_column_count(out, output.len());
    for column in output {
        definition(column, charset).write(out);
    }
}

/// The definition of one output column, as a client with this character set gets it.
pub fn definition(column: &OutputColumn, charset: ResultCharset) -> ColumnDefinition<'_> {
    let mut definition = ColumnDefinition::of_type(&column.name, &column.expr.ty, charset);
    if !column.expr.nullable {
        definition.flags |= flags::NOT_NULL;
    }
    let Some(origin) = &column.origin else {
        definition.column_type = computed_type(column.expr.ty.kind).unwrap_or(definition.column_type);
        return definition;
    };
    definition.schema = origin.schema();
    definition.table = origin.table();
    definition.org_table = origin.org_table();
    definition.org_name = origin.org_name();
    definition.flags |= flags_of(origin.traits());
    definition
}

/// The type of a computed column, where it differs from a table column's: its BLOB type tells its length class.
fn computed_type(kind: TypeKind) -> Option<ColumnType> {
    let (TypeKind::Text(size) | TypeKind::Blob(size)) = kind else { return None };
    Some(match size {
        LobSize::Tiny => ColumnType::TinyBlob,
        LobSize::Normal => ColumnType::Blob,
        LobSize::Medium => ColumnType::MediumBlob,
        LobSize::Long => ColumnType::LongBlob,
    })
}

fn flags_of(column: ColumnTraits) -> u16 {
    let flag = |is: bool, flag: u16| if is { flag } else { 0 };
    flag(column.primary_key, flags::PRIMARY_KEY)
        | flag(column.unique_key, flags::UNIQUE_KEY)
        | flag(column.multiple_key, flags::MULTIPLE_KEY)
        | flag(column.auto_increment, flags::AUTO_INCREMENT)
        | flag(column.no_default, flags::NO_DEFAULT)
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
    fn packets_made_beforehand_are_those_written_one_by_one() {
        let plan = query_plan(Vec::new(), Node::Dual, vec![int(1), text("a"), null()]);
        let packets = ColumnPackets::new(&plan.output);
        for (first, capabilities) in
            [(1, Capabilities::default()), (1, Capabilities::DEPRECATE_EOF), (9, Capabilities::default())]
        {
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
                    out: &mut out,
                    flush: &mut |_| Ok(()),
                },
            );
            write_each(&plan.output, ResultCharset::UTF8MB4, &mut expected);
            reply::write_columns_end(&mut expected, capabilities, ServerStatus::AUTOCOMMIT, 0);
            assert_eq!(out.pending(), expected.pending());
            assert_eq!(out.sequence(), expected.sequence());
        }
    }

    #[test]
    fn more_columns_than_packet_numbers_are_written_one_by_one() {
        let plan = query_plan(Vec::new(), Node::Dual, (0..300).map(int).collect());
        assert_eq!(ColumnPackets::new(&plan.output).count, 0);
    }
}
