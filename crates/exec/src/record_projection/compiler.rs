//! The steps of a [`super::RecordProjection`], from row format, column types and protocol.

use page::Place;
use types::{Charset, SqlType, TimeZone, TypeKind};
use wire::row_text::{DATE_TEXT_BYTES, INTEGER_TEXT_BYTES};
use wire::{OutBuffer, ResultCharset};

use super::step::{Step, StepOp};
use super::store::LENGTH_BYTES_MAX;
use super::{FIRST_NULL_BIT, KeyPlace, SLACK_BYTES};
use crate::encode::WireEncoder;
use crate::protocol::Protocol;
use crate::reader::{Access, ColumnReader, TableReader};

/// Most bytes of the text of a number or a moment.
const NUMBER_TEXT_BYTES_MAX: usize = 512;
/// Most bytes of a character.
const CHARACTER_BYTES_MAX: usize = 4;

/// Makes a program.
pub(super) struct Compiler<'p> {
    pub(super) reader: &'p TableReader,
    pub(super) protocol: Protocol,
    pub(super) keys: Vec<KeyPlace>,
    pub(super) encoders: Vec<WireEncoder>,
    pub(super) constants: Vec<u8>,
    pub(super) charsets: Vec<Charset>,
    pub(super) bound: usize,
}

impl Compiler<'_> {
    /// The step of output column `output`, which is NULL in all records.
    pub(super) fn initial_null(output: usize) -> Step {
        Step { op: StepOp::InitialNull, bit: (output + FIRST_NULL_BIT) as u16, ..Step::default() }
    }

    /// The step of a column that is the storage bytes `bytes` in all records.
    pub(super) fn initial(&mut self, bytes: &[u8], encoder: &WireEncoder) -> Option<Step> {
        let (from, mut step) = (self.constants.len(), Step::default());
        if encoder.is_text_as_stored() {
            self.charsets.extend(encoder.charset.filter(|charset| !self.charsets.contains(charset)));
            let mut value = OutBuffer::new();
            value.put_lenenc_bytes(bytes);
            self.constants.extend_from_slice(value.pending());
        } else if encoder.is_same_for_all() {
            let (zone, mut value) = (TimeZone::utc(), OutBuffer::new());
            match self.protocol {
                Protocol::Text => encoder.put_text(bytes, &zone, ResultCharset::UTF8MB4, &mut value),
                Protocol::Binary => encoder.put_binary(bytes, &zone, ResultCharset::UTF8MB4, &mut value),
            }
            self.constants.extend_from_slice(value.pending());
        } else {
            self.constants.extend_from_slice(bytes);
            (step.op, step.arg) = (StepOp::InitialEncoded, self.encoders.len() as u16);
            self.encoders.push(WireEncoder::new(&encoder.ty));
            self.bound += encoded_bytes_max(&encoder.ty);
        }
        if step.op != StepOp::InitialEncoded {
            step.op = StepOp::Initial;
            self.bound += self.constants.len() - from;
        }
        step.from = u16::try_from(from).ok()?;
        step.to = u16::try_from(self.constants.len()).ok()?;
        Some(step)
    }

    /// The test whether column `col` of the table is NULL, if it can be; it is output column `output`.
    pub(super) fn null_test(&self, output: usize, col: u16) -> Option<Step> {
        let null = self.reader.columns[usize::from(col)].null?;
        let bit = (output + FIRST_NULL_BIT) as u16;
        Some(Step { op: StepOp::NullTest, null_mask: null.mask, from: null.byte, bit, ..Step::default() })
    }

    /// The step of column `col` of the table.
    pub(super) fn step(&mut self, col: u16, encoder: &WireEncoder) -> Option<Step> {
        let column = &self.reader.columns[usize::from(col)];
        let mut step = self.place(column, usize::from(col))?;
        let bytes = if encoder.is_text_as_stored() {
            if step.in_key {
                return None;
            }
            self.charsets.extend(encoder.charset.filter(|charset| !self.charsets.contains(charset)));
            let content = if step.op == StepOp::FixedText { step.to - step.from } else { 0 };
            usize::from(content) + LENGTH_BYTES_MAX
        } else if step.op == StepOp::KeyPart {
            self.key_part(&mut step, column, encoder)
        } else {
            if step.op != StepOp::FixedText && !step.in_key {
                return None;
            }
            self.number(&mut step, column, encoder)
        };
        self.bound += bytes;
        Some(step)
    }

    /// Where the column is, as a string.
    fn place(&mut self, column: &ColumnReader, col: usize) -> Option<Step> {
        let format = &self.reader.format;
        let mut step = Step::default();
        match format.columns()[col].place {
            Place::Fixed { offset, width } => (step.from, step.to) = (offset, offset.saturating_add(width)),
            Place::Var { ordinal } if format.key_text(ordinal).is_some() => {
                (step.op, step.arg) = (StepOp::KeyText, ordinal);
            }
            Place::Var { ordinal } => {
                (step.to, step.arg) = ((format.ends_from() + 2 * usize::from(ordinal)) as u16, 1);
                (step.op, step.from) = match ordinal {
                    0 => (StepOp::FirstVar, format.var_from() as u16),
                    _ => (StepOp::Var, step.to - 2),
                };
            }
            Place::Key { part } => {
                let (Access::KeyInt { int, .. } | Access::KeyBits { int, .. }) = column.access else {
                    return None;
                };
                let place = &format.key_parts()[usize::from(part)];
                (step.in_key, step.unused) = (true, 64 - 8 * int.width);
                let Some(offset) = place.offset.filter(|_| !place.nullable) else {
                    if place.nullable && self.protocol == Protocol::Binary {
                        // The bit that says so is out of reach.
                        return None;
                    }
                    (step.op, step.to) = (StepOp::KeyPart, part);
                    return Some(step);
                };
                let (offset, width) = (usize::from(offset), usize::from(int.width));
                step.from = self.keys.len() as u16;
                let is_signed = column.ty.is_integer() && !column.ty.unsigned;
                let sign = if is_signed { 1 << (8 * int.width - 1) } else { 0 };
                self.keys.push(KeyPlace { offset, width, flip: int.flip, sign });
            }
            Place::Absent => return None,
        }
        Some(step)
    }

    /// How a column that is no string is shown; most bytes that it takes.
    fn number(&mut self, step: &mut Step, column: &ColumnReader, encoder: &WireEncoder) -> usize {
        let (ty, is_text) = (&encoder.ty, self.protocol == Protocol::Text);
        if !step.in_key {
            step.unused = 64u16.saturating_sub(8 * (step.to - step.from)) as u8;
        }
        step.signed = !column.ty.unsigned;
        let width = if step.in_key { 0 } else { step.to - step.from };
        let (op, bytes) = match ty.kind {
            TypeKind::Date if is_text => (StepOp::DateText, DATE_TEXT_BYTES),
            TypeKind::Date => (StepOp::DateParts, SLACK_BYTES),
            _ if ty.is_integer() && is_text && !ty.zerofill => {
                let op = match (step.in_key, width) {
                    (true, _) => StepOp::KeyDecimal,
                    (false, 4) => StepOp::Decimal4,
                    _ => StepOp::Decimal,
                };
                (op, INTEGER_TEXT_BYTES)
            }
            TypeKind::Float | TypeKind::Double if !is_text && !step.in_key => {
                step.arg = width;
                (raw_op(width), SLACK_BYTES)
            }
            _ if ty.is_integer() && !is_text => {
                step.arg = encoder.integer_bytes();
                let is_wider = step.in_key || width != step.arg;
                let op = if is_wider { StepOp::Raw } else { raw_op(width) };
                (op, SLACK_BYTES)
            }
            _ => {
                step.arg = self.encoders.len() as u16;
                let is_narrow = matches!(column.access, Access::Narrow { .. });
                self.encoders.push(if is_narrow { narrow_encoder(ty, width) } else { WireEncoder::new(ty) });
                (StepOp::Encoded, encoded_bytes_max(ty))
            }
        };
        step.op = op;
        bytes
    }

    /// The same for a part of the key that has no constant place or may be NULL.
    fn key_part(&mut self, step: &mut Step, column: &ColumnReader, encoder: &WireEncoder) -> usize {
        step.signed = !column.ty.unsigned;
        step.arg = self.encoders.len() as u16;
        self.encoders.push(WireEncoder::new(&encoder.ty));
        encoded_bytes_max(&encoder.ty)
    }
}

fn raw_op(width: u16) -> StepOp {
    if width == 4 { StepOp::Raw4 } else { StepOp::Raw }
}

/// Shows integers of `width` bytes as those of the wider type `ty`.
fn narrow_encoder(ty: &SqlType, width: u16) -> WireEncoder {
    let kind = match width {
        1 => TypeKind::TinyInt,
        2 => TypeKind::SmallInt,
        3 => TypeKind::MediumInt,
        _ => TypeKind::Int,
    };
    WireEncoder::new(&SqlType { kind, ..ty.clone() })
}

/// Most bytes of a value of type `ty` on the wire, its length included. Not for strings.
fn encoded_bytes_max(ty: &SqlType) -> usize {
    let members = ty.members.iter().flat_map(|members| members.iter());
    let members: usize = members.map(|member| CHARACTER_BYTES_MAX * (member.len() + 1)).sum();
    NUMBER_TEXT_BYTES_MAX + members
}
