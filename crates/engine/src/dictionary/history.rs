//! The history of a table's rows as bytes, in its definition.
//!
//! | FIELD |
//! |---|
//! | oldest version that pages may have, 0: none but the definition's |
//! | number of past columns; for each: id, type, 1 if it could be NULL, first version that had it, first that had it not |
//! | number of added columns; for each: id, first version that has it, 1 if older rows show a value, and that value |
//!
//! Integers are LEB128; types and values are as in `codec.rs`.

use base::ColumnId;
use base::codec::push_varint;
use types::{AddedColumn, PastColumn, RowHistory};

use super::codec::{bytes, flag, int, list, push_bytes, push_type, sql_type};

pub(super) fn push(out: &mut Vec<u8>, history: &RowHistory) {
    push_varint(out, u64::from(history.oldest));
    push_varint(out, history.past.len() as u64);
    for past in &history.past {
        push_varint(out, u64::from(past.id.0));
        push_type(out, &past.ty);
        out.push(u8::from(past.nullable));
        push_varint(out, u64::from(past.versions.start));
        push_varint(out, u64::from(past.versions.end));
    }
    push_varint(out, history.added.len() as u64);
    for added in &history.added {
        push_varint(out, u64::from(added.id.0));
        push_varint(out, u64::from(added.since));
        out.push(u8::from(added.initial.is_some()));
        if let Some(initial) = &added.initial {
            push_bytes(out, initial);
        }
    }
}

pub(super) fn take(rest: &mut &[u8]) -> Option<RowHistory> {
    Some(RowHistory { oldest: int(rest)?, past: list(rest, past)?, added: list(rest, added)? })
}

fn past(rest: &mut &[u8]) -> Option<PastColumn> {
    Some(PastColumn {
        id: ColumnId(int(rest)?),
        ty: sql_type(rest)?,
        nullable: flag(rest)?,
        versions: int(rest)?..int(rest)?,
    })
}

fn added(rest: &mut &[u8]) -> Option<AddedColumn> {
    let (id, since) = (ColumnId(int(rest)?), int(rest)?);
    let initial = if flag(rest)? { Some(bytes(rest)?.into()) } else { None };
    Some(AddedColumn { id, since, initial })
}
