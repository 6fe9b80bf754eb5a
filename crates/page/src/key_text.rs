//! Texts of secondary entries whose letters are in the key.
//!
//! The key of a text under a collation that ignores case is not the text. But where it has a byte for each
//! character, the case of the letters is all that it lacks ([`types::KeyEncoder::append_case`]), so that the
//! entry keeps that instead of the text, and marks the column. Other texts, and those of entries from before
//! format 3 of the data directory, are in the payload whole.

use types::KeyEncoder;
use types::key::capitalise;

use crate::row::{RowHeader, RowRef};
use crate::template::{KeyPartPlace, RowFormat};

/// Bytes at the end of a text in a key.
const TEXT_END_BYTES: usize = 1;

/// Where the keys of an index have the letters of a column.
#[derive(Clone, Debug)]
pub struct KeyText {
    /// Key part.
    part: u16,
    /// Bytes of the key after the part, without a begin id, if all keys have as many.
    after: Option<u16>,
    /// The part's code.
    encoder: KeyEncoder,
}

impl KeyText {
    /// Of the variable columns of entries with such keys, by ordinal; empty if none has one.
    pub(crate) fn of_columns(parts: &[KeyPartPlace], var_columns: &[u16]) -> Box<[Option<KeyText>]> {
        let of_part = |part: usize| -> Option<KeyText> {
            let encoder = parts[part].encoder?;
            let keeps = parts[part].prefix_len.is_none() && encoder.keeps_letters();
            let after = parts.get(part + 1).map_or(Some(0), |next| next.from_end);
            keeps.then_some(KeyText { part: part as u16, after, encoder })
        };
        let of_column = |&column: &u16| {
            (0..parts.len()).filter(|&part| parts[part].column == Some(column)).find_map(of_part)
        };
        let texts: Box<[_]> = var_columns.iter().map(of_column).collect();
        if texts.iter().all(Option::is_none) { Box::default() } else { texts }
    }
}

impl RowFormat {
    /// Appends the case of `text`, the value of variable column `ordinal`, if an entry keeps only that.
    #[inline]
    pub(crate) fn append_case(&self, ordinal: u16, text: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(place) = self.key_text(ordinal) else { return false };
        !text.is_empty() && place.encoder.append_case(text, out)
    }
}

impl RowRef<'_> {
    /// The text of the marked column `ordinal` of an entry, whose bytes in the body are `case`, in what
    /// `room` gives for its length, or as much of it as fits there. Cost: about 40 instructions, and a load
    /// and a store per character.
    #[inline]
    pub fn key_text<'o>(
        &self,
        ordinal: u16,
        case: &[u8],
        room: impl FnOnce(usize) -> &'o mut [u8],
    ) -> &'o [u8] {
        let format = self.format();
        let Some(place) = format.key_text(ordinal) else {
            debug_assert!(false, "column {ordinal} is marked");
            return &[];
        };
        let record = self.record();
        let skip = self.part_offset(&format.key_parts()[usize::from(place.part)]) + place.encoder.text_from();
        let len = match place.after {
            Some(after) => {
                record.key_len_without_begin().saturating_sub(skip + TEXT_END_BYTES + usize::from(after))
            }
            None => record.with_key(|key| place.encoder.codes_len(&key[skip..])),
        };
        let text = room(len);
        let mut rest = &mut text[..];
        record.key_pieces(skip, |codes| {
            let len = codes.len().min(rest.len());
            let (room, after) = std::mem::take(&mut rest).split_at_mut(len);
            room.copy_from_slice(&codes[..len]);
            rest = after;
            true
        });
        place.encoder.read_small(text);
        capitalise(text, case);
        text
    }

    /// Whether the letters of the marked column `ordinal` of an entry begin with `codes`, the collation's of
    /// some text; false also where the key has them inverted. Cost: about 40 instructions.
    #[inline]
    pub fn key_text_starts_with(&self, ordinal: u16, codes: &[u8]) -> bool {
        let format = self.format();
        let Some(place) = format.key_text(ordinal) else { return false };
        let record = self.record();
        let part = &format.key_parts()[usize::from(place.part)];
        if part.desc {
            return false;
        }
        let mut rest = codes;
        let skip = self.part_offset(part) + place.encoder.text_from();
        record.key_pieces(skip, |found| {
            let (wanted, after) = rest.split_at(rest.len().min(found.len()));
            rest = if found[..wanted.len()] == *wanted { after } else { return false };
            true
        });
        rest.is_empty()
    }

    /// The entry's body as this version writes it: older ones have texts whole of which it keeps the case.
    pub fn entry_body<'s>(&'s self, scratch: &'s mut Vec<u8>) -> &'s [u8] {
        let format = self.format();
        let mut ordinals = 0..format.var_columns().len() as u16;
        let is_older = format.has_key_texts()
            && ordinals.any(|ordinal| {
                let (text, marked) = self.var(ordinal);
                scratch.clear();
                !marked && format.append_case(ordinal, text, scratch)
            });
        if !is_older {
            return self.body();
        }
        let values: Vec<Option<Vec<u8>>> = (0..format.columns().len())
            .map(|position| {
                let value = if format.covers(position) { self.column(position, scratch) } else { None };
                value.map(<[u8]>::to_vec)
            })
            .collect();
        let values: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
        scratch.clear();
        format.encode(RowHeader::default(), &values, &[], scratch);
        scratch
    }
}

#[cfg(test)]
mod tests {
    use base::PageNo;
    use base::prng::Prng;
    use types::{CollationId, ColumnDef, IndexKind, SqlType, TableDef, TypeKind};

    use crate::check::check_records;
    use crate::row::tests::index;
    use crate::{
        FormatPage, PAGE_SIZE, PageMut, PageRef, Place, RowFormat, RowHeader, RowRef, SlotFlags, row,
    };

    fn column(id: u16, kind: TypeKind, nullable: bool) -> ColumnDef {
        let column = row::tests::column(id, kind, nullable);
        ColumnDef {
            ty: SqlType { collation: CollationId::UTF8MB4_0900_AI_CI, length: 60, ..column.ty },
            ..column
        }
    }

    /// (a CHAR, b VARCHAR NULL, n INT, c VARCHAR), PRIMARY (a), KEY (b DESC, n), KEY (c, b), KEY (b(3), c).
    fn table() -> TableDef {
        let mut prefix = index(67, IndexKind::Secondary, &[(1, false), (3, false)]);
        prefix.parts[0].prefix_len = Some(3);
        TableDef {
            columns: vec![
                column(1, TypeKind::Char, false),
                column(2, TypeKind::VarChar, true),
                column(3, TypeKind::Int, false),
                column(4, TypeKind::VarChar, false),
            ],
            indexes: vec![
                index(64, IndexKind::Primary, &[(0, false)]),
                index(65, IndexKind::Secondary, &[(1, true), (2, false)]),
                index(66, IndexKind::Secondary, &[(3, false), (1, false)]),
                prefix,
            ],
            ..row::tests::table()
        }
    }

    fn text(prng: &mut Prng) -> String {
        let kind = prng.below(6);
        (0..prng.below(30))
            .map(|_| match (kind, prng.below(95)) {
                (0, 0..10) => 'ä',
                (1, 0..2) => '\t',
                (2..4, other) => char::from(b'a' + other as u8 % 26),
                (_, other) => char::from(b' ' + other as u8),
            })
            .collect()
    }

    /// The entry as servers wrote it before: all texts whole.
    fn older_payload(format: &RowFormat, values: &[Option<&[u8]>]) -> Vec<u8> {
        let mut out = Vec::new();
        format.without_key_texts().encode(RowHeader::default(), values, &[], &mut out);
        out
    }

    #[test]
    fn entries_give_their_texts_back_whether_whole_or_in_the_key() {
        let table = table();
        let mut prng = Prng::new(3);
        let (mut kept, mut whole) = (0, 0);
        for _ in 0..3000 {
            let (a, b, c) = (text(&mut prng), text(&mut prng), text(&mut prng));
            let b = (prng.below(4) > 0).then_some(b);
            let n = (prng.next_u64() as u32).to_le_bytes();
            let values =
                [Some(a.as_bytes()), b.as_deref().map(str::as_bytes), Some(&n[..]), Some(c.as_bytes())];
            for index in &table.indexes[1..] {
                let format = RowFormat::secondary(&table, index);
                let (mut key, mut payload) = (Vec::new(), Vec::new());
                format.append_key(&values, 0, &mut key);
                format.encode(RowHeader::default(), &values, &[], &mut payload);
                let older = older_payload(&format, &values);
                kept += usize::from(payload.len() < older.len());
                whole += usize::from(payload == older);
                for stored in [&payload, &older] {
                    let mut bytes = Box::new([0; PAGE_SIZE]);
                    let mut page = PageMut::new(&mut bytes);
                    page.format(&FormatPage {
                        page_no: PageNo(5),
                        level: 0,
                        index_id: index.id,
                        version: 1,
                        format_version: 1,
                        fixed_key_len: None,
                        lower: &key[..key.len() / 3],
                        upper: Some(&[&key[..key.len() / 2], &[0xff; 40]].concat()),
                        right: PageNo::NONE,
                    });
                    page.append(&key, stored, SlotFlags::NONE).unwrap();
                    let page = PageRef::new(&bytes);
                    check_records(page, &format).unwrap();
                    let row = RowRef::new(&format, page.record(0));
                    let mut scratch = Vec::new();
                    for (position, value) in values.iter().enumerate().filter(|(i, _)| format.covers(*i)) {
                        assert_eq!(row.column(position, &mut scratch), *value);
                        match row.field(position, &mut scratch) {
                            crate::Field::Bytes(bytes) => assert_eq!(Some(bytes), *value),
                            other => assert!(other == crate::Field::Null && value.is_none()),
                        }
                    }
                    assert_eq!(row.entry_body(&mut scratch), payload);
                }
            }
        }
        assert!(kept > 5000 && whole > 200, "{kept} entries are shorter, {whole} the same");
    }

    #[test]
    fn only_texts_of_the_key_may_be_marked() {
        let table = table();
        let format = RowFormat::secondary(&table, &table.indexes[3]);
        // The prefix of b is no text that an entry covers.
        assert_eq!(format.columns()[1].place, Place::Absent);
        let ordinal_of = |position: u16| format.var_columns().iter().position(|&c| c == position).unwrap();
        for position in [0, 3] {
            assert!(format.key_text(ordinal_of(position) as u16).is_some());
        }
        assert!(!RowFormat::clustered(&table).has_key_texts());
        let values = [Some(&b"a"[..]), None, Some(&[0; 4][..]), Some(&b"C"[..])];
        let (mut key, mut payload) = (Vec::new(), Vec::new());
        format.append_key(&values, 0, &mut key);
        format.encode(RowHeader::default(), &values, &[], &mut payload);
        let flags = SlotFlags::NONE;
        assert!(crate::check::fits_format(&key, &payload, flags, &format));
        assert!(!crate::check::fits_format(&key, &payload, flags, &format.without_key_texts()));
    }
}
