use std::collections::VecDeque;

use super::*;

const ALGORITHMS: [Algorithm; 3] = [Algorithm::Zlib, Algorithm::Zstd(3), Algorithm::Zstd(22)];

/// A socket that has received some pieces; no more, or the end.
#[derive(Default)]
struct Pieces {
    pieces: VecDeque<Vec<u8>>,
    ended: bool,
}

impl Pieces {
    fn of(bytes: &[u8], piece: usize) -> Self {
        Pieces { pieces: bytes.chunks(piece).map(<[u8]>::to_vec).collect(), ended: true }
    }
}

impl Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let Some(mut piece) = self.pieces.pop_front() else {
            return if self.ended { Ok(0) } else { Err(io::ErrorKind::WouldBlock.into()) };
        };
        let rest = piece.split_off(piece.len().min(buf.len()));
        buf[..piece.len()].copy_from_slice(&piece);
        if !rest.is_empty() {
            self.pieces.push_front(rest);
        }
        Ok(piece.len())
    }
}

/// Bytes that compress to about half.
fn content(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 28) as u8 + b'a'
    };
    (0..len).map(|_| next()).collect()
}

fn frame(sequence: u8, body: &[u8], decompressed: usize) -> Vec<u8> {
    let (body_bytes, decompressed) = (body.len() as u32, decompressed as u32);
    [&FrameHeader { body: body_bytes, sequence, decompressed }.encode(), body].concat()
}

fn compressed(algorithm: Algorithm, content: &[u8]) -> Vec<u8> {
    let mut body = vec![0; content.len() + 1000];
    let len = Encoder::new(algorithm).unwrap().compress(content, &mut body).unwrap();
    body.truncate(len);
    body
}

/// Everything that can be read, by a buffer of `room` bytes, and the error at which that ends.
fn read_all(stream: &CompressedStream, socket: &mut Pieces, room: usize) -> (Vec<u8>, Option<io::Error>) {
    let (mut all, mut buffer) = (Vec::new(), vec![0; room]);
    loop {
        match stream.read(socket, &mut buffer) {
            Ok(0) => return (all, None),
            Ok(n) => all.extend_from_slice(&buffer[..n]),
            Err(error) => return (all, Some(error)),
        }
    }
}

fn wire_error(error: Option<io::Error>) -> Error {
    *error.unwrap().get_ref().unwrap().downcast_ref().unwrap()
}

/// What reading `bytes`, which are corrupt, returns before the error.
fn read_corrupt(algorithm: Algorithm, bytes: &[u8]) -> Vec<u8> {
    let mut returned = Vec::new();
    for (piece, room) in [(1, 7), (1000, 1000), (usize::MAX, 1 << 20)] {
        let stream = CompressedStream::new(algorithm, Vec::new(), Arc::default());
        let (all, error) = read_all(&stream, &mut Pieces::of(bytes, piece), room);
        assert_eq!(wire_error(error), Error::CorruptFrame, "pieces of {piece}");
        returned = all;
    }
    returned
}

#[test]
fn what_is_written_can_be_read() {
    let around = [INPUT_BYTES, 2 * INPUT_BYTES, 1 << 17];
    let lengths = (0..120).chain(around.into_iter().flat_map(|len| len - 2..len + 3)).chain([1_000_000]);
    for len in lengths {
        let content = content(len);
        for algorithm in [Algorithm::Zlib, Algorithm::Zstd(3)] {
            let sender = CompressedStream::new(algorithm, Vec::new(), Arc::default());
            let mut sent = Vec::new();
            sender.write_all(&mut sent, &content).unwrap();
            assert_eq!(sender.next_number(), u8::from(len > 0));
            assert_eq!(sender.take_counts(), (0, sent.len() as u64));
            for (piece, room) in [(1, 1), (11, 5000), (usize::MAX, usize::MAX >> 40)] {
                if len > 200_000 && piece == 1 {
                    continue;
                }
                let receiver = CompressedStream::new(algorithm, Vec::new(), Arc::default());
                let (all, error) = read_all(&receiver, &mut Pieces::of(&sent, piece), room);
                assert!(error.is_none() && all == content, "{len} bytes, {algorithm:?}, pieces of {piece}");
                assert_eq!(receiver.next_number(), sender.next_number());
                assert_eq!(receiver.take_counts(), (sent.len() as u64, 0));
            }
        }
    }
}

#[test]
fn long_content_needs_several_frames() {
    for (len, frames) in [(CONTENT_BYTES_MAX, 1), (CONTENT_BYTES_MAX + 1, 2), (2 * CONTENT_BYTES_MAX + 60, 3)]
    {
        let content = content(len);
        for algorithm in [Algorithm::Zlib, Algorithm::Zstd(1)] {
            let sender = CompressedStream::new(algorithm, Vec::new(), Arc::default());
            let mut sent = Vec::new();
            sender.write_all(&mut sent, &content).unwrap();
            assert_eq!(sender.next_number(), frames);
            let receiver = CompressedStream::new(algorithm, Vec::new(), Arc::default());
            let (all, error) = read_all(&receiver, &mut Pieces::of(&sent, 1 << 20), 1 << 18);
            assert!(error.is_none() && all == content, "{len} bytes, {algorithm:?}");
        }
    }
}

#[test]
fn short_and_incompressible_content_is_stored() {
    let stored = |content: &[u8]| {
        let mut sent = Vec::new();
        CompressedStream::new(Algorithm::Zlib, Vec::new(), Arc::default())
            .write_all(&mut sent, content)
            .unwrap();
        FrameHeader::decode(*sent.first_chunk().unwrap()).decompressed == 0
    };
    assert!(stored(&[b'a'; COMPRESSED_BYTES_MIN - 1]));
    assert!(!stored(&[b'a'; COMPRESSED_BYTES_MIN]));
    let mut random = vec![0; 1000];
    let mut state = 1_u64;
    random.fill_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    });
    assert!(stored(&random));
}

#[test]
fn frames_of_any_length_are_read() {
    let longest = (1 << 24) - 1;
    let content = content(longest);
    for algorithm in ALGORITHMS {
        let body = if algorithm == Algorithm::Zstd(22) {
            // Level 22 on 16 MiB takes minutes in a debug build.
            compressed(Algorithm::Zstd(1), &content)
        } else {
            compressed(algorithm, &content)
        };
        let stream = CompressedStream::new(algorithm, Vec::new(), Arc::default());
        let sent = [frame(0, &body, longest), frame(1, b"x", 0)].concat();
        let (all, error) = read_all(&stream, &mut Pieces::of(&sent, 1 << 20), 256 << 10);
        assert!(error.is_none() && all.len() == longest + 1 && all[..longest] == content, "{algorithm:?}");
        let stream = CompressedStream::new(algorithm, Vec::new(), Arc::default());
        let (all, error) = read_all(&stream, &mut Pieces::of(&frame(0, &content, 0), 1 << 20), 256 << 10);
        assert!(error.is_none() && all == content);
    }
}

#[test]
fn the_last_byte_waits_for_the_end_of_its_frame() {
    let content = content(5000);
    for algorithm in ALGORITHMS {
        let sent = frame(0, &compressed(algorithm, &content), content.len());
        for cut in 0..sent.len() {
            let stream = CompressedStream::new(algorithm, Vec::new(), Arc::default());
            let mut socket = Pieces::of(&sent[..cut], usize::MAX);
            socket.ended = false;
            let (all, error) = read_all(&stream, &mut socket, 700);
            assert_eq!(error.unwrap().kind(), io::ErrorKind::WouldBlock);
            assert!(all.len() < content.len() && content.starts_with(&all));
            socket.pieces.push_back(sent[cut..].to_vec());
            let (rest, _) = read_all(&stream, &mut socket, 700);
            assert_eq!([all, rest].concat(), content, "{algorithm:?} cut at {cut}");
        }
    }
}

#[test]
fn a_connection_may_end_in_a_frame() {
    let sent = frame(0, &compressed(Algorithm::Zlib, &content(500)), 500);
    let stream = CompressedStream::new(Algorithm::Zlib, Vec::new(), Arc::default());
    let (all, error) = read_all(&stream, &mut Pieces::of(&sent[..sent.len() - 1], 10), 100);
    assert!(error.is_none() && all.len() < 500);
}

#[test]
fn lengths_that_are_not_true_are_refused() {
    let content = content(60_000);
    for algorithm in ALGORITHMS {
        let body = compressed(algorithm, &content);
        for declared in [1, 100, content.len() - 1, content.len() + 1, (1 << 24) - 1] {
            let returned = read_corrupt(algorithm, &frame(0, &body, declared));
            assert!(returned.len() < declared && content.starts_with(&returned), "{declared}");
        }
        for behind in [&b"x"[..], &body, &content[..40_000]] {
            let returned = read_corrupt(algorithm, &frame(0, &[&body, behind].concat(), content.len()));
            assert!(returned.len() < content.len());
        }
        for cut in [0, 1, 2, 10, body.len() / 2, body.len() - 1] {
            read_corrupt(algorithm, &frame(0, &body[..cut], content.len()));
        }
        read_corrupt(algorithm, &frame(0, &[], 0));
        read_corrupt(algorithm, &frame(0, &[b'x'; 100], 100));
    }
    read_corrupt(Algorithm::Zlib, &frame(0, &compressed(Algorithm::Zstd(3), &content), content.len()));
    read_corrupt(Algorithm::Zstd(3), &frame(0, &compressed(Algorithm::Zlib, &content), content.len()));
}

#[test]
fn changed_bytes_never_panic_and_never_return_more_than_declared() {
    let content = content(3000);
    for algorithm in ALGORITHMS {
        let sent = frame(0, &compressed(algorithm, &content), content.len());
        for at in FRAME_HEADER_BYTES..sent.len() {
            for bit in 0..8 {
                let mut changed = sent.clone();
                changed[at] ^= 1 << bit;
                let stream = CompressedStream::new(algorithm, Vec::new(), Arc::default());
                let (all, _) = read_all(&stream, &mut Pieces::of(&changed, 500), 900);
                assert!(all.len() <= content.len());
            }
        }
    }
}

#[test]
fn frames_are_counted_in_both_directions() {
    let stream = CompressedStream::new(Algorithm::Zlib, Vec::new(), Arc::default());
    let read = |bytes: &[u8]| read_all(&stream, &mut Pieces::of(bytes, 3), 10);
    let (all, error) = read(&[frame(0, b"ab", 0), frame(1, b"c", 0)].concat());
    assert!(error.is_none() && all == b"abc");
    let mut sent = Vec::new();
    stream.write_all(&mut sent, b"answer").unwrap();
    assert_eq!((sent[3], stream.next_number()), (2, 3));
    let (all, error) = read(&frame(4, b"d", 0));
    assert_eq!((all.len(), wire_error(error)), (0, Error::OutOfOrder { expected: 3, got: 4 }));

    let stream = CompressedStream::new(Algorithm::Zlib, frame(0, b"early", 0), Arc::default());
    let (all, _) = read_all(&stream, &mut Pieces::of(&frame(1, b"late", 0), 3), 10);
    assert_eq!(all, b"earlylate");
    stream.begin_command();
    let (all, _) = read_all(&stream, &mut Pieces::of(&frame(0, b"next", 0), 3), 10);
    assert_eq!(all, b"next");
    for number in (1..=255).chain([0, 1]) {
        let (all, error) = read_all(&stream, &mut Pieces::of(&frame(number, b"n", 0), 3), 10);
        assert!(all == b"n" && error.is_none(), "frame {number}");
    }
}

/// 16 MiB of zeros are 16 KiB of zlib and 0.5 KiB of zstd: each read returns no more than it has room for,
/// and what is behind the declared length is not decompressed at all.
#[test]
fn a_bomb_ends_at_its_declared_length() {
    let zeros = vec![0; 1 << 26];
    for algorithm in [Algorithm::Zlib, Algorithm::Zstd(3)] {
        let body = compressed(algorithm, &zeros);
        assert!(body.len() < 70_000);
        let returned = read_corrupt(algorithm, &frame(0, &body, 1000));
        assert!(returned.len() < 1000);
        let returned = read_corrupt(algorithm, &frame(0, &body, (1 << 24) - 1));
        assert!(returned.len() < 1 << 24);
    }
}

/// A window beyond that of the level is refused before memory is taken for it.
#[test]
fn the_window_of_zstd_is_bounded_by_the_level() {
    // Magic number, descriptor without content size, window of 2^(10 + exponent) bytes; a block of one byte.
    let body = |log: u8| [&b"\x28\xb5\x2f\xfd\0"[..], &[(log - 10) << 3], b"\x09\0\0x"].concat();
    for (level, most) in [(1, 22), (3, 22), (8, 22), (9, 23), (16, 23), (17, 24), (22, 24)] {
        let algorithm = Algorithm::Zstd(level);
        let stream = CompressedStream::new(algorithm, Vec::new(), Arc::default());
        let (all, error) = read_all(&stream, &mut Pieces::of(&frame(0, &body(most), 1), 100), 10);
        assert!(all == b"x" && error.is_none(), "{level}");
        for log in [most + 1, 27, 31, 40] {
            assert!(read_corrupt(algorithm, &frame(0, &body(log), 1)).is_empty());
        }
    }
}

#[test]
fn frames_are_charged_while_they_are_in_work_and_refused_beyond_the_limit() {
    for algorithm in ALGORITHMS {
        let memory = Arc::<ServerAccount>::default();
        let stream = || CompressedStream::new(algorithm, Vec::new(), Arc::clone(&memory));
        let (content, mut sent) = (content(100_000), Vec::new());
        stream().write_all(&mut sent, &content).unwrap();
        assert_eq!(memory.charged(), 0);
        let receiver = stream();
        let mut half = Pieces { pieces: [sent[..40_000].to_vec()].into(), ended: false };
        read_all(&receiver, &mut half, 1000);
        assert_eq!(memory.charged(), Decoder::bytes_max(algorithm));
        let (_, error) = read_all(&receiver, &mut Pieces::of(&sent[40_000..], 1000), 1000);
        assert!(error.is_none());
        assert_eq!(memory.charged(), 0);

        memory.set_limit(Decoder::bytes_max(algorithm) - 1);
        let (none, error) = read_all(&stream(), &mut Pieces::of(&sent, 1000), 1000);
        assert_eq!((none.len(), error.unwrap().kind()), (0, io::ErrorKind::OutOfMemory));
        memory.set_limit(Encoder::bytes_max(algorithm));
        let refused = stream().write_all(&mut Vec::new(), &content).unwrap_err();
        assert_eq!((refused.kind(), memory.charged()), (io::ErrorKind::OutOfMemory, 0));
    }
}
