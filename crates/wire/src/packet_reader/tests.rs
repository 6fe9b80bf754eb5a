use proptest::prelude::*;

use super::*;
use crate::OutBuffer;

fn feed(reader: &mut PacketReader, bytes: &[u8]) {
    let space = reader.space();
    space[..bytes.len()].copy_from_slice(bytes);
    reader.filled(bytes.len());
}

#[test]
fn pipelined_packets_need_one_receive() {
    let mut reader = PacketReader::new(1024);
    feed(&mut reader, b"\x01\0\0\0a\x02\0\0\0bc\x01\0");
    assert!(reader.advance().unwrap());
    assert_eq!(reader.packet(), b"a");
    assert!(reader.has_more());
    reader.begin_command();
    assert!(reader.advance().unwrap());
    assert_eq!(reader.packet(), b"bc");
    reader.begin_command();
    assert!(!reader.advance().unwrap());
    feed(&mut reader, b"\0\0d");
    assert!(reader.advance().unwrap());
    assert_eq!(reader.packet(), b"d");
    assert!(!reader.has_more());
}

#[test]
fn a_packet_that_comes_alone_is_found_in_one_step() {
    let mut reader = PacketReader::new(10);
    for (bytes, packet) in [(&b"\x02\0\0\0bc"[..], &b"bc"[..]), (b"\0\0\0\0", b""), (b"\x01\0\0\0d", b"d")] {
        reader.begin_command();
        assert!(reader.is_drained());
        feed(&mut reader, bytes);
        assert!(!reader.is_drained() && reader.advance_to_only());
        assert_eq!((reader.packet(), reader.next_sequence()), (packet, 1));
    }
    for bytes in [&b"\x01\0\0\x07a"[..], b"\x0b\0\0\0abcdefghijk", b"\x01\0\0\0ab", b"\x01\0\0"] {
        let mut reader = PacketReader::new(10);
        feed(&mut reader, bytes);
        assert!(!reader.advance_to_only(), "{bytes:?}");
    }
}

#[test]
fn a_wrong_sequence_number_is_refused() {
    let mut reader = PacketReader::new(1024);
    feed(&mut reader, b"\x01\0\0\x01a");
    assert_eq!(reader.advance(), Err(Error::OutOfOrder { expected: 0, got: 1 }));
}

#[test]
fn the_limit_is_checked_before_the_body_arrives() {
    let mut reader = PacketReader::new(1024);
    feed(&mut reader, b"\x01\x04\0\0");
    assert_eq!(reader.advance(), Err(Error::PacketTooLarge { limit: 1024 }));
}

#[test]
fn a_forged_length_costs_no_memory() {
    let mut reader = PacketReader::new(1 << 30);
    feed(&mut reader, b"\xff\xff\xff\0xyz");
    assert!(!reader.advance().unwrap());
    assert!(reader.assembled.capacity() < 1024);
}

fn stream_of(bodies: &[Vec<u8>]) -> Vec<u8> {
    let mut out = OutBuffer::new();
    for body in bodies {
        out.set_sequence(0);
        out.begin_packet();
        out.put_bytes(body);
        out.end_packet();
    }
    out.pending().to_vec()
}

proptest! {
    #[test]
    fn any_split_of_the_stream_yields_the_same_packets(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40_000), 1..6),
        cuts in prop::collection::vec(1usize..30_000, 1..8),
        is_quick in any::<bool>(),
    ) {
        let stream = stream_of(&bodies);
        let mut reader = PacketReader::new(1 << 20);
        let mut rest = &stream[..];
        let mut cut = cuts.iter().cycle();
        for body in &bodies {
            reader.begin_command();
            let mut may_be_alone = is_quick && reader.is_drained();
            loop {
                if may_be_alone && reader.advance_to_only() || reader.advance().unwrap() {
                    break;
                }
                // Nothing has been received yet, or too little to be alone.
                may_be_alone &= reader.is_drained();
                let space = reader.space();
                let n = space.len().min(rest.len()).min(*cut.next().unwrap());
                prop_assert!(n > 0);
                space[..n].copy_from_slice(&rest[..n]);
                reader.filled(n);
                rest = &rest[n..];
            }
            prop_assert_eq!(reader.packet(), &body[..]);
            let mut taken = Vec::new();
            reader.take_packet(&mut taken);
            prop_assert_eq!((&taken, reader.packet()), (body, &[][..]));
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let mut reader = PacketReader::new(4096);
        feed(&mut reader, &bytes);
        while let Ok(true) = reader.advance() {
            reader.begin_command();
        }
    }
}

#[test]
fn numbers_inside_frames_mean_nothing() {
    let mut reader = PacketReader::new(1 << 30);
    reader.ignore_numbers();
    for number in [0, 7, 7] {
        feed(&mut reader, &[1, 0, 0, number, b'x']);
        assert!(reader.advance().unwrap());
        assert_eq!((reader.packet(), reader.next_sequence()), (&b"x"[..], number + 1));
    }
}
