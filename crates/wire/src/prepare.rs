//! The answer to COM_STMT_PREPARE.

use crate::{Capabilities, ColumnDefinition, OutBuffer, ServerStatus, reply};

/// The description of a prepared statement for its client.
#[derive(Clone, Copy, Debug)]
pub struct PreparedStatement<'a> {
    /// Number that the client names the statement by.
    pub id: u32,
    /// Parameters.
    pub params: &'a [ColumnDefinition<'a>],
    /// Columns of its result set; empty if it has none.
    pub columns: &'a [ColumnDefinition<'a>],
    /// Warnings raised while preparing.
    pub warnings: u16,
    /// Status flags.
    pub status: ServerStatus,
}

impl PreparedStatement<'_> {
    /// Writes all packets of the answer.
    pub fn write(&self, out: &mut OutBuffer, capabilities: Capabilities) {
        out.begin_packet();
        out.put_u8(0);
        out.put_u32(self.id);
        out.put_u16(self.columns.len() as u16);
        out.put_u16(self.params.len() as u16);
        out.put_u8(0);
        out.put_u16(self.warnings);
        out.end_packet();
        for param in self.params {
            param.write(out);
        }
        if !self.params.is_empty() {
            reply::write_columns_end(out, capabilities, self.status, self.warnings);
        }
        for column in self.columns {
            column.write(out);
        }
        if !self.columns.is_empty() {
            reply::write_columns_end(out, capabilities, self.status, self.warnings);
        }
    }
}

#[cfg(test)]
mod tests {
    use types::SqlType;

    use super::*;
    use crate::ResultCharset;

    #[test]
    fn counts_come_first_and_parts_end_as_the_client_asked() {
        let ty = SqlType::bigint();
        let param = ColumnDefinition::of_value("?", &ty, ResultCharset::UTF8MB4);
        let statement = PreparedStatement {
            id: 9,
            params: &[param, param],
            columns: &[],
            warnings: 0,
            status: ServerStatus::AUTOCOMMIT,
        };
        let mut out = OutBuffer::new();
        statement.write(&mut out, Capabilities::default());
        assert_eq!(out.pending().get(..16), Some(&b"\x0c\0\0\0\0\x09\0\0\0\0\0\x02\0\0\0\0"[..]));
        assert_eq!(out.sequence(), 4);
        let mut out = OutBuffer::new();
        statement.write(&mut out, Capabilities::DEPRECATE_EOF);
        assert_eq!(out.sequence(), 3);
    }
}
