//! Literals in the text of a row expression.

use std::fmt::Write;

use expr::ExprKind;
use types::{Charset, OwnedValue};

use super::RowExpressionError as Refusal;
use super::text::Printer;
use crate::literal::{Literal, LiteralKind};
use crate::print::push_escaped;

impl Printer<'_, '_, '_> {
    pub(super) fn literal(&mut self, literal: &Literal) -> Result<(), Refusal> {
        if literal.kind == LiteralKind::Float {
            let text = literal.text(self.binder.ctx.sql);
            return self.put(&String::from_utf8_lossy(text));
        }
        let constant = self.binder.constant_of(literal)?;
        let ExprKind::Const(value) = &constant.kind else { return Err(Refusal::Construct) };
        let is_bits = matches!(literal.kind, LiteralKind::Hex | LiteralKind::Bit);
        match value {
            OwnedValue::Bytes { data, collation } => {
                let charset = collation.collation().map_or(Charset::Binary, |found| found.charset);
                if is_bits && literal.charset.name().is_none() {
                    self.hex(data)
                } else {
                    self.string(charset, data)
                }
            }
            OwnedValue::Bit { bytes: 0, .. } => self.put("X''"),
            OwnedValue::Bit { value, bytes } => {
                Ok(write!(self.out, "0x{value:0width$x}", width = usize::from(*bytes) * 2)?)
            }
            value => {
                let text = value.as_value().message_text();
                match literal.kind {
                    LiteralKind::Date => Ok(write!(self.out, "DATE'{text}'")?),
                    LiteralKind::Time => Ok(write!(self.out, "TIME'{text}'")?),
                    LiteralKind::Timestamp => Ok(write!(self.out, "TIMESTAMP'{text}'")?),
                    _ => self.put(&text),
                }
            }
        }
    }

    fn hex(&mut self, data: &[u8]) -> Result<(), Refusal> {
        if data.is_empty() {
            return self.put("X''");
        }
        self.put("0x")?;
        self.ensure_room(data.len())?;
        data.iter().try_for_each(|byte| Ok(write!(self.out, "{byte:02x}")?))
    }

    /// A text, with its character set. What cannot be written in UTF-8 is written in hexadecimal digits.
    fn string(&mut self, charset: Charset, data: &[u8]) -> Result<(), Refusal> {
        let is_utf8 = matches!(charset, Charset::Utf8mb4 | Charset::Utf8mb3);
        write!(self.out, "_{}", charset.name())?;
        match std::str::from_utf8(data) {
            Ok(text) if is_utf8 || text.is_ascii() => self.quoted(text),
            _ => {
                self.put(" ")?;
                self.hex(data)
            }
        }
    }

    fn quoted(&mut self, text: &str) -> Result<(), Refusal> {
        self.ensure_room(text.len())?;
        self.out.push('\'');
        push_escaped(&mut self.out, text, &['\\', '\'']);
        self.put("'")
    }
}
