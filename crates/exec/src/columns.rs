//! Column definitions of a result set, built once per plan.

use sql::plan::{Origin, OutputColumn};
use types::{LobSize, TypeKind};
use wire::column::flags;
use wire::out_buffer::HEADER_BYTES;
use wire::{Capabilities, ColumnDefinition, ColumnType, OutBuffer, ResultCharset, reply};

use crate::context::Client;

/// The packets before the rows: column count and definitions, for the usual character set.
#[derive(Debug)]
pub(crate) struct ColumnPackets {
    /// Bodies one after the other, each behind its length.
    packets: Vec<Box<[u8]>>,
}

impl ColumnPackets {
    pub(crate) fn new(output: &[OutputColumn]) -> Self {
        let mut buffer = OutBuffer::new();
        let mut packets = Vec::with_capacity(output.len());
        for column in output {
            let start = buffer.pending().len();
            definition(column, ResultCharset::UTF8MB4).write(&mut buffer);
            packets.push(buffer.pending()[start + HEADER_BYTES..].into());
        }
        ColumnPackets { packets }
    }

    /// Writes everything that stands before the rows.
    pub(crate) fn write(&self, output: &[OutputColumn], client: &mut Client<'_>) {
        let out = &mut *client.out;
        reply::write_column_count(out, output.len());
        if client.charset == ResultCharset::UTF8MB4 {
            for packet in &self.packets {
                out.begin_packet();
                out.put_bytes(packet);
                out.end_packet();
            }
        } else {
            for column in output {
                definition(column, client.charset).write(out);
            }
        }
        if !client.capabilities.has(Capabilities::DEPRECATE_EOF) {
            reply::write_eof(out, client.status, 0);
        }
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
    definition.schema = &origin.schema;
    definition.table = &origin.table;
    definition.org_table = &origin.org_table;
    definition.org_name = &origin.org_name;
    definition.flags |= origin_flags(origin);
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

fn origin_flags(origin: &Origin) -> u16 {
    let flag = |is: bool, flag: u16| if is { flag } else { 0 };
    flag(origin.primary_key, flags::PRIMARY_KEY)
        | flag(origin.unique_key, flags::UNIQUE_KEY)
        | flag(origin.multiple_key, flags::MULTIPLE_KEY)
        | flag(origin.auto_increment, flags::AUTO_INCREMENT)
        | flag(origin.no_default, flags::NO_DEFAULT)
        | flag(origin.on_update_now, flags::ON_UPDATE_NOW)
}
