//! Queries of constants, without a table: their one row is made when they are compiled.

use expr::ExprKind;
use wire::out_buffer::HEADER_BYTES;
use wire::{OutBuffer, ResultCharset};

use crate::context::Client;
use crate::op::Op;
use crate::outputs::OutputValue;
use crate::protocol::Protocol;
use crate::query::QueryProgram;
use crate::row_target::RowTarget;

/// The row of `SELECT constants`, as packet bodies for clients with the usual character set.
#[derive(Debug)]
pub(crate) struct ConstantRow {
    text: Box<[u8]>,
    binary: Box<[u8]>,
}

impl ConstantRow {
    /// The row of `query`; `None` if it is more than constants.
    pub(crate) fn of_query(query: &QueryProgram) -> Option<Self> {
        let Op::Dual = query.root else { return None };
        Some(ConstantRow { text: row(query, Protocol::Text)?, binary: row(query, Protocol::Binary)? })
    }

    /// Whether the row is what this client gets.
    #[inline]
    pub(crate) fn serves(client: &Client<'_>) -> bool {
        client.charset == ResultCharset::UTF8MB4
    }

    /// Writes the row.
    #[inline]
    pub(crate) fn write(&self, client: &mut Client<'_>) {
        let body = match client.protocol {
            Protocol::Text => &self.text,
            Protocol::Binary => &self.binary,
        };
        client.out.begin_packet();
        client.out.put_bytes(body);
        client.out.end_packet();
    }
}

/// The body of the row's packet.
fn row(query: &QueryProgram, protocol: Protocol) -> Option<Box<[u8]>> {
    let mut out = OutBuffer::new();
    let charset = ResultCharset::UTF8MB4;
    let packet = RowTarget { protocol, charset, out: &mut out }.begin(query.outputs.len());
    for (i, output) in query.outputs.iter().enumerate() {
        let OutputValue::Expr(expr) = &output.value else { return None };
        let ExprKind::Const(value) = &expr.kind else { return None };
        output.encoder.put_value(&value.as_value(), packet.map(|packet| (packet, i)), charset, &mut out);
    }
    Some(out.pending()[HEADER_BYTES..].into())
}
