//! Weights and keys against what a MySQL 9.7 server's WEIGHT_STRING says.

use std::cmp::Ordering;

use super::*;

/// Folds the weights of the code points of block `block` (4,096 of them) into one number: FNV-1a over the
/// bytes of each character's WEIGHT_STRING and their count.
fn block_checksum(collation: &Collation, block: u32) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut fold = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    let mut weights = Vec::new();
    for c in (block << 12..(block + 1) << 12).filter_map(char::from_u32) {
        weights.clear();
        collation.weight_string(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut weights);
        weights.iter().copied().for_each(&mut fold);
        fold(weights.len() as u8);
    }
    hash
}

fn collation(id: CollationId) -> &'static Collation {
    id.collation().unwrap()
}

#[test]
fn weights_of_0900_ai_ci_are_those_of_mysql() {
    for (block, checksum) in MYSQL_0900_AI_CI {
        assert_eq!(
            block_checksum(collation(CollationId::UTF8MB4_0900_AI_CI), block),
            checksum,
            "block {block:x}"
        );
    }
}

#[test]
fn weights_of_general_ci_are_those_of_mysql() {
    for (block, checksum) in MYSQL_GENERAL_CI {
        assert_eq!(
            block_checksum(collation(CollationId::UTF8MB4_GENERAL_CI), block),
            checksum,
            "block {block:x}"
        );
    }
}

#[test]
fn weights_of_unicode_ci_are_those_of_mysql() {
    for (id, sums) in [
        (CollationId::UTF8MB4_UNICODE_CI, &MYSQL_UNICODE_CI[..]),
        (CollationId::UTF8MB4_UNICODE_520_CI, &MYSQL_UNICODE_520_CI),
    ] {
        for (block, checksum) in sums {
            assert_eq!(block_checksum(collation(id), *block), *checksum, "{id}, block {block:x}");
        }
    }
}

#[test]
fn unicode_conformance_strings_are_in_order() {
    let collation = collation(CollationId::UTF8MB4_0900_AI_CI);
    for pair in CONFORMANCE.windows(2) {
        assert_ne!(collation.compare(pair[0].as_bytes(), pair[1].as_bytes()), Ordering::Greater, "{pair:?}");
    }
}

#[test]
fn case_is_that_of_mysql() {
    for (block, checksum) in MYSQL_CASE {
        let mut hash = 0xCBF2_9CE4_8422_2325_u64;
        for c in (block << 12..(block + 1) << 12).filter_map(char::from_u32) {
            let mut buffer = [0; 4];
            let text = c.encode_utf8(&mut buffer).as_bytes();
            let mut both = [Vec::new(), Vec::new()];
            Charset::Utf8mb4.append_upper(text, &mut both[0]);
            Charset::Utf8mb4.append_lower(text, &mut both[1]);
            // MySQL has no room for results with more bytes, and returns nothing.
            for byte in both.into_iter().filter(|b| b.len() <= text.len()).flatten() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
            }
        }
        assert_eq!(hash, checksum, "block {block:x}");
    }
}

#[test]
fn strings_compare_as_in_mysql() {
    for (id, a, b, expected) in MYSQL_COMPARES {
        let collation = collation(CollationId(*id));
        assert_eq!(collation.compare(a, b), *expected, "{} {a:x?} {b:x?}", collation.name);
        assert_eq!(collation.compare(b, a), expected.reverse(), "{} {b:x?} {a:x?}", collation.name);
    }
}

#[test]
fn like_is_that_of_mysql() {
    for (id, text, pattern, escape, expected) in MYSQL_LIKES {
        let collation = collation(CollationId(*id));
        let like = LikePattern::new(pattern, Some(u32::from(*escape)), collation);
        assert_eq!(like.matches(text), *expected, "{} {text:x?} like {pattern:x?}", collation.name);
    }
}

#[test]
fn pieces_of_a_pattern_are_found_in_order() {
    for id in [
        CollationId::UTF8MB4_BIN,
        CollationId::UTF8MB4_0900_AI_CI,
        CollationId::BINARY,
        CollationId::LATIN1_BIN,
    ] {
        let like = |text: &str, pattern: &str| {
            LikePattern::new(pattern.as_bytes(), None, collation(id)).matches(text.as_bytes())
        };
        for (text, pattern) in
            [("", "%"), ("abc", "%"), ("abcabd", "%abd"), ("aXbXc", "a%b%c"), ("aa", "a%a"), ("ab", "%%a_%")]
        {
            assert!(like(text, pattern), "{text} {pattern}");
        }
        for (text, pattern) in
            [("", "_"), ("a", "a%a"), ("abcabe", "abd%"), ("abc", "%c%b%"), ("a ", "a"), ("ab", "a_%_")]
        {
            assert!(!like(text, pattern), "{text} {pattern}");
        }
    }
    let mut prefix = Vec::new();
    assert!(!LikePattern::literal_prefix(b"a|%b%c", Some(0x7C), Charset::Utf8mb4, &mut prefix));
    assert_eq!(prefix, b"a%b");
    assert!(LikePattern::literal_prefix(b"c", None, Charset::Latin1, &mut prefix));
}

#[test]
fn collations_are_found_by_name_and_number() {
    for collation in Collation::all() {
        assert_eq!(Collation::find(&collation.name.to_uppercase()).unwrap().id, collation.id);
        assert_eq!(collation.id.collation().unwrap().name, collation.name);
        assert_eq!(collation.is_default, collation.charset.default_collation() == collation.id);
        assert!(collation.name == "binary" || collation.name.starts_with(collation.charset.name()));
    }
    assert!(Collation::find("utf8mb4_polish_ci").is_none());
    assert!(CollationId(21).collation().is_none());
    assert_eq!(Charset::find("UTF8MB4"), Some(Charset::Utf8mb4));
    assert_eq!(Charset::find("utf8"), Some(Charset::Utf8mb3));
    assert_eq!(Collation::find("UTF8_bin").map(|collation| collation.id), Some(CollationId::UTF8MB3_BIN));
}

/// Checksums of weights that MySQL 9.7.4 gives, by block.
const MYSQL_0900_AI_CI: [(u32, u64); 49] = [
    (0x00, 0xA5AB20DA28CBA92D),
    (0x01, 0x79E7CCE1F183D608),
    (0x02, 0xA9349FEDFAEC9562),
    (0x03, 0xA137A0134C350DE4),
    (0x04, 0x6EDA0E8FD3ACB2A5),
    (0x05, 0x5BD008C7FC1D8325),
    (0x06, 0x7B404157B11BA125),
    (0x07, 0x5574E5A880FF7125),
    (0x08, 0xCED43DBA31ED0325),
    (0x09, 0x0ABDF3D5A1A11725),
    (0x0A, 0xA5EB2A5CFABF3297),
    (0x0B, 0xD304EA4B6FA77CFD),
    (0x0C, 0x8D31894D00A95343),
    (0x0D, 0xEBD984AE1D860A4A),
    (0x0E, 0x9EDDCE5CE2CC5325),
    (0x0F, 0xC6880104CA106B54),
    (0x10, 0x5133C58048C846C7),
    (0x11, 0x5F734FFCDC00B2A5),
    (0x12, 0x97F9BD0FD1AA512F),
    (0x13, 0xC717B3B1B140464B),
    (0x14, 0xCF24736977B151FF),
    (0x15, 0x35BC78E6EC670B25),
    (0x16, 0x27A2FB0968DA795E),
    (0x17, 0x8C4CCF657CCAC525),
    (0x18, 0x73B686B1F97BED25),
    (0x19, 0x27ACC6336EBD0F25),
    (0x1A, 0xD20A8C2248FBD125),
    (0x1B, 0xDC9B022B32E59731),
    (0x1C, 0x9E3EDEA817191B25),
    (0x1D, 0x45BD2A17804F5EB8),
    (0x1E, 0x552CFAC0DC4B355F),
    (0x1F, 0x70B3A09CFD725925),
    (0x20, 0x649CD0E3B56EBF25),
    (0x21, 0x01048B5EE44FA125),
    (0x22, 0x63C39AA4417D1925),
    (0x23, 0x40EF284F7CD96725),
    (0x24, 0x5D8F96C5FCBF8D25),
    (0x25, 0xF1050E8AE2242B25),
    (0x26, 0xB7B8EA92C4204525),
    (0x27, 0x8BE3B41682785125),
    (0x28, 0x65FF1372B5F06325),
    (0x29, 0xA83380C86C923D25),
    (0x2A, 0x76199DCB156411E5),
    (0x2B, 0x9855DB96EBF2F9E5),
    (0x2C, 0xC76FD05B0A4E2925),
    (0x2D, 0xCBA186C300271925),
    (0x2E, 0x446A8D0F9B409725),
    (0x2F, 0x4602CB3067982D19),
    (0xE0, 0x6D82D941FFABA521),
];

const MYSQL_UNICODE_CI: [(u32, u64); 19] = [
    (0x00, 0x73870FF92AEADC08),
    (0x01, 0x5152D47308404305),
    (0x02, 0x7188A39A688EE98D),
    (0x03, 0xBD4697A0EE4F1014),
    (0x04, 0x440ECD4A06373125),
    (0x05, 0x5BD008C7FC1D8325),
    (0x06, 0x7B404157B11BA125),
    (0x07, 0x5574E5A880FF7125),
    (0x08, 0xCED43DBA31ED0325),
    (0x09, 0xCA8C883E4A1E1625),
    (0x0A, 0x2105446D9331AAAA),
    (0x0B, 0xCD911C77679CCB25),
    (0x0C, 0x560B7FB6EFE65125),
    (0x0D, 0x6D5991434BB48325),
    (0x0E, 0x9EDDCE5CE2CC5325),
    (0x0F, 0xB07181E7976D0431),
    (0x10, 0x17FA80FDCF41A325),
    (0x1F, 0x17FA80FDCF41A325),
    (0x20, 0x17FA80FDCF41A325),
];

const MYSQL_UNICODE_520_CI: [(u32, u64); 39] = [
    (0x00, 0x13697543A08B3602),
    (0x01, 0xB3676375C20B1F85),
    (0x02, 0xBB88D7C704726B1C),
    (0x03, 0x79EF3DBC455764D1),
    (0x04, 0x046A62BBB253D1E5),
    (0x05, 0x5BD008C7FC1D8325),
    (0x06, 0x7B404157B11BA125),
    (0x07, 0x5574E5A880FF7125),
    (0x08, 0xCED43DBA31ED0325),
    (0x09, 0xCA8C883E4A1E1625),
    (0x0A, 0x261CC99A9E707541),
    (0x0B, 0xCD911C77679CCB25),
    (0x0C, 0x560B7FB6EFE65125),
    (0x0D, 0x46E3F41309F03A9A),
    (0x0E, 0x9EDDCE5CE2CC5325),
    (0x0F, 0xFD79C9341FA830F4),
    (0x10, 0x659BBE842900904A),
    (0x11, 0xCB6149E2D65928E3),
    (0x12, 0x2728E63A09CE1028),
    (0x13, 0x7C28085C14965B22),
    (0x14, 0x50B12319743F8925),
    (0x15, 0x35BC78E6EC670B25),
    (0x16, 0x90B1CBC235D5FF25),
    (0x17, 0x6959838126EED725),
    (0x18, 0xD3C38D981DA76B25),
    (0x19, 0x27ACC6336EBD0F25),
    (0x1A, 0xD20A8C2248FBD125),
    (0x1B, 0x0BDE37C6CF792725),
    (0x1C, 0x9E3EDEA817191B25),
    (0x1D, 0xB01C2DCC370A3C26),
    (0x1E, 0x6BB4AEF4ED1CFD25),
    (0x1F, 0x5B24939D182ABC8C),
    (0x20, 0xDBE048E564121125),
    (0x21, 0x96EB268DE474AF25),
    (0x2A, 0x0566F961F1DBD925),
    (0x2F, 0x4602CB3067982D19),
    (0x30, 0x3F09B070FB747525),
    (0xE0, 0x6D82D941FFABA521),
    (0x10F, 0xAC569E6CF26C9F25),
];

const MYSQL_GENERAL_CI: [(u32, u64); 17] = [
    (0x00, 0xA9675F6EAB52E3FF),
    (0x01, 0x2293FA49441D0914),
    (0x02, 0x2455F29DE1DCB3F5),
    (0x03, 0x8BECE6A2B9D1EF25),
    (0x04, 0x4AFE2664FE4C6B25),
    (0x05, 0x31CEE291B2A37525),
    (0x06, 0x2F70779A7B493725),
    (0x07, 0x66E97C72BCDF1B25),
    (0x08, 0xFFB7CCABE8292725),
    (0x09, 0x01DE905BD8CE2525),
    (0x0A, 0x4CE11290438F8B25),
    (0x0B, 0x033896F628357B25),
    (0x0C, 0x90E5A005E627DB25),
    (0x0D, 0xA05878D9C0B6D725),
    (0x0E, 0x809FD0C6732EFF25),
    (0x0F, 0xC78ABDD07EFE3CA5),
    (0x10, 0x17FA80FDCF41A325),
];

/// Checksums of UPPER and LOWER.
const MYSQL_CASE: [(u32, u64); 32] = [
    (0x00, 0xCA3AE7CBD4FDBB47),
    (0x01, 0x9943DCDE55175F1A),
    (0x02, 0x1ADB99020B3E3386),
    (0x03, 0x29348685B6C88E25),
    (0x04, 0x3EC7515C68C03725),
    (0x05, 0x5A3B6AA2F43ABC25),
    (0x06, 0x43732E0E80A93B25),
    (0x07, 0x00D3964685F34225),
    (0x08, 0xABB91F03911F7525),
    (0x09, 0x584B7A96517AD425),
    (0x0A, 0x5BB4403BC73F9B1E),
    (0x0B, 0x4C6DBD07ADD53025),
    (0x0C, 0x0E60983DCDB74925),
    (0x0D, 0x6CB6C1C9400C42A5),
    (0x0E, 0xED0D4697E05EF125),
    (0x0F, 0x315D84F887078401),
    (0x10, 0xC21C478A472D509D),
    (0x11, 0x5E163291A6DEC9E5),
    (0x12, 0x4572AC94DDBEFD25),
    (0x13, 0x42D3474B6A9B2D25),
    (0x14, 0x69B32C51B24E1325),
    (0x15, 0x3130296078DC2125),
    (0x16, 0x1E7141B484E75125),
    (0x17, 0x3396786B8221FF25),
    (0x18, 0x22CA36C0ABA28B25),
    (0x19, 0xAEA620692DB06525),
    (0x1A, 0x2F4907F14914E325),
    (0x1B, 0x8665A46DBEB8EF25),
    (0x1C, 0xB145B102A3348F25),
    (0x1D, 0xE4EB0BE812C5A725),
    (0x1E, 0x99BA9D2EAD7B2C9D),
    (0x1F, 0xA1C879609F86C325),
];

/// STRCMP: collation, two strings, order.
const MYSQL_COMPARES: &[(u16, &[u8], &[u8], Ordering)] = &[
    (255, b"s!", b"s! \x09", Ordering::Less),
    (255, b"\xC3\x86bbA", b"\xC3\x86bbA\xE4\xB8\xAD", Ordering::Less),
    (
        255,
        b"\xEF\xAC\x83\x09\xF0\x9F\x98\x81\xF0\x9F\x98\x81",
        b"\xEF\xAC\x83\x09A\xF0\x9F\x98\x81\xEF\xAC\x83",
        Ordering::Less,
    ),
    (255, b"bb\xE4\xB8\x80bb", b"bebbb", Ordering::Less),
    (255, b"\xF0\x9F\x98\x81Z", b"\xF0\x9F\x98\x81Z\xF0\x9F\x98\x80\x1F", Ordering::Less),
    (255, b"\x00\xF0\x9F\x98\x80", b"\xF0\x9F\x98\x80\x01", Ordering::Equal),
    (255, b"Z\x00Z", b"Z\x00Z\x00", Ordering::Equal),
    (255, b" \x01\x01\xEF\xAC\x83", b" \x01\x01\xEF\xAC\x83\x01", Ordering::Equal),
    (255, b"\x00\xCC\x81\xC3\xB6", b"\xCC\x81\xCC\x81\xC3\xB6", Ordering::Equal),
    (255, b"!\xF0\x9F\x98\x81", b"!\xF0\x9F\x98\x81\x1F", Ordering::Equal),
    (255, b"\xC3\x9F", b"s", Ordering::Greater),
    (
        255,
        b"\x09\xE4\xB8\x80\xE4\xB8\x80\xE3\x84\xB1",
        b"\x09\xE3\x84\xB1\x09\xE3\x84\xB1",
        Ordering::Greater,
    ),
    (255, b"\xC3\xA4\x1FZZ", b"\xC3\xA4\xC3\xA4ZZ", Ordering::Greater),
    (255, b"\xE4\xB8\xAD", b"\xC3\x9F", Ordering::Greater),
    (
        255,
        b"\xEF\xB7\xBA\xEF\xB7\xBA\x09\xE3\x84\xB1",
        b"\xEF\xAC\x83\xEF\xB7\xBA\x09\xE3\x84\xB1\xE3\x84\xB1",
        Ordering::Greater,
    ),
    (45, b"\xC3\xB6\xC3\xB6Aa\xC3\xB6", b"\xC3\xB6\xC3\xB6\xC3\xB6a\xC3\xB6", Ordering::Less),
    (
        45,
        b"\xEF\xAC\x83\x01\xF0\x9F\x98\x81\x01\xEF\xAC\x83",
        b"\xEF\xAC\x83\xF0\x9F\x98\x81\xF0\x9F\x98\x81\x01\xEF\xAC\x83",
        Ordering::Less,
    ),
    (
        45,
        b"\xE4\xB8\xAD\xE4\xB8\xADa\xEA\xB0\x80\xEA\xB0\x80",
        b"\xE4\xB8\xAD\xE4\xB8\xADa\xEA\xB0\x80\xEA\xB0\x80b",
        Ordering::Less,
    ),
    (45, b"\x1F\x1F", b"\x1F!s", Ordering::Less),
    (45, b"\xCC\x81\x09fff", b"\xCC\x81\xCC\x81bff", Ordering::Less),
    (45, b"\xC3\xA4", b"\xC3\xA4 ", Ordering::Equal),
    (45, b"\x09f\xEF\xAC\x83 \xEF\xAC\x83", b"\x09f\xEF\xAC\x83 \xEF\xAC\x83 ", Ordering::Equal),
    (45, b" \x01\xEF\xAC\x83", b" \x01\xEF\xAC\x83 ", Ordering::Equal),
    (45, b"\xEF\xB7\xBA \x09\xF0\x9F\x98\x80", b"\xEF\xB7\xBA \x09\xF0\x9F\x98\x80 ", Ordering::Equal),
    (45, b"\xEA\xB0\x80\xC3\xA4\xEA\xB0\x80", b"\xEA\xB0\x80\xC3\xA4\xEA\xB0\x80  ", Ordering::Equal),
    (45, b"\xE4\xB8\xAD\xE4\xB8\xAD", b"\xE4\xB8\xAD\xE3\x84\xB1", Ordering::Greater),
    (45, b"B\xE3\x84\xB1a", b"BBa", Ordering::Greater),
    (45, b"\xCC\x81\xC3\xB6\xF0\x9F\x98\x80", b"\x01\xC3\xB6\xF0\x9F\x98\x80\xC3\xA9", Ordering::Greater),
    (45, b"aB\xEF\xB7\xBA", b"aB\xE3\x84\xB1", Ordering::Greater),
    (
        45,
        b"\xC3\x9F\x1F\xE3\x84\xB1\xE3\x84\xB1",
        b"\xC3\x9F\x1F\xE3\x84\xB1\xE3\x84\xB1\x01",
        Ordering::Greater,
    ),
    (46, b"  ", b" \xE4\xB8\x80\xC3\xB6", Ordering::Less),
    (46, b"\xC3\xA4\x1F", b"\xC3\xA4\x1Fe", Ordering::Less),
    (46, b"\x00\xEF\xB7\xBA\xC3\xA4\x09", b"\x00\xEF\xB7\xBA\xC3\xA4\x09\xEF\xB7\xBA", Ordering::Less),
    (
        46,
        b"\xE4\xB8\x80\xC3\xB6\x01\xEA\xB0\x80\x01",
        b"\xE4\xB8\x80\xC3\xB6\x01\xEA\xB0\x80\x01\xF0\x9F\x98\x80",
        Ordering::Less,
    ),
    (46, b"e\xF0\x9F\x98\x81s", b"e\xF0\x9F\x98\x81se", Ordering::Less),
    (46, b"\xCC\x81eAe", b"\xCC\x81eAe ", Ordering::Equal),
    (46, b"\xE4\xB8\xAD   Z", b"\xE4\xB8\xAD   Z ", Ordering::Equal),
    (46, b"\xE4\xB8\xAD\xC3\x9FffB", b"\xE4\xB8\xAD\xC3\x9FffB ", Ordering::Equal),
    (46, b"\xE4\xB8\x80f\xC3\xA9", b"\xE4\xB8\x80f\xC3\xA9 ", Ordering::Equal),
    (46, b"\xF0\x9F\x98\x81\xC3\x9F", b"\xF0\x9F\x98\x81\xC3\x9F ", Ordering::Equal),
    (46, b"\xE4\xB8\xAD\xC3\xB6B\x09", b"\xE4\xB8\xAD\xC3\xB6B\x09\x09B", Ordering::Greater),
    (46, b"\x09\xEF\xB7\xBA\xC3\x9F", b"\x09\x09 ", Ordering::Greater),
    (46, b"b\xE4\xB8\x80bs\xE4\xB8\x80", b"bbb\xE4\xB8\x80\xE4\xB8\x80", Ordering::Greater),
    (46, b"\xEF\xB7\xBA\xC3\xB6", b"\xE4\xB8\x80\xC3\xB6", Ordering::Greater),
    (46, b"\xC3\xA4\xC3\xB6\x09", b"\xC3\xA4\xC3\xB6\x09\x1F", Ordering::Greater),
    (
        309,
        b"\xE4\xB8\x80\xC3\xB6AA\xCC\x81",
        b"\xE4\xB8\x80\xC3\xB6A\xE4\xB8\x80\xCC\x81\xE4\xB8\x80",
        Ordering::Less,
    ),
    (309, b"\x1F\xE3\x84\xB1 ", b"\x1F\xE3\x84\xB1 \xC3\xA9", Ordering::Less),
    (309, b"\xC3\xA4f f ", b"\xC3\xA4f \xC3\xA4 f", Ordering::Less),
    (309, b"f\xC3\x9FZZ\xEF\xB7\xBA", b"f\xC3\x9FZZ\xEF\xB7\xBAf", Ordering::Less),
    (309, b"\x1F\x1F\x1Fa", b"\x1F\x1F\x1Faa", Ordering::Less),
    (309, b" \xC3\x9F\xEF\xAC\x83Z", b"\x09\xC3\x9F\xEF\xAC\x83Z", Ordering::Greater),
    (
        309,
        b"\xEF\xB7\xBA\xF0\x9F\x98\x80\xEF\xAC\x83",
        b"\xEF\xB7\xBA\xE3\x84\xB1\xEF\xAC\x83",
        Ordering::Greater,
    ),
    (309, b"\x1F\xEF\xB7\xBA", b"\x1F\xCC\x81", Ordering::Greater),
    (309, b"\xCC\x81\xC3\xA9a\xC3\xA9\xC3\x9F", b"\xC3\x86\xCC\x81a\xC3\xA9\xC3\x9F", Ordering::Greater),
    (309, b"\xC3\x9F", b"f", Ordering::Greater),
    (8, b"\xB7 A", b"\xB7 A\xB7", Ordering::Less),
    (8, b"aaa\x09", b"aAaa", Ordering::Less),
    (8, b"a\"", b"a\"aa", Ordering::Less),
    (8, b"\xDB\x13", b"\xDBa\xDB", Ordering::Less),
    (8, b"\x09\xF7\xF7A", b"A\xF7\xF7A", Ordering::Less),
    (8, b"AI?I", b"AI?I ", Ordering::Equal),
    (8, b"\x9C\xF2a\x09V", b"\x9C\xF2A\x09V", Ordering::Equal),
    (8, b"\xE3  A", b"\xE3  a", Ordering::Equal),
    (8, b"\x09xx", b"\x09xx ", Ordering::Equal),
    (8, b"44I\x09\x82", b"44I\x09\x82 ", Ordering::Equal),
    (8, b"\xFD\x09A", b"A\x09A ", Ordering::Greater),
    (8, b"a a\x09", b"  a\x09", Ordering::Greater),
    (8, b"\x01a\x09 ", b"\x01 \x09\x09", Ordering::Greater),
    (8, b" a", b" a\x09\x84", Ordering::Greater),
    (8, b" a\xB8", b" \x09\xB8", Ordering::Greater),
    (47, b"+\x80  ", b"+\x80  k", Ordering::Less),
    (47, b"a\x09\xA6", b"aK\xA6", Ordering::Less),
    (47, b"\x14\x14\x14\x14", b"~\x14\x14\x14\x09", Ordering::Less),
    (47, b"\x1Ea\xB1A", b"Aa\xB1A", Ordering::Less),
    (47, b" A\xA9\xE4&", b"\xA9AA\xE4&", Ordering::Less),
    (47, b"AAa ", b"AAa  ", Ordering::Equal),
    (47, b"aA", b"aA ", Ordering::Equal),
    (47, b";\xC6\x09", b";\xC6\x09 ", Ordering::Equal),
    (47, b" a \x09\x09", b" a \x09\x09 ", Ordering::Equal),
    (47, b"a\x09\x98", b"a\x09\x98 ", Ordering::Equal),
    (47, b"\xABa'", b"aa'\x09", Ordering::Greater),
    (47, b"\x90\x09;", b" \x09;\x90", Ordering::Greater),
    (47, b"\xFC\x9C\xB9", b"\x09\x9C\xB9", Ordering::Greater),
    (47, b":\x95a", b":\x95 ", Ordering::Greater),
    (47, b"A\x86", b"Aa", Ordering::Greater),
    (11, b"\x07A\x1F", b"\x1FA\x1Fa", Ordering::Less),
    (11, b"AP P", b"TP P5", Ordering::Less),
    (11, b"a5@@", b"a5@@A5", Ordering::Less),
    (11, b" A ", b" A A", Ordering::Less),
    (11, b"Aa \x01", b"Fa \x01F", Ordering::Less),
    (11, b"Aa--", b"Aa-- ", Ordering::Equal),
    (11, b" \x0CA\x0C\x0D", b" \x0CA\x0C\x0D ", Ordering::Equal),
    (11, b"aA", b"aA ", Ordering::Equal),
    (11, b" \x0D\x0D", b" \x0D\x0D ", Ordering::Equal),
    (11, b"\x16 Ak]", b"\x16 Ak] ", Ordering::Equal),
    (11, b"+a'aa", b"+a' a", Ordering::Greater),
    (11, b"Fa", b"F'", Ordering::Greater),
    (11, b"])", b" )A", Ordering::Greater),
    (11, b" A+", b" A\x1C+", Ordering::Greater),
    (11, b"g\x1Ba\x1B", b"g\x1Ba\x1B\x1B", Ordering::Greater),
    (65, b"aaxZa", b"aaxZaPx", Ordering::Less),
    (65, b"\x14vv\x14", b"\x14vv\x14vl", Ordering::Less),
    (65, b" o NN", b" o aN", Ordering::Less),
    (65, b"A\x08", b"A3 ", Ordering::Less),
    (65, b" A?[", b" A?[A", Ordering::Less),
    (65, b"a}a}", b"a}a} ", Ordering::Equal),
    (65, b"A\x13Aa ", b"A\x13Aa  ", Ordering::Equal),
    (65, b"A ", b"A  ", Ordering::Equal),
    (65, b"AaCC^", b"AaCC^ ", Ordering::Equal),
    (65, b"\x0C\x0C", b"\x0C\x0C ", Ordering::Equal),
    (65, b"n \x1Fao", b"n \x1Fao\x1Fa", Ordering::Greater),
    (65, b"As", b";>", Ordering::Greater),
    (65, b"AaA", b"\x18aAa", Ordering::Greater),
    (65, b"tt,", b"tt,\x11", Ordering::Greater),
    (65, b"a~", b"A~", Ordering::Greater),
    (63, b"\xA1dad\xA1", b"\xA1dad\xA1\xEE", Ordering::Less),
    (63, b" el\x09", b" el\x9Aa", Ordering::Less),
    (63, b"aA\xBF|\x09", b"aA\xBF|a", Ordering::Less),
    (63, b"))", b"))\x10", Ordering::Less),
    (63, b"aY\xAC a", b"aY\xAC aa", Ordering::Less),
    (63, b"\xADh h ", b"\xADh h\x09", Ordering::Greater),
    (63, b"\xA4\xA4\xA4\xA4\xA4", b"\xA4\xA4\xA4\xA4 ", Ordering::Greater),
    (63, b"CC", b"C\x09\xAA", Ordering::Greater),
    (63, b"\x09AA\xBB\xF4", b"\x09AAA\x09", Ordering::Greater),
    (63, b"\xCD\x09", b"p\x09", Ordering::Greater),
];

/// LIKE: collation, string, pattern, escape character, result.
type LikeSample = (u16, &'static [u8], &'static [u8], u8, bool);

const MYSQL_LIKES: &[LikeSample] = &[
    (255, b"AaA", b"A%%", b'\\', true),
    (255, b"\x01\xCC\x81_", b"%\x01%_", b'|', true),
    (255, b" \x01\x01", b" %_%", b'\\', true),
    (255, b"AeA", b"A%%%", b'\\', true),
    (255, b"aaa", b"a_%%", b'|', true),
    (255, b"%fb", b"%%f%", b'\\', true),
    (255, b"\x02\xC3\x86", b"%\x02_", b'\\', true),
    (255, b"Bbb", b"B_b", b'\\', true),
    (255, b"\x01\x01 ", b"%_ ", b'\\', true),
    (255, b" \xC3\xA4", b"%\xC3\xA4", b'\\', true),
    (255, b"_bA\x01", b"\xC3\xA9bA\x01", b'\\', false),
    (255, b"\xC3\x9F\x02", b"%\xC3\x9F\xEA\xB0\x80%", b'\\', false),
    (255, b"\x01\x01a\x01a", b"%_\\a\x01%", b'|', false),
    (255, b"%ss", b"%bs%", b'\\', false),
    (255, b"\xC3\x9FB%B", b"\xC3\x9FB_|%", b'\\', false),
    (255, b"\\\x01\xC3\x9F", b"%_\x01\x01", b'\\', false),
    (255, b"\xE4\xB8\xAD \xC3\xA4", b"%% |", b'\\', false),
    (255, b"f\x01\xE4\xB8\xAD", b"%_f\\\x01%%", b'\\', false),
    (45, b"aab", b"aa_", b'\\', true),
    (45, b"_\xC3\xA9s", b"_%_s%", b'\\', true),
    (45, b"\xEA\xB0\x80", b"%_%", b'\\', true),
    (45, b"fbf", b"fb%", b'\\', true),
    (45, b"A_s", b"%_s", b'\\', true),
    (45, b"\xC3\x9Fb", b"%\xC3\x9F_", b'\\', true),
    (45, b"s\\A", b"%_%_", b'\\', true),
    (45, b"\xC3\x86\\B", b"\xC3\x86_B", b'\\', true),
    (45, b"\xE3\x84\xB1s", b"%__", b'|', true),
    (45, b"\xC3\x9F\xC3\x9F", b"_\xC3\x9F", b'\\', true),
    (45, b"   ", b"__ \\%", b'|', false),
    (45, b"\xE4\xB8\xAD\xEF\xAC\x83", b"%\xE4\xB8\xAD|", b'\\', false),
    (45, b"_s\xE4\xB8\xAD\\", b"%s%|\\", b'\\', false),
    (45, b"%  a", b"%\xC3\xA4 a%", b'\\', false),
    (45, b"\x02\xC3\x86\x02b", b"_\xC3\x86%\x02", b'\\', false),
    (45, b"\xC3\xA9f\x02", b"\xC3\xA9\xC3\xA9|\x02", b'\\', false),
    (45, b"eees", b"e%e|", b'\\', false),
    (45, b"\xC3\x86\xE3\x84\xB1", b"\xC3\x86|", b'\\', false),
    (46, b"ee%", b"ee_", b'\\', true),
    (46, b"b\xE4\xB8\xAD", b"%b_%", b'\\', true),
    (46, b"%Bf", b"%_f", b'\\', true),
    (46, b"\xCC\x81\xC3\x9F", b"%_\xC3\x9F", b'\\', true),
    (46, b"ssa\x01", b"%_%%\\\x01%", b'\\', true),
    (46, b"Bf\\e", b"_f\\\\e%", b'\\', true),
    (46, b"AbA", b"%bA", b'\\', true),
    (46, b"\xC3\x9F\\\x01", b"\xC3\x9F\\%%", b'|', true),
    (46, b"AefB", b"%efB%", b'|', true),
    (46, b"\xC3\x86\xC3\xA4", b"\xC3\x86_%", b'\\', true),
    (46, b"eeb\xC3\xA9", b"ee\xC3\xA9\xC3\xA9", b'|', false),
    (46, b"\\\x02\xE3\x84\xB1", b"\xE3\x84\xB1\x02_", b'|', false),
    (46, b"\xC3\x86 ", b"%__ ", b'|', false),
    (46, b"AA\\", b"\xC3\xA9%\\", b'|', false),
    (46, b"f\xC3\xA4f", b"f\\f", b'\\', false),
    (46, b"\\a\xC3\xA4", b"\\%\xC3\xA4", b'\\', false),
    (46, b"ssss", b"es_s", b'\\', false),
    (46, b"\xF0\x9F\x98\x81", b"\xEA\xB0\x80", b'\\', false),
    (46, b"ab", b"a%", b'%', false),
    (46, b"a%", b"a%%", b'%', true),
    (46, b"a_", b"a__", b'_', true),
    (255, b"abc", b"a__", b'_', false),
    (46, b"a\\", b"a%\\", b'\\', true),
];

/// Every 782th string of Unicode's CollationTest_NON_IGNORABLE_SHORT 9.0.0, except for those with
/// contractions.
#[rustfmt::skip]
const CONFORMANCE: &[&str] = &[
    "\u{334}\u{1d1aa}", "\u{b}\u{62}", "\u{5a8}\u{21}", "\u{33d}\u{21}", "\u{200d}\u{3f}", "\u{322}\u{3f}",
    "\u{11047}\u{21}", "\u{1f11a}\u{41}", "\u{27c5}\u{62}", "\u{2038}\u{3f}", "\u{10af6}\u{41}",
    "\u{1397}\u{61}", "\u{19f6}\u{62}", "\u{21f1}\u{62}", "\u{2254}\u{21}", "\u{22e5}\u{61}",
    "\u{238b}\u{62}", "\u{2442}\u{3f}", "\u{2592}\u{41}", "\u{262d}\u{21}", "\u{26da}\u{61}",
    "\u{275c}\u{62}", "\u{2931}\u{3f}", "\u{29e7}\u{41}", "\u{2a8a}\u{21}", "\u{2b26}\u{21}",
    "\u{2bca}\u{61}", "\u{288a}\u{62}", "\u{4dd9}\u{3f}", "\u{a4ae}\u{41}", "\u{1d026}\u{21}",
    "\u{1d0c2}\u{61}", "\u{1d15b}\u{41}", "\u{1d237}\u{41}", "\u{1f0a0}\u{21}", "\u{1f34a}\u{61}",
    "\u{1f3e6}\u{62}", "\u{1f483}\u{3f}", "\u{1f51f}\u{41}", "\u{1f5bc}\u{21}", "\u{1f606}\u{61}",
    "\u{1f6a2}\u{62}", "\u{1f758}\u{3f}", "\u{1f82f}\u{41}", "\u{1d834}\u{21}", "\u{1d8d0}\u{61}",
    "\u{1d96c}\u{62}", "\u{1da72}\u{3f}", "\u{10322}\u{41}", "\u{10a46}\u{21}", "\u{ffe1}\u{21}",
    "\u{1241e}\u{3f}", "\u{12416}\u{21}", "\u{10a42}\u{3f}", "\u{1087c}\u{61}", "\u{11455}\u{62}",
    "\u{12405}\u{61}", "\u{aef}\u{3f}", "\u{1da35}\u{61}", "\u{1da00}\u{41}", "\u{1dce}\u{61}",
    "\u{116ac}\u{61}", "\u{1e3}\u{41}", "\u{e007b}\u{62}", "\u{20d1}\u{62}", "\u{1e0a}\u{334}",
    "\u{1d626}\u{3f}", "\u{2a9}\u{3f}", "\u{126}\u{61}", "\u{1d09}\u{61}", "\u{4c}\u{301}\u{334}",
    "\u{1d5ac}\u{41}", "\u{6f}\u{341}\u{334}", "\u{1e4c}\u{62}", "\u{1d5e4}\u{61}", "\u{1d5cc}\u{21}",
    "\u{164}\u{62}", "\u{1d602}\u{62}", "\u{1df1}\u{41}", "\u{1d6a2}\u{62}", "\u{2bf}\u{41}",
    "\u{1d6e5}\u{62}", "\u{1f27}\u{62}", "\u{1d6ee}\u{21}", "\u{1f50}\u{334}", "\u{3a9}\u{3f}",
    "\u{2cdb}\u{21}", "\u{a647}\u{41}", "\u{4f3}\u{41}", "\u{46d}\u{21}", "\u{2c2b}\u{61}",
    "\u{10c4}\u{3f}", "\u{fb3a}\u{41}", "\u{fc68}\u{62}", "\u{fb61}\u{61}", "\u{feb0}\u{41}",
    "\u{1ee79}\u{62}", "\u{760}\u{21}", "\u{8a6}\u{61}", "\u{6c9}\u{3f}", "\u{7a3}\u{61}", "\u{1219}\u{62}",
    "\u{12a8}\u{3f}", "\u{1332}\u{41}", "\u{979}\u{41}", "\u{9cd}\u{3f}", "\u{b19}\u{3f}", "\u{c34}\u{41}",
    "\u{d7e}\u{3f}", "\u{abdd}\u{41}", "\u{110a9}\u{41}", "\u{11225}\u{3f}", "\u{11336}\u{62}",
    "\u{114bb}\u{41}", "\u{11693}\u{62}", "\u{11025}\u{41}", "\u{e11}\u{41}", "\u{aab7}\u{21}",
    "\u{11c9e}\u{62}", "\u{1908}\u{3f}", "\u{1bc3}\u{41}", "\u{100c}\u{3f}", "\u{11114}\u{61}",
    "\u{1991}\u{41}", "\u{aa12}\u{41}", "\u{a9a7}\u{41}", "\u{1c5a}\u{3f}", "\u{13dc}\u{3f}",
    "\u{1422}\u{21}", "\u{14be}\u{61}", "\u{155a}\u{62}", "\u{15ef}\u{3f}", "\u{18c5}\u{41}",
    "\u{16e5}\u{21}", "\u{10c32}\u{3f}", "\u{a57a}\u{62}", "\u{a6a3}\u{3f}", "\u{1684f}\u{41}",
    "\u{168ec}\u{21}", "\u{16988}\u{61}", "\u{16a24}\u{62}", "\u{1e86a}\u{3f}", "\u{1e942}\u{62}",
    "\u{3179}\u{61}", "\u{3163}\u{61}", "\u{11d9}\u{41}", "\u{304d}\u{334}\u{3099}", "\u{ff88}\u{62}",
    "\u{308a}\u{62}", "\u{a028}\u{21}", "\u{a0c4}\u{61}", "\u{a160}\u{62}", "\u{a1fd}\u{3f}",
    "\u{a299}\u{41}", "\u{a336}\u{21}", "\u{a3d2}\u{61}", "\u{a46e}\u{62}", "\u{16f5b}\u{3f}",
    "\u{11af2}\u{41}", "\u{102b3}\u{21}", "\u{10414}\u{41}", "\u{1bc45}\u{62}", "\u{10541}\u{3f}",
    "\u{10045}\u{41}", "\u{1060b}\u{21}", "\u{106a7}\u{61}", "\u{1074c}\u{62}", "\u{10b1a}\u{3f}",
    "\u{10b69}\u{41}", "\u{12012}\u{21}", "\u{120ae}\u{61}", "\u{1214a}\u{62}", "\u{121e7}\u{3f}",
    "\u{12281}\u{41}", "\u{12320}\u{21}", "\u{124a2}\u{61}", "\u{1253e}\u{62}", "\u{13097}\u{3f}",
    "\u{13133}\u{41}", "\u{131d0}\u{21}", "\u{1326c}\u{61}", "\u{13308}\u{62}", "\u{133a5}\u{3f}",
    "\u{109a8}\u{62}", "\u{14475}\u{21}", "\u{14511}\u{61}", "\u{145ad}\u{62}", "\u{17003}\u{3f}",
    "\u{2f13}\u{41}", "\u{2f870}\u{21}", "\u{2f8c0}\u{61}", "\u{f9ec}\u{62}", "\u{fa4e}\u{3f}",
    "\u{2f99a}\u{41}", "\u{2fa2}\u{21}", "\u{2fcb}\u{41}", "\u{346b}\u{62}", "\u{3504}\u{3f}",
    "\u{359f}\u{41}", "\u{363c}\u{21}", "\u{36d8}\u{61}", "\u{3772}\u{62}", "\u{380e}\u{3f}",
    "\u{38a7}\u{41}", "\u{3940}\u{21}", "\u{39dc}\u{61}", "\u{3a76}\u{62}", "\u{3b11}\u{3f}",
    "\u{3ba9}\u{41}", "\u{3c45}\u{21}", "\u{3ce0}\u{61}", "\u{3d7b}\u{62}", "\u{3e17}\u{3f}",
    "\u{3eb2}\u{41}", "\u{3f4c}\u{21}", "\u{3fe8}\u{61}", "\u{407e}\u{62}", "\u{4119}\u{3f}",
    "\u{41b4}\u{41}", "\u{424f}\u{21}", "\u{42ea}\u{61}", "\u{4383}\u{62}", "\u{441d}\u{3f}",
    "\u{44b8}\u{41}", "\u{4554}\u{21}", "\u{45ec}\u{61}", "\u{4686}\u{62}", "\u{4721}\u{3f}",
    "\u{47bd}\u{41}", "\u{485a}\u{21}", "\u{48f6}\u{61}", "\u{4992}\u{62}", "\u{4a2d}\u{3f}",
    "\u{4ac6}\u{41}", "\u{4b62}\u{21}", "\u{4bfd}\u{61}", "\u{4c99}\u{62}", "\u{4d33}\u{3f}",
    "\u{2f939}\u{41}", "\u{2a6d7}\u{21}",
];

#[test]
fn a_beginning_has_the_weights_of_what_is_wanted() {
    let starts = |id: CollationId, text: &str, start: &str| {
        id.collation().is_some_and(|known| known.starts_with(text.as_bytes(), start.as_bytes()))
    };
    let unicode = [
        CollationId::UTF8MB4_0900_AI_CI,
        CollationId::UTF8MB4_UNICODE_CI,
        CollationId::UTF8MB4_UNICODE_520_CI,
    ];
    for id in unicode {
        assert!(starts(id, "ssx", "ß") && starts(id, "ßx", "SS") && starts(id, "Éa", "e"));
        assert!(starts(id, "a", "\u{5}") && starts(id, "a\u{5}b", "ab") && starts(id, "", ""));
        assert!(!starts(id, "s", "ß") && !starts(id, "x", "x ") && !starts(id, "", "a"));
    }
    let general = CollationId::UTF8MB4_GENERAL_CI;
    assert!(starts(general, "Éa", "e") && !starts(general, "e", "e ") && !starts(general, "a", "\u{5}"));
    assert!(starts(CollationId::UTF8MB4_BIN, "ab", "a") && !starts(CollationId::UTF8MB4_BIN, "ab", "A"));
    assert!(
        starts(CollationId::LATIN1_SWEDISH_CI, "ab", "A")
            && !starts(CollationId::LATIN1_SWEDISH_CI, "a", "a ")
    );
}
