//! Rows written through a format and read back, clustered and secondary, over prefixes of any length.

use base::prng::Prng;
use base::{ColumnId, IndexId, PageNo, TableId, TrxId, UndoPtr};
use types::{
    CollationId, ColumnDef, ColumnDefault, IndexDef, IndexKind, KeyPart, SqlType, TableDef, TypeKind,
};

use crate::*;

pub(crate) fn column(id: u16, kind: TypeKind, nullable: bool) -> ColumnDef {
    ColumnDef {
        id: ColumnId(id),
        name: format!("c{id}").into(),
        ty: SqlType::new(kind, 20),
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

pub(crate) fn index(id: u32, kind: IndexKind, columns: &[(u16, bool)]) -> IndexDef {
    let parts = columns.iter().map(|&(column, desc)| KeyPart { column, prefix_len: None, desc });
    IndexDef {
        id: IndexId(id),
        name: format!("i{id}").into(),
        kind,
        parts: parts.collect(),
        comment: "".into(),
        names_btree: false,
        invisible: false,
        unknown: None,
    }
}

/// (a INT, v VARCHAR NULL, b BIGINT NULL, w VARBINARY, d DOUBLE NULL), PRIMARY (a), KEY (b DESC), KEY (v).
pub(crate) fn table() -> TableDef {
    TableDef {
        id: TableId(1),
        schema: "s".into(),
        name: "t".into(),
        columns: vec![
            column(1, TypeKind::Int, false),
            column(2, TypeKind::VarChar, true),
            column(3, TypeKind::BigInt, true),
            column(4, TypeKind::VarBinary, false),
            column(5, TypeKind::Double, true),
        ],
        indexes: vec![
            index(64, IndexKind::Primary, &[(0, false)]),
            index(65, IndexKind::Secondary, &[(2, true)]),
            index(66, IndexKind::Secondary, &[(1, false)]),
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

type Row = Vec<Option<Vec<u8>>>;

fn random_row(prng: &mut Prng) -> Row {
    let mut bytes = |len: u64| Some((0..len).map(|_| prng.next_u64() as u8).collect::<Vec<u8>>());
    let (a, v, b, w, d) = (bytes(4), bytes(7), bytes(8), bytes(3), bytes(8));
    let mut nullable = |value| if prng.below(3) == 0 { None } else { value };
    vec![a, nullable(v), nullable(b), w, nullable(d)]
}

fn values(row: &Row) -> Vec<Option<&[u8]>> {
    row.iter().map(Option::as_deref).collect()
}

fn page_with(format: &RowFormat, key: &[u8], payload: &[u8], flags: SlotFlags) -> Box<PageBytes> {
    let mut bytes = Box::new([0; PAGE_SIZE]);
    let mut page = PageMut::new(&mut bytes);
    page.format(&FormatPage {
        page_no: PageNo(5),
        level: 0,
        index_id: IndexId(64),
        version: 1,
        format_version: format.format_version(),
        fixed_key_len: format.fixed_key_len(),
        lower: key,
        upper: Some(&[&key[..key.len() / 2], &[0xff; 40]].concat()),
        right: PageNo::NONE,
    });
    page.append(key, payload, flags).unwrap();
    bytes
}

#[test]
fn a_clustered_row_reads_back_column_by_column() {
    let format = RowFormat::clustered(&table());
    assert_eq!(format.fixed_key_len(), Some(4));
    assert_eq!(format.columns()[0].place, Place::Key { part: 0 });
    let mut prng = Prng::new(1);
    for _ in 0..500 {
        let row = random_row(&mut prng);
        let header = RowHeader { trx: TrxId(77), undo: UndoPtr(0x12_3456_789a_bcde) };
        let mut payload = Vec::new();
        format.encode(header, &values(&row), &[], &mut payload);
        assert_eq!(payload.len(), format.payload_len(&values(&row)));
        let mut key = Vec::new();
        format.append_key(&values(&row), 0, &mut key);
        let bytes = page_with(&format, &key, &payload, SlotFlags::NONE);
        let read = RowRef::new(&format, PageRef::new(&bytes).record(0));
        assert_eq!((read.header(), read.trx()), (header, TrxId(77)));
        let mut scratch = Vec::new();
        for (position, want) in row.iter().enumerate() {
            assert_eq!(read.column(position, &mut scratch), want.as_deref());
            assert_eq!(read.is_null(position), want.is_none());
        }
    }
}

#[test]
fn a_secondary_entry_covers_its_columns_and_the_clustered_key() {
    let table = table();
    let by_int = RowFormat::secondary(&table, &table.indexes[1]);
    let by_text = RowFormat::secondary(&table, &table.indexes[2]);
    assert_eq!((by_int.covers(0), by_int.covers(2), by_int.covers(1)), (true, true, false));
    let mut prng = Prng::new(2);
    for step in 0..500u64 {
        let row = random_row(&mut prng);
        for (format, wanted) in [(&by_int, vec![0, 2]), (&by_text, vec![0, 1])] {
            let mut key = Vec::new();
            format.append_key(&values(&row), 0, &mut key);
            let mut flags = SlotFlags::NONE;
            let mut payload = Vec::new();
            if step % 2 == 0 {
                flags = flags.with(SlotFlags::HAS_BEGIN);
                key.extend_from_slice(&(step + 1).to_be_bytes()[2..]);
            }
            if step % 3 == 0 {
                flags = flags.with(SlotFlags::HAS_END).with(SlotFlags::DELETED);
                payload.extend_from_slice(&(step + 9).to_le_bytes()[..6]);
            }
            format.encode(RowHeader::default(), &values(&row), &[], &mut payload);
            let bytes = page_with(format, &key, &payload, flags);
            let read = RowRef::new(format, PageRef::new(&bytes).record(0));
            let begin = if step % 2 == 0 { TrxId(step + 1) } else { TrxId::NONE };
            assert_eq!(read.begin_trx(), begin);
            assert_eq!(read.end_trx(), (step % 3 == 0).then_some(TrxId(step + 9)));
            let mut scratch = Vec::new();
            for position in wanted {
                assert_eq!(read.column(position, &mut scratch), row[position].as_deref());
            }
        }
    }
}

#[test]
fn long_columns_leave_longest_first() {
    let format = RowFormat::clustered(&table());
    let (long, longer, longest) = (vec![1; 3000], vec![2; 4000], vec![3; 20_000]);
    let choose = |v: &[u8], w: &[u8]| {
        format.choose_off_page(&[Some(b"1234"), Some(v), None, Some(w), None], 4).unwrap()
    };
    assert_eq!(choose(b"a", b"b"), Vec::<u16>::new());
    assert_eq!(choose(b"a", &long), Vec::<u16>::new());
    assert_eq!(choose(&longer, &long), vec![1]);
    assert_eq!(choose(&longer, &longest), vec![3]);
    assert_eq!(choose(&longest, &longest), vec![1, 3]);

    let reference = OverflowRef { len: 20_000, first: PageNo(77), pages: 2, crc: 5, version: 1 };
    let mut payload = Vec::new();
    let encoded = reference.encode();
    let row = [Some(&b"1234"[..]), Some(b"short"), None, Some(&encoded), None];
    format.encode(RowHeader::default(), &row, &[3], &mut payload);
    let bytes = page_with(&format, &[0x80, 2, 3, 4], &payload, SlotFlags::NONE);
    let read = RowRef::new(&format, PageRef::new(&bytes).record(0));
    let mut scratch = Vec::new();
    assert_eq!(read.field(1, &mut scratch), Field::Bytes(b"short"));
    assert_eq!(read.field(3, &mut scratch), Field::OffPage(reference));
}

#[test]
fn a_row_that_keeps_its_columns_is_encoded_as_any_other() {
    let format = RowFormat::clustered(&table());
    let (mut prng, mut inline_rows) = (Prng::new(6), 0);
    let mut inline = vec![1, 2, 3];
    for _ in 0..2000 {
        let mut row = random_row(&mut prng);
        if prng.below(4) == 0 {
            row[1] = Some(vec![5; prng.below(3000) as usize]);
            row[3] = Some(vec![6; prng.below(3000) as usize]);
        }
        let (values, header) = (values(&row), RowHeader { trx: TrxId(77), undo: UndoPtr(1 << 50) });
        let key_len = if prng.below(2) == 0 { 4 } else { KEY_BYTES_MAX };
        inline.truncate(3);
        let is_inline = format.encode_inline(header, &values, key_len, &mut inline);
        assert_eq!(is_inline, format.choose_off_page(&values, key_len) == Ok(Vec::new()));
        let mut any = vec![1, 2, 3];
        if is_inline {
            format.encode(header, &values, &[], &mut any);
            inline_rows += 1;
        }
        assert_eq!(inline, any);
    }
    assert!((1000..2000).contains(&inline_rows), "{inline_rows} of 2000 rows");
}

#[test]
fn a_conversion_adds_drops_and_keeps() {
    let old_table = table();
    let mut new_table = table();
    new_table.format_version = 2;
    new_table.columns.remove(3);
    new_table.columns.insert(1, column(6, TypeKind::VarChar, false));
    new_table.columns.push(column(7, TypeKind::Int, true));
    let (old, new) = (RowFormat::clustered(&old_table), RowFormat::clustered(&new_table));
    let converter =
        RowConverter::new(&old, &new, |position| (position == 1).then_some(&b"default"[..]), |_| true);
    let reference = OverflowRef { len: 9000, first: PageNo(70), pages: 1, crc: 5, version: 1 };
    let encoded = reference.encode();
    let row = [Some(&[1u8, 0, 0, 0][..]), Some(b"text"), Some(b"12345678"), Some(&encoded), None];
    let header = RowHeader { trx: TrxId(3), undo: UndoPtr(4) };
    let mut payload = Vec::new();
    old.encode(header, &row, &[3], &mut payload);
    let bytes = page_with(&old, &[0x80, 0, 0, 1], &payload, SlotFlags::NONE);
    let mut converted = Vec::new();
    let row = RowRef::new(&old, PageRef::new(&bytes).record(0));
    converter.convert(&row, KeptValues::All, &mut converted);
    assert_eq!(converter.dropped_values(&row).collect::<Vec<_>>(), vec![reference]);
    assert!(converted.len() <= payload.len() + converter.growth_max());
    let bytes = page_with(&new, &[0x80, 0, 0, 1], &converted, SlotFlags::NONE);
    let read = RowRef::new(&new, PageRef::new(&bytes).record(0));
    assert_eq!(read.header(), header);
    let mut scratch = Vec::new();
    let want: [Option<&[u8]>; 6] =
        [Some(&[1, 0, 0, 0]), Some(b"default"), Some(b"text"), Some(b"12345678"), None, None];
    for (position, want) in want.into_iter().enumerate() {
        assert_eq!(read.column(position, &mut scratch), want, "column {position}");
    }
}

#[test]
fn an_integer_part_in_line_is_what_the_encoder_appends() {
    let kinds = [TypeKind::TinyInt, TypeKind::Int, TypeKind::BigInt, TypeKind::Date, TypeKind::VarChar];
    let mut prng = Prng::new(3);
    let mut in_line = 0;
    for (kind, unsigned, nullable, desc) in kinds
        .into_iter()
        .flat_map(|kind| (0..8).map(move |bits| (kind, bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)))
    {
        let mut table = table();
        table.columns[2] = column(3, kind, nullable);
        table.columns[2].ty.unsigned = unsigned;
        table.indexes[1] = index(65, IndexKind::Secondary, &[(2, desc)]);
        let format = RowFormat::secondary(&table, &table.indexes[1]);
        let part = &format.key_parts()[0];
        let encoder = part.encoder.as_ref().expect("it has keys");
        let width = types::storage::fixed_width(&table.columns[2].ty).unwrap_or(5);
        for _ in 0..200 {
            let storage = &prng.below(u64::MAX).to_le_bytes()[..width];
            let (mut fast, mut plain) = (vec![9], vec![9]);
            if part.append_int(storage, &mut fast) {
                encoder.append(Some(storage), &mut plain);
                in_line += 1;
            }
            assert_eq!(fast, plain, "{kind:?}, unsigned {unsigned}, nullable {nullable}, desc {desc}");
        }
    }
    assert_eq!(in_line, 2 * 4 * 200, "INT and BIGINT, NOT NULL");
}
