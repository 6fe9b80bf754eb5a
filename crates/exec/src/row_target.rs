//! One row on its way into the connection's buffer.

use engine::RowRef;
use types::TimeZone;
use wire::row_binary::BinaryRow;
use wire::{OutBuffer, ResultCharset};

use crate::encode::WireEncoder;
use crate::frame::{CurrentRow, Frame};
use crate::protocol::Protocol;
use crate::reader::{Access, RowEnv, TableReader};
use crate::temp_row::CellKind;

/// Where rows go and in which form.
pub(crate) struct RowTarget<'c> {
    pub(crate) protocol: Protocol,
    pub(crate) charset: ResultCharset,
    pub(crate) out: &'c mut OutBuffer,
}

impl RowTarget<'_> {
    /// Opens a row's packet; in the binary protocol with its NULL bitmap.
    #[inline]
    pub(crate) fn begin(&mut self, columns: usize) -> Option<BinaryRow> {
        match self.protocol {
            Protocol::Text => {
                self.out.begin_packet();
                None
            }
            Protocol::Binary => Some(BinaryRow::begin(self.out, columns)),
        }
    }

    /// Appends the column at `col` of a record. Cost: for an integer or a string in the record 20 to 40
    /// instructions and a copy.
    #[inline]
    pub(crate) fn put_record_column(
        &mut self,
        encoder: &WireEncoder,
        place: Option<(BinaryRow, usize)>,
        reader: &TableReader,
        row: &RowRef<'_>,
        col: u16,
        env: RowEnv<'_>,
    ) {
        let position = usize::from(col);
        if let Access::KeyInt { part, int, signed } = reader.columns[position].access
            && let Some(value) = reader.key_int(row, part, int, signed)
        {
            let bytes = value.to_le_bytes();
            let bytes = &bytes[..usize::from(int.width)];
            return encoder.put_storage(Some(bytes), place, env.st.zone, self.charset, self.out);
        }
        let bytes = reader.bytes(row, position, env);
        encoder.put_storage(bytes, place, env.st.zone, self.charset, self.out);
    }

    /// Appends column `col` of relation `rel`.
    #[inline]
    pub(crate) fn put_column(
        &mut self,
        encoder: &WireEncoder,
        place: Option<(BinaryRow, usize)>,
        frame: Option<&Frame<'_>>,
        rel: u16,
        col: u16,
        zone: &TimeZone,
    ) {
        let charset = self.charset;
        match frame.and_then(|frame| frame.find(rel)) {
            Some(CurrentRow::Record(record)) => {
                self.put_record_column(encoder, place, record.reader, &record.row, col, record.env);
            }
            Some(CurrentRow::Temp(temp)) => match temp.cell(rel, col) {
                Some((CellKind::Storage(_), bytes)) => {
                    encoder.put_storage(Some(bytes), place, zone, charset, self.out);
                }
                _ if encoder.ty.zerofill => {
                    encoder.put_filled(&temp.value(rel, col), place, charset, self.out);
                }
                _ => encoder.put_value(&temp.value(rel, col), place, charset, self.out),
            },
            Some(CurrentRow::Nulls(_)) | None => {
                encoder.put_storage(None, place, zone, charset, self.out);
            }
        }
    }
}
