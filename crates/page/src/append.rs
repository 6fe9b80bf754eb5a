//! Appending the records of a batch to a leaf.

use base::codec::{copy_shorter, put_u16, put_u32};

use crate::layout::*;
use crate::op::{KEY_ALONE_BYTES_MAX, key_alone, key_alone_record_bytes, take_record};
use crate::page_mut::PageMut;
use crate::page_ref::{begin_of, head_of};
use crate::search::is_equal;

impl PageMut<'_> {
    /// Appends the first records of `batch` ([`crate::Batch`]) for as long as they go in as the page is, and
    /// advances past them: there is a free slot and room, and the key is long enough and has the prefix. The
    /// hints are left as they are, perhaps wrong. Cost: 160 instructions for a record of 20 bytes.
    // Inlined, it would make the function that applies any operation larger.
    #[inline(never)]
    pub(crate) fn append_plain(&mut self, batch: &mut &[u8]) {
        if !self.as_ref().is_leaf() {
            return;
        }
        if let Some(key_len) = self.as_ref().fixed_key_len() {
            self.append_keys(batch, key_len.into());
        }
        let page = self.as_ref();
        let (cap, prefix_len, fixed) = (page.cap(), page.prefix_len(), page.fixed_key_len());
        let (mut slot, mut top, mut trx_max) = (page.count(), page.heap_top(), page.trx_max());
        let cells_from = HEADER_BYTES + slot_bytes(true) * cap;
        let word_bytes = if fixed.is_some() { 2 } else { 4 };
        let mut ahead = *batch;
        while slot < cap
            && let Some((key, flags, payload)) = take_record(&mut ahead)
        {
            let begin_bytes = if flags.has_begin() { TRX_ID_BYTES } else { 0 };
            let has_len = fixed.is_none_or(|len| key.len() == usize::from(len) + begin_bytes);
            if !has_len || key.len() > KEY_BYTES_MAX || !self.as_ref().is_under_prefix(key) {
                break;
            }
            let rest = &key[prefix_len..];
            let len = word_bytes + payload.len() + rest.len().saturating_sub(HEAD_BYTES);
            if cells_from + len > top {
                break;
            }
            top -= len;
            self.write_leaf_cell_inline(top, len, rest, payload, flags);
            put_u32(self.0, HEADER_BYTES + HEAD_BYTES * slot, head_of(rest));
            let word = top as u16 | flags.bits() & SlotFlags::IN_SLOT;
            put_u16(self.0, HEADER_BYTES + HEAD_BYTES * cap + 2 * slot, word);
            slot += 1;
            if flags.has_begin()
                && let Some(begin) = begin_of(key)
            {
                trx_max = trx_max.max(begin);
            }
            *batch = ahead;
        }
        put_u16(self.0, COUNT, slot as u16);
        put_u16(self.0, HEAP_TOP, top as u16);
        self.raise_trx_max(trx_max);
    }

    /// [`PageMut::append_plain`] of records that are nothing but keys of `key_len` bytes, as all of the
    /// page's keys are, up to the first other one. Cost: 61 instructions for a record.
    fn append_keys(&mut self, batch: &mut &[u8], key_len: usize) {
        let page = self.as_ref();
        let (cap, prefix_len) = (page.cap(), page.prefix_len());
        let Some(suffix_len) = key_len.checked_sub(prefix_len + HEAD_BYTES) else { return };
        let mut prefix = [0; KEY_ALONE_BYTES_MAX];
        let (Some(prefix), true) = (prefix.get_mut(..prefix_len), key_len <= KEY_ALONE_BYTES_MAX) else {
            return;
        };
        prefix.copy_from_slice(page.prefix());
        let (mut slot, mut top) = (page.count(), page.heap_top());
        let (cells_from, cell_len) = (HEADER_BYTES + slot_bytes(true) * cap, 2 + suffix_len);
        while slot < cap
            && cells_from + cell_len <= top
            && let Some((record, rest)) = batch.split_at_checked(key_alone_record_bytes(key_len))
            && let Some(key) = key_alone(record)
            && key.len() == key_len
            && is_equal(&key[..prefix_len], prefix)
        {
            top -= cell_len;
            let key = &key[prefix_len..];
            let cell = &mut self.0[top..top + cell_len];
            put_u16(cell, 0, cell_len as u16);
            copy_shorter(&mut cell[2..], &key[HEAD_BYTES..]);
            put_u32(self.0, HEADER_BYTES + HEAD_BYTES * slot, head_of(key));
            put_u16(self.0, HEADER_BYTES + HEAD_BYTES * cap + 2 * slot, top as u16);
            slot += 1;
            *batch = rest;
        }
        put_u16(self.0, COUNT, slot as u16);
        put_u16(self.0, HEAP_TOP, top as u16);
    }
}

#[cfg(test)]
mod tests {
    use base::prng::Prng;

    use super::*;
    use crate::op::Batch;
    use crate::op::tests::start;
    use crate::page_mut::FormatPage;

    fn formatted(fixed: Option<u16>, prefix: &[u8]) -> Box<PageBytes> {
        let upper = [prefix, &[0xff]].concat();
        let mut bytes: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
        let bounds = FormatPage { lower: prefix, upper: Some(&upper), ..start(0, fixed) };
        PageMut::new(&mut bytes).format(&bounds);
        PageMut::new(&mut bytes).expect_slots(250);
        bytes
    }

    /// Key, payload and marks of the `n`-th record under `prefix`.
    fn record(prng: &mut Prng, n: u32, fixed: Option<u16>, prefix: &[u8]) -> (Vec<u8>, Vec<u8>, SlotFlags) {
        let tail_len =
            fixed.map_or_else(|| prng.below(12) as usize, |len| usize::from(len) - prefix.len() - 4);
        let mut key = [prefix, &n.to_be_bytes(), &vec![b't'; tail_len]].concat();
        let has_begin = prng.below(4) == 0;
        if has_begin {
            key.extend_from_slice(&u64::from(n).to_be_bytes()[2..]);
        }
        let flags = [SlotFlags::NONE, SlotFlags::HAS_BEGIN][usize::from(has_begin)];
        let payload_max = if prng.below(20) == 0 { 300 } else { 60 };
        let payload = vec![n as u8; prng.below(payload_max) as usize];
        (key, payload, flags)
    }

    #[test]
    fn records_of_a_batch_are_as_if_appended_one_by_one() {
        let mut prng = Prng::new(5);
        for (fixed, prefix) in [(None, &b"pre"[..]), (Some(11), b"pre"), (Some(4), b""), (None, b"")] {
            for _ in 0..30 {
                let (mut at_once, mut singly) = (formatted(fixed, prefix), formatted(fixed, prefix));
                let records: Vec<_> = (0..300).map(|n| record(&mut prng, n, fixed, prefix)).collect();
                let mut batch = Vec::new();
                for (key, payload, flags) in &records {
                    Batch::push_record(&mut batch, key, payload, *flags);
                }
                let mut rest = &batch[..];
                PageMut::new(&mut at_once).append_plain(&mut rest);
                let count = PageMut::new(&mut at_once).as_ref().count();
                assert!(count > 50 && !rest.is_empty(), "{count} records went in");
                let mut page = PageMut::new(&mut singly);
                for (key, payload, flags) in &records[..count] {
                    page.append_without_hints(key, payload, *flags).unwrap();
                }
                assert!(at_once == singly, "{fixed:?}, {count} records");
                // The first that did not go in is the next one.
                assert!(take_record(&mut rest).is_some_and(|(key, ..)| key == records[count].0));
            }
        }
    }

    #[test]
    fn keys_alone_are_as_if_appended_one_by_one_up_to_another_record() {
        for (fixed, prefix) in [(11u16, &b"pre"[..]), (4, b""), (16, b"")] {
            for others_at in [0, 7, 1000] {
                let (mut at_once, mut singly) =
                    (formatted(Some(fixed), prefix), formatted(Some(fixed), prefix));
                let (mut batch, mut keys) = (Vec::new(), Vec::new());
                for n in 0..200u32 {
                    let tail = vec![b't'; usize::from(fixed) - prefix.len() - 4];
                    keys.push([prefix, &n.to_be_bytes(), &tail].concat());
                    let payload: &[u8] = if n as usize == others_at { b"payload" } else { b"" };
                    Batch::push_record(&mut batch, &keys[n as usize], payload, SlotFlags::NONE);
                }
                let mut rest = &batch[..];
                PageMut::new(&mut at_once).append_keys(&mut rest, fixed.into());
                let count = PageMut::new(&mut at_once).as_ref().count();
                assert_eq!(count, others_at.min(200), "{fixed}");
                let mut page = PageMut::new(&mut singly);
                for key in &keys[..count] {
                    page.append_without_hints(key, b"", SlotFlags::NONE).unwrap();
                }
                assert!(at_once == singly, "{fixed}, {count} keys");
            }
        }
    }

    #[test]
    fn records_that_are_none_of_the_page_stay_in_the_batch() {
        let mut bytes = formatted(Some(8), b"pre");
        for (key, flags) in [
            (&b"pre1234"[..], SlotFlags::NONE),
            (b"prf12345", SlotFlags::NONE),
            (b"pre12345", SlotFlags::HAS_BEGIN),
            (b"pr", SlotFlags::NONE),
        ] {
            let (mut batch, before) = (Vec::new(), bytes.clone());
            Batch::push_record(&mut batch, key, b"", flags);
            for len in [batch.len(), batch.len() - 1] {
                let mut rest = &batch[..len];
                PageMut::new(&mut bytes).append_plain(&mut rest);
                assert!(rest.len() == len && bytes == before, "{key:?}");
            }
        }
    }
}
