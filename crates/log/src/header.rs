//! The header of a log file, and the checkpoint blocks in it (docs/redo_log.md, section 1).

use base::Lsn;
use base::checksum::crc32;
use base::codec::{get_u32, get_u64, put_u32, put_u64};

/// Bytes of a file before its part of the log.
pub(crate) const HEADER_BYTES: u64 = 4096;

/// Bytes of a sector: the header proper and each checkpoint block take one, because sectors are written
/// whole.
const SECTOR_BYTES: usize = 512;

const MAGIC: u32 = u32::from_le_bytes(*b"redo");
const VERSION: u32 = 1;

/// Offsets of the two checkpoint blocks.
const BLOCKS: [u64; 2] = [512, 1024];

/// Identity of a data directory.
pub type Identity = [u8; 16];

/// What the header of a log file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileHead {
    pub(crate) identity: Identity,
    pub(crate) number: u64,
    pub(crate) first_lsn: Lsn,
    /// Of the whole file.
    pub(crate) size_bytes: u64,
}

/// Why a header is not one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderError {
    /// It fails its checksum or is something else.
    Damaged,
    /// Another format version.
    Version(u32),
}

impl FileHead {
    /// The whole header, without checkpoints.
    pub(crate) fn encode(&self) -> Box<[u8]> {
        let mut bytes = vec![0; HEADER_BYTES as usize].into_boxed_slice();
        put_u32(&mut bytes, 4, MAGIC);
        put_u32(&mut bytes, 8, VERSION);
        bytes[16..32].copy_from_slice(&self.identity);
        put_u64(&mut bytes, 32, self.number);
        put_u64(&mut bytes, 40, self.first_lsn.0);
        put_u64(&mut bytes, 48, self.size_bytes);
        stamp(&mut bytes[..SECTOR_BYTES]);
        bytes
    }

    /// Reads what [`FileHead::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES as usize]) -> Result<Self, HeaderError> {
        let sector = &bytes[..SECTOR_BYTES];
        if !is_stamped(sector) || get_u32(sector, 4) != MAGIC {
            return Err(HeaderError::Damaged);
        }
        match get_u32(sector, 8) {
            VERSION => {}
            other => return Err(HeaderError::Version(other)),
        }
        let mut identity = [0; 16];
        identity.copy_from_slice(&sector[16..32]);
        Ok(FileHead {
            identity,
            number: get_u64(sector, 32),
            first_lsn: Lsn(get_u64(sector, 40)),
            size_bytes: get_u64(sector, 48),
        })
    }
}

/// A checkpoint as its block records it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Ascending.
    pub number: u64,
    /// Where recovery reads from.
    pub redo_lsn: Lsn,
    /// Where the checkpoint's frame begins; 0: there is none, nothing was ever changed before.
    pub frame: Lsn,
    /// After a clean shutdown the end of the log, else 0.
    pub clean: Lsn,
}

impl Checkpoint {
    /// Where the block goes: the two places take turns.
    pub(crate) fn offset(&self) -> u64 {
        BLOCKS[(self.number % 2) as usize]
    }

    /// The block.
    pub(crate) fn encode(&self) -> [u8; SECTOR_BYTES] {
        let mut bytes = [0; SECTOR_BYTES];
        for (at, field) in [self.number, self.redo_lsn.0, self.frame.0, self.clean.0].into_iter().enumerate()
        {
            put_u64(&mut bytes, 8 + at * 8, field);
        }
        stamp(&mut bytes);
        bytes
    }

    /// The newer of the blocks in a file's header that check.
    pub(crate) fn newest_in(header: &[u8; HEADER_BYTES as usize]) -> Option<Self> {
        let blocks = BLOCKS.iter().filter_map(|&offset| {
            let bytes = header.get(offset as usize..)?.get(..SECTOR_BYTES)?;
            let field = |at: usize| get_u64(bytes, 8 + at * 8);
            is_stamped(bytes).then(|| Checkpoint {
                number: field(0),
                redo_lsn: Lsn(field(1)),
                frame: Lsn(field(2)),
                clean: Lsn(field(3)),
            })
        });
        blocks.filter(|block| block.number > 0).max_by_key(|block| block.number)
    }
}

/// Puts the checksum of the rest in front.
fn stamp(sector: &mut [u8]) {
    let crc = crc32(&sector[4..]);
    put_u32(sector, 0, crc);
}

fn is_stamped(sector: &[u8]) -> bool {
    crc32(&sector[4..]) == get_u32(sector, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> FileHead {
        FileHead { identity: [7; 16], number: 3, first_lsn: Lsn(1 << 33), size_bytes: 1 << 20 }
    }

    fn bytes_of(head: &FileHead) -> [u8; HEADER_BYTES as usize] {
        head.encode()[..].try_into().unwrap()
    }

    #[test]
    fn a_header_comes_back_and_every_flipped_byte_is_noticed() {
        let bytes = bytes_of(&head());
        assert_eq!(FileHead::decode(&bytes), Ok(head()));
        for at in 0..SECTOR_BYTES {
            let mut bytes = bytes;
            bytes[at] ^= 1;
            assert_eq!(FileHead::decode(&bytes), Err(HeaderError::Damaged), "byte {at}");
        }
    }

    #[test]
    fn another_version_is_told_from_damage() {
        let mut bytes = bytes_of(&head());
        put_u32(&mut bytes, 8, 2);
        stamp(&mut bytes[..SECTOR_BYTES]);
        assert_eq!(FileHead::decode(&bytes), Err(HeaderError::Version(2)));
    }

    #[test]
    fn the_newest_whole_checkpoint_block_counts() {
        let mut bytes = bytes_of(&head());
        assert_eq!(Checkpoint::newest_in(&bytes), None);
        for number in 1..=3 {
            let block = Checkpoint { number, redo_lsn: Lsn(number), frame: Lsn(9), clean: Lsn(0) };
            let at = block.offset() as usize;
            bytes[at..at + SECTOR_BYTES].copy_from_slice(&block.encode());
            assert_eq!(Checkpoint::newest_in(&bytes), Some(block));
        }
        bytes[1024 + 100] ^= 1;
        assert_eq!(Checkpoint::newest_in(&bytes).map(|block| block.number), Some(2));
    }
}
