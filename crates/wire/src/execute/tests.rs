use proptest::prelude::*;

use super::*;

fn all<'p>(
    params: &'p [u8],
    count: usize,
    types: &mut Vec<ParamType>,
    long: &[usize],
) -> Result<Vec<ParamValue<'p>>, Error> {
    let (mut decoder, _) = Parameters::new(params, count, types)?;
    let mut values = Vec::new();
    while let Some(value) = decoder.next(long.contains(&values.len()))? {
        values.push(value);
    }
    Ok(values)
}

#[test]
fn the_fixed_part_is_read() {
    let e = Execute::parse(b"\x05\0\0\0\x01\x01\0\0\0rest").unwrap();
    assert_eq!((e.statement_id, e.cursor, e.params), (5, 1, &b"rest"[..]));
    assert!(Execute::parse(b"\x05\0\0\0").is_err());
}

#[test]
fn every_width_of_integer_is_read_with_its_sign() {
    let params = b"\0\x01\x01\0\x01\x80\x02\0\x03\0\x08\x80\xff\xff\xfe\xff\xfd\xff\xff\xff\
        \xff\xff\xff\xff\xff\xff\xff\xff";
    let values = all(params, 5, &mut Vec::new(), &[]).unwrap();
    use ParamValue::{Int, UInt};
    assert_eq!(values, [Int(-1), UInt(255), Int(-2), Int(-3), UInt(u64::MAX)]);
}

#[test]
fn types_stay_bound_and_nulls_have_no_value() {
    let mut types = Vec::new();
    assert_eq!(all(b"\0\0", 1, &mut types, &[]), Err(Error::ParametersNotBound));
    let first = all(b"\x02\x01\xfd\0\x08\0\x02hi", 2, &mut types, &[]).unwrap();
    assert_eq!(first, [ParamValue::Text(b"hi"), ParamValue::Null]);
    let second = all(b"\x01\0\x07\0\0\0\0\0\0\0", 2, &mut types, &[]).unwrap();
    assert_eq!(second, [ParamValue::Null, ParamValue::Int(7)]);
}

#[test]
fn long_data_stands_for_its_parameter() {
    let values = all(b"\0\x01\xfc\0\x01\0\x09", 2, &mut Vec::new(), &[0]).unwrap();
    assert_eq!(values, [ParamValue::LongData, ParamValue::Int(9)]);
}

#[test]
fn floats_and_dates_are_read() {
    let params = b"\0\x01\x04\0\x05\0\x0a\0\x0c\0\x0b\0\
        \0\0\xc0\x3f\0\0\0\0\0\0\xf8\x3f\x04\xe8\x07\x02\x1d\x07\xe8\x07\x02\x1d\x01\x02\x03\0";
    let values = all(params, 5, &mut Vec::new(), &[]).unwrap();
    let day = BinaryDateTime { year: 2024, month: 2, day: 29, ..Default::default() };
    assert_eq!(values[0], ParamValue::Float(1.5));
    assert_eq!(values[1], ParamValue::Double(1.5));
    assert_eq!(values[2], ParamValue::Date(day));
    assert_eq!(values[3], ParamValue::DateTime(BinaryDateTime { hour: 1, minute: 2, second: 3, ..day }));
    assert_eq!(values[4], ParamValue::Time(BinaryTime::default()));
}

#[test]
fn unknown_types_are_named() {
    let result = all(b"\0\x01\x80\0", 1, &mut Vec::new(), &[]);
    assert_eq!(result, Err(Error::UnknownParameterType { code: 0x80 }));
}

#[test]
fn types_of_columns_alone_are_refused_even_for_null() {
    for code in [9, 13, 14, 16, 247, 248, 255] {
        let params = [1, 1, code, 0];
        let result = all(&params, 1, &mut Vec::new(), &[]);
        assert_eq!(result, Err(Error::UnknownParameterType { code }));
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0usize..40) {
        let _ = Execute::parse(&bytes);
        let _ = LongData::parse(&bytes);
        let _ = parse_set_option(&bytes);
        let _ = all(&bytes, count, &mut Vec::new(), &[]);
    }

    #[test]
    fn random_values_after_valid_types_never_panic(
        codes in prop::collection::vec(prop::sample::select(vec![0u8, 1, 2, 3, 4, 5, 7, 8, 10, 11, 12, 252, 253]), 1..8),
        tail in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let mut bytes = vec![0, 1];
        for code in &codes {
            bytes.extend_from_slice(&[*code, 0]);
        }
        bytes.extend_from_slice(&tail);
        let _ = all(&bytes, codes.len(), &mut Vec::new(), &[]);
    }
}
