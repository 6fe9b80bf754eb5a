//! Pages whose bytes were changed and whose checksum was stamped again: refused, or readable in every way
//! that readers read.

use base::prng::Prng;
use base::{ColumnId, IndexId, PageNo, TableId};
use types::storage::{fixed_width, read};
use types::{
    CollationId, ColumnDef, ColumnDefault, IndexDef, IndexKind, KeyPart, SqlType, TableDef, TimeZone,
    TypeKind, Value, text,
};

use super::*;
use crate::{
    Field, FormatPage, HEADER_BYTES, PageMut, PageRef, RowFormat, RowHeader, RowRef, SlotFlags,
    stamp_checksum, verify_on_read,
};

const PAGE: PageNo = PageNo(9);
/// Writer of the records.
const WRITER: u64 = 500;

fn column(ty: SqlType, nullable: bool) -> ColumnDef {
    ColumnDef {
        id: ColumnId(0),
        name: "c".into(),
        ty,
        nullable,
        default: ColumnDefault::None,
        auto_increment: false,
        on_update_now: false,
        names_collation: false,
        unknown: None,
        invisible: false,
        comment: "".into(),
    }
}

/// A column of most types, nullable every other time, a clustered index of two columns and two secondary
/// ones.
fn table() -> TableDef {
    let fraction = |kind, fsp| SqlType { decimals: fsp, ..SqlType::new(kind, 20) };
    let members: Vec<Box<[u8]>> = ["x", "y", "z"].map(|m| m.as_bytes().into()).into();
    let of_members = |kind| SqlType { members: Some(members.clone().into()), ..SqlType::new(kind, 1) };
    let text = SqlType::varchar(20, CollationId::UTF8MB4_BIN);
    let types = [
        SqlType::new(TypeKind::Int, 11),
        SqlType { ..text.clone() },
        fraction(TypeKind::Date, 0),
        fraction(TypeKind::DateTime, 3),
        fraction(TypeKind::Time, 2),
        fraction(TypeKind::Timestamp, 6),
        SqlType::decimal(30, 10),
        SqlType::decimal(9, 2),
        of_members(TypeKind::Enum),
        of_members(TypeKind::Set),
        SqlType::new(TypeKind::Bit, 13),
        SqlType::varchar(40, CollationId::UTF8MB4_0900_AI_CI),
        SqlType::double(),
        SqlType::new(TypeKind::VarBinary, 30),
    ];
    let columns = types.into_iter().enumerate();
    let columns =
        columns.map(|(i, ty)| ColumnDef { id: ColumnId(i as u16), ..column(ty, i > 1 && i % 2 == 1) });
    let index = |id, kind, parts: &[(u16, bool)]| IndexDef {
        id: IndexId(id),
        name: "i".into(),
        kind,
        parts: parts.iter().map(|&(column, desc)| KeyPart { column, prefix_len: None, desc }).collect(),
        comment: "".into(),
        names_btree: false,
        invisible: false,
        unknown: None,
    };
    TableDef {
        id: TableId(1),
        schema: "s".into(),
        name: "t".into(),
        columns: columns.collect(),
        indexes: vec![
            index(64, IndexKind::Primary, &[(1, false), (0, true)]),
            index(65, IndexKind::Secondary, &[(2, true), (6, false), (3, false)]),
            index(66, IndexKind::Secondary, &[(11, false), (13, true)]),
        ],
        hidden_row_id: false,
        collation: CollationId::BINARY,
        comment: "".into(),
        format_version: 1,
        auto_increment_start: 1,
        create_time: 0,
        hints: Box::default(),
        unknown: None,
    }
}

/// Storage bytes of row `n`.
fn row(n: u64) -> Vec<Option<Vec<u8>>> {
    let le = |value: u64, width: usize| Some(value.to_le_bytes()[..width].to_vec());
    let moment = (2024 * 13 + 5) << 22 | (n % 28 + 1) << 17 | (n % 24) << 12 | (n % 60) << 6;
    let unless = |null: bool, value: Option<Vec<u8>>| if null { None } else { value };
    vec![
        le(n, 4),
        Some(format!("key {:05}", n / 2).into_bytes()),
        le(2024 << 9 | (n % 12 + 1) << 5 | 3, 3),
        unless(n.is_multiple_of(5), Some([&moment.to_le_bytes()[..5], &[0; 2]].concat())),
        le(n % 60, 4),
        unless(n.is_multiple_of(3), Some([&(n as u32).to_le_bytes()[..], &[0; 3]].concat())),
        Some([&n.to_le_bytes()[..], &[0; 5]].concat()),
        unless(n.is_multiple_of(7), le(n, 4)),
        le(n % 4, 1),
        unless(n.is_multiple_of(2), le(n % 8, 1)),
        le(n, 2),
        unless(n.is_multiple_of(4), Some("text ".repeat(n as usize % 5).into_bytes())),
        Some((n as f64).to_bits().to_le_bytes().to_vec()),
        unless(n.is_multiple_of(6), Some(vec![n as u8; n as usize % 20])),
    ]
}

/// A leaf with rows of the index at `position`, some of them marked, with begin and end ids.
fn leaf(table: &TableDef, position: usize) -> (Box<PageBytes>, RowFormat) {
    let format = RowFormat::of_index(table, &table.indexes[position]);
    let mut records: Vec<(Vec<u8>, Vec<u8>, SlotFlags)> = Vec::new();
    for n in 1..60 {
        let values = row(n);
        let values: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
        let (mut key, mut payload) = (Vec::new(), Vec::new());
        format.append_key(&values, 0, &mut key);
        let mut flags = if n.is_multiple_of(9) { SlotFlags::DELETED } else { SlotFlags::NONE };
        let off_page: &[u16] = if position == 0 && n.is_multiple_of(11) { &[13] } else { &[] };
        let reference = OverflowRef { len: 70_000, first: PageNo(90), pages: 5, crc: 1, version: 1 }.encode();
        let mut values = values;
        if !off_page.is_empty() {
            values[13] = Some(&reference);
        }
        let header = RowHeader { trx: base::TrxId(WRITER), ..RowHeader::default() };
        if position > 0 && n.is_multiple_of(9) {
            flags = flags.with(SlotFlags::HAS_END);
            payload.extend_from_slice(&WRITER.to_le_bytes()[..6]);
        }
        if position > 0 && n.is_multiple_of(4) {
            flags = flags.with(SlotFlags::HAS_BEGIN);
            key.extend_from_slice(&WRITER.to_be_bytes()[2..]);
        }
        format.encode(header, &values, off_page, &mut payload);
        records.push((key, payload, flags));
    }
    records.sort_by(|a, b| a.0.cmp(&b.0));
    let mut bytes = Box::new([0; PAGE_SIZE]);
    let mut page = PageMut::new(&mut bytes);
    page.format(&FormatPage {
        page_no: PAGE,
        level: 0,
        index_id: table.indexes[position].id,
        version: 1,
        format_version: 1,
        fixed_key_len: format.fixed_key_len(),
        lower: b"",
        upper: None,
        right: PageNo::NONE,
    });
    for (key, payload, flags) in &records {
        page.append(key, payload, *flags).expect("the records fit");
    }
    page.raise_trx_max(base::TrxId(WRITER));
    stamp_checksum(&mut bytes);
    (bytes, format)
}

fn verify(bytes: &PageBytes, format: &RowFormat) -> Result<(), Corruption> {
    verify_on_read(bytes, PAGE)?;
    check_records(PageRef::new(bytes), format)
}

/// Reads every column of every record, as values and as text.
fn read_all(page: PageRef<'_>, table: &TableDef, format: &RowFormat) {
    let (zone, mut scratch, mut shown) = (TimeZone::utc(), Vec::new(), Vec::new());
    for slot in 0..page.count() {
        let row = RowRef::new(format, page.record(slot));
        assert!(row.begin_trx().0.max(row.end_trx().unwrap_or_default().0) <= page.trx_max().0);
        for (position, column) in table.columns.iter().enumerate().filter(|(i, _)| format.covers(*i)) {
            row.is_null(position);
            row.in_body(position);
            match row.field(position, &mut scratch) {
                Field::Null => {}
                Field::OffPage(reference) => assert!(format.is_clustered() && reference.pages > 0),
                Field::Bytes(bytes) => {
                    assert!(fixed_width(&column.ty).is_none_or(|width| width == bytes.len()));
                    shown.clear();
                    text::write_text(&column.ty, bytes, &zone, &mut shown);
                    if let Value::Enum { index, members, .. } = read(&column.ty, bytes, &zone) {
                        assert!(usize::from(index) <= members.len());
                    }
                }
            }
        }
    }
}

#[test]
fn sound_pages_of_every_index_pass() {
    let table = table();
    for position in 0..table.indexes.len() {
        let (bytes, format) = leaf(&table, position);
        assert_eq!(verify(&bytes, &format), Ok(()), "index {position}");
        read_all(PageRef::new(&bytes), &table, &format);
    }
}

#[test]
fn pages_with_changed_bytes_are_refused_or_can_be_read() {
    let table = table();
    let mut prng = Prng::new(17);
    let (mut refused, mut read) = (0, 0);
    for round in 0..9000 {
        let (mut bytes, format) = leaf(&table, round % table.indexes.len());
        let heap = PageRef::new(&bytes).heap_top();
        for _ in 0..=prng.below(3) {
            // Most of a page is free space or text.
            let at = if prng.below(4) == 0 {
                prng.below(900) as usize
            } else {
                heap + prng.below((PAGE_SIZE - heap) as u64) as usize
            };
            bytes[at] =
                if prng.below(3) == 0 { prng.next_u64() as u8 } else { bytes[at] ^ 1 << prng.below(8) };
        }
        bytes[4..8].copy_from_slice(&PAGE.0.to_le_bytes());
        stamp_checksum(&mut bytes);
        match verify(&bytes, &format) {
            Err(_) => refused += 1,
            Ok(())
                if PageRef::new(&bytes).page_type() == PageType::BTree && PageRef::new(&bytes).is_leaf() =>
            {
                read_all(PageRef::new(&bytes), &table, &format);
                read += 1;
            }
            Ok(()) => {}
        }
    }
    assert!(refused > 1000 && read > 1000, "{refused} refused, {read} read");
}

/// What is said of a leaf of the index at `position` after `damage` to its first record's body.
fn told(position: usize, damage: impl FnOnce(&mut [u8], &RowFormat)) -> Option<CorruptionKind> {
    let table = table();
    let (mut bytes, format) = leaf(&table, position);
    let payload = PageRef::new(&bytes).payload(0);
    let from = payload.as_ptr().addr() - bytes.as_ptr().addr();
    let to = from + payload.len();
    damage(&mut bytes[from..to], &format);
    stamp_checksum(&mut bytes);
    verify(&bytes, &format).err().map(|bad| bad.what)
}

#[test]
fn column_ends_that_leave_the_record_or_fall_are_refused() {
    for end in [0xffff, 0x7fff, 0, 0x8000] {
        let what = told(0, |body, format| {
            let at = format.ends_from();
            body[at..at + 2].copy_from_slice(&u16::to_le_bytes(end));
        });
        assert_eq!(what, Some(CorruptionKind::Record), "end {end}");
    }
}

#[test]
fn values_that_are_none_of_their_type_are_refused() {
    let table = table();
    let format = RowFormat::of_index(&table, &table.indexes[0]);
    for (position, bytes) in [(2, [0xff; 8]), (4, [0x7f; 8]), (6, [0x7f; 8]), (8, [9; 8]), (10, [0xff; 8])] {
        let crate::Place::Fixed { offset, width } = format.columns()[position].place else {
            panic!("column {position} has one width")
        };
        let what = told(0, |body, _| {
            body[usize::from(offset)..usize::from(offset + width)]
                .copy_from_slice(&bytes.repeat(2)[..usize::from(width)]);
        });
        assert_eq!(what, Some(CorruptionKind::Record), "column {position}");
    }
}

#[test]
fn a_writer_above_the_highest_of_the_page_is_refused() {
    assert_eq!(told(0, |body, _| body[5] = 1), Some(CorruptionKind::Writer));
}

#[test]
fn keys_out_of_order_and_links_to_the_page_itself_are_refused() {
    let table = table();
    let (sound, format) = leaf(&table, 0);
    let damaged = |damage: &dyn Fn(&mut PageBytes)| {
        let mut bytes = sound.clone();
        damage(&mut bytes);
        stamp_checksum(&mut bytes);
        verify(&bytes, &format).err().map(|bad| bad.what)
    };
    let swapped = damaged(&|bytes| {
        for i in 0..HEAD_BYTES {
            bytes.swap(HEADER_BYTES + i, HEADER_BYTES + 3 * HEAD_BYTES + i);
        }
    });
    assert_eq!(swapped, Some(CorruptionKind::KeyOrder));
    let itself = damaged(&|bytes| put_u32(bytes, RIGHT, PAGE.0));
    assert_eq!(itself, Some(CorruptionKind::Link));
}
