//! Bytes of the log whose checksums are right: parts, page changes, before images, the file header.

use log::{Part, Parts};
use page::PageOp;
use page::op::{decode_change, skim_change};
use trx::{UndoKind, UndoRecord};

use crate::Bytes;

/// The first byte selects the decoder.
pub fn run(input: &[u8]) {
    let mut input = Bytes::new(input);
    match input.u8() % 3 {
        0 => read_parts(input.rest()),
        1 => read_changes(input.rest()),
        _ => read_image(input.rest()),
    }
}

/// Reads a frame's payload; a part that is read is encoded to what it was read from.
fn read_parts(payload: &[u8]) {
    for part in Parts::of(payload) {
        let Ok(part) = part else { return };
        match part {
            Part::Changes(changes) => read_changes(changes),
            Part::Undo { image, .. } => read_image(image),
            _ => {}
        }
        let mut encoded = Vec::new();
        part.encode(&mut encoded);
        assert_eq!(Parts::of(&encoded).next(), Some(Ok(part)), "a part is read as it was written");
    }
}

/// Skimming steps over the same bytes as decoding, and finds the same page.
fn read_changes(mut changes: &[u8]) {
    while !changes.is_empty() {
        let mut skimmed = changes;
        let skim = skim_change(&mut skimmed);
        let Ok((page_no, op)) = decode_change(&mut changes) else { return };
        let (skimmed_page, writes_bytes) = skim.expect("what decodes can be skimmed");
        assert_eq!((skimmed_page, writes_bytes), (page_no, matches!(op, PageOp::WriteBytes { .. })));
        assert_eq!(skimmed.len(), changes.len(), "skimming {op:?} ends elsewhere");
    }
}

fn read_image(image: &[u8]) {
    let kind = UndoKind::of_image(image);
    let mut record = UndoRecord::default();
    if record.decode_image(image) {
        assert_eq!(kind, Some(record.kind));
    }
}
