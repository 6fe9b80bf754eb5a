//! Display rules that belong to the column alone; the rest is covered with the storage forms.

use super::*;

fn shown(ty: &SqlType, bytes: &[u8]) -> String {
    let mut out = b"|".to_vec();
    TextEncoder::new(ty).write(bytes, &TimeZone::utc(), &mut out);
    String::from_utf8(out).unwrap()[1..].to_owned()
}

#[test]
fn zerofill_pads_to_the_display_width() {
    let zerofill = |ty| SqlType { zerofill: true, unsigned: true, ..ty };
    assert_eq!(shown(&zerofill(SqlType::new(TypeKind::Int, 5)), &42u32.to_le_bytes()), "00042");
    assert_eq!(shown(&zerofill(SqlType::new(TypeKind::TinyInt, 1)), &[200]), "200");
    assert_eq!(shown(&zerofill(SqlType::decimal(5, 2)), &[0x7b, 0, 0]), "001.23");
    assert_eq!(
        shown(&zerofill(SqlType { length: 8, ..SqlType::double() }), &1.5f64.to_bits().to_le_bytes()),
        "000001.5"
    );
}

#[test]
fn a_fixed_scale_shows_all_its_digits() {
    let ty = SqlType { decimals: 2, ..SqlType::new(TypeKind::Double, 10) };
    assert_eq!(shown(&ty, &1.5f64.to_bits().to_le_bytes()), "1.50");
    assert_eq!(shown(&SqlType::decimal(4, 3), &[0xfb, 0xff]), "-0.005");
    assert_eq!(shown(&SqlType::decimal(4, 0), &[0, 0]), "0");
}

#[test]
fn only_byte_strings_are_their_own_text() {
    assert!(TextEncoder::new(&SqlType::varchar(10, crate::CollationId::UTF8MB4_BIN)).is_identity());
    assert!(!TextEncoder::new(&SqlType::bigint()).is_identity());
}
