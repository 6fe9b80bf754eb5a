//! Weights and keys against what a MySQL 9.7 server's WEIGHT_STRING says.

use super::*;

/// Folds the weights of the code points of block `block` (4,096 of them) into one number: FNV-1a over the bytes of each
/// character's WEIGHT_STRING and their count.
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
